"""What holds for every study: the runs chosen, repeats, several collections, one's own studies, refusals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from brute_force import cells, judged

import unjudged as uj
import unjudged.studies
from unjudged.errors import UsageError
from unjudged.studies.engine.setup import one_of_each

PORTED = (
    *("agreement", "swap", "stability", "reliability", "reduction", "depth", "leave-team-out", "leave-run-out"),
    *("take-team", "contributions", "contents"),
)
"""Studies of one collection that take no other input."""


def test_the_best_runs_and_one_of_each_team(tiny: uj.Collection) -> None:
    means = uj.score(tiny, "P@10").means()["P@10"]
    best = set(means.sort_values(ascending=False, kind="stable").index[:4])
    pairs = uj.study("power", tiny, measures="AP", top=4, by="P@10", pairs=True, test="t").frame
    assert set(pairs["run_a"]) | set(pairs["run_b"]) == best
    half = uj.study("power", tiny, measures="AP", top=0.5, test="t").frame
    assert half["runs"].tolist() == [6]
    one = uj.study("power", tiny, measures="AP", one_per_team=True, pairs=True, test="t").frame
    chosen = set(one["run_a"]) | set(one["run_b"])
    assert sorted(tiny.teams[run] for run in chosen) == sorted(set(tiny.teams.values()))
    other = [
        frozenset(uj.study("leave-team-out", tiny, measures="AP", seed=seed, pooled="all").frame["run"])
        for seed in range(6)
    ]
    assert len(set(other)) > 1 and all(len(runs) == 5 for runs in other)


def test_what_a_team_draws_does_not_depend_on_the_others() -> None:
    teams = {"a": ["a1", "a2", "a3"], "b": ["b1", "b2"], "c": ["c1"]}
    for seed in range(10):
        whole = one_of_each(teams, seed)
        assert one_of_each({"b": teams["b"]}, seed) == {"b": whole["b"]}
    drawn = [one_of_each(teams, seed)["a"] for seed in range(300)]
    assert all(70 <= drawn.count(run) <= 130 for run in teams["a"])  # 100 each, give or take


def test_repeats_draw_anew_and_the_first_is_the_plain_study(tiny: uj.Collection) -> None:
    plain = uj.study("reduction", tiny, measures="AP", levels=(50,), seed=1, resamples=50)
    many = uj.study("reduction", tiny, measures="AP", levels=(50,), seed=1, resamples=50, repeats=4)
    assert list(many.frame["repeat"]) == [1, 2, 3, 4]
    assert next(iter(many.rows())) == next(iter(plain.rows()))
    assert many.frame["mean"].nunique() == 4
    low, high = np.quantile(many.frame["mean"], [0.025, 0.975])
    assert f"{many.frame['mean'].mean():.4f} [{low:.4f}, {high:.4f}]" in many.table()
    teams = uj.study("leave-team-out", tiny, measures="AP", seed=1, pooled="all", repeats=3)
    assert len(teams.frame) == 15 and "[" in teams.table()
    first = teams.frame[teams.frame["repeat"] == 1].drop(columns="repeat").reset_index(drop=True)
    alone = uj.study("leave-team-out", tiny, measures="AP", seed=1, pooled="all").frame.drop(columns="repeat")
    assert first.equals(alone)


def test_several_collections_stand_side_by_side(tiny: uj.Collection) -> None:
    other = tiny.with_runs(tiny.runs[:6])
    both = uj.study("power", {"all": tiny, "half": other}, measures="AP,P@10", resamples=100)
    assert both.columns[0] == "collection"
    alone = uj.study("power", other, measures="AP,P@10", resamples=100)
    assert [row[1:] for row in both.rows() if row[0] == "half"] == list(alone.rows())
    head = both.table().split("\n")[0]
    assert head.split() == ["all", "disc.", "power", "diff.", "required", "half", "disc.", "power", "diff.", "required"]
    for name in PORTED:
        options: dict[str, Any] = {} if name in ("contributions", "contents") else {"measures": "AP,P@10"}
        if name in ("swap", "stability"):
            options["trials"] = 20
        if name in ("depth", "reduction"):
            options |= {"resamples": 20, "levels": (5,)}
        result = uj.study(name, {"all": tiny, "half": other}, **options)
        assert set(result.frame["collection"]) == {"all", "half"}
        assert "half" in result.table()
        assert "collection" in result.plot().json() or "half" in result.plot().json()


def test_a_study_of_ones_own(tiny: uj.Collection) -> None:
    from unjudged.studies import Answer, Case, register
    from unjudged.studies.engine.study import REGISTRY

    @register("counting", help="counts the runs")
    def counting(case: Case, *, factor: int = 2) -> Answer:
        (value,) = case.run(_double, {"factor": factor}, [(len(case.runs),)], "counting")
        return Answer(("runs",), [(int(value["runs"]),)], settings={"factor": factor})

    try:
        assert list(uj.study("counting", tiny, factor=3).rows()) == [(36,)]
        with pytest.raises(UsageError, match=r"has no option 'facto' \(did you mean factor\?\)"):
            uj.study("counting", tiny, facto=3)
    finally:
        del REGISTRY["counting"]


def test_options_of_ones_own_study_are_read_by_the_kind_of_their_default() -> None:
    from unjudged.options import of_study

    def read(default: Any, text: str) -> Any:
        return of_study("own_one", default, "counting").parse(text)

    assert read((0.5, 0.1), "0.3,2") == (0.3, 2)
    assert read(("a", "b"), "c, d") == ("c", "d")
    assert (read(2, "3"), read(0.5, "3"), read("x", "3"), read(None, "3")) == (3, 3.0, "3", "3")
    with pytest.raises(UsageError, match="numbers are given as 50,10,1, not 'many'"):
        read((1,), "many")


def _double(shared: Mapping[str, int], unit: tuple[int]) -> dict[str, Any]:
    return {"runs": np.array(shared["factor"] * unit[0])}


def test_a_measure_of_ones_own_works_in_other_processes(tiny: uj.Collection) -> None:
    @uj.measure
    def Found(h: uj.Hits, rel: int = 1) -> uj.Cells:
        """Relevant documents found."""
        return h.relevant(rel).count()

    one = uj.study("leave-run-out", tiny, measures=[Found, "AP"], jobs=1)
    assert one.render("tsv") == uj.study("leave-run-out", tiny, measures=[Found, "AP"], jobs=2).render("tsv")
    row = cells(one, "run", "measure")["team01-1", "Found"]
    grades, (r, t) = judged(tiny), (tiny.runs.index("team01-1"), len(tiny.topics))
    expected = [
        sum(grades[topic].get(doc, 0) > 0 for doc in tiny.rankings.ids(tiny.judgments, r * t + k))
        for k, topic in enumerate(tiny.topics)
    ]
    assert row["full"] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("leave", {}, r"no study 'leave' \(did you mean"),
        ("power", {"alpah": 0.1}, r"no option 'alpah' \(did you mean alpha\?\)"),
        ("power", {"alpha": 1.5}, "alpha lies between 0 and 1"),
        ("agreement", {"measures": "AP"}, "at least 2 measures, 1 given"),
        ("power", {"test": "bootstrp"}, "did you mean bootstrap"),
        ("power", {"resamples": 0}, "at least 1 resample"),
        ("power", {"top": 0}, "--top is a share"),
        ("power", {"top": 2.5}, "--top is a share"),
        ("power", {"top": math.nan}, "--top is a share between 0 and 1 or a whole number of runs, not nan"),
        ("power", {"top": math.inf}, "--top is a share between 0 and 1 or a whole number of runs, not inf"),
        ("power", {"top": 1}, "at least 2 runs"),
        ("power", {"by": "AP"}, "give --top"),
        ("power", {"seed": -1}, "a seed is a whole number of 0 or more"),
        ("power", {"jobs": 0}, "jobs must be at least 1"),
        ("reduction", {"repeats": 0}, "at least 1 repeat"),
        ("reduction", {"levels": (0,)}, "levels are percent"),
        ("reduction", {"levels": (50, 50)}, "levels are percent"),
        ("depth", {"levels": (2.5,)}, "levels are pool depths"),
        ("take-team", {"teams_taken": ["team99"], "measures": "AP"}, "no team 'team99'"),
        ("leave-team-out", {"pooled": ["nobody"], "measures": "AP"}, "none of the pooled runs"),
    ],
)
def test_refusals_are_sentences(name: str, options: dict[str, Any], sentence: str, tiny: uj.Collection) -> None:
    with pytest.raises(UsageError, match=sentence):
        uj.study(name, tiny, **options)
