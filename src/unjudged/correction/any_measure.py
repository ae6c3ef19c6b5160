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
from unjudged.collection.membership import Membership, membership
from unjudged.measures import Measure
from unjudged.statistics.pairs import exact_means

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Scorer:
    """Mean scores of single runs under any part of the judgments: runs alone, so that a left-out run costs little."""

    collection: Collection
    measures: tuple[Measure, ...]
    inside: Membership
    """Which judgments are in the top of which pooled run."""
    places: Ints
    """Number of each pooled run in the collection."""
    groups: tuple[str, ...] = ()
    """Who leaves the pool together with each pooled run."""
    recall: tuple[bool, ...] = ()
    """Which measures (R@n) take the later form of the loss, scaled by the relevant documents left."""

    @classmethod
    def of(
        cls,
        collection: Collection,
        pool: Pool,
        measures: Sequence[Measure],
        groups: Mapping[str, str] | None = None,
        recall: Sequence[bool] = (),
    ) -> Scorer:
        """For the pooled runs of a collection, ready to travel."""
        place = {run: i for i, run in enumerate(collection.runs)}
        return cls(
            collection.alone(),
            tuple(measures),
            membership(collection, pool, by="ranks"),
            np.array([place[run] for run in pool.runs], np.int64),
            tuple((groups or {}).get(run, run) for run in pool.runs),
            tuple(recall) or (False,) * len(measures),
        )

    def hits(self, runs: Sequence[int]) -> Hits:
        """The hits of these runs of the collection."""
        topics = len(self.collection.topics)
        cells = (np.asarray(runs, np.int64)[:, None] * topics + np.arange(topics)).ravel()
        return hits_of_cells(self.collection.hits, self.collection.judgments, cells)

    def values(self, hits: Hits, kept: Mask, condensed: bool = False) -> Floats:
        """Measures x runs x topics: scores of these hits where only the chosen judgments are there."""
        left = hits if kept.all() else keep_hits(hits, self.collection.judgments.keeping(kept), kept)
        used = [m(judged_only=True) if condensed and not m.condensed else m for m in self.measures]
        cells = np.stack([np.nan_to_num(m.cells(left), nan=0.0) for m in used])
        return cells.reshape(len(used), -1, len(self.collection.topics))

    def over_topics(self, values: Floats) -> Floats:
        """Runs x measures: each measure's mean over the topics."""
        each = [[m.over_topics(row) for row in runs] for m, runs in zip(self.measures, values, strict=True)]
        return np.array(each, np.float64).T

    def means(self, hits: Hits, kept: Mask, condensed: bool = False) -> Floats:
        """Runs x measures: mean scores of these hits where only the chosen judgments are there."""
        return self.over_topics(self.values(hits, kept, condensed))

    def loss(self, pooled: Sequence[int], kept: Mask) -> Floats:
        """Per measure, the mean loss of these pooled runs when each is left out of the pool they make.

        Only what a run alone has in its top goes; judgments that nobody found stay.
        """
        if not len(pooled):
            return np.zeros(len(self.measures))
        names = [self.inside.runs[r] for r in pooled]
        members, which, row, alone_there = self.inside.among(names).grouped({name: name for name in names})
        which, row = which[alone_there], row[alone_there]
        before = self.values(self.hits(self.places[list(pooled)].tolist()), kept)
        means = self.over_topics(before)
        losses = np.zeros(means.shape)
        for i, r in enumerate(pooled):
            alone = np.zeros(len(kept), bool)
            alone[row[which == members.index(names[i])]] = True
            alone &= kept
            if alone.any():
                after = self.values(self.hits([int(self.places[r])]), kept & ~alone)
                losses[i] = means[i] - self.over_topics(after)[0]
                for m in np.flatnonzero(self.recall):
                    shares = self._relevant_left(self.measures[m], kept, alone)
                    losses[i, m] = ((before[m, i] - after[m, 0]) * shares).mean()
        return exact_means(losses.T)

    def _relevant_left(self, measure: Measure, kept: Mask, alone: Mask) -> Floats:
        """Per topic, the share of the relevant documents that stays: R reduced / R full."""
        judgments = self.collection.judgments
        relevant = kept & (judgments.grade >= measure.params["rel"])
        topics = len(self.collection.topics)
        full = np.bincount(judgments.topic[relevant], minlength=topics)
        left = np.bincount(judgments.topic[relevant & ~alone], minlength=topics)
        return np.asarray(left / np.maximum(full, 1), np.float64)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Pooled runs scored as if their groups were new: runs x measures.

    `true`: with all judgments. `reduced`: without what only its group found; `condensed`: the same on the condensed
    list. `added`: the adjustment. `runs` are numbers among the pooled runs.
    """

    runs: Ints
    true: Floats
    reduced: Floats
    condensed: Floats
    added: Floats


def leave_group_out(scorer: Scorer, group: str, condensed: bool = True) -> LeftOut:
    """Leave one group of pooled runs out of the pool, score and adjust its runs."""
    inside = np.array([own == group for own in scorer.groups], bool)
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside).tolist()
    kept = ~scorer.inside.unique([scorer.inside.runs[r] for r in members])
    hits = scorer.hits(scorer.places[members].tolist())
    reduced = scorer.means(hits, kept)
    return LeftOut(
        members,
        scorer.means(hits, np.ones(len(kept), bool)),
        reduced,
        scorer.means(hits, kept, condensed=True) if condensed else reduced,
        np.tile(scorer.loss(others, kept), (len(members), 1)),
    )


def joined(parts: Sequence[LeftOut]) -> LeftOut:
    """The groups together, in the order of the pooled runs."""
    order = np.argsort(np.concatenate([part.runs for part in parts]))
    names = LeftOut.__dataclass_fields__
    return LeftOut(*(np.concatenate([getattr(part, name) for part in parts])[order] for name in names))
