"""Do the tests keep what they promise? Simulated scores with known truth, fixed seeds, bounds of three standard errors.

Pairs of columns (0, 1), (2, 3), ... of one wide matrix are independent experiments.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from unjudged.statistics import anova, paired, reliability, topic_set_size
from unjudged.statistics.bootstrap import bootstrap, bootstrap_interval
from unjudged.statistics.pairs import Pairs
from unjudged.statistics.tukey import classical_tukey, randomised_tukey

TOPICS, EXPERIMENTS, ALPHA = 50, 2000, 0.05
PAIRS: Pairs = (np.arange(0, 2 * EXPERIMENTS, 2), np.arange(1, 2 * EXPERIMENTS, 2))


def three_errors(share: float, trials: int) -> float:
    return 3 * math.sqrt(share * (1 - share) / trials)


def noise(seed: int, kind: str) -> np.ndarray:
    """Two equally good runs per experiment on topics of very different difficulty."""
    rng = np.random.default_rng(seed)
    topic = rng.beta(1, 2, (TOPICS, 1))
    if kind == "normal":
        return topic + rng.normal(0, 0.1, (TOPICS, 2 * EXPERIMENTS))
    return 0.5 * topic + 0.5 * rng.beta(0.5, 1.5, (TOPICS, 2 * EXPERIMENTS))


def run_bootstrap(matrix: np.ndarray) -> paired.Tested:
    return bootstrap(matrix, PAIRS, resamples=1000, seed=1)


def run_permutation(matrix: np.ndarray) -> paired.Tested:
    return paired.permutation(matrix, PAIRS, resamples=999, seed=1)


def run_t(matrix: np.ndarray) -> paired.Tested:
    return paired.t_test(matrix, PAIRS)


def run_wilcoxon(matrix: np.ndarray) -> paired.Tested:
    return paired.wilcoxon(matrix, PAIRS)


PAIRED = [run_bootstrap, run_permutation, run_t, run_wilcoxon]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "skewed"])
@pytest.mark.parametrize("test", PAIRED)
def test_without_a_difference_a_paired_test_rejects_at_alpha(
    test: Callable[[np.ndarray], paired.Tested], kind: str
) -> None:
    found = test(noise(11, kind))
    assert found.power(ALPHA) == pytest.approx(ALPHA, abs=three_errors(ALPHA, EXPERIMENTS))
    assert found.power(0.2) == pytest.approx(0.2, abs=three_errors(0.2, EXPERIMENTS))


@pytest.mark.parametrize("test", [run_bootstrap, run_permutation, run_t])
def test_a_planted_difference_is_found_at_the_stated_power(test: Callable[[np.ndarray], paired.Tested]) -> None:
    """The exact power of the paired t test is the yardstick: 80% at the topic set size its design asks for."""
    variance = 2 * 0.1**2
    difference = 0.0566
    assert topic_set_size.topics_for_t_test(difference, variance) == TOPICS + 1
    stated = topic_set_size.t_test_power(TOPICS, difference, variance)
    matrix = noise(12, "normal")
    matrix[:, PAIRS[0]] += difference
    found = test(matrix)
    assert found.power(ALPHA) == pytest.approx(stated, abs=three_errors(stated, EXPERIMENTS))
    assert (found.difference[found.significant(ALPHA)] > 0).mean() > 0.999


@pytest.mark.parametrize("interval", [paired.t_interval, bootstrap_interval])
def test_intervals_hold_the_true_difference(interval: Callable[..., tuple[np.ndarray, np.ndarray]]) -> None:
    matrix = noise(13, "normal")
    matrix[:, PAIRS[0]] += 0.03
    low, high = interval(matrix, PAIRS, alpha=0.1)
    held = ((low <= 0.03) & (high >= 0.03)).mean()
    # the percentile interval is narrower by about sqrt((n-1)/n) and the normal quantile: 0.9 becomes 0.894 at 50 topics
    assert held == pytest.approx(0.9, abs=three_errors(0.9, EXPERIMENTS) + 0.006)


@pytest.mark.slow
@pytest.mark.parametrize(
    "test",
    [lambda x, seed: randomised_tukey(x, resamples=400, seed=seed), lambda x, seed: classical_tukey(x)],
    ids=["randomised", "classical"],
)
def test_tukey_calls_any_pair_of_equal_runs_different_with_chance_alpha(
    test: Callable[[np.ndarray, int], paired.Tested],
) -> None:
    trials = 400
    rng = np.random.default_rng(14)
    alarms = 0
    for seed in range(trials):
        found = test(rng.beta(1, 2, (20, 1)) + rng.normal(0, 0.1, (20, 6)), seed)
        alarms += bool(found.significant(ALPHA).any())
    assert alarms / trials == pytest.approx(ALPHA, abs=three_errors(ALPHA, trials))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["randomised", "classical"])
def test_tukey_of_two_runs_has_the_power_of_the_t_test(kind: str) -> None:
    trials, topics, difference = 400, 20, 0.09
    stated = topic_set_size.t_test_power(topics, difference, 2 * 0.1**2)
    rng = np.random.default_rng(15)
    hits = 0
    for seed in range(trials):
        matrix = rng.beta(1, 2, (topics, 1)) + rng.normal(0, 0.1, (topics, 2)) + np.array([difference, 0.0])
        found = randomised_tukey(matrix, resamples=400, seed=seed) if kind == "randomised" else classical_tukey(matrix)
        hits += bool(found.significant(ALPHA)[0])
    assert hits / trials == pytest.approx(stated, abs=three_errors(stated, trials))


def test_anova_power_is_what_simulation_gives() -> None:
    """One-way: the best run and the worst are `range` apart, the others halfway."""
    trials, runs, width, variance = 2000, 5, 0.1, 0.0471 / 2
    topics = topic_set_size.topics_for_anova(runs, width, variance)
    stated = topic_set_size.anova_power(topics, runs, width, variance)
    rng = np.random.default_rng(16)
    means = np.array([-width / 2, 0, 0, 0, width / 2])
    scores = rng.normal(0, math.sqrt(variance), (trials, topics, runs)) + means
    p = stats.f_oneway(*np.moveaxis(scores, 2, 0), axis=1).pvalue
    assert (p < 0.05).mean() == pytest.approx(stated, abs=three_errors(stated, trials))
    assert anova.within_run_variance(scores[0]) == pytest.approx(np.mean([run.var(ddof=1) for run in scores[0].T]))


def test_reliability_intervals_hold_the_truth() -> None:
    trials, topics, runs = 300, 25, 12
    var_runs, var_topics, var_error = 0.003, 0.02, 0.01
    erho2 = var_runs / (var_runs + var_error / topics)
    phi = var_runs / (var_runs + (var_topics + var_error) / topics)
    rng = np.random.default_rng(17)
    held = np.zeros(2)
    for _ in range(trials):
        matrix = (
            rng.normal(0, math.sqrt(var_runs), (1, runs))
            + rng.normal(0, math.sqrt(var_topics), (topics, 1))
            + rng.normal(0, math.sqrt(var_error), (topics, runs))
        )
        found = reliability.d_study(reliability.g_study(matrix), alpha=0.05)
        held += [found.erho2_low <= erho2 <= found.erho2_high, found.phi_low <= phi <= found.phi_high]
    assert held / trials == pytest.approx([0.9, 0.9], abs=three_errors(0.9, trials))
