"""Estimated scores: inside the bounds, exact without holes, the same under other names and orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hole_cases import LIMIT, drawn, lists_of, micro
from hypothesis import given
from hypothesis import strategies as st

import unjudged as uj
from unjudged.holes.estimates import Estimate, Limits, estimates, reach, too_little
from unjudged.measures import measures

MEASURES = "P@5, nDCG@5, RBP(p=0.8), AP@10, nDCG(dcg='exp-log2')@3, P(rel=2)@4"
LIMITS = Limits.of(LIMIT)
OPEN = Limits(1.0, np.inf, 1, 0, 1)
WORLDS = st.tuples(
    st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 6), st.integers(1, 12), st.sampled_from((0.0, 0.3, 0.8))
)


def found(qrels: Any, runs: Any, wanted: str = MEASURES, limits: Limits = OPEN) -> list[Estimate]:
    return estimates(uj.load(qrels, lists_of(runs)), measures(wanted), limits)


@given(WORLDS)
def test_inside_the_bounds(world: tuple[int, int, int, int, float]) -> None:
    for one in found(*drawn(*world)):
        assert (one.lowest - 1e-12 <= one.estimate).all() and (one.estimate <= one.highest + 1e-12).all()
        if not one.point:
            assert (one.lowest <= one.low).all() and (one.high <= one.highest).all()
            assert (one.low <= one.estimate + 1e-12).all() and (one.estimate <= one.high + 1e-12).all()
            assert (one.share >= 0).all() and (one.share <= 1).all()


@given(WORLDS)
def test_without_holes_the_estimate_is_the_score(world: tuple[int, int, int, int, float]) -> None:
    qrels, runs = drawn(*world)
    docs = {doc for lists in runs.values() for docs in lists.values() for doc in docs}
    full = {topic: dict.fromkeys(sorted(docs), 0) | grades for topic, grades in qrels.items()}
    plain = uj.score(uj.load(full, lists_of(runs)), MEASURES).mean_values()
    for m, one in enumerate(found(full, runs)):
        for values in (one.score, one.estimate, one.lowest, one.highest):
            assert values == pytest.approx(plain[:, m], abs=1e-12)
        if not one.point:
            assert (one.high - one.low == 0).all() and (one.share == 0).all()


@given(WORLDS, st.randoms(use_true_random=False))
def test_names_and_orders_change_nothing(world: tuple[int, int, int, int, float], random: Any) -> None:
    qrels, runs = drawn(*world)
    before = found(qrels, runs)
    order = list(runs)
    random.shuffle(order)
    topics = list(qrels)
    random.shuffle(topics)
    renamed = {f"x{run}": {t: [f"y{d}" for d in docs] for t, docs in runs[run].items()} for run in order}
    judged = {t: {f"y{d}": g for d, g in qrels[t].items()} for t in topics}
    for one, other in zip(before, found(judged, renamed), strict=True):
        place = [other.runs.index(f"x{run}") for run in one.runs]
        for name in ("score", "estimate", "low", "high", "lowest", "highest", "share"):
            assert getattr(other, name)[place] == pytest.approx(getattr(one, name), abs=1e-9, nan_ok=True)


@given(WORLDS)
def test_the_order_of_runs_changes_no_bit(world: tuple[int, int, int, int, float]) -> None:
    qrels, runs = drawn(*world)
    for one, other in zip(found(qrels, runs), found(qrels, dict(reversed(runs.items()))), strict=True):
        place = [other.runs.index(run) for run in one.runs]
        for name in ("estimate", "low", "high", "lowest", "highest", "share"):
            assert getattr(other, name)[place].tobytes() == getattr(one, name).tobytes()


@given(WORLDS, st.integers(0, 10**6))
def test_fewer_judgments_leave_more_open(world: tuple[int, int, int, int, float], seed: int) -> None:
    """Every judgment taken away widens the exact bounds and moves weight into holes."""
    qrels, runs = drawn(*world)
    rng = np.random.default_rng(seed)
    fewer = {t: {d: g for d, g in docs.items() if d == "known" or rng.random() < 0.5} for t, docs in qrels.items()}
    wanted = "P@5, RBP(p=0.8)"  # gains stay those of grade 2
    gains = {1: 1.0, 2: 2.0}
    before, after = (estimates(uj.load(q, lists_of(runs), gains=gains), measures(wanted), OPEN) for q in (qrels, fewer))
    for one, other in zip(before, after, strict=True):
        assert (other.lowest <= one.lowest + 1e-12).all() and (other.highest >= one.highest - 1e-12).all()
        assert (other.share >= one.share - 1e-12).all()


def test_what_cannot_be_told() -> None:
    collection = micro("pool_seen P@5")
    (one,) = estimates(collection, measures("P@5"), LIMITS)
    assert set(one.cannot) == {"only 6 judged topics, at least 8 are needed"}
    (one,) = estimates(collection, measures("P@5"), Limits(0.3, 0.2, 1, 1, 1))
    assert [bool(why) for why in one.cannot] == [True, False, False, False]
    assert one.cannot[0] == "40 % of the weight lies in holes"
    assert one.share == pytest.approx([0.4, 0.2, 0.2, 9 / 30])
    assert not any(estimates(collection, measures("P@5"), Limits(0.4, 2.0, 1, 1, 1))[0].cannot), "up to 40 % is enough"
    exactly = Limits(1.0, float((one.high - one.low).max()), 1, 1, 1)
    assert not any(estimates(collection, measures("P@5"), exactly)[0].cannot), "as wide as is allowed"
    (one,) = estimates(collection, measures("nDCG@5"), Limits(1.0, 0.36, 1, 1, 1))
    assert [why.startswith("the interval is ") for why in one.cannot] == (one.high - one.low > 0.36).tolist()
    assert any(one.cannot) and not all(one.cannot)


@pytest.mark.parametrize(
    ("measure", "why"),
    [
        ("AP", "it needs a cut-off of at most 100"),
        ("P@200", "the cut-off is above 100"),
        ("RR", "no estimate is known for this measure"),
        ("P'@5", "a condensed list has no holes"),
    ],
)
def test_measures_without_an_estimate_get_bounds(measure: str, why: str) -> None:
    (one,) = estimates(micro("pool_seen P@5"), measures(measure), OPEN)
    assert set(one.cannot) == {why} and np.isnan(one.estimate).all() and np.isfinite(one.highest).all()


def test_nothing_relevant_is_nothing_to_learn_from() -> None:
    judged = {f"t{t}": {"a": 0, "b": 0} for t in range(9)}
    runs = {run: {topic: ["a", "b", "x"] for topic in judged} for run in "rs"}
    assert set(found(judged, runs, "P@5")[0].cannot) == {"no relevant document in the first 100 ranks"}


def test_average_precision_by_hand() -> None:
    """One topic, d1 relevant at rank 1, a hole of chance p at rank 2: (1 + p / 2 (1 + 1)) / (1 + p) = 1."""
    (one,) = found({"t": {"d1": 1}}, {"r": {"t": ["d1", "d2"]}}, "AP@10")
    assert one.point and one.estimate[0] == pytest.approx(1.0)
    (one,) = found({"t": {"d1": 1}}, {"r": {"t": ["d2", "d1"]}}, "AP@10")
    p = 0.0 + found({"t": {"d1": 1}}, {"r": {"t": ["d2", "d1"]}}, "P@1")[0].estimate[0]
    assert 0 < p < 1 and one.estimate[0] == pytest.approx((p + 0.5 * (1 + p)) / (1 + p), abs=2e-3)


def test_average_precision_that_cannot_find_more_than_it_reads() -> None:
    """Of two relevant documents and a hole one document is found: all that one rank can hold, or one of 2 + p."""
    world: tuple[Any, Any] = {"t": {"d1": 1, "d2": 1}}, {"r": {"t": ["d1"]}, "s": {"t": ["hole"]}}
    p, of_all, of_one = (found(*world, m)[0].estimate for m in ("P@1", "AP@1", "AP(norm='min')@1"))
    assert 0 < p[1] < 1 and of_all[0] == pytest.approx(1 / (2 + p[1])) and of_one[0] == 1


def test_judged_documents_count_down_to_rank_100() -> None:
    docs = [f"d{i}" for i in range(1, 121)]
    limits = Limits(1.0, np.inf, 1, 1, 1)
    for rank, wanted in ((100, ""), (101, "only 0 judged documents in the first 100 ranks, at least 1 are needed")):
        assert too_little(uj.load({"t": {f"d{rank}": 1}}, lists_of({"r": {"t": docs}})), limits) == wanted


def test_how_far_intervals_reach() -> None:
    """The 95th percentile of the normal distribution, and for ten at once the 99.5th."""
    assert [reach(1), reach(10)] == pytest.approx([1.644854, 2.575829], abs=1e-4)


def test_ap_wants_a_pool_and_runs() -> None:
    assert "the pool is not seen" in estimates(micro("pool_unseen P@5"), measures("AP@5"), OPEN)[0].cannot[0]
    few = Limits(1.0, np.inf, 1, 0, 10)
    assert (
        estimates(micro("pool_seen P@5"), measures("AP@5"), few)[0].cannot[0] == "AP is estimated from at least 10 runs"
    )
    assert estimates(micro("pool_seen P@5"), measures("AP@5"), OPEN)[0].cannot[0] == ""


def test_rbp_reads_as_deep_as_its_weight() -> None:
    """Ranks behind 100 count: judged ones in the score, unjudged ones in the estimate."""
    docs = [f"d{i}" for i in range(150)]
    runs = {"r": {f"t{t}": docs for t in range(9)}, "s": {f"t{t}": docs[::-1] for t in range(9)}}
    full = {f"t{t}": {doc: (i + t) % 2 for i, doc in enumerate(docs)} for t in range(9)}
    (one,) = found(full, runs, "RBP(p=0.99)")
    assert one.estimate == pytest.approx(one.score, abs=1e-12) and (one.share == 0).all()
    top = {t: {doc: grade for doc, grade in judged.items() if int(doc[1:]) < 120} for t, judged in full.items()}
    (one,) = found(top, runs, "RBP(p=0.99)")
    weights = 0.99 ** np.arange(150)
    assert one.share[0] == pytest.approx(weights[120:].sum() / weights.sum())
    assert one.score[0] < one.estimate[0] < one.highest[0]
