"""Lists of any topics, and the tie groups in them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt

from unjudged import kernels
from unjudged.collection import Cells, Floats, Hits, Ints, Judgments
from unjudged.collection.segments import changes, ranges, starts_of

Mask = npt.NDArray[np.bool_]
_Scalar = TypeVar("_Scalar", bound=np.generic)


class Lists(Hits):
    """Hits of as many lists as wanted, each of any topic (Hits itself has one per run and topic).

    Measures are evaluated on them as on Hits. `per_hit` names the arrays that narrow along with the hits.
    """

    per_hit: ClassVar[tuple[str, ...]] = ("row", "rank")

    def __init__(
        self,
        judgments: Judgments,
        topic_of: Ints,
        length: npt.NDArray[np.int32],
        offsets: Ints,
        row: npt.NDArray[np.int32],
        rank: npt.NDArray[Any],
        ties: tuple[npt.NDArray[Any], npt.NDArray[Any]] | None = None,
        rel: int = 1,
    ) -> None:
        super().__init__(judgments, offsets, row, rank, length, length > 0, rel, ties=ties)
        self.topic_of = topic_of

    def per_cell(self, by_topic: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
        """A value per topic, handed to the lists of the topic."""
        return by_topic[self.topic_of]

    def where(self, mask: Mask, rel: int | None = None) -> Self:
        """Only the hits chosen by a mask."""
        chosen = np.flatnonzero(mask)
        view = type(self).__new__(type(self))
        view.__dict__.update(self.__dict__)  # everything, also what is not pickled
        view.__dict__.pop("position", None)
        for name in (*self.per_hit, "grade", "topic"):
            if name in self.__dict__:
                view.__dict__[name] = self.__dict__[name][chosen]
        view.offsets = np.searchsorted(chosen, self.offsets)
        view.ties = None if self.ties is None else (self.ties[0][chosen], self.ties[1][chosen])
        view.rel = self.rel if rel is None else rel
        view._base, view._kept, view._gains = self._bare, {}, {}
        return view


def lists_of(hits: Hits, cells: Ints) -> Lists:
    """The lists of these cells."""
    sizes = np.diff(hits.offsets)[cells]
    offsets = starts_of(sizes)
    chosen = ranges(hits.offsets[:-1][cells], sizes)
    assert hits.ties is not None
    return Lists(
        hits.judgments,
        hits.per_cell(np.arange(len(hits.judgments.topics)))[cells],
        hits.length[cells],
        offsets,
        hits.row[chosen],
        hits.rank[chosen],
        (hits.ties[0][chosen], hits.ties[1][chosen]),
        hits.rel,
    )


@dataclass(frozen=True)
class Kinds:
    """The hits of each tie group counted by kind, group after group; equal keys are one kind."""

    cell: Ints
    group: Ints
    first: Ints
    size: Ints
    many: Ints
    hit: Ints
    groups: int

    @classmethod
    def of(cls, h: Hits, key: npt.NDArray[Any]) -> Kinds:
        """The kinds of hits by a key for each."""
        assert h.ties is not None
        cell = h.cell
        first, size = h.ties[0].astype(np.int64), h.ties[1].astype(np.int64)
        group = np.cumsum(changes(cell, first)) - 1
        order = np.lexsort((key, group))
        at = np.flatnonzero(changes(group, key[order]))  # groups are not moved by the sorting
        many = np.diff(np.append(at, len(h)))
        groups = int(group[-1]) + 1 if len(h) else 0
        return cls(cell[at], group[at], first[at], size[at], many, order[at], groups)

    def take(self, chosen: slice) -> Kinds:
        """These kinds alone."""
        cell, group, first, size = self.cell[chosen], self.group[chosen], self.first[chosen], self.size[chosen]
        return Kinds(cell, group, first, size, self.many[chosen], self.hit[chosen], self.groups)


def expand(sizes: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """For segments of these sizes: the number of each item's segment, and its place 0, 1, 2... inside."""
    segment = np.repeat(np.arange(len(sizes)), sizes)
    return segment, np.arange(len(segment)) - starts_of(sizes)[:-1][segment]


def running_before(values: npt.NDArray[Any], offsets: Ints) -> Floats:
    """Running sum inside segments, the item itself not included."""
    out: Floats = np.empty(len(values))
    kernels.segment_cumsum(np.ascontiguousarray(values, np.float64), offsets, out)
    return np.asarray(out - values)


def batches(weights: npt.NDArray[Any], most: float) -> Iterator[Ints]:
    """Item numbers in runs whose weights add up to at most `most` (or one heavier item)."""
    begin, total = 0, 0.0
    for i, weight in enumerate(weights.tolist()):
        if i > begin and total + weight > most:
            yield np.arange(begin, i)
            begin, total = i, 0.0
        total += weight
    if begin < len(weights):
        yield np.arange(begin, len(weights))


@functools.lru_cache(maxsize=4)
def _log_factorials(n: int) -> Floats:
    return np.array([math.lgamma(i + 1.0) for i in range(n + 1)])


def log_choose(n: Ints, k: Ints) -> Floats:
    """log of n over k; both at least 0 and k at most n."""
    table = _log_factorials(1 << int(n.max(initial=1)).bit_length())
    return np.asarray(table[n] - table[k] - table[n - k])


def mean_over(values: Cells, origin: Ints, chance: Floats, cells: int) -> Cells:
    """Mean per cell of the values its scenarios took, weighted by their chance.

    A value undefined in some orders counts 0 in these, as in scoring; undefined in all it stays so.
    """
    total = np.bincount(origin, chance * np.nan_to_num(values, nan=0.0), cells)
    defined = np.bincount(origin, np.isfinite(values), cells) > 0
    return np.where(defined, total, np.nan)
