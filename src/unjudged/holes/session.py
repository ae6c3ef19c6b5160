"""A judging session: one question, a label file, and whoever judges; the next documents are chosen again after a batch.

Judges get documents of a batch topic by topic, shuffled, without runs, ranks and chances. Who judges at the same time
gets another batch; where both label a document, both labels stay. How near the decision is can be told without its
direction. What stands here is computed from the label file, so that a session ends and begins again at any moment.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from unjudged.changes.rejudge import judging_holes
from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.holes.answers import merged
from unjudged.holes.judging import FEW, Question, Standing, refuse_unled, shuffled, standing
from unjudged.holes.labels import LABEL, SKIP, UNDO, LabelFile, Note, Row, grades, latest
from unjudged.holes.order import first, named
from unjudged.holes.pairs import CANNOT_TELL, HOLES
from unjudged.text import counted, signed

RESERVED = 900.0
"""Seconds for which the batch of a judge who went silent is kept from others."""

OPEN, CONFIRM, DONE = "open", "confirm", "done"

Document = tuple[str, str]
"""Topic and document."""


@dataclass(frozen=True)
class Point:
    """Where the question stood after so many labels. `near`: the difference as a share of what would decide it (1 and
    more: decided), or the share of pairs that are settled. `difference` and `margin` are those of one pair."""

    labels: int
    settled: bool
    near: float
    difference: float | None
    margin: float | None


@dataclass(frozen=True)
class Progress:
    """What a judge may see: how near the decision is, not which way it goes.

    `phase`: open, confirm (settled; one more batch confirms it), done. `left`: labels expected, None where none are or
    labels alone will not do. `points`: how it came here.
    """

    phase: str
    headline: str
    sentence: str
    judged: int
    left: int | None
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Outcome:
    """The direction, for those who ask: better, worse, cannot tell, or how many pairs are decided."""

    word: str
    sentence: str


@dataclass
class _Batch:
    documents: list[Document]
    seen: float


class Session:
    """Judging for one question. Safe to use from several threads; `judge` is whose labels they are, `client` who asks
    (two windows of one judge are two clients)."""

    def __init__(
        self,
        collection: Collection,
        labels: LabelFile,
        question: Question,
        *,
        batch: int = 10,
        seed: int = 0,
    ) -> None:
        refuse_unled(collection, question)
        self.collection, self.labels, self.question = collection, labels, question
        self.batch, self.seed = batch, seed
        self._place = {topic: i for i, topic in enumerate(collection.topics)}
        self._lock = threading.RLock()
        self._batches: dict[str, _Batch] = {}
        self._rows: list[Row] = []
        self._points: dict[int, Point] = {}
        start = standing(self.collection, question)
        self._now, self._judged, self._fitted = start, self.collection, 0
        self.aim = start.aim
        self._note(0, start)
        read = np.unique(start.weights.doc[start.weights.holes])
        codes = start.weights.lists.code[read].tolist()
        self._codes = dict(zip(named(read, start.weights, self.collection), codes, strict=True))
        with self._lock:
            self._fit()
            self._look_back()

    @property
    def holes(self) -> Set[Document]:
        """Every unjudged document that the measure reads in some run."""
        return self._codes.keys()

    @property
    def top_grade(self) -> int:
        """The highest grade of the scale."""
        return self.collection.judgments.gains.top_grade

    # -- what judges do

    def next_for(self, client: str, judge: str, *, skipped: bool = False) -> Document | None:
        """The document this client should judge now; None where nothing is left (but what the judge skipped, which
        comes again with `skipped`)."""
        with self._lock:
            self._sync()
            batch = self._batches.get(client)
            open_ = self._still_open(batch.documents, judge, skipped) if batch else []
            if not open_:
                self._fit()
                open_ = self._new_batch(client, judge, skipped)
            self._batches[client] = _Batch(open_, time.monotonic())
            return open_[0] if open_ else None

    def label(self, judge: str, topic: str, doc: str, grade: int) -> Row:
        """Save a label; it is on disk when this returns."""
        self._refuse_strange(topic, doc)
        if isinstance(grade, bool) or not isinstance(grade, int) or not 0 <= grade <= self.top_grade:
            raise UsageError(f"a grade is a whole number from 0 to {self.top_grade}, not {grade!r}")
        return self.labels.add(judge, topic, doc, grade)

    def skip(self, judge: str, topic: str, doc: str) -> Row:
        """Save that the judge would not judge this document now."""
        self._refuse_strange(topic, doc)
        return self.labels.skip(judge, topic, doc)

    def note(self, judge: str, topic: str, doc: str, text: str) -> Note:
        """Save what a judge writes about a document; nothing that is computed looks at it."""
        self._refuse_strange(topic, doc)
        return self.labels.note(judge, topic, doc, text)

    def undo(self, client: str, judge: str, number: int) -> Row:
        """Take a label back; its document is the client's next one again."""
        row = self.labels.undo(judge, number)
        with self._lock:
            held = self._batches.get(client)
            others = [] if held is None else [pair for pair in held.documents if pair != (row.topic, row.doc)]
            self._batches[client] = _Batch([(row.topic, row.doc), *others], time.monotonic())
        return row

    def last_of(self, judge: str) -> Row | None:
        """What this judge did last and has not taken back."""
        with self._lock:
            self._sync()
            mine = latest(self._rows).get(judge, {}).values()
            return max((row for row in mine if row.kind != UNDO), key=lambda row: row.number, default=None)

    # -- where it stands

    def progress(self) -> Progress:
        """How near the decision is."""
        with self._lock:
            self._sync()
            judged = sum(map(len, grades(self._rows).values()))
            points = self._points_in_order()
            if not self._now.settled:
                left, sentence = self._left(max(judged - points[-1].labels, 0))
                return Progress(OPEN, self._how_open(), sentence, judged, left, tuple(points))
            phase, sentence = self._how_sure(points)
            left = max(_settled_from(points) + self.batch - judged, 1) if phase == CONFIRM else None
            return Progress(phase, self._how_settled(), sentence, judged, left, tuple(points))

    def _left(self, since: int) -> tuple[int | None, str]:
        """Labels expected to be needed, of which some were given since; and in words."""
        needed, several = self._now.needed, self._now.aim.one is None
        finite = needed[np.isfinite(needed)]
        if not len(finite):
            if not several and self._now.found.why[0] == HOLES:
                return None, "How many more labels it takes cannot be told yet."
            return None, "Labels alone may not settle it: more topics would help."
        left = max(int(finite.max()) - since, 1)
        told = f"About {counted(left, 'more label')}"
        if several and len(finite) < len(needed):
            whole = counted(len(needed), "open pair")
            return left, f"{told} for {len(finite)} of {whole}; the others need more topics."
        return left, f"{told}."

    def _how_open(self) -> str:
        if self._now.aim.one is not None:
            return "Not decided yet"
        return f"{int(self._now.votes.sum())} of {counted(len(self._now.votes), 'pair')} still open"

    def _how_settled(self) -> str:
        now = self._now
        if now.found.holes.max(initial=0) == 0:
            return "Nothing is left to judge"
        if now.aim.one is None:
            few = f"Fewer than {100 * FEW:.0f} % of the pairs are open for want of judgments"
            return few if now.votes.any() else "No label would settle another pair"
        decided = now.found.word[0] != CANNOT_TELL
        return "Decided" if decided else "More topics are needed, not more labels"

    def _how_sure(self, points: Sequence[Point]) -> tuple[str, str]:
        """Settled: one more batch confirms it, since stopping at the first moment that looks settled is a gamble."""
        began = _settled_from(points)
        if self._now.found.holes.max(initial=0) == 0:
            return DONE, "Every document that counts is judged."
        if began == 0:
            return DONE, "No labels are needed."
        if points[-1].labels - began >= self.batch:
            return DONE, "One more batch has confirmed it: you can stop here."
        return CONFIRM, f"One more batch of {self.batch} confirms it."

    def outcome(self) -> Outcome:
        """Which way it goes as things stand."""
        with self._lock:
            now, aim = self._now, self._now.aim
            if aim.one is None:
                decided = sum(word != CANNOT_TELL for word in now.found.word)
                pairs = counted(len(now.found.word), "pair")
                return Outcome(f"{decided} of {pairs} decided", f"{aim.name}, by {now.measure}.")
            point = self._point(0, now)
            against = f"{aim.one[0]} against {aim.one[1]} by {now.measure}"
            if point.difference is None or point.margin is None:
                return Outcome(CANNOT_TELL, f"{against}: one topic is too few.")
            told = f"{signed(point.difference, 3)}, give or take {point.margin:.3f}"
            return Outcome(now.found.word[0], f"{against}: {told}.")

    # -- choosing

    def _sync(self) -> None:
        """Rows that were added since, by whomever."""
        self._rows += self.labels.rows(self._rows[-1].number if self._rows else 0)

    def _fit(self) -> None:
        """Fit again if there is anything new."""
        self._sync()
        number = self._rows[-1].number if self._rows else 0
        if number == self._fitted:
            return
        self._now, self._judged, many = self._fitted_to(self._rows)
        self._note(many, self._now)
        self._fitted = number

    def _fitted_to(self, rows: Iterable[Row]) -> tuple[Standing, Collection, int]:
        given = {(topic, doc): grade for topic, docs in grades(rows).items() for doc, grade in docs.items()}
        judged = self._judged_by(given) if given else self.collection
        return standing(judged, self.question), judged, len(given)

    def _judged_by(self, given: Mapping[Document, int]) -> Collection:
        """The collection with these labels. Where all are holes of the lists, nothing has to be looked up by name."""
        if given.keys() <= self._codes.keys() and max(given.values()) <= self.top_grade:
            codes = np.array([self._codes[pair] for pair in given], np.int64)
            judged, places = judging_holes(self.collection, codes)
            grade = judged.judgments.grade.copy()
            grade[places] = list(given.values())
            return judged.regraded(grade, "labels")
        by_topic: dict[str, dict[str, int]] = {}
        for (topic, doc), label in given.items():
            by_topic.setdefault(topic, {})[doc] = label
        return merged(self.collection, by_topic).collection

    def _look_back(self) -> None:
        """A session that begins settled: was it so a batch ago?"""
        many = max(self._points)
        if many <= self.batch or not self._now.settled:
            return
        rows = list(self._rows)
        while sum(map(len, grades(rows).values())) > many - self.batch:
            rows.pop()
        before, _, earlier = self._fitted_to(rows)
        self._points[earlier] = self._point(earlier, before)

    def _note(self, labels: int, now: Standing) -> None:
        """Remember where it stands; what was taken back since is forgotten."""
        self._points = {many: point for many, point in self._points.items() if many < labels}
        self._points[labels] = self._point(labels, now)

    def _point(self, labels: int, now: Standing) -> Point:
        found, settled = now.found, now.settled
        if now.aim.one is None:
            return Point(labels, settled, float((~now.votes).mean()), None, None)
        difference, margin = float(found.difference[0]), float((found.interval[1] - found.interval[0])[0] / 2)
        if np.isnan(margin):
            return Point(labels, settled, 0.0, None, None)
        near = 1.0 if margin == 0 and difference else abs(difference) / margin if margin else 0.0
        return Point(labels, settled, min(near, 1.0), difference, margin)

    def _points_in_order(self) -> list[Point]:
        return [self._points[many] for many in sorted(self._points)]

    def _still_open(self, documents: Iterable[Document], judge: str, skipped: bool) -> list[Document]:
        """Those nobody has labelled and this judge has not skipped; what this judge took back is open again."""
        per_judge = latest(self._rows)
        mine = per_judge.get(judge, {})
        out = []
        for pair in documents:
            own = mine.get(pair)
            others = (of[pair] for name, of in per_judge.items() if name != judge and pair in of)
            if own is not None and own.kind == UNDO:
                out.append(pair)
            elif own is None or (skipped and own.kind == SKIP):
                out += [] if any(row.kind == LABEL for row in others) else [pair]
        return out

    def _new_batch(self, client: str, judge: str, skipped: bool) -> list[Document]:
        """The best documents that nobody else has in hand, topic by topic, shuffled."""
        worth = self._now.confirming() if self._now.settled else self._now.worth
        held = self._held_by_others(client)
        passed = sum(row.kind == SKIP for row in latest(self._rows).get(judge, {}).values())
        chosen = first(worth, self._now.weights, self._judged, self.batch + len(held) + passed)
        found = self._still_open([(hole.topic, hole.doc) for hole in chosen], judge, skipped)
        free = [pair for pair in found if pair not in held] or found
        return sorted(free[: self.batch], key=lambda pair: (self._place[pair[0]], shuffled(self.seed, *pair)))

    def _held_by_others(self, client: str) -> set[Document]:
        now = time.monotonic()
        self._batches = {
            name: held for name, held in self._batches.items() if name == client or now - held.seen < RESERVED
        }
        return {pair for name, held in self._batches.items() if name != client for pair in held.documents}

    def _refuse_strange(self, topic: str, doc: str) -> None:
        if (topic, doc) not in self.holes:
            raise UsageError("this document is not among those to judge; reload the page")


def _settled_from(points: Sequence[Point]) -> int:
    """The number of labels from which on it has been settled."""
    began = points[-1].labels
    for point in reversed(points):
        if not point.settled:
            break
        began = point.labels
    return began
