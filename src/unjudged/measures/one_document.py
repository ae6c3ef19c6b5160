"""Where the first relevant document stands."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Cells, Hits
from unjudged.measures._measure import measure


@measure(family="one document", cite="voorhees1999", aliases=("MRR",))
def RR(h: Hits, k: int | None = None, rel: int = 1) -> Cells:
    """Reciprocal rank of the first relevant document; 0 if there is none (among the first k).

    Formula: 1 / rank of the first relevant document
    """
    h = h.relevant(rel).top(k)
    return 1 / h.first(h.rank, np.inf)


@measure(family="question answering", cite="sakai2005")
def NQcorrect(h: Hits, k: int, rel: int = 1) -> Cells:
    """1 if a correct answer is among the first k, else 0; the mean is the share of questions answered.

    Formula: 1 if C(k) > 0 else 0
    """
    return (h.relevant(rel).top(k).count() > 0).astype(np.float64)
