"""Which runs a study looks at: the best by AP, some teams alone; told in caption, notes and provenance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_scores import MATRIX, rows_of, scores_of

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import UsageError


def looked_at(result: uj.Result) -> list[str]:
    return list(result.provenance.settings["runs looked at"])


def best(collection: uj.Collection, measure: str, many: int) -> set[str]:
    means = uj.score(collection, measure).means()[measure]
    return set(means.sort_values(ascending=False, kind="stable").index[:many])


@pytest.mark.parametrize(
    ("measures", "by"),
    [
        ("sakai2007", "AP"),  # begins with bpref_R; the paper takes AP
        ("sakai2005-graded", "AP"),  # has no AP; the paper takes Relaxed-AveP all the same
        ("P@10,AP", "AP"),
        ("P@10,nDCG@10", "P@10"),
        ("AP',P@10", "AP'"),
    ],
)
def test_the_best_runs_are_those_by_ap(tiny: uj.Collection, measures: str, by: str) -> None:
    found = uj.power(tiny, measures, top=5, test="t")
    assert set(looked_at(found)) == best(tiny, by, 5)
    assert (found.provenance.settings["top"], found.provenance.settings["by"]) == (5, by)
    assert f"The 5 best of 12 runs by {by}." in found.caption


def test_by_names_another_measure(tiny: uj.Collection) -> None:
    found = uj.power(tiny, "AP", top=4, by="P@10", test="t")
    assert set(looked_at(found)) == best(tiny, "P@10", 4) and "The 4 best of 12 runs by P@10." in found.caption
    graded = uj.power(tiny, "AP", top=4, rel=2, test="t")
    assert graded.provenance.settings["by"] == "AP(rel=2)"


def test_more_than_there_are(tiny: uj.Collection) -> None:
    found = uj.stability(tiny, "AP", top=40, trials=5)
    assert "--top 40: there are only 12 runs, and all of them are taken" in found.notes
    assert "The 12 best of 12 runs by AP." in found.caption


def test_scores_at_hand() -> None:
    scores = scores_of(MATRIX[:, ::-1], MATRIX, measures="P@10, AP")
    found = uj.power(scores, top=2, test="t")
    order = MATRIX.mean(axis=0).argsort()[::-1]
    assert set(looked_at(found)) == {f"run{r:02d}" for r in order[:2]}
    assert "The 2 best of 6 runs by AP." in found.caption
    named = uj.power(scores, analyse="run01,run03,run04", test="t")
    assert looked_at(named) == ["run01", "run03", "run04"]
    with pytest.raises(UsageError, match=r"--analyse run9: no team or run has that name"):
        uj.power(scores, analyse="run9")


def test_some_teams_are_analysed_while_all_are_pooled(tiny: uj.Collection) -> None:
    """Leaving a team out takes its documents from the pool of all teams, whoever is looked at."""
    teams = sorted(set(tiny.teams.values()))[:2]
    asked: dict[str, Any] = {"measures": "AP", "depth": 10, "pooled": "all", "all_runs": True, "test": "none"}
    every = {(r["left_out"], r["run"]): r for r in rows_of(uj.study("leave-team-out", tiny, **asked))}
    some = uj.study("leave-team-out", tiny, **asked, analyse=",".join(teams))
    found = {(r["left_out"], r["run"]): r for r in rows_of(some)}
    assert set(found) == {key for key in every if key[0] in teams}
    for key, row in found.items():
        assert (row["full"], row["reduced"]) == (every[key]["full"], every[key]["reduced"])
    assert some.provenance.settings["analysed"] == teams
    assert f"Only {teams[0]} and {teams[1]} analysed." in some.caption


def test_analyse_on_the_command_line(tiny: uj.Collection, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tiny.sources[0], str(Path(tiny.sources[1]).parent), "--teams", tiny.settings["teams"]]
    one = next(iter(tiny.teams.values()))
    assert (
        main(["study", "power", *files, "-m", "AP", "--test", "t", "--analyse", one, "--pairs", "--format", "tsv"]) == 0
    )
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert {tiny.teams[run] for row in rows for run in row[1:3]} == {one}
    assert main(["study", "power", *files, "--analyse", "nobody"]) == 2
    assert "--analyse nobody: no team or run has that name" in capsys.readouterr().err


def test_one_run_of_each_team_analysed(tiny: uj.Collection) -> None:
    teams = sorted(set(tiny.teams.values()))[:3]
    found = uj.study("power", tiny, measures="AP", test="t", analyse=teams, one_per_team=True, pairs=True)
    runs = {r[key] for r in rows_of(found) for key in ("run_a", "run_b")}
    assert sorted(tiny.teams[run] for run in runs) == teams
