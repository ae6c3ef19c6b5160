"""benchmarks/judges_truth.py, small: intervals on generated scores, and the failure of the usual one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import judges_truth

import unjudged as uj


@pytest.fixture(scope="module")
def generated() -> tuple[np.ndarray, np.ndarray]:
    """Topics x runs under a human and a machine that follows him."""
    rng = np.random.default_rng(7)
    level = rng.normal(0.5, 0.15, (60, 1))
    human = np.clip(level + np.linspace(-0.1, 0.1, 8) + rng.normal(0, 0.1, (60, 8)), 0, 1)
    return human, np.clip(0.15 + 0.7 * human + rng.normal(0, 0.05, human.shape), 0, 1)


@pytest.mark.parametrize("target", ["topics", "population"])
def test_the_recommended_interval_holds_and_the_usual_does_not(
    generated: tuple[np.ndarray, np.ndarray], target: str
) -> None:
    for what in ("differences", "runs"):
        found = judges_truth.coverage(*generated, 10, target, what, 150, 3)
        assert found["coverage"]["recommended"] >= 0.93
        usual = found["coverage"]["PPI++ as usually printed"]
        assert usual < min(0.94, found["coverage"]["recommended"])
        assert found["width"]["recommended"] < found["width"]["human alone"] == 1
    assert found["coverage"]["machine alone"] < 0.9


def test_planted_favour_is_found_and_none_where_none_was_planted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The benchmark on a made collection: 16 teams, 10 families of four of them."""
    made, there = tmp_path / "made", tmp_path / "judges" / "made"
    uj.simulate("tiny", seed=4, out=made, topics=30, runs=32, teams=16, depth=20, K=100, C=1000)
    there.mkdir(parents=True)
    (there / "human.txt.gz").write_bytes((made / "qrels.txt").read_bytes())
    monkeypatch.setattr(judges_truth, "FAMILIES", 10)
    monkeypatch.setattr(judges_truth, "REL", 1)
    none, planted = (judges_truth.favours(str(tmp_path), "made", rate) for rate in (0.0, 0.4))
    assert none["families"] == planted["families"] == 10
    assert none["found"] <= 0.1 and abs(none["effect"]) < 0.01
    assert planted["found"] >= 0.8 and planted["effect"] > 0.02


def test_finished_cells_are_kept_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, asked = tmp_path / "out.jsonl", []

    def unit(n: int) -> tuple[dict[str, Any], Callable[[], dict[str, Any]]]:
        key = {
            "kind": "coverage",
            "set": "s",
            "judge": "j",
            "measure": "AP",
            "n": n,
            "target": "topics",
            "what": "runs",
            "seed": 1,
        }
        both = dict.fromkeys(judges_truth.VARIANTS, 0.95 if n == 10 else 0.9)

        def work() -> dict[str, Any]:
            asked.append(n)
            return {"coverage": both, "width": both, "error": dict.fromkeys(judges_truth.VARIANTS, 0.01)}

        return key, work

    judges_truth.run(iter([unit(10)]), out)
    judges_truth.run(iter([unit(10), unit(15)]), out)
    assert asked == [10, 15] and [json.loads(line)["n"] for line in out.read_text().splitlines()] == [10, 15]
    other = json.loads(out.read_text().splitlines()[0]) | {"what": "differences"}
    out.write_text(out.read_text() + json.dumps(other) + "\n")
    judges_truth.show(out)
    told = capsys.readouterr().out
    assert "| recommended | runs | 2 | 1 (50%) | 0.900 | 0.950 |" in told and "| AP | 15 | 0.900 | 0.900 |" in told
    assert "| 500, seed 1 | 3 | 2 (66.7%) |" in told


@pytest.mark.parametrize("what", ["coverage", "documents", "favour", "show"])
def test_every_command_starts(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are looked up when a command is called: one that another line of `main` hides goes unnoticed till then."""
    asked: list[Any] = []
    monkeypatch.setattr(judges_truth, "run", lambda units, out: asked.append((units, out)))
    out = tmp_path / "out.jsonl"
    out.write_text("")
    monkeypatch.setattr(sys, "argv", ["judges_truth.py", what, str(out), "--data", str(tmp_path)])
    monkeypatch.setattr(judges_truth, "show", asked.append)
    assert judges_truth.main() == 0
    assert asked == [out] if what == "show" else asked[0][1] == out


def test_seeds_are_pooled_and_chance_is_told() -> None:
    """Two seeds of a cell: the mean coverage; chance alone by the normal distribution around 0.95."""
    names = judges_truth.VARIANTS
    same, error = dict.fromkeys(names, 1.0), dict.fromkeys(names, 0.01)
    found = [{"coverage": dict.fromkeys(names, value), "width": same, "error": error} for value in (0.92, 0.95)]
    lines = [{"kind": "coverage", "n": 10, "seed": seed, "found": one} for seed, one in zip((1, 2), found, strict=True)]
    (cell,) = judges_truth.pooled(lines)
    assert cell["found"]["coverage"]["recommended"] == pytest.approx(0.935)
    assert cell["found"]["error"]["recommended"] == pytest.approx(0.01 / np.sqrt(2))
    assert (judges_truth.held(lines), judges_truth.held([cell])) == (1, 1)
    assert judges_truth.by_chance(lines) == pytest.approx(2 * 0.0455, abs=1e-4)  # two sides beyond two errors, twice


def test_another_seed_draws_other_topics(generated: tuple[np.ndarray, np.ndarray]) -> None:
    first, again, other = (judges_truth.coverage(*generated, 10, "topics", "runs", 20, seed) for seed in (1, 1, 2))
    assert first == again != other
    units = [next(judges_truth.cells("none", seed))[0] for seed in (1, 18)]
    assert [unit["seed"] for unit in units] == [1, 18]
