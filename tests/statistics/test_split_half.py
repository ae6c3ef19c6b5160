"""Halves of the topics against scipy's tau, and the extrapolation by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from unjudged.statistics.draws import topic_set_pairs
from unjudged.statistics.split_half import GROUPS, noise_of, split_halves, split_taus


@pytest.fixture(scope="module")
def scores() -> np.ndarray:
    """Twelve topics, seven runs, two of them equal."""
    rng = np.random.default_rng(7)
    matrix = np.clip(np.linspace(0.2, 0.8, 7) + rng.normal(0, 0.3, (12, 7)), 0, 1)
    matrix[:, 3] = matrix[:, 4]
    return np.asarray(matrix)


def test_taus_are_those_of_scipy(scores: np.ndarray) -> None:
    found = split_taus(scores, 5, 30, seed=3)
    sides = topic_set_pairs(12, 5, 30, "disjoint", 3)
    for tau, here, there in zip(found, *sides, strict=True):
        assert not set(here) & set(there)
        wanted = stats.kendalltau(scores[here].mean(axis=0).round(12), scores[there].mean(axis=0).round(12)).statistic
        assert tau == pytest.approx(wanted)
    assert (split_taus(np.ones((6, 3)), 3, 5) == 0).all()  # no order at all


def test_noise_by_hand() -> None:
    assert noise_of(1 / 3, 8) == pytest.approx(8)  # sin(pi / 6) = 1 / 2: half reliable
    assert noise_of(1.0, 8) == 0.0 and noise_of(0.0, 8) == noise_of(-0.2, 8) == math.inf
    reliability = math.sin(math.pi / 2 * 0.6)
    assert noise_of(0.6, 8) == pytest.approx(8 / reliability - 8)


def test_halves_and_what_each_part_of_the_topics_says(scores: np.ndarray) -> None:
    found = split_halves(scores, splits=40, seed=5)
    order = np.lexsort(np.sort(scores, axis=1).T[::-1])
    taus = split_taus(scores[order], 6, 40, 5)
    assert [found.tau, found.spread] == pytest.approx([taus.mean(), taus.std()])
    assert found.noise == pytest.approx(noise_of(float(taus.mean()), 6))
    part = np.random.default_rng([5, 12]).permutation(12) % GROUPS
    for p, noise in enumerate(found.left_out):
        kept = scores[order][part != p]
        assert noise == pytest.approx(noise_of(float(split_taus(kept, len(kept) // 2, 20, 5).mean()), len(kept) // 2))
    assert len(found.left_out) == GROUPS


def test_the_interval_adds_both_doubts(scores: np.ndarray) -> None:
    found = split_halves(scores, splits=40, seed=5)
    there = found.expected(12, 12)

    def tau(noise: float) -> float:
        return 2 / math.pi * math.asin(12 / (12 + noise))

    assert there.tau == pytest.approx(tau(found.noise))
    without = [tau(float(noise)) for noise in found.left_out]
    known = (GROUPS - 1) / GROUPS * sum((one - sum(without) / GROUPS) ** 2 for one in without)
    drawn = found.spread * (1 - there.tau) / (1 - found.tau)
    half = stats.norm.ppf(0.975) * math.sqrt(drawn**2 + known)
    assert there.low == pytest.approx(there.tau - half) and there.high == pytest.approx(min(1, there.tau + half))
    assert found.expected(10_000, 10_000).tau > 0.99
