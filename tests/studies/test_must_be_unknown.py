"""Collections that cannot answer a question: the verdict is unknown, never a number that looks like an answer.

One topic, two runs of one team, no relevant document, runs that tie everywhere, judgments of documents that no run
returns, one relevant document per topic. Nothing is refused: `unknown` is the answer.
"""

from __future__ import annotations

import gzip
import json
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from brute_force import judged, lists_of
from places import DATA

import unjudged as uj
from unjudged.cli import main
from unjudged.studies import QUESTIONS

STUDIES = (
    *("compare", "winners", "ranks", "contents", "holes", "score-range", "agreement", "power", "swap", "stability"),
    *("reliability", "reduction", "depth", "leave-team-out", "leave-run-out", "take-team", "contributions"),
    *("correction", "correct", *QUESTIONS),
)
TOLD = {
    "one topic": set(),
    "two runs": {"winners", "ranks", "compare", "safe-comparisons"},  # a pair is a pair
    "no relevant document": {"contents"},
    "tied": {"contents", "holes", "never-judged", "contributions"},
    "judgments of other documents": set(),
}
"""What can be said all the same."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        yield


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, uj.Collection]:
    folder = tmp_path_factory.mktemp("unknown") / "c"
    made = uj.simulate("tiny", seed=5, topics=26, runs=12, teams=5, out=folder)
    whole = uj.load(made.qrels, made.run_folder, teams=made.teams)
    grades, runs, teams = judged(whole), lists_of(whole), dict(whole.teams)
    first = min(runs)
    large = max(teams.values(), key=list(teams.values()).count)
    own = [run for run in runs if teams[run] == large][:2]
    zero = {t: dict.fromkeys(docs, 0) for t, docs in grades.items()}
    others = {t: {f"other-{doc}": grade for doc, grade in docs.items()} for t, docs in grades.items()}
    return {
        "one topic": uj.load({t: grades[t] for t in list(grades)[:1]}, runs, teams=teams),
        "two runs": uj.load(grades, {run: runs[run] for run in own}, teams={run: teams[run] for run in own}),
        "no relevant document": uj.load(zero, runs, teams=teams),
        "tied": uj.load(grades, dict.fromkeys(runs, runs[first]), teams=teams),
        "judgments of other documents": uj.load(others, runs, teams=teams),
    }


@pytest.mark.parametrize("study", dict.fromkeys(STUDIES))
@pytest.mark.parametrize("name", TOLD)
def test_no_study_pretends(name: str, study: str, cases: dict[str, uj.Collection]) -> None:
    options: dict[str, Any] = {"second": cases[name]} if study == "another-judge" else {}
    verdict = uj.study(study, cases[name], jobs=1, **options).verdict
    assert verdict is not None and (verdict.word == "unknown" or study in TOLD[name]), verdict
    assert "nan" not in verdict.sentence and verdict.value == verdict.value


@pytest.mark.parametrize("name", TOLD)
def test_the_report_says_unknown(name: str, cases: dict[str, uj.Collection], tmp_path: Path) -> None:
    made = uj.report(cases[name], tmp_path / "report.html", jobs=1)
    assert {key for key, word in made.words.items() if word != "unknown"} <= TOLD[name]
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_errors_of_judges_leave_no_order_that_is_not_there(cases: dict[str, uj.Collection]) -> None:
    notes = uj.study("noise", cases["tied"], jobs=1).notes
    assert any("there is no order by AP that errors could change" in note for note in notes)
    assert not any("nan" in note for note in notes)


def test_measures_that_say_nothing_are_listed_last(cases: dict[str, uj.Collection]) -> None:
    """P(rel=9) asks for a grade nobody gave."""
    whole = cases["two runs"]
    for study in ("power", "which-measure", "stability"):
        found = uj.study(study, whole, measures="P(rel=9)@10, AP, nDCG@10", jobs=1)
        table = str(found.table())
        assert table.split("\n\n")[0].split("\n")[-1].startswith("P(rel=9)"), table
        assert found.verdict is not None and "P(rel=9)" not in found.verdict.sentence


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the real collections")
def test_one_relevant_document_per_topic_of_a_real_collection(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The order was once called solid there: taking judgments away took none away."""
    place = DATA / "dl19-passage"
    lines = [line.split() for line in gzip.decompress((place / "qrels.txt.gz").read_bytes()).decode().splitlines()]
    draw, kept = random.Random(5), set()
    for topic in sorted({line[0] for line in lines}):
        kept.add((topic, draw.choice([line[2] for line in lines if line[0] == topic and int(line[3]) > 0])))
    left = [line for line in lines if line[3] == "0" or (line[0], line[2]) in kept]
    (tmp_path / "one.txt").write_text("".join(" ".join(line) + "\n" for line in left))
    files = [str(tmp_path / "one.txt"), str(place / "runs"), "--teams", str(place / "teams.tsv"), "--format", "json"]
    for key in ("fewer-judgments", "reduction", "fair-to-outsiders"):
        assert main(["study", key, *files]) == 0
        verdict = json.loads(capsysbinary.readouterr().out)["verdict"]
        assert verdict["word"] == "unknown", verdict
        if key != "fair-to-outsiders":
            assert "too few judgments per topic to test the order" in verdict["sentence"]
