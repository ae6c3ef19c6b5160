"""Subtopics, intents, nuggets: parity with pyndeval, values by hand, properties, bounds by enumeration."""

from __future__ import annotations

import itertools
import json
import math
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unjudged as uj
from unjudged.cli import main
from unjudged.io.write import write_qrels
from unjudged.measures import REGISTRY, measures
from unjudged.measures.bounds.aspects import BOUNDED, OUTER

Judged = dict[str, dict[str, dict[str, int]]]
NDEVAL = [
    *("ERR-IA@5", "ERR-IA@20", "nERR-IA@1", "nERR-IA@10", "alpha-DCG@5", "alpha-nDCG@3", "alpha-nDCG@20"),
    *("NRBP", "nNRBP", "MAP-IA", "P-IA@5", "P-IA@20", "strec@10", "strec@20"),
]


def made(seed: int) -> tuple[Judged, dict[str, dict[str, float]]]:
    """Judgments of 20 topics, some without a relevant document, and a run with ties that leaves topics out."""
    rng = random.Random(seed)
    judged: Judged = {}
    for t in range(20):
        subtopics = judged.setdefault(f"t{t}", {})
        for s in range(rng.randint(1, 6)):
            docs = rng.sample(range(40), rng.randint(1, 15))
            subtopics[f"s{s}"] = {f"d{d}": rng.choice([0, 0, 1, 1, 2]) if t else 0 for d in docs}
    lists = {f"t{t}": rng.sample(range(60), 30) for t in range(18)}
    return judged, {t: {f"d{d}": float(rng.randint(0, 8)) for d in found} for t, found in lists.items()}


def load(judged: Judged, run: dict[str, dict[str, float]], **options: Any) -> uj.Collection:
    return uj.load(judged, {"run": run}, qrels_format="diversity", **options)


@pytest.mark.filterwarnings("ignore::unjudged.DataWarning")
@pytest.mark.parametrize(("alpha", "p"), [(0.5, 0.5), (0.25, 0.8), (0.0, 0.5), (1.0, 0.5)])
def test_ndeval_has_the_same_values(alpha: float, p: float) -> None:
    pyndeval = pytest.importorskip("pyndeval")
    judged, run = made(7)
    lines = [(t, s, d, g) for t, inside in judged.items() for s, docs in inside.items() for d, g in docs.items()]
    listed = [(t, d, score) for t, docs in run.items() for d, score in docs.items()]
    theirs = pyndeval.RelevanceEvaluator(lines, NDEVAL, alpha=alpha, beta=p).evaluate(listed)
    chosen = [m(**{key: v for key, v in (("alpha", alpha), ("p", p)) if key in m.params}) for m in measures(NDEVAL)]
    found = uj.score(load(judged, run, ties="ascending"), chosen)
    for m, name in enumerate(NDEVAL):
        for t, topic in enumerate(found.topics):
            expected = theirs[topic][name] if topic in run else 0.0
            expected = 0.0 if math.isnan(expected) else expected  # its nNRBP of a topic without relevant documents
            assert found.values[0, t, m] == pytest.approx(expected, abs=1e-9), (name, topic)


def test_sums_that_are_equal_round_as_in_ndeval() -> None:
    """With alpha = 0.2 the order in which gains are added up decides between documents that add the same."""
    pyndeval = pytest.importorskip("pyndeval")
    rng = random.Random(3)
    judged: Judged = {}
    for t in range(60):
        subtopics = judged.setdefault(f"t{t}", {})
        for s in rng.sample(range(11), rng.randint(3, 8)):  # in another order in every topic
            subtopics[f"s{s}"] = {f"d{d}": 1 for d in rng.sample(range(40), rng.randint(1, 30))}
    run = {t: {f"d{d}": float(d) for d in rng.sample(range(60), 40)} for t in judged}
    lines = [(t, s, d, g) for t, inside in judged.items() for s, docs in inside.items() for d, g in docs.items()]
    listed = [(t, d, score) for t, docs in run.items() for d, score in docs.items()]
    theirs = pyndeval.RelevanceEvaluator(lines, ["alpha-nDCG@20", "nNRBP"], alpha=0.2).evaluate(listed)
    found = uj.score(load(judged, run), "alpha_nDCG(alpha=0.2)@20, nNRBP(alpha=0.2)")
    expected = [list(theirs[t].values()) for t in found.topics]
    assert np.abs(found.values[0] - expected).max() < 1e-9


HAND: Judged = {"1": {"a": {"d1": 1, "d2": 1, "d4": 1}, "b": {"d2": 1}, "c": {"d5": 1}}}
LIST = {"1": {"d1": 5.0, "d2": 4.0, "d3": 3.0, "d4": 2.0}}
# G(1) = 1 (a), G(2) = 1/2 (a again) + 1 (b), G(3) = 0, G(4) = 1/4 (a); the ideal list: d2 2, d5 1, d4 1/2, d1 1/4
G = (1.0, 1.5, 0.0, 0.25)
IDEAL = (2.0, 1.0, 0.5, 0.25)
LOG = [math.log2(r + 1) for r in range(1, 5)]


def dcg(gains: tuple[float, ...]) -> float:
    return sum(g / x for g, x in zip(gains, LOG, strict=True))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("alpha_nDCG@4", dcg(G) / dcg(IDEAL)),
        ("alpha_nDCG@2", (1 + 1.5 / LOG[1]) / (2 + 1 / LOG[1])),
        ("alpha_DCG@2", (1 + 1.5 / LOG[1]) / (3 + 1.5 / LOG[1])),
        ("ERR_IA@2", (1 + 0.75) / (3 * (1 + 1 / 4))),
        ("nERR_IA@2", (1 + 0.75) / (2 + 0.5)),
        ("NRBP", 0.75 / 3 * (1 + 1.5 / 2 + 0.25 / 8)),
        ("AP_IA", ((1 + 1 + 3 / 4) / 3 + 1 / 2 + 0) / 3),
        ("P_IA@2", (1 + 0.5 + 0) / 3),
        ("StRecall@1", 1 / 3),
        ("I_rec@4", 2 / 3),
        ("D_nDCG@2", (1 / 3 + 2 / 3 / LOG[1]) / (2 / 3 + 1 / 3 / LOG[1])),
        ("D#-nDCG@2", (2 / 3 + (1 / 3 + 2 / 3 / LOG[1]) / (2 / 3 + 1 / 3 / LOG[1])) / 2),
    ],
)  # fmt: skip
def test_values_by_hand(name: str, expected: float) -> None:
    assert uj.score(load(HAND, LIST), name).values[0, 0, 0] == pytest.approx(expected, abs=1e-12)


def test_intents_of_ntcir(tmp_path: Path) -> None:
    """GG = sum of probability * gain: d1 0.6 * 2, d2 0.3 * 3, d3 0.6 + 0.3; the third intent has no document."""
    (tmp_path / "web.Iprob").write_text("1 i1 0.6\n1 i2 0.3\n1 i3 0.1\n")
    (tmp_path / "web.Dqrels").write_text("1 i1 d1 L2\n1 i2 d2 L3\n1 i1 d3 L1\n1 i2 d3 L1\n1 i1 d2 L0\n")
    c = uj.load(str(tmp_path / "web.Dqrels"), {"run": {"1": {"d3": 2.0, "d2": 1.0}}}, qrels_format="intents")
    found = uj.score(c, ["D_nDCG@2", "I_rec@2"]).values[0, 0]
    assert found[0] == pytest.approx((0.9 + 0.9 / LOG[1]) / (1.2 + 0.9 / LOG[1]), abs=1e-12)
    assert found[1] == pytest.approx(2 / 3)


def nuggets(tmp_path: Path) -> str:
    path = tmp_path / "nuggets.jsonl"
    lines = [
        {"qid": "1", "nuggets": [{"text": "one", "docs": ["d1"]}, {"text": "two", "importance": "okay", "docs": []}]},
        {"qid": "1", "docid": "d2", "nuggets": [
            {"text": "two", "importance": "okay", "assignment": "partial_support"},
            {"text": "three", "importance": "vital", "assignment": "not_support"},
        ]},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("NuggetRecall", 1 / 3),
        ("NuggetRecall(of='vital')", 1 / 2),
        ("NuggetRecall(of='weighted')", 1 / 2.5),
        ("NuggetRecall(of='weighted', strict=False)", 1.25 / 2.5),
        ("NuggetRecall(strict=False)@1", 0.5 / 3),
        ("NuggetPrecision@3", 2 / 3),
        ("NuggetPrecision(of='vital')", 1 / 3),
    ],
)
def test_nuggets(tmp_path: Path, name: str, expected: float) -> None:
    c = uj.load(nuggets(tmp_path), {"run": {"1": {"d2": 3.0, "d1": 2.0, "d9": 1.0}}})
    assert uj.score(c, name).values[0, 0, 0] == pytest.approx(expected, abs=1e-12)


grades = st.lists(st.integers(0, 1), min_size=6, max_size=6).filter(any)


@settings(max_examples=15, deadline=None)
@given(grades, st.permutations(range(6)))
def test_one_subtopic_is_the_ordinary_measure(grade: list[int], order: list[int]) -> None:
    docs = {f"d{i}": g for i, g in enumerate(grade)}
    run = {"1": {f"d{i}": float(place) for i, place in enumerate(order) if i != 2}}
    aspects, plain = load({"1": {"only": docs}}, run), uj.load({"1": docs}, {"run": run})
    same = {
        "alpha_nDCG(alpha=0.0)@4": "nDCG@4",
        "NRBP(alpha=0.0, p=0.8)": "RBP(p=0.8)",
        "AP_IA": "AP",
        "P_IA@3": "P@3",
        "D_nDCG@4": "nDCG@4",
    }
    ours, ordinary = uj.score(aspects, list(same)), uj.score(plain, list(same.values()))
    for name, usual in same.items():
        assert ours.matrix(name) == pytest.approx(ordinary.matrix(usual), abs=1e-12)
    err = uj.score(plain, "ERR@3").values[0, 0, 0]  # stops with 1/2 at a relevant document, and is not normalised
    assert uj.score(aspects, "ERR_IA@3").values[0, 0, 0] * (1 + 1 / 4 + 1 / 12) / 2 == pytest.approx(err, abs=1e-12)


def test_weights_of_alpha() -> None:
    """alpha = 0 does not mind repetition, alpha = 1 counts a subtopic once."""
    judged: Judged = {"1": {"a": {"d1": 1, "d2": 1}, "b": {"d3": 1}}}
    again = uj.score(load(judged, {"1": {"d1": 2.0, "d2": 1.0}}), ["alpha_DCG(alpha=0.0)@2", "alpha_DCG(alpha=1.0)@2"])
    assert again.values[0, 0].tolist() == pytest.approx([0.5, 0.5])
    new = uj.score(load(judged, {"1": {"d1": 2.0, "d3": 1.0}}), "alpha_DCG(alpha=1.0)@2").values[0, 0, 0]
    assert new == pytest.approx((1 + 1 / LOG[1]) / 2)


ENDS = [f"{name}@3" if REGISTRY[name].definition.parameters.get("k") else name for name in BOUNDED]


@pytest.mark.parametrize("name", ENDS)
def test_bounds_against_all_completions(name: str) -> None:
    """Three unjudged documents, two aspects, grades 0 and 1: 64 completions; one of the documents is another run's."""
    rng = random.Random(11)
    for _ in range(3):
        docs = [f"d{i}" for i in range(6)]
        judged: Judged = {"1": {s: {d: rng.randint(0, 1) for d in docs[:3]} for s in "ab"}}
        judged["1"]["a"]["d0"] = judged["1"]["b"]["d1"] = 1
        mine = {d: rng.random() for d in docs[:2] + docs[3:5]}
        runs = {"mine": {"1": mine}, "other": {"1": {"d5": 1.0, "d2": 0.5}}}
        c = uj.load(judged, runs, qrels_format="diversity")
        (measure,) = measures(name)
        measure = measure(full=1) if "full" in measure.params else measure
        bounds = uj.score_bounds(c, [measure])
        low, high = float(bounds.low[0, 0, 0]), float(bounds.high[0, 0, 0])
        values = []
        for said in itertools.product((0, 1), repeat=6):
            whole = {s: {**judged["1"][s], **dict(zip(docs[3:], part, strict=True))}
                     for s, part in zip("ab", (said[:3], said[3:]), strict=True)}  # fmt: skip
            values.append(float(uj.score(load({"1": whole}, {"1": mine}), [measure]).values[0, 0, 0]))
        if measure.name in OUTER:
            assert low <= min(values) + 1e-12 and max(values) <= high + 1e-12
            assert "outer bounds" in bounds.provenance.settings
        else:
            assert (low, high) == pytest.approx((min(values), max(values)), abs=1e-12)


def test_outer_bounds_are_the_value_where_all_is_judged() -> None:
    bounds = uj.score_bounds(load(HAND, {"1": {"d2": 2.0, "d5": 1.0}}), ["alpha_nDCG@2", "D#-nDCG@2"])
    assert bounds.low == pytest.approx(bounds.high) and bounds.low == pytest.approx(bounds.value)


def test_a_list_that_is_as_good_as_any_has_that_as_its_highest_value() -> None:
    """One of two subtopics is all that a first document holds; the unjudged one below the cut-off changes nothing."""
    judged: Judged = {"1": {"a": {"d1": 1}, "b": {"d2": 1}}}
    bounds = uj.score_bounds(load(judged, {"1": {"d1": 2.0, "x": 1.0}}), ["alpha_nDCG@1", "nERR_IA@1"])
    assert bounds.value.ravel().tolist() == bounds.high.ravel().tolist() == [1.0, 1.0]


def test_an_ideal_list_is_as_long_as_what_may_be_relevant() -> None:
    """One document found, 3,000 unjudged ones in lists of 1,000: if all are relevant, nNRBP is 1 over the sum of
    0.999^(r - 1) to rank 3,001."""
    lists = {f"r{i}": {"1": {f"x{i}-{j}": -float(j) for j in range(1000)}} for i in range(3)}
    c = uj.load({"1": {"a": {"d": 1}}}, {"mine": {"1": {"d": 1.0}}, **lists}, qrels_format="diversity")
    bounds = uj.score_bounds(c, ["nNRBP(alpha=0, p=0.999)"])
    assert bounds.low[0, 0, 0] == pytest.approx(0.001 / (1 - 0.999**3001))


def test_outer_bounds_are_said_to_be_so(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "q").write_text("1 a d1 1\n1 b d2 1\n2 a d1 1\n")
    for name, docs in {"r": ("d9", "d1"), "s": ("d2", "d8")}.items():
        (tmp_path / name).write_text("".join(f"{t} Q0 {d} 1 {9 - i} x\n" for t in (1, 2) for i, d in enumerate(docs)))
    words = [str(tmp_path / name) for name in "qrs"] + ["--qrels-format", "diversity", "-m"]
    for measure, outer in {"alpha_nDCG@5": True, "StRecall@5": False}.items():
        for verb in (["score", "--unjudged", "bounds"], ["study", "score-range"]):
            assert main([*verb, *words, measure]) == 0
            assert ("outer bounds: no completion" in capsys.readouterr().err) == outer


def test_expected_ties_tell_documents_of_other_subtopics_apart() -> None:
    """d1 and d2 are both relevant, to different subtopics: either may stand first."""
    judged: Judged = {"1": {"a": {"d1": 1, "d2": 0}, "b": {"d2": 1}, "c": {"d2": 1}}}
    c = load(judged, {"1": {"d1": 1.0, "d2": 1.0}}, ties="expected")
    assert uj.score(c, "StRecall@1").values[0, 0, 0] == pytest.approx((1 / 3 + 2 / 3) / 2)


def test_condensed_lists_and_kept_judgments() -> None:
    c = load(HAND, {"1": {"x": 9.0, **LIST["1"]}})
    assert uj.score(c, "StRecall'@1").values[0, 0, 0] == pytest.approx(1 / 3)
    fewer = uj.reduce(c, 0.5, min_nonrelevant=0)
    kept = list(fewer.judgments.docs)
    part = {s: {d: g for d, g in docs.items() if d in kept} for s, docs in HAND["1"].items()}
    again = load({"1": {s: docs for s, docs in part.items() if docs}}, {"1": {"x": 9.0, **LIST["1"]}})
    assert uj.score(fewer, "alpha_nDCG@4").values == pytest.approx(uj.score(again, "alpha_nDCG@4").values)


def test_subtopics_are_written_as_they_were_read(tmp_path: Path, capsysbinary: Any) -> None:
    lines = ["1 a d1 1", "1 b d1 0", "1 a d2 0", "1 b d2 2", "1 a d3 -2", "1 b d3 -2", "2 c d1 0"]
    (tmp_path / "q").write_text("".join(f"{line}\n" for line in lines))
    assert main(["qrels", "reduce", str(tmp_path / "q"), "--qrels-format", "diversity", "--rate", "1"]) == 0
    assert capsysbinary.readouterr().out.decode().splitlines() == lines
    c = uj.load(tmp_path / "q", LIST, qrels_format="diversity")
    with pytest.raises(uj.InputError, match="judgments of subtopics are written as TREC text alone"):
        write_qrels(c.judgments, tmp_path / "q.parquet", format="parquet")
    nuggets = {"qid": "1", "nuggets": [{"text": "x", "importance": "okay", "docs": ["d1"]}]}
    (tmp_path / "n.jsonl").write_text(json.dumps(nuggets))
    assert main(["qrels", "reduce", str(tmp_path / "n.jsonl"), "--rate", "1", "-o", str(tmp_path / "out")]) == 2
    assert b"intents and nuggets cannot be written: their weights would be lost" in capsysbinary.readouterr().err
    assert not (tmp_path / "out").exists() and not (tmp_path / "q.parquet").exists()


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_written_subtopics_give_the_same_scores(seed: int) -> None:
    judged, run = made(seed)
    wanted = "alpha_nDCG@10, AP_IA, StRecall@5, nDCG@10"
    c = load(judged, run)
    with tempfile.TemporaryDirectory() as folder:
        write_qrels(c.judgments, f"{folder}/q")
        again = uj.load(f"{folder}/q", {"run": run}, qrels_format="diversity")
        assert (uj.score(again, wanted).values == uj.score(c, wanted).values).all()


def test_subtopics_taken_for_ordinary_judgments_are_recognised(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "q").write_text("1 1 d1 1\n1 2 d1 0\n1 1 d2 0\n")
    (tmp_path / "r").write_text("1 Q0 d1 1 1 r\n")
    assert main(["score", str(tmp_path / "q"), str(tmp_path / "r")]) == 2
    assert (
        "two grades in topic 1, 1 and 0; of subtopics (or assessors) say so: --qrels-format" in capsys.readouterr().err
    )
    assert main(["check", str(tmp_path / "q"), str(tmp_path / "r"), "--format", "tsv"]) == 1
    assert "(subtopics? --qrels-format diversity)" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "q"), str(tmp_path / "r"), "--qrels-format", "diversity"]) == 0
    (tmp_path / "q").write_text("1 0 d1 1\n1 0 d1 0\n")
    assert main(["score", str(tmp_path / "q"), str(tmp_path / "r")]) == 2
    assert capsys.readouterr().err.endswith("document d1 has two grades in topic 1, 1 and 0\n")


def test_other_grades_are_refused() -> None:
    with pytest.raises(uj.UsageError, match="subtopics, intents or nuggets cannot get other grades"):
        uj.collapse(load(HAND, LIST), {1: 1})


@pytest.mark.parametrize(
    ("format", "text", "said"),
    [
        ("diversity", "1 a d1 yes\n", "is not a whole number"),
        ("diversity", "1 a d1\n", "a line needs 4 fields"),
        ("diversity", "1 a d1 1\n1 a d1 2\n", "two grades in aspect a of topic 1, 1 and 2"),
        ("diversity", "# nothing\n", "no judgments"),
        ("intents", "1 a d1 L1\n", "one file of probabilities beside the judgments"),
        ("nuggets", '{"qid": 1}\n', 'needs "qid" and a list of "nuggets"'),
        ("nuggets", "[\n", "this line is not JSON"),
        ("nuggets", '{"qid": 1, "nuggets": [{"text": "x", "importance": "high"}]}\n', "not vital or okay"),
        ("nuggets", '{"qid": 1, "docid": "d", "nuggets": [{"text": "x", "assignment": "so"}]}\n', "not one of support"),
    ],
)
def test_bad_files(tmp_path: Path, capsys: Any, format: str, text: str, said: str) -> None:
    (tmp_path / "q").write_text(text)
    (tmp_path / "r").write_text("1 Q0 d1 1 1 r\n")
    assert main(["score", str(tmp_path / "q"), str(tmp_path / "r"), "--qrels-format", format, "-m", "StRecall@5"]) == 2
    told = capsys.readouterr()
    assert said in told.err and not told.out


@pytest.mark.filterwarnings("ignore::unjudged.DataWarning")
def test_runs_are_compared_and_studied() -> None:
    judged, run = made(3)
    worse = {t: {d: -score for d, score in docs.items()} for t, docs in run.items()}
    c = uj.load(judged, {"run": run, "worse": worse}, qrels_format="diversity")
    found = uj.compare(c, "alpha_nDCG@5", resamples=200)
    assert len(found.frame) and found.verdict is not None
    assert uj.reliability(c, "alpha_nDCG@5").frame is not None
