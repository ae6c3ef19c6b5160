"""check --qa: every kind of trouble with answers, and nothing where there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unjudged.cli import main
from unjudged.io.check.findings import CODES

CLASSES = "question\tclass\tlevel\tanswer\nQ1\t1\tS\tBarack Obama\nQ1\t1\tA\tObama\nQ2\t1\t2\tParis\n"
RUN = "Q1\t1\tObama\nQ2\t1\tLondon\nQ2\t2\tParis\n"


def found(
    folder: Path, classes: str, run: str, capsys: pytest.CaptureFixture[str], code: int = 1, *more: str
) -> dict[str, dict[str, Any]]:
    (folder / "classes.tsv").write_text(classes)
    (folder / "run.tsv").write_text(run)
    files = [str(folder / "classes.tsv"), str(folder / "run.tsv")]
    assert main(["check", *files, *more, "--qa", "--format", "json"]) == code
    return {row["code"]: row for row in json.loads(capsys.readouterr().out)["rows"]}


def test_nothing_to_find(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert found(tmp_path, CLASSES, RUN, capsys, 0) == {}


@pytest.mark.parametrize(
    ("code", "classes", "run", "line", "count", "says"),
    [
        ("UJ100", "\n", RUN, None, 1, "no answers in this file"),
        ("UJ100", "", RUN, None, 1, "this file is empty"),
        ("UJ141", CLASSES + "Q3\t1\tX\tBonn\nQ4\n", RUN, 5, 2, "the level 'X' is not S, A, B or a whole number"),
        ("UJ141", CLASSES, RUN + "Q2\tthird\tRome\n", 4, 1, "the rank 'third' is not a whole number"),
        ("UJ142", CLASSES + "Q1\t2\tS\tObama\n", RUN, 5, 1, "Obama of Q1, classes 1 and 2"),
        ("UJ124", CLASSES + "Q3\t1\t0\tBonn\n", RUN + "Q3\t1\tBonn\n", 5, 1, "Q3"),
        ("UJ103", CLASSES, "Q1\t1\tObama\n", None, 1, "Q2"),
        ("UJ104", CLASSES, RUN + "Q9\t1\tx\n", 4, 1, "Q9"),
        ("UJ135", CLASSES, "q1\t1\tObama\n", None, 1, "q1 here, Q1 there"),
        ("UJ143", CLASSES, RUN + "Q2\t3\tLondon\n", 4, 1, "London of Q2"),
        ("UJ144", CLASSES, RUN + "Q2\t2\tRome\n", 3, 1, "rank 2 of Q2"),
        ("UJ145", CLASSES, RUN + "".join(f"Q1\t{i}\tx{i}\n" for i in range(2, 9)), 8, 1, "only the first five"),
        ("UJ146", CLASSES, RUN + "Q2\t3\tparis!\n", 4, 1, "paris! of Q2; --same-answer words"),
    ],
)
def test_each_kind(
    code: str,
    classes: str,
    run: str,
    line: int | None,
    count: int,
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    exit_code = 0 if CODES[code].severity == "info" else 1
    rows = found(tmp_path, classes, run, capsys, exit_code)
    assert list(rows) == [code]
    assert (rows[code]["line"], rows[code]["count"]) == (line, count) and says in str(rows[code]["finding"])
    assert main(["explain", code]) == 0


def test_missing_files_teams_and_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "teams.tsv").write_text("run\tteam\nother.tsv\tA\n")
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "run.tsv").write_text(RUN)
    more = [str(tmp_path / "again"), str(tmp_path / "nowhere"), "--teams", str(tmp_path / "teams.tsv")]
    rows = found(tmp_path, CLASSES, RUN, capsys, 1, *more)
    assert set(rows) == {"UJ100", "UJ133", "UJ134", "UJ136"}


def test_a_forgotten_qa_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "classes.tsv").write_text(CLASSES)
    (tmp_path / "headless.tsv").write_text(CLASSES.partition("\n")[2])
    (tmp_path / "run.tsv").write_text(RUN)
    (tmp_path / "qrels.txt").write_text("Q1 0 d1 1\n")
    run = str(tmp_path / "run.tsv")
    for verb in ("score", "check"):
        for name in ("classes.tsv", "headless.tsv"):
            assert main([verb, str(tmp_path / name), run]) == 2
            said = capsys.readouterr().err
            assert (
                f"{name}" in said and "these look like answer classes of question answering" in said and "--qa" in said
            )
    assert main(["score", str(tmp_path / "qrels.txt"), run]) == 2
    assert "run.tsv:1: this looks like a run of answers (question, rank, answer)" in capsys.readouterr().err
    assert main(["score", str(tmp_path / "qrels.txt"), run, "--qa"]) == 2
    assert "this looks like TREC text, which is read without --qa" in capsys.readouterr().err
    assert main(["check", str(tmp_path / "classes.tsv"), run, "--qa", "--fix"]) == 2
    assert "--fix repairs TREC text" in capsys.readouterr().err
