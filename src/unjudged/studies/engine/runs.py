"""Which runs a study looks at: all, the best ones, one of each team."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from unjudged.collection import Collection
from unjudged.correction.experiment import kept_count
from unjudged.errors import UsageError
from unjudged.scoring import score
from unjudged.studies.engine.groups import Runs, RunsOfTeams


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
