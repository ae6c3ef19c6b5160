"""Rank-biased precision and what could still change it."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Cells, Hits
from unjudged.measures._measure import ByGrade, measure


@measure(family="rank-biased", cite="moffat2008")
def RBP(h: Hits, p: float = 0.95, k: int | None = None, rel: int | None = None, gains: ByGrade = None) -> Cells:
    """Rank-biased precision: gain seen by a user who goes on to the next document with probability p.

    Graded: gains are divided by that of the collection's highest grade. RBP(rel=1) is the binary form.

    Formula: ((1 - p) / H) * sum over r of gain(r) * p^(r-1), H = gain of the highest grade
    """
    h = (h.gaining(gains) if rel is None else h.relevant(rel)).top(k)
    gain = h.gain(gains) / h.highest_gain(gains) if rel is None else np.ones(len(h))
    return (1 - p) * h.sum(gain * h.by_rank(lambda rank: p ** (rank - 1.0)))


@measure(family="rank-biased", cite="moffat2008", aliases=("RBP_resid",))
def RBP_residual(h: Hits, p: float = 0.95) -> Cells:
    """How much RBP could still rise: the weight of all unjudged documents and of the ranks behind the list.

    Formula: (1 - p) * sum over unjudged ranks r of p^(r-1) + p^L
    """
    return 1 - (1 - p) * h.sum(h.by_rank(lambda rank: p ** (rank - 1.0)))
