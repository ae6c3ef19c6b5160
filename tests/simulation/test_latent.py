"""The latent mechanism, read like anybody's files: paired streams, truth, and likeness to real collections."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_digest import digest

import unjudged as uj
from unjudged.cli import simulate as verb
from unjudged.collection.pool import read_pooled
from unjudged.errors import UsageError
from unjudged.simulation import simulate
from unjudged.statistics.correlation import tau_b


def made(out: Path, **parameters: Any) -> Path:
    simulate("tiny", mechanism="latent", out=out, **parameters)
    return out


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("latent") / "tiny")


@pytest.fixture(scope="module")
def medium(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The defaults with 20 topics, as read by the tests of likeness."""
    folder = tmp_path_factory.mktemp("latent") / "medium"
    simulate(mechanism="latent", topics=20, seed=3, out=folder)
    return folder


def read(folder: Path, judgments: str) -> uj.Collection:
    return uj.load(folder / judgments, folder / "runs", teams=folder / "teams.tsv")


def test_same_seed_same_bytes_whatever_the_number_of_processes(tiny: Path, tmp_path: Path) -> None:
    assert digest(made(tmp_path / "again", jobs=2)) == digest(tiny)
    assert digest(made(tmp_path / "other", seed=2), "runs/") != digest(tiny, "runs/")
    simulate("tiny", out=tmp_path / "shared")
    assert {path.name for path in (tmp_path / "shared").iterdir()} == {path.name for path in tiny.iterdir()}
    assert digest(tmp_path / "shared", "runs/") != digest(tiny, "runs/")


@pytest.mark.parametrize(
    "change",
    [{"depth": 3}, {"leave_out": "team01 family1"}, {"pool_per_team": 1}, {"noise": 0.3}, {"rate": 0.5}],
    ids=str,
)
def test_judgments_never_change_runs_or_truth(change: dict[str, Any], tiny: Path, tmp_path: Path) -> None:
    other = made(tmp_path / "c", **change)
    assert digest(tiny, "runs/", "truth.txt") == digest(other, "runs/", "truth.txt")
    assert (tiny / "qrels.txt").read_bytes() != (other / "qrels.txt").read_bytes()


def test_more_topics_leave_the_first_ones_as_they_were(tiny: Path, tmp_path: Path) -> None:
    more = made(tmp_path / "c", topics=14)
    for name in ["qrels.txt", "truth.txt", *(f"runs/{path.name}" for path in (tiny / "runs").iterdir())]:
        few, many = (tiny / name).read_bytes(), (more / name).read_bytes()
        assert many.startswith(few) and len(many) > 1.2 * len(few)


def test_more_runs_of_one_team_leave_the_others_as_they_were(tiny: Path, tmp_path: Path) -> None:
    more = made(tmp_path / "c", big="team03:4")
    assert len(list((more / "runs").iterdir())) == 16
    for path in (tiny / "runs").iterdir():
        assert path.read_bytes() == (more / "runs" / path.name).read_bytes()


def test_the_judgments_are_the_pool_with_true_grades(tmp_path: Path) -> None:
    folder = made(tmp_path / "c", depth=7, leave_out="team02")
    pooled = read_pooled(str(folder / "pooled.tsv"))
    assert pooled and not any(run.startswith("team02") for run in pooled)
    wanted: dict[str, set[str]] = {}
    for run in pooled:
        for line in (folder / "runs" / run).read_text().splitlines():
            topic, _, doc, rank, _, _ = line.split()
            if int(rank) <= 7:
                wanted.setdefault(topic, set()).add(doc)
    true = {tuple(line.split()[::2]): line.split()[3] for line in (folder / "truth.txt").read_text().splitlines()}
    found: dict[str, set[str]] = {}
    for line in (folder / "qrels.txt").read_text().splitlines():
        topic, _, doc, grade = line.split()
        found.setdefault(topic, set()).add(doc)
        assert true[topic, doc] == grade
    assert found == wanted


def test_the_truth_judges_every_retrieved_document_and_varies_r(tiny: Path) -> None:
    about = json.loads((tiny / "simulation.json").read_text())
    truth = read(tiny, "truth.txt")
    assert not np.isnan(uj.score(truth, ["Judged@100"]).values).any()
    assert uj.score(truth, ["Judged@100"]).values.min() == 1
    relevant = [topic["relevant"] for topic in about["topics"]]
    assert len(set(relevant)) > 5 and min(relevant) >= 4
    assert set(truth.judgments.grade.tolist()) == {0, 1, 2}


def test_nearer_documents_have_higher_grades(tmp_path: Path) -> None:
    """With no vague part and no noise, a run that weighs as the truth does ranks by grade: AP 1, nDCG 1."""
    exact = {
        "vague": 0,
        "turn": 0,
        "turn_team": 0,
        "far": 0,
        "far_family": 0,
        "far_run": 0,
        "own_team": 0,
        "own_run": 0,
    }
    folder = made(tmp_path / "c", **exact, weak=0, new_kind=0.12, new_truth=0.12, R=20, Rmax=0.1)
    found = uj.score(read(folder, "truth.txt"), ["AP", "nDCG"]).values
    assert found.min() == 1


def test_summary_agrees_with_the_library_on_the_files(medium: Path) -> None:
    summary = json.loads((medium / "simulation.json").read_text())["summary"]
    observed, true = (uj.score(read(medium, name), ["AP"]).mean_values()[:, 0] for name in ("qrels.txt", "truth.txt"))
    rows = {(row["measure"], row["runs"]): row for row in summary["scores"]}
    assert rows["AP", "all"]["observed"] == pytest.approx(observed.mean(), abs=1e-6)
    assert rows["AP", "all"]["true"] == pytest.approx(true.mean(), abs=1e-6)
    assert summary["tau"]["AP"] == pytest.approx(tau_b(observed, true), abs=1e-6)


def test_like_real_collections(medium: Path) -> None:
    """Bands around TREC-2, Robust 2003 and DL 2019: mean AP, correlation of runs over topics, overlap of runs."""
    about = json.loads((medium / "simulation.json").read_text())
    truth = read(medium, "truth.txt")
    scores = uj.score(truth, ["AP", "P@10"])
    ap, p10 = scores.matrix("AP"), scores.matrix("P@10").mean(axis=0)
    assert 0.15 < ap.mean() < 0.35 and 0.3 < p10.mean() < 0.6
    quality = {row["run"]: row["quality"] for row in about["runs"]}
    near = np.array([quality[run] for run in truth.runs])
    weak = np.array([row["oddness"] for row in about["runs"]]) > 1
    order = {row["run"]: w for row, w in zip(about["runs"], weak, strict=True)}
    hopeless = np.array([order[run] for run in truth.runs])
    assert hopeless.any() and p10[hopeless].mean() < p10[~hopeless].mean() / 2
    good, bad = near > np.quantile(near, 0.75), near < np.quantile(near, 0.25)
    assert p10[good].mean() > p10[bad & ~hopeless].mean()
    assert np.median(np.asarray(np.corrcoef(ap.T))[np.triu_indices(ap.shape[1], 1)]) > 0.4
    hits = truth.hits.ungrouped
    tops = [set(hits.row[(hits.run == r) & (hits.line <= 100)].tolist()) for r in range(len(truth.runs))]
    team = [truth.teams[run] for run in truth.runs]
    share: dict[bool, list[float]] = {True: [], False: []}
    for i in range(len(tops)):
        for j in range(i):
            share[team[i] == team[j]].append(len(tops[i] & tops[j]) / (100 * 20))
    assert 0.15 < np.mean(share[False]) < 0.5 < np.mean(share[True]) < 0.9


def test_a_new_kind_left_out_of_a_shallow_pool_loses_more(tmp_path: Path) -> None:
    gaps = {}
    for name, kinds in {"alike": 0.05, "new": "0.05,0.05,0.6"}.items():
        found = simulate(
            mechanism="latent", topics=20, depth=10, leave_out="family3", new_kind=kinds, new_truth=0.3, seed=2
        )
        gaps[name] = found.summary["gap_pct"]["P@10"]
    assert gaps["new"] < 1.3 * gaps["alike"] < 0


def command(*words: str) -> int:
    parser = argparse.ArgumentParser()
    verb.add_arguments(parser)
    return verb.run(parser.parse_args(words))


def test_command_line(tmp_path: Path, tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("-o", str(tmp_path / "c"), "--preset", "tiny", "--mechanism", "latent") == 0
    assert digest(tmp_path / "c") == digest(tiny)
    assert "12 runs of 5 teams" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"mechanism": "quantum"}, "there is no mechanism 'quantum'; there are shared and latent"),
        ({"mechanism": "latent", "scenario": 9}, "scenarios belong to the mechanism 'shared'"),
        ({"mechanism": "latent", "preset": "rounds"}, "no preset 'rounds'; it has adhoc and tiny"),
        ({"mechanism": "latent", "mu": 3}, "no parameter 'mu'"),
        ({"mechanism": "latent", "vague": 2}, "between 0 and 1"),
        ({"mechanism": "latent", "new_kind": "0.1,0.2"}, "one per family"),
        ({"mechanism": "latent", "features": 0}, "at least 1"),
        ({"mechanism": "latent", "preset": "tiny", "leave_out": "team99"}, "team01 to team05"),
        ({"vague": 0.2}, "no parameter 'vague'"),
    ],
)
def test_misuse_gets_a_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        simulate(**options)
