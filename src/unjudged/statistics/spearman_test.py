"""The p value of Spearman's correlation: all orders counted for a few points, Student's t for more."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.correlation import correlation_p_value, spearman
from unjudged.statistics.pairs import ZERO

EXACT_UP_TO = 8
"""So many points have at most 40,320 orders; with so few the t distribution calls any perfect order certain."""


def spearman_p_value(x: ArrayLike, y: ArrayLike) -> float:
    """Two-sided p value: how often another order of `y` correlates with `x` at least as much; NaN where undefined."""
    rho = spearman(x, y)
    if not math.isfinite(rho):
        return math.nan
    values = np.asarray(y, np.float64)
    if len(values) > EXACT_UP_TO:
        return float(correlation_p_value(rho, len(values)))
    from scipy.stats import rankdata

    first, second = rankdata(np.asarray(x, np.float64)), rankdata(values)
    products = [float(first @ np.array(order)) for order in itertools.permutations(second.tolist())]
    middle = float(first.sum() * second.sum() / len(first))
    there = abs(float(first @ second) - middle)
    return float(np.mean(np.abs(np.array(products) - middle) >= there - ZERO))
