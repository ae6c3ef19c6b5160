"""r o u: a pooled run's documents in the order a new run suggests (Lipani, Lupu & Hanbury 2015, section 3.2).

Only documents of r stay. One that u has, too, takes the place `(1 - alpha) * rank in r + alpha * rank in u`; the
others keep theirs. At equal places a document that moved up comes first, then one that did not move, then one that
moved down.

A document whose place is at most v lies in the first v of r or in the first v of u, because a place is never above
both ranks. So the first n of r o u are complete as soon as n documents have a place of at most v; v begins at 2n
and is doubled for the pairs that need it. The cost follows the cut-off, not the length of the lists.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Ints

Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class TopicLists:
    """The full lists of one topic. Documents are numbered 0, 1, 2...; `nothing` (their number) fills short lists.

    `docs`: runs x places. `rank`: runs x documents, the rank from 1, 0 where the run lacks the document (and in the
    last column, for `nothing`). `code`: code of each document in the collection's rankings.
    """

    docs: Int32s
    rank: Int32s
    code: Int32s

    @property
    def nothing(self) -> int:
        """The number that stands for no document."""
        return len(self.code)

    def top(self, runs: Ints, n: int) -> Int32s:
        """The first n documents of these runs, filled up with `nothing`."""
        found = self.docs[runs, :n]
        short = n - found.shape[1]
        return np.pad(found, ((0, 0), (0, short)), constant_values=self.nothing) if short > 0 else found


def merged_tops(lists: TopicLists, pooled: Ints, new: Ints, n: int, alpha: float = 1.0) -> Int32s:
    """The first n documents of r o u, one row for each pair (pooled[i], new[i])."""
    out = np.full((len(pooled), n), lists.nothing, np.int32)
    merge = _by_rank if alpha == 1 else _by_place
    todo, reach = np.arange(len(pooled)), min(2 * n, lists.docs.shape[1])
    while len(todo):
        tops, placed = merge(lists, pooled[todo], new[todo], n, reach, alpha)
        done = np.ones(len(todo), bool) if reach == lists.docs.shape[1] else placed >= n
        out[todo[done]] = tops[done]
        todo, reach = todo[~done], min(2 * reach, lists.docs.shape[1])
    return out


def _looked_up(lists: TopicLists, runs: Ints, docs: Int32s) -> Int32s:
    """Rank of documents in runs, row by row."""
    start = (runs * lists.rank.shape[1]).astype(np.int64)
    return np.asarray(np.take(lists.rank.ravel(), start[:, None] + docs), np.int32)


def _by_rank(lists: TopicLists, pooled: Ints, new: Ints, n: int, reach: int, alpha: float) -> tuple[Int32s, Ints]:
    """alpha = 1: the places are ranks, each claimed by at most one document of u and one that u lacks."""
    own, other = lists.docs[pooled, :reach], lists.docs[new, :reach]
    came_from = _looked_up(lists, pooled, other)  # rank in r of u's document at each place; 0: r lacks it
    moved = came_from > 0
    stayed = (_looked_up(lists, new, own) == 0) & (own != lists.nothing)
    down = moved & (came_from < np.arange(1, reach + 1, dtype=np.int32))
    taken = moved.astype(np.int32) + stayed
    before = np.cumsum(taken, axis=1, dtype=np.int32) - taken
    out = np.full((len(pooled), n), lists.nothing, np.int32)
    for chosen, docs, place in ((moved, other, before + (stayed & down)), (stayed, own, before + (moved & ~down))):
        at = np.flatnonzero(chosen & (place < n))
        out[at // max(reach, 1), place.ravel()[at]] = docs.ravel()[at]
    placed = before[:, -1] + taken[:, -1] if reach else np.zeros(len(pooled), np.int32)
    return out, placed.astype(np.int64)


def _by_place(lists: TopicLists, pooled: Ints, new: Ints, n: int, reach: int, alpha: float) -> tuple[Int32s, Ints]:
    """Any alpha: documents sorted by place, then up before unmoved before down, then by rank in r."""
    docs = np.concatenate([lists.docs[pooled, :reach], lists.docs[new, :reach]], axis=1)
    rank, other = _looked_up(lists, pooled, docs), _looked_up(lists, new, docs)
    place = np.where(other > 0, np.round(rank * (1 - alpha) + other * alpha, 9), rank)
    again = np.zeros(docs.shape, bool)
    again[:, reach:] = rank[:, reach:] <= reach  # already among the first of r
    absent = (rank == 0) | again
    place[absent] = np.inf
    direction = np.where(other > 0, np.sign(other - rank), 0)
    order = np.lexsort((rank, direction, place), axis=1)[:, :n]
    out = np.full((len(pooled), n), lists.nothing, np.int32)
    found = np.take_along_axis(docs, order, axis=1)
    found[np.take_along_axis(absent, order, axis=1)] = lists.nothing
    out[:, : found.shape[1]] = found
    return out, (place <= reach).sum(axis=1)
