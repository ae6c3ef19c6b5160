"""Tukey's honestly significant differences: all runs compared at once, with one family-wise error rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.anova import two_way
from unjudged.statistics.paired import spread
from unjudged.statistics.pairs import ZERO, Floats, blocks, check_alpha, chosen_pairs, mean_differences, score_matrix
from unjudged.statistics.studentised_range import range_boundary, range_tail
from unjudged.statistics.tested import Tested

_VALUES = 2_000_000  # scores held at a time


@dataclass(frozen=True)
class Shuffled(Tested):
    """The randomised test, with the range of the means of each shuffle, smallest first."""

    ranges: Floats

    def required_difference(self, alpha: float = 0.05) -> float:
        """Two runs differ significantly exactly where their means are further apart than this."""
        allowed = max(math.ceil(len(self.ranges) * alpha - 1e-9) - 1, 0)
        return float(self.ranges[len(self.ranges) - 1 - allowed])


def randomised_tukey(
    scores: ArrayLike,
    pairs: tuple[ArrayLike, ArrayLike] | None = None,
    resamples: int = 5000,
    seed: int = 0,
    permuted: ArrayLike | None = None,
) -> Shuffled:
    """Randomised Tukey HSD (Carterette, TOIS 2012; Sakai 2012).

    The runs' scores are shuffled inside every topic; p is how often the best and the worst of all runs then differ at
    least as much as this pair does. `permuted` (matrices x topics x runs) replaces the shuffles by an enumeration.
    """
    matrix = score_matrix(scores, runs=2)
    first, second = chosen_pairs(pairs, matrix.shape[1])
    difference = mean_differences(matrix, (first, second))
    if permuted is None:
        if resamples < 1:
            raise ValueError(f"at least 1 resample is needed, {resamples} asked for")
        rng = np.random.default_rng(seed)
        ranges = np.concatenate(
            [
                _ranges(rng.permuted(np.broadcast_to(matrix, (part.stop - part.start, *matrix.shape)), axis=2))
                for part in blocks(resamples, max(1, _VALUES // matrix.size))
            ]
        )
    else:
        ranges = _ranges(np.asarray(permuted, dtype=np.float64))
    ranges.sort()
    smaller = np.searchsorted(ranges, np.abs(difference) - ZERO, side="left")
    p = (len(ranges) - smaller) / len(ranges)
    constant = spread(matrix, (first, second))[2]
    return Shuffled(first, second, difference, np.abs(difference), p, constant, ranges=ranges)


def _ranges(matrices: Floats) -> Floats:
    means = np.zeros((len(matrices), matrices.shape[2]))
    for topic in range(matrices.shape[1]):
        means += matrices[:, topic]
    means /= matrices.shape[1]
    return np.asarray(means.max(axis=1) - means.min(axis=1))


def classical_tukey(scores: ArrayLike, pairs: tuple[ArrayLike, ArrayLike] | None = None) -> Tested:
    """Classical Tukey HSD on the residual of the two-way ANOVA (runs and topics); at least two topics.

    Where the ANOVA leaves no residual, runs with different means have p = 0 and runs with equal means p = 1.
    """
    matrix = score_matrix(scores, topics=2, runs=2)
    first, second = chosen_pairs(pairs, matrix.shape[1])
    difference = mean_differences(matrix, (first, second))
    analysis = two_way(matrix)
    constant = spread(matrix, (first, second))[2]
    if analysis.ms_error == 0:
        statistic = np.where(difference == 0, 0.0, np.inf)
        return Tested(first, second, difference, statistic, np.where(difference == 0, 1.0, 0.0), constant)
    statistic = np.abs(difference) / math.sqrt(analysis.ms_error / analysis.topics)
    p = range_tail(statistic, analysis.runs, analysis.df_error)
    return Tested(first, second, difference, statistic, p, constant)


def tukey_difference(scores: ArrayLike, alpha: float = 0.05) -> float:
    """The classical test calls two runs different where their means are further apart than this; 0 without residual."""
    check_alpha(alpha)
    analysis = two_way(scores)
    if analysis.ms_error == 0:
        return 0.0
    boundary = range_boundary(alpha, analysis.runs, analysis.df_error)
    return boundary * math.sqrt(analysis.ms_error / analysis.topics)
