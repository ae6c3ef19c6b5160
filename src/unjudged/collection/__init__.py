"""The core: judgments, judged hits, full rankings, and the collection that holds them (DESIGN 3).

Files and objects become integer arrays once. Everything here is immutable: a reduction of the judgments is a
new `Judgments` over the same arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from unjudged.collection.hits import Cells, Hits, join_hits
from unjudged.collection.judgments import Floats, Gains, Ideal, Ints, Judgments
from unjudged.collection.rankings import Rankings
from unjudged.errors import UsageError

__all__ = ["Cells", "Collection", "Floats", "Gains", "Hits", "Ideal", "Ints", "Judgments", "Rankings", "join_hits"]


@dataclass(frozen=True, eq=False)
class Collection:
    """Judgments and runs, ready to be scored, reduced and compared."""

    judgments: Judgments
    runs: tuple[str, ...]
    hits: Hits
    outside: tuple[int, ...]
    teams: Mapping[str, str]
    notes: tuple[str, ...]
    sources: tuple[str, ...]
    tags: tuple[str, ...]
    settings: Mapping[str, Any]
    _rankings: Callable[[], Rankings] = field(repr=False)
    _again: Callable[[str | None, Sequence[Any]], Collection] | None = field(default=None, repr=False)

    @functools.cached_property
    def topics(self) -> tuple[str, ...]:
        """The judged topics, in the order of the judgments."""
        return tuple(self.judgments.topics)

    @functools.cached_property
    def rankings(self) -> Rankings:
        """Full lists (reads the runs again on first use)."""
        return self._rankings()

    def with_gains(self, gains: Mapping[int, float]) -> Collection:
        """The same collection with other gains."""
        judgments = self.judgments.with_gains(gains)
        settings = {**self.settings, "gains": dict(judgments.gains.levels), "highest gain": judgments.gains.highest()}
        return replace(self, judgments=judgments, hits=self.hits.over(judgments), settings=settings)

    def with_ties(self, rule: str) -> Collection:
        """The same collection with equal scores in another order; the runs are read again."""
        return self if rule == self.settings["ties"] else self._read_again(rule, ())

    def adding(self, *runs: Any) -> Collection:
        """The same collection with more runs behind those it has; all runs are read again."""
        return self._read_again(None, runs) if runs else self

    def _read_again(self, ties: str | None, more: Sequence[Any]) -> Collection:
        if self._again is None:
            raise UsageError("the runs of this collection cannot be read again; load them from files or objects")
        return self._again(ties, more)

    def __repr__(self) -> str:
        teams = len({self.teams[r] for r in self.runs if r in self.teams})
        of_teams = f", {teams} teams" if teams else ""
        return (
            f"<Collection: {len(self.runs)} runs{of_teams}, {len(self.topics)} topics, {len(self.judgments)} judgments>"
        )
