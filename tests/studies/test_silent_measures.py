"""Measures that say nothing are unknown and last in every table; topics without the asked grade are told."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from made_scores import MATRIX, rows_of, scores_of

import unjudged as uj

DEAD = "AP(rel=9)"
"""No document of the collection has grade 9."""


def lines(result: uj.Result) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in result.render("markdown").splitlines() if line.startswith("|")]


def test_power_does_not_rank_a_measure_that_says_nothing(tiny: uj.Collection) -> None:
    found = uj.power(tiny, f"{DEAD},AP,P@10", test="t")
    rows = {r["measure"]: r for r in rows_of(found)}
    assert math.isnan(rows[DEAD]["power"]) and rows["AP"]["power"] >= 0
    assert [cells[0] for cells in lines(found)[2:]][-1] == DEAD and lines(found)[-1][1:] == ["-", "-"]
    assert found.verdict is not None and DEAD not in found.verdict.sentence
    assert f"{DEAD} says nothing about these runs and comes last: no document has grade 9 or more" in found.notes
    alone = uj.power(tiny, DEAD, test="t").verdict
    assert alone is not None and alone.word == "unknown"


def test_agreement_lists_it_last(tiny: uj.Collection) -> None:
    found = uj.agreement(tiny, f"{DEAD},AP,P@10")
    head, _, *body = lines(found)
    assert head[-1] == DEAD and body[0][0] == "AP" and body[0][-1] == "-"
    means = uj.score(tiny, "AP,P@10").means().round(12)
    assert found.verdict is not None and found.verdict.decided_by == ("AP", "P@10")
    assert found.verdict.value == pytest.approx(means["AP"].corr(means["P@10"], method="kendall"))


@pytest.mark.parametrize(("study", "options"), [("reduction", {"levels": (50,)}), ("depth", {"levels": (5,)})])
def test_fewer_judgments_never_bold_it(tiny: uj.Collection, study: str, options: dict[str, Any]) -> None:
    """It loses no significant pair and invents none: 0 misses, 0 false alarms, the best of all."""
    found = (
        uj.study(study, tiny, measures=f"{DEAD},AP", test="t", pooled="all", depth=10, **options)
        if (study == "depth")
        else uj.study(study, tiny, measures=f"{DEAD},AP", test="t", **options)
    )
    for row in rows_of(found):
        if row["measure"] == DEAD:
            assert all(math.isnan(row[key]) for key in ("tau", "power", "misses", "false_alarms"))
        else:
            assert not math.isnan(row["misses"])
    head, _, *body = lines(found)
    assert head[-2:] == ["AP", DEAD]
    assert not any("**" in cells[-1] for cells in body) and any("**" in cells[-2] for cells in body)
    assert any(note.startswith(f"{DEAD} says nothing") for note in found.notes)


@pytest.mark.parametrize("study", ["leave-team-out", "take-team"])
def test_bias_summaries_never_bold_it(tiny: uj.Collection, study: str) -> None:
    """Left out or taken alone, a measure that is 0 everywhere misses no pair: it would be the best of all."""
    found = uj.study(study, tiny, measures=f"{DEAD},AP", test="t", summary=True, pooled="all", depth=10)
    for row in rows_of(found):
        unknown = [math.isnan(row[key]) for key in ("tau", "power", "misses", "false_alarms")]
        assert all(unknown) if row["measure"] == DEAD else not any(unknown[1:])
    head, _, *body = lines(found)
    assert head[-2:] == ["AP", DEAD] and not any("**" in cells[-1] for cells in body)
    assert any(note.startswith(f"{DEAD} says nothing") for note in found.notes)
    alone = uj.study(study, tiny, measures=DEAD, pooled="all", depth=10).verdict
    assert alone is not None and alone.word == "unknown" and f"{DEAD} says nothing" in alone.sentence


def test_zero_and_the_same_everywhere_are_told_apart() -> None:
    scores = scores_of(MATRIX, np.zeros_like(MATRIX), np.full_like(MATRIX, 0.5), measures="AP, P@10, RR")
    notes = uj.power(scores, test="t").notes
    assert "P@10 says nothing about these runs and comes last: 0 for every run on every topic" in notes
    assert "RR says nothing about these runs and comes last: the same for all runs on every topic" in notes


@pytest.mark.parametrize("study", ["power", "swap", "stability", "agreement", "reduction"])
def test_topics_without_the_asked_grade_are_counted(study: str) -> None:
    """Topics 1 and 2 of 4 have a document of grade 2, topic 4 has none that is relevant."""
    judged = {"1": {"a": 2, "b": 1}, "2": {"a": 2, "b": 0}, "3": {"a": 1, "b": 0}, "4": {"a": 0, "b": 0}}
    runs = {n: {t: {"a": s, "b": 1.5} for t in judged} for n, s in (("x", 1.0), ("y", 2.0))}
    collection = uj.load(judged, runs)
    notes = uj.study(study, collection, measures="AP,AP(rel=2)").notes
    tail = "(--undefined drop leaves out topics without a value)"
    assert f"1 topic of 4 has no relevant document and counts as 0 in AP {tail}" in notes
    assert f"2 topics of 4 have no document of grade 2 or more and count as 0 in AP(rel=2) {tail}" in notes
    dropped = uj.study(study, collection, measures="AP,AP(rel=2)", undefined="drop").notes
    assert not any("count as 0" in note for note in dropped)


def test_geometric_means_are_tested_through_logarithms(tiny: uj.Collection) -> None:
    """The t test of the logarithms, each value at least 0.00001, by scipy."""
    import scipy.stats

    logs = np.log(np.maximum(uj.score(tiny, "AP").matrix("AP"), 1e-5))
    found = uj.power(tiny, "GMAP", test="t", pairs=True)
    runs = list(tiny.runs)
    for row in rows_of(found):
        a, b = logs[:, runs.index(row["run_a"])], logs[:, runs.index(row["run_b"])]
        assert row["p_value"] == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue, abs=1e-9)
        assert row["difference"] == pytest.approx((a - b).mean(), abs=1e-12)
    assert "GMAP: differences are those of logarithms; 0.1 is a factor of 1.11" in found.notes
    both = uj.agreement(tiny, "GMAP,AP").frame["tau"][0]
    means = uj.score(tiny, "GMAP,AP").means()
    assert both == pytest.approx(means["GMAP"].corr(means["AP"], method="kendall"), abs=1e-12)
