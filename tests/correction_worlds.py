"""Small collections for the tests of correction: drawn at random, and loaded from ranked lists."""

from __future__ import annotations

import random
import warnings
from typing import Any

import unjudged as uj
from unjudged.collection import Collection


def load(qrels: Any, runs: dict[str, dict[str, list[str]]], teams: dict[str, str] | None = None) -> Collection:
    """A collection of ranked lists (a document may stand twice: the first place counts)."""
    given = {}
    for run, lists in runs.items():
        rows = {t: {} for t in lists}  # type: dict[str, dict[str, float]]
        for topic, docs in lists.items():
            for place, doc in enumerate(docs):
                rows[topic].setdefault(doc, 1000.0 - place)
        given[run] = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return uj.load(qrels, given, teams=teams or {})


def world(seed: int, runs: int = 6, topics: int = 4, docs: int = 40, longest: int = 30) -> dict[str, Any]:
    """Runs that agree in part, short lists, missing topics, topics outside the judgments, judgments nobody found."""
    chance = random.Random(seed)
    names = [f"d{i}" for i in range(docs)]
    all_topics = [f"t{i}" for i in range(topics)]
    quality = {t: {d: chance.random() for d in names} for t in [*all_topics, "x1", "x2"]}
    teams = {f"r{i}": f"team{i // 2}" for i in range(runs)}
    lists: dict[str, dict[str, list[str]]] = {}
    for run in teams:
        lists[run] = {}
        for t in [*all_topics, *(["x1"] if chance.random() < 0.5 else []), *(["x2"] if chance.random() < 0.3 else [])]:
            if t in all_topics and chance.random() < 0.15 and len(lists[run]) > 0:
                continue
            noisy = sorted(names, key=lambda d: -(quality[t][d] + chance.random()))
            lists[run][t] = noisy[: chance.choice([longest, longest, longest // 3, 2])]
    qrels: dict[str, dict[str, int]] = {t: {} for t in all_topics}
    for t in all_topics:
        for run in teams:
            for d in lists[run].get(t, [])[:5]:
                qrels[t].setdefault(d, int(quality[t][d] > 0.6))
        for d in chance.sample(names, 3):
            qrels[t].setdefault(d, chance.choice([0, 1, -1]))
    return {"runs": lists, "qrels": qrels, "teams": teams}
