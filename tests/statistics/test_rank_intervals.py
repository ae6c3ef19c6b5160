"""Rank intervals against the definition, written out over all resamples; and what must hold for any scores."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_twins import both, needs_c
from scipy import stats

from unjudged.kernels import _numpy
from unjudged.statistics.draws import every_resample
from unjudged.statistics.rank_intervals import rank_intervals

Pair = tuple[int, int]


def plain(scores: np.ndarray, alpha: float) -> tuple[list[list[int]], list[list[int]]]:
    """Marginal and simultaneous [low, high] of each run: Mogstad et al. 2024, hypothesis by hypothesis."""
    topics, runs = scores.shape
    resamples = [list(drawn) for drawn in itertools.product(range(topics), repeat=topics)]

    def t(pair: Pair, drawn: list[int] | None = None) -> float:
        z = scores[:, pair[0]] - scores[:, pair[1]]
        error = z.std(ddof=1) / math.sqrt(topics)
        return float(z.mean() / error if drawn is None else (z[drawn].mean() - z.mean()) / error)

    def rejected(family: list[Pair]) -> set[Pair]:
        found: set[Pair] = set()
        while left := [pair for pair in family if pair not in found]:
            largest = sorted(max(0.0, *(t(pair, drawn) for pair in left)) for drawn in resamples)
            normal = largest[math.ceil((1 - alpha) * len(resamples) - 1e-9) - 1] * topics / (topics - 1)
            limit = stats.t(topics - 1).isf(stats.norm.sf(normal))
            more = {pair for pair in left if t(pair) > limit}
            if not more:
                break
            found |= more
        return found

    def ends(run: int, found: set[Pair]) -> list[int]:
        return [1 + sum(b == run for _, b in found), runs - sum(a == run for a, _ in found)]

    pairs = list(itertools.permutations(range(runs), 2))
    every = rejected(pairs)
    alone = [ends(run, rejected([pair for pair in pairs if run in pair])) for run in range(runs)]
    return alone, [ends(run, every) for run in range(runs)]


@pytest.mark.parametrize("seed", range(5))
def test_all_resamples_written_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 0.06, (4, 4)) + np.array([0, 0.1, 0.5, 0.56]) * (1 + seed % 3) + rng.normal(size=(4, 1))
    found = rank_intervals(scores, alpha=0.2, draws=every_resample(4))
    alone, every = plain(scores, 0.2)
    assert [list(pair) for pair in zip(found.low, found.high, strict=True)] == alone
    assert [list(p) for p in zip(found.low_simultaneous, found.high_simultaneous, strict=True)] == every


def matrices(draw: st.DrawFn) -> np.ndarray:
    topics, runs = draw(st.integers(2, 12)), draw(st.integers(2, 7))
    values = draw(st.lists(st.integers(0, 10), min_size=topics * runs, max_size=topics * runs))
    return np.array(values, float).reshape(topics, runs) / 10


@settings(max_examples=60, deadline=None)
@given(st.composite(matrices)(), st.integers(0, 5))
def test_what_holds_for_any_scores(scores: np.ndarray, seed: int) -> None:
    found = rank_intervals(scores, resamples=99, seed=seed)
    runs = scores.shape[1]
    assert (found.low_simultaneous >= 1).all() and (found.high_simultaneous <= runs).all()
    for low, high in ((found.low, found.high), (found.low_simultaneous, found.high_simultaneous)):
        assert (low <= found.rank).all() and (found.rank <= high).all()
    assert not (found.better & found.better.T).any()
    order = np.random.default_rng(seed).permutation(runs)
    turned = rank_intervals(scores[:, order], resamples=99, seed=seed)
    for name in ("rank", "low", "high", "low_simultaneous", "high_simultaneous"):
        assert (getattr(turned, name) == getattr(found, name)[order]).all()


def test_clear_winner_twins_and_constant_gaps() -> None:
    rng = np.random.default_rng(1)
    base = rng.random(30)
    scores = np.stack([base, base, base + 0.1, base + rng.normal(0, 0.02, 30) - 0.5], axis=1)
    found = rank_intervals(scores)
    assert found.rank.tolist() == [2, 2, 1, 4]
    assert found.low_simultaneous.tolist() == [2, 2, 1, 4]
    assert found.high_simultaneous.tolist() == [3, 3, 1, 4]
    assert not found.told_apart[0, 1]


def test_equal_runs_are_covered_as_promised() -> None:
    """A small version of benchmarks/rank_coverage.py: 300 trials of 8 equal runs, 95 % +- 3 standard errors."""
    held = 0
    for trial in range(300):
        scores = np.random.default_rng([7, trial]).normal(size=(25, 8)) + np.random.default_rng(trial).normal(
            size=(25, 1)
        )
        held += not rank_intervals(scores, resamples=300, seed=trial).better.any()
    assert abs(held / 300 - 0.95) < 3 * math.sqrt(0.95 * 0.05 / 300)


def test_threads_change_nothing() -> None:
    scores = np.random.default_rng(3).random((20, 150))
    one, two = (rank_intervals(scores, resamples=50, jobs=jobs) for jobs in (1, 2))
    assert (one.low == two.low).all() and (one.better == two.better).all()


@pytest.mark.parametrize("scores", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, np.nan], [0.0, 1.0]]])
def test_too_little_is_refused(scores: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"needed|missing"):
        rank_intervals(scores)


@both
def test_gaps_by_definition(kernels: object) -> None:
    rng = np.random.default_rng(5)
    shifts, up, down = rng.normal(size=(9, 21)), rng.random((3, 21)), rng.random((3, 21))
    rows, out = np.array([0, 20, 7]), np.empty((9, 3))
    kernels.largest_gaps(shifts, rows, up, down, out)  # type: ignore[attr-defined]
    for b, (i, row) in itertools.product(range(9), enumerate(rows.tolist())):
        gaps = np.array([shifts[b, row] - shifts[b, k] for k in range(21)])
        assert out[b, i] == max(0.0, *(gaps * up[i]).tolist(), *(-gaps * down[i]).tolist())


@needs_c
def test_gaps_refuse_other_shapes() -> None:
    from unjudged.kernels import _c  # type: ignore[attr-defined, unused-ignore]

    good = [np.zeros((4, 5)), np.array([1, 2]), np.zeros((2, 5)), np.zeros((2, 5)), np.zeros((4, 2))]
    _c.largest_gaps(*good)
    for place, bad in ((1, np.array([1, 5])), (1, np.array([-1, 2])), (2, np.zeros((2, 4))), (4, np.zeros((4, 3)))):
        with pytest.raises(ValueError, match="different shapes"):
            _c.largest_gaps(*good[:place], bad, *good[place + 1 :])
    assert _numpy is not _c
