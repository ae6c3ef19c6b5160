"""Against the real packages: ir_measures (calls, command line), PyTerrier's Experiment, ranx, pandas and polars."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest
from places import ROOT
from their_parser import READS_NUMBERS, needs_their_parser

import unjudged as uj
import unjudged.ir_measures  # registers our measures
from unjudged.adapters import Provider, from_ranx, from_sentence_transformers, to_ir_measures, to_ranx
from unjudged.errors import MeasureError, UsageError

QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 0, "d": 1, "e": 1}, "3": {"f": 1}}
RUN = {"1": {"c": 9.5, "x": 8.0, "b": 7.25}, "2": {"e": 3.0, "a": 2.0, "y": 1.0}}
OTHER = {"1": {"a": 2.0, "x": 1.0}, "2": {"y": 3.0, "d": 2.0}, "3": {"f": 1.0, "z": 0.5}}


def frame(run: Mapping[str, Mapping[str, float]], value: str, names: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame([(t, d, v) for t, docs in run.items() for d, v in docs.items()], columns=[*names, value])


THEIRS = frame(QRELS, "relevance", ("query_id", "doc_id")), frame(RUN, "score", ("query_id", "doc_id"))


def test_their_measures_computed_here_are_their_values() -> None:
    wanted = [ir_measures.AP, ir_measures.nDCG @ 2, ir_measures.P(rel=2) @ 2, ir_measures.RR, ir_measures.Bpref]
    wanted += [ir_measures.Rprec, ir_measures.R @ 2, ir_measures.Success @ 1, ir_measures.Judged @ 2]
    for qrels, run in (THEIRS, (QRELS, RUN)):
        ours = Provider().calc_aggregate(wanted, qrels, run)
        theirs = ir_measures.calc_aggregate(wanted, qrels, run)
        assert {str(m): v for m, v in ours.items()} == pytest.approx({str(m): v for m, v in theirs.items()}, abs=1e-12)
    per_topic = {(m.query_id, str(m.measure)): m.value for m in Provider().iter_calc(wanted, *THEIRS)}
    for metric in ir_measures.iter_calc(wanted, *THEIRS):
        assert per_topic[metric.query_id, str(metric.measure)] == pytest.approx(metric.value, abs=1e-12)


def test_a_measure_we_lack_is_refused() -> None:
    assert not Provider().supports(ir_measures.alpha_nDCG @ 10)
    with pytest.raises(MeasureError, match="alpha_nDCG"):
        Provider().calc_aggregate([ir_measures.alpha_nDCG @ 10], QRELS, RUN)


def test_our_measures_as_ir_measures_objects() -> None:
    spelled = "AP', bpref, Q(beta=2.0)@2, nDCG@2, rpref_N"
    made = to_ir_measures(spelled)
    assert ", ".join(map(str, made)) == spelled
    direct = uj.score(uj.load(QRELS, {"run": RUN}), spelled).means().loc["run"].to_dict()
    theirs = {str(measure): value for measure, value in ir_measures.calc_aggregate(made, *THEIRS).items()}
    assert theirs == pytest.approx(direct, abs=1e-15)
    with pytest.raises(MeasureError, match="arithmetic"):
        to_ir_measures("GMAP")


ANY = ("Q@2", "bpref_R", "bpref_N", "rpref_N", "uj_AP(judged_only=True)", "uj_RBP(p=0.8)@2", "RBP_residual(p=0.8)")


@needs_their_parser
def test_our_measures_are_registered_with_ir_measures() -> None:
    """Through calc, iter_calc and calc_aggregate of the package itself, beside its own measures."""
    spelled = "Q@2, bpref_R, bpref_N, rpref_N, AP', RBP(p=0.8)@2, RBP_residual(p=0.8)"
    wanted = [ir_measures.parse_measure(name) for name in ANY]
    assert tuple(map(str, wanted)) == ANY
    scores = uj.score(uj.load(QRELS, {"run": RUN}), spelled)
    found = ir_measures.calc_aggregate([*wanted, ir_measures.AP], *THEIRS)
    assert [found[m] for m in wanted] == pytest.approx(scores.mean_values()[0].tolist(), abs=1e-15)
    assert found[ir_measures.AP] == ir_measures.pytrec_eval.calc_aggregate([ir_measures.AP], *THEIRS)[ir_measures.AP]
    mine = {(m.query_id, str(m.measure)): m.value for m in ir_measures.iter_calc(wanted, QRELS, RUN)}
    for t, topic in enumerate(scores.topics):
        assert [mine[topic, name] for name in ANY] == pytest.approx(scores.values[0, t].tolist(), abs=1e-15)
    assert ir_measures.calc(wanted, QRELS, RUN).aggregated == {m: found[m] for m in wanted}


@needs_their_parser
def test_every_measure_of_ours_can_be_asked_for_there() -> None:
    from unjudged.measures import REGISTRY

    cuts = {"k": "@2", "recall": "@0.2"}
    for name, measure in REGISTRY.items():
        if measure.definition.family in ("yours", "aspects"):  # the package hands on no subtopics
            continue
        needs = [p.name for p in measure.definition.parameters.values() if p.required]
        made = ir_measures.parse_measure(f"uj_{name}{cuts[needs[0]] if needs else ''}")
        assert ir_measures.DefaultPipeline.supports(made), name  # type: ignore[no-untyped-call]
        assert made.calc_aggregate(QRELS, RUN) == made.calc_aggregate(QRELS, RUN)
    counts = ir_measures.parse_measure("NumPrefs").calc_aggregate(QRELS, RUN)
    assert counts == 5  # a sum, not a mean: three pairs in topic 1, two in topic 2


@needs_their_parser
def test_bounds_in_ir_measures() -> None:
    asked = [
        ir_measures.parse_measure(f"uj_bound(measure='AP', side='{side}')") for side in ("lower", "upper", "width")
    ]
    low, high, width = (ir_measures.calc_aggregate(asked, QRELS, RUN)[m] for m in asked)
    bounds = uj.score_bounds(uj.load(QRELS, {"run": RUN}), "AP")
    assert [low, high] == pytest.approx([bounds.low.mean(), bounds.high.mean()], abs=1e-15)
    assert width == pytest.approx(high - low) and width > 0
    assert not Provider().supports(ir_measures.parse_measure("uj_bound(measure='no')"))


@needs_their_parser
def test_equal_scores_are_ordered_as_by_pytrec_eval_and_told() -> None:
    tied = {"1": {"a": 1.0, "b": 1.0, "c": 0.5}, "2": {"e": 3.0}}
    reciprocal = ir_measures.parse_measure("uj_RR@10")
    with pytest.warns(
        uj.DataWarning, match=r"equal scores decide in 1 topic \(first: uj_RR@10 in topic 1\); ordered by"
    ):
        ours = ir_measures.calc_aggregate([reciprocal, ir_measures.RR], QRELS, tied)
    assert ours[reciprocal] == ours[ir_measures.RR] == pytest.approx((0.5 + 1) / 3)
    msmarco = ir_measures.msmarco.calc_aggregate([ir_measures.RR @ 10], QRELS, tied)
    assert next(iter(msmarco.values())) != ours[reciprocal]  # what the sentence is about


@needs_their_parser
def test_their_command_line_with_our_measures(tmp_path: Path) -> None:
    qrels = "".join(f"{t} 0 {d} {g}\n" for t, docs in QRELS.items() for d, g in docs.items())
    run = "".join(f"{t} Q0 {d} 1 {s} x\n" for t, docs in RUN.items() for d, s in docs.items())
    (tmp_path / "qrels").write_text(qrels)
    (tmp_path / "run").write_text(run)
    call = [sys.executable, "-m", "unjudged.ir_measures", "qrels", "run", "AP", *ANY, "--provider", "unjudged"]
    shown = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    spelled = "AP, Q@2, bpref_R, bpref_N, rpref_N, AP', RBP(p=0.8)@2, RBP_residual(p=0.8)"
    means = uj.score(uj.load(QRELS, {"run": RUN}), spelled).mean_values()[0]
    assert shown == [f"{name}\t{value:.4f}" for name, value in zip(("AP", *ANY), means, strict=True)]


@needs_their_parser
@pytest.mark.parametrize(
    ("run", "measure", "told"),
    [
        ("nofile", "Q@2", "unjudged: nofile: No such file or directory"),
        ("bad", "Q@2", "unjudged: ir_measures gave up: "),
        ("run", "NoSuch@2", "unknown measure: NoSuch@2"),
        ("run", "uj_bound(measure='no')", "unjudged: "),
    ],
)
def test_their_command_line_refuses(run: str, measure: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 1.0 x\n")
    (tmp_path / "bad").write_text("1 Q0 a\n")
    call = [sys.executable, "-m", "unjudged.ir_measures", "qrels", run, measure]
    shown = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert shown.returncode == 2 and shown.stdout == "" and "Traceback" not in shown.stderr
    assert shown.stderr.splitlines()[-1].startswith(told)


def test_their_command_line_on_a_python_it_does_not_know(tmp_path: Path) -> None:
    """Numbers are read, or one sentence says why not; names without numbers are read anyway."""
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 1.0 x\n")
    call = [sys.executable, "-m", "unjudged.ir_measures", "qrels", "run"]
    shown = subprocess.run([*call, "uj_RR"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout == "uj_RR\t1.0000\n"
    shown = subprocess.run([*call, "uj_RR@5"], cwd=tmp_path, capture_output=True, text=True, check=False)
    if READS_NUMBERS:
        assert (shown.returncode, shown.stdout) == (0, "uj_RR@5\t1.0000\n")
    else:
        assert (shown.returncode, shown.stdout) == (2, "")
        assert shown.stderr.startswith("unjudged: this version of ir_measures cannot read numbers in names on Python")
        assert shown.stderr.count("\n") == 1


def test_their_command_line_tells_ties(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 1.0 x\n1 Q0 b 2 1.0 x\n")
    call = [sys.executable, "-m", "unjudged.ir_measures", "qrels", "run", "uj_RR"]
    shown = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout == "uj_RR\t0.5000\n"
    assert shown.stderr.startswith("note: equal scores decide in 1 topic") and shown.stderr.count("\n") == 1


def test_the_entry_point_is_the_provider() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    ((name, value),) = declared["ir_measures.provider"].items()
    found = EntryPoint(name, value, "ir_measures.provider").load()
    assert found is Provider() and found() is Provider()  # whether it is taken for an object or for a class
    assert entry_points(group="ir_measures.provider")["unjudged"].load() is Provider()  # as it is installed


def test_sentence_transformers_results() -> None:
    class Evaluator:  # what an InformationRetrievalEvaluator holds
        queries_ids = ("1", "2")
        relevant_docs = {"1": {"a", "c"}, "2": {"d"}}  # noqa: RUF012

    hits = [[{"corpus_id": d, "score": s} for d, s in RUN[t].items()] for t in ("1", "2")]
    c = from_sentence_transformers(Evaluator(), hits)
    expected = {"1": {"a": 1, "c": 1}, "2": {"d": 1}}
    assert (
        uj.score(c, "AP, nDCG@2").values.tolist()
        == uj.score(uj.load(expected, {"r": RUN}), "AP, nDCG@2").values.tolist()
    )
    named = from_sentence_transformers(Evaluator.relevant_docs, {"one": hits, "two": {"1": hits[0], "2": []}})
    assert named.runs == ("one", "two")
    with pytest.raises(UsageError, match="1 lists for 2 queries"):
        from_sentence_transformers(Evaluator(), hits[:1])


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("pyterrier") is None, reason="PyTerrier is not installed")
@needs_their_parser
def test_pyterrier_experiment() -> None:
    import pyterrier as pt

    names = ("qid", "docno")
    runs = [pt.Transformer.from_df(frame(run, "score", names).assign(rank=0)) for run in (RUN, OTHER)]
    topics = pd.DataFrame({"qid": list(QRELS), "query": ["x", "y", "z"]})
    table = pt.Experiment(
        runs, topics, frame(QRELS, "label", names), to_ir_measures("AP', AP, nDCG@2"), names=["one", "other"]
    )
    expected = uj.score(uj.load(QRELS, {"one": RUN, "other": OTHER}), "AP', AP, nDCG@2").means()
    assert set(table.columns) == {"name", *expected.columns}
    assert table[list(expected.columns)].to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-15)
    asked = [ir_measures.AP, *map(ir_measures.parse_measure, (*ANY, "uj_bound(measure='AP')"))]
    table = pt.Experiment(runs, topics, frame(QRELS, "label", names), asked, names=["one", "other"])
    spelled = "Q@2, bpref_R, bpref_N, rpref_N, AP', RBP(p=0.8)@2, RBP_residual(p=0.8)"
    means = uj.score(uj.load(QRELS, {"one": RUN, "other": OTHER}), spelled).mean_values()
    assert table[list(ANY)].to_numpy() == pytest.approx(means, abs=1e-15)
    bounds = uj.score_bounds(uj.load(QRELS, {"one": RUN, "other": OTHER}), "AP")
    assert table["uj_bound(measure='AP')"].tolist() == pytest.approx(bounds.high.mean(axis=1)[:, 0].tolist())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # numba's remarks when ranx is compiled for the first time
def test_ranx_in_and_out(tmp_path: Path) -> None:
    import ranx

    theirs = ranx.Qrels(QRELS), [ranx.Run(RUN, name="one"), ranx.Run(OTHER, name="other")]
    c = from_ranx(*theirs)
    assert c.runs == ("one", "other")
    scores = uj.score(c, "AP, nDCG@2, P@2, RR")
    for r, run in enumerate(theirs[1]):
        full = ranx.Run({topic: run.to_dict().get(topic, {"none": 0.0}) for topic in QRELS})
        values = ranx.evaluate(theirs[0], full, ["map", "ndcg@2", "precision@2", "mrr"])
        assert list(scores.mean_values()[r]) == pytest.approx(list(values.values()), abs=1e-9)
    qrels, runs = to_ranx(c)
    again = from_ranx(qrels, runs)
    assert (
        uj.score(again, "AP, nDCG, bpref, RBP").values.tolist() == uj.score(c, "AP, nDCG, bpref, RBP").values.tolist()
    )
    assert [run.name for run in runs] == ["one", "other"]
    with pytest.raises(UsageError, match=r"takes ranx.Qrels and ranx.Run objects, not dict; see uj.load"):
        from_ranx(theirs[0], RUN)


def test_frames_of_both_kinds() -> None:
    import polars

    expected = uj.score(uj.load(QRELS, {"run": RUN}), "AP").values
    for convert in (lambda f: f, polars.from_pandas):
        got: Any = uj.load(convert(THEIRS[0]), {"run": convert(THEIRS[1])})
        assert uj.score(got, "AP").values.tolist() == expected.tolist()
