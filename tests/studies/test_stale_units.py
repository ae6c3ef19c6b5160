"""Kept units are those of this code: whatever is edited is computed again, and what did not change is not.

The user's file is a measure, helpers and a study. AP is 0.5 on the only topic, so a factor of 0.341 gives 0.1705.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unjudged
from unjudged.studies.engine.fingerprint import fingerprint

USER = '''
import threading

import numpy as np

import helpers
import unjudged as uj
from unjudged.studies import Answer, register

WEIGHTS = [0.341, 5.0]
NAMES = {"one", "two", "three"}


def helper(values):
    """A helper."""
    return values + 0.0


class Shift:
    by = 0.0

    def __call__(self, values):
        return values + self.by


shift = Shift()


def scaled(factor):
    def scale(values):
        return values * factor
    return scale


closed = scaled(1.0)


@uj.measure
def Mine(h, k: int | None = None, turn=lambda v: v + 0.0):
    """My measure."""
    names = 0.0 if "one" in {"one", "two", "three"} and "two" in NAMES else 1.0
    plain = uj.AP.function(h, k=k) * 1.0
    return turn(shift(closed(helper(plain)))) * WEIGHTS[0] + helpers.add() + names


def work(shared, unit, *, more=0.0):
    """One unit."""
    import late

    collection, measure = shared
    return {"mean": np.array(uj.score(collection, measure).values.mean() + more + late.later())}


@register("mine", help="the mean")
def mine(case):
    found = case.run(work, (case.collection, Mine), [1, 2], "mine")
    return Answer(("mean",), [(float(f["mean"]),) for f in found])


if __name__ == "__main__":
    kept = []
    collection = uj.load({"t": {"a": 1, "b": 0}}, {"r": {"t": {"b": 2.0, "a": 1.0}}})
    result = uj.study("mine", collection, workdir="units", jobs=1, progress=lambda *told: kept.append(told[3]))
    print(*(f"{mean:.4f}" for (mean,) in result.rows()), "kept", kept[-1])
'''
HELPERS = """
import deeper


def add():
    return deeper.ZERO
"""
DEEPER = "ZERO = 0.0\n"
LATE = """
def later():
    return 0.0
"""
FILES = {"user.py": USER, "helpers.py": HELPERS, "deeper.py": DEEPER, "late.py": LATE}

EDITS = {
    "a constant of the measure": ("user.py", "h, k=k) * 1.0", "h, k=k) * 3.0"),
    "a list it uses": ("user.py", "WEIGHTS = [0.341", "WEIGHTS = [1.023"),
    "a helper": ("user.py", "return values + 0.0", "return values * 3"),
    "a value in a closure": ("user.py", "scaled(1.0)", "scaled(3.0)"),
    "a lambda as default": ("user.py", "lambda v: v + 0.0", "lambda v: v * 3.0"),
    "a method": ("user.py", "return values + self.by", "return values * 3"),
    "the body of the work function": ("user.py", "measure).values.mean()", "measure).values.mean() * 3"),
    "a keyword default of the work function": ("user.py", "more=0.0", "more=0.341"),
    "a value in another module": ("deeper.py", "0.0", "0.341"),
    "a function in another module": ("helpers.py", "deeper.ZERO", "deeper.ZERO + 0.341"),
    "a module imported inside the function": ("late.py", "return 0.0", "return 0.341"),
}
"""What is edited -> file, text before, text after; each makes 0.5115 of 0.1705."""
NO_EDITS = {
    "nothing": ("user.py", "WEIGHTS", "WEIGHTS"),
    "a docstring": ("user.py", "My measure.", "What I measure."),
    "docstrings of helpers": ("user.py", '"""A helper."""', '"""A helper,\n\n    with more to say."""'),
    "a comment and the lines": ("user.py", "WEIGHTS = ", "\n\n# a comment\nWEIGHTS = "),
    "an import nobody uses": ("user.py", "import threading", "import textwrap"),
    "comments elsewhere": ("late.py", "    return 0.0", '    """Later."""\n    # nothing yet\n    return 0.0'),
}


def lay(folder: Path, file: str = "user.py", before: str = "", after: str = "") -> Path:
    """The user's files, with one edit."""
    folder.mkdir(exist_ok=True)
    for name, text in FILES.items():
        assert name != file or before in text
        (folder / name).write_text(text.replace(before, after, 1) if name == file else text)
    return folder


def run(script: Path, folder: Path, **environment: str) -> str:
    """What the user's script prints, run in a process of its own."""
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run(
        [sys.executable, str(script)], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def in_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The fingerprint of the user's work and measure, loaded from these files."""
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(folder))
        for name in ("helpers", "deeper", "late"):
            patch.delitem(sys.modules, name, raising=False)
        scope: dict[str, Any] = {"__name__": "user"}
        exec(compile((folder / "user.py").read_text(), str(folder / "user.py"), "exec"), scope)
        found = fingerprint(scope["work"], scope["Mine"])
        for name in ("helpers", "deeper", "late"):
            sys.modules.pop(name, None)
        return found


@pytest.fixture(autouse=True)
def no_study_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unjudged.studies.register", lambda *_, **__: lambda function: function)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_changes_the_fingerprint(edit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = in_memory(lay(tmp_path / "a"), monkeypatch)
    assert in_memory(lay(tmp_path / "b", *EDITS[edit]), monkeypatch) != before


@pytest.mark.parametrize("edit", NO_EDITS)
def test_what_computes_nothing_does_not(edit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = in_memory(lay(tmp_path / "a"), monkeypatch)
    assert in_memory(lay(tmp_path / "b", *NO_EDITS[edit]), monkeypatch) == before


@pytest.mark.slow
@pytest.mark.parametrize("edit", ["a list it uses", "the body of the work function", "a value in another module"])
def test_edited_code_is_never_answered_from_the_work_folder(edit: str, tmp_path: Path) -> None:
    folder = lay(tmp_path / "here")
    assert run(folder / "user.py", folder) == "0.1705 0.1705 kept 0"
    lay(folder, *EDITS[edit])
    assert run(folder / "user.py", folder) == "0.5115 0.5115 kept 0"


@pytest.mark.slow
def test_the_same_code_continues_from_anywhere(tmp_path: Path) -> None:
    """From another folder, with another hash seed, with other comments."""
    first, second = lay(tmp_path / "first"), lay(tmp_path / "second", *NO_EDITS["a comment and the lines"])
    assert run(first / "user.py", tmp_path, PYTHONHASHSEED="1") == "0.1705 0.1705 kept 0"
    assert run(second / "user.py", tmp_path, PYTHONHASHSEED="2") == "0.1705 0.1705 kept 2"


@pytest.mark.slow
def test_two_states_of_the_package_do_not_share_units(tmp_path: Path) -> None:
    """Of one version: only a file of the package differs."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(unjudged.__file__).parent, tmp_path / "src" / "unjudged", ignore=ignored)
    folder = lay(tmp_path / "here")
    assert run(folder / "user.py", folder, PYTHONPATH=str(tmp_path / "src")) == "0.1705 0.1705 kept 0"
    assert run(folder / "user.py", folder, PYTHONPATH=str(tmp_path / "src")) == "0.1705 0.1705 kept 2"
    edited = """
    _plain_sum = Hits.sum
    Hits.sum = lambda self, *arguments: 3 * _plain_sum(self, *arguments)
    """
    with (tmp_path / "src" / "unjudged" / "collection" / "hits.py").open("a") as file:
        file.write(textwrap.dedent(edited))
    assert run(folder / "user.py", folder, PYTHONPATH=str(tmp_path / "src")) == "0.5115 0.5115 kept 0"


@pytest.mark.slow
def test_what_has_no_fingerprint_is_refused_for_a_work_folder_alone(tmp_path: Path) -> None:
    lock = ("user.py", "names = 0.0", "names = 0.0 * bool(LOCK) + 0.0")
    folder = lay(tmp_path / "here", *lock)
    text = (folder / "user.py").read_text().replace("WEIGHTS =", "LOCK = threading.Lock()\nWEIGHTS =", 1)
    (folder / "user.py").write_text(text.replace('workdir="units", ', ""))
    assert run(folder / "user.py", folder) == "0.1705 0.1705 kept 0"
    (folder / "user.py").write_text(text)
    with pytest.raises(AssertionError, match=r"UsageError: a work folder cannot keep .*: no fingerprint of a lock"):
        run(folder / "user.py", folder)


# -- things that are taken apart


def made(value: float) -> Callable[[], float]:
    return lambda: value


def test_closures_are_told_apart_by_their_values() -> None:
    assert fingerprint(made(1.0)) == fingerprint(made(1.0)) != fingerprint(made(2.0))


def test_things_inside_themselves_come_to_an_end() -> None:
    first: list[Any] = [1]
    first.append(first)
    second: list[Any] = [1]
    second.append(second)
    assert fingerprint(first) == fingerprint(second) != fingerprint([1, [1]])
