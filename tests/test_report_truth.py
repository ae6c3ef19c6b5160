"""benchmarks/report_truth.py: the yardstick itself, on a collection small enough to work out by hand."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import ROOT

import unjudged as uj

sys.path.insert(0, str(ROOT / "benchmarks"))

import report_truth
import truth_cases
import truth_questions
from truth_cases import Case, Spec, chosen_teams, one_per_topic, poolable, runs_of, specs, top

HAND = Spec("real", "by hand", 1)
RUNS = {
    "a1": {"1": ["r1", "n1", "r2", "n4"]},
    "b1": {"1": ["n2", "r1", "r2", "n1"]},
    "c1": {"1": ["r3", "r4", "n3", "r1"]},
}
"""One topic; r1 to r4 are relevant, n1 to n4 not."""
TEAMS = {"a1": "a", "b1": "b", "c1": "c"}


@pytest.fixture
def whole() -> uj.Collection:
    qrels = {"1": {d: int(d[0] == "r") for d in ("r1", "r2", "r3", "r4", "n1", "n2", "n3", "n4")}}
    runs = {
        name: {t: {d: 9.0 - i for i, d in enumerate(docs)} for t, docs in run.items()} for name, run in RUNS.items()
    }
    return uj.load(qrels, runs, teams=TEAMS)


def docs(whole: uj.Collection, mask: Any) -> set[str]:
    return {str(whole.judgments.docs[i]) for i in np.flatnonzero(mask)}  # type: ignore[call-overload]


def test_classes_and_right_words() -> None:
    assert [report_truth.class_of("order", v) for v in (0.9, 0.899, 0.8, 0.799)] == [
        *("solid", "with care", "with care", "fragile")
    ]
    assert [report_truth.class_of("outsiders", v) for v in (-0.1, 0.02, 0.021, 0.1, 0.11)] == [
        *("solid", "solid", "with care", "with care", "fragile")
    ]
    assert report_truth.right_words("order", 0.885) == {"solid", "with care"}
    assert report_truth.right_words("order", 0.885, tolerant=False) == {"with care"}
    assert report_truth.right_words("outsiders", 0.105) == {"with care", "fragile"}
    assert report_truth.right_words("winners", 0) == {"solid", "with care", "fragile"}
    assert report_truth.right_words("winners", 1) == {"with care", "fragile"}
    assert report_truth.steps_wrong("order", 0.5, "solid") == 2
    assert report_truth.steps_wrong("order", 0.81, "solid") == 1
    assert report_truth.steps_wrong("order", 0.79, "solid") == 1  # near a limit, counted kindly


def test_the_pool_of_a_team(whole: uj.Collection) -> None:
    assert docs(whole, top(whole, ["a1"], 2)) == {"r1", "n1"}
    assert docs(whole, top(whole, ["a1", "b1"], 1)) == {"r1", "n2"}
    assert poolable(whole, 4) == {"a1", "b1", "c1"}
    assert poolable(whole.keeping(~top(whole, ["c1"], 1), "cut"), 4) == {"a1", "b1"}


def test_the_cheapest_and_the_most_different_teams(whole: uj.Collection) -> None:
    """Depth 2: a {r1, n1}, b {n2, r1}, c {r3, r4}: after a, b adds one document and c two."""
    teams = runs_of(whole)
    assert chosen_teams(whole, teams, 2, "cheapest", 2, 1) == ["a", "b"]
    assert chosen_teams(whole, teams, 2, "different", 2, 1) == ["c", "b"]
    assert sorted(chosen_teams(whole, teams, 3, "random", 2, 1)) == ["a", "b", "c"]


def test_loss_of_outsiders_by_hand(whole: uj.Collection) -> None:
    """Pool of a alone, depth 2: judged r1, n1.

    b sees r1 at rank 2: AP 1/2 of R 1. With its own n2 judged nothing changes: loss 0. c sees r1 at rank 4: AP 1/4.
    With r3 and r4 judged: (1 + 1 + 3/4) / 3 = 11/12; loss 1 - (1/4) / (11/12) = 8/11. Full judgments: a (1 + 2/3) / 4,
    b (1/2 + 2/3) / 4, c (1 + 1 + 3/4) / 4: none below half of the median.
    """
    case = Case(HAND, whole, top(whole, ["a1"], 2), 1, ("a1",), 2)
    found = truth_questions.losses(case)
    assert found is not None and found.outside and found.teams == 2
    assert found.mattering == pytest.approx((0 + 8 / 11) / 2)
    assert found.all_runs == found.mattering


def test_loss_where_nobody_is_outside_by_hand(whole: uj.Collection) -> None:
    """All pooled at depth 2: judged r1, n1, n2, r3, r4 (R 3).

    Without a (n1 alone is its own) nothing relevant goes: 0. Without b (n2): 0. Without c r3 and r4 go:
    from (1 + 1 + 3/4) / 3 = 11/12 to 1/4.
    """
    case = Case(HAND, whole, top(whole, list(TEAMS), 2), 1, tuple(TEAMS), 2)
    found = truth_questions.losses(case)
    assert found is not None and not found.outside
    assert found.mattering == pytest.approx((8 / 11) / 3)
    assert truth_questions.losses(Case(HAND, whole, top(whole, ["a1"], 2), 1)) is None


def test_weak_outsiders_do_not_count(whole: uj.Collection) -> None:
    """A run with less than half of the median AP under the full judgments is left aside, but recorded."""
    runs = {
        name: {t: {d: 9.0 - i for i, d in enumerate(found)} for t, found in run.items()} for name, run in RUNS.items()
    }
    runs["weak"] = {"1": {"n5": 9.0, "n6": 8.0, "n7": 7.0, "n8": 6.0, "n9": 5.0, "n10": 4.0, "r4": 3.0}}
    qrels = {"1": {d: int(d[0] == "r") for d in {d for run in runs.values() for d in run["1"]}}}
    more = uj.load(qrels, runs, teams=TEAMS | {"weak": "w"})
    found = truth_questions.losses(Case(HAND, more, top(more, ["a1"], 7), 1, ("a1",), 7))
    assert found is not None and found.mattering is not None and found.all_runs is not None
    # judged: r1, r2 of a. w sees nothing of them, and r4 at rank 7 once its own are judged: it loses everything
    assert found.all_runs == pytest.approx((2 * found.mattering + 1) / 3)


def test_order_as_seen_and_under_the_full_judgments(whole: uj.Collection) -> None:
    """Seen with the pool of a alone: a 1, b 1/2, c 1/4. In truth c > a > b: of three pairs one agrees: tau -1/3."""
    case = Case(HAND, whole, top(whole, ["a1"], 2), 1, ("a1",), 2)
    assert truth_questions.means(case.observed, 1).tolist() == pytest.approx([1, 1 / 2, 1 / 4])
    assert truth_questions._truth(case, "order", case.observed)["truth"] == pytest.approx(-1 / 3)


def test_what_is_seen_has_no_memory(whole: uj.Collection) -> None:
    case = Case(HAND, whole, top(whole, ["a1"], 2), 1, ("a1",), 2)
    seen = case.observed
    assert seen.full is seen and len(seen.judgments) == 2 and seen.rankings is not None


def test_one_judgment_per_topic(whole: uj.Collection) -> None:
    alone = docs(whole, one_per_topic(whole, 1, "judgment", np.random.default_rng(1)))
    assert len(alone) == 1 and alone < {"r1", "r2", "r3", "r4"}
    others = docs(whole, one_per_topic(whole, 1, "relevant", np.random.default_rng(1)))
    assert len(others) == 5 and {"n1", "n2", "n3", "n4"} < others


def test_stepping_up_to_more_topics() -> None:
    """With as many others nothing changes; a half and 100 others of a simple model are met."""
    assert truth_questions.stepped_up(0.7, 100, 100) == pytest.approx(0.7)
    random, n = np.random.default_rng(3), 25
    quality = random.normal(size=4000)
    of = {m: quality + random.normal(size=4000) * math.sqrt(20 / m) for m in (25, 60, 100)}
    again = quality + random.normal(size=4000) * math.sqrt(20 / n)

    def tau(a: Any, b: Any) -> float:
        from scipy.stats import kendalltau

        return float(kendalltau(a, b).statistic)

    assert truth_questions.stepped_up(tau(of[25], again), 25, 25) == pytest.approx(tau(of[25], of[100]), abs=0.02)
    assert truth_questions.stepped_up(tau(of[25], again), 25, 60) == pytest.approx(tau(of[60], of[100]), abs=0.02)
    assert truth_questions.stepped_up(-0.2, 25, 25) == -0.2


def record(source: str, truth: float | None, word: str, value: float | None = None, **more: Any) -> dict[str, Any]:
    base = {
        "source": source,
        "setting": "s",
        "seed": 1,
        "question": "order",
        "asked": "given",
        "runs": 20,
        "topics": 25,
    }
    return base | {"teams": 4, "truth": truth, "word": word, "value": value} | more


def test_the_table_counts() -> None:
    found = [
        record("ours", 0.95, "solid"),
        record("ours", 0.885, "solid"),  # near the limit: right, but not without tolerance
        record("ours", 0.5, "solid"),
        record("ours", 0.5, "unknown"),
        record("ours", 0.5, "unknown", runs=19),
    ]
    lines = report_truth.table(found)
    assert (
        lines[2] == "| ours | order | given | 5 | 2 of 3 (67 %) | 1 of 3 (33 %) | 1 of 3 (33 %) | 1 | 1 of 4 (25 %) |"
    )
    assert "| solid | 1 | 1 | 1 | 0 |" in lines and "| unknown | 0 | 0 | 2 | 0 |" in lines


def test_limits_are_chosen_for_agreement_with_few_wrong_solid_words() -> None:
    """The value is too high by 0.05: limits of 0.95 and 0.85 agree with every truth."""
    found = [record("ours", t, "?", t + 0.05) for t in np.arange(0.5, 1.0, 0.01).round(2).tolist()]
    solid, care = report_truth.chosen_limits("order", found)
    for r in found:
        assert report_truth.class_of("order", r["value"], (solid, care)) in report_truth.right_words(
            "order", r["truth"]
        )
    misleading = [record("ours", 0.5 + 0.4 * (i % 2), "?", 0.99) for i in range(10)]
    solid, _ = report_truth.chosen_limits("order", misleading)
    assert solid > 0.99  # nothing may be called solid


def test_finished_cases_are_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def fake(data: Path | None, questions: object, spec: Spec) -> Any:
        done.append(spec.setting)
        line = {"source": spec.source, "setting": spec.setting, "seed": spec.seed, "question": "order"}
        return spec, [line, line], 0.0

    monkeypatch.setattr(report_truth, "one", fake)
    out = tmp_path / "results.jsonl"
    wanted = [Spec("ours", name, 1) for name in ("first", "second")]
    report_truth.run(out, wanted[:1], 1, None)
    with out.open("a") as file:
        file.write('{"source": "ours", "setti')  # cut short
    report_truth.run(out, wanted, 1, None)
    assert done == ["first", "second"]
    assert [json.loads(line)["setting"] for line in out.read_text().splitlines()] == [*["first"] * 2, *["second"] * 2]


def test_there_are_enough_cases() -> None:
    for source in truth_cases.SOURCES:
        found = list(specs(source, report_truth.SEEDS[source]))
        assert len({spec.key for spec in found}) == len(found) >= 40


@pytest.mark.slow
def test_one_case_of_each_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"teams": 6, "runs": 12, "K": 60, "C": 500, "R": 20, "topics": 26}
    monkeypatch.setattr(truth_cases, "LATENT_SIZE", small)
    truth_cases._latent_whole.cache_clear()
    spec = next(s for s in specs("latent", [1]) if s.setting == "plain, 3 teams, depth 10")
    _, records, _ = report_truth.one(None, None, spec)
    truth_cases._latent_whole.cache_clear()
    asked = {(r["question"], r["asked"]) for r in records}
    assert {("order", "given"), ("order", "infer"), ("outsiders", "given"), ("winners", "any")} <= asked
    assert all(r["word"] in ("solid", "with care", "fragile", "unknown") for r in records)
    json.dumps(records)
