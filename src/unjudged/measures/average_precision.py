"""Average precision and interpolated precision."""

from __future__ import annotations

from typing import Literal

import numpy as np

from unjudged.collection import Cells, Hits
from unjudged.measures._measure import ALIASES, measure

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
    values = np.array([IPrec.function(h, recall, rel, rounding) for recall in recalls])
    return np.asarray(values.mean(axis=0))


@measure(family="average precision", cite="robertson2012", bounded=False)
def yaap(h: Hits, rel: int = 1) -> Cells:
    """Yet another average precision: AP on a log-odds scale.

    Formula: ln((1 + S) / (1 + R - S)), S = sum over relevant ranks r of C(r) / r
    """
    h = h.relevant(rel)
    total = h.sum(h.precision())
    return np.log((1 + total) / (1 + h.R - total))
