"""Webber & Park's adjustment for any measure: what pooled runs lose when they are left out of the pool.

The paper treats RBP@10 and P@10; the same difference of scores exists for AP, nDCG, Q or a user's own measure. Nothing
guarantees that it helps there, so every adjustment comes with a trial on the user's own pool: each team is left out
in turn, its runs are corrected as if they were new, and the result is compared with their score in the full pool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Hits, Ints, Pool
from unjudged.collection.joining import hits_of_cells, keep_hits
from unjudged.measures import Measure
from unjudged.pooling.membership import membership

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Scorer:
    """Mean scores of single runs under any part of the judgments: runs alone, so that a left-out run costs little."""

    collection: Collection
    measures: tuple[Measure, ...]
    inside: Mask
    """Pooled runs x judgments: is the document in the run's top?"""
    places: Ints
    """Number of each pooled run in the collection."""

    @classmethod
    def of(cls, collection: Collection, pool: Pool, measures: Sequence[Measure]) -> Scorer:
        """For the pooled runs of a collection."""
        found = membership(collection, pool, by="ranks")
        inside = np.zeros((len(pool.runs), found.rows), bool)
        inside[found.run, found.row] = True
        place = {run: i for i, run in enumerate(collection.runs)}
        return cls(collection, tuple(measures), inside, np.array([place[run] for run in pool.runs], np.int64))

    def hits(self, runs: Sequence[int]) -> Hits:
        """The hits of these runs of the collection."""
        topics = len(self.collection.topics)
        cells = (np.asarray(runs, np.int64)[:, None] * topics + np.arange(topics)).ravel()
        return hits_of_cells(self.collection.hits, self.collection.judgments, cells)

    def means(self, hits: Hits, kept: Mask, condensed: bool = False) -> Floats:
        """Runs x measures: mean scores of these hits where only the chosen judgments are there."""
        left = hits if kept.all() else keep_hits(hits, self.collection.judgments.keeping(kept), kept)
        topics = len(self.collection.topics)
        out = np.empty((hits.cells // topics, len(self.measures)))
        for m, measure in enumerate(self.measures):
            used = measure(judged_only=True) if condensed and not measure.condensed else measure
            values = np.nan_to_num(used.cells(left), nan=0.0).reshape(-1, topics)
            out[:, m] = [used.over_topics(row) for row in values]
        return out

    def loss(self, pooled: Sequence[int], kept: Mask) -> Floats:
        """Per measure, the mean loss of these pooled runs when each is left out of the pool they make.

        Only what a run alone has in its top goes; judgments that nobody found stay (METHODS B.3).
        """
        if not len(pooled):
            return np.zeros(len(self.measures))
        finders = self.inside[list(pooled)].sum(axis=0)
        before = self.means(self.hits(self.places[list(pooled)].tolist()), kept)
        losses = np.zeros(before.shape)
        for i, r in enumerate(pooled):
            alone = self.inside[r] & (finders == 1) & kept
            if alone.any():
                losses[i] = before[i] - self.means(self.hits([int(self.places[r])]), kept & ~alone)[0]
        return np.asarray(losses.mean(axis=0), np.float64)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Every pooled run scored as if its team were new: runs x measures.

    `true`: with all judgments. `reduced`: without what only its team found; `condensed`: the same on the condensed
    list. `added`: the adjustment.
    """

    runs: tuple[str, ...]
    true: Floats
    reduced: Floats
    condensed: Floats
    added: Floats


def leave_groups_out(scorer: Scorer, pool: Pool, groups: Mapping[str, str]) -> LeftOut:
    """Leave every group of pooled runs out of the pool in turn, score and adjust its runs."""
    everything = np.ones(len(scorer.collection.judgments), bool)
    shape = len(pool.runs), len(scorer.measures)
    true, reduced, condensed, added = (np.zeros(shape) for _ in range(4))
    finders = scorer.inside.sum(axis=0)
    for group in dict.fromkeys(groups[run] for run in pool.runs):
        members = [r for r, run in enumerate(pool.runs) if groups[run] == group]
        others = [r for r, run in enumerate(pool.runs) if groups[run] != group]
        found = scorer.inside[members].sum(axis=0)
        kept = ~((found > 0) & (finders == found))
        hits = scorer.hits(scorer.places[members].tolist())
        true[members] = scorer.means(hits, everything)
        reduced[members] = scorer.means(hits, kept)
        condensed[members] = scorer.means(hits, kept, condensed=True)
        added[members] = scorer.loss(others, kept)
    return LeftOut(pool.runs, true, reduced, condensed, added)
