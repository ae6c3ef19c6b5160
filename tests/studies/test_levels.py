"""Depth and reduction: fewer judgments by brute force, and their verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
from brute_force import ap, cells, judged, kept, tops

import unjudged as uj
from unjudged.errors import UsageError


def test_depth_by_brute_force(tiny: uj.Collection) -> None:
    qrels = judged(tiny)
    full = [ap(tiny, r, qrels) for r in range(len(tiny.runs))]
    result = uj.study("depth", tiny, measures="AP", levels=(10, 5, 1), depth=10, pooled="all", resamples=200)
    assert result.columns == ("level", "measure", "repeat", "mean", "tau", "power", "misses", "false_alarms")
    found = cells(result, "level")
    assert list(found) == [(10,), (5,), (1,)]
    for (level,), row in found.items():
        top = tops(tiny, level)
        left = kept(qrels, lambda topic, doc, top=top: any(doc in top[run][topic] for run in tiny.runs))
        means = [ap(tiny, r, left) for r in range(len(tiny.runs))]
        assert row["mean"] == pytest.approx(np.mean(means), abs=1e-12)
        assert row["tau"] == pytest.approx(scipy.stats.kendalltau(full, means).statistic, abs=1e-12)
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
    with pytest.raises(UsageError, match="significance needs at least 2 topics, 1 given"):
        uj.study(name, uj.only(tiny, tiny.topics[:1]), measures="AP", jobs=1)


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


@pytest.mark.slow
@pytest.mark.parametrize("levels", [None, (5,), (2, 1)])
def test_depth_is_judged_at_a_quarter_whatever_levels_are_asked_for(levels: Any, made: uj.Collection) -> None:
    qrels, top = judged(made), tops(made, 2)  # a quarter of 10, rounded down
    left = kept(qrels, lambda topic, doc: any(doc in top[run][topic] for run in made.runs))
    orders = [[ap(made, r, q) for r in range(len(made.runs))] for q in (qrels, left)]
    result = uj.study("depth", made, measures="AP,P@10", depth=10, pooled="all", levels=levels, test="none")
    verdict, expected = result.verdict, scipy.stats.kendalltau(*orders).statistic
    assert verdict is not None and verdict.value == pytest.approx(expected, abs=1e-12)
    share = sum(map(len, left.values())) / sum(map(len, qrels.values()))
    said = (
        f"with a pool of depth 2 ({100 * share:.0f} % of the judgments left) the order by AP would agree with this one"
    )
    assert verdict.sentence.startswith(f"{said} by tau {expected:.3f}; ")
    assert set(result.frame["level"]) == set(levels or (1,))
    assert verdict.word == ("solid" if expected >= 0.9 else "with care" if expected >= 0.8 else "fragile")


def test_reduction_is_judged_at_a_quarter_of_the_judgments(made: uj.Collection) -> None:
    result = uj.study("reduction", made, measures="AP", levels=(50,), seed=3, repeats=2, test="none")
    orders = [uj.score(c, "AP").means()["AP"] for c in (made, uj.reduce(made, rate=0.25, seed=3))]
    assert result.verdict is not None
    assert result.verdict.value == pytest.approx(scipy.stats.kendalltau(*orders).statistic, abs=1e-12)
    assert "drawn at random, the order by AP would agree with this one" in result.verdict.sentence


def test_question_and_study_give_one_verdict(made: uj.Collection) -> None:
    measures = ("AP", "nDCG@10", "P@10")
    asked = uj.study("fewer-judgments", made)
    assert asked.verdict == uj.study("depth", made, measures=measures, test="none").verdict
    other = uj.study("depth", made, measures=measures, test="t", levels=(5, 2)).verdict
    assert asked.verdict is not None and other is not None
    assert (asked.verdict.word, asked.verdict.value) == (other.word, other.value)
    strange = uj.load({t: {"nowhere": 1, "elsewhere": 0} for t in made.topics}, _some_lists(made))
    asked = uj.study("fewer-judgments", strange)  # no pool can be seen
    levels = (50, 25, 10, 5)
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


def test_a_pool_of_depth_1_and_runs_alike_give_no_verdict(made: uj.Collection) -> None:
    flat = uj.study("depth", made, measures="AP", depth=1, pooled="all", test="none").verdict
    assert flat is not None and flat.word == "unknown" and "cannot be made shallower" in flat.sentence
    assert flat.next is not None and flat.next.command[:2] == ("study", "reduction")
    same = {"a": {"1": {"x": 1.0}, "2": {"x": 1.0}}}
    c = uj.load({"1": {"x": 1, "y": 0}, "2": {"x": 1}}, {**same, "b": same["a"]})
    alike = uj.study("reduction", c, measures="AP", levels=(50,), test="none").verdict
    assert alike is not None and alike.word == "unknown" and "there is no order" in alike.sentence
