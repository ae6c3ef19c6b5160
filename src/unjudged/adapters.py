"""Neighbours' objects in and out: ir_measures (and with it PyTerrier's Experiment), ranx.

import ir_measures, pyterrier as pt
from unjudged.adapters import Provider, from_ranx, to_ir_measures, to_ranx

pt.Experiment([bm25, dense], topics, qrels, to_ir_measures("AP', bpref, nDCG@10, Judged@10"))   # our measures there
Provider().calc_aggregate([ir_measures.nDCG @ 10], qrels, run)                                  # theirs, computed here
c = from_ranx(ranx_qrels, ranx_runs); qrels, runs = to_ranx(c)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from unjudged.collection import Collection
from unjudged.collection.load import load
from unjudged.errors import DataWarning, MeasureError, UsageError
from unjudged.measures import Measure, measures
from unjudged.scoring import score

__all__ = ["Provider", "from_ranx", "to_ir_measures", "to_ranx"]


def _needed(package: str) -> Any:
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        raise UsageError(f"this needs {package}; pip install {package}") from None


def _per_topic(wanted: list[Measure], qrels: Any, run: Any) -> Iterator[tuple[str, int, float]]:
    """(topic, number of the measure, value) for every judged topic; an unanswered one scores as an empty list."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the caller's package has its own word on missing topics
        scores = score(load(qrels, {"run": run}), wanted)
    for t, topic in enumerate(scores.topics):
        for m in range(len(wanted)):
            yield topic, m, float(scores.values[0, t, m])


def to_ir_measures(wanted: Any) -> list[Any]:
    """Our measures as ir_measures objects, for `ir_measures.calc_aggregate` or `pt.Experiment(eval_metrics=...)`.

    They are printed with our spelling and computed by us: `AP'`, `rpref_N`, `Q(beta=2)@10` work wherever an ir_measures
    measure does. Counts are summed there by nobody: ir_measures averages, so a count is its mean per topic.
    """
    ir_measures = _needed("ir_measures")

    def one(measure: Measure) -> Any:
        def values(qrels: Any, run: Any) -> Iterable[tuple[str, float]]:
            return [(topic, value) for topic, _, value in _per_topic([measure], qrels, run)]

        if measure.mean == "geometric":
            raise MeasureError(f"{measure}: ir_measures knows arithmetic means only")
        return ir_measures.define(
            values, name=str(measure), support_cutoff=False, short_desc=measure.definition.summary
        )

    return [one(measure) for measure in measures(wanted)]


def Provider() -> Any:
    """An ir_measures provider: that package's own measures, computed by unjudged (one ranking for all of them).

    `Provider().calc_aggregate([ir_measures.nDCG @ 10, ir_measures.RBP(p=0.8)], qrels, run)` takes what ir_measures
    takes (frames, dicts, named tuples, iterables of them).
    """
    ir_measures = _needed("ir_measures")

    class Evaluation(ir_measures.providers.Evaluator):  # type: ignore[misc, name-defined]
        def __init__(self, chosen: list[Any], qrels: Any) -> None:
            self.qrels = ir_measures.util.QrelsConverter(qrels).as_dict_of_dict()
            super().__init__(chosen, set(self.qrels))

        def _iter_calc(self, run: Any) -> Iterator[Any]:
            run = ir_measures.util.RunConverter(run).as_dict_of_dict()
            ours = [measures(measure)[0] for measure in self.measures]
            for topic, m, value in _per_topic(ours, self.qrels, run):
                yield ir_measures.Metric(query_id=topic, measure=self.measures[m], value=value)

    class UnjudgedProvider(ir_measures.providers.Provider):  # type: ignore[misc, name-defined]
        NAME = "unjudged"

        def supports(self, measure: Any) -> bool:
            try:
                measure.validate_params()
                return bool(measures(measure))
            except (MeasureError, AssertionError):
                return False

        def _evaluator(self, chosen: Iterable[Any], qrels: Any) -> Evaluation:
            listed = list(chosen)
            if lacking := [m for m in listed if not self.supports(m)]:
                raise MeasureError(f"unjudged has no counterpart of ir_measures' {lacking[0]}")
            return Evaluation(listed, qrels)

    return UnjudgedProvider()


def from_ranx(qrels: Any, runs: Any, **how: Any) -> Collection:
    """A Collection from ranx's Qrels and one Run or several; `how` goes to `uj.load` (teams, gains, ties...)."""
    listed = runs if isinstance(runs, (list, tuple)) else [runs]
    for thing in (qrels, *listed):
        if not hasattr(thing, "to_dict"):
            raise UsageError(
                f"from_ranx takes ranx.Qrels and ranx.Run objects, not {type(thing).__name__}; see uj.load"
            )
    named = {getattr(run, "name", None) or f"run{i}": run.to_dict() for i, run in enumerate(listed, 1)}
    if len(named) < len(listed):
        raise UsageError("two of the ranx runs have one name")
    return load(qrels.to_dict(), named, **how)


def to_ranx(collection: Collection) -> tuple[Any, list[Any]]:
    """ranx's Qrels and Runs of a collection.

    Ranks, not scores, decide here, so the runs carry scores that fall from rank to rank by one; documents of
    negative grade are left out (ranx has no word for them).
    """
    ranx = _needed("ranx")
    judgments, rankings, topics = collection.judgments, collection.rankings, collection.topics
    judged: dict[str, dict[str, int]] = {}
    for t, doc, grade in zip(judgments.topic, judgments.docs, judgments.grade, strict=True):
        if grade >= 0:
            judged.setdefault(topics[t], {})[doc] = int(grade)
    runs = []
    for r, name in enumerate(collection.runs):
        lists = {topic: rankings.ids(judgments, r * len(topics) + t) for t, topic in enumerate(topics)}
        found = {
            topic: {doc: float(len(docs) - rank) for rank, doc in enumerate(docs)}
            for topic, docs in lists.items()
            if docs
        }
        runs.append(ranx.Run(found, name=name))
    return ranx.Qrels(judged), runs
