"""Rank correlation of two lists of scores."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

_ZERO = 1e-12  # smaller differences are ties


def _pair_signs(values: ArrayLike) -> NDArray[np.int8]:
    """Sign of the difference of every pair i < j: 1, 0 (tied) or -1."""
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1:
        raise ValueError(f"expected one value per run, not an array of {x.ndim} dimensions")
    i, j = np.triu_indices(len(x), 1)
    difference = x[i] - x[j]
    return np.where(np.abs(difference) < _ZERO, 0, np.sign(difference)).astype(np.int8)


def _signs(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[np.int8], NDArray[np.int8]] | None:
    """Pair signs of both lists; nothing where tau cannot be defined (a NaN, or fewer than two values)."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"two lists of one length are needed, not {a.shape} and {b.shape}")
    if a.size < 2 or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    return _pair_signs(a), _pair_signs(b)


def tau_a(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau_a: (concordant - discordant pairs) / all pairs; tied pairs count as neither.

    NaN for fewer than two values or where a value is not finite.
    """
    signs = _signs(x, y)
    if signs is None:
        return math.nan
    return float(np.sum(signs[0] * signs[1], dtype=np.int64)) / len(signs[0])


def tau_b(x: ArrayLike, y: ArrayLike) -> float:
    """Kendall's tau_b, corrected for ties: equal to tau_a without ties, NaN where one list is all tied."""
    signs = _signs(x, y)
    if signs is None:
        return math.nan
    untied_x, untied_y = int(np.count_nonzero(signs[0])), int(np.count_nonzero(signs[1]))
    if not untied_x or not untied_y:
        return math.nan
    concordance = float(np.sum(signs[0] * signs[1], dtype=np.int64))
    return concordance / math.sqrt(untied_x * untied_y)
