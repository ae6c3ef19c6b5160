"""Against the real packages: ir_measures, PyTerrier's Experiment, ranx, pandas and polars."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest

import unjudged as uj
from unjudged.adapters import Provider, from_ranx, to_ir_measures, to_ranx
from unjudged.errors import MeasureError, UsageError

QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 0, "d": 1, "e": 1}, "3": {"f": 1}}
RUN = {"1": {"c": 9.5, "x": 8.0, "b": 7.25}, "2": {"e": 3.0, "a": 2.0, "y": 1.0}}
OTHER = {"1": {"a": 2.0, "x": 1.0}, "2": {"y": 3.0, "d": 2.0}, "3": {"f": 1.0, "z": 0.5}}


def frame(run: dict[str, dict[str, float]], value: str, names: tuple[str, str]) -> pd.DataFrame:
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


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("pyterrier") is None, reason="PyTerrier is not installed")
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
