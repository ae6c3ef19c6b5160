"""Graded average precision."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Cells, Hits
from unjudged.measures._measure import ByGrade, measure


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
