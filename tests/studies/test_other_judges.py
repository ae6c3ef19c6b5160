"""The order of the runs under another judge, and under judging errors."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import unjudged as uj
from unjudged.errors import UsageError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("judges") / "sim"
    options: dict[str, Any] = {"topics": 26, "runs": 12, "teams": 4, "depth": 8, "K": 60, "C": 700}
    uj.simulate("tiny", seed=3, out=out, **options)
    lines = [line.split() for line in (out / "qrels.txt").read_text().splitlines()]
    turned = "".join(f"{t} 0 {d} {int(g == '0')}\n" for t, _, d, g in lines)
    (out / "turned.txt").write_text(turned)
    return out


@pytest.fixture(scope="module")
def collection(folder: Path) -> uj.Collection:
    return uj.load(str(folder / "qrels.txt"), str(folder / "runs"), teams=folder / "teams.tsv")


def means(collection: uj.Collection, measure: str) -> Any:
    """Rounded, so that scipy sees ties where there are some."""
    return np.round(uj.score(collection, [measure]).mean_values()[:, 0], 12)


def test_the_same_judge_changes_nothing(collection: uj.Collection) -> None:
    result = uj.study("judges", collection, second=collection)
    assert list(result.columns) == ["measure", "topics", "runs", "tau", "mean_first", "mean_second"]
    assert result.frame.measure.tolist() == ["AP", "nDCG@10", "P@10"]
    assert (result.frame.tau == 1).all() and (result.frame.mean_first == result.frame.mean_second).all()
    told = result.verdict
    assert told is not None and (told.word, told.value, told.decided_by) == ("solid", 1.0, ())
    assert result.notes[0].endswith(f"there {len(collection.judgments)} documents")


@pytest.mark.parametrize("given", ["file", "collection", "dict"])
def test_against_scores_under_either_judgments(folder: Path, collection: uj.Collection, given: str) -> None:
    file = folder / "turned.txt"
    second = uj.load(str(file), str(folder / "runs"))
    rows: dict[str, dict[str, int]] = {}
    for line in file.read_text().splitlines():
        topic, _, doc, grade = line.split()
        rows.setdefault(topic, {})[doc] = int(grade)
    result = uj.study("judges", collection, second={"file": str(file), "collection": second, "dict": rows}[given])
    for measure, topics, runs, tau, first, last in result.rows():
        x, y = (means(c, measure) for c in (collection, second))
        assert (topics, runs) == (26, 12)
        assert tau == pytest.approx(stats.kendalltau(x, y).statistic)
        assert (first, last) == (pytest.approx(x.mean()), pytest.approx(y.mean()))
    told = result.verdict
    assert told is not None and told.word == "fragile" and told.value == result.frame.tau[0]
    x, y = (stats.rankdata(-means(c, "AP"), "min") for c in (collection, second))
    moves = dict(zip(collection.runs, np.abs(x - y), strict=True))
    assert told.decided_by[0] == min(moves, key=lambda run: (-moves[run], run))
    assert told.next is not None and told.next.command[:2] == ("qrels", "agree")
    assert result.plot().svg().startswith("<svg")
    moved = sum(move > 0 for move in moves.values())
    assert f"{moved} change rank" in result.plot().description


def test_only_shared_topics_count(folder: Path, collection: uj.Collection, tmp_path: Path) -> None:
    lines = (folder / "turned.txt").read_text().splitlines(keepends=True)
    some = sorted({line.split()[0] for line in lines})[:7]
    (tmp_path / "part.txt").write_text("".join(line for line in lines if line.split()[0] in some))
    result = uj.study("judges", collection, second=str(tmp_path / "part.txt"), measures="AP")
    part = [uj.only(collection, some), uj.load(str(tmp_path / "part.txt"), str(folder / "runs"))]
    x, y = (means(c, "AP") for c in part)
    assert result.frame.tau[0] == pytest.approx(stats.kendalltau(x, y).statistic)
    assert result.frame.topics[0] == 7 and "both have judged 7 topics of 26" in result.notes[0]
    told = result.verdict
    assert told is not None and told.word == "unknown"
    assert "only 7 topics (at least 25 are needed)" in told.sentence


def test_documents_only_one_has_judged_are_counted() -> None:
    runs = {f"r{r}": {t: {f"d{i}": float((i * (r + 2)) % 7) for i in range(6)} for t in "ab"} for r in range(3)}
    first = {t: {"d0": 1, "d1": 0, "d2": 1} for t in "ab"}
    second = {"a": {"d0": 1, "d3": 0}, "b": {"d0": 0, "d1": 1, "d5": 1}, "z": {"d0": 1}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = uj.study("judges", uj.load(first, runs), second=second)
    assert "there 3 documents; 3 more were judged by the first alone and 2 by the second alone" in result.notes[0]


def test_a_second_judge_is_needed(collection: uj.Collection) -> None:
    with pytest.raises(UsageError, match="give a second judge"):
        uj.study("another-judge", collection)
    with pytest.raises(UsageError, match="at least two topics in common"):
        uj.study("judges", collection, second={"elsewhere": {"d": 1}})


def test_several_collections(folder: Path, collection: uj.Collection) -> None:
    both = uj.study("judges", {"a": collection, "b": collection}, second=str(folder / "turned.txt"))
    rows = both.plot().spec["data"]["values"]
    assert {row["collection"] for row in rows} == {"a", "b"} and len(rows) == 2 * 2 * 12


# -- judging errors


def test_noise_is_that_of_flip_and_favour(collection: uj.Collection) -> None:
    result = uj.study("noise", collection, measures="AP,P@10", seed=4, repeats=2, rates=(0.1, 0.3))
    found = {tuple(row[:4]): row[4:] for row in result.rows()}
    assert result.verdict is None
    assert [found["random errors", 0.0, 1, measure][1] for measure in ("AP", "P@10")] == [1, 1]
    for rate, repeat in ((0.1, 1), (0.1, 2), (0.3, 2)):
        other = uj.flip(collection, relevant=rate, nonrelevant=rate / 10, seed=4000 + repeat - 1)
        for measure in ("AP", "P@10"):
            mean, tau = found["random errors", rate, repeat, measure]
            assert tau == pytest.approx(stats.kendalltau(means(collection, measure), means(other, measure)).statistic)
            assert mean == pytest.approx(means(other, measure).mean())
    teams = [kind.removeprefix("favours ") for kind, rate, *_ in found if rate == 0.3 and "favours" in kind]
    sizes = {team: sum(t == team for t in collection.teams.values()) for team in collection.teams.values()}
    assert list(dict.fromkeys(teams)) == sorted(sizes, key=lambda team: (-sizes[team], team))[:3]
    other = uj.favour(collection, 0.3, team=teams[0], seed=4)
    tau = stats.kendalltau(means(collection, "AP"), means(other, "AP")).statistic
    assert found[f"favours {teams[0]}", 0.3, 1, "AP"][1] == pytest.approx(tau)
    assert any(note.startswith("random errors of 10 % leave tau") and note.endswith("by AP") for note in result.notes)
    assert result.plot().svg().startswith("<svg")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rates": ()}, "rates of errors lie between 0 and 1"),
        ({"rates": (0.1, 2)}, "rates of errors lie between 0 and 1, not 0.1, 2"),
        ({"repeats": 0}, "at least 1 repeat is needed, not 0"),
        ({"seed": -1}, "a seed is a whole number of 0 or more"),
    ],
)
def test_noise_that_means_nothing(collection: uj.Collection, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        uj.study("noise", collection, **options)
