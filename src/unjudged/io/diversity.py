"""Diversity judgments of the TREC Web track, ndeval's four columns: `topic subtopic doc grade`.

They look like ordinary judgments, whose second column means nothing; `--qrels-format diversity` says that it counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.aspects import Said, checked_grade, table_of
from unjudged.io.columns import fields_of
from unjudged.io.trec import QrelsTable, Reading


def read_qrels(path: str, reading: Reading | None = None) -> QrelsTable:
    """A file of diversity judgments."""
    source = files.source_name(path)
    return table_of(source, _lines(path, source))


def qrels_from_dict(qrels: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> QrelsTable:
    """Diversity judgments given as {topic: {subtopic: {doc: grade}}}."""
    source = "judgments"

    def said() -> Iterator[Said]:
        for topic, inside in qrels.items():
            for subtopic, docs in inside.items():
                if not isinstance(docs, Mapping):
                    raise InputError("judgments of subtopics are {topic: {subtopic: {doc: grade}}}", source)
                for doc, grade in docs.items():
                    yield Said(topic, subtopic, doc, checked_grade(grade, source, None))

    return table_of(source, said())


def _lines(path: str, source: str) -> Iterator[Said]:
    for number, (topic, subtopic, doc, grade) in fields_of(path, source, ("topic", "subtopic", "doc", "grade")):
        yield Said(topic, subtopic, doc, checked_grade(grade, source, number), number)
