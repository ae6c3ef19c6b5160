"""How wrong estimated scores are: MAE, SRE, SRE* and tau, as the correction experiment counts them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats
from unjudged.statistics.correlation import tau_b
from unjudged.statistics.errors_of import mean_absolute_error, rank_error, reinserted_ranks
from unjudged.statistics.pairs import ZERO

TESTS = ("tukey", "t")
"""Which true differences count as significant: Tukey HSD over all runs, or the paired t test of each pair."""


@dataclass(frozen=True)
class Errors:
    """MAE: mean |true - estimate|. SRE: places runs move. SRE*: significantly different runs passed. tau_b of both."""

    mae: float
    sre: int
    sre_star: int | None
    tau: float


def errors(runs: Sequence[str], true: Floats, estimate: Floats, different: npt.NDArray[np.bool_] | None) -> Errors:
    """The errors of estimates. `different`: runs x runs, the significant true differences, where known."""
    passed = strictly_passed(runs, true, estimate)
    sre_star = None if different is None else int((passed & different).sum())
    return Errors(mean_absolute_error(true, estimate), rank_error(true, estimate), sre_star, tau_b(true, estimate))


def strictly_passed(runs: Sequence[str], true: Floats, estimate: Floats) -> npt.NDArray[np.bool_]:
    """Runs x runs: which others a run passes when its estimate replaces its true score.

    The others stand in one strict order: by true score, at equal scores the later name first.
    """
    old, new = reinserted_ranks(true, estimate)
    order = sorted(range(len(runs)), key=lambda r: runs[r], reverse=True)
    order.sort(key=lambda r: -true[r])
    rank = np.empty(len(runs), np.int64)
    rank[order] = np.arange(1, len(runs) + 1)
    up = (new[:, None] <= rank) & (rank < old[:, None])
    down = (old[:, None] < rank) & (rank <= new[:, None])
    passed = up | down
    np.fill_diagonal(passed, False)
    return passed


def significant(per_topic: Floats, test: str, alpha: float) -> npt.NDArray[np.bool_] | None:
    """Runs x runs: which differ significantly in their true scores (topics x runs); None where it cannot be told."""
    if per_topic.shape[0] < 2 or per_topic.shape[1] < 2:
        return None
    if test == "tukey":
        from unjudged.statistics.tukey import tukey_difference

        means = per_topic.mean(axis=0)
        return np.asarray(np.abs(means[:, None] - means) > tukey_difference(per_topic, alpha) + ZERO, bool)
    from unjudged.statistics.paired import t_test

    tested = t_test(per_topic)
    found = np.zeros((per_topic.shape[1],) * 2, bool)
    found[tested.first, tested.second] = found[tested.second, tested.first] = tested.significant(alpha)
    return found


def printed(value: float, places: int = 4) -> str:
    """A number as the paper prints it: rounded half up."""
    step = 10**places
    return f"{math.floor(value * step + 0.5 + 1e-9) / step:.{places}f}"
