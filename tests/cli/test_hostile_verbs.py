"""Every verb that reads judgments and runs says of every defective file what score says, and writes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile import QRELS, REFUSED, RUN, Kind, lay

from unjudged.cli import main

OTHER = RUN.replace(b"x 2 8", b"a 2 8")
TEAMS = b"run\tteam\nrun.txt\tA\nother.run\tB\n"
AP = ("-m", "AP")

Line = Callable[[str, str], tuple[str, ...]]

VERBS: dict[str, Line] = {
    "trec_eval": lambda q, r: ("trec_eval", q, r),
    "compare": lambda q, r: ("compare", q, r, "other.run", *AP, "-o", "out"),
    "next": lambda q, r: ("next", q, r, "other.run", "-m", "P@5", "-o", "out"),
    "judge": lambda q, r: ("judge", q, r, "other.run", "-m", "P@5", "--labels", "out"),
    "estimate": lambda q, r: ("estimate", q, r, "other.run", "-m", "P@5", "-o", "out", "--figure", "f.svg"),
    "correct": lambda q, r: ("correct", q, r, "other.run", "--new", "other.run", *AP, "-o", "out"),
    "ci": lambda q, r: ("ci", q, r, "--baseline", "other.run", *AP, "-o", "out", "--junit", "out.xml"),
    "ci's baseline": lambda q, r: ("ci", q, "other.run", "--baseline", r, *AP, "-o", "out", "--junit", "out.xml"),
    "report": lambda q, r: ("report", q, r, "other.run", "-o", "out.html"),
    "qrels reduce": lambda q, r: ("qrels", "reduce", q, r, "--rate", "0.5", "-o", "out"),
    "qrels leave-out": lambda q, r: ("qrels", "leave-out", q, r, "other.run", "--run", "other.run", "-o", "out"),
    "qrels take": lambda q, r: ("qrels", "take", q, r, "other.run", "--run", "other.run", "-o", "out"),
    "qrels shallow": lambda q, r: ("qrels", "shallow", q, r, "other.run", "--depth", "1", "-o", "out"),
    "qrels noise": lambda q, r: ("qrels", "noise", q, r, "--flip-relevant", "0.1", "-o", "out"),
    "pool describe": lambda q, r: ("pool", "describe", q, r, "-o", "out"),
    "pool contributions": lambda q, r: ("pool", "contributions", q, r, "other.run", "-o", "out"),
    "pool build": lambda q, r: ("pool", "build", q, r, "--depth", "2", "-o", "out"),
    "study correction": lambda q, r: ("study", "correction", q, r, "other.run", "-o", "out"),
    "study contributions": lambda q, r: ("study", "contributions", q, r, "other.run", "-o", "out"),
}
for study in ("agreement", "power", "swap", "stability", "reduction", "leave-team-out", "leave-run-out", "take-team"):
    VERBS[f"study {study}"] = lambda q, r, s=study: ("study", s, q, r, "other.run", "-m", "AP,P@2", "-o", "out")  # type: ignore[misc]
for study in ("depth", "reliability"):
    VERBS[f"study {study}"] = lambda q, r, s=study: (  # type: ignore[misc]
        "study",
        s,
        q,
        r,
        "other.run",
        *AP,
        "-o",
        "out",
        "--figure",
        "f.svg",
    )

FILES = tuple(kind for kind in REFUSED if not kind.options)
JUDGMENTS = tuple(kind for kind in FILES if "judgments" in kind.name or kind.name.startswith(("judgment", "grade")))


def laid(folder: Path, kind: Kind | None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The clean collection with one defect, in a folder where we are; the names of its files."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    lay(folder)
    (folder / "other.run").write_bytes(OTHER)
    (folder / "other.qrels").write_bytes(QRELS)
    (folder / "teams.tsv").write_bytes(TEAMS)
    if kind:
        kind.make(folder)
    return sorted(p.name for p in folder.iterdir())


def refused(
    line: Line,
    kinds: tuple[Kind, ...],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for number, kind in enumerate(kinds):
        before = laid(folder / str(number), kind, monkeypatch)
        code = main(line(kind.qrels, kind.run))
        printed = capfd.readouterr()
        lines = [text for text in printed.err.splitlines() if not text.startswith("note: ")]
        assert (code, printed.out, len(lines)) == (2, "", 1), (kind.name, printed)
        assert re.search(kind.says, lines[0]) and lines[0].isprintable() and len(lines[0]) < 700, (kind.name, lines[0])
        assert sorted(p.name for p in (folder / str(number)).iterdir()) == before, kind.name


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_refuses(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    one_run = verb.startswith("ci")  # which says of two runs that they are too many, whatever their names
    kinds = tuple(kind for kind in FILES if not (one_run and kind.name == "two runs of one name"))
    refused(VERBS[verb], kinds, tmp_path, monkeypatch, capfd)


@pytest.mark.parametrize("part", ["merge", "agree"])
@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
def test_several_judgments(
    part: str, first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def line(qrels: str, run: str) -> tuple[str, ...]:
        return ("qrels", part, *((qrels, "other.qrels") if first else ("other.qrels", qrels)), "-o", "out")

    assert len(JUDGMENTS) >= 15
    refused(line, tuple(k for k in JUDGMENTS if k.run == "run.txt"), tmp_path, monkeypatch, capfd)


@pytest.mark.parametrize("part", ["trec_eval", "compare", "ci", "qrels merge", "pool describe", "study power"])
def test_the_clean_files_are_not_refused(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    laid(tmp_path / "clean", None, monkeypatch)
    merge = ("qrels", "merge", "qrels.txt", "other.qrels", "-o", "out")
    code = main(merge if part == "qrels merge" else VERBS[part]("qrels.txt", "run.txt"))
    assert code in ((0, 3) if part == "ci" else (0, 1))
    assert part == "trec_eval" or (tmp_path / "clean" / "out").exists()
    assert "unjudged:" not in capfd.readouterr().err


def test_check_lists_what_score_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its output is the list of findings: an error for each defect, or one sentence where there is nothing to list."""
    for number, kind in enumerate(FILES):
        before = laid(tmp_path / str(number), kind, monkeypatch)
        code = main(("check", kind.qrels, kind.run, "--format", "tsv", "-o", "out"))
        printed = capfd.readouterr()
        after = sorted(p.name for p in (tmp_path / str(number)).iterdir())
        assert printed.out == "" and "Traceback" not in printed.err, kind.name
        if code == 2:
            assert printed.err.startswith("unjudged: ") and printed.err.count("\n") == 1, (kind.name, printed.err)
            assert after == before, kind.name
        else:
            findings = Path("out").read_text().splitlines()[1:]
            assert code == 1 and any("\terror\t" in finding for finding in findings), (kind.name, findings)
            assert after == sorted([*before, "out"]), kind.name
