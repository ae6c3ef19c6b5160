"""Ranks of runs by score, and how they change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.pairs import ZERO, Floats, Integers


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


@dataclass(frozen=True)
class RankChanges:
    """Per run: rank before and after, places won (positive) or lost, and the change of its score."""

    before: Integers
    after: Integers
    places: Integers
    change: Floats

    @property
    def moved(self) -> int:
        """How many runs changed their rank."""
        return int(np.count_nonzero(self.places))


def rank_changes(before: ArrayLike, after: ArrayLike) -> RankChanges:
    """What happens to the ranking when the scores `before` become the scores `after`."""
    x, y = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"two lists of one length are needed, not {x.shape} and {y.shape}")
    old, new = ranks(x), ranks(y)
    return RankChanges(old, new, old - new, y - x)
