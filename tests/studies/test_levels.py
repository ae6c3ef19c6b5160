"""Depth and reduction: fewer judgments by brute force, and their verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
from brute_force import ap, cells, judged, kept, lists_of, tops

import unjudged as uj
from unjudged.holes.completions import complete
from unjudged.thresholds import default_thresholds


def test_depth_by_brute_force(tiny: uj.Collection) -> None:
    qrels = judged(tiny)
    full = [ap(tiny, r, qrels) for r in range(len(tiny.runs))]
    result = uj.study("depth", tiny, measures="AP", levels=(10, 5, 1), depth=10, pooled="all", resamples=200)
    assert result.columns == (
        "level",
        "measure",
        "repeat",
        "mean",
        "tau",
        "power",
        "misses",
        "false_alarms",
        "judgments",
    )
    found = cells(result, "level")
    assert list(found) == [(10,), (5,), (1,)]
    for (level,), row in found.items():
        top = tops(tiny, level)
        left = kept(qrels, lambda topic, doc, top=top: any(doc in top[run][topic] for run in tiny.runs))
        means = [ap(tiny, r, left) for r in range(len(tiny.runs))]
        assert row["mean"] == pytest.approx(np.mean(means), abs=1e-12)
        assert row["tau"] == pytest.approx(scipy.stats.kendalltau(full, means).statistic, abs=1e-12)
        assert row["judgments"] == sum(map(len, left.values()))
    assert found[10,]["tau"] == 1 and (found[10,]["misses"], found[10,]["false_alarms"]) == (0, 0)


def test_reduction_is_that_of_reduce_and_its_sets_are_nested(tiny: uj.Collection) -> None:
    result = uj.study("reduction", tiny, measures="AP", levels=(100, 50, 10), seed=4, resamples=100)
    found = cells(result, "level")
    full = uj.score(tiny, "AP").means()["AP"]
    for (level,), row in found.items():
        reduced = uj.score(uj.reduce(tiny, rate=level / 100, seed=4), "AP").means()["AP"]
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


def test_levels_are_decimal_numbers() -> None:
    """33.3 % of 1000 documents are 333, though 33.3 / 100 is a little less than 0.333 in binary."""
    judged = {"1": {f"d{i}": 1 for i in range(1000)}, "2": {"d0": 1}}
    runs = {name: {"1": {f"d{i}": float(i) for i in range(1000)}, "2": {"d0": 1.0}} for name in ("a", "b")}
    mean = uj.study("reduction", uj.load(judged, runs), measures="P@1000", levels=(33.3,), test="t").frame["mean"]
    assert mean.tolist() == [(333 / 1000 + 1 / 1000) / 2]


@pytest.mark.parametrize("name", ["reduction", "depth"])
def test_one_topic_cannot_show_that_runs_differ(name: str, tiny: uj.Collection) -> None:
    """A single difference is constant and would count as significant for every pair."""
    verdict = uj.study(name, uj.only(tiny, tiny.topics[:1]), measures="AP", jobs=1).verdict
    assert verdict is not None and verdict.word == "unknown" and verdict.value is None
    assert verdict.sentence.startswith(("one topic cannot show which runs differ", "the pool depth cannot be inferred"))


def test_judgments_that_the_pool_does_not_explain_stay_at_every_level(tiny: uj.Collection) -> None:
    """With the runs of two teams taken as pooled, what only the others brought is there at every depth."""
    pooled = [run for run in tiny.runs if tiny.teams[run] in ("team01", "team02")]
    qrels, deep, flat = judged(tiny), tops(tiny, 10), tops(tiny, 2)
    left = kept(
        qrels,
        lambda topic, doc: (
            any(doc in flat[run][topic] for run in pooled) or not any(doc in deep[run][topic] for run in pooled)
        ),
    )
    result = uj.study("depth", tiny, measures="AP", levels=(2,), depth=10, pooled=pooled, test="none")
    means = [ap(tiny, r, left) for r in range(len(tiny.runs))]
    assert result.frame["mean"].tolist() == [pytest.approx(np.mean(means), abs=1e-12)]
    assert any(note.endswith("the other judgments stay at every level") for note in result.notes)


def test_a_reduction_of_reduced_judgments(tiny: uj.Collection) -> None:
    """The rows of a collection with fewer judgments are its own, not those of the full one."""
    less = uj.shallow(tiny, 5)
    result = uj.study("reduction", less, measures="AP", levels=(50,), seed=2, test="none")
    expected = uj.score(uj.reduce(less, rate=0.5, seed=2), "AP").means()["AP"].mean()
    assert result.frame["mean"].tolist() == [pytest.approx(float(expected), abs=1e-12)]


# -- the verdict


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> uj.Collection:
    """26 topics, 14 runs of 5 teams, pool of depth 10: enough for a verdict."""
    found = uj.simulate("tiny", seed=5, topics=26, runs=14, teams=5, out=tmp_path_factory.mktemp("made") / "c")
    return uj.load(found.qrels, found.run_folder, teams=found.teams)


def _completed_taus(c: uj.Collection, draws: int, seed: int) -> list[float]:
    """Kendall's tau of the order by AP with that under each completion, from lists and plain dicts."""
    completions, _ = complete(c, 1, draws, seed)
    found = []
    for k in range(draws):
        qrels = judged(completions.under(k))
        found.append([ap(c, r, qrels) for r in range(len(c.runs))])
    now = [ap(c, r, judged(c)) for r in range(len(c.runs))]
    return [scipy.stats.kendalltau(now, one).statistic for one in found]


@pytest.mark.slow
@pytest.mark.parametrize(("study", "levels"), [("depth", None), ("depth", (2, 1)), ("reduction", (50,))])
def test_the_verdict_is_the_order_under_complete_judgments(study: str, levels: Any, made: uj.Collection) -> None:
    """Whatever levels are asked for: the mean tau over completions of the judgments, with its range."""
    options: dict[str, Any] = {"measures": "AP,P@10", "test": "none", "seed": 3}
    if study == "depth":
        options |= {"depth": 10, "pooled": "all"}
    verdict = uj.study(study, made, **options, **({"levels": levels} if levels else {})).verdict
    taus = _completed_taus(made, 40, 3)
    low, high = np.quantile(taus, [0.1, 0.9])
    assert verdict is not None and verdict.value == pytest.approx(np.mean(taus), abs=1e-9)
    pairs = f"{np.floor(50 * (1 + np.mean(taus)) + 0.5):.0f} of 100 pairs would keep their order"
    assert verdict.sentence == (
        f"with complete judgments {pairs} by AP (tau {np.mean(taus):.2f}, {low:.2f} to {high:.2f})"
    )
    assert verdict.finding == f"{pairs} with complete judgments"
    limit = default_thresholds()["fewer-judgments"]
    assert verdict.limit == "solid from 95 of 100 pairs (tau 0.89), with care from 89 (tau 0.78)"
    assert (limit.solid, limit.care) == (0.89, 0.78)
    surely = verdict.value, low + limit["slack"]
    assert verdict.word == ("solid" if min(surely) >= 0.89 else "with care" if verdict.value >= 0.78 else "fragile")  # type: ignore[operator]


def test_too_few_relevant_documents_are_no_test_of_the_order(made: uj.Collection) -> None:
    """One relevant document per topic: a quarter of the judgments would leave all of them, and every order the same."""
    one: dict[str, dict[str, int]] = {}
    for topic, docs in judged(made).items():
        first = next(doc for doc, grade in docs.items() if grade > 0)
        one[topic] = {doc: grade for doc, grade in docs.items() if grade == 0 or doc == first}
    c = uj.load(one, lists_of(made), teams=made.teams)
    result = uj.study("fewer-judgments", c)
    assert result.verdict is not None and result.verdict.word == "unknown" and result.verdict.value is None
    assert "too few judgments per topic to test the order: half of the topics have 1" in result.verdict.sentence


def test_a_reduction_says_where_it_took_next_to_nothing_away() -> None:
    grades = {str(t): {"a": 1, **{f"n{i}": 0 for i in range(10)}} for t in range(5)}
    runs = {name: {t: {"a": 2.0, "n1": 1.0} for t in grades} for name in ("x", "y")}
    notes = uj.study("reduction", uj.load(grades, runs), measures="AP", levels=(100, 25), test="none").notes
    told = [note for note in notes if "no test of fewer judgments" in note]
    assert told == [
        "level 25: 100 % of the judgments are left, because every topic keeps 1 relevant and 10 nonrelevant documents; "
        "this is no test of fewer judgments"
    ]


def test_question_and_study_give_one_verdict(made: uj.Collection) -> None:
    measures = ("AP", "nDCG@10", "P@10")
    asked = uj.study("fewer-judgments", made)
    assert asked.verdict == uj.study("depth", made, measures=measures, test="none").verdict
    other = uj.study("depth", made, measures=measures, test="t", levels=(5, 2)).verdict
    assert asked.verdict is not None and other is not None
    assert (asked.verdict.word, asked.verdict.value) == (other.word, other.value)
    strange = uj.load({t: {"nowhere": 1, "elsewhere": 0} for t in made.topics}, _some_lists(made))
    asked = uj.study("fewer-judgments", strange)  # no pool can be seen
    levels = (70, 50, 30, 20, 10)
    alone = uj.study("reduction", strange, measures=measures, levels=levels, test="none")
    assert asked.verdict == alone.verdict and list(asked.frame["level"].unique()) == list(levels)


def _some_lists(c: uj.Collection) -> dict[str, dict[str, dict[str, float]]]:
    return {run: {t: {f"{run}-{t}": 1.0} for t in c.topics} for run in c.runs}


def test_without_significance_the_rest_is_the_same(tiny: uj.Collection) -> None:
    for name in ("depth", "reduction"):
        plain = uj.study(name, tiny, measures="AP,P@10", levels=(5, 2), test="none")
        tested = uj.study(name, tiny, measures="AP,P@10", levels=(5, 2), test="t")
        for column in ("level", "measure", "mean", "tau"):
            assert plain.frame[column].tolist() == tested.frame[column].tolist()
        assert plain.frame[["power", "misses", "false_alarms"]].isna().all().all()
        assert not tested.frame["power"].isna().any()
        assert plain.figures == ("tau", "mean") and "misses" not in plain.table()
        assert plain.verdict == tested.verdict and plain.provenance.settings["test"] == "none"


def test_runs_alike_give_no_verdict() -> None:
    same = {"a": {"1": {"x": 1.0}, "2": {"x": 1.0}}}
    grades = {t: {"x": 1, "y": 0, **{f"r{i}": 1 for i in range(5)}} for t in ("1", "2")}
    c = uj.load(grades, {**same, "b": same["a"]})
    alike = uj.study("reduction", c, measures="AP", levels=(50,), test="none").verdict
    assert alike is not None and alike.word == "unknown" and "there is no order" in alike.sentence
