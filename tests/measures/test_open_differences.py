"""Intervals of differences against brute force: every grade for every unjudged document, the same in both runs."""

from __future__ import annotations

import itertools
import random
import warnings

import numpy as np
import pytest

import unjudged as uj
from unjudged.errors import UsageError
from unjudged.measures import Measure
from unjudged.measures import measures as parsed
from unjudged.measures.bounds.differences import Interval, is_separable, open_differences

EXACT = (
    *("P", "P@1", "P@3", "P(rel=2)@3", "P(rel=0)@2", "P'@2", "SetP", "RBP", "RBP(p=0.5)@3", "RBP(p=0.8, rel=2)"),
    *("DCG", "DCG@2", "DCG(dcg='jk')@3", "DCG(dcg='exp-log2')", "DCG(gains={1: 3, 2: 1})", "RBP'"),
    *("NumRelRet", "anti_P@3", "anti_P(rel=2)", "NumNonrelJudgedRet"),
)
OUTER = (
    *("AP", "AP@2", "nDCG", "nDCG@3", "nDCG(dcg='jk')@2", "nCG@2", "RR", "R", "R@2", "SetP(relative=True)"),
    *("Rprec", "bpref", "ERR", "Q", "Q@3", "Success@2", "relative_P@2", "nDCG'@2", "nCG@1", "SetR", "R(rel=2)@3"),
    *("R(rel=0)@2", "nDCG(dcg='exp-log2')@3", "nDCG(gains={1: 0, 2: 1})"),
)
TOP = 2
FIRST, SECOND = np.array([0, 0, 1, 1]), np.array([1, 2, 2, 0])

Qrels = dict[str, dict[str, int]]
Runs = dict[str, dict[str, dict[str, float]]]


def load(qrels: Qrels, runs: Runs) -> uj.Collection:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        return uj.load(qrels, runs)


def random_case(number: int) -> tuple[Qrels, Runs]:
    """Two topics and one that holds the top grade; three runs that share documents; negative grades, short lists."""
    rng = random.Random(number)
    docs = [f"d{i}" for i in range(6)]
    qrels: Qrels = {"top": {"best": TOP}}
    runs: Runs = {r: {"top": {"best": 1.0}} for r in ("a", "b", "c")}
    for topic in ("t1", "t2"):
        judged = rng.random()
        qrels[topic] = {d: rng.choice((0, 0, 1, 2, -1)) for d in docs if rng.random() < judged} or {"nobody": 0}
        for run in runs.values():
            found = [d for d in docs if rng.random() < 0.7]
            rng.shuffle(found)
            if found:
                run[topic] = {d: -float(i) for i, d in enumerate(found)}
        if rng.random() < 0.2 and topic in runs["a"]:
            runs["b"][topic] = dict(runs["a"][topic])
    return qrels, runs


def complete(measure: Measure) -> Measure:
    """What a measure is once nothing is unjudged."""
    return measure if measure.definition.condensed else measure(judged_only=False)


def brute_force(qrels: Qrels, runs: Runs, measures: list[Measure]) -> tuple[np.ndarray, np.ndarray]:
    """Measures x pairs: lowest and highest mean difference; topics are judged independently."""
    low, high = np.zeros((len(measures), len(FIRST))), np.zeros((len(measures), len(FIRST)))
    for topic, listed in qrels.items():
        judged = {d: g for d, g in listed.items() if g >= 0}
        retrieved = sorted({d for run in runs.values() for d in run.get(topic, {})} - judged.keys())
        every = itertools.product(range(TOP + 1), repeat=len(retrieved))
        filled = {str(n): judged | dict(zip(retrieved, grades, strict=True)) for n, grades in enumerate(every)}
        lists = {name: dict.fromkeys(filled, run[topic]) if topic in run else {} for name, run in runs.items()}
        world = load(
            {"top": {"best": TOP}} | {n: grades or {"nobody": 0} for n, grades in filled.items()},
            {name: {"top": {"best": 1.0}} | found for name, found in lists.items()},
        )
        scores = uj.score(world, list(dict.fromkeys(map(complete, measures))))
        for m, measure in enumerate(measures):
            values = scores.matrix(complete(measure))[[t != "top" for t in world.topics]]
            apart = values[:, FIRST] - values[:, SECOND]
            low[m] += apart.min(axis=0) / len(qrels)
            high[m] += apart.max(axis=0) / len(qrels)
    return low, high


@pytest.mark.slow
@pytest.mark.parametrize("number", range(12))
def test_against_every_completion(number: int) -> None:
    qrels, runs = random_case(number)
    collection, measures = load(qrels, runs), parsed([*EXACT, *OUTER])
    everything = np.ones(len(collection.topics), bool)
    found = open_differences(collection, measures, FIRST, SECOND, everything)
    low, high = brute_force(qrels, runs, measures)
    for m, (measure, interval) in enumerate(zip(measures, found, strict=True)):
        assert interval.exact == (str(measure) in EXACT), measure
        if interval.exact:
            assert interval.low == pytest.approx(low[m], abs=1e-12), measure
            assert interval.high == pytest.approx(high[m], abs=1e-12), measure
        else:
            assert (interval.low <= low[m] + 1e-12).all(), measure
            assert (interval.high >= high[m] - 1e-12).all(), measure


def test_a_document_unjudged_in_both_moves_both() -> None:
    """By hand: both runs retrieve u; a also has r (relevant) first, b has n (nonrelevant) first."""
    collection = load({"t": {"r": 1, "n": 0}}, {"a": {"t": {"r": 2.0, "u": 1.0}}, "b": {"t": {"n": 2.0, "u": 1.0}}})
    one = np.array([0]), np.array([1]), np.array([True])
    precision, rbp = open_differences(collection, parsed("P@2, RBP(p=0.5)"), *one)
    assert (precision.low[0], precision.high[0]) == (0.5, 0.5)  # alone: 0.5 to 1 against 0 to 0.5
    assert (rbp.low[0], rbp.high[0]) == (0.5, 0.5)
    assert precision.outcomes() == ["better"]
    assert [i.outcomes() for i in open_differences(collection, parsed("P@2"), one[1], one[0], one[2])] == [["worse"]]


def test_the_order_of_an_unjudged_document_decides() -> None:
    """By hand, RBP with p = 0.5: u at rank 1 in a and rank 2 in b, so between 0 and 0.5 - 0.25; P@2 cannot differ."""
    collection = load({"t": {"r": 1, "n": 0}}, {"a": {"t": {"u": 2.0, "n": 1.0}}, "b": {"t": {"n": 2.0, "u": 1.0}}})
    one = np.array([0]), np.array([1]), np.array([True])
    rbp, precision = open_differences(collection, parsed("RBP(p=0.5), P@2"), *one)
    assert (rbp.low[0], rbp.high[0]) == (0.0, 0.25)
    assert (precision.low[0], precision.high[0]) == (0.0, 0.0)
    assert rbp.outcomes() == precision.outcomes() == ["cannot tell"]


def test_identical_runs_never_differ() -> None:
    same = {"t": {"u": 3.0, "r": 2.0, "v": 1.0}}
    collection = load({"t": {"r": 1, "n": 0}}, {"a": same, "b": same})
    found = open_differences(collection, parsed("AP, nDCG@2, P@2, DCG"), np.array([0]), np.array([1]), np.array([True]))
    assert [(i.low[0], i.high[0]) for i in found] == [(0.0, 0.0)] * 4


def test_ndcg_and_recall_are_told_apart_where_their_sums_are() -> None:
    """By hand: u and v lead both lists, r follows at rank 3 or 4. Each alone has bounds that overlap the other's.

    nDCG: (1/log2(4) - 1/log2(5)) / D, and D is 1 or, with u and v relevant, 1 + 1/log2(3) + 1/2. Recall at 3: 1 / R.
    """
    collection = load(
        {"t": {"r": 1, "n": 0}},
        {"a": {"t": {"u": 4.0, "v": 3.0, "r": 2.0, "n": 1.0}}, "b": {"t": {"u": 4.0, "v": 3.0, "n": 2.0, "r": 1.0}}},
    )
    one = np.array([0]), np.array([1]), np.array([True])
    ndcg, recall, dcg = open_differences(collection, parsed("nDCG, R@3, DCG"), *one)
    apart = 1 / 2 - 1 / np.log2(5)
    assert (dcg.low[0], dcg.high[0]) == pytest.approx((apart, apart))
    assert (ndcg.low[0], ndcg.high[0]) == pytest.approx((apart / (1 + 1 / np.log2(3) + 1 / 2), apart))
    assert (recall.low[0], recall.high[0]) == pytest.approx((1 / 3, 1.0))
    assert ndcg.outcomes() == recall.outcomes() == ["better"]
    alone = uj.score_bounds(collection, "nDCG")
    assert alone.low[0, 0, 0] < alone.high[1, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(4))
def test_free_growth_leaves_room_for_documents_nobody_retrieved(number: int) -> None:
    """Random completions with up to 20 more relevant documents that no run has: differences stay inside."""
    qrels, runs = random_case(number)
    measures = parsed([*EXACT, *OUTER])
    collection = load(qrels, runs)
    found = open_differences(collection, measures, FIRST, SECOND, np.ones(len(collection.topics), bool), "free")
    rng = random.Random(number)
    for _ in range(20):
        filled: Qrels = {}
        for topic, listed in qrels.items():
            docs = {d for run in runs.values() for d in run.get(topic, {})} | listed.keys()
            more = {f"nobody{i}": rng.randint(1, TOP) for i in range(rng.choice((0, 1, 20)))}
            given = {d: listed[d] if listed.get(d, -1) >= 0 else rng.randint(0, TOP) for d in sorted(docs)}
            filled[topic] = given | more
        scores = uj.score(load(filled, runs), list(dict.fromkeys(map(complete, measures))))
        for measure, interval in zip(measures, found, strict=True):
            apart = scores.matrix(complete(measure)).mean(axis=0)
            apart = apart[FIRST] - apart[SECOND]
            assert (interval.low <= apart + 1e-12).all(), measure
            assert (apart <= interval.high + 1e-12).all(), measure


def test_pairs_turned_round_have_the_interval_turned_round() -> None:
    qrels, runs = random_case(3)
    collection, measures = load(qrels, runs), parsed([*EXACT, "AP", "nDCG@3"])
    everything = np.ones(len(collection.topics), bool)
    there = open_differences(collection, measures, FIRST, SECOND, everything)
    back = open_differences(collection, measures, SECOND, FIRST, everything)
    for a, b in zip(there, back, strict=True):
        assert a.low == pytest.approx(-b.high, abs=1e-12)
        assert a.high == pytest.approx(-b.low, abs=1e-12)


def test_only_the_topics_that_count() -> None:
    """Topic t1 alone: its own interval."""
    qrels, runs = random_case(5)
    collection = load(qrels, runs)
    alone = load({t: qrels[t] for t in ("t1", "top")}, runs)
    there = open_differences(collection, parsed("P@3, AP"), FIRST, SECOND, np.array([t == "t1" for t in qrels]))
    here = open_differences(alone, parsed("P@3, AP"), FIRST, SECOND, np.array([True, False]))
    for a, b in zip(there, here, strict=True):
        assert a.low == pytest.approx(b.low, abs=1e-15)


def test_outcomes() -> None:
    interval = Interval(np.array([0.1, -0.3, -0.1, 0.0]), np.array([0.2, -0.1, 0.1, 0.1]), True)
    assert interval.outcomes() == ["better", "worse", "cannot tell", "cannot tell"]


def test_a_measure_of_your_own_is_not_taken_for_a_sum() -> None:
    @uj.measure
    def P(h: uj.Hits, k: int | None = None) -> uj.Cells:
        """Another P."""
        return h.count()

    assert not is_separable(P)


@pytest.mark.parametrize(("measure", "said"), [("infAP", "no exact bounds"), ("Judged@10", "describes the judgments")])
def test_measures_without_bounds_are_refused(measure: str, said: str) -> None:
    collection = load(*random_case(1))
    with pytest.raises(UsageError, match=said):
        open_differences(collection, parsed(measure), FIRST, SECOND, np.ones(3, bool))


def test_lists_in_many_orders_are_refused() -> None:
    collection = uj.load({"t": {"r": 1}}, {"a": {"t": {"r": 1.0}}, "b": {"t": {"x": 1.0}}}, ties="expected")
    with pytest.raises(UsageError, match="one order"):
        open_differences(collection, parsed("P@1"), np.array([0]), np.array([1]), np.array([True]))
