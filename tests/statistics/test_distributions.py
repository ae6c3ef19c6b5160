"""Tails and quantiles are those of `scipy.stats`, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from unjudged.statistics import distributions as ours
from unjudged.studies.bias import trimmed_mean

RNG = np.random.default_rng(5)
VALUES = np.concatenate([RNG.normal(0, 3, 2000), RNG.normal(0, 100, 200), [0.0, -0.0, np.inf, -np.inf, np.nan, 1e300]])
SHARES = np.concatenate([RNG.random(2000), 10 ** RNG.uniform(-20, 0, 500), [0.0, 1.0, np.nan, -0.1, 1.1, 0.5, 0.025]])
INSIDE = SHARES[:2000]


def test_normal() -> None:
    np.testing.assert_array_equal(ours.normal_quantile(SHARES), stats.norm.ppf(SHARES))
    np.testing.assert_array_equal(ours.normal_limit(SHARES), stats.norm.isf(SHARES))
    np.testing.assert_array_equal(ours.normal_above(VALUES), stats.norm.sf(VALUES))


@pytest.mark.parametrize("freedom", (1, 2, 9, 49, 1000, 2.5))
def test_student(freedom: float) -> None:
    np.testing.assert_array_equal(ours.student_above(VALUES, freedom), stats.t.sf(VALUES, freedom))
    np.testing.assert_array_equal(ours.student_quantile(SHARES, freedom), stats.t.ppf(SHARES, freedom))
    np.testing.assert_array_equal(ours.student_limit(SHARES, freedom), stats.t.isf(SHARES, freedom))


@pytest.mark.parametrize(("between", "within"), ((1, 10), (5, 49), (128, 6272)))
def test_f_and_chi_squared(between: float, within: float) -> None:
    above = np.abs(VALUES)
    np.testing.assert_array_equal(ours.f_above(above, between, within), stats.f.sf(above, between, within))
    np.testing.assert_array_equal(ours.f_quantile(INSIDE, between, within), stats.f.ppf(INSIDE, between, within))
    np.testing.assert_array_equal(ours.chi_squared_quantile(INSIDE, between), stats.chi2.ppf(INSIDE, between))


@pytest.mark.parametrize("shape", ((40,), (3, 7), (2, 40), (4, 2)))
def test_trimmed_mean(shape: tuple[int, ...]) -> None:
    values = RNG.normal(0, 1, shape)
    for share in (0.0, 0.05, 0.1, 0.25, 0.4):
        np.testing.assert_array_equal(trimmed_mean(values, share), stats.trim_mean(values, share, axis=-1))
