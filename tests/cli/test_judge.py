"""`unjudged judge`: what is told before the page opens, and labels written as judgments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hole_cases import MICRO

import unjudged as uj
from unjudged import web
from unjudged.cli import main
from unjudged.holes.labels import LabelFile
from unjudged.web.judging import Desk


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    lines = [f"{t} 0 {d} {g}\n" for t, docs in MICRO["qrels"].items() for d, g in docs.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    (tmp_path / "runs").mkdir()
    for run, lists in MICRO["runs"].items():
        (tmp_path / "runs" / run).write_text(
            "".join(f"{t} Q0 {d} {i} {9 - i} x\n" for t, docs in lists.items() for i, d in enumerate(docs, 1))
        )
    return [str(tmp_path / "qrels.txt"), str(tmp_path / "runs")]


@pytest.fixture
def labels(words: list[str], tmp_path: Path) -> LabelFile:
    return LabelFile(tmp_path / "l.sqlite", uj.load(words[0], words[1]).judgments)


class Served:
    """What the verb hands to the server."""

    desk: Desk
    first: str = ""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Served:
    found = Served()

    def serve(collection: uj.Collection, *, desk: Desk, first: str, **_: Any) -> None:
        found.desk, found.first = desk, first

    monkeypatch.setattr(web, "serve", serve)
    return found


def test_the_page_is_served(
    words: list[str], labels: LabelFile, served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.jsonl").write_text(json.dumps({"_id": "d4", "text": "the fourth"}) + "\n")
    asked = ["-m", "P@5", "--new", "d", "--baseline", "a", "--judge", "Ann", "--labels", labels.path, "--batch", "3"]
    assert main(["judge", *words, *asked, "--corpus", str(tmp_path / "c.jsonl")]) == 0
    err = capsys.readouterr().err
    assert f"{tmp_path / 'c.jsonl'}: texts of 1 of " in err and "d against a by P@5: Not decided yet. " in err
    desk = served.desk
    assert served.first == "judge" and (desk.setup.who, desk.setup.batch, desk.setup.question.new) == ("Ann", 3, "d")
    pair = desk.session(desk.setup.question).next_for("w", "Ann")
    assert pair is not None and not Path(labels.path).exists()
    assert (
        main(["judge", *words, *asked[:2], "--new", f"{words[1]}/d", "--baseline", "a", "--scale", "no,yes,sure"]) == 0
    )
    assert [grade.name for grade in served.desk.scale] == [
        "no",
        "yes",
        "sure",
    ] and served.desk.setup.question.new == "d"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--labels", "no/such/l.sqlite"], "make the folder"),
        (["--labels", "qrels.txt"], "this is no label file"),
        (["-m", "AP"], "AP cannot lead the judging"),
        (["--new", "d"], "name both the new run and its baseline"),
        (["--top", "9"], "k is 1 to 3, not 9"),
        (["--scale", "0"], "a scale goes up to 1 at least"),
        (["--batch", "0"], "a batch has at least 1 document"),
        (["--queries", "nowhere"], "nowhere"),
        (["--export", "out.txt"], "there are no labels to write"),
        (["--export", "no/such/out.txt"], "make the folder"),
    ],
)
def test_what_is_refused(
    more: list[str],
    says: str,
    words: list[str],
    served: Served,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    assert main(["judge", *words, *more]) == 2
    assert says in capsys.readouterr().err and served.first == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_runs_are_needed_to_judge(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", words[0]]) == 2
    assert "RUN missing" in capsys.readouterr().err


def test_labels_become_judgments(
    words: list[str], labels: LabelFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for judge, topic, doc, grade in (("Ann", "1", "d4", 1), ("Ben", "1", "d4", 0), ("Ben", "2", "d5", 3)):
        labels.add(judge, topic, doc, grade)
    out, new = tmp_path / "out.txt", tmp_path / "new.txt"
    own = ["--labels", labels.path]
    assert main(["judge", words[0], *own, "--export", str(out), "--merged", str(new)]) == 0
    err = capsys.readouterr().err
    assert "2 labels by Ann, Ben" in err and "1 document judged by several, 1 differently: majority decides" in err
    assert out.read_text() == "1 0 d4 1\n2 0 d5 3\n"
    before, after = (Path(path).read_text().splitlines() for path in (words[0], new))
    assert sorted([*before, "1 0 d4 1", "2 0 d5 3"]) == sorted(after)
    assert main(["judge", words[0], *own, "--export", "-", "--rule", "min"]) == 0
    assert capsys.readouterr().out == "1 0 d4 0\n2 0 d5 3\n"
    assert main(["judge", words[0], *own, "--export", "-", "--judge", "Ann"]) == 0
    assert capsys.readouterr().out == "1 0 d4 1\n"
    assert main(["judge", words[0], *own, "--export", "-", "--judge", "Dan"]) == 2
    assert main(["judge", words[0], *own, "--export", "-", "--rule", "most"]) == 2
    assert "there are no labels of Dan to write" in (err := capsys.readouterr().err) and "unknown rule 'most'" in err
    other = tmp_path / "other.txt"
    other.write_text("1 0 d1 1\n")
    assert main(["judge", str(other), *own, "--export", "-"]) == 2
    assert "these are labels of other judgments" in capsys.readouterr().err


def test_next_takes_a_label_file(words: list[str], labels: LabelFile, capsys: pytest.CaptureFixture[str]) -> None:
    labels.add("Ann", "1", "d4", 1)
    labels.skip("Ann", "1", "d5")
    assert main(["next", *words, "-m", "P@5", "--answers", labels.path, "--format", "tsv"]) == 0
    said = capsys.readouterr()
    assert f"{labels.path}: 1 new label merged" in said.err and "\t1\td4\t" not in said.out
