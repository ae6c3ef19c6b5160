"""The label file: what judges said, row after row, in one SQLite file that a crash cannot harm.

A label is on disk before `add` returns: one transaction a label, in a rollback journal with `synchronous=EXTRA` (FULL,
and the folder is synced, too). Not a write-ahead log: that keeps the last labels in a second file, which a copy of the
first would miss, and does not work on network folders; a judge gives a label a second, so speed does not matter.
Rows are only added: a change of mind, a skip and an undo are rows of their own. Of each judge the latest row on a
document counts. A file belongs to the judgments it was begun with.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from unjudged.changes.merge import RULES
from unjudged.changes.rejudge import judgments_of
from unjudged.collection import Judgments
from unjudged.collection.aligned import align
from unjudged.errors import InputError, UsageError, one_of
from unjudged.io.ids import to_bytes, to_text
from unjudged.text import counted

LABEL, SKIP, UNDO = "label", "skip", "undo"
MAGIC = b"SQLite format 3"
APPLICATION, VERSION = 0x756A6C62, 1
"""What SQLite's header says of a file of ours: `ujlb`, and the form of its tables."""
PATIENCE = 10.0
"""Seconds to wait for another program that is writing."""
LONGEST_NAME, LONGEST_NOTE = 60, 2000
HIGHEST = 1_000_000_000
"""The highest grade, as in judgments."""

Grades = Mapping[str, Mapping[str, int]]
"""Topic -> document -> grade."""

_TABLES = (
    """CREATE TABLE collection (
    fingerprint TEXT NOT NULL, source TEXT NOT NULL, topics INTEGER NOT NULL, judgments INTEGER NOT NULL)""",
    """CREATE TABLE label (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time TEXT NOT NULL,
    judge TEXT NOT NULL,
    topic NOT NULL,
    document NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('label', 'skip', 'undo')),
    grade INTEGER CHECK ((kind = 'label') = (grade IS NOT NULL)))""",
    "CREATE INDEX of_judge ON label (judge, topic, document)",
    "CREATE TRIGGER no_change BEFORE UPDATE ON label BEGIN SELECT RAISE(ABORT, 'labels are only added'); END",
    "CREATE TRIGGER no_loss BEFORE DELETE ON label BEGIN SELECT RAISE(ABORT, 'labels are only added'); END",
)
_NOTES = """CREATE TABLE IF NOT EXISTS note (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time TEXT NOT NULL, judge TEXT NOT NULL, topic NOT NULL, document NOT NULL, text TEXT NOT NULL)"""
"""Made with the first note: a file without notes is as it always was."""
_COLUMNS = "number, time, judge, topic, document, kind, grade"


@dataclass(frozen=True)
class Row:
    """What a judge did: gave a label (with its grade), skipped a document, or took one of these back."""

    number: int
    time: str
    judge: str
    topic: str
    doc: str
    kind: str
    grade: int | None


@dataclass(frozen=True)
class Note:
    """What a judge wrote about a document."""

    time: str
    judge: str
    topic: str
    doc: str
    text: str


class LabelFile:
    """The labels of one collection in a file, which appears with the first label.

    Every call opens the file anew, so that threads, browsers and other programs can share it, and a file that was
    moved away is noticed. Trouble is an `InputError` of one sentence; then nothing was saved.
    """

    def __init__(self, path: str | os.PathLike[str], judgments: Judgments) -> None:
        if judgments.group is not None:
            raise UsageError("answer classes cannot be judged document by document")
        self.path = os.fspath(path)
        self._own = _Identity.of(judgments)
        self._seen = False

    def check(self) -> None:
        """Refuse a file that cannot take labels of this collection; a missing one is fine if its folder can be used."""
        from unjudged.io.write import refuse_unwritable

        if not Path(self.path).exists():
            refuse_unwritable(self.path)
            return
        if not os.access(self.path, os.W_OK) or not os.access(Path(self.path).absolute().parent, os.W_OK):
            raise InputError("the label file is read-only", self.path)
        self.rows()

    def add(self, judge: str, topic: str, doc: str, grade: int) -> Row:
        """Save a label; it is on disk when this returns. The same label again adds nothing."""
        return self._append(_name(judge), topic, doc, LABEL, grade)

    def skip(self, judge: str, topic: str, doc: str) -> Row:
        """Save that a judge would not judge a document now."""
        return self._append(_name(judge), topic, doc, SKIP, None)

    def undo(self, judge: str, number: int) -> Row:
        """Take a label or a skip of this judge back: a new row; the old one stays in the file."""
        name = _name(judge)
        if not self.rows():
            raise UsageError("there is nothing to take back")
        with self._open(write=True) as file:
            found = file.execute(f"SELECT {_COLUMNS} FROM label WHERE number = ?", (number,)).fetchone()
            row = None if found is None else _row(found, self.path)
            if row is None or row.judge != name or row.kind == UNDO:
                raise UsageError("there is nothing to take back")
            if self._latest(file, name, row.topic, row.doc) != row:
                raise UsageError("this label was changed meanwhile; reload the page")
            return _insert(file, name, row.topic, row.doc, UNDO, None)

    def note(self, judge: str, topic: str, doc: str, text: str) -> Note:
        """Save a note about a document, on one line; the last one of a judge counts, an empty one takes it away."""
        name, said = _name(judge), " ".join(text.split())
        if len(said) > LONGEST_NOTE or not said.isprintable():
            raise UsageError(f"a note has at most {LONGEST_NOTE:,} printable characters")
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self._open(write=True) as file:
            file.execute(_NOTES)
            file.execute(
                "INSERT INTO note (time, judge, topic, document, text) VALUES (?, ?, ?, ?, ?)",
                (time, name, _stored(topic), _stored(doc), said),
            )
        return Note(time, name, topic, doc, said)

    def notes(self) -> list[Note]:
        """The note of every judge on every document, those that count, in the order of their first ones."""
        if not self._seen and not Path(self.path).exists():
            return []
        with self._open(write=False) as file:
            there = file.execute("SELECT count(*) FROM sqlite_master WHERE name = 'note'").fetchone()[0]
            query = "SELECT time, judge, topic, document, text FROM note ORDER BY number"
            found = file.execute(query).fetchall() if there else []
        kept: dict[tuple[str, str, str], Note] = {}
        for time, judge, topic, doc, text in found:
            names = [to_text(one) if isinstance(one, bytes) else one for one in (topic, doc)]
            if not all(isinstance(one, str) for one in (time, judge, *names, text)):
                raise InputError("a note of this label file is none of ours; another program changed it", self.path)
            kept[judge, names[0], names[1]] = Note(time, judge, names[0], names[1], text)
        return [note for note in kept.values() if note.text]

    def rows(self, after: int = 0) -> list[Row]:
        """Everything that was done, in its order; only what came after a number of row, if one is given."""
        if not self._seen and not Path(self.path).exists():
            return []
        with self._open(write=False) as file:
            if not self._seen:
                return []
            found = file.execute(f"SELECT {_COLUMNS} FROM label WHERE number > ? ORDER BY number", (after,))
            return [_row(one, self.path) for one in found.fetchall()]

    def _append(self, judge: str, topic: str, doc: str, kind: str, grade: int | None) -> Row:
        with self._open(write=True) as file:
            before = self._latest(file, judge, topic, doc)
            if before is not None and (before.kind, before.grade) == (kind, grade):
                return before  # the answer to the first time was lost
            return _insert(file, judge, topic, doc, kind, grade)

    def _latest(self, file: sqlite3.Connection, judge: str, topic: str, doc: str) -> Row | None:
        found = file.execute(
            f"SELECT {_COLUMNS} FROM label WHERE judge = ? AND topic = ? AND document = ? ORDER BY number DESC LIMIT 1",
            (judge, _stored(topic), _stored(doc)),
        ).fetchone()
        return None if found is None else _row(found, self.path)

    @contextlib.contextmanager
    def _open(self, *, write: bool) -> Iterator[sqlite3.Connection]:
        """One transaction on the file; it is made with the first label."""
        with self._trouble(write):
            file = connect(self.path, "rwc" if write and not self._seen else "rw")
            try:
                if write:
                    file.execute("PRAGMA journal_mode = DELETE")
                    file.execute("PRAGMA synchronous = EXTRA")
                file.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                begun = self._begun(file)
                if not begun and write:
                    self._begin(file)
                self._seen = self._seen or begun
                yield file
                file.execute("COMMIT")
                self._seen = self._seen or write
            finally:
                with contextlib.suppress(sqlite3.Error):
                    file.rollback()
                file.close()

    def _begun(self, file: sqlite3.Connection) -> bool:
        """Does the file hold labels of this collection (or nothing yet)? Anything else is refused."""
        if not file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return False
        if file.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise InputError("this is a database of another program; name another label file", self.path)
        if file.execute("PRAGMA user_version").fetchone()[0] > VERSION:
            raise InputError("this label file was written by a newer version of unjudged", self.path)
        _refuse_views(file, self.path)
        found = file.execute("SELECT fingerprint, source, topics, judgments FROM collection").fetchone()
        if found is None or [type(one) for one in found] != [str, str, int, int]:
            raise InputError("this label file does not say whose labels it holds", self.path)
        theirs = _Identity(*found)
        if theirs.fingerprint != self._own.fingerprint:
            raise InputError(
                f"these are labels of other judgments ({theirs.told}), not of {self._own.told}; "
                "name another label file with --labels",
                self.path,
            )
        return True

    def _begin(self, file: sqlite3.Connection) -> None:
        file.execute(f"PRAGMA application_id = {APPLICATION}")
        file.execute(f"PRAGMA user_version = {VERSION}")
        for table in _TABLES:
            file.execute(table)
        own = self._own
        file.execute(
            "INSERT INTO collection VALUES (?, ?, ?, ?)", (own.fingerprint, own.source, own.topics, own.judgments)
        )

    @contextlib.contextmanager
    def _trouble(self, write: bool) -> Iterator[None]:
        """What SQLite complains of, as a sentence."""
        try:
            yield
        except sqlite3.Error as problem:
            lost = "; nothing was saved" if write else ""
            raise InputError(_sentence(problem) + lost, self.path) from None


def connect(path: str, mode: str) -> sqlite3.Connection:
    """A connection without transactions of its own. `mode` is SQLite's: rw (a file that is there; what a crash left
    half-written is rolled back), rwc (made if it is missing)."""
    uri = f"{Path(path).absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, timeout=PATIENCE, isolation_level=None, uri=True)


def is_label_file(path: str) -> bool:
    """Does this look like an SQLite file?"""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_labels(path: str) -> list[Row]:
    """The rows of a label file, whatever collection it belongs to."""
    try:
        with contextlib.closing(connect(path, "rw")) as file:
            if file.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
                raise InputError("this is a database, but not a label file", path)
            _refuse_views(file, path)
            return [_row(one, path) for one in file.execute(f"SELECT {_COLUMNS} FROM label ORDER BY number").fetchall()]
    except sqlite3.Error as problem:
        raise InputError(_sentence(problem), path) from None


def latest(rows: Iterable[Row]) -> dict[str, dict[tuple[str, str], Row]]:
    """Per judge (in the order of their first rows) the last row on every document."""
    found: dict[str, dict[tuple[str, str], Row]] = {}
    for row in rows:
        found.setdefault(row.judge, {})[row.topic, row.doc] = row
    return found


def grades(rows: Iterable[Row], rule: str = "majority", judge: str | None = None) -> dict[str, dict[str, int]]:
    """The labels that count. Where judges differ, `rule` decides as in `qrels merge`: by majority, and in a tie the
    judge who began first. With `judge`, that judge's labels alone."""
    one_of(rule, RULES, "rule")
    per_judge = by_judge(rows)
    if judge is not None:
        per_judge = {judge: per_judge.get(judge, {})}
    sets = [given for given in per_judge.values() if given]
    if len(sets) < 2:
        return sets[0] if sets else {}
    aligned = align([judgments_of(one) for one in sets])
    out: dict[str, dict[str, int]] = {}
    for row, grade in enumerate(RULES[rule](aligned, 0).tolist()):
        if grade >= 0:
            out.setdefault(aligned.topics[int(aligned.topic[row])], {})[aligned.docs[row]] = grade
    return out


def by_judge(rows: Iterable[Row]) -> dict[str, dict[str, dict[str, int]]]:
    """Judge -> topic -> document -> grade; what was skipped or taken back is not there."""
    out: dict[str, dict[str, dict[str, int]]] = {}
    for judge, last in latest(rows).items():
        given = out.setdefault(judge, {})
        for (topic, doc), row in last.items():
            if row.grade is not None:
                given.setdefault(topic, {})[doc] = row.grade
    return out


def highest(rows: Iterable[Row]) -> int:
    """The highest grade that was ever given."""
    return max((row.grade for row in rows if row.grade is not None), default=0)


def told(rows: Sequence[Row], rule: str = "majority") -> list[str]:
    """What to know of these labels: how many, by whom, and where judges differ."""
    per_judge = by_judge(rows)
    given: dict[tuple[str, str], list[int]] = {}
    for labels in per_judge.values():
        for topic, docs in labels.items():
            for doc, grade in docs.items():
                given.setdefault((topic, doc), []).append(grade)
    names = ", ".join(judge for judge, labels in per_judge.items() if labels)
    notes = [f"{counted(len(given), 'label')} by {names}" if given else "no labels yet"]
    several = [grades for grades in given.values() if len(grades) > 1]
    if several:
        differ = sum(len(set(grades)) > 1 for grades in several)
        how = f"{rule} decides" + (" (a tie: the judge who began first)" if rule == "majority" else "")
        notes.append(
            f"{counted(len(several), 'document')} judged by several, {differ} differently" + f": {how}" * bool(differ)
        )
    return notes


@dataclass(frozen=True)
class _Identity:
    """Which judgments a file belongs to, whatever order, compression or place their file had."""

    fingerprint: str
    source: str
    topics: int
    judgments: int

    @classmethod
    def of(cls, judgments: Judgments) -> _Identity:
        topics = [judgments.topics.raw(t) for t in range(len(judgments.topics))]
        rows = zip(judgments.topic.tolist(), judgments.docs, judgments.grade.tolist(), strict=True)
        lines = sorted(b"%b\0%b\0%d\n" % (topics[t], to_bytes(doc), grade) for t, doc, grade in rows)
        digest = hashlib.sha256(b"".join(lines)).hexdigest()
        source = to_bytes(judgments.source).decode("utf-8", "replace")
        return cls(digest, source, len(topics), len(lines))

    @property
    def told(self) -> str:
        """In words."""
        return f"{self.source}: {counted(self.topics, 'topic')}, {counted(self.judgments, 'judgment')}"


def _name(judge: str) -> str:
    name = judge.strip()
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise UsageError(f"a judge's name has 1 to {LONGEST_NAME} printable characters")
    return name


def _stored(name: str) -> str | bytes:
    """An id as SQLite can hold it: text, or the bytes where they are no text."""
    raw = to_bytes(name)
    try:
        return name if b"\0" not in raw and raw.decode("utf-8") == name else raw
    except UnicodeDecodeError:
        return raw


def _row(found: Sequence[object], path: str) -> Row:
    """A row as this program writes them; one that another program made or changed may hold anything."""
    number, time, judge, topic, doc, kind, grade = found
    topic, doc = (to_text(one) if isinstance(one, bytes) else one for one in (topic, doc))
    texts = all(isinstance(one, str) and one for one in (time, judge, topic, doc)) and str(judge).isprintable()
    graded = grade is None if kind != LABEL else type(grade) is int and 0 <= grade <= HIGHEST
    if not texts or not graded or kind not in (LABEL, SKIP, UNDO):
        raise InputError(f"row {number} of this label file is none of ours; another program changed it", path)
    return Row(number, time, judge, topic, doc, kind, grade)  # type: ignore[arg-type]


def _refuse_views(file: sqlite3.Connection, path: str) -> None:
    """A view can look like our table and have no end."""
    found = file.execute("SELECT type FROM sqlite_master WHERE name IN ('label', 'collection', 'note')").fetchall()
    if any(kind != "table" for (kind,) in found):
        raise InputError("this label file was made by another program: it holds views for tables", path)


def _insert(file: sqlite3.Connection, judge: str, topic: str, doc: str, kind: str, grade: int | None) -> Row:
    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    values = time, judge, _stored(topic), _stored(doc), kind, grade
    done = file.execute(
        "INSERT INTO label (time, judge, topic, document, kind, grade) VALUES (?, ?, ?, ?, ?, ?)", values
    )
    return Row(int(done.lastrowid or 0), time, judge, topic, doc, kind, grade)


def _sentence(problem: sqlite3.Error) -> str:
    """SQLite's complaint in plain words."""
    words = {
        sqlite3.SQLITE_FULL: "the disk is full",
        sqlite3.SQLITE_IOERR: "the disk could not be written or read",
        sqlite3.SQLITE_READONLY: "the label file is read-only",
        sqlite3.SQLITE_CANTOPEN: "the label file cannot be opened (was it moved?)",
        sqlite3.SQLITE_BUSY: "another program holds the label file",
        sqlite3.SQLITE_NOTADB: "this is no label file",
        sqlite3.SQLITE_CORRUPT: "the label file is damaged",
        sqlite3.SQLITE_PERM: "the label file may not be opened",
    }
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
    return words.get(code, f"the label file cannot be used ({problem})")
