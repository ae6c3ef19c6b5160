"""The swap method: how large must a difference be so that another topic set agrees?

Voorhees and Buckley (SIGIR 2002), with the three ways of drawing topic sets of Sakai (2005).

Two topic sets are drawn many times; a run pair swaps when the two sets disagree which run is better. Swap rates are
kept by the size of the difference on the first set, in 21 bins: 0.00-0.01, 0.01-0.02, ..., 0.20 and above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unjudged import kernels
from unjudged.statistics.bootstrap import sampled_means
from unjudged.statistics.draws import Sampling, topic_set_pairs
from unjudged.statistics.pairs import Floats, Integers, blocks, each, score_matrix

BINS = 21
WIDTH = 0.01
Rule = Literal["guarantee", "first"]


@dataclass(frozen=True)
class Required:
    """What a confidence level asks for: None and NaN where no bin reaches it."""

    confidence: float
    bin: int | None
    difference: float
    relative: float
    share: float


@dataclass(frozen=True)
class Swaps:
    """Comparisons and swaps per bin, and the largest mean score of any run on any topic set drawn."""

    comparisons: Integers
    swaps: Integers
    max_performance: float

    @property
    def rate(self) -> Floats:
        """Swap rate per bin; NaN where nothing was compared."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.swaps / self.comparisons)

    @property
    def overall_rate(self) -> float:
        """Swaps over all comparisons."""
        return int(self.swaps.sum()) / int(self.comparisons.sum())

    def required(self, confidence: float = 0.95, rule: Rule = "guarantee") -> Required:
        """The difference that another topic set confirms with this confidence.

        `relative` is that difference over the maximum performance, `share` the part of all comparisons that reach it:
        the sensitivity of the measure.
        """
        if not 0 < confidence <= 1:
            raise ValueError(f"a confidence lies between 0 and 1, not {confidence}")
        found = required_bin(self.rate, round(1 - confidence, 12), rule)
        if found is None:
            return Required(confidence, None, math.nan, math.nan, math.nan)
        difference = found / 100
        best = self.max_performance
        relative = difference / best if best > 0 else math.nan
        share = int(self.comparisons[found:].sum()) / int(self.comparisons.sum())
        return Required(confidence, found, difference, relative, share)


def required_bin(rate: ArrayLike, threshold: float, rule: Rule = "guarantee") -> int | None:
    """Smallest bin that meets the swap-rate threshold; bins without comparisons (NaN) are ignored.

    `guarantee`: every larger bin must meet it, too; `first`: the first one that does, whatever follows.
    """
    if rule not in ("guarantee", "first"):
        raise ValueError(f"rule is guarantee or first, not {rule!r}")
    rates = np.array([math.nan if r is None else r for r in np.asarray(rate, dtype=object).tolist()], dtype=np.float64)
    filled = np.flatnonzero(~np.isnan(rates))
    meets = rates[filled] <= threshold + 1e-12
    if rule == "guarantee":
        meets = np.logical_and.accumulate(meets[::-1])[::-1]
    good = filled[meets]
    return int(good[0]) if len(good) else None


def swap(
    scores: ArrayLike,
    *,
    sampling: Sampling = "disjoint",
    size: int | None = None,
    trials: int = 1000,
    seed: int = 0,
    sets: tuple[ArrayLike, ArrayLike] | None = None,
    jobs: int = 1,
) -> Swaps:
    """The swap method over all run pairs of a topics x runs matrix; `size` topics per set (default: half of them).

    `sets` (two matrices, trials x size) replaces the drawn topic sets, e.g. by draws.every_set_pair(n, c, sampling).
    """
    matrix = score_matrix(scores, runs=2)
    topics = len(matrix)
    if sets is None:
        if size is None and topics < 2:
            raise ValueError(f"at least 2 topics are needed, {topics} given")
        sets = topic_set_pairs(topics, topics // 2 if size is None else size, trials, sampling, seed)
    here, there = (np.asarray(side) for side in sets)
    if here.ndim != 2 or here.shape != there.shape or not here.size:
        raise ValueError("topic sets must be two matrices of one shape, a trial per row")

    def count(trial: slice) -> tuple[Integers, Integers, float]:
        first, second = sampled_means(matrix, here[trial]), sampled_means(matrix, there[trial])
        comparisons, swaps = np.zeros(BINS, dtype=np.int64), np.zeros(BINS, dtype=np.int64)
        kernels.swap_count(first, second, comparisons, swaps)
        return comparisons, swaps, float(max(first.max(), second.max()))

    counted = each(count, blocks(len(here), 128), jobs)
    return Swaps(
        np.sum([part[0] for part in counted], axis=0),
        np.sum([part[1] for part in counted], axis=0),
        max(part[2] for part in counted),
    )
