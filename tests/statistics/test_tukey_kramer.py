"""Tukey's test where runs lack topics: scipy, the classical test, and a least-squares fit by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from unjudged.statistics.tukey import classical_tukey, tukey_difference
from unjudged.statistics.tukey_kramer import different_means


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(2, 12))
@settings(max_examples=60, deadline=None)
def test_complete_scores_give_the_classical_test(seed: int, runs: int, topics: int) -> None:
    matrix = np.random.default_rng(seed).random((topics, runs)) + np.arange(runs) * 0.3
    means = matrix.mean(axis=0)
    expected = np.abs(means[:, None] - means) > tukey_difference(matrix, 0.05)
    assert (different_means(matrix, 0.05) == expected).all()


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_missing_topics_against_a_plain_fit(seed: int) -> None:
    """The additive model by its full design matrix, the boundary by scipy's studentised range."""
    rng = np.random.default_rng(seed)
    topics, runs = 9, 4
    matrix = rng.random((topics, runs)) + np.arange(runs) * 0.2
    matrix[rng.random((topics, runs)) < 0.2] = np.nan
    matrix[0] = rng.random(runs)  # every run keeps a topic
    cells = [(t, r) for t in range(topics) for r in range(runs) if not np.isnan(matrix[t, r])]
    design = np.zeros((len(cells), topics + runs))
    for i, (t, r) in enumerate(cells):
        design[i, t] = design[i, topics + r] = 1
    values = np.array([matrix[cell] for cell in cells])
    fitted, _, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    residual = float(((values - design @ fitted) ** 2).sum() / (len(cells) - rank))
    boundary = scipy.stats.studentized_range.isf(0.05, runs, len(cells) - rank)
    found = different_means(matrix, 0.05)
    for a in range(runs):
        for b in range(runs):
            counts = (~np.isnan(matrix[:, a])).sum(), (~np.isnan(matrix[:, b])).sum()
            limit = boundary * np.sqrt(residual / 2 * (1 / counts[0] + 1 / counts[1]))
            apart = abs(np.nanmean(matrix[:, a]) - np.nanmean(matrix[:, b]))
            assert found[a, b] == (apart > limit) or apart == pytest.approx(limit, abs=1e-6)


def test_a_run_without_a_topic_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one topic"):
        different_means([[0.1, np.nan], [0.2, np.nan]])


def test_without_a_residual_every_difference_counts() -> None:
    assert different_means([[0.1, 0.2], [0.2, 0.3]]).tolist() == [[False, True], [True, False]]


def test_the_classical_test_without_a_residual() -> None:
    """Three runs, the first two alike: no statistic and p = 1 for them, no doubt about the others."""
    found = classical_tukey([[0.1, 0.1, 0.2], [0.2, 0.2, 0.3], [0.4, 0.4, 0.5]])
    assert found.statistic.tolist() == [0.0, np.inf, np.inf]
    assert found.p_value.tolist() == [1.0, 0.0, 0.0]
