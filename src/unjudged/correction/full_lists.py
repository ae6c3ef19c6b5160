"""The full lists of a collection as the correction reads them: topic by topic, with ranks to look up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Ints
from unjudged.correction.merging import Int32s, TopicLists


@dataclass(frozen=True, eq=False)
class Lists:
    """Some runs of a collection with their full lists. Run numbers here count these runs only.

    `answered`: runs x judged topics. `outside`: runs x runs, the number of topics without judgments both answer.
    `offsets` and `doc` are the lists of the collection's rankings; `numbers` say which runs there are meant.
    """

    runs: tuple[str, ...]
    numbers: Ints
    answered: npt.NDArray[np.bool_]
    outside: Ints
    offsets: Ints
    doc: Int32s
    codes: int

    @classmethod
    def of(cls, collection: Collection, runs: tuple[str, ...]) -> Lists:
        """The lists of these runs."""
        place = {run: i for i, run in enumerate(collection.runs)}
        numbers = np.array([place[run] for run in runs], np.int64)
        rankings = collection.rankings
        answered = collection.hits.answered.reshape(len(collection.runs), -1)[numbers]
        names = [frozenset(rankings.outside[i]) for i in numbers]
        outside = np.array([[len(a & b) for b in names] for a in names], np.int64).reshape(len(runs), len(runs))
        codes = max(int(rankings.doc.max(initial=-1)) + 1, len(collection.judgments))
        return cls(runs, numbers, answered, outside, rankings.offsets, rankings.doc, codes)

    def topics_of(self, run: Ints, other: Ints) -> Ints:
        """Number of topics two runs share, those without judgments included (runs x runs, broadcast)."""
        shared = self.answered.astype(np.int64) @ self.answered.T.astype(np.int64) + self.outside
        return shared[run, other]

    def first(self, n: int) -> tuple[Ints, Int32s]:
        """Run and code of every document among the first n of its list."""
        topics, offsets = self.answered.shape[1], self.offsets
        cells = (self.numbers[:, None] * topics + np.arange(topics)).ravel()
        sizes = np.minimum(offsets[cells + 1] - offsets[cells], n)
        place = np.arange(int(sizes.sum())) + np.repeat(offsets[cells] - (np.cumsum(sizes) - sizes), sizes)
        run = np.repeat(np.repeat(np.arange(len(self.runs)), topics), sizes)
        return run, self.doc[place]

    def filled(self, n: int) -> Ints:
        """Runs x judged topics: how many of the first n places hold a document."""
        cells = self.numbers[:, None] * self.answered.shape[1] + np.arange(self.answered.shape[1])
        return np.asarray(np.minimum(self.offsets[cells + 1] - self.offsets[cells], n), np.int64)

    def count(self, chosen: npt.NDArray[np.bool_], n: int) -> Ints:
        """Per run, how many of the chosen judgments are among the first n of its lists, all topics together."""
        run, code = self.first(n)
        judged = code < len(chosen)
        return np.bincount(run[judged][chosen[code[judged]]], minlength=len(self.runs))

    def __iter__(self) -> Iterator[TopicLists]:
        """The lists of each judged topic."""
        topics = self.answered.shape[1]
        number, seen = np.zeros(self.codes, np.int32), np.zeros(self.codes, bool)
        for t in range(topics):
            starts = self.offsets[self.numbers * topics + t]
            lengths = self.offsets[self.numbers * topics + t + 1] - starts
            longest = int(lengths.max(initial=0))
            inside = np.arange(longest) < lengths[:, None]
            place = np.where(inside, starts[:, None] + np.arange(longest), 0)
            codes = self.doc[place] if longest else np.zeros(place.shape, np.int32)
            seen[codes[inside]] = True
            code = np.flatnonzero(seen).astype(np.int32)
            seen[code] = False
            number[code] = np.arange(len(code))
            docs = np.where(inside, number[codes], len(code)).astype(np.int32)
            rank = np.zeros((len(self.runs), len(code) + 1), np.int32)
            rows = np.repeat(np.arange(len(self.runs)), lengths)
            rank[rows, docs[inside]] = (np.nonzero(inside)[1] + 1).astype(np.int32)
            yield TopicLists(docs, rank, code)
