"""Question answering: answer classes, correctness levels, duplicates (METHODS A.26; worked example QA1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import InputError, UsageError

CLASSES = {"1": {"Barack Obama": "S", "Obama": "A"}, "2": {"Joe Biden": 3, "Biden": 1}, "3": {"Harris": "B"}}
ANSWERS = ["Biden", "Trump", "Obama", "Barack Obama", "Joe Biden"]
EXPECTED = {
    "Q": 0.333333,
    "Q(gains={1: 1, 2: 1, 3: 1})": 0.555556,
    "Q(gains={1: 1, 2: 1.5, 3: 2})": 0.409722,
    "RR": 1.0,
    "NQcorrect@1": 1.0,
    "NQcorrect@5": 1.0,
}


def scored(classes: dict[str, Any], answers: list[str], measures: object = "sakai2005-qa") -> dict[str, float]:
    scores = uj.score(uj.load({"q": classes}, {"q": answers}, qa=True), measures)
    return {str(m): float(v) for m, v in zip(scores.measures, scores.values[0, 0], strict=True)}


def test_worked_example() -> None:
    assert scored(CLASSES, ANSWERS) == pytest.approx(EXPECTED, abs=1e-6)


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"q\t{name}\t{level}\t{text}" for name, inside in CLASSES.items() for text, level in inside.items()]  # type: ignore[attr-defined]
    (tmp_path / "classes.tsv").write_text("question\tclass\tlevel\tanswer\n" + "\n".join(lines) + "\n")
    run = [f"q\t{rank}\t{text} \n" for rank, text in enumerate(ANSWERS, 1)]
    (tmp_path / "run.tsv").write_text("".join(reversed(run)))
    files = [str(tmp_path / "classes.tsv"), str(tmp_path / "run.tsv")]
    assert main(["score", *files, "--qa", "-m", "sakai2005-qa", "--format", "tsv"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert {row[2]: float(row[3]) for row in rows} == pytest.approx(EXPECTED, abs=1e-6)
    assert {row[0] for row in rows} == {"run.tsv"}


def test_a_repeated_answer_keeps_its_place_and_counts_as_wrong() -> None:
    """METHODS D.28: a duplicate may be replaced by a wrong answer without effect."""
    again = ["Harris", "Harris", "Joe Biden"]
    wrong = ["Harris", "nobody", "Joe Biden"]
    assert scored(CLASSES, again) == scored(CLASSES, wrong)
    assert scored(CLASSES, again, "Q")["Q"] == pytest.approx(((1 + 1) / (1 + 3) + (2 + 4) / (3 + 7)) / 3)


def test_one_class_by_formula() -> None:
    """METHODS D.28: with one class Q = (1 + beta g) / (r + beta g_best)."""
    only = {"1": {"yes": "S", "yep": "B"}}
    assert scored(only, ["no", "yep"], "Q")["Q"] == pytest.approx((1 + 1) / (2 + 3))
    assert scored(only, ["no", "yep"], "Q(beta=0.5)")["Q(beta=0.5)"] == pytest.approx((1 + 0.5) / (2 + 1.5))


def test_an_answer_belongs_to_the_first_class_that_holds_it() -> None:
    twice = {"1": {"x": "B"}, "2": {"x": "S", "y": "S"}}
    assert scored(twice, ["x"], "Q")["Q"] == pytest.approx((1 + 1) / (1 + 3) / 2)


def test_five_answers_count() -> None:
    assert scored(CLASSES, ["a", "b", "c", "d", "e", "Harris"], "RR")["RR"] == 0
    assert scored(CLASSES, ["a", "b", "c", "d", "Harris"], "RR")["RR"] == pytest.approx(1 / 5)


@pytest.mark.parametrize(
    ("classes", "run", "words"),
    [
        ("q\t1\tS\n", "q\t1\tx\n", "classes.tsv:1"),
        ("q\t1\tgood\tx\n", "q\t1\tx\n", "'good'"),
        ("q\t1\tS\tx\n", "q\tfirst\tx\n", "run.tsv:1"),
        ("q\t1\tS\tx\n", "q x\n", "run.tsv:1"),
    ],
)
def test_refusals(classes: str, run: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "classes.tsv").write_text(classes)
    (tmp_path / "run.tsv").write_text(run)
    with pytest.raises(InputError, match=words):
        uj.load(tmp_path / "classes.tsv", tmp_path / "run.tsv", qa=True)


@pytest.mark.parametrize("level", ["12345678901", 2**40, None, 1.5, "-"])
def test_a_level_that_is_none_is_refused(level: object) -> None:
    with pytest.raises(uj.InputError, match="is not S, A, B or a whole number"):
        uj.load({"Q1": {"1": {"Obama": level}}}, {"run": {"Q1": ["Obama"]}}, qa=True)


def test_the_usual_measures_of_answers() -> None:
    """The default of score and studies: wrong answers count as wrong, never as unjudged."""
    collection = uj.load(
        {"q": CLASSES, "r": {"1": {"yes": "S"}}}, {n: {"q": ANSWERS, "r": [n]} for n in ("yes", "no")}, qa=True
    )
    assert [str(m) for m in uj.score(collection).measures] == list(EXPECTED)
    for study in ("power", "compare", "stability"):
        options = {"test": "t"} if study != "stability" else {"c": 1, "trials": 5}
        measures = uj.study(study, collection, **options).frame["measure"].unique()
        assert list(measures) == list(EXPECTED)
    asked = uj.study("power", collection, measures="AP,RR", test="t").frame["measure"]
    assert asked.tolist() == ["AP", "RR"]


@pytest.mark.parametrize("measures", ["AP'", "bpref", "sakai2009"])
def test_condensed_lists_are_refused(measures: str) -> None:
    """A condensed list would drop the wrong answers, and every run that says one right thing would be perfect."""
    collection = uj.load({"q": CLASSES}, {n: {"q": ANSWERS} for n in "ab"}, qa=True)
    with pytest.raises(UsageError, match="an answer outside the classes is wrong, not unjudged"):
        uj.score(collection, measures)
    with pytest.raises(UsageError, match="an answer outside the classes is wrong, not unjudged"):
        uj.study("power", collection, measures=measures)
    with pytest.raises(UsageError, match="an answer outside the classes is wrong, not unjudged"):
        uj.score(collection, "RR", unjudged="condensed")


def test_there_are_no_holes_in_answers() -> None:
    collection = uj.load({"q": CLASSES}, {n: {"q": ANSWERS} for n in "ab"}, qa=True)
    found = uj.study("holes", collection)
    assert list(found.rows()) == [] and found.verdict is not None and found.verdict.word == "unknown"
    assert "answers outside the classes are wrong, not unjudged" in found.verdict.sentence
