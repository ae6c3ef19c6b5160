"""Reliability: worked values, the analysis of variance, and how well other topics would agree."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from made_scores import rows_of, scores_of

import unjudged as uj
from unjudged.errors import UsageError

WORKED = [[0.5, 0.42, 0.3], [0.3, 0.33, 0.25], [0.71, 0.6, 0.52], [0.2, 0.26, 0.11]]


def test_reliability_of_the_worked_example() -> None:
    """AG1 of the worked examples, and at n topics E rho^2 = 1 - 1/F."""
    row = rows_of(uj.reliability(scores_of(WORKED)))[0]
    assert list(row)[:6] == ["measure", "erho2", "phi", "low", "high", "topics_needed"]
    assert (row["erho2"], row["phi"]) == pytest.approx((0.886647, 0.341648), abs=1e-6)
    assert (row["topics_needed"], row["phi_topics_needed"]) == (10, 147)
    assert row["erho2"] == pytest.approx(1 - 1 / 8.822002, abs=1e-7)
    x = np.array(WORKED)
    rest = x - x.mean(axis=0) - x.mean(axis=1, keepdims=True) + x.mean()
    f = (4 * (x.mean(axis=0) - x.mean()) ** 2).sum() / 2 / ((rest**2).sum() / 6)
    low = f / scipy.stats.f.ppf(0.975, 2, 6)
    assert row["low"] == pytest.approx(max(0.0, (low - 1) / low), abs=1e-12)
    more = rows_of(uj.reliability(scores_of(WORKED), topics_assumed=10))[0]
    assert more["erho2"] >= 0.95 > rows_of(uj.reliability(scores_of(WORKED), topics_assumed=9))[0]["erho2"]


def test_runs_that_do_not_differ_need_endless_topics() -> None:
    found = uj.reliability(scores_of([[0.1, 0.3], [0.3, 0.1], [0.2, 0.2]]))
    row = rows_of(found)[0]
    assert (row["erho2"], row["topics_needed"]) == (0.0, None)
    assert "AP: the variance of runs was estimated below 0 and set to 0" in found.notes
    with pytest.raises(UsageError, match="between 0 and 1"):
        uj.reliability(scores_of(WORKED), stability=1.0)


def test_reliability_follows_the_analysis_of_variance(tiny: uj.Collection) -> None:
    """E rho^2 = 1 - 1/F of the two-way analysis (METHODS D 37), F from its definition."""
    row = rows_of(uj.reliability(tiny, "AP"))[0]
    x = uj.score(tiny, "AP").matrix("AP")
    n, m = x.shape
    grand, runs, topics = x.mean(), x.mean(axis=0), x.mean(axis=1)
    error = ((x - runs - topics[:, None] + grand) ** 2).sum() / ((n - 1) * (m - 1))
    between = n * ((runs - grand) ** 2).sum() / (m - 1)
    assert row["erho2"] == pytest.approx(1 - error / between)
    variance = (between - error) / n
    assert row["topics_needed"] == math.ceil(0.95 * error / (variance * 0.05))
    assert row["low"] < row["erho2"] < row["high"]


def shifted(spread: float, topics: int = 50, runs: int = 12) -> np.ndarray:
    """Runs whose true means lie `spread` apart, with noise of 0.1 on every topic."""
    rng = np.random.default_rng(4)
    return 0.3 + spread * np.arange(runs) + rng.normal(0, 0.1, (topics, runs)) + rng.normal(0, 0.05, (topics, 1))


def formula(matrix: np.ndarray, n: int, others: int = 100) -> float:
    """Variances from the mean squares, then tau = 2/pi arcsin sqrt(E rho^2(n) E rho^2(others))."""
    topics, runs = matrix.shape
    rest = matrix - matrix.mean(axis=0) - matrix.mean(axis=1, keepdims=True) + matrix.mean()
    error = (rest**2).sum() / ((topics - 1) * (runs - 1))
    signal = matrix.mean(axis=0).var(ddof=1) - error / topics
    share = [signal / (signal + error / k) for k in (n, others)]
    return float(2 / np.pi * np.arcsin(np.sqrt(share[0] * share[1])))


def extrapolated(split_tau: float, topics: int, n: int, others: int = 100) -> float:
    """Two halves of `topics` topics agree by this tau; as reliabilities, n / (n + noise), that is so much for n."""
    reliability, size = math.sin(math.pi / 2 * split_tau), topics // 2
    noise = size * (1 - reliability) / reliability
    both = n / (n + noise) * others / (others + noise)
    return 2 / math.pi * math.asin(math.sqrt(both))


def test_the_verdict_is_the_expected_agreement_with_other_topics() -> None:
    matrix = shifted(0.016)
    found = uj.reliability(scores_of(matrix, matrix**2))
    verdict, rows = found.verdict, rows_of(found)
    assert verdict is not None and verdict.next is not None
    rng, halves = np.random.default_rng(1), []
    for _ in range(1000):
        order = rng.permutation(50)
        halves.append(scipy.stats.kendalltau(matrix[order[:25]].mean(axis=0), matrix[order[25:]].mean(axis=0))[0])
    assert rows[0]["split_tau"] == pytest.approx(np.mean(halves), abs=0.02)
    tau = extrapolated(rows[0]["split_tau"], 50, 50)
    needed = next(n for n in range(1, 1000) if extrapolated(rows[0]["split_tau"], 50, n) >= 0.9)
    assert 0.8 < tau < 0.9 and needed > 50
    assert verdict.value == pytest.approx(tau, abs=1e-12) and rows[0]["expected_tau"] == verdict.value
    assert (verdict.word, verdict.unit, verdict.decided_by) == ("with care", "tau", ("AP",))
    low, high = rows[0]["tau_low"], rows[0]["tau_high"]
    pairs = f"{np.floor(50 * (1 + tau) + 0.5):.0f} of 100 pairs"
    assert verdict.sentence == (
        f"on 100 other topics {pairs} would keep the order they have on these 50 topics by AP (tau {tau:.2f}, "
        f"between {low:.2f} and {high:.2f}); {needed} topics would keep 95 of 100 pairs"
    )
    assert verdict.next.effect == f"about 95 of 100 pairs in the same order instead of {pairs.split()[0]}"
    more = f"judge about {needed - 50} more topics, or report the top group instead of the order"
    assert (verdict.next.sentence, verdict.next.command) == (more, ())
    assert [row["formula_tau"] for row in rows] == pytest.approx([formula(m, 50) for m in (matrix, matrix**2)])


def odd_world(rng: np.random.Generator, topics: int) -> np.ndarray:
    """20 runs close together and 3 hopeless ones, on so many topics."""
    true = np.concatenate([np.linspace(0.5, 0.7, 20), [0.02, 0.05, 0.08]])
    return true + rng.normal(0, 0.25, (topics, 23))


def test_odd_runs_do_not_make_an_order_look_sure() -> None:
    """VERDICTS 9: hopeless runs inflate the variance of runs, and the formula was too kind by .07 to .18."""
    rng, truth, said, by_formula, inside = np.random.default_rng(7), [], [], [], 0
    for _ in range(20):
        matrix = odd_world(rng, 50)
        row = rows_of(uj.reliability(scores_of(matrix, measures="AP")))[0]
        other = odd_world(rng, 100).mean(axis=0)
        truth.append(scipy.stats.kendalltau(matrix.mean(axis=0), other)[0])
        said.append(row["expected_tau"])
        by_formula.append(row["formula_tau"])
        inside += row["tau_low"] <= truth[-1] <= row["tau_high"]
    assert np.mean(by_formula) - np.mean(truth) > 0.07
    assert abs(np.mean(said) - np.mean(truth)) < 0.03
    assert inside >= 17


def test_solid_takes_an_interval_that_is_solid_as_a_whole() -> None:
    seen = set()
    for spread in (0.03, 0.035, 0.04, 0.05, 0.08):
        found = uj.reliability(scores_of(shifted(spread), measures="AP"))
        row, verdict = rows_of(found)[0], found.verdict
        assert verdict is not None and row["tau_low"] <= row["expected_tau"] <= row["tau_high"]
        if row["expected_tau"] >= 0.9:
            sure = row["tau_low"] >= 0.9
            seen.add(sure)
            assert (verdict.word == "solid") == sure and (verdict.next is None) == sure
            assert ("fewer than 95 of 100 pairs are still possible" in verdict.sentence) == (not sure)
    assert seen == {True, False}


def test_one_topic_is_unknown() -> None:
    found = uj.reliability(scores_of(shifted(0.02)[:1]))
    assert found.verdict is not None and found.verdict.word == "unknown" and not list(found.rows())
    assert found.verdict.sentence == "one topic cannot show how well other topics would agree with it"
    three = uj.reliability(scores_of(shifted(0.02)[:3])).verdict
    assert three is not None and three.word == "unknown" and "only 3 topics" in three.sentence


def test_neither_names_nor_order_change_the_answer() -> None:
    matrix, rng = shifted(0.02), np.random.default_rng(3)
    one = rows_of(uj.reliability(scores_of(matrix, measures="AP")))[0]
    turned = matrix[rng.permutation(50)][:, rng.permutation(12)]
    other = rows_of(uj.reliability(scores_of(turned, measures="AP")))[0]
    for column in ("expected_tau", "tau_low", "tau_high", "split_tau", "formula_tau"):
        assert one[column] == pytest.approx(other[column], abs=1e-12)


def test_the_verdict_speaks_of_the_first_measure_that_does_not_condense() -> None:
    scores = scores_of(shifted(0.001), shifted(0.05), measures="AP', nDCG@10")
    verdict = uj.reliability(scores).verdict
    assert verdict is not None and " by nDCG@10 " in verdict.sentence and verdict.word == "solid"
    assert verdict.next is None


def test_few_topics_or_runs_give_no_word() -> None:
    for matrix, said in ((shifted(0.02)[:10], "only 10 topics"), (shifted(0.02)[:, :5], "only 5 runs")):
        verdict = uj.reliability(scores_of(matrix)).verdict
        assert verdict is not None and verdict.word == "unknown" and said in verdict.sentence


def test_many_more_topics_would_not_help_runs_that_are_nearly_alike() -> None:
    verdict = uj.reliability(scores_of(shifted(0.003))).verdict
    assert verdict is not None and verdict.next is not None and verdict.word == "fragile"
    assert "more topics would help little" in verdict.sentence
    assert verdict.next.sentence == "report the top group instead of the order"


def test_runs_that_differ_by_chance_alone() -> None:
    chance = np.random.default_rng(0).random((40, 12))
    chance -= chance.mean(axis=0)
    found = uj.reliability(scores_of(chance, measures="AP"))
    assert found.verdict is not None and (found.verdict.word, found.verdict.value) == ("fragile", 0.0)
    assert found.verdict.sentence == "by AP the runs do not differ by more than chance on these 40 topics"


def test_scores_that_never_differ_are_unknown_and_stand_last() -> None:
    same = np.tile(np.random.default_rng(1).random((40, 1)), 12)
    found = uj.reliability(scores_of(same, shifted(0.02)[:40]))
    assert found.verdict is not None and found.verdict.word == "unknown" and found.verdict.value is None
    lines = found.render("markdown").splitlines()[2:4]
    assert (
        lines[0].startswith("| nDCG@10 |")
        and "**" in lines[0]
        and lines[1].startswith("| AP |")
        and "**" not in lines[1]
    )
    assert {p["measure"] for p in found.plot("topics").spec["data"]["values"]} == {"nDCG@10"}


def test_the_chart_draws_expected_tau_for_every_number_of_topics() -> None:
    several = uj.reliability({"a": scores_of(shifted(0.02)), "b": scores_of(shifted(0.02)[:30])})
    assert several.figures == ("topics", "reliability")
    points = several.plot().spec["data"]["values"]
    drawn = {(p["collection"], p["topics"]): (p["tau"], p["here"]) for p in points}
    for name, matrix in (("a", shifted(0.02)), ("b", shifted(0.02)[:30])):
        for n in (5, 30, 100, 200):
            split = next(r["split_tau"] for r in rows_of(several) if r["collection"] == name)
            assert drawn[name, n] == (pytest.approx(extrapolated(split, len(matrix), n), abs=6e-5), len(matrix))
    assert several.caption == (
        "Tau with 100 other topics from split halves (by formula: for normal scores), and reliability (E rho^2), with "
        "95% intervals. a: 50 topics. b: 30 topics."
    )


def test_hopeless_runs_can_be_dropped() -> None:
    matrix = shifted(0.002)
    matrix[:, :4] -= 0.25
    whole, best = (rows_of(uj.reliability(scores_of(matrix), drop=drop))[0] for drop in (0.0, 1 / 3))
    assert best["erho2"] == pytest.approx(rows_of(uj.reliability(scores_of(matrix[:, 4:])))[0]["erho2"])
    assert best["erho2"] < whole["erho2"]
    with pytest.raises(UsageError, match="drop is a share"):
        uj.reliability(scores_of(matrix), drop=1.0)
    with pytest.raises(UsageError, match="at least 1 topic"):
        uj.reliability(scores_of(matrix), topics_assumed=0)
