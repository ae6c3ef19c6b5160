"""How far estimated scores are from the true ones: MAE, SRE and SRE* (Lipani et al., SIGIR 2015)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unjudged.statistics.pairs import Floats, exact_mean
from unjudged.statistics.ranks import ranks, ranks_when_replaced


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


def rank_error(true: ArrayLike, estimated: ArrayLike) -> int:
    """SRE: sum over runs of the places each moves when its score alone is replaced by the estimate."""
    s, e = _both(true, estimated)
    return int(np.abs(ranks(s) - ranks_when_replaced(s, e)).sum())


def passed_runs(true: ArrayLike, estimated: ArrayLike, names: Sequence[str] | None = None) -> NDArray[np.bool_]:
    """Entry (k, j): run k, moving from its true rank to that of its estimate, passes run j.

    The runs that may be passed stand in one strict order: by true score; at equal scores the name that comes later in
    the alphabet (without names, the later run) first, as in the paper's experiment.
    """
    s, e = _both(true, estimated)
    old, new = ranks(s), ranks_when_replaced(s, e)
    order = sorted(range(len(s)), key=range(len(s)).__getitem__ if names is None else names.__getitem__, reverse=True)
    order.sort(key=lambda r: -s[r])
    place = np.empty(len(s), np.int64)
    place[order] = np.arange(1, len(s) + 1)
    down = (place > old[:, None]) & (place <= new[:, None])
    up = (place >= new[:, None]) & (place < old[:, None])
    passed = up | down
    np.fill_diagonal(passed, False)
    return passed


def significant_rank_error(
    true: ArrayLike, estimated: ArrayLike, different: ArrayLike, names: Sequence[str] | None = None
) -> int:
    """SRE*: runs passed that are significantly different from the moving one.

    `different` is a runs x runs matrix of truth values (Tukey's HSD on the true scores in the paper, the paired t test
    in its authors' program); `names` decide among equal scores.
    """
    passed = passed_runs(true, estimated, names)
    significant = np.asarray(different, dtype=np.bool_)
    if significant.shape != passed.shape:
        raise ValueError(f"a {passed.shape} matrix of significant pairs is needed, not {significant.shape}")
    return int((passed & significant).sum())
