"""User models: RBP, and those of ir_measures (the C/W/L family, Accuracy and Compat).

A C/W/L measure says with which probability C(r) a user goes on behind rank r; its value is the expected gain
per document looked at. As in cwl_eval, 1000 ranks are looked at and unjudged documents have no gain. V(r), the
product of C over the ranks above r, is the probability that rank r is looked at. Between two gains C depends on
the rank alone, so all sums over ranks are made from the hits.
"""

from __future__ import annotations

import numpy as np

from unjudged.collection import Cells, Floats, Hits, Ints, tabulated
from unjudged.errors import MeasureError
from unjudged.measures._measure import ByGrade, measure

DEPTH = 1000
"""Ranks a user looks at, at most."""


@measure(family="rank-biased", cite="moffat2008")
def RBP(h: Hits, p: float = 0.95, k: int | None = None, rel: int | None = None, gains: ByGrade = None) -> Cells:
    """Rank-biased precision: gain seen by a user who goes on to the next document with probability p.

    Graded: gains are divided by that of the collection's highest grade. RBP(rel=1) is the binary form.

    Formula: ((1 - p) / H) * sum over r of gain(r) * p^(r-1), H = gain of the highest grade
    """
    h = (h.gaining(gains) if rel is None else h.relevant(rel)).top(k)
    gain = h.gain(gains) / h.highest_gain(gains) if rel is None else np.ones(len(h))
    return (1 - p) * h.sum(gain * h.by_rank(lambda rank: p ** (rank - 1.0)))


@measure(family="rank-biased", cite="moffat2008", aliases=("RBP_resid",))
def RBP_residual(h: Hits, p: float = 0.95) -> Cells:
    """How much RBP could still rise: the weight of all unjudged documents and of the ranks behind the list.

    Formula: (1 - p) * sum over unjudged ranks r of p^(r-1) + p^L
    """
    return 1 - (1 - p) * h.sum(h.by_rank(lambda rank: p ** (rank - 1.0)))


def scaled_gains(h: Hits, min_rel: int, max_rel: int | None, depth: int | None = None) -> tuple[Hits, Floats]:
    """The hits with a gain (down to a rank), and their gains: 0 for grade `min_rel` to 1 for `max_rel`."""
    h, levels = h.relevant(min_rel + 1).top(depth), _levels(h, min_rel, max_rel)

    def make() -> Floats:
        grade = np.clip(h.judgments.grade, min_rel, min_rel + levels)
        return ((grade - min_rel) / levels)[h.row]

    return h, h.once(("scaled gain", min_rel, levels), make)


def _levels(h: Hits, min_rel: int, max_rel: int | None) -> int:
    """Number of grades from `min_rel` to `max_rel`, which is the highest grade if not given."""
    if max_rel is not None and max_rel <= min_rel:
        raise MeasureError(f"max_rel must lie above min_rel, found {max_rel} and {min_rel}")
    return max((h.judgments.gains.top_grade if max_rel is None else max_rel) - min_rel, 1)


def _looked_at(going_on: Floats) -> Floats:
    """V at the ranks 1, 2, 3..., from C at the ranks 1, 2... (one rank less)."""
    return np.append(1.0, np.cumprod(going_on))


def _by_rank_alone(h: Hits, min_rel: int, max_rel: int | None, going_on: Floats) -> Cells:
    """Expected gain per document where C depends on the rank alone."""
    looked_at = _looked_at(going_on)
    h, gain = scaled_gains(h, min_rel, max_rel, len(looked_at))
    return np.asarray(h.sum(gain * looked_at[h.rank - 1]) / looked_at.sum())


def _unless_satisfied(h: Hits, min_rel: int, max_rel: int | None, going_on: Floats) -> Cells:
    """Expected gain per document where C is (1 - gain) times a function of the rank.

    V is then that of a list without gains times the product of (1 - gain) above. So the documents looked at are
    those such a list shows down to each gain, weighted by the chance to be satisfied there, or down to its end.
    """
    looked_at = _looked_at(going_on)
    seen = np.cumsum(looked_at)
    h, gain = scaled_gains(h, min_rel, max_rel, len(looked_at))
    unsatisfied = h.running_product(1 - gain)
    satisfied = gain * h.previous(unsatisfied, 1.0)
    place = h.rank - 1
    looked = h.sum(satisfied * seen[place]) + h.last(unsatisfied, 1.0) * seen[-1]
    return np.asarray(h.sum(satisfied * looked_at[place]) / looked)


def _ranks(k: int = DEPTH) -> Floats:
    """The ranks behind which a user may go on."""
    return np.arange(1.0, min(k, DEPTH))


@measure(family="user models", cite="jarvelin2002")
def SDCG(h: Hits, k: int, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """Scaled DCG: gains of the first k documents weighted by 1 / log2(rank + 1), divided by the sum of weights.

    Formula: sum over r <= k of g(r) / log2(r + 1), divided by sum over r <= k of 1 / log2(r + 1), g scaled to 0..1
    """
    rank = _ranks(k)
    return _by_rank_alone(h, min_rel, max_rel, np.log(rank + 1) / np.log(rank + 2))


@measure(family="user models", cite="zhang2017")
def BPM(h: Hits, k: int, T: float = 1.0, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """Bejeweled player model (static): a user goes on until the gain reaches T or k documents were seen.

    Formula: mean gain of the documents seen until cg >= T or rank k
    """
    depth = min(k, DEPTH)
    h, gain = scaled_gains(h, min_rel, max_rel, depth)
    enough = h.running(gain) >= T
    before = h.above(enough) == 0
    return h.sum(before * gain) / (depth - h.sum((before & enough) * (depth - h.rank)))


@measure(family="user models", cite="moffat2012")
def INSQ(h: Hits, T: float = 1.0, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """INSQ: a user who wants gain T goes on with a probability that grows with the rank.

    Formula: sum of W(r) g(r), C(r) = ((r + 2T - 1) / (r + 2T))^2
    """
    return _by_rank_alone(h, min_rel, max_rel, _wanting(T))


def _wanting(T: float) -> Floats:
    """C of INSQ."""
    rank = _ranks()
    return ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2


@measure(family="user models", cite="moffat2015")
def INST(h: Hits, T: float = 1.0, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """INST: as INSQ, but the less is missing of the wanted gain T, the sooner the user stops.

    Formula: sum of W(r) g(r), C(r) = ((r + T + T_r - 1) / (r + T + T_r))^2, T_r = T - cg(r)
    """
    levels = _levels(h, min_rel, max_rel)
    h, gain = scaled_gains(h, min_rel, max_rel, DEPTH)

    # from one gain to the next the product telescopes to V(r + 1) = s / x(r)^2, x(r) = r + T + T_r = n / levels + 2T
    def squared(n: Ints) -> Floats:  # of x(r - 1)
        return tabulated(lambda n: (n / levels - 1 + 2 * T) ** 2, n)

    def reciprocals(n: Ints) -> Floats:  # 1 / x^2 summed over this rank and all behind it
        return tabulated(lambda n: _trigamma(n / levels + 2 * T), n)

    points = np.rint(levels * gain).astype(np.int64)
    cumulated = h.running(points)
    here = levels * h.rank.astype(np.int64) - cumulated.astype(np.int64)
    above, start = here + points, (2 * T) ** 2
    x_above = squared(above)
    s = start * h.running_product(squared(here) / x_above)
    s_above = h.previous(s, start)
    changed = h.sum(s * reciprocals(here) - s_above * reciprocals(above))
    end = levels * DEPTH - h.last(cumulated, 0.0).astype(np.int64)
    looked = 1 + start * reciprocals(np.array([levels])) + changed - h.last(s, start) * reciprocals(end)
    return h.sum(gain * s_above / x_above) / looked


def _trigamma(x: Floats) -> Floats:
    """Sum of 1 / (x + i)^2 over i = 0, 1, 2...: ten terms, then the asymptotic series."""
    out = np.zeros(len(x))
    for i in range(10):
        out += 1 / (x + i) ** 2
    inverse = 1 / (x + 10)
    series = np.zeros(len(x))
    for bernoulli in (7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6):
        series = (series + bernoulli) * inverse**2
    return out + inverse + inverse**2 / 2 + series * inverse


@measure(family="user models", cite="azzopardi2021")
def NERR8(h: Hits, k: int, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """ERR as a C/W/L measure, equation 8: a user goes on with probability 1 - gain, down to rank k.

    Formula: sum of W(r) g(r), C(r) = 1 - g(r) for r < k
    """
    return _unless_satisfied(h, min_rel, max_rel, np.ones(len(_ranks(k))))


@measure(family="user models", cite="azzopardi2021")
def NERR9(h: Hits, k: int, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """ERR as a C/W/L measure, equation 9: (1 - gain) * r / (r + 1), down to rank k.

    Formula: sum of W(r) g(r), C(r) = (1 - g(r)) * r / (r + 1) for r < k
    """
    return _unless_satisfied(h, min_rel, max_rel, _ranks(k) / (_ranks(k) + 1))


@measure(family="user models", cite="azzopardi2021")
def NERR10(h: Hits, p: float = 0.9, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """ERR as a C/W/L measure, equation 10: (1 - gain) * p.

    Formula: sum of W(r) g(r), C(r) = p * (1 - g(r))
    """
    return _unless_satisfied(h, min_rel, max_rel, np.full(len(_ranks()), p))


@measure(family="user models", cite="azzopardi2021")
def NERR11(h: Hits, T: float = 1.0, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """ERR as a C/W/L measure, equation 11: (1 - gain) * ((r + 2T - 1) / (r + 2T))^2.

    Formula: sum of W(r) g(r), C(r) = (1 - g(r)) * ((r + 2T - 1) / (r + 2T))^2
    """
    return _unless_satisfied(h, min_rel, max_rel, _wanting(T))


@measure(family="user models", cite="macavaney2022")
def Accuracy(h: Hits, k: int | None = None, rel: int = 1) -> Cells:
    """Probability that a relevant document among the first k stands above one that is not.

    Unjudged documents are not relevant. 0 where no relevant document was retrieved, 1 where nothing else was.

    Formula: 1 - (sum over relevant ranks r <= k of r - C(r)) / (C(k) * (min(k, L) - C(k)))
    """
    h = h.relevant(rel).top(k)
    found = h.count()
    others = (h.length if k is None else np.minimum(h.length, k)) - found
    share = 1 - h.sum(h.rank - h.position) / np.maximum(others * found, 1)
    return np.where(found > 0, share, np.nan)


@measure(family="user models", cite="clarke2020")
def Compat(h: Hits, p: float = 0.95, normalize: bool = True) -> Cells:
    """Compatibility: rank-biased overlap with the ideal list that is most like the run.

    The ideal list holds all relevant documents by grade, inside a grade in the run's order.

    Formula: rank-biased overlap of list and ideal list to depth max(L, R), divided by that of the ideal list with
    itself
    """
    judgments = h.judgments
    h = h.relevant(1)
    depth = np.maximum(h.length, h.R).astype(np.int64)
    weights = np.append(0.0, np.cumsum(p ** np.arange(depth.max(initial=0)) / np.arange(1, depth.max(initial=0) + 1)))
    score = np.zeros(h.cells)
    for grade in np.unique(judgments.grade[judgments.grade > 0]).tolist():
        same = h.of_grade(grade)
        place = same.each(h.per_cell(judgments.count(grade + 1))) + same.position  # rank in the ideal list
        entered = np.maximum(same.rank, place).astype(np.int64) - 1
        score += same.sum(same.each(weights[depth]) - weights[entered])
    if not normalize:
        return np.asarray(score * (1 - p) / np.where(depth > 0, 1 - p**depth, np.nan))
    summed = np.append(0.0, np.cumsum(weights))  # sum over j < n of weights[j]
    size = h.R.astype(np.int64)
    return np.asarray(score / (size * weights[depth] - summed[size]))
