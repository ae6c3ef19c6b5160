"""trec_eval's experimental measures: G, binG, nDCG averaged at relevant documents or at grade borders."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Cells, Hits, tabulated
from unjudged.measures._measure import ByGrade, measure
from unjudged.measures.cumulated_gain import discounted, iDCG, log2_discount, nDCG


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
    whole = nDCG.function(h, gains=gains)
    relevant = h.per_cell(ideal.size)
    h = h.gaining(gains)
    dcg, best = h.running(discounted(h, gains=gains)), ideal.running(ideal.gain / log2_discount(ideal.rank))
    return (h.sum(dcg / h.best_at_rank(ideal, best)) + (relevant - h.count()) * whole) / relevant


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
    total = np.where(longer, h.sum(values) / iDCG.function(h, gains=gains), 0.0)
    points = longer.astype(np.float64)
    for n in range(int(nth.max(initial=-1)) + 1):
        cut, best = np.zeros(len(ideal.starts) - 1), np.full(len(ideal.starts) - 1, np.inf)
        here = ends[nth == n]
        cut[topic[nth == n]], best[topic[nth == n]] = ideal.rank[here], running[here]
        total += h.sum(np.where(h.rank <= h.each(h.per_cell(cut)), values, 0.0)) / h.per_cell(best)
        points += h.per_cell(cut > 0)
    return np.where(total_R > 0, total / points, np.nan)
