"""Several judges into one, and scores over judges: the model against plain loops and against planted reliabilities."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unjudged as uj
from unjudged.cli import main
from unjudged.judges.merging import _again
from unjudged.statistics.dawid_skene import dawid_skene

RIGHT = (0.55, 0.6, 0.8, 0.9)


@pytest.fixture(scope="module")
def planted() -> tuple[dict[str, dict[str, int]], dict[str, Any]]:
    """The truth, and four judges who give the true grade (0, 1, 2) with these probabilities, else another one."""
    rng = np.random.default_rng(11)
    truth: dict[str, dict[str, int]] = {}
    judges: dict[str, Any] = {f"judge{j}": {} for j in range(len(RIGHT))}
    for t in range(25):
        grades = rng.choice(3, 40, p=[0.6, 0.25, 0.15])
        truth[f"t{t:02}"] = {f"d{i}": int(g) for i, g in enumerate(grades)}
        for j, right in enumerate(RIGHT):
            given = np.where(rng.random(40) < right, grades, (grades + rng.integers(1, 3, 40)) % 3)
            judges[f"judge{j}"][f"t{t:02}"] = {f"d{i}": int(g) for i, g in enumerate(given)}
    return truth, judges


def loops(given: list[list[int]], classes: int, steps: int) -> tuple[list[list[float]], list[float]]:
    """The model by plain loops, item by item (Dawid and Skene 1979, section 3)."""
    chance = [[row.count(k) / sum(g >= 0 for g in row) for k in range(classes)] for row in given]
    for _ in range(steps):
        share = [sum(c[k] for c in chance) / len(given) for k in range(classes)]
        confusion = []
        for j in range(len(given[0])):
            table = []
            for k in range(classes):
                counts = [
                    sum(c[k] for c, g in zip(chance, given, strict=True) if g[j] == said) for said in range(classes)
                ]
                table.append([v / sum(counts) if sum(counts) else 1 / classes for v in counts])
            confusion.append(table)
        for i, row in enumerate(given):
            odds = list(share)
            for j, said in enumerate(row):
                if said >= 0:
                    odds = [o * max(confusion[j][k][said], 1e-12) for k, o in enumerate(odds)]
            chance[i] = [o / sum(odds) for o in odds]
    return chance, share


def test_model_by_loops() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 60)
    given = np.column_stack([np.where(rng.random(60) < p, truth, rng.integers(0, 3, 60)) for p in (0.9, 0.7, 0.5)])
    given[rng.random(given.shape) < 0.15] = -1
    given = given[(given >= 0).any(axis=1)]
    found = dawid_skene(given, np.ones(len(given)), 3, enough=0.0)
    chance, share = loops(given.tolist(), 3, len(found.likelihood))
    assert found.chance == pytest.approx(np.array(chance), abs=1e-8) and found.share == pytest.approx(share, abs=1e-8)
    assert (np.diff(found.likelihood) > -1e-9).all()  # every step is at least as likely
    patterns, inverse, counts = np.unique(given, axis=0, return_inverse=True, return_counts=True)
    grouped = dawid_skene(patterns, counts.astype(float), 3, enough=0.0)
    assert grouped.chance[inverse.reshape(-1)] == pytest.approx(found.chance, abs=1e-6)


def test_a_redrawn_set_is_fitted_to_its_end() -> None:
    """From the fit of the whole, for speed: within a hundredth of the fit that begins with the votes and ends where
    nothing moves."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 200)
    given = np.column_stack([np.where(rng.random(200) < p, truth, 1 - truth) for p in (0.9, 0.7, 0.6)])
    whole = dawid_skene(given, np.ones(200), 2)
    for weight in rng.multinomial(200, np.full(200, 1 / 200), 5).astype(float):
        wanted = dawid_skene(given, weight, 2, enough=0.0).reliability
        assert _again(given, weight, whole) == pytest.approx(wanted, abs=0.01)


def test_planted_reliabilities_are_found(planted: tuple[dict[str, Any], dict[str, Any]]) -> None:
    truth, judges = planted
    found = uj.merge_judges(judges, resamples=60)
    for row, right in zip(found.rows(), RIGHT, strict=True):
        told = dict(zip(found.columns, row, strict=True))
        assert (
            told["reliability"] == pytest.approx(right, abs=0.06) and told["low"] <= told["reliability"] <= told["high"]
        )
        assert told["low"] <= right + 0.02 and right - 0.02 <= told["high"] and told["documents"] == 1000

    def errors(merged: Any) -> int:
        return sum(truth[str(t)][str(d)] != g for t, d, g, *_ in merged.documents.rows())

    wrong = {rule: errors(uj.merge_judges(judges, rule=rule, resamples=1)) for rule in ("majority", "median")}
    assert errors(found) < min(wrong.values())  # reliable judges count more
    chances = [float(row[3]) for row in found.documents.rows()]
    sure = [truth[str(t)][str(d)] == g for t, d, g, p, *_ in found.documents.rows() if p > 0.95]
    assert np.mean(sure) > 0.9 and min(chances) > 1 / 3 - 1e-9
    table = {(j, k, c): p for j, k, c, p in found.confusion.rows()}
    assert sum(table["judge0", 1, c] for c in range(3)) == pytest.approx(1)


def test_plain_rules_are_those_of_qrels_merge(planted: tuple[dict[str, Any], dict[str, Any]]) -> None:
    _, judges = planted
    first, *others = judges.values()
    for rule in ("majority", "median"):
        one = uj.merge(uj.load(first, {"r": {"t00": {"d1": 1.0}}}), *others, rule=rule).judgments.grade
        merged = uj.merge_judges(judges, rule=rule, resamples=1)
        assert [row[2] for row in merged.documents.rows()] == one.tolist()
        assert merged.judged.judgments.grade.tolist() == one.tolist()


def test_scores_over_judges_by_hand() -> None:
    docs = ("a", "b", "c")
    runs = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "y": {"1": {"c": 3.0, "b": 2.0, "a": 1.0}}}
    judges = [dict(zip(docs, grades, strict=True)) for grades in ((1, 0, 0), (0, 0, 1), (1, 1, 0))]
    c = uj.load({"1": judges[0]}, runs)
    others = {"second": {"1": judges[1]}, "third": {"1": judges[2]}}
    x, y = uj.study("over-judges", c, second=others, measures="RR").frame.itertuples()
    assert (x.mean, y.mean) == (pytest.approx((1 + 1 / 3 + 1) / 3), pytest.approx((1 / 3 + 1 + 1 / 2) / 3))  # type: ignore[comparison-overlap]
    assert (x.lowest, x.lowest_judge, x.highest) == (pytest.approx(1 / 3), "second", 1.0)  # type: ignore[comparison-overlap]
    assert (x.rank, x.rank_best, x.rank_worst) == (1, 1, 2)
    drawn = uj.study("over-judges", c, second=others, measures="RR").plot().spec["data"]["values"]
    ends = [end for r in (x, y) for end in (r.lowest, r.highest)]
    assert [d["run"] for d in drawn] == [x.run, y.run]
    assert [d[end] for d in drawn for end in ("lowest", "highest")] == pytest.approx(ends, abs=1e-4)
    (pair,) = uj.study("over-judges", c, second=others, measures="RR", show="pairs").frame.itertuples()
    assert (pair.judges_a, pair.judges_b, pair.flips) == (2, 1, True)
    assert (pair.smallest, pair.largest) == (pytest.approx(-2 / 3), pytest.approx(2 / 3))  # type: ignore[comparison-overlap]


def test_command_line_and_mistakes(
    planted: tuple[dict[str, Any], dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    _, judges = planted
    for name, topics in judges.items():
        lines = [f"{t} 0 {d} {g}" for t, docs in topics.items() for d, g in docs.items()]
        Path(name).write_text("\n".join(lines) + "\n")
    Path("run").write_text("".join(f"t{t:02} Q0 d{i} 0 {40 - i} x\n" for t in range(25) for i in range(40)))
    Path("other").write_text("q1 0 x 1\n")
    call = "judges merge judge0 judge1 judge2 --merged merged.txt --resamples 20 --format tsv"
    assert main(shlex.split(call)) == 0
    out, err = capsys.readouterr()
    assert [line.split("\t")[0] for line in out.splitlines()] == ["judge", "judge0", "judge1", "judge2"]
    assert len(Path("merged.txt").read_text().splitlines()) == 1000 and "merged by dawid-skene" in err
    assert main(shlex.split("judges merge judge0 judge1 --runs run -m AP --format tsv")) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].startswith("run\tAP\t2\t")
    for words, sentence in (
        ("judges merge judge0", "at least two judges"),
        ("judges merge judge0 judge1 --show pairs", "needs runs"),
        ("judges merge judge0 other", "no judged document in common"),
        ("judges merge judge0 other --runs run", "no topic in common"),
        ("judges merge judge0 judge1 --rule best", "best"),
    ):
        code = 0
        try:
            code = main(shlex.split(words))
        except SystemExit as stop:
            code = int(str(stop.code))
        assert code == 2 and sentence in capsys.readouterr().err, words


def test_the_likelihood_is_that_of_the_mixture() -> None:
    """Against the formula written out: for every item, the sum over true classes of share times what judges say."""
    given = np.array([[0, 0], [1, 1], [0, 1], [1, 0], [1, 1]])
    found = dawid_skene(given, np.ones(5), 2, enough=0.0)

    def chance(item: np.ndarray[Any, Any], true: int) -> float:
        return float(found.share[true]) * math.prod(float(found.confusion[j, true, c]) for j, c in enumerate(item))

    plain = sum(math.log(chance(item, 0) + chance(item, 1)) for item in given)
    assert found.likelihood[-1] == pytest.approx(plain, abs=1e-6)
