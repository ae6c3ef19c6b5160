"""Tukey's test where runs lack topics: the Tukey-Kramer form, each run's mean over its own topics.

The residual is that of the additive model (runs and topics) fitted to the scores there are; two means differ where they
are further apart than q * sqrt(residual / 2 * (1 / topics of one + 1 / topics of the other)) (Kramer, Biometrics 1956).
With every score there it is the classical test (`tukey.tukey_difference`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from unjudged.statistics.pairs import ZERO, Floats, check_alpha
from unjudged.statistics.tukey import range_boundary


def different_means(scores: ArrayLike, alpha: float = 0.05, means: ArrayLike | None = None) -> npt.NDArray[np.bool_]:
    """Runs x runs: whose means differ significantly. `scores` are topics x runs, NaN where a run lacks a topic.

    `means` replace the means of the scores, where they are averaged otherwise. Without a residual, means that differ at
    all differ significantly.
    """
    check_alpha(alpha)
    matrix = np.asarray(scores, np.float64)
    there = ~np.isnan(matrix)
    counts = there.sum(axis=0)
    if (counts == 0).any():
        raise ValueError("every run needs a score on at least one topic")
    own = np.nansum(matrix, axis=0) / counts if means is None else np.asarray(means, np.float64)
    residual, freedom = _residual(matrix, there)
    apart = np.abs(own[:, None] - own)
    if freedom < 1 or residual < ZERO:
        return np.asarray(apart > ZERO, bool)
    boundary = range_boundary(alpha, matrix.shape[1], freedom)
    error = np.sqrt(residual / 2 * (1 / counts[:, None] + 1 / counts))
    return np.asarray(apart > boundary * error + ZERO, bool)


def _residual(matrix: Floats, there: npt.NDArray[np.bool_]) -> tuple[float, int]:
    """Mean square of what an additive model of topics and runs leaves, and its degrees of freedom."""
    topics = matrix.shape[0]
    values = np.where(there, matrix, 0.0)
    both = there.astype(np.float64)
    normal = np.block([[np.diag(both.sum(axis=1)), both], [both.T, np.diag(both.sum(axis=0))]])
    sums = np.concatenate([values.sum(axis=1), values.sum(axis=0)])
    fitted, _, rank, _ = np.linalg.lstsq(normal, sums, rcond=None)
    left = np.where(there, matrix - fitted[:topics, None] - fitted[None, topics:], 0.0)
    freedom = int(there.sum()) - int(rank)
    return float((left**2).sum() / max(freedom, 1)), freedom
