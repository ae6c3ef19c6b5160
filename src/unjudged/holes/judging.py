"""`next_to_judge`: the shortest list of documents whose labels would settle a question about runs.

The question is one pair of runs, the best k runs against the others, or all pairs. Documents come in the order of
`order`, with what they could change; the list says how many labels are expected to settle it, or that only more topics
would help. After each batch the chances are computed again: give the answers and ask again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unjudged.collection import Collection, Floats, Ints
from unjudged.errors import UsageError, check_seed, nearest
from unjudged.figures.bars import bars
from unjudged.holes.answers import Answers, merged
from unjudged.holes.lists import Flags
from unjudged.holes.order import Hole, Values, first, values
from unjudged.holes.pairs import CANNOT_TELL, HOLES, Differences, differences
from unjudged.holes.promise import labels_needed
from unjudged.holes.reading import read, why_not_leading
from unjudged.holes.weights import Weights, weigh
from unjudged.measures import Measure, measures_for
from unjudged.measures.bounds import refuse_unbounded
from unjudged.options import check
from unjudged.results import Provenance, Result, Row
from unjudged.statistics.pairs import Pairs, all_pairs
from unjudged.text import counted, percent

COLUMNS = (
    *("rank", "topic", "doc", "runs", "best_rank", "chance", "effect", "why"),
    *("batch", "value", "labels_left"),
)
FOR_READING = ("rank", "topic", "doc", "runs", "chance", "why", "batch", "labels_left")
"""Columns of the text."""
FEW = 0.05
"""Share of pairs open for want of judgments below which a collection needs no more labels."""
CLEAR = 3.0
"""Standard deviations from which on the direction of one pair among many is clear: it has no vote."""
NEAREST = 300
"""Pairs that are looked at again when everything is settled."""
SHOWN = 3
"""Runs named with their ranks."""


@dataclass(frozen=True)
class Question:
    """What is to be settled: a pair of runs, the best k runs against the others, or all pairs; by which measure.

    With two runs and nothing said, these two, else all pairs.
    """

    measure: str = "nDCG@10"
    new: str | None = None
    baseline: str | None = None
    top: int | None = None
    all_pairs: bool = False
    rel: int | None = None
    alpha: float = 0.05
    correction: str = "holm"


@dataclass(frozen=True, eq=False)
class Aim:
    """Which pairs are asked about (numbers of runs by name), and how to call them; `one` pair, or `every` pair."""

    pairs: Pairs
    name: str
    one: tuple[str, str] | None = None
    every: bool = False


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a question stands with the judgments there are.

    `votes` are the pairs a label could settle (of several pairs, those whose direction is not clear), `worth` what a
    label of each hole is worth to them, `needed` the labels each of them is expected to need (infinite where only more
    topics would help).
    """

    measure: str
    aim: Aim
    found: Differences
    weights: Weights
    votes: Flags
    worth: Values
    needed: Floats

    @property
    def settled(self) -> bool:
        """Enough labels: nothing is left that one would settle, or, of all pairs, next to nothing for want of them."""
        return not self.votes.any() or (self.aim.every and self.for_want_of_judgments < FEW)

    @property
    def labels(self) -> int | None:
        """The labels expected to settle all of it; None where labels alone are not expected to."""
        return int(self.needed.max()) if len(self.needed) and np.isfinite(self.needed).all() else None

    @property
    def for_want_of_judgments(self) -> float:
        """Share of the pairs that are open for want of judgments."""
        open_ = np.array([why == HOLES for why in self.found.why]) & self.votes
        return float(open_.mean())

    def confirming(self) -> Values:
        """What labels are worth to a question that is settled: to the pairs whose word is nearest to turning."""
        if self.votes.any():
            return self.worth
        found = self.found
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.abs(np.abs(found.difference) / np.sqrt(found.v_topic + found.v_hole) - found.t)
        near = np.where(found.holes > 0, near, np.inf)
        votes = np.zeros(len(near), bool)
        votes[np.argsort(near, kind="stable")[:NEAREST]] = True
        return values(self.weights, found, votes & (found.holes > 0))


class ToJudge(Result):
    """Unjudged documents, most worth a label first.

    Columns: `rank` in this list, `topic`, `doc`, `runs` that found it with its rank in each, `best_rank` of these,
    `chance` of being relevant, `effect` (how much higher the difference is if it is relevant than if not; of several
    open pairs the largest such change, without a sign), `why` in words, `batch` (judge it, give the answers, ask
    again), `value` (share of the open pairs' uncertainty that a label takes away), `labels_left` (labels expected to be
    needed after this one; empty where labels cannot settle it).
    `settled`: nothing is left to judge; `labels`: how many are expected to settle it. What assessors should see is
    `for_assessors`.
    """

    without_rows = "Nothing to judge: more labels would settle next to nothing."

    settled: bool
    labels: int | None
    judged: Collection

    def __init__(
        self,
        rows: Sequence[Row],
        provenance: Provenance,
        notes: Sequence[str],
        settled: bool,
        labels: int | None,
        judged: Collection,
        seed: int,
    ) -> None:
        self.settled = settled
        self.labels = labels
        self.judged = judged
        self._seed = seed
        kept = list(rows)
        shown = [COLUMNS.index(name) for name in FOR_READING]
        table: list[Row] = [tuple(row[i] for i in shown) for row in kept]
        worth = bars("value", "rank", "topic", "doc", said="Share of the uncertainty that a label takes away")
        layout = (FOR_READING, table)
        super().__init__(COLUMNS, lambda: kept, provenance, lambda: layout, {"labels": worth}, notes=notes)

    def for_assessors(self) -> list[tuple[str, str]]:
        """(topic, document) without chances, runs and order: topics as in the judgments, documents shuffled in each."""
        place = {topic: i for i, topic in enumerate(self.judged.topics)}
        pairs = [(str(row[1]), str(row[2])) for row in self.rows()]
        return sorted(pairs, key=lambda pair: (place[pair[0]], shuffled(self._seed, *pair)))


def shuffled(seed: int, topic: str, doc: str) -> bytes:
    """A place that depends on names alone."""
    return hashlib.sha256(f"{seed}\0{topic}\0{doc}".encode("utf-8", "surrogateescape")).digest()


def next_to_judge(
    collection: Collection,
    measure: Any = "nDCG@10",
    *,
    new: str | None = None,
    baseline: str | None = None,
    top: int | None = None,
    all_pairs: bool = False,
    budget: int | None = None,
    batch: int = 10,
    answers: Any = None,
    queries: Mapping[str, str] | None = None,
    rel: int | None = None,
    alpha: float = 0.05,
    correction: str = "holm",
    seed: int = 0,
    call: str = "",
) -> ToJudge:
    """Which unjudged documents to judge next, to settle whether runs differ by `measure` (P@k, nDCG@k or RBP).

    `new` and `baseline` ask about two runs, `top` about the best k runs against the others, `all_pairs` about all; with
    two runs and nothing said, about these two, else about all. `batch` documents are judged at a time, `budget` is how
    many are listed (one batch unless told). `answers` are labels that came back: a file (docs/holes.md) or
    {topic: {document: grade}}; they are merged into the judgments first (`queries` finds topics by their text). Only
    unjudged documents are listed; a list without rows is settled, and its notes say how.
    """
    for name, value in (("budget", budget), ("batch", batch), ("alpha", alpha)):
        check(name, value, "next")
    check_seed(seed)
    asked = _one_measure(collection, measure, rel)
    question = Question(str(asked), new, baseline, top, all_pairs, rel, alpha, correction)
    refuse_unled(collection, question)
    told = merged(collection, answers, queries) if answers is not None else Answers(collection, ())
    collection = told.collection
    stands = standing(collection, question)
    many = batch if budget is None else budget
    chosen = [] if stands.settled else first(stands.worth, stands.weights, collection, many)
    labels = None if stands.settled else stands.labels
    rows = _rows(chosen, stands, batch)
    notes = [*told.notes, *_notes(stands)]
    if budget is not None and labels is not None and labels > budget:
        notes.append(f"about {counted(labels, 'label')} are expected to be needed, more than the budget of {budget}")
    settings = {
        **collection.settings,
        "measures": [str(asked)],
        "pairs": stands.aim.name,
        "batch": batch,
        "budget": budget,
        "alpha": alpha,
        "correction": correction,
    }
    provenance = Provenance.of(call, collection.sources, settings, seed)
    return ToJudge(rows, provenance, notes, stands.settled, labels, collection, seed)


def _one_measure(collection: Collection, measure: Any, rel: int | None) -> Measure:
    (found, *more) = measures_for(collection, measure, rel)
    if more:
        raise UsageError("documents are chosen for one measure at a time")
    return found


def refuse_unled(collection: Collection, question: Question) -> None:
    """A UsageError for a measure that cannot lead the judging, or runs whose holes cannot be read."""
    asked = _one_measure(collection, question.measure, question.rel)
    why = why_not_leading(asked)
    if why:
        raise UsageError(f"{asked} cannot lead the judging: {why}; P@k, nDCG@k and RBP can")
    refuse_unbounded(collection, "retrieved")


def standing(collection: Collection, question: Question) -> Standing:
    """Where the question stands."""
    asked = _one_measure(collection, question.measure, question.rel)
    weights = weigh(collection, read(asked, collection.judgments, int(collection.hits.length.max(initial=1))))
    aim = _aim(weights, question)
    found = differences(weights, aim.pairs, alpha=question.alpha, correction=question.correction)
    votes = ~found.settled
    if aim.one is None:
        votes &= np.abs(found.difference) < CLEAR * np.sqrt(found.v_topic + found.v_hole)
    worth = values(weights, found, votes)
    needed = labels_needed(weights, found, votes, _in_order(worth))
    return Standing(str(asked), aim, found, weights, votes, worth, needed)


def _in_order(worth: Values) -> Ints:
    """All documents of value, best first."""
    return worth.doc[np.argsort(-worth.value, kind="stable")]


def _aim(weights: Weights, question: Question) -> Aim:
    """The pairs asked about."""
    runs, every = weights.lists.runs, question.all_pairs
    new, baseline, top = question.new, question.baseline, question.top
    if sum((new is not None or baseline is not None, top is not None, every)) > 1:
        raise UsageError("ask about one thing: a new run and its baseline, the top k, or all pairs")
    if len(runs) < 2:
        raise UsageError("two runs are needed, a question about one run needs no comparison")
    if new is not None or baseline is not None or (len(runs) == 2 and top is None and not every):
        if (new is None) != (baseline is None):
            raise UsageError("name both the new run and its baseline")
        a, b = (_place(runs, name) for name in ((new, baseline) if new and baseline else (runs[0], runs[1])))
        if a == b:
            raise UsageError("the new run and its baseline are the same run")
        return Aim((np.array([a]), np.array([b])), f"{runs[a]} against {runs[b]}", (runs[a], runs[b]))
    if top is None:
        return Aim(all_pairs(len(runs)), f"all pairs of {len(runs)} runs", every=True)
    if not 1 <= top < len(runs):
        raise UsageError(f"the top k of {len(runs)} runs: k is 1 to {len(runs) - 1}, not {top}")
    order = np.argsort(-np.round(weights.by_cell().mean(axis=1), 12), kind="stable")
    best, rest = np.sort(order[:top]), np.sort(order[top:])
    pairs = np.repeat(best, len(rest)), np.tile(rest, len(best))
    return Aim(pairs, f"the best {counted(top, 'run')} against the other {len(rest)}")


def _place(runs: Sequence[str], name: str) -> int:
    if name not in runs:
        raise UsageError(f"no run {name!r} in this collection{nearest(name, runs)}")
    return runs.index(name)


def _rows(chosen: Sequence[Hole], stands: Standing, batch: int) -> list[Row]:
    """The documents with their ranks, what they could change, and the labels left after each."""
    aim, weights, labels = stands.aim, stands.weights, stands.labels
    lists = weights.lists
    numbers = np.array([hole.number for hole in chosen], np.int64)
    listed = np.flatnonzero(np.isin(lists.doc, numbers))
    read_at = np.flatnonzero(np.isin(weights.doc, numbers))
    rows: list[Row] = []
    for i, hole in enumerate(chosen):
        at = listed[lists.doc[listed] == hole.number]
        placed = sorted(zip(lists.rank[at].tolist(), (lists.runs[r] for r in lists.run[at].tolist()), strict=True))
        if aim.one is not None:
            placed = [pair for pair in placed if pair[1] in aim.one]
        runs = " ".join(f"{run}:{rank}" for rank, run in placed[:SHOWN])
        runs += f" +{len(placed) - SHOWN}" if len(placed) > SHOWN else ""
        left = None if labels is None else max(labels - i - 1, 0)
        mine = read_at[weights.doc[read_at] == hole.number]
        weight = np.zeros(len(lists.runs))
        weight[weights.run[mine]] = weights.weight[mine]
        effect, why = _effect(hole, aim, stands.found, stands.votes, weight)
        told = (runs, placed[0][0], hole.p, effect, why)
        rows.append((i + 1, hole.topic, hole.doc, *told, i // batch + 1, hole.value, left))
    return rows


def _effect(hole: Hole, aim: Aim, found: Differences, votes: Flags, weight: Floats) -> tuple[float, str]:
    """What a label could change: a number, and in words."""
    if aim.one is not None:
        apart = float(weight[aim.pairs[0][0]] - weight[aim.pairs[1][0]])
        up, down = apart * (1 - hole.p), -apart * hole.p
        return apart, f"relevant: difference {up:+.4f}, nonrelevant: {down:+.4f}"
    apart_in = np.abs(weight[found.first] - weight[found.second])[votes]
    touched = f"weighs in {int((apart_in > 0).sum())} of {counted(len(apart_in), 'open pair')}"
    return float(apart_in.max()), touched


def _notes(stands: Standing) -> list[str]:
    measure, aim, found, votes, needed = stands.measure, stands.aim, stands.found, stands.votes, stands.needed
    seen = stands.weights.chances.seen.seen
    notes = [] if seen else ["pool unseen: the discount of unjudged documents is from experience, not from these runs"]
    if aim.one is not None:
        return [*notes, _about_pair(measure, aim.one, found, votes, needed)]
    words = [sum(word == wanted for word in found.word) for wanted in ("better", "worse")]
    open_, clear = int(votes.sum()), int((~found.settled & ~votes).sum())
    told = f"{aim.name} by {measure}: {sum(words)} of {counted(len(found.word), 'pair')} decided, {open_} open"
    told += f" ({percent(stands.for_want_of_judgments)} of all for want of judgments)" if open_ else ""
    notes.append(told + (f"; {clear} more are clear but for the correction for many pairs" if clear else ""))
    if not open_:
        return [*notes, "nothing is left that a label would settle"]
    if stands.settled:
        few = f"fewer than {100 * FEW:.0f} % of the pairs are open for want of judgments: nothing need be judged"
        return [*notes, few]
    finite = needed[np.isfinite(needed)]
    if not len(finite):
        return [*notes, "labels alone are not expected to settle the open pairs: more topics would"]
    expected = f"about {counted(int(finite.max()), 'label')} are expected to settle"
    if len(finite) == len(needed):
        return [*notes, f"{expected} all {counted(open_, 'open pair')}"]
    return [*notes, f"{expected} {len(finite)} of {counted(open_, 'open pair')}; the others need more topics"]


def _about_pair(measure: str, pair: tuple[str, str], found: Differences, votes: Flags, needed: Floats) -> str:
    """Where the question stands."""
    a, b = pair
    holes, share = int(found.holes[0]), percent(float(found.share[0]))
    if found.word[0] != CANNOT_TELL:
        said = f"settled: {a} is {found.word[0]} than {b} by {measure}"
        if not holes:
            return f"{said}; every document that counts is judged"
        return f"{said}, whatever is likely of {counted(holes, 'unjudged document')}"
    if not votes.any():
        why = "labels would not change that" if holes else "no unjudged document counts"
        return f"settled: {a} and {b} cannot be told apart by {measure} on these topics, and {why}"
    stands = f"{a} against {b} by {measure}: cannot tell, {share} of the uncertainty comes from holes"
    if not np.isfinite(needed[0]):
        if found.why[0] == HOLES:
            return f"{stands}; how many labels it takes cannot be told while the expected difference is so small"
        return f"{stands}; as things stand more topics would help, labels only if they move the difference"
    return f"{stands}; about {counted(int(needed[0]), 'label')} of {holes} are expected to settle it"
