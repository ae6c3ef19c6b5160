"""Bounds of measures for which one completion is lowest and one highest, whatever the rest of the list.

**Monotone** (P, SetP, RR, Success, RBP, DCG, ERR, NumRelRet, and anti_P the other way round): a higher grade
of a retrieved document never lowers the value, and documents that were not retrieved do not count. So the
lowest value has all unjudged documents at grade 0, the highest at the top grade. For ERR: a user who reaches
rank i gets s/i + (1 - s) W, where s is the chance to stop there and W <= 1/(i+1) what the rest is worth; that
grows with s.

**Recall** (R, SetR, relative_P, SetP(relative=True)): C / min(R, K), with C relevant documents among the
first k and K a constant or infinite. One more relevant document among the first k turns C/R into (C+1)/(R+1)
or C/K into (C+1)/K, never lower because C <= min(R, K); one more elsewhere never raises the value. So the
highest value has all own unjudged documents of the first k relevant and nothing else, the lowest exactly the
others.
"""

from __future__ import annotations

import numpy as np

from unjudged.measures import Measure
from unjudged.measures.bounds.cells import Cell, Completion, End, Limit, Setting


def rising(cell: Cell, measure: Measure, setting: Setting) -> tuple[End, End]:
    """All unjudged documents nonrelevant, all of the top grade."""
    none = np.zeros(len(cell.unjudged), np.int32)
    return Completion.of(none), Completion.of(none + setting.top)


def falling(cell: Cell, measure: Measure, setting: Setting) -> tuple[End, End]:
    """The ends of `rising`, the other way round."""
    low, high = rising(cell, measure, setting)
    return high, low


def recall(cell: Cell, measure: Measure, setting: Setting) -> tuple[End, End]:
    """Own documents of the first k against all others."""
    top, rel = setting.top, measure.params["rel"]
    cut = measure.params.get("k")
    inside = cell.unjudged <= (len(cell.grade) if cut is None else cut)
    if rel > top:
        only = Completion.of(0 * inside)
        return only, only
    if measure.params.get("relative"):
        cut = len(cell.grade)
    capped = measure.name in ("relative_P", "SetP")
    others = max(cell.others, cut or 0) if setting.free else cell.others
    low: End = Completion.of(top * ~inside if rel > 0 else 0 * inside, (top, others))
    if setting.free and not capped:
        low = Limit()
    high = Completion.of(top * inside, (top, 0 if rel > 0 else cell.others))
    return low, high
