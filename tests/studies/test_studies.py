"""Studies: the numbers against worked examples, brute force and the papers; layouts, verdicts, options."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import reference
import scipy.stats
import worked_pool
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

import unjudged as uj
import unjudged.studies
from unjudged.errors import UsageError
from unjudged.results import Provenance, Result
from unjudged.studies import layouts
from unjudged.studies.runs import one_of_each

FEW = ("AP", "AP'", "nDCG@10")


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> uj.Collection:
    """A simulated collection: 12 runs of 5 teams, 10 topics, pool of depth 10."""
    made = uj.simulate("tiny", seed=1, out=tmp_path_factory.mktemp("sim") / "tiny")
    return uj.load(made.qrels, made.run_folder, teams=made.teams)


def cells(result: Result, *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Rows by the values of these columns; each combination once."""
    found = {}
    for row in result.rows():
        named = dict(zip(result.columns, row, strict=True))
        key = tuple(named[k] for k in keys)
        assert key not in found
        found[key] = named
    return found


# -- the worked example of a pool


@pytest.fixture(scope="module")
def po1() -> uj.Collection:
    return worked_pool.load()


def test_leaving_a_team_out_gives_the_worked_values(po1: uj.Collection) -> None:
    measures = list(worked_pool.MEASURES)
    found = cells(
        uj.study("leave-team-out", po1, measures=measures, depth=3, all_runs=True), "left_out", "run", "measure"
    )
    assert len(found) == 5 * 5
    for (team, run, measure), row in found.items():
        assert team == worked_pool.TEAMS[run]
        assert row["full"] == pytest.approx(worked_pool.FULL[run][measures.index(measure)], abs=1e-6)
        changed = team == "t1"  # the others have no unique documents
        expected = worked_pool.WITHOUT_T1[run] if changed else worked_pool.FULL[run]
        assert row["reduced"] == pytest.approx(expected[measures.index(measure)], abs=1e-6)
    change = found["t1", "r1", "AP"]
    assert change["change_pct"] == pytest.approx(100 * (0.416667 - 0.638889) / 0.638889, abs=1e-3)
    assert (change["rank_full"], change["rank_reduced"]) == (1, 4)  # .4167 is below .8333, .8333 and .5
    assert (found["t1", "r1", "AP'"]["rank_full"], found["t1", "r1", "AP'"]["rank_reduced"]) == (1, 1)
    assert math.isnan(found["t4", "r5", "bpref"]["change_pct"])  # nothing before: no percentage


def test_leaving_a_run_out_takes_its_own_documents_only(po1: uj.Collection) -> None:
    """u3 is also in r5's top 3, so r2 alone has nothing unique; r1 alone has u1 and u2, like its team."""
    found = cells(uj.study("leave-run-out", po1, measures="AP,AP'", depth=3), "left_out", "run", "measure")
    assert {(out, run) for out, run, _ in found} == {(run, run) for run in worked_pool.RUNS}
    assert found["r1", "r1", "AP"]["reduced"] == pytest.approx(0.416667, abs=1e-6)
    assert found["r2", "r2", "AP"]["reduced"] == found["r2", "r2", "AP"]["full"]


def test_taking_a_team_gives_the_worked_judgments_and_marks_the_excluded(po1: uj.Collection) -> None:
    """AP by hand: t2 judges a, b, g; r3 = b g a h has them at 1 and 3, R = 2: (1 + 2/3) / 2."""
    found = cells(uj.study("take-team", po1, measures="AP", depth=3, all_runs=True), "taken", "run")
    assert found["t2", "r3"]["reduced"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["t3", "r4"]["reduced"] == pytest.approx(1 / 2)  # b at rank 2, R = 1
    assert found["t1", "r1"]["reduced"] == pytest.approx((1 / 2 + 2 / 3 + 3 / 4) / 3)
    assert found["t4", "r5"]["reduced"] == 0.0
    excluded = {team: row["excluded"] for (team, _), row in found.items()}
    assert excluded == {"t1": "no", "t2": "no", "t3": "no", "t4": "yes"}
    assert {row["run"] for row in found.values()} == set(worked_pool.RUNS)


def test_contributions_of_the_worked_example(po1: uj.Collection) -> None:
    result = uj.study("contributions", po1, depth=3)
    assert result.columns == ("team", "runs", "pooled", "unique", "unique_relevant")
    others = [(team, 1, 3.0, 0.0, 0.0) for team in ("t2", "t3", "t4")]
    assert list(result.rows()) == [("t1", 2, 5.0, 2.0, 1.0), *others]
    assert "t4 †*" in result.table() and "t1  " in result.table()
    assert result.verdict().value == pytest.approx(1 / 3)  # one of three relevant documents is t1's alone


# -- brute force on a simulated collection


def tops(c: uj.Collection, depth: int) -> dict[str, dict[str, set[str]]]:
    """Run -> topic -> the first documents of its list, straight from the rankings."""
    found: dict[str, dict[str, set[str]]] = {}
    for r, run in enumerate(c.runs):
        found[run] = {
            topic: set(c.rankings.ids(c.judgments, r * len(c.topics) + t)[:depth]) for t, topic in enumerate(c.topics)
        }
    return found


def judged(c: uj.Collection) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {topic: {} for topic in c.topics}
    for row in range(len(c.judgments)):
        found[c.topics[int(c.judgments.topic[row])]][c.judgments.docs[row]] = int(c.judgments.grade[row])
    return found


def ap(c: uj.Collection, run: int, qrels: Mapping[str, Mapping[str, int]], condensed: bool = False) -> float:
    """Mean average precision by its definition."""
    total = 0.0
    for t, topic in enumerate(c.topics):
        docs = c.rankings.ids(c.judgments, run * len(c.topics) + t)
        if condensed:
            docs = [d for d in docs if d in qrels[topic]]
        hits, value = 0, 0.0
        for rank, doc in enumerate(docs, 1):
            if qrels[topic].get(doc, 0) > 0:
                hits += 1
                value += hits / rank
        relevant = sum(grade > 0 for grade in qrels[topic].values())
        total += value / relevant if relevant else 0.0
    return total / len(c.topics)


def kept(qrels: Mapping[str, Mapping[str, int]], keep: Any) -> dict[str, dict[str, int]]:
    return {topic: {d: g for d, g in docs.items() if keep(topic, d)} for topic, docs in qrels.items()}


def test_leave_team_out_by_brute_force(sim: uj.Collection) -> None:
    top, qrels = tops(sim, 10), judged(sim)
    found = cells(uj.study("leave-team-out", sim, measures="AP,AP'", depth=10, seed=3), "left_out", "measure")
    teams = sorted(set(sim.teams.values()))
    chosen = one_of_each({t: [r for r in sim.runs if sim.teams[r] == t] for t in teams}, 3)
    assert {team for team, _ in found} == set(teams)
    for team in teams:
        others = [run for run in sim.runs if sim.teams[run] != team]
        mine = [run for run in sim.runs if sim.teams[run] == team]
        left = kept(
            qrels,
            lambda topic, doc, mine=mine, others=others: (
                not any(doc in top[run][topic] for run in mine) or any(doc in top[run][topic] for run in others)
            ),
        )
        for measure, condensed in (("AP", False), ("AP'", True)):
            row = found[team, measure]
            assert row["run"] == chosen[team]
            means = {run: ap(sim, sim.runs.index(run), left, condensed) for run in chosen.values()}
            assert row["reduced"] == pytest.approx(means[chosen[team]], abs=1e-12)
            assert row["rank_reduced"] == 1 + sum(m > means[chosen[team]] + 1e-12 for m in means.values())
            full = {run: ap(sim, sim.runs.index(run), qrels, condensed) for run in chosen.values()}
            assert row["full"] == pytest.approx(full[chosen[team]], abs=1e-12)
            assert row["rank_full"] == 1 + sum(m > full[chosen[team]] + 1e-12 for m in full.values())


def test_depth_by_brute_force(sim: uj.Collection) -> None:
    qrels = judged(sim)
    full = [ap(sim, r, qrels) for r in range(len(sim.runs))]
    result = uj.study("depth", sim, measures="AP", levels=(10, 5, 1), depth=10, resamples=200)
    assert result.columns == ("level", "measure", "repeat", "mean", "tau", "power", "misses", "false_alarms")
    found = cells(result, "level")
    assert list(found) == [(10,), (5,), (1,)]
    for (level,), row in found.items():
        top = tops(sim, level)
        left = kept(qrels, lambda topic, doc, top=top: any(doc in top[run][topic] for run in sim.runs))
        means = [ap(sim, r, left) for r in range(len(sim.runs))]
        assert row["mean"] == pytest.approx(np.mean(means), abs=1e-12)
        assert row["tau"] == pytest.approx(scipy.stats.kendalltau(full, means).statistic, abs=1e-12)
    assert found[10,]["tau"] == 1 and (found[10,]["misses"], found[10,]["false_alarms"]) == (0, 0)


def test_reduction_is_that_of_reduce_and_its_sets_are_nested(sim: uj.Collection) -> None:
    result = uj.study("reduction", sim, measures="AP", levels=(100, 50, 10), seed=4, resamples=100)
    found = cells(result, "level")
    full = uj.score(sim, "AP").means()["AP"]
    for (level,), row in found.items():
        reduced = uj.score(uj.reduce(sim, rate=level / 100, seed=4), "AP").means()["AP"]
        assert row["mean"] == pytest.approx(float(reduced.mean()), abs=1e-12)
        assert row["tau"] == pytest.approx(scipy.stats.kendalltau(full, reduced).statistic, abs=1e-12)


def test_reduction_keeps_relevant_documents_of_the_grade_asked_for() -> None:
    """With --rel 2 the strata are grade 2 and below: of 4 relevant documents 1 stays (the minimum), at 10 percent."""
    graded = {**{f"a{i}": 2 for i in range(4)}, **{f"b{i}": 1 for i in range(100)}, **{f"c{i}": 0 for i in range(50)}}
    judged = {str(topic): graded for topic in range(6)}
    scored = {topic: {f"a{i}": float(i) for i in range(4)} for topic in judged}
    c = uj.load(judged, {"a": scored, "b": scored})
    result = uj.study("reduction", c, measures="P@4", levels=(10,), rel=2, test="t")
    assert result.frame["mean"].tolist() == [1 / 4]


def test_taking_a_team_excludes_by_the_grade_asked_for() -> None:
    """B finds no document of grade 2 for topic 1, but one of grade 1."""
    judged = {"1": {"x": 2, "y": 1, "z": 0}, "2": {"x": 2, "y": 1, "z": 0}}
    runs = {"a": {"1": {"x": 1.0}, "2": {"x": 1.0}}, "b": {"1": {"y": 1.0}, "2": {"x": 1.0}}}
    c = uj.load(judged, runs, teams={"a": "A", "b": "B"})
    for rel, excluded in ((None, ["no", "no"]), (1, ["no", "no"]), (2, ["no", "yes"])):
        result = uj.study("take-team", c, measures="AP", depth=1, rel=rel)
        assert result.frame["excluded"].tolist() == excluded


def test_levels_are_decimal_numbers() -> None:
    """33.3 % of 1000 documents are 333, though 33.3 / 100 is a little less than 0.333 in binary."""
    judged = {"1": {f"d{i}": 1 for i in range(1000)}, "2": {"d0": 1}}
    runs = {name: {"1": {f"d{i}": float(i) for i in range(1000)}, "2": {"d0": 1.0}} for name in ("a", "b")}
    mean = uj.study("reduction", uj.load(judged, runs), measures="P@1000", levels=(33.3,), test="t").frame["mean"]
    assert mean.tolist() == [(333 / 1000 + 1 / 1000) / 2]


@pytest.mark.parametrize("name", ["leave-team-out", "leave-run-out", "take-team"])
def test_the_summary_is_consistent(name: str, sim: uj.Collection) -> None:
    """Misses and false alarms add up; the average is that of the teams that count."""
    result = uj.study(name, sim, measures=FEW, summary=True, resamples=200)
    assert result.columns[:6] == ("condition", "measure", "tau", "power", "misses", "false_alarms")
    found = cells(result, "condition", "measure")
    runs = 12 if name == "leave-run-out" else 5
    pairs = runs * (runs - 1) // 2
    conditions = list(dict.fromkeys(c for c, _ in found))
    assert conditions[0] == "full" and conditions[-1] == "average"
    for measure in FEW:
        full = found["full", measure]
        assert (full["tau"], full["misses"], full["false_alarms"]) == (1, 0, 0)
        counted = []
        for condition in conditions[1:-1]:
            row = found[condition, measure]
            significant = round(row["power"] * pairs)
            assert significant == round(full["power"] * pairs) - row["misses"] + row["false_alarms"]
            if "+" not in condition and row.get("excluded", "no") == "no":
                counted.append(row)
        for column in ("tau", "power", "misses", "false_alarms"):
            assert found["average", measure][column] == pytest.approx(np.mean([row[column] for row in counted]))
    together = [c for c in conditions if "+" in c]
    assert together == (["team01+team03+team02"] if name == "take-team" else [])  # 2.2, 3.3 and 3.5 unique documents


def test_the_summary_of_a_team_is_that_of_its_judgments(sim: uj.Collection) -> None:
    """Taking two teams by name: tau and power of the reduced collection computed step by step."""
    result = uj.study(
        "take-team", sim, measures="AP", summary=True, teams_taken=["team04", "team05"], all_runs=True, resamples=200
    )
    row = cells(result, "condition", "measure")["team04+team05", "AP"]
    reduced = uj.take(sim, teams=["team04", "team05"])
    full, less = uj.score(sim, "AP"), uj.score(reduced, "AP")
    assert row["tau"] == pytest.approx(scipy.stats.kendalltau(full.means()["AP"], less.means()["AP"]).statistic)
    before, after = (uj.power(s, resamples=200, pairs=True) for s in (full, less))
    changes = next(iter(uj.power_changes(before, after).rows()))
    named = dict(zip(uj.power_changes(before, after).columns, changes, strict=True))
    assert (row["misses"], row["false_alarms"]) == (named["misses"], named["false_alarms"])
    assert row["power"] == pytest.approx(named["after"] / named["pairs"])


# -- properties (METHODS D 34, 35)


@given(reference.collections(max_runs=4), st.integers(1, 6), st.lists(st.sampled_from("ab"), min_size=4, max_size=4))
@settings(max_examples=40)
def test_what_holds_for_every_collection(drawn: Any, depth: int, letters: list[str]) -> None:
    """A run without unique documents keeps its scores; nothing taken away changes nothing; changes add up."""
    qrels, runs = drawn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        c = uj.load(qrels, runs, teams=dict(zip(runs, letters, strict=False)))
    if len(runs) < 2:
        with pytest.raises(UsageError, match="at least 2 runs"):
            uj.study("leave-run-out", c, measures="AP", depth=depth)
        return
    rows = cells(uj.study("leave-run-out", c, measures="AP,AP'", depth=depth, jobs=1), "run", "measure")
    unique = {r[0]: r[3] for r in uj.contributions(c, per="run", depth=depth).rows()}
    for (run, _), row in rows.items():
        assert 0 <= row["full"] <= 1 + 1e-12
        if not unique[run]:
            assert row["reduced"] == row["full"] and row["rank_full"] == row["rank_reduced"]
            assert math.isnan(row["change_pct"]) if not row["full"] else row["change_pct"] == 0
    if len(c.topics) > 1:
        levels = uj.study("reduction", c, measures="AP", levels=(100, 50), test="t", jobs=1).frame
        whole = levels[levels["level"] == 100].iloc[0]
        assert (whole["misses"], whole["false_alarms"]) == (0, 0) and not whole["tau"] < 1


# -- runs, repeats, several collections


def test_the_best_runs_and_one_of_each_team(sim: uj.Collection) -> None:
    means = uj.score(sim, "P@10").means()["P@10"]
    best = set(means.sort_values(ascending=False, kind="stable").index[:4])
    pairs = uj.study("power", sim, measures="AP", top=4, by="P@10", pairs=True, test="t").frame
    assert set(pairs["run_a"]) | set(pairs["run_b"]) == best
    half = uj.study("power", sim, measures="AP", top=0.5, test="t").frame
    assert half["runs"].tolist() == [6]
    one = uj.study("power", sim, measures="AP", one_per_team=True, pairs=True, test="t").frame
    chosen = set(one["run_a"]) | set(one["run_b"])
    assert sorted(sim.teams[run] for run in chosen) == sorted(set(sim.teams.values()))
    other = [frozenset(uj.study("leave-team-out", sim, measures="AP", seed=seed).frame["run"]) for seed in range(6)]
    assert len(set(other)) > 1 and all(len(runs) == 5 for runs in other)


def test_what_a_team_draws_does_not_depend_on_the_others() -> None:
    teams = {"a": ["a1", "a2", "a3"], "b": ["b1", "b2"], "c": ["c1"]}
    for seed in range(10):
        whole = one_of_each(teams, seed)
        assert one_of_each({"b": teams["b"]}, seed) == {"b": whole["b"]}
    drawn = [one_of_each(teams, seed)["a"] for seed in range(300)]
    assert all(70 <= drawn.count(run) <= 130 for run in teams["a"])  # 100 each, give or take


def test_repeats_draw_anew_and_the_first_is_the_plain_study(sim: uj.Collection) -> None:
    plain = uj.study("reduction", sim, measures="AP", levels=(50,), seed=1, resamples=50)
    many = uj.study("reduction", sim, measures="AP", levels=(50,), seed=1, resamples=50, repeats=4)
    assert list(many.frame["repeat"]) == [1, 2, 3, 4]
    assert next(iter(many.rows())) == next(iter(plain.rows()))
    assert many.frame["mean"].nunique() == 4
    low, high = np.quantile(many.frame["mean"], [0.025, 0.975])
    assert f"{many.frame['mean'].mean():.4f} [{low:.4f}, {high:.4f}]" in many.table()
    teams = uj.study("leave-team-out", sim, measures="AP", seed=1, repeats=3)
    assert len(teams.frame) == 15 and "[" in teams.table()
    first = teams.frame[teams.frame["repeat"] == 1].drop(columns="repeat").reset_index(drop=True)
    alone = uj.study("leave-team-out", sim, measures="AP", seed=1).frame.drop(columns="repeat")
    assert first.equals(alone)


def test_several_collections_stand_side_by_side(sim: uj.Collection, po1: uj.Collection) -> None:
    other = sim.with_runs(sim.runs[:6])
    both = uj.study("power", {"all": sim, "half": other}, measures="AP,P@10", resamples=100)
    assert both.columns[0] == "collection"
    alone = uj.study("power", other, measures="AP,P@10", resamples=100)
    assert [row[1:] for row in both.rows() if row[0] == "half"] == list(alone.rows())
    head = both.table().split("\n")[0]
    assert head.split() == ["all", "disc.", "power", "diff.", "required", "half", "disc.", "power", "diff.", "required"]
    for name in uj.studies.known():
        if name in ("power", "correction"):
            continue
        options: dict[str, Any] = {} if name == "contributions" else {"measures": "AP,P@10"}
        if name in ("swap", "stability"):
            options["trials"] = 20
        if name in ("depth", "reduction"):
            options |= {"resamples": 20, "levels": (5,)}
        result = uj.study(name, {"all": sim, "half": other}, **options)
        assert set(result.frame["collection"]) == {"all", "half"}
        assert "half" in result.table()
        assert "collection" in result.plot().json() or "half" in result.plot().json()


def test_a_study_of_ones_own(sim: uj.Collection) -> None:
    from unjudged.studies import Lab, register
    from unjudged.studies._study import REGISTRY

    @register("counting", help="counts the runs")
    def counting(lab: Lab, *, factor: int = 2) -> Result:
        values = lab.run(_double, {"factor": factor}, [(len(c.runs),) for _, c in lab.cases], "counting")
        rows = [(int(v["runs"]),) for v in values]
        return Result(("runs",), lambda: rows, lab.provenance(None, factor=factor))

    try:
        assert list(uj.study("counting", sim, factor=3).rows()) == [(36,)]
        with pytest.raises(UsageError, match=r"has no option 'facto' \(did you mean factor\?\)"):
            uj.study("counting", sim, facto=3)
    finally:
        del REGISTRY["counting"]


def test_options_of_ones_own_study_are_read_by_the_kind_of_their_default() -> None:
    from inspect import Parameter

    from unjudged.studies.options import option_of

    def read(default: Any, text: str) -> Any:
        return option_of("own_one", Parameter("own_one", Parameter.KEYWORD_ONLY, default=default)).parse(text)

    assert read((0.5, 0.1), "0.3,2") == (0.3, 2)
    assert read(("a", "b"), "c, d") == ("c", "d")
    assert (read(2, "3"), read(0.5, "3"), read("x", "3"), read(None, "3")) == (3, 3.0, "3", "3")
    with pytest.raises(UsageError, match="numbers are given as 50,10,1, not 'many'"):
        read((1,), "many")


def _double(shared: Mapping[str, int], unit: tuple[int]) -> dict[str, Any]:
    return {"runs": np.array(shared["factor"] * unit[0])}


def test_a_measure_of_ones_own_works_in_other_processes(sim: uj.Collection) -> None:
    @uj.measure
    def Found(h: uj.Hits, rel: int = 1) -> uj.Cells:
        """Relevant documents found."""
        return h.relevant(rel).count()

    one = uj.study("leave-run-out", sim, measures=[Found, "AP"], jobs=1)
    assert one.render("tsv") == uj.study("leave-run-out", sim, measures=[Found, "AP"], jobs=2).render("tsv")
    row = cells(one, "run", "measure")["team01-1", "Found"]
    grades, (r, t) = judged(sim), (sim.runs.index("team01-1"), len(sim.topics))
    expected = [
        sum(grades[topic].get(doc, 0) > 0 for doc in sim.rankings.ids(sim.judgments, r * t + k))
        for k, topic in enumerate(sim.topics)
    ]
    assert row["full"] == pytest.approx(np.mean(expected))


# -- how it reads


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (100 * (0.5879 - 0.5895) / 0.5895, "-0.27%"),  # Sakai 2009, section 5
        (100 * (0.6015 - 0.5980) / 0.5980, "+0.59%"),
        (1.93, "+1.93%"),
        (21.04, "+21.0%"),
        (-11.25, "-11.2%"),
        (9.996, "+10.0%"),
        (0.0, "0.00%"),
        (-0.001, "0.00%"),
        (math.nan, "n/a"),
    ],
)
def test_signed_percentages(change: float, text: str) -> None:
    assert layouts.signed_percent(change) == text


def test_other_cells() -> None:
    assert [layouts.rank_move(*pair) for pair in ((4, 4), (6, 5), (6, 8))] == ["4→4", "6↑5", "6↓8"]
    taus = [layouts.correlation(v) for v in (0.95, 1.0, -1.0, -0.3333, 0.0, 0.9999)]
    assert taus == [".950", "1", "-1", "-.333", ".000", "1"]
    assert [layouts.percent(v) for v in (0.6417, 0.0, math.nan)] == ["64.2%", "0.0%", "-"]
    shown = layouts.best([0.5, 0.7, 0.7], ["a", "b", "c"])
    assert [cell.bold for cell in shown] == [False, True, True]
    assert [cell.bold for cell in layouts.best([1.0, 2.0], ["a", "b"], smallest=True)] == [True, False]


def test_the_papers_layout_in_latex_and_markdown(sim: uj.Collection) -> None:
    result = uj.study("leave-team-out", sim, measures="AP,AP'", seed=0)
    latex, markdown = result.render("latex"), result.render("markdown")
    assert r"$\rightarrow$" in latex and r"\%" in latex and r"\toprule" in latex
    assert "| left_out | run | AP | AP' |" in markdown
    moved = [r for r in result.frame.to_dict("records") if r["rank_full"] != r["rank_reduced"]]
    assert markdown.count("**") == 2 * len(moved)
    power = uj.study("power", sim, measures="AP,RBP", resamples=100)
    assert r"\textbf{" in power.render("latex") and "**" in power.render("markdown")


def test_verdicts_carry_word_evidence_and_threshold(sim: uj.Collection, po1: uj.Collection) -> None:
    leaving = uj.study("leave-team-out", sim, measures="AP,AP'", seed=0)
    frame = leaving.frame
    change = frame[frame["measure"] == "AP"]["change_pct"]
    verdict = leaving.verdict()
    assert verdict.value == pytest.approx(change.abs().mean())
    assert verdict.word == "fragile" and "solid up to 1, with care up to 5" in str(verdict)
    assert f"{change.mean():+.2f}% in AP" in verdict.sentence
    assert uj.study("leave-team-out", po1, measures="AP", depth=3).verdict().word == "unknown"  # four teams
    assert uj.study("take-team", po1, measures="AP", depth=3).verdict().word == "unknown"  # the order of four runs
    assert uj.study("take-team", sim, measures="AP").verdict().word != "unknown"
    kept_order = uj.study("depth", sim, measures="AP", levels=(10,), depth=10, resamples=20).verdict()
    assert (kept_order.word, kept_order.value) == ("solid", 1.0)


# -- what is refused


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
        ("power", {"measures": "GMAP"}, "GMAP is a mean over topics, and significance needs scores of topics: take AP"),
        ("swap", {"measures": "GMAP"}, "GMAP is a mean over topics"),
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
def test_refusals_are_sentences(name: str, options: dict[str, Any], sentence: str, sim: uj.Collection) -> None:
    with pytest.raises(UsageError, match=sentence):
        uj.study(name, sim, **options)


def test_teams_are_needed_where_they_are(sim: uj.Collection) -> None:
    from dataclasses import replace

    nobody = replace(sim, teams={})
    for name in ("leave-team-out", "take-team"):
        with pytest.raises(UsageError, match="needs the teams: give --teams"):
            uj.study(name, nobody, measures="AP")
    with pytest.raises(UsageError, match="teams"):
        uj.study("contributions", nobody)
    with pytest.raises(UsageError, match="needs a Collection"):
        uj.study("power", "qrels.txt")  # type: ignore[arg-type]


# -- the findings of the papers on real collections (issue 7, must show 1)

COLLECTIONS = ("dl19-passage", "robust03", "trec2-adhoc")
CONDENSED = ("AP'", "Q'", "nDCG'(dcg='jk')@1000", "RBP'", "bpref")


@functools.cache
def real(name: str) -> uj.Collection:
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not here")
    only = "601-650" if name == "robust03" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        return uj.load(
            folder / "qrels.txt.gz",
            folder / "runs",
            teams=folder / "teams.tsv",
            only=only,
            lenient=name == "trec2-adhoc",
        )


@pytest.mark.parametrize("name", COLLECTIONS)
def test_condensed_measures_overestimate_a_left_out_team_and_ordinary_ones_underestimate_it(name: str) -> None:
    """Sakai 2009, section 5."""
    found = uj.study("leave-team-out", real(name), jobs=1).frame
    for measure, rows in found.groupby("measure"):
        mean = rows["change_pct"].mean()
        assert (mean > 0) == (measure in CONDENSED), (measure, mean)
    assert found.groupby("measure").ngroups == 9


@pytest.mark.parametrize("name", COLLECTIONS)
def test_misses_and_false_alarms_add_up(name: str) -> None:
    c = real(name)
    teams = len(set(c.teams.values()))
    for study, pairs in (("take-team", math.comb(teams, 2)), ("depth", math.comb(len(c.runs), 2))):
        options: dict[str, Any] = {"summary": True} if study == "take-team" else {"levels": (10, 5, 1)}
        found = uj.study(study, c, measures="Q',AP", resamples=100, jobs=1, **options).frame
        full = uj.study("power", c, measures="Q',AP", resamples=100, jobs=1, one_per_team=study == "take-team").frame
        before = dict(zip(full["measure"], full["significant"], strict=True))
        rows = [r for r in found.to_dict("records") if r.get("condition") != "average"]
        assert len(rows) >= 6
        for row in rows:
            after = before[row["measure"]] - row["misses"] + row["false_alarms"]
            assert round(row["power"] * pairs) == after


@pytest.mark.parametrize("name", ["reduction", "depth"])
def test_one_topic_cannot_show_that_runs_differ(name: str, sim: uj.Collection) -> None:
    """A single difference is constant and would count as significant for every pair."""
    with pytest.raises(UsageError, match="significance needs at least 2 topics, 1 given"):
        uj.study(name, uj.only(sim, sim.topics[:1]), measures="AP", jobs=1)


def test_limits_of_verdicts_stand_in_one_table() -> None:
    """Every study's verdict has limits with a source, in order, and no number of them stands in the code."""
    from unjudged import thresholds

    table = thresholds._own_table()["verdict"]
    assert table.keys() >= {"leave-out", "same-order", "agreement", "power", "swap", "stability", "reliability"}
    for name in table:
        limit = thresholds.limit_of(name)
        assert limit.what and limit.source and limit.word(math.nan) == "unknown"
        assert (limit.word(limit.solid), limit.word(limit.care)) == ("solid", "with care")
        worse = limit.care + (1e-6 if limit.better == "lower" else -1e-6)
        assert limit.word(worse) == "fragile"
        assert limit.verdict("so it is", limit.solid).threshold == limit.sentence


@pytest.mark.parametrize(
    ("value", "text"), [(-0.00004, "0.0000"), (-0.0, "0.0000"), (-0.00006, "-0.0001"), (0.5, "0.5000")]
)
def test_nothing_has_no_sign(value: float, text: str) -> None:
    """A tiny negative number reads 0.0000 in every laid-out table; tidy rows keep it."""
    result = Result(("x",), lambda: [(value,)], Provenance("0", ""))
    assert result.render("text").split() == ["x", text]
    assert result.render("tsv").split() == ["x", repr(value)]
    assert f"<td>{text}</td>" in result.to_html()
    assert layouts.correlation(value) == {"0.0000": ".000", "-0.0001": ".000", "0.5000": ".500"}[text]
    assert layouts.percent(value, 2) == {"0.0000": "0.00%", "-0.0001": "-0.01%", "0.5000": "50.00%"}[text]
