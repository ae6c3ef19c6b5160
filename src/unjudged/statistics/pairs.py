"""Score matrices and the run pairs compared in them.

A score matrix has one row per topic and one column per run, all of one measure. Pairs are two integer arrays: the
columns of the first and of the second run of each pair; a difference is always first minus second.

Means over runs are rounded once, at the end (`exact_mean`): the order of the runs is the user's and must not show in a
number. Many pairs are worked on in blocks, by several threads where asked (`each`); the answers are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

ZERO = 1e-12
"""Differences smaller than this are no difference."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Pairs = tuple[Integers, Integers]
Values = NDArray[Any] | Iterable[float]
Piece = TypeVar("Piece")
Answer = TypeVar("Answer")


def check_alpha(alpha: float) -> None:
    """A level of significance lies between 0 and 1."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, not {alpha}")


def score_matrix(scores: ArrayLike, topics: int = 1, runs: int = 1) -> Floats:
    """The scores as float64, topics x runs; refused with too few topics or runs, or a missing score."""
    matrix = np.ascontiguousarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"scores must be a matrix of topics x runs, not an array of {matrix.ndim} dimensions")
    if matrix.shape[0] < topics:
        raise ValueError(f"{_count(topics, 'topic')} needed, {matrix.shape[0]} given")
    if matrix.shape[1] < runs:
        raise ValueError(f"{_count(runs, 'run')} needed, {matrix.shape[1]} given")
    if not np.isfinite(matrix).all():
        raise ValueError("a score is missing or not finite: every run needs a score on every topic")
    return matrix


def _count(number: int, noun: str) -> str:
    return f"at least {number} {noun}{'s are' if number > 1 else ' is'}"


def all_pairs(runs: int) -> Pairs:
    """Every pair of columns i < j, in the order (0,1), (0,2), ..., (1,2), ..."""
    first, second = np.triu_indices(runs, 1)
    return first.astype(np.int64), second.astype(np.int64)


def pairs_with(baseline: int, runs: int) -> Pairs:
    """Every other run against the baseline (the difference is run minus baseline)."""
    if not 0 <= baseline < runs:
        raise ValueError(f"no run {baseline} among {runs}")
    others = np.delete(np.arange(runs, dtype=np.int64), baseline)
    return others, np.full(len(others), baseline, dtype=np.int64)


def chosen_pairs(pairs: tuple[ArrayLike, ArrayLike] | None, runs: int) -> Pairs:
    """The given pairs, checked, or all pairs."""
    if pairs is None:
        return all_pairs(runs)
    first, second = (np.asarray(side, dtype=np.int64) for side in pairs)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError("pairs must be two lists of columns of one length")
    if len(first) and (min(first.min(), second.min()) < 0 or max(first.max(), second.max()) >= runs):
        raise ValueError(f"a pair names a column outside the {runs} runs")
    return first, second


def mean_scores(scores: ArrayLike) -> Floats:
    """Mean over topics of every run, summed topic by topic in order."""
    matrix = score_matrix(scores)
    total = np.zeros(matrix.shape[1])
    for row in matrix:
        total += row
    return total / len(matrix)


def mean_differences(scores: ArrayLike, pairs: tuple[ArrayLike, ArrayLike] | None = None) -> Floats:
    """Difference of the mean scores of each pair; exactly 0 where it is below 1e-12."""
    means = mean_scores(scores)
    first, second = chosen_pairs(pairs, len(means))
    difference = means[first] - means[second]
    return np.where(np.abs(difference) < ZERO, 0.0, difference)


def wins_ties_losses(
    scores: ArrayLike, pairs: tuple[ArrayLike, ArrayLike] | None = None
) -> tuple[Integers, Integers, Integers]:
    """Per pair: topics where the first run scores higher, the same (within 1e-12), and lower."""
    matrix = score_matrix(scores)
    wins, losses = [], []
    first, second = chosen_pairs(pairs, matrix.shape[1])
    for block in blocks(len(first), 4096):
        z = matrix[:, first[block]] - matrix[:, second[block]]
        wins.append((z >= ZERO).sum(axis=0))
        losses.append((z <= -ZERO).sum(axis=0))
    won = np.concatenate(wins or [np.empty(0)]).astype(np.int64)
    lost = np.concatenate(losses or [np.empty(0)]).astype(np.int64)
    return won, len(matrix) - won - lost, lost


def blocks(length: int, size: int) -> list[slice]:
    """0..length cut into slices of at most `size`."""
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def exact_sum(values: Values) -> float:
    """The sum of all values."""
    return math.fsum(_listed(values))


def exact_mean(values: Values) -> float:
    """The mean of all values; NaN where there are none."""
    known = _listed(values)
    return math.fsum(known) / len(known) if known else math.nan


def exact_means(rows: ArrayLike) -> NDArray[np.float64]:
    """The mean of each row of a matrix."""
    return np.array([exact_mean(row) for row in np.asarray(rows, dtype=np.float64)], dtype=np.float64)


def _listed(values: Values) -> list[float]:
    return values.ravel().tolist() if isinstance(values, np.ndarray) else list(values)


def each(function: Callable[[Piece], Answer], pieces: Sequence[Piece], jobs: int = 1) -> list[Answer]:
    """function(piece) for every piece, in order; `jobs` threads work on them (the kernels release the lock)."""
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    if jobs == 1 or len(pieces) < 2:
        return [function(piece) for piece in pieces]
    with ThreadPoolExecutor(jobs) as threads:
        return list(threads.map(function, pieces))
