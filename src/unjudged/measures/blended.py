"""Measures on the blended ratio BR(r) = (C(r) + beta * cg(r)) / (r + beta * cg_I(r)) (Sakai)."""

from __future__ import annotations

from typing import Literal, cast

import numpy as np

from unjudged.collection import Cells, Floats, Hits, key_of
from unjudged.measures._measure import ByGrade, measure


def _blended(h: Hits, beta: float, gains: ByGrade) -> Floats:
    """BR at each hit of a view of relevant documents."""

    def make() -> Floats:
        ideal = h.ideal(gains)
        best = h.best_at_rank(ideal, ideal.cumulated)
        return (h.position + beta * h.cumulated(gains)) / (h.rank + beta * best)

    return h.precision() if beta == 0 else cast(Floats, h.once(("blended", beta, key_of(gains)), make))


def _where_relevant(h: Hits, values: Cells, gains: ByGrade) -> Cells:
    """Undefined where the topic has no relevant document."""
    return np.where(h.per_cell(h.ideal(gains).size) > 0, values, np.nan)


@measure(family="blended ratio", cite="sakai2004", aliases=("Q_measure", "QMeasure"))
def Q(h: Hits, k: int | None = None, beta: float = 1.0, gains: ByGrade = None) -> Cells:
    """Q-measure: average precision with the blended ratio, which rewards high grades, in place of precision.

    beta=0 gives AP. With a cut-off the sum is divided by min(k, R) (NTCIREVAL).

    Formula: (1 / R) * sum over relevant ranks r of (C(r) + beta cg(r)) / (r + beta cg_I(r))
    """
    relevant = h.per_cell(h.ideal(gains).size)
    h = h.gaining(gains).top(k)
    return h.sum(_blended(h, beta, gains)) / (np.minimum(relevant, k) if k else relevant)


@measure(family="blended ratio", cite="sakai2004")
def R_measure(h: Hits, beta: float = 1.0, gains: ByGrade = None) -> Cells:
    """The blended ratio at rank R; with beta=0 or equal gains it is R-precision.

    Formula: (C(R) + beta cg(R)) / (R + beta cg_I(R))
    """
    ideal = h.ideal(gains)
    relevant = h.per_cell(ideal.size)
    h = h.gaining(gains)
    found = h.rank <= h.each(relevant)
    cumulated = h.sum(np.where(found, h.gain(gains), 0.0))
    return (h.sum(found) + beta * cumulated) / (relevant + beta * h.per_cell(ideal.sum(ideal.gain)))


@measure(family="one document", cite="sakai2005one", aliases=("OMeasure",))
def O_measure(h: Hits, beta: float = 1.0, gains: ByGrade = None) -> Cells:
    """The blended ratio at the first relevant document: reciprocal rank that rewards high grades.

    Formula: (1 + beta g(r1)) / (r1 + beta cg_I(r1)), r1 = rank of the first relevant document
    """
    h = h.gaining(gains)
    return _where_relevant(h, h.first(_blended(h, beta, gains), 0.0), gains)


def _up_to_preferred(h: Hits) -> Hits:
    """The hits up to the preferred rank, where the highest grade of the list appears first."""

    def make() -> Hits:
        best = h.grade == h.each(h.max(h.grade))
        return h.where(h.above(best) == 0)

    return cast(Hits, h.once("up to preferred", make))


@measure(family="one document", cite="sakai2007one", aliases=("PMeasure",))
def P_measure(h: Hits, beta: float = 1.0, gains: ByGrade = None) -> Cells:
    """The blended ratio at the preferred rank: the first document of the highest grade the list holds.

    Formula: (C(rp) + beta cg(rp)) / (rp + beta cg_I(rp)), rp = preferred rank
    """
    h = _up_to_preferred(h.gaining(gains))
    return _where_relevant(h, h.last(_blended(h, beta, gains), 0.0), gains)


@measure(family="one document", cite="sakai2007one", aliases=("PPlus", "PPlusMeasure", "P_plus_measure"))
def P_plus(h: Hits, beta: float = 1.0, gains: ByGrade = None) -> Cells:
    """P+: the blended ratio averaged over the relevant documents down to the preferred rank.

    Formula: (1 / C(rp)) * sum over relevant ranks r <= rp of (C(r) + beta cg(r)) / (r + beta cg_I(r))
    """
    h = _up_to_preferred(h.gaining(gains))
    return _where_relevant(h, h.sum(_blended(h, beta, gains)) / np.maximum(h.count(), 1), gains)


@measure(family="blended ratio", cite="sakai2008")
def NCU(
    h: Hits,
    pr: Literal["gu", "rb", "u"] = "gu",
    nu: Literal["P", "BR"] = "P",
    gamma: float = 0.95,
    beta: float = 1.0,
    gains: ByGrade = None,
    stops: ByGrade = None,
) -> Cells:
    """Normalised cumulative utility: utility (precision or blended ratio) seen by users who stop at relevant documents.

    pr='gu': users stop in proportion to `stops` of the grades (default: the gains); 'rb': the n-th relevant
    document is the last one for a share gamma^(n-1); 'u': all alike (which gives AP and Q).

    Formula: sum over relevant ranks r of Pr(r) * NU(r), NU = C(r) / r or the blended ratio
    """
    ideal = h.ideal(gains)
    relevant = h.per_cell(ideal.size)
    h = h.gaining(gains)
    utility = _blended(h, beta if nu == "BR" else 0.0, gains)
    if pr == "gu":
        levels = stops if stops is not None else gains
        total = h.per_cell(ideal.sum(h.judgments.gains.of(ideal.grade, levels)))
        return h.sum(h.judgments.gains.of(h.grade, levels) * utility) / total
    if pr == "rb":
        total = relevant if gamma == 1 else (1 - gamma**relevant) / (1 - gamma)
        return h.sum(gamma ** (h.position - 1.0) * utility) / total
    return h.sum(utility) / relevant
