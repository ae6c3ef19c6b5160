"""Relevant and nonrelevant documents in the first n of runs, under reduced pools and after merging.

Everything the estimators of P@n need, counted in one walk over the topics: whole numbers per topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Ints
from unjudged.collection.membership import found_by_no_other
from unjudged.correction.full_lists import Lists
from unjudged.correction.merging import Int32s, TopicLists, merged_tops

Mask = npt.NDArray[np.bool_]

_RELEVANT = 1 << 16
"""One relevant document; a nonrelevant one counts 1, so one sum holds both."""

MOST = (1 << 15) - 1
"""The largest cut-off such sums hold."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Who is to be corrected, by whom, under which judgments, at one cut-off.

    `new`: runs to be corrected. `pooled`: runs that may act as pooled runs. `peers`: new x pooled, who does so for
    whom (Rp). `pools`: pools x judgments, which judgments each pool holds. `pool_of`: the pool of each new run.
    """

    n: int
    new: Ints
    pooled: Ints
    peers: Mask
    pools: Mask
    pool_of: Ints


@dataclass(frozen=True, eq=False)
class Found:
    """Relevant and judged nonrelevant documents, whole numbers of one shape."""

    relevant: Ints
    nonrelevant: Ints

    @classmethod
    def split(cls, both: Ints) -> Found:
        """From sums that hold both."""
        return cls(both >> 16, both & (_RELEVANT - 1))

    def over_topics(self) -> Found:
        """Added up over the topics (the first axis)."""
        return Found(self.relevant.sum(axis=0), self.nonrelevant.sum(axis=0))

    def __getitem__(self, place: Any) -> Found:
        return Found(self.relevant[place], self.nonrelevant[place])

    def __sub__(self, other: Found) -> Found:
        return Found(self.relevant - other.relevant, self.nonrelevant - other.nonrelevant)


@dataclass(frozen=True, eq=False)
class Counts:
    """What a plan counts in the first n, per topic.

    `new`: topics x pools x new runs. `own`: topics x pools x pooled runs. `merged`: topics x new x pooled, the pooled
    run merged with the new one, under the new run's pool. `lost`: topics x new x pooled, what the pooled run loses
    when it is left out of the new run's pool. `moved`: False where nothing was merged (alpha = 0).
    """

    plan: Plan
    moved: bool
    new: Found
    own: Found
    merged: Found
    lost: Found


def binary(grade: npt.NDArray[np.int32], rel: int) -> npt.NDArray[np.int32]:
    """1 relevant, 0 judged nonrelevant, -1 unjudged."""
    return np.where(grade >= rel, 1, np.where(grade >= 0, 0, -1)).astype(np.int32)


def count(
    lists: Lists,
    grade: npt.NDArray[np.int32],
    plans: Sequence[Plan],
    depth: int,
    *,
    alpha: float = 1.0,
    repooled: bool = True,
) -> list[Counts]:
    """Count for all plans. `grade` belongs to the rows of the judgments.

    A pooled run's merged list is worked out once for all cut-offs. `repooled`: a pool without a run holds nothing
    that the others did not find; else it loses only what this run alone found.
    """
    value = np.where(grade > 0, _RELEVANT, np.where(grade == 0, 1, 0)).astype(np.int32)
    parts: list[list[tuple[Ints, ...]]] = [[] for _ in plans]
    deepest = max(plan.n for plan in plans)
    every_new = np.unique(np.concatenate([plan.new for plan in plans]))
    every_pooled = np.unique(np.concatenate([plan.pooled for plan in plans]))
    for topic in lists:
        judged = np.flatnonzero(topic.code < len(value))
        slot = np.full(topic.nothing + 1, len(judged), np.int32)  # all unjudged documents share the last slot
        slot[judged] = np.arange(len(judged))
        row, rank = topic.code[judged], topic.rank[:, judged]
        merged = slot[_merged(topic, every_new, every_pooled, deepest, alpha)]
        for plan, found in zip(plans, parts, strict=True):
            worth = np.zeros((len(plan.pools), len(row) + 1), np.int32)
            np.multiply(plan.pools[:, row], value[row], out=worth[:, :-1])
            tops = merged[
                np.searchsorted(every_new, plan.new)[:, None], np.searchsorted(every_pooled, plan.pooled), : plan.n
            ]
            of_new = worth[:, slot[topic.top(plan.new, plan.n)]].sum(axis=2)
            of_own = worth[:, slot[topic.top(plan.pooled, plan.n)]]
            start = (plan.pool_of * worth.shape[1]).astype(np.int32)
            of_merged = np.take(worth.ravel(), start[:, None, None] + tops).sum(axis=2)
            lost = _lost(plan, of_own, rank[plan.pooled], slot[topic.top(plan.pooled, plan.n)], depth, repooled)
            found.append((of_new, of_own.sum(axis=2), of_merged, lost))
    return [
        Counts(plan, alpha > 0, *map(Found.split, map(np.stack, zip(*found, strict=True))))
        for plan, found in zip(plans, parts, strict=True)
    ]


def _merged(lists: TopicLists, new: Ints, pooled: Ints, n: int, alpha: float) -> Int32s:
    """new x pooled x n: the first n of every pooled run merged with every new one."""
    if alpha == 0:  # nothing moves
        return np.broadcast_to(lists.top(pooled, n), (len(new), len(pooled), n))
    tops = merged_tops(lists, np.tile(pooled, len(new)), np.repeat(new, len(pooled)), n, alpha)
    return tops.reshape(len(new), len(pooled), n)


def _lost(plan: Plan, worth: Int32s, rank: Int32s, top: Int32s, depth: int, repooled: bool) -> Ints:
    """New x pooled: the worth of the documents that no other pooled run has in its top.

    `worth`: pools x pooled x places, `rank`: pooled x judged documents, `top`: pooled x places.
    """
    inside = np.zeros((len(rank), rank.shape[1] + 1), np.int32)
    inside[:, :-1] = (rank > 0) & (rank <= depth)
    goes = found_by_no_other(inside, plan.peers, top)
    if not repooled:
        goes &= np.take_along_axis(inside, top, axis=1) > 0
    return np.asarray(np.where(goes, worth[plan.pool_of], 0).sum(axis=2), np.int64)
