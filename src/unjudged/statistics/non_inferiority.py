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


def non_inferiority(differences: ArrayLike, margin: float, alpha: float = 0.05, besides: float = 0.0) -> NonInferiority:
    """Test per-topic differences (new minus old) against a loss of `margin`.

    A pass at p_not_worse < alpha lets a run through that is worse by the margin or more with chance alpha at most.
    `besides` is a variance of the mean that does not come from the topics (of estimated holes): it is added to theirs.
    """
    from scipy.stats import t as student

    check_alpha(alpha)
    z = np.asarray(differences, dtype=np.float64)
    topics, mean = len(z), float(z.mean())
    if topics < 2:
        return NonInferiority(mean, *[math.nan] * 5)
    if np.ptp(z) < ZERO and not besides:
        p = 0.5 if abs(mean + margin) < ZERO else float(mean < -margin)
        return NonInferiority(mean, mean, mean, p, 1 - p, 0.0)
    error = math.sqrt(float(z.var(ddof=1)) / topics + besides)
    half = float(student.isf(alpha, topics - 1)) * error
    p = float(student.sf((mean + margin) / error, topics - 1))
    return NonInferiority(mean, mean - half, mean + half, p, 1 - p, detectable_margin(topics, error, alpha))


def rare_differences(gains: int, losses: int, topics: int, margin: float, alpha: float = 0.05) -> NonInferiority:
    """The same from counts alone, for two runs that differ on so few topics that no t test is possible.

    A topic is lost by 1 at most (scores between 0 and 1), so that the share of topics lost bounds the loss. Exact
    binomial bounds of that share (Clopper and Pearson 1934): after no loss on n topics it is 1 - alpha^(1/n), about
    3 / n. Such counts never show that a run is worse. `difference` is NaN: it is not a matter of counts.
    """
    from scipy.stats import beta, binom

    check_alpha(alpha)
    lost, gained = (float(beta.isf(alpha, n + 1, topics - n)) if n < topics else 1.0 for n in (losses, gains))
    p = float(binom.cdf(losses, topics, min(margin, 1.0))) if margin > 0 else 1.0
    return NonInferiority(math.nan, -lost, gained, p, 1.0, lost)


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
