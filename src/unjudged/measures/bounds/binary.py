"""Bounds of measures that look at relevance yes or no: AP, Rprec, bpref.

Such a measure is a function of the ranks r_1 < r_2 < ... < r_s of retrieved relevant documents and of R and
N. Write u_1 < ... < u_n for the ranks of the own unjudged documents, M for the number of unjudged documents
not retrieved, R0 for the relevant documents judged so far.

**Lemma (first and last).** If for fixed R and N the value does not rise when some r_t grows, and does not
fall when one more retrieved document is relevant, then among completions with R relevant documents the
highest value has the first min(n, R - R0) unjudged documents relevant, the lowest the last max(0, R - R0 -
M). *Proof.* With j of the own documents relevant, taking the first j makes every r_t as small as it can be:
the t-th relevant rank is the smallest r at which (judged relevant up to r) + (chosen up to r) reaches t, and
the first j choose most up to every r. The last j choose fewest, and make every r_t largest. j itself is as
large, or as small, as R allows. (rel = 0 makes every document relevant, rel above the top grade none: one
completion each.) ∎

The premises hold: AP sums t/r_t over r_t <= k; Rprec counts r_t <= mult * R; bpref sums 1 - min(r_t - t,
R)/min(R, N), because in a completion nothing is unjudged and r_t - t nonrelevant documents stand above. It
remains to try all R: n + M + 1 values. For AP, R divides, so the highest value has no relevant document
outside the run and the lowest has all M: n + 1 values each, and the sums follow from each other by adding one
document at a time.

**bpref.** In a completion all R + N = R0 + N0 + n + M documents are judged, so N follows from R. Growth
"free" adds nonrelevant documents as well, so that N >= R can be had, which is best. Behind R = max(r_t - t)
the value is s/R - S/R² with S = sum of r_t - t; it peaks at R = 2S/s <= 2L, so trying 2L + 2 further
documents is enough.
"""

from __future__ import annotations

import numpy as np

from unjudged.collection import Floats, Ints
from unjudged.measures import Measure
from unjudged.measures.bounds.cells import Cell, Completion, End, Limit, Setting


def _forced(cell: Cell, rel: int, setting: Setting) -> tuple[End, Completion] | None:
    """Where `rel` leaves one completion: every document relevant (rel = 0), or none (rel above the top grade)."""
    own = np.zeros(len(cell.unjudged), np.int32)
    if rel <= 0:
        only = Completion.of(own, (0, cell.others))
        return (Limit() if setting.free else only), only
    if rel > setting.top:
        more = max(cell.at_least(rel), cell.others) if setting.free else cell.others
        return Completion.of(own, (0, cell.others)), Completion.of(own, (0, more))
    return None


def _first(n: int, j: int, grade: int) -> Ints:
    return np.where(np.arange(n) < j, grade, 0)


def _last(n: int, j: int, grade: int) -> Ints:
    return np.where(np.arange(n) >= n - j, grade, 0)


def _share(total: Floats, size: Floats) -> Floats:
    return np.where(size > 0, total / np.maximum(size, 1), 0.0)


def average_precision(cell: Cell, measure: Measure, setting: Setting) -> tuple[End, End]:
    """AP: j first documents and no other, j last documents and all others; the best j.

    A document that joins at rank x, behind all that joined before, adds (relevant up to x)/x and 1/i for every
    judged relevant rank i below; one that joins before all others also adds 1/i for each of those.
    """
    rel, k, top = measure.params["rel"], measure.params["k"], setting.top
    capped = k is not None and measure.params["norm"] == "min"
    others = max(cell.others, k) if setting.free and capped else cell.others
    if (forced := _forced(cell, rel, setting)) is not None:
        low, high = forced
        return (Completion.of(high.own, (0, others)) if capped else low), high
    depth = len(cell.grade) if k is None else min(k, len(cell.grade))
    relevant = cell.ranks(rel)
    relevant = relevant[relevant <= depth]
    unjudged = cell.unjudged
    n = int((unjudged <= depth).sum())
    beyond, inside = len(unjudged) - n, unjudged[:n]
    before = np.searchsorted(relevant, inside)
    base = float((np.arange(1, len(relevant) + 1) / relevant).sum())
    inverse = np.concatenate((np.cumsum((1 / relevant)[::-1])[::-1], [0.0]))
    nth = np.arange(1, n + 1)
    downward = base + np.concatenate(([0.0], np.cumsum((before + nth) / inside + inverse[before])))
    chosen_below = np.concatenate((np.cumsum((1 / inside)[::-1])[::-1], [0.0]))[1:]
    upward = base + np.concatenate(([0.0], np.cumsum(((before + 1) / inside + inverse[before] + chosen_below)[::-1])))
    size = cell.at_least(rel) + np.arange(n + 1.0)

    def divisor(more: int) -> Floats:
        return np.minimum(size + more, k) if capped else size + more

    j = int(np.argmax(_share(downward, divisor(0))))
    high = Completion.of(_first(len(unjudged), j, top))
    if setting.free and not capped:
        return Limit(), high
    j = int(np.argmin(_share(upward, divisor(others + beyond))))
    own = np.concatenate((_last(n, j, top), np.full(beyond, top)))
    return Completion.of(own, (top, others)), high


def r_precision(cell: Cell, measure: Measure, setting: Setting) -> tuple[End, End]:
    """Rprec: relevant documents up to the cut over the cut, for every R."""
    rel, mult, top = measure.params["rel"], measure.params["mult"], setting.top
    if (forced := _forced(cell, rel, setting)) is not None:
        return forced
    n, length = len(cell.unjudged), len(cell.grade)
    others = max(cell.others, int(length / mult) + 2) if setting.free else cell.others
    relevant, size = cell.ranks(rel), cell.at_least(rel)
    R = size + np.arange(n + others + 1)
    cut = R if mult == 1 else np.floor(mult * R + 0.9)
    judged = np.searchsorted(relevant, cut, side="right")
    above = np.searchsorted(cell.unjudged, cut, side="right")
    first, last = np.minimum(n, R - size), np.maximum(0, R - size - cell.others)
    best = int(np.argmax(_share(judged + np.minimum(first, above).astype(float), cut.astype(float))))
    j = int(first[best])
    high = Completion.of(_first(n, j, top), (top, best - j))
    if setting.free:
        return Limit(), high
    worst = int(np.argmin(_share(judged + np.maximum(0, last - (n - above)).astype(float), cut.astype(float))))
    j = int(last[worst])
    return Completion.of(_last(n, j, top), (top, worst - j)), high


def _capped_sums(values: Ints, caps: Ints) -> Floats:
    """For each cap, the sum of min(value, cap) over sorted values."""
    below = np.searchsorted(values, caps, side="right")
    return np.concatenate(([0], np.cumsum(values)))[below] + (len(values) - below) * caps.astype(np.float64)


def _bpref(found: Ints, penalties: Floats, R: Ints, N: Ints) -> Floats:
    """For each candidate (s - sum of min(above, R) / min(R, N)) / R, the order in which completions are compared."""
    return _share(found - penalties / np.maximum(np.minimum(R, N), 1), R.astype(np.float64))


def preference(cell: Cell, measure: Measure, setting: Setting) -> tuple[End, End]:
    """bpref: the first documents and as few others as possible, the last and as many, for every R."""
    rel, top = measure.params["rel"], setting.top
    if (forced := _forced(cell, rel, setting)) is not None:
        return forced
    n, length, m = len(cell.unjudged), len(cell.grade), cell.others
    size = cell.at_least(rel)
    total = cell.at_least(0) + n + m
    relevant = cell.ranks(rel)
    above = relevant - np.arange(1, len(relevant) + 1)
    own_above = cell.unjudged - np.searchsorted(relevant, cell.unjudged) - np.arange(1, n + 1)
    passed = np.searchsorted(cell.unjudged, relevant)
    j = np.arange(n + 1)

    # highest: j first documents and no other, then all own documents and some others
    more = max(m, 2 * length + 2) if setting.free else m
    R = size + j
    within = np.minimum(np.searchsorted(own_above, R, side="right"), j)
    penalty = np.concatenate(([0], np.cumsum(own_above)))[within] + (j - within) * R.astype(np.float64)
    penalty += np.minimum(above - np.minimum(j[:, None], passed), R[:, None]).sum(axis=1)
    R_more = size + n + np.arange(1, more + 1)
    penalty_more = _capped_sums(np.sort(np.concatenate((own_above, above - passed))), R_more)
    R = np.concatenate((R, R_more))
    found = len(relevant) + np.minimum(R - size, n)
    N = R if setting.free else total - R
    best = int(np.argmax(_bpref(found, np.concatenate((penalty, penalty_more)), R, N)))
    chosen, outside = min(best, n), max(best - n, 0)
    nonrelevant = max(size + best, m) if setting.free else m - outside
    high = Completion.of(_first(n, chosen, top), (top, outside), (0, nonrelevant))
    if setting.free:
        return Limit(), high

    # lowest: some others and no own document, then all others and j last documents
    R_less = size + np.arange(m + 1)
    penalty_less = _capped_sums(above, R_less)
    j = j[1:]
    R = size + m + j
    over = np.maximum(np.searchsorted(own_above, R - n + j, side="right"), n - j)
    sums = np.concatenate(([0], np.cumsum(own_above)))
    penalty = sums[over] - sums[n - j] + (over - n + j) * (n - j) + (n - over) * R.astype(np.float64)
    penalty += np.minimum(above - np.maximum(0, j[:, None] - (n - passed)), R[:, None]).sum(axis=1)
    R = np.concatenate((R_less, R))
    found = len(relevant) + np.maximum(R - size - m, 0)
    worst = int(np.argmin(_bpref(found, np.concatenate((penalty_less, penalty)), R, total - R)))
    chosen, outside = max(worst - m, 0), min(worst, m)
    return Completion.of(_last(n, chosen, top), (top, outside), (0, m - outside)), high
