"""Average precision estimated from a sample of the pool."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unjudged.collection import Cells, Floats, Hits
from unjudged.measures._measure import measure


def _above(pooled: Hits, rel: int, inside: npt.NDArray[np.bool_] | None = None) -> tuple[Floats, Floats]:
    """Documents above each relevant one that are in the pool, and those of them that are judged.

    `inside` says which ones count; all if not given.
    """
    at = np.flatnonzero(pooled.grade >= rel)
    above: Floats = pooled.position[at].astype(np.float64) - 1 if inside is None else pooled.above(inside)[at]
    if pooled.judgments.lowest_grade >= 0:
        return above, above
    judged = pooled.grade >= 0
    return above, pooled.above(judged if inside is None else judged & inside)[at]


@measure(family="average precision", cite="yilmaz2006")
def infAP(h: Hits, rel: int = 1, eps: float = 1e-5) -> Cells:
    """Inferred AP: AP estimated from a sample of the pool, where grade -1 marks pooled documents not judged.

    Documents outside the pool count as nonrelevant. Without negative grades it is AP up to `eps`.

    Formula: (1 / R) * sum over relevant ranks r of 1/r + (p/r) * (rel + eps) / (rel + nonrel + 2 eps), counted
    above r; p = pooled documents above r
    """
    pooled = h.pooled
    h = pooled.relevant(rel)
    above, judged_above = _above(pooled, rel)
    expected = above / h.rank * (h.position - 1 + eps) / (judged_above + 2 * eps)
    return h.sum(1 / h.rank + expected) / h.R


@measure(family="average precision", cite="yilmaz2008")
def xinfAP(h: Hits, rel: int = 1, eps: float = 1e-5, judged_eps: float = 3e-5) -> Cells:
    """Extended inferred AP: AP estimated from a pool sampled at different rates in several strata.

    The iteration column of the judgments names the stratum, grade -1 marks pooled documents not sampled.
    The constants are those of NIST's sample_eval.pl.

    Formula: (1 / R^) * sum over sampled relevant ranks r of (size / sampled of its stratum) * (1/r) * (1 + sum over
    strata s of d_s * (r_s + eps) / (n_s + judged_eps)), with pooled d_s, sampled n_s, relevant r_s above r
    """
    pooled, judgments = h.pooled, h.judgments
    h = pooled.relevant(rel)
    grade, topics = judgments.grade, len(judgments.topics)
    stratum = judgments.stratum

    def per_stratum(chosen: npt.NDArray[np.bool_]) -> Floats:  # topics x strata
        cells = judgments.topic[chosen] * strata + stratum[chosen]
        return np.bincount(cells, minlength=topics * strata).reshape(topics, strata).astype(np.float64)

    strata = int(stratum.max(initial=0)) + 1
    size, sampled, relevant = per_stratum(grade > -(2**31)), per_stratum(grade >= 0), per_stratum(grade >= rel)
    weight = np.where(sampled > 0, size / np.maximum(sampled, 1), 0.0)
    estimated_R: Floats = np.sum(relevant * weight, axis=1)
    mine = stratum[h.row]
    expected = np.ones(len(h))
    for s in range(strata):
        above, judged_above = _above(pooled, rel, stratum[pooled.row] == s if strata > 1 else None)
        expected += above * (h.above(mine == s) + eps) / (judged_above + judged_eps)
    return h.sum(weight[h.topic, mine] * expected / h.rank) / h.per_cell(estimated_R)
