"""What most studies begin with: measures, gains, the runs to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unjudged.collection import Collection
from unjudged.comparing.significance import Test
from unjudged.errors import UsageError, check_seed
from unjudged.measures import Measure, with_gains_of_sets
from unjudged.measures import measures as parse_measures
from unjudged.studies._study import Lab
from unjudged.studies.runs import choose


@dataclass(frozen=True, eq=False)
class Case:
    """One collection of a study: its name, the measures, and the runs chosen in each repeat."""

    name: str
    collection: Collection
    measures: tuple[Measure, ...]
    selections: tuple[tuple[str, ...], ...]

    @property
    def runs(self) -> tuple[str, ...]:
        """Every run some repeat looks at, in the order given."""
        chosen = {run for selection in self.selections for run in selection}
        return tuple(run for run in self.collection.runs if run in chosen)

    @property
    def selected(self) -> Collection:
        """The collection with these runs alone, ready to travel."""
        part = self.collection if self.runs == self.collection.runs else self.collection.with_runs(self.runs)
        return part.alone()


def cases(
    lab: Lab,
    measures: Any,
    *,
    rel: int | None = None,
    top: float | None = None,
    by: Any = None,
    one_per_team: bool = False,
    seed: int = 0,
    repeats: int = 1,
    least: int = 2,
) -> list[Case]:
    """The collections of a lab, prepared; the same measures for all."""
    if repeats < 1:
        raise UsageError(f"at least 1 repeat is needed, not {repeats}")
    check_seed(seed)
    wanted = parse_measures(measures, rel)
    found = []
    for name, collection in lab.cases:
        ready = with_gains_of_sets(collection, measures)
        selections = [
            tuple(
                choose(
                    ready,
                    measures=wanted[:1],
                    top=top,
                    by=by,
                    one_per_team=one_per_team,
                    seed=seed,
                    repeat=repeat,
                    rel=rel,
                    least=least,
                )
            )
            for repeat in range(1, repeats + 1 if one_per_team else 2)
        ]
        found.append(Case(name, ready, tuple(wanted), tuple(selections * (1 if one_per_team else repeats))))
    return found


def tests(name: str, alpha: float, resamples: int | None, seed: int) -> Test:
    """The significance test of a study, in one thread: units run side by side already."""
    if not 0 < alpha < 1:
        raise UsageError(f"alpha lies between 0 and 1, not {alpha}")
    return Test(name, alpha, resamples, seed, 1)


def stage(lab: Lab, name: str, what: str) -> str:
    """What the progress line says."""
    return f"{lab.study}, {name}: {what}" if lab.several else f"{lab.study}: {what}"


def columns(lab: Lab, *names: str) -> tuple[str, ...]:
    """A table's columns, with the collection first where there are several."""
    return ("collection", *names) if lab.several else names


def row(lab: Lab, name: str, values: Sequence[Any]) -> tuple[Any, ...]:
    """A row of such a table."""
    return (name, *values) if lab.several else tuple(values)
