"""Hits in the shapes of retrievers and vector stores, with stand-ins that have nothing but those shapes."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from types import SimpleNamespace as Shape
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unjudged as uj
from unjudged.errors import InputError, UsageError

POINT = uuid.UUID(int=7)


@dataclass
class Document:
    """LangChain's: text, metadata, perhaps an id."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


def point(name: Any, score: float, **payload: Any) -> Shape:
    return Shape(id=name, version=3, score=score, payload=payload or None, vector=None)


def source(name: str, score: float | None) -> dict[str, Any]:
    return {"_index": "docs", "_id": name, "_score": score, "_source": {"id": "not this", "title": "t"}}


SCORED = (("b", 3), ("a", 2), ("c", 1))
SHAPES: dict[str, Any] = {
    "ids": ["b", "a", "c"],
    "tuple of ids": ("b", "a", "c"),
    "pairs": [("b", 0.9), ("a", 0.5), ("c", 0.1)],
    "pairs as lists": [["b", 0.9], ["a", 0.5], ["c", 0.1]],
    "distances": [("b", 0.1), ("a", 0.5), ("c", 0.9)],
    "dicts": [{"id": "b", "score": 3}, {"id": "a", "score": 2}, {"id": "c", "score": 1}],
    "dicts of MTEB": [{"corpus_id": "b", "score": 3}, {"corpus_id": "a", "score": 2}, {"corpus_id": "c", "score": 1}],
    "langchain": [Document("x", {"doc_id": d, "source": "y.pdf"}) for d in "bac"],
    "langchain ids": [Document("x", {"source": "y.pdf"}, d) for d in "bac"],
    "langchain with scores": [(Document("x", {"doc_id": d}, "chunk"), s) for d, s in SCORED],
    "llamaindex": [Shape(node=Shape(node_id="n", metadata={"doc_id": d}), score=s) for d, s in SCORED],
    "haystack": [Shape(id=d, content="x", meta={"file": "y"}, score=s) for d, s in SCORED],
    "chroma": {"ids": [["b", "a", "c"]], "distances": [[0.1, 0.2, 0.3]], "metadatas": [[None] * 3], "embeddings": None},
    "chroma without distances": {"ids": [["b", "a", "c"]], "distances": None, "documents": [["x", "y", "z"]]},
    "qdrant": Shape(points=[point("b", 0.9), point("a", 0.5, city="x"), point("c", 0.1)]),
    "qdrant list": [point("b", 0.9), point("a", 0.5), point("c", 0.1)],
    "pinecone": {"matches": [{"id": d, "score": s, "values": []} for d, s in SCORED], "namespace": ""},
    "pinecone object": Shape(matches=[Shape(id=d, score=s, metadata=None) for d, s in SCORED]),
    "pinecone records": {"result": {"hits": [{"_id": d, "_score": s, "fields": {}} for d, s in SCORED]}},
    "elasticsearch": {"took": 1, "hits": {"hits": [source("b", 2.5), source("a", 2), source("c", 1)]}},
    "elasticsearch client": Shape(body={"hits": {"hits": [source("b", 2.5), source("a", 2), source("c", 1)]}}),
    "elasticsearch sorted": [source("b", None), source("a", None), source("c", None)],
    "weaviate": Shape(objects=[Shape(uuid=d, properties={}, metadata=Shape(distance=0.1)) for d in "bac"]),
    "chunks": ["b", "a", "b", "c", "a"],
    "chunks of documents": [Document("x", {"doc_id": d}, f"chunk{i}") for i, d in enumerate("bbaca")],
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_the_order_is_the_retrievers(shape: str) -> None:
    """Every shape is the list b, a, c: reciprocal ranks 1/2 for a and 1/3 for c, in whatever place it is given."""
    for judged, expected in (("a", 1 / 2), ("c", 1 / 3)):
        alone = uj.load({"q": {judged: 1}}, {"q": SHAPES[shape]})
        assert uj.score(alone, "RR").matrix("RR").ravel() == pytest.approx(expected)
    assert list(uj.as_run({"q": SHAPES[shape]})["q"]) == ["b", "a", "c"]
    named = uj.load({"q": {"a": 1}}, {"mine": {"q": SHAPES[shape]}, "other": {"q": {"a": 1.0}}})
    assert named.runs == ("mine", "other")


def test_numbers_as_ids() -> None:
    row = np.array([12, 7, -1, -1])
    assert uj.as_run({"q": row}) == {"q": {"12": 2.0, "7": 1.0}}
    assert list(uj.as_run({"q": [point(POINT, 0.5), point(4, 0.25)]})["q"]) == [str(POINT), "4"]
    assert uj.score(uj.load({"q": {"7": 1}}, {"q": row}), "RR").matrix("RR").ravel().tolist() == [0.5]


def test_an_id_of_ones_own() -> None:
    hits = [Document("x", {"source": f"{name}.pdf#3"}, "chunk") for name in ("b", "b", "a")]
    assert list(uj.as_run({"q": hits}, id="source")["q"]) == ["b.pdf#3", "a.pdf#3"]
    assert uj.as_run({"q": hits}, id=lambda hit: hit.metadata["source"].split(".")[0]) == {"q": {"b": 2.0, "a": 1.0}}


@pytest.mark.parametrize(
    ("hits", "said"),
    [
        ([("a", 1.0), ("b", 3.0), ("c", 2.0)], "neither fall nor rise"),
        ([Document("x")], "hit 1: no id"),
        ([{"id": "a", "score": "high"}], "the score 'high' is not a number"),
        ([("a", float("nan"))], "NaN"),
        ([0.5, 0.25], "whole number, found 0.5"),
        ([["a", 1.0, 2.0]], "found"),
    ],
)
def test_what_cannot_be_meant(hits: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        uj.load({"q": {"a": 1}}, {"q": hits})


def test_several_queries_in_one_response() -> None:
    with pytest.raises(UsageError, match="answers 2 queries"):
        uj.load({"q": {"a": 1}}, {"q": {"ids": [["a"], ["b"]], "distances": [[0.1], [0.2]]}})


@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.integers(0, 5)), max_size=12))
def test_falling_scores_are_kept_and_documents_count_once(hits: list[tuple[str, int]]) -> None:
    hits.sort(key=lambda hit: -hit[1])
    best: dict[str, float] = {}
    for doc, score in hits:
        best[doc] = max(score, best.get(doc, score))
    assert uj.as_run({"q": hits}) == {"q": best}
