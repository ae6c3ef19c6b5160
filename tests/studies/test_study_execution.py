"""Work units: the same values wherever they run, whoever is lost, and after any interruption."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unjudged as uj
from unjudged.errors import InputError, UsageError
from unjudged.studies.engine import execution
from unjudged.studies.engine.fingerprint import fingerprint
from unjudged.studies.engine.workdir import Workdir

UNITS = list(range(12))


class Inputs:
    """Shared inputs that leave a mark in a folder wherever they are unpacked."""

    def __init__(self, folder: str) -> None:
        self.folder, self.numbers = folder, np.arange(1000.0)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        with (Path(self.folder) / f"unpacked-{os.getpid()}").open("a") as file:
            file.write("x")


def add(shared: Inputs, unit: int) -> dict[str, Any]:
    return {"sum": shared.numbers[: unit + 1].sum(), "unit": np.array([unit])}


def add_or_die_once(shared: Inputs, unit: int) -> dict[str, Any]:
    """The first process that meets unit 5 is killed."""
    if unit == 5:
        try:
            os.close(os.open(Path(shared.folder) / "died", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return add(shared, unit)


def always_die(shared: Inputs, unit: int) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def refuse(shared: Inputs, unit: int) -> dict[str, Any]:
    raise UsageError(f"unit {unit} is refused")


def values(
    work: Callable[..., Any], folder: Path, executor: Executor | None = None, jobs: int | None = 1
) -> list[tuple[float, int]]:
    shared = Inputs(str(folder))
    found = dict(execution.run_units(work, shared, UNITS, "key of " + str(folder), executor=executor, jobs=jobs))
    assert sorted(found) == UNITS
    return [(float(found[i]["sum"]), int(found[i]["unit"][0])) for i in UNITS]


EXPECTED = [(float(sum(range(i + 1))), i) for i in UNITS]


@pytest.mark.parametrize("jobs", [None, 1, 2, 4])
def test_local_work_gives_the_same_values(jobs: int | None, tmp_path: Path) -> None:
    assert values(add, tmp_path, jobs=jobs) == EXPECTED


def test_slow_work_goes_to_processes_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for least, started in ((float("inf"), False), (-1.0, True)):
        monkeypatch.setattr(execution, "_WORTH_PROCESSES", least)
        assert values(add, tmp_path, jobs=None) == EXPECTED
        assert bool(list(tmp_path.glob("unpacked-*"))) == (started and execution.cores() > 1)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_gives_the_same_values(kind: Any, tmp_path: Path) -> None:
    with kind(2) as executor:
        assert values(add, tmp_path, executor) == EXPECTED


def test_inputs_travel_once_per_process_not_per_unit(tmp_path: Path) -> None:
    assert values(add, tmp_path, jobs=3) == EXPECTED
    marks = [path.read_text() for path in tmp_path.glob("unpacked-*")]
    assert 1 <= len(marks) <= 3
    assert all(mark == "x" for mark in marks)


class Counting(Executor):
    """An executor of unknown kind: runs at once, counts how often the inputs came along."""

    def __init__(self) -> None:
        self.sent = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.sent += sum(isinstance(a, bytes) for a in args)
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_an_unknown_executor_gets_the_inputs_with_the_first_unit_only(tmp_path: Path) -> None:
    counting = Counting()
    assert values(add, tmp_path, counting) == EXPECTED
    assert counting.sent == 1


class Forgetful(Counting):
    """Its worker starts without inputs after the first unit, as a new machine would."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        execution._held.clear()
        return super().submit(fn, *args, **kwargs)


def test_a_worker_that_joins_late_gets_the_inputs_too(tmp_path: Path) -> None:
    assert values(add, tmp_path, Forgetful()) == EXPECTED


def test_units_of_a_lost_process_run_again(tmp_path: Path) -> None:
    assert values(add_or_die_once, tmp_path, jobs=2) == EXPECTED
    assert (tmp_path / "died").exists()


def test_a_broken_executor_does_not_stop_the_work(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2) as executor:
        assert values(add_or_die_once, tmp_path, executor) == EXPECTED


def test_workers_that_always_die_are_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"lost 3 times in a row.*more memory"):
        values(always_die, tmp_path, jobs=2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_refused_unit_is_not_tried_again(jobs: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is refused"):
        values(refuse, tmp_path, jobs=jobs)


# -- fingerprints


def test_fingerprints_tell_things_apart() -> None:
    alike = [
        (1, "1", 1.0, True, b"1", None, "None", np.float64(1), [1], (1,)),
        (np.arange(3), np.arange(3.0), np.arange(3, dtype=np.int32), np.arange(3).reshape(1, 3)),
        (["ab", "c"], ["a", "bc"], ["abc"], {"ab": "c"}, [["ab"], "c"]),
        (uj.AP, uj.AP(rel=2), uj.AP @ 10),
    ]
    for group in alike:
        assert len({fingerprint(thing) for thing in group}) == len(group)
    assert fingerprint({"a": np.arange(3)}, "x") == fingerprint({"a": np.arange(3)}, "x")
    for nothing in (threading.Lock(), (i for i in range(0)), [threading.Lock()]):
        with pytest.raises(TypeError, match=r"no fingerprint of a (lock|generator)"):
            fingerprint(nothing)


def test_a_fingerprint_is_the_same_in_another_process() -> None:
    code = "import numpy as np; from unjudged.studies.engine.fingerprint import fingerprint as f; "
    code += "import unjudged as uj; print(f({'a': (1, 2.5, None)}, np.arange(4), uj.nDCG @ 10, 'x'))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == fingerprint({"a": (1, 2.5, None)}, np.arange(4), uj.nDCG @ 10, "x")


# -- the work folder

INPUTS = {"collection": {"judgments": "1", "runs": "2"}}


def test_a_unit_survives_and_a_damaged_one_does_not(tmp_path: Path) -> None:
    work = Workdir(tmp_path / "w", INPUTS)
    value = {"a": np.arange(5.0), "b": np.array([[True, False]])}
    work.keep("k", value)
    again = Workdir(tmp_path / "w", INPUTS)
    found = again.load("k")
    assert found is not None and found["a"].tolist() == [0, 1, 2, 3, 4] and found["b"].tolist() == [[True, False]]
    assert again.load("other") is None
    path = next((tmp_path / "w" / "units").iterdir())
    whole = path.read_bytes()
    for damaged in (whole[:-1], b"", whole[:40], whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]):
        path.write_bytes(damaged)
        assert again.load("k") is None
    assert again.damaged == 4
    path.write_bytes(whole)
    assert again.load("k") is not None


def test_units_that_zip_or_numpy_cannot_read_are_redone(tmp_path: Path) -> None:
    """Each complains in its own way, of which one list of exceptions named five."""
    work = Workdir(tmp_path / "w", INPUTS)
    work.keep("k", {"a": np.zeros(3)})
    path = next((tmp_path / "w" / "units").iterdir())
    _, _, good = path.read_bytes().split(b"\n", 2)
    local, listed = good.index(b"PK\3\4"), good.index(b"PK\1\2")

    def marked(first: int, second: int, value: int) -> bytes:
        made = bytearray(good)
        made[local + first] = made[listed + second] = value
        return bytes(made)

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", np.random.default_rng(0).bytes(500))
    broken = bytearray(packed.getvalue())
    broken[60:90] = b"\xff" * 30
    bad = [
        marked(6, 8, 1),  # encrypted
        marked(8, 10, 99),  # packed in an unknown way
        bytes(broken),
        *(with_array(np.lib.format.magic(1, 0) + b"\x76\0" + head.ljust(118)) for head in (
            b"{'descr': '<f8', 'fortran_order': False, 'shape': (3000000000000,), }", b"{['descr': '<f8'", b"(" * 118
        )),
    ]  # fmt: skip
    again = Workdir(tmp_path / "w", INPUTS)
    for body in bad:
        path.write_bytes(b"unjudged unit 1\n" + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        assert again.load("k") is None
    assert again.damaged == len(bad)


def with_array(data: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("a.npy", data)
    return held.getvalue()


@pytest.mark.parametrize("forged", ["other names", "nothing", "other shapes", "texts"])
@pytest.mark.parametrize("study", ["agreement", "leave-team-out"])
def test_units_of_another_content_with_the_right_checksum_are_redone(
    study: str, forged: str, tiny: uj.Collection, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"measures": "AP,P@5", "workdir": tmp_path / "w", "jobs": 1}
    expected = uj.study(study, tiny, **asked)
    units = sorted((tmp_path / "w" / "units").iterdir())
    for path in units:
        _, _, body = path.read_bytes().split(b"\n", 2)
        with np.load(io.BytesIO(body)) as arrays:
            names = list(arrays)
        made: dict[str, dict[str, Any]] = {
            "other names": {"x": np.arange(3)},
            "nothing": {},
            "other shapes": {name: np.zeros(2) for name in names},
            "texts": {name: np.array(["a", "b"]) for name in names},
        }
        held = io.BytesIO()
        np.savez(held, **made[forged])
        body = held.getvalue()
        path.write_bytes(b"unjudged unit 1\n" + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    again = uj.study(study, tiny, **asked)
    assert list(again.rows()) == list(expected.rows()) and again.verdict == expected.verdict
    assert any("damaged work units were redone" in note for note in again.notes), again.notes
    assert not any("damaged" in note for note in uj.study(study, tiny, **asked).notes)


def test_an_error_of_the_study_itself_is_not_laid_on_the_work_folder(
    tiny: uj.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unjudged.studies import agreement

    asked: dict[str, Any] = {"measures": "AP,P@5", "workdir": tmp_path / "w", "jobs": 1}
    uj.study("agreement", tiny, **asked)

    def broken(*_: Any) -> Any:
        raise KeyError("a mistake of ours")

    monkeypatch.setattr(agreement, "combinations", broken)
    with pytest.raises(KeyError, match="a mistake of ours"):
        uj.study("agreement", tiny, **asked)


def test_a_unit_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("v", "w"):
        Workdir(tmp_path / name, INPUTS).keep("k", {"a": np.arange(5.0)})
    first, second = (next((tmp_path / n / "units").iterdir()).read_bytes() for n in ("v", "w"))
    assert first == second


def test_a_work_folder_belongs_to_its_inputs(tmp_path: Path) -> None:
    Workdir(tmp_path, INPUTS).keep("k", {"a": np.arange(2)})
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    other = {"collection": {"judgments": "1", "runs": "3"}}
    with pytest.raises(UsageError, match="holds units of other runs; give another folder"):
        Workdir(tmp_path, other)
    with pytest.raises(UsageError, match="other collections"):
        Workdir(tmp_path, {**INPUTS, "second": {}})
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
    (tmp_path / "inputs.json").write_text("[]")
    with pytest.raises(UsageError, match="not the list of inputs"):
        Workdir(tmp_path, INPUTS)
    (tmp_path / "inputs.json").unlink()
    with pytest.raises(UsageError, match="does not say whose units"):
        Workdir(tmp_path, INPUTS)


def test_a_work_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="the work folder cannot be made"):
        Workdir(tmp_path / "file" / "w", INPUTS)


def test_a_full_disk_is_told_and_nothing_half_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Workdir(tmp_path, INPUTS)
    work.keep("first", {"a": np.arange(3)})

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"\(No space left.*finished units are kept: free some"):
        work.keep("second", {"a": np.arange(3)})
    monkeypatch.undo()
    assert len(list((tmp_path / "units").iterdir())) == 1
    assert work.load("first") is not None and work.load("second") is None
    assert json.loads((tmp_path / "inputs.json").read_text())["inputs"] == INPUTS
