"""The label file: nothing that was said to be saved is lost, whoever writes and whatever happens."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import label_writer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unjudged as uj
from unjudged.errors import InputError, UsageError
from unjudged.holes import labels as module
from unjudged.holes.labels import LABEL, SKIP, UNDO, LabelFile, by_judge, grades, read_labels, told

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""A folder in memory, where syncing costs nothing: a killed program loses what it had not written, wherever that is."""


def writer(*words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, label_writer.__file__, *map(str, words)], stdout=subprocess.PIPE, stderr=sys.stderr, text=True
    )


def said(process: subprocess.Popen[str]) -> list[str]:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return out.splitlines()


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as made:
        yield Path(made)


@pytest.fixture
def file(folder: Path) -> LabelFile:
    return label_writer.labels(str(folder / "labels.sqlite"))


@contextlib.contextmanager
def opened(file: LabelFile) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(file.path)) as connection:
        yield connection


# -- crashes


def test_killed_at_200_random_moments(file: LabelFile) -> None:
    acknowledged = [line.split() for line in said(writer("kill", file.path, 200, 1))]
    kept = {row.doc: row.grade for row in file.rows()}
    assert len(acknowledged) > 200 and {doc: int(grade) for doc, grade in acknowledged}.items() <= kept.items()
    assert len(kept) - len(acknowledged) <= 200, "a child saves at most one label that it cannot tell"
    with opened(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert [row.number for row in file.rows()] == list(range(1, len(kept) + 1))


def test_several_writers_at_once(file: LabelFile) -> None:
    several = [writer("write", file.path, judge, 60) for judge in ("Ann", "Ben", "Ann")]
    numbers = [list(map(int, said(one)[0].split())) for one in several]
    rows = file.rows()
    assert len(rows) == 120, "two writers of one name and the same labels write them once"
    assert set(numbers[1]).isdisjoint({*numbers[0], *numbers[2]}) and numbers[0] == numbers[2]
    assert by_judge(rows)["Ann"] == by_judge(rows)["Ben"] == {"1": {f"d{n}": n % 2 for n in range(60)}}


def test_no_room_left(file: LabelFile) -> None:
    sentence, many = said(writer("full", file.path, 40_000))
    assert sentence.endswith("labels.sqlite: the disk could not be written or read; nothing was saved")
    assert int(many) > 20 and [row.doc for row in file.rows()] == [f"document {n}" for n in range(int(many))]
    assert file.add("Ann", "1", "after", 0).number == int(many) + 1


def test_the_disk_is_full(file: LabelFile, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        file.add("Ann", "1", f"d{number}", 1)
    connect = module.connect

    def small(path: str, mode: str) -> sqlite3.Connection:
        connection = connect(path, mode)
        connection.execute("PRAGMA max_page_count = 1")  # SQLite takes as many pages as there are
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(module, "connect", small)
        with pytest.raises(InputError, match=r"labels\.sqlite: the disk is full; nothing was saved"):
            for number in range(500):
                file.add("Ann", "1", f"more {number}", 1)
    before = len(file.rows())
    assert 50 <= before < 550 and file.add("Ann", "1", "after", 1).number == before + 1


def test_a_read_only_file(file: LabelFile, folder: Path) -> None:
    file.add("Ann", "1", "a", 1)
    Path(file.path).chmod(0o444)
    folder.chmod(0o555)
    try:
        saving, checking, many = said(writer("read-only", file.path))
    finally:
        folder.chmod(0o755)
    assert saving == f"{file.path}: the label file is read-only; nothing was saved"
    assert checking == f"{file.path}: the label file is read-only" and many == "1"


def test_another_program_holds_it(file: LabelFile, monkeypatch: pytest.MonkeyPatch) -> None:
    file.add("Ann", "1", "a", 1)
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    with opened(file) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InputError, match="another program holds the label file; nothing was saved"):
            file.add("Ann", "1", "b", 1)
    assert file.add("Ann", "1", "b", 1).number == 2


# -- whose file it is


def test_a_file_of_another_collection(file: LabelFile, folder: Path) -> None:
    file.add("Ann", "1", "a", 1)
    for other in ({"1": {"a": 0, "b": 0}}, {"1": {"a": 1}}, {"1": {"a": 1, "b": 0}, "2": {"a": 1}}):
        theirs = LabelFile(file.path, uj.load(other, {"run": {"1": {"a": 2.0}}}).judgments)
        for work in (theirs.check, theirs.rows, lambda theirs=theirs: theirs.add("Ann", "1", "a", 1)):
            with pytest.raises(InputError, match=r"these are labels of other judgments \(.*: 1 topic, 2 judgments\)"):
                work()
    assert len(file.rows()) == 1
    (folder / "q.txt").write_text("1 0 b 0\n1 0 a 1\n")
    reordered = uj.load(str(folder / "q.txt"), {"run": {"1": {"a": 2.0}}})
    assert LabelFile(file.path, reordered.judgments).rows() == file.rows(), "order and place of the file do not count"


def test_a_file_that_is_none(file: LabelFile) -> None:
    Path(file.path).write_text("1 0 a 1\n" * 100)
    with pytest.raises(InputError, match="this is no label file"):
        file.check()
    with pytest.raises(InputError, match="this is no label file; nothing was saved"):
        file.add("Ann", "1", "a", 1)
    Path(file.path).unlink()
    with opened(file) as connection:
        connection.execute("CREATE TABLE mine (x)")
    with pytest.raises(InputError, match="a database of another program"):
        file.add("Ann", "1", "a", 1)
    with pytest.raises(InputError, match="not a label file"):
        read_labels(file.path)
    with opened(file) as connection:
        assert [name for (name,) in connection.execute("SELECT name FROM sqlite_master")] == ["mine"]


def test_a_file_of_a_newer_version(file: LabelFile) -> None:
    file.add("Ann", "1", "a", 1)
    with opened(file) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(InputError, match="newer version"):
        file.rows()


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM collection",
        "UPDATE collection SET topics = 'many'",
        "DROP TABLE label",
        "UPDATE label SET judge = x'ff00'",
        "UPDATE label SET judge = 'a' || char(27) || '[2J'",
        "UPDATE label SET topic = 1.5",
        "UPDATE label SET document = ''",
        "UPDATE label SET grade = 1.5",
        "UPDATE label SET grade = -1",
        "UPDATE label SET grade = 1000000001",
        "UPDATE label SET grade = 'many'",
        "UPDATE label SET kind = 'other'",
        "UPDATE label SET grade = NULL",
        "UPDATE label SET judge = CAST(x'ff41' AS TEXT)",
        "DROP TABLE label; CREATE VIEW label AS WITH RECURSIVE n(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM "
        "n) SELECT number, 't' time, 'j' judge, '1' topic, 'd' document, 'label' kind, 1 grade FROM n",
    ],
)
def test_rows_of_another_program_are_a_sentence(file: LabelFile, change: str) -> None:
    file.add("Ann", "1", "a", 1)
    with opened(file) as connection:
        connection.executescript("DROP TRIGGER no_change; DROP TRIGGER no_loss; PRAGMA ignore_check_constraints = 1")
        connection.executescript(change)
    again = label_writer.labels(file.path)
    with pytest.raises(InputError, match="label file") as told:
        again.rows()
    assert told.value.source == file.path
    if "collection" not in change:  # which judgments they are of does not matter here
        with pytest.raises(InputError, match="label file"):
            read_labels(file.path)


def test_notes_of_another_program_are_a_sentence(file: LabelFile) -> None:
    file.note("Ann", "1", "a", "said")
    with opened(file) as connection:
        connection.executescript("UPDATE note SET text = x'ff00'")
    with pytest.raises(InputError, match="a note of this label file"):
        file.notes()


def test_a_file_that_went_away(file: LabelFile, folder: Path) -> None:
    assert file.rows() == [] and not Path(file.path).exists(), "looking makes no file"
    file.check()
    file.add("Ann", "1", "a", 1)
    Path(file.path).rename(folder / "elsewhere.sqlite")
    with pytest.raises(InputError, match="cannot be opened"):
        file.add("Ann", "1", "b", 1)
    with pytest.raises(InputError, match="cannot be opened"):
        file.rows()
    assert not Path(file.path).exists()
    with pytest.raises(InputError, match="make the folder"):
        label_writer.labels(str(folder / "no" / "labels.sqlite")).check()


# -- what the rows say


def test_rows_are_only_added(file: LabelFile) -> None:
    first = file.add("Ann", "1", "a", 1)
    assert file.add("Ann", "1", "a", 1) == first, "said twice because the answer was lost"
    again = file.add("Ann", "1", "a", 2)
    back = file.undo("Ann", again.number)
    passed = file.skip("Ann", "1", "b")
    assert [(row.number, row.kind, row.grade) for row in file.rows()] == [
        (1, LABEL, 1), (2, LABEL, 2), (3, UNDO, None), (4, SKIP, None)
    ]  # fmt: skip
    assert (back.topic, back.doc, passed.doc) == ("1", "a", "b") and file.rows(after=3) == [passed]
    assert grades(file.rows()) == {}
    for number in (first.number, again.number, back.number, 99):
        with pytest.raises(UsageError, match=r"changed meanwhile|nothing to take back"):
            file.undo("Ann", number)
    with pytest.raises(UsageError, match="nothing to take back"):
        file.undo("Ben", passed.number)
    assert all(row.time.endswith("+00:00") and row.time[:2] == "20" for row in file.rows())
    for change in ("UPDATE label SET grade = 3", "DELETE FROM label"):
        with opened(file) as connection, pytest.raises(sqlite3.IntegrityError, match="labels are only added"):
            connection.execute(change)
    for name in ("", "   ", "x" * 61, "a\nb"):
        with pytest.raises(UsageError, match="1 to 60 printable characters"):
            file.add(name, "1", "a", 1)


def test_how_it_is_written(file: LabelFile, monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction a label, synced, in a rollback journal: one file when nobody writes."""
    said: list[str] = []
    connect = module.connect

    def listening(path: str, mode: str) -> sqlite3.Connection:
        connection = connect(path, mode)
        connection.set_trace_callback(said.append)
        return connection

    monkeypatch.setattr(module, "connect", listening)
    file.add("Ann", "1", "a", 1)
    begin, inserted, commit = (said.index(one) for one in ("BEGIN IMMEDIATE", said[-2], "COMMIT"))
    assert begin < inserted < commit == len(said) - 1 and said[inserted].startswith("INSERT INTO label")
    assert {"PRAGMA journal_mode = DELETE", "PRAGMA synchronous = EXTRA"} <= set(said[:begin])
    assert [path.name for path in Path(file.path).parent.iterdir()] == ["labels.sqlite"]


def test_judges_who_differ(file: LabelFile) -> None:
    for judge, labels in (("Ben", (2, 0, 1)), ("Ann", (1, 0, 1)), ("Cyd", (1, 3))):
        for doc, grade in zip("abc", labels, strict=False):
            file.add(judge, "1", doc, grade)
    rows = file.rows()
    assert list(by_judge(rows)) == ["Ben", "Ann", "Cyd"]
    assert grades(rows) == {"1": {"a": 1, "b": 0, "c": 1}}
    assert grades(rows, "max") == {"1": {"a": 2, "b": 3, "c": 1}}
    assert grades(rows, "agreed") == {}, "Cyd has not judged c"
    assert grades(rows, judge="Cyd") == {"1": {"a": 1, "b": 3}} and grades(rows, judge="Dan") == {}
    assert grades(rows[:4]) == {"1": {"a": 2, "b": 0, "c": 1}}, "a tie goes to Ben, who began"
    two = [row for row in rows if (row.judge, row.doc) in (("Ben", "a"), ("Ann", "b"))]
    assert grades(two) == {"1": {"a": 2, "b": 0}}, "of two judges, both count"
    assert told(rows) == [
        "3 labels by Ben, Ann, Cyd",
        "3 documents judged by several, 2 differently: majority decides (a tie: the judge who began first)",
    ]
    assert told([]) == ["no labels yet"]
    assert told(two) == ["2 labels by Ben, Ann"], "nobody has judged what another has"
    with pytest.raises(UsageError, match="unknown rule 'most'"):
        grades(rows, "most")


def test_ids_that_sqlite_cannot_hold_as_text(file: LabelFile) -> None:
    odd = {"a\0b": 1, "\udcff": 0, "ü": 1}
    for doc, grade in odd.items():
        file.add("Ann", "1", doc, grade)
    assert grades(file.rows()) == {"1": odd}


IDS = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1),  # type: ignore[arg-type]
    st.binary(min_size=1).map(lambda raw: raw.decode("utf-8", "surrogateescape")),
)


@settings(max_examples=40)
@given(st.dictionaries(IDS, st.integers(0, 9), min_size=1, max_size=4))
def test_any_id_comes_back(said: dict[str, int]) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        file = label_writer.labels(f"{folder}/l.sqlite")
        for doc, grade in said.items():
            file.add("Ann", "1", doc, grade)
        assert grades(file.rows()) == {"1": said}
        assert [row.doc for row in read_labels(file.path)] == list(said)
