"""Mistakes newcomers make: one sentence that says what to do next, exit code 2, nothing written."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from unjudged.cli import main

QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 1\n"
RUN = "1 Q0 a 1 2 t\n1 Q0 x 2 1 t\n2 Q0 c 1 1 t\n"

MISTAKES = {
    "judgments and run swapped": ("score runs/bm25.run qrels.txt", "runs/bm25.run:1: this looks like a run", "first"),
    "folder of runs first": ("score runs qrels.txt", "runs: this is a folder", "judgments come first, then the runs"),
    "run given as judgments and run": ("score qrels.txt qrels.txt", "qrels.txt:1: ", "this looks like judgments"),
    "ending forgotten": ("score qrels runs", "qrels: no such file", "did you mean qrels.txt?"),
    "letter forgotten": ("score qrels.txt run", "run: no such file", "did you mean runs?"),
    "an address": ("score https://example.org/q.txt runs", "addresses are not read", "download the file"),
    "glob without match": ("score qrels.txt 'runs/*.res'", "runs/*.res", "no file matches"),
    "measure misspelt": ("score qrels.txt runs -m nDGC@10", "unknown measure 'nDGC@10'", "did you mean nDCG@10?"),
    "cut-off in words": (
        "score qrels.txt runs -m nDCG@ten",
        "unknown measure",
        "after @ comes a number, as in nDCG@10",
    ),
    "cut-off without @": ("score qrels.txt runs -m nDCG10", "unknown measure", "a cut-off is written nDCG@10"),
    "@ without a cut-off": ("score qrels.txt runs -m P@", "unknown measure", "after @ comes a number, as in P@10"),
    "trec_eval's name with @": ("score qrels.txt runs -m ndcg_cut@10", "unknown measure", "did you mean nDCG@10?"),
    "two measures misspelt": (
        "score qrels.txt runs -m nDGC@10,AP,recal@5",
        "'nDGC@10'",
        "'recal@5' (did you mean Recall@5?)",
    ),
    "blank for comma": ("score qrels.txt runs -m 'AP P@10'", "unknown measure", "separated by commas: AP, P@10"),
    "measures as words": ("score qrels.txt runs -m AP P@10", "unrecognized arguments: P@10", "separated by commas"),
    "option misspelt": ("score qrels.txt runs --measure AP", "unrecognized", "did you mean --measures?"),
    "verb forgotten": (
        "qrels.txt runs",
        "unknown verb",
        "a verb comes before the files: unjudged score qrels.txt runs",
    ),
    "verb misspelt": ("scroe qrels.txt runs", "unknown verb 'scroe'", "did you mean score?"),
    "study forgotten": ("study qrels.txt runs", "unknown study 'qrels.txt'", "there are compare, winners"),
    "team file missing": ("report qrels.txt runs --teams team.tsv -o new.html", "team.tsv: no such file", "teams.tsv?"),
    "teams forgotten": ("study leave-team-out qrels.txt runs", "needs the teams", "give --teams FILE"),
    "output into no folder": ("score qrels.txt runs -o out/new.tsv", "cannot be written", "make the folder out first"),
    "output is a folder": ("score qrels.txt runs -o runs", "cannot be written", "name a file in it"),
    "baseline misspelt": ("compare qrels.txt runs --baseline bm52.run", "no run is called", "did you mean bm25.run?"),
    "one run to compare": ("compare qrels.txt runs/bm25.run", "needs at least 2 runs", "1 given"),
    "gate for a folder": ("ci qrels.txt runs --baseline bm25.run", "one run with its baseline", "2 runs were given"),
    "simulation over other files": ("simulate --preset tiny -o .", "not from an earlier simulation", "--force"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "teams.tsv").write_text("run\tteam\nbm25.run\tA\ndense.run\tB\n")
    (tmp_path / "runs").mkdir()
    for name in ("bm25.run", "dense.run"):
        (tmp_path / "runs" / name).write_text(RUN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("typed", "what", "next_step"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_told_with_the_next_step(
    typed: str, what: str, next_step: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.rglob("*"))
    assert main(shlex.split(typed)) == 2
    out, err = capfd.readouterr()
    assert out == "" and err.startswith("unjudged") and err.count("\n") == 1
    assert what in err and next_step in err
    assert sorted(folder.rglob("*")) == before


def test_a_gate_for_two_files_of_one_name(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "main").mkdir()
    (folder / "main" / "bm25.run").write_text(RUN)
    assert main(["ci", "qrels.txt", "runs/bm25.run", "--baseline", "main/bm25.run", "-m", "AP"]) == 3  # two topics
    assert "cannot tell: runs/bm25.run may be better or worse on AP: only 2 topics" in capfd.readouterr().out


def test_a_run_without_judged_documents_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where `check` speaks of an error, `score` does not print zeros without a word."""
    (tmp_path / "q").write_text("1 0 d1 1\n")
    (tmp_path / "r").write_text("1 Q0 other 1 1 x\n")
    for more in ([], ["-m", "AP"], ["-m", "AP,NumRet"], ["-m", "RBP"]):
        assert main(["score", str(tmp_path / "q"), str(tmp_path / "r"), *more]) == 0
        assert "r: no retrieved document is judged; 'unjudged check' tells" in capsys.readouterr().err
    assert main(["check", str(tmp_path / "q"), str(tmp_path / "r")]) == 1
    capsys.readouterr()
    (tmp_path / "r").write_text("1 Q0 d1 1 1 x\n")
    assert main(["score", str(tmp_path / "q"), str(tmp_path / "r")]) == 0
    assert capsys.readouterr().err == ""
