"""Graded average precision."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unjudged.collection import Cells, Floats, Hits
from unjudged.measures._measure import measure


@measure(family="average precision", cite="robertson2010")
def GAP(h: Hits, thresholds: Mapping[int, float] | None = None) -> Cells:
    """Graded average precision: AP for a user whose own threshold of relevance is a grade drawn at random.

    `thresholds` gives each grade the probability that a user asks for it at least (default: all alike).
    With binary judgments it is AP.

    Formula: sum over relevant ranks r of (1/r) * sum over thresholds j of p_j [g(r) >= j] C_j(r), divided by sum
    over judged documents of sum over j <= grade of p_j
    """
    top = h.judgments.gains.top_grade
    levels = thresholds or dict.fromkeys(range(1, top + 1), 1 / top)
    total = sum(levels.values())

    def satisfied(grade: Floats) -> Floats:  # share of users content with a document of this grade
        out = np.zeros(len(grade))
        for level, share in levels.items():
            out += np.where(grade >= level, share / total, 0.0)
        return out

    relevant = h.relevant(1)
    content = np.zeros(len(relevant))
    for level, share in levels.items():
        reached = (relevant.grade >= level).astype(np.float64)
        content += share / total * reached * relevant.running(reached)
    best = satisfied(h.judgments.grade.astype(np.float64))
    normaliser = np.bincount(h.judgments.topic, weights=best, minlength=len(h.judgments.topics))
    return relevant.sum(content / relevant.rank) / h.per_cell(normaliser)
