"""Two runs topic by topic, and document by document: where they differ, and what of it was judged."""

from __future__ import annotations

from typing import Any

import numpy as np

from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.io.texts import Texts
from unjudged.measures import measures
from unjudged.studies import study

MOST, LONGEST = 50, 2000
"""Documents shown of a list, characters shown of a document."""


def differences(
    collection: Collection, a: str, b: str, measure: str, rel: int | None, unjudged: str, queries: Texts
) -> dict[str, Any]:
    """The topics with both runs' scores and their texts where they are known, the most different ones first."""
    if len(measures(measure)) != 1:
        raise UsageError("one measure, please")
    found = study("topics", collection, measures=measure, rel=rel, unjudged=unjudged, a=a, b=b, jobs=1)
    queries.need(set(collection.topics))
    rows = [
        {"topic": topic, "text": _query(queries, topic), "a": one, "b": other, "difference": difference}
        for topic, _, _, _, one, other, difference in found.rows()
    ]
    return {"measure": found.provenance.settings["measures"][0], "a": a, "b": b, "topics": rows}


def side_by_side(
    collection: Collection, a: str, b: str, topic: str, rel: int | None, queries: Texts, documents: Texts
) -> dict[str, Any]:
    """The first documents of both runs for one topic, each with its grade (None: unjudged), and texts where known."""
    if topic not in collection.topics:
        raise UsageError(f"no topic {topic!r} in the judgments")
    lists = [_list(collection, run, topic, rel or 1) for run in _pair(collection, a, b)]
    queries.need({topic})
    documents.need({shown["doc"] for one in lists for shown in one["documents"]})
    for one in lists:
        for shown in one["documents"]:
            text = documents.get(shown["doc"])
            shown["title"], shown["text"] = (text.title, text.body[:LONGEST]) if text is not None else ("", "")
    return {"topic": topic, "text": _query(queries, topic), "lists": lists}


def _query(queries: Texts, topic: str) -> str:
    text = queries.get(topic)
    return text.body if text is not None else ""


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
