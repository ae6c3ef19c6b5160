"""Pool building: every strategy on one example worked by hand, budgets, seeds, samples, refusals."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unjudged as uj
from unjudged.pools.build import settled, split
from unjudged.pools.sampling import shares
from unjudged.pools.strategies import ADAPTIVE, STRATEGIES

# -- the example: one topic, three runs, seven documents; relevant are a, c and e, nobody judged g
#
#   rank   A (score)   B (score)   C (score)
#    1     a 9         c 3         f 5
#    2     b 8         a 2         c 4
#    3     c 7         e 1         b 1
#    4     d 6                     g 0
#
#   min-max normalised:  A  a 1, b 2/3, c 1/3, d 0    B  c 1, a 1/2, e 0    C  f 1, c 4/5, b 1/5, g 0
#   best ranks:          a 1, b 2, c 1, d 4, e 3, f 1, g 4

QRELS = {"t": {"a": 1, "b": 0, "c": 2, "d": 0, "e": 1, "f": 0}}
RUNS = {
    "A": {"t": {"a": 9, "b": 8, "c": 7, "d": 6}},
    "B": {"t": {"c": 3, "a": 2, "e": 1}},
    "C": {"t": {"f": 5, "c": 4, "b": 1, "g": 0}},
}
DOCS = "abcdefg"


@pytest.fixture(scope="module")
def example() -> uj.Collection:
    return uj.load(QRELS, RUNS)


def order(pool: Any) -> str:
    return "".join(row[1] for row in pool.rows())


BY_HAND = [
    # the documents of rank 1 (a, c, f by id), 2 (b), 3 (e), 4 (d, g)
    ("take", {}, "acfbedg"),
    # c 1/63 + 1/61 + 1/62, a 1/61 + 1/62, b 1/62 + 1/63, f 1/61, e 1/63, d = g 1/64
    ("rrf", {}, "cabfedg"),
    # k 0: c 1/3 + 1 + 1/2 = 1.83, a 1.5, f 1, b 0.83, e 0.33, d = g 0.25
    ("rrf", {"k": 0}, "cafbedg"),
    # c 0.5 + 1 + 0.631, a 1.631, b 0.631 + 0.5, f 1, e 0.5, d = g 0.431
    ("dcg", {}, "cabfedg"),
    # in the top 2 of two runs: a (A, B), c (B, C); of one: b (A), f (C)
    ("precision", {"cutoff": 2}, "acbfdeg"),
    # c in 3 runs, a and b in 2, the others in 1
    ("popularity", {}, "cabdefg"),
    # unretrieved: (4 + 1 + 7) / 2 = 6 in A and C, (3 + 1 + 7) / 2 = 5.5 in B
    # a 1 + 2 + 6 = 9, b 2 + 5.5 + 3 = 10.5, c 3 + 1 + 2 = 6, d 4 + 5.5 + 6 = 15.5, e 6 + 3 + 6 = 15,
    # f 6 + 5.5 + 1 = 12.5, g 6 + 5.5 + 4 = 15.5
    ("borda", {}, "cabfedg"),
    # c beats all 6; a all but c (2 : 1 over b and f): 5; b beats d, e, g (b : f is 1 : 1): 3; f beats g: 1; d, e, g 0
    ("condorcet", {}, "cabfdeg"),
    # a 1/2, b 1/5, c 1/3, f 1, d e g 0
    ("combmin", {}, "facbdeg"),
    # a c f 1, b 2/3
    ("combmax", {}, "acfbdeg"),
    # a 1.5, b 0.867, c 2.133, f 1
    ("combsum", {}, "cafbdeg"),
    # a 0.75, b 0.433, c 0.711, f 1
    ("combanz", {}, "facbdeg"),
    # a 3, b 1.733, c 6.4, f 1
    ("combmnz", {}, "cabfdeg"),
    # a 0.75, b 0.433, c 0.8, f 1
    ("combmed", {}, "fcabdeg"),
    # p 0.5: c 0.125 + 0.5 + 0.25, a 0.75, f 0.5, b 0.25 + 0.125, e 0.125, d = g 0.0625
    ("rbp-a", {"p": 0.5}, "cafbedg"),
    # p 0.8: c 0.128 + 0.2 + 0.16, a 0.36, b 0.288, f 0.2, e 0.128, d = g 0.1024
    ("rbp-a", {}, "cabfedg"),
    # p 0.5, parts 1/2, 1/4, 1/8, 1/16. First c (0.875).
    #   residuals A 7/8, B 1/2, C 3/4:   a 0.4375 + 0.125 = 0.5625, f 0.375, b 0.3125, e 0.0625: a
    #   residuals A 3/8, B 1/4:          f 0.375, b 0.09375 + 0.09375 = 0.1875: f
    #   residual C 1/4:                  b 0.125, e 0.03125, d 0.0234, g 0.0156: b
    #   residuals A 1/8, C 1/8:          e 0.03125, d = g 0.0078: e, d, g
    ("rbp-b", {"p": 0.5}, "cafbedg"),
    # p 0.8, parts 0.2, 0.16, 0.128, 0.1024; weight of a run: residual (base + residual / 2)^3. First c, relevant.
    #   A 0.872 * 0.564^3 = 0.15644, B 0.8 * 0.6^3 = 0.1728, C 0.84 * 0.58^3 = 0.16389:
    #       a 0.0589, b 0.0460, f 0.0328, e 0.0221: a, relevant
    #   A 0.672 * 0.664^3 = 0.19673, B 0.64 * 0.68^3 = 0.20124: b 0.0525, f 0.0328, e 0.0258: b, nonrelevant
    #   A 0.512 * 0.584^3 = 0.10198, C 0.712 * 0.516^3 = 0.09782: e 0.0258, f 0.0196, d 0.0104, g 0.0100: e, relevant
    #   B does not hold f, d, g: f, then A and C: f takes 0.2 from C: d 0.0104, g less: d, g
    ("rbp-c", {}, "cabefdg"),
    # A: a relevant, b not; B (none nonrelevant yet): c, e relevant (a is judged), at its end; C: f not;
    # A and C have one nonrelevant each, A is first: d not; C: g (c and b are judged)
    ("move-to-front", {}, "abcefdg"),
    # losses ln(7 / r) / 2: 0.973, 0.626, 0.424, 0.280; unretrieved: mean of the losses at ranks 5..7, 0.0818 (A and C),
    # and at ranks 4..7, 0.1313 (B)
    #   c (0.424 + 0.973 + 0.626) / 3 = 0.674, a 0.560, f 0.395, b 0.394: c, relevant, weights 10^loss
    #   A 2.652, B 9.396, C 4.230 (sum 16.28): a 0.541, f 0.342, b 0.288, e 0.279: a, relevant
    #   A 24.92, B 39.75, C 5.107: b 22.99, e 19.30, d 12.61, f 12.23 (times the sum): b, nonrelevant
    #   A 5.891, B 29.38, C 1.925: e 13.09, f 6.21, d 5.66, g 4.88: e, relevant
    #   A 7.112, B 77.93, C 2.324: f 0.582 + 10.23 + 2.261 = 13.07, d 1.990 + 10.23 + 0.190 = 12.41, g 11.46: f, not
    #   A 5.891, B 57.60, C 0.247: d 1.648 + 7.562 + 0.020, g 0.482 + 7.562 + 0.069: d, g
    ("hedge", {}, "cabefdg"),
    # means (1 + relevant) / (2 + judged): all 1/2: A: a -> 2/3: b -> 2/4, first of equals: c -> 3/5: d, at its end;
    # B 1/2: e, at its end; C: f, g
    ("max-mean", {}, "abcdefg"),
    ("epsilon-greedy", {"epsilon": 0}, "abcdefg"),
    # each run once: a, c, f. n 3: A = B = 1 + sqrt(ln 3 / 4) = 1.524: A: b. n 4: A 0.5 + sqrt(ln 4 / 8) = 0.916,
    # B 1 + sqrt(ln 4 / 4) = 1.589, C sqrt(ln 4 / 4) = 0.589: B: e, at its end. n 5: A 0.949, C 0.634: A: d; C: g
    ("ucb1-tuned", {}, "acfbedg"),
]


@pytest.mark.parametrize(("name", "options", "expected"), BY_HAND, ids=[f"{n}{o or ''}" for n, o, _ in BY_HAND])
@pytest.mark.parametrize("budget", [1, 4, 7, 100])
def test_the_example_worked_by_hand(
    example: uj.Collection, name: str, options: dict[str, Any], expected: str, budget: int
) -> None:
    assert order(uj.build_pool(example, name, budget=budget, **options)) == expected[:budget]


def test_the_depth_pool_of_the_example(example: uj.Collection) -> None:
    assert [order(uj.build_pool(example, "depth", depth=k)) for k in (1, 2, 3, 4, 9)] == [
        "acf",
        "acfb",
        "acfbe",
        "acfbedg",
        "acfbedg",
    ]
    # with a budget: the deepest that fits
    assert [order(uj.build_pool(example, "depth", budget=n)) for n in (3, 4, 5, 6, 7)] == [
        "acf",
        "acfb",
        "acfbe",
        "acfbe",
        "acfbedg",
    ]
    assert order(uj.build_pool(example, "depth", budget=7, depth=2)) == "acfb"


def test_lists_are_cut_at_the_depth_first(example: uj.Collection) -> None:
    # to depth 2 there are a b | c a | f c: c 1/61 + 1/62, a the same, f 1/61, b 1/62
    assert order(uj.build_pool(example, "rrf", budget=9, depth=2)) == "acfb"


def test_the_tidy_table_tells_what_is_known(example: uj.Collection) -> None:
    pool = uj.build_pool(example, "take", budget=6)
    assert pool.columns == ("topic", "doc", "best_rank", "runs", "stratum", "probability", "grade", "order")
    assert list(pool.rows()) == [
        ("t", "a", 1, 2, None, None, 1, 1),
        ("t", "c", 1, 3, None, None, 2, 2),
        ("t", "f", 1, 1, None, None, 0, 3),
        ("t", "b", 2, 2, None, None, 0, 4),
        ("t", "e", 3, 1, None, None, 1, 5),
        ("t", "d", 4, 1, None, None, 0, 6),
    ]
    assert (len(pool), pool.judged, pool.relevant) == (6, 6, 3)
    assert pool.notes[0] == "take: 6 documents for 1 topic, 6 of them judged, 3 relevant"


def test_lists_and_judgments_to_write(example: uj.Collection) -> None:
    pool = uj.build_pool(example, "take", budget=7)
    assert pool.to_list() == "".join(f"t\t{doc}\n" for doc in DOCS)
    assert pool.to_qrels() == "t 0 a 1\nt 0 b 0\nt 0 c 2\nt 0 d 0\nt 0 e 1\nt 0 f 0\nt 0 g -1\n"


# -- random strategies: what must hold whatever is drawn


def reachable(chosen: str) -> bool:
    """Is every document the next unjudged one of some run?"""
    lists = ["abcd", "cae", "fcbg"]
    for i, doc in enumerate(chosen):
        heads = {next((d for d in one if d not in chosen[:i]), "") for one in lists}
        if doc not in heads:
            return False
    return True


@pytest.mark.parametrize("name", ["random", "thompson", "epsilon-greedy"])
def test_random_turns_read_the_lists_from_the_top(example: uj.Collection, name: str) -> None:
    options: dict[str, Any] = {"epsilon": 0.5} if name == "epsilon-greedy" else {}
    drawn = {order(uj.build_pool(example, name, budget=5, seed=seed, **options)) for seed in range(60)}
    assert all(map(reachable, drawn))
    assert len(drawn) > 5
    assert {one[0] for one in drawn} == {"a", "c", "f"}


def test_every_arm_is_as_likely_in_random(example: uj.Collection) -> None:
    first = [order(uj.build_pool(example, "random", budget=1, seed=seed)) for seed in range(600)]
    assert all(abs(first.count(doc) - 200) < 5 * math.sqrt(600 * 2 / 9) for doc in "acf")


def test_thompson_prefers_runs_that_found_relevant_documents() -> None:
    good, bad = {f"g{i:02}": 50 - i for i in range(40)}, {f"b{i:02}": 50 - i for i in range(40)}
    c = uj.load({"t": dict.fromkeys(good, 1) | dict.fromkeys(bad, 0)}, {"good": {"t": good}, "bad": {"t": bad}})
    found = [uj.build_pool(c, "thompson", budget=40, seed=seed).relevant for seed in range(20)]
    assert np.mean(found) > 32  # at random: 20


def test_fair_take_breaks_ties_at_random(example: uj.Collection) -> None:
    drawn = [order(uj.build_pool(example, "fair-take", budget=2, seed=seed)) for seed in range(100)]
    assert {frozenset(one) for one in drawn} == {frozenset("ac"), frozenset("af"), frozenset("cf")}
    whole = {order(uj.build_pool(example, "fair-take", budget=7, seed=seed)) for seed in range(50)}
    assert {"".join(sorted(one[:3])) + one[3:5] + "".join(sorted(one[5:])) for one in whole} == {"acfbedg"}
    assert {one[5:] for one in whole} == {"dg", "gd"}


def test_epsilon_one_is_random_and_zero_is_max_mean(example: uj.Collection) -> None:
    first = [order(uj.build_pool(example, "epsilon-greedy", budget=1, epsilon=1, seed=s)) for s in range(300)]
    assert all(first.count(doc) > 60 for doc in "acf")
    assert all(
        order(uj.build_pool(example, "epsilon-greedy", budget=7, epsilon=0, seed=s)) == "abcdefg" for s in range(5)
    )


# -- samples


def test_a_uniform_sample_by_hand(example: uj.Collection) -> None:
    pool = uj.build_pool(example, "uniform", budget=3, depth=2, seed=4)  # three of a, b, c, f
    rows = list(pool.rows())
    assert len(rows) == 3 and {r[1] for r in rows} < set("abcf")
    assert all(r[4:6] == (0, 0.75) for r in rows)
    assert pool.notes[0].startswith("uniform: 3 of 4 documents")
    lines = [line.split() for line in str(pool.to_qrels()).splitlines()]
    assert [line[2] for line in lines] == list("abcf")
    missing = ({*"abcf"} - {r[1] for r in rows}).pop()
    assert {line[2]: int(line[3]) for line in lines} == {
        **{d: QRELS["t"][d] for d in "abcf"},
        missing: -1,
    }


def test_every_document_is_as_likely_in_a_uniform_sample(example: uj.Collection) -> None:
    drawn = "".join(order(uj.build_pool(example, "uniform", budget=3, seed=seed)) for seed in range(700))
    assert all(abs(drawn.count(doc) - 300) < 5 * math.sqrt(700 * 12 / 49) for doc in DOCS)


def test_a_stratified_sample_by_hand(example: uj.Collection) -> None:
    # ranks 1: a c f all; ranks 2-3: b e, half of them is one; d and g are deeper than the last stratum
    many: tuple[dict[str, Any], ...] = ({}, {"budget": 4})
    for options in many:
        pool = uj.build_pool(example, "stratified", strata={1: 1, 3: 0.5}, seed=1, **options)
        rows = {r[1]: (r[4], r[5]) for r in pool.rows()}
        assert {d: rows.pop(d) for d in "acf"} == dict.fromkeys("acf", (1, 1.0))
        ((doc, told),) = rows.items()
        assert doc in "be" and told == (2, 0.5)
        other = "e" if doc == "b" else "b"
        grades = {**{d: QRELS["t"][d] for d in "acf"}, doc: QRELS["t"][doc], other: -1}
        expected = [f"t {1 if d in 'acf' else 2} {d} {grades[d]}" for d in "abcef"]
        assert str(pool.to_qrels()).splitlines() == expected


def test_a_stratum_gives_one_document_at_least(example: uj.Collection) -> None:
    pool = uj.build_pool(example, "stratified", strata="1:0.1,4:0.1")
    assert sorted((r[4], r[5]) for r in pool.rows()) == [(1, 1 / 3), (2, 1 / 4)]
    assert len(uj.build_pool(example, "stratified", strata="1:1,4:0")) == 3


@pytest.mark.parametrize(
    ("size", "wanted", "available", "expected"),
    [
        (6, [3.0, 1.0], [3, 9], [3, 3]),  # the first has no more than 3
        (4, [6.0, 2.0], [9, 9], [3, 1]),
        (1, [1.0, 1.0], [5, 5], [1, 0]),
        (2, [100.0, 1.0], [50, 50], [1, 1]),  # one each first
        (9, [0.0, 1.0], [4, 3], [0, 3]),
    ],
)
def test_a_budget_is_shared_among_strata(
    size: int, wanted: list[float], available: list[int], expected: list[int]
) -> None:
    assert shares(size, np.array(wanted), np.array(available)).tolist() == expected


def test_sampled_depth_by_hand(example: uj.Collection) -> None:
    pools = [uj.build_pool(example, "sampled-depth", depth=2, rate=0.5, seed=seed) for seed in range(400)]
    assert {d for p in pools for d in order(p)} == set("abcf")
    sizes = [len(p) for p in pools]
    assert set(sizes) == {0, 1, 2, 3, 4} and abs(np.mean(sizes) - 2) < 5 / math.sqrt(400)
    assert all(r[5] == 0.5 for p in pools for r in p.rows())
    assert order(uj.build_pool(example, "sampled-depth", depth=2, rate=1)) == "abcf"


@pytest.mark.slow
def test_judgments_of_samples_give_the_inferred_measures_what_they_need() -> None:
    """infAP over uniform samples and xinfAP over stratified ones come near the AP of the whole pool."""
    rng = np.random.default_rng(5)
    docs = [f"d{i:03}" for i in range(120)]
    qrels = {"t": {d: int(rng.random() < 0.3) for d in docs}}
    runs = {f"r{k}": {"t": {d: float(qrels["t"][d] * 0.6 + rng.random()) for d in docs}} for k in range(3)}
    c = uj.load(qrels, runs)
    truth = uj.score(c, ["AP"]).values[:, 0, 0]
    for name, measure, options in (
        ("uniform", "infAP", {"budget": 60}),
        ("stratified", "xinfAP", {"strata": "20:1,120:0.4"}),
    ):
        estimates = [
            uj.score(uj.build_pool(c, name, seed=seed, **options).collection(), [measure]).values[:, 0, 0]
            for seed in range(150)
        ]
        assert np.abs(np.mean(estimates, axis=0) - truth).max() < 0.03, name  # ratio estimators: a small bias is theirs
        assert np.std(estimates, axis=0).max() > 0.005  # they are samples


# -- budgets over topics


@pytest.mark.parametrize(
    ("budget", "available", "expected"),
    [
        (7, [5, 5, 5], [3, 2, 2]),
        (7, [1, 5, 5], [1, 3, 3]),
        (8, [1, 5, 5], [1, 4, 3]),
        (2, [5, 5, 5], [1, 1, 0]),
        (100, [1, 0, 5], [1, 0, 5]),
        (6, [0, 9, 1, 9], [0, 3, 1, 2]),
    ],
)
def test_the_budget_goes_round_the_topics(budget: int, available: list[int], expected: list[int]) -> None:
    assert split(budget, available) == expected


@given(st.integers(1, 60), st.lists(st.integers(0, 20), min_size=1, max_size=8))
def test_sharing_out_is_round_robin(budget: int, available: list[int]) -> None:
    sizes, left = [0] * len(available), min(budget, sum(available))
    while left:
        for t in range(len(sizes)):
            if left and sizes[t] < available[t]:
                sizes[t] += 1
                left -= 1
    assert split(budget, available) == sizes


# -- properties


def collections() -> st.SearchStrategy[tuple[dict[str, Any], dict[str, Any]]]:
    docs = st.sampled_from([f"d{i}" for i in range(9)])
    lists = st.dictionaries(docs, st.sampled_from([0.0, 0.5, 1.0, 2.0, -3.0]), min_size=1, max_size=9)
    runs = st.dictionaries(
        st.sampled_from("wxyz"),
        st.dictionaries(st.sampled_from(["1", "2", "3"]), lists, min_size=1),
        min_size=1,
        max_size=4,
    )
    qrels = st.dictionaries(
        st.sampled_from(["1", "2", "3"]), st.dictionaries(docs, st.integers(-1, 2), min_size=1), min_size=3
    )
    return st.tuples(qrels, runs)


def options_of(name: str, budget: int) -> dict[str, Any]:
    return {"depth": 3, "rate": 0.6} if name == "sampled-depth" else {"budget": budget}


@settings(max_examples=60)
@given(collections(), st.integers(1, 25), st.integers(0, 3), st.sampled_from(list(STRATEGIES)))
def test_inside_the_budget_same_twice_and_whatever_the_order_of_the_runs(
    data: tuple[Any, Any], budget: int, seed: int, name: str
) -> None:
    qrels, runs = data
    if not any(grade >= 0 for judged in qrels.values() for grade in judged.values()):
        return
    c, turned = uj.load(qrels, runs), uj.load(qrels, dict(reversed(runs.items())))
    try:
        pool = uj.build_pool(c, name, seed=seed, **options_of(name, budget))
    except uj.UsageError as problem:
        assert name == "depth" and "rank first" in str(problem)
        return
    rows = list(pool.rows())
    for other in (c, turned):
        assert list(uj.build_pool(other, name, seed=seed, **options_of(name, budget)).rows()) == rows
    retrieved = {(t, d) for run in runs.values() for t, listed in run.items() if t in qrels for d in listed}
    chosen = [(row[0], row[1]) for row in rows]
    assert len(set(chosen)) == len(chosen) and set(chosen) <= retrieved
    if name not in ("sampled-depth", "depth"):
        assert len(chosen) == min(budget, len(retrieved))
    if name == "depth":
        assert len(chosen) <= budget
    for topic, part in itertools.groupby(rows, key=lambda row: row[0]):
        assert [row[7] for row in part] == list(range(1, sum(t == topic for t, _ in chosen) + 1))


@settings(max_examples=40)
@given(collections(), st.integers(1, 12), st.sampled_from([n for n, s in STRATEGIES.items() if s.kind == "value"]))
def test_a_larger_budget_adds_documents(data: tuple[Any, Any], budget: int, name: str) -> None:
    """Value strategies are nested over budgets, topic by topic."""
    c = uj.load(*data)
    if name == "depth":
        small, large = uj.build_pool(c, name, depth=budget), uj.build_pool(c, name, depth=budget + 2)
    else:
        small, large = uj.build_pool(c, name, budget=budget), uj.build_pool(c, name, budget=budget + 5)
    of_topic: dict[str, list[str]] = {}
    for row in large.rows():
        of_topic.setdefault(row[0], []).append(row[1])
    for topic, part in itertools.groupby(small.rows(), key=lambda row: row[0]):
        docs = [row[1] for row in part]
        assert of_topic[topic][: len(docs)] == docs


@settings(max_examples=40)
@given(collections())
def test_condorcet_and_borda_against_their_definitions(data: tuple[Any, Any]) -> None:
    qrels, runs = data
    c = uj.load(qrels, runs)
    for t, topic in enumerate(c.topics):
        ranks = [
            {d: i + 1 for i, d in enumerate(c.rankings.ids(c.judgments, r * len(c.topics) + t))}
            for r in range(len(c.runs))
        ]
        docs = sorted({d for one in ranks for d in one})
        wins = {
            a: sum(
                sum(r.get(a, 99) < r.get(b, 99) for r in ranks) > sum(r.get(a, 99) > r.get(b, 99) for r in ranks)
                for b in docs
            )
            for a in docs
        }
        points = {a: sum(r[a] if a in r else np.mean(range(len(r) + 1, len(docs) + 1)) for r in ranks) for a in docs}
        losses = {a: -w for a, w in wins.items()}
        for name, cost in (("condorcet", losses), ("borda", points)):
            pool = uj.build_pool(c, name, budget=1000)
            expected = [d for _, d in sorted((cost[d], d) for d in docs)]
            assert [row[1] for row in pool.rows() if row[0] == topic] == expected, name


# -- judging on the way


def test_a_callback_judges_each_document_once_and_in_order(example: uj.Collection) -> None:
    asked: list[tuple[str, str]] = []

    def judge(topic: str, doc: str) -> int:
        asked.append((topic, doc))
        return int(doc in "bdg")  # another opinion than the judgments: b, d and g are relevant

    # A: a not; B: c not; C: f not; all have one, A first: b, d relevant, at its end; B: e not, at its end; C: g
    pool = uj.build_pool(example, "move-to-front", budget=7, judge=judge)
    assert order(pool) == "acfbdeg" == "".join(doc for _, doc in asked)
    assert {topic for topic, _ in asked} == {"t"}
    assert [row[6] for row in pool.rows()] == [0, 0, 0, 1, 1, 0, 1]
    assert pool.relevant == 3
    assert (
        uj.build_pool(example, "take", budget=3, judge=lambda _, doc: "abc".index(doc) if doc in "abc" else None).judged
        == 2
    )


def test_a_depth_phase_comes_first(example: uj.Collection) -> None:
    # the top 1 of every run: a, c, f (f is not relevant, so C has one nonrelevant); then A: b not; B: e; A or C: d, g
    assert order(uj.build_pool(example, "move-to-front", budget=7, first=1)) == "acfbedg"
    # max-mean after a, c, f: A 2/3, B 2/3, C 1/3: A: b -> 2/4; B: e at its end; A: d, C: g
    assert order(uj.build_pool(example, "max-mean", budget=7, first=1)) == "acfbedg"
    # in the top 2 of B: c and a, of A: a and b, of C: f and c: A 2/4, B 3/4, C 2/4: B: e; A: d; C: g
    assert order(uj.build_pool(example, "max-mean", budget=7, first=2)) == "acfbedg"
    for name in (n for n, s in STRATEGIES.items() if s.kind == ADAPTIVE):
        for k, expected in ((1, "acf"), (2, "acfb")):
            assert order(uj.build_pool(example, name, budget=6, first=k)).startswith(expected), name
        assert order(uj.build_pool(example, name, budget=2, first=1)) == "ac", name


def test_unjudged_documents_count_as_nonrelevant_and_are_told(example: uj.Collection) -> None:
    pool = uj.build_pool(example, "max-mean", budget=7)
    assert pool.notes[1] == "1 of the documents max-mean asked for are not judged; they counted as nonrelevant"


def test_the_smallest_relevant_grade_can_be_set(example: uj.Collection) -> None:
    pool = uj.build_pool(example, "take", budget=7, rel=2)
    assert pool.relevant == 1
    # only c is relevant now. A: a not; B: c, then e not, at its end; C: f not; A: b not (2); C: g, at its end; A: d
    assert order(uj.build_pool(example, "move-to-front", budget=7, rel=2)) == "acefbgd"


def test_the_pool_as_a_collection_scores_like_the_file(example: uj.Collection, tmp_path: Path) -> None:
    pool = uj.build_pool(example, "rrf", budget=4)
    pool.to_qrels(tmp_path / "pool.txt")
    read = uj.load(str(tmp_path / "pool.txt"), RUNS, gains={1: 1, 2: 2})
    mine = pool.collection()
    assert str(mine.history[-1]) == "pool built by rrf: 4 documents for 1 topic, 4 of them judged, 2 relevant"
    for ties in ("trec10",):
        a, b = uj.score(mine, "all_trec"), uj.score(read, "all_trec")
        assert np.array_equal(a.values, b.values, equal_nan=True), ties
    assert mine.rankings.ids(mine.judgments, 0) == list("abcd")


# -- scores


def test_values_equal_but_for_rounding_are_a_tie() -> None:
    assert len(set(settled(np.array([0.1 + 0.2, 0.3, 0.3 * (1 + 1e-15)])).tolist())) == 1
    values = np.array([1e-200, 1.000001e-200, 0.0, -2.5, 1e300, -0.0, 1 / 3])
    assert np.allclose(settled(values), values, rtol=1e-11, atol=0)
    assert len(set(settled(values).tolist())) == 6


def test_infinite_and_equal_scores_are_normalised() -> None:
    runs = {
        "r": {"t": {"a": math.inf, "b": 1.0, "c": 0.0, "d": -math.inf}},
        "s": {"t": {"x": 5.0, "y": 5.0}},
        "u": {"t": {"p": 1.7e308, "q": -1.7e308, "m": 0.0}},
        "v": {"t": {"i": math.inf, "j": 3.0}},
    }
    c = uj.load({"t": {"a": 1}}, runs)
    # r: a and b 1 (the largest finite score), c and d 0; s: both 1; u: 1, 0, 0.5; v: i 1, j 0
    assert order(uj.build_pool(c, "combsum", budget=11)) == "abipxymcdjq"


# -- refusals: one sentence, exit code 2


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("rff", {"budget": 3}, "unknown strategy 'rff' (did you mean rrf?)"),
        ("rrf", {"budget": 0}, "budget needs a positive whole number, not 0"),
        ("rrf", {"budget": 2.5}, "budget needs a positive whole number, not 2.5"),
        ("rrf", {}, "rrf needs a budget"),
        ("depth", {}, "a depth pool needs a depth or a budget"),
        ("depth", {"depth": 0}, "depth needs a positive whole number, not 0"),
        ("depth", {"budget": 2}, "a budget of 2 does not hold the 3 documents that runs rank first"),
        ("rrf", {"budget": 3, "kk": 1}, "rrf has no option 'kk' (did you mean k?)"),
        ("take", {"budget": 3, "k": 1}, "take has no option 'k' (it has none)"),
        ("rrf", {"budget": 3, "k": "many"}, "k needs a number, not 'many'"),
        ("rbp-a", {"budget": 3, "p": 1}, "p must lie strictly between 0 and 1, not 1"),
        ("precision", {"budget": 3, "cutoff": 0.5}, "cutoff needs a whole number from 1"),
        ("sampled-depth", {"depth": 3}, "sampled-depth needs rate"),
        ("sampled-depth", {"rate": 0.5}, "a sampled depth pool needs a depth"),
        ("sampled-depth", {"rate": 0.5, "depth": 2, "budget": 3}, "uniform takes a budget"),
        ("stratified", {"strata": "ten"}, "strata are given as 10:1,50:0.25"),
        ("stratified", {"strata": "10:2"}, "rates from 0 to 1"),
        ("stratified", {"depth": 10}, "give strata, not a depth"),
        ("take", {"budget": 3, "first": 2}, "take does not learn from judgments"),
        ("take", {"budget": 3, "seed": -1}, "a seed is a whole number of 0 or more"),
        ("max-mean", {"budget": 3, "judge": lambda topic, doc: "yes"}, "judge gave 'yes' for topic t, document a"),
        ("max-mean", {"budget": 3, "judge": lambda topic, doc: 0.5}, "a grade is a whole number"),
    ],
)
def test_refusals(example: uj.Collection, name: str, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(uj.UsageError) as problem:
        uj.build_pool(example, name, **options)
    assert sentence in str(problem.value)
    assert "\n" not in str(problem.value)


def test_strategies_that_learn_need_judgments_or_a_callback() -> None:
    c = uj.load({"t": {"a": -1}}, RUNS)
    for name, strategy in STRATEGIES.items():
        if strategy.judged:
            with pytest.raises(uj.UsageError, match="learns from judgments and there are none"):
                uj.build_pool(c, name, budget=3)
            assert len(uj.build_pool(c, name, budget=3, judge=lambda topic, doc: 0)) == 3
        elif name != "sampled-depth":
            assert len(uj.build_pool(c, name, budget=3)) == 3


def test_names_are_forgiving(example: uj.Collection) -> None:
    for name in ("MTF", "Move_To_Front", " move-to-front "):
        assert order(uj.build_pool(example, name, budget=3)) == "abc"
    assert all(s.help.endswith(".") or s.help.endswith(")") for s in STRATEGIES.values())


# -- the same written a second time, document by document, with exact fractions where ties decide


def ranked_lists(c: uj.Collection, t: int) -> list[list[str]]:
    """The lists of a topic, runs by name."""
    by_name = sorted(range(len(c.runs)), key=lambda r: c.runs[r])
    return [c.rankings.ids(c.judgments, r * len(c.topics) + t) for r in by_name]


def largest(values: dict[str, Any]) -> str:
    """The document of the largest value; equal but for rounding: the smaller id."""
    best = max(values.values())
    return min(doc for doc, value in values.items() if value >= best - abs(best) * 1e-11)


def merged_by(lists: list[list[str]], part: Any) -> list[str]:
    value: dict[str, Fraction] = {}
    for one in lists:
        for rank, doc in enumerate(one, 1):
            value[doc] = value.get(doc, Fraction(0)) + part(rank)
    return sorted(value, key=lambda doc: (-value[doc], doc))


def plain_rbp(lists: list[list[str]], relevant: set[str], cubed: bool) -> list[str]:
    docs = sorted({d for one in lists for d in one})
    chosen: list[str] = []
    while len(chosen) < len(docs):
        value = dict.fromkeys((d for d in docs if d not in chosen), Fraction(0))
        for one in lists:
            parts = {doc: Fraction(1, 2**rank) for rank, doc in enumerate(one, 1)}
            residual = 1 - sum(parts[d] for d in chosen if d in parts)
            base = sum((parts[d] for d in chosen if d in parts and d in relevant), Fraction(0))
            weight = residual * (base + residual / 2) ** 3 if cubed else residual
            for doc in value:
                value[doc] += parts.get(doc, Fraction(0)) * weight  # type: ignore[assignment]
        chosen.append(min(value, key=lambda d: (-value[d], d)))
    return chosen


def plain_hedge(lists: list[list[str]], relevant: set[str], beta: float = 0.1) -> list[str]:
    docs = sorted({d for one in lists for d in one})
    many = len(docs)

    def loss(one: list[str], doc: str) -> float:
        ranks = [one.index(doc) + 1] if doc in one else range(len(one) + 1, many + 1)
        return float(np.mean([math.log(many / r) / 2 for r in ranks]))

    weights = [1.0] * len(lists)
    chosen: list[str] = []
    while len(chosen) < many:
        mixed = {d: sum(w * loss(one, d) for w, one in zip(weights, lists, strict=True)) / sum(weights) for d in docs}
        chosen.append(largest({d: v for d, v in mixed.items() if d not in chosen}))
        sign = -1 if chosen[-1] in relevant else 1
        weights = [w * beta ** (sign * loss(one, chosen[-1])) for w, one in zip(weights, lists, strict=True)]
    return chosen


def plain_turns(lists: list[list[str]], relevant: set[str], name: str) -> list[str]:
    chosen: list[str] = []
    good, bad = [0] * len(lists), [0] * len(lists)
    last = None
    while True:
        heads = {r: h for r, one in enumerate(lists) if (h := next((d for d in one if d not in chosen), None))}
        if not heads:
            return chosen
        if name == "move-to-front":
            stay = last is not None and last in heads and chosen[-1] in relevant
            turn = last if stay else min(heads, key=lambda r: (bad[r], r))
        elif name == "max-mean":
            turn = min(heads, key=lambda r: (-Fraction(1 + good[r], 2 + good[r] + bad[r]), r))
        else:
            fresh = [r for r in sorted(heads) if not good[r] + bad[r]]
            n, bound = len(chosen), {}
            for r in heads if not fresh else ():
                mean, f = good[r] / (good[r] + bad[r]), math.log(n) / (good[r] + bad[r])
                bound[r] = mean + math.sqrt(f * min(0.25, mean - mean**2 + math.sqrt(2 * f)))
            turn = fresh[0] if fresh else max(sorted(bound), key=lambda r: round(bound[r], 12))
        assert turn is not None
        chosen.append(heads[turn])
        good[turn] += heads[turn] in relevant
        bad[turn] += heads[turn] not in relevant
        last = turn


@settings(max_examples=30)
@given(collections())
def test_strategies_against_plain_python(data: tuple[Any, Any]) -> None:
    qrels, runs = data
    if not any(grade >= 0 for judged in qrels.values() for grade in judged.values()):
        return
    c = uj.load(qrels, runs)
    asked: dict[str, dict[str, Any]] = {
        "take": {},
        "rrf": {},
        "rbp-a": {"p": 0.5},
        "popularity": {},
        "precision": {"cutoff": 2},
        "rbp-b": {"p": 0.5},
        "rbp-c": {"p": 0.5},
        "hedge": {},
        "move-to-front": {},
        "max-mean": {},
        "ucb1-tuned": {},
    }
    pools = {name: list(uj.build_pool(c, name, budget=1000, **options).rows()) for name, options in asked.items()}
    for t, topic in enumerate(c.topics):
        lists = ranked_lists(c, t)
        relevant = {d for d, g in qrels[topic].items() if g >= 1}
        docs = sorted({d for one in lists for d in one})
        best = {d: min(one.index(d) for one in lists if d in one) for d in docs}
        expected = {
            "take": sorted(docs, key=lambda d: (best[d], d)),
            "rrf": merged_by(lists, lambda r: Fraction(1, 60 + r)),
            "rbp-a": merged_by(lists, lambda r: Fraction(1, 2**r)),
            "popularity": merged_by(lists, lambda r: Fraction(1)),
            "precision": merged_by(lists, lambda r: Fraction(r <= 2)),
            "rbp-b": plain_rbp(lists, relevant, False),
            "rbp-c": plain_rbp(lists, relevant, True),
            "hedge": plain_hedge(lists, relevant),
            **{name: plain_turns(lists, relevant, name) for name in ("move-to-front", "max-mean", "ucb1-tuned")},
        }
        for name, order_expected in expected.items():
            assert [row[1] for row in pools[name] if row[0] == topic] == order_expected, name


@settings(max_examples=30)
@given(collections())
def test_combinations_of_scores_against_plain_python(data: tuple[Any, Any]) -> None:
    qrels, runs = data
    c = uj.load(qrels, runs)
    combine: dict[str, Callable[[list[Fraction]], Any]] = {
        "combmin": min,
        "combmax": max,
        "combsum": sum,
        "combanz": lambda s: sum(s) / len(s),
        "combmnz": lambda s: sum(s) * len(s),
        "combmed": statistics.median,
    }
    pools = {name: list(uj.build_pool(c, name, budget=1000).rows()) for name in combine}
    for topic in c.topics:
        scores: dict[str, list[Fraction]] = {}
        for run in runs.values():
            listed = {d: Fraction(s) for d, s in run.get(topic, {}).items()}
            low, high = min(listed.values(), default=0), max(listed.values(), default=0)
            for doc, score in listed.items():
                scores.setdefault(doc, []).append((score - low) / (high - low) if high > low else Fraction(1))
        for name, how in combine.items():
            value = {doc: how(given) for doc, given in scores.items()}
            expected = sorted(value, key=lambda d: (-value[d], d))
            assert [row[1] for row in pools[name] if row[0] == topic] == expected, name
