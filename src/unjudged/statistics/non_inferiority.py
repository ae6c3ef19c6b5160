"""Is a run surely not worse than another by a margin, or surely worse? One-sided t tests of per-topic differences."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.pairs import ZERO, check_alpha

POWER = 0.8
"""Chance with which the smallest detectable margin would be detected."""


@dataclass(frozen=True)
class NonInferiority:
    """The mean difference, its one-sided bounds, the two p values, and the margin these topics can detect.

    `low` is missed (the true difference is lower) with chance alpha, and so is `high`. `p_not_worse` is small where a
    loss of the margin or more can be ruled out, `p_worse` where a loss of less than the margin can. `detectable` is the
    smallest margin that such topics would rule out for an equal run with chance POWER. NaN on one topic.
    """

    difference: float
    low: float
    high: float
    p_not_worse: float
    p_worse: float
    detectable: float


def non_inferiority(differences: ArrayLike, margin: float, alpha: float = 0.05) -> NonInferiority:
    """Test per-topic differences (new minus old) against a loss of `margin`.

    A pass at p_not_worse < alpha lets a run through that is worse by the margin or more with chance alpha at most.
    """
    from scipy.stats import t as student

    check_alpha(alpha)
    z = np.asarray(differences, dtype=np.float64)
    topics, mean = len(z), float(z.mean())
    if topics < 2:
        return NonInferiority(mean, *[math.nan] * 5)
    if np.ptp(z) < ZERO:
        p = 0.5 if abs(mean + margin) < ZERO else float(mean < -margin)
        return NonInferiority(mean, mean, mean, p, 1 - p, 0.0)
    error = float(z.std(ddof=1)) / math.sqrt(topics)
    half = float(student.isf(alpha, topics - 1)) * error
    p = float(student.sf((mean + margin) / error, topics - 1))
    return NonInferiority(mean, mean - half, mean + half, p, 1 - p, detectable_margin(topics, error, alpha))


def detectable_margin(topics: int, error: float, alpha: float = 0.05, power: float = POWER) -> float:
    """The smallest margin that a run without any loss passes with chance `power`; `error` is that of the mean."""
    return _errors_away(topics, alpha, power) * error


@functools.cache
def _errors_away(topics: int, alpha: float, power: float) -> float:
    """The detectable margin in standard errors."""
    from scipy.optimize import brentq
    from scipy.stats import nct
    from scipy.stats import t as student

    bound = float(student.isf(alpha, topics - 1))
    return float(brentq(lambda d: float(nct.sf(bound, topics - 1, d)) - power, 0.0, 10 * bound + 10))
