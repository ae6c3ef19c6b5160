"""How far estimated scores are from the true ones: MAE, SRE and SRE* (Lipani et al., SIGIR 2015)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unjudged.statistics.exact_sums import exact_mean
from unjudged.statistics.pairs import ZERO, Floats, Integers


def _both(true: ArrayLike, estimated: ArrayLike) -> tuple[Floats, Floats]:
    s, e = np.asarray(true, dtype=np.float64), np.asarray(estimated, dtype=np.float64)
    if s.shape != e.shape:
        raise ValueError(f"true and estimated scores must have one shape, not {s.shape} and {e.shape}")
    if not s.size:
        raise ValueError("at least 1 run is needed")
    if not (np.isfinite(s).all() and np.isfinite(e).all()):
        raise ValueError("a score is missing or not finite")
    return s, e


def mean_absolute_error(true: ArrayLike, estimated: ArrayLike) -> float:
    """MAE: mean |true - estimated|, over runs; given topics x runs matrices, over topics first, then over runs."""
    s, e = _both(true, estimated)
    return exact_mean(np.abs(s - e))


def reinserted_ranks(true: ArrayLike, estimated: ArrayLike) -> tuple[Integers, Integers]:
    """Per run: its true rank, and its rank when its estimate alone stands among the others' true scores."""
    s, e = _both(true, estimated)
    if s.ndim != 1:
        raise ValueError(f"expected one score per run, not an array of {s.ndim} dimensions")
    better_than_true = s[None, :] - s[:, None] >= ZERO
    better_than_estimate = s[None, :] - e[:, None] >= ZERO
    np.fill_diagonal(better_than_estimate, False)
    return 1 + better_than_true.sum(axis=1), 1 + better_than_estimate.sum(axis=1)


def rank_error(true: ArrayLike, estimated: ArrayLike) -> int:
    """SRE: sum over runs of the places each moves when its score alone is replaced by the estimate."""
    old, new = reinserted_ranks(true, estimated)
    return int(np.abs(old - new).sum())


def passed_runs(true: ArrayLike, estimated: ArrayLike) -> NDArray[np.bool_]:
    """Entry (k, j): run k, moving from its true rank to that of its estimate, passes run j."""
    old, new = reinserted_ranks(true, estimated)
    rank = old[None, :]
    down = (rank > old[:, None]) & (rank <= new[:, None])
    up = (rank >= new[:, None]) & (rank < old[:, None])
    passed = up | down
    np.fill_diagonal(passed, False)
    return passed


def significant_rank_error(true: ArrayLike, estimated: ArrayLike, different: ArrayLike) -> int:
    """SRE*: runs passed that are significantly different from the moving one.

    `different` is a runs x runs matrix of truth values (Tukey's HSD on the true scores in the paper, the paired t test
    in its authors' program).
    """
    passed = passed_runs(true, estimated)
    significant = np.asarray(different, dtype=np.bool_)
    if significant.shape != passed.shape:
        raise ValueError(f"a {passed.shape} matrix of significant pairs is needed, not {significant.shape}")
    return int((passed & significant).sum())
