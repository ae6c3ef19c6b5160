"""What most studies begin with: the measures, the topics that count, the runs chosen, and their scores."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats
from unjudged.correction.experiment import kept_count
from unjudged.errors import UsageError
from unjudged.measures import Measure, measures
from unjudged.scoring import Scores, score
from unjudged.statistics.pairs import ZERO
from unjudged.studies.engine.case import Case
from unjudged.studies.engine.groups import Runs, RunsOfTeams, Scoring
from unjudged.text import counted as told


@dataclass(frozen=True, eq=False)
class Setup:
    """A collection ready to be scored: the measures, the topics that count, and the runs chosen in each repeat."""

    case: Case
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

    @property
    def settings(self) -> dict[str, Any]:
        """What was scored and how, for provenance."""
        return {
            **self.collection.settings,
            **self.scoring.settings(),
            "measures": [str(m) for m in self.measures],
            "topics counted": int(self.counted.sum()),
        }


def prepare(
    case: Case, scoring: Scoring, runs: Runs | RunsOfTeams, *, repeats: int = 1, redrawn: bool = False
) -> Setup:
    """The collection of a case, prepared. `redrawn`: repeats draw more than runs."""
    if repeats < 1:
        raise UsageError(f"at least 1 repeat is needed, not {repeats}")
    ready = case.collection
    wanted = scoring.chosen(ready)
    drawn = runs.one_per_team
    selections = [
        tuple(choose(ready, runs, wanted[:1], repeat=repeat, rel=scoring.rel))
        for repeat in range(1, repeats + 1 if drawn else 2)
    ]
    counted = _counted(ready, _in_order(ready, selections), wanted, scoring)
    if not counted.all():
        case.note(f"{int(counted.sum())} of {len(counted)} topics count")
    selections *= 1 if drawn else repeats
    setup = Setup(case, ready, tuple(wanted), counted, tuple(selections), scoring, runs.seed)
    if repeats > 1 and not redrawn and not setup.varied:
        case.note("repeats are alike: with all runs nothing is drawn anew (one run per team draws runs)")
    return setup


def _in_order(collection: Collection, selections: Sequence[Sequence[str]]) -> tuple[str, ...]:
    chosen = {run for selection in selections for run in selection}
    return tuple(run for run in collection.runs if run in chosen)


def _with_runs(collection: Collection, runs: tuple[str, ...]) -> Collection:
    return collection if runs == collection.runs else collection.with_runs(runs)


def _counted(
    collection: Collection, runs: tuple[str, ...], wanted: Sequence[Measure], scoring: Scoring
) -> npt.NDArray[np.bool_]:
    """The topics that count, decided once with all judgments: `common` ones, and those with `defined` values."""
    if scoring.topics == "judged" and scoring.undefined == "zero":
        return np.ones(len(collection.topics), bool)
    scores = score(_with_runs(collection, runs), wanted, topics=scoring.topics, undefined=scoring.undefined)
    counted = np.asarray(scores.counted.all(axis=0))
    if not counted.any():
        raise UsageError("no topic counts: every one has an undefined value in some measure")
    return counted


@dataclass(frozen=True, eq=False)
class Matrices:
    """Topics x runs scores of each measure, without a hole: what tests of runs and measures look at."""

    measures: tuple[Measure, ...]
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: Floats

    @property
    def names(self) -> tuple[str, ...]:
        """The measures' spellings."""
        return tuple(map(str, self.measures))

    @property
    def varying(self) -> list[bool]:
        """Per measure: do the runs differ on some topic? A measure that says no orders nothing."""
        return [bool(v) for v in (np.ptp(self.values, axis=2) >= ZERO).any(axis=1)]

    def means(self) -> Floats:
        """Measures x runs: the mean over topics."""
        return np.asarray(self.values.mean(axis=1))


def matrices(case: Case, scoring: Scoring, runs: Runs, *, least_topics: int = 2) -> tuple[Matrices, dict[str, Any]]:
    """The chosen runs scored by every measure on the topics that count, and the settings for provenance.

    Scores at hand are taken as they are; topics that do not count for every run, or lack a value, are left out.
    """
    if isinstance(case.source, Scores):
        found, settings = _of_scores(case, case.source, scoring, runs)
    else:
        setup = prepare(case, scoring, runs)
        found, settings = matrices_of(setup), setup.settings
    if len(found.topics) < least_topics:
        raise UsageError(f"this study needs at least {told(least_topics, 'topic')}, {len(found.topics)} given")
    return found, settings


def matrices_of(setup: Setup) -> Matrices:
    """The chosen runs of a prepared collection, scored by every measure on the topics that count."""
    check_topic_scores(setup.measures)
    scores = score(setup.selected, list(setup.measures))
    values = np.ascontiguousarray(scores.values.transpose(2, 1, 0)[:, setup.counted])
    topics = tuple(t for t, counts in zip(scores.topics, setup.counted, strict=True) if counts)
    return Matrices(scores.measures, scores.runs, topics, values)


def _of_scores(case: Case, scores: Scores, scoring: Scoring, runs: Runs) -> tuple[Matrices, dict[str, Any]]:
    for name, value in scoring.settings().items():
        if value != Scoring().settings()[name]:
            raise UsageError(f"{name}={value!r} needs the collection, not scores at hand")
    chosen = tuple(measures(scoring.measures))
    check_topic_scores(chosen)
    kept_runs = list(scores.runs)
    if runs.one_per_team:
        raise UsageError("one run per team needs the collection with its teams, not scores at hand")
    if runs.top is not None:
        by = measures(runs.by)[0] if runs.by is not None else chosen[0]
        means = dict(zip(scores.runs, scores.matrix(by).mean(axis=0).tolist(), strict=True))
        kept_runs = best_runs(kept_runs, runs.top, means)
    if len(kept_runs) < 2:
        raise UsageError(f"this study needs at least 2 runs, {len(kept_runs)} given")
    places = [scores.runs.index(run) for run in kept_runs]
    values = np.stack([scores.matrix(m)[:, places] for m in chosen])
    whole = np.asarray(scores.counted[places].all(axis=0))
    defined = np.asarray(np.isfinite(values).all(axis=(0, 2)))
    if not whole.all():
        case.note(f"{told(int((~whole).sum()), 'topic')} not counted for every run left out")
    if not defined[whole].all():
        case.note(f"{told(int((whole & ~defined).sum()), 'topic')} with an undefined score left out")
    kept = np.flatnonzero(whole & defined)
    topics = tuple(scores.topics[t] for t in kept)
    found = Matrices(chosen, tuple(kept_runs), topics, np.ascontiguousarray(values[:, kept]))
    return found, {"measures": list(found.names), "topics counted": len(kept)}


def check_topic_scores(chosen: Sequence[Measure]) -> None:
    """A UsageError for measures that exist only as a mean over topics."""
    for measure in chosen:
        if measure.mean == "geometric":
            plain = measure(mean="arithmetic")
            raise UsageError(f"{measure} is a mean over topics, and this study needs scores of topics: take {plain}")


def leading(chosen: Sequence[Measure]) -> int:
    """The measure a verdict speaks of: the first one that does not condense, else the first."""
    return next((m for m, measure in enumerate(chosen) if not measure.condensed), 0)


# -- which runs a study looks at: all, the best ones, one of each team


def team_of(collection: Collection, run: str) -> str:
    """The run's team; a run without one stands for itself."""
    return collection.teams.get(run, run)


def runs_by_team(collection: Collection) -> dict[str, list[str]]:
    """Teams in the order of their first run, each with its runs as given."""
    found: dict[str, list[str]] = {}
    for run in collection.runs:
        found.setdefault(team_of(collection, run), []).append(run)
    return found


def one_of_each(teams: Mapping[str, list[str]], seed: int, repeat: int = 1) -> dict[str, str]:
    """Team -> the run drawn for it, whatever the other teams are and in whatever order its runs stand."""
    chosen = {}
    for team, runs in teams.items():
        word = hashlib.sha256(team.encode("utf-8", "surrogateescape")).digest()
        rng = np.random.default_rng([seed, repeat, int.from_bytes(word[:8], "little")])
        chosen[team] = sorted(runs)[int(rng.integers(len(runs)))]
    return chosen


def best_runs(runs: list[str], top: float, means: Mapping[str, float]) -> list[str]:
    """The best of these runs by their means (equal ones by name), in the order given: a share below 1, or a number."""
    kept = set(sorted(runs, key=lambda run: (-means[run], run))[: kept_count(top, len(runs))])
    return [run for run in runs if run in kept]


def choose(
    collection: Collection, asked: Runs | RunsOfTeams, first: Any, *, repeat: int = 1, rel: int | None = None
) -> list[str]:
    """The runs a study looks at: one of each team, then the best of them (by the `first` measure), where asked for."""
    runs = list(collection.runs)
    if asked.one_per_team:
        if not collection.teams:
            raise UsageError("one run per team needs the teams: give --teams FILE (teams= in load)")
        drawn = set(one_of_each(runs_by_team(collection), asked.seed, repeat).values())
        runs = [run for run in runs if run in drawn]
    if asked.top is not None:
        scores = score(collection, asked.by if asked.by is not None else first, rel=rel).mean_values()[:, 0]
        runs = best_runs(runs, asked.top, dict(zip(collection.runs, scores.tolist(), strict=True)))
    elif asked.by is not None:
        raise UsageError("--by says how --top ranks the runs; give --top, too")
    if len(runs) < 2:
        raise UsageError(f"this study needs at least 2 runs, {len(runs)} given")
    return runs
