"""Columns by the names people give them, and rows on their way into tables.

Readers of named or plain columns (JSONL, BEIR, Parquet, NTCIREVAL, sampleval) hand their rows to `Judged` or
`Retrieved`, which check every value and know what to say about a bad one.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, SupportsFloat

import numpy as np

from unjudged.errors import InputError, nearest
from unjudged.io import files
from unjudged.io.dicts import qrels_table, run_from_topics
from unjudged.io.frames import DOC, GRADE, ITERATION, SCORE, TOPIC
from unjudged.io.ids import Ids, to_bytes, to_text
from unjudged.io.trec import LARGEST_GRADE, QrelsTable, Reading, RunTable
from unjudged.text import as_written

_IDS = {"topic": TOPIC, "document": (*DOC, "corpus_id")}
GRADES: Mapping[str, tuple[str, ...]] = {**_IDS, "grade": GRADE}
"""What judgments need, and the names each column may have (case, `-` and `_` make no difference)."""
RANKED: Mapping[str, tuple[str, ...]] = {**_IDS, "score": (*SCORE, "rank")}
"""What a run needs; a rank stands in for a missing score."""
OPTIONAL: Mapping[str, tuple[str, ...]] = {"iteration": ITERATION, "run": ("run", "run_id", "system", "tag")}

_GRADE = re.compile(r"[+-]?\d+", re.ASCII)
_SCORE = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?)", re.ASCII | re.IGNORECASE)


def _plain(name: str) -> str:
    return name.strip().casefold().replace("-", "_")


def _choose(names: Iterable[str], needed: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    given: dict[str, str] = {}
    for name in names:
        given.setdefault(_plain(name), name)
    roles = {**needed, **OPTIONAL}
    return {role: given[n] for role, known in roles.items() if (n := next((k for k in known if k in given), None))}


def has_columns(names: Iterable[str], needed: Mapping[str, tuple[str, ...]]) -> bool:
    """Are these column names, and is everything needed among them?"""
    return needed.keys() <= _choose(names, needed).keys()


def find_columns(
    names: Iterable[str], needed: Mapping[str, tuple[str, ...]], source: str, line: int | None = None
) -> dict[str, str]:
    """Role (topic, document, grade or score, iteration, run) -> the name it has here."""
    names = list(names)
    chosen = _choose(names, needed)
    for role, known in needed.items():
        if role not in chosen:
            near = next((nearest(n, known) for n in names if nearest(n, known)), "")
            looked = ", ".join(known)
            raise InputError(f"no column for the {role} (looked for {looked}; found {names}){near}", source, line)
    refuse_twice(chosen.values(), names, source, line)
    return chosen


def fields_of(path: str, source: str, names: Sequence[str], what: str = "a line") -> Iterator[tuple[int, list[str]]]:
    """The fields of every line, with its number; each line has these fields."""
    for number, line in enumerate(to_text(files.read_all(path)).split("\n"), 1):
        fields = line.split()
        if not fields or line.startswith("#"):
            continue
        if len(fields) != len(names):
            need = f"{len(names)} fields ({' '.join(names)})"
            raise InputError(f"{what} needs {need}, found {len(fields)}", source, number)
        yield number, fields


def refuse_twice(chosen: Iterable[str], names: Sequence[str], source: str, line: int | None = None) -> None:
    """An InputError where one of these columns stands twice."""
    if again := [name for name in chosen if names.count(name) > 1]:
        raise InputError(f"{names.count(again[0])} columns are called {again[0]!r}; keep one of them", source, line)


def by_rank(chosen: Mapping[str, str]) -> bool:
    """Does a rank stand in for the score?"""
    return _plain(chosen["score"]) == "rank"


def whole_number(text: str) -> int | str:
    """A grade as it stands in text: the number, or the text where it is none."""
    return int(text) if _GRADE.fullmatch(text) and len(text) < 12 else text


def decimal_number(text: str) -> float | str:
    """A score as it stands in text: the number, or the text where it is none."""
    return float(text) if _SCORE.fullmatch(text) else text


def finite(value: SupportsFloat) -> float | None:
    """The number as a float; None where it is not finite, or a whole number that no float can hold."""
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def writable(text: str) -> bool:
    """JSON can hold half a surrogate pair, for which there are no bytes."""
    try:
        to_bytes(text)
    except UnicodeEncodeError:
        return False
    return True


def lines(path: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that have something on them, with their numbers."""
    return ((number, to_text(line)) for number, line in files.lines(path) if line.strip())


@dataclass
class Rows:
    """Rows as they are read; a bad one is refused, or left out and counted where reading is lenient.

    `unit` is what `line` counts: lines of text, or rows of a table without lines.
    """

    source: str
    reading: Reading
    unit: str = "line"
    skipped: int = 0
    first_skipped: str = ""
    last_run: str | None = None

    def refuse(self, sentence: str, line: int) -> None:
        """Raise, or count where reading is lenient."""
        if not self.reading.lenient:
            hint = self.reading.way_out(f"{self.unit}s")
            if self.unit == "line":
                raise InputError(sentence + hint, self.source, line)
            raise InputError(f"{self.unit} {line}: {sentence}{hint}", self.source)
        if not self.skipped:
            self.first_skipped = f"{self.unit} {line}: {sentence}"
        self.skipped += 1

    def notes(self) -> tuple[str, ...]:
        """What was left out."""
        if not self.skipped:
            return ()
        many = f"{self.skipped} unusable {self.unit}{'s' * (self.skipped > 1)} skipped"
        return (f"{many}, the first at {self.first_skipped}",)

    def ids(self, topic: Any, doc: Any, line: int) -> tuple[str, str] | None:
        """Both ids as text, or None where one of them is no id."""
        if type(topic) is type(doc) is str and topic and doc and topic.isascii() and doc.isascii():
            return topic, doc
        for what, value in (("topic", topic), ("document", doc)):
            if isinstance(value, str):
                if value and (value.isascii() or writable(value)):
                    continue
                sentence = f"the {what} id {value!r} cannot be written as text" if value else f"the {what} id is empty"
            elif isinstance(value, int) and not isinstance(value, bool):
                continue
            else:
                sentence = f"{what} ids are text, found {value!r}"
            self.refuse(sentence, line)
            return None
        return str(topic), str(doc)

    def one_run(self, run: Any, line: int) -> None:
        """Refuse a second run in one file."""
        if self.last_run is None:
            self.last_run = str(run)
        elif self.last_run != str(run):
            raise InputError(
                f"this file holds several runs ({self.last_run}, {run}); write one file for each",
                self.source,
                line if self.unit == "line" else None,
            )


@dataclass
class Judged(Rows):
    """Judgments row by row -> a table."""

    topics: dict[str, int] = field(default_factory=dict)
    iterations: dict[str, int] = field(default_factory=dict)
    topic: array[int] = field(default_factory=lambda: array("i"))
    iteration: array[int] = field(default_factory=lambda: array("i"))
    docs: list[str] = field(default_factory=list)
    grades: array[int] = field(default_factory=lambda: array("i"))
    lines: array[int] = field(default_factory=lambda: array("q"))

    def add(self, topic: Any, doc: Any, grade: Any, iteration: Any, line: int) -> None:
        """One judgment; whole numbers are accepted as ids, and 1.0 as the grade 1."""
        ids = self.ids(topic, doc, line)
        if ids is None:
            return
        iteration = "0" if iteration is None else str(iteration)
        if not writable(iteration):
            self.refuse(f"the iteration {iteration!r} cannot be written as text", line)
            return
        if type(grade) is float and grade.is_integer():
            grade = int(grade)
        if type(grade) is not int or abs(grade) > LARGEST_GRADE:
            self.refuse(f"the grade {as_written(grade)} is not a whole number", line)
            return
        self.topic.append(self.topics.setdefault(ids[0], len(self.topics)))
        self.iteration.append(self.iterations.setdefault(iteration, len(self.iterations)))
        self.docs.append(ids[1])
        self.grades.append(grade)
        self.lines.append(line)

    def table(self) -> QrelsTable:
        """The judgments as columns, in the order they came."""
        if not self.docs:
            raise InputError("no judgments in this file", self.source)
        table = qrels_table(
            self.topics, self.topic, self.docs, self.grades, self.source, self.iterations, self.iteration
        )
        lines = np.frombuffer(self.lines, np.int64) if self.unit == "line" else None
        return table._replace(line=lines, notes=self.notes())


@dataclass
class Retrieved(Rows):
    """A run row by row -> a table."""

    ranks: bool = False
    lists: dict[str, tuple[list[str], array[float]]] = field(default_factory=dict)

    def add(self, topic: Any, doc: Any, score: Any, line: int) -> None:
        """One retrieved document; whole numbers are accepted as ids. Where `ranks` is set, the score is a rank."""
        ids = self.ids(topic, doc, line)
        if ids is None:
            return
        try:
            if isinstance(score, (str, bool)) or math.isnan(value := float(score)):
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            self.refuse(f"the score {as_written(score)} is not a number", line)
            return
        found = self.lists.get(ids[0])
        if found is None:
            found = self.lists[ids[0]] = ([], array("d"))
        found[0].append(ids[1])
        found[1].append(-value if self.ranks else value)

    def table(self, name: str | None, index: Any, topics: Ids, keep_docs: bool) -> RunTable:
        """The judged hits of the run, ranked."""
        if not self.lists:
            raise InputError("no run lines in this file", self.source)
        lists = ((topic, docs, scores) for topic, (docs, scores) in self.lists.items())
        table = run_from_topics(lists, self.source, index, topics, self.reading, keep_docs)
        tag = self.last_run if self.last_run and writable(self.last_run) else ""
        return table._replace(name=name or tag or "run", tag=tag, notes=self.notes() + table.notes)
