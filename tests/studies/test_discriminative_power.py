"""Discriminative power, swap, stability, reliability and agreement on scores: published numbers and plain loops."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

import unjudged as uj
from unjudged.comparing.power import Power
from unjudged.comparing.significance import TESTS
from unjudged.errors import UsageError
from unjudged.measures import measures as parsed
from unjudged.results import Provenance
from unjudged.statistics.draws import topic_set_pairs, topic_subsets

ROBUST = DATA / "robust03"


def scores_of(*matrices: Any, runs: list[str] | None = None, measures: str = "AP, nDCG@10") -> uj.Scores:
    """Scores from topics x runs matrices, one per measure."""
    values = np.stack([np.asarray(m, float) for m in matrices]).transpose(2, 1, 0)
    names = runs or [f"run{r:02d}" for r in range(values.shape[0])]
    topics = [f"t{t}" for t in range(values.shape[1])]
    return uj.Scores(
        names, topics, parsed(measures)[: len(matrices)], values, np.ones(values.shape[:2], bool), Provenance("0", "")
    )


def random_matrix(seed: int, topics: int = 16, runs: int = 6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.clip(rng.random((topics, 1)) * 0.6 + rng.normal(0, 0.1, (topics, runs)) + np.linspace(0, 0.2, runs), 0, 1)


def rows_of(result: uj.Result) -> list[dict[str, Any]]:
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows()]


MATRIX = random_matrix(3)


# -- discriminative power


@pytest.mark.skipif(not ROBUST.is_dir(), reason="robust03 is not here")
def test_significant_pairs_of_robust_2003() -> None:
    """METHODS E: 16 runs, topics 601 to 650, 1000 resamples; counts and estimated differences."""
    runs = [path for path in sorted((ROBUST / "runs").iterdir()) if "InexpC2" not in path.name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        collection = uj.load(ROBUST / "qrels.txt.gz", runs, only="601-650", truncate=1000, gains={1: 1, 2: 3})
    scores = uj.score(collection, "sakai2009")
    found = rows_of(uj.discriminative_power(scores, alpha=0.05, resamples=1000, seed=0))
    assert [str(r["measure"]) for r in found] == [str(m) for m in parsed("sakai2009")]
    assert [(r["runs"], r["pairs"]) for r in found] == [(16, 120)] * 9
    assert [r["significant"] for r in found] == [91, 91, 78, 71, 84, 92, 93, 78, 71]
    assert [r["power"] for r in found] == [r["significant"] / 120 for r in found]
    required = [0.080, 0.067, 0.076, 0.057, 0.067, 0.072, 0.068, 0.085, 0.057]
    assert [r["required_difference"] for r in found] == pytest.approx(required, abs=0.0006)


def plain_power(matrix: np.ndarray, alpha: float, resamples: int, seed: int) -> tuple[list[float], float]:
    """p values of all pairs and the estimated difference, as METHODS C.4 tells it."""
    n = len(matrix)
    draws = np.random.default_rng(seed).integers(0, n, size=(resamples, n))
    p_values, required = [], []
    for a, b in itertools.combinations(range(matrix.shape[1]), 2):
        z = matrix[:, a] - matrix[:, b]
        t = abs(z.mean()) / (z.std(ddof=1) / math.sqrt(n))
        drawn = [(z - z.mean())[d] for d in draws]
        studentised = [abs(w.mean()) / (w.std(ddof=1) / math.sqrt(n)) for w in drawn]
        p_values.append(sum(s >= t for s in studentised) / resamples)
        place = sorted(range(resamples), key=lambda i: (-studentised[i], i))[math.ceil(resamples * alpha - 1e-9) - 1]
        required.append(abs(drawn[place].mean()))
    return p_values, max(required)


def test_bootstrap_power_against_a_plain_loop() -> None:
    power = uj.discriminative_power(scores_of(MATRIX, MATRIX**2), alpha=0.1, resamples=200, seed=6)
    for row, matrix in zip(rows_of(power), (MATRIX, MATRIX**2), strict=True):
        p_values, required = plain_power(matrix, 0.1, 200, 6)
        assert row["significant"] == sum(p < 0.1 for p in p_values)
        assert row["required_difference"] == pytest.approx(required, abs=1e-12)
        pairs = [r for r in rows_of(power.pairs) if r["measure"] == row["measure"]]
        assert [r["p_value"] for r in pairs] == p_values
        assert [r["significant"] for r in pairs] == ["yes" if p < 0.1 else "no" for p in p_values]
        names = list(itertools.combinations([f"run{r:02d}" for r in range(6)], 2))
        assert [(r["run_a"], r["run_b"]) for r in pairs] == names
        curve = [r for r in rows_of(power.curves) if r["measure"] == row["measure"]]
        assert [r["p_value"] for r in curve] == sorted(p_values, reverse=True)
        assert [r["place"] for r in curve] == list(range(1, 16))


def test_t_power_against_scipy() -> None:
    row = rows_of(uj.discriminative_power(scores_of(MATRIX), test="t"))[0]
    tests = [scipy.stats.ttest_rel(MATRIX[:, a], MATRIX[:, b]) for a, b in itertools.combinations(range(6), 2)]
    assert row["significant"] == sum(t.pvalue < 0.05 for t in tests)
    widths = [t.confidence_interval(0.95) for t in tests]
    assert row["required_difference"] == pytest.approx(max((w.high - w.low) / 2 for w in widths), rel=1e-9)


@pytest.mark.parametrize("test", ["tukey", "randomised-tukey"])
def test_tukey_calls_exactly_the_larger_differences_significant(test: str) -> None:
    power = uj.discriminative_power(scores_of(random_matrix(1)), test=test, resamples=500)
    required = rows_of(power)[0]["required_difference"]
    found = rows_of(power.pairs)
    assert {r["significant"] for r in found} == {"yes", "no"}
    for row in found:
        assert (abs(row["difference"]) > required) == (row["significant"] == "yes")


@pytest.mark.parametrize("test", ["wilcoxon", "permutation"])
def test_no_required_difference_without_a_rule_for_it(test: str) -> None:
    assert math.isnan(rows_of(uj.discriminative_power(scores_of(MATRIX), test=test))[0]["required_difference"])


@pytest.mark.parametrize("test", TESTS)
def test_neither_threads_nor_the_order_of_runs_change_a_byte(test: str) -> None:
    wide = random_matrix(5, runs=5 if test == "tukey" else 36)
    names = [f"r{i:02d}" for i in range(wide.shape[1])]
    order = np.random.default_rng(0).permutation(wide.shape[1])
    here = [
        uj.discriminative_power(scores_of(wide, runs=names), test=test, resamples=100, jobs=jobs) for jobs in (1, 2, 4)
    ]
    turned = uj.discriminative_power(
        scores_of(wide[:, order], runs=[names[r] for r in order]), test=test, resamples=100
    )
    for view in ("pairs", "curves"):
        assert len({getattr(power, view).render("tsv") for power in (*here, turned)}) == 1
    assert len({power.render("tsv") for power in (*here, turned)}) == 1


def test_power_table_as_in_the_papers() -> None:
    """By hand: of three runs, two are alike and one lies 0.25 lower, give or take."""
    noise = np.random.default_rng(2).normal(0, 0.01, (12, 3))
    power = uj.discriminative_power(scores_of(noise - noise.mean(axis=0) + np.array([0.5, 0.5, 0.25])), test="wilcoxon")
    header, row = power.table().splitlines()
    assert header == "measure  discriminative power  difference required"
    assert row.split() == ["AP", "2/3", "=", "66.7%", "-"]


@pytest.mark.parametrize(
    ("matrix", "said"),
    [(MATRIX[:1], "needs at least 2 topics, found 1"), (MATRIX[:, :1], "needs at least 2 runs, found 1")],
)
def test_too_few_topics_or_runs(matrix: np.ndarray, said: str) -> None:
    for function in (uj.discriminative_power, uj.swap, uj.stability, uj.reliability):
        with pytest.raises(UsageError, match=said):
            function(scores_of(matrix))


def test_identical_runs_are_no_pair_and_constant_ones_are_told() -> None:
    same = np.stack([MATRIX[:, 0], MATRIX[:, 0], MATRIX[:, 0] + 0.25], axis=1)
    power = uj.discriminative_power(scores_of(same))
    assert [r["p_value"] for r in rows_of(power.pairs)] == [1.0, 0.0, 0.0]
    assert math.isnan(rows_of(power)[0]["required_difference"])
    assert power.notes == ("2 pairs differ by the same amount on every topic and count as significant (p = 0)",)


# -- before and after


def changes(before: np.ndarray, after: np.ndarray, alpha: float = 0.05) -> dict[str, Any]:
    powers = [uj.discriminative_power(scores_of(m), test="t", alpha=alpha) for m in (before, after)]
    return rows_of(uj.power_changes(*powers))[0]


def test_misses_false_alarms_and_sign_reversals() -> None:
    """Three runs made so that one pair is lost, one is new and one turns round."""
    noise = np.random.default_rng(2).normal(0, 0.01, (12, 3))
    zero = noise - noise.mean(axis=0)
    before = zero + np.array([0.5, 0.5, 0.3])  # 0-1 alike, 0-2 and 1-2 differ
    after = zero + np.array([0.4, 0.5, 0.6])  # all differ; 0-2 and 1-2 the other way round
    assert list(changes(before, after).values()) == ["AP", 3, 2, 3, 0, 1, 2]
    assert list(changes(after, before).values()) == ["AP", 3, 3, 2, 1, 0, 2]
    assert list(changes(before, after)) == [
        *("measure", "pairs", "before", "after", "misses", "false_alarms", "sign_reversals")
    ]


cells = st.integers(0, 16).map(lambda v: v / 16)


@settings(max_examples=60)
@given(st.lists(cells, min_size=48, max_size=48), st.sampled_from([0.05, 0.2, 0.5]))
def test_identity_of_misses_and_false_alarms(values: list[float], alpha: float) -> None:
    """METHODS D.34: after = before - misses + false alarms; the same scores change nothing."""
    before, after = np.array(values).reshape(2, 6, 4)
    found = changes(before, after, alpha)
    assert found["after"] == found["before"] - found["misses"] + found["false_alarms"]
    assert found["sign_reversals"] <= min(found["before"], found["after"])
    still = changes(before, before, alpha)
    assert (still["misses"], still["false_alarms"], still["sign_reversals"]) == (0, 0, 0)


def test_changes_need_the_same_runs_and_measures() -> None:
    power = uj.discriminative_power(scores_of(MATRIX), test="t")
    other = uj.discriminative_power(scores_of(MATRIX[:, :3]), test="t")
    with pytest.raises(UsageError, match="the same runs"):
        uj.power_changes(power, other)
    renamed = uj.discriminative_power(scores_of(MATRIX, measures="RR"), test="t")
    with pytest.raises(UsageError, match="the same measures"):
        uj.power_changes(power, renamed)
    assert isinstance(power, Power)


# -- swap, stability, reliability, agreement


def test_swap_against_a_plain_loop() -> None:
    result = uj.swap(scores_of(MATRIX), c=5, trials=60, seed=2, confidence=(90, 50))
    curve = rows_of(result.curve)
    for sampling in ("disjoint", "replacement", "independent"):
        here, there = topic_set_pairs(16, 5, 60, sampling, 2)
        counter, swapped, best = Counter[int](), Counter[int](), 0.0
        for one, other in zip(here, there, strict=True):
            x, y = MATRIX[one].mean(axis=0), MATRIX[other].mean(axis=0)
            best = max(best, x.max(), y.max())
            for a, b in itertools.combinations(range(6), 2):
                d, e = x[a] - x[b], y[a] - y[b]
                place = min(20, math.floor(abs(d) / 0.01 + 1e-9))
                counter[place] += 1
                swapped[place] += d * e < 0
        found = [r for r in curve if r["sampling"] == sampling]
        assert [r["bin"] for r in found] == list(range(21))
        assert [r["comparisons"] for r in found] == [counter[b] for b in range(21)]
        assert [r["swaps"] for r in found] == [swapped[b] for b in range(21)]
        for row in (r for r in rows_of(result) if r["sampling"] == sampling):
            assert row["max_performance"] == pytest.approx(best, abs=1e-12)
            allowed = {90: 0.1, 50: 0.5}[row["confidence"]]
            good = [b for b in counter if all(swapped[i] <= allowed * counter[i] + 1e-12 for i in counter if i >= b)]
            if not good:
                assert math.isnan(row["required_difference"])
                continue
            least = min(good)
            assert row["required_difference"] == pytest.approx(least / 100)
            assert row["relative_difference"] == pytest.approx(least / 100 / best)
            assert row["share"] == pytest.approx(sum(counter[b] for b in counter if b >= least) / (15 * 60))


def test_swap_rows_and_table() -> None:
    result = uj.swap(scores_of(MATRIX, MATRIX**2), trials=20)
    assert result.columns == (
        *("measure", "sampling", "confidence", "required_difference", "max_performance"),
        *("relative_difference", "share"),
    )
    assert [(r["measure"], r["sampling"], r["confidence"]) for r in rows_of(result)] == [
        (m, s, c) for m in ("AP", "nDCG@10") for s in ("disjoint", "replacement", "independent") for c in (95, 90, 80)
    ]
    assert result.provenance.settings["c"] == 8
    assert result.table().splitlines()[1].split()[:2] == ["disjoint", "95%"]
    one = uj.swap(scores_of(MATRIX), sampling="independent", trials=20)
    assert {r["sampling"] for r in rows_of(one)} == {"independent"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"c": 9}, "two disjoint sets of 9 topics need 18 topics, 16 given"),
        ({"c": 0}, "1 to 16 topics"),
        ({"trials": 0}, "at least 1 sample"),
        ({"sampling": "disjunct"}, r"unknown sampling 'disjunct' \(did you mean disjoint\?\)"),
        ({"confidence": (0,)}, "in percent"),
        ({"rule": "last"}, "guarantee or first"),
        ({"seed": -1}, "a seed"),
    ],
)
def test_swap_refuses_with_a_sentence(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        uj.swap(scores_of(MATRIX), **asked)


def test_stability_against_a_plain_loop() -> None:
    found = rows_of(uj.stability(scores_of(MATRIX), fuzziness=(0.0, 0.05, 0.2), c=6, trials=50, seed=4))
    assert list(found[0]) == ["measure", "fuzziness", "minority_rate", "ties"]
    sets = topic_subsets(16, 6, 50, 4)
    for row in found:
        minority = even = 0
        for a, b in itertools.combinations(range(6), 2):
            ahead = [0, 0]
            for chosen in sets:
                x, y = MATRIX[chosen, a].mean(), MATRIX[chosen, b].mean()
                if abs(x - y) < row["fuzziness"] * max(x, y) - 1e-12 or abs(x - y) < 1e-12:
                    even += 1
                else:
                    ahead[int(x > y)] += 1
            minority += min(ahead)
        assert row["minority_rate"] == minority / (15 * 50)
        assert row["ties"] == even / (15 * 50)
    assert [r["fuzziness"] for r in rows_of(uj.stability(scores_of(MATRIX), fuzziness=0.05, trials=5))] == [0.05]


WORKED = [[0.5, 0.42, 0.3], [0.3, 0.33, 0.25], [0.71, 0.6, 0.52], [0.2, 0.26, 0.11]]


def test_reliability_of_the_worked_example() -> None:
    """AG1 of the worked examples, and at n topics E rho^2 = 1 - 1/F."""
    row = rows_of(uj.reliability(scores_of(WORKED)))[0]
    assert list(row)[:6] == ["measure", "erho2", "phi", "low", "high", "topics_needed"]
    assert (row["erho2"], row["phi"]) == pytest.approx((0.886647, 0.341648), abs=1e-6)
    assert (row["topics_needed"], row["phi_topics_needed"]) == (10, 147)
    assert row["erho2"] == pytest.approx(1 - 1 / 8.822002, abs=1e-7)
    x = np.array(WORKED)
    rest = x - x.mean(axis=0) - x.mean(axis=1, keepdims=True) + x.mean()
    f = (4 * (x.mean(axis=0) - x.mean()) ** 2).sum() / 2 / ((rest**2).sum() / 6)
    low = f / scipy.stats.f.ppf(0.975, 2, 6)
    assert row["low"] == pytest.approx(max(0.0, (low - 1) / low), abs=1e-12)
    more = rows_of(uj.reliability(scores_of(WORKED), topics=10))[0]
    assert more["erho2"] >= 0.95 > rows_of(uj.reliability(scores_of(WORKED), topics=9))[0]["erho2"]


def test_runs_that_do_not_differ_need_endless_topics() -> None:
    found = uj.reliability(scores_of([[0.1, 0.3], [0.3, 0.1], [0.2, 0.2]]))
    row = rows_of(found)[0]
    assert (row["erho2"], row["topics_needed"]) == (0.0, None)
    assert "AP: the variance of runs was estimated below 0 and set to 0" in found.notes
    with pytest.raises(UsageError, match="between 0 and 1"):
        uj.reliability(scores_of(WORKED), stability=1.0)


def test_agreement_against_scipy() -> None:
    matrices = [random_matrix(seed, runs=12) for seed in (1, 2, 3)]
    found = rows_of(uj.agreement(scores_of(*matrices, measures="AP, nDCG@10, RR")))
    assert [(r["measure_a"], r["measure_b"]) for r in found] == [("AP", "nDCG@10"), ("AP", "RR"), ("nDCG@10", "RR")]
    for row, (a, b) in zip(found, itertools.combinations(matrices, 2), strict=True):
        theirs = scipy.stats.kendalltau(a.mean(axis=0), b.mean(axis=0), method="exact")
        assert row["tau"] == pytest.approx(theirs.statistic, abs=1e-12)
        assert row["p_value"] == pytest.approx(theirs.pvalue, rel=1e-9)
    with pytest.raises(UsageError, match="at least 2 measures, found 1"):
        uj.agreement(scores_of(MATRIX))


def test_agreement_where_one_measure_ties_all_runs() -> None:
    row = rows_of(uj.agreement(scores_of(MATRIX, np.full_like(MATRIX, 0.5))))[0]
    assert math.isnan(row["tau"])
    assert math.isnan(row["p_value"])
    assert uj.agreement(scores_of(MATRIX, np.full_like(MATRIX, 0.5))).render("tsv").splitlines()[1] == "AP\tnDCG@10\t\t"


def test_every_result_can_be_drawn() -> None:
    scores = scores_of(MATRIX, MATRIX**2)
    power, swaps = uj.discriminative_power(scores, test="t"), uj.swap(scores, trials=20)
    results = (power, power.pairs, power.curves, swaps, swaps.curve, uj.stability(scores, trials=5))
    names = [r.figures for r in (*results, uj.reliability(scores), uj.agreement(scores))]
    assert names == [
        *(("power",), ("significance",), ("significance",), ("sensitivity",), ("curves",), ("stability",)),
        *(("reliability", "topics"), ("agreement",)),
    ]
    for result in (power, power.curves, swaps, swaps.curve, uj.reliability(scores), uj.agreement(scores)):
        assert "nDCG@10" in result.plot().svg()
    curve, pairs = (r.plot().spec["data"]["values"] for r in (power.curves, power.pairs))
    assert curve == pairs
