"""Look through a judgment file for trouble: the part of `unjudged check` that needs no runs."""

from __future__ import annotations

from functools import partial

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.check.findings import Tally, example, quoted, shown, where, why
from unjudged.io.check.repair import grade_of, not_utf8, unusable

Judged = dict[bytes, dict[bytes, int]]
"""The grades of each topic's documents, as far as they can be read."""


def check_qrels(path: str) -> tuple[Tally, Judged]:
    """Look through a judgment file."""
    tally, topics = Tally(files.source_name(path)), Judged()
    try:
        _check_qrels(path, tally, topics)
    except InputError as problem:
        tally.found.clear()
        tally.note("UJ100", problem.line, detail=why(problem))
        topics.clear()
    return tally, topics


def _check_qrels(path: str, tally: Tally, topics: Judged) -> None:
    note = tally.note
    began: dict[bytes, int] = {}
    scattered: set[bytes] = set()
    disputed: set[tuple[bytes, bytes]] = set()
    topic: bytes | None = None
    grades: dict[bytes, int] = {}
    for number, line in files.lines(path):
        fields = line.split()
        if not fields or line[:1] == b"#":
            continue
        if len(fields) >= 6 and not topics and fields[1].upper() == b"Q0":
            raise InputError(files.SWAPPED, path, number)
        grade = grade_of(fields[3]) if len(fields) >= 4 else None
        if grade is None:
            note("UJ121", number, detail=partial(unusable, line, "judgment"))
            continue
        doc = fields[2]
        if len(fields) > 4:
            note("UJ127", number, detail=partial(quoted, line))
        if fields[0] != topic:
            topic = fields[0]
            if topic in topics and topic not in scattered:
                scattered.add(topic)
                note("UJ128", number, detail=example([topic]))
            grades = topics.setdefault(topic, {})
            began.setdefault(topic, number)
        if doc not in grades:
            grades[doc] = grade
        elif grades[doc] == grade:
            note("UJ122", number, detail=where(doc, topic))
        elif (topic, doc) not in disputed:
            disputed.add((topic, doc))
            note("UJ123", number, detail=f"{where(doc, topic)}, {grades[doc]} and {grade}")
        if grade < 0:
            note("UJ125", number, detail=partial("{} for {}".format, grade, where(doc, topic)))
        if not line.isascii():
            for name in not_utf8((topic, doc)):
                note("UJ113", number, detail=shown(name))
    if not topics and "UJ121" not in tally.found:
        raise InputError("no judgments in this file", path)
    for topic, grades in topics.items():
        if max(grades.values()) < 1:
            note("UJ124", began[topic], detail=example([topic]))
        if 0 not in grades.values():
            note("UJ126", began[topic], detail=example([topic]))
