"""What the URL says: measures, policy, runs, teams, seed, and what is done to the judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from unjudged.changes.leave_out import leave_out
from unjudged.changes.shallow import shallow
from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.measures import measures
from unjudged.reporting import Settings
from unjudged.studies import Pooling
from unjudged.text import as_written


@dataclass(frozen=True)
class State:
    """One view of the collection. `drop` leaves a team out of the pool, `depth` cuts the pool; `team` and `run`
    narrow the runs shown (none: all)."""

    measures: tuple[str, ...]
    unjudged: str
    rel: int | None
    seed: int
    run: tuple[str, ...] = ()
    team: tuple[str, ...] = ()
    drop: str | None = None
    depth: int | None = None

    @property
    def changes(self) -> bool:
        """Is anything done to the judgments?"""
        return self.drop is not None or self.depth is not None

    def settings(self, given: Settings) -> Settings:
        """The report's settings of this view."""
        return Settings(self.measures, self.rel, self.unjudged, self.seed, given.depth, given.pooled)

    def narrowed(self, collection: Collection) -> Collection:
        """The collection with the runs this view shows."""
        for team in self.team:
            if team not in collection.teams.values():
                raise UsageError(f"no team {team!r} in this collection")
        shown = [
            run
            for run in collection.runs
            if (not self.team or collection.teams.get(run) in self.team) and (not self.run or run in self.run)
        ]
        if unknown := [run for run in self.run if run not in collection.runs]:
            raise UsageError(f"no run {unknown[0]!r} in this collection")
        if len(shown) < 2:
            raise UsageError("choose at least two runs")
        return collection if len(shown) == len(collection.runs) else collection.with_runs(shown)

    def changed(self, collection: Collection, given: Settings) -> Collection:
        """The narrowed collection with its judgments changed as its pool would have given them."""
        if not self.changes:
            return collection
        pool = Pooling(given.depth, given.pooled).of(collection)
        if self.drop is not None:
            runs = [run for run, team in collection.teams.items() if team == self.drop and run in collection.full.runs]
            if not runs:
                raise UsageError(f"no team {self.drop!r} in this collection")
            collection = leave_out(collection, runs=runs, depth=pool.depth, pooled=list(pool.runs))
        if self.depth is None:
            return collection
        return shallow(collection, self.depth, pooled=None if self.drop is not None else list(pool.runs))


def state_of(given: Mapping[str, Any], settings: Settings) -> State:
    """A state from decoded JSON or URL parameters; anything odd gets a sentence."""
    known = {f.name for f in fields(State)}
    if unknown := sorted(set(given) - known):
        raise UsageError(f"the page knows no {unknown[0]!r}; there are {', '.join(sorted(known))}")
    wanted = _texts(given.get("measures"), "measures") or settings.measures
    return State(
        tuple(str(m) for m in measures(list(wanted))),
        _text(given.get("unjudged"), "unjudged") or settings.unjudged,
        _number(given.get("rel"), "rel", settings.rel),
        _number(given.get("seed"), "seed", settings.seed) or 0,
        _texts(given.get("run"), "run"),
        _texts(given.get("team"), "team"),
        _text(given.get("drop"), "drop"),
        _number(given.get("depth"), "depth", None),
    )


def _text(value: Any, name: str) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise UsageError(f"{name} is a text, not {as_written(value)}")
    return value


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence) or not all(isinstance(v, str) for v in value):
        raise UsageError(f"{name} is a list of names, not {as_written(value)}")
    return tuple(value)


def _number(value: Any, name: str, otherwise: int | None) -> int | None:
    if value is None or value == "":
        return otherwise
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise UsageError(f"{name} is a whole number of 0 or more, not {as_written(value)}")
    return value
