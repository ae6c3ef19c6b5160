"""What most studies begin with: the measures, the topics that count, the runs chosen, and their scores."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.classical import GEOMETRIC_FLOOR
from unjudged.collection import Collection, Floats, logarithms
from unjudged.correction.experiment import kept_count
from unjudged.errors import UsageError, nearest
from unjudged.io import files
from unjudged.measures import Measure, measures, names_a_paper
from unjudged.scoring import Scores, refuse_condensed_answers, score
from unjudged.statistics.pairs import ZERO
from unjudged.studies.engine.case import Case
from unjudged.studies.engine.groups import Runs, RunsOfTeams, Scoring, Unanswerable
from unjudged.studies.engine.silent import note_missing_grades
from unjudged.text import counted as many_of
from unjudged.text import listed


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
    chosen_by: Mapping[str, Any] = field(default_factory=dict)
    """How runs were chosen, for provenance; empty where all of them are looked at."""

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
            **self.chosen_by,
        }


def prepare(
    case: Case, scoring: Scoring, runs: Runs | RunsOfTeams, *, repeats: int = 1, redrawn: bool = False
) -> Setup:
    """The collection of a case, prepared. `redrawn`: repeats draw more than runs."""
    if repeats < 1:
        raise UsageError(f"at least 1 repeat is needed, not {repeats}")
    ready = case.collection
    wanted = scoring.chosen(ready)
    refuse_condensed_answers(case.collection, wanted)
    drawn = runs.one_per_team
    by = ranking_measure(runs, wanted, scoring.measures, scoring.rel)
    selections = [tuple(choose(ready, runs, by, repeat=repeat)) for repeat in range(1, repeats + 1 if drawn else 2)]
    counted = _counted(ready, _in_order(ready, selections), wanted, scoring)
    if not counted.all():
        case.note(f"{int(counted.sum())} of {len(counted)} topics count")
    note_missing_grades(case, ready, wanted, counted)
    analysed = _analysed(ready, runs)
    there = len(runs_by_team(ready, analysed)) if drawn else len(analysed)
    chosen_by = tell_chosen(case, runs, by, there, selections[0], redrawn=drawn)
    selections *= 1 if drawn else repeats
    setup = Setup(case, ready, tuple(wanted), counted, tuple(selections), scoring, runs.seed, chosen_by)
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
    """Of a measure with a geometric mean: the logarithms, so that the mean over topics orders the runs."""

    @property
    def names(self) -> tuple[str, ...]:
        """The measures' spellings."""
        return tuple(map(str, self.measures))

    @property
    def varying(self) -> list[bool]:
        """Per measure: do the runs differ on some topic? A measure that says no orders nothing."""
        return [bool(v) for v in (np.ptp(self.values, axis=2) >= ZERO).any(axis=1)]

    @property
    def geometric(self) -> list[bool]:
        """Per measure: is it a geometric mean over topics, and are its values logarithms?"""
        return [measure.mean == "geometric" for measure in self.measures]

    def means(self) -> Floats:
        """Measures x runs: the mean over topics."""
        means = np.asarray(self.values.mean(axis=1))
        means[self.geometric] = np.exp(means[self.geometric])
        return means


def matrices(
    case: Case, scoring: Scoring, runs: Runs, *, least_topics: int = 2, geometric: bool = False
) -> tuple[Matrices, dict[str, Any]]:
    """The chosen runs scored by every measure on the topics that count, and the settings for provenance.

    Scores at hand are taken as they are; topics that do not count for every run, or lack a value, are left out.
    `geometric`: measures with a geometric mean over topics (GMAP) are looked at through logarithms, else refused.
    """
    if isinstance(case.source, Scores):
        found, settings = _of_scores(case, case.source, scoring, runs, geometric)
    else:
        setup = prepare(case, scoring, runs)
        found, settings = matrices_of(setup, geometric), setup.settings
    if not found.topics:
        raise UsageError(f"this study needs at least {many_of(least_topics, 'topic')}, 0 given")
    if len(found.topics) < least_topics:
        raise Unanswerable(f"this needs at least {many_of(least_topics, 'topic')}, and there is only one to go by")
    return found, settings


def matrices_of(setup: Setup, geometric: bool = False) -> Matrices:
    """The chosen runs of a prepared collection, scored by every measure on the topics that count."""
    if not geometric:
        check_topic_scores(setup.measures)
    scores = score(setup.selected, list(setup.measures))
    values = np.ascontiguousarray(scores.values.transpose(2, 1, 0)[:, setup.counted])
    topics = tuple(t for t, counts in zip(scores.topics, setup.counted, strict=True) if counts)
    return Matrices(scores.measures, scores.runs, topics, _logarithms(scores.measures, values))


def _logarithms(chosen: Sequence[Measure], values: Floats) -> Floats:
    """Measures x topics x runs, with the logarithms of those whose mean over topics is geometric."""
    for m, measure in enumerate(chosen):
        if measure.mean == "geometric":
            values[m] = logarithms(np.maximum(values[m], GEOMETRIC_FLOOR))
    return values


def _of_scores(
    case: Case, scores: Scores, scoring: Scoring, runs: Runs, geometric: bool
) -> tuple[Matrices, dict[str, Any]]:
    for name, value in scoring.settings().items():
        if value != Scoring().settings()[name]:
            raise UsageError(f"{name}={value!r} needs the collection, not scores at hand")
    chosen = tuple(measures(scoring.measures))
    if not geometric:
        check_topic_scores(chosen)
    if runs.one_per_team:
        raise UsageError("one run per team needs the collection with its teams, not scores at hand")
    kept_runs = _named(scores.runs, {}, runs.analysed)
    there = len(kept_runs)
    by = ranking_measure(runs, chosen, scoring.measures)
    if by is not None and runs.top is not None:
        by = by if runs.by is not None or by in scores.measures else chosen[0]
        means = [by.over_topics(column) for column in scores.matrix(by).T]
        kept_runs = best_runs(kept_runs, runs.top, dict(zip(scores.runs, means, strict=True)))
    if len(kept_runs) < 2:
        raise UsageError(f"this study needs at least 2 runs, {len(kept_runs)} given")
    chosen_by = tell_chosen(case, runs, by, there, kept_runs)
    places = [scores.runs.index(run) for run in kept_runs]
    values = np.stack([scores.matrix(m)[:, places] for m in chosen])
    whole = np.asarray(scores.counted[places].all(axis=0))
    defined = np.asarray(np.isfinite(values).all(axis=(0, 2)))
    if not whole.all():
        case.note(f"{many_of(int((~whole).sum()), 'topic')} not counted for every run left out")
    if not defined[whole].all():
        case.note(f"{many_of(int((whole & ~defined).sum()), 'topic')} with an undefined score left out")
    kept = np.flatnonzero(whole & defined)
    topics = tuple(scores.topics[t] for t in kept)
    kept_values = _logarithms(chosen, np.ascontiguousarray(values[:, kept]))
    found = Matrices(chosen, tuple(kept_runs), topics, kept_values)
    return found, {"measures": list(found.names), "topics counted": len(kept), **chosen_by}


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


def runs_by_team(collection: Collection, runs: Sequence[str] | None = None) -> dict[str, list[str]]:
    """Teams in the order of their first run, each with its runs as given (of these, where given)."""
    found: dict[str, list[str]] = {}
    for run in collection.runs if runs is None else runs:
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


def choose(collection: Collection, asked: Runs | RunsOfTeams, by: Measure | None, *, repeat: int = 1) -> list[str]:
    """The runs a study looks at: of the teams to be analysed, one of each team, then the best of them, where asked."""
    runs = _analysed(collection, asked)
    if asked.one_per_team:
        if not collection.teams:
            raise UsageError("one run per team needs the teams: give --teams FILE (teams= in load)")
        teams = runs_by_team(collection, runs)
        if len(teams) < 2 <= len(runs):
            only = next(iter(teams))
            raise Unanswerable(
                f"all {len(runs)} runs are of one team, {only}: one run per team leaves nothing to compare"
            )
        drawn = set(one_of_each(teams, asked.seed, repeat).values())
        runs = [run for run in runs if run in drawn]
    if asked.top is not None and by is not None:
        scores = score(collection, by).mean_values()[:, 0]
        runs = best_runs(runs, asked.top, dict(zip(collection.runs, scores.tolist(), strict=True)))
    if len(runs) < 2:
        raise UsageError(f"this study needs at least 2 runs, {len(runs)} given")
    return runs


def _analysed(collection: Collection, asked: Runs | RunsOfTeams) -> list[str]:
    return _named(collection.runs, collection.teams, asked.analysed)


def _named(runs: Sequence[str], teams: Mapping[str, str], asked: Sequence[str]) -> list[str]:
    """The runs that are named, or whose team is; all where none are."""
    if not asked:
        return list(runs)
    known = {*runs, *(teams.get(run, run) for run in runs)}
    asked = [files.called(name, known) for name in asked]
    for name in asked:
        if name not in known:
            raise UsageError(f"--analyse {name}: no team or run has that name{nearest(name, known)}")
    return [run for run in runs if run in asked or teams.get(run, run) in asked]


def ranking_measure(
    asked: Runs | RunsOfTeams, wanted: Sequence[Measure], spelled: Any, rel: int | None = None
) -> Measure | None:
    """The measure by which `top` takes the best runs; None where all are taken.

    As the papers do it, that is AP where it is among the measures, or where a set of the papers was asked for (Sakai
    2005 and 2007 take the best 30 runs by AP); else the first measure.
    """
    if asked.top is None:
        return None
    if asked.by is not None:
        return measures(asked.by, rel)[0]
    among = [m for m in wanted if m.name == "AP" and m.params.get("k") is None and not m.condensed]
    if among:
        return among[0]
    return measures("AP", rel)[0] if names_a_paper(spelled) else wanted[0]


def tell_chosen(
    case: Case,
    asked: Runs | RunsOfTeams,
    by: Measure | None,
    there: int,
    chosen: Sequence[str],
    redrawn: bool = False,
) -> dict[str, Any]:
    """How the runs were chosen: in the caption, in a note where fewer were there than asked for, and for provenance."""
    told: dict[str, Any] = {}
    if asked.analysed:
        told["analysed"] = list(asked.analysed)
        case.told.append(f"Only {listed(list(asked.analysed), 9)} analysed.")
    if asked.top is not None:
        if asked.top > there:
            case.note(f"--top {asked.top:g}: there are only {many_of(there, 'run')}, and all of them are taken")
        case.told.append(f"The {len(chosen)} best of {many_of(there, 'run')} by {by}.")
        told |= {"top": asked.top, "by": str(by)}
    if told and not redrawn:
        told["runs looked at"] = list(chosen)
    return told
