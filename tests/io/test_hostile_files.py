"""Hostile input that needs the operating system: pipes, devices, permissions, loops of links, files that change."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hostile import QRELS, RUN, lay

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import InputError, one_line
from unjudged.io import files

MEASURES = ("-m", "AP,nDCG,P@2,bpref,RR,RBP,Judged@2", "-q", "--format", "tsv")
SCORE = ("score", "qrels.txt", "run.txt", *MEASURES)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The clean collection, and we are in it."""
    monkeypatch.chdir(tmp_path)
    lay(tmp_path)
    return tmp_path


def clean(folder: Path) -> bytes:
    assert main([*SCORE, "-o", "clean.tsv"]) == 0
    return (folder / "clean.tsv").read_bytes()


def refused(capfd: pytest.CaptureFixture[str], *argv: str) -> str:
    """The one line a refusal prints."""
    code = main([*argv])
    printed = capfd.readouterr()
    lines = [line for line in printed.err.splitlines() if not line.startswith("note: ")]
    assert (code, printed.out, len(lines)) == (2, "", 1), printed
    return lines[0]


# Pipes


@pytest.mark.parametrize(("name", "data"), [("run.txt", RUN), ("qrels.txt", QRELS)])
def test_a_pipe_is_read_once(name: str, data: bytes, folder: Path) -> None:
    wanted = clean(folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    writer = threading.Thread(target=lambda: (folder / name).write_bytes(data), daemon=True)
    writer.start()
    assert main([*SCORE, "-o", "out.tsv"]) == 0
    writer.join(600)
    assert (folder / "out.tsv").read_bytes() == wanted


# Permissions: what the superuser may read, nobody else may

# pathlib asks whether a file exists; where it may not look, it says no since Python 3.14, and the reader finds out why
DENIED = "cannot be read (Permission denied)" if sys.version_info >= (3, 14) else "Permission denied"

AS_NOBODY = """
import os, sys
from unjudged.cli import main
with open(os.devnull, "w") as sys.stderr:
    assert main(["score", "qrels.txt", "run.txt", "--teams", "teams.tsv", "-o", "warm"]) == 0  # loads all modules
sys.stderr = sys.__stderr__
os.remove("warm")
for name, mode in (pair.split(":") for pair in sys.argv[1].split(",")):
    os.chmod(name, int(mode, 8))
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("modes", "argv", "says"),
    [
        ("run.txt:0", SCORE, "run.txt: cannot be read (Permission denied)"),
        ("qrels.txt:0", SCORE, "qrels.txt: cannot be read (Permission denied)"),
        ("teams.tsv:0", (*SCORE, "--teams", "teams.tsv"), "teams.tsv: cannot be read (Permission denied)"),
        ("runs:0", ("score", "qrels.txt", "runs"), "runs: cannot be read (Permission denied)"),
        ("runs:0", ("score", "qrels.txt", "runs/r"), f"runs/r: {DENIED}"),
        (".:555", (*SCORE, "-o", "out.tsv"), "out.tsv: cannot be written (Permission denied)"),
        (".:555,old.tsv:444", (*SCORE, "-o", "old.tsv"), "old.tsv: cannot be written (Permission denied)"),
    ],
)
def test_permissions(modes: str, argv: tuple[str, ...], says: str, folder: Path) -> None:
    folder.chmod(0o755)
    (folder / "runs").mkdir()
    (folder / "runs/r").write_bytes(RUN)
    (folder / "old.tsv").write_bytes(b"before")
    before = sorted(p.name for p in folder.iterdir())
    try:
        done = subprocess.run([sys.executable, "-c", AS_NOBODY, modes, *argv], capture_output=True, text=True)
    finally:
        folder.chmod(0o755)
        (folder / "runs").chmod(0o755)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"unjudged: {says}\n")
    assert sorted(p.name for p in folder.iterdir()) == before
    assert (folder / "old.tsv").read_bytes() == b"before"


EVERY_VERB_AS_NOBODY = """
import contextlib, io, json, os, sys
from unjudged.cli import main
from unjudged.studies.engine import execution
execution._WORTH_PROCESSES = float("inf")  # a slow machine must not start processes in here
verbs = json.loads(sys.argv[1])
told = []
for argv in verbs:
    with contextlib.redirect_stderr(io.StringIO()):
        assert main(argv) in (0, 1), argv  # loads all modules
    os.remove("out")
for name in ("run.txt", "qrels.txt", "teams.tsv"):
    os.chmod(name, 0)
    root = os.geteuid() == 0
    if root:
        os.setegid(65534)
        os.seteuid(65534)
    for argv in verbs:
        with contextlib.redirect_stderr(io.StringIO()) as err:
            code = main(argv)
        written = os.path.exists("out") and open("out").read()
        if written:
            os.remove("out")
        told.append((name, argv[0], code, err.getvalue(), written))
    if root:
        os.seteuid(0)
        os.setegid(0)
    os.chmod(name, 0o644)
print(json.dumps(told))
"""


@pytest.mark.slow
def test_unreadable_files_of_other_verbs() -> None:
    """One sentence that names the file, nothing written; check lists it as an error."""
    reading = ("qrels.txt", "run.txt", "other.run", "--teams", "teams.tsv", "-o", "out")
    verbs = ("compare", "report", "check", "pool describe", "study reliability -m AP", "qrels reduce --rate 0.5")
    argv = [sys.executable, "-c", EVERY_VERB_AS_NOBODY, json.dumps([[*verb.split(), *reading] for verb in verbs])]
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
        folder = Path(name)
        folder.chmod(0o777)
        lay(folder)
        (folder / "other.run").write_bytes(RUN.replace(b"x 2 8", b"a 2 8"))
        (folder / "teams.tsv").write_bytes(b"run\tteam\nrun.txt\tA\nother.run\tB\n")
        done = subprocess.run(argv, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])  # after what `report` tells of itself
    assert len(told) == 3 * len(verbs)
    for name, verb, code, err, written in told:
        if verb == "check":
            assert code == 1 and "Permission denied" in written
        else:
            assert (code, err, written) == (2, f"unjudged: {name}: cannot be read (Permission denied)\n", False)


# Where the output goes


def test_a_folder_in_place_of_the_output(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "out").mkdir()
    before = sorted(p.name for p in folder.iterdir())
    assert refused(capfd, *SCORE, "-o", "out") == "unjudged: out: cannot be written (Is a directory); name a file in it"
    assert sorted(p.name for p in folder.iterdir()) == before


def test_no_folder_for_the_output(capfd: pytest.CaptureFixture[str]) -> None:
    says = "unjudged: none/out: cannot be written (No such file or directory); make the folder none first"
    assert refused(capfd, *SCORE, "-o", "none/out") == says


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk(capfd: pytest.CaptureFixture[str]) -> None:
    assert (
        refused(capfd, *SCORE, "-o", "/dev/full") == "unjudged: /dev/full: cannot be written (No space left on device)"
    )
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    for environment in (buffered, {**buffered, "PYTHONUNBUFFERED": "1"}):
        with open("/dev/full", "wb") as full:  # noqa: PTH123
            done = subprocess.run(
                [sys.executable, "-m", "unjudged", *SCORE],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
            )
        assert done.returncode == 2
        assert done.stderr == "unjudged: No space left on device\n"


# Links that lead nowhere


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("score", "qrels.txt", "a"), "a: "),
        (("score", "a", "run.txt"), "a: "),
        (("score", "qrels.txt", "run.txt", "--teams", "a"), "a: "),
        ((*SCORE, "-o", "a"), "a: cannot be written ("),
        (("score", "qrels.txt", "a/run.txt"), "a/run.txt: "),
        (("score", "qrels.txt", "loops"), "loops: this folder holds no runs"),
    ],
)
def test_links_in_a_circle(argv: tuple[str, ...], says: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    (folder / "loops").mkdir()
    (folder / "loops/here").symlink_to("here")
    (folder / "loops/up").symlink_to("..")
    assert refused(capfd, *argv).startswith(f"unjudged: {says}")
    assert (folder / "a").is_symlink() and (folder / "b").is_symlink()


# Files that change

SCATTERED = b"".join(sorted(RUN.splitlines(keepends=True), key=lambda line: bytes(line).split()[3]))
CHANGED = "run.txt: this file changed while it was read"


def grown(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"2 Q0 d 4 0.5 t\n")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def replaced(path: Path) -> None:
    path.with_name("other").write_bytes(path.read_bytes().replace(b"c 1 9.5", b"c 1 0.5"))
    path.with_name("other").replace(path)


@pytest.mark.parametrize("change", [grown, cut, replaced])
@pytest.mark.parametrize("run", [RUN, SCATTERED], ids=["in one pass", "between two passes"])
def test_a_run_that_changes_while_it_is_read(
    run: bytes,
    change: Callable[[Path], None],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (folder / "run.txt").write_bytes(run)
    assert main([*SCORE, "-o", "first.tsv"]) == 0  # as it is now, nothing is wrong with it
    chunks = files.chunks
    passes: list[Any] = []

    def meddled(path: str, whole: bool = False) -> Iterator[bytes | memoryview]:
        yield from chunks(path, whole)
        if path == "run.txt" and not passes:
            passes.append(path)
            change(folder / path)

    monkeypatch.setattr(files, "chunks", meddled)
    capfd.readouterr()
    assert refused(capfd, *SCORE, "-o", "out.tsv").startswith(f"unjudged: {CHANGED}")
    assert passes and not (folder / "out.tsv").exists()


@pytest.mark.parametrize("change", [grown, cut, replaced])
def test_a_run_that_changes_before_its_full_list_is_read(change: Callable[[Path], None], folder: Path) -> None:
    collection = uj.load("qrels.txt", "run.txt")
    change(folder / "run.txt")
    with pytest.raises(InputError, match=CHANGED):
        collection.rankings  # noqa: B018


def test_judgments_that_change_while_they_are_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    chunks = files.chunks

    def meddled(path: str, whole: bool = False) -> Iterator[bytes | memoryview]:
        yield from chunks(path, whole)
        if path == "qrels.txt":
            (folder / path).write_bytes(QRELS[:8])

    monkeypatch.setattr(files, "chunks", meddled)
    assert refused(capfd, *SCORE).startswith("unjudged: qrels.txt: this file changed while it was read")


# Sizes


@pytest.mark.slow
def test_a_million_topics(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    topics = 1_000_000
    with (folder / "qrels.txt").open("w") as qrels, (folder / "run.txt").open("w") as run:
        qrels.writelines(f"{t} 0 d {t % 3 == 0:d}\n" for t in range(topics))
        run.writelines(f"{t} Q0 d 1 1 t\n" for t in range(topics))
    assert main(["score", "qrels.txt", "run.txt", "-m", "RR,NumQ", "--format", "tsv"]) == 0
    values = {row.split("\t")[2]: float(row.split("\t")[3]) for row in capfd.readouterr().out.splitlines()[1:]}
    assert values["NumQ"] == topics
    assert values["RR"] == pytest.approx((topics // 3 + 1) / topics, abs=1e-12)


@pytest.mark.slow
def test_ten_million_topics_that_are_not_judged(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """They go by through a pipe; what is judged scores as if they were not there."""
    wanted = clean(folder)
    (folder / "run.txt").unlink()
    os.mkfifo(folder / "run.txt")

    def write() -> None:
        with (folder / "run.txt").open("wb") as pipe:
            pipe.write(RUN)
            for start in range(0, 10_000_000, 10_000):
                pipe.write(b"".join([b"t%d Q0 d 1 1 t\n" % t for t in range(start, start + 10_000)]))

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    capfd.readouterr()
    assert main([*SCORE, "-o", "out.tsv"]) == 0
    writer.join(600)
    assert (folder / "out.tsv").read_bytes() == wanted
    assert "topics outside the judgments" in capfd.readouterr().err


def test_ids_of_a_megabyte(folder: Path) -> None:
    wanted = clean(folder)
    topic, doc = b"T" * (1 << 20), b"D" * (1 << 20)
    for name, text in (("qrels.txt", QRELS), ("run.txt", RUN)):
        lines = [line.split() for line in text.splitlines()]
        long = [
            [topic if line[0] == b"1" else line[0], line[1], doc if line[2] == b"c" else line[2], *line[3:]]
            for line in lines
        ]
        (folder / name).write_bytes(b"".join(b" ".join(line) + b"\n" for line in long))
    assert main([*SCORE, "-o", "out.tsv"]) == 0
    assert (folder / "out.tsv").read_bytes().replace(topic, b"1") == wanted


# Names

NAME = "a\tb\nc\r<b>&amp;\"'|$(touch x);`touch y`\\%_{}^~#, \x1b[2J\\|.run"
MARKUP = "</td></table><script>alert(1)</script><img src=x onerror=alert(2)>|"


class Cells(HTMLParser):
    """The texts of the cells, and the kinds of elements."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.kinds: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.kinds.add(tag)
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


@pytest.mark.parametrize("name", [NAME, MARKUP])
def test_names_break_no_view(name: str, folder: Path) -> None:
    lists = {"1": {"c": 2.0, "b": 1.0}, "2": {"e": 1.0}}
    scores = uj.score(uj.load("qrels.txt", {name: lists, "other": lists}), ["P@1", "RR"])
    lines = {view: scores.render(view).split("\n") for view in ("text", "tsv", "csv", "jsonl", "markdown", "latex")}
    rows = 2 * (2 + 1)
    assert all(line.isprintable() for view in ("text", "markdown", "latex") for line in lines[view])
    assert len(lines["text"]) == 1 + rows + 1
    assert len(lines["tsv"]) == 1 + 2 * rows + 1
    assert {line.count("\t") for line in lines["tsv"][:-1]} == {3}
    parsed = list(csv.reader(io.StringIO(scores.render("csv"), newline="")))
    assert {len(row) for row in parsed} == {4}
    assert {row[0] for row in parsed[1:]} == {name, "other"}
    assert {json.loads(line)["run"] for line in lines["jsonl"][:-1]} == {name, "other"}
    assert len(lines["markdown"]) == 2 + rows + 1
    assert {line.replace("\\|", "").count("|") for line in lines["markdown"][:-1]} == {5}
    assert not any("<" in line for line in lines["markdown"])
    above, below = lines["latex"].index(r"\midrule") + 1, lines["latex"].index(r"\bottomrule")
    assert below - above == rows
    bare = [line.replace(r"\&", "").replace(r"\%", "") for line in lines["latex"][above:below]]
    assert {line.count("&") for line in bare} == {3}
    assert not any(set("%#$") & set(line.replace(r"\#", "").replace(r"\$", "")) for line in bare)
    page = Cells()
    page.feed(scores.to_html())
    assert page.kinds == {"table", "thead", "tbody", "tr", "th", "td"}
    assert name in page.cells and len(page.cells) == rows * 4


def test_a_file_of_such_a_name(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / NAME).write_bytes(RUN)
    before = sorted(p.name for p in folder.iterdir())
    assert main(["score", "qrels.txt", NAME, "--format", "jsonl"]) == 0
    assert {json.loads(line)["run"] for line in capfd.readouterr().out.splitlines()} == {NAME}
    assert sorted(p.name for p in folder.iterdir()) == before


ODD_BYTES = os.fsdecode(b"\xff\xfe.run")


@pytest.mark.parametrize("name", [NAME, ODD_BYTES, 'a"b\u2028c\u202e.run', "-x"], ids=ascii)
def test_such_names_in_other_verbs(name: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """XML stays well formed, nothing raw reaches the terminal."""
    (folder / name).write_bytes(RUN)
    (folder / "other.run").write_bytes(RUN.replace(b"x 2 8", b"a 2 8"))
    reading = ("qrels.txt", f"./{name}")
    assert main(["ci", *reading, "--baseline", "other.run", "-m", "AP", "--junit", "junit.xml"]) in (0, 1, 3)
    (case,) = ElementTree.parse("junit.xml").iter("testcase")
    assert case.attrib["name"] == f"AP of {one_line(name)} against other.run"
    assert main(["study", "power", *reading, "other.run", "-m", "AP", "--figure", "power.svg"]) == 0
    ElementTree.parse("power.svg")
    for argv in (["compare", *reading, "other.run"], ["pool", "describe", *reading], ["check", *reading]):
        assert main(argv) in (0, 1)
    printed = capfd.readouterr()
    assert "\x1b" not in printed.out + printed.err and "Traceback" not in printed.err


def test_data_frames_of_names_that_are_not_utf8(folder: Path) -> None:
    (folder / ODD_BYTES).write_bytes(RUN)
    scores = uj.score(uj.load("qrels.txt", ODD_BYTES), ["AP", "P@1"])
    names = {ODD_BYTES, "\\xff\\xfe.run"}  # where pandas keeps texts as UTF-8, the bytes are escaped
    assert set(scores.frame["run"]) < names and set(scores.means().index) < names
    assert scores.means().to_numpy().tolist() == scores.mean_values().tolist()


def test_a_report_of_names_that_are_not_utf8(folder: Path) -> None:
    (folder / ODD_BYTES).write_bytes(RUN)
    (folder / "other.run").write_bytes(RUN.replace(b"x 2 8", b"a 2 8"))
    assert main(["report", "qrels.txt", ODD_BYTES, "other.run", "-o", "report.html"]) == 0
    assert "\\udcff\\udcfe.run" in (folder / "report.html").read_text(encoding="utf-8")
