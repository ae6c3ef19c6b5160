"""Would other topics order the runs alike? The topics are split into halves, and the halves are asked.

Two disjoint sets of m topics order the runs; Kendall's tau of the two orders, averaged over many splits, is what m
topics say about m others. Nothing is assumed about the scores there: a few odd runs, which make a variance large and a
formula too kind, count as the few runs they are. From n/2 topics to n the answer is extrapolated as in the
Spearman-Brown formula: with `noise` topics the order would be half reliable, with n topics n / (n + noise), and tau is
2/pi arcsin sqrt(reliability x reliability) (`unjudged.statistics.reliability.expected_tau`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.bootstrap import sampled_means
from unjudged.statistics.draws import topic_set_pairs
from unjudged.statistics.pairs import ZERO, Floats, all_pairs, blocks, check_alpha, exact_mean, score_matrix
from unjudged.statistics.reliability import expected_tau

SPLITS = 200
"""Times the topics are split in two."""
GROUPS = 10
"""Parts of the topics, each of which is left out once, to see how far the answer hangs on single topics."""
_VALUES = 4_000_000  # differences of means held at a time


@dataclass(frozen=True)
class Agreement:
    """Expected tau with other topics, and the ends of the interval in which the tau of one other set of topics lies."""

    tau: float
    low: float
    high: float


@dataclass(frozen=True)
class SplitHalves:
    """What the splits say.

    `tau` is the mean tau of two halves, `spread` its standard deviation over splits, `noise` the number of topics at
    which the order would be half reliable (infinite where the halves do not agree at all), `left_out` the same without
    one part of the topics each.
    """

    topics: int
    tau: float
    spread: float
    noise: float
    left_out: Floats

    def expected(self, topics: int, others: int = 100, alpha: float = 0.05) -> Agreement:
        """Agreement of the order on so many topics with that on `others` other topics.

        The interval counts both doubts: other topics are drawn at random (the spread over splits, as it shrinks with
        more topics), and so were these topics (jackknife over parts of them).
        """
        from scipy.special import ndtri

        check_alpha(alpha)
        tau = _expected(self.noise, topics, others)
        if not len(self.left_out):
            return Agreement(tau, math.nan, math.nan)
        drawn = self.spread * (1 - tau) / (1 - self.tau) if self.tau < 1 else 0.0
        without = np.array([_expected(float(noise), topics, others) for noise in self.left_out])
        known = (len(without) - 1) / len(without) * float(((without - exact_mean(without)) ** 2).sum())
        half = float(ndtri(1 - alpha / 2)) * math.sqrt(drawn**2 + known)
        return Agreement(tau, max(-1.0, tau - half), min(1.0, tau + half))


def split_halves(scores: ArrayLike, splits: int = SPLITS, seed: int = 0) -> SplitHalves:
    """Split the topics of a topics x runs matrix in two, again and again; at least two topics are needed.

    Topics are sorted by their scores first: neither their order nor that of the runs changes the splits.
    """
    matrix = score_matrix(scores, topics=2, runs=2)
    matrix = matrix[np.lexsort(np.sort(matrix, axis=1).T[::-1])]
    topics = len(matrix)
    taus = split_taus(matrix, topics // 2, splits, seed)
    mean = exact_mean(taus)
    spread = math.sqrt(exact_mean((taus - mean) ** 2))
    groups = min(GROUPS, topics) if topics > 3 else 0
    parts = np.random.default_rng([seed, topics]).permutation(topics) % max(groups, 1)
    left_out = []
    for part in range(groups):
        kept = matrix[parts != part]
        left_out.append(noise_of(exact_mean(split_taus(kept, len(kept) // 2, splits // 2, seed)), len(kept) // 2))
    return SplitHalves(topics, mean, spread, noise_of(mean, topics // 2), np.array(left_out))


def split_taus(scores: ArrayLike, size: int, splits: int = SPLITS, seed: int = 0) -> Floats:
    """Kendall's tau (b) of the orders on two disjoint sets of `size` topics, split by split; 0 where one set orders no
    two runs."""
    matrix = score_matrix(scores, topics=2, runs=2)
    sets = topic_set_pairs(len(matrix), size, splits, "disjoint", seed)
    here, there = (sampled_means(matrix, side) for side in sets)
    first, second = all_pairs(matrix.shape[1])
    taus = np.zeros(splits)
    for block in blocks(splits, max(1, _VALUES // len(first))):
        signs = []
        for means in (here[block], there[block]):
            difference = means[:, first] - means[:, second]
            signs.append((difference >= ZERO).astype(np.int8) - (difference <= -ZERO).astype(np.int8))
        same = (signs[0] * signs[1]).sum(axis=1, dtype=np.int64)
        known = np.sqrt(np.prod([np.count_nonzero(side, axis=1) for side in signs], axis=0, dtype=np.float64))
        taus[block] = np.divide(same, known, out=np.zeros(len(same)), where=known > 0)
    return taus


def noise_of(tau: float, size: int) -> float:
    """The number of topics at which the order is half reliable, if two sets of `size` topics agree by this tau."""
    if tau <= 0:
        return math.inf
    reliability = math.sin(math.pi / 2 * min(tau, 1.0))
    return size * (1 - reliability) / reliability


def _expected(noise: float, topics: int, others: int) -> float:
    return 0.0 if math.isinf(noise) else expected_tau(1.0, noise, topics, others)
