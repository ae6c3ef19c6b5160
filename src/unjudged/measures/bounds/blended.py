"""Bounds of the Q-measure, graded, with or without a cut-off: exact search over counts of grades.

g_1 < ... < g_G are the different positive gains. J_l(r) counts judged documents of gain g_l or more up to
rank r, R_l all of them, retrieved or not. h(g) = 1 + beta g is what a relevant document adds to the numerator
of the blended ratio BR(r) = H(r) / B(r): H(r) sums h over the relevant documents up to r, and B(r) = r +
sum_l e_l min(r, c_l), e_l = beta (g_l - g_(l-1)), with c_l documents of gain g_l or more in all. Q = (sum of
BR(r) over relevant ranks) / min(k, R), R = c_1. BR(r) <= 1 always. A is the set of own unjudged documents
that a completion makes relevant. A document behind the cut-off counts only in B and R, like one not
retrieved.

1. *Others.* One more unretrieved relevant document, or a higher gain of one, raises B and R and nothing else.
   So they have gain 0 at the highest value and the top gain at the lowest. M counts them (0 at the highest).
2. *Counts decide B.* Let a_l be the number of own documents of gain g_l or more. Given a = (a_1 >= ... >=
   a_G), B and R are fixed, and the numerators sum to sum_i h_i T(i) over relevant i, T(i) = sum of 1/B(r)
   over relevant r >= i. T falls down the list: for a given A, gains are sorted down the list at the highest
   value, the other way at the lowest.
3. *Top grades first.* Move one document of A from rank y up to the free rank x < y and shift the gains
   between along (so that their order stays). With all shifted gains equal to the top gain q, the sum of
   ratios changes by (h(q) + H(x-1)) (1/B(x) - 1/B(y)) + sum over relevant r between x and y of (h(q)/B(r) -
   h_r/B(y)). Every part is >= 0 because B rises and h(q) >= h_r. So at the highest value the a_G documents of
   top gain are the first a_G unjudged ones, at the lowest (read backwards) the last a_G. With one level, G =
   1, a_1 therefore decides everything. With more, documents of lower gain may have to skip ranks, and brute
   force finds such cases.
4. *Bounds on a box* lo <= a <= hi, for the highest value. Let w_1 = 1 + e_1, w_l = e_l, u(r) the number of
   unjudged documents up to r, t(r) that of A; t(r) <= min(u(r), a_1), and H(r) = sum_l w_l (J_l(r) + min(a_l,
   t(r))) by 2.
   (a) BR(r) <= sum_l w_l (J_l(r) + min(a_l, u(r))) / (r + sum_l e_l min(r, R_l + a_l)). In a_l the right side
   rises up to u(r) (the numerator grows by w_l, the denominator by at most that, the ratio is <= 1) and falls
   behind it: its maximum over the box is at a_l = u(r) clipped to the box, for each l and r by itself. Add
   the ratios of judged relevant ranks, of the first lo_G unjudged ones (by 3) and the largest of the others,
   as many as A has.
   (b) Level 1 apart: sum over r of w_1 t(r)/B(r) = w_1 sum over x in A of (1/B(x) + sum of 1/B(r) over judged
   relevant r behind x) + w_1 sum_i (i-1)/B(p_i), where p_i is the i-th document of A, not before the i-th
   unjudged one. So the sum is at most that over the best documents plus the last part for the first a_1
   documents. The other levels are as in (a).
   (c) From all n documents, with u(r) at level 1: each x that A skips costs its ratio and w_1 sum of 1/B(r)
   over relevant r behind it, of which at most n - lo_1 ranks are skipped, too. Subtract the smallest costs.
   For the lowest value (a) and (b) hold backwards: with v(r) unjudged documents behind r, at least a_l - v(r)
   documents of gain g_l or more stand up to r; the ratio falls up to a_l = v(r) and rises behind it.
5. *Search.* Boxes that no bound rules out against the best completion found are halved. At a single a, either
   a bound equals the value of the first (last) a_1 documents, or dynamic programming over the unjudged ranks
   finds the best A; its state is the number of documents taken so far, which by 2 tells their gains. The end
   of the search is the exact extremum (boxes that promise less than 1e-13 are not followed).
6. *Many others.* If R_G + M >= the depth, B(r) = r (1 + beta g_G) whatever the completion. Then a lower gain
   is a lower value: the lowest value uses g_1 alone, and one run of the dynamic programme over all sizes of A
   finds it.

The number of boxes has no polynomial bound. Lists of 1000 documents with three grades took 10 thousand as a
rule and 110 thousand at most; beyond BOXES the cell is refused, never approximated.

In the code, arrays run over ranks (judged relevant and unjudged documents) or, where a name says `own`, over unjudged
documents alone; rows are boxes. `sign` is 1 where the highest value is sought and -1 for the lowest: then documents are
read from the end of the list, and everything is multiplied by -1 so that larger is always better.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats, Ints
from unjudged.errors import UsageError
from unjudged.measures import Measure
from unjudged.measures.bounds.cells import Cell, Completion, End, Limit, Setting, gains_of

Flags = npt.NDArray[np.bool_]

BOXES = 300_000
"""Boxes examined per cell and end before the search gives up."""
FEW = 300
"""So many vectors of counts are simply all tried."""
TOLERANCE = 1e-13
ELEMENTS = 2_000_000
"""Numbers computed in one go."""


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


class Search:
    """The search for one end of one cell; `levels` are those of the own documents at the best completion found."""

    def __init__(self, problem: Problem) -> None:
        self.problem: Problem = problem
        self.n: int = problem.n
        self.depth: int = len(problem.size)
        self.best: float = -np.inf
        self.levels: Ints = np.zeros(problem.n, np.int64)

    def run(self) -> Ints | None:
        """The levels at the extremum; None if the search did not end."""
        if math.comb(self.n + self.depth, self.depth) <= FEW:
            low = np.array([c[::-1] for c in itertools.combinations_with_replacement(range(self.n + 1), self.depth)])
            high = low
            self._try_plain(low)
            if self.depth == 1:
                return self.levels
        else:
            self._climb()
            low, high = slabs(self.n, self.depth)
        examined = 0
        while len(low):
            examined += len(low)
            if examined > BOXES:
                return None
            low, high = self._round(low, high)
        return self.levels

    def _round(self, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """Bound the boxes, try a completion in each of those left, settle single vectors, halve the rest."""
        size = max(1, ELEMENTS // max(len(self.problem.rank), 1))
        parts = [slice(at, at + size) for at in range(0, len(low), size)]
        bound = np.concatenate([self.problem.bound(low[p], high[p], self.best + TOLERANCE) for p in parts])
        keep = bound > self.best + TOLERANCE
        low, high, bound = low[keep], high[keep], bound[keep]
        single = (low == high).all(axis=1)
        for part in parts:
            if len(low[part]):
                self._try_plain((low[part] + high[part]) // 2)
        for part in parts:
            open_vectors = low[part][single[part] & (bound[part] > self.best + TOLERANCE)]
            for at in range(0, len(open_vectors), 256):
                self._try_all_sets(open_vectors[at : at + 256])
        left = ~single & (bound > self.best + TOLERANCE)
        return halve(low[left], high[left])

    def _offer(self, value: float, counts: Ints, chosen: Flags | None = None) -> None:
        if value > self.best:
            if chosen is None:
                chosen = (np.arange(self.n) < counts[0])[:: self.problem.sign]
            self.best, self.levels = value, np.zeros(self.n, np.int64)
            self.levels[chosen] = self._order(counts)

    def _order(self, counts: Ints) -> Ints:
        """Level of the first, second... relevant own document: sorted down the list, or up."""
        down = (np.arange(int(counts[0])) < counts[:, None]).sum(axis=0)
        return np.asarray(down[:: self.problem.sign])

    def _try_plain(self, counts: Ints) -> None:
        """The first (last) documents, for each vector of counts."""
        values = self.problem.plain(counts)
        at = int(np.argmax(values))
        self._offer(float(values[at]), counts[at])

    def _try_all_sets(self, counts: Ints) -> None:
        """The best set A for each vector of counts."""
        gain = np.concatenate(([0.0], np.cumsum(self.problem.worth)))
        gains = np.zeros((len(counts), int(counts[:, 0].max())))
        for row, vector in zip(gains, counts, strict=True):
            row[: vector[0]] = gain[self._order(vector)]
        base = self.problem.base(counts)
        value = self.problem.choose(base, gains)[0][np.arange(len(counts)), counts[:, 0]]
        at = int(np.argmax(value))
        if value[at] > self.best:
            size = int(counts[at, 0])
            _, took = self.problem.choose(base[at : at + 1], gains[at : at + 1, :size], record=True)
            self._offer(float(value[at]), counts[at], walk_back(took, size))

    def _climb(self) -> None:
        """A good start: equal counts, then steps in every direction, ever smaller."""
        equal = np.unique(np.linspace(0, self.n, min(self.n, 64) + 1).astype(np.int64))
        self._try_plain(equal[:, None].repeat(self.depth, axis=1))
        moves = np.stack(np.meshgrid(*[[-1, 0, 1]] * self.depth), axis=-1).reshape(-1, self.depth)
        step = max(self.n // 2, 1)
        while step:
            before = self.best
            here = np.array([(self.levels > level).sum() for level in range(self.depth)])
            self._try_plain(np.minimum.accumulate(np.clip(here + step * moves, 0, self.n), axis=1))
            if self.best <= before:
                step //= 2


def _lowest_gain(problem: Problem) -> Ints:
    """Point 6: the best number and set of documents of the lowest gain."""
    nothing = np.zeros((1, len(problem.size)), np.int64)
    total, took = problem.choose(problem.base(nothing), np.full((1, problem.n), problem.worth[0]), record=True)
    return walk_back(took, int(np.argmax(total[0]))).astype(np.int64)


def _searched(problem: Problem, measure: Measure) -> Ints:
    found = Search(problem).run()
    if found is None:
        raise UsageError(
            f"{measure}: no exact bounds found within {BOXES} steps for a list with {problem.n} unjudged documents; "
            "bounds of Q with a cut-off (Q@10), or with equal gains of all relevant grades, are found fast"
        )
    return found


def q_measure(cell: Cell, measure: Measure, setting: Setting) -> tuple[End, End]:
    """Q: the completions found by the search above."""
    k, beta, gain = measure.params["k"], measure.params["beta"], gains_of(measure, setting)
    if gain[-1] <= 0:
        nothing = Completion.of(np.zeros(len(cell.unjudged), np.int32))
        return nothing, nothing
    values, level_of = np.unique(np.minimum(gain, gain > 0) if beta == 0 else gain, return_inverse=True)
    grade_of = np.array([int(np.flatnonzero(level_of == level)[-1]) for level in range(len(values))])
    depth = len(cell.grade) if k is None else min(k, len(cell.grade))
    listed = np.where(cell.grade[:depth] < 0, -1, level_of[cell.grade[:depth]])
    behind = cell.grade[depth:]
    missed = level_of[np.concatenate((cell.missed, behind[behind >= 0]))]
    beyond = int((behind < 0).sum())
    others = max(k, cell.others) if setting.free and k is not None else cell.others

    levels = np.arange(1, len(values))
    cost = beta * np.diff(values)
    worth = cost + (levels == 1)
    above = np.cumsum(listed >= levels[:, None], axis=1)
    size = (listed >= levels[:, None]).sum(axis=1) + (missed >= levels[:, None]).sum(axis=1)
    place = np.flatnonzero(listed)
    rank: Floats = (place + 1).astype(np.float64)
    own = listed[place] < 0
    judged: Floats = (worth[:, None] * above[:, place]).sum(axis=0)
    up_to, cut = np.cumsum(own).astype(np.float64), np.inf if k is None else float(k)

    found = _searched(Problem(1, rank, own, judged, up_to, size, worth, cost, cut), measure)
    high = Completion.of(np.concatenate((grade_of[found], np.zeros(beyond, np.int64))))
    if setting.free and k is None:
        return Limit(), high
    size = size + others + beyond
    lowest = Problem(-1, rank, own, judged, own.sum() - up_to, size, worth, cost, cut)
    found = _lowest_gain(lowest) if size[-1] >= depth else _searched(lowest, measure)
    graded = np.concatenate((grade_of[found], np.full(beyond, setting.top)))
    return Completion.of(graded, (setting.top, others)), high
