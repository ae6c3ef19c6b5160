"""How much was never judged, and how far scores could move: against plain counts, and against the exact bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unjudged as uj
from unjudged.studies.engine.groups import UsualScoring
from unjudged.studies.score_range import _bounded


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small simulated collection whose pool left one team out."""
    out = tmp_path_factory.mktemp("holes") / "sim"
    options: dict[str, Any] = {"topics": 26, "runs": 12, "teams": 4, "depth": 8, "K": 60, "C": 700}
    uj.simulate("tiny", seed=3, out=out, leave_out="team04", **options)
    return out


@pytest.fixture(scope="module")
def collection(folder: Path) -> uj.Collection:
    return uj.load(str(folder / "qrels.txt"), str(folder / "runs"), teams=folder / "teams.tsv")


def by_hand(folder: Path) -> dict[str, list[tuple[int, bool]]]:
    """Run -> (rank, judged?) of every line."""
    judged = {tuple(line.split()[0:3:2]) for line in (folder / "qrels.txt").read_text().splitlines()}
    found = {}
    for file in sorted((folder / "runs").iterdir()):
        lines = [line.split() for line in file.read_text().splitlines()]
        found[file.name] = [(int(line[3]), (line[0], line[2]) in judged) for line in lines]
    return found


def test_holes_against_a_plain_count(folder: Path, collection: uj.Collection) -> None:
    frame = uj.study("holes", collection).frame
    lines = by_hand(folder)
    assert list(frame.columns) == ["run", "team", "ranks", "documents", "unjudged", "share_unjudged"]
    assert frame.ranks.unique().tolist() == ["1", "2-5", "6-10", "11-20", "21-50", "51-60"]
    for row in frame.itertuples():
        low, _, high = str(row.ranks).partition("-")
        inside = [known for rank, known in lines[str(row.run)] if int(low) <= rank <= int(high or low)]
        assert (row.documents, row.unjudged) == (len(inside), inside.count(False))
        assert row.share_unjudged == pytest.approx(inside.count(False) / len(inside))


def test_runs_with_holes_at_the_top_decide(folder: Path, collection: uj.Collection) -> None:
    result = uj.study("holes", collection)
    top = {run: [known for rank, known in lines if rank <= 10] for run, lines in by_hand(folder).items()}
    share = {run: known.count(False) / len(known) for run, known in top.items()}
    dark = {run for run in share if share[run] > 0.1}
    told = result.verdict
    assert told is not None and dark
    assert (told.value, set(told.decided_by)) == (len(dark) / len(share), dark)
    assert told.word == ("with care" if len(dark) / 12 <= 0.25 else "fragile")
    assert told.next is not None and told.next.command[0] == "next"
    assert max(share, key=share.__getitem__) in told.sentence
    ap = uj.score(collection, "AP").means()["AP"]
    assert result.frame.run.unique().tolist() == sorted(ap.index, key=lambda run: (-ap[run], run))
    by_p = uj.study("holes", collection, measures="P@5").frame.run.unique().tolist()
    p = uj.score(collection, "P@5").means()["P@5"]
    assert by_p == sorted(p.index, key=lambda run: (-round(p[run], 12), run))


def test_everything_judged_is_solid() -> None:
    qrels = {t: {f"d{i}": i % 2 for i in range(4)} for t in "abcdefghij"}
    runs = {f"r{r}": {t: {f"d{i}": float(i) for i in range(4)} for t in qrels} for r in range(5)}
    told = uj.study("holes", uj.load(qrels, runs)).verdict
    assert told is not None and (told.word, told.value, told.next) == ("solid", 0.0, None)
    assert told.sentence == "no run has more than 10 % of its top 10 unjudged; every document was judged"
    assert told.finding == "no run has over 1 unjudged document in its top 10"


def test_limits_of_holes_come_from_the_table(collection: uj.Collection, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text("[never-judged]\nmuch = 1.0\ntop = 3\n")
    told = uj.study("holes", collection, thresholds=tmp_path / "t.toml").verdict
    assert told is not None and told.word == "solid"
    assert "more than 100 % of its top 3 unjudged" in told.sentence


def test_the_range_is_that_of_bounds_and_the_word_that_of_estimates(collection: uj.Collection) -> None:
    result = uj.study("score-range", collection)
    found = uj.score_bounds(collection, ["nDCG@10"]).mean_values()[:, 0]
    likely = {row[0]: row for row in uj.estimate(collection, "nDCG@10").rows()}
    for run, _, value, low, high, width, *near in result.rows():
        assert (value, low, high) == tuple(found[collection.runs.index(run)])
        assert width == high - low
        assert near == list(likely[run][4:7])
        if near[0] is not None:
            assert low - 1e-12 <= near[1] <= near[0] <= near[2] <= high + 1e-12
    told = result.verdict
    assert told is not None
    ends = {
        run: (likely[run][5], likely[run][6]) if likely[run][5] is not None else (low, high)
        for run, (_, low, high) in zip(collection.runs, found, strict=True)
    }
    could = {run for run in ends if ends[run][1] >= max(low for low, _ in ends.values()) - 1e-12}
    assert set(told.decided_by) == could
    assert told.value == (len(could) - 1) / (len(collection.runs) - 1)
    many = f"{len(could)} of {len(collection.runs)} runs"
    assert told.finding == f"with all documents judged, {many} could be first by nDCG@10"
    extreme = {run for run, e in zip(collection.runs, found, strict=True) if e[2] >= found[:, 1].max() - 1e-12}
    assert could < extreme
    assert told.sentence.startswith(f"{told.finding}, in the extreme case {len(extreme)}; ")
    assert result.provenance.settings["measures"] == ["nDCG@10"]
    widest = max(collection.runs, key=lambda run: ends[run][1] - ends[run][0])
    assert f"; {widest} can move most" in told.sentence


def test_nothing_is_said_to_move_where_the_top_is_all_judged() -> None:
    """The first 30 documents of every list are judged, so that no P@10 can change."""
    docs = [f"d{i}" for i in range(60)]
    qrels = {str(t): {d: int(i < 12) for i, d in enumerate(docs[:30])} for t in range(12)}
    runs = {
        f"r{k}": {t: {d: -float((i + k) % 30 if i < 30 else i) for i, d in enumerate(docs)} for t in qrels}
        for k in range(6)
    }
    told = uj.study("score-range", uj.load(qrels, runs), measures="P@10").verdict
    assert told is not None and told.sentence == "missing judgments cannot put another run first by P@10"


def test_bounds_decide_where_nothing_can_be_estimated(collection: uj.Collection, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text("[score-range]\nleast_judged = 1000000\n")
    result = uj.study("score-range", collection, thresholds=tmp_path / "t.toml")
    found = uj.score_bounds(collection, ["nDCG@10"]).mean_values()[:, 0]
    could = {run for run, ends in zip(collection.runs, found, strict=True) if ends[2] >= found[:, 1].max() - 1e-12}
    assert result.verdict is not None and set(result.verdict.decided_by) == could
    assert "extreme case" not in result.verdict.sentence
    assert any("there the bounds count" in note for note in result.notes)


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ("AP,P@10,nDCG@5", "P@10"),
        ("AP,nDCG@100,P@5", "P@5"),
        ("AP,nDCG@100", "nDCG@100"),
        ("AP,nDCG@1000", "nDCG@10"),
        ("AP',nDCG'@10", "nDCG@10"),
    ],
)
def test_a_measure_of_the_top_is_bounded(asked: str, chosen: str, collection: uj.Collection) -> None:
    assert str(_bounded(UsualScoring(measures=asked), collection)) == chosen
    assert str(_bounded(UsualScoring(measures="AP,P@10", rel=2), collection)) == "P(rel=2)@10"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["holes", "score-range"])
def test_charts_of_one_and_of_several(collection: uj.Collection, name: str) -> None:
    alone = uj.study(name, collection)
    assert alone.plot().svg().startswith("<svg")
    assert len(alone.plot().spec["data"]["values"]) == len(alone.frame)
    both = uj.study(name, {"a": collection, "b": collection})
    assert both.plot().svg().startswith("<svg")
    assert both.frame.columns[0] == "collection" and len(both.frame) == 2 * len(alone.frame)
    assert both.verdict is not None and alone.verdict is not None
    assert both.verdict.sentence == f"a: {alone.verdict.sentence}"


@pytest.mark.parametrize("question", ["never-judged", "score-range"])
@pytest.mark.parametrize(
    ("runs", "topics", "grade", "why"),
    [(6, 1, 1, "only 1 topic"), (2, 30, 1, "only 2 runs"), (6, 30, 0, "every run scores 0"), (6, 30, 1, "")],
)
def test_too_little_to_say_anything_is_unknown(question: str, runs: int, topics: int, grade: int, why: str) -> None:
    """One topic, two runs, or scores that are all 0: the facts stand in the table, but there is no word."""
    qrels = {str(t): {f"d{i}": grade * (i % 2) for i in range(6)} for t in range(topics)}
    lists = {f"r{r}": {t: {f"d{i * (r + 1) % 9}": 9.0 - i for i in range(6)} for t in qrels} for r in range(runs)}
    result = uj.study(question, uj.load(qrels, lists))
    assert result.verdict is not None and result.frame.size
    assert (result.verdict.word == "unknown") == bool(why) and why in result.verdict.sentence
