"""Cells as the search for bounds sees them, and completed judgments as measures see them.

A completion grades every document nobody judged. Here it is a list of grades for the run's own unjudged
documents and one for documents the run did not retrieve; `scored` puts them into artificial hits, each cell a
topic of its own, and lets the registered measure compute its value. No measure is written down a second time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Cells, Collection, Floats, Hits, Ints, Judgments
from unjudged.collection.judgments import Lookup
from unjudged.io.ids import Ids
from unjudged.measures import Measure

Grades = npt.NDArray[np.int32]

ROWS_AT_ONCE = 2_000_000
"""Documents scored in one go, so that memory stays small whatever the collection."""


@dataclass(frozen=True, eq=False)
class Cell:
    """One run on one topic: what is judged, and what a completion may still grade.

    `grade` holds the list in rank order with -1 where a document is unjudged, `missed` the grades of judged
    documents the run did not retrieve, `others` the number of unjudged documents other runs retrieved and this
    one did not.
    """

    grade: Grades
    missed: Grades
    others: int

    @functools.cached_property
    def unjudged(self) -> Ints:
        """Ranks of the run's own unjudged documents."""
        return np.flatnonzero(self.grade < 0) + 1

    def at_least(self, grade: int) -> int:
        """Number of judged documents of this grade or more, retrieved or not: R for rel = grade (0 or more)."""
        return int((self.grade >= grade).sum() + (self.missed >= grade).sum())

    def ranks(self, grade: int) -> Ints:
        """Ranks of retrieved judged documents of this grade (0 or more) or better."""
        return np.flatnonzero(self.grade >= grade) + 1


@dataclass(frozen=True, eq=False)
class Completion:
    """Grades for the run's own unjudged documents (in rank order) and for documents it did not retrieve.

    Unretrieved documents of grade 0 are listed only where the measure counts them (bpref).
    """

    own: Grades
    others: Grades

    @classmethod
    def of(cls, own: npt.NDArray[np.integer], *others: tuple[int, int]) -> Completion:
        """From grades of the own documents and (grade, how many) pairs for the others."""
        parts = [np.full(count, grade, np.int32) for grade, count in others if count > 0]
        return cls(own.astype(np.int32), np.concatenate(parts or [np.zeros(0, np.int32)]))


@dataclass(frozen=True)
class Limit:
    """An infimum no single completion reaches, approached by ever more relevant documents nobody retrieved."""

    value: float = 0.0


End = Completion | Limit


@dataclass(frozen=True)
class Setting:
    """What decides which completions there are: the highest grade, its gains, and how far R may grow."""

    judgments: Judgments
    free: bool

    @property
    def top(self) -> int:
        """The highest grade a completion may give."""
        return self.judgments.gains.top_grade


Search = Callable[[Cell, Measure, Setting], tuple[End, End]]
"""Finds the completions at which a measure is lowest and highest in a cell."""


def cells_of(collection: Collection) -> Iterator[Cell]:
    """The cells of a collection, run after run, topic after topic."""
    judgments, rankings = collection.judgments, collection.rankings
    topics, first = len(judgments.topics), len(judgments)
    known = np.append(judgments.grade, np.int32(-1))
    grade = np.maximum(known[np.minimum(rankings.doc, first)], -1).astype(np.int32)
    candidates = unjudged_documents(collection)
    retrieved = np.zeros(first, bool)
    for cell in range(len(rankings.offsets) - 1):
        t = cell % topics
        here = slice(rankings.offsets[cell], rankings.offsets[cell + 1])
        rows = slice(judgments.starts[t], judgments.starts[t + 1])
        codes = rankings.doc[here]
        retrieved[codes[codes < first]] = True
        missed = judgments.grade[rows][~retrieved[rows]]
        retrieved[rows] = False
        mine = grade[here]
        yield Cell(mine, missed[missed >= 0], int(candidates[t] - (mine < 0).sum()))


def unjudged_documents(collection: Collection) -> Ints:
    """Per topic, the number of unjudged documents that some run retrieved."""
    judgments, rankings = collection.judgments, collection.rankings
    topics, first = len(judgments.topics), len(judgments)
    cells = (np.arange(len(rankings.offsets) - 1) % max(topics, 1)).astype(np.int32)
    topic = np.full(max(int(rankings.doc.max(initial=-1)) + 1, first), -1, np.int32)
    topic[rankings.doc] = np.repeat(cells, np.diff(rankings.offsets))
    topic[:first][judgments.grade >= 0] = -1
    return np.bincount(topic[topic >= 0], minlength=topics)


def scored(measure: Measure, judgments: Judgments, completed: Iterable[tuple[Cell, Completion]]) -> Cells:
    """The measure's own value for each completed cell; undefined ones (no relevant document) are 0."""
    values: list[Cells] = [np.zeros(0)]
    waiting: list[tuple[Cell, Completion]] = []
    rows = 0
    for cell, completion in completed:
        waiting.append((cell, completion))
        rows += len(cell.grade) + len(cell.missed) + len(completion.others)
        if rows > ROWS_AT_ONCE:
            values.append(measure.cells(_hits(judgments, waiting)))
            waiting, rows = [], 0
    if waiting:
        values.append(measure.cells(_hits(judgments, waiting)))
    return np.nan_to_num(np.concatenate(values), nan=0.0)


def _hits(judgments: Judgments, completed: list[tuple[Cell, Completion]]) -> Hits:
    """Hits in which each completed cell is a topic of its own."""
    parts: list[Grades] = []
    for cell, completion in completed:
        grade = cell.grade.copy()
        grade[cell.unjudged - 1] = completion.own
        parts += [grade, cell.missed, completion.others]
    sizes = np.array([len(p) for p in parts], np.int64).reshape(-1, 3)
    length = sizes[:, 0]
    starts = np.concatenate(([0], np.cumsum(sizes.sum(axis=1))))
    offsets = np.concatenate(([0], np.cumsum(length)))
    rank = np.arange(offsets[-1]) - np.repeat(offsets[:-1], length)
    return Hits(
        nameless(judgments, starts, np.concatenate(parts)),
        offsets,
        (rank + np.repeat(starts[:-1], length)).astype(np.int32),
        (rank + 1).astype(np.int32),
        length.astype(np.int32),
        np.ones(len(completed), bool),
    )


def nameless(judgments: Judgments, starts: Ints, grade: Grades) -> Judgments:
    """Other grades of topics and documents that need no names; gains stay."""
    nobody = Ids(b"", np.zeros(len(starts) - 1, np.int64))
    lookup = Lookup(nobody, nobody, starts)
    return replace(
        judgments,
        topics=nobody,
        starts=starts,
        docs=nobody,
        grade=grade,
        lookup=lookup,
        order=None,
        iteration=None,
        opinions=None,
        confidence=None,
        aspects=None,
        _kept={},
    )


def gains_of(measure: Measure, setting: Setting) -> Floats:
    """Gain of each grade 0..top as the measure sees it."""
    return setting.judgments.gains.of(np.arange(setting.top + 1, dtype=np.int32), measure.params["gains"])


def one_document_lists(
    judgments: Judgments, grade: npt.NDArray[np.integer], rank: npt.NDArray[Any], length: npt.NDArray[Any] | None = None
) -> Hits:
    """Lists with one judged document each: its grade and its rank, and the length where it is not the last."""
    size = len(grade)
    rows, rank = np.arange(size + 1), rank.astype(np.int32)
    length = rank if length is None else length.astype(np.int32)
    single = nameless(judgments, rows, grade.astype(np.int32))
    return Hits(single, rows, rows[:-1].astype(np.int32), rank, length, np.ones(size, bool))
