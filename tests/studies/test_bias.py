"""Leaving out and taking teams, and contributions: worked examples, brute force, the papers' findings, verdicts."""

from __future__ import annotations

import functools
import math
import re
import warnings
from typing import Any

import numpy as np
import pytest
import reference
import scipy.stats
import worked_pool
from brute_force import ap, cells, judged, kept, lists_of, tops
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

import unjudged as uj
from unjudged.errors import UsageError
from unjudged.holes.completions import complete
from unjudged.spelling import is_condensed
from unjudged.studies.bias import change_map
from unjudged.studies.engine.setup import one_of_each

FEW = ("AP", "AP'", "nDCG@10")


@pytest.fixture(scope="module")
def po1() -> uj.Collection:
    return worked_pool.load()


def test_leaving_a_team_out_gives_the_worked_values(po1: uj.Collection) -> None:
    measures = list(worked_pool.MEASURES)
    found = cells(
        uj.study("leave-team-out", po1, measures=measures, depth=3, pooled="all", all_runs=True),
        "left_out",
        "run",
        "measure",
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
    found = cells(
        uj.study("leave-run-out", po1, measures="AP,AP'", depth=3, pooled="all"), "left_out", "run", "measure"
    )
    assert {(out, run) for out, run, _ in found} == {(run, run) for run in worked_pool.RUNS}
    assert found["r1", "r1", "AP"]["reduced"] == pytest.approx(0.416667, abs=1e-6)
    assert found["r2", "r2", "AP"]["reduced"] == found["r2", "r2", "AP"]["full"]


def test_taking_a_team_gives_the_worked_judgments_and_marks_the_excluded(po1: uj.Collection) -> None:
    """AP by hand: t2 judges a, b, g; r3 = b g a h has them at 1 and 3, R = 2: (1 + 2/3) / 2."""
    found = cells(uj.study("take-team", po1, measures="AP", depth=3, pooled="all", all_runs=True), "taken", "run")
    assert found["t2", "r3"]["reduced"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["t3", "r4"]["reduced"] == pytest.approx(1 / 2)  # b at rank 2, R = 1
    assert found["t1", "r1"]["reduced"] == pytest.approx((1 / 2 + 2 / 3 + 3 / 4) / 3)
    assert found["t4", "r5"]["reduced"] == 0.0
    excluded = {team: row["excluded"] for (team, _), row in found.items()}
    assert excluded == {"t1": "no", "t2": "no", "t3": "no", "t4": "yes"}
    assert {row["run"] for row in found.values()} == set(worked_pool.RUNS)


def test_contributions_of_the_worked_example(po1: uj.Collection) -> None:
    result = uj.study("contributions", po1, depth=3, pooled="all")
    assert result.columns == ("team", "runs", "pooled", "unique", "unique_relevant")
    others = [(team, 1, 3.0, 0.0, 0.0) for team in ("t2", "t3", "t4")]
    assert list(result.rows()) == [("t1", 2, 5.0, 2.0, 1.0), *others]
    assert "t4 †*" in result.table() and "t1  " in result.table()
    assert result.verdict is not None and result.verdict.decided_by == ("t1",)
    assert result.verdict.value == pytest.approx(1 / 3)  # one of three relevant documents is t1's alone
    per_run = uj.study("contributions", po1, depth=3, pooled="all", per="run")
    assert per_run.columns == ("run", "team", "pooled", "unique", "unique_relevant")
    assert next(iter(per_run.rows())) == ("r1", "t1", 3.0, 2.0, 1.0)
    assert "r1 alone found most, 2 per topic." in per_run.plot().description and "<svg" in per_run.plot().svg()
    with pytest.raises(UsageError, match="per team or per run, not per 'topic'"):
        uj.contributions(po1, per="topic")


def test_leave_team_out_by_brute_force(tiny: uj.Collection) -> None:
    top, qrels = tops(tiny, 10), judged(tiny)
    found = cells(
        uj.study("leave-team-out", tiny, measures="AP,AP'", depth=10, pooled="all", seed=3), "left_out", "measure"
    )
    teams = sorted(set(tiny.teams.values()))
    chosen = one_of_each({t: [r for r in tiny.runs if tiny.teams[r] == t] for t in teams}, 3)
    assert {team for team, _ in found} == set(teams)
    for team in teams:
        others = [run for run in tiny.runs if tiny.teams[run] != team]
        mine = [run for run in tiny.runs if tiny.teams[run] == team]
        left = kept(
            qrels,
            lambda topic, doc, mine=mine, others=others: (
                not any(doc in top[run][topic] for run in mine) or any(doc in top[run][topic] for run in others)
            ),
        )
        for measure, condensed in (("AP", False), ("AP'", True)):
            row = found[team, measure]
            assert row["run"] == chosen[team]
            means = {run: ap(tiny, tiny.runs.index(run), left, condensed) for run in chosen.values()}
            assert row["reduced"] == pytest.approx(means[chosen[team]], abs=1e-12)
            assert row["rank_reduced"] == 1 + sum(m > means[chosen[team]] + 1e-12 for m in means.values())
            full = {run: ap(tiny, tiny.runs.index(run), qrels, condensed) for run in chosen.values()}
            assert row["full"] == pytest.approx(full[chosen[team]], abs=1e-12)
            assert row["rank_full"] == 1 + sum(m > full[chosen[team]] + 1e-12 for m in full.values())


def test_taking_a_team_excludes_by_the_grade_asked_for() -> None:
    """B finds no document of grade 2 for topic 1, but one of grade 1."""
    judged = {"1": {"x": 2, "y": 1, "z": 0}, "2": {"x": 2, "y": 1, "z": 0}}
    runs = {"a": {"1": {"x": 1.0}, "2": {"x": 1.0}}, "b": {"1": {"y": 1.0}, "2": {"x": 1.0}}}
    c = uj.load(judged, runs, teams={"a": "A", "b": "B"})
    for rel, excluded in ((None, ["no", "no"]), (1, ["no", "no"]), (2, ["no", "yes"])):
        result = uj.study("take-team", c, measures="AP", depth=1, pooled="all", rel=rel)
        assert result.frame["excluded"].tolist() == excluded


@pytest.mark.parametrize("name", ["leave-team-out", "leave-run-out", "take-team"])
def test_the_summary_is_consistent(name: str, tiny: uj.Collection) -> None:
    """Misses and false alarms add up; the average is that of the teams that count."""
    result = uj.study(name, tiny, measures=FEW, summary=True, pooled="all", resamples=200)
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


def test_the_summary_of_a_team_is_that_of_its_judgments(tiny: uj.Collection) -> None:
    """Taking two teams by name: tau and power of the reduced collection computed step by step."""
    result = uj.study(
        "take-team",
        tiny,
        measures="AP",
        summary=True,
        teams_taken=["team04", "team05"],
        all_runs=True,
        pooled="all",
        resamples=200,
    )
    row = cells(result, "condition", "measure")["team04+team05", "AP"]
    reduced = uj.take(tiny, teams=["team04", "team05"])
    full, less = uj.score(tiny, "AP"), uj.score(reduced, "AP")
    assert row["tau"] == pytest.approx(scipy.stats.kendalltau(full.means()["AP"], less.means()["AP"]).statistic)
    before, after = (uj.power(s, resamples=200, pairs=True) for s in (full, less))
    changes = next(iter(uj.power_changes(before, after).rows()))
    named = dict(zip(uj.power_changes(before, after).columns, changes, strict=True))
    assert (row["misses"], row["false_alarms"]) == (named["misses"], named["false_alarms"])
    assert row["power"] == pytest.approx(named["after"] / named["pairs"])


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
            uj.study("leave-run-out", c, measures="AP", depth=depth, pooled="all")
        return
    rows = cells(uj.study("leave-run-out", c, measures="AP,AP'", depth=depth, pooled="all", jobs=1), "run", "measure")
    unique = {r[0]: r[3] for r in uj.contributions(c, per="run", depth=depth, pooled="all").rows()}
    for (run, _), row in rows.items():
        assert 0 <= row["full"] <= 1 + 1e-12
        if not unique[run]:
            assert row["reduced"] == row["full"] and row["rank_full"] == row["rank_reduced"]
            assert math.isnan(row["change_pct"]) if not row["full"] else row["change_pct"] == 0
    if len(c.topics) > 1:
        levels = uj.study("reduction", c, measures="AP", levels=(100, 50), test="t", jobs=1).frame
        whole = levels[levels["level"] == 100].iloc[0]
        assert (whole["misses"], whole["false_alarms"]) == (0, 0) and not whole["tau"] < 1


def test_the_papers_layout_in_latex_and_markdown(tiny: uj.Collection) -> None:
    result = uj.study("leave-team-out", tiny, measures="AP,AP'", seed=0)
    latex, markdown = result.render("latex"), result.render("markdown")
    assert r"$\rightarrow$" in latex and r"\%" in latex and r"\toprule" in latex
    assert "| left_out | run | AP | AP' |" in markdown
    moved = [r for r in result.frame.to_dict("records") if r["rank_full"] != r["rank_reduced"]]
    assert markdown.count("**") == 2 * len(moved)
    power = uj.study("power", tiny, measures="AP,RBP", resamples=100)
    assert r"\textbf{" in power.render("latex") and "**" in power.render("markdown")


def test_teams_are_needed_where_they_are(tiny: uj.Collection) -> None:
    from dataclasses import replace

    nobody = replace(tiny, teams={})
    for name in ("leave-team-out", "take-team"):
        with pytest.raises(UsageError, match="needs the teams: give --teams"):
            uj.study(name, nobody, measures="AP")
    with pytest.raises(UsageError, match="teams"):
        uj.study("contributions", nobody)
    with pytest.raises(UsageError, match="needs a Collection"):
        uj.study("power", "qrels.txt")


# -- verdicts: is the pool fair to outsiders?


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> uj.Collection:
    """26 topics, 14 runs of 5 teams: enough for a verdict."""
    found = uj.simulate("tiny", seed=5, topics=26, runs=14, teams=5, out=tmp_path_factory.mktemp("made") / "c")
    return uj.load(found.qrels, found.run_folder, teams=found.teams)


def test_the_verdict_is_the_mean_share_of_its_score_that_a_left_out_team_loses(made: uj.Collection) -> None:
    """By definition from the lists: per team the scores of its runs are added, then divided; then the teams' mean."""
    top, qrels, losses = tops(made, 10), judged(made), {}
    for team in set(made.teams.values()):
        mine = [run for run in made.runs if made.teams[run] == team]
        others = [run for run in made.runs if run not in mine]
        left = kept(
            qrels,
            lambda topic, doc, mine=mine, others=others: (
                not any(doc in top[run][topic] for run in mine) or any(doc in top[run][topic] for run in others)
            ),
        )
        full, less = (sum(ap(made, made.runs.index(run), q) for run in mine) for q in (qrels, left))
        losses[team] = 1 - less / full
    result = uj.study("leave-team-out", made, measures="AP,AP'", all_runs=True, depth=10, pooled="all")
    verdict, worst = result.verdict, max(losses, key=losses.__getitem__)
    assert verdict is not None and verdict.value == pytest.approx(np.mean(list(losses.values())), abs=1e-12)
    assert verdict.decided_by == (worst,) and verdict.unit == "share of the score"
    word = "solid" if verdict.value <= 0.02 else "with care" if verdict.value <= 0.1 else "fragile"  # type: ignore[operator]
    assert verdict.word == word and verdict.limit == "solid up to 2.0 % of the score, with care up to 10 %"
    assert verdict.sentence.startswith(
        f"a team that is not in the pool loses {100 * verdict.value:.1f} % of its AP on average ("  # type: ignore[operator]
    )
    assert f"; {worst} most, " in verdict.sentence and "in AP', which drops unjudged documents, it gains" in str(
        verdict
    )
    assert verdict.next is not None and verdict.next.command[0] == "correct"


@pytest.mark.parametrize("study", ["leave-team-out", "leave-run-out"])
def test_question_and_study_give_one_verdict(study: str, made: uj.Collection) -> None:
    from dataclasses import replace

    known = made if study == "leave-team-out" else replace(made, teams={})
    options: dict[str, Any] = {"measures": ("AP", "nDCG@10", "P@10")}
    asked = uj.study("fair-to-outsiders", known)
    alone = uj.study(study, known, **options, **({"all_runs": True} if study == "leave-team-out" else {}))  # type: ignore[arg-type]
    assert asked.verdict == alone.verdict and asked.verdict is not None and asked.verdict.word != "unknown"
    assert list(asked.rows()) == list(alone.rows()) and asked.figures[0] == "ranks"


def test_the_sentence_says_which_runs_it_looked_at(made: uj.Collection) -> None:
    of_the_question, usual = (uj.study(name, made).verdict for name in ("fair-to-outsiders", "leave-team-out"))
    assert of_the_question is not None and f", over all {len(made.runs)} runs" in of_the_question.sentence
    assert usual is not None and ", over one run of each team" in usual.sentence


def test_one_odd_run_does_not_change_the_word(made: uj.Collection) -> None:
    """A run with next to no score, all of it from a document that nobody else found: left out, it loses everything."""
    topic = made.topics[0]
    lists = {t: {f"nothing-{i}": 100.0 - i for i in range(9)} for t in made.topics}
    lists[topic]["odd-one"] = 1.0
    grades = {t: dict(docs) for t, docs in judged(made).items()}
    for t in made.topics:
        grades[t] |= {f"nothing-{i}": 0 for i in range(9)}
    grades[topic]["odd-one"] = 1
    runs = lists_of(made)
    found = []
    for more, team in (({}, ""), ({"odd": lists}, "team01"), ({"odd": lists}, "its own")):
        c = uj.load(grades, {**runs, **more}, teams={**made.teams, "odd": team} if more else made.teams)
        found.append(
            uj.study("leave-team-out", c, measures="AP", all_runs=True, depth=10, pooled="all").verdict,
        )
    before, *later = found
    for after in later:
        assert before is not None and after is not None
        assert after.word == before.word != "unknown" and after.value == pytest.approx(before.value, abs=0.002)


def test_where_nothing_can_be_left_out_the_verdict_is_unknown() -> None:
    """One team, all of it pooled: nobody can be left out, and nobody is outside."""
    one = dict.fromkeys(worked_pool.TEAMS, "t1")
    for pooled, step in (("all", None), ("infer", "--pooled")):
        c = uj.load({"t": {doc: 1 for docs in worked_pool.RUNS.values() for doc in docs}}, _lists(), teams=one)
        result = uj.study("leave-team-out", c, measures="AP", depth=3, pooled=pooled, all_runs=True)
        assert list(result.rows()) == [] and result.columns[:3] == ("left_out", "run", "measure")
        assert result.verdict is not None and result.verdict.word == "unknown"
        assert result.verdict.sentence == "only 1 team was pooled, so none can be left out"
        assert (result.verdict.next is None) == (step is None)
        if result.verdict.next is not None:
            assert result.verdict.next.sentence == "state the pooled runs with --pooled FILE or --pooled all"


def _lists() -> dict[str, dict[str, dict[str, float]]]:
    return {run: {"t": {doc: -float(i) for i, doc in enumerate(docs)}} for run, docs in worked_pool.RUNS.items()}


def test_what_a_team_outside_the_pool_loses_is_estimated(made: uj.Collection) -> None:
    """From lists and plain dicts: its own top documents judged as a completion has them, score against score."""
    inside = [run for run in made.runs if made.teams[run] != "team03"]
    own = [run for run in made.runs if made.teams[run] == "team03"]
    top, qrels = tops(made, 10), judged(made)
    seen = kept(qrels, lambda topic, doc: any(doc in top[run][topic] for run in inside))
    c = uj.load(seen, lists_of(made), teams=made.teams)
    result = uj.study("leave-team-out", c, measures="AP", all_runs=True, depth=10, pooled=inside, seed=1)
    frame = result.frame
    assert (frame[frame["left_out"] == "team03"]["change_pct"] == 0).all()
    completions, _ = complete(c, 1, 12, 1)
    lost = []
    for k in range(12):
        drawn = {
            topic: {**seen[topic], **{doc: g for doc, g in docs.items() if any(doc in top[run][topic] for run in own)}}
            for topic, docs in judged(completions.under(k)).items()
        }
        now, would = (sum(ap(c, c.runs.index(run), q) for run in own) for q in (seen, drawn))
        lost.append(1 - now / would)
    rest = frame[frame["left_out"] != "team03"].groupby("left_out")[["full", "reduced"]].sum()
    each = [*(1 - rest["reduced"] / rest["full"]), np.mean(lost)]
    assert result.verdict is not None and result.verdict.value == pytest.approx(np.mean(each), abs=1e-9)
    assert "from 4 teams left out in turn and 1 team outside the pool" in result.verdict.sentence


def test_a_pool_of_one_team_is_judged_by_those_outside(made: uj.Collection) -> None:
    inside = [run for run in made.runs if made.teams[run] == "team01"]
    top = tops(made, 10)
    seen = kept(judged(made), lambda topic, doc: any(doc in top[run][topic] for run in inside))
    c = uj.load(seen, lists_of(made), teams=made.teams)
    verdict = uj.study("leave-team-out", c, measures="AP", all_runs=True, depth=10, pooled=inside).verdict
    assert verdict is not None and verdict.word == "fragile" and "from 4 teams outside the pool" in verdict.sentence
    assert "these runs do not show the whole pool, so the upper end counts" in verdict.sentence


def test_few_teams_or_topics_make_no_verdict(po1: uj.Collection, tiny: uj.Collection) -> None:
    few = uj.study("leave-team-out", tiny, measures="AP", pooled="all").verdict
    assert few is not None and few.word == "unknown" and few.value is not None
    assert few.sentence.endswith("; but there are only 10 topics (at least 25 are needed)")
    both = uj.study("leave-run-out", po1, measures="AP", depth=3, pooled=["r1", "r2"]).verdict
    assert both is not None and both.word == "unknown" and "only 1 topic" in both.sentence
    four = uj.study("take-team", po1, measures="AP", depth=3, pooled="all").verdict
    assert four is not None and four.word == "unknown" and "only 4 runs" in four.sentence
    enough = uj.study("take-team", tiny, measures="AP", pooled="all").verdict
    assert enough is not None and enough.word != "unknown"


@pytest.mark.parametrize("name", ["leave-team-out", "take-team"])
def test_a_summary_without_significance(name: str, tiny: uj.Collection) -> None:
    plain = uj.study(name, tiny, measures="AP", summary=True, test="none")
    tested = uj.study(name, tiny, measures="AP", summary=True, test="t")
    assert plain.frame["tau"].tolist() == tested.frame["tau"].tolist()
    assert plain.frame[["power", "misses", "false_alarms"]].isna().all().all()
    assert plain.figures == ("tau",) and "power" not in plain.table() and plain.verdict == tested.verdict


# -- the findings of the papers on real collections

COLLECTIONS = ("dl19-passage", "robust03", "trec2-adhoc")


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
    found = uj.study("leave-team-out", real(name), pooled="all", jobs=1).frame
    for measure, rows in found.groupby("measure"):
        mean = rows["change_pct"].mean()
        assert (mean > 0) == is_condensed(measure), (measure, mean)  # type: ignore[arg-type]
    assert found.groupby("measure").ngroups == 9


@pytest.mark.parametrize("name", COLLECTIONS)
def test_misses_and_false_alarms_add_up(name: str) -> None:
    c = real(name)
    teams = len(set(c.teams.values()))
    for study, pairs in (("take-team", math.comb(teams, 2)), ("depth", math.comb(len(c.runs), 2))):
        options: dict[str, Any] = {"summary": True} if study == "take-team" else {"levels": (10, 5, 1)}
        found = uj.study(study, c, measures="Q',AP", resamples=100, pooled="all", jobs=1, **options).frame
        full = uj.study("power", c, measures="Q',AP", resamples=100, jobs=1, one_per_team=study == "take-team").frame
        before = dict(zip(full["measure"], full["significant"], strict=True))
        rows = [r for r in found.to_dict("records") if r.get("condition") != "average"]
        assert len(rows) >= 6
        for row in rows:
            after = before[row["measure"]] - row["misses"] + row["false_alarms"]
            assert round(row["power"] * pairs) == after


# -- the table and the charts


def test_the_difference_required_stands_in_the_table_of_power(tiny: uj.Collection) -> None:
    """Sakai 2009, tables 6 and 7: full judgments, discriminative power and the difference required, as `power` says."""
    c = tiny
    options: dict[str, Any] = {
        "measures": "AP,AP'",
        "resamples": 200,
        "seed": 3,
        "all_runs": True,
        "pooled": "all",
        "depth": 5,
    }
    result = uj.study("take-team", c, summary=True, **options)
    told = uj.power(c, measures="AP,AP'", resamples=200, seed=3).frame.set_index("measure").required_difference
    rows = result.frame[result.frame.condition == "full"].set_index("measure")
    assert rows.required_difference.to_dict() == pytest.approx(told.to_dict())
    line = next(line for line in result.table().splitlines() if line.startswith("full") and "required" in line)
    assert line.split()[-2:] == [f"{told[measure]:.2f}" for measure in ("AP", "AP'")]
    assert sum("required" in line for line in result.table().splitlines()) == 1


def test_changes_are_written_in_the_map_as_in_the_table(po1: uj.Collection) -> None:
    result = uj.study("leave-team-out", po1, measures="AP,AP'", all_runs=True, pooled="all", depth=2)
    spec = result.plot("changes").spec
    told = {(row["left_out"], row["run"], row["measure"]): row["told"] for row in spec["data"]["values"]}
    shown = [
        cell.split()[0] for line in result.table().splitlines()[1:] if line for cell in re.findall(r"\S+% \S+", line)
    ]
    single = {key: value for key, value in told.items() if sum(k[0] == key[0] and k[2] == key[2] for k in told) == 1}
    assert single and set(single.values()) <= set(shown)
    assert spec["layer"][1]["mark"]["type"] == "text"


def test_one_odd_run_does_not_set_the_colours() -> None:
    """Twenty changes of 1 to 20 % and one of 500 %: the colours end at the 95th percentile."""
    columns = ("left_out", "run", "measure", "full", "reduced", "change_pct", "rank_full", "rank_reduced", "repeat")
    rows = [(f"t{i}", f"r{i}", "AP", 0.1, 0.1, float(i), 1, 1, 1) for i in range(1, 20)]
    rows.append(("odd", "odd", "AP", 0.1, 0.1, 500.0, 1, 1, 1))
    result = uj.Result(columns, lambda: rows, uj.score(worked_pool.load(), "AP").provenance)
    spec = change_map(result, "left_out").spec
    (low, high) = spec["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert (low, high) == (-19.0, 19.0) and "500" in spec["description"]


def test_rank_plots_name_the_teams_and_start_at_one(po1: uj.Collection) -> None:
    result = uj.study("leave-team-out", po1, measures="AP,AP'", all_runs=True, pooled="all", depth=2)
    spec = result.plot("ranks").spec
    lines, names = spec["spec"]["layer"]
    assert lines["encoding"]["y"]["scale"]["domain"][0] == 1 and lines["encoding"]["y"]["axis"]["values"][0] == 1
    assert names["mark"]["type"] == "text" and names["encoding"]["text"] == {"field": "left_out"}
    svg = result.plot("ranks").svg()
    assert all(team in svg for team in result.frame.left_out.unique())
