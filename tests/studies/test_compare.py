"""Comparing runs: numbers against scipy, statsmodels and plain loops; letters, tables, sentences for odd input."""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

import unjudged as uj
from unjudged.errors import UsageError
from unjudged.figures.records import records
from unjudged.measures import measures as parsed
from unjudged.results import Provenance
from unjudged.studies.engine.significance import FAMILY_WISE, RANDOM, TESTS
from unjudged.thresholds import Thresholds, default_thresholds

ALL = tuple(TESTS)


def scores_of(
    *matrices: Any, runs: Sequence[str] | None = None, measures: str = "AP, nDCG@10", counted: Any = None
) -> uj.Scores:
    """Scores from topics x runs matrices, one per measure."""
    values = np.stack([np.asarray(m, float) for m in matrices]).transpose(2, 1, 0)
    names = runs or [f"run{r}" for r in range(values.shape[0])]
    topics = [f"t{t}" for t in range(values.shape[1])]
    where = np.ones(values.shape[:2], bool) if counted is None else np.asarray(counted, bool)
    return uj.Scores(names, topics, parsed(measures)[: len(matrices)], values, where, Provenance("0", "here"))


def random_matrix(seed: int, topics: int = 20, runs: int = 5, spread: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    base = rng.random((topics, 1)) * 0.6
    return np.clip(base + rng.normal(0, spread, (topics, runs)) + np.linspace(0, 0.2, runs), 0, 1)


def rows_of(result: uj.Result) -> list[dict[str, Any]]:
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows()]


def letters_of(result: uj.Result) -> dict[str, set[str]]:
    """The letters of each run, as a reader of the table takes them apart (one measure)."""
    rows = re.findall(r"^\| (\S+) \| .*<sup>(\S+)</sup> \|$", result.render("markdown"), re.M)
    return {run: set(re.findall(r"[a-zA-Z]\d*", text)) for run, text in rows}


def sentence(result: uj.Result) -> str:
    assert result.verdict is not None
    return f"{result.verdict.word}: {result.verdict.sentence}"


MATRIX = random_matrix(7)
LONG = random_matrix(7, topics=30)
HOLES_UNKNOWN = "scores alone do not show which documents were judged: holes are not looked at"
"""The note of every comparison of scores."""


# -- numbers against others


def test_columns_and_pairs_in_the_order_given() -> None:
    found = uj.compare(scores_of(MATRIX, MATRIX**2), test="t")
    assert found.columns == (
        *("run_a", "run_b", "measure", "difference", "low", "high"),
        *("p_value", "p_adjusted", "effect_size", "wins", "ties", "losses"),
        *("unjudged_a", "unjudged_b", "estimate", "estimate_low", "estimate_high", "outcome", "why"),
    )
    rows = rows_of(found)
    assert [(r["run_a"], r["run_b"], r["measure"]) for r in rows] == [
        (f"run{a}", f"run{b}", m) for a, b in itertools.combinations(range(5), 2) for m in ("AP", "nDCG@10")
    ]


def test_t_test_against_scipy() -> None:
    for row in rows_of(uj.compare(scores_of(MATRIX), test="t", alpha=0.1)):
        x, y = (MATRIX[:, int(row[side][-1])] for side in ("run_a", "run_b"))
        theirs = scipy.stats.ttest_rel(x, y)
        ends = theirs.confidence_interval(0.9)
        assert row["difference"] == pytest.approx(x.mean() - y.mean(), abs=1e-12)
        assert row["p_value"] == pytest.approx(theirs.pvalue, rel=1e-9)
        assert (row["low"], row["high"]) == (pytest.approx(ends.low, abs=1e-12), pytest.approx(ends.high, abs=1e-12))
        assert row["effect_size"] == pytest.approx(theirs.statistic / math.sqrt(20), rel=1e-9)
        assert (row["wins"], row["ties"], row["losses"]) == ((x > y).sum(), (x == y).sum(), (x < y).sum())


def test_wilcoxon_against_scipy() -> None:
    for row in rows_of(uj.compare(scores_of(MATRIX), test="wilcoxon")):
        x, y = (MATRIX[:, int(row[side][-1])] for side in ("run_a", "run_b"))
        assert row["p_value"] == pytest.approx(scipy.stats.wilcoxon(x, y, method="exact").pvalue, rel=1e-9)


def test_permutation_is_exact_for_few_topics() -> None:
    small = random_matrix(3, topics=8)
    for row in rows_of(uj.compare(scores_of(small), test="permutation")):
        z = small[:, int(row["run_a"][-1])] - small[:, int(row["run_b"][-1])]
        flipped = [abs(np.mean(z * signs)) for signs in itertools.product((1, -1), repeat=8)]
        assert row["p_value"] == np.mean(np.array(flipped) >= abs(z.mean()) - 1e-12)


@pytest.mark.slow
def test_permutation_against_scipy_within_chance() -> None:
    """20,000 drawn sign flips on each side: within 5 standard errors of each other."""
    for row in rows_of(uj.compare(scores_of(MATRIX[:, :3]), test="permutation", resamples=20_000, seed=5)):
        x, y = (MATRIX[:, int(row[side][-1])] for side in ("run_a", "run_b"))
        theirs = scipy.stats.permutation_test(
            (x, y), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=20_000, rng=1
        ).pvalue
        error = math.sqrt(2 * theirs * (1 - theirs) / 20_000) + 1e-4
        assert row["p_value"] == pytest.approx(theirs, abs=5 * error)


def plain_bootstrap(x: np.ndarray, y: np.ndarray, resamples: int, seed: int) -> float:
    """The studentised test as METHODS C.4 tells it, one resample after the other."""
    z = x - y
    n = len(z)
    t = z.mean() / (z.std(ddof=1) / math.sqrt(n))
    w = z - z.mean()
    larger = 0
    for drawn in np.random.default_rng(seed).integers(0, n, size=(resamples, n)):
        v = w[drawn]
        spread = v.std(ddof=1)
        larger += abs(v.mean()) / (spread / math.sqrt(n)) >= abs(t) if spread > 1e-12 else abs(v.mean()) > 1e-12
    return larger / resamples


def test_bootstrap_against_a_plain_loop() -> None:
    for row in rows_of(uj.compare(scores_of(MATRIX), test="bootstrap", resamples=500, seed=3)):
        x, y = (MATRIX[:, int(row[side][-1])] for side in ("run_a", "run_b"))
        assert row["p_value"] == (1 + round(500 * plain_bootstrap(x, y, 500, 3))) / 501
        ends = scipy.stats.ttest_rel(x, y).confidence_interval(0.95)
        assert (row["low"], row["high"]) == pytest.approx(tuple(ends), abs=1e-12)


def test_bootstrap_of_the_worked_example() -> None:
    """BS1: all 5^5 resamples give 0.1296; 50,000 drawn ones come within 5 standard errors."""
    z = np.array([0.08, -0.03, 0.11, 0.06, 0.02])
    scores = scores_of(np.stack([0.5 + z, np.full(5, 0.5)], axis=1))
    found = rows_of(uj.compare(scores, test="bootstrap", resamples=50_000))
    assert found[0]["p_value"] == pytest.approx(0.1296, abs=5 * math.sqrt(0.1296 * 0.8704 / 50_000))


WORKED = [[0.5, 0.42, 0.3], [0.3, 0.33, 0.25], [0.71, 0.6, 0.52], [0.2, 0.26, 0.11]]


def test_tukey_of_the_worked_example() -> None:
    """AG1: p values, and the interval's ends are where p would be alpha."""
    found = rows_of(uj.compare(scores_of(WORKED), test="tukey"))
    assert [r["p_value"] for r in found] == pytest.approx([0.747068, 0.017643, 0.042193], abs=1e-6)
    assert [r["p_adjusted"] for r in found] == [r["p_value"] for r in found]
    x = np.array(WORKED)
    rest = x - x.mean(axis=0) - x.mean(axis=1, keepdims=True) + x.mean()
    error = (rest**2).sum() / 6
    for row in found:
        boundary = (row["high"] - row["low"]) / 2
        p = scipy.stats.studentized_range.sf(boundary / math.sqrt(error / 4), 3, 6)
        assert p == pytest.approx(0.05, abs=1e-8)
        assert row["effect_size"] == pytest.approx(row["difference"] / math.sqrt(error), rel=1e-12)
        assert (row["low"] > 0 or row["high"] < 0) == (row["p_value"] < 0.05)


def test_randomised_tukey_of_the_worked_example() -> None:
    """TK1: the full enumeration gives these p values; 20,000 drawn shuffles come within 5 standard errors."""
    found = rows_of(uj.compare(scores_of(WORKED), test="randomised-tukey", resamples=20_000))
    for row, p in zip(found, (0.925926, 0.037037, 0.166667), strict=True):
        assert row["p_value"] == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / 20_000))
        assert (row["low"] > 1e-12 or row["high"] < -1e-12) == (row["p_value"] < 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ours", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh"), ("none", None)]
)
@pytest.mark.parametrize("baseline", [None, "run2"])
def test_corrections_within_each_measure_against_statsmodels(
    ours: str, theirs: str | None, baseline: str | None
) -> None:
    rows = rows_of(uj.compare(scores_of(MATRIX, MATRIX**3), test="t", correction=ours, baseline=baseline))
    for measure in ("AP", "nDCG@10"):
        p, adjusted = zip(*((r["p_value"], r["p_adjusted"]) for r in rows if r["measure"] == measure), strict=True)
        assert len(p) == (10 if baseline is None else 4)
        assert adjusted == pytest.approx(p if theirs is None else multipletests(p, method=theirs)[1], abs=1e-15)


def test_with_a_baseline_every_other_run_is_measured_against_it() -> None:
    rows = rows_of(uj.compare(scores_of(MATRIX), baseline="run2", test="t"))
    assert [(r["run_a"], r["run_b"]) for r in rows] == [(f"run{r}", "run2") for r in (0, 1, 3, 4)]
    means = MATRIX.mean(axis=0)
    assert [r["difference"] for r in rows] == pytest.approx([means[r] - means[2] for r in (0, 1, 3, 4)], abs=1e-12)


def test_a_collection_is_scored_first() -> None:
    qrels = {f"t{t}": {"a": 1, "b": 0, "c": 1} for t in range(6)}
    lists = ("abc", "bac", "cxb", "xac", "bca", "cab")
    runs = {
        "one": {f"t{t}": {d: -i for i, d in enumerate(lists[t])} for t in range(6)},
        "two": {f"t{t}": {d: -i for i, d in enumerate(lists[-t - 1])} for t in range(6)},
    }
    collection = uj.load(qrels, runs)
    scores = uj.score(collection, "AP, RR")
    for row, same in zip(rows_of(uj.compare(collection, "AP, RR")), rows_of(uj.compare(scores)), strict=True):
        assert (same.pop("unjudged_a"), same.pop("unjudged_b")) == (None, None)
        # by hand: x is the one unjudged document, once in each run's six lists of three
        assert (row.pop("unjudged_a"), row.pop("unjudged_b")) == pytest.approx((2 / 60, 2 / 60))
        assert row == same
    assert [r["measure"] for r in rows_of(uj.compare(scores, "RR"))] == ["RR"]
    assert [r["measure"] for r in rows_of(uj.compare(collection, "AP", unjudged="condensed"))] == ["AP'"]


# -- the same answer whatever the order, the threads, the seed's company


@pytest.mark.parametrize("test", ALL)
def test_the_order_of_the_runs_changes_nothing(test: str) -> None:
    names = ["delta", "alpha", "echo", "bravo", "charlie"]
    order = [3, 1, 4, 0, 2]
    there = rows_of(uj.compare(scores_of(MATRIX, runs=names), test=test, resamples=200))
    back = rows_of(uj.compare(scores_of(MATRIX[:, order], runs=[names[r] for r in order]), test=test, resamples=200))
    by_pair = {(r["run_a"], r["run_b"]): r for r in there}
    for row in back:
        same = by_pair.get((row["run_a"], row["run_b"]))
        if same is not None:
            assert row == same
            continue
        turned = by_pair[row["run_b"], row["run_a"]]
        for column in ("p_value", "p_adjusted", "ties"):
            assert row[column] == turned[column]
        for one, other in (("difference", "difference"), ("low", "high"), ("effect_size", "effect_size")):
            assert row[one] == -turned[other]
        assert (row["wins"], row["losses"]) == (turned["losses"], turned["wins"])


@pytest.mark.slow
@pytest.mark.parametrize("test", ALL)
def test_the_same_bytes_in_any_number_of_processes(test: str) -> None:
    big = random_matrix(1, topics=12, runs=40)
    asked = {"test": test, "resamples": 100} if test != "tukey" else {"test": "t"}
    texts = {uj.compare(scores_of(big, big**2), jobs=jobs, **asked).render("json") for jobs in (1, 2)}
    assert len(texts) == 1


@pytest.mark.parametrize("test", RANDOM)
def test_the_seed_decides(test: str) -> None:
    def p_values(seed: int) -> list[float]:
        return [r["p_value"] for r in rows_of(uj.compare(scores_of(MATRIX), test=test, seed=seed, resamples=300))]

    assert p_values(1) == p_values(1)
    assert p_values(1) != p_values(2)


# -- degenerate input has an answer


@pytest.mark.parametrize("test", ALL)
def test_identical_runs(test: str) -> None:
    same = np.repeat(MATRIX[:, :1], 3, axis=1)
    for row in rows_of(uj.compare(scores_of(same), test=test, resamples=50)):
        assert (row["difference"], row["p_value"], row["p_adjusted"], row["effect_size"]) == (0.0, 1.0, 1.0, 0.0)
        room = (
            0.0 if test in FAMILY_WISE else 1 - 0.05 ** (1 / 20)
        )  # twenty ties are seen by chance 5 % with this share
        assert (row["low"], row["high"]) == pytest.approx((-room, room))
        assert (row["wins"], row["ties"], row["losses"]) == (0, 20, 0)
    assert "-0.0" not in uj.compare(scores_of(same), test=test, resamples=50).render("tsv")


@pytest.mark.parametrize("test", ["bootstrap", "t"])
def test_a_constant_difference_is_told(test: str) -> None:
    found = uj.compare(scores_of(np.stack([MATRIX[:, 0] + 0.25, MATRIX[:, 0]], axis=1)), test=test)
    row = rows_of(found)[0]
    p = 0.0 if test == "t" else 1 / 1001
    assert (row["p_value"], row["effect_size"], row["wins"]) == (p, math.inf, 20)
    assert row["low"] == pytest.approx(0.25)
    assert found.notes == (
        HOLES_UNKNOWN,
        "1 pair differs by the same amount on every topic: such a p value says nothing about other topics",
    )


@pytest.mark.parametrize("test", ALL)
def test_one_topic_shows_differences_and_tests_nothing(test: str) -> None:
    found = uj.compare(scores_of([[0.5, 0.25, 0.25]]), test=test)
    rows = rows_of(found)
    assert [r["difference"] for r in rows] == [0.25, 0.25, 0.0]
    for column in ("low", "high", "p_value", "p_adjusted", "effect_size"):
        assert all(math.isnan(r[column]) for r in rows)
    assert [(r["wins"], r["ties"], r["losses"]) for r in rows] == [(1, 0, 0), (1, 0, 0), (0, 1, 0)]
    assert {(r["outcome"], r["why"]) for r in rows} == {("cannot tell", "topics")}
    assert found.notes == (HOLES_UNKNOWN, "one topic: differences are shown, but nothing can be tested")
    assert sentence(found) == "unknown: one topic cannot show that runs differ"
    assert letters_of(found) == {"run0": {"a"}, "run1": {"a"}, "run2": {"a"}}
    assert (
        found.render("tsv").splitlines()[1] == "run0\trun1\tAP\t0.25\t\t\t\t\t\t1\t0\t0\t\t\t\t\t\tcannot tell\ttopics"
    )


def test_two_runs() -> None:
    found = uj.compare(scores_of(MATRIX[:, [0, 4]]), test="t")
    assert len(rows_of(found)) == 1
    assert rows_of(found)[0]["p_adjusted"] == rows_of(found)[0]["p_value"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"baseline": "rum1"}, r"no run is called 'rum1' \(did you mean run1\?\); there are run0, run1, run2"),
        ({"test": "tuckey"}, r"unknown test 'tuckey' \(did you mean tukey\?\)"),
        ({"correction": "hulm"}, r"unknown correction 'hulm' \(did you mean holm\?\)"),
        ({"test": "tukey", "correction": "holm"}, "already holds for all pairs"),
        ({"alpha": 0.0}, "alpha lies between 0 and 1, not 0.0"),
        ({"alpha": 1.5}, "alpha lies between 0 and 1"),
        ({"resamples": 0}, "at least 1 resample"),
        ({"seed": -1}, "a seed is a whole number of 0 or more"),
        ({"jobs": 0}, "number of jobs must be at least 1"),
        ({"unjudged": "bounds"}, "needs the collection"),
        ({"unjudged": "relevant"}, "estimate, nonrelevant, condensed or bounds, not 'relevant'"),
        ({"measures": "P@10"}, "P@10 was not scored here"),
        ({"margin": -0.1}, "the smallest difference that matters is 0 or more, not -0.1"),
        ({"growth": "slow"}, "growth can be retrieved or free, not 'slow'"),
    ],
)
def test_what_makes_no_sense_gets_a_sentence(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        uj.compare(scores_of(MATRIX[:, :3]), **asked)


def test_too_little_to_compare() -> None:
    with pytest.raises(UsageError, match="needs at least 2 runs, 1 given"):
        uj.compare(scores_of(MATRIX[:, :1]))
    with pytest.raises(UsageError, match="needs at least 1 topic, 0 given"):
        uj.compare(scores_of(MATRIX[:, :2], counted=np.zeros((2, 20))))
    with pytest.raises(UsageError, match="a study needs a Collection or Scores"):
        uj.compare({})
    with pytest.raises(UsageError, match="GMAP is a mean over topics, and this study needs scores of topics: take AP"):
        uj.compare(scores_of(MATRIX, measures="GMAP"))


def test_topics_that_do_not_count_for_every_run_are_left_out_and_told() -> None:
    counted = np.ones((5, 20))
    counted[2, :3] = 0
    found = uj.compare(scores_of(MATRIX, counted=counted), test="t")
    assert list(found.rows()) == list(uj.compare(scores_of(MATRIX[3:]), test="t").rows())
    assert found.notes == ("3 topics not counted for every run left out", HOLES_UNKNOWN)
    holed = MATRIX.copy()
    holed[19, 1] = np.nan
    left = uj.compare(scores_of(holed), test="t")
    assert left.notes == ("1 topic with an undefined score left out", HOLES_UNKNOWN)
    assert left.provenance.settings["topics counted"] == 19


@pytest.mark.parametrize(("test", "said"), [("permutation", "randomisation"), ("bootstrap", "bootstrap")])
@pytest.mark.parametrize("study", ["compare", "winners"])
def test_too_few_resamples_for_the_correction_are_told(study: str, test: str, said: str) -> None:
    """10 pairs: .05 / 10 = .005 lies below 1 / (B + 1) from 200 resamples on."""
    note = (
        f"nothing can be significant: the smallest p value of this paired {said} test is {1 / 200:.2g}, the level "
        "corrected for 10 pairs is 0.005; take --resamples 200 or more"
    )
    assert note in uj.study(study, scores_of(MATRIX), measures="AP", test=test, resamples=199).notes
    assert not any(
        "nothing can be" in n for n in uj.study(study, scores_of(MATRIX), measures="AP", test=test, resamples=200).notes
    )
    assert not any(
        "nothing can be" in n
        for n in uj.study(study, scores_of(MATRIX), measures="AP", test=test, correction="bh").notes
    )


def test_too_few_topics_for_the_correction_are_told() -> None:
    """Of 6 topics the rarest signs have p = 2 / 64 however many resamples are drawn, and 10 pairs need .005."""
    for test in ("permutation", "wilcoxon"):
        (note,) = (n for n in uj.compare(scores_of(MATRIX[:6]), test=test).notes if "nothing can be" in n)
        assert note.endswith("is 0.031, the level corrected for 10 pairs is 0.005; it takes more topics")
    few = uj.compare(scores_of(MATRIX), test="randomised-tukey", resamples=10).notes
    assert any(n.endswith("test is 0.091, alpha is 0.05; take --resamples 20 or more") for n in few)


# -- tables


def test_letters_say_which_runs_cannot_be_told_apart() -> None:
    found = uj.compare(scores_of(random_matrix(2, runs=12, topics=15)), test="t", correction="none")
    shown = letters_of(found)
    assert len(shown) == 12
    for row in rows_of(found):
        assert bool(shown[row["run_a"]] & shown[row["run_b"]]) == (row["p_adjusted"] >= 0.05)
    means = random_matrix(2, runs=12, topics=15).mean(axis=0)
    assert "a" in shown[f"run{means.argmax()}"]
    many = uj.compare(scores_of(random_matrix(2, runs=13, topics=15)), test="t", correction="none")
    assert letters_of(many) == {}


def test_table_of_means() -> None:
    """Two best runs with one mean are both bold; letters as in the definition."""
    far = np.stack([MATRIX[:, 0], MATRIX[:, 0], MATRIX[:, 0] - 0.3 + MATRIX[:, 1] / 50], axis=1)
    found = uj.compare(scores_of(far, runs=["b_1", "b_2", "low"]), test="t")
    best, low = far[:, 0].mean(), far[:, 2].mean()
    caption = (
        "Means over 20 topics. Runs that share a letter are not told apart "
        "(two-sided paired t test, Holm within each measure, alpha = 0.05)."
    )
    assert found.table() == f"run  AP\nb_1  {best:.4f} a\nb_2  {best:.4f} a\nlow  {low:.4f} b\n\n{caption}\n"
    text = found.render("latex")
    assert text.startswith("\\begin{table}\n\\centering\n\\caption{Means over 20 topics. ")
    assert text.endswith(
        "\\begin{tabular}{lr}\n\\toprule\nrun & AP \\tabularnewline\n\\midrule\n"
        f"b\\_1 & \\textbf{{{best:.4f}}}\\textsuperscript{{a}} \\tabularnewline\n"
        f"b\\_2 & \\textbf{{{best:.4f}}}\\textsuperscript{{a}} \\tabularnewline\n"
        f"low & {low:.4f}\\textsuperscript{{b}} \\tabularnewline\n"
        "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    )
    assert f"| b_1 | **{best:.4f}**<sup>a</sup> |" in found.render("markdown")
    assert f"<caption>{caption}</caption>" in found.to_html()
    assert f"<td><strong>{best:.4f}</strong><sup>a</sup></td>" in found.to_html()


@pytest.mark.parametrize(("shift", "said"), [(0.2, "is better than"), (-0.2, "is worse than")])
def test_one_run_against_the_baseline_is_called_by_its_name(shift: float, said: str) -> None:
    two = np.stack([MATRIX[:, 0], MATRIX[:, 0] + shift + MATRIX[:, 1] / 50], axis=1)
    assert f"by AP new {said} base" in sentence(uj.compare(scores_of(two, runs=["base", "new"]), baseline="base"))
    noise = np.stack([MATRIX[:, 0], MATRIX[:, 0] + np.where(np.arange(len(MATRIX)) % 2, 0.1, -0.1)], axis=1)
    told = uj.compare(scores_of(noise, runs=["base", "new"]), baseline="base")
    assert "by AP new cannot be told apart from base" in sentence(told)


def test_table_with_a_baseline() -> None:
    far = np.stack(
        [MATRIX[:, 0], MATRIX[:, 0] + 0.2 + MATRIX[:, 1] / 50, MATRIX[:, 0] - 0.3 + MATRIX[:, 1] / 50], axis=1
    )
    found = uj.compare(scores_of(far, runs=["base", "up", "down"]), test="t", baseline="base")
    mean = far.mean(axis=0)
    assert found.table().splitlines()[1:4] == [
        f"base (baseline)  {mean[0]:.4f}",
        f"up               {mean[1]:.4f} ↑",
        f"down             {mean[2]:.4f} ↓",
    ]
    assert "↑ ↓: better, worse than base" in found.caption
    assert "\\textsuperscript{$\\uparrow$}" in found.render("latex")
    assert sentence(found) == (
        "unknown: by AP 1 run is better than base, 1 worse; but there are only 20 topics (at least 25 are needed)"
    )


def test_table_of_pairs() -> None:
    found = uj.compare(scores_of(np.stack([MATRIX[:, 0], MATRIX[:, 0] + 0.2], axis=1)), test="t", pairs=True)
    header, row, empty, caption = found.table().splitlines()
    assert header.split() == [
        "run_a",
        "run_b",
        "measure",
        "difference",
        "interval",
        "p",
        "adjusted",
        "effect",
        "won/tied/lost",
        "unjudged",
        "outcome",
    ]
    assert row.split() == [
        "run0",
        "run1",
        "AP",
        "-0.2000",
        "[-0.2000,",
        "-0.2000]",
        "0.0000",
        "0.0000",
        "-inf",
        "0/0/20",
        "-",
        "worse",
    ]
    assert not empty
    assert caption.endswith("Intervals: 95% confidence.")


def test_the_caption_names_what_was_done() -> None:
    asked = {"test": "bootstrap", "resamples": 300, "correction": "bh", "alpha": 0.01}
    assert "two-sided paired bootstrap test, 300 resamples, Benjamini-Hochberg within each measure, alpha = 0.01" in (
        uj.compare(scores_of(MATRIX), **asked).caption
    )
    assert "not corrected" in uj.compare(scores_of(MATRIX), correction="none").caption
    assert "(two-sided Tukey HSD test, alpha = 0.05)" in uj.compare(scores_of(WORKED), test="tukey").caption


def test_provenance() -> None:
    found = uj.compare(scores_of(MATRIX), seed=4, baseline="run1").provenance
    assert found.seed == 4
    assert (found.settings["test"], found.settings["resamples"]) == ("t", None)
    drawn = uj.compare(scores_of(MATRIX), test="bootstrap").provenance.settings
    assert (drawn["test"], drawn["resamples"]) == ("bootstrap", 1000)
    assert found.settings["correction"] == "holm"
    assert found.settings["baseline"] == "run1"


def test_verdicts_of_all_pairs() -> None:
    apart = np.stack([LONG[:, 0], LONG[:, 0] - 0.2 + LONG[:, 1] / 50], axis=1)
    found = uj.compare(scores_of(apart))
    assert sentence(found) == "solid: 1 of 1 pair is safe by AP"
    assert found.verdict is not None and found.verdict.value == 1.0 and found.verdict.next is None
    runs = np.column_stack([LONG[:, 0] - 0.2 + LONG[:, 1] / 50, LONG[:, 0], LONG[::-1, 0]])
    open_ = uj.compare(scores_of(runs))
    rows = rows_of(open_)
    told = [r["p_adjusted"] < 0.05 for r in rows]
    assert [r["outcome"] for r in rows] == [
        "cannot tell" if not t else "better" if r["difference"] > 0 else "worse"
        for t, r in zip(told, rows, strict=True)
    ]
    assert told == [True, True, False]
    assert sentence(open_) == "solid: 2 of 3 pairs are safe by AP; 1 needs more topics"
    assert open_.verdict is not None and open_.verdict.next is not None
    assert open_.verdict.next.sentence == "find out how many topics it takes"
    known = default_thresholds()
    limit = replace(known["safe-comparisons"], solid=0.95, care=0.9)
    strict = uj.compare(scores_of(runs), thresholds=Thresholds({**known.limits, "safe-comparisons": limit}))
    assert strict.verdict is not None and strict.verdict.word == "fragile"


def test_runs_that_never_differ_earn_no_word() -> None:
    alike = uj.compare(scores_of(np.repeat(LONG[:, :1], 3, axis=1)))
    assert {r["outcome"] for r in rows_of(alike)} == {"same"}
    assert sentence(alike) == "unknown: by AP every run has the same score on every topic"


def test_a_margin_makes_small_differences_the_same() -> None:
    """By hand with scipy: the interval of the first pair lies inside +-0.05, that of the second does not."""
    rng = np.random.default_rng(4)
    base = rng.random(30)
    runs = np.column_stack([base, base + rng.normal(0, 0.05, 30), base + rng.normal(0, 0.4, 30)])
    ends = [scipy.stats.ttest_rel(runs[:, 0], runs[:, r]).confidence_interval(0.95) for r in (1, 2)]
    assert ends[0].low > -0.05 and ends[0].high < 0.05 and (ends[1].low < -0.05 or ends[1].high > 0.05)
    without, with_margin = (
        [(r["outcome"], r["why"]) for r in rows_of(uj.compare(scores_of(runs), margin=margin))] for margin in (0, 0.05)
    )
    assert without == [("cannot tell", "topics")] * 3
    assert with_margin == [("same", ""), ("cannot tell", "topics"), ("cannot tell", "topics")]


# -- unjudged documents


def small_collection() -> uj.Collection:
    """Two topics; u is unjudged in both runs, v in the second only."""
    qrels = {"t1": {"r": 1, "n": 0}, "t2": {"r": 1, "s": 1}}
    runs = {
        "one": {"t1": {"r": 3.0, "u": 2.0, "n": 1.0}, "t2": {"s": 2.0, "r": 1.0}},
        "two": {"t1": {"n": 3.0, "u": 2.0, "v": 1.0}, "t2": {"n": 2.0, "s": 1.0}},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        return uj.load(qrels, runs)


def test_what_unjudged_documents_allow() -> None:
    """By hand. P@2: u is in both, n in t2 is unjudged and only in two, so 1/2 [0, 1/2] from t2 and 1/2 from t1.

    P@3: t1: r | n, u shared, v only in two: 1/3 - [0, 1/3]; t2: 2/3 - 1/3 - [0, 1/3].
    """
    found = uj.compare(small_collection(), "P@2, P@3, AP", unjudged="bounds")
    assert found.columns[-3:] == ("outcome", "why", "ends")
    two, three, ap = rows_of(found)
    assert (two["difference"], two["low"], two["high"]) == pytest.approx((0.5, 0.25, 0.5))
    assert (two["outcome"], two["why"], two["ends"]) == ("better", "", "exact")
    assert (three["difference"], three["low"], three["high"]) == pytest.approx((1 / 3, 0.0, 1 / 3))
    assert (three["outcome"], three["why"]) == ("cannot tell", "holes")
    assert ap["ends"] == "outer"
    assert ap["low"] <= ap["difference"] <= ap["high"]
    assert found.table().startswith("run_a")
    assert "(an outer interval for AP)" in found.caption
    assert sentence(found).startswith("unknown: 1 of 1 pair is safe by P@2")
    assert found.provenance.settings["unjudged"] == "bounds"


def test_all_but_the_interval_is_as_with_nonrelevant_documents() -> None:
    collection = small_collection()
    plain, bounded = (
        rows_of(uj.compare(collection, "P@2, AP", unjudged=policy)) for policy in ("nonrelevant", "bounds")
    )
    for a, b in zip(plain, bounded, strict=True):
        assert all(a[c] == b[c] for c in a if c not in ("low", "high", "outcome", "why"))


def test_a_measure_without_bounds_is_refused() -> None:
    with pytest.raises(UsageError, match="infAP has no exact bounds"):
        uj.compare(small_collection(), "infAP", unjudged="bounds")


# -- properties

cells = st.integers(0, 64).map(lambda v: v / 64)  # exact in binary, so that sums have no rounding


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    topics, runs = draw(st.integers(2, 7)), draw(st.integers(2, 4))
    flat = draw(st.lists(cells, min_size=topics * runs, max_size=topics * runs))
    return np.array(flat).reshape(topics, runs)


@settings(max_examples=60)
@given(matrices(), st.sampled_from([t for t in ALL if t != "tukey"]))
def test_every_number_is_in_its_place(matrix: np.ndarray, test: str) -> None:
    for row in rows_of(uj.compare(scores_of(matrix), test=test, resamples=60)):
        assert 0 <= row["p_value"] <= row["p_adjusted"] <= 1
        assert row["wins"] + row["ties"] + row["losses"] == len(matrix)
        assert row["low"] <= row["high"]
        if test != "bootstrap":
            assert row["low"] <= row["difference"] <= row["high"]
        assert np.sign(row["effect_size"]) == np.sign(row["difference"])


@settings(max_examples=60)
@given(matrices(), st.sampled_from([t for t in ALL if t != "tukey"]), st.lists(cells, min_size=7, max_size=7))
def test_what_all_runs_gain_on_a_topic_changes_nothing(matrix: np.ndarray, test: str, gains: list[float]) -> None:
    """Paired tests see differences only; doubling all scores doubles differences and keeps p (METHODS D.36)."""
    here = rows_of(uj.compare(scores_of(matrix), test=test, resamples=60))
    moved = rows_of(uj.compare(scores_of(matrix + np.array(gains[: len(matrix)])[:, None]), test=test, resamples=60))
    twice = rows_of(uj.compare(scores_of(2 * matrix), test=test, resamples=60))
    for a, b, c in zip(here, moved, twice, strict=True):
        assert b["p_value"] == pytest.approx(a["p_value"], abs=1e-9)
        assert c["p_value"] == pytest.approx(a["p_value"], abs=1e-9)
        assert b["difference"] == pytest.approx(a["difference"], abs=1e-12)
        assert c["difference"] == pytest.approx(2 * a["difference"], abs=1e-12)
        assert (a["wins"], a["losses"]) == (b["wins"], b["losses"]) == (c["wins"], c["losses"])


@settings(max_examples=60)
@given(matrices())
def test_letters_hold_for_any_scores(matrix: np.ndarray) -> None:
    found = uj.compare(scores_of(matrix), test="permutation", correction="none", alpha=0.2)
    shown = letters_of(found)
    for row in rows_of(found):
        assert bool(shown[row["run_a"]] & shown[row["run_b"]]) == (not row["p_adjusted"] < 0.2)


# -- charts


def test_charts_of_a_comparison() -> None:
    """The data of the chart is the table; the first chart is the map of pairs, or with a baseline the differences."""
    all_pairs = uj.compare(scores_of(MATRIX, MATRIX**2), test="t")
    against = uj.compare(scores_of(MATRIX), test="t", baseline="run2")
    assert all_pairs.figures == ("pairs", "differences")
    assert against.figures == ("differences", "pairs")
    drawn = all_pairs.plot()
    assert drawn.spec["data"]["values"] == records(all_pairs)
    means = MATRIX.mean(axis=0)
    best_first = [f"run{r}" for r in np.argsort(-means)]
    assert drawn.spec["layer"][0]["encoding"]["y"]["sort"] == best_first
    assert against.plot("pairs").spec["layer"][0]["encoding"]["y"]["sort"] == best_first
    told = sum(r["p_adjusted"] < 0.05 for r in rows_of(all_pairs) if r["measure"] == "AP")
    assert f"{told} have a direction, {10 - told} need more topics" in drawn.description
    assert drawn.svg().count("+</text>") == told  # one sign in the field of each decided pair
    dots = against.plot().spec["data"]["values"]
    assert {d["pair"]: (d["difference"], d["low"], d["high"]) for d in dots} == {
        f"{r['run_a']} - run2": tuple(round(r[c], 4) for c in ("difference", "low", "high")) for r in rows_of(against)
    }


def test_a_chart_of_many_pairs_shows_the_largest_and_says_so() -> None:
    chart = uj.compare(scores_of(random_matrix(4, runs=13)), test="t").plot("differences")
    shown = [abs(d["difference"]) for d in chart.spec["data"]["values"]]
    assert len(shown) == 60
    assert "The 60 pairs with the largest differences are shown." in chart.description
    every = sorted(abs(r["difference"]) for r in rows_of(uj.compare(scores_of(random_matrix(4, runs=13)), test="t")))
    assert min(shown) >= round(every[-60], 4)


@pytest.mark.parametrize("name", ["pairs", "differences"])
def test_charts_can_be_drawn(name: str) -> None:
    drawn = uj.compare(scores_of(MATRIX), test="t").plot(name).svg()
    assert drawn.startswith("<svg")
    assert "run3" in drawn
    uj.compare(scores_of([[0.5, 0.25, 0.25]])).plot(name).svg()  # one topic: no intervals, no p values
