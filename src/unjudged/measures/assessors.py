"""Several assessors in one set of judgments: the lists seen through the eyes of each, and means over them.

Judgments read with `--qrels-format qrels_jg` (`topic assessor doc grade`) know who gave which grade; a document's
own grade is then the highest anyone gave. Ordinary judgments have one assessor: a mean below is the plain measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from unjudged.collection import Cells, Hits
from unjudged.measures._measure import measure
from unjudged.measures.average_precision import AP
from unjudged.measures.precision import P, Rprec


def by_assessor(h: Hits) -> Iterator[tuple[Hits, Cells]]:
    """For each assessor the hits by their judgments alone, and 1 for each cell whose topic they judged, else 0."""
    judgments = h.judgments
    if judgments.opinions is None:
        yield h, np.ones(h.cells)
        return
    for column in range(judgments.opinions.shape[1]):
        grade = judgments.opinions[:, column]
        said = np.bincount(judgments.topic[grade >= 0], minlength=len(judgments.topics)) > 0
        theirs = h.over(judgments.with_grades(np.maximum(grade, np.int32(-1)))).judged()
        yield theirs.condensed() if h.is_condensed else theirs, h.per_cell(said).astype(np.float64)


def _mean(h: Hits, value: Callable[[Hits], Cells]) -> Cells:
    """The mean over the assessors who judged the topic; what is undefined counts 0, as in trec_eval."""
    total, many = np.zeros(h.cells), np.zeros(h.cells)
    for theirs, said in by_assessor(h):
        total += np.where(said > 0, np.nan_to_num(value(theirs)), 0.0)
        many += said
    return total / many


@measure(family="several assessors", cite="trec_eval", aliases=("map_avgjg",))
def AP_avgjg(h: Hits, rel: int = 1) -> Cells:
    """Average precision by the judgments of each assessor, averaged over assessors (trec_eval's map_avgjg).

    Formula: mean over assessors of AP
    """
    return _mean(h, lambda theirs: AP.function(theirs, rel=rel))


@measure(family="several assessors", cite="trec_eval")
def P_avgjg(h: Hits, k: int | None = None, rel: int = 1) -> Cells:
    """Precision at k by the judgments of each assessor, averaged over assessors.

    Formula: mean over assessors of P@k
    """
    return _mean(h, lambda theirs: P.function(theirs, k, rel))


@measure(family="several assessors", cite="trec_eval")
def Rprec_avgjg(h: Hits, rel: int = 1, mult: float = 1.0) -> Cells:
    """R-precision by the judgments of each assessor, averaged over assessors (with `mult`: Rprec_mult_avgjg).

    Formula: mean over assessors of Rprec(mult)
    """
    return _mean(h, lambda theirs: Rprec.function(theirs, rel, mult))
