"""The preference family: judged documents only, relevant ones counted against nonrelevant ones above them."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Cells, Hits
from unjudged.measures._measure import measure


@measure(family="preference", cite="buckley2004", condensed=True, aliases=("Bpref", "BPref"))
def bpref(h: Hits, rel: int = 1) -> Cells:
    """Share of relevant documents, each reduced by the judged nonrelevant ones ranked above it.

    As trec_eval since 8.0: the penalty counts at most R nonrelevant documents and is scaled by min(R, N).
    """
    h = h.relevant(rel)
    above = h.rank - h.position
    scale = h.each(np.minimum(h.R, h.N))
    penalty = np.minimum(above, h.each(h.R)) / np.where(scale > 0, scale, 1.0)
    return h.sum(np.where(above > 0, 1 - penalty, 1.0)) / h.R
