"""Discriminative power: published numbers, plain loops and scipy; what other judgments change."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from made_scores import MATRIX, random_matrix, rows_of, scores_of
from places import DATA

import unjudged as uj
from unjudged.errors import UsageError
from unjudged.measures import measures as parsed
from unjudged.studies.engine.significance import TESTS

ROBUST = DATA / "robust03"


@pytest.mark.skipif(not ROBUST.is_dir(), reason="robust03 is not here")
def test_significant_pairs_of_robust_2003() -> None:
    """METHODS E: 16 runs, topics 601 to 650, 1000 resamples; counts and estimated differences."""
    runs = [path for path in sorted((ROBUST / "runs").iterdir()) if "InexpC2" not in path.name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        collection = uj.load(ROBUST / "qrels.txt.gz", runs, only="601-650", truncate=1000, gains={1: 1, 2: 3})
    power = uj.power(uj.score(collection, "sakai2009"), alpha=0.05, resamples=1000, seed=0)
    found = rows_of(power)
    assert [str(r["measure"]) for r in found] == [str(m) for m in parsed("sakai2009")]
    assert [(r["runs"], r["pairs"]) for r in found] == [(16, 120)] * 9
    assert [r["significant"] for r in found] == [91, 91, 78, 71, 84, 92, 93, 78, 71]
    assert [r["power"] for r in found] == [r["significant"] / 120 for r in found]
    required = [0.080, 0.067, 0.076, 0.057, 0.067, 0.072, 0.068, 0.085, 0.057]
    assert [r["required_difference"] for r in found] == pytest.approx(required, abs=0.0006)
    first = power.table().splitlines()[1]
    assert first.startswith("Q ") and "93/120 = 77.5%" in first


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
    asked = {"alpha": 0.1, "resamples": 200, "seed": 6}
    scores = scores_of(MATRIX, MATRIX**2)
    power, listed, sorted_ = (uj.power(scores, **asked, **more) for more in ({}, {"pairs": True}, {"curves": True}))
    for row, matrix in zip(rows_of(power), (MATRIX, MATRIX**2), strict=True):
        p_values, required = plain_power(matrix, 0.1, 200, 6)
        assert row["significant"] == sum(p < 0.1 for p in p_values)
        assert row["required_difference"] == pytest.approx(required, abs=1e-12)
        pairs = [r for r in rows_of(listed) if r["measure"] == row["measure"]]
        assert [r["p_value"] for r in pairs] == p_values
        assert [r["significant"] for r in pairs] == ["yes" if p < 0.1 else "no" for p in p_values]
        names = list(itertools.combinations([f"run{r:02d}" for r in range(6)], 2))
        assert [(r["run_a"], r["run_b"]) for r in pairs] == names
        curve = [r for r in rows_of(sorted_) if r["measure"] == row["measure"]]
        assert [r["p_value"] for r in curve] == sorted(p_values, reverse=True)
        assert [r["place"] for r in curve] == list(range(1, 16))


def test_t_power_against_scipy() -> None:
    row = rows_of(uj.power(scores_of(MATRIX), test="t"))[0]
    tests = [scipy.stats.ttest_rel(MATRIX[:, a], MATRIX[:, b]) for a, b in itertools.combinations(range(6), 2)]
    assert row["significant"] == sum(t.pvalue < 0.05 for t in tests)
    widths = [t.confidence_interval(0.95) for t in tests]
    assert row["required_difference"] == pytest.approx(max((w.high - w.low) / 2 for w in widths), rel=1e-9)


@pytest.mark.parametrize("test", ["tukey", "randomised-tukey"])
def test_tukey_calls_exactly_the_larger_differences_significant(test: str) -> None:
    scores = scores_of(random_matrix(1))
    required = rows_of(uj.power(scores, test=test, resamples=500))[0]["required_difference"]
    found = rows_of(uj.power(scores, test=test, resamples=500, pairs=True))
    assert {r["significant"] for r in found} == {"yes", "no"}
    for row in found:
        assert (abs(row["difference"]) > required) == (row["significant"] == "yes")


@pytest.mark.parametrize("test", ["wilcoxon", "permutation"])
def test_no_required_difference_without_a_rule_for_it(test: str) -> None:
    assert math.isnan(rows_of(uj.power(scores_of(MATRIX), test=test))[0]["required_difference"])


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS)
def test_neither_processes_nor_the_order_of_runs_change_a_number(test: str) -> None:
    wide = random_matrix(5, runs=5 if test == "tukey" else 36)
    names = [f"r{i:02d}" for i in range(wide.shape[1])]
    order = np.random.default_rng(0).permutation(wide.shape[1])
    here, turned = scores_of(wide, runs=names), scores_of(wide[:, order], runs=[names[r] for r in order])

    def pairs(scores: uj.Scores) -> dict[frozenset[str], tuple[float, float]]:
        found = rows_of(uj.power(scores, test=test, resamples=100, pairs=True))
        return {frozenset((r["run_a"], r["run_b"])): (abs(r["difference"]), r["p_value"]) for r in found}

    for view in ({}, {"pairs": True}, {"curves": True}):
        assert len({uj.power(here, test=test, resamples=100, jobs=jobs, **view).render("tsv") for jobs in (1, 2)}) == 1
    assert pairs(here) == pairs(turned)
    for view in ({}, {"curves": True}):
        asked = {"test": test, "resamples": 100, **view}
        assert uj.power(here, **asked).render("tsv") == uj.power(turned, **asked).render("tsv")


def test_power_table_as_in_the_papers() -> None:
    """By hand: of three runs, two are alike and one lies 0.25 lower, give or take."""
    noise = np.random.default_rng(2).normal(0, 0.01, (12, 3))
    power = uj.power(scores_of(noise - noise.mean(axis=0) + np.array([0.5, 0.5, 0.25])), test="wilcoxon")
    header, row, *_ = power.table().splitlines()
    assert header == "measure  disc. power  diff. required"
    assert row.split() == ["AP", "2/3", "=", "66.7%", "-"]


def test_identical_runs_are_no_pair_and_constant_ones_are_told() -> None:
    same = np.stack([MATRIX[:, 0], MATRIX[:, 0], MATRIX[:, 0] + 0.25], axis=1)
    power = uj.power(scores_of(same))
    assert [r["p_value"] for r in rows_of(uj.power(scores_of(same), pairs=True))] == [1.0, 0.0, 0.0]
    assert math.isnan(rows_of(power)[0]["required_difference"])
    assert power.notes == ("2 pairs differ by the same amount on every topic; counted as significant (p = 0)",)
    assert uj.power(scores_of(same), test="permutation").notes == ()  # which has no p of 0


def test_runs_that_never_differ_cannot_be_told_apart() -> None:
    verdict = uj.power(scores_of(np.full((30, 8), 0.5))).verdict
    assert verdict is not None and verdict.word == "unknown" and "the same scores" in verdict.sentence


def test_pairs_and_curves_are_two_tables() -> None:
    with pytest.raises(UsageError, match="ask for one of them"):
        uj.power(scores_of(MATRIX), pairs=True, curves=True)
    curve, pairs = (uj.power(scores_of(MATRIX, MATRIX**2), test="t", **v) for v in ({"curves": True}, {"pairs": True}))
    assert curve.plot().spec["data"]["values"] == pairs.plot().spec["data"]["values"]


def test_pairs_of_a_collection_against_scipy(tiny: uj.Collection) -> None:
    found = rows_of(uj.power(tiny, "AP", test="t", pairs=True))
    pairs = {(row["run_a"], row["run_b"]): row for row in found}
    matrix = uj.score(tiny, "AP").matrix("AP")
    assert len(pairs) == 66
    for (a, b), row in pairs.items():
        x, y = (matrix[:, tiny.runs.index(run)] for run in (a, b))
        expected = scipy.stats.ttest_rel(x, y).pvalue
        assert row["p_value"] == pytest.approx(expected, abs=1e-9)
        assert row["significant"] == ("yes" if expected < 0.05 else "no")
        assert row["difference"] == pytest.approx(float((x - y).mean()), abs=1e-12)


def test_one_measure_is_not_the_best_of_many(tiny: uj.Collection) -> None:
    result = uj.study("power", tiny, measures="AP", test="t", jobs=1)
    found = result.frame.iloc[0]
    assert f"AP tells {found['significant']} of {found['pairs']} pairs of runs apart" in str(result.verdict)


def test_one_topic_cannot_show_that_runs_differ(tiny: uj.Collection) -> None:
    """A single difference is constant and would count as significant for every pair."""
    found = uj.power(uj.only(tiny, tiny.topics[:1]), "AP", jobs=1)
    assert found.verdict is not None and found.verdict.word == "unknown" and not list(found.rows())
    assert found.verdict.sentence == "one topic cannot show which runs a measure tells apart"


# -- before and after


def changes(before: np.ndarray, after: np.ndarray, alpha: float = 0.05) -> dict[str, Any]:
    powers = [uj.power(scores_of(m), test="t", alpha=alpha, pairs=True) for m in (before, after)]
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
    power = uj.power(scores_of(MATRIX), test="t", pairs=True)
    other = uj.power(scores_of(MATRIX[:, :3]), test="t", pairs=True)
    with pytest.raises(UsageError, match="the same runs"):
        uj.power_changes(power, other)
    renamed = uj.power(scores_of(MATRIX, measures="RR"), test="t", pairs=True)
    with pytest.raises(UsageError, match="the same measures"):
        uj.power_changes(power, renamed)
    with pytest.raises(UsageError, match="pairs=True"):
        uj.power_changes(power, uj.power(scores_of(MATRIX), test="t"))


def test_changes_do_not_depend_on_the_order_of_the_runs() -> None:
    names = [f"r{i}" for i in range(6)]
    turned = scores_of(MATRIX[:, ::-1], runs=names[::-1])
    before, again = (uj.power(s, test="t", pairs=True) for s in (scores_of(MATRIX, runs=names), turned))
    row = rows_of(uj.power_changes(before, again))[0]
    assert (row["misses"], row["false_alarms"], row["sign_reversals"]) == (0, 0, 0)
