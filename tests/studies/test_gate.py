"""The regression gate: verdicts worked out by hand, exit codes, JUnit, and holes that could turn a verdict."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import UsageError
from unjudged.statistics.non_inferiority import NonInferiority, detectable_margin, non_inferiority
from unjudged.studies.engine.outcome import Rule
from unjudged.studies.gate import Checked, answer

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


def found(c: uj.Collection, **how: object) -> dict[str, object]:
    result = uj.gate(c, "new", "old", "RR", **how)
    (row,) = result.rows()
    return dict(zip(result.columns, row, strict=True)) | {"outcome": answer(result)}


def test_better_passes_and_worse_fails() -> None:
    better = found(collection([1, 1, 2], [4, 5]))
    assert better["outcome"] == "pass"
    worse = found(collection([4, 5], [1, 1, 2]))
    assert worse["outcome"] == "fail" and worse["difference"] == pytest.approx(-float(better["difference"]))  # type: ignore[arg-type]


def test_bounds_and_p_values_are_those_of_one_sided_t_tests() -> None:
    c = collection([1, 2, 3], [2, 1, 4])
    z = np.diff(uj.score(c, "RR").matrix("RR"), axis=1)[:, 0] * -1
    above, below = (stats.ttest_1samp(z, -0.01, alternative=side) for side in ("greater", "less"))
    row = found(c)
    assert row["low"] == pytest.approx(above.confidence_interval(0.95).low, abs=1e-12)
    assert row["high"] == pytest.approx(below.confidence_interval(0.95).high, abs=1e-12)
    assert (row["p_not_worse"], row["p_worse"]) == pytest.approx((above.pvalue, below.pvalue), abs=1e-12)
    assert row["outcome"] == ("pass" if above.pvalue < 0.05 else "cannot tell")


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
    result = uj.gate(c, "new", "old", "RR, P@1, P@2, P@3, nDCG@10", margin=0.05)
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows()]
    plain = [
        dict(zip(result.columns, row, strict=True))["p_worse"]
        for row in uj.gate(c, "new", "old", "RR, P@1, P@2, P@3, nDCG@10", margin=0.05, correction="none").rows()
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


def test_few_topics_cannot_tell() -> None:
    row = found(collection([1, 10], [10, 1, 3]))
    assert row["outcome"] == "cannot tell" and "too few topics" in str(row["why"])


def test_holes_that_could_turn_the_verdict_cannot_tell() -> None:
    full = found(collection([5], [1, 1, 2]))
    holes = found(collection([5], [1, 1, 2], holes=4))
    assert full["outcome"] == "fail"
    assert holes["outcome"] == "cannot tell" and "40 % of a top 10" in str(holes["why"])
    assert holes["open_high"] >= 0 > holes["open_low"]  # type: ignore[operator]
    assert found(collection([5], [1, 1, 2], holes=4), holes=0.5)["outcome"] == "fail"


def test_holes_that_cannot_turn_it_leave_the_verdict() -> None:
    c = collection([1], [4, 5])
    run = {t: {"rel": 9.0, "u1": 8.0, "u2": 7.0, "u3": 6.0, "u4": 5.0, "n0": 4.0} for t in c.topics}
    old = {t: {"n1": 9.0, "n2": 8.0, "n3": 7.0, "rel": 6.0} for t in c.topics}
    again = uj.load({t: {"rel": 1, **{f"n{i}": 0 for i in range(12)}} for t in c.topics}, {"new": run, "old": old})
    row = found(again, holes=0.1)
    assert row["outcome"] == "pass" and "cannot turn it" in str(row["why"])


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
def test_refusals(how: dict[str, object], words: str) -> None:
    c = collection([1], [2])
    with pytest.raises(UsageError, match=words):
        uj.gate(c, **({"run": "new", "baseline": "old"} | how))  # type: ignore[arg-type]


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
    """Margin .01, holes up to 20 %, both bounds one-sided."""
    low, high = bounds
    p = 0.01 if low > -0.01 else 0.99 if high < -0.01 else 0.5
    tested = NonInferiority((low + high) / 2, low, high, p, 1 - p, 0.02)
    one = Checked("P@10", 0.5, 0.5, tested, 1 - p, False, 12, 20, (10, 5), (0.0, unjudged), 10, open_to)
    assert one.decided(Rule(0.05, 0.2, 0.01, 10))[0] == verdict


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
    assert capfd.readouterr().out.startswith("| measure | verdict |")


def test_the_gate_takes_one_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = written(tmp_path, [1], [2])
    (tmp_path / "third").write_bytes((tmp_path / "new").read_bytes())
    assert main([*words[:3], str(tmp_path / "third"), *words[3:]]) == 2
    assert "one run with its baseline, 2 runs were given" in capfd.readouterr().err
    assert main([*words[:2], str(tmp_path / "old"), *words[3:]]) == 2
