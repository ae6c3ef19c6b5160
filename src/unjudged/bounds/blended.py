"""Bounds of the Q-measure, graded, with or without a cut-off: exact search over counts of grades.

Notation: g_1 < ... < g_G are the different positive gains, J_l(r) counts judged documents of gain g_l or more up to
rank r and R_l all of them, retrieved or not; h(g) = 1 + beta g is what a relevant document adds to the numerator of
the blended ratio BR(r) = H(r) / B(r), where H(r) sums h over the relevant documents up to r and
B(r) = r + beta sum_l (g_l - g_(l-1)) min(r, c_l), with c_l documents of gain g_l or more in all (retrieved or not).
Q = (sum of BR(r) over relevant ranks) / min(k, R), R = c_1. A completion is described by the set A of own unjudged
documents it makes relevant, their gains, and the gains of others. A document behind the cut-off counts only in
B and R, like one that was not retrieved.

1. *Others.* One more unretrieved relevant document, or a higher gain of one, raises B and R and nothing else. So
   they have gain 0 at the highest value and the top gain at the lowest. M counts them (0 at the highest).
2. *Counts decide B.* Let a_l be the number of own documents of gain g_l or more. Given a = (a_1 >= ... >= a_G), B and R are
   fixed, and the numerators sum to sum_i h_i T(i) over relevant i, T(i) = sum of 1/B(r) over relevant r >= i. T falls down
   the list: for a given A, gains are sorted down the list at the highest value, the other way at the lowest.
3. *Top grades first.* Move one document of A from rank y up to the free rank x < y and shift the gains of those between
   along (so that their order stays). With all shifted gains equal to the top gain q the sum changes by
   (h_q + H(x-1)) (1/B(x) - 1/B(y)) + sum over relevant r between of (h_q/B(r) - h_r/B(y)), h_r as before the move, and
   every part is >= 0 because B rises and h_q >= h_r. So at the highest value the a_G documents of top gain are the first
   a_G unjudged ones, at the lowest value (read backwards) the last a_G.
   With one level, G = 1, a_1 decides everything and A is the first (last) a_1 documents.
   With more levels, lower gains may have to skip ranks: A is not always a prefix (brute force finds such cases).
4. *Bound on a box* lo <= a <= hi. With u(r) unjudged documents up to r, A holds at most u(r) of them, so
   BR(r) <= (sum_l w_l (J_l(r) + min(a_l, u(r)))) / (r + beta sum_l (g_l - g_(l-1)) min(r, R_l + a_l)),
   w_1 = 1 + beta g_1, w_l = beta (g_l - g_(l-1)). As a function of a_l the right side rises up to a_l = u(r) (numerator and
   denominator grow by w_l and at most w_l, and the ratio is <= 1) and falls behind it. So its maximum over the box is
   at a_l = u(r) clipped to the box, for each l and r by itself. Adding the judged relevant ranks, the first lo_G
   unjudged ranks (by 3) and the largest of the remaining terms bounds the sum for each size of A. For the lowest value
   the same holds backwards: v(r) unjudged documents stand behind r, at least a_l - v(r) of gain g_l or more up to r.
5. *Search.* Boxes are halved and dropped when their bound is not better than the best completion found. For a single a
   the bound is reached by the first (last) a_1 documents if it equals their value, in particular if a_1 = a_G; else
   dynamic programming over the unjudged ranks, with the number of documents taken so far as state (their gains are
   then known by 2), finds the best A. The end of the search is the exact extremum (up to 1e-13).
6. *Many others.* If R_G + M >= the depth, B(r) = r (1 + beta g_G) whatever the completion. Then lower gains are lower values:
   the lowest value uses the lowest gain g_1 only, and one run of the dynamic programme over all sizes finds it.

The number of boxes is not polynomially bounded; beyond BOXES the cell is refused, never approximated.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.bounds.cells import Cell, Completion, End, Limit, Setting, gains_of
from unjudged.collection import Floats, Ints
from unjudged.errors import UsageError
from unjudged.measures import Measure

BOXES = 200_000
"""Boxes examined per cell and end before the search gives up."""
FEW = 300
"""So many vectors of counts are simply all tried."""
TOLERANCE = 1e-13
ELEMENTS = 2_000_000
"""Terms computed in one go."""


@dataclass(frozen=True, eq=False)
class Problem:
    """One cell as the search sees it; `sign` is 1 for the highest and -1 for the lowest value."""

    sign: int
    rank: Floats
    """Ranks of judged relevant and of unjudged documents."""
    is_open: npt.NDArray[np.bool_]
    judged: Floats
    """Numerator of the blended ratio from judged documents alone, at these ranks."""
    reach: Floats
    """u(r) or v(r) of the bound, per level and rank."""
    size: Ints
    """R_l with the unretrieved documents (M) included."""
    worth: Floats
    """w_l: weight of a level in the numerator."""
    cost: Floats
    """beta (g_l - g_(l-1)): weight of a level in the denominator."""
    cut: float

    @property
    def n(self) -> int:
        """Number of own unjudged documents."""
        return int(self.is_open.sum())

    def base(self, counts: Ints) -> Floats:
        """B(r) for one vector of counts."""
        level = np.minimum(self.rank, (self.size + counts)[:, None])
        return self.rank + (self.cost[:, None] * level).sum(axis=0)

    def divisor(self, taken: Ints) -> Floats:
        """min(k, R) with this many own relevant documents."""
        return np.minimum(self.size[0] + taken, self.cut)

    def terms(self, low: Ints, high: Ints) -> Floats:
        """Best blended ratio of every rank over each box (rows): point 4."""
        above = np.repeat(self.judged[None], len(low), axis=0)
        below = np.repeat(self.rank[None], len(low), axis=0)
        for level, reach in enumerate(self.reach):
            count = np.clip(reach, low[:, level, None], high[:, level, None])
            below += self.cost[level] * np.minimum(self.rank, self.size[level] + count)
            if self.sign > 0:
                above += self.worth[level] * np.minimum(count, reach)
            else:
                above += self.worth[level] * np.maximum(count - reach, 0)
        return above / below

    def plain(self, counts: Ints) -> Floats:
        """For each vector of counts the value with the first (last) documents relevant, times `sign`."""
        terms = self.terms(counts, counts)
        taken = np.arange(1, self.n + 1) <= counts[:, :1]
        total = terms[:, ~self.is_open].sum(axis=1) + (terms[:, self.is_open][:, :: self.sign] * taken).sum(axis=1)
        return self.sign * total / np.maximum(self.divisor(counts[:, 0]), 1)

    def bound(self, low: Ints, high: Ints, beat: float) -> Floats:
        """For each box a value no completion exceeds, times `sign`: points 4 and 5.

        A bound that does not exceed `beat` need not be a good one.
        """
        best = np.full(len(low), np.inf)
        size = np.arange(self.n + 1)
        share = np.maximum(self.divisor(size), 1)

        def tighten(rows: Ints, total: Floats) -> None:
            inside = (size >= low[rows, :1]) & (size <= high[rows, :1])
            best[rows] = np.minimum(best[rows], np.where(inside, total / share, -np.inf).max(axis=1))

        some = np.flatnonzero(low[:, 0] < self.n)
        if len(some):
            tighten(some, (self._without if self.sign > 0 else self._within)(low[some], high[some]))
        rows = np.flatnonzero(best > beat)
        if not len(rows):
            return best
        terms = self.terms(low[rows], high[rows])
        fixed, free = terms[:, ~self.is_open].sum(axis=1), terms[:, self.is_open][:, :: self.sign]
        loose = np.flatnonzero((low[rows, -1] < high[rows, 0]) & (low[rows, 0] < self.n))
        if len(loose):
            forced = size[1:] <= low[rows[loose], -1:]
            ordered = np.sort(np.where(forced, self.sign * np.inf, free[loose]), axis=1)[:, :: -self.sign]
            free[loose] = np.where(forced, free[loose], ordered)
        tighten(rows, self.sign * (fixed[:, None] + _sums(free)))
        return best

    def _parts(self, low: Ints, high: Ints, above: Floats, extreme: Ints) -> tuple[Floats, Floats]:
        """Per box and rank: the best ratio where level 1 counts `above` whatever a_1 is, and 1/B at its smallest."""
        above = np.repeat(above[None], len(low), axis=0)
        below = self.rank + self.cost[0] * np.minimum(self.rank, self.size[0] + extreme)
        most = self.rank + self.cost[0] * np.minimum(self.rank, self.size[0] + high[:, :1])
        for level, reach in enumerate(self.reach[1:], 1):
            count = np.clip(reach, low[:, level, None], high[:, level, None])
            below += self.cost[level] * np.minimum(self.rank, self.size[level] + count)
            most += self.cost[level] * np.minimum(self.rank, self.size[level] + high[:, level, None])
            above += self.worth[level] * (np.minimum(count, reach) if self.sign > 0 else np.maximum(count - reach, 0))
        return above / below, 1 / most

    def _behind(self, inverse: Floats) -> Floats:
        """For each unjudged document the sum of 1/B over judged relevant ranks behind it."""
        return _sums(np.where(self.is_open, 0.0, inverse)[:, ::-1])[:, ::-1][:, 1:][:, self.is_open]

    def _without(self, low: Ints, high: Ints) -> Floats:
        """For each box and number of own relevant documents a bound on the sum: what skipped ones cost (point 5)."""
        terms, inverse = self._parts(low, high, self.judged + self.worth[0] * self.reach[0], low[:, :1])
        later = _sums(inverse[:, self.is_open][:, ::-1])[:, ::-1]
        place = np.minimum(np.arange(1, self.n + 1) + self.n - low[:, :1], self.n)
        behind = self._behind(inverse) + np.take_along_axis(later, place, axis=1)
        price = terms[:, self.is_open] + self.worth[0] * behind
        price = np.sort(np.where(np.arange(self.n) < low[:, -1:], np.inf, price), axis=1)
        return terms.sum(axis=1)[:, None] - _sums(price)[:, ::-1]

    def _within(self, low: Ints, high: Ints) -> Floats:
        """For each box and number of own relevant documents a bound on the sum: what these cost, times -1 (point 5)."""
        terms, inverse = self._parts(low, high, self.judged, high[:, :1])
        own, number = inverse[:, self.is_open], np.arange(1, self.n + 1)
        price = terms[:, self.is_open] + self.worth[0] * (own + self._behind(inverse))
        forced = number > self.n - low[:, -1:]
        ordered = np.sort(np.where(forced, -np.inf, price), axis=1)
        ordered = np.where(number <= low[:, -1:], price[:, ::-1], ordered)
        among = _sums((number * own)[:, ::-1]) - (self.n - np.arange(self.n + 1) + 1) * _sums(own[:, ::-1])
        fixed = terms[:, ~self.is_open].sum(axis=1)[:, None]
        return -(fixed + _sums(ordered) + self.worth[0] * among)

    def choose(self, base: Floats, gains: Floats, stop: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Dynamic programme: for each number t of documents taken the best sum, and which steps took one.

        `gains` are the numerators h of the documents in the order in which they are taken.
        """
        places = np.flatnonzero(self.is_open)
        inverse = np.where(self.is_open, 0.0, 1 / base)
        between = np.diff(np.concatenate(([0.0], np.cumsum(inverse)))[np.concatenate(([0], places, [len(base)]))])
        running = np.concatenate(([0.0], np.cumsum(gains)))
        best = np.full(stop + 1, -self.sign * np.inf)
        best[0] = 0.0
        took = np.zeros((len(places), stop + 1), bool)
        for step, place in enumerate(places):
            best = best + running * between[step]
            taken = best[:-1] + (self.judged[place] + running[1:]) / base[place]
            better = self.sign * taken > self.sign * best[1:]
            took[step, 1:] = better
            best[1:] = np.where(better, taken, best[1:])
        return best + running * between[-1] + float((self.judged * inverse).sum()), took


def _sums(values: Floats) -> Floats:
    """Running sums of each row, 0 first."""
    return np.concatenate((np.zeros((len(values), 1)), np.cumsum(values, axis=1)), axis=1)


def _walk_back(took: npt.NDArray[np.bool_], count: int) -> npt.NDArray[np.bool_]:
    """Which documents the dynamic programme took to arrive at `count`."""
    chosen = np.zeros(len(took), bool)
    for step in range(len(took) - 1, -1, -1):
        if took[step, count]:
            chosen[step], count = True, count - 1
    return chosen


def _levels_in_order(counts: Ints, sign: int) -> Ints:
    """Level of the first, second... relevant own document: sorted down the list, or up."""
    down = (np.arange(int(counts[0])) < counts[:, None]).sum(axis=0)
    return down[::sign]


def _search(problem: Problem, where: str) -> Ints:
    """Levels (0 = not relevant) of the own documents at the best completion."""
    n, levels, sign = problem.n, len(problem.size), problem.sign
    best, answer = -np.inf, np.zeros(n, np.int64)

    def offer(value: float, counts: Ints, chosen: npt.NDArray[np.bool_] | None = None) -> None:
        nonlocal best, answer
        if value > best:
            if chosen is None:
                chosen = (np.arange(n) < counts[0])[::sign]
            best, answer = value, np.zeros(n, np.int64)
            answer[chosen] = _levels_in_order(counts, sign)

    def try_all(counts: Ints) -> None:
        plain = problem.plain(counts)
        at = int(np.argmax(plain))
        offer(float(plain[at]), counts[at])

    if math.comb(n + levels, levels) <= FEW:
        low = np.array([c[::-1] for c in itertools.combinations_with_replacement(range(n + 1), levels)])
        high = low
    else:
        _climb(n, levels, try_all, lambda: np.array([(answer >= level + 1).sum() for level in range(levels)]))
        low, high = _slabs(n, levels)
    examined = 0
    while len(low):
        examined += len(low)
        if examined > BOXES:
            raise UsageError(
                f"{where} has no exact bounds here: the search over grades of {n} unjudged documents did not end; "
                "with a cut-off (Q@10) or with gains that make all relevant grades equal it will"
            )
        size = max(1, ELEMENTS // max(len(problem.rank), 1))
        parts = [slice(at, at + size) for at in range(0, len(low), size)]
        bound = np.concatenate([problem.bound(low[part], high[part], best + TOLERANCE) for part in parts])
        keep = bound > best + TOLERANCE
        low, high, bound = low[keep], high[keep], bound[keep]
        for part in parts:
            if len(low[part]):
                try_all((low[part] + high[part]) // 2)
        promising = bound > best + TOLERANCE
        single = (low == high).all(axis=1)
        for counts in low[promising & single]:
            base, order = problem.base(counts), _levels_in_order(counts, sign)
            total, took = problem.choose(base, np.cumsum(problem.worth)[order - 1], int(counts[0]))
            value = sign * total[-1] / max(problem.divisor(counts[0]), 1)
            offer(float(value), counts, _walk_back(took, int(counts[0])))
        low, high = _halve(low[promising & ~single], high[promising & ~single])
    return answer


def _climb(n: int, levels: int, try_all: object, current: object) -> None:
    """A good start: equal counts, then steps in every direction, ever smaller."""
    assert callable(try_all) and callable(current)
    try_all(np.unique(np.linspace(0, n, min(n, 64) + 1).astype(np.int64))[:, None].repeat(levels, axis=1))
    moves = np.stack(np.meshgrid(*[[-1, 0, 1]] * levels), axis=-1).reshape(-1, levels)
    step = max(n // 2, 1)
    while True:
        before = current()
        try_all(np.minimum.accumulate(np.clip(before + step * moves, 0, n), axis=1))
        if (current() == before).all():
            if step == 1:
                return
            step //= 2


def _slabs(n: int, levels: int) -> tuple[Ints, Ints]:
    """All vectors in boxes that part a_1 = n, n - 1, n - 2 to n - 3, n - 4 to n - 7 and so on."""
    last = n - np.array([0, *(2**i for i in range(n.bit_length()))])
    first = np.concatenate((last[:1], last[2:] + 1, [0]))
    low, high = np.zeros((len(last), levels), np.int64), np.repeat(last[:, None], levels, axis=1)
    low[:, 0] = first
    return low, high


def _halve(low: Ints, high: Ints) -> tuple[Ints, Ints]:
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


def q_measure(cell: Cell, measure: Measure, setting: Setting) -> tuple[End, End]:
    """Q: see the module."""
    k, beta = measure.params["k"], measure.params["beta"]
    gain = gains_of(measure, setting)
    values, level_of = np.unique(gain, return_inverse=True)
    if beta == 0:
        values, level_of = np.array([0.0, 1.0]), (gain > 0).astype(np.int64)
    if gain[-1] <= 0:
        nothing = Completion.of(np.zeros(len(cell.unjudged), np.int32))
        return nothing, nothing
    grade_of = np.array([int(np.flatnonzero(level_of == level)[-1]) for level in range(int(level_of.max()) + 1)])
    depth = len(cell.grade) if k is None else min(k, len(cell.grade))
    listed = np.where(cell.grade[:depth] < 0, -1, level_of[cell.grade[:depth]])
    missed = level_of[np.concatenate((cell.missed, cell.grade[depth:][cell.grade[depth:] >= 0]))]
    beyond = len(cell.unjudged) - int((listed < 0).sum())
    others = (max(k, cell.others) if setting.free and k is not None else cell.others) + beyond

    levels = np.arange(1, len(values))
    cost = beta * np.diff(values)
    worth = cost + (levels == 1)
    reached = np.cumsum(listed >= levels[:, None], axis=1)
    size = reached[:, -1] if depth else np.zeros(len(levels), np.int64)
    size = size + (missed >= levels[:, None]).sum(axis=1)
    chosen = np.flatnonzero(listed != 0)
    is_open = listed[chosen] < 0
    rank = chosen + 1.0
    judged = (worth[:, None] * reached[:, chosen]).sum(axis=0)
    up_to = np.cumsum(is_open).astype(np.float64)
    cut = np.inf if k is None else float(k)
    where = f"{measure}"

    reach = np.repeat(up_to[None], len(levels), axis=0)
    found = _search(Problem(1, rank, is_open, judged, reach, size, worth, cost, cut), where)
    high = Completion.of(np.concatenate((grade_of[found], np.zeros(beyond, np.int64))))
    if setting.free and k is None:
        return Limit(), high

    behind = np.repeat((is_open.sum() - up_to)[None], len(levels), axis=0)
    lowest = Problem(-1, rank, is_open, judged, behind, size + others, worth, cost, cut)
    if lowest.size[-1] >= depth:
        total, took = lowest.choose(lowest.base(0 * size), np.full(lowest.n, worth[0]), lowest.n)
        sizes = np.arange(lowest.n + 1)
        found = _walk_back(took, int(np.argmin(total / np.maximum(lowest.divisor(sizes), 1)))).astype(np.int64)
    else:
        found = _search(lowest, where)
    own = np.concatenate((grade_of[found], np.full(beyond, setting.top)))
    return Completion.of(own, (setting.top, others - beyond)), high
