"""One file and one line: one of everything that can be added, in a copy of the package, and used there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import unjudged

pytestmark = pytest.mark.slow

FILES = {
    "measures/firsts.py": '''"""Firsts: is the first document relevant?"""

from unjudged.collection import Cells, Hits
from unjudged.measures._measure import measure


@measure(family="precision")
def Firsts(h: Hits, rel: int = 1) -> Cells:
    """1 where the document at rank 1 is relevant, else 0."""
    return h.relevant(rel).top(1).count()
''',
    "io/pipes.py": '''"""Judgments with bars: `topic|doc|grade`."""

from unjudged.io import files
from unjudged.io.columns import Judged, lines
from unjudged.io.trec import QrelsTable, Reading


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns."""
    rows = Judged(files.source_name(path), reading)
    for number, line in lines(path):
        topic, doc, grade = line.strip().split("|")
        rows.add(topic, doc, int(grade), None, number)
    return rows.table()
''',
    "changes/without_grade.py": '''"""Judgments of one grade taken away."""

from unjudged.collection import Collection
from unjudged.collection.history import change


@change
def without_grade(collection: Collection, grade: int) -> Collection:
    """Judgments of one grade taken away."""
    return collection.keeping(collection.judgments.grade != grade, f"without grade {grade}")
''',
    "figures/bars.py": '''"""A bar per run."""

from unjudged.figures._figure import Figure
from unjudged.figures.records import records
from unjudged.results import Result


def bars(result: Result) -> Figure:
    """A bar per run."""
    return Figure({"description": "A bar per run.", "data": {"values": records(result)}, "mark": "bar", "encoding": {}})
''',
    "studies/firsts.py": '''"""How often is the first document relevant?"""

import numpy as np

from unjudged.figures.bars import bars
from unjudged.scoring import score
from unjudged.studies.engine.answer import Answer
from unjudged.studies.engine.case import Case
from unjudged.studies.engine.study import register
from unjudged.studies.engine.workdir import Arrays


def one_run(collection, run: int) -> Arrays:
    """One work unit."""
    return {"mean": np.array(score(collection, "Firsts").mean_values()[run, 0])}


@register("firsts", help="how often the first document is relevant", figures={"": ("bars",)})
def firsts(case: Case, *, least: float = 0.0) -> Answer:
    """How often is the first document relevant?"""
    values = case.run(one_run, case.collection.alone(), range(len(case.runs)), "runs")
    rows = [(run, float(v["mean"])) for run, v in zip(case.runs, values) if v["mean"] >= least]
    verdict = case.limits["first-hits"].verdict("the best run", max(value for _, value in rows))
    return Answer(("run", "value"), rows, verdict, figures={"bars": bars})
''',
    "cli/hello.py": '''"""Say hello."""

HELP = "say hello"


def add_arguments(parser) -> None:
    """No arguments."""


def run(args) -> int:
    """Say it."""
    print("hello")
    return 0
''',
}
LINES = {
    "measures/__init__.py": ("    cumulated_gain,\n", "    cumulated_gain,\n    firsts,\n"),
    "io/formats.py": (
        '    "trec": Format("trec"),\n',
        '    "pipes": Format("pipes", lambda h: h.line.count(b"|") == 2),\n    "trec": Format("trec"),\n',
    ),
    "__init__.py": (
        "    from unjudged.changes.take import take as take\n",
        "    from unjudged.changes.take import take as take\n"
        "    from unjudged.changes.without_grade import without_grade as without_grade\n",
    ),
    "studies/engine/study.py": ('        "compare",\n', '        "firsts",\n        "compare",\n'),
    "studies/questions.py": (
        "    for question in (\n",
        "    for question in (\n"
        '        Question("first-hits", "Is the first one right?", "firsts", "One bar per run."),\n',
    ),
    "thresholds.toml": (
        "[contents]\n",
        '[first-hits]\nwhat = "firsts"\nunit = "share"\nbetter = "higher"\nsolid = 0.9\ncare = 0.5\n'
        'source = "ours"\n\n[contents]\n',
    ),
    "cli/__init__.py": ('("report", "score", ', '("report", "score", "hello", '),
}
USE = """
import json, sys
import unjudged as uj
assert uj.__file__.startswith(sys.argv[1]), uj.__file__
runs = {"a": {"1": {"x": 2.0, "y": 1.0}, "2": {"y": 1.0}}, "b": {"1": {"y": 2.0}, "2": {"x": 3.0, "y": 1.0}}}
c = uj.load("qrels", runs)
less = uj.without_grade(c, 2)
again = less.with_ties("file")
made = uj.study("first-hits", c, workdir="kept")
from unjudged.reporting.sections import Asking
from unjudged.reporting import Settings
from unjudged.thresholds import default_thresholds
section = Asking(c, Settings(), default_thresholds()).section("first-hits")
print(json.dumps({
    "measure": uj.score(c, "Firsts").mean_values()[:, 0].tolist(),
    "change": [str(step) for step in less.history], "replayed": len(again.judgments),
    "study": list(made.rows()), "word": made.verdict.word, "asked": section.verdict.word, "question": section.question,
    "figure": section.plot().description, "known": "firsts" in __import__("unjudged.studies", fromlist=["x"]).known(),
}))
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with one of each in it."""
    root = tmp_path_factory.mktemp("copy")
    shutil.copytree(Path(unjudged.__file__).parent, root / "unjudged", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in FILES.items():
        (root / "unjudged" / name).write_text(text, "utf-8")
    for name, (old, new) in LINES.items():
        file = root / "unjudged" / name
        text = file.read_text("utf-8")
        assert text.count(old) == 1, f"{name}: {old!r} stands there {text.count(old)} times"
        file.write_text(text.replace(old, new), "utf-8")
        assert new.count("\n") - old.count("\n") <= (9 if name.endswith(".toml") else 1)
    (root / "qrels").write_text("1|x|1\n1|y|0\n2|x|2\n2|y|1\n")
    return root


def called(package: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run([sys.executable, *words], cwd=package, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_of_each_works(package: Path) -> None:
    found = json.loads(called(package, "-c", USE, str(package)))
    assert found["measure"] == [1.0, 0.5]
    assert found["change"] == ["without grade 2: 1 of 4 judgments taken away"] and found["replayed"] == 3
    assert found["study"] == [["a", 1.0], ["b", 0.5]] and found["known"]
    assert found["word"] == found["asked"] == "solid" and found["question"] == "Is the first one right?"
    assert found["figure"] == "A bar per run."


def test_the_command_line_knows_them(package: Path) -> None:
    assert called(package, "-m", "unjudged", "hello") == "hello\n"
    assert "how often the first document is relevant" in called(package, "-m", "unjudged", "study", "--help")
    assert "--least" in called(package, "-m", "unjudged", "study", "firsts", "--help")
    assert "1 where the document at rank 1" in called(package, "-m", "unjudged", "explain", "Firsts")
