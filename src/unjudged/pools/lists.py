"""The runs' lists of one topic, as the strategies of pool building see them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Ints
from unjudged.collection.segments import ranges, starts_of


@dataclass(frozen=True, eq=False)
class TopicLists:
    """Every entry of every run's list of one topic: run, document, rank, score.

    Runs are numbered in the order of their names and documents in the order of their ids, so the order in which
    runs were given makes no difference and the smaller number wins a tie. Entries stand run by run, best first.
    """

    topic: str
    runs: int
    run: Ints
    doc: Ints
    rank: Ints
    score: Floats
    ids: tuple[str, ...]
    code: Ints
    """Each document's code in the collection's rankings."""

    @property
    def docs(self) -> int:
        """Number of documents retrieved by some run."""
        return len(self.ids)

    @functools.cached_property
    def length(self) -> Ints:
        """Length of each run's list."""
        return np.bincount(self.run, minlength=self.runs)

    @functools.cached_property
    def best(self) -> Ints:
        """Best rank of each document."""
        best = np.full(self.docs, np.iinfo(np.int64).max)
        np.minimum.at(best, self.doc, self.rank)
        return best

    @functools.cached_property
    def popularity(self) -> Ints:
        """Number of runs that retrieve each document."""
        return np.bincount(self.doc, minlength=self.docs)

    @functools.cached_property
    def _by_doc(self) -> tuple[Ints, Ints]:
        return np.argsort(self.doc, kind="stable"), starts_of(self.popularity)

    def entries_of(self, doc: int) -> Ints:
        """The entries of one document, in the order of the runs."""
        order, starts = self._by_doc
        return order[starts[doc] : starts[doc + 1]]

    def sum(self, values: npt.NDArray[np.floating[Any]]) -> Floats:
        """A value per entry, added up per document, smallest first: which run gave which value makes no difference."""
        order = np.lexsort((values, self.doc))
        return np.bincount(self.doc[order], weights=values[order], minlength=self.docs).astype(np.float64)

    def by_best_rank(self, depth: int | None = None) -> Ints:
        """Documents by best rank, ties by id; only those of rank `depth` or better."""
        order = np.argsort(self.best, kind="stable")
        return order if depth is None else order[self.best[order] <= depth]

    @functools.cached_property
    def normalised(self) -> Floats:
        """Scores brought to 0 (the list's lowest) .. 1 (its highest); 1 where all scores of a list are equal."""
        out = np.ones(len(self.score))
        for start, stop in self.bounds():
            score = self.score[start:stop]
            finite = score[np.isfinite(score)]
            low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
            if high > low:
                half = 1.0 if high - low < np.inf else 0.5  # the spread of the largest numbers overflows
                out[start:stop] = (np.clip(score, low, high) * half - low * half) / (high * half - low * half)
            elif score.min() < score.max():  # only infinite scores differ
                out[start:stop] = score > score.min()
        return out

    def bounds(self) -> Iterator[tuple[int, int]]:
        """First and last entry of each run's list that is not empty."""
        stops = np.cumsum(self.length).tolist()
        for start, stop in zip([0, *stops], stops, strict=False):
            if stop > start:
                yield start, stop


@dataclass(frozen=True, eq=False)
class Choice:
    """What a strategy chose for one topic: documents in the order of judging.

    A sample also has each chosen document's inclusion probability, the whole pool it was drawn from (numbers in
    ascending order) and the pooled documents' strata; elsewhere the pool is what was chosen.
    """

    chosen: Ints
    pool: Ints
    stratum: Ints
    probability: Floats | None = None

    @classmethod
    def all_of(cls, chosen: Ints) -> Choice:
        """A pool judged completely."""
        return cls(chosen, np.sort(chosen), np.zeros(len(chosen), np.int64))


def topic_lists(collection: Collection, depth: int | None = None) -> Iterator[TopicLists]:
    """The lists of each topic in the order of the judgments, cut at `depth`."""
    rankings, judgments = collection.rankings, collection.judgments
    topics, first = len(collection.topics), len(judgments)
    by_name = sorted(range(len(collection.runs)), key=collection.runs.__getitem__)
    for t, topic in enumerate(collection.topics):
        cells = np.array(by_name, np.int64) * topics + t
        sizes = np.minimum(np.diff(rankings.offsets)[cells], depth or np.iinfo(np.int64).max)
        at = ranges(rankings.offsets[:-1][cells], sizes)
        found, place = np.unique(rankings.doc[at], return_inverse=True)
        raw = [judgments.docs.raw(c) if c < first else rankings.unjudged.raw(c - first) for c in found.tolist()]
        order = sorted(range(len(raw)), key=raw.__getitem__)
        number = np.empty(len(raw), np.int64)
        number[order] = np.arange(len(raw))
        code = found[np.asarray(order, np.int64)].astype(np.int64)
        yield TopicLists(
            topic,
            len(by_name),
            np.repeat(np.arange(len(by_name)), sizes),
            number[place],
            ranges(np.ones(len(sizes), np.int64), sizes),
            rankings.score[at],
            tuple(judgments.docs[c] if c < first else rankings.unjudged[c - first] for c in code.tolist()),
            code,
        )
