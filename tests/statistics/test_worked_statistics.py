"""The statistics against worked values: computed by an independent reference program (full enumerations, no random
numbers), copied from the project's worked_examples.json. Rounded to six decimals."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from unjudged.statistics import anova, correlation, draws, estimate_errors, rbo, reliability, topic_set_size, tukey
from unjudged.statistics.bootstrap import bootstrap
from unjudged.statistics.draws import expected_shared_topics, simulated_shared_topics
from unjudged.statistics.pairs import mean_scores
from unjudged.statistics.stability import stability
from unjudged.statistics.swap import required_bin, swap

SIX: dict[str, Any] = {"abs": 6e-7}  # six decimals are given

FOUR_TOPICS = [[0.5, 0.42, 0.3], [0.3, 0.33, 0.25], [0.71, 0.6, 0.52], [0.2, 0.26, 0.11]]

# -- correlation (RC1-RC3)

X = [0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94]
Y = [0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94]
Y_TIED = [0.4, 0.0, 0.2, 0.2, 0.6, 0.6, 0.6, 1.0, 0.8, 1.0]
X_TIED = [0.0, 0.2, 0.2, 0.4, 0.6, 0.6, 0.6, 0.8, 1.0, 1.0]


def test_rank_correlation_without_ties() -> None:
    assert correlation.tau_a(X, Y) == pytest.approx(0.777778, **SIX)
    assert correlation.tau_b(X, Y) == pytest.approx(0.777778, **SIX)
    assert correlation.tau_ap(X, Y) == pytest.approx(0.749118, **SIX)
    assert correlation.tau_ap(Y, X) == pytest.approx(0.759259, **SIX)
    assert correlation.tau_ap_symmetric(X, Y) == pytest.approx(0.754189, **SIX)


def test_rank_correlation_with_ties() -> None:
    assert correlation.tau_a(X, Y_TIED) == pytest.approx(0.711111, **SIX)
    assert correlation.tau_b(X, Y_TIED) == pytest.approx(0.754247, **SIX)
    assert correlation.tau_ap_a(X, Y_TIED) == pytest.approx(0.607451, **SIX)
    assert correlation.tau_b(X_TIED, Y_TIED) == pytest.approx(0.75, **SIX)
    assert correlation.tau_ap_b(X_TIED, Y_TIED) == pytest.approx(0.626984, **SIX)


@pytest.mark.parametrize(
    ("runs", "alpha", "tau"),
    [(30, 0.01, 0.3319), (30, 0.05, 0.252545), (16, 0.05, 0.362775), (14, 0.05, 0.393426), (10, 0.05, 0.486957)],
)
def test_critical_tau(runs: int, alpha: float, tau: float) -> None:
    assert correlation.critical_tau(runs, alpha) == pytest.approx(tau, **SIX)


def test_rbo() -> None:
    a, b, c, d, e, f, g, h = range(8)
    short, long = [a, b, c, d, e], [b, a, f, d, g, c, h]
    found = rbo.rbo(short, long, 0.9)
    assert found.ext == pytest.approx(0.678097, **SIX)
    assert found.low == pytest.approx(0.448024, **SIX)
    assert found.residual == pytest.approx(0.363073, **SIX)
    assert rbo.rbo_truncated(short, long, 0.9, depth=7) == pytest.approx(0.589943, **SIX)
    assert rbo.rbo(short, short, 0.9).ext == pytest.approx(1.0, **SIX)


# -- bootstrap (BS1, BS2)

Z = [0.08, -0.03, 0.11, 0.06, 0.02]
Z_MATRIX = np.column_stack([0.3 + np.array(Z), np.full(5, 0.3)])

TWENTY = [
    *([1, 4, 0, 2, 0], [3, 3, 3, 3, 1], [0, 3, 0, 3, 3], [4, 0, 3, 2, 1], [4, 0, 2, 0, 0]),
    *([0, 4, 0, 3, 1], [3, 0, 4, 1, 3], [3, 4, 1, 2, 1], [1, 3, 2, 0, 3], [4, 0, 1, 2, 0]),
    *([2, 4, 3, 4, 1], [2, 2, 4, 3, 4], [3, 4, 0, 3, 1], [3, 3, 1, 2, 4], [2, 0, 3, 4, 0]),
    *([1, 4, 3, 2, 3], [0, 3, 0, 2, 4], [4, 4, 3, 1, 1], [4, 1, 0, 1, 4], [4, 1, 3, 4, 2]),
]


def test_bootstrap_over_all_resamples() -> None:
    found = bootstrap(Z_MATRIX, draws=draws.every_resample(5), alpha=0.05)
    assert found.resamples == 3125
    assert found.statistic[0] == pytest.approx(1.969464, **SIX)
    assert found.p_value[0] == 405 / 3125
    assert found.required_difference == pytest.approx(0.048, **SIX)


def test_bootstrap_over_listed_resamples() -> None:
    found = bootstrap(Z_MATRIX, draws=TWENTY, alpha=0.1)
    assert found.p_value[0] == 2 / 20
    assert found.required_difference == pytest.approx(0.04, **SIX)


# -- Tukey, ANOVA, reliability (TK1, AG1)


def test_randomised_tukey_over_all_permutations() -> None:
    rows = [list(itertools.permutations(row)) for row in np.asarray(FOUR_TOPICS)]
    every = np.array(list(itertools.product(*rows)))  # all ways to permute the runs inside each topic
    assert len(every) == 1296
    found = tukey.randomised_tukey(FOUR_TOPICS, permuted=every)
    assert found.p_value == pytest.approx([0.925926, 0.037037, 0.166667], **SIX)
    assert mean_scores(FOUR_TOPICS) == pytest.approx([0.4275, 0.4025, 0.295], **SIX)


def test_anova() -> None:
    found = anova.two_way(FOUR_TOPICS)
    assert (found.ss_runs, found.ss_topics, found.ss_error, found.ss_total) == pytest.approx(
        (0.03965, 0.291367, 0.013483, 0.3445), **SIX
    )
    assert (found.df_runs, found.df_topics, found.df_error) == (2, 3, 6)
    assert (found.ms_runs, found.ms_topics, found.ms_error) == pytest.approx((0.019825, 0.097122, 0.002247), **SIX)
    assert (found.f_runs, found.p_runs) == pytest.approx((8.822002, 0.016341), **SIX)
    assert (found.f_topics, found.p_topics) == pytest.approx((43.218789, 0.000186), **SIX)


def test_classical_tukey() -> None:
    assert tukey.classical_tukey(FOUR_TOPICS).p_value == pytest.approx([0.747068, 0.017643, 0.042193], **SIX)


def test_generalizability() -> None:
    study = reliability.g_study(FOUR_TOPICS)
    assert (study.var_runs, study.var_topics, study.var_error) == pytest.approx((0.004394, 0.031625, 0.002247), **SIX)
    found = reliability.d_study(study)
    assert (found.topics, found.erho2, found.phi) == (4, pytest.approx(0.886647, **SIX), pytest.approx(0.341648, **SIX))  # type: ignore[comparison-overlap]
    assert reliability.topics_for_erho2(study, 0.95) == 10
    assert reliability.topics_for_phi(study, 0.95) == 147


# -- swap method (SW1, SR1, SR2) and shared topics (Table 5 of Sakai 2005)

SIX_TOPICS = [[0.5, 0.42], [0.3, 0.33], [0.71, 0.6], [0.2, 0.2], [0.44, 0.4], [0.1, 0.16]]


@pytest.mark.parametrize(
    ("sampling", "compared", "swapped", "overall", "best"),
    [
        ("disjoint", [5, 3, 2, 3, 3, 2, 1, 1], [2, 1, 0, 1, 0, 2, 1, 1], 0.4, 0.55),
        ("independent", [100, 60, 40, 60, 60, 40, 20, 20], [44, 24, 8, 24, 12, 8, 4, 4], 0.32, 0.55),
        (
            "replacement",
            [9288, 7128, 5832, 5400, 6048, 5184, 3456, 1944, 864, 648, 648, 216],
            [4463, 3117, 2466, 2146, 2214, 1677, 1015, 513, 228, 171, 171, 57],
            0.390904,
            0.71,
        ),
    ],
)
def test_swap_over_all_topic_sets(
    sampling: draws.Sampling, compared: list[int], swapped: list[int], overall: float, best: float
) -> None:
    found = swap(SIX_TOPICS, sets=draws.every_set_pair(6, 3, sampling))
    assert found.comparisons.tolist() == compared + [0] * (21 - len(compared))
    assert found.swaps.tolist() == swapped + [0] * (21 - len(swapped))
    assert found.overall_rate == pytest.approx(overall, **SIX)
    assert found.max_performance == pytest.approx(best, **SIX)
    assert found.rate[0] == pytest.approx(swapped[0] / compared[0], **SIX)
    assert np.isnan(found.rate[20])


UNEVEN = [0.41, 0.3, 0.2, 0.12, 0.05, 0.06, 0.04, None, 0.03, 0.02] + [None] * 11
NEVER = [0.4, 0.3, 0.2, 0.1, 0.08, 0.07] + [0.06] * 15


def test_required_bin() -> None:
    assert required_bin(UNEVEN, 0.05, "first") == 4  # type: ignore[arg-type]
    assert required_bin(UNEVEN, 0.05, "guarantee") == 6  # type: ignore[arg-type]
    assert required_bin(NEVER, 0.05, "first") is None
    assert required_bin(NEVER, 0.05, "guarantee") is None


TABLE_5 = [  # topics, size, sampling, unique, shared; the standard errors of 1000 trials; Sakai's printed averages
    (42, 20, "replacement", 16.061753, 6.142379, 0.04636, 0.054831, 16.1, 6.2),
    (42, 20, "independent", 20, 9.52381, 0, 0.051738, 20, 9.5),
    (42, 20, "disjoint", 20, 0, 0, 0, 20, 0),
    (195, 97, "replacement", 76.574531, 30.070045, 0.102907, 0.119961, 76.5, 30.0),
    (195, 97, "independent", 97, 48.251282, 0, 0.110678, 97, 48.0),
    (195, 97, "disjoint", 97, 0, 0, 0, 97, 0),
]


@pytest.mark.parametrize(
    ("topics", "size", "sampling", "unique", "shared", "unique_se", "shared_se", "paper_unique", "paper_shared"),
    TABLE_5,
)
def test_shared_topics(
    topics: int,
    size: int,
    sampling: draws.Sampling,
    unique: float,
    shared: float,
    unique_se: float,
    shared_se: float,
    paper_unique: float,
    paper_shared: float,
) -> None:
    expected = expected_shared_topics(topics, size, sampling)
    assert (expected.unique, expected.shared) == pytest.approx((unique, shared), **SIX)
    assert (expected.unique, expected.shared) == pytest.approx((paper_unique, paper_shared), abs=0.3)
    simulated = simulated_shared_topics(topics, size, sampling, trials=1000, seed=1)
    assert simulated.unique == pytest.approx(unique, abs=4 * unique_se)
    assert simulated.shared == pytest.approx(shared, abs=4 * shared_se)


# -- stability (ST1)

FIVE_TOPICS = [[0.5, 0.42, 0.43], [0.3, 0.33, 0.31], [0.71, 0.6, 0.66], [0.2, 0.2, 0.22], [0.44, 0.4, 0.45]]


def test_stability_over_all_topic_sets() -> None:
    found = stability(FIVE_TOPICS, [0.0, 0.05, 0.1], sets=draws.every_subset(5, 3))
    assert [s.comparisons for s in found] == [30, 30, 30]
    assert [s.minority_rate for s in found] == pytest.approx([0.033333, 0.0, 0.0], **SIX)
    assert [s.ties for s in found] == pytest.approx([0.0, 0.366667, 0.833333], **SIX)


# -- errors of estimated scores (SE1), topic set size


def test_errors_of_estimates() -> None:
    true, estimated = [0.5, 0.3, 0.3, 0.2, 0.1], [0.2, 0.3, 0.3, 0.0, 0.1]
    assert estimate_errors.rank_error(true, estimated) == 3
    assert estimate_errors.mean_absolute_error(true, estimated) == pytest.approx(0.1, **SIX)


def test_topic_set_size() -> None:
    assert topic_set_size.topics_for_t_test(0.1, 0.0471) == 39
    assert topic_set_size.t_test_power(39, 0.1, 0.0471) == pytest.approx(0.800715, **SIX)
    assert topic_set_size.topics_for_anova(10, 0.1, 0.0471) == 149
    assert topic_set_size.anova_power(149, 10, 0.1, 0.0471) == pytest.approx(0.802394, **SIX)
    assert topic_set_size.topics_for_interval(0.1, 0.0471) == 75
    assert not math.isnan(topic_set_size.interval_width(75, 0.0471))
