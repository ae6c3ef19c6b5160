"""The hole model against the numbers of its specification's reference program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hole_cases import DEV, GOLDEN, MICRO, dev, drawn, ids, lists_of, micro, weights_of

import unjudged as uj
from unjudged.holes import order
from unjudged.holes.completions import complete
from unjudged.holes.effects import by_completions
from unjudged.holes.estimates import Z90
from unjudged.holes.features import raw_features
from unjudged.holes.lists import Lists
from unjudged.holes.model import Chances, Fit
from unjudged.holes.order import pair_values
from unjudged.holes.pairs import critical, decide, differences
from unjudged.holes.reading import IDEAL, Reading
from unjudged.holes.seen import Seen, look
from unjudged.holes.weights import Weights
from unjudged.measures import parse

NUMBERS = ("phi", "s_common", "s_team", "s_topic")


def check_model(weights: Weights, want: dict[str, Any], tolerance: float) -> None:
    seen, chances = weights.chances.seen, weights.chances
    assert (seen.seen, seen.teams, int(seen.unique.sum())) == (want["seen"], want["pooled_teams"], want["unique"])
    assert seen.cover == pytest.approx(want["cover"], abs=tolerance)
    assert [getattr(chances, n) for n in NUMBERS] == pytest.approx([want[n] for n in NUMBERS], abs=tolerance)


def ends(weights: Weights) -> tuple[Any, Any, Any, Any, Any]:
    """Estimate, low, high (uncut), and the scores with every hole worthless and perfect, by run."""
    cells = weights.by_cell()
    variance = weights.variances()
    if weights.reading.kind == IDEAL:
        variance = variance + weights.ideal_variances(cells)
    estimate, half = cells.mean(axis=1), Z90 * np.sqrt(variance)
    holes = weights.over_holes(np.ones(weights.lists.docs))[:, 0]
    lowest = estimate - weights.over_holes(weights.chances.p)[:, 0]
    return estimate, estimate - half, estimate + half, lowest, lowest + holes


def check_runs(weights: Weights, want: dict[str, dict[str, float]], tolerance: float) -> None:
    """Sums are cut to what the holes allow; nDCG is compared before it is cut (its file keeps the expected ideal)."""
    estimate, low, high, lowest, highest = ends(weights)
    ideal = weights.reading.kind == IDEAL
    for run, numbers in want.items():
        r = weights.lists.runs.index(run)
        assert estimate[r] == pytest.approx(numbers["estimate"], abs=tolerance)
        assert lowest[r] == pytest.approx(numbers["lowest"], abs=tolerance)
        if "highest" in numbers:
            assert min(highest[r], 1.0) == pytest.approx(numbers["highest"], abs=tolerance)
        if not ideal:
            assert max(low[r], lowest[r]) == pytest.approx(numbers["low"], abs=tolerance)
            assert min(high[r], highest[r]) == pytest.approx(numbers["high"], abs=tolerance)
        else:
            assert low[r] == pytest.approx(numbers["low"], abs=tolerance)
            far = numbers["high"] - numbers["estimate"], numbers["estimate"] - numbers["low"]
            if far[0] == pytest.approx(far[1], abs=3 * tolerance):  # elsewhere the file's value is cut
                assert high[r] == pytest.approx(numbers["high"], abs=tolerance)


def check_pair(found: Any, i: int, want: dict[str, Any], tolerance: float) -> None:
    numbers = (found.difference[i], found.v_topic[i] ** 0.5, found.v_hole[i] ** 0.5, found.low[i], found.high[i])
    names = ("difference", "sd_topics", "sd_holes", "lowest", "highest")
    assert numbers == pytest.approx([want[n] for n in names], abs=tolerance)
    assert (found.word[i], found.why[i], found.holes[i]) == (want["word"], want["reason"], want["holes"])


@pytest.mark.parametrize("case", MICRO["cases"])
def test_micro_collection(case: str) -> None:
    want, collection = MICRO["cases"][case], micro(case)
    weights = weights_of(collection, case.split(" ")[1])
    check_model(weights, want, 1e-6)
    assert weights.chances.fit.coefficients == pytest.approx(want["coef"], abs=1e-6)
    per_run = ("estimate", "low", "high", "lowest", "highest")
    check_runs(weights, {run: {n: want[n][i] for n in per_run} for i, run in enumerate(want["runs"])}, 1e-6)
    lists = weights.lists
    holes = {"/".join(ids(weights, collection, d)): d for d in np.flatnonzero(lists.hole).tolist()}
    assert sorted(holes) == sorted(name for name, _, _ in want["holes"])
    for name, p, slope in want["holes"]:
        assert weights.chances.p[holes[name]] == pytest.approx(p, abs=1e-6)
        assert weights.chances.slope[holes[name]] == pytest.approx(slope, abs=1e-6)
    d, a = lists.runs.index("d"), lists.runs.index("a")
    found = differences(weights, (np.array([d]), np.array([a])))
    check_pair(found, 0, want["pair_d_a"], 1e-6)
    assert found.settled[0] == (want["state"] != "open")
    check_order(weights, collection, found, [(*n.split("/"), v, p) for n, v, p in want["judge_next"]], 1e-6)


def check_order(weights: Weights, collection: Any, found: Any, want: list[Any], tolerance: float) -> None:
    best = order.first(order.values(weights, found), weights, collection, len(want) or 5)
    assert [(h.topic, h.doc) for h in best] == [(t, d) for t, d, _, _ in want]
    assert [h.value for h in best] == pytest.approx([v for _, _, v, _ in want], abs=tolerance)
    assert [h.p for h in best] == pytest.approx([p for _, _, _, p in want], abs=tolerance)


CASES = [(case, measure) for case in DEV for measure in DEV[case]["measures"]]


@pytest.mark.slow
@pytest.mark.skipif(not DEV, reason="no real collections here")
@pytest.mark.parametrize(("case", "measure"), CASES)
def test_real_collections(case: str, measure: str) -> None:
    want, collection = DEV[case]["measures"][measure], dev(case)
    weights = weights_of(collection, measure)
    check_model(weights, want, 1e-5)
    assert weights.chances.fit.coefficients[-1] == pytest.approx(want["b_u"], abs=1e-5)
    check_runs(weights, want["runs"], 1e-5)
    place = weights.lists.runs.index
    pairs = [np.array([place(pair[side]) for pair in want["pairs"]]) for side in "ab"]
    found = differences(weights, (pairs[0], pairs[1]), correction="none")
    for i, pair in enumerate(want["pairs"]):
        check_pair(found, i, pair, 1e-5)
        state = want["judge_next"]["state"][i]
        assert found.settled[i] == (state != "open")
        assert (found.word[i] == state) == (state in ("better", "worse"))
    check_order(weights, collection, found, want["judge_next"]["first"], 1e-5)


def by_hand() -> Weights:
    """Three holes of the hand example: run x has the first and the third, run y the second."""
    hand = GOLDEN["hand"]
    two = np.array([0, 1])
    lists = Lists(
        runs=("x", "y"),
        teams=("x", "y"),
        team=two,
        topics=2,
        run=np.array([0, 1, 0]),
        doc=np.array([0, 1, 2]),
        rank=np.array([1, 1, 1]),
        code=np.arange(3),
        topic=np.array(hand["topic"]),
        grade=np.full(3, -1, np.int32),
        judgments=0,
        lengths=np.array([[1, 1], [1, 0]]),
    )
    seen = Seen(two * 0, np.zeros(3, np.int64), 0.0, 0, False, np.zeros(3, bool))
    fit = Fit(np.zeros(7), np.zeros(3), 1.0, hand["phi"], hand["s_team"], hand["s_topic"])
    chances = Chances(lists, seen, fit, np.array(hand["p"]), np.array(hand["h"]), hand["s_common"])
    reading = Reading(parse("P@1")[0], "linear", np.ones(1), np.array([0.0, 1.0]), 1)
    return Weights(reading, chances, lists.run, lists.doc, lists.cell, np.full(3, 0.02), np.ones(2), np.zeros(2))


def test_hand_example() -> None:
    """V = 0.000248 (documents) + 0.000036 (common) + 0.00002372 (teams) + 0.0000065 (topics)."""
    weights, hand = by_hand(), GOLDEN["hand"]
    found = differences(weights, (np.array([0]), np.array([1])))
    assert found.v_hole[0] == pytest.approx(hand["variance"], abs=1e-9)
    worth = pair_values(weights, 0, 1)
    assert worth.doc.tolist() == [0, 1, 2]
    assert worth.value == pytest.approx(hand["values"], abs=1e-9)


def test_the_hundredth_rank_is_in_the_pool() -> None:
    """Three teams with a hundred documents each, all judged: the last one was in the pool of its own run alone."""
    lists = {run: {"t": [f"{run}{i}" for i in range(120)]} for run in "abc"}
    judged = {"t": {f"{run}{i}": i % 2 for run in "abc" for i in range(100)}}
    collection = uj.load(judged, lists_of(lists), teams={run: run for run in "abc"})
    seen = look(Lists.of(collection))
    assert seen.depth.tolist() == [100, 100, 100] and seen.cover == 1.0 and seen.unique.sum() == 300


def test_half_of_the_judgments_show_the_pool() -> None:
    """Three teams that bring in ten documents each; thirty, then thirty-one, come from elsewhere."""
    lists = {run: {"t": [f"{run}{i}" for i in range(10)]} for run in "abc"}
    for elsewhere in (30, 31):
        judged = {"t": {f"{run}{i}": 1 for run in "abc" for i in range(10)} | {f"x{i}": 0 for i in range(elsewhere)}}
        collection = uj.load(judged, lists_of(lists), teams={run: run for run in "abc"})
        assert look(Lists.of(collection)).seen is (elsewhere == 30)


def test_a_run_judged_to_the_third_rank_was_pooled() -> None:
    lists = {run: {"t": [f"{run}{i}" for i in range(10)]} for run in "abc"}
    judged = {"t": {f"{run}{i}": 1 for run, many in (("a", 3), ("b", 2), ("c", 5)) for i in range(many)}}
    seen = look(Lists.of(uj.load(judged, lists_of(lists), teams={run: run for run in "abc"})))
    assert seen.depth.tolist() == [3, 0, 5] and seen.middle_depth == 4.0


def test_how_rich_a_topic_is_by_the_first_thirty_ranks() -> None:
    """One relevant document at rank 30, one behind: the mean is (1 + 1) / (1 + 4), a topic (1 + 5 * 0.4) / (1 + 5), and
    without its own label 0.4."""
    collection = uj.load({"t": {"d30": 1, "d31": 1}}, lists_of({"r": {"t": [f"d{i}" for i in range(1, 41)]}}))
    lists = Lists.of(collection)
    shares = 1 / (1 + np.exp(-raw_features(lists, (~lists.hole).astype(float))[3]))
    assert shares == pytest.approx(np.where(lists.best == 30, 0.4, 0.5))


def test_runs_that_are_alike_do_not_differ_in_any_completion() -> None:
    lists = {"a": {"t": ["x", "d", "y"], "u": ["y", "x"]}}
    collection = uj.load({"t": {"d": 1}, "u": {"e": 1}}, lists_of({**lists, "b": lists["a"]}))
    (found,) = by_completions(collection, parse("RR"), (np.array([0]), np.array([1])), draws=20)
    assert (found.variance[0], found.lowest[0], found.highest[0]) == (0, 0, 0)
    assert found.holed[0] and (found.expected > 0).all()


def test_hand_decision() -> None:
    """D = 0.05 with 50 topics: 0.05 < 2.00958 x 0.026725, but 0.05 > 2.00958 x 0.020: judging helps."""
    ruled = decide(np.array([0.05]), np.array([0.02**2]), np.array([0.00031422]), 50)
    assert (ruled.word, ruled.why) == (("cannot tell",), ("holes",))
    assert critical(ruled.level, 50)[0] == pytest.approx(2.00958, abs=1e-5)
    assert decide(np.array([0.0538]), np.array([0.02**2]), np.array([0.00031422]), 50).word == ("better",)
    assert decide(np.array([-0.0538]), np.array([0.02**2]), np.array([0.00031422]), 50).word == ("worse",)
    assert decide(np.array([0.03]), np.array([0.02**2]), np.array([0.00031422]), 50).why == ("topics",)
    assert decide(np.array([0.3]), np.array([np.nan]), np.array([0.1]), 1).why == ("topics",)


def test_completions_have_as_many_relevant_documents_as_expected() -> None:
    """What all holes share is spread evenly over its distribution: two completions lie on both sides of the middle."""
    qrels, runs = drawn(1, 6, 12, 20, 0.6)
    collection = uj.load(qrels, lists_of(runs))
    many, found = complete(collection, 1, 400, 0)
    p = found.p[found.lists.hole]
    assert abs(many.relevant.mean() - p.mean()) < 0.05
    two, _ = complete(collection, 1, 2, 0)
    assert (two.relevant.mean(axis=1) > p.mean() / 4).all()
