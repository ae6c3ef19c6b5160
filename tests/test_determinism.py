"""The determinism matrix: the same bytes whatever the threads, kernels, order of the runs, locale, clock or folder.

Every cell of the matrix is one process that runs every verb and keeps what each wrote: standard output, notes, exit
code, files. All cells give the bytes of the plain one. What a user's own choice of words puts into them is taken out:

* the report names its command and the kernels in use, a resumed study how much was kept;
* a path stands in messages and provenance as it was given, so an absolute folder is put back;
* with the runs in another order, tables that list runs (or pairs of runs) as given are compared with their rows
  sorted, a pair turned round where its runs changed places. These tables are named in AS_GIVEN; everything else,
  the report among it, is compared as it is.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from unjudged import kernels
from unjudged.cli import VERBS, main
from unjudged.studies import NAMES

DRIVER = """
import contextlib, io, json, sys
from pathlib import Path
from unjudged import kernels
from unjudged.cli import demo, main

demo.SCENARIO = "17"  # nine runs
out, lost = {}, {}
for name, argv in json.loads(Path("commands.json").read_text()).items():
    for again in range(1 + ("--workdir" in argv)):
        text, notes = (io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape") for _ in range(2))
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(notes):
            code = main(argv)
        if "--workdir" in argv and not again:  # every second finished unit is lost
            units = sorted(Path(argv[argv.index("--workdir") + 1]).rglob("*.unit"))[::2]
            lost[name] = len(units)
            for unit in units:
                unit.unlink()
    for stream in (text, notes):
        stream.flush()
    out[name] = [code, text.buffer.getvalue().decode(), notes.buffer.getvalue().decode()]
Path("out.json").write_text(json.dumps({"kernels": kernels.IN_USE, "out": out, "lost": lost}))
"""
MEASURES = (
    "all_trec,sakai2005-graded,sakai2007,sakai2009,lipani2015,ERR@20,nERR@10,RBP(p=0.8),Compat,GAP,AnDCG@10,rpref_N,"
    "bpref_relative,infAP,AP\\',Q\\',nDCG\\'@10,Success@5,GMAP,NCU"
)
SOME = "-m AP,nDCG@10,Q\\' --seed 5"
POOL = f"--pooled all {SOME}"

# What is run on the collection. QRELS, RUNS, TEAMS, NEW... stand for files; RUNS in the order of the cell.
COMMANDS: dict[str, str] = {
    "score": f"score QRELS RUNS -q --format tsv -m {MEASURES}",
    **{f"score, {f}": f"score QRELS RUNS -q --format {f} -m AP,P@10" for f in ("text", "csv", "jsonl", "json")},
    "score, markdown": "score QRELS RUNS --format markdown -m AP,P@10",
    "score, latex": "score QRELS RUNS --format latex -m AP,P@10",
    "score, the run's topics": "score QRELS RUNS --topics run --undefined drop --format tsv -m AP,GMAP",
    "score, common topics": "score QRELS RUNS --topics common --format tsv -m AP",
    "score, expected ties": "score QRELS RUNS --ties expected -m AP,nDCG@10 --format csv",
    "score, bounds": "score QRELS RUNS --unjudged bounds -m AP,P@10 --format jsonl",
    "score, estimate": "score QRELS RUNS TEAMS -q --unjudged estimate --format tsv",
    "estimate": "estimate QRELS RUNS TEAMS -m nDCG@10,P@10,RBP(p=0.8),AP@100,RR --format tsv",
    "next": "next THIN RUNS TEAMS --all --correction none -m P@10 --budget 25 --format tsv",
    "next, pair": "next THIN RUNS TEAMS --new team02-1 --baseline OLD-NAME -m nDCG@5 --format tsv",
    "next, top": "next THIN RUNS TEAMS --top 3 -m RBP(p=0.8) --batch 4 --budget 9",
    "next, assessors": "next THIN RUNS TEAMS --all --correction none -m P@10 --budget 9 --format list",
    "next, answers": "next THIN RUNS --all --correction none -m P@10 --answers MORE --merged m.txt --format jsonl",
    "estimate, text": "estimate QRELS RUNS",
    "trec_eval": "trec_eval -q -m all_trec QRELS NEW",
    "check": "check QRELS RUNS TEAMS",
    **{
        f"compare, {test}": f"compare QRELS RUNS {SOME} --resamples 200 --format tsv --test {test}"
        for test in ("bootstrap", "t", "wilcoxon", "permutation", "tukey", "randomised-tukey")
    },
    "compare, baseline": f"compare QRELS RUNS {SOME} --resamples 200 --baseline OLD-NAME --format tsv",
    "compare, bounds": "compare QRELS RUNS -m AP,nDCG@10,RBP,P@10 --test t --unjudged bounds --format tsv",
    "pool describe": "pool describe QRELS RUNS TEAMS --format tsv",
    "pool describe, runs": "pool describe QRELS RUNS TEAMS --runs --format tsv",
    "pool contributions": "pool contributions QRELS RUNS TEAMS --pooled all",
    "pool build, depth": "pool build QRELS RUNS --strategy depth --depth 5 --format list",
    **{
        f"pool build, {strategy}": f"pool build QRELS RUNS --strategy {strategy} --budget 60 --seed 9 --format tsv"
        for strategy in ("rrf", "combmnz", "borda", "fair-take", "rbp-c", "hedge", "thompson", "move-to-front")
    },
    "pool build, sample": "pool build QRELS RUNS --strategy stratified --set strata=5:1,20:.3 --seed 9 --format qrels",
    "qrels reduce": "qrels reduce QRELS --rate 0.4 --seed 2",
    "qrels leave-out": "qrels leave-out QRELS RUNS TEAMS --team team02",
    "qrels take": "qrels take QRELS RUNS TEAMS --team team02",
    "qrels shallow": "qrels shallow QRELS RUNS --depth 3",
    "qrels noise": "qrels noise QRELS --flip 0.2 --seed 2",
    "qrels merge": "qrels merge QRELS TRUTH",
    "qrels agree": "qrels agree QRELS TRUTH",
    "correct, P": "correct QRELS RUNS TEAMS --new NEW -m P@5 --method lipani,webber-park,webber-ratio,per-topic",
    "correct": "correct QRELS RUNS TEAMS --new NEW -m AP,nDCG@10,RBP --force --format tsv",
    "correct, R": "correct QRELS RUNS TEAMS --new NEW -m R@10 --method webber-park,webber-recall --force --format tsv",
    "correct, sigir2015": "correct QRELS RUNS TEAMS --new NEW -m P@10 --protocol sigir2015 --format tsv",
    "correct, truth": "correct QRELS RUNS TEAMS --truth TRUTH -m P@10,RBP,AP --format tsv",
    "study compare": f"study compare QRELS RUNS {SOME} --margin 0.05 --format tsv",
    "study winners": f"study winners QRELS RUNS TEAMS {SOME}",
    "study gate": "study gate QRELS RUNS --run team02-1 --baseline OLD-NAME --format tsv",
    "study agreement": "study agreement QRELS RUNS -m AP,nDCG@10,P@5 --figure heat.json",
    "study power": f"study power QRELS RUNS {SOME} --resamples 200",
    "study power, pairs": f"study power QRELS RUNS TEAMS {SOME} --pairs --one-per-team --resamples 100 --format tsv",
    "study power, top": f"study power QRELS RUNS {SOME} --top 4 --resamples 100 --format tsv",
    "study swap": f"study swap QRELS RUNS {SOME} --trials 50 --c 3",
    "study swap, curve": "study swap QRELS RUNS -m AP,GMAP --top 5 --trials 50 --c 3 --curve --format tsv",
    "study swap, shared topics": "study swap QRELS RUNS -m AP --trials 50 --c 3 --shared-topics --format tsv",
    "study stability": f"study stability QRELS RUNS {SOME} --trials 50 --c 3",
    "study reduction": f"study reduction QRELS RUNS {SOME} --levels 50,20 --repeats 2 --resamples 100",
    "study leave-team-out": f"study leave-team-out QRELS RUNS TEAMS {POOL} --resamples 100 --format tsv",
    "study leave-team-out, all": f"study leave-team-out QRELS RUNS TEAMS {POOL} --all-runs --resamples 9 --format tsv",
    "study leave-team-out, sum": f"study leave-team-out QRELS RUNS TEAMS {POOL} --resamples 100 --summary",
    "study leave-run-out": f"study leave-run-out QRELS RUNS TEAMS {POOL} --resamples 100 --summary",
    "study take-team": f"study take-team QRELS RUNS TEAMS {POOL} --resamples 100 --format tsv",
    "study take-team, summary": f"study take-team QRELS RUNS TEAMS {POOL} --resamples 100 --summary",
    "study depth": f"study depth QRELS RUNS {POOL} --levels 5,2 --resamples 100 --format tsv",
    "study correction": "study correction QRELS RUNS TEAMS --cutoffs 5,10 -m RBP@10 --format tsv",
    "study correction, runs": "study correction QRELS RUNS --leave run --cutoffs 5 --per-run --test t --format tsv",
    "study correct": "study correct QRELS RUNS TEAMS -m P@5,AP --format tsv",
    "study judges": "study judges QRELS RUNS TEAMS --second-judge TRUTH --resamples 50",
    "judges audit": "judges audit QRELS TRUTH --runs RUNS TEAMS --resamples 50 --bias --format tsv",
    "study corrected": "study corrected QRELS RUNS --machine TRUTH --target both --baseline OLD-NAME --format tsv",
    "judges sample": "judges sample QRELS --documents 60 --strata top --runs RUNS --sampled drawn.tsv --format list",
    "judges estimate": "judges estimate TRUTH QRELS --runs RUNS --sampled drawn.tsv -m P@5,RBP(p=0.8) --format tsv",
    "study over-judges": "study over-judges QRELS RUNS --second-judge TRUTH --show pairs --format tsv",
    "judges merge": "judges merge QRELS TRUTH --merged merged-judges.txt --show documents --format tsv",
    **{f"score, {f}": f"score QRELS RUNS -q --format {f} -m AP" for f in ("tot", "autojudge")},
    "doctor": "doctor QRELS c/new/new --reported AP=0.2 --format tsv",
    "judges merge, runs": "judges merge QRELS TRUTH --runs RUNS --format tsv",
    "study noise": "study noise QRELS RUNS TEAMS --seed 2 --format tsv",
    "study holes": "study holes QRELS RUNS TEAMS",
    "study score-range": "study score-range QRELS RUNS TEAMS",
    "study estimate": "study estimate QRELS RUNS TEAMS --figure estimate.json",
    "study reliability": f"study reliability QRELS RUNS {SOME}",
    "study ranks": f"study ranks QRELS RUNS TEAMS {SOME} --format tsv",
    "study slices": f"study slices QRELS RUNS TEAMS {SOME} --slice c/slices.tsv --format tsv",
    "study contents": "study contents QRELS RUNS TEAMS",
    "study contributions": "study contributions QRELS RUNS TEAMS --pooled all --format tsv",
    "study change": "study change QRELS RUNS TEAMS --before TRUTH --format tsv",
    "study topics": "study topics QRELS RUNS --a OLD-NAME --b OTHER-NAME -m AP --format tsv",
    **{
        f"paper {name}": f"paper {name} QRELS RUNS TEAMS --trials 20 --resamples 20"
        for name in ("sakai2005", "sakai2007", "sakai2009", "lipani2015")
    },
    "report": "report QRELS RUNS TEAMS",
    "report, json": "report QRELS RUNS TEAMS --format json --second-judge TRUTH",
    "report, markdown": "report QRELS RUNS TEAMS --format markdown",
    "ci": "ci QRELS NEW --baseline OLD --junit gate.xml",
    "demo": "demo -o shown",
    "simulate": "simulate --preset tiny --seed 3 --topics 4 --set K=40 --quirk ties,short,missing,negative -o made",
    "simulate, latent": "simulate --mechanism latent --preset tiny --seed 3 --topics 4 --quirk ties -o latent",
}
AS_GIVEN = re.compile(
    r"score|estimate|check|compare|pool describe, runs|judges (estimate|merge, runs)|study (ranks|slices)|study "
    r"(compare|corrected|over-judges|estimate|power, pairs|leave-team-out(, all)?|take-team|correction, runs|correct)$"
)  # their rows follow the runs as given
LEFT = {"completion", "explain", "judge", "manual", "serve"}  # verbs that read no runs, or that never end
JOBLESS = ("doctor", "trec_eval", "check", "demo", "qrels merge", "qrels agree")
COLLECTION = (
    "simulate --preset tiny --seed 3 --topics 8 --teams 4 --runs 10 --set K=40 --quirk ties,short,missing,negative"
)
SAID = re.compile(r" --jobs \d|(?:C|NumPy) kernels|, \d+ kept from before")
Outcome = dict[str, tuple[int, str, str]]


@dataclass(frozen=True)
class Cell:
    """One setting of everything that must not matter."""

    environment: dict[str, str] = field(default_factory=dict)
    jobs: int = 1
    absolute: bool = False
    order: str = "by name"
    resumed: bool = False
    demo: bool = False
    """Is the demonstration run, too? It takes as long as all the rest."""


CELLS: dict[str, Cell] = {
    "four workers, decimal commas, another clock": Cell(
        {"LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "77"}, 4, demo=True
    ),
    "NumPy kernels, the C locale, absolute paths, no such clock": Cell(
        {
            "UNJUDGED_KERNELS": "numpy",
            "LC_ALL": "C",
            "LANG": "C",
            "TZ": ":nowhere/else",
            "PYTHONHASHSEED": "random",
        },
        absolute=True,
    ),
    "runs backwards, C.UTF-8": Cell({"LC_ALL": "C.UTF-8"}, order="backwards"),
    "runs shuffled, NumPy kernels, two workers": Cell({"UNJUDGED_KERNELS": "numpy"}, 2, order="shuffled"),
    "resumed": Cell(resumed=True),
}


class Matrix:
    """The collection, and how a cell is run on it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "c"
        self.runs = sorted(run.name for run in (self.home / "runs").iterdir())

    def ordered(self, order: str) -> list[str]:
        if order == "shuffled":
            return random.Random(7).sample(self.runs, len(self.runs))
        return self.runs[:: -1 if order == "backwards" else 1]

    def words(self, name: str, cell: Cell) -> list[str]:
        """A command with the files' names in it."""
        top = f"{self.home}/" if cell.absolute else "c/"
        given = {
            "QRELS": [f"{top}qrels.txt"],
            "TRUTH": [f"{top}truth.txt"],
            "THIN": [f"{top}thin.txt"],
            "MORE": [f"{top}more.txt"],
            "RUNS": [f"{top}runs/{run}" for run in self.ordered(cell.order)],
            "TEAMS": ["--teams", f"{top}teams.tsv"],
            "NEW": [f"{top}new/new"],
            "OLD": [f"{top}runs/{self.runs[2]}"],
            "OLD-NAME": [self.runs[2]],
            "OTHER-NAME": [self.runs[4]],
        }
        found = [part for word in shlex.split(COMMANDS[name]) for part in given.get(word, [word])]
        if cell.resumed and name.startswith(("study", "paper")):
            found += ["--workdir", f"kept/{list(COMMANDS).index(name)}"]
        return found if name in JOBLESS else [*found, "--jobs", str(cell.jobs)]

    def run(self, name: str, cell: Cell) -> Outcome:
        """All commands in one process, in a folder of their own; the files they write count as commands, too."""
        commands = [command for command in COMMANDS if command != "demo" or cell.demo]
        here = self.folder / name.replace(" ", "-")
        here.mkdir()
        (here / "c").symlink_to(self.home)
        (here / "commands.json").write_text(json.dumps({command: self.words(command, cell) for command in commands}))
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "TZ", "PYTHONHASH", "UNJUDGED"))
        }
        done = subprocess.run(
            [sys.executable, "-c", DRIVER], cwd=here, env=kept | cell.environment, capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()
        found = json.loads((here / "out.json").read_text())
        assert found["kernels"] == ("NumPy" if "UNJUDGED_KERNELS" in cell.environment else kernels.IN_USE)
        if cell.resumed:
            whole = {command for command, units in found["lost"].items() if not units}
            assert not whole, whole  # every study works in units
        outcome: Outcome = {command: tuple(wrote) for command, wrote in found["out"].items()}
        for file in sorted(here.rglob("*")):
            path = file.relative_to(here)
            if file.is_file() and path.parts[0] not in ("c", "kept", "commands.json", "out.json"):
                outcome[f"file {path}"] = (0, file.read_bytes().decode(), "")
        return {
            command: (code, self.in_plain_words(text, cell), self.in_plain_words(notes, cell))
            for command, (code, text, notes) in outcome.items()
        }

    def in_plain_words(self, text: str, cell: Cell) -> str:
        """As if the user had typed the plain cell's command."""
        text = SAID.sub("", text.replace(f"{self.home}/", "c/"))
        given, by_name = (" ".join(f"c/runs/{run}" for run in self.ordered(o)) for o in (cell.order, "by name"))
        return text.replace(given, by_name)


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    """A small collection with ties, short lists, missing topics and negative grades; one run was not pooled."""
    folder = tmp_path_factory.mktemp("determinism")
    made_collection(folder)
    return Matrix(folder)


def made_collection(folder: Path) -> None:
    """Its files."""
    assert main([*COLLECTION.split(), "-o", str(folder / "c")]) == 0
    judged = (folder / "c/qrels.txt").read_text().splitlines(keepends=True)
    (folder / "c/thin.txt").write_text("".join(judged[::4]))  # judgments with holes, for the verb next
    (folder / "c/more.txt").write_text("".join(judged[1::12]))
    topics = sorted({line.split()[0] for line in judged})
    (folder / "c/slices.tsv").write_text(
        "".join(f"{topic}\t{'odd' if at % 2 else 'even'}\n" for at, topic in enumerate(topics))
    )
    (folder / "c/new").mkdir()
    max((folder / "c/runs").iterdir()).rename(folder / "c/new/new")


@pytest.fixture(scope="module")
def plain(matrix: Matrix) -> Outcome:
    """The cell all others are compared with: one thread, no locale, fixed hashes, runs by name."""
    found = matrix.run("plain", Cell({"PYTHONHASHSEED": "0"}, demo=True))
    answers = {"check": (0, 1), "ci": (0, 1, 3)}  # exit codes
    assert {name: err for name, (code, _, err) in found.items() if code not in answers.get(name, (0,))} == {}
    assert [name for name, (_, text, _) in found.items() if text.count("\n") < 2 and not name.startswith("file")] == []
    assert {"file gate.xml", "file heat.json", "file made/qrels.txt", "file shown/trust.html"} <= found.keys()
    return found


def test_every_verb_and_study_is_in_the_matrix() -> None:
    words = [line.split() for line in COMMANDS.values()]
    assert {line[0] for line in words} | LEFT == set(VERBS)
    assert {line[1] for line in words if line[0] == "study"} == set(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", CELLS)
def test_same_bytes(name: str, matrix: Matrix, plain: Outcome) -> None:
    cell = CELLS[name]
    found = matrix.run(name, cell)
    assert {command for command in plain.keys() - found.keys() if cell.demo or not is_demo(command)} == set()
    if cell.order != "by name":
        assert found["score"] != plain["score"]
    assert {command: first for command in found if (first := differing(command, found, plain, cell))} == {}


def is_demo(command: str) -> bool:
    return command == "demo" or command.startswith("file shown/")


def differing(command: str, found: Outcome, plain: Outcome, cell: Cell) -> Any:
    """The first line of a command's output that differs, or its exit code."""
    sort = cell.order != "by name" and AS_GIVEN.match(command)
    lines = [
        [str(code), *(in_any_order(command, text) if sort else text.split("\n")), *notes.split("\n")]
        for code, text, notes in (found[command], plain[command])
    ]
    if lines[0] == lines[1]:
        return None
    return next((pair for pair in zip(*lines, strict=False) if pair[0] != pair[1]), "length")


def in_any_order(command: str, text: str) -> list[str]:
    """The rows of a table sorted; of a table of pairs, with the runs of each pair by name."""
    if command == "score, json":
        return [json.dumps(sorted_lists(json.loads(text)), sort_keys=True)]
    if text.startswith("{") or command == "score, tot":
        return sorted(text.split("\n"))
    head, *rows = text.split("\n")
    names = head.split("\t")
    if {"run_a", "run_b"} <= set(names):
        rows = ["\t".join(turned(dict(zip(names, row.split("\t"), strict=True))).values()) for row in rows if row]
    return [head, *sorted(rows)]


def sorted_lists(thing: Any) -> Any:
    if isinstance(thing, dict):
        return {key: sorted_lists(value) for key, value in thing.items()}
    return sorted(map(sorted_lists, thing), key=json.dumps) if isinstance(thing, list) else thing


def turned(row: dict[str, str]) -> dict[str, str]:
    """A pair as seen from the run whose name comes first: differences change sign, ends and words change places."""
    if row["run_a"] < row["run_b"]:
        return row

    def minus(name: str) -> str:
        number = row[name]
        return number if not number or float(number) == 0 else number[1:] if number[0] == "-" else f"-{number}"

    swapped: dict[str, str] = {
        "run_a": row["run_b"],
        "run_b": row["run_a"],
        **{name: minus(name) for name in ("difference", "effect_size", "estimate") if name in row},
    }
    if "low" in row:
        swapped |= {"low": minus("high"), "high": minus("low")}
    if "estimate_low" in row:
        swapped |= {"estimate_low": minus("estimate_high"), "estimate_high": minus("estimate_low")}
    if "smallest" in row:
        swapped |= {"smallest": minus("largest"), "largest": minus("smallest")}
    if "judges_a" in row:
        swapped |= {"judges_a": row["judges_b"], "judges_b": row["judges_a"]}
    if "wins" in row:
        swapped |= {"wins": row["losses"], "losses": row["wins"]}
    if "unjudged_a" in row:
        swapped |= {"unjudged_a": row["unjudged_b"], "unjudged_b": row["unjudged_a"]}
    if row.get("outcome") in ("better", "worse"):
        swapped["outcome"] = {"better": "worse", "worse": "better"}[row["outcome"]]
    return {name: swapped.get(name, value) for name, value in row.items()}
