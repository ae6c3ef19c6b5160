"""Intervals of means and differences: against scipy and plain code, inside the scale, no narrower than counts allow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from unjudged.statistics.intervals import FEW, difference_interval, mean_interval

UNIT = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))


def matrices(runs: int = 3) -> st.SearchStrategy[np.ndarray]:
    row = st.lists(UNIT, min_size=runs, max_size=runs)
    return st.lists(row, min_size=2, max_size=12).map(np.array)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_scores_away_from_the_ends_have_students_interval_of_the_log_odds(alpha: float) -> None:
    """Worked out with plain numbers, the variance a tenth of a topic nearer to its largest possible value."""
    scores = [0.2, 0.35, 0.5, 0.45, 0.7, 0.3, 0.62, 0.41]
    n, mean = len(scores), sum(scores) / len(scores)
    centre = (sum(scores) + 0.5) / (n + 1)
    squares = sum((x - mean) ** 2 for x in scores)
    error = math.sqrt((squares + 0.1 * centre * (1 - centre)) / (n - 1 + 0.1) / n)
    odds, half = math.log(mean / (1 - mean)), stats.t.isf(alpha / 2, n - 1) * error / (mean * (1 - mean))
    (low,), (high,) = mean_interval(np.array(scores)[:, None], alpha)
    assert (low, high) == pytest.approx((1 / (1 + math.exp(half - odds)), 1 / (1 + math.exp(-half - odds))))


def test_where_the_scale_has_no_ends_they_are_students() -> None:
    matrix = np.random.default_rng(1).normal(2, 3, (15, 2))
    expected = stats.t.interval(0.95, 14, matrix.mean(axis=0), stats.sem(matrix, axis=0))
    for bounded in (False, True):  # scores outside 0 to 1 show it, whatever is said
        assert np.allclose(mean_interval(matrix, bounded=bounded), expected)
        z = matrix[:, 0] - matrix[:, 1]
        paired = stats.t.interval(0.95, 14, z.mean(), stats.sem(z))
        assert np.allclose(np.ravel(difference_interval(matrix, bounded=bounded)), paired)


@pytest.mark.parametrize("topics", [2, 10, 50])
def test_a_run_that_is_always_right_may_be_wrong_on_the_next_topics(topics: int) -> None:
    """No miss in n topics: the one-sided exact bound of a share (Clopper and Pearson) is all that can be said."""
    bound = stats.binomtest(0, topics, alternative="less").proportion_ci(0.95, "exact").high
    low, high = mean_interval(np.column_stack([np.ones(topics), np.zeros(topics)]))
    assert (low[0], high[0]) == pytest.approx((1 - bound, 1)) and (low[1], high[1]) == pytest.approx((0, bound))
    low, high = difference_interval(np.full((topics, 2), 0.3))
    assert (low[0], high[0]) == pytest.approx((-bound, bound))


def test_runs_that_differ_on_one_topic_are_counted() -> None:
    matrix = np.full((20, 2), 0.5)
    matrix[0, 0] = 0.9
    size = (0.4 + 1) / 2  # with one more topic of the largest difference
    lost, won = (stats.binomtest(k, 20, alternative="less").proportion_ci(0.95, "exact").high for k in (0, 1))
    low, high = difference_interval(matrix)
    assert (low[0], high[0]) == pytest.approx((-lost * size, won * size))


@settings(max_examples=150, deadline=None)
@given(matrices(), st.sampled_from([0.01, 0.05, 0.3]))
def test_they_hold_what_was_seen_and_stay_inside_the_scale(matrix: np.ndarray, alpha: float) -> None:
    low, high = mean_interval(matrix, alpha)
    means = matrix.mean(axis=0)
    assert (low >= 0).all() and (high <= 1).all() and (low <= means + 1e-9).all() and (means - 1e-9 <= high).all()
    wider = mean_interval(matrix, alpha / 2)
    assert (wider[0] <= low + 1e-9).all() and (high <= wider[1] + 1e-9).all()
    turned = mean_interval(1 - matrix, alpha)
    assert np.allclose(turned[0], 1 - high, atol=1e-6) and np.allclose(turned[1], 1 - low, atol=1e-6)
    low, high = difference_interval(matrix, alpha=alpha)
    z = matrix[:, [0, 0, 1]] - matrix[:, [1, 2, 2]]
    assert (low >= -1).all() and (high <= 1).all() and (low <= z.mean(axis=0) + 1e-9).all()
    assert (z.mean(axis=0) - 1e-9 <= high).all()
    rare = (np.abs(z) >= 1e-12).sum(axis=0) < FEW
    assert (high[rare] > low[rare]).all()  # hardly any difference is never a proof of none
    back = difference_interval(matrix, ([1, 2, 2], [0, 0, 1]), alpha)
    assert np.allclose(back[0], -high, atol=1e-12) and np.allclose(back[1], -low, atol=1e-12)


def test_one_topic_has_no_interval() -> None:
    assert np.isnan(mean_interval([[0.2, 1.0]])).all() and np.isnan(difference_interval([[0.2, 1.0]])).all()


def test_a_mean_next_to_an_end_has_an_interval_without_a_warning() -> None:
    scores = np.zeros((10, 2))
    scores[:3, 0] = 1e-5, 2e-5, 1e-4
    scores[:, 1] = 1 - scores[:, 0]
    with np.errstate(all="raise", under="ignore"):
        low, high = mean_interval(scores)
    assert (
        (low >= 0).all()
        and (high <= 1).all()
        and (low <= scores.mean(axis=0)).all()
        and (high >= scores.mean(axis=0)).all()
    )
