"""Expected reciprocal rank: a user who stops when satisfied."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from unjudged.collection import Cells, Floats, Hits
from unjudged.errors import MeasureError
from unjudged.measures._measure import ByGrade, measure


def _satisfied(h: Hits, grade: npt.NDArray[np.int32], gain: Floats, stop: str, gains: ByGrade) -> Floats:
    """Probability that a user stops at a document of this grade and gain."""
    if stop == "ntcir":
        return gain / (h.highest_gain(gains) + 1)
    top = h.judgments.gains.top_grade
    if top > 50:
        raise MeasureError(f"ERR raises 2 to the grade; a grade of {top} is too large (use stop='ntcir')")
    shifted: Floats = np.exp2(grade.astype(np.float64) - top)
    return shifted - 2.0**-top


@measure(family="cascade", cite="chapelle2009")
def ERR(h: Hits, k: int | None = None, stop: Literal["exp", "ntcir"] = "exp", gains: ByGrade = None) -> Cells:
    """Expected reciprocal rank of the document at which a user, satisfied by good documents, stops.

    stop='exp': probability (2^grade - 1) / 2^highest grade (Chapelle); 'ntcir': gain / (highest gain + 1).

    Formula: sum over r of (1/r) * s(r) * product over i < r of (1 - s(i))
    """
    h = h.gaining(gains).top(k)
    judgments = h.judgments
    satisfied = _satisfied(h, judgments.grade, judgments.gain(gains), stop, gains)[h.row]
    going_on = h.running_product(1 - satisfied) / (1 - satisfied)
    return h.sum(satisfied * going_on / h.rank)


@measure(family="cascade", cite="clarke2011")
def nERR(h: Hits, k: int | None = None, stop: Literal["exp", "ntcir"] = "exp", gains: ByGrade = None) -> Cells:
    """ERR divided by the ERR of the ideal list, both cut at k.

    Formula: ERR@k / ERR@k of the ideal list
    """
    ideal = h.ideal(gains)
    satisfied = _satisfied(h, ideal.grade, ideal.gain, stop, gains)
    going_on = ideal.running_product(1 - satisfied) / (1 - satisfied)
    return ERR.function(h, k, stop, gains) / h.per_cell(ideal.sum(satisfied * going_on / ideal.rank, k))
