"""The core: judgments, judged hits, full rankings, and the collection that holds them (DESIGN 3).

Files and objects become integer arrays once. A cell is a (run, topic) pair; cell number = run * topics + topic.
Everything here is immutable: a reduction of the judgments is a new `Judgments` over the same arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from unjudged import kernels
from unjudged.errors import InputError, UsageError
from unjudged.io.ids import Ids
from unjudged.io.trec import QrelsTable, RunTable

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Cells = npt.NDArray[np.float64]
"""One value per cell, run after run."""


@dataclass(frozen=True)
class Gains:
    """Gain of each grade, and the highest grade of the full collection (METHODS 0.1).

    A grade without an entry has its own value as gain; grades of 0 and below have none.
    """

    levels: tuple[tuple[int, float], ...] = ()
    top_grade: int = 1

    def __post_init__(self) -> None:
        by_grade = sorted(self.levels)
        values = [gain for _, gain in by_grade]
        if any(g < 0 for g in values) or values != sorted(values):
            raise UsageError(f"gains must be non-negative and must not fall with the grade, found {dict(by_grade)}")

    def of(self, grade: npt.NDArray[np.int32], levels: Mapping[int, float] | None = None) -> Floats:
        """Gain of each document."""
        gain = np.maximum(grade, 0).astype(np.float64)
        for level, value in dict(self.levels).items() if levels is None else levels.items():
            if level > 0:
                gain[grade == level] = value
        return gain

    def highest(self, levels: Mapping[int, float] | None = None) -> float:
        """H: the gain of the collection's highest grade."""
        return float(self.of(np.array([self.top_grade], np.int32), levels)[0])


@dataclass(frozen=True, eq=False)
class Judgments:
    """Per topic the judged documents (rows) with their grades. Rows of a topic stand together."""

    topics: Ids
    starts: Ints
    docs: Ids
    grade: npt.NDArray[np.int32]
    index: Any
    gains: Gains
    order: Ints | None = None
    iterations: Ids = field(default_factory=lambda: Ids.of(["0"]))
    iteration: npt.NDArray[np.int32] | None = None
    source: str = "judgments"
    notes: tuple[str, ...] = ()
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        table: QrelsTable,
        *,
        gains: Mapping[int, float] | None = None,
        strict: bool = False,
        negative: str = "unjudged",
    ) -> Judgments:
        """Group the rows by topic, check duplicates, build the look-up."""
        if negative not in ("unjudged", "nonrelevant"):
            raise UsageError(f"negative grades can be unjudged or nonrelevant, not {negative!r}")
        order: Ints | None = None
        if (np.diff(table.topic) < 0).any():
            order = np.argsort(table.topic, kind="stable")
        notes = list(table.notes)

        def build(keep: Ints | None) -> Judgments:
            topic, docs = table.topic, table.docs
            grade, iteration = table.grade, table.iteration
            if keep is not None:
                topic, docs, grade, iteration = topic[keep], docs.take(keep), grade[keep], iteration[keep]
            starts = np.concatenate(([0], np.cumsum(np.bincount(topic, minlength=len(table.topics))))).astype(np.int64)
            index = kernels.Index(table.topics.blob, table.topics.ends, docs.blob, docs.ends, starts)
            if negative == "nonrelevant":
                grade = np.maximum(grade, 0)
            top = max(int(grade.max(initial=0)), 1)
            levels = tuple(sorted((int(k), float(v)) for k, v in (gains or {}).items()))
            return cls(
                table.topics, starts, docs, grade, index, Gains(levels, top), keep, table.iterations, iteration, table.source
            )

        built = build(order)
        pairs = np.frombuffer(built.index.duplicates(), np.int64).reshape(-1, 2)
        if len(pairs):
            where = np.arange(len(table.topic)) if order is None else order
            line = table.line if table.line is not None else np.arange(1, len(table.topic) + 1)
            differ = built.grade[pairs[:, 0]] != built.grade[pairs[:, 1]]
            worst = pairs[np.argmax(differ)]
            topic = table.topics[int(table.topic[where[worst[0]]])]
            doc = built.docs[int(worst[0])]
            at = int(line[where[worst[0]]]) if table.line is not None else None
            if differ.any():
                first, again = int(built.grade[worst[1]]), int(built.grade[worst[0]])
                raise InputError(f"document {doc} has two grades in topic {topic}, {first} and {again}", table.source, at)
            text = f"{len(pairs)} judgment{'s' * (len(pairs) > 1)} given twice (first: {doc} in topic {topic})"
            if strict:
                raise InputError(text, table.source, at)
            notes.append(f"{text}; one is kept")
            kept = np.ones(len(table.topic), bool)
            kept[pairs[:, 0]] = False
            built = build(where[kept])
        return replace(built, notes=tuple(notes))

    def __len__(self) -> int:
        return len(self.grade)

    @functools.cached_property
    def topic(self) -> Ints:
        """Topic number of each row."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.starts))

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def count(self, low: int, high: int | None = None) -> Floats:
        """Per topic, the number of documents with low <= grade < high."""

        def make() -> Floats:
            chosen = self.grade >= low if high is None else (self.grade >= low) & (self.grade < high)
            return np.bincount(self.topic[chosen], minlength=len(self.topics)).astype(np.float64)

        return cast(Floats, self._once(("count", low, high), make))

    def ideal(self, levels: Mapping[int, float] | None = None) -> Ideal:
        """The ideal list of each topic: documents with a gain, best first."""
        key = None if levels is None else tuple(sorted(levels.items()))
        return cast(Ideal, self._once(("ideal", key), lambda: Ideal.of(self, levels)))

    def only(self, topics: Sequence[int]) -> Judgments:
        """These topics alone (gains and H stay those of the full collection)."""
        chosen = np.asarray(topics, np.int64)
        rows = np.concatenate([np.arange(self.starts[t], self.starts[t + 1]) for t in chosen] or [np.zeros(0, np.int64)])
        docs, names = self.docs.take(rows), self.topics.take(chosen)
        starts = np.concatenate(([0], np.cumsum(np.diff(self.starts)[chosen]))).astype(np.int64)
        return replace(
            self,
            topics=names,
            starts=starts,
            docs=docs,
            grade=self.grade[rows],
            index=kernels.Index(names.blob, names.ends, docs.blob, docs.ends, starts),
            order=rows if self.order is None else self.order[rows],
            iteration=None if self.iteration is None else self.iteration[rows],
            _kept={},
        )

    def with_grades(self, grade: npt.NDArray[np.int32]) -> Judgments:
        """The same rows with other grades (gains and H stay those of the full collection)."""
        return replace(self, grade=grade, _kept={})


@dataclass(frozen=True, eq=False)
class Ideal:
    """Gains of all relevant documents per topic in descending order, topic after topic."""

    starts: Ints
    gain: Floats
    rank: Floats
    cumulated: Floats

    @classmethod
    def of(cls, judgments: Judgments, levels: Mapping[int, float] | None) -> Ideal:
        gain = judgments.gains.of(judgments.grade, levels)
        chosen = np.flatnonzero(gain > 0)
        topic, gain = judgments.topic[chosen], gain[chosen]
        order = np.lexsort((-gain, topic))
        gain = gain[order]
        starts = np.concatenate(([0], np.cumsum(np.bincount(topic, minlength=len(judgments.topics))))).astype(np.int64)
        rank = np.arange(1, len(gain) + 1) - np.repeat(starts[:-1], np.diff(starts))
        ideal = cls(starts, gain, rank.astype(np.float64), np.empty(0))
        return replace(ideal, cumulated=ideal.running(gain))

    def sum(self, values: Floats, k: float | None = None) -> Floats:
        """Per topic, the sum of `values` (one per ideal document) over the first k ranks."""
        out = np.empty(len(self.starts) - 1)
        kernels.segment_sum(values if k is None else np.where(self.rank <= k, values, 0.0), self.starts, out)
        return out

    def running(self, values: Floats) -> Floats:
        """Running sum of `values` inside each topic's list."""
        out = np.empty(len(values))
        kernels.segment_cumsum(values, self.starts, out)
        return out

    def at(self, running: Floats, topic: Ints, rank: npt.NDArray[Any]) -> Floats:
        """A running sum read at these ranks of these topics; constant behind the last ideal document."""
        start, size = self.starts[topic], np.diff(self.starts)[topic]
        place = start + np.minimum(rank, size).astype(np.int64) - 1
        padded = np.append(running, 0.0)
        return np.where(size > 0, padded[np.maximum(place, 0)], 0.0)


class Hits:
    """The retrieved judged documents of every cell in rank order, as measures see them.

    `rank` is the document's rank in the run, `position` its place (1, 2, 3...) among the hits kept in this
    view. `relevant`, `judged`, `top` and `condensed` give narrower views; `sum` adds values up per cell and
    `each` hands a value per cell to its hits. R and N count the judgments, retrieved or not.
    """

    def __init__(
        self,
        judgments: Judgments,
        offsets: Ints,
        row: npt.NDArray[np.int32],
        rank: npt.NDArray[np.int32],
        length: npt.NDArray[np.int32],
        answered: npt.NDArray[np.bool_],
        rel: int = 1,
        parent: Hits | None = None,
    ) -> None:
        self.judgments, self.offsets, self.row, self.rank = judgments, offsets, row, rank
        self.length, self.answered, self.rel = length, answered, rel
        self._parent = parent
        self._kept: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self.row)

    @property
    def cells(self) -> int:
        """Number of (run, topic) pairs."""
        return len(self.length)

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    # -- what a hit is

    @functools.cached_property
    def grade(self) -> npt.NDArray[np.int32]:
        """Grade of each hit."""
        return self.judgments.grade[self.row]

    def gain(self, gains: Mapping[int, float] | None = None) -> Floats:
        """Gain of each hit (0 for nonrelevant ones)."""
        key = ("gain", None if gains is None else tuple(sorted(gains.items())))
        return cast(Floats, self._once(key, lambda: self.judgments.gains.of(self.judgments.grade, gains)[self.row]))

    @functools.cached_property
    def topic(self) -> Ints:
        """Topic number of each hit."""
        return self.judgments.topic[self.row]

    @functools.cached_property
    def position(self) -> Ints:
        """1, 2, 3... inside the cell, in rank order."""
        return np.arange(1, len(self) + 1) - self.each(self.offsets[:-1])

    # -- narrower views

    def _where(self, mask: npt.NDArray[np.bool_], rel: int | None = None) -> Hits:
        chosen = np.flatnonzero(mask)
        offsets = np.searchsorted(chosen, self.offsets)
        view = Hits(
            self.judgments,
            offsets,
            self.row[chosen],
            self.rank[chosen],
            self.length,
            self.answered,
            self.rel if rel is None else rel,
            self,
        )
        for known in ("grade", "topic"):
            if known in self.__dict__:
                view.__dict__[known] = self.__dict__[known][chosen]
        return view

    def relevant(self, rel: int = 1) -> Hits:
        """Only documents of grade `rel` or more; R and N follow."""
        return cast(Hits, self._once(("relevant", rel), lambda: self._where(self.grade >= rel, rel)))

    def gaining(self, gains: Mapping[int, float] | None = None) -> Hits:
        """Only documents with a gain."""
        key = ("gaining", None if gains is None else tuple(sorted(gains.items())))
        return cast(Hits, self._once(key, lambda: self._where(self.gain(gains) > 0)))

    def nonrelevant(self, rel: int = 1) -> Hits:
        """Only judged documents below grade `rel`."""
        return cast(
            Hits, self._once(("nonrelevant", rel), lambda: self._where((self.grade >= 0) & (self.grade < rel), rel))
        )

    def judged(self) -> Hits:
        """Without the documents of negative grade, which count as unjudged."""

        def make() -> Hits:
            return self if (self.grade >= 0).all() else self._where(self.grade >= 0)

        return cast(Hits, self._once("judged", make))

    @property
    def pooled(self) -> Hits:
        """With the documents of negative grade (pooled, not judged) if they were in the collection."""
        view = self
        while view._parent is not None:
            view = view._parent
        return view

    def top(self, k: float | None) -> Hits:
        """Only ranks up to k; everything where k is None."""
        if k is None:
            return self
        return cast(Hits, self._once(("top", k), lambda: self._where(self.rank <= k)))

    def condensed(self) -> Hits:
        """The condensed list: unjudged documents removed, ranks renumbered (METHODS A.25)."""

        def make() -> Hits:
            h = self.judged()
            length = np.diff(h.offsets).astype(np.int32)
            view = Hits(h.judgments, h.offsets, h.row, h.position.astype(np.int32), length, h.answered, h.rel)
            for known in ("grade", "topic", "position"):
                if known in h.__dict__:
                    view.__dict__[known] = h.__dict__[known]
            return view

        return cast(Hits, self._once("condensed", make))

    # -- cells

    def each(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A value per cell, handed to each of its hits."""
        return np.repeat(values, np.diff(self.offsets))

    def sum(self, values: npt.NDArray[Any]) -> Cells:
        """Values of the hits added up per cell, first rank first."""
        out = np.empty(self.cells)
        kernels.segment_sum(np.ascontiguousarray(values, np.float64), self.offsets, out)
        return out

    def count(self) -> Cells:
        """Number of hits per cell."""
        return np.diff(self.offsets).astype(np.float64)

    def above(self, chosen: npt.NDArray[Any]) -> Floats:
        """Running sum of `chosen` over the hits of the cell that stand before each hit."""
        return self.running(chosen) - chosen

    def running(self, values: npt.NDArray[Any]) -> Floats:
        """Running sum of `values` over the hits of the cell, this hit included."""
        out = np.empty(len(self))
        kernels.segment_cumsum(np.ascontiguousarray(values, np.float64), self.offsets, out)
        return out

    def running_product(self, values: Floats) -> Floats:
        """Running product of `values` over the hits of the cell, this hit included."""
        out = np.empty(len(self))
        kernels.segment_cumprod(np.ascontiguousarray(values, np.float64), self.offsets, out)
        return out

    def max(self, values: Floats) -> Cells:
        """Largest value of the hits per cell, 0 where there is none."""
        out = np.zeros(self.cells)
        filled = np.flatnonzero(np.diff(self.offsets))
        if len(filled):
            out[filled] = np.maximum.reduceat(values, self.offsets[filled])
        return out

    def first(self) -> tuple[npt.NDArray[np.bool_], Ints]:
        """Which cells have a hit, and the place of the first one (0 where there is none)."""
        found = np.diff(self.offsets) > 0
        return found, np.where(found, self.offsets[:-1], 0)

    def per_cell(self, by_topic: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A value per topic, repeated for each run."""
        return np.tile(by_topic, self.cells // max(len(self.judgments.topics), 1))

    @property
    def R(self) -> Cells:
        """Number of judged relevant documents of the cell's topic (grade >= rel)."""
        return self.per_cell(self.judgments.count(self.rel))

    @property
    def N(self) -> Cells:
        """Number of judged nonrelevant documents of the cell's topic (0 <= grade < rel)."""
        return self.per_cell(self.judgments.count(0, self.rel))

    def ideal(self, gains: Mapping[int, float] | None = None) -> Ideal:
        """The ideal lists of the topics."""
        return self.judgments.ideal(gains)

    def highest_gain(self, gains: Mapping[int, float] | None = None) -> float:
        """H: the gain of the collection's highest grade."""
        return self.judgments.gains.highest(gains)


@dataclass(frozen=True, eq=False)
class Rankings:
    """Full lists: for each cell, in rank order, a code per document.

    Codes below `len(judgments)` are rows of the judgments; larger ones stand for unjudged documents and
    are equal where topic and document are equal.
    """

    offsets: Ints
    doc: npt.NDArray[np.int32]
    unjudged: Ids

    @classmethod
    def of(cls, judgments: Judgments, runs: Sequence[RunTable]) -> Rankings:
        topics = len(judgments.topics)
        sizes, tables = [np.zeros(1, np.int64)], []
        for run in runs:
            assert run.docs is not None and run.doc_offsets is not None and run.doc_rows is not None
            sizes.append(np.diff(run.doc_offsets))
            tables.append((run.docs, run.doc_rows, np.repeat(np.arange(topics, dtype=np.int32), sizes[-1])))
        shifts = np.cumsum([0] + [len(d.blob) for d, _, _ in tables])
        docs = Ids(
            b"".join(d.blob for d, _, _ in tables),
            np.concatenate([d.ends + shift for (d, _, _), shift in zip(tables, shifts, strict=False)] or [np.zeros(0, np.int64)]),
        )
        rows = np.concatenate([r for _, r, _ in tables] or [np.zeros(0, np.int32)])
        topic = np.concatenate([t for _, _, t in tables] or [np.zeros(0, np.int32)])
        first = len(judgments)
        coded = kernels.code_documents(docs.blob, docs.ends, np.ascontiguousarray(topic), np.ascontiguousarray(rows), first)
        codes = np.frombuffer(coded, np.int32)
        unknown = np.flatnonzero(codes >= first)
        _, places = np.unique(codes[unknown], return_index=True)
        return cls(np.cumsum(np.concatenate(sizes)), codes, docs.take(unknown[places]))

    def ids(self, judgments: Judgments, cell: int) -> list[str]:
        """The documents of one cell, best first."""
        codes = self.doc[self.offsets[cell] : self.offsets[cell + 1]].tolist()
        return [judgments.docs[c] if c < len(judgments) else self.unjudged[c - len(judgments)] for c in codes]


@dataclass(frozen=True, eq=False)
class Collection:
    """Judgments and runs, ready to be scored, reduced and compared."""

    judgments: Judgments
    runs: tuple[str, ...]
    hits: Hits
    outside: tuple[int, ...]
    teams: Mapping[str, str]
    notes: tuple[str, ...]
    sources: tuple[str, ...]
    settings: Mapping[str, Any]
    _rankings: Callable[[], Rankings] = field(repr=False)

    @functools.cached_property
    def topics(self) -> tuple[str, ...]:
        """The judged topics, in the order of the judgments."""
        return tuple(self.judgments.topics)

    @functools.cached_property
    def rankings(self) -> Rankings:
        """Full lists (reads the runs again on first use)."""
        return self._rankings()

    def __repr__(self) -> str:
        teams = len({self.teams[r] for r in self.runs if r in self.teams})
        of_teams = f", {teams} teams" if teams else ""
        return f"<Collection: {len(self.runs)} runs{of_teams}, {len(self.topics)} topics, {len(self.judgments)} judgments>"


def join_hits(judgments: Judgments, runs: Sequence[RunTable]) -> Hits:
    """The hits of all runs in one array, run after run."""
    shifts = np.cumsum([0] + [len(r.row) for r in runs])
    offsets = np.concatenate([r.offsets[:-1] + s for r, s in zip(runs, shifts, strict=False)] + [shifts[-1:]])
    return Hits(
        judgments,
        offsets.astype(np.int64),
        np.concatenate([r.row for r in runs]),
        np.concatenate([r.rank for r in runs]),
        np.concatenate([r.length for r in runs]),
        np.concatenate([r.answered for r in runs]),
    )
