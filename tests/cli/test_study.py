"""`unjudged study`: every study from the command line, options from keyword arguments, interruption and resume."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import unjudged as uj
from unjudged.cli import main
from unjudged.studies import find, known

COLUMNS = {
    "contributions": "team runs pooled unique unique_relevant",
    "leave-team-out": "left_out run measure full reduced change_pct rank_full rank_reduced",
    "leave-run-out": "left_out run measure full reduced change_pct rank_full rank_reduced",
    "take-team": "taken run measure full reduced change_pct rank_full rank_reduced excluded",
    "depth": "level measure repeat mean tau power misses false_alarms",
    "reduction": "level measure repeat mean tau power misses false_alarms",
    "power": "measure runs pairs significant power required_difference",
    "swap": "measure sampling confidence required_difference max_performance relative_difference share",
    "agreement": "measure_a measure_b tau p_value",
    "stability": "measure fuzziness minority_rate ties",
    "reliability": "measure erho2 phi low high topics_needed",
}
"""DESIGN 8."""
WITH_FLAG = {
    ("leave-team-out", "--summary"): "condition measure tau power misses false_alarms",
    ("leave-run-out", "--summary"): "condition measure tau power misses false_alarms",
    ("take-team", "--summary"): "condition measure tau power misses false_alarms",
    ("power", "--pairs"): "measure run_a run_b difference p_value significant",
    ("power", "--curves"): "measure place p_value",
    ("swap", "--curve"): "measure sampling bin comparisons swaps swap_rate",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("sim") / "tiny"
    uj.simulate("tiny", seed=1, out=where)
    return where


@pytest.fixture
def inputs(folder: Path) -> list[str]:
    return [str(folder / "qrels.txt"), str(folder / "runs"), "--teams", str(folder / "teams.tsv")]


def quick(name: str) -> list[str]:
    """Options that make a study cheap."""
    options = [] if name == "contributions" else ["-m", "AP,AP'"]
    if {"resamples"} <= set(find(name).options):
        options += ["--resamples", "50"]
    if "trials" in find(name).options:
        options += ["--trials", "20"]
    return options


@pytest.mark.parametrize("name", COLUMNS)
def test_every_study_with_its_columns(name: str, inputs: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["study", name, *inputs, *quick(name), "--format", "tsv", "--jobs", "1"]) == 0
    out = capfd.readouterr().out.split("\n")
    wanted = COLUMNS[name].split()
    assert out[0].split("\t")[: len(wanted)] == wanted
    assert len(out) > 2 and all(line.count("\t") == out[0].count("\t") for line in out[1:-1])
    for sign in ("%", "+", "→", "↑", "↓"):
        assert sign not in "\n".join(out)


@pytest.mark.parametrize(("name", "flag"), WITH_FLAG)
def test_other_tables(name: str, flag: str, inputs: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["study", name, *inputs, *quick(name), flag, "--format", "tsv", "--jobs", "1"]) == 0
    head = capfd.readouterr().out.split("\n")[0].split("\t")
    wanted = WITH_FLAG[name, flag].split()
    assert head[: len(wanted)] == wanted


def test_text_ends_with_the_verdict_and_progress_stays_on_stderr(
    inputs: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "leave-team-out", *inputs, "-m", "AP,AP'", "--pooled", "all", "--jobs", "1"]) == 0
    printed = capfd.readouterr()
    verdict, step, command = printed.out.rstrip().split("\n")[-3:]
    assert verdict.startswith("unknown: a team that is not in the pool loses 5.9 % of its AP on average (")
    assert "only 10 topics" in verdict and step.startswith("next: correct the score of a run that was not pooled")
    assert command.startswith(f"      unjudged correct {inputs[0]} ")
    assert "leave-team-out: 6 sets of judgments: 6 units\n" in printed.err
    assert "note: pool of depth 10 from 12 runs (depth inferred, over 99 % sure)\n" in printed.err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pseudo terminals")
def test_bars_on_a_terminal(inputs: list[str]) -> None:
    """Progress is drawn on a terminal's stderr, and stdout stays what it is elsewhere."""
    import pty

    ours, theirs = pty.openpty()
    at_once = "import sys; from unjudged.cli import main, progress; progress.FIRST_AFTER = 0; sys.exit(main())"
    command = [sys.executable, "-c", at_once, "study", "leave-team-out", *inputs, "-m", "AP", "--jobs", "1"]
    command += ["--format", "tsv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"}) as run:
        os.close(theirs)
        drawn = b""
        with contextlib.suppress(OSError):  # the terminal is gone when the command ends
            while piece := os.read(ours, 4096):
                drawn += piece
        assert run.stdout is not None
        table = run.stdout.read()
    os.close(ours)
    assert run.returncode == 0 and b"starting" in drawn and b"6 sets of judgments: " not in drawn
    assert table.startswith(b"left_out\trun\t") and b"\x1b" not in table


def test_help_names_every_study_and_option(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "--help"]) == 0
    overview = capfd.readouterr().out
    assert all(f"  {name} " in overview for name in known())
    assert main(["study"]) == 2
    for name in known():
        assert main(["study", name, "--help"]) == 0
        text = capfd.readouterr().out
        for option in find(name).options:
            flag = {"measures": "--measures", "teams_taken": "--take"}.get(option, "--" + option.replace("_", "-"))
            assert flag in text, (name, option)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["study", "leave-team"], "unknown study 'leave-team' (did you mean leave-team-out?)"),
        (["study", "--format"], "unknown study '--format'"),
        (["study", "power", "Q", "R", "--levels", "1"], "unrecognized arguments: --levels 1"),
        (["study", "power", "Q", "R", "--alpha", "x"], "argument --alpha: a number is needed, not 'x'"),
        (["study", "depth", "Q", "R", "--levels", "a,b"], "numbers are given as 50,10,1, not 'a,b'"),
        (["study", "power", "Q", "R", "-m", "APP"], "APP"),
        (["study", "power", "Q", "R", "--figure", "x.gif"], "a chart ends in .svg"),
        (["study", "power", "INPUTS", "--beside", "nowhere"], "--beside nowhere: a folder with qrels.txt"),
        (["study", "power", "INPUTS", "--workdir", "FILE/w"], "the work folder cannot be made"),
        (["study", "power", "INPUTS", "--figure", "tau=x.svg"], "no chart 'tau'"),
    ],
)
def test_misuse_is_one_sentence(
    arguments: list[str],
    sentence: str,
    inputs: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_text("")
    given = [a for argument in arguments for a in (inputs if argument == "INPUTS" else [argument])]
    assert main(given) == 2
    printed = capfd.readouterr()
    assert sentence in printed.err and "Traceback" not in printed.err
    assert len([line for line in printed.err.strip().split("\n") if line.startswith("unjudged")]) == 1


@pytest.mark.slow
def test_charts_are_written(inputs: list[str], tmp_path: Path) -> None:
    charts = ["--figure", str(tmp_path / "a.svg"), "--figure", f"ranks={tmp_path / 'b.json'}"]
    assert (
        main(["study", "leave-team-out", *inputs, "-m", "AP", "--jobs", "1", *charts, "-o", str(tmp_path / "t")]) == 0
    )
    assert (tmp_path / "a.svg").read_text("utf-8").startswith("<svg")
    assert "Rank of each run" in (tmp_path / "b.json").read_text("utf-8")


def test_another_collection_beside(folder: Path, inputs: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    other = folder.parent / "other"
    if not other.exists():
        uj.simulate("tiny", seed=2, out=other)
    line = ["study", "power", *inputs, "-m", "AP", "--test", "t", "--beside", str(other), "--format", "csv"]
    assert main([*line, "--jobs", "1"]) == 0
    rows = capfd.readouterr().out.strip().split("\n")
    assert rows[0].startswith("collection,measure,runs") and [r.split(",")[0] for r in rows[1:]] == ["tiny", "other"]


# -- the same bytes, whatever happens (issue 7, must show 2 and 3)

LINE = ["-m", "AP,Q'", "--levels", "70,50,30", "--resamples", "100", "--repeats", "2", "--format", "tsv"]
"""2 repeats x 3 levels and the full judgments, two measures together: 7 units; and 2 for the verdict."""


def reduction(inputs: list[str], *more: str, code: int = 0) -> str:
    """`unjudged study reduction` in a process of its own."""
    command = [sys.executable, "-m", "unjudged", "study", "reduction", *inputs, *LINE, *more]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def expected(folder: Path) -> str:
    given = [str(folder / "qrels.txt"), str(folder / "runs"), "--teams", str(folder / "teams.tsv")]
    return reduction(given, "--jobs", "1")


@pytest.mark.slow
def test_one_process_and_four(inputs: list[str], expected: str) -> None:
    assert expected.count("\n") == 1 + 2 * 3 * 2
    assert reduction(inputs, "--jobs", "4") == expected


DIES = """
import os, signal, sys
from unjudged.cli import main
from unjudged.studies.engine.workdir import Workdir
keep, kept = Workdir.keep, []
def keep_and_die(self, key, arrays):
    keep(self, key, arrays)
    kept.append(key)
    if len(kept) == int(sys.argv[1]):
        os.kill(os.getpid(), int(sys.argv[2]))
Workdir.keep = keep_and_die
sys.exit(main(sys.argv[3:]))
"""


def interrupted(after: int, by: signal.Signals, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """The command in a process that is hit by a signal right after it kept so many units."""
    command = [sys.executable, "-c", DIES, str(after), str(int(by)), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_and_resumed(jobs: str, inputs: list[str], expected: str, tmp_path: Path) -> None:
    work = ["--workdir", str(tmp_path / "work"), "--jobs", jobs]
    arguments = ["study", "reduction", *inputs, *LINE, *work]
    killed = interrupted(5, signal.SIGKILL, arguments)
    assert killed.returncode == -signal.SIGKILL and killed.stdout == ""
    kept = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "work" / "units").iterdir()}
    assert len(kept) == 5
    assert reduction(inputs, *work) == expected
    after = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "work" / "units").iterdir()}
    assert len(after) == 7 + 1 + 40 and {name: after[name] for name in kept} == kept  # not computed again
    command = [sys.executable, "-m", "unjudged", *arguments]
    third = subprocess.run(command, capture_output=True, text=True)
    assert third.stdout == expected and "7 units, 7 kept from before" in third.stderr


@pytest.mark.slow
def test_ctrl_c_and_resumed(inputs: list[str], expected: str, tmp_path: Path) -> None:
    work = ["--workdir", str(tmp_path / "work"), "--jobs", "2"]
    stopped = interrupted(3, signal.SIGINT, ["study", "reduction", *inputs, *LINE, *work])
    assert stopped.returncode == 130 and stopped.stdout == ""
    said = "unjudged: interrupted; the same command continues with what is kept in the --workdir"
    assert stopped.stderr.rstrip().split("\n")[-1] == said and "Traceback" not in stopped.stderr
    assert 3 <= len(list((tmp_path / "work" / "units").iterdir())) <= 4
    assert reduction(inputs, *work) == expected


@pytest.mark.skipif(os.name == "nt", reason="groups of processes of POSIX")
@pytest.mark.parametrize("later", [0.0, 0.3])
def test_ctrl_c_while_processes_begin(inputs: list[str], later: float) -> None:
    """On a terminal all processes are hit at once, those that just begin, too (benchmarks/interrupts.py: any time)."""
    words = [sys.executable, "-m", "unjudged", "study", "leave-team-out", *inputs, "--jobs", "2"]
    heard = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), "start_new_session": True}
    with subprocess.Popen(words, stdout=-1, stderr=-1, text=True, **heard) as program:  # type: ignore[call-overload]
        assert program.stderr is not None and "units" in program.stderr.readline()  # now they are made
        time.sleep(later)
        os.killpg(program.pid, signal.SIGINT)
        _, said = program.communicate(timeout=60)
    assert (program.returncode, said) in ((130, "unjudged: interrupted\n"), (0, said)) and "Traceback" not in said


@pytest.mark.slow
def test_a_damaged_unit_is_computed_again(inputs: list[str], expected: str, tmp_path: Path) -> None:
    work = ["--workdir", str(tmp_path / "work"), "--jobs", "1"]
    assert reduction(inputs, *work) == expected
    first, second = sorted((tmp_path / "work" / "units").iterdir())[:2]
    first.write_bytes(first.read_bytes()[:-3])
    second.write_bytes(b"")
    command = [sys.executable, "-m", "unjudged", "study", "reduction", *inputs, *LINE, *work]
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.stdout == expected and "2 damaged work units were redone" in again.stderr


def test_a_work_folder_of_other_inputs(
    folder: Path, inputs: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    work = ["--workdir", str(tmp_path / "work"), "--jobs", "1"]
    assert main(["study", "agreement", *inputs, "-m", "AP,P@10", *work]) == 0
    before = {p: p.read_bytes() for p in (tmp_path / "work").rglob("*") if p.is_file()}
    changed = tmp_path / "qrels.txt"
    lines = (folder / "qrels.txt").read_text().splitlines(keepends=True)
    changed.write_text("".join(lines[:-1]))
    assert main(["study", "agreement", str(changed), *inputs[1:], "-m", "AP,P@10", *work]) == 2
    told = capfd.readouterr().err
    assert "holds units of other judgments and runs; give another folder" in told
    assert {p: p.read_bytes() for p in (tmp_path / "work").rglob("*") if p.is_file()} == before
    assert main(["study", "agreement", *inputs, "-m", "AP,Q", *work]) == 0  # other options: other units


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of file sizes")
def test_no_room_in_the_work_folder(inputs: list[str], tmp_path: Path) -> None:
    """A real write that fails: files may not grow past 2 kB, which the list of inputs needs, but not a unit."""
    code = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); "
    code += "from unjudged.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "study", "power", *inputs, "-m", "AP", "--resamples", "20", "--jobs", "1"]
    done = subprocess.run([*command, "--workdir", str(tmp_path / "w")], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    assert "cannot be written (File too large); finished units are kept" in done.stderr
    assert not list((tmp_path / "w" / "units").iterdir())


# -- a real cluster

CLUSTER = """
import os, signal, sys
import unjudged as uj
from unjudged.cli import main, study
from distributed import Client, LocalCluster
from distributed.cfexecutor import ClientExecutor


class Killing(ClientExecutor):
    # kills one worker when the fourth unit is handed out
    handed_out = 0

    def submit(self, *args, **kwargs):
        Killing.handed_out += 1
        if Killing.handed_out == 4:
            os.kill(next(iter(self._client.run(os.getpid).values())), signal.SIGKILL)
        return super().submit(*args, **kwargs)


if __name__ == "__main__":
    qrels, runs, teams, out, *line = sys.argv[1:]
    study.ANSWER_WITHIN = "300s"  # the machine may be busy
    options = dict(measures="AP,Q'", levels=(70, 50, 30), resamples=100, repeats=2)
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster, Client(cluster) as client:
        where = ["--cluster", cluster.scheduler_address, "-o", out + ".whole"]
        assert main(["study", "reduction", qrels, runs, "--teams", teams, *line, *where]) == 0
        c = uj.load(qrels, runs, teams=teams)
        result = uj.study("reduction", c, executor=Killing(client), **options)
        assert Killing.handed_out >= 7
        with open(out + ".killed", "w") as file:
            file.write(result.render("tsv"))
"""


@pytest.mark.slow
def test_a_cluster_that_does_not_answer(inputs: list[str]) -> None:
    """In a process of its own, as below."""
    pytest.importorskip("distributed")
    code = "import sys; from unjudged.cli import main, study; study.ANSWER_WITHIN = '1s'; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "study", "power", *inputs, "--cluster", "tcp://127.0.0.1:1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert done.stderr.count("unjudged: ") == 1 and "no Dask scheduler answers at tcp://127.0.0.1:1" in done.stderr


@pytest.mark.slow
def test_a_cluster_of_two_workers_and_one_killed_half_way(inputs: list[str], expected: str, tmp_path: Path) -> None:
    """In a process of its own, which is what a cluster leaves its traces in."""
    pytest.importorskip("distributed")
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    settings = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s"}
    command = [sys.executable, str(script), inputs[0], inputs[1], inputs[3], str(tmp_path / "table"), *LINE]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **settings}, timeout=600)
    assert (tmp_path / "table.whole").exists(), done.stderr
    assert (tmp_path / "table.whole").read_text("utf-8") == expected
    assert (tmp_path / "table.killed").exists(), done.stderr
    assert (tmp_path / "table.killed").read_text("utf-8") == expected


@pytest.mark.parametrize(
    ("name", "usual", "other"),
    [("leave-team-out", "--one-per-team", "--all-runs"), ("power", "--all-runs", "--one-per-team")],
)
def test_the_usual_runs_can_be_asked_for(
    name: str, usual: str, other: str, inputs: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["study", name, *inputs, *quick(name), "--format", "tsv", "--jobs", "1"]
    printed = []
    for flags in ([], [usual], [other]):
        assert main([*command, *flags]) == 0
        printed.append(capfd.readouterr().out)
    assert printed[0] == printed[1] != printed[2]
    assert main([*command, usual, other]) == 2
    assert "--one-per-team and --all-runs exclude each other" in capfd.readouterr().err


def test_a_place_that_cannot_be_written_is_told_before_the_work(
    inputs: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "no" / "x.svg", tmp_path, tmp_path / "file" / "x.svg"):
        for option in ("-o", "--figure") if place.suffix else ("-o",):
            assert main(["study", "power", *inputs, *quick("power"), option, str(place)]) == 2
            printed = capfd.readouterr()
            assert printed.out == ""
            assert printed.err.count("\n") == 1 and "cannot be written (" in printed.err


def test_counts_are_shown_alike_in_a_row_and_numbers_stand_right(
    inputs: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "take-team", *inputs, "-m", "AP,AP',Q", "--summary", "--resamples", "50", "--jobs", "1"]) == 0
    lines = [
        line.split()[-3:] for line in capfd.readouterr().out.split("\n") if " misses " in line or " alarms " in line
    ]
    assert len(lines) == 4
    assert all(len({"." in cell for cell in line}) == 1 for line in lines)
    assert main(["study", "agreement", *inputs, "-m", "AP,AP',Q", "--format", "latex", "--jobs", "1"]) == 0
    assert r"\begin{tabular}{lrr}" in capfd.readouterr().out


def test_what_missing_pooled_runs_mean_for_each_study(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    some = [str(folder / "runs" / f"team0{i}-1") for i in range(1, 6)]
    follows = {
        "leave-team-out": "what is unique to a team is overestimated",
        "leave-run-out": "what is unique to a run is overestimated",
        "take-team": "the full judgments hold more than all these teams found",
        "depth": "the other judgments stay at every level",
    }
    teams = tmp_path / "teams.tsv"
    teams.write_text("run\tteam\n" + "".join(f"team0{i}-1\tteam0{i}\n" for i in range(1, 6)))
    for name, so in follows.items():
        assert main(["study", name, str(folder / "qrels.txt"), *some, "--teams", str(teams), *quick(name)]) == 0
        assert f"or judgments were added in another way: {so}\n" in capfd.readouterr().err
    deep = ["study", "depth", str(folder / "qrels.txt"), *some, *quick("depth"), "--depth", "10", "--levels", "50"]
    assert main(deep) == 0
    printed = capfd.readouterr()
    assert "level 50 lies beyond the pool's depth of 10: nobody judged there" in printed.err


def test_repeats_are_captioned_as_such(inputs: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "leave-team-out", *inputs, "-m", "AP", "--repeats", "3", "--jobs", "1"]) == 0
    out = capfd.readouterr().out
    assert "In 3 repeats: the mean, and in brackets where 95% of the values lie." in out and "rank" not in out


def test_explain_leads_to_the_study(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "leave-team-out"]) == 0
    assert "Do it: unjudged study leave-team-out QRELS RUN..." in capfd.readouterr().out


def test_topics_without_relevant_documents_are_told_in_good_grammar(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runs").mkdir()
    for name, docs in {"r1": "abc", "r2": "bac", "r3": "acb"}.items():
        lines = [f"{topic} Q0 {doc} {i} {9 - i} {name}\n" for topic in "123" for i, doc in enumerate(docs)]
        (tmp_path / "runs" / name).write_text("".join(lines))
    for lost, sentence in ((1, "1 topic without a relevant document left scores 0"), (2, "2 topics without a")):
        relevant = ["c" if i < lost else "a" for i in range(3)]
        grades = [f"{t} 0 {doc} {int(doc == relevant[i])}\n" for i, t in enumerate("123") for doc in "abc"]
        (tmp_path / "qrels").write_text("".join(grades))
        files = [str(tmp_path / "qrels"), str(tmp_path / "runs")]
        assert main(["study", "depth", *files, "-m", "AP", "--levels", "1", "--depth", "3", "--jobs", "1"]) == 0
        assert sentence in capfd.readouterr().err
