"""The swap method allowing for chance: pooled bins, upper limits of swap rates, geometric means."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gmean

from unjudged.statistics import draws
from unjudged.statistics.swap import Swaps, falling, swap

isotonic_regression = getattr(scipy.optimize, "isotonic_regression", None)  # since scipy 1.12
proportion_confint = pytest.importorskip("statsmodels.stats.proportion").proportion_confint
generated = settings(max_examples=40)


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    """Scores in hundredths, so that exact ties and bin edges happen."""
    n, m = draw(st.integers(2, 9)), draw(st.integers(2, 5))
    cells = st.lists(st.integers(0, 100), min_size=n * m, max_size=n * m)
    return np.array(draw(cells), dtype=float).reshape(n, m) / 100


@pytest.mark.skipif(isotonic_regression is None, reason="needs scipy 1.12")
@generated
@given(st.lists(st.tuples(st.integers(0, 300), st.floats(0, 1)), min_size=1, max_size=21))
def test_pooled_bins_are_the_isotonic_regression(bins: list[tuple[int, float]]) -> None:
    compared = np.array([n for n, _ in bins])
    swapped = np.array([int(n * share) for n, share in bins])
    there = compared > 0
    fit = np.full(len(bins), np.nan)
    groups = falling(compared, swapped)
    for group in groups:
        fit[group] = swapped[group].sum() / compared[group].sum()
    assert sorted(np.concatenate([*groups, np.flatnonzero(~there)]).tolist()) == list(range(len(bins)))
    if there.any():
        expected = isotonic_regression(swapped[there] / compared[there], weights=compared[there], increasing=False).x  # type: ignore[misc]
        assert fit[there] == pytest.approx(expected, abs=1e-9)


def test_the_highest_likely_swap_rate_is_wilsons() -> None:
    """One batch says nothing of dependence: the limit is that of independent comparisons, as statsmodels gives it."""
    compared, swapped = np.zeros(21, dtype=np.int64), np.zeros(21, dtype=np.int64)
    compared[[0, 5, 9, 20]], swapped[[0, 5, 9]] = [100, 60, 400, 3], [50, 6, 2]
    found = Swaps.of(compared, swapped, 0.5).highest_rate()
    for place in (0, 5, 9):
        limit = proportion_confint(swapped[place], compared[place], alpha=0.1, method="wilson")[1]
        assert found[place] == pytest.approx(limit, abs=1e-12)
    assert found[20] == found[9]  # three comparisons without a swap prove nothing more
    assert Swaps.of(compared, swapped, 0.5).required(0.95).bin == 9


def test_batches_that_differ_make_a_rate_less_sure() -> None:
    """The same 4 % of 1000 comparisons: spread evenly over ten batches, or all in one of them."""
    compared = np.zeros((10, 21), dtype=np.int64)
    compared[:, 3] = 100
    even, lumped = compared // 25, np.zeros_like(compared)
    lumped[0, 3] = 40
    assert Swaps.of(compared, even, 1).highest_rate()[3] == pytest.approx(
        proportion_confint(40, 1000, alpha=0.1, method="wilson")[1]
    )
    # the variance between batches: (40 - 4)^2 + 9 * 4^2 = 1440, times 10 / 9, against 1000 * 0.04 * 0.96 = 38.4
    effect = 1440 * 10 / 9 / 38.4
    assert Swaps.of(compared, lumped, 1).highest_rate()[3] == pytest.approx(
        proportion_confint(40 / effect, 1000 / effect, alpha=0.1, method="wilson")[1]
    )
    assert Swaps.of(compared, even, 1).required(0.94).bin == 3
    assert Swaps.of(compared, lumped, 1).required(0.94).bin is None


@generated
@given(matrices(), st.integers(0, 99))
def test_the_highest_likely_swap_rate_never_grows(matrix: np.ndarray, seed: int) -> None:
    found = swap(matrix, trials=30, size=len(matrix) // 2, seed=seed)
    limits = found.highest_rate()
    there = limits[~np.isnan(limits)]
    assert (np.diff(there) <= 0).all() and there.min() >= 0 and there.max() <= 1
    twice = Swaps.together([found, found])
    assert twice.comparisons.tolist() == (2 * found.comparisons).tolist()
    assert (twice.highest_rate()[~np.isnan(limits)] <= there + 1e-12).all()
    assert twice.max_performance == found.max_performance


@generated
@given(matrices())
def test_geometric_means_are_compared_as_such(matrix: np.ndarray) -> None:
    positive = matrix + 0.01
    sets = draws.topic_set_pairs(len(matrix), 2, 15, "independent", 3)
    found = swap(np.log(positive), sets=sets, logarithms=True)
    counted, swapped = [0] * 21, [0] * 21
    for here, there in zip(*sets, strict=True):
        x, y = (gmean(positive[side], axis=0) for side in (here, there))
        for a in range(matrix.shape[1]):
            for b in range(a + 1, matrix.shape[1]):
                d, e = (0.0 if abs(z[a] - z[b]) < 1e-12 else z[a] - z[b] for z in (x, y))
                place = min(20, math.floor(abs(d) / 0.01 + 1e-9))
                counted[place] += 1
                swapped[place] += d * e < 0 or (d == 0) != (e == 0)
    assert found.comparisons.tolist() == counted and found.swaps.tolist() == swapped
