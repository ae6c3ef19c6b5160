"""The score of a run under any combination of settings, from the registered measures where those know the setting."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats, Hits, Ints, Judgments
from unjudged.collection.joining import keep_hits
from unjudged.collection.segments import starts_of
from unjudged.diagnosis.lines import Lines
from unjudged.measures import Measure

Chosen = Mapping[str, str]
"""Setting -> value, for those that differ from ours."""

GEOMETRIC_FLOOR = 1e-5
"""trec_eval's smallest value in a geometric mean."""


@dataclass(frozen=True, eq=False)
class Ordered:
    """Lines in rank order: topic number (-1: not judged), row of the judgment (-1: unjudged), place in the list."""

    topic: Ints
    row: Ints
    rank: Ints


@dataclass(frozen=True, eq=False)
class Values:
    """Per judged topic the value as numerator over denominator, whether anything is relevant and whether the run
    answers; and how many topics of the run nobody judged."""

    top: Floats
    bottom: Floats
    defined: npt.NDArray[np.bool_]
    answered: npt.NDArray[np.bool_]
    outside: int

    @property
    def ratio(self) -> Floats:
        """The value of each topic; 0 where it is undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.bottom > 0, self.top / self.bottom, 0.0)

    def counted(self, chosen: Chosen) -> npt.NDArray[np.bool_]:
        """The topics that count in the mean."""
        counted = self.answered.copy() if chosen.get("topics") in ("run", "own") else np.ones(len(self.top), bool)
        return counted & self.defined if chosen.get("undefined") == "drop" else counted

    def mean(self, chosen: Chosen) -> float:
        """The value over the topics that count."""
        counted = self.counted(chosen)
        if not counted.any():
            return float("nan")
        if chosen.get("average") == "micro":
            whole = float(self.bottom[counted].sum())
            return float(self.top[counted].sum()) / whole if whole else float("nan")
        values = self.ratio[counted]
        if chosen.get("topics") in ("all", "own"):
            values = np.append(values, np.zeros(self.outside))
        return averaged(values, chosen)


def averaged(values: Floats, chosen: Chosen) -> float:
    """The mean of the kind asked for."""
    if chosen.get("average") == "geometric":
        return float(np.exp(np.log(np.maximum(values, GEOMETRIC_FLOOR)).mean()))
    return float(values.mean())


def as_number(name: str) -> str:
    """An id as a table of numbers would keep it: 007 becomes 7, 7.0 becomes 7; other ids stay."""
    try:
        number = float(name)
    except ValueError:
        return name
    return str(int(number)) if abs(number) < 2**53 and number == int(number) else name


KEPT = 200
"""Ways to read the lists that are kept: with up to three settings changed, most are asked for many times."""


class Evaluation:
    """One run over one set of judgments, read in any of the ways of `settings`."""

    def __init__(self, judgments: Judgments, lines: Lines) -> None:
        self.judgments, self.lines = judgments, lines
        by_name = np.argsort(np.array(lines.doc, dtype=object), kind="stable")
        name = np.empty(len(lines.doc), np.int64)
        name[by_name] = np.cumsum([0, *(lines.doc[a] != lines.doc[b] for a, b in itertools.pairwise(by_name))])
        self._name = name  # documents numbered by their ids as text
        self._matched: dict[str, tuple[Ints, Ints, Ints, int]] = {}
        self._ordered: dict[tuple[str, str, str, str], Ordered] = {}
        self._hits: dict[tuple[Any, ...], tuple[Hits, Ordered]] = {}

    @functools.cached_property
    def _places(self) -> dict[str, int]:
        return {topic: number for number, topic in enumerate(self.judgments.topics)}

    def place_of(self, topic: str) -> int:
        """The number of a judged topic."""
        return self._places[topic]

    @functools.cached_property
    def longest(self) -> int:
        """Lines of the longest list."""
        return int(np.bincount(self.matched()[1]).max(initial=0))

    @functools.cached_property
    def has_ties(self) -> bool:
        """Do two documents of a list have equal scores, in single precision at least?"""
        of, score = self.matched()[1], self.lines.score.astype(np.float32)
        return len(np.unique(np.stack([of, score.astype(np.float64)]), axis=1).T) < len(of)

    @functools.cached_property
    def has_duplicates(self) -> bool:
        """Is a document listed twice in a topic?"""
        return len(np.unique(np.stack([self.matched()[1], self._name]), axis=1).T) < len(self._name)

    @functools.cached_property
    def has_holes(self) -> bool:
        """Is a document of a judged topic unjudged?"""
        topic, _, row, _ = self.matched()
        return bool(((topic >= 0) & (row < 0)).any())

    def matched(self, ids: str = "text") -> tuple[Ints, Ints, Ints, int]:
        """Per line: judged topic, list, row of the judgment (-1: none); and how many topics nobody judged."""
        if ids not in self._matched:
            same = as_number if ids == "number" else str
            judgments = self.judgments
            topics: dict[str, int] = {}
            for number, name in enumerate(judgments.topics):
                topics.setdefault(same(name), number)
            rows: dict[tuple[int, str], int] = {}
            for row, (number, doc) in enumerate(zip(judgments.topic.tolist(), judgments.docs, strict=True)):
                rows.setdefault((topics[same(judgments.topics[number])], same(doc)), row)
            lists: dict[str, int] = {}
            topic = [topics.get(same(name), -1) for name in self.lines.topic]
            of = [lists.setdefault(same(name), len(lists)) for name in self.lines.topic]
            there = [rows.get((t, same(doc)), -1) for t, doc in zip(topic, self.lines.doc, strict=True)]
            outside = sum(name not in topics for name in lists)
            self._matched[ids] = np.array(topic), np.array(of), np.array(there), outside
        return self._matched[ids]

    def ordered(self, chosen: Chosen) -> Ordered:
        """The lines of judged topics in rank order."""
        ids, order = chosen.get("ids", "text"), chosen.get("order", "score")
        key = ids, order, chosen.get("ties", "descending"), chosen.get("duplicates", "best")
        if key not in self._ordered:
            self._ordered[key] = self._sorted(*key)
        return self._ordered[key]

    def _sorted(self, ids: str, order: str, ties: str, duplicates: str) -> Ordered:
        topic, of, row, _ = self.matched(ids)
        score = self.lines.score.astype(np.float32).astype(np.float64) if ties == "float32" else self.lines.score
        place = np.arange(len(topic))
        last = {"descending": -self._name, "float32": -self._name, "ascending": self._name, "file": place}[ties]
        by = {"score": (last, -score), "distance": (last, score), "rank": (place, self.lines.rank), "file": (place,)}[
            order
        ]
        lines = place
        document = of * (int(self._name.max(initial=0)) + 1) + self._name
        if duplicates == "last":  # a dict: the last line gives the score, the first one the place
            lines = len(place) - 1 - np.unique(document[::-1], return_index=True)[1]
        sorted_ = lines[np.lexsort((*(k[lines] for k in by), of[lines]))]
        if duplicates == "best":
            sorted_ = sorted_[np.sort(np.unique(document[sorted_], return_index=True)[1])]
        many = np.bincount(of[sorted_], minlength=int(of.max(initial=-1)) + 1)
        rank = np.arange(1, len(sorted_) + 1) - np.repeat(starts_of(many)[:-1], many)
        judged = topic[sorted_] >= 0
        return Ordered(topic[sorted_][judged], row[sorted_][judged], rank[judged])

    def hits(self, chosen: Chosen, k: int | None) -> tuple[Hits, Ordered]:
        """The judged hits of the lists as these settings leave them, and the lists; the last ones are kept."""
        cut = k if chosen.get("unjudged") == "cut-first" else None
        key = *(chosen.get(name) for name in ("ids", "order", "ties", "duplicates", "truncate", "unjudged")), cut
        if (kept := self._hits.get(key)) is None:
            kept = self._hits[key] = self._hits_of(chosen, k)
            if len(self._hits) > KEPT:
                del self._hits[next(iter(self._hits))]
        return kept

    def _hits_of(self, chosen: Chosen, k: int | None) -> tuple[Hits, Ordered]:
        found = self.ordered(chosen)
        topic, row, rank = found.topic, found.row, found.rank
        if (depth := chosen.get("truncate")) is not None:
            topic, row, rank = (column[found.rank <= int(depth)] for column in (topic, row, rank))
        policy = chosen.get("unjudged")
        if policy == "cut-first" and k is not None:
            topic, row, rank = (column[rank <= k] for column in (topic, row, rank))
        if policy is not None:
            kept = row >= 0
            topic, row = topic[kept], row[kept]
        order = np.argsort(topic, kind="stable")
        topic, row = topic[order], row[order]
        length = np.bincount(topic, minlength=len(self.judgments.topics))
        rank = np.arange(1, len(topic) + 1) - np.repeat(starts_of(length)[:-1], length)
        judged = row >= 0
        offsets = starts_of(np.bincount(topic[judged], minlength=len(self.judgments.topics)))
        return (
            Hits(
                self.judgments,
                offsets,
                row[judged].astype(np.int32),
                rank[judged].astype(np.int32),
                length.astype(np.int32),
                np.bincount(found.topic, minlength=len(length)) > 0,
            ),
            Ordered(topic, row, rank),
        )

    def values(self, measure: Measure, chosen: Chosen) -> Values:
        """The value of every judged topic."""
        k: int | None = measure.params.get("k")
        if (cut := chosen.get("cutoff")) is not None and "k" in measure.params:
            k = None if cut == "none" else int(cut)
            measure = measure(k=k) if k is not None else _uncut(measure)
        hits, lists = self.hits(chosen, k)
        if "rel" in chosen and "rel" in measure.params:
            measure = measure(rel=int(chosen["rel"]))
        top, bottom = self._parts(measure, hits, lists, chosen, k)
        defined = self.judgments.count(int(measure.params.get("rel") or 1)) > 0
        return Values(top, bottom, defined, hits.answered, self.matched(chosen.get("ids", "text"))[3])

    def _parts(
        self, measure: Measure, hits: Hits, lists: Ordered, chosen: Chosen, k: int | None
    ) -> tuple[Floats, Floats]:
        """Numerator and denominator per topic."""
        name, denominator = measure.name, chosen.get("denominator")
        if name not in ("nDCG", "DCG", "AP", "R", "P"):
            cells = measure.cells(hits)
            return np.nan_to_num(cells), np.where(np.isnan(cells), 0.0, 1.0)
        if measure.condensed:
            hits = hits.condensed()
        if name in ("nDCG", "DCG"):
            return self._gained(measure, hits, lists, chosen, k)
        relevant = hits.relevant(int(measure.params["rel"])).top(k)
        if name == "AP":
            found = relevant.count()
            return relevant.sum(relevant.precision()), found if denominator == "found" else _below(
                relevant, k, denominator
            )
        if name == "R":
            return relevant.count(), _below(relevant, k, denominator)
        below = hits.length if k is None else np.minimum(hits.length, k) if denominator else np.full(hits.cells, k)
        return relevant.count(), below.astype(np.float64)

    def _gained(
        self, measure: Measure, hits: Hits, lists: Ordered, chosen: Chosen, k: int | None
    ) -> tuple[Floats, Floats]:
        """DCG, and the DCG of the ideal list."""
        params = measure.params
        form = "exp" if chosen.get("gains") == "exp" or params.get("dcg") == "exp-log2" else "grade"
        discount = _DISCOUNTS[chosen.get("discount") or ("jk" if params.get("dcg") == "jk" else "log2(r+1)")]
        gains, ideal = params.get("gains"), chosen.get("ideal")
        if chosen.get("gains") == "binary":
            least = int(chosen.get("rel", 1))
            gains = {grade: float(grade >= least) for grade in np.unique(self.judgments.grade).tolist() if grade > 0}
        amount = functools.partial(_amount, form)
        if ideal is not None:  # only what was retrieved (above the cut-off) can stand in the ideal list
            kept = np.zeros(len(self.judgments), bool)
            there = lists.row >= 0
            if ideal == "top" and k is not None:
                there &= lists.rank <= k
            kept[lists.row[there]] = True
            hits = keep_hits(hits, self.judgments.keeping(kept), kept)
        best = hits.ideal(gains)
        gaining = hits.gaining(gains).top(k)
        top = gaining.sum(amount(gaining.gain(gains)) / discount(gaining.rank.astype(np.float64)))
        if measure.name == "DCG":
            return top, np.where(best.size > 0, 1.0, 0.0)
        return top, best.sum(amount(best.gain) / discount(best.rank), k)


def _below(relevant: Hits, k: int | None, denominator: str | None) -> Floats:
    """What AP and R divide by: the relevant documents, at most the cut-off, or the cut-off."""
    if denominator is None or k is None:
        return relevant.R
    return np.minimum(relevant.R, k) if denominator == "min(k,R)" else np.full(relevant.cells, float(k))


_DISCOUNTS: dict[str, Callable[[Floats], Floats]] = {
    "log2(r+1)": lambda rank: np.log2(rank + 1),
    "log2(r+2)": lambda rank: np.log2(rank + 2),
    "jk": lambda rank: np.maximum(np.log2(np.maximum(rank, 2.0)), 1.0),
    "ln": lambda rank: np.log(rank + 1),
    "log10": lambda rank: np.log10(rank + 1),
}


def _amount(form: str, gain: Floats) -> Floats:
    return np.exp2(gain) - 1 if form == "exp" else gain


def _uncut(measure: Measure) -> Measure:
    """The measure without its cut-off."""
    from unjudged.measures import REGISTRY

    params = {name: value for name, value in measure.params.items() if name != "k"}
    return REGISTRY[measure.name](**params)
