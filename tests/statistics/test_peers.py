"""The statistics against scipy, statsmodels and the published figures of gt4ireval, and against slow loops."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.multitest import multipletests

from unjudged.statistics import anova, correlation, draws, multiple, paired, rbo, reliability, topic_set_size
from unjudged.statistics.bootstrap import bootstrap, bootstrap_interval
from unjudged.statistics.pairs import all_pairs, mean_differences, pairs_with, wins_ties_losses
from unjudged.statistics.ranks import ranks
from unjudged.statistics.tukey import classical_tukey, range_boundary, range_tail


def scores(topics: int, runs: int, seed: int = 0, digits: int = 17) -> np.ndarray:
    rng = np.random.default_rng(seed)
    hard = rng.beta(1.2, 2.0, (topics, 1))
    good = np.linspace(0, 0.08, runs)
    return np.clip(hard * 0.7 + good + rng.normal(0, 0.08, (topics, runs)), 0, 1).round(digits)


# -- correlation


@pytest.mark.parametrize("runs", [2, 3, 4, 7, 20, 45])
def test_tau_and_its_p_value_are_scipys(runs: int) -> None:
    rng = np.random.default_rng(runs)
    x = rng.permutation(runs).astype(float)
    y = x + rng.normal(0, runs / 4, runs)
    assert correlation.tau_b(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    exact = stats.kendalltau(x, y, method="exact").pvalue
    assert correlation.tau_p_value(x, y, "exact") == pytest.approx(exact, rel=1e-9)
    assert correlation.tau_p_value(x, y) == pytest.approx(exact, rel=1e-9)
    if runs > 2:  # scipy divides by zero there
        normal = stats.kendalltau(x, y, method="asymptotic").pvalue
        assert correlation.tau_p_value(x, y, "normal") == pytest.approx(normal, rel=1e-9)


def test_tau_exact_p_value_by_counting_permutations() -> None:
    x, y = np.arange(6.0), np.array([1.0, 0, 3, 2, 5, 4])
    tau = correlation.tau_a(x, y)
    as_far = [abs(correlation.tau_a(x, p)) >= abs(tau) - 1e-12 for p in permutations(range(6))]
    assert correlation.tau_p_value(x, y, "exact") == pytest.approx(np.mean(as_far), abs=1e-12)


def test_tau_p_value_with_ties_is_normal_or_refused() -> None:
    x, y = [1, 2, 2, 4, 5], [1, 3, 2, 5, 4]
    z = correlation.tau_b(x, y) / math.sqrt(30 / 180)
    assert correlation.tau_p_value(x, y) == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)
    with pytest.raises(ValueError, match="without ties"):
        correlation.tau_p_value(x, y, "exact")
    assert math.isnan(correlation.tau_p_value([1, 1], [1, 2]))


@pytest.mark.parametrize("digits", [1, 17])
def test_spearman_and_pearson_are_scipys(digits: int) -> None:
    rng = np.random.default_rng(4)
    x = rng.random(25).round(digits)
    y = (x + rng.normal(0, 0.3, 25)).round(digits)
    both: list[tuple[Any, Any]] = [(correlation.spearman, stats.spearmanr), (correlation.pearson, stats.pearsonr)]
    for mine, theirs in both:
        expected = theirs(x, y)
        assert mine(x, y) == pytest.approx(expected.statistic, abs=1e-12)
        assert correlation.correlation_p_value(mine(x, y), 25) == pytest.approx(expected.pvalue, rel=1e-9)


def test_tau_ap_a_is_the_mean_over_all_orders_of_ties() -> None:
    """Urbano and Marrero's definition: tau_AP averaged over every way to break the estimate's ties."""
    x, y = [0.9, 0.5, 0.7, 0.1, 0.3, 0.2], [0.8, 0.8, 0.4, 0.4, 0.4, 0.1]
    total = []
    for order in permutations(range(6)):
        total.append(correlation.tau_ap(x, np.array(y) - 1e-6 * np.array(order)))
    assert correlation.tau_ap_a(x, y) == pytest.approx(np.mean(total), abs=1e-9)


def test_tau_ap_by_its_definition() -> None:
    rng = np.random.default_rng(8)
    x, y = rng.random(9), rng.random(9)
    order = sorted(range(9), key=lambda i: -y[i])
    total = 0.0
    for i in range(1, 9):
        total += sum(x[order[j]] > x[order[i]] for j in range(i)) / i
    assert correlation.tau_ap(x, y) == pytest.approx(2 / 8 * total - 1, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [([1, 2, 3], [3, 1, 2, 9, 8]), ([1, 2], [4, 3]), ([5], [1, 2, 5]), ([], [])])
@pytest.mark.parametrize("p", [0.5, 0.9])
def test_rbo_bounds_by_filling_in_the_unseen_ranks(a: list[int], b: list[int], p: float) -> None:
    """Lowest and highest by continuing both rankings far down: with unlike or with the most helpful documents."""

    def far_sum(x: list[Any], y: list[Any]) -> float:
        total = 0.0
        for d in range(1, len(x) + 1):
            total += p ** (d - 1) * len(set(x[:d]) & set(y[:d])) / d
        return (1 - p) * total

    depth = 400
    apart_a = a + [f"a{i}" for i in range(depth - len(a))]
    apart_b = b + [f"b{i}" for i in range(depth - len(b))]
    missing_a, missing_b = [x for x in b if x not in a], [x for x in a if x not in b]
    same = [f"s{i}" for i in range(depth)]
    helped_a = (a + missing_a + same)[:depth]
    helped_b = (b + missing_b + same)[:depth]
    found = rbo.rbo(a, b, p)
    if a or b:
        assert found.low == pytest.approx(far_sum(apart_a, apart_b), abs=1e-9)
        assert found.high == pytest.approx(far_sum(helped_a, helped_b), abs=1e-9)
    else:
        assert (found.low, found.ext, found.residual) == (1.0, 1.0, 0.0)


def test_ranks() -> None:
    assert ranks([0.2, 0.5, 0.5, 0.1]).tolist() == [3, 1, 1, 4]
    assert ranks([0.3, 0.1 + 0.2]).tolist() == [1, 1]


# -- paired tests


@pytest.mark.parametrize("topics", [2, 5, 30])
def test_t_test_is_scipys(topics: int) -> None:
    matrix = scores(topics, 5)
    found = paired.t_test(matrix)
    for k, (i, j) in enumerate(zip(*all_pairs(5), strict=True)):
        expected = stats.ttest_rel(matrix[:, i], matrix[:, j])
        assert found.statistic[k] == pytest.approx(expected.statistic, rel=1e-9)
        assert found.p_value[k] == pytest.approx(expected.pvalue, rel=1e-9)
        interval = expected.confidence_interval(0.9)
        low, high = paired.t_interval(matrix, alpha=0.1)
        assert (low[k], high[k]) == pytest.approx((interval.low, interval.high), rel=1e-9)
        z = matrix[:, i] - matrix[:, j]
        assert paired.effect_size(matrix)[k] == pytest.approx(z.mean() / z.std(ddof=1), rel=1e-9)
        assert paired.residual_effect_size(matrix)[k] == pytest.approx(
            z.mean() / math.sqrt(anova.two_way(matrix).ms_error), rel=1e-9
        )


@pytest.mark.filterwarnings("ignore:Sample size too small for normal approximation:UserWarning")  # SciPy before 1.15
@pytest.mark.parametrize("topics", [3, 8, 40])
def test_wilcoxon_is_scipys(topics: int) -> None:
    matrix = scores(topics, 4)
    found, normal = paired.wilcoxon(matrix), paired.wilcoxon(matrix, method="normal")
    for k, (i, j) in enumerate(zip(*all_pairs(4), strict=True)):
        z = matrix[:, i] - matrix[:, j]
        z = z[z != 0]  # left out by both; SciPy before 1.15 takes no exact p-value where there are any
        exact = stats.wilcoxon(z, method="exact")
        assert (found.statistic[k], found.p_value[k]) == pytest.approx((exact.statistic, exact.pvalue), rel=1e-9)
        approximate = stats.wilcoxon(z, method="approx")
        assert normal.p_value[k] == pytest.approx(approximate.pvalue, rel=1e-9)


def test_wilcoxon_with_ties_and_zeros() -> None:
    rounded = scores(40, 4, digits=1)
    found = paired.wilcoxon(rounded, method="normal")
    for k, (i, j) in enumerate(zip(*all_pairs(4), strict=True)):
        z = (rounded[:, i] - rounded[:, j]).round(1)
        expected = stats.wilcoxon(z, method="approx", zero_method="wilcox")
        assert (found.statistic[k], found.p_value[k]) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
    z = np.array([0.1, 0.1, -0.1, 0.2, 0.3, 0.3, 0.3, 0.0])  # all 2^7 signs of the tied ranks, counted here
    size = stats.rankdata(np.abs(z[z != 0]))
    flips = draws.every_sign_flip(7)
    observed = abs((np.sign(z[z != 0]) * size).sum())
    expected_p = (np.abs(flips @ size) >= observed - 1e-9).mean()
    assert paired.wilcoxon(np.column_stack([z, 0 * z])).p_value[0] == pytest.approx(expected_p, abs=1e-12)


def test_permutation_is_scipys_where_exact() -> None:
    matrix = scores(8, 3)
    found = paired.permutation(matrix, resamples=256)
    for k, (i, j) in enumerate(zip(*all_pairs(3), strict=True)):
        permuted: Any = stats.permutation_test  # its types know no samples of one
        expected = permuted(
            (matrix[:, i] - matrix[:, j],),
            lambda z, axis: np.mean(z, axis=axis),
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=True,
        )
        assert found.p_value[k] == pytest.approx(expected.pvalue, abs=1e-12)
    drawn = paired.permutation(matrix, resamples=255, seed=3)
    flips = draws.sign_flips(8, 255, seed=3)
    for k, (i, j) in enumerate(zip(*all_pairs(3), strict=True)):
        z = matrix[:, i] - matrix[:, j]
        larger = (np.abs((flips * z).mean(axis=1)) >= abs(z.mean()) - 1e-12).sum()
        assert drawn.p_value[k] == (larger + 1) / 256


def plain_bootstrap(x: np.ndarray, y: np.ndarray, draws: np.ndarray, alpha: float) -> tuple[float, float]:
    """METHODS C.4, as written there."""
    z = x - y
    n = len(z)
    observed = abs(z.mean() / (z.std(ddof=1) / math.sqrt(n)))
    w = z - z.mean()
    found = []
    for sample in draws:
        part = w[sample]
        mean, deviation = part.mean(), part.std(ddof=1)
        if deviation < 1e-13:
            found.append((math.inf if abs(mean) > 1e-12 else 0.0, abs(mean)))
        else:
            found.append((abs(mean / (deviation / math.sqrt(n))), abs(mean)))
    asl = sum(t >= observed - 1e-12 for t, _ in found) / len(found)
    ordered = sorted(found, key=lambda pair: -pair[0])
    return asl, ordered[math.ceil(len(draws) * alpha - 1e-9) - 1][1]


@pytest.mark.parametrize(("topics", "alpha"), [(4, 0.05), (9, 0.01), (30, 0.2)])
def test_bootstrap_is_the_plain_loop(topics: int, alpha: float) -> None:
    matrix = scores(topics, 6, seed=topics)
    samples = draws.topic_resamples(topics, 400, seed=7)
    found = bootstrap(matrix, resamples=400, alpha=alpha, seed=7, asl=True)
    given = bootstrap(matrix, draws=samples, alpha=alpha)
    assert (found.p_value == given.p_value).all()
    read = bootstrap(matrix, resamples=400, alpha=alpha, seed=7)
    wanted = []
    for k, (i, j) in enumerate(zip(*all_pairs(6), strict=True)):
        asl, difference = plain_bootstrap(matrix[:, i], matrix[:, j], samples, alpha)
        assert found.p_value[k] == asl
        assert read.p_value[k] == (round(400 * asl) + 1) / 401
        assert found.required[k] == pytest.approx(difference, abs=1e-12)
        wanted.append(difference)
    assert found.required_difference == pytest.approx(max(wanted), abs=1e-12)
    assert found.curve().tolist() == sorted(found.p_value, reverse=True)
    assert found.power(0.05) == np.mean(found.p_value < 0.05)


def test_bootstrap_interval_by_numpy() -> None:
    matrix = scores(20, 3)
    samples = draws.topic_resamples(20, 500, seed=2)
    low, high = bootstrap_interval(matrix, resamples=500, seed=2, alpha=0.1)
    for k, (i, j) in enumerate(zip(*all_pairs(3), strict=True)):
        means = (matrix[:, i] - matrix[:, j])[samples].mean(axis=1)
        assert (low[k], high[k]) == pytest.approx(tuple(np.quantile(means, [0.05, 0.95])), abs=1e-12)


def test_pairs_with_a_baseline_are_those_of_all_pairs() -> None:
    matrix = scores(12, 4)
    pairs = pairs_with(2, 4)
    assert (pairs[0].tolist(), pairs[1].tolist()) == ([0, 1, 3], [2, 2, 2])
    everything, some = bootstrap(matrix), bootstrap(matrix, pairs)
    assert some.p_value.tolist() == everything.p_value[[1, 3, 5]].tolist()
    assert some.difference.tolist() == [everything.difference[1], everything.difference[3], -everything.difference[5]]
    assert mean_differences(matrix, pairs) == pytest.approx(matrix.mean(axis=0)[[0, 1, 3]] - matrix.mean(axis=0)[2])
    wins, ties, losses = wins_ties_losses([[0.3, 0.1], [0.3, 0.1 + 0.2], [0.1, 0.2]])
    assert (wins.tolist(), ties.tolist(), losses.tolist()) == ([1], [1], [1])


# -- Tukey, ANOVA, multiple comparisons


def test_classical_tukey_is_scipys_where_topics_do_not_matter() -> None:
    """scipy's one-way test, with the residual and degrees of freedom of the two-way analysis put in."""
    matrix = scores(10, 4)
    found = classical_tukey(matrix)
    table = anova.two_way(matrix)
    for k, (i, j) in enumerate(zip(*all_pairs(4), strict=True)):
        q = abs(matrix[:, i].mean() - matrix[:, j].mean()) / math.sqrt(table.ms_error / 10)
        assert found.p_value[k] == pytest.approx(stats.studentized_range.sf(q, 4, 27), abs=1e-9)
    one_way = stats.tukey_hsd(*matrix.T)
    within = anova.within_run_variance(matrix)
    q = abs(matrix[:, 0].mean() - matrix[:, 3].mean()) / math.sqrt(within / 10)
    assert one_way.pvalue[0, 3] == pytest.approx(stats.studentized_range.sf(q, 4, 36), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "df"), [(2, 1), (2, 5), (3, 2), (5, 30), (30, 29), (127, 4158)])
def test_studentised_range_is_scipys(runs: int, df: int) -> None:
    q = np.array([0.0, 0.3, 1.0, 2.5, 4.0, 6.0, 9.0])
    assert range_tail(q, runs, df) == pytest.approx(stats.studentized_range.sf(q, runs, df), abs=1e-9)
    assert range_tail(np.empty(0), runs, df).tolist() == []
    assert range_boundary(0.05, runs, df) == pytest.approx(stats.studentized_range.isf(0.05, runs, df), rel=1e-5)
    assert range_tail([range_boundary(0.01, runs, df)], runs, df)[0] == pytest.approx(0.01, abs=1e-9)
    if runs == 2:  # the range of two is a t statistic times the root of two
        far = np.array([9.0, 20.0, 60.0])
        assert range_tail(far, 2, df) == pytest.approx(2 * stats.t.sf(far / math.sqrt(2), df), rel=1e-6)


def test_two_way_anova_is_statsmodels() -> None:
    matrix = scores(9, 5)
    cells = pd.DataFrame(
        [(f"t{i}", f"r{j}", matrix[i, j]) for i in range(9) for j in range(5)], columns=["topic", "run", "value"]
    )
    table = anova_lm(ols("value ~ C(run) + C(topic)", data=cells).fit())
    found = anova.two_way(matrix)
    assert (found.df_runs, found.df_topics, found.df_error) == tuple(table["df"])
    assert (found.ss_runs, found.ss_topics, found.ss_error) == pytest.approx(tuple(table["sum_sq"]), rel=1e-9)
    assert (found.f_runs, found.f_topics) == pytest.approx(tuple(table["F"][:2]), rel=1e-9)
    assert (found.p_runs, found.p_topics) == pytest.approx(tuple(table["PR(>F)"][:2]), rel=1e-9)
    assert found.ss_total == pytest.approx(found.ss_runs + found.ss_topics + found.ss_error, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mine", "theirs"),
    [(multiple.bonferroni, "bonferroni"), (multiple.holm, "holm"), (multiple.benjamini_hochberg, "fdr_bh")],
)
def test_adjusted_p_values_are_statsmodels(mine: Any, theirs: str) -> None:
    p = np.random.default_rng(5).beta(0.3, 1, 40)
    p[3] = p[4]
    assert mine(p) == pytest.approx(multipletests(p, method=theirs)[1], abs=1e-12)
    with_hole = np.insert(p, 7, np.nan)
    assert np.delete(mine(with_hole), 7) == pytest.approx(mine(p), abs=1e-15)
    assert np.isnan(mine(with_hole)[7])
    with pytest.raises(ValueError, match="between 0 and 1"):
        mine([0.2, 1.2])


# -- reliability: Brennan's synthetic data set 4 (Generalizability Theory, 2001, Tables 3.2, 6.2 and 6.5), the figures
# that gt4ireval publishes and tests itself with

PERSONS = [
    *([5, 6, 5, 5, 5, 3, 4, 5, 6, 7, 3, 3], [9, 3, 7, 7, 7, 5, 5, 5, 7, 7, 5, 2], [3, 4, 3, 3, 5, 3, 3, 5, 6, 5, 1, 6]),
    *([7, 5, 5, 3, 3, 1, 4, 3, 5, 3, 3, 5], [9, 2, 9, 7, 7, 7, 3, 7, 2, 7, 5, 3], [3, 4, 3, 5, 3, 3, 6, 3, 4, 5, 1, 2]),
    *([7, 3, 7, 7, 7, 5, 5, 7, 5, 5, 5, 4], [5, 8, 5, 7, 7, 5, 5, 4, 3, 2, 1, 1], [9, 9, 8, 8, 6, 6, 6, 5, 5, 8, 1, 1]),
    [4, 4, 4, 3, 3, 5, 6, 5, 5, 7, 1, 1],
]
BRENNAN = np.array(PERSONS, dtype=float).T


def test_reliability_of_brennans_data() -> None:
    study = reliability.g_study(BRENNAN)
    assert (study.anova.runs, study.anova.topics, study.clipped) == (10, 12, ())
    mean_squares = (study.anova.ms_runs, study.anova.ms_topics, study.anova.ms_error)
    assert mean_squares == pytest.approx((10.296296, 11.627273, 2.787205), abs=6e-7)
    assert (study.var_runs, study.var_topics, study.var_error) == pytest.approx(
        (0.625758, 0.884007, 2.787205), abs=6e-7
    )
    found = reliability.d_study(study, alpha=0.1)
    assert (found.erho2, found.phi) == pytest.approx((0.7293, 0.671636), abs=6e-7)
    bounds = (found.erho2_low, found.erho2_high, found.phi_low, found.phi_high)
    assert bounds == pytest.approx((0.541, 0.876, 0.457, 0.845), abs=5e-4)


def test_dropping_the_worst_runs_as_gt4ireval_does() -> None:
    assert reliability.g_study(BRENNAN, drop=0.3).anova.runs == 7
    assert reliability.g_study(BRENNAN, drop=0.2).anova.runs == 9  # the second and the third worst are tied


def test_a_negative_variance_becomes_zero_and_is_named() -> None:
    study = reliability.g_study(BRENNAN[3:7, 3:7])
    assert study.var_topics == 0
    assert study.clipped == ("topics",)


def test_mapping_reliability_to_familiar_numbers() -> None:
    """The two values printed in gt4ireval's vignette."""
    assert reliability.fitted_tau(0.95) == pytest.approx(0.86412, abs=5e-6)
    assert reliability.fitted_relative_sensitivity(0.8) == pytest.approx(0.12389, abs=5e-6)
    assert reliability.fitted_tau_ap(0.95) == pytest.approx(0.95**3.98652984)


def tau_of(study: reliability.GStudy, topics: float) -> float:
    return reliability.expected_tau(study.var_runs, study.var_error, int(topics))


def test_expected_tau_against_drawing_topics() -> None:
    """Normal scores with known variances: the formula gives the tau of fresh topic sets."""
    rng = np.random.default_rng(1)
    taus, said = [], []
    for _ in range(12):
        runs = rng.normal(0, 1.0, 40)
        x, y = (runs + rng.normal(0, 3.0, (n, 40)) + rng.normal(0, 2.0, (n, 1)) for n in (30, 100))
        taus.append(stats.kendalltau(x.mean(axis=0), y.mean(axis=0)).statistic)
        said.append(tau_of(reliability.g_study(x), 30))
    exact = 2 / np.pi * np.arcsin(np.sqrt(1 / (1 + 9 / 30) / (1 + 9 / 100)))
    assert np.mean(taus) == pytest.approx(exact, abs=0.03)
    assert np.mean(said) == pytest.approx(exact, abs=0.03)


def test_topics_for_tau_is_the_fewest() -> None:
    study = reliability.g_study(np.random.default_rng(2).normal(0, 1, (20, 9)) + np.arange(9) / 4)
    for tau in (0.3, 0.5, 0.7, 0.75):
        needed = reliability.topics_for_tau(study.var_runs, study.var_error, tau)
        assert math.isfinite(needed)
        assert tau_of(study, needed) >= tau and (needed == 1 or tau_of(study, needed - 1) < tau)
    assert reliability.topics_for_tau(study.var_runs, study.var_error, 0.999) == math.inf
    assert reliability.topics_for_tau(0.0, study.var_error, 0.5) == math.inf
    assert (tau_of(study, 20) > 0, reliability.expected_tau(0.0, 1.0, 20), reliability.expected_tau(1.0, 0.0, 1)) == (
        True,
        0,
        1,
    )
    with pytest.raises(ValueError, match="tau must lie between 0 and 1"):
        reliability.topics_for_tau(1.0, 1.0, 1.0)


# -- topic set size


def test_topic_set_sizes_are_the_smallest_that_suffice() -> None:
    for difference, variance in [(0.1, 0.0471), (0.05, 0.02), (0.3, 0.01), (0.02, 0.05)]:
        n = topic_set_size.topics_for_t_test(difference, variance)
        assert topic_set_size.t_test_power(n, difference, variance) >= 0.8
        assert n == 2 or topic_set_size.t_test_power(n - 1, difference, variance) < 0.8
        n = topic_set_size.topics_for_anova(5, difference, variance)
        assert topic_set_size.anova_power(n, 5, difference, variance) >= 0.8
        assert n == 2 or topic_set_size.anova_power(n - 1, 5, difference, variance) < 0.8
        n = topic_set_size.topics_for_interval(difference, variance)
        assert topic_set_size.interval_width(n, variance) <= difference
        assert n == 2 or topic_set_size.interval_width(n - 1, variance) > difference


def test_topic_set_size_refuses_nonsense() -> None:
    with pytest.raises(ValueError, match="positive"):
        topic_set_size.topics_for_t_test(0.0, 0.1)
    with pytest.raises(ValueError, match="between 0 and 1"):
        topic_set_size.topics_for_t_test(0.1, 0.1, beta=1.0)
    with pytest.raises(ValueError, match="at least 2 runs"):
        topic_set_size.topics_for_anova(1, 0.1, 0.1)
