"""Rankings: full lists with a code per document, built only when asked (pooling, merging, RBO)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged import kernels
from unjudged.collection.judgments import Judgments
from unjudged.collection.segments import Ints, locked, ranges, starts_of
from unjudged.errors import UsageError
from unjudged.io.ids import Ids
from unjudged.io.trec import RunTable


@dataclass(frozen=True, eq=False)
class Rankings:
    """Full lists: for each cell, in rank order, a code per document and its score.

    Codes below `len(judgments)` are rows of the judgments; larger ones stand for unjudged documents and
    are equal where topic and document are equal. Scores are as the tie rule compares them.
    """

    offsets: Ints
    doc: npt.NDArray[np.int32]
    unjudged: Ids
    score: npt.NDArray[np.float64]
    outside: tuple[tuple[str, ...], ...] = ()
    """Per run, its topics outside the judgments."""

    def __post_init__(self) -> None:
        for array in (self.offsets, self.doc, self.score):
            locked(array)

    @classmethod
    def of(cls, judgments: Judgments, runs: Sequence[RunTable]) -> Rankings:
        """The lists of runs that were read with all their documents."""
        nothing = np.zeros(0, np.int32)
        return cls(np.zeros(1, np.int64), nothing, Ids.of([]), np.zeros(0)).followed_by(judgments, runs)

    def followed_by(self, judgments: Judgments, runs: Sequence[RunTable]) -> Rankings:
        """These lists and, behind them, those of more runs; the documents known here keep their codes."""
        topics, first, known = len(judgments.topics), len(judgments), len(self.unjudged)
        sizes, scores = [self.offsets[:1], np.diff(self.offsets)], [self.score]
        tables = (
            [(self.unjudged, np.full(known, -1, np.int32), self._topic_of_unjudged(first, topics))] if known else []
        )
        for run in runs:
            assert run.docs is not None and run.doc_offsets is not None
            assert run.doc_rows is not None and run.doc_scores is not None
            scores.append(run.doc_scores)
            sizes.append(np.diff(run.doc_offsets))
            tables.append((run.docs, run.doc_rows, np.repeat(np.arange(topics, dtype=np.int32), sizes[-1])))
        shifts = np.cumsum([0] + [len(d.blob) for d, _, _ in tables])
        docs = Ids(
            b"".join(d.blob for d, _, _ in tables),
            np.concatenate(
                [d.ends + shift for (d, _, _), shift in zip(tables, shifts, strict=False)] or [np.zeros(0, np.int64)]
            ),
        )
        rows = np.concatenate([r for _, r, _ in tables] or [np.zeros(0, np.int32)])
        topic = np.concatenate([t for _, _, t in tables] or [np.zeros(0, np.int32)])
        each = np.ascontiguousarray(topic), np.ascontiguousarray(rows)
        try:
            coded = kernels.code_documents(docs.blob, docs.ends, *each, first)
        except OverflowError:
            raise UsageError(
                "these runs list over 2,147,483,647 unjudged documents together; take fewer runs"
            ) from None
        codes = np.frombuffer(coded, np.int32)
        unknown = np.flatnonzero(codes >= first)
        highest = np.maximum.accumulate(codes[unknown])  # codes count up as documents appear
        new = unknown[np.flatnonzero(np.diff(highest, prepend=first - 1))]
        outside = (*self.outside, *(run.outside_names for run in runs))
        lists = np.concatenate([self.doc, codes[known:]]) if len(self.doc) else codes
        return Rankings(np.cumsum(np.concatenate(sizes)), lists, docs.view(new), np.concatenate(scores), outside)

    def _topic_of_unjudged(self, first: int, topics: int) -> npt.NDArray[np.int32]:
        """The topic of each unjudged document."""
        unjudged = np.flatnonzero(self.doc >= first)
        found = np.zeros(len(self.unjudged), np.int32)
        found[self.doc[unjudged] - first] = (self.cell % topics)[unjudged]
        return found

    @property
    def cell(self) -> Ints:
        """Cell number of each entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def rank(self) -> Ints:
        """Rank of each entry in its list."""
        return ranges(np.ones(len(self.offsets) - 1, np.int64), np.diff(self.offsets))

    def keeping(self, judgments: Judgments, kept: npt.NDArray[np.bool_]) -> Rankings:
        """The same lists where only the rows chosen by a mask are judged; `judgments` hold all rows."""
        code = _codes_keeping(kept)
        others = np.arange(len(judgments), len(judgments) + len(self.unjudged))
        codes = np.concatenate([code, others]).astype(np.int32).take(self.doc, mode="clip")
        unjudged = judgments.docs.view(np.flatnonzero(~kept)).followed_by(self.unjudged)
        return replace(self, doc=codes, unjudged=unjudged)

    def in_cells(self, cells: Ints, runs: Sequence[int] | None = None) -> Rankings:
        """The lists of these cells, in this order, which belong to these runs (by number; all if none are named)."""
        sizes = np.diff(self.offsets)[cells]
        chosen = ranges(self.offsets[:-1][cells], sizes)
        outside = self.outside if runs is None else tuple(self.outside[r] for r in runs)
        return replace(self, offsets=starts_of(sizes), doc=self.doc[chosen], score=self.score[chosen], outside=outside)

    def ids(self, judgments: Judgments, cell: int) -> list[str]:
        """The documents of one cell, best first."""
        codes = self.doc[self.offsets[cell] : self.offsets[cell + 1]].tolist()
        return [judgments.docs[c] if c < len(judgments) else self.unjudged[c - len(judgments)] for c in codes]


def _codes_keeping(kept: npt.NDArray[np.bool_]) -> Ints:
    """The new code of each judgment where only those chosen by a mask stay; codes of unjudged documents stay as they
    are."""
    return np.where(kept, np.cumsum(kept), np.cumsum(~kept) + kept.sum()) - 1


def codes_keeping(codes: npt.NDArray[np.integer], kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """Codes of documents where only the judgments chosen by a mask stay, as `Rankings.keeping` gives them."""
    found = codes.astype(np.int32)
    judged = np.flatnonzero(found < len(kept))
    found[judged] = _codes_keeping(kept)[found[judged]]
    return found


class FullLists:
    """Full lists that are read when they are first asked for, and then kept.

    How to make them is plain data: a function of a module and what it is given.
    """

    def __init__(self, make: Callable[..., Rankings], *given: Any) -> None:
        self._made: Rankings | tuple[Callable[..., Rankings], tuple[Any, ...]] = make, given
        self._first: dict[int, npt.NDArray[np.int32]] = {}

    def get(self) -> Rankings:
        """The lists."""
        if isinstance(self._made, tuple):
            make, given = self._made
            self._made = make(*given)
        return self._made

    @property
    def made(self) -> bool:
        """Were they asked for already?"""
        return not isinstance(self._made, tuple)

    @property
    def lengths(self) -> Ints:
        """How long each list is."""
        before = self._before_keeping
        return np.diff(self.get().offsets) if before is None else before[0].lengths

    def first(self, depth: int) -> npt.NDArray[np.int32]:
        """The codes in the first `depth` ranks of every list. Where judgments were only taken away and the whole lists
        were not asked for, nothing below these ranks is coded again."""
        if depth not in self._first:
            before = self._before_keeping
            if before is not None:
                lists, kept = before
                self._first[depth] = locked(codes_keeping(lists.first(depth), kept))
            else:
                whole = self.get()
                chosen = ranges(whole.offsets[:-1], np.minimum(np.diff(whole.offsets), depth))
                self._first[depth] = locked(whole.doc[chosen])
        return self._first[depth]

    @property
    def _before_keeping(self) -> tuple[FullLists, npt.NDArray[np.bool_]] | None:
        """The lists from which these are made by taking judgments away, and the mask of those that stay."""
        if isinstance(self._made, tuple) and self._made[0] is _after:
            before, step, given = self._made[1]
            if step is Rankings.keeping:
                return before, given[1]
        return None

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what can be computed again."""
        return {"_made": self._made, "_first": {}}

    def then(self, step: Callable[..., Rankings], *given: Any) -> FullLists:
        """What a step (a method of Rankings, say) makes of these lists."""
        return FullLists(_after, self, step, given)


def _after(lists: FullLists, step: Callable[..., Rankings], given: tuple[Any, ...]) -> Rankings:
    return step(lists.get(), *given)
