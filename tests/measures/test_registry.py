"""What every registered measure must do, whatever it is: one suite over the whole registry."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import ROOT

import unjudged as uj
from unjudged.explanations import explain
from unjudged.measures import CITATIONS, NAMED, REGISTRY, Measure, measures, parse

CUTOFFS: dict[str, float] = {"k": 3, "recall": 0.3}


def complete(measure: Measure) -> Measure:
    """With a cut-off where one is needed."""
    needs = any(p.required for p in measure.definition.parameters.values())
    return measure @ CUTOFFS[measure.definition.cutoff] if needs else measure


BUILT_IN = sorted(name for name, m in REGISTRY.items() if m.definition.family != "yours")
EVERY = [complete(REGISTRY[name]) for name in BUILT_IN]
every_measure = pytest.mark.parametrize("measure", EVERY, ids=str)


def collection(seed: int, judged_only: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgments and three runs: grades 0 to 3, unjudged documents (or none), short lists, a missing topic."""
    dice = random.Random(seed)
    documents = [f"d{i:02}" for i in range(30)]
    qrels: dict[str, Any] = {}
    runs: dict[str, dict[str, Any]] = {name: {} for name in ("a", "b", "c")}
    for topic in ("1", "2", "3"):
        judged = dice.sample(documents, 18)
        qrels[topic] = {d: dice.choice((0, 0, 1, 2, 3)) for d in judged} | {judged[0]: 3, judged[1]: 0}
        for name, run in runs.items():
            if (name, topic) != ("c", "3"):
                listed = dice.sample(judged if judged_only else documents, dice.randint(1, 15))
                run[topic] = {d: float(len(listed) - rank) for rank, d in enumerate(listed)}
    return qrels, runs


def values(measure: Measure, qrels: Any, runs: Any, **options: Any) -> np.ndarray:
    return uj.score(uj.load(qrels, runs), [measure], **options).values[:, :, 0]


@pytest.mark.slow
@every_measure
def test_range(measure: Measure) -> None:
    for seed in range(20):
        found = values(measure, *collection(seed))
        assert np.isfinite(found).all()
        if measure.definition.bounded:
            assert found.min() >= 0
            assert found.max() <= 1 + 1e-12


@every_measure
def test_spelling_round_trip(measure: Measure) -> None:
    spellings = [measure]
    if not measure.definition.condensed:
        spellings.append(measure(judged_only=True))
    if measure.definition.aggregate != "sum":
        spellings.append(measure(mean="geometric"))
    for spelled in spellings:
        assert measures(str(spelled)) == [spelled]
        assert parse(str(spelled))[0].params == spelled.params


@every_measure
def test_condensing_a_fully_judged_run_changes_nothing(measure: Measure) -> None:
    if measure.definition.condensed:
        pytest.skip("always on the condensed list")
    qrels, runs = collection(7, judged_only=True)
    assert values(measure, qrels, runs).tolist() == values(measure(judged_only=True), qrels, runs).tolist()


@every_measure
def test_condensed_equals_the_run_without_unjudged_documents(measure: Measure) -> None:
    qrels, runs = collection(8)
    cut = {
        n: {t: {d: s for d, s in ranked.items() if d in qrels[t]} for t, ranked in run.items()}
        for n, run in runs.items()
    }
    primed = measure if measure.definition.condensed else measure(judged_only=True)
    assert values(primed, qrels, runs) == pytest.approx(values(measure, qrels, cut), abs=1e-12)


@every_measure
def test_an_empty_list(measure: Measure) -> None:
    qrels, _ = collection(1)
    found = values(measure, qrels, {"a": {"1": {}, "2": {"d00": 1.0}}})[0, 0]
    counted = {"NumQ": 1.0, "NumRel": sum(g > 0 for g in qrels["1"].values()), "iDCG": None, "yaap": None}
    grades = list(qrels["1"].values())
    counted["NumPrefs"] = float(sum(a > b for a in grades for b in grades))
    if measure.name in ("RBP_residual", "k"):
        assert found == 1
    elif measure.name == "yaap":
        assert found < 0
    elif measure.name == "iDCG":
        assert found > 0
    else:
        assert found == counted.get(measure.name, 0.0)


@every_measure
def test_no_relevant_document(measure: Measure) -> None:
    qrels = {"1": {"a": 0, "b": 0}, "2": {"a": 1, "b": 0}}
    run = {"1": {"a": 2.0, "x": 1.0}, "2": {"a": 1.0}}
    zero = values(measure, qrels, run)
    kept = values(measure, qrels, run, undefined="nan")
    assert np.isfinite(zero).all()
    assert np.array_equal(np.nan_to_num(kept), zero)
    if measure.definition.bounded and measure.name not in ("anti_P", "k", "unj", "Judged", "RBP_residual"):
        assert zero[0, 0] == 0


@every_measure
def test_the_order_of_lines_does_not_matter(measure: Measure, tmp_path: Path) -> None:
    qrels, runs = collection(9)
    judged = [f"{t} 0 {d} {g}\n" for t, docs in qrels.items() for d, g in docs.items()]
    listed = [f"{t} Q0 {d} 1 {s} x\n" for t, docs in runs["a"].items() for d, s in docs.items()]
    found = []
    for seed in (0, 1):
        dice = random.Random(seed)
        dice.shuffle(judged)
        dice.shuffle(listed)
        (tmp_path / "qrels").write_text("".join(sorted(judged, key=lambda line: line.split()[0])))
        (tmp_path / "run").write_text("".join(listed))
        found.append(values(measure, str(tmp_path / "qrels"), str(tmp_path / "run")))
    assert found[0] == pytest.approx(found[1], abs=1e-13)


@every_measure
def test_explain_page(measure: Measure) -> None:
    page = explain(measure.name)
    definition = measure.definition
    assert page.startswith(measure.name)
    assert "Formula:" in page
    assert "unjudged documents:" in page
    assert "range:" in page
    assert re.search(rf"{re.escape(measure.name)}(@\S+)? = -?\d", page), "a worked example"
    assert definition.cite in CITATIONS
    assert CITATIONS[definition.cite] in page
    for parameter in definition.parameters:
        assert f"    {parameter}" in page


def test_explain_computes_the_worked_example() -> None:
    """The example list is M1 of the worked examples."""
    for name, value in {"AP": "0.2716", "Q": "0.2449", "bpref": "0.3827", "RBP": "0.1112", "P_plus": "0.6250"}.items():
        assert f"{name} = {value}\n" in explain(name)


@every_measure
def test_named_in_the_docs(measure: Measure) -> None:
    page = (ROOT / "docs" / "measures.md").read_text("utf-8")
    assert re.search(rf"[`(]{re.escape(measure.name)}\b", page)


@pytest.mark.parametrize("name", NAMED)
def test_named_sets_are_measures(name: str) -> None:
    inside = parse(name)
    assert len(inside) == len(NAMED[name])
    qrels, runs = collection(3)
    assert uj.score(uj.load(qrels, runs), name).values.shape == (3, 3, len(dict.fromkeys(inside)))


PAPER_SETS = [name for name in NAMED if name.startswith("sakai")]


@pytest.mark.parametrize("name", PAPER_SETS)
def test_sets_bring_the_gains_of_their_papers_in_the_label(name: str) -> None:
    """TREC grades 1 and 2 have gains 1 and 3: Q of the list (1, 2), by hand. Where Q is asked for alone, it is Q."""
    qrels, run = {"1": {"a": 1, "b": 2}}, {"1": {"a": 2.0, "b": 1.0}}
    by_hand = ((1 + 1) / (1 + 3) + (2 + 4) / (2 + 4)) / 2
    plain = ((1 + 1) / (1 + 2) + (2 + 3) / (2 + 3)) / 2
    if "Q" not in NAMED[name]:
        return
    scores = uj.score(uj.load(qrels, run), f"Q, {name}")
    assert scores.matrix("Q(gains={1: 1, 2: 3})") == pytest.approx(np.array([[by_hand]]))
    assert scores.matrix("Q") == pytest.approx(np.array([[plain]]))
    settings = scores.provenance.settings
    assert settings["gains"] == "grade" and "Q(gains={1: 1, 2: 3})" in settings["measures"]


@pytest.mark.parametrize("name", PAPER_SETS)
def test_own_gains_and_other_grades_keep_the_sets_as_they_are(name: str) -> None:
    qrels, run = {"1": {"a": 1, "b": 2}}, {"1": {"a": 2.0, "b": 1.0}}
    own = uj.score(uj.load(qrels, run, gains={1: 1, 2: 5}), name)
    assert [str(m) for m in own.measures] == [str(m) for m in dict.fromkeys(parse(name))]
    assert own.provenance.settings["gains"] == {1: 1.0, 2: 5.0}
    if "Q" in NAMED[name]:
        assert own.matrix("Q") == pytest.approx(np.array([[((1 + 1) / (1 + 5) + 1) / 2]]))
    for others in ({"1": {"a": 1, "b": 2, "c": 3}}, {"1": {"a": 1, "b": 0}}):
        scores = uj.score(uj.load(others, run), name)
        assert [str(m) for m in scores.measures] == [str(m) for m in dict.fromkeys(parse(name))]


def test_the_gains_of_a_set_are_those_given_to_the_collection() -> None:
    """Every graded measure of the sets, RBP with its highest gain included: the label says what is computed."""
    qrels, runs = {"1": {"a": 1, "b": 2, "c": 0}, "2": {"a": 2, "d": 1}}, {"1": {"c": 3.0, "a": 2.0, "b": 1.0}}
    by_set = uj.score(uj.load(qrels, runs), ["sakai2005-graded", "sakai2007", "sakai2009"])
    by_user = uj.score(uj.load(qrels, runs, gains={1: 1, 2: 3}), ["sakai2005-graded", "sakai2007", "sakai2009"])
    assert by_set.values == pytest.approx(by_user.values, abs=1e-12)


def test_studies_say_which_gains_they_used() -> None:
    qrels, runs = collection(3)
    grades = {t: {d: min(g, 2) for d, g in docs.items()} for t, docs in qrels.items()}
    assert max(g for docs in grades.values() for g in docs.values()) == 2
    made = uj.power(uj.load(grades, runs), measures="sakai2009", resamples=50)
    assert {str(r[0]) for r in made.rows()} >= {"Q(gains={1: 1, 2: 3})", "AP"}
    assert made.provenance.settings["gains"] == "grade"
    assert "Q(gains={1: 1, 2: 3})" in made.provenance.settings["measures"]
