"""What must not change a comparison: names, the order of topics and runs, one more run. Equal runs stay equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_scores import random_matrix, rows_of, scores_of

import unjudged as uj
from unjudged.studies.gate import answer

NUMBERS = ("difference", "low", "high", "p_value", "effect_size", "wins", "ties", "losses")


def compared(matrix: np.ndarray, runs: list[str], **how: object) -> dict[tuple[str, str], dict[str, Any]]:
    """Pair, by name -> its row, turned so that the first name comes first."""
    found = {}
    for row in rows_of(uj.compare(scores_of(matrix, runs=runs, measures="AP"), "AP", jobs=1, **how)):
        if row["run_a"] > row["run_b"]:
            turned = {"better": "worse", "worse": "better"}
            row |= {"run_a": row["run_b"], "run_b": row["run_a"], "difference": -row["difference"]}
            row |= {"low": -row["high"], "high": -row["low"], "effect_size": -row["effect_size"]}
            row |= {"wins": row["losses"], "losses": row["wins"]}
            row["outcome"] = turned.get(row["outcome"], row["outcome"])
        found[row["run_a"], row["run_b"]] = row
    return found


def alike(one: dict[str, Any], other: dict[str, Any], more: tuple[str, ...] = ()) -> None:
    for name in (*NUMBERS, *more):
        assert one[name] == pytest.approx(other[name], rel=1e-9, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_order_of_topics_and_runs_and_names_change_nothing(seed: int) -> None:
    matrix, rng = random_matrix(seed), np.random.default_rng(seed)
    names = [f"r{i}" for i in range(6)]
    plain = compared(matrix, names)
    order = rng.permutation(6)
    shuffled = compared(matrix[rng.permutation(16)][:, order], [names[i] for i in order])
    for pair, row in plain.items():
        alike(row, shuffled[pair], ("p_adjusted",))
        assert (row["outcome"], row["why"]) == (shuffled[pair]["outcome"], shuffled[pair]["why"])
    renamed = compared(matrix, [f"x{i}" for i in range(6)])
    for (a, b), row in plain.items():
        alike(row, renamed["x" + a[1:], "x" + b[1:]], ("p_adjusted",))


@pytest.mark.parametrize("test", ["t", "bootstrap", "permutation", "wilcoxon"])
def test_a_copy_of_a_run_changes_no_other_pair(test: str) -> None:
    """More pairs are adjusted for, so adjusted p values may grow, never shrink; the copy is the same run."""
    matrix, names = random_matrix(4), [f"r{i}" for i in range(6)]
    plain = compared(matrix, names, test=test)
    more = compared(np.column_stack([matrix, matrix[:, 2]]), [*names, "r2copy"], test=test)
    for pair, row in plain.items():
        alike(row, more[pair])
        assert more[pair]["p_adjusted"] >= row["p_adjusted"]
    assert more["r2", "r2copy"]["outcome"] == "same" and more["r2", "r2copy"]["p_value"] == 1.0


def test_a_copy_of_a_run_leaves_the_winner() -> None:
    for seed in range(10):
        matrix = random_matrix(seed)
        best = int(matrix.mean(axis=0).argmax())
        other = np.column_stack([matrix, matrix[:, (best + 1) % 6]])
        one, two = (
            rows_of(uj.study("winners", scores_of(m, measures="AP"), measures="AP", jobs=1)) for m in (matrix, other)
        )
        assert one[0]["run"] == two[0]["run"]
        ends = {row["run"]: (row["value"], row["low"], row["high"]) for row in two}
        assert all(ends[row["run"]] == (row["value"], row["low"], row["high"]) for row in one)


def made(ranks: dict[str, list[int]], topics: list[str]) -> uj.Collection:
    """One relevant document per topic, at this rank of each run."""
    qrels = {t: {"rel": 1, **{f"n{i}": 0 for i in range(9)}} for t in topics}
    runs = {
        name: {
            t: {("rel" if r == rank else f"n{r if r < rank else r - 1}"): 20.0 - r for r in range(10)}
            for t, rank in zip(topics, places, strict=True)
        }
        for name, places in ranks.items()
    }
    return uj.load(qrels, runs)


def test_the_gate_looks_at_two_runs_and_no_order() -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        topics = [f"t{i:02d}" for i in range(20)]
        new, old, third = (rng.integers(0, 6, 20).tolist() for _ in range(3))
        plain = rows_of(uj.gate(made({"new": new, "old": old}, topics), "new", "old", "RR, P@5"))
        more = rows_of(
            uj.gate(made({"copy": old, "old": old, "third": third, "new": new}, topics), "new", "old", "RR, P@5")
        )
        order = rng.permutation(20).tolist()
        turned = {"a": [new[i] for i in order], "b": [old[i] for i in order]}
        renamed = rows_of(uj.gate(made(turned, [topics[i] for i in order]), "a", "b", "RR, P@5"))
        for other in (more, renamed):
            assert [row["verdict"] for row in plain] == [row["verdict"] for row in other]
        for name in ("difference", "low", "high", "p_not_worse", "p_worse", "detectable"):
            for other in (more, renamed):
                assert [row[name] for row in plain] == pytest.approx([row[name] for row in other], rel=1e-9, abs=1e-12)


def test_equal_runs_are_told_apart_no_more_often_than_alpha() -> None:
    """Scores permuted inside topics: compare, winners and the gate find a difference in 5 % of the cases at most."""
    rng, many = np.random.default_rng(9), 150
    alarms = {"compare": 0, "winners": 0}
    for _ in range(many):
        scores = scores_of(rng.permuted(random_matrix(int(rng.integers(1000))), axis=1), measures="AP")
        compared = rows_of(uj.compare(scores, "AP", jobs=1))
        alarms["compare"] += any(row["outcome"] in ("better", "worse") for row in compared)
        found = rows_of(uj.study("winners", scores, measures="AP", jobs=1))
        alarms["winners"] += any(row["outcome"] == "worse" for row in found)
    assert alarms["winners"] <= alarms["compare"] <= many * 0.05 + 2 * np.sqrt(many * 0.05 * 0.95)


def test_the_gate_fails_equal_runs_no_more_often_than_alpha() -> None:
    rng, topics, said = np.random.default_rng(3), [f"t{i:02d}" for i in range(15)], []
    for _ in range(60):
        both = rng.permuted(rng.integers(0, 8, (15, 2)), axis=1)
        c = made({"new": both[:, 0].tolist(), "old": both[:, 1].tolist()}, topics)
        said.append(answer(uj.gate(c, "new", "old", "RR, P@5, nDCG@10", jobs=1)))
    assert said.count("fail") <= 3 + 4 and set(said) >= {"cannot tell"}
