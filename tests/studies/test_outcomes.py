"""One outcome of two runs, whoever asks: the rule case by case, and compare, winners and gate beside each other."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from made_scores import rows_of, scores_of

import unjudged as uj
from unjudged.errors import UsageError
from unjudged.studies.engine.outcome import Rule, needing_bounds, outcomes
from unjudged.studies.engine.significance import PairStatistics
from unjudged.studies.gate import answer

NAN = float("nan")


def pair(difference: float, low: float, high: float, p: float, tied: bool = False) -> PairStatistics:
    """One pair; it ties on every topic, or wins and loses some."""
    won = np.array([0 if tied else 3])
    one = {"p_value": np.array([p]), "effect_size": np.zeros(1), "constant": np.zeros(1, bool)}
    ends = {"difference": np.array([difference]), "low": np.array([low]), "high": np.array([high])}
    return PairStatistics(**ends, **one, p_adjusted=np.array([p]), wins=won, ties=np.array([4]), losses=won)


BETTER, WORSE, OPEN = pair(0.2, 0.1, 0.3, 0.01), pair(-0.2, -0.3, -0.1, 0.01), pair(0.02, -0.03, 0.04, 0.4)
TIED, ONE_TOPIC = pair(0.0, 0.0, 0.0, 1.0, tied=True), pair(0.2, NAN, NAN, NAN)
FEW, MANY = (0.0, 0.2), (0.0, 0.21)


@pytest.mark.parametrize(
    ("found", "margin", "unjudged", "bounds", "word", "why"),
    [
        (BETTER, 0, FEW, None, "better", ""),
        (WORSE, 0, FEW, None, "worse", ""),
        (OPEN, 0, FEW, None, "cannot tell", "topics"),
        (OPEN, 0, MANY, None, "cannot tell", "topics"),  # topics are missing first
        (OPEN, 0.05, FEW, None, "same", ""),
        (OPEN, 0.04, FEW, None, "cannot tell", "topics"),  # the end of the interval reaches the margin
        (TIED, 0, FEW, None, "same", ""),
        (ONE_TOPIC, 0, FEW, None, "cannot tell", "topics"),
        (BETTER, 0, None, None, "better", ""),  # scores alone: nothing is known of holes
        (BETTER, 0, MANY, None, "cannot tell", "holes"),  # and no bounds of the measure
        (BETTER, 0, MANY, (NAN, NAN), "cannot tell", "holes"),
        (BETTER, 0, MANY, (0.01, 0.5), "better", ""),
        (BETTER, 0, MANY, (0.0, 0.5), "cannot tell", "holes"),
        (BETTER, 0, MANY, (-0.3, 0.5), "cannot tell", "holes"),
        (WORSE, 0, MANY, (-0.5, -0.01), "worse", ""),
        (WORSE, 0, MANY, (-0.5, 0.0), "cannot tell", "holes"),
        (TIED, 0, MANY, (0.0, 0.0), "same", ""),
        (TIED, 0, MANY, (-0.1, 0.1), "cannot tell", "holes"),  # both score 0 on unjudged documents
        (OPEN, 0.05, MANY, (-0.04, 0.04), "same", ""),
        (OPEN, 0.05, MANY, (-0.04, 0.06), "cannot tell", "holes"),
    ],
)
def test_the_rule(found: PairStatistics, margin: float, unjudged: Any, bounds: Any, word: str, why: str) -> None:
    """Level .05; up to 20 % of a top list may be unjudged."""
    rule = Rule(0.05, 0.2, margin, 10)
    for turned in (False, True):  # the shares of the two runs count alike
        shares = None if unjudged is None else tuple(np.array([s]) for s in (unjudged[::-1] if turned else unjudged))
        ends = None if bounds is None else (np.array(bounds[:1]), np.array(bounds[1:]))
        (outcome,) = outcomes(rule, found, shares, ends)
        assert (outcome.word, outcome.why) == (word, why)
        needed = unjudged == MANY and (word, why) != ("cannot tell", "topics")
        assert needing_bounds(rule, found, shares).tolist() == [needed]


TOPICS = 30
JUDGED = {"rel": range(8), "non": range(20)}


def made(**runs: list[str]) -> uj.Collection:
    """The same list of ten kinds of documents on every topic, except that every third topic lacks the first."""
    qrels, lists = {}, {name: {} for name in runs}
    for t in range(TOPICS):
        qrels[f"t{t}"] = {f"rel{i}": 1 for i in JUDGED["rel"]} | {f"non{i}": 0 for i in JUDGED["non"]}
        for name, docs in runs.items():
            shown = docs[t % 3 == 0 :]
            lists[name][f"t{t}"] = {doc: 20.0 - i for i, doc in enumerate(shown)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        return uj.load(qrels, lists)


def kinds(relevant: int, unjudged: int, name: str) -> list[str]:
    """Ten documents: judged relevant ones, the run's own unjudged ones, judged nonrelevant ones."""
    rest = 10 - relevant - unjudged
    return (
        [f"rel{i}" for i in range(relevant)]
        + [f"{name}{i}" for i in range(unjudged)]
        + [f"non{i}" for i in range(rest)]
    )


@pytest.fixture(scope="module")
def holed() -> uj.Collection:
    """P@10 about .5, .3 and .1. Half of the top 10 of `new` and `old` was never judged, all of `low` was."""
    return made(new=kinds(5, 5, "a"), old=kinds(3, 5, "b"), low=kinds(1, 0, "c"))


def said(result: uj.Result, **where: str) -> tuple[str, str]:
    (row,) = [r for r in rows_of(result) if all(r[k] == v for k, v in where.items())]
    return row["outcome"], row["why"]


def test_whoever_asks_about_a_run_with_holes_hears_the_same(holed: uj.Collection) -> None:
    """`compare` called a run with half of its top 10 unjudged significantly better where `ci` could not tell."""
    every = uj.compare(holed, "P@10")
    (row,) = [r for r in rows_of(every) if (r["run_a"], r["run_b"]) == ("new", "old")]
    assert row["p_adjusted"] < 0.001 and row["difference"] > 0.1 and row["unjudged_a"] == row["unjudged_b"] == 0.5
    doubt = ("cannot tell", "holes")
    assert (row["outcome"], row["why"]) == doubt
    assert said(uj.compare(holed, "P@10", baseline="old"), run_a="new") == doubt
    assert said(uj.compare(holed.with_runs(["new", "old"]), "P@10"), run_a="new") == doubt
    assert said(uj.study("winners", holed, measures="P@10"), run="old") == doubt
    for run, baseline in (("new", "old"), ("old", "new")):
        gate = uj.gate(holed, run, baseline, "P@10")
        assert answer(gate) == "cannot tell" and "50 % of a top 10 was never judged" in rows_of(gate)[0]["why"]
    # new has .5 for certain, low .1: no judgment can turn that
    assert said(every, run_a="new", run_b="low") == ("better", "")
    assert said(uj.study("winners", holed, measures="P@10"), run="low") == ("worse", "")
    assert answer(uj.gate(holed, "new", "low", "P@10")) == "pass"
    assert answer(uj.gate(holed, "low", "new", "P@10")) == "fail"


def test_verdicts_name_the_holes_and_what_to_do(holed: uj.Collection) -> None:
    compared, winners = uj.compare(holed, "P@10"), uj.study("winners", holed, measures="P@10")
    for verdict in (compared.verdict, winners.verdict):
        assert verdict is not None and verdict.next is not None
        assert verdict.next.sentence == "judge the unjudged documents at the top of new and old"
        assert verdict.next.command[:2] == ("pool", "build") and verdict.next.command[-1] == "list"
    assert compared.verdict is not None and winners.verdict is not None
    assert (
        compared.verdict.sentence == "by P@10 2 of 3 pairs have a decided outcome (67 %); 1 hangs on unjudged documents"
    )
    assert compared.verdict.decided_by == ("new", "old")
    assert (winners.verdict.word, winners.verdict.value) == ("fragile", 0.5)
    assert (
        "new leads with 0.4667, but 1 of the 2 other runs cannot be told apart from it: old" in winners.verdict.sentence
    )
    assert "more than 20 % of the top 10 was never judged: new (50 %) and old (50 %)" in compared.notes
    arrows = uj.compare(holed, "P@10", baseline="old").table()
    assert "new             0.4667\n" in arrows and "0.0667 ↓" in arrows  # no arrow where holes decide


def test_without_bounds_holes_leave_it_open(holed: uj.Collection) -> None:
    assert said(uj.compare(holed, "infAP"), run_a="new", run_b="low") == ("cannot tell", "holes")
    assert "no bounds of this measure" in rows_of(uj.gate(holed, "new", "low", "infAP"))[0]["why"]
    with pytest.raises(UsageError, match="infAP has no exact bounds"):
        uj.compare(holed, "infAP", unjudged="bounds")


def test_long_lists_of_q_are_not_searched() -> None:
    """The exact bounds of Q may take minutes there; every difference counts as possible."""
    runs = {name: kinds(many, 5, name) + [f"{name}more{i}" for i in range(20)] for name, many in (("a", 5), ("b", 0))}
    found = uj.gate(made(**runs), "a", "b", "Q")
    (row,) = rows_of(found)
    assert (row["verdict"], row["open_low"], row["open_high"]) == ("cannot tell", -1.0, 1.0)
    short = {name: docs[:15] for name, docs in runs.items()}
    (row,) = rows_of(uj.gate(made(**short), "a", "b", "Q"))
    assert -1.0 < row["open_low"] < row["open_high"] < 1.0


@pytest.mark.slow
def test_winners_and_all_pairs_agree_run_by_run(tmp_path: Path) -> None:
    """Also with holes: judgments from one team's pool alone."""
    made = uj.simulate("tiny", seed=3, topics=26, runs=18, teams=6, depth=10, out=tmp_path / "c")
    whole = uj.load(made.qrels, made.run_folder, teams=made.teams)
    seen = set()
    for c in (whole, uj.take(whole, teams=["team01"]), uj.take(whole, teams=["team03"])):
        compared, winners = uj.compare(c), uj.study("winners", c)
        best, *others = rows_of(winners)
        assert (best["outcome"], best["rank"], best["p_adjusted"]) == ("best", 1, None)
        rows = [r for r in rows_of(compared) if r["measure"] == "AP" and best["run"] in (r["run_a"], r["run_b"])]
        turned = {"better": "worse", "worse": "better"}
        for row in rows:
            first = row["run_a"] == best["run"]
            (same,) = [o for o in others if o["run"] == row["run_b" if first else "run_a"]]
            word = turned.get(row["outcome"], row["outcome"]) if first else row["outcome"]
            assert (same["outcome"], same["why"], same["p_adjusted"]) == (word, row["why"], row["p_adjusted"])
            seen.add((word, row["why"]))
        assert winners.verdict is not None
        assert winners.verdict.value == sum(o["outcome"] != "worse" for o in others) / len(others)
    assert {("worse", ""), ("cannot tell", "topics"), ("cannot tell", "holes")} <= seen


def test_winners_by_definition() -> None:
    """Means, ranks with ties and t intervals, against scipy; two best runs are the same run."""
    rng = np.random.default_rng(2)
    x = rng.random((30, 1)) * 0.4 + rng.normal(0, 0.05, (30, 4)) + np.array([0.3, 0.0, 0.25, 0.1])
    x = np.column_stack([x, x[:, 0]])
    found = uj.study("winners", scores_of(x, x[:, ::-1]), measures="AP,nDCG@10")
    rows = rows_of(found)
    assert [r["rank"] for r in rows] == [1, 1, 3, 4, 5]
    assert [r["run"] for r in rows][:2] == ["run00", "run04"]
    assert [r["outcome"] for r in rows] == ["best", "same", "worse", "worse", "worse"]
    for row in rows:
        column = x[:, int(row["run"][-1])]
        ends = scipy.stats.ttest_1samp(column, 0).confidence_interval(0.95)
        assert row["value"] == pytest.approx(column.mean(), abs=1e-12)
        assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high), abs=1e-12)
    assert found.verdict is not None and found.verdict.decided_by == ("run04",)
    assert found.verdict.word == "with care" and found.verdict.value == 0.25
    one = uj.study("winners", scores_of(x[:1]), measures="AP")
    assert one.verdict is not None and one.verdict.sentence == "one topic cannot show which run is best"
    drawn = found.plot()
    assert drawn.spec["layer"][1]["encoding"]["shape"]["field"] == "outcome" and "run04" in drawn.svg()


def test_alone_at_the_top_is_solid() -> None:
    rng = np.random.default_rng(2)
    x = rng.random((30, 1)) * 0.4 + rng.normal(0, 0.05, (30, 3)) + np.array([0.3, 0.0, 0.1])
    verdict = uj.study("winners", scores_of(x), measures="AP").verdict
    assert verdict is not None and verdict.word == "solid" and verdict.value == 0.0 and verdict.next is None
    assert verdict.sentence.endswith("and is better than every other run")


def test_a_work_folder_knows_which_unjudged_documents_two_runs_share(tmp_path: Path) -> None:
    """Judged hits and places of the holes are equal; whether the holes are the same documents decides the bounds."""
    apart = made(new=kinds(5, 5, "a"), old=kinds(3, 5, "b"))
    shared = made(new=kinds(5, 5, "a"), old=kinds(3, 5, "a"))
    for c, outcome in ((apart, ("cannot tell", "holes")), (shared, ("better", "")), (apart, ("cannot tell", "holes"))):
        assert said(uj.compare(c, "P@10", workdir=tmp_path), run_a="new") == outcome


def test_units_are_kept(holed: uj.Collection, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    for _ in range(2):
        uj.compare(holed, "P@10,AP", workdir=tmp_path, progress=lambda s, done, all, kept: told.append((s, done, kept)))
    assert told[0][1:] == (0, 0) and told[-1][1:] == (2, 2)
    assert {s for s, _, _ in told} == {
        "compare: 3 pairs of 3 runs",
        "compare: what the unjudged documents allow",
    }
