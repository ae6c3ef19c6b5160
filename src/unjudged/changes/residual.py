"""Residual collections: what was judged before is taken out of judgments and runs (as in TREC-COVID's rounds)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.changes.rejudge import judgments_of
from unjudged.collection import Collection, Hits, Judgments, Rankings
from unjudged.collection.history import change
from unjudged.collection.rankings import FullLists
from unjudged.collection.segments import changes, starts_of, tie_groups
from unjudged.errors import UsageError

Flags = npt.NDArray[np.bool_]


@change(basic=True, before=lambda _, before: judgments_of(before))
def residual(collection: Collection, before: Any) -> Collection:
    """The collection without the documents that earlier judgments cover, in judgments and in runs.

    A run could have learned those documents; what counts is what it finds besides them (Voorhees et al. 2021,
    TREC-COVID). `before` are judgments in any of the ways people hold them. Lower documents move up.
    """
    own = collection.judgments
    if own.group is not None:
        raise UsageError("answers have no earlier judgments: a residual collection is one of documents")
    rankings = collection.rankings
    gone = _judged_before(collection, before)
    if gone[: len(own)].all():
        raise UsageError(f"residual: every judged document was judged before, in {before.source}")
    judgments = own.keeping(~gone[: len(own)])
    taken = int(gone[: len(own)].sum())
    lines = int(gone[rankings.doc].sum())
    lists = _without(rankings, own, gone)
    judged = lists.doc < len(judgments)
    ties = None
    if collection.hits.ties is not None:
        first, size = tie_groups(changes(lists.score, lists.cell), lists.rank)
        ties = first[judged], size[judged]
    hits = Hits(
        judgments,
        starts_of(judged)[lists.offsets],
        lists.doc[judged],
        lists.rank[judged].astype(np.int32),
        np.diff(lists.offsets).astype(np.int32),
        collection.hits.answered,
        ties=ties,
    )
    step = f"residual: {taken} of {len(own)} judgments and {lines} retrieved documents were judged before"
    return replace(
        collection,
        judgments=judgments,
        hits=hits,
        settings=collection._told(step),
        pool=None,
        _lists=FullLists(_without, rankings, own, gone),
        _full=None,
        _rows=None,
    )


def _judged_before(collection: Collection, before: Judgments) -> Flags:
    """For each document code of the full lists: do the earlier judgments cover it?"""
    own, rankings = collection.judgments, collection.rankings
    earlier = {
        (before.topics.raw(topic), before.docs.raw(row))
        for row, (topic, grade) in enumerate(zip(before.topic.tolist(), before.grade.tolist(), strict=True))
        if grade >= 0
    }
    topic = np.full(len(own) + len(rankings.unjudged), -1)
    topic[: len(own)] = own.topic
    topic[rankings.doc] = rankings.cell % max(len(own.topics), 1)
    names = [own.topics.raw(t) for t in range(len(own.topics))]
    found = (
        t >= 0
        and (names[t], own.docs.raw(code) if code < len(own) else rankings.unjudged.raw(code - len(own))) in earlier
        for code, t in enumerate(topic.tolist())
    )
    return np.fromiter(found, bool, len(topic))


def _without(rankings: Rankings, own: Judgments, gone: Flags) -> Rankings:
    """The lists without some documents, with the codes of the judgments that are left."""
    kept = ~gone[rankings.doc]
    left = ~gone[: len(own)]
    code = np.arange(len(gone)) - (len(own) - int(left.sum()))  # unjudged documents stand behind fewer rows
    code[: len(own)] = np.cumsum(left) - 1
    return replace(
        rankings,
        offsets=starts_of(kept)[rankings.offsets],
        doc=code[rankings.doc[kept]].astype(np.int32),
        score=rankings.score[kept],
    )
