"""Elasticsearch's and OpenSearch's `_rank_eval`: the request holds judgments, the response a run.

    {"requests": [{"id": "q1", "request": {...}, "ratings": [{"_index": "books", "_id": "7", "rating": 2}]}], ...}
    {"metric_score": 0.5, "details": {"q1": {"hits": [{"hit": {"_index": "books", "_id": "7", "_score": 1.5}, ...}]}}}

The id of the request is the topic, `_id` the document; where several indices are in play, `_index/_id`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.columns import finite
from unjudged.io.dicts import qrels_from_dict, run_from_topics
from unjudged.io.ids import Ids
from unjudged.io.json_ import read_object
from unjudged.io.trec import QrelsTable, Reading, RunTable

REQUEST, RESPONSE = "requests", "details"
WRAPPED = "rank_eval"
"""OpenSearch's documentation shows the response below this key; early versions of Elasticsearch wrote it so."""


def _list(found: Any, key: str, where: str, source: str) -> list[Any]:
    value = found.get(key) if isinstance(found, dict) else None
    if not isinstance(value, list):
        raise InputError(f"{where} needs a list {key!r}", source)
    return value


def _id(thing: Any, several: bool, where: str, source: str) -> str:
    name = thing.get("_id") if isinstance(thing, dict) else None
    if not _is_id(name):
        raise InputError(f"{where} needs an _id, a text or a whole number", source)
    return f"{thing.get('_index', '')}/{name}" if several else str(name)


def _is_id(name: Any) -> bool:
    return isinstance(name, (str, int)) and not isinstance(name, bool)


def _several(things: Iterator[Any]) -> bool:
    return len({str(thing.get("_index")) for thing in things if isinstance(thing, dict)}) > 1


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """The ratings of a request."""
    source = files.source_name(path)
    requests = _list(read_object(path, source), REQUEST, "a rank_eval request", source)
    rated: dict[str, list[Any]] = {}
    for number, request in enumerate(requests, 1):
        where = f"request {number}"
        ratings = _list(request, "ratings", where, source)
        topic = str(request["id"]) if _is_id(request.get("id")) else ""
        if not topic or topic in rated:
            raise InputError(f"{where} needs an id of its own, found {topic!r}", source)
        rated[topic] = ratings
    several = _several(rating for ratings in rated.values() for rating in ratings)
    judged: dict[str, dict[str, Any]] = {}
    for topic, ratings in rated.items():
        judged[topic] = {}
        for rating in ratings:
            doc = _id(rating, several, f"a rating of request {topic}", source)
            if judged[topic].setdefault(doc, rating.get("rating")) != rating.get("rating"):
                raise InputError(f"document {doc} has two ratings in request {topic}", source)
    return qrels_from_dict(judged, source)


def read_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """The hits of a response, in their order where they have no scores."""
    source = files.source_name(path)
    found = read_object(path, source)
    inside = found.get(WRAPPED, found)
    details = inside.get(RESPONSE) if isinstance(inside, dict) else None
    if not isinstance(details, dict):
        raise InputError(f"a rank_eval response needs an object {RESPONSE!r}", source)
    hits = {
        topic: [h.get("hit") if isinstance(h, dict) else None for h in _list(found, "hits", f"topic {topic}", source)]
        for topic, found in details.items()
    }
    several = _several(hit for of_topic in hits.values() for hit in of_topic)
    lists = []
    for topic, of_topic in hits.items():
        docs = [_id(hit, several, f"a hit of topic {topic}", source) for hit in of_topic]
        scores = [hit.get("_score") for hit in of_topic if hit is not None]
        if any(not isinstance(score, (int, float)) for score in scores):
            scores = [-float(rank) for rank in range(len(docs))]
        if None in map(finite, scores):
            raise InputError(f"a score of topic {topic} is not a finite number", source)
        lists.append((topic, docs, array("d", scores)))
    return run_from_topics(lists, name or "run", index, topics, reading, keep_docs)._replace(source=source)
