"""Measures on gains: cumulated gain, its discounted and normalised forms, Q, RBP, ERR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from unjudged.collection import Cells, Floats, Hits
from unjudged.measures._measure import measure

Discounting = Literal["log2", "exp-log2", "jk"]


def _discounted(dcg: str, base: float) -> Callable[[Floats, Any], Floats]:
    """gain, rank -> discounted gain, in one of the three forms (METHODS A.15 to A.17)."""
    if dcg == "jk":
        scale = np.log(base)
        return lambda gain, rank: gain / np.where(rank <= base, 1.0, np.log(np.maximum(rank, base)) / scale)
    if dcg == "exp-log2":
        return lambda gain, rank: (np.exp2(gain) - 1) / np.log2(rank + 1.0)
    return lambda gain, rank: gain / np.log2(rank + 1.0)


@measure(family="cumulated gain", cite="jarvelin2002", bounded=False)
def DCG(
    h: Hits,
    k: int | None = None,
    dcg: Discounting = "log2",
    base: float = 2.0,
    gains: Mapping[int, float] | None = None,
) -> Cells:
    """Discounted cumulated gain: gains of the first k documents, each divided by a logarithm of its rank.

    dcg='log2': gain / log2(rank + 1), trec_eval's; 'exp-log2': (2^gain - 1) / log2(rank + 1), Burges's;
    'jk': gain / log_base(rank) from rank `base` on, the original.
    """
    h = h.gaining(gains).top(k)
    return h.sum(_discounted(dcg, base)(h.gain(gains), h.rank))


@measure(family="cumulated gain", cite="jarvelin2002", bounded=False)
def iDCG(
    h: Hits,
    k: int | None = None,
    dcg: Discounting = "log2",
    base: float = 2.0,
    gains: Mapping[int, float] | None = None,
) -> Cells:
    """DCG of the ideal list: all relevant documents of the judgments, best grades first."""
    ideal = h.ideal(gains)
    return h.per_cell(ideal.sum(_discounted(dcg, base)(ideal.gain, ideal.rank), k))


@measure(family="cumulated gain", cite="jarvelin2002", aliases=("NDCG", "ndcg"))
def nDCG(
    h: Hits,
    k: int | None = None,
    dcg: Discounting = "log2",
    base: float = 2.0,
    gains: Mapping[int, float] | None = None,
) -> Cells:
    """Normalised discounted cumulated gain: DCG divided by the DCG of the ideal list, both cut at k.

    The default is trec_eval's form; nDCG(dcg='jk')@1000 is the papers' original (base 2),
    dcg='exp-log2' Burges's.
    """
    return DCG.function(h, k, dcg, base, gains) / iDCG.function(h, k, dcg, base, gains)


@measure(family="Q and relatives", cite="sakai2004", aliases=("Q_measure", "QMeasure"))
def Q(h: Hits, k: int | None = None, beta: float = 1.0, gains: Mapping[int, float] | None = None) -> Cells:
    """Q-measure: average precision with the blended ratio, which rewards high grades, in place of precision.

    beta=0 gives AP. With a cut-off the sum is divided by min(k, R) (NTCIREVAL).
    """
    ideal = h.ideal(gains)
    h = h.gaining(gains).top(k)
    cumulated, best = h.running(h.gain(gains)), ideal.at(ideal.cumulated, h.topic, h.rank)
    blended = (h.position + beta * cumulated) / (h.rank + beta * best)
    relevant = h.per_cell(ideal.size)
    return h.sum(blended) / (np.minimum(relevant, k) if k else relevant)


@measure(family="rank-biased", cite="moffat2008")
def RBP(
    h: Hits, p: float = 0.95, k: int | None = None, rel: int | None = None, gains: Mapping[int, float] | None = None
) -> Cells:
    """Rank-biased precision: gain seen by a user who goes on to the next document with probability p.

    Graded: gains are divided by that of the collection's highest grade. RBP(rel=1) is the binary form.
    """
    h = (h.gaining(gains) if rel is None else h.relevant(rel)).top(k)
    gain = h.gain(gains) / h.highest_gain(gains) if rel is None else np.ones(len(h))
    return (1 - p) * h.sum(gain * p ** (h.rank - 1.0))


@measure(family="rank-biased", cite="moffat2008", aliases=("RBP_resid",))
def RBP_residual(h: Hits, p: float = 0.95) -> Cells:
    """How much RBP could still rise: the weight of all unjudged documents and of the ranks behind the list."""
    return 1 - (1 - p) * h.sum(p ** (h.rank - 1.0))


@measure(family="cascade", cite="chapelle2009")
def ERR(
    h: Hits, k: int | None = None, stop: Literal["exp", "ntcir"] = "exp", gains: Mapping[int, float] | None = None
) -> Cells:
    """Expected reciprocal rank of the document at which a user, satisfied by good documents, stops.

    stop='exp': probability (2^grade - 1) / 2^highest grade (Chapelle); 'ntcir': gain / (highest gain + 1).
    """
    h = h.gaining(gains).top(k)
    if stop == "ntcir":
        satisfied = h.gain(gains) / (h.highest_gain(gains) + 1)
    else:
        satisfied = (np.exp2(h.grade) - 1) / 2.0**h.judgments.gains.top_grade
    going_on = h.running_product(1 - satisfied) / (1 - satisfied)
    return h.sum(satisfied * going_on / h.rank)
