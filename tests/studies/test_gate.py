"""The regression gate: verdicts worked out by hand, exit codes, JUnit, and holes that could turn a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import UsageError
from unjudged.holes.pairs import difference
from unjudged.measures import parse
from unjudged.statistics.non_inferiority import NonInferiority, detectable_margin, non_inferiority, rare_differences
from unjudged.studies.engine.outcome import Rule
from unjudged.studies.gate import Checked, answer, lost_most

TOPICS = 20


def collection(new_rank: list[int], old_rank: list[int], holes: int = 0) -> uj.Collection:
    """One relevant document per topic at the given rank; `holes` unjudged documents above it in the new run."""
    qrels = {str(t): {"rel": 1, **{f"n{i}": 0 for i in range(12)}} for t in range(TOPICS)}

    def ranked(rank: int, unjudged: int) -> dict[str, float]:
        above = [f"u{i}" if i < unjudged else f"n{i}" for i in range(rank - 1)]
        below = [f"n{i}" for i in range(rank, 12)]
        return {doc: 20.0 - i for i, doc in enumerate([*above, "rel", *below][:10])}

    new = {str(t): ranked(new_rank[t % len(new_rank)], holes) for t in range(TOPICS)}
    old = {str(t): ranked(old_rank[t % len(old_rank)], 0) for t in range(TOPICS)}
    return uj.load(qrels, {"new": new, "old": old})


def found(c: uj.Collection, **how: object) -> dict[str, Any]:
    result = uj.gate(c, "new", "old", "RR", **how)
    (row,) = result.rows()
    return dict(zip(result.columns, row, strict=True)) | {"outcome": answer(result)}


def test_better_passes_and_worse_fails() -> None:
    better = found(collection([1, 1, 2], [4, 5]))
    assert better["outcome"] == "pass"
    worse = found(collection([4, 5], [1, 1, 2]))
    assert worse["outcome"] == "fail" and worse["difference"] == pytest.approx(-float(better["difference"]))


def test_bounds_and_p_values_are_those_of_one_sided_t_tests() -> None:
    c = collection([1, 2, 3], [2, 1, 4])
    z = np.diff(uj.score(c, "RR").matrix("RR"), axis=1)[:, 0] * -1
    above, below = (stats.ttest_1samp(z, -0.01, alternative=side) for side in ("greater", "less"))
    row = found(c)
    assert row["low"] == pytest.approx(above.confidence_interval(0.95).low, abs=1e-12)
    assert row["high"] == pytest.approx(below.confidence_interval(0.95).high, abs=1e-12)
    assert (row["p_not_worse"], row["p_worse"]) == pytest.approx((above.pvalue, below.pvalue), abs=1e-12)
    assert row["outcome"] == ("pass" if above.pvalue < 0.05 else "cannot tell")


def test_the_detectable_margin_is_that_of_statsmodels() -> None:
    """In standard errors of the mean; effects are there in standard deviations of a topic."""
    for topics in (3, 12, 50):
        effect = TTestPower().solve_power(nobs=topics, alpha=0.05, power=0.8, alternative="larger")
        assert detectable_margin(topics, 1.0) == pytest.approx(effect * math.sqrt(topics), rel=1e-5)


def test_two_topics_are_enough_for_a_test_and_one_is_not() -> None:
    result = non_inferiority([0.1, 0.4], 0.05)
    wanted = stats.ttest_1samp([0.1, 0.4], -0.05, alternative="greater")
    assert (result.p_not_worse, result.low) == pytest.approx((wanted.pvalue, wanted.confidence_interval(0.95).low))
    assert math.isnan(non_inferiority([0.1], 0.05).p_not_worse)


def test_an_equal_run_passes_the_detectable_margin_in_four_of_five_cases() -> None:
    """Drawn anew with the standard error known to be 1 / sqrt(12), against the exact margin."""
    rng = np.random.default_rng(1)
    margin = detectable_margin(12, 1 / np.sqrt(12))
    passes = [non_inferiority(rng.normal(size=12), margin).p_not_worse < 0.05 for _ in range(2000)]
    assert np.mean(passes) == pytest.approx(0.8, abs=3 * np.sqrt(0.16 / 2000))


def test_a_fail_is_corrected_for_the_number_of_measures() -> None:
    """The whole fails if one measure does, so every further measure is one more chance of a false alarm."""
    c = collection([2, 3, 1, 4, 2], [2, 2, 1, 3, 1])
    alone = found(c, margin=0.05)
    result = uj.gate(c, "new", "old", "RR, RBP, ERR, nDCG@5, nDCG@10", margin=0.05)
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows()]
    plain = [
        dict(zip(result.columns, row, strict=True))["p_worse"]
        for row in uj.gate(c, "new", "old", "RR, RBP, ERR, nDCG@5, nDCG@10", margin=0.05, correction="none").rows()
    ]
    assert plain[0] == alone["p_worse"]
    assert [row["p_worse"] for row in rows] == pytest.approx(multipletests(plain, method="holm")[1], abs=1e-12)
    assert [row["p_not_worse"] for row in rows] == pytest.approx([1 - p for p in plain], abs=1e-12)
    with pytest.raises(UsageError, match="unknown correction"):
        uj.gate(c, "new", "old", "RR", correction="tukey")


def test_fewer_topics_than_the_limit_cannot_tell() -> None:
    c = collection([4, 5], [1, 1, 2])
    few = uj.gate(uj.only(c, c.topics[:9]), "new", "old", "RR")
    assert answer(few) == "cannot tell" and few.verdict is not None
    assert few.verdict.sentence.endswith("worse on RR: only 9 topics (at least 10 are needed)")
    assert answer(uj.gate(uj.only(c, c.topics[:10]), "new", "old", "RR")) == "fail"
    assert answer(uj.gate(uj.only(c, c.topics[:1]), "new", "old", "RR")) == "cannot tell"


def test_the_sentence_names_the_smallest_margin_these_topics_can_show() -> None:
    result = uj.gate(collection([1, 2, 3], [2, 1, 4]), "new", "old", "RR")
    (row,) = result.rows()
    margin = dict(zip(result.columns, row, strict=True))["detectable"]
    assert result.verdict is not None
    assert f"; 20 topics like these can show a margin of {margin:.2g} (80 % power)" in result.verdict.sentence


def test_equal_runs_pass_and_a_loss_below_the_margin_passes() -> None:
    assert found(collection([2], [2]))["outcome"] == "pass"
    slightly = collection([3], [2])  # a constant loss of 1/6 in every topic
    assert found(slightly, margin=0.2)["outcome"] == "pass"
    assert found(slightly, margin=0.1)["outcome"] == "fail"


def tied(topics: int, lost: int = 0, gained: int = 0, turned: bool = True) -> uj.Collection:
    """RR 1 everywhere, but 1/2 where the new run lost or gained; `turned`: other lists below."""
    best, worse = {"rel": 3.0, "a": 2.0, "b": 1.0}, {"a": 3.0, "rel": 2.0, "b": 1.0}
    other = {"rel": 3.0, "b": 2.0, "a": 1.0} if turned else best
    new = {str(t): worse if t < lost else other for t in range(topics)}
    old = {str(t): worse if topics - t <= gained else best for t in range(topics)}
    return uj.load({str(t): {"rel": 1, "a": 0, "b": 0} for t in range(topics)}, {"new": new, "old": old})


def test_equal_scores_of_different_lists_are_no_proof_on_few_topics() -> None:
    """VERDICTS.md 8: a tie on ten topics let worse runs through; the very same lists may pass."""
    row = found(tied(12))
    assert row["outcome"] == "cannot tell" and "score the same on every topic" in str(row["why"])
    assert row["low"] == pytest.approx(0.05 ** (1 / 12) - 1)  # the chance of no loss in 12 topics is then 5 %
    assert found(tied(12, turned=False))["outcome"] == "pass"
    both = uj.gate(tied(12, turned=False), "new", "old", "RR, P@1, nDCG@10")
    assert answer(both) == "pass"
    assert "differ on 3 topics" in str(found(tied(12, lost=3))["why"])


@pytest.mark.parametrize(
    ("topics", "lost", "said"), [(298, 0, "cannot tell"), (299, 0, "pass"), (299, 1, "cannot tell")]
)
def test_many_topics_without_a_loss_pass_by_counting(topics: int, lost: int, said: str) -> None:
    """0.99^299 is just below 5 %: a run that loses 1 % of the topics would have lost one of them."""
    assert found(tied(topics, lost))["outcome"] == said


@pytest.mark.parametrize(("gains", "losses", "topics"), [(0, 0, 10), (2, 1, 40), (0, 4, 600), (3, 3, 3)])
def test_bounds_of_rare_differences_are_clopper_and_pearsons(gains: int, losses: int, topics: int) -> None:
    rare = rare_differences(gains, losses, topics, 0.01)
    for bound, many in ((-rare.low, losses), (rare.high, gains)):
        exact = stats.binomtest(many, topics, alternative="less").proportion_ci(0.95, "exact").high
        assert bound == pytest.approx(exact, abs=1e-12)
    assert rare.p_not_worse == pytest.approx(stats.binomtest(losses, topics, 0.01, "less").pvalue, abs=1e-12)
    assert (rare.p_not_worse < 0.05) == (rare.low > -0.01)
    assert rare_differences(gains, losses, topics, 0.0).p_not_worse == 1


def test_scores_without_an_upper_end_cannot_be_counted() -> None:
    """DCG: a topic can be lost by any amount, so that many ties prove nothing."""
    result = uj.gate(tied(320), "new", "old", "DCG")
    assert answer(result) == "cannot tell"


def test_few_topics_cannot_tell() -> None:
    row = found(collection([1, 10], [10, 1, 3]))
    assert row["outcome"] == "cannot tell" and "too few topics" in str(row["why"])


def test_holes_count_beside_the_topics() -> None:
    """The p values are those of the difference plus margin over the root of both variances."""
    c = collection([5], [1, 1, 2], holes=4)
    row = dict(zip(*_one_row(uj.gate(c, "new", "old", "nDCG@10")), strict=True))
    place = np.array([c.runs.index("new")]), np.array([c.runs.index("old")])
    pair = difference(c, parse("nDCG@10")[0], place)
    assert pair is not None and pair.v_hole[0] > 0
    error = float(np.sqrt(pair.v_topic[0] + pair.v_hole[0]))
    assert row["estimate"] == pytest.approx(pair.difference[0], abs=1e-12)
    assert row["p_not_worse"] == pytest.approx(stats.t.sf((row["estimate"] + 0.01) / error, TOPICS - 1), abs=1e-12)
    assert row["high"] - row["low"] == pytest.approx(2 * stats.t.isf(0.05, TOPICS - 1) * error, abs=1e-12)
    scores = uj.score(c, "nDCG@10").mean_values()[:, 0]
    assert row["difference"] == pytest.approx(scores[place[0][0]] - scores[place[1][0]], abs=1e-12)


def _one_row(result: uj.Result) -> tuple[Sequence[str], Sequence[Any]]:
    (row,) = result.rows()
    return result.columns, row


def test_more_holes_than_allowed_must_not_be_able_to_turn_it() -> None:
    """The relevant document stands below four unjudged ones: any of them could be relevant."""
    full = found(collection([5], [1, 1, 2]))
    holes = found(collection([5], [1, 1, 2], holes=4), holes=0.3)
    assert full["outcome"] == "fail"
    assert holes["outcome"] == "cannot tell" and "40 % of a top 10" in str(holes["why"])
    assert holes["open_high"] >= 0 > holes["open_low"]
    assert found(collection([5], [1, 1, 2], holes=4), holes=0.5)["outcome"] == "fail"


def test_holes_that_cannot_turn_it_leave_the_verdict() -> None:
    c = collection([1], [4, 5])
    run = {t: {"rel": 9.0, "u1": 8.0, "u2": 7.0, "u3": 6.0, "u4": 5.0, "n0": 4.0} for t in c.topics}
    old = {t: {"n1": 9.0, "n2": 8.0, "n3": 7.0, "rel": 6.0} for t in c.topics}
    again = uj.load({t: {"rel": 1, **{f"n{i}": 0 for i in range(12)}} for t in c.topics}, {"new": run, "old": old})
    row = found(again, holes=0.1)
    assert row["outcome"] == "pass" and "cannot turn it" in str(row["why"])


def test_documents_to_judge_are_named_where_holes_leave_it_open(tmp_path: Path, capsys: Any) -> None:
    """The first of `next`, and its command; labels that say so turn `cannot tell` into an answer."""
    made = uj.simulate("tiny", seed=0, topics=30, runs=16, teams=8, leave_out="team04", out=tmp_path / "c")
    runs = {name: str(Path(made.run_folder) / name) for name in ("team06-2", "team06-3")}
    c = uj.load(made.qrels, list(runs.values()))
    verdict = uj.gate(c, "team06-3", "team06-2", "P@10", margin=0.0).verdict
    assert verdict is not None and verdict.word == "unknown" and verdict.next is not None
    wanted = [(row[1], row[2]) for row in uj.next_to_judge(c, "P@10", new="team06-3", baseline="team06-2").rows()]
    assert f"judge {wanted[0][1]} (topic {wanted[0][0]}), " in verdict.next.sentence
    words = ["ci", str(made.qrels), runs["team06-3"], "--baseline", runs["team06-2"], "-m", "P@10", "--margin", "0"]
    assert main(words) == 3
    out = capsys.readouterr().out
    assert "next: judge " in out and "unjudged next " in out and "of the uncertainty comes from unjudged" in out


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"margin": -1}, "0 or more, not -1"),
        ({"margin": float("nan")}, "0 or more, not nan"),
        ({"holes": 2}, "between 0 and 1"),
        ({"run": "nwe"}, "did you mean new"),
        ({"run": "old"}, "own baseline"),
    ],
)
def test_refusals(how: dict[str, Any], words: str) -> None:
    c = collection([1], [2])
    with pytest.raises(UsageError, match=words):
        uj.gate(c, **({"run": "new", "baseline": "old"} | how))


@pytest.mark.parametrize(
    ("bounds", "unjudged", "open_to", "verdict"),
    [
        ((-0.009, -0.001), 0.0, None, "pass"),  # a loss, but smaller than .01
        ((-0.02, -0.001), 0.0, None, "cannot tell"),  # a loss, but perhaps smaller than .01
        ((-0.03, -0.011), 0.0, None, "fail"),
        ((-0.03, -0.009), 0.0, None, "cannot tell"),  # a loss of less than .01 is not excluded
        ((-0.03, 0.02), 0.0, None, "cannot tell"),
        ((-0.03, -0.011), 0.2, None, "fail"),  # as many holes as allowed
        ((-0.03, -0.011), 0.3, None, "cannot tell"),  # more, and nothing is known of them
        ((-0.03, -0.011), 0.3, (-0.1, -0.02), "fail"),  # whatever they are, it is a loss of more than .01
        ((-0.03, -0.011), 0.3, (-0.1, -0.01), "cannot tell"),
        ((0.0, 0.02), 0.3, (-0.009, 0.1), "pass"),
        ((0.0, 0.02), 0.3, (-0.01, 0.1), "cannot tell"),
    ],
)
def test_verdicts_at_the_limits(
    bounds: tuple[float, float], unjudged: float, open_to: tuple[float, float] | None, verdict: str
) -> None:
    """Margin .01, holes up to 20 % where asked for, both bounds one-sided."""
    low, high = bounds
    p = 0.01 if low > -0.01 else 0.99 if high < -0.01 else 0.5
    tested = NonInferiority((low + high) / 2, low, high, p, 1 - p, 0.02)
    counts = (12, 20, (10, 5), (0.0, unjudged), 10)
    one = Checked("P@10", 0.5, 0.5, 0.0, tested, tested, 0.0, 1 - p, False, *counts, open_to, 0.2, unjudged > 0.2)
    assert one.decided(Rule(0.05, "none", 0.01, 10))[0] == verdict


def test_equal_runs_seldom_fail_and_worse_ones_seldom_pass() -> None:
    """Skewed scores (a tenth of the topics decide), margin .02: what the gate promises, on 10 and 25 topics."""
    rng = np.random.default_rng(5)
    for topics in (10, 25):
        equal, worse = [], []
        for _ in range(1000):
            z = rng.choice([0.5, -0.5, 0.2, -0.2, 0.0], p=[0.05, 0.05, 0.1, 0.1, 0.7], size=topics)
            equal.append(non_inferiority(z, 0.02).p_worse < 0.05)
            worse.append(non_inferiority(z - 0.05, 0.02).p_not_worse < 0.05)
        assert np.mean(equal) <= 0.05 and np.mean(worse) <= 0.05


def written(folder: Path, new: list[int], old: list[int]) -> list[str]:
    c = collection(new, old)
    (folder / "qrels").write_text(
        "".join(f"{t} 0 rel 1\n" + "".join(f"{t} 0 n{i} 0\n" for i in range(12)) for t in c.topics)
    )
    for r, name in enumerate(c.runs):
        lists = (c.rankings.ids(c.judgments, r * TOPICS + t) for t in range(TOPICS))
        lines = (
            f"{t} Q0 {d} 1 {99 - i} x\n" for t, docs in zip(c.topics, lists, strict=True) for i, d in enumerate(docs)
        )
        (folder / name).write_text("".join(lines))
    return ["ci", str(folder / "qrels"), str(folder / "new"), "--baseline", str(folder / "old"), "-m", "RR"]


@pytest.mark.parametrize(
    ("new", "old", "more", "code", "kind"),
    [
        ([1], [3, 4], [], 0, None),
        ([3, 4], [1], [], 1, "failure"),
        ([1, 10], [10, 1, 3], [], 3, "failure"),
        ([1, 10], [10, 1, 3], ["--doubt", "fail"], 1, "failure"),
        ([3, 4], [1], ["--doubt", "pass"], 1, "failure"),
        ([1, 10], [10, 1, 3], ["--doubt", "pass"], 0, "skipped"),
    ],
)
def test_exit_codes_and_junit(
    new: list[int],
    old: list[int],
    more: list[str],
    code: int,
    kind: str | None,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = written(tmp_path, new, old)
    assert main([*words, *more, "--junit", str(tmp_path / "junit.xml"), "--format", "markdown"]) == code
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    (case,) = suite
    assert [element.tag for element in case] == ([kind] if kind else [])
    assert suite.attrib["tests"] == "1" and suite.attrib["failures"] == str(int(kind == "failure"))
    assert "\n\n| measure | verdict |" in capfd.readouterr().out


def test_the_gate_takes_one_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = written(tmp_path, [1], [2])
    (tmp_path / "third").write_bytes((tmp_path / "new").read_bytes())
    assert main([*words[:3], str(tmp_path / "third"), *words[3:]]) == 2
    assert "one run with its baseline, 2 runs were given" in capfd.readouterr().err
    assert main([*words[:2], str(tmp_path / "old"), *words[3:]]) == 2


def test_the_topics_that_lost_most_come_with_their_texts_and_holes(tmp_path: Path) -> None:
    """By hand: on topic 3 the new run loses its only relevant document, on topic 5 it falls from rank 1 to rank 2."""
    topics = [str(t) for t in range(1, 13)]
    qrels = {t: {"r": 1, "n": 0} for t in topics}
    old = {t: {"r": 2.0, "n": 1.0} for t in topics}
    new = {**old, "3": {"n": 2.0, "never": 1.0}, "5": {"n": 2.0, "r": 1.0}}
    collection = uj.load(qrels, {"new": new, "old": old})
    gated = uj.gate(collection, "new", "old", ["RR", "P@2"])
    lost = lost_most(collection, gated, {"3": "what is a\nhole"})
    rows = [dict(zip(lost.columns, row, strict=True)) for row in lost.rows()]
    assert [(row["topic"], row["text"], row["difference"]) for row in rows] == [
        ("3", "what is a hole", -1.0),
        ("5", "", -0.5),
    ]
    assert [row["unjudged"] for row in rows] == [0.5, 0.0]
    assert "| 3 | what is a hole | 1.0000 | 0.0000 | -1.0000 | 50 % |" in lost.render("markdown")


def test_the_comment_has_outcome_first_then_topics_and_what_to_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", "--preset", "tiny", "-o", "sim"]) == 0
    Path("queries.tsv").write_text("".join(f"{t}\tquestion {t}\n" for t in range(101, 111)))
    command = "ci sim/qrels.txt sim/runs/team05-4 --baseline sim/runs/team05-2 -m P@10 --format markdown -o comment.md"
    assert main([*command.split(), "--queries", "queries.tsv"]) == 3
    comment = Path("comment.md").read_text()
    places = [comment.find(part) for part in ("**cannot tell**: team05-4", "| P@10 |", "question 10", "Next: judge D")]
    assert places == sorted(places) and places[0] == 0
    assert "wrote comment.md" in capfd.readouterr().err


@pytest.mark.parametrize(("said", "better", "worse"), [("fail", 1, 6), ("pass", 6, 1)])
def test_where_compare_has_another_word_a_sentence_says_why_both_hold(
    said: str, better: int, worse: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """RR is .5 lower on 6 of 20 topics and .5 higher on one: t is -2.03, p is .056 two-sided and .028 one-sided."""
    new = [1] * better + [2] * worse + [1] * (TOPICS - better - worse)
    old = [2] * better + [1] * (TOPICS - better)
    c = collection(new, old)
    gate, pair = uj.gate(c, "new", "old", "RR", margin=0), uj.compare(c, "RR")
    assert answer(gate) == said and [row[-2] for row in pair.rows()] == ["cannot tell"]
    (note,) = gate.notes
    assert note == (
        f"RR: compare cannot tell, which does not contradict '{said}': it asks whether the runs differ at all "
        "(two-sided), ci whether a loss of 0 is ruled out or sure (one-sided)"
    )
    assert any("ci whether a loss of its margin is ruled out or sure (one-sided)" in note for note in pair.notes)
    (tmp_path / "qrels").write_text("".join(f"{t} 0 {d} {int(d == 'rel')}\n" for t in range(TOPICS) for d in DOCS))
    for name, ranks in (("new", new), ("old", old)):
        lists = [(t, [*(f"n{i}" for i in range(r - 1)), "rel"]) for t, r in enumerate(ranks)]
        lines = (f"{t} Q0 {doc} {i + 1} {9 - i} {name}\n" for t, docs in lists for i, doc in enumerate(docs))
        (tmp_path / name).write_text("".join(lines))
    files = [str(tmp_path / name) for name in ("qrels", "new")]
    assert main(["ci", *files, "--baseline", str(tmp_path / "old"), "-m", "RR", "--margin", "0"]) == (said == "fail")
    assert "does not contradict" in capsys.readouterr().err


def test_nothing_is_explained_where_gate_and_compare_agree() -> None:
    for c in (collection([1, 1, 2], [4, 5]), collection([4, 5], [1, 1, 2])):
        assert not any("contradict" in note for note in uj.gate(c, "new", "old", "RR").notes)


DOCS = ("rel", *(f"n{i}" for i in range(12)))
