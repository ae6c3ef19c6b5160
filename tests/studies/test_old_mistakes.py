"""Mistakes that were once made on data with known answers, and must not come back.

`compare` called a run significantly worse whose documents nobody had judged; the loss of outsiders was said to be
nearly twice what it was, and two odd runs made a well-judged collection look unusable; intervals of `correct` held too
seldom.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from made_scores import rows_of
from places import DATA, ROOT

import unjudged as uj

sys.path.insert(0, str(ROOT / "benchmarks"))

import holes_truth
import truth_questions
from truth_cases import Case, Spec

real = pytest.mark.skipif(not DATA.is_dir(), reason="needs the real collections")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        yield


# -- holes in compare


def seen_by_one_team() -> tuple[uj.Collection, uj.Collection]:
    """Judgments of the old run alone, and of both: 8 of the new run's first 10 are new, 6 of those relevant.

    The old run has 3 or 4 relevant documents in its top 10. Of the new run's, only 2 were judged.
    """
    lists: dict[str, dict[str, dict[str, float]]] = {"old": {}, "new": {}}
    full: dict[str, dict[str, int]] = {}
    for t in range(40):
        old = [f"o{i}" for i in range(12)]
        new = ["n0", "o1", *(f"n{i}" for i in range(1, 8)), "o2"]
        lists["old"][str(t)] = {doc: 20.0 - i for i, doc in enumerate(old)}
        lists["new"][str(t)] = {doc: 20.0 - i for i, doc in enumerate(new)}
        full[str(t)] = {doc: int(i in (0, 3, 5, 6 + t % 5)) for i, doc in enumerate(old)}
        full[str(t)] |= {f"n{i}": int(i < 6 + t % 2) for i in range(8)}
    part = {t: {doc: g for doc, g in docs.items() if doc in lists["old"][t]} for t, docs in full.items()}
    return uj.load(part, lists), uj.load(full, lists)


@pytest.mark.parametrize("measure", ["nDCG@10", "P@10", "AP", "RR"])
def test_a_run_nobody_judged_is_not_called_worse(measure: str) -> None:
    """Counted as nonrelevant its holes make it significantly worse; with all judgments it is significantly better."""
    part, full = seen_by_one_team()

    def said(collection: uj.Collection, **how: str) -> str:
        (row,) = rows_of(uj.compare(collection, measures=measure, **how))
        assert {row["run_a"], row["run_b"]} == {"old", "new"}
        turned = {"better": "worse", "worse": "better"} if row["run_a"] == "old" else {}
        return str(turned.get(row["outcome"], row["outcome"]))

    assert said(part, unjudged="nonrelevant") == "worse" and said(full) in ("better", "cannot tell", "same")
    assert said(part) == "cannot tell"
    (row,) = rows_of(uj.compare(part, measures=measure))
    assert row["why"] == "holes" and sorted((row["unjudged_a"], row["unjudged_b"])) == pytest.approx([0, 0.8])
    best = {row["run"]: row for row in rows_of(uj.study("winners", part, measures=measure))}
    assert best["new"]["outcome"] != "worse" and best["old"]["outcome"] != "worse"
    assert [row["verdict"] for row in rows_of(uj.gate(part, "new", "old", measures=measure))] == ["cannot tell"]


@real
def test_pools_of_one_team() -> None:
    """TREC Deep Learning 2019 judged by one team's runs: decided against the full judgments."""
    c, depth = holes_truth.collection("dl19", str(DATA))
    full = uj.score(c, ["nDCG@10"]).mean_values()[:, 0]
    wrong, decided = {"nonrelevant": 0, "estimate": 0}, {"nonrelevant": 0, "estimate": 0}
    for team in ("BASELINE", "Brown", "CCNU_IRGroup", "ICTNET"):
        inside = [run for run in c.runs if c.teams[run] == team]
        part = c.keeping(holes_truth.found_by(c, inside, depth), team)
        for how in wrong:
            told = {} if how == "estimate" else {"unjudged": how}
            for row in rows_of(uj.compare(part, measures="nDCG@10", jobs=1, **told)):
                apart = full[c.runs.index(row["run_a"])] - full[c.runs.index(row["run_b"])]
                decided[how] += row["outcome"] in ("better", "worse")
                wrong[how] += row["outcome"] == ("better" if apart < 0 else "worse")
    assert wrong["nonrelevant"] > 0.1 * decided["nonrelevant"]  # what the rule is for
    assert wrong["estimate"] <= 0.005 * decided["estimate"] and decided["estimate"] > 100


# -- what outsiders lose


def test_two_odd_runs_do_not_make_a_collection_unusable(tmp_path_factory: pytest.TempPathFactory) -> None:
    """They return nothing anybody judged, and have next to no score to lose."""
    made = uj.simulate("tiny", seed=3, topics=25, runs=16, teams=8, out=tmp_path_factory.mktemp("odd") / "c")
    c = uj.load(made.qrels, made.run_folder, teams=made.teams)
    ranked = {
        run: {t: {d: -float(i) for i, d in enumerate(docs)} for t, docs in lists.items()}
        for run, lists in lists_of(c).items()
    }
    odd = {f"odd{k}": {t: {f"junk{k}-{i}": -float(i) for i in range(50)} for t in c.topics} for k in (1, 2)}
    more = uj.load(
        {t: dict(docs) for t, docs in judgments_of(c).items()},
        ranked | odd,
        teams={**c.teams, "odd1": "x", "odd2": "y"},
    )
    asked: dict[str, Any] = {"measures": "AP", "all_runs": True, "summary": True, "jobs": 1}
    plain, with_odd = (uj.study("leave-team-out", one, **asked).verdict for one in (c, more))
    assert plain is not None and plain.value is not None and with_odd is not None and with_odd.value is not None
    assert with_odd.word == plain.word and abs(with_odd.value - plain.value) < 0.03


@real
def test_the_loss_of_outsiders_is_near_the_truth() -> None:
    """Pools of 3 and 8 teams: the mean error of the loss is below that of leaving teams out (0.064)."""
    wrong = []
    for name in ("dl19", "trec2"):
        c, _ = holes_truth.collection(name, str(DATA))
        teams = sorted(set(c.teams.values()))
        for seed, many in enumerate((3, 8), 1):
            chosen = np.random.default_rng(seed).permutation(teams)[:many].tolist()
            inside = [run for run in c.runs if c.teams[run] in chosen]
            kept = holes_truth.found_by(c, inside, 10)
            asked: dict[str, Any] = {
                "measures": "AP",
                "all_runs": True,
                "summary": True,
                "depth": 10,
                "pooled": inside,
                "jobs": 1,
            }
            verdict = uj.study("leave-team-out", c.keeping(kept, "pool"), **asked).verdict
            true = truth_questions.losses(Case(Spec("real", name, seed), c, kept, 1, tuple(inside), 10))
            assert verdict is not None and verdict.value is not None and true is not None
            wrong.append(abs(verdict.value - true.all_runs))  # type: ignore[operator]
    assert np.mean(wrong) < 0.064


# -- intervals of correct


def checked(c: uj.Collection, part: uj.Collection, new: list[str], depth: int) -> list[tuple[bool, float, float]]:
    """Per new run: does the interval hold the score in the full pool, and the errors as it is and corrected."""
    full = dict(zip(c.runs, uj.score(c, ["P@10"]).mean_values()[:, 0].tolist(), strict=True))
    pooled = [run for run in part.runs if run not in new]
    rows = rows_of(uj.correct(part, new, "P@10", pooled=pooled, depth=depth, jobs=1))
    highest = {row["run"]: row["highest"] for row in rows_of(uj.estimate(part, "P@10"))}
    for row in rows:
        assert row["score"] - 1e-9 <= row["low"] <= row["corrected"] + 1e-9 <= row["high"] + 2e-9
        assert row["high"] <= highest[row["run"]] + 1e-9
        assert all(row[name] <= highest[row["run"]] + 1e-9 for name in ("lipani", "webber_park"))
    return [
        (row["low"] - 1e-9 <= full[row["run"]] <= row["high"] + 1e-9, *(abs(row[s] - full[row["run"]]) for s in ERRORS))
        for row in rows
    ]


ERRORS = ("score", "corrected")


@real
def test_intervals_of_correct_hold_and_its_errors_are_smaller() -> None:
    """A quarter of the teams stay away from the pool of a real collection; before, 67 to 86 % of intervals held."""
    found = []
    for name in ("dl19", "trec2"):
        c, depth = holes_truth.collection(name, str(DATA))
        for number in range(2):
            part, new = holes_truth.reduced(c, depth, "family", number, name)
            found += checked(c, part, new, depth)
    held, raw, corrected = np.array(found, float).T
    assert held.mean() >= 0.9 and corrected.mean() < 0.7 * raw.mean()


def test_intervals_of_correct_hold_on_a_simulated_collection(tmp_path_factory: pytest.TempPathFactory) -> None:
    made = uj.simulate("tiny", seed=4, topics=30, runs=24, teams=12, out=tmp_path_factory.mktemp("correct") / "c")
    c = uj.load(made.qrels, made.run_folder, teams=made.teams)
    found = []
    for number in range(3):
        part, new = holes_truth.reduced(c, 10, "family", number, "tiny")
        found += checked(c, part, new, 10)
    held, raw, corrected = np.array(found, float).T
    assert held.mean() >= 0.85 and corrected.mean() <= raw.mean()


def lists_of(c: uj.Collection) -> dict[str, dict[str, list[str]]]:
    """Run -> topic -> documents in rank order."""
    rankings, judgments = c.rankings, c.judgments
    found: dict[str, dict[str, list[str]]] = {run: {} for run in c.runs}
    order = np.lexsort((rankings.rank, rankings.cell))
    for i in order.tolist():
        cell, code = int(rankings.cell[i]), int(rankings.doc[i])
        topic = judgments.topics[cell % len(judgments.topics)]
        doc = judgments.docs[code] if code < len(judgments) else rankings.unjudged[code - len(judgments)]
        found[c.runs[cell // len(judgments.topics)]].setdefault(topic, []).append(doc)
    return found


def judgments_of(c: uj.Collection) -> dict[str, dict[str, int]]:
    """Topic -> document -> grade."""
    found: dict[str, dict[str, int]] = {topic: {} for topic in c.topics}
    for topic, doc, grade in zip(c.judgments.topic.tolist(), c.judgments.docs, c.judgments.grade.tolist(), strict=True):
        found[c.judgments.topics[topic]][doc] = grade
    return found
