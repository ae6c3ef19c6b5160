"""The rule for pairs: against sums written out document by document, and against the plain t-test without holes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hole_cases import drawn, lists_of, weights_of
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import unjudged as uj
from unjudged.holes.order import pair_values
from unjudged.holes.pairs import difference, differences, levels
from unjudged.holes.weights import Weights
from unjudged.measures import parse
from unjudged.measures.bounds.differences import open_differences
from unjudged.statistics.multiple import holm
from unjudged.statistics.pairs import all_pairs

WORLDS = st.tuples(
    st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 6), st.integers(1, 12), st.sampled_from((0.0, 0.3, 0.8))
)
MEASURES = ("P@5", "nDCG@5", "RBP(p=0.8)")


def dense(weights: Weights) -> Any:
    """Runs x documents."""
    table = np.zeros((len(weights.lists.runs), weights.lists.docs))
    table[weights.run, weights.doc] = weights.weight
    return table


def variance(weights: Weights, a: Any) -> float:
    """V(a) of the specification, hole by hole."""
    c, lists = weights.chances, weights.lists
    total, common = 0.0, 0.0
    by_team: dict[int, float] = {}
    by_topic: dict[int, float] = {}
    for d in np.flatnonzero(lists.hole).tolist():
        total += c.phi * a[d] ** 2 * c.p[d] * (1 - c.p[d])
        moved = a[d] * c.slope[d]
        common += moved
        by_team[lists.best_team[d]] = by_team.get(lists.best_team[d], 0.0) + moved
        by_topic[lists.topic[d]] = by_topic.get(lists.topic[d], 0.0) + moved
    total += c.s_common**2 * common**2 + c.s_team**2 * sum(x**2 for x in by_team.values())
    return total + c.s_topic**2 * sum(x**2 for x in by_topic.values())


@given(WORLDS, st.sampled_from(MEASURES))
def test_sums_document_by_document(world: Any, measure: str) -> None:
    qrels, runs = drawn(*world)
    weights = weights_of(uj.load(qrels, lists_of(runs)), measure)
    table, lists = dense(weights), weights.lists
    pairs = all_pairs(len(runs))
    found = differences(weights, pairs)
    for i, (a, b) in enumerate(zip(*pairs, strict=True)):
        apart = table[a] - table[b]
        assert found.difference[i] == pytest.approx((apart * weights.chances.p).sum(), abs=1e-12)
        assert found.v_hole[i] == pytest.approx(variance(weights, apart), abs=1e-14)
        assert found.holes[i] == ((apart != 0) & lists.hole).sum()
        sure = (apart * weights.chances.p)[~lists.hole].sum()
        assert found.low[i] == pytest.approx(sure + np.minimum(apart, 0)[lists.hole].sum(), abs=1e-12)
        assert found.high[i] == pytest.approx(sure + np.maximum(apart, 0)[lists.hole].sum(), abs=1e-12)
        per_topic = lists.topics * np.array(
            [(apart * weights.chances.p)[lists.topic == t].sum() for t in range(lists.topics)]
        )
        if lists.topics > 1:
            assert found.v_topic[i] == pytest.approx(per_topic.var(ddof=1) / lists.topics, abs=1e-14)
        moved = [apart * weights.chances.slope * lists.hole]
        worth = pair_values(weights, int(a), int(b))
        for d, value in zip(worth.doc.tolist(), worth.value.tolist(), strict=True):
            c = weights.chances
            mine = c.s_team**2 * moved[0][lists.best_team == lists.best_team[d]].sum()
            mine += c.s_common**2 * moved[0].sum() + c.s_topic**2 * moved[0][lists.topic == lists.topic[d]].sum()
            wanted = c.phi * apart[d] ** 2 * c.p[d] * (1 - c.p[d]) + max(0.0, 2 * moved[0][d] * mine)
            assert value == pytest.approx(wanted, abs=1e-14)


@given(WORLDS, st.sampled_from(MEASURES))
def test_without_holes_it_is_the_paired_t_test(world: Any, measure: str) -> None:
    qrels, runs = drawn(*world)
    docs = sorted({doc for lists in runs.values() for docs in lists.values() for doc in docs})
    full = {topic: dict.fromkeys(docs, 0) | grades for topic, grades in qrels.items()}
    collection = uj.load(full, lists_of(runs))
    matrix = uj.score(collection, measure).values[:, :, 0]
    pairs = all_pairs(len(runs))
    found = difference(collection, parse(measure)[0], pairs)
    assert found is not None and (found.v_hole == 0).all() and (found.holes == 0).all() and found.settled.all()
    assert (found.share == 0).all() and "holes" not in found.why
    if matrix.shape[1] < 2:
        assert set(found.word) == {"cannot tell"} and set(found.why) == {"topics"}
        return
    apart = matrix[pairs[0]] - matrix[pairs[1]]
    constant = (np.ptp(apart, axis=1) < 1e-12) & (np.abs(apart).max(axis=1) >= 1e-12)
    if not constant.any():
        plain = [1.0 if np.abs(row).max() < 1e-12 else stats.ttest_1samp(row, 0.0).pvalue for row in apart]
        assert found.p_adjusted == pytest.approx(holm(plain), abs=1e-9)  # type: ignore[arg-type]
        assert list(found.word) == [
            "cannot tell" if p >= 0.05 else "better" if d > 0 else "worse"
            for p, d in zip(holm(plain), apart.mean(axis=1), strict=True)  # type: ignore[arg-type]
        ]


@given(WORLDS, st.sampled_from(MEASURES))
def test_turned_pairs_and_other_orders(world: Any, measure: str) -> None:
    qrels, runs = drawn(*world)
    first, second = all_pairs(len(runs))
    name = parse(measure)[0]
    one = difference(uj.load(qrels, lists_of(runs)), name, (first, second))
    turned = difference(uj.load(qrels, lists_of(runs)), name, (second, first))
    other = difference(
        uj.load(qrels, lists_of(dict(reversed(runs.items())))), name, (len(runs) - 1 - first, len(runs) - 1 - second)
    )
    assert one is not None and turned is not None and other is not None
    opposite = {"better": "worse", "worse": "better", "cannot tell": "cannot tell"}
    assert [opposite[word] for word in turned.word] == list(one.word) and turned.why == one.why
    assert (turned.difference == -one.difference).all()
    for field in ("difference", "v_topic", "v_hole", "t", "p_adjusted", "low", "high"):
        assert getattr(other, field).tobytes() == getattr(one, field).tobytes()
        if field in ("v_topic", "v_hole", "p_adjusted"):
            assert getattr(turned, field) == pytest.approx(getattr(one, field), abs=1e-15, nan_ok=True)
    assert other.word == one.word and other.why == one.why


@given(WORLDS)
def test_inside_what_the_judgments_allow(world: Any) -> None:
    """The ends of sums are the exact bounds of the difference; that of nDCG is inside its outer interval."""
    qrels, runs = drawn(*world)
    collection = uj.load(qrels, lists_of(runs))
    pairs, counted = all_pairs(len(runs)), np.ones(len(collection.topics), bool)
    for measure in MEASURES:
        found = difference(collection, parse(measure)[0], pairs)
        (ends,) = open_differences(collection, [parse(measure)[0]], *pairs, counted)
        assert found is not None
        if ends.exact:
            assert found.low == pytest.approx(ends.low, abs=1e-9) and found.high == pytest.approx(ends.high, abs=1e-9)
        assert (ends.low <= found.difference + 1e-9).all() and (found.difference <= ends.high + 1e-9).all()


def test_the_interval_without_holes_is_that_of_the_paired_t_test() -> None:
    hits = {"a": (4, 3, 5, 2, 4), "b": (1, 3, 2, 2, 0)}
    runs = {run: {f"t{t}": [f"{run}{i}" for i in range(5)] for t in range(5)} for run in hits}
    judged = {f"t{t}": {f"{run}{i}": int(i < of[t]) for run, of in hits.items() for i in range(5)} for t in range(5)}
    found = difference(uj.load(judged, lists_of(runs)), parse("P@5")[0], all_pairs(2), correction="none")
    assert found is not None
    a, b = (np.array(of) / 5 for of in hits.values())
    wanted = stats.ttest_rel(a, b).confidence_interval(0.95)
    low, high = found.interval
    assert (low[0], high[0]) == pytest.approx((wanted.low, wanted.high))


def test_levels_of_holm() -> None:
    """Three tests at 0.05: 0.01 < 0.05/3 decides, 0.03 > 0.05/2 does not; what is open is held against 0.05/2."""
    p = np.array([0.03, 0.01, 0.2])
    decided = holm(p) < 0.05
    assert decided.tolist() == [False, True, False]
    assert levels(p, decided, 0.05, "holm") == pytest.approx([0.025, 0.05 / 3, 0.025])
    assert levels(p, decided, 0.05, "bonferroni") == pytest.approx([0.05 / 3] * 3)
    assert levels(p, decided, 0.05, "none") == pytest.approx([0.05] * 3)
    assert levels(p, decided, 0.05, "bh") == pytest.approx([0.1 / 3] * 3)


def test_two_tests_are_several() -> None:
    assert levels(np.array([0.03, 0.2]), np.array([False, False]), 0.05, "holm") == pytest.approx([0.025, 0.025])
    assert levels(np.array([0.03, np.nan]), np.array([False, False]), 0.05, "holm") == pytest.approx([0.05, 0.05])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_nothing_open_passes_its_level(values: list[float]) -> None:
    p = np.array(values)
    decided = holm(p) < 0.05
    level = levels(p, decided, 0.05, "holm")
    assert (p[decided] <= level[decided]).all() and (p[~decided] >= level[~decided] - 1e-15).all()


def test_more_pairs_leave_more_open() -> None:
    qrels, runs = drawn(7, 5, 6, 12, 0.8)
    collection = uj.load(qrels, lists_of(runs))
    alone = difference(collection, parse("P@5")[0], all_pairs(5), correction="none")
    together = difference(collection, parse("P@5")[0], all_pairs(5))
    assert alone is not None and together is not None and (together.t > alone.t).all()
    assert difference(collection, parse("AP@5")[0], all_pairs(5)) is None
    assert difference(collection, parse("RR")[0], all_pairs(5)) is None
