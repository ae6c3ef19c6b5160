"""Paired bootstrap test and discriminative power (Sakai, SIGIR 2006).

Would a difference like this appear if the two runs were equally good? The per-topic differences are shifted to mean
zero and resampled over topics; the test statistic is studentised, i.e. every resample is measured by its own spread.
The resampled topics are the same for all run pairs and all measures of one seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unjudged import kernels
from unjudged.statistics.draws import resample_counts, topic_counts, topic_resamples
from unjudged.statistics.paired import Tested, spread, t_statistics
from unjudged.statistics.pairs import (
    ZERO,
    Floats,
    blocks,
    check_alpha,
    chosen_pairs,
    each,
    mean_differences,
    score_matrix,
)
from unjudged.statistics.resampled import resampled_p

_BLOCK = 512  # pairs per piece of work


@dataclass(frozen=True)
class Bootstrapped(Tested):
    """The statistic is t.

    `required` is, per pair, the mean difference of the resample at the alpha boundary; NaN where the runs are identical
    or differ by a constant (and, where only the largest was asked for, where a pair needs less).
    """

    required: Floats
    resamples: int

    @property
    def required_difference(self) -> float:
        """Estimated difference required for significance: the largest over all pairs; NaN without any."""
        there = self.required[~np.isnan(self.required)]
        return float(there.max()) if len(there) else math.nan


def bootstrap(
    scores: ArrayLike,
    pairs: tuple[ArrayLike, ArrayLike] | None = None,
    *,
    resamples: int = 1000,
    alpha: float = 0.05,
    seed: int = 0,
    draws: ArrayLike | None = None,
    jobs: int = 1,
    asl: bool = False,
    every: bool = True,
) -> Bootstrapped:
    """Studentised paired bootstrap, two-sided, of all run pairs (or the given ones) of a topics x runs matrix.

    p is (1 + b) / (1 + resamples), b being the resamples whose |t| is at least the observed one; `asl` asks for the
    achieved significance level of Sakai (2006), b / resamples, which may be 0. Identical runs: 1. The same difference
    on every topic: as small as it can be, marked constant. `draws` (rows of topics, e.g. draws.every_resample(n))
    replaces random resamples and is taken as the list of all, so that p is their share. `every=False`: the difference
    required is computed only for pairs that may need the largest one, which is what most callers ask for.
    """
    check_alpha(alpha)
    matrix = score_matrix(scores, runs=2)
    topics = len(matrix)
    first, second = chosen_pairs(pairs, matrix.shape[1])
    counts = resample_counts(topics, resamples, seed) if draws is None else topic_counts(draws, topics)
    if (counts.sum(axis=0, dtype=np.int64) != topics).any():
        raise ValueError(f"a bootstrap resample holds as many topics as there are: {topics}")
    drawn = counts.shape[1]
    position = min(max(math.ceil(drawn * alpha - 1e-9), 1), drawn)
    difference = mean_differences(matrix, (first, second))
    deviation, same, constant = spread(matrix, (first, second))
    statistic = t_statistics(difference, deviation, topics, same, constant)
    ordinary = np.flatnonzero(~same & ~constant)
    bound = np.maximum(np.abs(statistic[ordinary]) - ZERO, 0.0) ** 2
    reach = topics * bound / (topics - 1 + bound)
    exceeding = np.full(len(first), drawn, dtype=np.int64)
    exceeding[constant] = 0
    required = np.full(len(first), np.nan)

    sums = np.empty((drawn, matrix.shape[1]))
    kernels.weighted_sums(np.ascontiguousarray(counts.T, dtype=np.float64), matrix, sums)
    sums = np.ascontiguousarray(sums.T)
    largest = float(np.abs(matrix).max())

    def count(block: slice) -> None:
        chosen = ordinary[block]
        one, other = (np.ascontiguousarray(side[chosen], np.int64) for side in (first, second))
        z = matrix[:, one] - matrix[:, other]
        mean = z.mean(axis=0)
        centred = np.ascontiguousarray((z - mean).T)
        here, wanted = np.zeros(len(chosen), dtype=np.int64), np.zeros(len(chosen))
        above = -1.0 if every else float(np.nanmax(required, initial=0.0))
        near = sums, one, other, topics * mean, largest, above
        kernels.bootstrap_count(centred, reach[block], counts, position, here, wanted, *near)
        exceeding[chosen], required[chosen] = here, wanted

    each(count, blocks(len(ordinary), _BLOCK), jobs)
    p = resampled_p(exceeding, drawn, listed=draws is not None, asl=asl)
    return Bootstrapped(first, second, difference, statistic, p, constant, required=required, resamples=drawn)


def bootstrap_interval(
    scores: ArrayLike,
    pairs: tuple[ArrayLike, ArrayLike] | None = None,
    *,
    alpha: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
    draws: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Percentile interval of each pair's mean difference: the middle 1 - alpha of its resampled values."""
    check_alpha(alpha)
    matrix = score_matrix(scores, runs=2)
    first, second = chosen_pairs(pairs, matrix.shape[1])
    index = topic_resamples(len(matrix), resamples, seed) if draws is None else np.asarray(draws)
    means = sampled_means(matrix, index)
    low, high = np.empty(len(first)), np.empty(len(first))
    for block in blocks(len(first), max(1, 2_000_000 // len(means))):
        difference = means[:, first[block]] - means[:, second[block]]
        low[block], high[block] = np.quantile(difference, [alpha / 2, 1 - alpha / 2], axis=0)
    return low, high


def sampled_means(scores: ArrayLike, samples: ArrayLike) -> Floats:
    """Mean score of every run (column) over every sample of topics (row), summed over topics in order."""
    matrix = score_matrix(scores)
    counts = topic_counts(samples, len(matrix))
    size = np.asarray(samples).shape[1]
    means = np.empty((counts.shape[1], matrix.shape[1]))
    kernels.weighted_sums(np.ascontiguousarray(counts.T, dtype=np.float64), matrix, means)
    means /= size
    return means
