"""Neighbours' objects in and out: ir_measures (with PyTerrier's Experiment), ranx, sentence-transformers, ir_metadata.

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
from unjudged.scoring import Scores, score

__all__ = ["Provider", "from_ranx", "from_sentence_transformers", "to_ir_measures", "to_ir_metadata", "to_ranx"]


def _needed(package: str) -> Any:
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        raise UsageError(f"this needs {package}; pip install {package}") from None


def _per_topic(wanted: list[Measure], qrels: Any, run: Any) -> Iterator[tuple[str, int, float]]:
    """(topic, number of the measure, value) for every judged topic; an unanswered one scores as an empty list."""
    from unjudged.ir_measures import TIES

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the caller's package has its own word on missing topics
        scores = score(load(qrels, {"run": run}, ties=TIES), wanted)
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
    takes (frames, dicts, named tuples, iterables of them). `unjudged.ir_measures` tells more.
    """
    from unjudged.ir_measures import provider

    return provider


def from_sentence_transformers(evaluator: Any, results: Any, **how: Any) -> Collection:
    """A Collection from an InformationRetrievalEvaluator (or its `relevant_docs`) and search results.

    `results` are lists of {"corpus_id": ..., "score": ...}, as `semantic_search` gives them: a list for each of the
    evaluator's `queries_ids`, or a dict {query: list}; several runs as {name: either}. Relevant documents have grade 1,
    so that everything else is unjudged, not nonrelevant.
    """
    relevant = getattr(evaluator, "relevant_docs", evaluator)
    ids = list(getattr(evaluator, "queries_ids", relevant))
    named = results if isinstance(results, dict) and not _is_search(results) else {"run": results}
    runs = {}
    for name, run in named.items():
        if not isinstance(run, dict) and len(run) != len(ids):
            raise UsageError(f"run {name} has {len(run)} lists for {len(ids)} queries")
        by_query = run if isinstance(run, dict) else dict(zip(ids, run, strict=True))
        runs[name] = {q: {hit["corpus_id"]: float(hit["score"]) for hit in hits} for q, hits in by_query.items()}
    judged = {q: docs if isinstance(docs, dict) else dict.fromkeys(docs, 1) for q, docs in relevant.items()}
    return load(judged, runs, **how)


def _is_search(results: dict[Any, Any]) -> bool:
    """Is this {query: hits}, not {name: run}?"""
    first = next(iter(results.values()), None)
    return isinstance(first, list) and (not first or isinstance(first[0], dict))


def to_ir_metadata(scores: Scores, teams: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """What is known of each scored run, in the words of ir_metadata: `io.ir_metadata.write` writes it.

    The measures that were computed stand in the research goal, with the program that computed them; `teams` maps runs
    to teams (`collection.teams`).
    """
    told = scores.provenance.to_dict()
    means = scores.mean_values().tolist()
    described = []
    for run, values in zip(scores.runs, means, strict=True):
        one: dict[str, Any] = {"tag": run}
        if team := (teams or {}).get(run):
            one["actor"] = {"team": team}
        names = [str(measure) for measure in scores.measures]
        one["research goal"] = {
            "evaluation": {
                "reported measures": names,
                "values": dict(zip(names, values, strict=True)),
                "software": f"unjudged {told['version']}",
            }
        }
        described.append(one)
    return described


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
