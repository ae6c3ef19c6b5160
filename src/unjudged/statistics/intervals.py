"""Intervals to print: of a run's mean over topics, and of the difference of two runs, for scores between 0 and 1.

Student's interval of a mean is too narrow and too symmetric where scores crowd at an end of the scale: on ten topics it
holds the true mean of RR in 75 to 80 % of cases instead of 95 %, and it may leave the scale. `mean_interval` is
Student's on the scale of log odds, which cannot. Where nearly all topics have the same extreme score, or two runs have
nearly the same scores, no variance can be estimated; then topics are counted. How often these intervals
hold is measured by `benchmarks/error_rates.py`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.distributions import student_limit
from unjudged.statistics.paired import t_interval
from unjudged.statistics.pairs import ZERO, Floats, Integers, check_alpha, chosen_pairs, score_matrix, wins_ties_losses

FEW = 3
"""With fewer topics off the end of the scale (or with a difference) than this, topics are counted."""
_SHRUNK = 0.1
"""Weight, in topics, of the largest variance that a mean allows: a few alike topics do not prove that all are alike."""


def mean_interval(scores: ArrayLike, alpha: float = 0.05, bounded: bool = True) -> tuple[Floats, Floats]:
    """Lower and upper end of the 1 - alpha confidence interval of each run's mean over topics; NaN for one topic.

    Student's t for the log odds of the mean (delta method), with the variance shrunk a little towards its largest
    possible value; where fewer than three topics are off an end of the scale, the interval also reaches as far from
    that end as counting them allows. `bounded=False` is plain Student's t, which is also taken where a score lies
    outside 0 to 1.
    """
    check_alpha(alpha)
    matrix = score_matrix(scores)
    mean, topics = matrix.mean(axis=0), len(matrix)
    if topics == 1:
        return np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    squares = ((matrix - mean) ** 2).sum(axis=0)
    wide = float(student_limit(alpha / 2, topics - 1)) / math.sqrt(topics)
    if not bounded or matrix.min(initial=0.0) < -ZERO or matrix.max(initial=0.0) > 1 + ZERO:
        half = wide * np.sqrt(squares / (topics - 1))
        return mean - half, mean + half
    mean = np.clip(mean, 0.0, 1.0)
    centre = (topics * mean + 0.5) / (topics + 1)
    variance = (squares + _SHRUNK * centre * (1 - centre)) / (topics - 1 + _SHRUNK)
    inside = (mean > ZERO) & (mean < 1 - ZERO)
    spread = np.where(inside, mean * (1 - mean), 1.0)
    odds = np.where(inside, mean / np.where(inside, 1 - mean, 1.0), 1.0)
    with np.errstate(over="ignore"):  # a mean next to an end of the scale: the interval reaches to both ends
        factor = np.exp(wide * np.sqrt(variance) / spread)
    low = np.where(inside, odds / (odds + factor), mean)
    high = np.where(inside, odds / (odds + 1 / factor), mean)
    above, below = (matrix > ZERO).sum(axis=0), (matrix < 1 - ZERO).sum(axis=0)
    low = np.fmin(low, 1 - _counted(below, (1 - mean) * topics, below, topics, alpha))
    return low, np.fmax(high, _counted(above, mean * topics, above, topics, alpha))


def difference_interval(
    scores: ArrayLike,
    pairs: tuple[ArrayLike, ArrayLike] | None = None,
    alpha: float = 0.05,
    bounded: bool = True,
) -> tuple[Floats, Floats]:
    """Lower and upper end of the 1 - alpha confidence interval of each pair's mean difference; NaN for one topic.

    Student's t, the counterpart of the paired t test. Two runs that differ on fewer than three topics leave no variance
    to be estimated: their interval reaches at least as far as counting those topics allows, since runs that tie on ten
    topics may well differ on the next. `bounded=False` (scores may leave 0 to 1) is plain Student's t.
    """
    matrix = score_matrix(scores, runs=2)
    low, high = t_interval(matrix, pairs, alpha)
    topics = len(matrix)
    if topics == 1 or not bounded or matrix.min(initial=0.0) < -ZERO or matrix.max(initial=0.0) > 1 + ZERO:
        return low, high
    wins, ties, losses = wins_ties_losses(matrix, pairs)
    differing = topics - ties
    rare = differing < FEW
    first, second = (side[rare] for side in chosen_pairs(pairs, matrix.shape[1]))
    total = np.abs(matrix[:, first] - matrix[:, second]).sum(axis=0)
    low[rare] = np.fmin(low[rare], -_counted(losses[rare], total, differing[rare], topics, alpha))
    high[rare] = np.fmax(high[rare], _counted(wins[rare], total, differing[rare], topics, alpha))
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


def _counted(seen: Integers, total: Floats, of: Integers, topics: int, alpha: float) -> Floats:
    """The largest mean that rare topics can have: NaN where they are not rare.

    The exact upper bound of their share (Clopper and Pearson 1934; after none on n topics, 1 - alpha^(1/n)) times
    their mean size. Sizes, `total` over `of` topics, count with one more topic of size 1, the most there is.
    """
    from scipy.special import betaincinv

    rare = of < FEW
    share = betaincinv(seen + 1.0, np.maximum(topics - seen, 1).astype(np.float64), 1 - alpha)
    share = np.where(seen < topics, share, 1.0)
    return np.where(rare, share * (total + 1) / (of + 1), np.nan)
