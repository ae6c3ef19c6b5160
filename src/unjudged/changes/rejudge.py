"""The runs of a collection under other judgments: documents may have become judged or unjudged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Hits, Ints, Judgments, Rankings
from unjudged.collection.segments import changes, tie_groups
from unjudged.errors import UsageError


def judged_anew(collection: Collection, judgments: Judgments, step: str) -> Collection:
    """The same runs, topics and settings under other judgments; `step` goes into the history.

    Nothing is read again but the full lists, which tell where newly judged documents stand.
    """
    if collection.runs and list(judgments.topics) != list(collection.judgments.topics):
        raise UsageError("other judgments need the topics of the collection, in its order")
    if judgments.group is not None or collection.judgments.group is not None:
        raise UsageError("answer classes cannot be judged anew")
    rankings = collection.rankings
    place = _places(collection, judgments)
    row = place[rankings.doc]
    found = np.flatnonzero(row >= 0)
    ties = None
    if collection.hits.ties is not None:
        first, size = _tie_groups(rankings)
        ties = first[found], size[found]
    hits = Hits(
        judgments,
        np.searchsorted(found, rankings.offsets).astype(np.int64),
        row[found].astype(np.int32),
        rankings.rank[found].astype(np.int32),
        collection.hits.length,
        collection.hits.answered,
        ties=ties,
        repeats=collection.hits.repeats,
    )
    return replace(
        collection,
        judgments=judgments,
        hits=hits,
        settings={
            **collection.settings,
            "highest gain": judgments.gains.highest(),
            "history": [*collection.history, step],
        },
        pool=None,
        _rankings=lambda: _recoded(rankings, collection.judgments, judgments, place),
        _again=collection._repeating(lambda read: judged_anew(read, judgments, step)),
        _left_of=None,
    )


def _places(collection: Collection, judgments: Judgments) -> Ints:
    """For each document code of the rankings, the document's row in the other judgments, or -1."""
    rankings, old = collection.rankings, collection.judgments
    if not collection.runs:
        return np.full(len(old), -1)
    topic = np.full(len(old) + len(rankings.unjudged), -1)  # -1: an unjudged document in no list
    topic[: len(old)] = old.topic
    topic[rankings.doc] = rankings.cell % max(len(old.topics), 1)
    rows: list[dict[bytes, int]] = [{} for _ in range(len(old.topics))]
    for row, t in enumerate(judgments.topic.tolist()):
        rows[t][judgments.docs.raw(row)] = row
    first = len(old)
    places = (
        rows[t].get(old.docs.raw(code) if code < first else rankings.unjudged.raw(code - first), -1) if t >= 0 else -1
        for code, t in enumerate(topic.tolist())
    )
    return np.fromiter(places, np.int64, len(topic))


def _tie_groups(rankings: Rankings) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """For each entry, the first rank and the number of documents of its list with its score."""
    return tie_groups(changes(rankings.score, rankings.cell), rankings.rank)


def _recoded(rankings: Rankings, old: Judgments, judgments: Judgments, place: Ints) -> Rankings:
    """The lists with codes of the other judgments."""
    unjudged = np.flatnonzero(place < 0)
    code = place.copy()
    code[unjudged] = len(judgments) + np.arange(len(unjudged))
    ids = old.docs.take(unjudged[unjudged < len(old)]).followed_by(
        rankings.unjudged.take(unjudged[unjudged >= len(old)] - len(old))
    )
    return replace(rankings, doc=code[rankings.doc].astype(np.int32), unjudged=ids)
