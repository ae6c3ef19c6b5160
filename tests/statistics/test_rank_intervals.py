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
from unjudged.statistics.rank_intervals import rank_intervals, shrinkage

Pair = tuple[int, int]


def shrunk(rest: np.ndarray) -> float:
    """Schäfer and Strimmer (2005), equations of their section 2.4 for correlations shrunk towards none, by loops."""
    topics, runs = rest.shape
    x = rest / rest.std(axis=0, ddof=1)
    variances = squares = 0.0
    for i, j in itertools.permutations(range(runs), 2):
        w = [x[t, i] * x[t, j] for t in range(topics)]
        mean = sum(w) / topics
        variances += topics / (topics - 1) ** 3 * sum((one - mean) ** 2 for one in w)
        squares += (topics / (topics - 1) * mean) ** 2
    return min(1.0, max(0.0, variances / squares))


def plain(scores: np.ndarray, alpha: float) -> tuple[list[list[int]], list[list[int]]]:
    """Marginal and simultaneous [low, high] of each run: Mogstad et al. 2024, hypothesis by hypothesis, with the
    correlations of the runs shrunk."""
    topics, runs = scores.shape
    resamples = [list(drawn) for drawn in itertools.product(range(topics), repeat=topics)]

    rest = scores - scores.mean(axis=0) - scores.mean(axis=1)[:, None] + scores.mean()
    share, variances = shrunk(rest), rest.var(axis=0, ddof=1)
    order = sorted(map(tuple, scores.T.tolist()))
    drawn_noise = np.random.default_rng([0, 1]).standard_normal((len(resamples), runs))
    noise = drawn_noise[:, [order.index(tuple(column)) for column in scores.T.tolist()]]

    def t(pair: Pair, b: int | None = None) -> float:
        z = scores[:, pair[0]] - scores[:, pair[1]]
        if b is None:
            return float(z.mean() / (z.std(ddof=1) / math.sqrt(topics)))
        ends = [
            math.sqrt(1 - share) * rest[resamples[b], run].mean()
            + math.sqrt(share * variances[run] * (topics - 1) / topics / topics) * noise[b, run]
            for run in pair
        ]
        error = math.sqrt(((1 - share) * z.var(ddof=1) + share * variances[list(pair)].sum()) / topics)
        return float((ends[0] - ends[1]) / error)

    def rejected(family: list[Pair]) -> set[Pair]:
        found: set[Pair] = set()
        while left := [pair for pair in family if pair not in found]:
            largest = sorted(max(0.0, *(t(pair, b) for pair in left)) for b in range(len(resamples)))
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


@pytest.mark.parametrize("seed", range(4))
def test_what_a_topic_adds_to_all_runs_changes_nothing(seed: int) -> None:
    """Hard topics and easy ones: not even the noise of the runs, which depends on how alike the runs are."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(12, 10)) + np.linspace(0, 4, 10)
    topics = 8 * rng.normal(size=(12, 1))
    plain, hard = (rank_intervals(one, resamples=499) for one in (scores, scores + topics))
    for name in ("low", "high", "low_simultaneous", "high_simultaneous"):
        assert (getattr(plain, name) == getattr(hard, name)).all(), name


@pytest.mark.parametrize(("topics", "runs"), [(4, 3), (10, 40), (30, 6)])
def test_shrinkage_by_loops(topics: int, runs: int) -> None:
    rng = np.random.default_rng(topics)
    scores = rng.normal(size=(topics, runs)) + rng.normal(size=(topics, 1)) * rng.normal(size=runs)
    rest = scores - scores.mean(axis=0) - scores.mean(axis=1)[:, None] + scores.mean()
    assert shrinkage(rest) == pytest.approx(shrunk(rest), abs=1e-12)


def test_many_equal_runs_on_few_topics_are_covered() -> None:
    """Where resamples alone fail (85 %): 60 trials of 50 equal runs on 10 topics; 85 % would give 9 errors."""
    rng = np.random.default_rng(12)
    trials = [rank_intervals(rng.normal(size=(10, 50)), resamples=200, seed=trial) for trial in range(60)]
    assert sum(bool(found.better.any()) for found in trials) <= 5


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
