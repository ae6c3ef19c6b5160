"""The Q-measure over boxes of grade counts: bounds for the search in `blended`, which explains and proves them.

Arrays run over ranks (judged relevant and unjudged documents) or, where a name says `own`, over unjudged documents
alone; rows are boxes. `sign` is 1 where the highest value is sought and -1 for the lowest: then documents are read from
the end of the list, and everything is multiplied by -1 so that larger is always better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats, Ints

Flags = npt.NDArray[np.bool_]


def running(values: Floats) -> Floats:
    """Running sums of each row, 0 first."""
    return np.concatenate((np.zeros((len(values), 1)), np.cumsum(values, axis=1)), axis=1)


@dataclass(frozen=True, eq=False)
class Problem:
    """One cell as the search sees it."""

    sign: int
    rank: Floats
    """Ranks of judged relevant and of unjudged documents."""
    is_own: Flags
    """Which of them are unjudged."""
    judged: Floats
    """Numerator of the blended ratio from judged documents alone, at these ranks."""
    reach: Floats
    """Unjudged documents up to each rank (highest value) or behind it (lowest)."""
    size: Ints
    """R_l, unretrieved documents (M) included."""
    worth: Floats
    """w_l: weight of a level in the numerator."""
    cost: Floats
    """beta (g_l - g_(l-1)): weight of a level in the denominator."""
    cut: float
    """The cut-off, or infinity."""

    @property
    def n(self) -> int:
        """Number of own unjudged documents."""
        return int(self.is_own.sum())

    def divisor(self, taken: Ints) -> Floats:
        """min(k, R) with this many own relevant documents (1 where nothing is relevant: the value is 0)."""
        return np.asarray(np.maximum(np.minimum(self.size[0] + taken, self.cut), 1.0))

    def base(self, counts: Ints) -> Floats:
        """B(r), for each vector of counts (rows)."""
        below = np.repeat(self.rank[None], len(counts), axis=0)
        for level, cost in enumerate(self.cost):
            below += cost * np.minimum(self.rank, self.size[level] + counts[:, level, None])
        return below

    def _ratios(self, low: Ints, high: Ints, above: Floats, below: Floats, levels: range) -> Floats:
        """Best blended ratio of every rank over each box: `above`, `below` and the best count of these levels."""
        above, below = np.repeat(above[None], len(low), axis=0), below + np.zeros((len(low), 1))
        for level in levels:
            count = np.clip(self.reach, low[:, level, None], high[:, level, None])
            below += self.cost[level] * np.minimum(self.rank, self.size[level] + count)
            seen = np.minimum(count, self.reach) if self.sign > 0 else np.maximum(count - self.reach, 0)
            above += self.worth[level] * seen
        return np.asarray(above / below)

    def plain(self, counts: Ints) -> Floats:
        """For each vector of counts the value with the first (last) documents relevant."""
        terms = self._ratios(counts, counts, self.judged, self.rank, range(len(self.size)))
        taken = np.arange(self.n) < counts[:, :1]
        total = terms[:, ~self.is_own].sum(axis=1) + (terms[:, self.is_own][:, :: self.sign] * taken).sum(axis=1)
        return np.asarray(self.sign * total / self.divisor(counts[:, 0]))

    def bound(self, low: Ints, high: Ints, beat: float) -> Floats:
        """For each box a value no completion exceeds: the least of the bounds (a), (b) and (c).

        Where one of them does not exceed `beat`, the box is settled and the others are not computed.
        """
        best = np.full(len(low), np.inf)
        taken = np.arange(self.n + 1)
        share = self.divisor(taken)
        partial = np.flatnonzero(low[:, 0] < self.n)
        for total_of, rows in (
            (self._chosen, partial),
            (self._skipped, partial if self.sign > 0 else partial[:0]),
            (self._each, np.arange(len(low))),
        ):
            rows = rows[best[rows] > beat]
            if len(rows):
                inside = (taken >= low[rows, :1]) & (taken <= high[rows, :1])
                value = np.where(inside, total_of(low[rows], high[rows]) / share, -np.inf)
                best[rows] = np.minimum(best[rows], value.max(axis=1))
        return best

    def _best_first(self, values: Floats, forced: Ints) -> Floats:
        """Values of the own documents: the forced ones at the front, then the others, best first."""
        values = values[:, :: self.sign]
        fixed = np.arange(self.n) < forced
        ordered = np.sort(np.where(fixed, self.sign * np.inf, values), axis=1)[:, :: -self.sign]
        return np.where(fixed, values, ordered)

    def _each(self, low: Ints, high: Ints) -> Floats:
        """Bound (a), for each number of own relevant documents: every rank by itself."""
        terms = self._ratios(low, high, self.judged, self.rank, range(len(self.size)))
        own = terms[:, self.is_own]
        if (low[:, 0] < self.n).any():
            own = self._best_first(own, low[:, -1:])
        return np.asarray(self.sign * (terms[:, ~self.is_own].sum(axis=1)[:, None] + running(own)))

    def _behind(self, inverse: Floats) -> Floats:
        """For each own document the sum of 1/B over judged relevant ranks behind it."""
        sums = running(np.where(self.is_own, 0.0, inverse)[:, ::-1])[:, ::-1]
        return np.asarray(sums[:, 1:][:, self.is_own])

    def _first_level(self, counts: Ints) -> Floats:
        """The part of B that level 1 and the rank make up."""
        return np.asarray(self.rank + self.cost[0] * np.minimum(self.rank, self.size[0] + counts[:, :1]))

    def _chosen(self, low: Ints, high: Ints) -> Floats:
        """Bound (b), for each number of own relevant documents: what each adds to all ranks behind it."""
        extreme = low if self.sign > 0 else high
        terms = self._ratios(low, high, self.judged, self._first_level(extreme), range(1, len(self.size)))
        inverse = 1 / self.base(extreme)
        own, number = inverse[:, self.is_own][:, :: self.sign], np.arange(self.n)
        adds = terms[:, self.is_own] + self.worth[0] * (inverse[:, self.is_own] + self._behind(inverse))
        if self.sign > 0:
            pairs = running(number * own)
        else:
            pairs = np.arange(self.n + 1) * running(own) - running((number + 1) * own)
        total = running(self._best_first(adds, low[:, -1:])) + self.worth[0] * pairs
        return np.asarray(self.sign * (terms[:, ~self.is_own].sum(axis=1)[:, None] + total))

    def _skipped(self, low: Ints, high: Ints) -> Floats:
        """Bound (c), for each number of own relevant documents: all of them, less what the skipped ones cost."""
        above = self.judged + self.worth[0] * self.reach
        terms = self._ratios(low, high, above, self._first_level(low), range(1, len(self.size)))
        inverse = 1 / self.base(high)
        later = running(inverse[:, self.is_own][:, ::-1])[:, ::-1]
        place = np.minimum(np.arange(1, self.n + 1) + self.n - low[:, :1], self.n)
        costs = terms[:, self.is_own] + self.worth[0] * (
            self._behind(inverse) + np.take_along_axis(later, place, axis=1)
        )
        costs = np.sort(np.where(np.arange(self.n) < low[:, -1:], np.inf, costs), axis=1)
        return np.asarray(terms.sum(axis=1)[:, None] - running(costs)[:, ::-1])

    def choose(self, base: Floats, gains: Floats, record: bool = False) -> tuple[Floats, Flags]:
        """Dynamic programme: for each row and number of documents taken the best sum, and which steps took one.

        `gains` are the numerators h of the documents of each row, in the order in which they are taken.
        """
        places = np.flatnonzero(self.is_own)
        inverse = np.where(self.is_own, 0.0, 1 / base)
        between = np.diff(running(inverse)[:, np.concatenate(([0], places, [base.shape[1]]))], axis=1)
        numerator = running(gains)
        best = np.full(numerator.shape, -self.sign * np.inf)
        best[:, 0] = 0.0
        took = np.zeros((len(places) if record else 0, numerator.shape[1]), bool)
        for step, place in enumerate(places):
            best += numerator * between[:, step, None]
            taken = best[:, :-1] + (self.judged[place] + numerator[:, 1:]) / base[:, place, None]
            better = self.sign * taken > self.sign * best[:, 1:]
            if record:
                took[step, 1:] = better[0]
            best[:, 1:] = np.where(better, taken, best[:, 1:])
        total = best + numerator * between[:, -1:] + (self.judged * inverse).sum(axis=1)[:, None]
        return self.sign * total / self.divisor(np.arange(numerator.shape[1])), took


def walk_back(took: Flags, count: int) -> Flags:
    """Which documents the dynamic programme took to arrive at `count`."""
    chosen = np.zeros(len(took), bool)
    for step in range(len(took) - 1, -1, -1):
        if took[step, count]:
            chosen[step], count = True, count - 1
    return chosen


def slabs(n: int, levels: int) -> tuple[Ints, Ints]:
    """All vectors in boxes that part a_1 = n, n - 1, n - 2 to n - 3, n - 4 to n - 7 and so on."""
    last = n - np.array([0, *(2**i for i in range(n.bit_length()))])
    low, high = np.zeros((len(last), levels), np.int64), np.repeat(last[:, None], levels, axis=1)
    low[:, 0] = [n, *(last[2:] + 1), 0] if n else 0
    return low, high


def halve(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Each box cut in two along its longest side, without what a_1 >= a_2 >= ... rules out."""
    if not len(low):
        return low, high
    side = np.argmax(high - low, axis=1)
    row = np.arange(len(low))
    middle = (low[row, side] + high[row, side]) // 2
    left, right = high.copy(), low.copy()
    left[row, side], right[row, side] = middle, middle + 1
    low, high = np.concatenate((low, right)), np.concatenate((left, high))
    low = np.maximum.accumulate(low[:, ::-1], axis=1)[:, ::-1]
    high = np.minimum.accumulate(high, axis=1)
    possible = (low <= high).all(axis=1)
    return low[possible], high[possible]
