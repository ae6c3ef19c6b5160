"""How sure is a rank? Intervals of the ranks of runs (Mogstad, Romano, Shaikh and Wilhelm 2024).

A run's rank is 1 + the number of runs that are truly better. Whoever is surely better puts a floor under it, whoever is
surely worse a ceiling. "Surely" is decided for all differences at once: topics are resampled with replacement (the same
topics for all runs), and a difference counts where it exceeds what the largest standardised difference reaches in all
but a share alpha of the resamples. Differences found that way leave the family, and the rest is looked at again (step
down), until nothing more is found. Both directions of a pair are hypotheses of their own, so that a wrong direction is
an error, too.

Marginal intervals look at the differences of one run: each holds with 1 - alpha. Simultaneous ones look at all pairs of
runs: with 1 - alpha they hold for all runs together.

Resampled means vary like normal ones, but a difference over its estimated error varies like Student's t. The critical
value is therefore carried over from the normal scale to the t scale with topics - 1 degrees of freedom; on 25 topics
the intervals would else be too narrow. Resampled means vary less than means by the factor sqrt((topics - 1) / topics),
and so does what is carried over once more.

A few topics cannot show how many runs move together: resamples of 10 topics span 9 directions, whatever the number of
runs, and the largest of many gaps falls short (50 equal runs on 10 topics were all left together in 85 % of the trials
instead of 95). The correlations of the runs, their topics' means taken out, are therefore shrunk towards none by the
share that Schäfer and Strimmer (2005) estimate: noise of each run's own is mixed into the resampled means, and gaps are
standardised accordingly. On many topics the share is near 0. It and the second factor are not from the paper of 2024;
they were set by simulation (benchmarks/rank_coverage.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unjudged import kernels
from unjudged.statistics.distributions import normal_above, student_limit
from unjudged.statistics.draws import resample_counts, topic_counts
from unjudged.statistics.paired import spread
from unjudged.statistics.pairs import Floats, Integers, blocks, check_alpha, each, mean_scores, score_matrix
from unjudged.statistics.ranks import ranks

Flags = NDArray[np.bool_]

_ROWS = 64  # runs per piece of work
_CANCELLED = 1e-8  # below this share of the two variances, that of a difference is computed from the differences


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """One entry per run (column of the scores). `better[i, j]`: run i is surely better than j, all pairs at once."""

    rank: Integers
    low: Integers
    high: Integers
    low_simultaneous: Integers
    high_simultaneous: Integers
    better: Flags

    @property
    def told_apart(self) -> Flags:
        """Pairs of runs of which one is surely better, all pairs at once."""
        return np.asarray(self.better | self.better.T)


def rank_intervals(
    scores: ArrayLike,
    *,
    alpha: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
    draws: ArrayLike | None = None,
    jobs: int = 1,
) -> RankIntervals:
    """Ranks by mean over the topics of a topics x runs matrix, with marginal and simultaneous 1 - alpha intervals.

    `draws` (rows of topics, e.g. draws.every_resample(n)) replaces random resamples and is taken as the list of all.
    Identical runs are never told apart; runs that differ by the same amount on every topic always are.
    """
    check_alpha(alpha)
    matrix = score_matrix(scores, topics=2, runs=2)
    topics, runs = matrix.shape
    means = mean_scores(matrix)
    centred = matrix - means
    scale, statistic = _standardised(matrix, centred, means, jobs)
    undecided = np.isfinite(statistic) & (scale > 0)
    shifts = _shifts(matrix, centred, scale, resamples, seed, draws)
    drawn = len(shifts)
    place = math.ceil((1 - alpha) * (drawn if draws is not None else drawn + 1) - 1e-9)
    every = np.arange(runs, dtype=np.int64)

    def gaps(rows: Integers, up: Flags, down: Flags) -> Floats:
        """Resamples x rows: the largest standardised gap among the hypotheses that are open."""
        out = np.empty((drawn, len(rows)))

        def fill(block: slice) -> None:
            weights = scale[rows[block]]
            here = np.empty((drawn, len(weights)))
            kernels.largest_gaps(shifts, rows[block], weights * up[block], weights * down[block], here)
            out[:, block] = here

        each(fill, blocks(len(rows), _ROWS), jobs)
        return out

    def critical(largest: Floats) -> Floats:
        """What the largest gap reaches in all but alpha of the resamples (along the first axis), on Student's scale."""
        if place > drawn:
            return np.full(largest.shape[1:], math.inf)
        return _on_student_scale(np.partition(largest, place - 1, axis=0)[place - 1], topics)

    first = gaps(every, undecided, undecided)
    above, below = np.isposinf(statistic), np.isneginf(statistic)  # the same difference on every topic
    better = _all_at_once(above.copy(), undecided, statistic, first.max(axis=1), gaps, critical)
    over, under = _one_by_one(above, below, undecided, statistic, first, gaps, critical)
    return RankIntervals(
        ranks(means),
        1 + under.sum(axis=1),
        runs - over.sum(axis=1),
        1 + better.sum(axis=0),
        runs - better.sum(axis=1),
        better,
    )


def _standardised(matrix: Floats, centred: Floats, means: Floats, jobs: int) -> tuple[Floats, Floats]:
    """Runs x runs: 1 / standard error of each difference (0 where it does not vary), and the t statistics."""
    topics, runs = matrix.shape
    products = np.empty((runs, runs))
    across = np.ascontiguousarray(centred.T)

    def multiply(block: slice) -> None:
        kernels.weighted_sums(across[block], centred, products[block])

    each(multiply, blocks(runs, _ROWS), jobs)
    squares = products.diagonal().copy()
    scale, statistic = np.zeros((runs, runs)), np.zeros((runs, runs))
    for block in blocks(runs, _ROWS):
        total = squares[block, None] + squares[None, :]
        variance = total - 2 * products[block]
        gap = means[block, None] - means[None, :]
        cancelled = variance <= _CANCELLED * total
        with np.errstate(divide="ignore", invalid="ignore"):
            scale[block] = np.where(cancelled, 0.0, np.sqrt(topics * (topics - 1) / variance))
        statistic[block] = gap * scale[block]
        near, other = (side.astype(np.int64) for side in np.nonzero(cancelled))
        near += block.start
        near, other = near[near < other], other[near < other]
        if len(near):
            deviation, _, constant = spread(matrix, (near, other))
            with np.errstate(divide="ignore"):
                found = np.where(deviation > 0, math.sqrt(topics) / deviation, 0.0)
            scale[near, other] = scale[other, near] = found
            apart = means[near] - means[other]
            signed = np.where(constant, np.copysign(np.inf, apart), apart * found)
            statistic[near, other], statistic[other, near] = signed, 0.0 - signed
    return _mirrored(scale), _mirrored(statistic, -1.0)


def _mirrored(table: Floats, sign: float = 1.0) -> Floats:
    """The upper half of a table, turned over into the lower one: later rows must not undo what an earlier one found."""
    lower = np.tril_indices(len(table), -1)
    table[lower] = sign * table.T[lower]
    return table


def _shifts(
    matrix: Floats, centred: Floats, scale: Floats, resamples: int, seed: int, draws: ArrayLike | None
) -> Floats:
    """Resamples x runs: how far the mean over the resampled topics lies from the mean, with noise of each run's own.

    The topics' own means are taken out, which changes no difference. `scale` becomes that of these gaps.
    """
    topics, runs = matrix.shape
    counts = resample_counts(topics, resamples, seed) if draws is None else topic_counts(draws, topics)
    if (counts.sum(axis=0, dtype=np.int64) != topics).any():
        raise ValueError(f"a bootstrap resample holds as many topics as there are: {topics}")
    rest = centred - centred.mean(axis=1, keepdims=True)
    shifts = np.empty((counts.shape[1], runs))
    for block in blocks(counts.shape[1], 256):
        kernels.weighted_sums(np.ascontiguousarray(counts[:, block].T, dtype=np.float64), rest, shifts[block])
    shifts /= topics
    own = (rest**2).sum(axis=0)
    share = shrinkage(rest)
    _, place = np.unique(matrix, axis=1, return_inverse=True)  # the same noise in whatever order the runs stand
    noise = np.random.default_rng([seed, 1]).standard_normal((len(shifts), int(place.max()) + 1))
    for block in blocks(len(shifts), 256):
        mixed = noise[block][:, place.ravel()] * (np.sqrt(share * own) / topics)
        shifts[block] = math.sqrt(1 - share) * shifts[block] + mixed
    for block in blocks(runs, _ROWS):
        here = scale[block]
        spread_apart = share * (own[block, None] + own[None, :]) / (topics * (topics - 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            scale[block] = np.where(here > 0, 1 / np.sqrt((1 - share) / here**2 + spread_apart), 0.0)
    return shifts


def shrinkage(rest: Floats) -> float:
    """How far the correlations of the columns (of mean 0) are to be shrunk towards none: 0 not at all, 1 wholly.

    Schäfer and Strimmer (2005): the variances of the correlations over their squares, both summed over all pairs.
    """
    topics = len(rest)
    squares = (rest**2).sum(axis=0)
    columns = np.ascontiguousarray(rest[:, squares > 0] / np.sqrt(squares[squares > 0] / (topics - 1)))
    between = np.empty((topics, topics))  # of topics: its squares add up to those of the correlations
    kernels.weighted_sums(columns, np.ascontiguousarray(columns.T), between)
    alike = float((between**2).sum()) / (topics - 1) ** 2 - columns.shape[1]  # without each with itself
    products = float(((columns**2).sum(axis=1) ** 2).sum() - (columns**4).sum())
    variance = topics / (topics - 1) ** 3 * (products - alike * (topics - 1) ** 2 / topics)
    return min(max(variance / alike, 0.0), 1.0) if alike > 0 else 1.0


def _on_student_scale(value: Floats, topics: int) -> Floats:
    """The Student value that is exceeded as often as this one of the resampled means, were they normal."""
    return np.asarray(student_limit(normal_above(value * topics / (topics - 1)), topics - 1), dtype=np.float64)


def _all_at_once(
    better: Flags,
    undecided: Flags,
    statistic: Floats,
    largest: Floats,
    gaps: Callable[..., Floats],
    critical: Callable[[Floats], Floats],
) -> Flags:
    """Step down over all ordered pairs: better[i, j] once run i is surely better than run j."""
    open_, none = undecided.copy(), np.zeros_like(undecided)
    every = np.arange(len(better), dtype=np.int64)
    while True:
        found = open_ & (statistic > critical(largest))
        if not found.any():
            return better
        better |= found
        open_ &= ~found
        largest = gaps(every, open_, none).max(axis=1)


def _one_by_one(
    over: Flags,
    under: Flags,
    undecided: Flags,
    statistic: Floats,
    largest: Floats,
    gaps: Callable[..., Floats],
    critical: Callable[[Floats], Floats],
) -> tuple[Flags, Flags]:
    """Step down over the pairs of each run alone: whom it is surely better than (over), and worse than (under)."""
    up, down = undecided.copy(), undecided.copy()
    rows = np.arange(len(over), dtype=np.int64)
    while len(rows):
        limit = critical(largest)[:, None]
        found, lost = up[rows] & (statistic[rows] > limit), down[rows] & (statistic[rows] < -limit)
        over[rows] |= found
        under[rows] |= lost
        up[rows] &= ~found
        down[rows] &= ~lost
        rows = rows[(found | lost).any(axis=1)]
        largest = gaps(rows, up[rows], down[rows])
    return over, under
