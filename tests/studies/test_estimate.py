"""The study `estimate`, its verb and `score --unjudged estimate`: one answer, and nothing where none can be given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hole_cases import drawn, lists_of

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import UsageError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("made") / "c"
    uj.simulate("tiny", seed=4, topics=30, runs=16, teams=8, leave_out="team04", out=where)
    return where


@pytest.fixture(scope="module")
def collection(folder: Path) -> uj.Collection:
    return uj.load(folder / "qrels.txt", folder / "runs", teams=folder / "teams.tsv")


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[str, str]:
    assert main([str(word) for word in words]) == 0
    said = capsys.readouterr()
    return said.out, said.err


def test_one_answer(collection: uj.Collection, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = uj.estimate(collection, "nDCG@10, P@10").frame
    assert (frame.lowest <= frame.low).all() and (frame.high <= frame.highest).all()
    assert (frame.low <= frame.estimate).all() and (frame.estimate <= frame.high).all()
    told = frame[frame.run.str.startswith("team04") & (frame.measure == "P@10")]
    assert (told.hole_share > 0).all() and (told.estimate > told.judged).all()
    inside = frame[(frame.hole_share == 0) & (frame.measure == "P@10")]
    assert len(inside) > 5
    assert set(inside.word) == {"judged"} and set(told.word) == {"estimated"}
    assert inside.estimate.tolist() == pytest.approx(inside.judged.tolist(), abs=1e-12)
    files = (folder / "qrels.txt", folder / "runs", "--teams", folder / "teams.tsv", "-m", "nDCG@10,P@10")
    out, err = run(capsys, "estimate", *files, "--format", "json")
    assert json.loads(out)["rows"] == json.loads(uj.estimate(collection, "nDCG@10, P@10").render("json"))["rows"]
    assert "note: pool " in err
    assert (
        run(capsys, "study", "estimate", *files, "--format", "tsv")[0]
        == run(capsys, "estimate", *files, "--format", "tsv")[0]
    )
    out, _ = run(capsys, "score", *files, "--unjudged", "estimate", "--format", "jsonl")
    means = {(row["run"], row["measure"]): row["value"] for row in map(json.loads, out.splitlines())}
    for row in frame.itertuples():
        assert means[row.run, row.measure] == pytest.approx(row.estimate, abs=1e-12)
    out, _ = run(capsys, "score", *files, "--unjudged", "estimate", "-q", "--format", "jsonl")
    assert len(out.splitlines()) == 2 * len(collection.runs) * (len(collection.topics) + 1)


def test_text_says_what_cannot_be_told(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    out, err = run(
        capsys, "estimate", folder / "qrels.txt", folder / "runs", "-m", "P@10,AP@10,RR", "--only", "101-105"
    )
    assert "cannot tell" in out and "only 5 judged topics, at least 8 are needed" in out
    assert "note: P@10 of every run cannot be told: only 5 judged topics, at least 8 are needed" in err
    assert "note: RR of every run cannot be told: no estimate is known for this measure" in err
    files = folder / "qrels.txt", folder / "runs"
    _, err = run(capsys, "score", *files, "-m", "P@10", "--unjudged", "estimate", "--only", "101-105")
    assert "runs cannot be told: only 5 judged topics, at least 8 are needed" in err


def test_columns_to_rely_on(collection: uj.Collection) -> None:
    found = uj.estimate(collection, "P@10, AP@10, RR")
    wanted = "run measure judged estimate low high lowest highest hole_share pool_seen word"
    assert [name for name in found.columns if name in wanted.split()] == wanted.split()
    frame = found.frame.set_index("measure")
    assert set(frame.word["AP@10"]) == {"point estimate"} and frame.low["AP@10"].isna().all()
    assert set(frame.word["RR"]) == {"cannot tell"} and frame.estimate["RR"].isna().all()
    assert (frame.why[frame.word != "cannot tell"] == "").all() and (frame.why["RR"] != "").all()


def test_limits_are_the_users(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "limits.toml").write_text("[score-range]\nleast_topics = 2\nleast_judged = 10\n")
    files = (folder / "qrels.txt", folder / "runs", "-m", "P@10", "--only", "101-105", "--format", "jsonl")
    before, _ = run(capsys, "estimate", *files)
    after, _ = run(capsys, "estimate", *files, "--thresholds", tmp_path / "limits.toml")
    assert all(json.loads(line)["estimate"] is None for line in before.splitlines())
    assert any(json.loads(line)["estimate"] is not None for line in after.splitlines())


def test_wider_intervals_for_teams_outside_the_pool_on_request(collection: uj.Collection, tmp_path: Path) -> None:
    """`outside_spread`: what only the pool's own teams show may be too little for those who were never in it."""
    (tmp_path / "limits.toml").write_text("[score-range]\noutside_spread = 1.5\n")
    usual = uj.estimate(collection, "P@10").frame
    wide = uj.study("estimate", collection, measures="P@10", thresholds=tmp_path / "limits.toml").frame
    assert usual.pool_seen.all() and (usual.estimate == wide.estimate).all()
    outside = usual.team == "team04"
    longer = (wide.high - wide.low) > (usual.high - usual.low) + 1e-4
    assert longer[outside].all()
    rest = usual[~outside], wide[~outside]
    shared = (rest[1].high - rest[1].low) - (rest[0].high - rest[0].low)
    assert (shared >= -1e-12).all() and (shared[rest[0].hole_share == 0] == 0).all()


@pytest.mark.parametrize("world", [(1, 1, 1, 5, 0.3), (2, 1, 9, 20, 0.0), (3, 2, 9, 20, 1.0), (4, 3, 1, 1, 0.0)])
def test_strange_collections(world: Any) -> None:
    """One run, one topic, nothing but holes, no holes."""
    qrels, lists = drawn(*world)
    result = uj.estimate(uj.load(qrels, lists_of(lists)), "P@5, nDCG@5, RBP, AP@5")
    assert len(result.frame) == 4 * len(lists)
    assert result.render("text") and result.plot().spec
    if world[4] == 0.0:
        assert result.frame.estimate.isna().all()


def test_what_is_refused(collection: uj.Collection) -> None:
    with pytest.raises(UsageError, match="estimates come with an interval"):
        uj.score(collection, "P@10", unjudged="estimate")
    with pytest.raises(UsageError, match="describes the judgments"):
        uj.estimate(collection, "Judged@10")


def test_refused_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(folder / "qrels.txt"), str(folder / "runs")]
    assert main(["score", *files, "--unjudged", "estimate", "-m", "AP"]) == 2
    assert "AP cannot be estimated: it needs a cut-off of at most 100" in capsys.readouterr().err
    assert main(["score", *files, "--unjudged", "estimate", "--topics", "common"]) == 2
    assert "--topics and --undefined do not apply" in capsys.readouterr().err


@pytest.mark.slow
def test_chart_of_one_and_of_several(collection: uj.Collection) -> None:
    assert uj.estimate(collection).plot().svg().startswith("<svg")
    both = uj.study("estimate", {"a": collection, "b": collection})
    assert both.plot().svg().startswith("<svg")
    assert both.frame.columns[0] == "collection"
