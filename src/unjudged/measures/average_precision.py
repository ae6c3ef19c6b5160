"""Average precision: plain, interpolated, graded, and inferred from a sample of the pool."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from unjudged.collection import Cells, Floats, Hits
from unjudged.measures._measure import ALIASES, ByGrade, measure

Rounding = Literal["up", "nearest"]
ELEVEN_POINTS = tuple(i / 10 for i in range(11))


@measure(family="average precision", cite="harman1992", aliases=("MAP", "AveP"))
def AP(h: Hits, rel: int = 1, k: int | None = None, norm: Literal["R", "min"] = "R") -> Cells:
    """Average precision: precision at each relevant document's rank, averaged over all relevant documents.

    With a cut-off the sum is divided by R (trec_eval's map_cut, ir_measures), with norm='min' by min(k, R)
    (NTCIREVAL).

    Formula: (1 / R) * sum over relevant ranks r of C(r) / r
    """
    h = h.relevant(rel).top(k)
    return h.sum(h.precision()) / (np.minimum(h.R, k) if k and norm == "min" else h.R)


ALIASES["GMAP"] = "AP(mean='geometric')"


@measure(family="average precision", cite="vanrijsbergen1979", cutoff="recall")
def IPrec(h: Hits, recall: float, rel: int = 1, rounding: Rounding = "up") -> Cells:
    """Interpolated precision: the best precision at this recall or any higher one.

    recall * R relevant documents are needed, rounded up (trec_eval 9, ir_measures) or to the nearest whole
    number (rounding='nearest', trec_eval 10).

    Formula: max of C(r) / r over ranks r with C(r) >= recall * R
    """
    h = h.relevant(rel)
    needed = np.floor(recall * h.R + (0.9 if rounding == "up" else 0.5))
    reached = h.count() >= np.maximum(needed, 1)
    place = np.where(reached, h.offsets[:-1] + np.maximum(needed, 1).astype(np.int64) - 1, 0)
    return np.where(reached, h.best_precision()[place], 0.0) if len(h) else np.zeros(h.cells)


@measure(family="average precision", cite="trec_eval")
def IPrecAvg(h: Hits, rel: int = 1, recalls: tuple[float, ...] = ELEVEN_POINTS, rounding: Rounding = "up") -> Cells:
    """Interpolated precision averaged over recall points (default: the eleven from 0.0 to 1.0).

    Formula: mean of IPrec over the recall points
    """
    total = np.zeros(h.cells)
    for recall in sorted(recalls, reverse=True):  # trec_eval adds from the highest recall down
        total += IPrec.function(h, recall, rel, rounding)
    return total / len(recalls)


@measure(family="average precision", cite="robertson2012", bounded=False)
def yaap(h: Hits, rel: int = 1) -> Cells:
    """Yet another average precision: AP on a log-odds scale.

    Formula: ln((1 + S) / (1 + R - S)), S = sum over relevant ranks r of C(r) / r
    """
    h = h.relevant(rel)
    total = h.sum(h.precision())
    return np.log((1 + total) / (1 + h.R - total))


@measure(family="average precision", cite="robertson2010")
def GAP(h: Hits, thresholds: ByGrade = None) -> Cells:
    """Graded average precision: AP for a user whose own threshold of relevance is a grade drawn at random.

    `thresholds` gives each grade the probability that a user asks for it at least (default: all alike).
    With binary judgments it is AP.

    Formula: sum over relevant ranks r of (1/r) * sum over thresholds j of p_j [g(r) >= j] C_j(r), divided by sum
    over judged documents of sum over j <= grade of p_j
    """
    if thresholds is None:  # thresholds between two grades in use ask for the higher one
        grades = np.unique(h.judgments.grade[h.judgments.grade > 0])
        thresholds = dict(zip(grades.tolist(), np.diff(grades, prepend=0).tolist(), strict=True))
    views = [(share, h.relevant(grade)) for grade, share in thresholds.items()]
    reached = sum((share * view.sum(view.precision()) for share, view in views), np.zeros(h.cells))
    return reached / sum((share * view.R for share, view in views), np.zeros(h.cells))


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
    ahead = np.maximum(h.rank - 1.0, 1.0)  # trec_eval's products and quotients in its order; the first rank has none
    relevant_share = (h.position - 1 + eps) / (judged_above + 2 * eps)
    expected = ahead / h.rank * (above / ahead) * relevant_share
    return h.sum(1 / h.rank + np.where(h.rank > 1, expected, 0.0)) / h.R


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
