"""Aspects of topics: subtopics, intents, nuggets. One model for all judgments that say which part of a topic a document
is about; `diversity`, `intents` and `nuggets` read the files that hold them.

An aspect has a name, a weight (the probability of an intent; 1 where nothing is said) and may be vital or merely okay
(nuggets). A document's own grade is the highest it has in any aspect; in an aspect it was not judged for, it is not
relevant.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unjudged.errors import InputError
from unjudged.io.columns import writable
from unjudged.io.ids import Ids
from unjudged.io.trec import LARGEST_GRADE, QrelsTable

Grades = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Aspects:
    """The aspects of every topic, as columns: column j of a document belongs to the j-th aspect of its topic."""

    grade: npt.NDArray[np.int32]
    """Documents x columns: the grade in each aspect, 0 or more."""
    names: tuple[tuple[str, ...], ...]
    """The names of each topic's aspects, in order of the columns."""
    weight: npt.NDArray[np.float64]
    """Topics x columns: the weight of each aspect, 0 where the topic has no such column."""
    vital: npt.NDArray[np.bool_]
    """Topics x columns: is the aspect vital? All are, unless the judgments say okay."""
    declared: npt.NDArray[np.bool_]
    """Topics x columns: does the aspect count even if no document is relevant to it (listed intents, nuggets)?"""

    def __post_init__(self) -> None:
        for array in (self.grade, self.weight, self.vital, self.declared):
            array.flags.writeable = False

    @classmethod
    def one(cls, grade: npt.NDArray[np.int32], topics: int) -> Aspects:
        """Ordinary judgments: every topic has one aspect."""
        single = np.ones((topics, 1))
        return cls(np.maximum(grade, 0)[:, None], (("1",),) * topics, single, single > 0, single < 0)

    def of_rows(self, rows: npt.NDArray[np.int64]) -> Aspects:
        """Of these documents alone; all topics stay."""
        return Aspects(self.grade[rows], self.names, self.weight, self.vital, self.declared)

    def with_errors(self, topic: npt.NDArray[np.integer], before: Grades, after: Grades) -> Aspects | None:
        """With errors of judges about whole documents; None where grades change otherwise.

        A document that becomes nonrelevant is so in every aspect. One that becomes relevant gets its grade in one
        aspect: those of a topic take turns.
        """
        changed = before != after
        lost, found = changed & (after == 0), np.flatnonzero(changed & (before == 0))
        if (changed & (before != 0) & (after != 0)).any():
            return None
        grade = np.where(lost[:, None], np.int32(0), self.grade)
        many = np.array([len(names) for names in self.names], np.int64)[topic[found]]
        order = np.arange(len(found)) - np.searchsorted(topic[found], topic[found])  # rows of a topic stand together
        if (many == 0).any():
            return None
        grade[found, order % many] = after[found]
        return Aspects(grade, self.names, self.weight, self.vital, self.declared)

    def of_topics(self, topics: npt.NDArray[np.int64]) -> Aspects:
        """Of these topics alone; all documents stay."""
        names = tuple(self.names[topic] for topic in topics.tolist())
        return Aspects(self.grade, names, self.weight[topics], self.vital[topics], self.declared[topics])


class Aspect(NamedTuple):
    """An aspect that is listed whether or not a document is relevant to it."""

    weight: float = 1.0
    vital: bool = True


class Said(NamedTuple):
    """What one line says: the grade of a document in an aspect of a topic, and where that stands."""

    topic: str
    aspect: str
    doc: str
    grade: int
    line: int | None = None


def checked_grade(text: object, source: str, line: int | None, prefix: str = "") -> int:
    """A grade in an aspect: a whole number, or an InputError."""
    try:
        grade = int(str(text).removeprefix(prefix))
        if abs(grade) > LARGEST_GRADE:
            raise ValueError
    except ValueError:
        raise InputError(f"the grade {str(text)!r} is not a whole number", source, line) from None
    return grade


def checked_weight(text: object, source: str, line: int | None) -> float:
    """The probability of an intent: a number of 0 or more, or an InputError."""
    try:
        weight = float(str(text))
        if not (0 <= weight < math.inf):
            raise ValueError
    except ValueError:
        raise InputError(f"the probability {str(text)!r} is not a number of 0 or more", source, line) from None
    return weight


def table_of(source: str, said: Iterable[Said], listed: Mapping[str, Mapping[str, Aspect]] | None = None) -> QrelsTable:
    """Judgments by aspect as columns: every document once, with its grades in the aspects of its topic.

    `listed` are aspects that count whatever was found, by topic; where a topic has some, the judgments may name no
    other. Others stand in the order in which the file first names them, in whatever topic: gains are added up in the
    order of the columns, and with pyndeval's order equal sums round alike (of equals the greedy ideal list takes the
    last by id).
    """
    order: dict[str, int] = {}
    topics: dict[str, int] = {}
    columns: list[dict[str, int]] = []
    rows: dict[tuple[int, str], dict[int, int]] = {}
    lines: list[int] = []

    def topic_of(name: str) -> int:
        if name not in topics:
            topics[name] = len(topics)
            columns.append({aspect: j for j, aspect in enumerate((listed or {}).get(name, ()))})
        return topics[name]

    for one in said:
        if odd := next((name for name in (one.topic, one.aspect, one.doc) if not writable(name)), None):
            raise InputError(f"the name {odd!r} cannot be written as text", source, one.line)
        topic = topic_of(one.topic)
        known = (listed or {}).get(one.topic)
        if known is not None and one.aspect not in known:
            raise InputError(f"topic {one.topic} has no aspect {one.aspect}", source, one.line)
        order.setdefault(one.aspect, len(order))
        column = columns[topic].setdefault(one.aspect, len(columns[topic]))
        if (topic, one.doc) not in rows:
            lines.append(one.line or 0)
        grades = rows.setdefault((topic, one.doc), {})
        if grades.setdefault(column, one.grade) != one.grade:
            raise InputError(
                f"document {one.doc} has two grades in aspect {one.aspect} of topic {one.topic}, "
                f"{grades[column]} and {one.grade}",
                source,
                one.line,
            )
    if not rows:
        raise InputError("no judgments in this file", source)
    width = max(len(of_topic) for of_topic in columns)
    moved = np.tile(np.arange(width), (len(topics), 1))
    for name, t in topics.items():
        if name not in (listed or {}):
            sorted_ = sorted(columns[t], key=order.__getitem__)
            moved[t, [columns[t][aspect] for aspect in sorted_]] = range(len(sorted_))
            columns[t] = {aspect: j for j, aspect in enumerate(sorted_)}
    grade = np.zeros((len(rows), width), np.int32)
    for row, ((t, _), grades) in enumerate(rows.items()):
        grade[row, moved[t, list(grades)]] = list(grades.values())
    weight, vital = np.zeros((len(topics), width)), np.ones((len(topics), width), bool)
    declared = np.zeros((len(topics), width), bool)
    for name, t in topics.items():
        of_topic = (listed or {}).get(name, {})
        for aspect, j in columns[t].items():
            weight[t, j], vital[t, j] = of_topic.get(aspect, Aspect())
            declared[t, j] = aspect in of_topic
    own = np.array([max(grades.values()) for grades in rows.values()], np.int32)
    names = tuple(tuple(of_topic) for of_topic in columns)
    return QrelsTable(
        source,
        Ids.of(topics),
        np.array([topic for topic, _ in rows], np.int32),
        Ids.of(doc for _, doc in rows),
        own,
        Ids.of(["0"]),
        np.zeros(len(rows), np.int32),
        np.array(lines, np.int64),
        aspects=Aspects(np.maximum(grade, 0), names, weight, vital, declared),
    )
