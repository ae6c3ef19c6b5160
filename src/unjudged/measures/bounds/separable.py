"""Exact intervals of differences for measures that add up over the documents of a list.

**Separable measures** (P, SetP, RBP, DCG and the counts): the score of a list is a sum over its documents of w(rank)
u(grade), w >= 0. The difference of two runs is then a sum over documents of u(grade) (w in a - w in b), each document
once, and it is largest (smallest) where every unjudged document has the grade of the largest u if its factor is
positive (negative), and that of the smallest u otherwise. Documents are graded independently, so both ends are
attained: the interval is exact.
"""

from __future__ import annotations

import numpy as np

from unjudged.collection import Collection, Floats, Ints
from unjudged.collection.collection import in_order_of_names
from unjudged.measures import Measure
from unjudged.measures.bounds.cells import one_document_lists

SEPARABLE = ("P", "SetP", "RBP", "DCG", "anti_P", "NumRelRet", "NumNonrelJudgedRet")
"""Names of measures that add up over documents, so that the interval of a difference is exact."""

_AT_ONCE = 1 << 22
"""Numbers held at a time when runs are set against each other."""


def is_separable(measure: Measure) -> bool:
    """Does its score add up over the documents of the list?"""
    ours = (measure.definition.function.__module__ or "").startswith("unjudged.measures")
    return ours and measure.name in SEPARABLE and not measure.params.get("relative")


def separable_differences(collection: Collection, measure: Measure, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """Pairs x topics: exact ends, every unjudged document counted once with its weight in both runs."""
    plain = measure(judged_only=False) if not measure.definition.condensed else measure
    runs, topics = len(collection.runs), len(collection.topics)
    known = np.nan_to_num(plain.cells(collection.hits), nan=0.0).reshape(runs, topics)
    low, high = np.empty((len(first), topics)), np.empty((len(first), topics))
    for topic in range(topics):
        run, doc, least, rise = _open_documents(collection, plain, topic)
        base = known[:, topic] + np.bincount(run, least, runs)
        gain, loss = _one_sided(run, doc, rise, runs, first, second)
        low[:, topic] = base[first] - base[second] + loss
        high[:, topic] = base[first] - base[second] + gain
    return low, high


def _open_documents(collection: Collection, measure: Measure, topic: int) -> tuple[Ints, Ints, Floats, Floats]:
    """Unjudged documents of all lists of a topic: run, number, what they add at least, and how much more at most.

    They are numbered as the runs list them, runs in order of names: sums over them do not show the order given.
    """
    judgments, rankings = collection.judgments, collection.rankings
    by_name = np.array(in_order_of_names(collection.runs))
    cells = by_name * len(collection.topics) + topic
    start, length = rankings.offsets[cells], np.diff(rankings.offsets)[cells]
    run, size = np.repeat(by_name, length), np.repeat(length, length)
    rank = np.arange(len(run)) - np.repeat(np.cumsum(length) - length, length)
    doc = rankings.doc[np.repeat(start, length) + rank].astype(np.int64)
    known = np.append(judgments.grade, np.int32(-1))
    unjudged = known[np.minimum(doc, len(judgments))] < 0
    run, size, rank, doc = run[unjudged], size[unjudged], rank[unjudged] + 1, doc[unjudged]
    _, first_seen, code = np.unique(doc, return_index=True, return_inverse=True)
    number = first_seen[code]
    if cut := measure.params.get("k"):  # behind the cut-off nothing counts
        run, size, rank, number = (part[rank <= cut] for part in (run, size, rank, number))
    places, place = np.unique(np.stack((rank, size)), axis=1, return_inverse=True)
    grades = np.arange(judgments.gains.top_grade + 1)
    worth = measure.cells(one_document_lists(judgments, grades, np.ones(len(grades))))
    least, most = (
        measure.cells(one_document_lists(judgments, np.full(places.shape[1], grade), places[0], places[1]))
        for grade in (worth.argmin(), worth.argmax())
    )
    return run, number, least[place.ravel()], (most - least)[place.ravel()]


def _one_sided(run: Ints, doc: Ints, rise: Floats, runs: int, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """For each pair the sum of positive and of negative differences of a document's weights in both runs."""
    run, doc, rise = run[rise > 0], doc[rise > 0], rise[rise > 0]
    codes, column = np.unique(doc, return_inverse=True)
    gain, loss = np.zeros(len(first)), np.zeros(len(first))
    width = max(_AT_ONCE // max(runs, 1), 1)
    for left in range(0, len(codes), width):
        here = (column >= left) & (column < left + width)
        weight = np.zeros((runs, min(width, len(codes) - left)))
        weight[run[here], column[here] - left] = rise[here]
        for a in np.unique(first).tolist():
            chosen = np.flatnonzero(first == a)
            step = max(_AT_ONCE // max(weight.shape[1], 1), 1)
            for part in (chosen[i : i + step] for i in range(0, len(chosen), step)):
                apart = weight[a] - weight[second[part]]
                gain[part] += np.maximum(apart, 0.0).sum(axis=1)
                loss[part] += np.minimum(apart, 0.0).sum(axis=1)
    return gain, loss
