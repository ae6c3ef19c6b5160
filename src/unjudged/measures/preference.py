"""The preference family: judged documents only, relevant ones counted against less relevant ones above them.

All work on the condensed list: `rank` is the rank among judged documents, n the judged nonrelevant ones above.
A relevant document with none above it counts 1 in every variant.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from unjudged.collection import Cells, Floats, Hits, key_of
from unjudged.measures._measure import ByGrade, measure


def _share(above: Floats, scale: Floats) -> Floats:
    """above / scale; 0 where nothing is above, also if the scale is 0."""
    return above / np.where(scale > 0, scale, 1.0)


def _above(h: Hits) -> Floats:
    """Judged nonrelevant documents above each relevant one (h: the relevant ones of a condensed list)."""
    return (h.rank - h.position).astype(np.float64)


@measure(family="preference", cite="buckley2004", condensed=True, aliases=("Bpref", "BPref"))
def bpref(h: Hits, rel: int = 1) -> Cells:
    """Share of relevant documents, each reduced by the judged nonrelevant ones ranked above it.

    As trec_eval since 8.0: the penalty counts at most R nonrelevant documents and is scaled by min(R, N).

    Formula: (1 / R) * sum over relevant documents of 1 - min(n, R) / min(R, N), n = judged nonrelevant ones above
    """
    h = h.relevant(rel)
    return h.sum(1 - _share(np.minimum(_above(h), h.each(h.R)), h.each(np.minimum(h.R, h.N)))) / h.R


@measure(family="preference", cite="sakai2007", condensed=True)
def bpref_R(h: Hits, rel: int = 1) -> Cells:
    """bpref scaled by R alone: the original definition where R <= N.

    Formula: (1 / R) * sum over relevant documents of 1 - min(n, R) / R
    """
    h = h.relevant(rel)
    return h.sum(1 - _share(np.minimum(_above(h), h.each(h.R)), h.each(h.R))) / h.R


@measure(family="preference", cite="sakai2007", condensed=True, aliases=("bpref_allnonrel",))
def bpref_N(h: Hits, rel: int = 1) -> Cells:
    """bpref with all N judged nonrelevant documents in the scale.

    Formula: (1 / R) * sum over relevant documents of 1 - n / N
    """
    h = h.relevant(rel)
    return h.sum(1 - _share(_above(h), h.each(h.N))) / h.R


@measure(family="preference", cite="trec_eval", condensed=True)
def old_bpref(h: Hits, rel: int = 1) -> Cells:
    """bpref as trec_eval computed it before 8.0: scaled by min(R, judged nonrelevant documents retrieved).

    Formula: (1 / R) * sum over relevant documents of 1 - min(n, R) / min(R, judged nonrelevant retrieved)
    """
    found = h.nonrelevant(rel).count()
    h = h.relevant(rel)
    return h.sum(1 - _share(np.minimum(_above(h), h.each(h.R)), h.each(np.minimum(h.R, found)))) / h.R


@measure(family="preference", cite="buckley2004", condensed=True, aliases=("bpref_top10pRnonrel",))
def bpref_10(h: Hits, rel: int = 1) -> Cells:
    """bpref-10: the penalty counts up to R + 10 nonrelevant documents, for topics with few relevant ones.

    Formula: (1 / R) * sum over relevant documents of 1 - min(n, R + 10) / min(R + 10, N)
    """
    h = h.relevant(rel)
    limit = h.R + 10
    return h.sum(1 - _share(np.minimum(_above(h), h.each(limit)), h.each(np.minimum(limit, h.N)))) / h.R


@measure(family="preference", cite="sakai2007", condensed=True)
def bpref_relative(h: Hits, rel: int = 1) -> Cells:
    """bpref with the penalty scaled by the documents above; a document at rank 1 counts nothing (as defined).

    Formula: (1 / R) * sum over relevant documents with r' > 1 of 1 - n / (r' - 1), r' = rank among judged documents
    """
    h = h.relevant(rel)
    return h.sum(np.where(h.rank > 1, 1 - _share(_above(h), h.rank.astype(np.float64) - 1), 0.0)) / h.R


@measure(family="preference", cite="sakai2007", condensed=True)
def bpref_relative2(h: Hits, rel: int = 1) -> Cells:
    """bpref with the penalty scaled by the rank: the same as AP on the condensed list.

    Formula: (1 / R) * sum over relevant documents of 1 - n / r'
    """
    h = h.relevant(rel)
    return h.sum(1 - _above(h) / h.rank) / h.R


def _penalty(h: Hits, gains: ByGrade) -> Floats:
    """Sum over less relevant documents above of their relative lack of gain (h: documents with a gain)."""

    def make() -> Floats:
        gain, penalty = h.gain(gains), _above(h)
        levels = np.unique(h.judgments.gain(gains))
        for level in levels[levels > 0][:-1].tolist():
            above = h.above(gain == level)
            penalty += np.where(gain > level, above * (gain - level) / gain, 0.0)
        return penalty

    return cast(Floats, h.once(("penalty", key_of(gains)), make))


def _rpref(h: Hits, gains: ByGrade, scale: Floats, counts: Floats | float = 1.0) -> Cells:
    """(1 / cg_I) * sum of gain * (1 - penalty / scale) over the documents that count (h: documents with a gain)."""
    ideal = h.ideal(gains)
    return h.sum(h.gain(gains) * (1 - _share(_penalty(h, gains), scale)) * counts) / h.per_cell(ideal.sum(ideal.gain))


@measure(family="preference", cite="debeer2006", condensed=True)
def rpref_N(h: Hits, gains: ByGrade = None) -> Cells:
    """Graded bpref: gains reduced by the less relevant documents above, scaled by all the judgments could hold.

    Formula: (1 / cg_I) * sum of g * (1 - penalty / (R + N - cg_I / H)), penalty = sum over less relevant ones above
    of (g - g_i) / g
    """
    ideal, h = h.ideal(gains), h.gaining(gains)
    scale = h.judgments.count(0) - ideal.sum(ideal.gain) / h.highest_gain(gains)
    return _rpref(h, gains, h.each(h.per_cell(scale)))


@measure(family="preference", cite="sakai2007", condensed=True)
def rpref_relative(h: Hits, gains: ByGrade = None) -> Cells:
    """rpref with the penalty scaled by the documents above; a document at rank 1 counts nothing (as defined).

    Formula: (1 / cg_I) * sum over r' > 1 of g * (1 - penalty / (r' - 1))
    """
    h = h.gaining(gains)
    return _rpref(h, gains, h.rank.astype(np.float64) - 1, (h.rank > 1).astype(np.float64))


@measure(family="preference", cite="sakai2007", condensed=True)
def rpref_relative2(h: Hits, gains: ByGrade = None) -> Cells:
    """rpref with the penalty scaled by the rank.

    Formula: (1 / cg_I) * sum of g * (1 - penalty / r')
    """
    h = h.gaining(gains)
    return _rpref(h, gains, h.rank.astype(np.float64))
