"""Ranks of runs by score."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.pairs import ZERO, Integers


def ranks(scores: ArrayLike) -> Integers:
    """Rank of every run: 1 + the number of runs with a strictly larger score (by more than 1e-12)."""
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim != 1:
        raise ValueError(f"expected one score per run, not an array of {x.ndim} dimensions")
    if not np.isfinite(x).all():
        raise ValueError("a score is missing or not finite")
    return np.asarray(1 + (x[None, :] - x[:, None] >= ZERO).sum(axis=1), dtype=np.int64)


def ranks_when_replaced(scores: ArrayLike, replacements: ArrayLike) -> Integers:
    """Per run: its rank when its replacement alone stands among the scores of the others."""
    x, y = np.asarray(scores, dtype=np.float64), np.asarray(replacements, dtype=np.float64)
    larger = x[None, :] - y[:, None] >= ZERO
    np.fill_diagonal(larger, False)
    return np.asarray(1 + larger.sum(axis=1), dtype=np.int64)
