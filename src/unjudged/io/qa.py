"""Question answering: answers with equivalence classes and correctness levels (Sakai 2005).

Answer classes (in place of judgments), tab separated, a header is optional:

    question  class  level  answer
    Q1        1      S      Barack Obama
    Q1        1      A      Obama
    Q1        2      S      Joe Biden

`level` is S, A, B or a whole number (S = 3, A = 2, B = 1). An answer belongs to the first class that holds it.
"No answer" is a class with the answer NIL. A run, tab separated, best answer first:

    question  rank  answer
    Q1        1     Joe Biden

Answers are compared without blanks at both ends, or more loosely (`same_answer.py`). Every answer that stands in no
class is wrong; none is unjudged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.columns import whole_number
from unjudged.io.dicts import run_from_topics
from unjudged.io.ids import Ids, to_text
from unjudged.io.same_answer import normalised
from unjudged.io.trec import LARGEST_GRADE, QrelsTable, Reading, RunTable

LEVELS = {"S": 3, "A": 2, "B": 1}
ANSWERS = 5
"""Answers looked at per question."""


def _rows(path: str, fields: int, header: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(to_text(files.read_all(path)).split("\n"), 1):
        line = line.rstrip("\r")
        if not line.strip() or (number == 1 and line.casefold().startswith(header)):
            continue
        found = line.split("\t", fields - 1)
        if len(found) < fields:
            raise InputError(not_answers(line, fields, len(found)), path, number)
        yield number, found


def not_answers(line: str, fields: int, found: int) -> str:
    """What is wrong with a line that has too few fields, and what it looks like instead."""
    kind = "question, class, level, answer" if fields == 4 else "question, rank, answer"
    hint = "; this looks like TREC text, which is read without --qa" if len(line.split()) in (4, 6) else ""
    return f"a line needs {fields} fields separated by tabs ({kind}), found {found}: {line[:60]!r}{hint}"


class _Answers:
    """Answer classes being read."""

    def __init__(self, source: str, same_answer: str) -> None:
        self.source, self.same_answer = source, same_answer
        self.clashes: list[str] = []
        self.topics: dict[str, int] = {}
        self.classes: dict[tuple[int, str], int] = {}
        self.rows: dict[tuple[int, str], tuple[int, int, int]] = {}

    def add(self, question: str, name: str, level: Any, answer: str, line: int | None) -> None:
        code = self.topics.setdefault(question.strip(), len(self.topics))
        text = str(level).strip().upper()
        grade = LEVELS.get(text, whole_number(text))
        if not isinstance(grade, int) or abs(grade) > LARGEST_GRADE:
            raise InputError(f"the level {level!r} is not S, A, B or a whole number", self.source, line)
        group = self.classes.setdefault((code, name.strip()), len(self.classes))
        key = code, normalised(answer, self.same_answer)
        if self.rows.setdefault(key, (group, grade, line or 0))[0] != group:
            self.clashes.append(f"{answer.strip()} of {question.strip()}")

    def table(self) -> QrelsTable:
        if not self.rows:
            raise InputError("no answers", self.source)
        columns = list(self.rows.values())
        return QrelsTable(
            self.source,
            Ids.of(self.topics),
            np.array([topic for topic, _ in self.rows], np.int32),
            Ids.of(answer for _, answer in self.rows),
            np.array([grade for _, grade, _ in columns], np.int32),
            Ids.of(["0"]),
            np.zeros(len(columns), np.int32),
            np.array([line for _, _, line in columns], np.int64),
            self._notes(),
            group=np.array([group for group, _, _ in columns], np.int32),
        )

    def _notes(self) -> tuple[str, ...]:
        if not self.clashes:
            return ()
        many = "1 answer stands" if len(self.clashes) == 1 else f"{len(self.clashes)} answers stand"
        return (f"{many} in two classes of a question; the first one counts (e.g. {self.clashes[0]})",)


def read_answers(path: str, same_answer: str = "exact") -> QrelsTable:
    """Answer classes as judgments: a row per answer, its class as group."""
    answers = _Answers(path, same_answer)
    for number, (question, name, level, text) in _rows(path, 4, "question\t"):
        answers.add(question, name, level, text, number)
    return answers.table()


def answers_from_dict(classes: Mapping[str, Mapping[str, Mapping[str, Any]]], same_answer: str = "exact") -> QrelsTable:
    """Answer classes given as {question: {class: {answer: level}}}."""
    answers = _Answers("answers", same_answer)
    for question, inside in classes.items():
        for name, members in inside.items():
            for text, level in members.items():
                answers.add(question, name, level, text, None)
    return answers.table()


def read_answer_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """A run of answers from a file."""
    lists: dict[str, list[tuple[int, int, str]]] = {}
    for number, (question, rank, text) in _rows(path, 3, "question\t"):
        try:
            lists.setdefault(question.strip(), []).append((int(rank), number, text))
        except ValueError:
            raise InputError(f"the rank {rank!r} is not a whole number", path, number) from None
    ranked = {question: [text for _, _, text in sorted(answers)] for question, answers in lists.items()}
    return run_from_answers(ranked, index, topics, reading, name or files.run_name(path), keep_docs)


def run_from_answers(
    lists: Mapping[str, Sequence[str]], index: Any, topics: Ids, reading: Reading, name: str, keep_docs: bool = False
) -> RunTable:
    """A run of answers given as {question: [best answer, ...]}. An answer given again keeps its place and is wrong."""
    if not lists:
        raise InputError("no answers", name)

    def ranked() -> Iterator[tuple[str, list[str], Any]]:
        for question, answers in lists.items():
            said: dict[str, int] = {}
            docs = []
            for text in answers:
                answer = normalised(text, reading.same_answer)
                again = said[answer] = said.get(answer, 0) + 1
                docs.append(answer if again == 1 else f"{answer}\0again {again}")
            yield question, docs, np.arange(len(docs), 0, -1, dtype=np.float64)

    return run_from_topics(ranked(), name, index, topics, reading, keep_docs)
