"""Judgment groups and preferences: what is read, what is refused; and the measures of groups in the verb."""

from __future__ import annotations

from pathlib import Path

import pytest

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import InputError
from unjudged.io.judgment_groups import Level, read_groups


def written(folder: Path, text: str, name: str = "judgments") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_groups_come_in_order_of_their_bytes(tmp_path: Path) -> None:
    path = written(tmp_path, "# said by two\n7 b d1 1\n7 a d1 0\n\n8 b d2 2\n")
    assert read_groups(path, "qrels_jg") == {
        "7": [Level("a", "0", "d1", 0.0), Level("b", "0", "d1", 1.0)],
        "8": [Level("b", "0", "d2", 2.0)],
    }


def test_preferences_have_subgroups(tmp_path: Path) -> None:
    path = written(tmp_path, "7 a s d1 0.5\n")
    assert read_groups(path, "prefs") == {"7": [Level("a", "s", "d1", 0.5)]}


@pytest.mark.parametrize(
    ("format", "text", "told"),
    [
        ("qrels_jg", "7 a d1 1\n7 a d1 2\n", "appears twice in group a"),
        ("qrels_jg", "7 a d1 1.5\n", "not a whole number"),
        ("qrels_jg", "7 a d1\n", "needs 4 fields"),
        ("prefs", "7 a d1 1\n", "needs 5 fields"),
        ("prefs", "7 a s d1 nan\n", "not a number"),
        ("qrels_prefs", "\n", "no judgments"),
    ],
)
def test_bad_lines_are_refused(tmp_path: Path, format: str, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read_groups(written(tmp_path, text), format)


def test_measures_are_averaged_over_the_groups_of_a_topic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By hand. Topic 1: AP 1 by assessor a, (1/2) / 1 by b; topic 2, judged by a alone: 0."""
    qrels = written(tmp_path, "1 a d1 1\n1 a d2 0\n1 b d2 1\n1 b d1 0\n2 a d9 1\n")
    run = written(tmp_path, "1 Q0 d1 1 2.0 x\n1 Q0 d2 2 1.0 x\n2 Q0 d1 1 1.0 x\n", "run")
    assert main(["trec_eval", "-q", "-R", "qrels_jg", "-m", "map_avgjg", "-m", "P_avgjg.1", qrels, run]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [(name.strip(), topic, shown) for name, topic, shown in lines] == [
        ("map_avgjg", "1", "0.7500"),
        ("P_avgjg_1", "1", "0.5000"),
        ("map_avgjg", "2", "0.0000"),
        ("P_avgjg_1", "2", "0.0000"),
        ("map_avgjg", "all", "0.3750"),
        ("P_avgjg_1", "all", "0.2500"),
    ]


@pytest.mark.parametrize(
    "arguments", [["-R", "prefs"], ["-m", "all_prefs"], ["-R", "qrels_jg", "-m", "map"], ["-R", "other"]]
)
def test_measures_and_format_must_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    qrels = written(tmp_path, "1 a d1 1\n")
    run = written(tmp_path, "1 Q0 d1 1 2.0 x\n", "run")
    assert main(["trec_eval", *arguments, qrels, run]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and "-R" in captured.err


def test_help_explains_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trec_eval", "-h", "-m", "all_prefs", "-m", "qrels_jg"]) == 0
    shown = capsys.readouterr().out
    assert "prefs_avgjg_Rnonrel = prefs_avgjg_Rnonrel\n" in shown and "map_avgjg = AP_avgjg\n" in shown


def test_several_assessors_in_score_and_studies(tmp_path: Path) -> None:
    """By hand: AP is 1 by a and 1/2 by b; the grade of a document is the highest given."""
    qrels = written(tmp_path, "1 a d1 1\n1 a d2 0\n1 b d2 2\n1 b d1 0\n2 a d9 1\n")
    run = {"1": {"d1": 2.0, "d2": 1.0}, "2": {"d9": 1.0}}
    c = uj.load(qrels, {"one": run, "none": {"1": {"d2": 1.0}}}, qrels_format="qrels_jg")
    assert c.judgments.grade.tolist() == [1, 2, 1]
    assert uj.score(c, "map_avgjg, AP, P_avgjg@1").values[0].tolist() == [[0.75, 1.0, 0.5], [1.0, 1.0, 1.0]]
    honoured = uj.score(c, "prefs_simp, prefs_avgjg").values[:, 0]  # a prefers d1 to d2, b d2 to d1
    assert honoured.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert uj.score(uj.only(c, "1"), "AP_avgjg").values.tolist() == [[[0.75]], [[0.5]]]
    found = uj.study("power", c, measures="AP_avgjg, prefs_simp", test="t")
    assert set(found.frame["measure"]) == {"AP_avgjg", "prefs_simp"}
