"""Counts: topics, retrieved and relevant documents (summed over topics)."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Cells, Hits
from unjudged.measures._measure import measure


@measure(family="counts", cite="trec_eval", aggregate="sum", bounded=False)
def NumQ(h: Hits) -> Cells:
    """Number of topics.

    Formula: 1 per topic
    """
    return np.ones(h.cells)


@measure(family="counts", cite="trec_eval", aggregate="sum", bounded=False)
def NumRet(h: Hits, rel: int | None = None) -> Cells:
    """Number of retrieved documents; with `rel` of relevant ones among them.

    Formula: L
    """
    return h.length.astype(np.float64) if rel is None else h.relevant(rel).count()


@measure(family="counts", cite="trec_eval", aggregate="sum", bounded=False)
def NumRel(h: Hits, rel: int = 1) -> Cells:
    """Number of relevant documents in the judgments.

    Formula: R
    """
    return h.relevant(rel).R


@measure(family="counts", cite="trec_eval", aggregate="sum", bounded=False)
def NumRelRet(h: Hits, rel: int = 1) -> Cells:
    """Number of relevant documents retrieved.

    Formula: C(L)
    """
    return h.relevant(rel).count()


@measure(family="counts", cite="trec_eval", aggregate="sum", bounded=False)
def NumNonrelJudgedRet(h: Hits, rel: int = 1) -> Cells:
    """Number of judged nonrelevant documents retrieved.

    Formula: judged nonrelevant documents retrieved
    """
    return h.nonrelevant(rel).count()
