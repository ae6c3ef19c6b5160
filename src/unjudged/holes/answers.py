"""Labels that came back: read in the formats they were sent out in, checked, and merged into the judgments."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unjudged.changes.rejudge import judgments_of, replace_judgments
from unjudged.collection import Collection
from unjudged.errors import InputError, nearest
from unjudged.holes.labels import grades, is_label_file, read_labels
from unjudged.io import files
from unjudged.io.annotations import WHOLE, doccano, label_studio
from unjudged.io.ids import to_text
from unjudged.text import counted


@dataclass(frozen=True, eq=False)
class Answers:
    """A collection with the labels merged, and what to say about them."""

    collection: Collection
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Label:
    """One label, and the line (or the number of the entry) it stands in."""

    topic: str
    doc: str
    grade: Any
    line: int | None = None


def merged(collection: Collection, answers: Any, queries: Mapping[str, str] | None = None) -> Answers:
    """The collection with these labels among its judgments; where a label differs from a judgment, the label counts.

    `answers` is a file (judgments, our lists with a grade behind each document, our CSV or JSON lines with a column
    `grade`, Quepid's CSV, the JSON lines of doccano, the JSON of Label Studio, a label file of `judge`) or
    {topic: {document: grade}}. Entries without a label
    are passed over. A topic that is not judged, a grade outside the scale and two labels of one document are refused.
    """
    source = os.fspath(answers) if isinstance(answers, (str, os.PathLike)) else "answers"
    by_text = {text: topic for topic, text in (queries or {}).items()}
    found: dict[str, dict[str, int]] = {}
    known, top = set(collection.topics), collection.judgments.gains.top_grade
    for label in _labels(answers, source):
        topic = label.topic if label.topic in known else by_text.get(label.topic, label.topic)
        if topic not in known:
            raise InputError(f"topic {topic!r} is not judged here{nearest(topic, known)}", source, label.line)
        grade = _grade(label, source)
        if grade > top:
            raise InputError(
                f"grade {grade} of {label.doc} in topic {topic} is outside the scale 0 to {top}", source, label.line
            )
        before = found.setdefault(topic, {}).setdefault(label.doc, grade)
        if before != grade:
            raise InputError(f"{label.doc} in topic {topic} has two labels, {before} and {grade}", source, label.line)
    if not any(found.values()):
        return Answers(collection, (f"{source}: no labels there",))
    return Answers(replace_judgments(collection, found, keep=True), _told(collection, found, source))


def _told(collection: Collection, found: Mapping[str, Mapping[str, int]], source: str) -> tuple[str, ...]:
    """What is new, and which judgments changed."""
    judgments = collection.judgments
    many = sum(map(len, found.values()))
    changed: list[str] = []
    again = 0
    for t, topic in enumerate(collection.topics):
        if topic not in found:
            continue
        rows = range(int(judgments.starts[t]), int(judgments.starts[t + 1]))
        for row in rows:
            doc, grade = judgments.docs[row], int(judgments.grade[row])
            if grade >= 0 and doc in found[topic]:
                again += 1
                if found[topic][doc] != grade:
                    changed.append(f"{doc} in topic {topic}, {grade} to {found[topic][doc]}")
    notes = [f"{source}: {counted(many - again, 'new label')} merged"]
    if again:
        notes.append(f"{source}: {counted(again, 'document')} had been judged before")
    if changed:
        notes.append(f"{source}: {counted(len(changed), 'label')} changed (first: {changed[0]})")
    return tuple(notes)


def _grade(label: Label, source: str) -> int:
    if isinstance(label.grade, (int, np.integer)) and not isinstance(label.grade, bool) and label.grade >= 0:
        return int(label.grade)
    said = WHOLE.match(str(label.grade))
    if isinstance(label.grade, bool) or said is None:
        raise InputError(f"a grade is a whole number of 0 or more, found {label.grade!r}", source, label.line)
    return int(said[1])


def _labels(answers: Any, source: str) -> Iterator[Label]:
    """Every label there is, in the order of the file."""
    if not isinstance(answers, (str, os.PathLike)):
        if not isinstance(answers, Mapping) or any(answers.values()):
            yield from _of_judgments(answers)
        return
    path = os.fspath(answers)
    if is_label_file(path):
        for topic, docs in grades(read_labels(path)).items():
            yield from (Label(topic, doc, grade) for doc, grade in docs.items())
        return
    start = next(((n, line.strip()) for n, line in files.lines(path) if line.strip()), (1, b""))[1]
    if start.startswith(b"["):
        yield from (Label(*found) for found in label_studio(path))
    elif start.startswith(b"{"):
        yield from (Label(*found) for found in doccano(path))
    elif b"," in start and {"docid", "document", "doc", "doc_id"} & set(_header(to_text(start).split(","))):
        yield from _csv(path)
    elif start and _is_list(path):
        yield from _list(path)
    elif start:
        yield from _of_judgments(path)


def _is_list(path: str) -> bool:
    """Is it one of our lists, with a grade behind some of the documents?"""
    kinds = {_kind(to_text(line)) for _, line in files.lines(path) if line.strip()}
    return None not in kinds and kinds != {"judgment"}


def _kind(line: str) -> str | None:
    """What a line holds: `list` is `topic<TAB>document`, with a grade or without, `trec` is `topic 0 document`."""
    columns, fields = line.rstrip("\r\n").split("\t"), line.split()
    behind = columns[2].strip() if len(columns) == 3 else "0" if len(columns) == 2 else "no list"
    if not behind or WHOLE.fullmatch(behind):
        return "list"
    return "judgment" if len(fields) == 4 else "trec" if len(fields) == 3 and fields[1] == "0" else None


def _list(path: str) -> Iterator[Label]:
    """`topic<TAB>document<TAB>grade` or `topic 0 document grade`; lines without a grade were not judged."""
    for number, line in files.lines(path):
        text = to_text(line).rstrip("\r\n")
        if not text.strip() or (kind := _kind(text)) == "trec":
            continue
        topic, doc, *grade = text.split("\t") if kind == "list" else text.split()[::2] + text.split()[3:]
        if grade and grade[0].strip():
            yield Label(topic.strip(), doc.strip(), grade[0], number)


def _of_judgments(given: Any) -> Iterator[Label]:
    judgments = judgments_of(given)
    for row in range(len(judgments)):
        if judgments.grade[row] >= 0:
            topic = judgments.topics[int(judgments.topic[row])]
            yield Label(topic, judgments.docs[row], int(judgments.grade[row]))


def _header(fields: list[str]) -> list[str]:
    return [name.strip().casefold().lstrip("\ufeff") for name in fields]


def _csv(path: str) -> Iterator[Label]:
    """`topic,document,grade` (ours) or `query,docid,rating` (Quepid)."""
    reader = csv.reader(io.StringIO(to_text(files.read_all(path))))
    try:
        yield from _of_rows(reader, path)
    except csv.Error as problem:
        raise InputError(f"this CSV cannot be read ({problem})", path, reader.line_num) from None


def _of_rows(reader: Any, path: str) -> Iterator[Label]:
    header = _header(next(reader))
    topic, doc, grade = (
        next((header.index(name) for name in names if name in header), -1)
        for names in (
            ("topic", "query", "query_id", "qid"),
            ("document", "docid", "doc", "doc_id"),
            ("grade", "rating"),
        )
    )
    if min(topic, doc, grade) < 0:
        raise InputError("answers need the columns topic, document and grade, or query, docid and rating", path, 1)
    for row in reader:
        if len(row) > grade and row[grade].strip():
            if len(row) <= max(topic, doc):
                raise InputError("a line has too few columns", path, reader.line_num)
            yield Label(row[topic], row[doc], row[grade], reader.line_num)
