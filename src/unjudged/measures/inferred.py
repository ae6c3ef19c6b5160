"""Average precision estimated from a sample of the pool."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unjudged.collection import Cells, Floats, Hits
from unjudged.measures._measure import measure


@measure(family="average precision", cite="yilmaz2006")
def infAP(h: Hits, rel: int = 1, eps: float = 1e-5) -> Cells:
    """Inferred AP: AP estimated from a sample of the pool, where grade -1 marks pooled documents not judged.

    Documents outside the pool count as nonrelevant. Without negative grades it is AP up to `eps`.

    Formula: (1 / R) * sum over relevant ranks r of 1/r + (p/r) * (rel + eps) / (rel + nonrel + 2 eps), counted
    above r; p = pooled documents above r
    """
    pooled = h.pooled
    h = pooled.relevant(rel)
    found = pooled.grade >= rel
    pool_above = pooled.position[found] - 1.0
    unjudged = pooled.grade < 0
    judged_above = pool_above - pooled.above(unjudged)[found] if unjudged.any() else pool_above
    expected = pool_above / h.rank * (h.position - 1 + eps) / (judged_above + 2 * eps)
    return h.sum(1 / h.rank + np.where(h.rank > 1, expected, 0.0)) / h.R


@measure(family="average precision", cite="yilmaz2008")
def xinfAP(h: Hits, rel: int = 1, eps: float = 1e-5, judged_eps: float = 3e-5) -> Cells:
    """Extended inferred AP: AP estimated from a pool sampled at different rates in several strata.

    The iteration column of the judgments names the stratum, grade -1 marks pooled documents not sampled.
    The constants are those of NIST's sample_eval.pl.

    Formula: (1 / R^) * sum over sampled relevant ranks r of (size / sampled of its stratum) * (1/r) * (1 + sum over
    strata s of d_s * (r_s + eps) / (n_s + judged_eps)), with pooled d_s, sampled n_s, relevant r_s above r
    """
    h, judgments = h.pooled, h.judgments
    grade, topics = judgments.grade, len(judgments.topics)
    stratum = judgments.stratum

    def per_stratum(chosen: npt.NDArray[np.bool_]) -> Floats:  # topics x strata
        cells = judgments.topic[chosen] * strata + stratum[chosen]
        return np.bincount(cells, minlength=topics * strata).reshape(topics, strata).astype(np.float64)

    strata = int(stratum.max(initial=0)) + 1
    size, sampled, relevant = per_stratum(grade > -(2**31)), per_stratum(grade >= 0), per_stratum(grade >= rel)
    weight = np.where(sampled > 0, size / np.maximum(sampled, 1), 0.0)
    estimated_R: Floats = np.sum(relevant * weight, axis=1)
    mine, found = stratum[h.row], h.grade >= rel
    expected = np.ones(len(h))
    for s in range(strata):
        inside = mine == s
        above, judged_above = h.above(inside.astype(np.float64)), h.above((inside & (h.grade >= 0)).astype(np.float64))
        relevant_above = h.above((inside & found).astype(np.float64))
        expected += above * (relevant_above + eps) / (judged_above + judged_eps)
    values: Floats = np.where(found, weight[h.topic, mine] * expected / h.rank, 0.0)
    return h.sum(values) / h.per_cell(estimated_R)
