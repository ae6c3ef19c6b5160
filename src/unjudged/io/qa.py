"""Question answering: answers with equivalence classes and correctness levels (METHODS A.26, Sakai 2005).

Answer classes (in place of judgments), tab separated, a header is optional:

    question  class  level  answer
    Q1        1      S      Barack Obama
    Q1        1      A      Obama
    Q1        2      S      Joe Biden

`level` is S, A, B or a whole number (S = 3, A = 2, B = 1). An answer belongs to the first class that holds it.
"No answer" is a class with the answer NIL. A run, tab separated, best answer first:

    question  rank  answer
    Q1        1     Joe Biden

Answers are compared after `normalise` (default: blanks at both ends removed).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.dicts import run_from_topics
from unjudged.io.ids import Ids, to_text
from unjudged.io.trec import QrelsTable, Reading, RunTable

LEVELS = {"S": 3, "A": 2, "B": 1}
ANSWERS = 5
"""Answers looked at per question."""

Normalise = Callable[[str], str]


def _rows(path: str, fields: int, header: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(to_text(files.read_all(path)).split("\n"), 1):
        line = line.rstrip("\r")
        if not line.strip() or (number == 1 and line.casefold().startswith(header)):
            continue
        found = line.split("\t", fields - 1)
        if len(found) < fields:
            raise InputError(
                f"a line needs {fields} fields separated by tabs, found {len(found)}: {line[:60]!r}", path, number
            )
        yield number, found


def read_answers(path: str, normalise: Normalise = str.strip) -> QrelsTable:
    """Answer classes as judgments: a row per answer, its class as group."""
    topics: dict[str, int] = {}
    classes: dict[tuple[int, str], int] = {}
    seen: set[tuple[int, str]] = set()
    topic: list[int] = []
    group: list[int] = []
    grade: list[int] = []
    docs: list[str] = []
    lines: list[int] = []
    for number, (question, name, level, text) in _rows(path, 4, "question\t"):
        code = topics.setdefault(question.strip(), len(topics))
        known = LEVELS.get(level.strip().upper())
        if known is None:
            try:
                known = int(level)
            except ValueError:
                raise InputError(f"the level {level!r} is not S, A, B or a whole number", path, number) from None
        answer = normalise(text)
        if (code, answer) in seen:
            continue
        seen.add((code, answer))
        topic.append(code)
        group.append(classes.setdefault((code, name.strip()), len(classes)))
        grade.append(known)
        docs.append(answer)
        lines.append(number)
    if not topics:
        raise InputError("no answers in this file", path)
    rows = np.array(topic, np.int32)
    return QrelsTable(
        path,
        Ids.of(topics),
        rows,
        Ids.of(docs),
        np.array(grade, np.int32),
        Ids.of(["0"]),
        np.zeros(len(rows), np.int32),
        np.array(lines, np.int64),
        group=np.array(group, np.int32),
    )


def read_answer_run(
    path: str,
    name: str,
    index: Any,
    topics: Ids,
    reading: Reading,
    keep_docs: bool = False,
    normalise: Normalise = str.strip,
) -> RunTable:
    """A run of answers. An answer given again keeps its place and counts as wrong."""
    lists: dict[str, list[tuple[int, int, str]]] = {}
    for number, (question, rank, text) in _rows(path, 3, "question\t"):
        try:
            lists.setdefault(question.strip(), []).append((int(rank), number, normalise(text)))
        except ValueError:
            raise InputError(f"the rank {rank!r} is not a whole number", path, number) from None
    if not lists:
        raise InputError("no answers in this file", path)

    def ranked() -> Iterator[tuple[str, list[str], Any]]:
        for question, answers in lists.items():
            answers.sort()
            said: dict[str, int] = {}
            docs = []
            for _, _, answer in answers:
                again = said[answer] = said.get(answer, 0) + 1
                docs.append(answer if again == 1 else f"{answer}\0again {again}")
            yield question, docs, np.arange(len(docs), 0, -1, dtype=np.float64)

    return run_from_topics(ranked(), name, index, topics, reading, keep_docs)
