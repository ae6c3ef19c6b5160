"""What can be seen of the pool: which runs were judged how deep, and which documents only one team brought in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unjudged.collection import Ints
from unjudged.holes.lists import DEPTH, Flags, Lists

JUDGED = 97
"""Per cent of a run's first documents that must be judged for it to count as pooled so deep."""
SHALLOWEST = 3
"""A run judged less deep was not pooled."""
TEAMS = 3
"""Pooled teams needed to see the pool."""
COVER = 0.5
"""Share of the judged documents that the pooled runs must bring in."""


@dataclass(frozen=True, eq=False)
class Seen:
    """The pool as the runs at hand show it.

    `depth` is per run (by name) how deep it was judged, 0 where it was not pooled. `teams_in` counts per document the
    teams whose pooled runs bring it in. `cover` is the share of all judged documents that some pooled run brings in.
    With the pool `seen`, a document that one team alone brings in would be unjudged had that team stayed away: such
    documents show what holes are worth. Otherwise somebody not among the runs brought the judgments in, and they do
    not.
    """

    depth: Ints
    teams_in: Ints
    cover: float
    teams: int
    seen: bool
    unique: Flags

    @property
    def middle_depth(self) -> float:
        """Median depth of the pooled runs."""
        return float(np.median(self.depth[self.depth > 0])) if (self.depth > 0).any() else 0.0


def look(lists: Lists) -> Seen:
    """What the lists show of the pool."""
    runs, judged = len(lists.runs), ~lists.hole
    run, rank, doc, place, there = lists.pooling
    missed = place[np.flatnonzero(lists.hole[doc])]
    known = there - np.bincount(missed, minlength=runs * DEPTH).reshape(runs, DEPTH).cumsum(axis=1)
    deep_enough = (100 * known >= JUDGED * there) & (there > 0)
    depth = np.where(deep_enough.any(axis=1), DEPTH - np.argmax(deep_enough[:, ::-1], axis=1), 0)
    depth[depth < SHALLOWEST] = 0
    teams_in = lists.teams_beside(doc, run, rank, depth)
    cover = int((judged & (teams_in > 0)).sum()) / max(lists.judgments, 1)
    teams = len(np.unique(lists.team[depth > 0]))
    seen = cover >= COVER and teams >= TEAMS
    return Seen(depth, teams_in, cover, teams, seen, judged & (teams_in == 1) if seen else np.zeros(lists.docs, bool))
