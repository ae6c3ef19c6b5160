"""One defect per file: its sentence, exit code 2, no output. Legal oddities score as the clean files do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hostile import BORNE, REFUSED, Kind, lay

from unjudged.cli import main

MEASURES = ("-m", "AP,nDCG,P@2,bpref,RR,RBP,Judged@2")


def scored(capfd: pytest.CaptureFixture[str], *options: str, qrels: str, run: str) -> tuple[int, str]:
    """Exit code and what stood on stderr; the scores go to out.tsv."""
    chosen = () if "-m" in options else MEASURES
    code = main(["score", qrels, run, *chosen, "-q", "--format", "tsv", "-o", "out.tsv", *options])
    printed = capfd.readouterr()
    assert printed.out == ""
    return code, printed.err


def test_the_corpus_is_large_and_its_names_differ() -> None:
    names = [kind.name for kind in REFUSED + BORNE]
    assert len(set(names)) == len(names)
    assert len(REFUSED) >= 60


@pytest.mark.parametrize("kind", REFUSED, ids=lambda kind: kind.name)
def test_refused(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lay(tmp_path)
    kind.make(tmp_path)
    before = sorted(p.name for p in tmp_path.iterdir())
    code, err = scored(capfd, *kind.options, qrels=kind.qrels, run=kind.run)
    assert code == 2
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1 and lines[0].startswith("unjudged"), err
    assert "Traceback" not in err
    assert re.search(kind.says, lines[0]), lines[0]
    assert len(lines[0]) < 700
    assert lines[0].isprintable()
    assert sorted(p.name for p in tmp_path.iterdir()) == before


@pytest.mark.parametrize("kind", BORNE, ids=lambda kind: kind.name)
def test_borne(kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    lay(tmp_path)
    assert scored(capfd, qrels="qrels.txt", run="run.txt") == (0, "wrote out.tsv\n")
    clean = (tmp_path / "out.tsv").read_bytes()
    (tmp_path / "out.tsv").unlink()
    kind.make(tmp_path)
    code, err = scored(capfd, *kind.options, qrels=kind.qrels, run=kind.run)
    assert code == 0
    assert (tmp_path / "out.tsv").read_bytes() == clean
    *notes, written = err.splitlines()
    assert written == "wrote out.tsv" and len(notes) == bool(kind.says), err
    assert all(re.search(kind.says, note) for note in notes), err
