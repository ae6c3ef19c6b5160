"""Pool inference: which runs were pooled and how deep, on pools made here, so that the answer is known."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import unjudged as uj
from unjudged.collection.inference import NEUTRAL, Inferred, _log_odds, infer_pool

Lists = dict[str, dict[str, list[str]]]
"""Documents by run and topic, best first."""


def runs_of(seed: int, runs: int = 10, topics: int = 12, length: int = 40, candidates: int = 150) -> Lists:
    """Runs that resemble each other: every run ranks the documents by a common score plus noise of its own."""
    draw = random.Random(seed)
    out: Lists = {f"run{r}": {} for r in range(runs)}
    for t in range(topics):
        common = [draw.gauss(0, 1) for _ in range(candidates)]
        for lists in out.values():
            score = [value + draw.gauss(0, 0.8) for value in common]
            order = sorted(range(candidates), key=lambda d: -score[d])
            lists[f"t{t}"] = [f"d{d}" for d in order[:length]]
    return out


def judged(
    lists: Lists, pooled: Sequence[str], depth: int | Mapping[str, int], lost: float = 0.0
) -> dict[str, set[str]]:
    """The pool: the first documents of these runs, less those lost."""
    draw = random.Random(99)
    out: dict[str, set[str]] = {}
    for topic in next(iter(lists.values())):
        last = depth if isinstance(depth, int) else depth[topic]
        pool = {doc for run in pooled for doc in lists[run].get(topic, [])[:last]}
        out[topic] = {doc for doc in sorted(pool) if draw.random() >= lost}
    return out


def collection(lists: Lists, pool: Mapping[str, set[str]], grade: int = 0) -> uj.Collection:
    """As anybody would load it; the first document of a pool is relevant."""
    qrels = {t: {doc: 1 if i == 0 else grade for i, doc in enumerate(sorted(docs))} for t, docs in pool.items()}
    scored = {
        run: {t: {doc: float(len(docs) - i) for i, doc in enumerate(docs)} for t, docs in by_topic.items()}
        for run, by_topic in lists.items()
    }
    return uj.load(qrels, scored)


def names(*numbers: int) -> list[str]:
    return [f"run{n}" for n in numbers]


@pytest.mark.parametrize("depth", [3, 7, 20])
@pytest.mark.parametrize("pooled", [(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 4, 5, 8), (2, 6), (7,)])
def test_depth_and_runs_of_a_pool(depth: int, pooled: tuple[int, ...]) -> None:
    lists = runs_of(seed=depth)
    found = infer_pool(collection(lists, judged(lists, names(*pooled), depth)))
    assert (found.depth, found.depth_low, found.depth_high) == (depth, depth, depth)
    assert list(found.pooled()) == names(*pooled)
    assert found.missing < 0.01
    assert found.sure > 0.95
    assert found.depth_of_run == tuple(depth if n in pooled else 0 for n in range(10))
    assert found.reason == f"{len(pooled)} of 10 runs are judged to depth {depth}"


@pytest.mark.parametrize("pooled", [(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 4, 5, 8)])
def test_a_tenth_of_the_documents_is_missing(pooled: tuple[int, ...]) -> None:
    lists = runs_of(seed=3, topics=30)
    found = infer_pool(collection(lists, judged(lists, names(*pooled), 10, lost=0.1)))
    assert found.depth == 10
    assert list(found.pooled()) == names(*pooled)
    assert found.missing == pytest.approx(0.1, abs=0.03)


def test_depth_varies_by_topic() -> None:
    lists = runs_of(seed=5)
    depth = {f"t{t}": 5 + t for t in range(12)}
    found = infer_pool(collection(lists, judged(lists, names(0, 2, 4, 6), depth)))
    assert found.depth in (9, 10, 11)  # of 5 to 16
    assert 5 <= found.depth_low <= 7
    assert 14 <= found.depth_high <= 16
    assert list(found.pooled()) == names(0, 2, 4, 6)
    assert f"by topic to depths from {found.depth_low} to {found.depth_high}" in found.reason


def test_topics_that_were_judged_from_another_pool_are_left_out() -> None:
    """As in the Robust track of 2003, where half of the topics had been judged years before."""
    lists = runs_of(seed=6, runs=16, topics=20, length=60)
    here, others = names(*range(8)), [f"run{r}" for r in range(8, 16)]
    pool, elsewhere = judged(lists, here, 25), judged(lists, others, 25)
    mixed = {topic: (pool if t < 12 else elsewhere)[topic] for t, topic in enumerate(pool)}
    found = infer_pool(collection({run: lists[run] for run in here}, mixed))
    assert found.depth == 25
    assert list(found.pooled()) == here
    assert found.reason == "8 of 8 runs are judged to depth 25 in 12 of 20 topics"


def test_runs_of_two_depths() -> None:
    lists = runs_of(seed=7, topics=30)
    deep, flat = judged(lists, names(0, 1, 2), 20), judged(lists, names(3, 4, 5), 10)
    found = infer_pool(collection(lists, {t: deep[t] | flat[t] for t in deep}))
    assert found.depth == 20
    assert found.depth_of_run == (20, 20, 20, 10, 10, 10, 0, 0, 0, 0)


def test_short_lists_are_pooled_as_far_as_they_go() -> None:
    lists = runs_of(seed=8)
    lists["run0"] = {t: docs[:4] for t, docs in lists["run0"].items()}
    found = infer_pool(collection(lists, judged(lists, names(0, 1, 2, 3), 10)))
    assert found.depth == 10
    assert list(found.pooled()) == names(0, 1, 2, 3)
    assert found.depth_of_run[:2] == (4, 10)


def test_lists_judged_to_their_end() -> None:
    lists = {run: {t: docs[:10] for t, docs in by_topic.items()} for run, by_topic in runs_of(seed=9).items()}
    every = infer_pool(collection(lists, judged(lists, list(lists), 10)))
    assert (every.depth, list(every.pooled())) == (10, list(lists))
    some = infer_pool(collection(lists, judged(lists, names(1, 2, 3), 10)))
    assert (some.depth, list(some.pooled())) == (10, names(1, 2, 3))
    assert some.reason == "3 of 10 runs are judged to the end of their lists"


def test_documents_listed_twice_take_two_places(tmp_path: Path) -> None:
    """The run of duplicates says each document twice: ten lines are five documents."""
    lists = runs_of(seed=10)
    pool = judged({**lists, "run0": {t: docs[:5] for t, docs in lists["run0"].items()}}, names(0, 1, 2), 10)
    lines = [
        (t, doc, 1000.0 - 2 * i - again, run)
        for run, by_topic in lists.items()
        for t, docs in by_topic.items()
        for i, doc in enumerate(docs)
        for again in range(2 if run == "run0" else 1)
    ]
    for run in lists:
        (tmp_path / run).write_text("".join(f"{t} Q0 {doc} 0 {score} x\n" for t, doc, score, r in lines if r == run))
    qrels = "".join(f"{t} 0 {doc} 1\n" for t, docs in pool.items() for doc in sorted(docs))
    (tmp_path / "qrels").write_text(qrels)
    found = infer_pool(uj.load(tmp_path / "qrels", [tmp_path / run for run in lists], lenient=True))
    assert found.depth == 10
    assert list(found.pooled()) == names(0, 1, 2)


def test_documents_of_negative_grade_were_pooled() -> None:
    lists = runs_of(seed=11)
    pool = judged(lists, names(0, 3, 5), 7)
    found = infer_pool(collection(lists, pool, grade=-1))
    assert (found.depth, list(found.pooled())) == (7, names(0, 3, 5))


# -- where nothing can be told


def test_pooled_runs_that_are_not_at_hand() -> None:
    lists = runs_of(seed=12, runs=16)
    pool = judged(lists, names(*range(8)), 10)
    found = infer_pool(collection({run: lists[run] for run in list(lists)[8:]}, pool))
    assert found.depth is None
    assert found.pooled() == ()
    assert "fall off" in found.reason


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_judgments_without_regard_to_rank(share: float) -> None:
    lists = runs_of(seed=13)
    draw = random.Random(4)
    every = judged(lists, list(lists), 40)
    found = infer_pool(
        collection(lists, {t: {d for d in sorted(p) if draw.random() < share} for t, p in every.items()})
    )
    assert found.depth is None
    assert found.reason
    assert set(found.chance) == {0.0}


def test_one_judgment_a_topic() -> None:
    lists = runs_of(seed=14)
    found = infer_pool(collection(lists, {t: {docs[4]} for t, docs in lists["run0"].items()}))
    assert (found.depth, found.pooled()) == (None, ())


def test_a_pool_that_lists_cannot_show() -> None:
    """One pooled run whose lists end at ten: a pool of depth 10 and one of depth 20 are the same."""
    lists = runs_of(seed=15)
    lists["run0"] = {t: docs[:10] for t, docs in lists["run0"].items()}
    ten, twenty = (infer_pool(collection(lists, judged(lists, ["run0"], depth))) for depth in (10, 20))
    assert ten == twenty
    assert ten.depth in (None, 10)


# -- the depth is stated


def test_stated_depth() -> None:
    lists = runs_of(seed=16)
    c = collection(lists, judged(lists, names(0, 1, 2, 3), 10))
    found = infer_pool(c, 10)
    assert (found.depth, list(found.pooled()), found.sure) == (10, names(0, 1, 2, 3), 1.0)
    nobody = infer_pool(c, 40)
    assert (nobody.depth, nobody.pooled(), nobody.reason) == (40, (), "no run is judged to depth 40")
    with pytest.raises(uj.UsageError, match="a positive number of documents, not 0"):
        infer_pool(c, 0)


def test_a_reduction_does_not_change_what_was_pooled() -> None:
    lists = runs_of(seed=17)
    c = collection(lists, judged(lists, names(0, 1, 2, 3), 10))
    assert infer_pool(uj.reduce(c, rate=0.3, seed=1)) == infer_pool(c)


# -- what must not matter


def renamed(found: Inferred, names: Mapping[str, str], order: Sequence[str]) -> Inferred:
    """The answer for runs of other names in another order."""
    at = [[names[run] for run in found.runs].index(name) for name in order]
    return replace(
        found,
        runs=tuple(order),
        chance=tuple(found.chance[i] for i in at),
        depth_of_run=tuple(found.depth_of_run[i] for i in at),
    )


@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_order_and_names_of_runs_and_order_of_topics(lost: float) -> None:
    lists = runs_of(seed=18, topics=20)
    pool = judged(lists, names(0, 1, 2, 3), 10, lost)
    found = infer_pool(collection(lists, pool))
    assert found.depth == 10
    new = dict(zip(lists, "qwertzuiop", strict=True))
    order = sorted(lists, key=lambda run: new[run])
    topics = random.Random(2).sample(list(pool), len(pool))
    shuffled = {new[run]: {t: lists[run][t] for t in topics} for run in order}
    assert infer_pool(collection(shuffled, {t: pool[t] for t in topics})) == renamed(found, new, list(shuffled))


@pytest.mark.parametrize("which", ["run0", "run9"])
@pytest.mark.parametrize("lost", [0.0, 0.1])
def test_a_copy_of_a_run_changes_nothing_else(which: str, lost: float) -> None:
    lists = runs_of(seed=19, topics=20)
    pool = judged(lists, names(0, 1, 2, 3), 10, lost)
    before, after = infer_pool(collection(lists, pool)), infer_pool(collection({**lists, "copy": lists[which]}, pool))
    assert (after.depth, after.depth_low, after.depth_high) == (before.depth, before.depth_low, before.depth_high)
    assert before.depth == 10
    assert set(after.pooled()) == set(before.pooled()) | ({"copy"} if which == "run0" else set())


def test_a_hopeless_run_changes_nothing_else() -> None:
    lists = runs_of(seed=20)
    pool = judged(lists, names(0, 1, 2, 3), 10)
    hopeless = {t: [f"never{i}" for i in range(40)] for t in pool}
    before, after = infer_pool(collection(lists, pool)), infer_pool(collection({**lists, "zzz": hopeless}, pool))
    assert (after.depth, after.pooled()) == (before.depth, before.pooled()) == (10, tuple(names(0, 1, 2, 3)))
    assert after.chance[-1] < 1e-6


def test_unjudged_documents_of_a_run_speak_against_it_unless_others_lost_as_many() -> None:
    """An unpooled run all of whose documents but a few are in the pool: with documents lost it may be a pooled one."""
    lists = runs_of(seed=21, topics=20)
    own = {t: [*docs[:9], f"own-{t}", *docs[9:]] for t, docs in lists["run0"].items()}
    pool = judged(lists, names(0, 1, 2, 3), 10)
    found = infer_pool(collection({**lists, "near": own}, pool))
    assert list(found.pooled()) == names(0, 1, 2, 3)
    assert found.chance[-1] < 1e-6


# -- the odds by hand


def test_odds_of_a_run_by_hand() -> None:
    """c 8, q 1, u 1 of ten documents; a tenth lost; a document outside the pool is judged with 1/5.

    Pooled: the best share in another top is 8/9, likelihood (8/9)^8 (1/9) 0.9^9 0.1. Not pooled, a share s of the
    documents is in another top: (0.9 s)^8 (0.2 (1 - s)) (0.1 s + 0.8 (1 - s)), highest near s = 0.84.
    """
    one = [np.array([float(n)]) for n in (8, 1, 1)]
    pooled = (8 / 9) ** 8 * (1 / 9) * 0.9**9 * 0.1
    not_pooled = max((0.9 * s) ** 8 * 0.2 * (1 - s) * (0.1 * s + 0.8 * (1 - s)) for s in np.linspace(0.001, 0.999, 999))
    got = _log_odds(one[0], one[1], one[2], 0.1, np.array([0.2]))
    assert got[0] - NEUTRAL == pytest.approx(np.log(pooled / not_pooled), abs=1e-3)


# -- the pooled runs are stated


@pytest.mark.parametrize(("runs", "topics"), [(10, 12), (4, 3), (3, 1)])
def test_depth_of_stated_runs(runs: int, topics: int) -> None:
    """With the pooled runs known, a few lists show the depth."""
    lists = runs_of(seed=22, runs=runs, topics=topics)
    found = infer_pool(collection(lists, judged(lists, names(0, 1), 8)), runs=names(0, 1))
    assert (found.depth, list(found.pooled())) == (8, names(0, 1))
    assert set(found.chance) == {0.0, 1.0}
