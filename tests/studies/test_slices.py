"""Slices: compare on the topics of each slice alone, adjusted for the number of slices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_scores import rows_of, scores_of
from scipy import stats

import unjudged as uj
from unjudged.cli import main
from unjudged.statistics.intervals import mean_interval

MATRIX = (
    np.random.default_rng(8).random((32, 1)) * 0.5 + np.random.default_rng(9).normal(0, 0.1, (32, 3)) + [0, 0.1, 0.3]
)
SCORES = scores_of(MATRIX, measures="AP")
LABELS = {f"t{t}": "short" if t < 15 else "long" if t < 29 else "odd" for t in range(32)}


def test_against_scipy() -> None:
    """p values of t tests on the topics of a slice; Holm over its pairs, then times the two slices that are large."""
    found = uj.study("slices", SCORES, slice=LABELS, jobs=1)
    for label, topics in {"short": slice(0, 15), "long": slice(15, 29)}.items():
        rows = [row for row in rows_of(found) if row["slice"] == label]
        p = [stats.ttest_rel(MATRIX[topics, a], MATRIX[topics, b]).pvalue for a, b in ((0, 1), (0, 2), (1, 2))]
        assert [row["p_value"] for row in rows] == pytest.approx(p, rel=1e-9)
        order = np.argsort(p)
        holm = np.empty(3)
        holm[order] = np.minimum(1, np.maximum.accumulate(np.array(p)[order] * [3, 2, 1]))
        assert [row["p_adjusted"] for row in rows] == pytest.approx(np.minimum(1, 2 * holm), rel=1e-9)
        for row in rows:
            assert (row["outcome"] in ("better", "worse")) == (row["p_adjusted"] < 0.05)
        between = stats.ttest_rel(MATRIX[topics, 0], MATRIX[topics, 1]).confidence_interval(1 - 0.05 / 2)
        assert (rows[0]["low"], rows[0]["high"]) == pytest.approx((between.low, between.high), rel=1e-9)


def test_too_small_to_say() -> None:
    found = uj.study("slices", SCORES, slice=LABELS, jobs=1)
    odd = [row for row in rows_of(found) if row["slice"] == "odd"]
    assert {(row["topics"], row["outcome"], row["why"]) for row in odd} == {(3, "cannot tell", "too small to say")}
    assert all(np.isnan(row["p_value"]) for row in odd)
    assert odd[0]["difference"] == pytest.approx((MATRIX[29:, 0] - MATRIX[29:, 1]).mean())
    assert found.verdict is not None and "odd is too small to say" in found.verdict.sentence
    alone = uj.study("slices", SCORES, slice={"t1": "x", "t2": "x"}, jobs=1).verdict
    assert alone is not None and alone.word == "unknown"


def test_means_with_intervals() -> None:
    rows = rows_of(uj.study("slices", SCORES, slice=LABELS, means=True, jobs=1))
    here = next(row for row in rows if (row["slice"], row["run"]) == ("short", "run02"))
    values = MATRIX[:15, 2]
    (low,), (high,) = mean_interval(values[:, None], 0.05 / 2)
    assert (here["value"], here["low"], here["high"]) == pytest.approx((values.mean(), low, high))
    half = stats.t(14).isf(0.025 / 2) * values.std(ddof=1) / np.sqrt(15)  # Student's is near it in mid-scale
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.01)


def test_ranks_within_slices(tmp_path: Path, capsys: Any) -> None:
    """Those of the study `ranks` on the topics of a slice, at alpha over the two slices that are large enough."""
    rows = rows_of(uj.study("slices", SCORES, slice=LABELS, ranks=True, jobs=1))
    for label, topics in {"short": slice(0, 15), "long": slice(15, 29)}.items():
        alone = rows_of(uj.study("ranks", scores_of(MATRIX[topics], measures="AP"), alpha=0.025, jobs=1))
        here = [row for row in rows if row["slice"] == label]
        assert [{key: row[key] for key in alone[0]} for row in here] == alone
    odd = [row for row in rows if row["slice"] == "odd"]
    means = {f"run{r:02d}": MATRIX[29:, r].mean() for r in range(3)}
    assert [row["run"] for row in odd] == sorted(means, key=lambda run: -means[run])
    assert [(row["rank"], row["why"]) for row in odd] == [(place, "too small to say") for place in (1, 2, 3)]
    assert all(pd.isna(row["low"]) for row in odd)
    SCORES.to_csv(tmp_path / "s.csv")
    (tmp_path / "k.tsv").write_text("".join(f"{t}\t{label}\n" for t, label in LABELS.items()))
    words = ["compare", "--scores", str(tmp_path / "s.csv"), "--slice", str(tmp_path / "k.tsv"), "--ranks"]
    assert main([*words, "--format", "tsv"]) == 0
    assert capsys.readouterr().out == uj.study("slices", SCORES, slice=LABELS, ranks=True, jobs=1).render("tsv")
    with pytest.raises(uj.UsageError, match="two tables: choose one"):
        uj.study("slices", SCORES, slice=LABELS, ranks=True, means=True, jobs=1)


@given(st.lists(st.sampled_from("abc"), min_size=32, max_size=32))
@settings(max_examples=10, deadline=None)
def test_slices_divide_the_topics(labels: list[str]) -> None:
    """Whatever the slices, means weighted by their topics are the mean over all, and nothing is said of small ones."""
    given_labels = {f"t{t}": label for t, label in enumerate(labels)}
    rows = rows_of(uj.study("slices", SCORES, slice=given_labels, means=True, jobs=1))
    for r in range(3):
        here = [row for row in rows if row["run"] == f"run{r:02d}"]
        assert sum(row["topics"] for row in here) == 32
        assert sum(row["topics"] * row["value"] for row in here) / 32 == pytest.approx(MATRIX[:, r].mean())
        assert all((row["why"] == "too small to say") == (row["topics"] < 10) for row in here)


def test_a_contradiction_is_named() -> None:
    turned = MATRIX.copy()
    turned[15:] = turned[15:, ::-1]
    told = uj.study("slices", scores_of(turned, measures="AP"), slice=LABELS, jobs=1).verdict
    assert told is not None and "run00 is better than run01 in long and worse in short" in told.sentence


def test_command_line(tmp_path: Path, capsys: Any) -> None:
    SCORES.to_csv(tmp_path / "s.csv")
    labels = tmp_path / "slices.tsv"
    labels.write_text("topic\tlabel\n" + "".join(f"{t}\t{label}\n" for t, label in LABELS.items()))
    words = ["compare", "--scores", str(tmp_path / "s.csv"), "--slice", str(labels), "--format", "tsv"]
    assert main(words) == 0
    assert capsys.readouterr().out == uj.study("slices", SCORES, slice=LABELS, jobs=1).render("tsv")
    for text, sentence in {
        "t1 easy\n": ":1: a line needs topic<TAB>label, found 't1 easy'",
        "t1\ta\nt1\tb\n": ":2: topic t1 is in two slices, a and b",
        "topic\tlabel\n": ": no slices in this file",
        "x1\ta\n": ": none of its topics is scored here, as 'x1'",
    }.items():
        labels.write_text(text)
        assert main([*words, "-o", str(tmp_path / "out")]) == 2
        told = capsys.readouterr()
        assert f"{labels}{sentence}" in told.err and told.out == "" and not (tmp_path / "out").exists()
