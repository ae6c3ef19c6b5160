"""Nothing a collection makes points back at it: memory is free once the last one lets go, without a collector.

The command line switches Python's collector of reference cycles off, and studies score thousands of collections.
"""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import unjudged as uj
from unjudged.collection import Hits, Judgments, Rankings
from unjudged.measures import measures

TOPICS, DOCS, RUNS = 5, 40, 4
MEASURES = (
    "sakai2009, all_trec, infAP, xinfAP, AP', Q', nDCG'@10, P_measure, P_plus, Judged@10, unj@10, RBP', INST, IPrec@0.1"
)
OURS = (Hits, Judgments, Rankings, uj.Collection, uj.Scores)


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


def collection(lowest: int = -1, ties: str = "trec10") -> uj.Collection:
    draw = np.random.default_rng(4)
    qrels = {
        str(t): {f"d{d}": int(g) for d, g in enumerate(draw.integers(lowest, 4, DOCS))} for t in range(1, TOPICS + 1)
    }
    runs = {
        f"r{r}": {t: {f"d{d}": float(draw.integers(8)) for d in draw.permutation(DOCS + 9)[:30]} for t in qrels}
        for r in range(RUNS)
    }
    return uj.load(qrels, runs, ties=ties, teams={f"r{r}": f"t{r % 2}" for r in range(RUNS)})


def left_behind() -> list[Any]:
    """Our objects that only the collector of cycles can free."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(0)
    found = [thing for thing in gc.garbage if isinstance(thing, OURS)]
    gc.garbage.clear()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("lowest", [-1, 0], ids=["pooled documents", "all judged"])
def test_scored_collections_go_without_the_collector(lowest: int) -> None:
    c = collection(lowest)
    uj.score(c, MEASURES)
    seen: list[weakref.ref[Any]] = []
    for seed in range(10):
        reduced = uj.reduce(c, 0.5, seed=seed)
        other = uj.collapse(uj.leave_out(reduced, team="t0", depth=5), rel=2).with_runs(["r1", "r2"])
        for one in (reduced, other, uj.only(other, "1-3")):
            uj.score(one, MEASURES)
            uj.score(one, "AP, nDCG@10", unjudged="condensed")
            one.hits.relevant(1).condensed().top(5).judged().relevant(2).pooled.nonrelevant(1)
            one.rankings  # noqa: B018
            seen += map(weakref.ref, (one, one.hits, one.judgments, one.hits.condensed(), one.rankings))
        del reduced, other, one
    assert [ref() for ref in seen if ref() is not None] == []
    assert left_behind() == []


@pytest.mark.slow
def test_expected_ties_leave_nothing_behind() -> None:
    c = collection(ties="expected")
    seen = []
    for seed in range(3):
        reduced = uj.reduce(c, 0.5, seed=seed)
        uj.score(
            reduced, "AP, AP', nDCG@10, infAP, xinfAP, IPrec@0.1, IPrecAvg, bpref, P_measure, RR, Judged@5, ERR, Q'"
        )
        seen.append(weakref.ref(reduced.hits))
        del reduced
    assert [ref() for ref in seen if ref() is not None] == []
    assert left_behind() == []


@pytest.mark.slow
def test_what_is_read_again_leaves_nothing_behind() -> None:
    c = uj.reduce(collection(), 0.7)
    for _ in range(3):
        again = uj.shallow(c.with_ties("file").adding({"new": {"1": {"d1": 1.0}}}), 5)
        uj.score(uj.merge(again, {"1": {"d2": 1}}, rule="max"), "AP")
        uj.score_bounds(again, "AP, RBP")
        there = weakref.ref(again)
        del again
        assert there() is None
    assert left_behind() == []


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_collections() -> None:
    c, wanted = collection(), measures("sakai2009, infAP")  # spellings are read by Python's ast, which makes circles

    def some() -> int:
        for _ in range(20):
            uj.score(uj.reduce(c, 0.5, seed=1), wanted)
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = some()
        assert some() - before < 100_000  # less than the views of one collection; Python and NumPy keep a little
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_the_test_can_fail() -> None:
    hits = collection().hits
    hits._kept["a circle"] = hits
    del hits
    assert any(isinstance(thing, Hits) for thing in left_behind())
