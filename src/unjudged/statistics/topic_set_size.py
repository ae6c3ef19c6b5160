"""How many topics are needed (Sakai's topic set size design), with exact noncentral distributions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

_MOST = 10**9


def t_test_power(topics: int, minimum_difference: float, variance: float, alpha: float = 0.05) -> float:
    """Chance that a paired t test finds a true mean difference; `variance` is that of the per-topic differences."""
    from scipy.stats import nct
    from scipy.stats import t as student

    shift = math.sqrt(topics) * minimum_difference / math.sqrt(variance)
    critical = float(student.isf(alpha / 2, topics - 1))
    with np.errstate(divide="ignore"):  # SciPy before 1.14 warns at two topics, of a right value
        return float(nct.sf(critical, topics - 1, shift) + nct.cdf(-critical, topics - 1, shift))


def anova_power(topics: int, runs: int, minimum_range: float, variance: float, alpha: float = 0.05) -> float:
    """Chance that a one-way ANOVA notices that the best and the worst of the runs differ by `minimum_range`.

    The other runs lie halfway, the least favourable case.
    """
    from scipy.stats import f as fisher
    from scipy.stats import ncf

    between, within = runs - 1, runs * (topics - 1)
    critical = float(fisher.isf(alpha, between, within))
    return float(ncf.sf(critical, between, within, topics * minimum_range**2 / (2 * variance)))


def interval_width(topics: int, variance: float, alpha: float = 0.05) -> float:
    """Expected full width of the 1 - alpha confidence interval of a mean paired difference."""
    from scipy.stats import t as student

    bias = math.sqrt(2 / (topics - 1)) * math.exp(math.lgamma(topics / 2) - math.lgamma((topics - 1) / 2))
    return 2 * float(student.isf(alpha / 2, topics - 1)) * math.sqrt(variance / topics) * bias


def topics_for_t_test(minimum_difference: float, variance: float, alpha: float = 0.05, beta: float = 0.2) -> int:
    """Fewest topics at which a paired t test finds the difference with power 1 - beta."""
    _check(minimum_difference, variance, alpha, beta)
    return _fewest(lambda n: t_test_power(n, minimum_difference, variance, alpha) >= 1 - beta)


def topics_for_anova(runs: int, minimum_range: float, variance: float, alpha: float = 0.05, beta: float = 0.2) -> int:
    """Fewest topics at which a one-way ANOVA over this many runs notices the range with power 1 - beta."""
    _check(minimum_range, variance, alpha, beta)
    if runs < 2:
        raise ValueError(f"at least 2 runs are needed, {runs} given")
    return _fewest(lambda n: anova_power(n, runs, minimum_range, variance, alpha) >= 1 - beta)


def topics_for_interval(width: float, variance: float, alpha: float = 0.05) -> int:
    """Fewest topics at which the confidence interval of a paired difference is expected to be this narrow."""
    _check(width, variance, alpha, 0.5)
    return _fewest(lambda n: interval_width(n, variance, alpha) <= width)


def _check(size: float, variance: float, alpha: float, beta: float) -> None:
    if not (size > 0 and variance > 0):
        raise ValueError("the difference (or width) and the variance must be positive")
    if not (0 < alpha < 1 and 0 < beta < 1):
        raise ValueError("alpha and beta must lie between 0 and 1")


def _fewest(enough: Callable[[int], bool]) -> int:
    """Smallest number of topics, from 2 on, that is enough (any larger number then is, too)."""
    high = 2
    while not enough(high):
        high *= 2
        if high > _MOST:
            raise ValueError(f"more than {_MOST} topics would be needed")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if middle >= 2 and enough(middle):
            high = middle
        else:
            low = middle
    return max(high, 2)
