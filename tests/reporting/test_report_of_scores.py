"""The report of a score table, and of slices of the topics: every section is the study's own answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_scores import random_matrix, scores_of

import unjudged as uj
from unjudged.cli import main
from unjudged.reporting import Asking, Settings
from unjudged.thresholds import read_thresholds

KINDS = {f"t{t}": "short" if t < 14 else "long" if t < 26 else "odd" for t in range(30)}


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A score table of two measures, one of which only the table knows; and slices of its topics."""
    scores = scores_of(random_matrix(5, 30, 7), random_matrix(6, 30, 7))
    text = scores.render("csv").replace("nDCG@10", "accuracy")
    (tmp_path / "scores.csv").write_text(text)
    (tmp_path / "kinds.tsv").write_text("".join(f"{topic}\t{label}\n" for topic, label in KINDS.items()))
    return str(tmp_path / "scores.csv"), str(tmp_path / "kinds.tsv")


def test_every_section_is_the_study_alone(files: tuple[str, str], capsys: Any) -> None:
    table, kinds = files
    assert main(["report", "--scores", table, "--slice", kinds, "--format", "json"]) == 0
    sections = {s["key"]: s for s in json.loads(capsys.readouterr().out)["sections"]}
    assert [*sections] == ["winners", "enough-topics", "which-measure", "safe-comparisons", "slices", "next"]
    for key, section in sections.items():
        if key == "next":
            continue
        assert main([*section["command"], "--format", "json"]) == 0
        alone = json.loads(capsys.readouterr().out)
        assert alone["verdict"] == section["verdict"]
        assert [list(row.values()) for row in alone["rows"]] == section["rows"]
    assert main(["compare", "--scores", table, "-m", "AP", "--ranks", "--format", "json"]) == 0
    ranks = json.loads(capsys.readouterr().out)["rows"]
    assert [list(row.values()) for row in ranks] == sections["winners"]["beside"]["rows"]
    assert "odd is too small to say" in sections["slices"]["verdict"]["sentence"]
    assert {row[0] for row in sections["slices"]["beside"]["rows"]} == {"short", "long", "odd"}


def test_python_page_and_log(files: tuple[str, str]) -> None:
    scores = uj.load_scores(files[0])
    made = uj.report(scores, slice=KINDS, jobs=1)
    alone = uj.study("slices", scores, measures="AP", slice=KINDS, jobs=1)
    assert made["slices"].result.render("tsv") == alone.render("tsv")
    html = made.html()
    for text in ("Does it hold in every kind of topic?", "too small to say", "rank could be", "Who wins"):
        assert text in html
    assert "Does it hold in every kind of topic? |" in made.render("markdown") and "accuracy" in html
    best = next(iter(made["winners"].beside.rows()))  # type: ignore[union-attr]
    assert f"{best[6]} to {best[7]}" in html or f">{best[6]}<" in html
    turned = uj.report(scores.with_runs(scores.runs[::-1]), slice=KINDS, jobs=1)
    assert turned.html() == html
    only = uj.report(scores, measures="accuracy", jobs=1)
    assert only.asking.settings.to_dict()["measures"] == ["accuracy"] and "slices" not in only.words


def test_a_collection_with_slices(tmp_path: Path) -> None:
    uj.simulate("tiny", seed=3, out=tmp_path / "sim", topics=24)
    collection = uj.load(str(tmp_path / "sim/qrels.txt"), str(tmp_path / "sim/runs"))
    kinds = {topic: "a" if place < 12 else "b" for place, topic in enumerate(collection.topics)}
    by_name = collection.with_runs(sorted(collection.runs))
    section = Asking(collection, Settings(), read_thresholds(None), slice=kinds).section("slices")
    alone = uj.study("slices", by_name, measures="AP", slice=kinds, jobs=1)
    assert section.result.render("tsv") == alone.render("tsv") and section.verdict == alone.verdict


def test_what_cannot_be_used(files: tuple[str, str], tmp_path: Path, capsys: Any) -> None:
    """One sentence, exit code 2, nothing written."""
    table, _ = files
    (tmp_path / "bad.tsv").write_text("t1 easy\n")
    (tmp_path / "others.tsv").write_text("x1\teasy\n")
    for words, sentence in {
        ("--slice", str(tmp_path / "bad.tsv")): "bad.tsv:1: a line needs topic<TAB>label, found 't1 easy'",
        ("--slice", str(tmp_path / "others.tsv")): "others.tsv: none of its topics is scored here, as 'x1'",
        ("--slice", str(tmp_path / "none.tsv")): "none.tsv",
        ("--rel", "2"): "a score table has no judgments: leave out rel",
        ("--fail-on", "contents<solid"): "--fail-on takes conditions",
        ("-m", "P@10"): "P@10 was not scored here",
        ("--missing", "nothing"): "invalid choice",
    }.items():
        assert main(["report", "--scores", table, "-o", str(tmp_path / "out.html"), *words]) == 2
        told = capsys.readouterr()
        assert sentence in told.err and told.err.count("\n") == 1 and told.out == ""
        assert not (tmp_path / "out.html").exists()
