"""Tied documents with what stands above them: exact for sums over hits of any function of the counts above."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats, Ints
from unjudged.collection.segments import changes
from unjudged.errors import UsageError
from unjudged.measures.ties.lists import Kinds, Lists, Mask, expand, log_choose
from unjudged.measures.ties.spread import Spread

MOST_STEPS = 1e10
"""Refuse the distribution of a maximum in a list that takes more steps than this (some twenty seconds)."""

_LEVELS_AT_ONCE = 1024
_NEXT_TO_IMPOSSIBLE = 1e-22  # far below what a float64 holds of a mean


class TooManyOrders(UsageError):
    """Raised with the number of the list whose ties are too many to average over."""

    def __init__(self, cell: int, reason: str) -> None:
        super().__init__(reason)
        self.cell: int = cell
        self.reason: str = reason


class States(Spread):
    """A view with one entry per kind of document, rank, and numbers of documents above it in its group.

    Hits are divided into blocks (`block`, -1: no block). An entry says how many documents of each block the
    group has above it (multivariate hypergeometric), and `running` is exact given these where the values
    follow from the block, else the mean. Only the kinds marked `expanded` get entries of all states: those
    whose terms the measure adds up. Values per hit may depend on its kind, not on its rank.
    """

    per_hit: ClassVar[tuple[str, ...]] = (*Spread.per_hit, "place", "above_")
    place: Ints
    above_: npt.NDArray[np.int64]
    _sizes: npt.NDArray[np.int64]
    _block: Ints

    @classmethod
    def counting(cls, h: Lists, key: npt.NDArray[Any], block: Ints, expanded: Mask) -> States:
        """The lists with the hits of each kind (by key) at every rank and with every count of blocks above."""
        kinds = Kinds.of(h, key)
        blocks = block[kinds.hit]
        others, sizes = _others(kinds, blocks, max(int(block.max(initial=0)) + 1, 1))
        shown = expanded[kinds.hit] & (kinds.size > 1)
        grid = np.where(shown, np.prod(others + 1, axis=1), 1)
        kind, number = expand(np.where(shown, kinds.size * grid, 1))
        place, code = number // grid[kind], number % grid[kind]
        above = np.zeros((len(kind), others.shape[1]), np.int64)
        for b in range(others.shape[1]):
            base = np.where(shown, others[:, b] + 1, 1)[kind]
            above[:, b], code = code % base, code // base
        rest, below = kinds.size - 1 - others.sum(axis=1), place - above.sum(axis=1)
        kept = (below >= 0) & (below <= rest[kind])
        kept |= ~shown[kind]
        kind, place, above, below = kind[kept], place[kept], above[kept], np.maximum(below[kept], 0)
        log = log_choose(rest[kind], np.minimum(below, rest[kind]))
        for b in range(others.shape[1]):
            log += log_choose(others[kind, b], above[:, b])
        log -= log_choose(kinds.size[kind] - 1, place)
        chance = np.where(shown[kind], np.exp(log), 1.0)
        at = np.flatnonzero(changes(kind, place))
        if len(at):
            chance /= np.repeat(np.add.reduceat(chance, at), np.diff(np.append(at, len(kind))))
        many = kinds.many[kind]
        weight = np.where(shown[kind], many / kinds.size[kind] * chance, many)
        view = cls(
            h.judgments,
            h.topic_of,
            h.length,
            np.searchsorted(kinds.cell[kind], np.arange(h.cells + 1)),
            h.row[kinds.hit][kind],
            kinds.first[kind] + place,
            rel=h.rel,
        )
        view._with(kinds, kind, weight)
        view.place, view.above_ = place, above
        view._sizes, view._block = sizes, blocks
        return view

    def running(self, values: npt.NDArray[Any]) -> Floats:
        """Mean of the sum over the hits down to this one, given what stands above."""
        v = np.ascontiguousarray(values, np.float64)
        if not len(v):
            return v
        out = self._earlier(v) + v
        at = np.flatnonzero(changes(self.kind))
        group, block, worth = self.group[at], self._block[self.kind[at]], self.many[at] * v[at]
        own, rest, below = self._block[self.kind], self.size - 1, self.place.copy()
        for b in range(self._sizes.shape[1]):
            mine = own == b
            total = np.bincount(group, np.where(block == b, worth, 0.0), len(self._sizes))[self.group] - mine * v
            others, above = self._sizes[self.group, b] - mine, self.above_[:, b]
            out += above * total / np.maximum(others, 1)
            rest, below = rest - others, below - above
        total = np.bincount(group, np.where(block < 0, worth, 0.0), len(self._sizes))[self.group] - (own < 0) * v
        return np.asarray(out + below * total / np.maximum(rest, 1))

    def running_product(self, values: Floats) -> Floats:
        """Refused: a product is no sum."""
        raise NotImplementedError("running products given what stands above")

    def best_precision(self) -> Floats:
        """Per cell, for its 1st, 2nd... relevant document: the mean of the best precision there or further down."""
        return cast(Floats, self.once("best precision", lambda: _BestPrecision(cast(States, self.without_views()))))

    def mean_of_max(self, cell: int, values: Floats) -> float:
        """Mean of the largest value of the hits of a cell (hits of one kind; their numbers above counted).

        The largest value is at most t in a group with the chance that a walk through its ranks, taking hits as
        they come, meets none above t. Groups are independent, so these chances multiply.
        """
        begin, end = self.offsets[cell], self.offsets[cell + 1]
        alone = self.size[begin:end] == 1
        at = np.append(np.flatnonzero(changes(self.group[begin:end])), end - begin)
        tables = [
            self._table(values[i:j], slice(begin + i, begin + j))
            for i, j in itertools.pairwise(at.tolist())
            if not alone[i]
        ]
        certain = [float(np.where(np.isnan(t), np.inf, t).min(axis=0).max()) for t in tables]
        least = max([float(values[alone].max(initial=0.0)), *certain])
        tables = [t for t in tables if np.nanmax(t) > least]
        if not tables:
            return least
        levels = np.append(least, np.unique(np.concatenate([t[t > least] for t in tables])))
        steps = sum(int(np.isfinite(t).sum()) * int(np.searchsorted(levels, np.nanmax(t))) for t in tables)
        if steps > MOST_STEPS:
            raise TooManyOrders(cell, f"the distribution of a maximum takes {steps:.1g} steps")
        chance = np.ones(len(levels))
        for table in tables:
            some = int(np.searchsorted(levels, np.nanmax(table)))  # above all values of the group: certain
            for i in range(0, some, _LEVELS_AT_ONCE):
                block = slice(i, min(i + _LEVELS_AT_ONCE, some))
                chance[block] *= _chance_of_at_most(table, levels[block])
        return float(levels @ np.diff(chance, prepend=0.0))

    def _table(self, values: Floats, entries: slice) -> Floats:
        """Values of a group by place and by number of hits above in the group; NaN where (next to) impossible."""
        table = np.full((int(self.size[entries][0]), int(self.many[entries][0])), np.nan)
        likely = self.weight[entries] > _NEXT_TO_IMPOSSIBLE
        table[self.place[entries][likely], self.above_[entries, 0][likely]] = values[likely]
        return table


class _BestPrecision:
    """Computed when asked for: item offsets[cell] + n - 1 is the best precision from relevant document n on."""

    def __init__(self, states: States) -> None:
        self.states, self.position = states, states.position
        self.precision = self.position / states.rank
        self.known: dict[int, float] = {}

    def __getitem__(self, items: Ints) -> Floats:
        states = self.states
        for item in np.unique(items).tolist():
            if item not in self.known:
                cell = int(np.searchsorted(states.offsets, item, side="right")) - 1
                inside = slice(states.offsets[cell], states.offsets[cell + 1])
                there = self.position[inside] > item - states.offsets[cell]
                self.known[item] = states.mean_of_max(cell, np.where(there, self.precision[inside], 0.0))
        return np.array([self.known[item] for item in items.tolist()])


def _others(kinds: Kinds, blocks: Ints, count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Per kind, the documents of each block in its group without one of its own; and with all, per group."""
    chosen = blocks >= 0
    slot = kinds.group[chosen] * count + blocks[chosen]
    sizes = np.bincount(slot, kinds.many[chosen], kinds.groups * count).astype(np.int64).reshape(-1, count)
    others = sizes[kinds.group]
    others[np.flatnonzero(chosen), blocks[chosen]] -= 1
    return others, sizes


def work(kinds: Kinds, blocks: Ints, expanded: Mask, cells: int) -> Floats:
    """Number of entries `States.counting` would make, per cell."""
    others, _ = _others(kinds, blocks, max(int(blocks.max(initial=0)) + 1, 1))
    grid = np.prod(others + 1.0, axis=1) * kinds.size
    return np.bincount(kinds.cell, np.where(expanded & (kinds.size > 1), grid, 1.0), cells).astype(np.float64)


def _chance_of_at_most(table: Floats, levels: Floats) -> Floats:
    """For each level, the chance that no hit of the group has a value above it.

    The walk: after j of n documents, x of m hits were met; the next is a hit with chance (m - x) / (n - j).
    A level drops out once nothing above it can be met any more.
    """
    n, m = table.shape
    possible = np.isfinite(table)
    values = np.where(possible, table, -np.inf)
    reach = np.maximum.accumulate(values.max(axis=1)[::-1])[::-1]
    out = np.ones(len(levels))
    walk, begin, active = np.ones((1, len(levels))), 0, len(levels)  # by hits met (from `begin` on) and level
    for j in range(n):
        still = int(np.searchsorted(levels[:active], reach[j]))
        if still < active:
            out[still:active] = walk[:, still:].sum(axis=0)
            walk, active = walk[:, :still], still
            if not active:
                return out
        x = np.arange(begin, begin + len(walk))
        step = walk * ((m - x) / (n - j))[:, None]
        moved = np.empty((len(walk) + 1, active))
        np.subtract(walk, step, out=moved[:-1])
        moved[-1] = 0.0
        here = values[j, np.minimum(x, m - 1)]
        high = np.flatnonzero(here > levels[0])
        step[high] *= here[high, None] <= levels[None, :active]  # a hit above a level ends its walk
        moved[1:] += step
        kept = np.flatnonzero(moved.max(axis=1) > _NEXT_TO_IMPOSSIBLE)
        if not len(kept):
            out[:active] = 0.0
            return out
        begin, walk = begin + int(kept[0]), moved[kept[0] : kept[-1] + 1]
    out[:active] = walk.sum(axis=0)
    return out
