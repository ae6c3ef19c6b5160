"""Paired tests of two runs over the same topics: Student's t, Wilcoxon's signed ranks, random sign flips.

All pairs of a topics x runs matrix unless pairs are given. Two identical runs have p = 1; runs that differ by one
constant on every topic have p = 0 under t and are marked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unjudged import kernels
from unjudged.statistics.distributions import student_above, student_limit
from unjudged.statistics.draws import every_sign_flip, sign_flips
from unjudged.statistics.pairs import (
    ZERO,
    Floats,
    Integers,
    blocks,
    check_alpha,
    chosen_pairs,
    mean_differences,
    score_matrix,
)
from unjudged.statistics.resampled import resampled_p

_EXACT_RANKS = 50  # topics up to which Wilcoxon's p value is exact
_BLOCK = 4096  # pairs at a time


@dataclass(frozen=True)
class Tested:
    """One entry per pair, in the order of `first` and `second` (columns of the two runs).

    `difference` is mean(first) - mean(second); `constant` marks pairs that differ by the same amount on every topic:
    their p value of 0 says nothing about other topics.
    """

    first: Integers
    second: Integers
    difference: Floats
    statistic: Floats
    p_value: Floats
    constant: NDArray[np.bool_]

    def significant(self, alpha: float = 0.05) -> NDArray[np.bool_]:
        """Pairs with a p value strictly below alpha."""
        return self.p_value < alpha

    def power(self, alpha: float = 0.05) -> float:
        """Discriminative power: the share of pairs that are significantly different; NaN without pairs."""
        return float(self.significant(alpha).mean()) if len(self.p_value) else float("nan")

    def curve(self) -> Floats:
        """All p values, largest first: the achieved significance level curve of Sakai (2006)."""
        return np.sort(self.p_value)[::-1]


def spread(
    scores: ArrayLike, pairs: tuple[ArrayLike, ArrayLike] | None = None
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Per pair: standard deviation (n-1) of the differences; all differences zero; all equal but not zero.

    The deviation is exactly 0 in the last two cases, and NaN for one topic.
    """
    matrix = score_matrix(scores, runs=2)
    first, second = chosen_pairs(pairs, matrix.shape[1])
    deviation = np.full(len(first), np.nan)
    same, constant = np.zeros(len(first), dtype=np.bool_), np.zeros(len(first), dtype=np.bool_)
    for block in blocks(len(first), _BLOCK):
        z = matrix[:, first[block]] - matrix[:, second[block]]
        same[block] = (np.abs(z) < ZERO).all(axis=0)
        constant[block] = (np.ptp(z, axis=0) < ZERO) & ~same[block]
        if len(z) > 1:
            deviation[block] = np.where(same[block] | constant[block], 0.0, z.std(axis=0, ddof=1))
    return deviation, same, constant


def t_test(scores: ArrayLike, pairs: tuple[ArrayLike, ArrayLike] | None = None) -> Tested:
    """Paired t test, two-sided."""
    matrix = score_matrix(scores, runs=2)
    first, second = chosen_pairs(pairs, matrix.shape[1])
    difference = mean_differences(matrix, (first, second))
    deviation, same, constant = spread(matrix, (first, second))
    statistic = t_statistics(difference, deviation, len(matrix), same, constant)
    with np.errstate(invalid="ignore"):
        p = 2 * student_above(np.abs(statistic), max(len(matrix) - 1, 1))
    p = np.where(same, 1.0, np.where(constant, 0.0, p))
    return Tested(first, second, difference, statistic, p, constant)


def t_statistics(
    difference: Floats, deviation: Floats, topics: int, same: NDArray[np.bool_], constant: NDArray[np.bool_]
) -> Floats:
    """Mean difference over its standard error; 0 for identical runs, infinite for constant differences."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ordinary = difference / (deviation / math.sqrt(topics))
    return np.where(same, 0.0, np.where(constant, np.copysign(np.inf, difference), ordinary))


def t_interval(
    scores: ArrayLike, pairs: tuple[ArrayLike, ArrayLike] | None = None, alpha: float = 0.05
) -> tuple[Floats, Floats]:
    """Lower and upper end of the 1 - alpha confidence interval of each pair's mean difference; NaN for one topic."""
    check_alpha(alpha)
    matrix = score_matrix(scores, runs=2)
    difference = mean_differences(matrix, pairs)
    deviation, _, _ = spread(matrix, pairs)
    half = student_limit(alpha / 2, max(len(matrix) - 1, 1)) * deviation / math.sqrt(len(matrix))
    return difference - half, difference + half


def effect_size(scores: ArrayLike, pairs: tuple[ArrayLike, ArrayLike] | None = None) -> Floats:
    """Mean difference in standard deviations of the per-topic differences (Cohen's d for paired data).

    0 for identical runs, infinite where the difference is the same on every topic, NaN for one topic.
    """
    matrix = score_matrix(scores, runs=2)
    difference = mean_differences(matrix, pairs)
    deviation, same, constant = spread(matrix, pairs)
    if len(matrix) == 1:
        return np.full(len(difference), np.nan)
    return t_statistics(difference, deviation, 1, same, constant)


def residual_effect_size(scores: ArrayLike, pairs: tuple[ArrayLike, ArrayLike] | None = None) -> Floats:
    """Mean difference in standard deviations of the two-way ANOVA's residual: one yardstick for all pairs (Sakai)."""
    from unjudged.statistics.anova import two_way

    matrix = score_matrix(scores, topics=2, runs=2)
    difference = mean_differences(matrix, pairs)
    deviation = math.sqrt(two_way(matrix).ms_error)
    if deviation > 0:
        return difference / deviation
    return np.where(difference == 0, 0.0, np.copysign(np.inf, difference))


def permutation(
    scores: ArrayLike,
    pairs: tuple[ArrayLike, ArrayLike] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    flips: ArrayLike | None = None,
) -> Tested:
    """Paired randomisation test: how often swapping the two runs on random topics gives as large a mean difference.

    Where there are no more than `resamples` ways to swap, all of them are used and p is exact. Otherwise they are drawn
    once for all pairs, and the observed scores count as one more: p = (1 + larger) / (1 + drawn). `flips` (rows of +1
    and -1) replaces them and is taken as the list of all ways.
    """
    matrix = score_matrix(scores, runs=2)
    topics = len(matrix)
    first, second = chosen_pairs(pairs, matrix.shape[1])
    exact = flips is not None or (topics < 63 and 2**topics <= resamples)
    if flips is not None:
        signs = np.asarray(flips)
        if signs.ndim != 2 or signs.shape[1] != topics:
            raise ValueError(f"sign flips must be rows of {topics} signs")
    else:
        signs = every_sign_flip(topics) if exact else sign_flips(topics, resamples, seed)
    difference = mean_differences(matrix, (first, second))
    reach = np.abs(difference) - ZERO
    larger = np.zeros(len(first), dtype=np.int64)
    for rows in blocks(len(signs), 256):
        part = np.ascontiguousarray(signs[rows], dtype=np.float64)
        means = np.empty((len(part), matrix.shape[1]))
        kernels.weighted_sums(part, matrix, means)
        means /= topics
        for block in blocks(len(first), _BLOCK):
            larger[block] += (np.abs(means[:, first[block]] - means[:, second[block]]) >= reach[block]).sum(axis=0)
    p = resampled_p(larger, len(signs), listed=exact)
    return Tested(first, second, difference, difference, p, spread(matrix, (first, second))[2])


def wilcoxon(
    scores: ArrayLike,
    pairs: tuple[ArrayLike, ArrayLike] | None = None,
    method: Literal["auto", "exact", "normal"] = "auto",
) -> Tested:
    """Wilcoxon's signed-rank test, two-sided; topics without a difference are left out, ties share their mean rank.

    `exact` counts all signs of the ranks at hand, with ties, too; `normal` is the approximation with correction for
    ties; `auto` is exact up to 50 topics. The statistic is the smaller of the two rank sums.
    """
    if method not in ("auto", "exact", "normal"):
        raise ValueError(f"method is auto, exact or normal, not {method!r}")
    matrix = score_matrix(scores, runs=2)
    first, second = chosen_pairs(pairs, matrix.shape[1])
    statistic, p = np.empty(len(first)), np.empty(len(first))
    untied: dict[int, Floats] = {}
    for k, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        z = matrix[:, i] - matrix[:, j]
        z = z[np.abs(z) >= ZERO]
        doubled = _doubled_ranks(np.abs(z))
        up = int(doubled[z > 0].sum())
        total = len(z) * (len(z) + 1)  # of the doubled ranks
        statistic[k] = min(up, total - up) / 2
        if method == "exact" or (method == "auto" and len(z) <= _EXACT_RANKS):
            if len(np.unique(doubled)) == len(doubled):
                if len(z) not in untied:
                    untied[len(z)] = _rank_sum_chances(doubled)
                chances = untied[len(z)]
            else:
                chances = _rank_sum_chances(doubled)
            p[k] = min(1.0, float(2 * chances[: min(up, total - up) + 1].sum()))
        else:
            variance = float((doubled.astype(np.float64) ** 2).sum())
            p[k] = math.erfc(abs(2 * up - total) / math.sqrt(2 * variance)) if variance else 1.0
    difference = mean_differences(matrix, (first, second))
    return Tested(first, second, difference, statistic, p, spread(matrix, (first, second))[2])


def _doubled_ranks(sizes: Floats) -> NDArray[np.int64]:
    """Twice the mean rank of every value, smallest first; values within 1e-12 of their neighbour are tied."""
    order = np.argsort(sizes, kind="stable")
    group = np.concatenate([[0], np.cumsum(np.diff(sizes[order]) >= ZERO)]) if len(sizes) else np.empty(0, np.int64)
    last = np.cumsum(np.bincount(group.astype(np.int64)))
    before = np.concatenate([[0], last[:-1]]) if len(last) else last
    doubled = np.empty(len(sizes), dtype=np.int64)
    doubled[order] = (before + last + 1)[group.astype(np.int64)]
    return doubled


def _rank_sum_chances(doubled: NDArray[np.int64]) -> Floats:
    """Chance of each sum of the (doubled) ranks with a plus sign, signs being fair coins."""
    chances = np.zeros(int(doubled.sum()) + 1)
    chances[0] = 1.0
    for step in doubled.tolist():
        shifted = np.zeros_like(chances)
        shifted[step:] = chances[: len(chances) - step]
        chances = (chances + shifted) / 2
    return chances
