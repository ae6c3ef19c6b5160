"""The swap method: how large must a difference be so that another topic set agrees?

Voorhees and Buckley (SIGIR 2002), with the three ways of drawing topic sets of Sakai (2005).

Two topic sets are drawn many times; a run pair swaps when the two sets disagree which run is better. Swap rates are
kept by the size of the difference on the first set, in 21 bins: 0.00-0.01, 0.01-0.02, ..., 0.20 and above.

The paper takes the rate of every bin at its word, so that a handful of swaps in a sparse bin can decide. Here the rule
`sure` allows for chance: larger differences are taken to swap no more often than smaller ones (bins that say otherwise
are pooled), and the required difference is the first whose rate is below the limit with 95 % confidence, by how much
the batches of trials differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unjudged import kernels
from unjudged.statistics.bootstrap import sampled_means
from unjudged.statistics.draws import Sampling, topic_set_pairs
from unjudged.statistics.pairs import Floats, Integers, blocks, each, score_matrix

BINS = 21
WIDTH = 0.01
Rule = Literal["sure", "guarantee", "first"]
SURE = 0.95
"""One-sided confidence that the swap rate is below the limit, where the rule is `sure`."""
BATCHES = 10
"""Parts of the trials whose differences tell how sure a rate is: comparisons within a trial depend on each other."""


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
    """Comparisons and swaps per bin and batch of trials, and the largest mean score of any run on any topic set drawn.

    Several runs of the method are put together by `together`: the maximum performance is then their mean, so that it
    does not grow with the number of trials.
    """

    batch_comparisons: Integers
    batch_swaps: Integers
    max_performance: float

    @classmethod
    def of(cls, comparisons: ArrayLike, swaps: ArrayLike, max_performance: float) -> Swaps:
        """From counts per bin, or per batch and bin."""
        here, there = (np.atleast_2d(np.asarray(counts, dtype=np.int64)) for counts in (comparisons, swaps))
        return cls(here, there, max_performance)

    @classmethod
    def together(cls, parts: Sequence[Swaps]) -> Swaps:
        """Several runs of the method, with other topic sets, as one."""
        return cls(
            np.concatenate([part.batch_comparisons for part in parts]),
            np.concatenate([part.batch_swaps for part in parts]),
            math.fsum(part.max_performance for part in parts) / len(parts),
        )

    @property
    def comparisons(self) -> Integers:
        """Comparisons per bin."""
        return np.asarray(self.batch_comparisons.sum(axis=0))

    @property
    def swaps(self) -> Integers:
        """Swaps per bin."""
        return np.asarray(self.batch_swaps.sum(axis=0))

    @property
    def rate(self) -> Floats:
        """Swap rate per bin; NaN where nothing was compared."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.swaps / self.comparisons)

    @property
    def overall_rate(self) -> float:
        """Swaps over all comparisons."""
        return int(self.swaps.sum()) / int(self.comparisons.sum())

    def highest_rate(self, sure: float = SURE) -> Floats:
        """Per bin, the highest swap rate that is still likely: an upper confidence limit that never grows with the bin.

        Neighbouring bins whose rates grow are pooled (isotonic regression); the limit of a pooled rate is Wilson's,
        with as many independent comparisons as the batches of trials show; and a limit holds for all larger bins, too.
        NaN before the first comparison.
        """
        z = NormalDist().inv_cdf(sure)
        every = self.batch_comparisons.sum(axis=1), self.batch_swaps.sum(axis=1)
        usual = _design_effect(*every, 1.0)
        limit = np.full(len(self.comparisons), np.nan)
        for group in falling(self.comparisons, self.swaps):
            comparisons, swaps = self.batch_comparisons[:, group].sum(axis=1), self.batch_swaps[:, group].sum(axis=1)
            independent = comparisons.sum() / _design_effect(comparisons, swaps, usual)
            limit[group] = _wilson_upper(swaps.sum() / comparisons.sum(), independent, z)
        return np.fmin.accumulate(limit)

    def required(self, confidence: float = 0.95, rule: Rule = "sure") -> Required:
        """The difference that another topic set confirms with this confidence.

        `relative` is that difference over the maximum performance, `share` the part of all comparisons that reach it:
        the sensitivity of the measure. `rule` decides where the swap rate goes up and down: `sure` allows for chance,
        `guarantee` (the paper's) wants every larger bin below the limit, `first` takes the first bin that is.
        """
        if not 0 < confidence <= 1:
            raise ValueError(f"a confidence lies between 0 and 1, not {confidence}")
        most = round(1 - confidence, 12)
        found = required_bin(self.highest_rate() if rule == "sure" else self.rate, most, rule)
        if found is None:
            return Required(confidence, None, math.nan, math.nan, math.nan)
        difference = found / 100
        best = self.max_performance
        relative = difference / best if best > 0 else math.nan
        share = int(self.comparisons[found:].sum()) / int(self.comparisons.sum())
        return Required(confidence, found, difference, relative, share)


def falling(comparisons: ArrayLike, swaps: ArrayLike) -> list[Integers]:
    """Neighbouring bins put together until swap rates fall from group to group (pool adjacent violators).

    Bins without a comparison belong to no group.
    """
    groups: list[tuple[int, int, list[int]]] = []
    for place, (n, k) in enumerate(zip(np.asarray(comparisons).tolist(), np.asarray(swaps).tolist(), strict=True)):
        if not n:
            continue
        groups.append((n, k, [place]))
        while len(groups) > 1 and groups[-2][1] * groups[-1][0] <= groups[-1][1] * groups[-2][0]:
            (n1, k1, before), (n2, k2, after) = groups[-2:]
            groups[-2:] = [(n1 + n2, k1 + k2, before + after)]
    return [np.array(places, dtype=np.int64) for _, _, places in groups]


def _design_effect(comparisons: Integers, swaps: Integers, unknown: float) -> float:
    """How many comparisons count as one independent one: the variance between batches over the binomial one, at least
    1; `unknown` where nothing swaps, or everything, or there is one batch."""
    total, batches = float(comparisons.sum()), len(comparisons)
    rate = float(swaps.sum()) / total
    if batches < 2 or not 0 < rate < 1:
        return unknown
    between = float(((swaps - rate * comparisons) ** 2).sum()) * batches / (batches - 1) / total**2
    return max(1.0, between / (rate * (1 - rate) / total))


def _wilson_upper(rate: float, independent: float, z: float) -> float:
    """Upper end of Wilson's interval of a share."""
    n, square = independent, z * z
    end = (rate + square / (2 * n) + z * math.sqrt(rate * (1 - rate) / n + square / (4 * n * n))) / (1 + square / n)
    return min(1.0, end)


def required_bin(rate: ArrayLike, threshold: float, rule: Rule = "guarantee") -> int | None:
    """Smallest bin that meets the swap-rate threshold; bins without comparisons (NaN) are ignored.

    `guarantee`: every larger bin must meet it, too; `first`: the first one that does, whatever follows. `sure`: the
    first one, too, among upper limits of the rates, which never grow.
    """
    if rule not in ("sure", "guarantee", "first"):
        raise ValueError(f"rule is sure, guarantee or first, not {rule!r}")
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
    logarithms: bool = False,
    jobs: int = 1,
) -> Swaps:
    """The swap method over all run pairs of a topics x runs matrix; `size` topics per set (default: half of them).

    `sets` (two matrices, trials x size) replaces the drawn topic sets, e.g. by draws.every_set_pair(n, c, sampling).
    `logarithms`: the scores are logarithms, and differences are those of geometric means.
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
        if logarithms:
            first, second = np.exp(first), np.exp(second)
        comparisons, swaps = np.zeros(BINS, dtype=np.int64), np.zeros(BINS, dtype=np.int64)
        kernels.swap_count(first, second, comparisons, swaps)
        return comparisons, swaps, float(max(first.max(), second.max()))

    counted = each(count, blocks(len(here), max(1, min(128, -(-len(here) // BATCHES)))), jobs)
    return Swaps.of(
        np.stack([part[0] for part in counted]),
        np.stack([part[1] for part in counted]),
        max(part[2] for part in counted),
    )
