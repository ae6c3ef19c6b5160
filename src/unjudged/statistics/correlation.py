"""Correlation of two lists of scores (one value per run): Kendall, Spearman, Pearson, with significance; tau_AP.

tau_AP cares most about the top (Yilmaz, Aslam and Robertson, SIGIR 2008). Its first list is the reference, the second
the estimate; larger is better in both. With ties use the two versions of Urbano and Marrero (ICTIR 2017), as in the R
package ircor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unjudged.statistics.distributions import normal_limit, student_above
from unjudged.statistics.pairs import ZERO, Floats, blocks, exact_mean, exact_sum

_CELLS = 1 << 18  # differences of runs held at once


@lru_cache(maxsize=4)  # resampling asks for the same number of runs thousands of times
def _pairs_of(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Every pair i < j."""
    i, j = np.triu_indices(size, 1)
    i.flags.writeable = j.flags.writeable = False
    return i, j


@lru_cache(maxsize=4)
def _below_diagonal(size: int) -> NDArray[np.bool_]:
    """True where the column is smaller than the row."""
    below = np.tri(size, k=-1, dtype=np.bool_)
    below.flags.writeable = False
    return below


def _pair_signs(values: NDArray[np.float64]) -> NDArray[np.int8]:
    """Sign of the difference of every pair i < j of one list, or of the lists in the rows: 1, 0 (tied) or -1."""
    i, j = _pairs_of(values.shape[-1])
    return _sign(np.take(values, i, axis=-1) - np.take(values, j, axis=-1))


def _sign(difference: NDArray[np.float64]) -> NDArray[np.int8]:
    """1, 0 (a tie) or -1."""
    return (difference >= ZERO).view(np.int8) - (difference <= -ZERO).view(np.int8)


def two_lists(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Both lists as arrays; None where no correlation is defined (a NaN, or fewer than two values)."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"two lists of one length are needed, not {a.shape} and {b.shape}")
    if a.ndim != 1:
        raise ValueError(f"expected one value per run, not an array of {a.ndim} dimensions")
    if a.size < 2 or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    return a, b


def _signs(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.int8], NDArray[np.int8]] | None:
    lists = two_lists(x, y)
    return None if lists is None else (_pair_signs(lists[0]), _pair_signs(lists[1]))


def tau_a(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau_a: (concordant - discordant pairs) / all pairs; tied pairs count as neither.

    NaN for fewer than two values or where a value is not finite.
    """
    signs = _signs(x, y)
    if signs is None:
        return math.nan
    return float(np.sum(signs[0] * signs[1], dtype=np.int64)) / len(signs[0])


def tau_b(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau_b, corrected for ties: equal to tau_a without ties, NaN where one list is all tied."""
    lists = two_lists(x, y)
    return math.nan if lists is None else float(tau_b_rows(lists[0][None], lists[1][None])[0])


def tau_b_rows(x: ArrayLike, y: ArrayLike) -> Floats:
    """tau_b of every row of one matrix with the same row of the other."""

    def tau(a: Floats, b: Floats) -> Floats:
        first, second = _pair_signs(a), _pair_signs(b)
        concordance = (first * second).sum(axis=1, dtype=np.int64)
        untied = np.count_nonzero(first, axis=1) * np.count_nonzero(second, axis=1)
        return np.asarray(np.divide(concordance, np.sqrt(untied), out=np.full(len(a), np.nan), where=untied > 0))

    return _by_rows(x, y, tau)


def _by_rows(x: ArrayLike, y: ArrayLike, figure: Callable[[Floats, Floats], Floats]) -> Floats:
    """The figure of each row of both matrices, some rows at a time; NaN where it is not defined."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 2:
        raise ValueError(f"two matrices of one shape are needed, not {a.shape} and {b.shape}")
    found = np.full(len(a), np.nan)
    defined = np.flatnonzero(np.isfinite(a).all(axis=1) & np.isfinite(b).all(axis=1) & (a.shape[1] > 1))
    for block in blocks(len(defined), max(1, _CELLS // max(1, a.shape[1]) ** 2)):
        rows = defined[block]
        found[rows] = figure(a[rows], b[rows])
    return found


def tau_p_value(x: ArrayLike, y: ArrayLike, method: Literal["auto", "exact", "normal"] = "auto") -> float:
    """Two-sided p value of Kendall's tau: how often two unrelated rankings agree or disagree this much.

    `exact` counts permutations (only without ties); `normal` is the usual approximation with standard deviation
    sqrt((4m+10)/(9m(m-1))); `auto` is exact up to 50 runs without ties. NaN where tau_b is.
    """
    if method not in ("auto", "exact", "normal"):
        raise ValueError(f"method is auto, exact or normal, not {method!r}")
    tau = tau_b(x, y)
    if math.isnan(tau):
        return math.nan
    signs = _signs(x, y)
    assert signs is not None
    runs, pairs = np.size(x), len(signs[0])
    untied = bool(signs[0].all() and signs[1].all())
    if method == "exact" and not untied:
        raise ValueError("the exact p value of tau is defined without ties only")
    if method == "exact" or (method == "auto" and untied and runs <= 50):
        discordant = int(np.count_nonzero(signs[0] != signs[1]))
        fewer = _inversions(runs)[: min(discordant, pairs - discordant) + 1].sum()
        return min(1.0, float(2 * fewer))
    return math.erfc(abs(tau) / tau_deviation(runs) / math.sqrt(2))


def tau_deviation(runs: int) -> float:
    """Standard deviation of tau between unrelated rankings of this many runs."""
    if runs < 2:
        raise ValueError(f"at least 2 runs are needed, {runs} given")
    return math.sqrt((4 * runs + 10) / (9 * runs * (runs - 1)))


def critical_tau(runs: int, alpha: float = 0.05) -> float:
    """The tau from which on two rankings of this many runs are significantly correlated (two-sided, normal)."""
    return float(normal_limit(alpha / 2)) * tau_deviation(runs)


def _inversions(runs: int) -> NDArray[np.float64]:
    """Probability of 0, 1, 2, ... inversions in a random permutation."""
    chances = np.ones(1)
    for length in range(2, runs + 1):
        chances = np.convolve(chances, np.full(length, 1 / length))
    return chances


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's linear correlation; NaN where one list is constant, too short or not finite."""
    lists = two_lists(x, y)
    if lists is None or any(np.ptp(values) < ZERO for values in lists):
        return math.nan
    a, b = (values - exact_mean(values) for values in lists)
    scale = math.sqrt(exact_sum(a * a) * exact_sum(b * b))
    return max(-1.0, min(1.0, exact_sum(a * b) / scale)) if scale else math.nan


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rank correlation: Pearson's on the ranks, tied runs sharing their mean rank."""
    lists = two_lists(x, y)
    return math.nan if lists is None else pearson(_mean_ranks(lists[0]), _mean_ranks(lists[1]))


def correlation_p_value(correlation: float, runs: int) -> float:
    """Two-sided p value of a Pearson or Spearman correlation by Student's t with runs - 2 degrees of freedom."""
    if math.isnan(correlation) or runs < 3:
        return math.nan
    if abs(correlation) >= 1:
        return 0.0
    statistic = correlation * math.sqrt((runs - 2) / ((1 - correlation) * (1 + correlation)))
    return float(2 * student_above(abs(statistic), runs - 2))


def _mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    difference = values[:, None] - values[None, :]
    above = (difference <= -ZERO).sum(axis=1)
    tied = (np.abs(difference) < ZERO).sum(axis=1)
    return np.asarray(above + (tied + 1) / 2, dtype=np.float64)


def _better(values: ArrayLike) -> NDArray[np.int8]:
    """Entry (i, j): 1 where j is better than i, -1 where worse, 0 where tied."""
    x = np.asarray(values, dtype=np.float64)
    return _sign(x[None, :] - x[:, None])


def tau_ap(reference: ArrayLike, estimate: ArrayLike) -> float:
    """tau_AP for lists without ties; tied runs of the estimate stand in the order given (larger index below)."""
    lists = two_lists(reference, estimate)
    return math.nan if lists is None else float(tau_ap_rows(lists[0][None], lists[1][None])[0])


def tau_ap_rows(reference: ArrayLike, estimate: ArrayLike) -> Floats:
    """tau_AP of every row of one matrix with the same row of the other."""

    def tau(a: Floats, b: Floats) -> Floats:
        x = np.take_along_axis(a, np.argsort(-b, axis=1, kind="stable"), axis=1)
        runs = x.shape[1]
        better = x[:, None, :] - x[:, :, None] >= ZERO
        concordant = np.count_nonzero(better & _below_diagonal(runs), axis=2)[:, 1:]
        return np.asarray(2 * (concordant / np.arange(1, runs)).sum(axis=1) / (runs - 1) - 1)

    return _by_rows(reference, estimate, tau)


def tau_ap_symmetric(x: ArrayLike, y: ArrayLike) -> float:
    """Mean of tau_AP in both directions: neither list is the reference."""
    return (tau_ap(x, y) + tau_ap(y, x)) / 2


def tau_ap_a(reference: ArrayLike, estimate: ArrayLike) -> float:
    """tau_AP,a: ties in the estimate (the reference has none) count as their average over all orders."""
    if two_lists(reference, estimate) is None:
        return math.nan
    better = _better(estimate)
    concordant = ((better > 0) & (_better(reference) > 0)).sum(axis=1)
    place = 1 + (better > 0).sum(axis=1)
    size = (better == 0).sum(axis=1)
    parts = []
    for c, p, t in zip(concordant.tolist(), place.tolist(), size.tolist(), strict=True):
        if p > 1:
            parts.append(c / t * sum(1 / (p + k - 2) for k in range(1, t + 1)))
        parts.append(sum(k / (p + k - 1) for k in range(1, t)) / (2 * t))
    return 2 * exact_sum(parts) / (len(place) - 1) - 1


def tau_ap_b(x: ArrayLike, y: ArrayLike) -> float:
    """tau_AP,b: both lists may have ties, symmetric; NaN where one list is all tied."""
    if two_lists(x, y) is None:
        return math.nan
    return (_one_way_b(x, y) + _one_way_b(y, x)) / 2


def _one_way_b(reference: ArrayLike, estimate: ArrayLike) -> float:
    above = _better(estimate) > 0
    place = above.sum(axis=1)
    below_someone = place > 0
    if not below_someone.any():
        return math.nan
    concordant = (above & (_better(reference) > 0)).sum(axis=1)
    return 2 * exact_mean(concordant[below_someone] / place[below_someone]) - 1
