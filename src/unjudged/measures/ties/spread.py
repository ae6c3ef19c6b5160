"""Every tied document at every rank it can take: exact for sums over documents and over pairs of documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unjudged import kernels
from unjudged.collection import Cells, Floats, Hits, Ints
from unjudged.collection.segments import changes, starts_of
from unjudged.measures.ties.lists import Kinds, Lists, batches, expand, lists_of, running_before

_AT_ONCE = 2_000_000
_KEEP = 6_000_000


class Spread(Lists):
    """A view in which each kind of tied document stands at every rank of its group, with its chance as weight.

    `sum` and `count` are means over all orders. `position`, `running`, `above` and `running_product` are means
    over the orders that have this document at this rank, so a measure evaluated on the view is its mean over
    all orders where it is a sum over hits of terms linear in one of them: AP, Q, ERR... (McSherry and Najork,
    ECIR 2008, give some of these as formulas; here the measure's own definition is used.) For two documents of
    a group of n, the second is equally likely at each of the n - 1 other ranks; groups are independent.
    """

    per_hit: ClassVar[tuple[str, ...]] = ("row", "rank", "weight", "group", "kind", "many", "size", "start")
    weight: Floats
    group: Ints
    kind: Ints
    many: Ints
    size: Ints
    start: Ints

    @classmethod
    def of(cls, h: Lists, key: npt.NDArray[Any] | None = None) -> Spread:
        """The lists with each kind of hit (by grade, or by another key) at every rank of its group."""
        kinds = Kinds.of(h, h.grade if key is None else key)
        kind, place = expand(kinds.size)
        return cls(
            h.judgments,
            h.topic_of,
            h.length,
            starts_of(np.bincount(kinds.cell, kinds.size, h.cells).astype(np.int64)),
            h.row[kinds.hit][kind],
            kinds.first[kind] + place,
            rel=h.rel,
        )._with(kinds, kind, (kinds.many / kinds.size)[kind])

    def _with(self, kinds: Kinds, kind: Ints, weight: Floats) -> Spread:
        self.kind, self.weight = kind, weight
        self.group, self.many = kinds.group[kind], kinds.many[kind]
        self.size, self.start = kinds.size[kind], kinds.first[kind]
        return self

    def sum(self, values: npt.NDArray[Any]) -> Cells:
        """Mean of the sum over the hits, per cell."""
        return super().sum(self.weight * values)

    def count(self) -> Cells:
        """Mean number of hits per cell."""
        return _whole(super().sum(self.weight))

    @property
    def position(self) -> Floats:  # type: ignore[override]
        """Mean position of the hit among the hits of the view."""
        found: Floats = self.once("position", lambda: _whole(self.running(np.ones(len(self)))))
        return found

    def first(self, values: npt.NDArray[Any], none: float) -> Cells:
        """Refused: the first hit has no one place."""
        raise NotImplementedError("the first hit of tied lists")

    def running(self, values: npt.NDArray[Any]) -> Floats:
        """Mean of the sum over the hits down to this one."""
        v = np.ascontiguousarray(values, np.float64)
        if not len(v):
            return v
        tied = np.flatnonzero(self.size > 1)
        out = self._earlier(v) + v
        if len(tied):
            out[tied] += self._above_in_group(v, tied)
        return out

    def _earlier(self, v: Floats) -> Floats:
        """Sum over the groups above."""
        cumulated = running_before(self.weight * v, self.offsets)
        at = np.flatnonzero(changes(self.cell, self.group))
        return np.repeat(cumulated[at], np.diff(np.append(at, len(v))))

    def _above_in_group(self, v: Floats, tied: Ints) -> Floats:
        """Sum over the rest of the group of the chance to stand above, times the value there."""
        v, many, size = v[tied], self.many[tied], self.size[tied]
        at = np.flatnonzero(changes(self.kind[tied]))
        own = running_before(v, np.append(at, len(v)))  # of this document itself: it stands here, not there
        group = np.cumsum(changes(self.group[tied])) - 1
        sizes = size[np.flatnonzero(changes(group))]
        slots = starts_of(sizes)
        slot = slots[group] + self.rank[tied] - self.start[tied]
        everyone = running_before(np.bincount(slot, many * v, int(slots[-1])), slots)[slot]
        return np.asarray((everyone - own) / (size - 1))

    def running_product(self, values: Floats) -> Floats:
        """Mean of the product over the hits down to this one (one value per kind of document)."""
        v = np.ascontiguousarray(values, np.float64)
        if not len(v):
            return v
        at = np.flatnonzero(changes(self.kind))
        kind, lengths = np.cumsum(changes(self.kind)) - 1, np.diff(np.append(at, len(v)))
        factor, many, group = v[at], self.many[at], np.cumsum(changes(self.group[at])) - 1
        whole = np.ones(int(group[-1]) + 1)
        np.multiply.at(whole, group, factor**many)
        heads = at[np.flatnonzero(changes(group))]
        cell = self.cell[heads]
        offsets = np.searchsorted(cell, np.arange(self.cells + 1))
        earlier = np.empty(len(whole))
        kernels.segment_cumprod(whole, offsets, earlier)
        earlier = np.where(changes(cell), 1.0, np.append(1.0, earlier[:-1]))
        inside = _mean_products(factor, many, group, self.size[at], lengths)
        return np.asarray(earlier[group[kind]] * inside * v)


def _mean_products(factor: Floats, many: Ints, group: Ints, size: Ints, lengths: Ints) -> Floats:
    """For each kind and j = 0, 1...: mean product of j documents drawn from the rest of its group.

    Documents are let into the group one by one, first those without a factor: of a draw of j from N documents
    the last one let in is a member with chance j / N, so mean[j] = (1 - j/N) mean[j] + j/N factor mean[j-1].
    """
    order = np.argsort(-(np.bincount(group, many)[group]), kind="stable")
    first_doc = starts_of(np.bincount(group, many).astype(np.int64))
    docs = np.repeat(factor, many)
    own = (starts_of(many)[:-1])[order]
    begin, others = first_doc[group][order], np.diff(first_doc)[group][order] - 1
    plain = size[order] - 1 - others
    kind, j = expand(lengths[order])
    ends, draws = np.cumsum(lengths[order]), j.astype(np.float64)
    mean = np.ones(len(kind))
    for step in range(int(others.max(initial=0))):
        active = int(np.searchsorted(-others, -step, side="left"))  # kinds with more than `step` others
        upto = int(ends[active - 1])
        which = begin[:active] + step
        which += which >= own[:active]
        member = np.minimum(draws[:upto] / (plain[:active] + step + 1)[kind[:upto]], 1.0)
        before = np.append(1.0, mean[: upto - 1])  # where j = 0 its weight is 0
        mean[:upto] += member * (docs[which][kind[:upto]] * before - mean[:upto])
    out = np.empty(len(kind))
    out[np.repeat(starts_of(lengths)[:-1][order], lengths[order]) + j] = mean
    return out


def _whole(values: Floats) -> Floats:
    """Whole numbers where they were meant (sums of chances round)."""
    near = np.rint(values)
    return np.where(np.abs(values - near) < 1e-9, near, values)


def spreads(hits: Hits, cells: Ints) -> Iterator[tuple[Ints, Spread]]:
    """The cells in batches of limited size, each spread; kept with the hits if small enough."""
    kept = hits._kept.get("spreads")
    if kept is not None:
        yield from kept
        return
    lists = lists_of(hits, cells)
    kinds = Kinds.of(lists, lists.grade)
    work = np.bincount(kinds.cell, kinds.size, len(cells))
    made = []
    for batch in batches(work, _AT_ONCE):
        spread = Spread.of(lists_of(hits, cells[batch]))
        if work.sum() <= _KEEP:
            made.append((batch, spread))
        yield batch, spread
    if work.sum() <= _KEEP:
        hits._kept["spreads"] = made
