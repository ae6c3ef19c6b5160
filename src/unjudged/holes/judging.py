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
from unjudged.holes.answers import Answers, merged
from unjudged.holes.lists import Flags
from unjudged.holes.order import Hole, Values, first, values
from unjudged.holes.pairs import CANNOT_TELL, HOLES, Differences, differences
from unjudged.holes.promise import labels_needed
from unjudged.holes.reading import POINT, read, why_not
from unjudged.holes.weights import Weights, weigh
from unjudged.measures import measures_for
from unjudged.measures.bounds import refuse_unbounded
from unjudged.options import check
from unjudged.results import Provenance, Result, Row
from unjudged.statistics.pairs import Pairs, all_pairs
from unjudged.text import counted, percent

COLUMNS = ("batch", "topic", "document", "value", "chance", "ranks", "why", "labels_left")
FEW = 0.05
"""Share of pairs open for want of judgments below which a collection needs no more labels."""
SHOWN = 3
"""Runs named with their ranks."""


@dataclass(frozen=True, eq=False)
class Aim:
    """Which pairs are asked about (numbers of runs by name), and how to call them."""

    pairs: Pairs
    name: str
    one: tuple[str, str] | None = None


class ToJudge(Result):
    """Unjudged documents, most worth a label first.

    Columns: `batch` (judge it, give the answers, ask again), `topic`, `document`, `value` (share of the open pairs'
    uncertainty that a label takes away), `chance` of being relevant, `ranks` in the runs, `why` (what a label could
    change), `labels_left` (labels expected to be needed after this one; empty where labels cannot settle it).
    `settled`: nothing is left to judge; `labels`: how many are expected to settle it. What assessors should see is
    `for_assessors`.
    """

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
        super().__init__(COLUMNS, lambda: kept, provenance, notes=notes, layout=lambda: (COLUMNS, kept))

    def for_assessors(self) -> list[tuple[str, str]]:
        """(topic, document) without chances, runs and order: topics as in the judgments, documents shuffled in each."""
        place = {topic: i for i, topic in enumerate(self.judged.topics)}
        pairs = [(str(row[1]), str(row[2])) for row in self.rows()]
        return sorted(pairs, key=lambda pair: (place[pair[0]], _shuffled(self._seed, *pair)))


def _shuffled(seed: int, topic: str, doc: str) -> bytes:
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
    (asked, *more) = measures_for(collection, measure, rel)
    if more:
        raise UsageError("documents are chosen for one measure at a time")
    if why := why_not(asked):
        raise UsageError(f"{asked} cannot lead the judging: {why}; P@k, nDCG@k and RBP can")
    refuse_unbounded(collection, "retrieved")
    told = merged(collection, answers, queries) if answers is not None else Answers(collection, ())
    collection = told.collection
    reading = read(asked, collection.judgments, int(collection.hits.length.max(initial=1)))
    if reading.kind == POINT:
        raise UsageError(f"{asked} cannot lead the judging: no uncertainty is known for it; P@k, nDCG@k and RBP can")
    weights = weigh(collection, reading)
    aim = _aim(weights, new, baseline, top, all_pairs)
    found = differences(weights, aim.pairs, alpha=alpha, correction=correction)
    votes = ~found.settled
    worth = values(weights, found, votes)
    many = batch if budget is None else budget
    chosen = first(worth, weights, collection, many)
    needed = labels_needed(weights, found, votes, _in_order(worth))
    labels = int(needed.max()) if len(needed) and np.isfinite(needed).all() else None
    rows = _rows(chosen, aim, found, votes, weights, batch, labels)
    notes = [*told.notes, *_notes(str(asked), aim, found, votes, needed, weights)]
    if budget is not None and labels is not None and labels > budget:
        notes.append(f"about {counted(labels, 'label')} are expected to be needed, more than the budget of {budget}")
    settings = {
        **collection.settings,
        "measures": [str(asked)],
        "pairs": aim.name,
        "batch": batch,
        "budget": budget,
        "alpha": alpha,
        "correction": correction,
    }
    provenance = Provenance.of(call, collection.sources, settings, seed)
    return ToJudge(rows, provenance, notes, not votes.any(), labels, collection, seed)


def _in_order(worth: Values) -> Ints:
    """All documents of value, best first."""
    return worth.doc[np.argsort(-worth.value, kind="stable")]


def _aim(weights: Weights, new: str | None, baseline: str | None, top: int | None, every: bool) -> Aim:
    """The pairs asked about."""
    runs = weights.lists.runs
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
        return Aim(all_pairs(len(runs)), f"all pairs of {len(runs)} runs")
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


def _rows(
    chosen: Sequence[Hole],
    aim: Aim,
    found: Differences,
    votes: Flags,
    weights: Weights,
    batch: int,
    labels: int | None,
) -> list[Row]:
    """The documents with their ranks, what they could change, and the labels left after each."""
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
        ranks = " ".join(f"{run}:{rank}" for rank, run in placed[:SHOWN])
        ranks += f" +{len(placed) - SHOWN}" if len(placed) > SHOWN else ""
        left = None if labels is None else max(labels - i - 1, 0)
        mine = read_at[weights.doc[read_at] == hole.number]
        weight = np.zeros(len(lists.runs))
        weight[weights.run[mine]] = weights.weight[mine]
        why = _why(hole, aim, found, votes, weight)
        rows.append((i // batch + 1, hole.topic, hole.doc, hole.value, hole.p, ranks, why, left))
    return rows


def _why(hole: Hole, aim: Aim, found: Differences, votes: Flags, weight: Floats) -> str:
    """What a label could change."""
    if aim.one is not None:
        apart = float(weight[aim.pairs[0][0]] - weight[aim.pairs[1][0]])
        up, down = apart * (1 - hole.p), -apart * hole.p
        return f"relevant: difference {up:+.4f}, nonrelevant: {down:+.4f}"
    touched = int((votes & (weight[found.first] != weight[found.second])).sum())
    return f"weighs in {touched} of {counted(int(votes.sum()), 'open pair')}"


def _notes(measure: str, aim: Aim, found: Differences, votes: Flags, needed: Floats, weights: Weights) -> list[str]:
    seen = weights.chances.seen.seen
    notes = [] if seen else ["pool unseen: the discount of unjudged documents is experience, not measured here"]
    if aim.one is not None:
        return [*notes, _about_pair(measure, aim.one, found, votes, needed)]
    words = [sum(word == wanted for word in found.word) for wanted in ("better", "worse")]
    open_ = np.array([why == HOLES for why in found.why]) & ~found.settled
    share = float(open_.mean())
    decided, open_now = counted(len(found.word), "pair"), int((~found.settled).sum())
    notes.append(
        f"{aim.name} by {measure}: {sum(words)} of {decided} decided, {open_now} open, {percent(share)} for want of "
        f"judgments (below {100 * FEW:.0f} % nothing need be judged)"
    )
    if votes.any():
        hopeless = int((~np.isfinite(needed)).sum())
        if hopeless < len(needed):
            most = int(needed[np.isfinite(needed)].max())
            notes.append(
                f"about {counted(most, 'label')} are expected to settle {len(needed) - hopeless} of "
                f"{counted(len(needed), 'open pair')}; the others need more topics"
                if hopeless
                else f"about {counted(most, 'label')} are expected to settle all {counted(len(needed), 'open pair')}"
            )
        else:
            notes.append("labels alone are not expected to settle the open pairs: more topics would")
    else:
        notes.append("nothing is left that a label would settle")
    return notes


def _about_pair(measure: str, pair: tuple[str, str], found: Differences, votes: Flags, needed: Floats) -> str:
    """Where the question stands."""
    a, b = pair
    holes, share = int(found.holes[0]), percent(float(found.share[0]))
    if found.word[0] != CANNOT_TELL:
        unjudged = counted(holes, "unjudged document")
        return f"settled: {a} is {found.word[0]} than {b} by {measure}, whatever is likely of {unjudged}"
    if not votes.any():
        why = "labels would not change that" if holes else "no unjudged document counts"
        return f"settled: {a} and {b} cannot be told apart by {measure} on these topics, and {why}"
    stands = f"{a} against {b} by {measure}: cannot tell, {share} of the uncertainty comes from holes"
    if not np.isfinite(needed[0]):
        return f"{stands}; as things stand more topics would help, labels only if they move the difference"
    return f"{stands}; about {counted(int(needed[0]), 'label')} of {holes} are expected to settle it"
