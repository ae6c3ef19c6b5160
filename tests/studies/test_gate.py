"""The regression gate: verdicts worked out by hand, exit codes, JUnit, and holes that could turn a verdict."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import UsageError
from unjudged.studies.engine.outcome import Rule, outcomes
from unjudged.studies.engine.significance import PairStatistics
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
    result = uj.gate(c, "new", "old", "RR", test="t", **how)
    (row,) = result.rows()
    return dict(zip(result.columns, row, strict=True)) | {"outcome": answer(result)}


def test_better_passes_and_worse_fails() -> None:
    better = found(collection([1, 1, 2], [4, 5]))
    assert better["outcome"] == "pass"
    worse = found(collection([4, 5], [1, 1, 2]))
    assert worse["outcome"] == "fail" and worse["difference"] == pytest.approx(-float(better["difference"]))  # type: ignore[arg-type]


def test_the_interval_is_the_paired_t_interval() -> None:
    c = collection([1, 2, 3], [2, 1, 4])
    z = np.diff(uj.score(c, "RR").matrix("RR"), axis=1)[:, 0] * -1
    low, high = stats.ttest_1samp(z, 0).confidence_interval(0.95)
    row = found(c)
    assert (row["low"], row["high"]) == pytest.approx((low, high), abs=1e-12)
    assert row["outcome"] == ("pass" if low > -0.01 else "cannot tell")


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
    ("interval", "unjudged", "open_to", "verdict"),
    [
        ((-0.009, -0.001), 0.0, None, "pass"),  # a loss, but smaller than .01
        ((-0.01, -0.001), 0.0, None, "cannot tell"),  # a loss of .01 is not excluded, but the loss found is .0055
        ((-0.019, -0.001), 0.0, None, "fail"),  # a loss for sure, of .01 or more as found
        ((-0.03, 0.0), 0.0, None, "cannot tell"),  # no difference is not excluded
        ((-0.03, -0.01), 0.2, None, "fail"),  # as many holes as allowed
        ((-0.03, -0.01), 0.3, None, "cannot tell"),  # more, and nothing is known of them
        ((-0.03, -0.01), 0.3, (-0.1, -0.001), "fail"),  # whatever they are, it is a loss
        ((-0.03, -0.01), 0.3, (-0.1, 0.0), "cannot tell"),
        ((0.0, 0.02), 0.3, (-0.009, 0.1), "pass"),
        ((0.0, 0.02), 0.3, (-0.01, 0.1), "cannot tell"),
    ],
)
def test_verdicts_at_the_limits(
    interval: tuple[float, float], unjudged: float, open_to: tuple[float, float] | None, verdict: str
) -> None:
    """Margin .01, holes up to 20 %; the difference found is the middle of the interval."""
    low, high = interval
    one = {name: np.array([0.5]) for name in ("p_value", "effect_size", "wins", "ties", "losses", "constant")}
    p = np.array([0.01 if low > 0 or high < 0 else 0.5])
    found = PairStatistics(
        difference=np.array([(low + high) / 2]), low=np.array([low]), high=np.array([high]), p_adjusted=p, **one
    )
    rule = Rule(0.05, 0.2, 0.01, 10)
    ends = None if open_to is None else (np.array(open_to[:1]), np.array(open_to[1:]))
    (outcome,) = outcomes(rule, found, (np.array([unjudged]), np.array([0.0])), ends)
    numbers = (0.5, 0.5, (low + high) / 2, low, high, 0.5)
    assert Checked("P@10", *numbers, (0.0, unjudged), 10, open_to, outcome).decided(rule)[0] == verdict


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
