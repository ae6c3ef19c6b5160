"""The swap method: a plain loop, and what the papers found on real collections."""

from __future__ import annotations

import itertools
import json
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
    asked = {"c": 5, "trials": 60, "repeats": 1, "seed": 2, "confidence": (90, 50), "rule": "guarantee"}
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
        *("relative_difference", "share", "share_low", "share_high"),
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
        ({"confidence": 0.95}, "confidence is given in percent: 95, not 0.95"),
        ({"confidence": (95, 1)}, "confidence is given in percent: 100, not 1"),
        ({"rule": "last"}, "unknown rule 'last'"),
        ({"repeats": 0}, "at least 1 repeat"),
        ({"curve": True, "shared_topics": True}, "two different tables"),
        ({"sampling": "independent", "c": 16}, "two independent sets of 16 of 16 topics are the same set"),
        ({"sampling": "independent", "c": 17}, "1 to 16 topics"),
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
    assert math.isnan(required["AP"]) and math.isnan(required["RR"]) and required["nDCG@10"] >= 0
    assert "RR says nothing about these runs and comes last: the same for all runs on every topic" in found.notes
    lines = [line.split(" | ") for line in found.render("markdown").splitlines() if line.startswith("| disjoint")]
    assert [line[2] for line in lines] == ["nDCG@10", "AP", "RR"]
    assert ["**" in line[-1] for line in lines] == [True, False, False]
    assert found.verdict is not None and found.verdict.decided_by == ("nDCG@10",)


def test_runs_that_never_differ_cannot_swap() -> None:
    verdict = uj.swap(scores_of(np.full((16, 6), 0.5)), trials=20).verdict
    assert verdict is not None and verdict.word == "unknown" and verdict.value is None


def test_nothing_is_confirmed_by_chance_alone() -> None:
    chance = np.random.default_rng(1).random((26, 6))
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


def test_repeats_are_put_together_and_their_spread_is_shown() -> None:
    """A repeat is the method with another seed, the first one with the seed given."""
    scores = scores_of(MATRIX)
    asked = {"c": 5, "trials": 60, "seed": 7, "sampling": "disjoint", "rule": "guarantee"}
    alone, four = (uj.swap(scores, **asked, repeats=n, curve=True).frame for n in (1, 4))
    assert four["comparisons"].sum() == 4 * alone["comparisons"].sum()
    assert (four["comparisons"] >= alone["comparisons"]).all()
    (row,) = rows_of(uj.swap(scores, **asked, repeats=4, confidence=80))
    assert 0 <= row["share_low"] <= row["share_high"] <= 1 and row["share_low"] < row["share_high"]
    (first,) = rows_of(uj.swap(scores, **asked, repeats=1, confidence=80))
    assert row["share_low"] <= first["share"] <= row["share_high"] and math.isnan(first["share_low"])
    shown = uj.swap(scores, **asked, repeats=4, confidence=80).table()
    assert f"[{100 * row['share_low']:.1f}%, {100 * row['share_high']:.1f}%]" in shown


def test_table_5_of_the_paper() -> None:
    """42 topics, sets of 20: METHODS C.7 gives the expectations and the errors of 1000 trials; the paper printed
    6.2/16.1 and 9.5."""
    scores = scores_of(np.random.default_rng(0).random((42, 3)))
    result = uj.swap(scores, c=20, shared_topics=True)
    found = {r["sampling"]: r for r in rows_of(result)}
    assert list(found) == ["disjoint", "replacement", "independent"]
    assert (found["disjoint"]["different"], found["disjoint"]["shared"]) == (20, 0)
    assert (found["disjoint"]["different_drawn"], found["disjoint"]["shared_drawn"]) == (20, 0)
    assert found["replacement"]["different"] == pytest.approx(16.061753, abs=1e-6)
    assert found["replacement"]["shared"] == pytest.approx(6.142379, abs=1e-6)
    assert found["independent"]["shared"] == pytest.approx(9.523810, abs=1e-6)
    assert abs(found["replacement"]["shared_drawn"] - 6.142379) < 4 * 0.055
    assert abs(found["replacement"]["different_drawn"] - 16.061753) < 4 * 0.046
    assert abs(found["independent"]["shared_drawn"] - 9.523810) < 4 * 0.052
    assert "6.1/16.1" in result.table()
    assert json.loads(result.render("json"))["rows"][1]["sampling"] == "replacement"
    settings = uj.swap(scores, c=20, trials=5, repeats=1).provenance.settings["shared topics"]
    assert settings["independent"] == {"different": 20, "shared": pytest.approx(9.523810, abs=1e-6)}


def test_the_ways_of_sampling_in_one_chart() -> None:
    """Figures 2 to 4 of Sakai 2005: one panel per measure, a line per way of sampling."""
    curve = uj.swap(scores_of(MATRIX, MATRIX**2), c=5, trials=20, repeats=1, curve=True)
    spec = curve.plot("samplings").spec
    layers = [layer for layer in spec["spec"]["layer"] if layer["encoding"].get("color")]
    assert [layer["encoding"]["color"]["field"] for layer in layers] == ["sampling"]
    assert spec["facet"]["field"] == "measure"


def test_a_zero_measure_never_wins(tiny: uj.Collection) -> None:
    """No document of the collection has grade 9: the measure is 0 everywhere, never swaps, and must not be best."""
    found = uj.swap(tiny, "AP,AP(rel=9),P(rel=9)@10", trials=50, sampling="disjoint", confidence=80)
    rows = {r["measure"]: r for r in rows_of(found)}
    assert all(math.isnan(rows[m]["share"]) for m in ("AP(rel=9)", "P(rel=9)@10"))
    lines = [line.split(" | ") for line in found.render("markdown").splitlines() if line.startswith("| disjoint")]
    assert lines[0][2] == "AP" and "**" not in "".join(lines[1] + lines[2])
    assert found.verdict is not None and found.verdict.decided_by in (("AP",), ())
    assert "AP(rel=9) and P(rel=9)@10 say nothing and come last: no document has grade 9 or more" in found.notes
    only = uj.swap(tiny, "AP(rel=9)", trials=50).verdict
    assert only is not None and only.word == "unknown"


def test_independent_sets_alone_get_a_warning() -> None:
    found = uj.swap(scores_of(MATRIX), sampling="independent", c=12, trials=20)
    assert any("share 9.0 on average, so that swap rates come out too low" in note for note in found.notes)


def test_geometric_means_in_swap(tiny: uj.Collection) -> None:
    """Differences are of geometric means, computed here from the scores of topics."""
    scores = uj.score(tiny, "AP").matrix("AP")
    here, there = topic_set_pairs(10, 5, 40, "disjoint", 0)
    counted, swapped = [0] * 21, [0] * 21
    floor = np.log(np.maximum(scores, 1e-5))
    for one, other in zip(here, there, strict=True):
        x, y = np.exp(floor[one].mean(axis=0)), np.exp(floor[other].mean(axis=0))
        for a, b in itertools.combinations(range(scores.shape[1]), 2):
            d, e = x[a] - x[b], y[a] - y[b]
            place = min(20, math.floor(abs(d) / 0.01 + 1e-9))
            counted[place] += 1
            swapped[place] += d * e < 0
    asked = {"sampling": "disjoint", "c": 5, "trials": 40, "repeats": 1}
    found = uj.swap(tiny, "GMAP", **asked, curve=True).frame
    assert found["comparisons"].tolist() == counted and found["swaps"].tolist() == swapped
    best = rows_of(uj.swap(tiny, "GMAP", **asked))[0]["max_performance"]
    assert best == pytest.approx(max(np.exp(floor[s].mean(axis=0)).max() for s in (*here, *there)))


def test_eight_seeds_agree_on_ncg() -> None:
    """Issue 16: by the paper's rule, one sparse bin made nCG@100 jump from 0.2 % to 7.4 %, or to nothing."""
    folder = DATA / "dl19-passage"
    if not folder.is_dir():
        pytest.skip("dl19-passage is not here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        c = uj.load(folder / "qrels.txt.gz", folder / "runs")
    asked: dict[str, Any] = {"c": 20, "top": 30, "by": "AP", "sampling": "disjoint", "confidence": 95, "jobs": 1}
    old, new = (
        [rows_of(uj.swap(c, "nCG@100", seed=seed, **asked, **how))[0]["share"] for seed in range(8)]
        for how in ({"rule": "guarantee", "repeats": 1}, {})
    )
    assert any(map(math.isnan, old)) and min(s for s in old if not math.isnan(s)) < 0.01
    assert min(new) > 0.05 and max(new) < 0.056


def test_every_comparison_is_counted(tiny: uj.Collection) -> None:
    asked: dict[str, Any] = {"measures": "AP,P@10", "trials": 50, "c": 4, "repeats": 1, "rule": "guarantee"}
    curve = uj.study("swap", tiny, **asked, curve=True)
    assert curve.columns == ("measure", "sampling", "bin", "comparisons", "swaps", "swap_rate", "highest_rate")
    frame = curve.frame
    totals = frame.groupby(["measure", "sampling"])
    assert (totals["comparisons"].sum() == 66 * 50).all() and (totals["bin"].count() == 21).all()
    assert (frame["swaps"] <= frame["comparisons"]).all()
    table = uj.study("swap", tiny, **asked).frame
    assert list(table["confidence"].unique()) == [95, 90, 80] and len(table) == 2 * 3 * 3
    for row in table.dropna(subset=["share"]).to_dict("records"):
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
    found = uj.swap(c, "AP,Q,RBP", trials=200, repeats=1, curve=True, jobs=1).frame
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
