"""The command line: what is printed where, exit codes, formats that parse back, nothing half-written."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

import unjudged
from unjudged import cli, kernels
from unjudged.results import FORMATS

QRELS = "2 0 d 1\n2 0 e 0\n1 0 a 1\n1 0 b 0\n1 0 c 2\n"
BEST = "1 Q0 c 1 3 t\n1 Q0 a 2 2 t\n1 Q0 x 3 1 t\n2 Q0 d 1 9 t\n"
POOR = "1 Q0 x 1 3 tag\n1 Q0 b 2 2 tag\n1 Q0 c 3 1 tag\n2 Q0 e 1 2 tag\n2 Q0 z 2 1.5 tag\n2 Q0 d 3 1 tag\n"


class Folder:
    """A folder with judgments and two runs; runs the command inside it."""

    def __init__(self, path: Path, capture: pytest.CaptureFixture[bytes]) -> None:
        self.path, self.capture = path, capture
        for name, text in (("qrels.txt", QRELS), ("poor.run", POOR), ("best.run", BEST)):
            (path / name).write_text(text)

    def run(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        """In this process: (stdout, stderr)."""
        self.capture.readouterr()
        assert cli.main(arguments) == code
        out, err = self.capture.readouterr()
        return out.decode("utf-8", "surrogateescape"), err.decode("utf-8", "surrogateescape")

    def rows(self, *arguments: str) -> list[list[str]]:
        """The tsv rows of `score`, the header checked."""
        out, _ = self.run("score", *arguments, "--format", "tsv")
        assert out.endswith("\n")
        header, *lines = [line.split("\t") for line in out[:-1].split("\n")]
        assert header == ["run", "topic", "measure", "value"]
        return lines


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Folder:
    monkeypatch.chdir(tmp_path)
    return Folder(tmp_path, capfdbinary)


def command(
    *arguments: str | bytes, cwd: Path | None = None, given: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """In a process of its own."""
    whole = [sys.executable, "-m", "unjudged", *arguments]
    return subprocess.run(whole, cwd=cwd, input=given, capture_output=True, timeout=600, env=os.environ | environment)


# -- the program


def test_version_names_the_kernels() -> None:
    for environment, name in (({}, kernels.IN_USE), ({"UNJUDGED_KERNELS": "numpy"}, "NumPy")):
        done = command("--version", **environment)  # type: ignore[arg-type]
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.decode() == f"unjudged {unjudged.__version__} ({name} kernels)\n"


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("verb", cli.VERBS)
def test_help_of_each_verb(folder: Folder, verb: str, flag: str) -> None:
    if (verb, flag) == ("trec_eval", "-h"):
        pytest.skip("trec_eval's own -h is that verb's business")
    out, err = folder.run(verb, flag)
    assert f"unjudged {verb}" in out
    assert err == ""


def test_the_overview_lists_every_verb(folder: Folder) -> None:
    out, _ = folder.run("--help")
    assert [
        line.split()[0] for line in out.splitlines() if line.startswith("  ") and "  unjudged " not in line
    ] == list(cli.VERBS)
    assert folder.run(code=2)[0] == out


@pytest.mark.slow
def test_console_script_and_module() -> None:
    done = command("score", "nowhere", "nowhere")
    assert done.returncode == 2
    script = Path(sys.executable).with_name("unjudged")
    if script.exists():
        again = subprocess.run([script, "score", "nowhere", "nowhere"], capture_output=True, timeout=600)
        assert (again.returncode, again.stderr) == (done.returncode, done.stderr)


def test_an_interrupt_while_a_class_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    class Hit:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    def task() -> int:
        type("Made", (), {"x": Hit()})
        return 0

    assert cli.refusing(task, True) == 130 and "interrupted; the same command continues" in capsys.readouterr().err

    def broken() -> int:
        raise RuntimeError("a fault of the program")

    with pytest.raises(RuntimeError):
        cli.refusing(broken)


def test_interrupted(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(given: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_dispatch", interrupt)
    assert "interrupted" in folder.run("score", code=130)[1]


def test_interrupted_within_an_exec_with_processes_at_work(tmp_path: Path) -> None:
    """Python alone would end by the signal (-2) there, and semaphores left behind would be complained about."""
    program = (
        "import sys\n"
        "from unjudged import cli\n"
        "def interrupt(given):\n"
        "    from concurrent.futures import ProcessPoolExecutor\n"
        "    from multiprocessing import get_context\n"
        "    pool = ProcessPoolExecutor(1, get_context('forkserver'))\n"
        "    assert pool.submit(abs, -1).result() == 1\n"
        "    import atexit\n"  # a complaint, as of a pool that is broken off while it is put away
        "    atexit.register(lambda: pool.nothing)\n"
        "    exec('raise KeyboardInterrupt')\n"
        "cli._dispatch = interrupt\n"
        "if __name__ == '__main__':\n"
        "    sys.argv = ['unjudged', 'study']\n"
        "    sys.exit(cli.main())\n"
    )
    (tmp_path / "interrupted.py").write_text(program)
    words = [sys.executable, "-m", "interrupted"]  # only a module's end is decided so
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "unjudged: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "tsv", "json"])
def test_scoring_a_small_run_loads_nothing_heavy(folder: Folder, form: str) -> None:
    program = (
        "import sys\n"
        "from unjudged.cli import main\n"
        f"code = main(['score', 'qrels.txt', 'best.run', '-q', '--undefined', 'zero', '--format', {form!r}])\n"
        "heavy = {'pandas', 'scipy', 'rich', 'narwhals', 'polars', 'pyarrow', 'jinja2', 'matplotlib'}\n"
        "assert 'numpy' in sys.modules\n"
        "print(code, sorted(heavy & {name.split('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=600, cwd=folder.path)
    assert done.stderr.decode() == "0 []\n"
    assert b"best.run" in done.stdout


# -- misuse and unusable input


BAD_INPUT = {
    "no such judgments": (["nowhere.txt", "best.run"], "no such file"),
    "no such run": (["qrels.txt", "nowhere.run"], "nowhere.run: no such file"),
    "no match": (["qrels.txt", "*.nothing"], "no file matches"),
    "empty folder": (["qrels.txt", "empty"], "no runs"),
    "folder as judgments": (["empty", "best.run"], "folder"),
    "swapped": (["best.run", "qrels.txt"], "best.run:1: this looks like a run"),
    "judgments twice": (["qrels.txt", "qrels.txt"], "qrels.txt:1: "),
    "bad line": (["qrels.txt", "bad.run"], "bad.run:2: "),
    "bad among good": (["qrels.txt", "best.run", "bad.run", "poor.run"], "bad.run:2: "),
    "binary": (["qrels.txt", "binary.run"], "binary"),
    "other topics": (["qrels.txt", "other.run"], "no topic in common"),
    "two of one name": (["qrels.txt", "best.run", "./best.run"], "two runs are called best.run"),
    "standard input twice": (["-", "-"], "standard input"),
    "measure": (["qrels.txt", "best.run", "-m", "nDGC@10"], "did you mean nDCG"),
    "parameter": (["qrels.txt", "best.run", "-m", "P(relevance=2)@5"], "relevance"),
    "no cut-off": (["qrels.txt", "best.run", "-m", "Success"], "cut-off"),
    "no measure": (["qrels.txt", "best.run", "-m", ","], "no measure"),
    "ties": (["qrels.txt", "best.run", "--ties", "trec11"], "trec10"),
    "truncate": (["qrels.txt", "best.run", "--truncate", "0"], "positive"),
    "truncate text": (
        ["qrels.txt", "best.run", "--truncate", "many"],
        "--truncate: a whole number is needed, not 'many'",
    ),
    "rel text": (["qrels.txt", "best.run", "--rel", "x"], "--rel"),
    "jobs": (["qrels.txt", "best.run", "--jobs", "0"], "jobs must be at least 1, not 0"),
    "given twice": (
        ["qrels.txt", "best.run", "--rel", "1", "--rel", "2"],
        "argument --rel: given twice, with different values: 1 and 2",
    ),
    "gains": (["qrels.txt", "best.run", "--gains", "1=2"], "1:1,2:3"),
    "falling gains": (["qrels.txt", "best.run", "--gains", "1:2,2:1"], "gains"),
    "falling to a grade without": (["qrels.txt", "best.run", "--gains", "1:9"], "grade 1 has 9, grade 2 2"),
    "gain of nonrelevant": (["qrels.txt", "best.run", "--gains", "0:1"], "only grades above 0"),
    "two gains": (["qrels.txt", "best.run", "--gains", "1:1,1:2"], "a grade has two gains in '1:1,1:2'"),
    "gain that is none": (["qrels.txt", "best.run", "--gains", "1:nan"], "gains"),
    "lenient and strict": (["qrels.txt", "best.run", "--lenient", "--strict"], "exclude"),
    "policy": (["qrels.txt", "best.run", "--unjudged", "ignore"], "nonrelevant"),
    "topics": (["qrels.txt", "best.run", "--topics", "all"], "judged"),
    "only": (["qrels.txt", "best.run", "--only", "7-9"], "7-9"),
    "format": (["qrels.txt", "best.run", "--format", "xml"], "--format"),
    "option": (["qrels.txt", "best.run", "--tie", "file"], "--tie"),
    "no run": (["qrels.txt"], "RUN"),
    "teams": (["qrels.txt", "best.run", "--teams", "nowhere.tsv"], "nowhere.tsv"),
    "strict": (["qrels.txt", "twice.run", "--strict"], "twice.run"),
}


@pytest.mark.parametrize(("arguments", "words"), BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input_gets_one_sentence_and_writes_nothing(folder: Folder, arguments: list[str], words: str) -> None:
    (folder.path / "empty").mkdir()
    (folder.path / "bad.run").write_text(BEST.replace("2 t\n", "2,5 t\n", 1))
    (folder.path / "binary.run").write_bytes(b"\0\1\2\3" * 50)
    (folder.path / "other.run").write_text("77 Q0 a 1 1 t\n")
    (folder.path / "twice.run").write_text(BEST + BEST)
    (folder.path / "kept.tsv").write_text("from before")
    before = sorted(folder.path.iterdir())
    for output in ([], ["-o", "new.tsv"], ["-o", "kept.tsv"]):
        out, err = folder.run("score", *arguments, *output, code=2)
        assert out == ""
        assert err.startswith("unjudged")
        assert err.count("\n") == 1
        assert words in err
    assert sorted(folder.path.iterdir()) == before
    assert (folder.path / "kept.tsv").read_text() == "from before"


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "qrels.txt", "nowhere.run"],
        ["scores", "qrels.txt", "best.run"],
        ["score"],
        ["score", "--what"],
        [],
    ],
    ids=str,
)
def test_exit_codes_of_the_process(folder: Folder, arguments: list[str]) -> None:
    done = command(*arguments, cwd=folder.path)
    assert done.returncode == 2
    assert b"Traceback" not in done.stdout + done.stderr
    if arguments:
        assert (done.stdout, done.stderr.count(b"\n")) == (b"", 1)


def test_an_unknown_verb_names_the_nearest(folder: Folder) -> None:
    assert "did you mean score?" in folder.run("scroe", code=2)[1]


@pytest.mark.parametrize("verb", ["trec_eval", "explain"])
def test_other_verbs_refuse_with_one_sentence(folder: Folder, verb: str) -> None:
    out, err = folder.run(verb, *(["nowhere1"] if verb == "explain" else ["nowhere1", "nowhere2"]), code=2)
    assert (out, err.count("\n")) == ("", 1)
    assert "nowhere1" in err


# -- scores


def test_rows_are_ordered(folder: Folder) -> None:
    """Runs as given, topics as in the judgments with `all` last, measures as asked."""
    rows = folder.rows("qrels.txt", "poor.run", "best.run", "-q", "-m", "RR,P@1")
    measures = ["RR", "P@1"]
    expected = [[run, topic, m] for run in ("poor.run", "best.run") for topic in ("2", "1", "all") for m in measures]
    assert [row[:3] for row in rows] == expected
    third = 1 / 3
    values = [third, 0.0, third, 0.0, third, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert [float(row[3]) for row in rows] == values
    assert folder.rows("qrels.txt", "poor.run", "best.run", "-m", "RR,P@1") == [r for r in rows if r[1] == "all"]


def test_folders_and_globs_go_by_name(folder: Folder) -> None:
    (folder.path / "runs").mkdir()
    for name in ("zz", "b.run", "a.gz"):
        (folder.path / "runs" / name).write_text(BEST)
    names = [row[0] for row in folder.rows("qrels.txt", "poor.run", "runs", "*st.run", "-m", "AP")]
    assert names == ["poor.run", "a", "b.run", "zz", "best.run"]


@pytest.mark.parametrize(
    ("given", "measures"),
    [
        (["-m", "AP,nDCG@10"], ["AP", "nDCG@10"]),
        (["-m", "nDCG@10", "-m", "AP"], ["nDCG@10", "AP"]),
        (["-mAP"], ["AP"]),
        (["--measures", "AP"], ["AP"]),
        (["-m", "P.5,10"], ["P@5", "P@10"]),
        (["-m", "P.5,10,AP"], ["P@5", "P@10", "AP"]),
        (["-m", "ndcg_cut_10,map,recip_rank"], ["nDCG@10", "AP", "RR"]),
        (["-m", "P(rel=2)@5, AP'"], ["P(rel=2)@5", "AP'"]),
        (["-m", "AP,map,AP"], ["AP"]),
        (["-m", "AP(judged_only=True)"], ["AP'"]),
        (["-m", "nDCG(gains={1: 1, 2: 3})@10,AP"], ["nDCG(gains={1: 1, 2: 3})@10", "AP"]),
        (["-m", "AP,P@1", "--unjudged", "condensed"], ["AP'", "P'@1"]),
        ([], ["AP", "nDCG@10", "P@10", "RR", "bpref", "Judged@10"]),
    ],
)
def test_ways_to_ask_for_measures(folder: Folder, given: list[str], measures: list[str]) -> None:
    assert [row[2] for row in folder.rows("qrels.txt", "best.run", *given)] == measures


def test_a_set_of_measures(folder: Folder) -> None:
    names = [row[2] for row in folder.rows("qrels.txt", "best.run", "-m", "official")]
    assert {"AP", "Rprec", "bpref", "RR", "P@5", "P@10"} <= set(names)
    assert len(names) == len(set(names)) > 20


def test_rel(folder: Folder) -> None:
    (one,), (two,), (named,) = (
        folder.rows("qrels.txt", "best.run", "-m", m, *rel, "--only", "1")
        for m, rel in (("R@1", []), ("R@1", ["--rel", "2"]), ("R(rel=1)@1", ["--rel", "2"]))
    )
    assert (one[2], float(one[3])) == ("R@1", 0.5)
    assert (two[2], float(two[3])) == ("R(rel=2)@1", 1.0)
    assert float(named[3]) == 0.5  # what a measure says itself stays


def test_gains(folder: Folder) -> None:
    """Topic 1 of poor.run: grade 2 at rank 3; the ideal list has gains 2 and 1 (or 3 and 1, or 8 and 1)."""
    for gains, high, low in (([], 2, 1), (["--gains", "1:1,2:3"], 3, 1), (["--gains", "2:8"], 8, 1)):
        (row,) = folder.rows("qrels.txt", "poor.run", "-m", "nDCG@10", "--only", "1", *gains)
        expected = (high / math.log2(4)) / (high + low / math.log2(3))
        assert float(row[3]) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("ties", "rank"),
    [
        ([], 3),
        (["--ties", "trec10"], 3),
        (["--ties", "trec9"], 2),
        (["--ties", "file"], 4),
        (["--ties", "ascending"], 5),
    ],
    ids=str,
)
def test_ties_by_hand(folder: Folder, ties: list[str], rank: int) -> None:
    """`m` is relevant. trec10: a z m k c b; trec9 (no difference in float32): z m k c b a; file: a k z m b c;
    ascending: a b c k m z."""
    (folder.path / "q").write_text("1 0 m 1\n")
    scores = {"k": "1", "z": "1.0", "m": "1.00", "b": "1e0", "a": "1.00000001", "c": "+1"}
    (folder.path / "r").write_text("".join(f"1 Q0 {d} 1 {s} t\n" for d, s in scores.items()))
    (row,) = folder.rows("q", "r", "-m", "RR", *ties)
    assert float(row[3]) == 1 / rank


def test_expected_ties_by_hand(folder: Folder) -> None:
    """The relevant document stands behind one and shares its score with two others: rank 2, 3 or 4."""
    (folder.path / "q").write_text("1 0 m 1\n")
    (folder.path / "r").write_text("1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n1 Q0 m 3 1 t\n1 Q0 z 4 1 t\n1 Q0 y 5 0 t\n")
    rows = folder.rows("q", "r", "-m", "RR,AP,P@2,P@1,P@4", "--ties", "expected")
    mean = (1 / 2 + 1 / 3 + 1 / 4) / 3
    assert [float(row[3]) for row in rows] == pytest.approx([mean, mean, 1 / 6, 0, 1 / 4], abs=1e-12)


def test_truncate(folder: Folder) -> None:
    values = [float(folder.rows("qrels.txt", "poor.run", "-m", "RR", "--truncate", n)[0][3]) for n in ("1", "2", "3")]
    assert values == [0.0, 0.0, 1 / 3]


def test_topics_and_undefined(folder: Folder) -> None:
    (folder.path / "half.run").write_text("1 Q0 a 1 1 t\n")
    means = [float(folder.rows("qrels.txt", "half.run", "-m", "RR", "--topics", t)[0][3]) for t in ("judged", "run")]
    assert means == [0.5, 1.0]
    (folder.path / "q").write_text("1 0 a 1\n2 0 d 0\n")
    rows = folder.rows("q", "best.run", "-q", "-m", "AP", "--undefined", "nan")
    assert rows == [
        ["best.run", "1", "AP", "0.5"],
        ["best.run", "2", "AP", ""],
        ["best.run", "all", "AP", ""],
    ]
    out, _ = folder.run("score", "q", "best.run", "-q", "-m", "AP", "--undefined", "nan", "--format", "jsonl")
    assert [json.loads(line)["value"] for line in out.splitlines()] == [0.5, None, None]
    rows = folder.rows("q", "best.run", "-q", "-m", "AP", "--undefined", "drop")
    assert [row[1] for row in rows] == ["1", "all"]


def test_notes_go_to_stderr(folder: Folder) -> None:
    (folder.path / "odd.run").write_text("1 Q0 a 1 1 t\n1 Q0 a 2 0 t\n9 Q0 a 1 1 t\nbad\n")
    out, err = folder.run("score", "qrels.txt", "odd.run", "--lenient", "--format", "tsv", "-m", "RR")
    assert out.splitlines() == ["run\ttopic\tmeasure\tvalue", "odd.run\tall\tRR\t0.5"]
    notes = err.splitlines()
    assert len(notes) == 4
    assert all(note.startswith("note: odd.run: ") for note in notes)


# -- standard input


@pytest.mark.slow
def test_a_run_from_standard_input_is_named_by_its_tag(folder: Folder) -> None:
    done = command("score", "qrels.txt", "-", "-m", "AP", "--format", "tsv", cwd=folder.path, given=BEST.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"run\ttopic\tmeasure\tvalue\nt\tall\tAP\t1.0\n"
    done = command("score", "-", "best.run", "-m", "AP", "--format", "tsv", cwd=folder.path, given=QRELS.encode())
    assert done.stdout == b"run\ttopic\tmeasure\tvalue\nbest.run\tall\tAP\t1.0\n"
    done = command("score", "qrels.txt", "-", cwd=folder.path, given=b"")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"unjudged: standard input: this file is empty\n"


def test_the_provenance_of_standard_input(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(BEST.encode())))
    out, _ = folder.run("score", "qrels.txt", "-", "--format", "json")
    inputs = json.loads(out)["provenance"]["inputs"]
    assert inputs["qrels.txt"] == hashlib.sha256(QRELS.encode()).hexdigest()
    assert set(inputs) == {"qrels.txt", "standard input"}


# -- formats

AWKWARD = 'a,"b" & c_1.run'


def tidy(folder: Folder) -> tuple[list[str], list[tuple[str, str, str, float]]]:
    """Arguments, and the rows they must give."""
    (folder.path / AWKWARD).write_text(POOR)
    from unjudged import load, score

    scores = score(load("qrels.txt", ["best.run", AWKWARD]), "AP,nDCG@10,RR")
    rows = [(str(a), str(b), str(c), float(v)) for a, b, c, v in scores.rows()]
    assert len(rows) == 18
    assert any(len(repr(row[3])) > 15 for row in rows)  # numbers that need all their digits
    return ["score", "qrels.txt", "best.run", AWKWARD, "-q", "-m", "AP,nDCG@10,RR"], rows


def floats(rows: Sequence[Sequence[str]]) -> list[tuple[str, str, str, float]]:
    return [(a, b, c, float(v)) for a, b, c, v in rows]


def test_tsv_parses_back(folder: Folder) -> None:
    arguments, expected = tidy(folder)
    out, _ = folder.run(*arguments, "--format", "tsv")
    lines = out.splitlines()
    assert lines[0] == "run\ttopic\tmeasure\tvalue"
    assert floats([line.split("\t") for line in lines[1:]]) == expected


def test_csv_parses_back(folder: Folder) -> None:
    arguments, expected = tidy(folder)
    out, _ = folder.run(*arguments, "--format", "csv")
    header, *rows = csv.reader(io.StringIO(out, newline=""), strict=True)
    assert header == ["run", "topic", "measure", "value"]
    assert floats(rows) == expected


def test_jsonl_parses_back(folder: Folder) -> None:
    arguments, expected = tidy(folder)
    out, _ = folder.run(*arguments, "--format", "jsonl")
    objects = [json.loads(line) for line in out.splitlines()]
    assert all(list(o) == ["run", "topic", "measure", "value"] for o in objects)
    assert [tuple(o.values()) for o in objects] == expected


def test_json_parses_back_with_its_provenance(folder: Folder) -> None:
    arguments, expected = tidy(folder)
    out, _ = folder.run(*arguments, "--format", "json", "--rel", "1", "--truncate", "100", "--gains", "1:1,2:3")
    whole = json.loads(out)
    origin = whole["provenance"]
    ap = [row for row in expected if row[2] == "AP"]
    assert [tuple(row.values()) for row in whole["rows"] if row["measure"] == "AP"] == ap
    for name, text in (("qrels.txt", QRELS), ("best.run", BEST), (AWKWARD, POOR)):
        assert origin["inputs"][name] == hashlib.sha256(text.encode()).hexdigest()
    assert origin["version"] == unjudged.__version__
    assert origin["call"].startswith("unjudged score qrels.txt best.run")
    settings = origin["settings"]
    assert (settings["ties"], settings["truncate"], settings["rel"]) == ("trec10", 100, 1)
    assert settings["gains"] == {"1": 1.0, "2": 3.0}
    assert (settings["unjudged"], settings["topics"]) == ("nonrelevant", "judged")


def test_text_markdown_and_latex_show_the_same_table(folder: Folder) -> None:
    arguments, expected = tidy(folder)
    values = {(run, topic, m): f"{v:.4f}" for run, topic, m, v in expected}
    cells = [
        [run, topic, *(values[run, topic, m] for m in ("AP", "nDCG@10", "RR"))]
        for run in ("best.run", AWKWARD)
        for topic in ("2", "1", "all")
    ]
    text = folder.run(*arguments, "--format", "text")[0].splitlines()
    assert text[0].split() == ["run", "topic", "AP", "nDCG@10", "RR"]
    assert [line.rsplit(maxsplit=4) for line in text[1:]] == cells
    assert folder.run(*arguments)[0].splitlines() == text
    markdown = folder.run(*arguments, "--format", "markdown")[0].splitlines()
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in markdown]
    assert rows[0] == ["run", "topic", "AP", "nDCG@10", "RR"]
    assert all(set(c) <= set("-:") for c in rows[1])
    assert rows[2:] == cells
    latex = folder.run(*arguments, "--format", "latex")[0].splitlines()
    assert latex[:2] == [r"\begin{table}", r"\centering"] and latex[-2:] == [r"\end{tabular}", r"\end{table}"]
    ends = r" \tabularnewline"
    body = [re.split(r" ?(?<!\\)& ?", line.removesuffix(ends)) for line in latex if line.endswith(ends)][1:]
    escaped = AWKWARD.replace("&", r"\&").replace("_", r"\_").replace('"', "''")
    once = [[run if i % 3 == 0 else "", *rest] for i, (run, *rest) in enumerate(cells)]  # a run is named once
    assert body == [[c if c != AWKWARD else escaped for c in row] for row in once]


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_holds_what_stdout_would(folder: Folder, form: str) -> None:
    arguments = ["score", "qrels.txt", "best.run", "poor.run", "--format", form]
    out, _ = folder.run(*arguments)
    nothing, _ = folder.run(*arguments, "-o", "result")
    assert nothing == ""
    written = (folder.path / "result").read_text()
    if form == "json":  # the call differs
        assert json.loads(written)["rows"] == json.loads(out)["rows"]
    else:
        assert written == out
    assert sorted(p.name for p in folder.path.iterdir()) == ["best.run", "poor.run", "qrels.txt", "result"]


def test_output_that_cannot_be_written(folder: Folder) -> None:
    (folder.path / "taken").mkdir()
    before = sorted(folder.path.rglob("*"))
    for target in ("nowhere/result.tsv", "taken"):
        out, err = folder.run("score", "qrels.txt", "best.run", "-o", target, code=2)
        assert out == ""
        assert err.count("\n") == 1
        assert target in err
    assert sorted(folder.path.rglob("*")) == before


@pytest.mark.slow
def test_bytes_that_are_not_utf8_come_out_as_they_went_in(folder: Folder) -> None:
    (folder.path / "q").write_bytes(b"t\xe9 0 d\xff 1\n")
    (folder.path / "r").write_bytes(b"t\xe9 Q0 d\xff 1 1 t\n")
    for form in ("tsv", "csv"):
        done = command("score", "q", "r", "-q", "-m", "AP", "--format", form, cwd=folder.path, LC_ALL="C")
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"t\xe9" in done.stdout.splitlines()[1]
    done = command("score", "q", "r", "-q", "-m", "AP", "--format", "text", cwd=folder.path, LC_ALL="C")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 3)
    (folder.path / "r").write_bytes(b"t\xe9 Q0 d\xff 1 1 t\n\xe8 Q0 d\xff 1 x t\n")
    done = command("score", "q", "r", cwd=folder.path, LC_ALL="C")
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)


@pytest.mark.slow
def test_the_same_bytes_with_either_kernel_and_any_number_of_threads(folder: Folder) -> None:
    arguments = ["score", "qrels.txt", "best.run", "poor.run", "-q", "--format", "tsv"]
    plain = command(*arguments, cwd=folder.path).stdout
    assert plain.count(b"\n") == 37
    assert command(*arguments, cwd=folder.path, UNJUDGED_KERNELS="numpy").stdout == plain
    assert command(*arguments, "--jobs", "4", cwd=folder.path).stdout == plain


@pytest.mark.skipif(os.name != "posix", reason="pipes close differently here")
def test_a_reader_that_goes_away_is_no_error(folder: Folder) -> None:
    (folder.path / "q").write_text("".join(f"{t} 0 d 1\n" for t in range(5000)))
    (folder.path / "r").write_text("".join(f"{t} Q0 d 1 1 t\n" for t in range(5000)))
    whole = [sys.executable, "-m", "unjudged", "score", "q", "r", "-q", "--format", "tsv"]
    process = subprocess.Popen(whole, cwd=folder.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"run\ttopic\tmeasure\tvalue\n"
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(600) == 0
    assert err == b""


@pytest.mark.parametrize(
    "start", ["-m unjudged", "-c 'import sys; from unjudged.__main__ import main; sys.exit(main())'"]
)
def test_interrupted_before_the_command_line_is_loaded(start: str, tmp_path: Path) -> None:
    """An interrupt within an import: Python alone would end with a traceback, and by the signal."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'unjudged.errors':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts())\n"
    )
    words = [sys.executable, *shlex.split(start), "score", "a", "b"]
    how = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, env=how, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "unjudged: interrupted\n")
