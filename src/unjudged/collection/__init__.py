"""The core: judgments, judged hits, full rankings, and the collection that holds them (DESIGN 3).

Files and objects become integer arrays once. Everything here is immutable: a reduction of the judgments is a
new `Judgments` over the same arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from unjudged.collection.hits import Cells, Hits, join_hits
from unjudged.collection.judgments import Floats, Gains, Ideal, Ints, Judgments
from unjudged.collection.rankings import Rankings

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

    def __repr__(self) -> str:
        teams = len({self.teams[r] for r in self.runs if r in self.teams})
        of_teams = f", {teams} teams" if teams else ""
        return (
            f"<Collection: {len(self.runs)} runs{of_teams}, {len(self.topics)} topics, {len(self.judgments)} judgments>"
        )
