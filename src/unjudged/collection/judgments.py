"""Judgments: per topic the judged documents and their grades; gains and ideal lists derive from them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from unjudged import kernels
from unjudged.collection.segments import Floats, Ints, locked, ranges, starts_of
from unjudged.errors import InputError, UsageError
from unjudged.io.aspects import Aspects
from unjudged.io.ids import Ids
from unjudged.io.trec import UNJUDGED, QrelsTable

LARGEST_GAIN = 1e100
"""Gains are added up over documents and divided by each other."""


@dataclass(frozen=True)
class Gains:
    """Gain of each grade, and the highest grade of the full collection.

    A grade without an entry has its own value as gain; grades of 0 and below have none.
    """

    levels: tuple[tuple[int, float], ...] = ()
    top_grade: int = 1

    def __post_init__(self) -> None:
        by_grade = sorted(self.levels)
        values = [gain for _, gain in by_grade]
        if any(g > LARGEST_GAIN for g in values):
            raise UsageError(f"gains go up to {LARGEST_GAIN:g}, found {max(values):g}: sums of larger ones overflow")
        if not all(0 <= g < np.inf for g in values) or values != sorted(values):
            raise UsageError(f"gains must be non-negative and must not fall with the grade, found {dict(by_grade)}")
        if any(gain and grade < 1 for grade, gain in by_grade):
            raise UsageError(f"only grades above 0 have a gain, found {dict(by_grade)}")

    def check(self, grade: npt.NDArray[np.int32]) -> None:
        """A sentence where gains fall from one of these grades, or those named, to the next."""
        if not self.levels:
            return
        grades = np.union1d(grade[grade > 0], [level for level, _ in self.levels]).astype(np.int32)
        gains = self.of(grades)
        for place in np.flatnonzero(np.diff(gains) < 0)[:1].tolist():
            (a, b), (x, y) = grades[place : place + 2].tolist(), gains[place : place + 2].tolist()
            raise UsageError(
                f"gains must not fall with the grade: grade {a} has {x:g}, grade {b} {y:g} "
                "(a grade without a gain of its own has itself)"
            )

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


def key_of(gains: Mapping[int, float] | None) -> tuple[tuple[int, float], ...] | None:
    """Gains as a key under which what follows from them is kept."""
    return None if gains is None else tuple(sorted(gains.items()))


@dataclass(frozen=True, eq=False)
class Judgments:
    """Per topic the judged documents (rows) with their grades. Rows of a topic stand together."""

    topics: Ids
    starts: Ints
    docs: Ids
    grade: npt.NDArray[np.int32]
    lookup: Lookup
    gains: Gains
    order: Ints | None = None
    iterations: Ids = field(default_factory=lambda: Ids.of(["0"]))
    iteration: npt.NDArray[np.int32] | None = None
    group: npt.NDArray[np.int32] | None = None
    opinions: npt.NDArray[np.int32] | None = None
    """Documents x assessors, where several judged: the grade of each, UNJUDGED where there is none."""
    aspects: Aspects | None = None
    """Grades by subtopic, intent or nugget, where the judgments tell them apart."""
    confidence: Floats | None = None
    """How sure the judge was of each grade, where somebody says so; NaN where not. Told, never used as a weight."""
    source: str = "judgments"
    notes: tuple[str, ...] = ()
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for array in (self.starts, self.grade, self.order, self.iteration, self.group, self.opinions, self.confidence):
            if array is not None:
                locked(array)

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
            starts = starts_of(np.bincount(topic, minlength=len(table.topics)))
            if negative == "nonrelevant":
                grade = np.maximum(grade, 0)
            levels = tuple(sorted((int(k), float(v)) for k, v in (gains or {}).items()))
            top = max(int(grade.max(initial=0)), 1, *(level for level, _ in levels))
            group = table.group if table.group is None or keep is None else table.group[keep]
            opinions = table.opinions if table.opinions is None or keep is None else table.opinions[keep]
            aspects = table.aspects if table.aspects is None or keep is None else table.aspects.of_rows(keep)
            if opinions is not None and negative == "nonrelevant":
                opinions = np.where(opinions == UNJUDGED, opinions, np.maximum(opinions, 0))
            sure = table.confidence if table.confidence is None or keep is None else table.confidence[keep]
            scale = Gains(levels, top)
            scale.check(grade)
            return cls(
                table.topics,
                starts,
                docs,
                grade,
                Lookup(table.topics, docs, starts),
                scale,
                keep,
                table.iterations,
                iteration,
                group,
                opinions,
                aspects,
                sure,
                table.source,
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
                sentence = f"document {doc} has two grades in topic {topic}, {first} and {again}"
                second = None if table.iteration is None else table.iteration[where[worst]]
                if second is not None and second[0] != second[1]:
                    sentence += "; of subtopics (or assessors) say so: --qrels-format diversity (or qrels_jg)"
                raise InputError(sentence, table.source, at)
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

    def __getstate__(self) -> dict[str, Any]:
        """Arrays and ids travel; what follows from them is made again where it is needed."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "_kept"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _kept={})
        self.__post_init__()

    @property
    def index(self) -> Any:
        """The look-up of rows by topic and document; built when first asked for."""
        return self.lookup.index

    @functools.cached_property
    def topic(self) -> Ints:
        """Topic number of each row."""
        return locked(np.repeat(np.arange(len(self.topics)), np.diff(self.starts)))

    @functools.cached_property
    def lowest_grade(self) -> int:
        """The lowest grade of all judgments."""
        return int(self.grade.min(initial=0))

    @functools.cached_property
    def stratum(self) -> npt.NDArray[np.int32]:
        """Code of each row's iteration (the stratum of a sampled pool): those in use, by name."""
        if self.iteration is None:
            return locked(np.zeros(len(self), np.int32))
        used, code = np.unique(self.iteration, return_inverse=True)
        names = [self.iterations.raw(i) for i in used.tolist()]
        place = np.argsort(np.array(sorted(range(len(names)), key=names.__getitem__), np.int64))
        return locked(place[code].astype(np.int32))

    @functools.cached_property
    def best(self) -> Ints:
        """The rows that count: all, or the best one of each group of equivalent answers."""
        if self.group is None:
            return locked(np.arange(len(self)))
        order = np.lexsort((np.arange(len(self)), -self.grade, self.group, self.topic))
        key = self.topic[order] * (int(self.group.max(initial=0)) + 1) + self.group[order]
        return locked(np.sort(order[np.append(True, key[1:] != key[:-1])[: len(order)]]))

    def with_gains(self, gains: Mapping[int, float]) -> Judgments:
        """The same judgments with other gains."""
        levels = tuple(sorted((int(grade), float(gain)) for grade, gain in gains.items()))
        top = max(self.gains.top_grade, *(level for level, _ in levels), 1)
        scale = Gains(levels, top)
        scale.check(self.grade)
        return replace(self, gains=scale, _kept={})

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, made once for these judgments and kept under `key`."""
        if key not in self._kept:
            made = make()
            self._kept[key] = locked(made) if isinstance(made, np.ndarray) else made
        return self._kept[key]

    def count(self, low: int, high: int | None = None) -> Floats:
        """Per topic, the number of documents (or of groups, by their best grade) with low <= grade < high."""

        def make() -> Floats:
            grade, topic = self.grade, self.topic
            if self.group is not None:
                grade, topic = grade[self.best], topic[self.best]
            chosen = grade >= low if high is None else (grade >= low) & (grade < high)
            return np.bincount(topic[chosen], minlength=len(self.topics)).astype(np.float64)

        return cast(Floats, self.once(("count", low, high), make))

    def gain(self, levels: Mapping[int, float] | None = None) -> Floats:
        """Gain of each row."""
        return cast(Floats, self.once(("gain", key_of(levels)), lambda: self.gains.of(self.grade, levels)))

    def ideal(self, levels: Mapping[int, float] | None = None) -> Ideal:
        """The ideal list of each topic: documents with a gain, best first."""
        return cast(Ideal, self.once(("ideal", key_of(levels)), lambda: Ideal.of(self, levels)))

    def only(self, topics: Sequence[int]) -> Judgments:
        """These topics alone (gains and H stay those of the full collection)."""
        chosen = np.asarray(topics, np.int64)
        sizes = np.diff(self.starts)[chosen]
        rows = ranges(self.starts[:-1][chosen], sizes)
        here = self._with_rows(rows, self.topics.take(chosen), starts_of(sizes))
        return here if here.aspects is None else replace(here, aspects=here.aspects.of_topics(chosen))

    def keeping(self, kept: npt.NDArray[np.bool_]) -> Judgments:
        """Only the rows chosen by a mask. Every topic stays; gains and H stay those of the full collection."""
        return self._with_rows(np.flatnonzero(kept), self.topics, starts_of(kept)[self.starts])

    def _with_rows(self, rows: Ints, topics: Ids, starts: Ints) -> Judgments:
        docs = self.docs.view(rows)
        return replace(
            self,
            topics=topics,
            starts=starts,
            docs=docs,
            grade=self.grade[rows],
            lookup=Lookup(topics, docs, starts),
            order=rows if self.order is None else self.order[rows],
            iteration=None if self.iteration is None else self.iteration[rows],
            group=None if self.group is None else self.group[rows],
            opinions=None if self.opinions is None else self.opinions[rows],
            confidence=None if self.confidence is None else self.confidence[rows],
            aspects=None if self.aspects is None else self.aspects.of_rows(rows),
            _kept={},
        )

    def with_grades(self, grade: npt.NDArray[np.int32], top_grade: int | None = None) -> Judgments:
        """The same rows with other grades; gains and H stay those of the full collection, or of another top grade.

        What each of several assessors said, what was said of single aspects, and confidence, does not stay.
        """
        gains = self.gains if top_grade is None else Gains(self.gains.levels, top_grade)
        return replace(self, grade=grade, gains=gains, opinions=None, aspects=None, confidence=None, _kept={})


@dataclass(frozen=True, eq=False)
class Lookup:
    """The look-up of rows by topic and document: built when first asked for, and shared by judgments of equal rows."""

    topics: Ids
    docs: Ids
    starts: Ints

    @functools.cached_property
    def index(self) -> Any:
        """The kernel's look-up."""
        return kernels.Index(self.topics.blob, self.topics.ends, self.docs.blob, self.docs.ends, self.starts)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, eq=False)
class Ideal:
    """Gains of all relevant documents per topic in descending order, topic after topic."""

    starts: Ints
    gain: Floats
    grade: npt.NDArray[np.int32]
    rank: Floats
    cumulated: Floats

    def __post_init__(self) -> None:
        for array in (self.starts, self.gain, self.grade, self.rank, self.cumulated):
            locked(array)

    @classmethod
    def of(cls, judgments: Judgments, levels: Mapping[int, float] | None) -> Ideal:
        """The documents with a gain, sorted."""
        gain = judgments.gain(levels)
        chosen = judgments.best[gain[judgments.best] > 0]
        topic, gain, grade = judgments.topic[chosen], gain[chosen], judgments.grade[chosen]
        order = np.lexsort((-grade, -gain, topic))
        gain, grade = gain[order], grade[order]
        starts = starts_of(np.bincount(topic, minlength=len(judgments.topics)))
        rank = np.arange(1, len(gain) + 1) - np.repeat(starts[:-1], np.diff(starts))
        ideal = cls(starts, gain, grade, rank.astype(np.float64), np.empty(0))
        return replace(ideal, cumulated=ideal.running(gain))

    @functools.cached_property
    def size(self) -> Floats:
        """Number of ideal documents per topic."""
        return np.diff(self.starts).astype(np.float64)

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

    def running_product(self, values: Floats) -> Floats:
        """Running product of `values` inside each topic's list."""
        out = np.empty(len(values))
        kernels.segment_cumprod(values, self.starts, out)
        return out

    def at(self, running: Floats, topic: Ints, rank: npt.NDArray[Any]) -> Floats:
        """A running sum read at these ranks of these topics; constant behind the last ideal document."""
        start, size = self.starts[topic], np.diff(self.starts)[topic]
        place = start + np.minimum(rank, size).astype(np.int64) - 1
        padded = np.append(running, 0.0)
        return np.where(size > 0, padded[np.maximum(place, 0)], 0.0)
