"""What retrievers and vector stores return for one topic, in their own shapes: documents and scores, best first.

Nothing is imported for this: a shape is known by its keys or attributes.

    ["d3", "d1"]                                    ids alone (numbers, too; FAISS' -1 stands for nothing)
    [("d3", 0.91), (document, 0.72)]                pairs of an id (or a document) and a score
    [{"id": "d3", "score": 0.91}, ...]              hits as dicts
    [Document(page_content=..., metadata={...})]    what `retriever.invoke` of LangChain returns
    [NodeWithScore(node=..., score=...)]            LlamaIndex; Haystack's documents, too
    {"hits": {"hits": [{"_id": ..., "_score": ...}]}}   Elasticsearch, OpenSearch
    {"ids": [[...]], "distances": [[...]]}          Chroma
    {"matches": [...]}, .matches, .points, .objects, {"result": {"hits": [...]}}   Pinecone, Qdrant, Weaviate
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unjudged.errors import InputError, UsageError
from unjudged.text import as_written

IdOf = str | Callable[[Any], Any] | None
"""Where a hit's document id stands: the name of a field (also of its metadata), or a function of the hit."""
DOCUMENT = ("doc_id", "document_id", "docno", "docid", "corpus_id", "corpus-id")
"""Fields that name a document where the hit may be a part of it; they count before a hit's own id."""
OWN = ("id", "_id", "uuid", "node_id")
SCORES = ("score", "_score", "relevance_score", "similarity")
INSIDE = ("metadata", "meta", "payload", "fields", "entity", "_source")
"""Where stores keep the fields of a document."""
HELD = ("matches", "points", "objects", "hits")
"""Where responses keep their hits."""
NOBODY = -1
"""FAISS fills short lists with this id."""


def as_run(results: Mapping[Any, Any], id: IdOf = None) -> dict[str, dict[str, float]]:
    """A run {topic: {doc: score}} of what a retriever or vector store returned for every topic.

    `results` is {topic: hits}: ids, pairs of id and score, dicts, documents (`retriever.invoke(question)`), or a whole
    response of Chroma, Qdrant, Pinecone, Weaviate, Elasticsearch or OpenSearch. `id` says where a document's id stands
    (the name of a field of the hit or of its metadata, or a function of the hit); without it the usual names are
    looked up. Several hits of one document (chunks) count once, where the first stands. The list is taken as it
    is ordered; scores are kept where they fall along it (equal ones stay ties), and distances become ranks.

    `load`, `score` and everything else take {topic: hits} as it is; this function is for an `id` of your own.
    """
    if not isinstance(results, Mapping):
        raise UsageError(f"results are a dict of topic and hits, not {type(results).__name__}")
    run: dict[str, dict[str, float]] = {}
    for topic, found in results.items():
        docs, scores = hits_of(found, f"topic {topic!r}", "results", id)
        run[str(topic)] = dict(zip(docs, scores, strict=True))
    return run


def is_results(value: Any) -> bool:
    """Is this what a retriever returned for one topic, rather than {doc: score} or a whole run?"""
    if isinstance(value, (str, bytes)):
        return False
    return isinstance(value, (list, tuple)) or _is_numbers(value) or _response(value) is not None


def hits_of(found: Any, where: str, source: str, id: IdOf = None) -> tuple[list[str], array[float]]:
    """Documents, each once, and falling scores of one topic's hits."""
    hits = _response(found)
    if hits is None:
        hits = list(found.tolist() if _is_numbers(found) else found) if not isinstance(found, Mapping) else None
    if hits is None:
        raise InputError(f"{where}: this dict is neither {{doc: score}} nor a known response of a vector store", source)
    docs: dict[str, float | None] = {}
    given: list[float | None] = []
    for place, hit in enumerate(hits, 1):
        said = f"{where}, hit {place}"
        hit, score = _parts(hit)
        name = _id_of(hit, id, said, source)
        if name == str(NOBODY) and not isinstance(hit, str) and id is None:
            continue
        number = _number(score, said, source)
        given.append(number)
        docs.setdefault(name, number)
    scores = [score for score in given if score is not None]
    if len(scores) == len(given) and all(a >= b for a, b in itertools.pairwise(scores)):
        return list(docs), array("d", [score for score in docs.values() if score is not None])
    if len(scores) == len(given) and any(a > b for a, b in itertools.pairwise(scores)):
        raise InputError(
            f"{where}: the scores neither fall nor rise along the list; sort it, or give {{doc: score}}", source
        )
    return list(docs), array("d", range(len(docs), 0, -1))


def _response(found: Any) -> list[Any] | None:
    """The hits inside a whole response; None where this is none."""
    found = getattr(found, "body", found) if not isinstance(found, (Mapping, list, tuple)) else found
    inner = _field(found, "result")  # Pinecone's search of records
    found = found if inner is None else inner
    ids = _field(found, "ids")
    if isinstance(ids, Sequence) and not isinstance(ids, str):
        return _chroma(ids, _field(found, "distances"))
    for key in HELD:
        held = _field(found, key)
        if isinstance(held, Mapping) or (held is not None and not isinstance(held, (str, int, float, list, tuple))):
            held = _field(held, "hits")  # Elasticsearch says hits.hits
        if isinstance(held, (list, tuple)):
            return list(held)
    return None


def _chroma(ids: Sequence[Any], distances: Any) -> list[Any]:
    if ids and isinstance(ids[0], (list, tuple)):
        if len(ids) != 1:
            raise UsageError(f"this response answers {len(ids)} queries; give the hits of each topic under its name")
        ids, distances = ids[0], distances[0] if distances else None
    return list(zip(ids, distances, strict=True)) if distances else list(ids)


def _field(holder: Any, name: str) -> Any:
    if isinstance(holder, Mapping):
        return holder.get(name)
    if holder is None or isinstance(holder, (str, bytes, int, float, list, tuple)):
        return None
    found = getattr(holder, name, None)
    return None if callable(found) else found


def _is_numbers(value: Any) -> bool:
    return hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1


def _parts(hit: Any) -> tuple[Any, Any]:
    """A hit and its score, if it has one."""
    if isinstance(hit, (list, tuple)):
        if len(hit) != 2:
            return hit, None
        return hit[0], hit[1]
    for name in (*SCORES, "distance", "_distance"):
        score = _field(hit, name)
        if score is not None:
            return hit, score
    return hit, None


def _id_of(hit: Any, id: IdOf, where: str, source: str) -> str:
    hit = hit if _field(hit, "node") is None else _field(hit, "node")  # LlamaIndex
    if callable(id):
        found = id(hit)
    elif isinstance(hit, (str, int, float, list, tuple)) or hasattr(hit, "__index__"):
        found = hit
    else:
        holders = (hit, *filter(None, (_field(hit, key) for key in INSIDE)))
        named = [
            (holder, name)
            for names in ((DOCUMENT, OWN) if id is None else ((id,),))
            for holder in holders
            for name in names
        ]
        found = next((value for holder, name in named if (value := _field(holder, name)) is not None), None)
        if found is None:
            wanted = f"no field {id!r}" if id else f"no id (looked up: {', '.join(DOCUMENT + OWN)})"
            raise InputError(f"{where}: {wanted}; say which field names the document: as_run(results, id=...)", source)
    if isinstance(found, bool) or found is None or isinstance(found, (float, list, tuple, Mapping)):
        raise InputError(f"{where}: a document's id is text or a whole number, found {found!r}", source)
    return str(found)


def _number(score: Any, where: str, source: str) -> float | None:
    if score is None:
        return None
    try:
        number: float = array("d", [score])[0]
    except (TypeError, OverflowError):
        raise InputError(f"{where}: the score {as_written(score)} is not a number", source) from None
    if number != number:
        raise InputError(f"{where}: the score is NaN", source)
    return number
