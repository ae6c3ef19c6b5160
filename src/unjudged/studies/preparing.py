"""What most studies begin with: measures, gains, the runs to look at, the topics that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.measures import Measure, with_gains_of_sets
from unjudged.results import Provenance
from unjudged.scoring import score
from unjudged.studies._study import Lab
from unjudged.studies.asked import Runs, RunsOfTeams, Scoring
from unjudged.studies.runs import choose


@dataclass(frozen=True, eq=False)
class Case:
    """One collection of a study: its name, the measures, the topics that count, and the runs chosen in each repeat."""

    name: str
    collection: Collection
    measures: tuple[Measure, ...]
    counted: npt.NDArray[np.bool_]
    selections: tuple[tuple[str, ...], ...]
    scoring: Scoring
    seed: int

    @property
    def runs(self) -> tuple[str, ...]:
        """Every run some repeat looks at, in the order given."""
        return _in_order(self.collection, self.selections)

    @property
    def selected(self) -> Collection:
        """The collection with these runs alone, ready to travel."""
        return _with_runs(self.collection, self.runs).alone()

    @property
    def scored_topics(self) -> Collection:
        """The collection with the topics that count alone."""
        if self.counted.all():
            return self.collection
        return self.collection.only(np.flatnonzero(self.counted).tolist(), "topics that count")

    @property
    def varied(self) -> bool:
        """Do repeats look at different runs?"""
        return len(set(self.selections)) > 1


def cases(
    lab: Lab, scoring: Scoring, runs: Runs | RunsOfTeams, *, repeats: int = 1, redrawn: bool = False
) -> list[Case]:
    """The collections of a lab, prepared; the same measures for all. `redrawn`: repeats draw more than runs."""
    if repeats < 1:
        raise UsageError(f"at least 1 repeat is needed, not {repeats}")
    wanted = scoring.chosen()
    drawn = runs.one_per_team
    found = []
    for name, collection in lab.cases:
        ready = with_gains_of_sets(collection, scoring.measures)
        selections = [
            tuple(choose(ready, runs, wanted[:1], repeat=repeat, rel=scoring.rel))
            for repeat in range(1, repeats + 1 if drawn else 2)
        ]
        counted = _counted(ready, _in_order(ready, selections), wanted, scoring)
        if not counted.all():
            where = f"{name}: " if lab.several else ""
            lab.notes.append(f"{where}{int(counted.sum())} of {len(counted)} topics count")
        selections *= 1 if drawn else repeats
        found.append(Case(name, ready, tuple(wanted), counted, tuple(selections), scoring, runs.seed))
    if repeats > 1 and not redrawn and not any(case.varied for case in found):
        lab.notes.append("repeats are alike: with all runs nothing is drawn anew (one run per team draws runs)")
    return found


def _in_order(collection: Collection, selections: Sequence[Sequence[str]]) -> tuple[str, ...]:
    chosen = {run for selection in selections for run in selection}
    return tuple(run for run in collection.runs if run in chosen)


def _with_runs(collection: Collection, runs: tuple[str, ...]) -> Collection:
    return collection if runs == collection.runs else collection.with_runs(runs)


def _counted(
    collection: Collection, runs: tuple[str, ...], measures: Sequence[Measure], scoring: Scoring
) -> npt.NDArray[np.bool_]:
    """The topics that count, decided once with all judgments: `common` ones, and those with `defined` values."""
    if scoring.topics == "judged" and scoring.undefined == "zero":
        return np.ones(len(collection.topics), bool)
    scores = score(_with_runs(collection, runs), measures, topics=scoring.topics, undefined=scoring.undefined)
    counted = np.asarray(scores.counted.all(axis=0))
    if not counted.any():
        raise UsageError("no topic counts: every one has an undefined value in some measure")
    return counted


def provenance(lab: Lab, found: Sequence[Case], **settings: Any) -> Provenance:
    """Where a study's result comes from: what was scored and how, and the study's own settings."""
    first = found[0]
    counted = {case.name: int(case.counted.sum()) for case in found}
    scored = {
        **first.scoring.settings(),
        "measures": [str(m) for m in first.measures],
        "topics counted": counted if lab.several else counted[first.name],
    }
    return lab.provenance(first.seed, **scored, **settings)


def stage(lab: Lab, name: str, what: str) -> str:
    """What the progress line says."""
    return f"{lab.study}, {name}: {what}" if lab.several else f"{lab.study}: {what}"


def columns(lab: Lab, *names: str) -> tuple[str, ...]:
    """A table's columns, with the collection first where there are several."""
    return ("collection", *names) if lab.several else names


def row(lab: Lab, name: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """A row of such a table."""
    return (name, *values) if lab.several else tuple(values)
