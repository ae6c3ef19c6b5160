"""`pool describe --runs`: who was pooled, as the judgments show it, beside what the simulator knows."""

from __future__ import annotations

from pathlib import Path

import pytest

import unjudged as uj
from unjudged.cli import main


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[dict[str, list[str]], str]:
    """Run -> its line, and the notes."""
    assert main(["pool", "describe", *words, "--runs", "--format", "tsv"]) == 0
    out, err = capsys.readouterr()
    head, *lines = (line.split("\t") for line in out.splitlines())
    assert head == ["run", "team", "pooled", "chance", "depth"]
    return {line[0]: line for line in lines}, err


def test_runs_outside_the_pool_are_seen_without_being_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs are inferred unless stated; once every run given was taken as pooled, with a chance of 1."""
    made = uj.simulate(
        "tiny",
        seed=2,
        topics=30,
        runs=20,
        teams=8,
        pool_per_team=None,
        depth=8,
        leave_out=("team01",),
        out=tmp_path / "c",
    )
    files = str(made.qrels), str(made.run_folder), "--teams", str(made.teams)
    truth = dict(zip(made.runs.names, made.runs.pooled, strict=True))
    found, notes = said(capsys, *files)
    assert {run: line[2] for run, line in found.items()} == {run: "yes" if yes else "no" for run, yes in truth.items()}
    assert all(line[4] == ("8" if truth[run] else "") for run, line in found.items())
    assert f"{sum(truth.values())} of {len(truth)} runs are judged to depth 8" in notes
    assert found == said(capsys, *files, "--pooled", "infer")[0]
    every, _ = said(capsys, *files, "--pooled", "all")
    assert {line[2] for line in every.values()} == {"yes"}
