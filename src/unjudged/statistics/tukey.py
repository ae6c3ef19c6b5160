"""Tukey's honestly significant differences: all runs compared at once, with one family-wise error rate.

The tail of the studentised range is computed here for many values at once: scipy's takes milliseconds per value and
minutes for all pairs of a hundred runs; the sums here agree with it to 1e-9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.anova import two_way
from unjudged.statistics.paired import Tested, spread
from unjudged.statistics.pairs import ZERO, Floats, blocks, check_alpha, chosen_pairs, mean_differences, score_matrix
from unjudged.statistics.resampled import resampled_p

_VALUES = 2_000_000  # scores held at a time


@dataclass(frozen=True)
class Shuffled(Tested):
    """The randomised test, with the range of the means of each shuffle, smallest first, and the p value that 0, 1,
    2, ... of these ranges give."""

    ranges: Floats
    levels: Floats

    def required_difference(self, alpha: float = 0.05) -> float:
        """Two runs differ significantly exactly where their means are further apart than this; infinite where so few
        shuffles make no difference significant."""
        allowed = int(np.searchsorted(self.levels, alpha - ZERO)) - 1
        return float(self.ranges[len(self.ranges) - 1 - allowed]) if allowed >= 0 else math.inf


def randomised_tukey(
    scores: ArrayLike,
    pairs: tuple[ArrayLike, ArrayLike] | None = None,
    resamples: int = 5000,
    seed: int = 0,
    permuted: ArrayLike | None = None,
    asl: bool = False,
) -> Shuffled:
    """Randomised Tukey HSD (Carterette, TOIS 2012; Sakai 2012).

    The runs' scores are shuffled inside every topic; p says how often the best and the worst of all runs then differ
    at least as much as this pair does: (1 + b) / (1 + resamples), or b / resamples if `asl` asks for the share of the
    papers. `permuted` (matrices x topics x runs) replaces the shuffles by an enumeration.
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
    levels = resampled_p(np.arange(len(ranges) + 1), len(ranges), listed=permuted is not None, asl=asl)
    p = levels[len(ranges) - smaller]
    constant = spread(matrix, (first, second))[2]
    return Shuffled(first, second, difference, np.abs(difference), p, constant, ranges=ranges, levels=levels)


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


_FAR = 20.0  # no range of standard normal values is wider
_STEP = 0.01  # of the tabulated range distribution


def range_tail(q: ArrayLike, runs: int, df: int) -> Floats:
    """P(range of `runs` normal means / their estimated standard error >= q), with `df` degrees of freedom."""
    from scipy.interpolate import CubicSpline

    if runs < 2 or df < 1:
        raise ValueError(f"at least 2 runs and 1 degree of freedom are needed, not {runs} and {df}")
    values = np.asarray(q, dtype=np.float64)
    scale, chance = _scales(df)
    if values.size * len(scale) < _FAR / _STEP:
        at = np.minimum(values[:, None] * np.exp(scale), _FAR)
        direct = np.exp(_log_normal_range_tail(at.ravel(), runs)).reshape(at.shape)
        return np.asarray(np.clip((direct * chance).sum(axis=1), 0.0, 1.0))
    widest = min(_FAR, float(values.max(initial=0.0)) * float(np.exp(scale[-1]))) + 4 * _STEP
    width = np.arange(0.0, widest + _STEP, _STEP)
    table = np.concatenate([_log_normal_range_tail(width[block], runs) for block in blocks(len(width), 512)])
    log_tail = CubicSpline(width, table)
    tail = np.empty(values.shape)
    for block in blocks(len(values), max(1, 1_000_000 // len(scale))):
        at = np.minimum(values[block, None] * np.exp(scale), widest)
        tail[block] = (np.exp(np.minimum(log_tail(at), 0.0)) * chance).sum(axis=1)
    return np.clip(tail, 0.0, 1.0)


def range_boundary(alpha: float, runs: int, df: int) -> float:
    """The value that a studentised range exceeds with chance alpha."""
    from scipy.optimize import brentq

    check_alpha(alpha)
    high = 4.0
    while range_tail([high], runs, df)[0] > alpha:
        high *= 2
    return float(brentq(lambda q: float(range_tail([q], runs, df)[0]) - alpha, 0.0, high, xtol=1e-12, rtol=1e-12))


def _scales(df: int) -> tuple[Floats, Floats]:
    """Logarithms of the estimated over the true standard deviation, evenly spaced, and the chance of each."""
    deviation = 1 / math.sqrt(2 * df)
    step = min(0.05, deviation / 8)
    low = -max(12 * deviation, 45 / df)
    scale = np.arange(low, max(12 * deviation, 3 * step) + step, step)
    log_density = df * (scale - np.exp(2 * scale) / 2)
    density = np.exp(log_density - log_density.max())
    return scale, density / density.sum()


def _log_normal_range_tail(width: Floats, runs: int) -> Floats:
    """log P(range of `runs` standard normal values > width), summed over the place of the largest one."""
    from scipy.special import ndtr

    step = 0.1  # of the largest value; halving it changes nothing
    z = np.arange(-9.0, 9.0 + step / 2, step)
    below = ndtr(z)
    log_chance = np.log(step * runs / math.sqrt(2 * math.pi)) - z * z / 2 + (runs - 1) * np.log(below)
    ratio = ndtr(z[None, :] - width[:, None]) / below  # another value lies below the window, given below z
    with np.errstate(divide="ignore"):
        outside = -np.expm1((runs - 1) * np.log1p(-np.minimum(ratio, 1.0)))
        tail = (np.exp(log_chance) * outside).sum(axis=1)
        return np.asarray(np.log(np.minimum(tail, 1.0)))
