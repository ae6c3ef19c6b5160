"""Precision, recall and their relatives: counting relevant documents at a cut-off."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Cells, Hits
from unjudged.measures._measure import measure


def _share(found: Cells, h: Hits, k: int | None) -> Cells:
    """found / k, short lists included; without k over the number retrieved."""
    return found / k if k else np.where(h.length > 0, found / h.length, 0.0)


@measure(family="precision", cite="vanrijsbergen1979", aliases=("Precision",))
def P(h: Hits, k: int | None = None, rel: int = 1) -> Cells:
    """Precision: share of relevant documents among the first k.

    Always divides by k, also where fewer documents were retrieved; without k by the number retrieved.

    Formula: C(k) / k, C(k) = relevant documents among the first k
    """
    return _share(h.relevant(rel).top(k).count(), h, k)


@measure(family="unjudged", cite="lipani2015")
def anti_P(h: Hits, k: int | None = None, rel: int = 1) -> Cells:
    """Anti-precision: share of judged nonrelevant documents among the first k.

    Formula: (judged nonrelevant documents among the first k) / k
    """
    return _share(h.nonrelevant(rel).top(k).count(), h, k)


@measure(family="unjudged", cite="lipani2015")
def k(h: Hits, k: int | None = None) -> Cells:
    """Share of the first k places nobody knows about: 1 - P - anti_P (empty places of a short list included).

    Formula: 1 - P@k - anti_P@k
    """
    return 1 - _share(h.top(k).count(), h, k)


@measure(family="unjudged", cite="trec_eval")
def unj(h: Hits, k: int | None = None) -> Cells:
    """Share of unjudged documents among the first k, divided by k also for short lists (trec_eval 10's unj).

    Formula: (unjudged documents among the first k) / k
    """
    retrieved = h.length if k is None else np.minimum(h.length, k)
    return (retrieved - h.top(k).count()) / (k or np.maximum(h.length, 1))


@measure(family="unjudged", cite="macavaney2022")
def Judged(h: Hits, k: int | None = None) -> Cells:
    """Share of the first k retrieved documents that are listed in the judgments (ir_measures' Judged).

    Documents of negative grade count as listed; divides by the number retrieved where that is below k.

    Formula: (judged documents among the first k) / min(k, retrieved)
    """
    retrieved = h.length if k is None else np.minimum(h.length, k)
    return np.where(retrieved > 0, h.pooled.top(k).count() / np.maximum(retrieved, 1), 0.0)


@measure(family="precision", cite="vanrijsbergen1979", aliases=("Recall",))
def R(h: Hits, k: int | None = None, rel: int = 1) -> Cells:
    """Recall: share of all relevant documents that are among the first k.

    Formula: C(k) / R
    """
    h = h.relevant(rel).top(k)
    return h.count() / h.R


@measure(family="precision", cite="trec_eval")
def relative_P(h: Hits, k: int, rel: int = 1) -> Cells:
    """Precision at k divided by the highest one possible: relevant documents found over min(k, R).

    Formula: C(k) / min(k, R)
    """
    h = h.relevant(rel).top(k)
    return h.count() / np.minimum(h.R, k)


@measure(family="precision", cite="trec_eval", aliases=("RPrec", "R_prec"))
def Rprec(h: Hits, rel: int = 1, mult: float = 1.0) -> Cells:
    """R-precision: precision at rank R, the number of relevant documents (at mult * R, rounded, with `mult`).

    Formula: C(R) / R; with mult m: C(c) / c, c = floor(m * R + 0.9)
    """
    h = h.relevant(rel)
    cut = h.R if mult == 1 else np.floor(mult * h.R + 0.9)
    return h.sum(h.rank <= h.each(cut)) / cut


@measure(family="precision", cite="trec_eval", aliases=("HitRate", "Hit_Rate", "Hit", "Hits"))
def Success(h: Hits, k: int, rel: int = 1) -> Cells:
    """1 if a relevant document is among the first k, else 0.

    Formula: 1 if C(k) > 0 else 0
    """
    return (h.relevant(rel).top(k).count() > 0).astype(np.float64)


@measure(family="set", cite="trec_eval")
def SetP(h: Hits, rel: int = 1, relative: bool = False) -> Cells:
    """Precision of the whole retrieved list, order ignored; with `relative` over the highest one possible.

    Formula: C(L) / L, L = documents retrieved; relative: C(L) / min(L, R)
    """
    h = h.relevant(rel)
    total = np.minimum(h.length, h.R) if relative else h.length
    return np.where(total > 0, h.count() / total, 0.0)


@measure(family="set", cite="trec_eval")
def SetR(h: Hits, rel: int = 1) -> Cells:
    """Recall of the whole retrieved list.

    Formula: C(L) / R
    """
    return R.function(h, rel=rel)


@measure(family="set", cite="trec_eval")
def SetAP(h: Hits, rel: int = 1) -> Cells:
    """Set precision times set recall: average precision if the relevant documents were spread evenly.

    Formula: SetP * SetR = C(L)^2 / (L * R)
    """
    h = h.relevant(rel)
    value = h.count() * h.count() / (h.length * h.R)  # one division: trec_eval's last digit
    return np.where(h.length > 0, value, SetR.function(h, rel))


@measure(family="set", cite="vanrijsbergen1979", aliases=("F", "SetF1"))
def SetF(h: Hits, rel: int = 1, beta: float = 1.0) -> Cells:
    """F: weighted harmonic mean of set precision and recall; `beta` below 1 favours precision (trec_eval's set_F).

    Formula: (1 + beta) * P * R / (R + beta * P), P = SetP, R = SetR
    """
    p, r = SetP.function(h, rel), SetR.function(h, rel)
    return np.where(p * r > 0, (1 + beta) * p * r / (r + beta * p), np.where(np.isnan(r), np.nan, 0.0))


@measure(family="set", cite="trec_eval", bounded=False)
def Utility(
    h: Hits, rel: int = 1, a: float = 1.0, b: float = -1.0, c: float = 0.0, d: float = 0.0, documents: float = 0.0
) -> Cells:
    """a * relevant retrieved + b * others retrieved + c * relevant missed + d * others not retrieved.

    `documents` is the size of the whole collection (trec_eval's -N); only `d` needs it.

    Formula: a * C(L) + b * (L - C(L)) + c * (R - C(L)) + d * (documents - L - R + C(L))
    """
    h = h.relevant(rel)
    found = h.count()
    missed = h.R - found
    return a * found + b * (h.length - found) + c * missed + d * (documents + found - h.length - h.R)
