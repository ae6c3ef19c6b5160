"""trec_eval's experimental measures: G, binG, nDCG averaged at relevant documents or at grade borders."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unjudged.collection import Cells, Hits
from unjudged.measures._measure import measure
from unjudged.measures.gain import nDCG


@measure(family="cumulated gain", cite="trec_eval")
def G(h: Hits, gains: Mapping[int, float] | None = None) -> Cells:
    """Gain of each document over log2(2 + what an ideal list would be ahead there), over the sum of all gains.

    Ahead = ideal cumulated gain so far (at least 1 a rank) - cumulated gain so far.
    """
    ideal = h.ideal(gains)
    h = h.gaining(gains)
    cost = ideal.running(np.maximum(ideal.gain, 1.0))
    behind = np.maximum(h.rank - h.each(h.per_cell(np.diff(ideal.starts))), 0)
    ahead = ideal.at(cost, h.topic, h.rank) + behind - h.running(h.gain(gains))
    return h.sum(h.gain(gains) / np.log2(2 + ahead)) / h.per_cell(ideal.sum(ideal.gain))


@measure(family="cumulated gain", cite="trec_eval")
def binG(h: Hits, rel: int = 1) -> Cells:
    """1 / log2(2 + nonrelevant documents above) of each relevant document, averaged over all relevant ones."""
    h = h.relevant(rel)
    return h.sum(1 / np.log2(2.0 + h.rank - h.position)) / h.R


@measure(family="cumulated gain", cite="trec_eval")
def nDCG_rel(h: Hits, gains: Mapping[int, float] | None = None) -> Cells:
    """nDCG at each relevant document, averaged over all of them; those not retrieved take nDCG of the whole list."""
    ideal = h.ideal(gains)
    whole = nDCG.definition.function(h, gains=gains)
    relevant = h.per_cell(np.diff(ideal.starts))
    h = h.gaining(gains)
    dcg = h.running(h.gain(gains) / np.log2(h.rank + 1.0))
    best = ideal.at(ideal.running(ideal.gain / np.log2(ideal.rank + 1.0)), h.topic, h.rank)
    return (h.sum(dcg / best) + (relevant - h.count()) * whole) / relevant


@measure(family="cumulated gain", cite="trec_eval")
def RnDCG(h: Hits, gains: Mapping[int, float] | None = None) -> Cells:
    """nDCG averaged over the ranks where the ideal list goes from one grade to the next, and the whole list.

    The whole list counts as a point of its own where it is at least two documents longer than the ideal one.
    """
    ideal = h.ideal(gains)
    running = ideal.running(ideal.gain / np.log2(ideal.rank + 1.0))
    border = np.append(ideal.gain[1:] != ideal.gain[:-1], True) if len(ideal.gain) else np.zeros(0, bool)
    border[ideal.starts[1:][np.diff(ideal.starts) > 0] - 1] = True
    relevant = h.per_cell(np.diff(ideal.starts))
    h = h.gaining(gains)
    values = h.gain(gains) / np.log2(h.rank + 1.0)
    total, points = np.zeros(h.cells), np.zeros(h.cells)
    topics = len(h.judgments.topics)
    place_of_topic = np.searchsorted(ideal.starts, np.arange(len(ideal.gain)), side="right") - 1
    for level in range(int(np.bincount(place_of_topic[border], minlength=topics).max(initial=0))):
        cut, best = np.zeros(topics), np.full(topics, np.nan)
        for topic in range(topics):
            ends = ideal.starts[topic] + np.flatnonzero(border[ideal.starts[topic] : ideal.starts[topic + 1]])
            if level < len(ends):
                cut[topic], best[topic] = ideal.rank[ends[level]], running[ends[level]]
        there = h.per_cell(~np.isnan(best))
        reached = h.sum(np.where(h.rank <= h.each(h.per_cell(cut)), values, 0.0))
        total += np.where(there, reached / h.per_cell(best), 0.0)
        points += there
    longer = h.length >= relevant + 2
    whole = h.sum(values) / h.per_cell(ideal.sum(ideal.gain / np.log2(ideal.rank + 1.0)))
    return (total + np.where(longer, whole, 0.0)) / (points + longer)
