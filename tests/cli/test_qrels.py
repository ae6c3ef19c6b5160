"""`unjudged pool` and `unjudged qrels`: what they print, write and refuse."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from unjudged.cli import main

QRELS = "t 0 a 1\nt 0 b 2\nt 0 g 0\nt 0 h 0\nt 0 u1 0\nt 0 u2 1\nt 0 u3 0\n"
RUNS = {"r1": "u1 u2 a b", "r2": "a u3 b g", "r3": "b g a h", "r4": "h b g a", "r5": "h g u3 a"}
TEAMS = "run\tteam\nr1\tt1\nr2\tt1\nr3\tt2\nr4\tt3\nr5\tt4\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "runs").mkdir()
    for name, docs in RUNS.items():
        lines = [f"t Q0 {doc} {i} {9 - i} {name}\n" for i, doc in enumerate(docs.split(), 1)]
        (tmp_path / "runs" / name).write_text("".join(lines))
    (tmp_path / "teams").write_text(TEAMS)
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = main(args)
    out, err = capsys.readouterr()
    return code, out, err


def test_leave_out_writes_trec_text_in_the_order_of_the_input(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("qrels", "leave-out", "qrels", "runs", "--teams", "teams", "--team", "t1", "--depth", "3")
    code, out, err = call(capsys, *command)
    assert (code, out) == (0, "t 0 a 1\nt 0 b 2\nt 0 g 0\nt 0 h 0\nt 0 u3 0\n")
    assert err == "note: leave out team t1 at depth 3: 2 of 7 judgments taken away\n"
    assert call(capsys, *command, "-o", "out")[:2] == (0, "")
    assert (files / "out").read_text() == out


def test_the_other_reductions(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def docs(*args: str) -> set[str]:
        code, out, _ = call(capsys, "qrels", *args)
        assert code == 0
        return {line.split()[2] for line in out.splitlines()}

    teams = ("qrels", "runs", "--teams", "teams", "--depth", "3")
    assert docs("take", *teams, "--team", "t2") == {"a", "b", "g"}
    assert docs("take", *teams, "--team", "t2", "--team", "t3") == {"a", "b", "g", "h"}
    assert docs("take", *teams, "--fewest", "3") == {"a", "b", "g", "h", "u3"}
    assert docs("take", *teams, "--run", "r4") == {"h", "b", "g"}
    assert docs("leave-out", *teams, "--run", "r1") == {"a", "b", "g", "h", "u3"}
    assert docs("shallow", "qrels", "runs", "--depth", "1") == {"a", "b", "h", "u1"}
    (files / "pooled").write_text("r3\nr4\nr5\n")
    assert docs("shallow", "qrels", "runs", "--depth", "1", "--pooled", "pooled") == {"b", "h"}
    half = docs("reduce", "qrels", "--rate", "0.5", "--min-nonrelevant", "2", "--seed", "1")
    assert len(half & {"a", "b", "u2"}) == 1 and len(half - {"a", "b", "u2"}) == 2
    assert half == docs("reduce", "qrels", "runs", "--rate", "0.5", "--min-nonrelevant", "2", "--seed", "1")
    assert half > docs("reduce", "qrels", "--rate", "0.3", "--min-nonrelevant", "1", "--seed", "1")
    assert len(docs("reduce", "qrels", "--rate", "0.45", "--method", "uniform")) == 3


def test_pool_contributions(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("pool", "contributions", "qrels", "runs", "--teams", "teams", "--depth", "3", "--format", "tsv")
    code, out, err = call(capsys, *command)
    assert code == 0 and re.search(r"note: pool of depth 3 from 5 runs \(runs inferred, \d\d % sure\)\n", err)
    assert out.splitlines() == [
        "team\truns\tpooled\tunique\tunique_relevant",
        "t1\t2\t5.0\t2.0\t1.0",
        "t2\t1\t3.0\t0.0\t0.0",
        "t3\t1\t3.0\t0.0\t0.0",
        "t4\t1\t3.0\t0.0\t0.0",
    ]
    code, out, _ = call(capsys, *command, "--per", "run")
    assert out.splitlines()[1] == "r1\tt1\t3.0\t2.0\t1.0"


def test_pool_describe(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "pool", "describe", "qrels", "runs", "--depth", "2", "--format", "tsv")
    assert code == 0
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in out.splitlines()}
    assert rows["N"] == ["4.0", "4", "4"] and rows["R"] == ["3.0", "3", "3"]
    assert rows["covered judgments"] == ["7", "", ""]
    assert "missing" not in err
    code, out, err = call(capsys, "pool", "describe", "qrels", "runs", "--depth", "1")
    assert "only 4 of 7 judgments (57.1%) lie in the top 1 of the 5 runs taken as pooled" in err
    code, out, _ = call(capsys, "pool", "describe", "qrels", "runs", "--curves", "--format", "tsv")
    assert out.splitlines()[:2] == ["run\tk\tvalue", "r1\t1\t1.0"]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("leave-out", "--teams", "teams", "--team", "t9"), "no team 't9' (did you mean t"),
        (("leave-out", "--team", "t1"), "no teams are known"),
        (("leave-out", "--teams", "few", "--team", "t1"), "run r5 has no team in the team file"),
        (("leave-out",), "name what to leave out: --team NAME or --run NAME"),
        (("leave-out", "--run", "r9"), "no run 'r9' in this collection"),
        (("leave-out", "--run", "r1", "--depth", "0"), "positive number of documents, not 0"),
        (("leave-out", "--run", "r1", "--pooled", "nofile"), "nofile"),
        (("take", "--teams", "teams"), "name what to take"),
        (("take", "--teams", "teams", "--fewest", "7"), "there are 4 pooled teams; 7 cannot be taken"),
        (("shallow", "--depth", "1", "--pooled", "strangers"), "none of the pooled runs is among the runs given (x"),
        (("reduce", "--rate", "3"), "a share above 0 and up to 1"),
        (("reduce", "--rate", "0.1", "--method", "uniform"), "no judgments left"),
        (("reduce", "--rate", "0.5", "--seed", "-1"), "a seed is a whole number of 0 or more, not -1"),
        (("noise", "--flip", "0.5", "--seed", "-1"), "a seed is a whole number of 0 or more, not -1"),
    ],
)
def test_one_sentence_and_exit_2(
    files: Path, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], told: str
) -> None:
    (files / "few").write_text(TEAMS.replace("r5\tt4\n", ""))
    (files / "strangers").write_text("x\n")
    code, out, err = call(capsys, "qrels", args[0], "qrels", "runs", *args[1:], "-o", "out")
    assert (code, out) == (2, "")
    assert told in err and "Traceback" not in err and len(err.splitlines()) == 1
    assert not (files / "out").exists()


def test_a_team_file_that_misses_a_run(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "few").write_text(TEAMS.replace("r5\tt4\n", ""))
    for part in ("describe", "contributions"):
        code, out, err = call(capsys, "pool", part, "qrels", "runs", "--depth", "3", "--teams", "few")
        assert (code, out) == (2, "")
        assert err == "unjudged: run r5 has no team in the team file; add a line run<TAB>team for it\n"


def test_a_team_file_that_names_absent_runs_is_a_note(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "more").write_text(TEAMS + "r6\tt5\n")
    code, out, err = call(capsys, "qrels", "take", "qrels", "runs", "--teams", "more", "--team", "t2", "--depth", "3")
    assert code == 0 and len(out.splitlines()) == 3
    assert "note: teams: 1 named run" in err and "(e.g. r6)" in err


def test_parts_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    for verb, parts in (("pool", ("describe", "contributions")), ("qrels", ("reduce", "leave-out", "take", "shallow"))):
        code, out, _ = call(capsys, verb, "--help")
        assert code == 0 and all(f"  {part} " in out for part in parts)


def test_pool_contributions_is_the_study(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ("qrels", "runs", "--teams", "teams", "--depth", "3", "--pooled", "all", "--per")
    for per in ("team", "run"):
        code, out, err = call(capsys, "pool", "contributions", *flags, per)
        assert code == 0 and (0, out) == call(capsys, "study", "contributions", *flags, per)[:2]
        assert "note: pool of depth 3 from 5 runs\n" in err
    assert out.split("\n")[1].split() == ["r1", "t1", "3.0", "2.0", "1.00"]


def test_a_topic_left_without_relevant_documents_is_told_once(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("qrels", "take", "qrels", "runs", "--teams", "teams", "--team", "t4", "--depth", "2")
    code, out, err = call(capsys, *command)
    assert (code, out) == (0, "t 0 g 0\nt 0 h 0\n")
    assert err.count("without relevant documents") == 1 and err.count("found no relevant document") == 1


def test_many_teams_are_not_all_listed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for i in range(20):
        (files / "runs" / f"x{i:02}").write_text(f"t Q0 a 1 9 x{i:02}\n")
    (files / "many").write_text(TEAMS + "".join(f"x{i:02}\tother {i:02}, Inc.\n" for i in range(20)))
    command = ("qrels", "leave-out", "qrels", "runs", "--teams", "many", "--team", "t9", "--depth", "3")
    code, _, err = call(capsys, *command)
    assert code == 2 and "no team 't9' (did you mean t" in err and err.endswith("and 14 more\n")
