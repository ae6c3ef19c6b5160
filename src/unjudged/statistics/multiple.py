"""p values adjusted for the number of tests made: Bonferroni, Holm, Benjamini-Hochberg.

A missing p value (NaN) stays missing and counts as no test.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.pairs import Floats


def _over_tests(p_values: ArrayLike, adjust: Callable[[Floats], Floats]) -> Floats:
    p = np.asarray(p_values, dtype=np.float64)
    there = ~np.isnan(p)
    if ((p[there] < 0) | (p[there] > 1)).any():
        raise ValueError("p values lie between 0 and 1")
    adjusted = np.full(p.shape, np.nan)
    adjusted[there] = np.minimum(adjust(p[there]), 1.0)
    return adjusted


def bonferroni(p_values: ArrayLike) -> Floats:
    """Each p value times the number of tests: the chance of any false alarm stays below alpha."""
    return _over_tests(p_values, lambda p: p * len(p))


def holm(p_values: ArrayLike) -> Floats:
    """Holm's step-down version of Bonferroni: the same guarantee, and at least as many differences found."""

    def adjust(p: Floats) -> Floats:
        order = np.argsort(p, kind="stable")
        stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
        adjusted = np.empty(len(p))
        adjusted[order] = stepped
        return adjusted

    return _over_tests(p_values, adjust)


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Controls the expected share of false alarms among the differences called significant."""

    def adjust(p: Floats) -> Floats:
        order = np.argsort(p, kind="stable")[::-1]
        stepped = np.minimum.accumulate(p[order] * (len(p) / np.arange(len(p), 0, -1)))
        adjusted = np.empty(len(p))
        adjusted[order] = stepped
        return adjusted

    return _over_tests(p_values, adjust)


def unadjusted(p_values: ArrayLike) -> Floats:
    """The p values as they are."""
    return _over_tests(p_values, lambda p: p)


CORRECTIONS: dict[str, Callable[[ArrayLike], Floats]] = {
    "none": unadjusted,
    "bonferroni": bonferroni,
    "holm": holm,
    "bh": benjamini_hochberg,
}
"""The corrections by the names used on the command line."""
