"""tau_AP: rank correlation that cares most about the top (Yilmaz, Aslam and Robertson, SIGIR 2008).

The first list is the reference, the second the estimate; larger is better in both. With ties use the two versions of
Urbano and Marrero (ICTIR 2017), as in the R package ircor. NaN for fewer than two values or one not finite.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unjudged.statistics.correlation import two_lists
from unjudged.statistics.exact_sums import exact_mean, exact_sum
from unjudged.statistics.pairs import ZERO


def _signs(values: ArrayLike) -> NDArray[np.int8]:
    """Entry (i, j): 1 where j is better than i, -1 where worse, 0 where tied."""
    x = np.asarray(values, dtype=np.float64)
    difference = x[None, :] - x[:, None]
    return np.where(np.abs(difference) < ZERO, 0, np.sign(difference)).astype(np.int8)


def tau_ap(reference: ArrayLike, estimate: ArrayLike) -> float:
    """tau_AP for lists without ties; tied runs of the estimate stand in the order given (larger index below)."""
    if two_lists(reference, estimate) is None:
        return math.nan
    above_in_reference = _signs(reference) > 0
    x = np.asarray(estimate, dtype=np.float64)
    order = np.argsort(-x, kind="stable")
    concordant = np.tril(above_in_reference[np.ix_(order, order)], -1).sum(axis=1)[1:]
    places = np.arange(1, x.size)
    return float(2 * (concordant / places).sum() / (x.size - 1) - 1)


def tau_ap_symmetric(x: ArrayLike, y: ArrayLike) -> float:
    """Mean of tau_AP in both directions: neither list is the reference."""
    return (tau_ap(x, y) + tau_ap(y, x)) / 2


def tau_ap_a(reference: ArrayLike, estimate: ArrayLike) -> float:
    """tau_AP,a: ties in the estimate (the reference has none) count as their average over all orders."""
    if two_lists(reference, estimate) is None:
        return math.nan
    better = _signs(estimate)
    concordant = ((better > 0) & (_signs(reference) > 0)).sum(axis=1)
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
    above = _signs(estimate) > 0
    place = above.sum(axis=1)
    below_someone = place > 0
    if not below_someone.any():
        return math.nan
    concordant = (above & (_signs(reference) > 0)).sum(axis=1)
    return 2 * exact_mean(concordant[below_someone] / place[below_someone]) - 1
