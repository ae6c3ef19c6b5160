"""The stability method of Buckley and Voorhees (SIGIR 2000): how often do topic sets disagree about two runs?

Two runs whose means differ by less than a given share of the larger mean, the fuzziness, count as tied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.bootstrap import sampled_means
from unjudged.statistics.draws import topic_subsets
from unjudged.statistics.pairs import ZERO, all_pairs, blocks, each, score_matrix

FUZZINESS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.10)


@dataclass(frozen=True)
class Stability:
    """Minority rate (share of comparisons against the majority) and share of ties, at one fuzziness."""

    fuzziness: float
    minority_rate: float
    ties: float
    comparisons: int


def stability(
    scores: ArrayLike,
    fuzziness: Sequence[float] = FUZZINESS,
    *,
    size: int | None = None,
    trials: int = 1000,
    replacement: bool = False,
    seed: int = 0,
    sets: ArrayLike | None = None,
    logarithms: bool = False,
    jobs: int = 1,
) -> list[Stability]:
    """One entry per fuzziness, over all run pairs and all topic sets of `size` topics (default: half of them).

    `sets` (trials x size) replaces the drawn topic sets, e.g. by draws.every_subset(n, c). `logarithms`: the scores
    are logarithms, and the means compared are geometric ones.
    """
    matrix = score_matrix(scores, runs=2)
    topics = len(matrix)
    if any(f < 0 for f in fuzziness):
        raise ValueError("a fuzziness must be 0 or more")
    if sets is None:
        sets = topic_subsets(topics, max(1, topics // 2) if size is None else size, trials, seed, replacement)
    means = np.ascontiguousarray(sampled_means(matrix, sets).T)
    if logarithms:
        means = np.exp(means)
    first, second = all_pairs(matrix.shape[1])

    def count(pairs: slice) -> list[tuple[int, int]]:
        x, y = means[first[pairs]], means[second[pairs]]
        difference, larger = x - y, np.maximum(x, y)
        size_of = np.abs(difference)
        up = difference > 0
        found = []
        for f in fuzziness:
            tied = (size_of < f * larger - ZERO) | (size_of < ZERO)
            ahead = (up & ~tied).sum(axis=1)
            even = tied.sum(axis=1)
            minority = np.minimum(ahead, means.shape[1] - ahead - even)
            found.append((int(minority.sum()), int(even.sum())))
        return found

    counted = each(count, blocks(len(first), max(1, 250_000 // means.shape[1])), jobs)
    comparisons = len(first) * means.shape[1]
    return [
        Stability(
            f,
            sum(part[k][0] for part in counted) / comparisons,
            sum(part[k][1] for part in counted) / comparisons,
            comparisons,
        )
        for k, f in enumerate(fuzziness)
    ]
