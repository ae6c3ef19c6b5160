"""Cumulated gain, its discounted, normalised and averaged forms, and trec_eval's experimental relatives (G, ...)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from unjudged.collection import Cells, Floats, Hits, Ideal, Ints, key_of, logarithms, tabulated
from unjudged.errors import MeasureError
from unjudged.measures._measure import ByGrade, measure

Discounting = Literal["log2", "exp-log2", "jk"]


def _amount(dcg: str, gain: Floats) -> Floats:
    """What a gain is worth at the top of the list."""
    return np.exp2(gain) - 1 if dcg == "exp-log2" else gain


def _discount(dcg: str, base: float) -> Callable[[npt.NDArray[Any]], Floats]:
    """rank -> what gains there are divided by, in one of two forms."""
    if dcg == "jk":
        scale = np.log(base)
        return lambda rank: np.where(rank <= base, 1.0, np.log(np.maximum(rank, base)) / scale)
    return log2_discount


def log2_discount(rank: npt.NDArray[Any]) -> Floats:
    """What trec_eval and Burges divide gains by."""
    return tabulated(lambda n: logarithms(n + 1.0, binary=True), rank)


def discounted(h: Hits, dcg: Discounting = "log2", base: float = 2.0, gains: ByGrade = None) -> Floats:
    """Discounted gain of each hit."""
    return cast(
        Floats,
        h.once(
            ("discounted", dcg, base, key_of(gains)),
            lambda: _amount(dcg, h.gain(gains)) / h.by_rank(_discount(dcg, base)),
        ),
    )


def _check_exponents(h: Hits, dcg: str, gains: ByGrade) -> None:
    highest = float(h.judgments.gain(gains).max(initial=0.0))
    if dcg == "exp-log2" and highest > 1000:
        raise MeasureError(f"dcg='exp-log2' raises 2 to the gain; a gain of {highest:g} is too large (give gains=...)")


@measure(family="cumulated gain", cite="jarvelin2002", bounded=False)
def DCG(h: Hits, k: int | None = None, dcg: Discounting = "log2", base: float = 2.0, gains: ByGrade = None) -> Cells:
    """Discounted cumulated gain: gains of the first k documents, each divided by a logarithm of its rank.

    dcg='log2': gain / log2(rank + 1), trec_eval's; 'exp-log2': (2^gain - 1) / log2(rank + 1), Burges's;
    'jk': gain / log_base(rank) from rank `base` on, the original.

    Formula: sum over r <= k of gain(r) / log2(r + 1) (or the other two forms)
    """
    _check_exponents(h, dcg, gains)
    h = h.gaining(gains).top(k)
    return h.sum(discounted(h, dcg, base, gains))


@measure(family="cumulated gain", cite="jarvelin2002", bounded=False)
def iDCG(h: Hits, k: int | None = None, dcg: Discounting = "log2", base: float = 2.0, gains: ByGrade = None) -> Cells:
    """DCG of the ideal list: all relevant documents of the judgments, best grades first.

    Formula: DCG of the judged documents sorted by gain
    """
    ideal = h.ideal(gains)
    return h.per_cell(ideal.sum(_amount(dcg, ideal.gain) / _discount(dcg, base)(ideal.rank), k))


@measure(family="cumulated gain", cite="jarvelin2002", aliases=("NDCG", "ndcg"))
def nDCG(h: Hits, k: int | None = None, dcg: Discounting = "log2", base: float = 2.0, gains: ByGrade = None) -> Cells:
    """Normalised discounted cumulated gain: DCG divided by the DCG of the ideal list, both cut at k.

    The default is trec_eval's form; nDCG(dcg='jk')@1000 is the papers' original (base 2),
    dcg='exp-log2' Burges's.

    Formula: DCG@k / iDCG@k
    """
    return DCG.function(h, k, dcg, base, gains) / iDCG.function(h, k, dcg, base, gains)


@measure(family="cumulated gain", cite="jarvelin2002")
def nCG(h: Hits, k: int, gains: ByGrade = None) -> Cells:
    """Normalised cumulated gain: gain of the first k documents over that of the first k ideal ones.

    Formula: cg(k) / cg_I(k), cg = cumulated gain, cg_I that of the ideal list
    """
    ideal = h.ideal(gains)
    h = h.gaining(gains).top(k)
    return h.sum(h.gain(gains)) / h.per_cell(ideal.sum(ideal.gain, k))


def _average_over_ranks(h: Hits, gain: Floats, best: Floats, ideal: Ideal, k: int) -> Cells:
    """(1/k) * sum over r = 1..k of cumulated(r) / best(r), where each hit counts from its rank on."""
    inverse = ideal.running(1 / best)

    def summed(topic: Ints, rank: npt.NDArray[Any]) -> Floats:  # sum of 1 / best over ranks 1..rank
        size = ideal.size[topic]
        tail = np.maximum(rank - size, 0) / ideal.at(best, topic, size)
        return np.where(rank > 0, ideal.at(inverse, topic, rank), 0.0) + tail

    whole = h.per_cell(summed(np.arange(len(ideal.size)), np.full(len(ideal.size), k)))
    value = h.sum(gain * (h.each(whole) - summed(h.topic, h.rank - 1))) / k
    return np.where(h.per_cell(ideal.size) > 0, value, np.nan)


@measure(family="cumulated gain", cite="jarvelin2002")
def AnCG(h: Hits, k: int, gains: ByGrade = None) -> Cells:
    """nCG averaged over the ranks 1 to k.

    Formula: (1 / k) * sum over r <= k of cg(r) / cg_I(r)
    """
    ideal = h.ideal(gains)
    h = h.gaining(gains).top(k)
    return _average_over_ranks(h, h.gain(gains), ideal.cumulated, ideal, k)


@measure(family="cumulated gain", cite="jarvelin2002")
def AnDCG(h: Hits, k: int, dcg: Discounting = "jk", base: float = 2.0, gains: ByGrade = None) -> Cells:
    """nDCG (by default the original form) averaged over the ranks 1 to k.

    Formula: (1 / k) * sum over r <= k of nDCG@r
    """
    ideal = h.ideal(gains)
    h = h.gaining(gains).top(k)
    best = ideal.running(_amount(dcg, ideal.gain) / _discount(dcg, base)(ideal.rank))
    return _average_over_ranks(h, discounted(h, dcg, base, gains), best, ideal, k)


@measure(family="cumulated gain", cite="trec_eval")
def G(h: Hits, gains: ByGrade = None) -> Cells:
    """Gain of each document over log2(2 + what an ideal list would be ahead there), over the sum of all gains.

    Ahead = ideal cumulated gain so far (at least 1 a rank) - cumulated gain so far.

    Formula: (1 / cg_I(R)) * sum over r of gain(r) / log2(2 + cost(r) - cg(r)), cost(r) = sum over i <= r of
    max(ideal gain(i), 1)
    """
    ideal = h.ideal(gains)
    h = h.gaining(gains)
    cost = ideal.running(np.maximum(ideal.gain, 1.0))
    behind = np.maximum(h.rank - h.each(h.per_cell(ideal.size)), 0)
    ahead = h.best_at_rank(ideal, cost) + behind - h.cumulated(gains)
    return h.sum(h.gain(gains) / np.log2(2 + ahead)) / h.per_cell(ideal.sum(ideal.gain))


@measure(family="cumulated gain", cite="trec_eval")
def binG(h: Hits, rel: int = 1) -> Cells:
    """1 / log2(2 + nonrelevant documents above) of each relevant document, averaged over all relevant ones.

    Formula: (1 / R) * sum over relevant ranks r of 1 / log2(2 + r - C(r))
    """
    h = h.relevant(rel)
    return h.sum(tabulated(lambda above: 1 / np.log2(2.0 + above), h.rank - h.position)) / h.R


@measure(family="cumulated gain", cite="trec_eval")
def nDCG_rel(h: Hits, gains: ByGrade = None) -> Cells:
    """nDCG at each relevant document, averaged over all of them; those not retrieved take nDCG of the whole list.

    Formula: (1 / R) * (sum over relevant ranks r of nDCG@r + (R - retrieved relevant) * nDCG)
    """
    ideal = h.ideal(gains)
    gained, possible = DCG.function(h, gains=gains), iDCG.function(h, gains=gains)
    relevant = h.per_cell(ideal.size)
    h = h.gaining(gains)
    dcg, best = h.running(discounted(h, gains=gains)), ideal.running(ideal.gain / log2_discount(ideal.rank))
    missed = (relevant - h.count()) * gained / possible
    return (h.sum(dcg / h.best_at_rank(ideal, best)) + missed) / relevant


@measure(family="cumulated gain", cite="trec_eval")
def RnDCG(h: Hits, gains: ByGrade = None, rel: int = 1) -> Cells:
    """nDCG averaged over the ranks where the ideal list goes from one grade to the next, and the whole list.

    The whole list counts as a point of its own where it is at least two documents longer than the ideal one.
    Undefined for topics without a document of grade `rel`.

    Formula: mean of nDCG@c over the ranks c where the gain of the ideal list falls, and of nDCG if L >= R + 2
    """
    ideal = h.ideal(gains)
    relevant = h.per_cell(ideal.size)
    total_R = h.relevant(rel).R
    h = h.gaining(gains)
    values = discounted(h, gains=gains)
    running = ideal.running(ideal.gain / log2_discount(ideal.rank))
    ends = np.flatnonzero(np.append(ideal.gain[1:] != ideal.gain[:-1], True)[: len(ideal.gain)])
    ends = np.union1d(ends, ideal.starts[1:][np.diff(ideal.starts) > 0] - 1)
    topic = np.searchsorted(ideal.starts, ends, side="right") - 1
    nth = np.arange(len(ends)) - np.searchsorted(topic, topic)
    longer = h.length >= relevant + 2
    total = np.zeros(h.cells)
    points = longer.astype(np.float64)
    for n in range(int(nth.max(initial=-1)) + 1):
        cut, best = np.zeros(len(ideal.starts) - 1), np.full(len(ideal.starts) - 1, np.inf)
        here = ends[nth == n]
        cut[topic[nth == n]], best[topic[nth == n]] = ideal.rank[here], running[here]
        total += h.sum(np.where(h.rank <= h.each(h.per_cell(cut)), values, 0.0)) / h.per_cell(best)
        points += h.per_cell(cut > 0)
    total += np.where(longer, h.sum(values) / iDCG.function(h, gains=gains), 0.0)
    return np.where(total_R > 0, total / points, np.nan)
