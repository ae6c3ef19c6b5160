"""The swap method: a plain loop, and what the papers found on real collections."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from made_scores import MATRIX, rows_of, scores_of
from places import DATA

import unjudged as uj
from unjudged.errors import UsageError
from unjudged.statistics.draws import topic_set_pairs
from unjudged.studies.swap import sensitivity_bars


def test_swap_against_a_plain_loop() -> None:
    asked = {"c": 5, "trials": 60, "seed": 2, "confidence": (90, 50)}
    result, curve = uj.swap(scores_of(MATRIX), **asked), rows_of(uj.swap(scores_of(MATRIX), **asked, curve=True))
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
        (m, s, c) for s in ("disjoint", "replacement", "independent") for m in ("AP", "nDCG@10") for c in (95, 90, 80)
    ]
    assert result.provenance.settings["c"] == 8
    assert result.table().splitlines()[1].split()[:2] == ["disjoint", "95%"]
    one = uj.swap(scores_of(MATRIX), sampling="independent", trials=20)
    assert {r["sampling"] for r in rows_of(one)} == {"independent"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"c": 9}, "two disjoint sets of 9 topics need 18, 16 given"),
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


def test_measures_without_a_required_difference_come_last_and_are_never_bold() -> None:
    """AP orders the runs at random, so that no difference is confirmed; by RR all runs are alike."""
    chance = np.random.default_rng(1).random((16, 6))
    apart = MATRIX + np.linspace(0, 0.5, 6)
    scores = scores_of(chance, np.full_like(MATRIX, 0.5), apart, measures="AP, RR, nDCG@10")
    found = uj.swap(scores, sampling="disjoint", confidence=95, trials=100)
    required = {r["measure"]: r["required_difference"] for r in rows_of(found)}
    assert math.isnan(required["AP"]) and required["RR"] == 0.0 and required["nDCG@10"] > 0
    lines = [line.split(" | ") for line in found.render("markdown").splitlines() if line.startswith("| disjoint")]
    assert [line[2] for line in lines] == ["nDCG@10", "AP", "RR"]
    assert ["**" in line[-1] for line in lines] == [True, False, False]
    assert found.verdict is not None and found.verdict.decided_by == ("nDCG@10",)


def test_runs_that_never_differ_cannot_swap() -> None:
    verdict = uj.swap(scores_of(np.full((16, 6), 0.5)), trials=20).verdict
    assert verdict is not None and verdict.word == "unknown" and verdict.value is None


def test_nothing_is_confirmed_by_chance_alone() -> None:
    chance = np.random.default_rng(1).random((16, 6))
    verdict = uj.swap(scores_of(chance), sampling="disjoint", trials=100).verdict
    assert verdict is not None and (verdict.word, verdict.value) == ("fragile", 0.0)


def test_the_caption_tells_how_many_topics_two_sets_share() -> None:
    """Table 5 of Sakai 2005: two independent sets of 8 of 16 topics share 8 * 8 / 16 of them on average."""
    both = uj.swap(
        {"a": scores_of(MATRIX), "b": scores_of(MATRIX[:10])}, sampling=("disjoint", "independent"), trials=5
    )
    assert "a: Topics two sets of 8 share on average: disjoint 0.0 of 8.0, independent 4.0 of 8.0." in both.caption
    assert "b: Topics two sets of 5 share on average: disjoint 0.0 of 5.0, independent 2.5 of 5.0." in both.caption
    assert both.provenance.settings["c"] == {"a": 8, "b": 5}


def test_every_comparison_is_counted(tiny: uj.Collection) -> None:
    curve = uj.study("swap", tiny, measures="AP,P@10", trials=50, c=4, curve=True)
    assert curve.columns == ("measure", "sampling", "bin", "comparisons", "swaps", "swap_rate")
    frame = curve.frame
    totals = frame.groupby(["measure", "sampling"])
    assert (totals["comparisons"].sum() == 66 * 50).all() and (totals["bin"].count() == 21).all()
    assert (frame["swaps"] <= frame["comparisons"]).all()
    table = uj.study("swap", tiny, measures="AP,P@10", trials=50, c=4).frame
    assert list(table["confidence"].unique()) == [95, 90, 80] and len(table) == 2 * 3 * 3
    for row in table.dropna().to_dict("records"):
        bins = frame[(frame["measure"] == row["measure"]) & (frame["sampling"] == row["sampling"])]
        above = bins[bins["bin"] >= round(100 * row["required_difference"])]
        assert (above["swap_rate"].dropna() <= 1 - row["confidence"] / 100 + 1e-9).all()
        assert row["share"] == pytest.approx(above["comparisons"].sum() / (66 * 50))
        assert row["relative_difference"] == pytest.approx(row["required_difference"] / row["max_performance"])


@pytest.mark.parametrize("name", ["dl19-passage", "robust03", "trec2-adhoc"])
def test_independent_sets_swap_less_than_disjoint_ones(name: str) -> None:
    """Sakai 2005: sets that share topics contradict each other less; disjoint and replacement are alike."""
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        only = "601-650" if name == "robust03" else None
        c = uj.load(folder / "qrels.txt.gz", folder / "runs", only=only, lenient=name == "trec2-adhoc")
    found = uj.swap(c, "AP,Q,RBP", trials=200, curve=True, jobs=1).frame
    swaps = found.groupby(["measure", "sampling"])["swaps"].sum()
    for measure in ("AP", "Q", "RBP"):
        assert swaps[measure, "independent"] < 0.8 * swaps[measure, "disjoint"]
        assert abs(swaps[measure, "replacement"] / swaps[measure, "disjoint"] - 1) < 0.15


def test_bars_are_sorted_and_a_measure_without_a_difference_has_none(tiny: uj.Collection) -> None:
    """Confidence in the axis title, percentages as in the table, no bar of 0 for what is not known."""
    result = uj.study("swap", tiny, measures="AP,P@5,RR", trials=20, c=4, sampling="disjoint", confidence=(95, 50))
    columns, rows = ("measure", "sampling", "confidence", "required_difference", "max_performance"), []
    for measure, share in (("b", 0.25), ("none", math.nan), ("a", 0.75)):
        rows.append((measure, "disjoint", 95, 0.1, 0.5, 0.2, share))
    made = uj.Result((*columns, "relative", "share"), lambda: rows, result.provenance)
    spec = sensitivity_bars(made).spec
    bars, numbers, without = spec["spec"]["layer"]
    assert bars["encoding"]["y"]["sort"] == ["a", "b", "none"]
    assert "95% confidence" in bars["encoding"]["x"]["title"]
    values = {row["measure"]: row for row in spec["data"]["values"]}
    assert values["none"]["share"] is None and values["none"]["told"] == "no difference is confirmed"
    assert (values["a"]["told"], values["b"]["told"]) == ("75.0%", "25.0%")
    assert numbers["transform"] == [{"filter": "isValid(datum.share)"}]
    assert without["transform"] == [{"filter": "!isValid(datum.share)"}]
    assert "no difference is confirmed" in sensitivity_bars(made).svg()
    assert result.plot().svg().startswith("<svg")
