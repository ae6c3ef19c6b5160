"""TREC text: runs (`topic Q0 doc rank score tag`) and judgments (`topic iteration doc grade`).

Fields may be separated by any mix of blanks and tabs, lines may end with CRLF, blank lines and lines
that begin with `#` are passed over, fields behind the last known one are ignored, and so are the Q0 and
rank columns. Order is decided here and nowhere else: score descending, then by the `ties` rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unjudged import kernels
from unjudged.errors import InputError, UsageError, nearest
from unjudged.io import files
from unjudged.io.ids import Ids, to_bytes, to_text
from unjudged.io.same_answer import check_rule

if TYPE_CHECKING:
    from unjudged.io.aspects import Aspects

LARGEST_GRADE = 1_000_000_000
"""Grades beyond, of either sign, are refused."""

UNJUDGED = -(2**31)
"""Stands for a grade where a set of judgments, or one assessor, does not judge the document."""

BAD_FIELDS, BAD_SCORE, BAD_NAN, BAD_NUL, BAD_GRADE = 1, 2, 3, 4, 5


@dataclass(frozen=True)
class Reading:
    """How files are read: ties, truncation, unusable lines, which answers are the same (QA), chunks (`units.py`)."""

    ties: str = "trec10"
    truncate: int | None = None
    lenient: bool = False
    strict: bool = False
    same_answer: str = "exact"
    units: str | None = None
    tokens: int | None = None
    lengths: Mapping[bytes, int] | None = None

    def __post_init__(self) -> None:
        check_rule(self.same_answer)
        self._check_chunks()
        if self.ties not in kernels.TIES:
            known = ", ".join(kernels.TIES)
            raise UsageError(f"unknown tie rule {self.ties!r}{nearest(self.ties, kernels.TIES)}; there are {known}")
        if self.truncate is not None and not 1 <= self.truncate < 2**31:
            raise UsageError(f"truncation needs a positive number of documents, not {self.truncate}")
        if self.truncate is not None and self.ties == "expected":
            raise UsageError("expected ties and truncation exclude each other: a cut within a tie leaves several lists")
        if self.lenient and self.strict:
            raise UsageError("lenient and strict exclude each other")

    def _check_chunks(self) -> None:
        if self.units is not None and not self.separator:
            said = "units are given as doc:SEPARATOR, as doc:'#' for ids such as paper7#3"
            raise UsageError(f"{said}, not {self.units!r}")
        if self.tokens is not None and not 1 <= self.tokens < 2**31:
            raise UsageError(f"the budget is a positive number of tokens, not {self.tokens}")
        if (self.tokens is None) != (self.lengths is None):
            raise UsageError("a budget of tokens needs the lengths of the chunks, and they a budget: give both")
        if self.tokens is not None and self.ties == "expected":
            raise UsageError(
                "expected ties and a budget of tokens exclude each other: a cut within a tie leaves several lists"
            )

    def way_out(self, units: str) -> str:
        """What to do about an unusable line, at the end of the sentence that refuses it; nothing where it is strict."""
        return "" if self.strict else f" (--lenient skips such {units})"

    @property
    def separator(self) -> bytes:
        """What ends a document's id in the id of its chunk (`doc:#`); nothing where ids name documents."""
        kind, _, separator = (self.units or "").partition(":")
        return to_bytes(separator) if kind == "doc" and not separator.isspace() else b""

    @property
    def in_chunks(self) -> bool:
        """Are lists to be put together from chunks, or cut at a number of tokens?"""
        return self.units is not None or self.tokens is not None

    def scanner(self, index: Any, **options: Any) -> Any:
        """A kernel that reads one run by these rules."""
        return kernels.RunScanner(
            index,
            kernels.TIES[self.ties],
            self.truncate or 0,
            self.lenient,
            tie_groups=self.ties == "expected",
            **options,
        )


class QrelsTable(NamedTuple):
    """Judgments as columns, in the order of the source."""

    source: str
    topics: Ids
    topic: npt.NDArray[np.int32]
    docs: Ids
    grade: npt.NDArray[np.int32]
    iterations: Ids
    iteration: npt.NDArray[np.int32]
    line: npt.NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()
    group: npt.NDArray[np.int32] | None = None
    opinions: npt.NDArray[np.int32] | None = None
    """Documents x assessors, where several judged: the grade of each, UNJUDGED where there is none."""
    aspects: Aspects | None = None
    """Grades by subtopic, intent or nugget, where the judgments tell them apart."""
    confidence: npt.NDArray[np.float64] | None = None
    """How sure the judge was of each grade, where somebody says so; NaN where not."""

    @classmethod
    def unjudged(cls, topics: Iterable[str]) -> QrelsTable:
        """Topics without judgments."""
        none = np.zeros(0, np.int32)
        return cls("no judgments", Ids.of(topics), none, Ids.of([]), none, Ids.of(["0"]), none)


class RunTable(NamedTuple):
    """One run's judged hits by topic, and what was noticed while reading it."""

    name: str
    source: str
    offsets: npt.NDArray[np.int64]
    row: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]
    length: npt.NDArray[np.int32]
    answered: npt.NDArray[np.bool_]
    outside: int
    """Number of topics outside the judgments; counting ends at kernels.OUTSIDE_COUNTED where no full lists are kept."""
    outside_names: tuple[str, ...] = ()
    """Topics outside the judgments: the first few, all of them where full lists were asked for."""
    notes: tuple[str, ...] = ()
    tag: str = ""
    docs: Ids | None = None
    doc_offsets: npt.NDArray[np.int64] | None = None
    doc_rows: npt.NDArray[np.int32] | None = None
    doc_scores: npt.NDArray[np.float64] | None = None
    tie_first: npt.NDArray[np.int32] | None = None
    tie_size: npt.NDArray[np.int32] | None = None
    repeats: npt.NDArray[np.int32] | None = None
    """Lines whose document stood higher in the same topic: (topic, rank above the line)."""


def too_large(grade: object) -> str:
    """What is said about a whole number that is no grade."""
    return f"the grade {grade} is too large: grades go from -{LARGEST_GRADE:,} to {LARGEST_GRADE:,}"


def _sentence(kind: int, text: bytes, what: str) -> str:
    fields = text.split()
    shown = to_text(text[:60].strip()).encode("unicode_escape").decode("ascii")
    if kind == BAD_NUL:
        return "this line holds a NUL byte; the file looks binary"
    if kind == BAD_FIELDS:
        need = "6 fields (topic Q0 doc rank score tag)" if what == "run" else "4 fields (topic iteration doc grade)"
        hint = "; this looks like judgments, not a run" if what == "run" and len(fields) == 4 else ""
        return f"a {what} line needs {need}, found {len(fields)}: '{shown}'{hint}"
    if kind == BAD_GRADE and len(fields) > 3 and re.fullmatch(rb"[-+]?\d+", fields[3]):
        return too_large(to_text(fields[3]))
    place, what_it_is = (3, "grade") if kind == BAD_GRADE else (4, "score")
    shown = repr(to_text(fields[place])) if len(fields) > place else "in this line"
    wanted = {BAD_GRADE: "whole number", BAD_NAN: "number"}.get(kind, "decimal number")
    return f"the {what_it_is} {shown} is not a {wanted}"


def _refuse(kind: int, line: int, text: bytes, what: str, source: str, reading: Reading) -> InputError:
    return InputError(f"{_sentence(kind, text, what)}{reading.way_out('lines')}", source, line)


def _skipped(found: dict[str, Any], what: str) -> list[str]:
    if not found["bad_count"]:
        return []
    line, kind, text = found["bad"][0]
    many = found["bad_count"]
    return [f"{many} unusable line{'s' * (many > 1)} skipped, the first at line {line}: {_sentence(kind, text, what)}"]


def read_qrels(path: str, reading: Reading | None = None) -> QrelsTable:
    """A judgment file as columns."""
    reading = reading or Reading()
    if files.kind(path) == "folder":
        raise InputError(f"this is a folder, a file is needed ({files.ORDER})", path)
    text = files.read_all(path, lines=True)
    source = files.source_name(path)
    for number, line in enumerate(text[:65536].split(b"\n"), 1):
        if line.strip() and not line.startswith(b"#"):
            fields = line.split(None, 6)
            if len(fields) >= 6 and re.fullmatch(rb"[Qq]\d", fields[1]):
                raise InputError(files.SWAPPED, source, number)
            break
    found = kernels.scan_qrels(text, reading.lenient)
    if found["bad"] and not reading.lenient:
        line, kind, shown = found["bad"][0]
        raise _refuse(kind, line, shown, "judgment", source, reading)
    if not found["topic"]:
        raise InputError("no judgments in this file", source)
    return QrelsTable(
        source,
        Ids(found["topics"], np.frombuffer(found["topic_ends"], np.int64)),
        np.frombuffer(found["topic"], np.int32),
        Ids(found["docs"], np.frombuffer(found["doc_ends"], np.int64)),
        np.frombuffer(found["grade"], np.int32),
        Ids(found["iterations"], np.frombuffer(found["iteration_ends"], np.int64)),
        np.frombuffer(found["iteration"], np.int32),
        np.frombuffer(found["line"], np.int64),
        tuple(_skipped(found, "judgment")),
    )


def read_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """A run file's judged hits."""
    return run_table(scan(path, index, reading, keep_docs), name, files.source_name(path), topics, reading)


def scan(
    path: str, index: Any, reading: Reading, keep_docs: bool, as_trec: Callable[[Any], Iterable[Any]] = iter
) -> dict[str, Any]:
    """What a scanner finds in a run. Text is read in pieces; where topics are scattered, their whole lists are held.

    `as_trec` rewrites the pieces of a text that is no TREC text.
    """
    passes = files.Passes(path)

    def scanned(pieces: Iterable[Any], gather: bool) -> dict[str, Any]:
        scanner = reading.scanner(index, gather=gather, keep_docs=keep_docs)
        for piece in as_trec(pieces):
            if not scanner.feed(piece):
                break
        found: dict[str, Any] = scanner.finish()
        return found

    found = scanned(passes.first(), gather=False)
    return scanned(passes.second(), gather=True) if found["split"] else found


def run_table(found: dict[str, Any], name: str | None, source: str, topics: Ids, reading: Reading) -> RunTable:
    """What a scanner found, checked: refusals, and notes about what was passed over."""
    if found["endless"]:
        raise files.endless(source, found["endless"])
    if found["bad"] and not reading.lenient:
        line, kind, shown = found["bad"][0]
        raise _refuse(kind, line, shown, "run", source, reading)
    if not found["lines"]:
        raise InputError("no run lines in this file", source)
    notes = _skipped(found, "run")
    if many := found["duplicates"]:
        topic, doc = topics[found["duplicate_topic"]], to_text(found["duplicate_doc"])
        text = f"{many} document{'s' * (many > 1)} listed again in a topic (first: {doc} in topic {topic})"
        if reading.strict:
            raise InputError(text, source)
        notes.append(f"{text}; the better-ranked one is kept")
    answered = np.frombuffer(found["answered"], np.bool_)
    outside = int(found["outside_topics"])
    names = tuple(to_text(found["outside_names"]).split("\n")) if outside else ()
    if not answered.any() and len(topics):
        here = f"here e.g. {names[0]}" if outside else "none here"
        raise InputError(f"no topic in common with the judgments ({here}, there e.g. {topics[0]})", source)
    tag = to_text(found["tag"])
    docs, ties = "docs" in found, "tie_first" in found
    return RunTable(
        name if name is not None else tag or "run",
        source,
        np.frombuffer(found["offsets"], np.int64),
        np.frombuffer(found["row"], np.int32),
        np.frombuffer(found["rank"], np.int32),
        np.frombuffer(found["length"], np.int32),
        answered,
        outside,
        names,
        tuple(notes),
        tag,
        Ids(found["docs"], np.frombuffer(found["doc_ends"], np.int64)) if docs else None,
        np.frombuffer(found["doc_offsets"], np.int64) if docs else None,
        np.frombuffer(found["doc_rows"], np.int32) if docs else None,
        np.frombuffer(found["doc_scores"], np.float64) if docs else None,
        np.frombuffer(found["tie_first"], np.int32) if ties else None,
        np.frombuffer(found["tie_size"], np.int32) if ties else None,
        np.frombuffer(found["repeats"], np.int32).reshape(-1, 2) if found["duplicates"] else None,
    )
