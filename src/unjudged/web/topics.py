"""Two runs topic by topic, and document by document: where they differ, and what of it was judged."""

from __future__ import annotations

from typing import Any

import numpy as np

from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.measures import measures
from unjudged.scoring import score

MOST = 50
"""Documents shown of a list."""


def differences(collection: Collection, a: str, b: str, measure: str, rel: int | None, unjudged: str) -> dict[str, Any]:
    """The topics with both runs' scores, the most different ones first."""
    pair = collection.with_runs(list(_pair(collection, a, b)))
    scores = score(pair, [_one(measure)], rel=rel, unjudged=unjudged)
    x = scores.values[:, :, 0]
    rows: list[dict[str, Any]] = [
        {"topic": topic, "a": float(x[0, t]), "b": float(x[-1, t]), "difference": float(x[0, t] - x[-1, t])}
        for t, topic in enumerate(collection.topics)
    ]
    rows.sort(key=lambda row: -abs(row["difference"]))  # equal ones stay in the order of the judgments
    return {"measure": str(scores.measures[0]), "a": a, "b": b, "topics": rows}


def side_by_side(collection: Collection, a: str, b: str, topic: str, rel: int | None) -> dict[str, Any]:
    """The first documents of both runs for one topic, each with its grade (None: unjudged)."""
    if topic not in collection.topics:
        raise UsageError(f"no topic {topic!r} in the judgments")
    return {"topic": topic, "lists": [_list(collection, run, topic, rel or 1) for run in _pair(collection, a, b)]}


def _list(collection: Collection, run: str, topic: str, rel: int) -> dict[str, Any]:
    rankings, judgments = collection.rankings, collection.judgments
    cell = collection.runs.index(run) * len(collection.topics) + collection.topics.index(topic)
    first, last = int(rankings.offsets[cell]), int(rankings.offsets[cell + 1])
    codes = rankings.doc[first:last]
    names = rankings.ids(judgments, cell)
    known = codes < len(judgments)
    grade = np.where(known, judgments.grade[np.minimum(codes, len(judgments) - 1)], -1)
    documents = [
        {
            "rank": place + 1,
            "doc": names[place],
            "grade": int(grade[place]) if grade[place] >= 0 else None,
            "state": "unjudged" if grade[place] < 0 else "relevant" if grade[place] >= rel else "nonrelevant",
        }
        for place in range(min(MOST, last - first))
    ]
    return {"run": run, "documents": documents, "length": last - first}


def _pair(collection: Collection, a: str, b: str) -> tuple[str, ...]:
    for run in (a, b):
        if run not in collection.runs:
            raise UsageError(f"no run {run!r} in this collection")
    return (a,) if a == b else (a, b)


def _one(measure: str) -> str:
    found = measures(measure)
    if len(found) != 1:
        raise UsageError("one measure, please")
    return str(found[0])
