"""Bounds of nDCG and nCG: graded, with or without a cut-off, for discounts that do not rise with the rank.

Let x_i be the (transformed) gain of document i, d(1) >= d(2) >= ... the discounts (0 behind the cut-off k),
N(x) = sum of x_i d(rank of i) over retrieved documents and D(x) = d(1) x_(1) + d(2) x_(2) + ... with gains
sorted in descending order; nDCG = N/D. A document behind the cut-off counts only in D, like one that was not
retrieved. D does not fall when a gain grows. So unretrieved documents have gain 0 at the highest value and
the top gain at the lowest; M counts them. For given gains of the own documents D is fixed and N is largest
when they are sorted down the list, smallest when sorted the other way (rearrangement inequality).

**Lowest.** D is the largest of the sums of x_i d(pi(i)) over all assignments pi of documents to ranks, hence
convex; N is linear. For every c >= 0 the function N - cD is concave, so on the box [0, top gain]^n it is
smallest at a corner, and nDCG <= c somewhere exactly if N - cD <= 0 at a corner. So the lowest value gives
each own document gain 0 or the top gain: the last a documents have the top grade, and a = 0..n are tried.
(Where D = 0 nothing is relevant and the value counts as 0, which is as low as it gets.)

**Highest.** Write g_0 = 0 <= g_1 <= ... for the gains of the grades, w_l = g_l - g_(l-1), a_l for the number
of own documents of grade l or more (a_1 >= a_2 >= ...), R_l for that of judged documents, P(a) = d(u_1) + ...
+ d(u_a) for the first a unjudged ranks, S(c) = d(1) + ... + d(c). With grades sorted down the list
N = N0 + sum_l w_l P(a_l) and D = sum_l w_l S(R_l + a_l).
By Dinkelbach the highest ratio is the limit of c -> N/D at a maximum of N - cD, starting at c = 0, reached
after finitely many steps since c rises strictly and there are finitely many completions. N - cD is a sum over
levels of w_l (P(a_l) - c S(R_l + a_l)); take the largest maximiser a_l of each level by itself. One more
document costs c d(R_l + a + 1), less where R_l is larger, and R_1 >= R_2 >= ..., so these maximisers fall
with l by themselves (increasing differences): the constraint a_1 >= a_2 >= ... holds for free and the maximum
is exact. ∎
"""

from __future__ import annotations

import functools

import numpy as np

from unjudged.collection import Floats
from unjudged.measures import REGISTRY, Measure
from unjudged.measures.bounds.cells import Cell, Completion, End, Limit, Setting, gains_of, one_document_lists


@functools.lru_cache(maxsize=16)
def parts(measure: Measure, setting: Setting, size: int) -> tuple[Floats, Floats]:
    """Transformed gain of each grade and discount of the ranks 1..size, read off DCG of one-document lists."""
    top, params = setting.top, measure.params
    if measure.name == "nCG":
        return gains_of(measure, setting), np.ones(size)
    dcg = REGISTRY["DCG"](dcg=params["dcg"], base=params["base"], gains=params["gains"])
    gain = dcg.cells(one_document_lists(setting.judgments, np.arange(top + 1), np.ones(top + 1)))
    weight = dcg.cells(one_document_lists(setting.judgments, np.full(size, top), np.arange(1, size + 1)))
    return gain, weight / weight[0] if gain[-1] > 0 else weight


def ndcg(cell: Cell, measure: Measure, setting: Setting) -> tuple[End, End]:
    """nDCG: the last a documents and all others at the top grade; sorted grades found by Dinkelbach's method."""
    k, top = measure.params["k"], setting.top
    depth = len(cell.grade) if k is None else min(k, len(cell.grade))
    n = int((cell.unjudged <= depth).sum())
    beyond = len(cell.unjudged) - n
    others = cell.others + beyond
    if k is not None:
        others = k if setting.free else min(others, k)
    judged = np.array([cell.at_least(grade) for grade in range(1, top + 1)])
    most = max(int(judged[0]) + n + others, depth)
    gain, weight = parts(measure, setting, 1 << most.bit_length())
    step, place = np.diff(gain), weight[:depth]
    weight = weight[:most]
    ideal = np.concatenate(([0.0], np.cumsum(weight if k is None else np.where(np.arange(most) < k, weight, 0.0))))
    listed = cell.grade[:depth]
    fixed = float((gain[np.maximum(listed, 0)] * place).sum())
    open_weight = place[cell.unjudged[:n] - 1]
    a = np.arange(n + 1)

    # highest
    prefix = np.concatenate(([0.0], np.cumsum(open_weight)))
    level = judged[:, None] + a
    ratio, own = 0.0, np.zeros(n, np.int64)
    while True:
        worth = prefix - ratio * ideal[level]
        take = n - np.argmax(worth[:, ::-1], axis=1)
        reached, base = fixed + float((step * prefix[take]).sum()), float((step * ideal[judged + take]).sum())
        if base <= 0 or reached / base <= ratio:
            break
        ratio = reached / base
        take = np.minimum.accumulate(take)
        own = (np.arange(n) < take[:, None]).sum(axis=0)
    high = Completion.of(np.concatenate((own, np.zeros(beyond, np.int64))))

    # lowest
    if setting.free and k is None and gain[-1] > 0:
        return Limit(), high
    suffix = np.concatenate(([0.0], np.cumsum(open_weight[::-1])))
    base_of = (step[:, None] * ideal[level + others]).sum(axis=0)
    value = np.where(base_of > 0, (fixed + gain[-1] * suffix) / np.where(base_of > 0, base_of, 1.0), 0.0)
    worst = int(np.argmin(value))
    own = np.where(np.arange(n + beyond) >= n - worst, top, 0)
    return Completion.of(own, (top, max(others - beyond, 0))), high
