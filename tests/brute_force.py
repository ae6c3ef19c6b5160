"""Pools and average precision by their definitions, straight from the full lists; and rows of a result by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import unjudged as uj
from unjudged.results import Result


def cells(result: Result, *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Rows by the values of these columns; each combination once."""
    found = {}
    for row in result.rows():
        named = dict(zip(result.columns, row, strict=True))
        key = tuple(named[k] for k in keys)
        assert key not in found
        found[key] = named
    return found


def tops(c: uj.Collection, depth: int) -> dict[str, dict[str, set[str]]]:
    """Run -> topic -> the first documents of its list, straight from the rankings."""
    found: dict[str, dict[str, set[str]]] = {}
    for r, run in enumerate(c.runs):
        found[run] = {
            topic: set(c.rankings.ids(c.judgments, r * len(c.topics) + t)[:depth]) for t, topic in enumerate(c.topics)
        }
    return found


def judged(c: uj.Collection) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {topic: {} for topic in c.topics}
    for row in range(len(c.judgments)):
        found[c.topics[int(c.judgments.topic[row])]][c.judgments.docs[row]] = int(c.judgments.grade[row])
    return found


def ap(c: uj.Collection, run: int, qrels: Mapping[str, Mapping[str, int]], condensed: bool = False) -> float:
    """Mean average precision by its definition."""
    total = 0.0
    for t, topic in enumerate(c.topics):
        docs = c.rankings.ids(c.judgments, run * len(c.topics) + t)
        if condensed:
            docs = [d for d in docs if d in qrels[topic]]
        hits, value = 0, 0.0
        for rank, doc in enumerate(docs, 1):
            if qrels[topic].get(doc, 0) > 0:
                hits += 1
                value += hits / rank
        relevant = sum(grade > 0 for grade in qrels[topic].values())
        total += value / relevant if relevant else 0.0
    return total / len(c.topics)


def kept(qrels: Mapping[str, Mapping[str, int]], keep: Any) -> dict[str, dict[str, int]]:
    return {topic: {d: g for d, g in docs.items() if keep(topic, d)} for topic, docs in qrels.items()}


def lists_of(c: uj.Collection) -> dict[str, dict[str, dict[str, float]]]:
    """Run -> topic -> document -> score: the lists as dicts, to load them again beside other judgments."""
    topics = len(c.topics)
    return {
        run: {
            topic: {doc: -float(i) for i, doc in enumerate(c.rankings.ids(c.judgments, r * topics + t))}
            for t, topic in enumerate(c.topics)
        }
        for r, run in enumerate(c.runs)
    }
