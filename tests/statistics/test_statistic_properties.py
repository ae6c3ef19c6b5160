"""What must hold for any scores (METHODS D 31-33, 36-40), odd inputs, and the same bytes from either kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from unjudged import kernels
from unjudged.kernels import _numpy
from unjudged.statistics import anova, correlation, draws, estimate_errors, multiple, paired, rbo, reliability
from unjudged.statistics.bootstrap import bootstrap, bootstrap_interval, sampled_means
from unjudged.statistics.draws import expected_shared_topics
from unjudged.statistics.pairs import all_pairs, chosen_pairs, each, mean_differences, pairs_with, wins_ties_losses
from unjudged.statistics.ranks import ranks
from unjudged.statistics.stability import stability
from unjudged.statistics.swap import Swaps, required_bin, swap
from unjudged.statistics.tukey import Shuffled, classical_tukey, randomised_tukey

try:
    from unjudged.kernels import _c  # type: ignore[attr-defined, unused-ignore]
except ImportError:
    _c = None  # type: ignore[assignment, unused-ignore]

needs_c = pytest.mark.skipif(_c is None, reason="the C kernels are not built here: nothing to compare")
generated = settings(max_examples=40)


@st.composite
def matrices(draw: st.DrawFn, topics: tuple[int, int] = (2, 9), runs: tuple[int, int] = (2, 5)) -> np.ndarray:
    """Scores in hundredths, so that exact ties and bin edges happen."""
    n, m = draw(st.integers(*topics)), draw(st.integers(*runs))
    cells = st.lists(st.integers(0, 100), min_size=n * m, max_size=n * m)
    return np.array(draw(cells), dtype=float).reshape(n, m) / 100


seeds = st.integers(0, 2**32 - 1)
lists = st.integers(2, 12).flatmap(
    lambda m: st.tuples(*[st.lists(st.integers(0, 20).map(float), min_size=m, max_size=m)] * 2)
)

# -- 31, 32: swap method


@generated
@given(matrices(topics=(4, 9)), st.sampled_from(draws.SAMPLINGS), seeds)
def test_swap_invariants(matrix: np.ndarray, sampling: draws.Sampling, seed: int) -> None:
    n, m = matrix.shape
    found = swap(matrix, sampling=sampling, trials=20, seed=seed)
    assert found.comparisons.sum() == m * (m - 1) // 2 * 20
    assert (found.swaps <= found.comparisons).all()
    renamed = swap(matrix[:, ::-1], sampling=sampling, trials=20, seed=seed)
    assert renamed.comparisons.tolist() == found.comparisons.tolist()
    assert renamed.swaps.tolist() == found.swaps.tolist()
    here, there = draws.topic_set_pairs(n, n // 2, 20, sampling, seed)
    assert swap(matrix, sets=(there, here)).swaps.sum() == found.swaps.sum()
    shifted = matrix.copy()
    shifted[0] += 0.5
    assert swap(shifted, sampling=sampling, trials=20, seed=seed).swaps.tolist() == found.swaps.tolist()
    assert swap(matrix / 4, sampling=sampling, trials=20, seed=seed).swaps.sum() == found.swaps.sum()
    assert found.max_performance <= matrix.max() + 1e-12
    same = swap(matrix[:, [0, 0, 0]], sampling=sampling, trials=20, seed=seed)
    assert (same.comparisons[0], same.swaps.sum()) == (60, 0)


@generated
@given(matrices(topics=(4, 4)))
def test_enumerated_disjoint_halves_give_an_even_number_of_swaps(matrix: np.ndarray) -> None:
    assert swap(matrix, sets=draws.every_set_pair(4, 2, "disjoint")).swaps.sum() % 2 == 0


@given(st.lists(st.one_of(st.none(), st.sampled_from([0.0, 0.02, 0.05, 0.051, 0.2])), min_size=1, max_size=21))
def test_required_bin_by_its_definition(rate: list[float | None]) -> None:
    meets = [r is not None and r <= 0.05 for r in rate]
    first = next((b for b, good in enumerate(meets) if good), None)
    guarantee = next(
        (b for b, good in enumerate(meets) if good and all(r is None or r <= 0.05 for r in rate[b:])), None
    )
    assert required_bin(np.array(rate, float), 0.05, "first") == first
    assert required_bin(np.array(rate, float), 0.05, "guarantee") == guarantee


def test_what_a_confidence_asks_for() -> None:
    compared, swapped = np.zeros(21, dtype=np.int64), np.zeros(21, dtype=np.int64)
    compared[[0, 5, 9, 20]], swapped[[0, 5, 9]] = [100, 60, 40, 0], [50, 6, 2]
    found = Swaps.of(compared, swapped, 0.5)
    strict = found.required(0.95, "guarantee")
    assert (strict.bin, strict.difference, strict.relative, strict.share) == (9, 0.09, pytest.approx(0.18), 0.2)  # type: ignore[comparison-overlap]
    loose = found.required(0.9, "guarantee")
    assert (loose.bin, loose.share) == (5, 0.5)  # 6/60 is 10%, although 1 - 0.9 < 0.1 in floating point
    never = found.required(0.99, "guarantee")
    assert never.bin is None
    assert math.isnan(never.difference) and math.isnan(never.share) and math.isnan(never.relative)


# -- 33: rank correlation


@generated
@given(lists)
def test_rank_correlation_invariants(xy: tuple[list[float], list[float]]) -> None:
    x, y = np.array(xy[0]), np.array(xy[1])
    both: list[Callable[[Any, Any], float]] = [
        correlation.tau_a,
        correlation.tau_b,
        correlation.spearman,
        correlation.pearson,
        correlation.tau_ap_b,
    ]
    for measure in both:
        assert measure(x, y) == pytest.approx(measure(y, x), abs=1e-12, nan_ok=True)
        if np.ptp(x) > 0 and measure is not correlation.tau_a:
            assert measure(x, x) == pytest.approx(1)
    ranked: list[Callable[[Any, Any], float]] = [
        *both[:3],
        correlation.tau_ap,
        correlation.tau_ap_a,
        correlation.tau_ap_b,
    ]
    for measure in ranked:
        assert measure(np.exp(x / 10), y**3 + y) == pytest.approx(measure(x, y), abs=1e-12, nan_ok=True)
        assert math.isnan(measure(x, y)) or -1 - 1e-9 <= measure(x, y) <= 1 + 1e-9
    distinct = x + np.arange(len(x)) / 100
    for measure in [
        correlation.tau_a,
        correlation.tau_b,
        correlation.tau_ap,
        correlation.tau_ap_a,
        correlation.tau_ap_symmetric,
    ]:
        assert measure(distinct, distinct) == pytest.approx(1)
        assert measure(distinct, -distinct) == pytest.approx(-1)
    other = y + np.arange(len(y))[::-1] / 100
    assert correlation.tau_a(distinct, other) == pytest.approx(correlation.tau_b(distinct, other))
    assert correlation.tau_ap_a(distinct, other) == pytest.approx(correlation.tau_ap(distinct, other))
    assert correlation.tau_ap_b(distinct, other) == pytest.approx(correlation.tau_ap_symmetric(distinct, other))


@generated
@given(matrices(topics=(2, 40), runs=(2, 12)), seeds)
def test_many_lists_at_once_are_one_after_the_other(x: np.ndarray, seed: int) -> None:
    """To the last bit; a row that has no value does not touch the others."""
    rng = np.random.default_rng(seed)
    y = rng.permuted(x, axis=1)
    first, second = (rng.permuted(np.tile(np.arange(x.shape[1]), (len(x), 1)), axis=1) for _ in range(2))
    x[0, 0] = np.nan
    for one, many in ((correlation.tau_b, correlation.tau_b_rows), (correlation.tau_ap, correlation.tau_ap_rows)):
        assert np.array_equal(many(x, y), [one(a, b) for a, b in zip(x, y, strict=True)], equal_nan=True)
        assert np.isnan(many(x, y)[0]) and np.isnan(many(x[:, :1], y[:, :1])).all()
    overlaps = [rbo.rbo(a, b, 0.8).ext for a, b in zip(first, second, strict=True)]
    assert rbo.rbo_rows(first, second, 0.8).tolist() == overlaps


# -- 36: tests


@generated
@given(matrices(), st.sampled_from([0.25, 0.5, 4.0]), seeds)
def test_bootstrap_invariants(matrix: np.ndarray, scale: float, seed: int) -> None:
    found = bootstrap(matrix, resamples=50, seed=seed)
    assert ((found.p_value >= 0) & (found.p_value <= 1)).all()
    first, second = all_pairs(matrix.shape[1])
    turned = bootstrap(matrix, (second, first), resamples=50, seed=seed)
    assert turned.p_value.tolist() == found.p_value.tolist()
    assert (turned.difference == -found.difference).all()
    scaled = bootstrap(matrix * scale, resamples=50, seed=seed)
    assert scaled.p_value.tolist() == found.p_value.tolist()
    assert scaled.required == pytest.approx(found.required * scale, abs=1e-12, nan_ok=True)


@generated
@given(matrices(runs=(3, 5)), seeds)
def test_tukey_falls_with_the_difference(matrix: np.ndarray, seed: int) -> None:
    for found in (randomised_tukey(matrix, resamples=50, seed=seed), classical_tukey(matrix)):
        order = np.argsort(np.abs(found.difference))
        assert (np.diff(found.p_value[order]) <= 1e-12).all()
        assert ((found.p_value >= 0) & (found.p_value <= 1)).all()


@generated
@given(matrices(), seeds)
def test_every_p_value_is_one_for_identical_runs(matrix: np.ndarray, seed: int) -> None:
    twice = matrix[:, [0, 0]]
    for found in (
        bootstrap(twice, resamples=20, seed=seed),
        paired.t_test(twice),
        paired.wilcoxon(twice),
        paired.permutation(twice, resamples=20, seed=seed),
        randomised_tukey(twice, resamples=20, seed=seed),
        classical_tukey(twice),
    ):
        assert found.p_value.tolist() == [1.0]
        assert found.difference.tolist() == [0.0]
        assert found.power() == 0
        assert not found.constant.any()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_corrections_only_raise_p_values_and_keep_their_order(p: list[float]) -> None:
    for correct in multiple.CORRECTIONS.values():
        adjusted = correct(p)
        assert (adjusted >= np.array(p)).all() and (adjusted <= 1).all()
        assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()
    assert (multiple.holm(p) <= multiple.bonferroni(p)).all()
    assert (multiple.benjamini_hochberg(p) <= multiple.holm(p) + 1e-15).all()


# -- 37: reliability


@generated
@given(matrices())
def test_reliability_invariants(matrix: np.ndarray) -> None:
    study = reliability.g_study(matrix)
    table = study.anova
    assert table.ss_total == pytest.approx(table.ss_runs + table.ss_topics + table.ss_error, abs=1e-9)
    now, more = reliability.d_study(study), reliability.d_study(study, 2 * len(matrix))
    assume(not math.isnan(now.erho2))
    assert now.erho2 >= now.phi - 1e-12
    assert more.erho2 >= now.erho2 - 1e-12 and more.phi >= now.phi - 1e-12
    if 1 < table.f_runs < math.inf:
        assert now.erho2 == pytest.approx(1 - 1 / table.f_runs, abs=1e-9)
    assert now.erho2_low <= now.erho2 + 1e-9 and now.erho2 <= now.erho2_high + 1e-9
    needed = reliability.topics_for_erho2(study, 0.9)
    if needed < 1e6:
        assert reliability.d_study(study, int(needed)).erho2 >= 0.9 - 1e-9
        assert needed == 1 or reliability.d_study(study, int(needed) - 1).erho2 < 0.9


@generated
@given(matrices(runs=(2, 2)))
def test_anova_of_two_runs_is_the_t_test(matrix: np.ndarray) -> None:
    t = paired.t_test(matrix)
    found = anova.two_way(matrix)
    if found.ss_error == 0:
        assert math.isinf(found.f_runs) == bool(t.constant[0])
        assert math.isnan(found.f_runs) == (t.p_value[0] == 1)
    else:
        assert found.f_runs == pytest.approx(t.statistic[0] ** 2, abs=1e-9)
        assert found.p_runs == pytest.approx(t.p_value[0], abs=1e-9)


# -- 38: errors of estimates


@generated
@given(lists, seeds)
def test_errors_of_estimates(xy: tuple[list[float], list[float]], seed: int) -> None:
    true, estimated = xy
    assert estimate_errors.rank_error(true, true) == 0
    assert estimate_errors.mean_absolute_error(true, true) == 0
    rng = np.random.default_rng(seed)
    different = rng.random((len(true), len(true))) < 0.5
    passed = estimate_errors.passed_runs(true, estimated)
    assert estimate_errors.significant_rank_error(true, estimated, different) <= passed.sum()
    assert estimate_errors.significant_rank_error(true, estimated, np.zeros_like(different)) == 0
    total = 0
    for k, (s, e) in enumerate(zip(true, estimated, strict=True)):
        others = true[:k] + true[k + 1 :]
        total += abs(sum(o > s for o in others) - sum(o > e for o in others))
    assert estimate_errors.rank_error(true, estimated) == total
    distinct = np.array(true) + np.arange(len(true)) / 100
    moved = estimate_errors.rank_error(distinct, np.array(estimated) + 0.001)
    assert estimate_errors.passed_runs(distinct, np.array(estimated) + 0.001).sum() == moved


# -- 39: rank-biased overlap

rankings = st.lists(st.integers(0, 15), unique=True, max_size=10)


@generated
@given(rankings, rankings, st.sampled_from([0.3, 0.8, 0.9, 0.98]))
def test_rbo_invariants(a: list[int], b: list[int], p: float) -> None:
    found, turned = rbo.rbo(a, b, p), rbo.rbo(b, a, p)
    assert (found.ext, found.low, found.residual) == pytest.approx((turned.ext, turned.low, turned.residual), abs=1e-12)
    assert found.low <= found.ext + 1e-9
    assert found.ext <= found.high + 1e-9
    assert found.low >= -1e-12 and found.high <= 1 + 1e-9
    if a:
        assert rbo.rbo(a, a, p).ext == pytest.approx(1)
    assert rbo.rbo_truncated(a, a, p) == pytest.approx(1)
    assert rbo.rbo_truncated(a, b, p) == pytest.approx(rbo.rbo_truncated(b, a, p))


# -- 40: stability


@generated
@given(matrices(topics=(2, 7)), st.booleans(), seeds)
def test_stability_invariants(matrix: np.ndarray, replacement: bool, seed: int) -> None:
    found = stability(matrix, [0, 0.01, 0.05, 0.1, 0.5], trials=15, replacement=replacement, seed=seed)
    for one in found:
        assert one.minority_rate <= 0.5 * (1 - one.ties) + 1e-12
        assert one.comparisons == matrix.shape[1] * (matrix.shape[1] - 1) // 2 * 15
    assert all(a.ties <= b.ties for a, b in pairwise(found))


# -- draws


def test_draws_depend_on_the_seed_only() -> None:
    for draw in (
        lambda seed: draws.topic_resamples(7, 50, seed),
        lambda seed: draws.topic_subsets(7, 3, 50, seed),
        lambda seed: np.stack(draws.topic_set_pairs(7, 3, 50, "disjoint", seed)),
        lambda seed: np.stack(draws.topic_set_pairs(7, 3, 50, "replacement", seed)),
        lambda seed: np.stack(draws.topic_set_pairs(7, 3, 50, "independent", seed)),
        lambda seed: draws.sign_flips(7, 50, seed),
    ):
        assert (draw(1) == draw(1)).all()
        assert (draw(1) != draw(2)).any()


def test_topic_sets_are_what_their_names_say() -> None:
    disjoint, independent = (draws.topic_set_pairs(9, 4, 200, s, 5) for s in ("disjoint", "independent"))
    assert all(not set(q) & set(r) for q, r in zip(*map(np.ndarray.tolist, disjoint), strict=True))
    for sets in (*disjoint, *independent, draws.topic_subsets(9, 4, 200, 5)):
        assert all(len(set(row)) == 4 for row in sets.tolist())
    assert (disjoint[0] == independent[0]).all()  # the first sets are shared
    assert any(len(set(row)) < 4 for row in draws.topic_set_pairs(9, 4, 200, "replacement", 5)[1].tolist())
    counts = draws.topic_counts([[0, 0, 2], [1, 2, 2]], 3)
    assert counts.tolist() == [[2, 0], [0, 1], [1, 2]]


# -- odd inputs have defined answers


def test_a_constant_difference_is_marked() -> None:
    matrix = np.array([[0.1, 0.3], [0.5, 0.7], [0.2, 0.4]])
    assert bootstrap(matrix, resamples=99).p_value.tolist() == [0.01]  # as small as 99 resamples can tell
    for found in (bootstrap(matrix, asl=True), paired.t_test(matrix), classical_tukey(matrix)):
        assert found.p_value.tolist() == [0.0]
        assert found.constant.tolist() == [True]
    assert math.isnan(bootstrap(matrix).required_difference)
    assert paired.effect_size(matrix).tolist() == [-math.inf]
    assert paired.residual_effect_size(matrix).tolist() == [-math.inf]
    assert paired.permutation(matrix).p_value.tolist() == [0.25]
    assert paired.wilcoxon(matrix).p_value.tolist() == [0.25]


def test_one_topic() -> None:
    matrix = np.array([[0.1, 0.3, 0.3]])
    assert bootstrap(matrix, resamples=99).p_value.tolist() == [0.01, 0.01, 1.0]
    assert bootstrap(matrix).constant.tolist() == [True, True, False]
    assert paired.t_test(matrix).p_value.tolist() == [0.0, 0.0, 1.0]
    assert paired.permutation(matrix).p_value.tolist() == [1.0, 1.0, 1.0]
    assert paired.wilcoxon(matrix).p_value.tolist() == [1.0, 1.0, 1.0]
    assert np.isnan(paired.effect_size(matrix)).all()
    assert np.isnan(paired.t_interval(matrix)[0]).all()
    assert [s.comparisons for s in stability(matrix, [0.05], trials=2)] == [6]


def test_no_pairs() -> None:
    matrix, none = np.ones((3, 2)), (np.empty(0, int), np.empty(0, int))
    assert bootstrap(matrix, none).p_value.tolist() == []
    assert math.isnan(bootstrap(matrix, none).power())
    assert wins_ties_losses(matrix, none)[0].tolist() == []


def test_nothing_varies() -> None:
    flat = np.full((4, 3), 0.25)
    table = anova.two_way(flat)
    assert table.ss_total == 0 and math.isnan(table.f_runs) and math.isnan(table.p_runs)
    study = reliability.d_study(reliability.g_study(flat))
    assert all(math.isnan(v) for v in (study.erho2, study.phi, study.erho2_low, study.phi_low))
    assert reliability.topics_for_phi(reliability.g_study(flat)) == math.inf
    assert math.isnan(correlation.pearson([1, 1, 1], [1, 2, 3]))
    assert math.isnan(correlation.correlation_p_value(0.5, 2))
    assert correlation.correlation_p_value(1.0, 5) == 0
    # three runs: t = 1 / sqrt(3) with one degree of freedom, that is 1 - 2 / pi * atan(t) = 2 / 3
    assert correlation.correlation_p_value(0.5, 3) == pytest.approx(2 / 3)
    assert swap(flat, trials=3).required(rule="guarantee").relative == 0
    assert math.isnan(swap(0 * flat, trials=3).required(rule="guarantee").relative)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: bootstrap(np.ones(3)), "topics x runs"),
        (lambda: bootstrap(np.ones((3, 1))), "at least 2 runs are needed, 1 given"),
        (lambda: bootstrap(np.ones((0, 2))), "at least 1 topic is needed, 0 given"),
        (lambda: bootstrap([[0.1, math.nan], [0.2, 0.3]]), "missing or not finite"),
        (lambda: bootstrap(np.ones((3, 2)), alpha=0), "alpha must lie between 0 and 1"),
        (lambda: bootstrap(np.ones((3, 2)), resamples=0), "at least 1 resample"),
        (lambda: bootstrap(np.ones((3, 2)), draws=[[0, 1]]), "as many topics as there are: 3"),
        (lambda: bootstrap(np.ones((3, 2)), draws=[[0, 1, 3]]), "outside 0..2"),
        (lambda: bootstrap(np.ones((3, 2)), draws=[[0, 1, 0.5]]), "whole numbers"),
        (lambda: bootstrap(np.ones((3, 2)), draws=[0, 1, 2]), "rows of topics"),
        (lambda: bootstrap(np.ones((3, 2)), jobs=0), "jobs must be at least 1"),
        (lambda: bootstrap_interval(np.ones((3, 2)), alpha=1), "alpha must lie between 0 and 1"),
        (lambda: paired.t_interval(np.ones((3, 2)), alpha=1), "alpha must lie between 0 and 1"),
        (lambda: paired.wilcoxon(np.ones((3, 2)), method="quick"), "auto, exact or normal"),  # type: ignore[arg-type]
        (lambda: paired.permutation(np.ones((3, 2)), flips=[[1, -1]]), "rows of 3 signs"),
        (lambda: correlation.tau_p_value([1, 2], [1, 2], "quick"), "auto, exact or normal"),  # type: ignore[arg-type]
        (lambda: correlation.critical_tau(1), "at least 2 runs"),
        (lambda: correlation.tau_b([1, 2], [1, 2, 3]), "one length"),
        (lambda: correlation.tau_ap([1, 2], [1, 2, 3]), "one length"),
        (lambda: correlation.tau_b_rows([[1, 2]], [1, 2]), "one shape"),
        (lambda: ranks([[1, 2]]), "one score per run"),
        (lambda: ranks([1, math.nan]), "missing or not finite"),
        (lambda: classical_tukey(np.ones((1, 3))), "at least 2 topics are needed, 1 given"),
        (lambda: randomised_tukey(np.ones((2, 3)), resamples=0), "at least 1 resample"),
        (lambda: anova.two_way(np.ones((1, 2))), "at least 2 topics"),
        (lambda: reliability.g_study(np.ones((3, 2)), drop=1), "share of the runs"),
        (lambda: reliability.d_study(reliability.g_study(np.eye(3)), alpha=0.6), "per side"),
        (lambda: reliability.d_study(reliability.g_study(np.eye(3)), topics=0), "at least 1 topic"),
        (lambda: reliability.topics_for_phi(reliability.g_study(np.eye(3)), 1.0), "between 0 and 1"),
        (lambda: swap(np.ones((1, 2))), "at least 2 topics"),
        (lambda: swap(np.ones((5, 2)), size=3), "two disjoint sets of 3 topics need 6 topics, 5 given"),
        (lambda: swap(np.ones((5, 2)), size=6, sampling="independent"), "1 to 5 topics"),
        (lambda: swap(np.ones((5, 2)), sampling="random"), "one of disjoint"),  # type: ignore[arg-type]
        (lambda: swap(np.ones((5, 2)), trials=0), "at least 1 sample"),
        (lambda: swap(np.ones((5, 2)), sets=([[1]], [[1, 2]])), "one shape"),
        (lambda: swap(np.ones((5, 2)), trials=2).required(1.5), "between 0 and 1"),
        (lambda: required_bin([0.1], 0.05, "last"), "sure, guarantee or first"),  # type: ignore[arg-type]
        (lambda: expected_shared_topics(5, 6, "disjoint"), "1 to 5"),
        (lambda: expected_shared_topics(5, 2, "random"), "one of disjoint"),  # type: ignore[arg-type]
        (lambda: stability(np.ones((5, 2)), [-0.1]), "0 or more"),
        (lambda: rbo.rbo([1], [1], 1.0), "p must lie"),
        (lambda: rbo.rbo([1, 1], [1]), "twice"),
        (lambda: rbo.rbo([0.5], [1]), "integer codes"),
        (lambda: rbo.rbo([[1]], [1]), "one list"),
        (lambda: rbo.rbo_truncated([1], [1], depth=0), "at least 1"),
        (lambda: estimate_errors.mean_absolute_error([1], [1, 2]), "one shape"),
        (lambda: estimate_errors.mean_absolute_error([], []), "at least 1 run"),
        (lambda: estimate_errors.rank_error([[1]], [[1]]), "one score per run"),
        (lambda: estimate_errors.rank_error([1], [math.inf]), "missing or not finite"),
        (lambda: estimate_errors.significant_rank_error([1, 2], [1, 2], [[True]]), "matrix of significant pairs"),
        (lambda: pairs_with(3, 3), "no run 3 among 3"),
        (lambda: chosen_pairs(([0], [5]), 3), "outside the 3 runs"),
        (lambda: chosen_pairs(([0, 1], [1]), 3), "one length"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_one_sentence(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


# -- kernels: equal bits from C and NumPy, from 1, 2 and 4 threads


def ragged(topics: int, runs: int, seed: int, digits: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.round(rng.beta(1, 2, (topics, 1)) * 0.6 + rng.random((topics, runs)) * 0.3, digits)


@needs_c
@pytest.mark.parametrize("digits", [1, 2, 17])
@pytest.mark.parametrize(
    ("topics", "runs", "samples"), [(1, 2, 3), (2, 3, 1), (5, 4, 63), (7, 9, 64), (34, 12, 65), (50, 20, 1000)]
)
def test_both_kernels_give_the_same_bits(topics: int, runs: int, samples: int, digits: int) -> None:
    matrix = ragged(topics, runs, samples, digits)
    first, second = all_pairs(runs)
    z = (matrix[:, first] - matrix[:, second]).T
    centred = np.ascontiguousarray(z - z.mean(axis=1, keepdims=True))
    counts = draws.topic_counts(draws.topic_resamples(topics, samples, 3), topics)
    reach = np.random.default_rng(4).random(len(first)) * topics / 4
    reach[0] = 0.0
    for position in {1, (samples + 1) // 2, samples}:
        found = []
        for kernel in (_c, _numpy):
            exceeding, required = np.full(len(first), -1, dtype=np.int64), np.full(len(first), -1.0)
            kernel.bootstrap_count(centred, reach, counts, position, exceeding, required)
            found.append((exceeding.tobytes(), required.tobytes()))
        assert found[0] == found[1]
    weights = np.ascontiguousarray(counts.T, dtype=np.float64)
    sums = [np.full((samples, runs), np.nan) for _ in range(2)]
    for kernel, out in zip((_c, _numpy), sums, strict=True):
        kernel.weighted_sums(weights, matrix, out)
    assert sums[0].tobytes() == sums[1].tobytes()
    means = sums[0] / topics
    found = []
    for kernel in (_c, _numpy):
        compared, swapped = np.ones(21, dtype=np.int64), np.ones(21, dtype=np.int64)
        kernel.swap_count(means, np.ascontiguousarray(means[::-1]), compared, swapped)
        found.append((compared.tobytes(), swapped.tobytes()))
    assert found[0] == found[1]


SHAPES = ("even", "coarse", "close", "sparse", "tiny or huge", "far from zero", "topics of all sizes")


@needs_c
@given(
    st.sampled_from(SHAPES),
    st.integers(2, 60),
    st.integers(2, 9),
    st.sampled_from((1, 7, 64, 65, 300)),
    st.integers(0, 999),
)
def test_the_look_in_single_precision_changes_no_bit(
    shape: str, topics: int, runs: int, samples: int, seed: int
) -> None:
    """Every p value and difference is that of the sums in double precision, also where ratios lie on the limit."""
    rng = np.random.default_rng(seed)
    some, noise = rng.random((topics, runs)), rng.normal(0, 1, (topics, runs))
    matrix = {
        "even": some,
        "coarse": rng.integers(0, 3, (topics, runs)) / 2,
        "close": rng.random((topics, 1)) + noise * 10.0 ** -int(rng.integers(0, 14)),
        "sparse": np.where(rng.random((topics, runs)) < 0.1, some, 0.0),
        "tiny or huge": noise * 10.0 ** int(rng.integers(-30, 30)),
        "far from zero": 1000 + some,
        "topics of all sizes": some * 10.0 ** rng.integers(-8, 3, (topics, 1)),
    }[shape]
    first, second = all_pairs(runs)
    z = matrix[:, first] - matrix[:, second]
    mean = z.mean(axis=0)
    centred = np.ascontiguousarray((z - mean).T)
    counts = draws.topic_counts(draws.topic_resamples(topics, samples, seed), topics)
    weights = np.ascontiguousarray(counts.T, dtype=np.float64)
    sums = np.empty((samples, runs))
    _c.weighted_sums(weights, matrix, sums)
    total, squares = weights @ centred.T, weights @ (centred * centred).T
    with np.errstate(all="ignore"):
        ratio = np.nan_to_num(np.where(squares > 0, total * total / squares, 0.0))
    reach = ratio[rng.integers(0, samples, len(first)), np.arange(len(first))]  # a resample on the limit of each pair
    one, other = np.ascontiguousarray(first, np.int64), np.ascontiguousarray(second, np.int64)
    near = (np.ascontiguousarray(sums.T), one, other, topics * mean, float(np.abs(matrix).max()))
    for position in {1, max(samples // 20, 1), samples}:
        plain, looked, largest = ((np.zeros(len(first), np.int64), np.zeros(len(first))) for _ in range(3))
        _c.bootstrap_count(centred, reach, counts, position, *plain)
        _c.bootstrap_count(centred, reach, counts, position, *looked, *near)
        _c.bootstrap_count(centred, reach, counts, position, *largest, *near, 0.0)
        assert [a.tobytes() for a in plain] == [a.tobytes() for a in looked]
        assert largest[0].tobytes() == plain[0].tobytes()
        there = ~np.isnan(largest[1])
        assert (largest[1][there] == plain[1][there]).all() and np.nanmax(largest[1]) == plain[1].max()


@needs_c
def test_the_c_kernels_refuse_wrong_arrays() -> None:
    wide, flat, whole = np.zeros((2, 3)), np.zeros(2), np.zeros(21, dtype=np.int64)
    with pytest.raises(ValueError, match="shape"):
        _c.weighted_sums(wide, wide, wide)
    with pytest.raises(ValueError, match="shape or type"):
        _c.weighted_sums(flat, wide, wide)
    with pytest.raises(ValueError, match="shape"):
        _c.swap_count(wide, np.zeros((2, 4)), whole, whole)
    with pytest.raises(ValueError, match="shape"):
        _c.swap_count(wide, wide, whole, np.zeros(20, dtype=np.int64))
    counts = np.ones((3, 4), dtype=np.uint16)
    found = np.zeros(2, dtype=np.int64)
    for position in (0, 5):
        with pytest.raises(ValueError, match="shape"):
            _c.bootstrap_count(wide, flat, counts, position, found, flat)
    with pytest.raises(ValueError, match="shape or type"):
        _c.bootstrap_count(wide, flat, counts.astype(np.int64), 1, found, flat)
    pairs, sums = np.zeros(2, dtype=np.int64), np.zeros((3, 4))
    for wrong in ((sums, pairs + 3, pairs, flat), (sums, pairs - 1, pairs, flat), (wide, pairs, pairs, flat)):
        with pytest.raises(ValueError, match="sums"):
            _c.bootstrap_count(wide, flat, counts, 1, found, flat, *wrong, 1.0)
    with pytest.raises((ValueError, BufferError)):
        _c.weighted_sums(np.zeros((4, 2))[::2], wide, wide)


@pytest.mark.parametrize("kernel", [pytest.param(_numpy, id="numpy"), pytest.param(_c, id="c", marks=needs_c)])
def test_any_number_of_threads_gives_the_same_bytes(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("bootstrap_count", "swap_count", "weighted_sums"):
        monkeypatch.setattr(kernels, name, getattr(kernel, name))
    matrix = ragged(13, 48, 1, 17)
    found = []
    for jobs in (1, 2, 4):
        tested = bootstrap(matrix, resamples=100, seed=9, jobs=jobs)
        swaps = swap(matrix, trials=300, seed=9, jobs=jobs)
        steady = stability(matrix, [0.01, 0.05], trials=300, seed=9, jobs=jobs)
        parts = (
            tested.p_value,
            tested.required,
            tested.statistic,
            swaps.comparisons,
            swaps.swaps,
            swaps.max_performance,
        )
        found.append([np.asarray(part).tobytes() for part in parts] + [repr(steady).encode()])
    assert found[0] == found[1] == found[2]


def test_threads_keep_the_order_of_the_work() -> None:
    assert each(lambda x: x * x, list(range(20)), jobs=3) == [x * x for x in range(20)]


def test_sampled_means_by_numpy() -> None:
    matrix = ragged(6, 3, 2, 17)
    samples = draws.topic_resamples(6, 10, 1)
    assert sampled_means(matrix, samples) == pytest.approx(matrix[samples].mean(axis=1), abs=1e-14)
    assert mean_differences(matrix) == pytest.approx((matrix[:, [0, 0, 1]] - matrix[:, [1, 2, 2]]).mean(axis=0))


def test_counts_drawn_in_pieces_are_those_of_the_listed_samples() -> None:
    for topics, resamples in [(1, 3), (5, 70_000), (300, 2000)]:
        listed = draws.topic_counts(draws.topic_resamples(topics, resamples, 4), topics)
        assert (draws.resample_counts(topics, resamples, 4) == listed).all()


@needs_c
def test_both_kernels_agree_on_very_many_resamples() -> None:
    matrix = ragged(6, 3, 5, 2)
    z = (matrix[:, [0, 0, 1]] - matrix[:, [1, 2, 2]]).T
    centred = np.ascontiguousarray(z - z.mean(axis=1, keepdims=True))
    counts = draws.resample_counts(6, 20_000, 1)
    found = []
    for kernel in (_c, _numpy):
        exceeding, required = np.zeros(3, dtype=np.int64), np.zeros(3)
        kernel.bootstrap_count(centred, np.array([1.0, 2.0, 3.0]), counts, 1000, exceeding, required)
        found.append((exceeding.tobytes(), required.tobytes()))
    assert found[0] == found[1]


# -- boundaries: what is exactly at the limit


@pytest.mark.parametrize(
    ("differences", "at_least"), [((-3, 6, 6), 15), ((-3, 0, 5, 6), 96), ((-3, -3, -1, 5, 6), 2080)]
)
@pytest.mark.parametrize("scale", [1.0, 0.1, 1 / 7])
def test_resamples_exactly_as_extreme_as_the_runs_count(
    differences: tuple[int, ...], at_least: int, scale: float
) -> None:
    """Counted with fractions; 6, 12 and 10 of all resamples have exactly the |t| of the runs (METHODS C.4)."""
    z = np.array(differences) * scale
    scores = np.stack([np.maximum(z, 0), np.maximum(-z, 0)], axis=1)
    found = bootstrap(scores, draws=draws.every_resample(len(z)))
    assert found.p_value[0] == at_least / len(z) ** len(z)


def test_significant_is_strictly_below_alpha() -> None:
    nothing, p = np.zeros(4), np.array([0.0, 0.0499999, 0.05, 0.0500001])
    one = paired.Tested(np.arange(4), np.arange(4), nothing, nothing, p, nothing.astype(bool))
    assert one.significant(0.05).tolist() == [True, True, False, False]
    assert one.power(0.05) == 0.5 and one.significant(0.0500001).tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("alpha", "listed", "drawn"),
    [(0.05, 0.96, 0.96), (0.1, 0.91, 0.91), (0.0598, 0.95, 0.95), (0.059, 0.95, 0.96), (0.001, 1.0, math.inf)],
)
def test_what_a_shuffled_test_asks_for(alpha: float, listed: float, drawn: float) -> None:
    """Ranges .01, .02, ..., 1.00: a difference d has p = share of ranges >= d; p < .05 needs d > .96 (4 above).

    Of random shuffles, p = (1 + ranges >= d) / 101: .059 > 5 / 101 allows 4 above, .0598 > 6 / 101 allows 5.
    """
    ranges, one = np.arange(1, 101) / 100, np.zeros(1)
    for required, counts, total in ((listed, np.arange(101), 100), (drawn, 1 + np.arange(101), 101)):
        common = {"ranges": ranges, "levels": counts / total}
        found = Shuffled(one.astype(int), one.astype(int), one, one, one, one.astype(bool), **common)
        assert found.required_difference(alpha) == required
        more = int((ranges > required).sum())
        assert math.isinf(required) or counts[more] / total < alpha <= counts[more + 1] / total


def test_no_p_value_of_random_resamples_is_zero() -> None:
    """VERDICTS 3: p values of exactly 0 pass any correction. The share of the papers may still be 0."""
    matrix = np.array([[0.9, 0.1], [0.8, 0.1], [0.9, 0.2], [0.7, 0.1], [0.8, 0.05], [0.95, 0.1], [0.9, 0.0]] * 3)
    for test in (bootstrap, randomised_tukey):
        assert test(matrix, resamples=199).p_value.tolist() == [1 / 200]
        assert test(matrix, resamples=199, asl=True).p_value.tolist() == [0.0]
    assert paired.permutation(matrix, resamples=199).p_value.tolist() == [1 / 200]


def test_the_best_mean_of_either_topic_set_is_the_maximum_performance() -> None:
    """METHODS C.6, (ii): both sets count."""
    scores = [[0.1, 0.2], [0.8, 0.3], [0.4, 0.5]]
    for sets, best in ((([[0]], [[1]]), 0.8), (([[1]], [[0]]), 0.8), (([[0, 2]], [[0, 0]]), 0.35)):
        assert swap(scores, sets=sets).max_performance == pytest.approx(best, abs=1e-15)


def test_ends_of_what_reliability_takes() -> None:
    matrix = np.random.default_rng(2).uniform(0, 1, (10, 2))
    assert reliability.without_worst(matrix, 0.0).shape == (10, 2)  # two runs are enough
    study = reliability.g_study(matrix)
    for alpha in (0.0, 0.5, -0.1):
        with pytest.raises(ValueError, match=r"alpha, per side, must lie between 0 and 0\.5"):
            reliability.d_study(study, alpha=alpha)
