"""The determinism matrix: the same bytes whatever the threads, kernels, order of the runs, locale, clock or folder.

Every cell of the matrix is one process that runs all the commands below and keeps what each wrote: standard output,
notes, exit code, files. Where output may differ is said where it is compared:

* runs given in another order come out in that order, so tables are compared with their rows sorted,
  the report's numbers, charts included, to 12 digits (their sums run over the runs as given);
* the report says how it was called and which kernels were in use, so these words are taken out;
* paths given as absolute ones stand in messages and in the provenance as given, so the folder is put back.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from unjudged import kernels
from unjudged.cli import main

DRIVER = """
import contextlib, io, json, sys
from pathlib import Path
from unjudged import kernels
from unjudged.cli import main

out = {}
for name, argv in json.loads(Path(sys.argv[1]).read_text()).items():
    text, notes = (io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape") for _ in range(2))
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(notes):
        code = main(argv)
    for stream in (text, notes):
        stream.flush()
    out[name] = [code, text.buffer.getvalue().decode(), notes.buffer.getvalue().decode()]
Path("out.json").write_text(json.dumps({"kernels": kernels.IN_USE, "out": out}))
"""
MEASURES = (
    "all_trec,sakai2005-graded,sakai2007,sakai2009,lipani2015,ERR@20,nERR@10,RBP(p=0.8),Compat,GAP,AnDCG@10,rpref_N,"
    "bpref_relative,infAP,AP',Q',nDCG'@10,Success@5,GMAP,NCU"
)
STATISTICS = ("-m", "AP,nDCG@10", "--resamples", "200", "--seed", "5")

# What is run on the collection: {runs} stands for the runs in the order of the cell.
COMMANDS: dict[str, list[str]] = {
    "score": ["score", "{qrels}", "{runs}", "-q", "--format", "tsv", "-m", MEASURES],
    "score, expected ties": ["score", "{qrels}", "{runs}", "--ties", "expected", "-m", "AP,nDCG@10", "--format", "csv"],
    "score, bounds": ["score", "{qrels}", "{runs}", "--unjudged", "bounds", "-m", "AP,P@10", "--format", "jsonl"],
    "compare": ["compare", "{qrels}", "{runs}", *STATISTICS, "--baseline", "team02-1", "--format", "tsv"],
    "pool describe": ["pool", "describe", "{qrels}", "{runs}", "{teams}", "--format", "tsv"],
    "pool contributions": ["pool", "contributions", "{qrels}", "{runs}", "{teams}", "--format", "tsv"],
    "pool build, depth": [
        "pool",
        "build",
        "{qrels}",
        "{runs}",
        "--strategy",
        "depth",
        "--depth",
        "5",
        "--format",
        "list",
    ],
    "pool build, rrf": [
        "pool",
        "build",
        "{qrels}",
        "{runs}",
        "--strategy",
        "rrf",
        "--budget",
        "60",
        "--format",
        "qrels",
    ],
    "pool build, random": [
        *("pool", "build", "{qrels}", "{runs}", "--strategy", "stratified", "--set", "strata=5:1,20:0.3"),
        *("--seed", "9", "--format", "qrels"),
    ],
    "qrels reduce": ["qrels", "reduce", "{qrels}", "--rate", "0.4", "--seed", "2"],
    "qrels noise": ["qrels", "noise", "{qrels}", "--flip", "0.2", "--seed", "2"],
    "correct": ["correct", "{qrels}", "{runs}", "{teams}", "--new", "{new}", "-m", "P@5", "--format", "tsv"],
    "study power": ["study", "power", "{qrels}", "{runs}", *STATISTICS, "--format", "tsv"],
    "study swap": [
        "study",
        "swap",
        "{qrels}",
        "{runs}",
        "-m",
        "AP,P@5",
        "--trials",
        "50",
        "--c",
        "3",
        "--format",
        "tsv",
    ],
    "study leave-team-out": [
        *("study", "leave-team-out", "{qrels}", "{runs}", "{teams}", "-m", "AP,Q'", "--all-runs", "--format", "tsv"),
    ],
    "study depth": [
        *("study", "depth", "{qrels}", "{runs}", "-m", "AP,nDCG@10", "--levels", "5,2", "--resamples", "100"),
        *("--format", "tsv"),
    ],
    "report": ["report", "{qrels}", "{runs}", "{teams}", "--format", "json"],
    "ci": ["ci", "{qrels}", "{new}", "--baseline", "{old}", "--resamples", "200", "--format", "tsv"],
}
SIMULATE = (
    "simulate",
    "--preset",
    "tiny",
    "--seed",
    "3",
    "--topics",
    "8",
    "--teams",
    "4",
    "--runs",
    "8",
    "--set",
    "K=40",
)
QUIRKS = ("--quirk", "ties,short,missing,negative")

SAID = re.compile(r" --jobs \d|(?:C|NumPy) kernels")
Outcome = dict[str, tuple[int, str, str]]


class Matrix:
    """The collection, and the cells run so far."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "c"

    def words(self, line: list[str], top: str, backwards: bool) -> list[str]:
        """The command with the files' names in it."""
        given = {
            "{qrels}": [f"{top}qrels.txt"],
            "{runs}": [f"{top}runs/{p.name}" for p in sorted((self.home / "runs").iterdir(), reverse=backwards)],
            "{teams}": ["--teams", f"{top}teams.tsv"],
            "{new}": [f"{top}new/team04-3"],
            "{old}": [f"{top}runs/team02-1"],
        }
        return [part for word in line for part in given.get(word, [word])]

    def cell(
        self,
        name: str,
        environment: dict[str, str],
        jobs: int,
        absolute: bool = False,
        backwards: bool = False,
    ) -> Outcome:
        """All commands in one process, in a folder of their own."""
        here = self.folder / name
        here.mkdir()
        (here / "c").symlink_to(self.home)
        top = f"{self.home}/" if absolute else "c/"
        commands = {
            command: [*self.words(line, top, backwards), "--jobs", str(jobs)] for command, line in COMMANDS.items()
        }
        commands["simulate"] = [*SIMULATE, *QUIRKS, "-o", "made", "--jobs", str(jobs)]
        (here / "commands.json").write_text(json.dumps(commands))
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "TZ", "PYTHONHASH", "UNJUDGED"))
        }
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, "commands.json"], cwd=here, env=kept | environment, capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()
        found = json.loads((here / "out.json").read_text())
        assert found["kernels"] == ("NumPy" if "UNJUDGED_KERNELS" in environment else kernels.IN_USE)
        outcome: Outcome = {
            command: (code, SAID.sub("", text), notes) for command, (code, text, notes) in found["out"].items()
        }
        for file in sorted((here / "made").rglob("*")):
            if file.is_file():
                outcome[f"simulate: {file.relative_to(here / 'made')}"] = (0, file.read_bytes().decode(), "")
        return outcome


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """A small collection with ties, short lists, missing topics and negative grades; one run was not pooled."""
    folder = tmp_path_factory.mktemp("determinism")
    assert main([*SIMULATE, *QUIRKS, "-o", str(folder / "c")]) == 0
    (folder / "c/new").mkdir()
    (folder / "c/runs/team04-3").rename(folder / "c/new/team04-3")
    return Matrix(folder)


@pytest.fixture(scope="module")
def plain(matrix: Matrix) -> Outcome:
    """The cell all others are compared with: one thread, no locale, fixed hashes."""
    found = matrix.cell("plain", {"PYTHONHASHSEED": "0"}, 1)
    assert [name for name, (code, text, _) in found.items() if code > (name == "ci") or not text] == []
    assert len(found) > len(COMMANDS) + 10
    return found


def differing(one: Outcome, other: Outcome) -> dict[str, object]:
    """Command -> its first line (or exit code) that differs."""
    found: dict[str, object] = dict.fromkeys(one.keys() ^ other.keys(), "missing")
    for name in one.keys() & other.keys():
        lines = [[str(code), *text.split("\n"), *notes.split("\n")] for code, text, notes in (one[name], other[name])]
        if lines[0] != lines[1]:
            found[name] = next((pair for pair in zip(*lines, strict=False) if pair[0] != pair[1]), "length")
    return found


CELLS: dict[str, tuple[dict[str, str], int]] = {
    "two workers, another clock": ({"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "1"}, 2),
    "four workers, a locale with decimal commas": ({"LC_ALL": "de_DE.UTF-8", "PYTHONHASHSEED": "77"}, 4),
    "the C locale": ({"LC_ALL": "C", "LANG": "C", "PYTHONHASHSEED": "random"}, 1),
    "UTF-8 without a country, a wrong clock": ({"LC_ALL": "C.UTF-8", "TZ": ":nowhere/else"}, 1),
    "NumPy kernels": ({"UNJUDGED_KERNELS": "numpy"}, 1),
}


@pytest.mark.parametrize("name", CELLS)
def test_same_bytes(name: str, matrix: Matrix, plain: Outcome) -> None:
    environment, jobs = CELLS[name]
    assert differing(matrix.cell(name, environment, jobs), plain) == {}


def test_same_bytes_from_another_folder_with_absolute_paths(matrix: Matrix, plain: Outcome) -> None:
    found = matrix.cell("absolute", {}, 1, absolute=True)
    back = {
        n: (code, t.replace(f"{matrix.home}/", "c/"), e.replace(f"{matrix.home}/", "c/"))
        for n, (code, t, e) in found.items()
    }
    assert found["report"] != back["report"]  # its provenance names the files as given
    assert differing(back, plain) == {}


def in_one_order(text: str) -> str:
    """The call and the first of several runs are named as given; here the runs are put in the plain cell's order."""
    given = re.search(r"(c/runs/\S+ )+", text)
    assert given is not None
    runs = given[0].split()
    text = text.replace(given[0], " ".join(sorted(runs)) + " ")
    return text.replace("2 runs (c/runs/team04-2, ...)", "2 runs (c/runs/team03-2, ...)")


def in_any_order(thing: object) -> object:
    """Lists sorted, for JSON."""
    if isinstance(thing, dict):
        return {key: in_any_order(value) for key, value in thing.items()}
    if isinstance(thing, list):
        return sorted(map(in_any_order, thing), key=json.dumps)
    return thing


def test_same_rows_with_the_runs_in_another_order(matrix: Matrix, plain: Outcome) -> None:
    found = matrix.cell("backwards", {}, 1, backwards=True)

    def rows(outcome: Outcome) -> Outcome:
        tables = {n: (code, "\n".join(sorted(text.splitlines())), "") for n, (code, text, _) in outcome.items()}
        report = json.loads(in_one_order(outcome["report"][1]), parse_float=lambda text: f"{float(text):.12g}")
        return {**tables, "report": (0, json.dumps(in_any_order(report), indent=1, sort_keys=True), "")}

    assert found["score"] != plain["score"]
    assert differing(rows(found), rows(plain)) == {}


STUDIES = ("study power", "study swap", "study leave-team-out", "study depth")


@pytest.mark.parametrize("name", STUDIES)
def test_same_table_after_a_resume(
    name: str, matrix: Matrix, plain: Outcome, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every second finished unit is lost; the same command makes it again and joins it with the rest."""
    monkeypatch.chdir(matrix.folder)
    kept = Path("kept") / name.removeprefix("study ")
    words = [*matrix.words(COMMANDS[name], "c/", backwards=False), "--jobs", "1", "--workdir", str(kept)]
    assert main(words) == 0
    capfd.readouterr()
    units = sorted(p for p in kept.rglob("*") if p.suffix == ".unit")
    assert len(units) >= 2
    for unit in units[::2]:
        unit.unlink()
    assert main(words) == 0
    assert capfd.readouterr().out == plain[name][1]
    assert sorted(p for p in kept.rglob("*") if p.suffix == ".unit") == units
