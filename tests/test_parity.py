"""The same numbers as pytrec_eval, ir_measures and pyNTCIREVAL, on every run and topic.

Data: random collections with everything that can go wrong, a simulated one, and the real ones of ../shared/data
(skipped where absent). Where a peer differs, the documented rule that explains it stands beside the exception.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from typing import Any

import ir_measures
import numpy as np
import pytest
import pytrec_eval
import reference
from ir_measures import (
    AP,
    BPM,
    INSQ,
    INST,
    NERR8,
    NERR9,
    NERR10,
    NERR11,
    RBP,
    RR,
    SDCG,
    Accuracy,
    Bpref,
    Compat,
    IPrec,
    Judged,
    NumQ,
    NumRel,
    NumRet,
    P,
    R,
    Rprec,
    SetAP,
    SetF,
    SetP,
    SetR,
    Success,
    infAP,
    nDCG,
)
from places import DATA
from pyNTCIREVAL import Labeler
from pyNTCIREVAL import metrics as ntcir
from reference import Data, answered, in_order

import unjudged as uj
from unjudged.measures import Measure, trec_names

TOLERANCE = 1e-9
REAL = {"dl19-passage": {}, "robust03": {}, "trec2-adhoc": {"lenient": True}}
MADE = ("random1", "random2", "random3", "simulated")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Data]:
    """Collections made here: three random ones, and a simulated one if the simulator can be imported."""
    found = {f"random{seed}": reference.random_data(seed) for seed in (1, 2, 3)}
    try:
        from unjudged.simulation import simulate
    except ImportError:
        return found
    folder = tmp_path_factory.mktemp("simulated") / "collection"
    simulated = simulate("tiny", seed=3, out=folder, quirk="ties,short,missing,negative")
    qrels = reference.read_qrels(simulated.qrels)
    files = sorted(simulated.run_folder.iterdir())
    runs = {path.name.removesuffix(".gz"): reference.read_run(path, qrels) for path in files}
    found["simulated"] = Data("simulated", qrels, runs, (str(simulated.qrels), str(simulated.run_folder)))
    return found


@pytest.fixture(scope="session")
def kept() -> dict[str, Data]:
    return {}


@pytest.fixture
def data(request: pytest.FixtureRequest, made: dict[str, Data], kept: dict[str, Data]) -> Data:
    """The collection named by the test's parameter."""
    name = request.param
    if name in MADE:
        if name not in made:
            pytest.skip("unjudged.simulation cannot be imported")
        return made[name]
    if not (DATA / name).is_dir():
        pytest.skip(f"{DATA / name} is not there")
    if name not in kept:
        kept[name] = reference.real_data(DATA / name, **REAL[name])
    return kept[name]


everywhere = pytest.mark.parametrize("data", [*MADE, *REAL], indirect=True)
on_made = pytest.mark.parametrize("data", MADE, indirect=True)


class Comparison:
    """Our scores beside a peer's: collects what differs, and counts so that nothing compared cannot pass."""

    def __init__(self, scores: uj.Scores) -> None:
        self.values = scores.values
        self.run = {name: i for i, name in enumerate(scores.runs)}
        self.topic = {name: i for i, name in enumerate(scores.topics)}
        self.measure = {str(m): i for i, m in enumerate(scores.measures)}
        self.compared = 0
        self.different: list[str] = []

    def ours(self, run: str, topic: str, measure: Measure | str) -> float:
        return float(self.values[self.run[run], self.topic[topic], self.measure[str(measure)]])

    def add(self, run: str, topic: str, measure: Measure | str, theirs: float, label: str = "") -> None:
        ours = self.ours(run, topic, measure)
        self.compared += 1
        if not abs(ours - theirs) <= TOLERANCE:
            self.different.append(f"{label or measure}: run {run}, topic {topic}: ours {ours!r}, theirs {theirs!r}")

    def check(self, at_least: int) -> None:
        assert not self.different, f"{len(self.different)} of {self.compared} differ:\n" + "\n".join(
            self.different[:12]
        )
        assert self.compared >= at_least


def test_simulated_and_random_data_have_the_awkward_cases(made: dict[str, Data]) -> None:
    for name, data in made.items():
        grades = [g for judged in data.qrels.values() for g in judged.values()]
        assert min(grades) < 0 < max(grades), name
        lists = [(topic, docs) for run in data.runs.values() for topic, docs in run.items() if topic in data.qrels]
        assert any(len(set(docs.values())) < len(docs) for _, docs in lists), f"{name}: no ties"
        assert len({len(docs) for _, docs in lists}) > 1, f"{name}: all lists equally long"
        assert any(data.qrels.keys() - run.keys() for run in data.runs.values()), f"{name}: no topic missing"
        assert any(doc not in data.qrels[topic] for topic, docs in lists for doc in docs), f"{name}: nothing unjudged"
        if name.startswith("random"):
            assert any(all(g <= 0 for g in judged.values()) for judged in data.qrels.values())
            assert any(all(g > 0 for g in judged.values()) for judged in data.qrels.values())
            assert any(run.keys() - data.qrels.keys() for run in data.runs.values())


# -- pytrec_eval (trec_eval 9)

TREC_TEXTS = {"runid", "relstring"}  # texts, not numbers
TREC_NAMES = sorted(set(pytrec_eval.supported_measures) - TREC_TEXTS)


def trec_lines() -> dict[str, Measure]:
    """Every line pytrec_eval prints -> our measure."""
    names = pytrec_eval.RelevanceEvaluator({"1": {"d": 1}}, TREC_NAMES).evaluate({"1": {"d": 1.0}})["1"]
    found: dict[str, Measure] = {}
    for name in names:
        lines = trec_names.parse(name)
        assert lines is not None and len(lines) == 1 and lines[0].measure is not None, name
        found[name] = lines[0].measure
    return found


def compare_with_pytrec_eval(
    scores: uj.Scores, lines: Mapping[str, Measure], theirs: Iterator[tuple[str, dict[str, dict[str, float]]]]
) -> Comparison:
    comparison = Comparison(scores)
    for run, topics in theirs:
        for topic, values in topics.items():
            assert values.keys() == lines.keys()
            for name, value in values.items():
                if name.startswith("gm_"):  # trec_eval: ln max(value, 0.00001) per topic; here the value itself
                    if value > math.log(1.0001e-5):
                        comparison.add(run, topic, lines[name], math.exp(value), name)
                else:
                    comparison.add(run, topic, lines[name], value, name)
    return comparison


def test_every_measure_of_pytrec_eval_is_known_by_its_name() -> None:
    lines = trec_lines()
    assert len(lines) >= 90
    by_measure: dict[str, set[str]] = {}
    for name, measure in lines.items():
        by_measure.setdefault(str(measure), set()).add(name)
    twice = [names for names in by_measure.values() if len(names) > 1]
    assert twice == [{"Rprec", "Rprec_mult_1.00"}]


@everywhere
@pytest.mark.parametrize("rel", [1, 2])
def test_pytrec_eval(data: Data, rel: int) -> None:
    lines = {name: m.default_rel(rel) for name, m in trec_lines().items()}
    scores = uj.score(data.load("trec9"), list(lines.values()), rel=rel)
    peer = pytrec_eval.RelevanceEvaluator(data.qrels, TREC_NAMES, relevance_level=rel)
    theirs = ((name, peer.evaluate(answered(run, data.qrels))) for name, run in data.runs.items())
    compare_with_pytrec_eval(scores, lines, theirs).check(at_least=2000)


@everywhere
def test_pytrec_eval_of_condensed_lists(data: Data) -> None:
    """trec_eval -J: unjudged documents (negative grades too) taken out of the runs."""
    lines = {name: m if m.condensed else m(judged_only=True) for name, m in trec_lines().items()}
    scores = uj.score(data.load("trec9"), list(lines.values()))
    peer = pytrec_eval.RelevanceEvaluator(data.qrels, TREC_NAMES)

    def condensed(run: reference.Run) -> reference.Run:
        judged = {
            t: {d: s for d, s in docs.items() if data.qrels[t].get(d, -1) >= 0}
            for t, docs in answered(run, data.qrels).items()
        }
        return answered(judged, data.qrels)

    theirs = ((name, peer.evaluate(condensed(run))) for name, run in data.runs.items())
    compare_with_pytrec_eval(scores, lines, theirs).check(at_least=2000)


@everywhere
def test_the_condensed_policy_is_the_prime(data: Data) -> None:
    plain = uj.score(data.load("trec9"), ["AP", "nDCG@10", "P@5", "bpref"], unjudged="condensed")
    primed = uj.score(data.load("trec9"), ["AP'", "nDCG'@10", "P'@5", "bpref"])
    peer = pytrec_eval.RelevanceEvaluator(
        data.qrels, {"map", "ndcg_cut_10", "P_5", "bpref"}, judged_docs_only_flag=True
    )
    assert [str(m) for m in plain.measures] == ["AP'", "nDCG'@10", "P'@5", "bpref"]
    assert np.array_equal(plain.values, primed.values)
    comparison = Comparison(plain)
    for name, run in data.runs.items():
        for topic, found in peer.evaluate(answered(run, data.qrels)).items():
            for theirs, ours in (("map", "AP'"), ("ndcg_cut_10", "nDCG'@10"), ("P_5", "P'@5"), ("bpref", "bpref")):
                comparison.add(name, topic, ours, found[theirs])
    comparison.check(at_least=100)


@everywhere
def test_pytrec_eval_means(data: Data) -> None:
    """Means, sums and geometric means over the topics a run answers (trec_eval without -c)."""
    lines = trec_lines()
    scores = uj.score(data.load("trec9"), list(lines.values()), topics="run")
    means = scores.mean_values()
    peer = pytrec_eval.RelevanceEvaluator(data.qrels, TREC_NAMES)
    for r, run in enumerate(data.runs.values()):
        topics = peer.evaluate(answered(run, data.qrels)).values()
        theirs = {n: pytrec_eval.compute_aggregated_measure(n, [v[n] for v in topics]) for n in lines}
        ours = {n: means[r, scores.measures.index(m)] for n, m in lines.items()}
        assert ours == pytest.approx(theirs, abs=TOLERANCE, rel=1e-12), scores.runs[r]


@on_made
def test_missing_topics_score_as_empty_lists(data: Data) -> None:
    measures = [
        "AP",
        "nDCG@10",
        "P@5",
        "RR",
        "bpref",
        "R@10",
        "Q",
        "RBP",
        "ERR",
        "Judged@10",
        "unj@5",
        "k@5",
        "RBP_residual",
    ]
    scores = uj.score(data.load("trec9"), measures)
    expected = [0.0] * 11 + [1.0, 1.0]  # METHODS 0.4
    seen = 0
    for r, run in enumerate(data.runs.values()):
        for t, topic in enumerate(scores.topics):
            if not run.get(topic):
                seen += 1
                assert scores.values[r, t].tolist() == expected
    assert seen


@on_made
def test_negative_grades_as_nonrelevant_are_zeros_to_pytrec_eval(data: Data) -> None:
    qrels, runs = data.source or (data.qrels, data.runs)
    lines = trec_lines()
    scores = uj.score(uj.load(qrels, runs, ties="trec9", negative="nonrelevant"), list(lines.values()))
    clipped = {topic: {doc: max(g, 0) for doc, g in judged.items()} for topic, judged in data.qrels.items()}
    peer = pytrec_eval.RelevanceEvaluator(clipped, TREC_NAMES)
    theirs = ((name, peer.evaluate(answered(run, clipped))) for name, run in data.runs.items())
    compare_with_pytrec_eval(scores, lines, theirs).check(at_least=2000)


@on_made
def test_ids_descending_decide_between_equal_scores(data: Data) -> None:
    """float64 ties (trec10): the same as strictly falling scores in our own reference order."""
    plain = uj.score(data.load("trec10"), ["AP", "nDCG", "RR", "P@5"])
    ordered = {
        name: {t: {d: -float(i) for i, d in enumerate(in_order(docs, "trec10"))} for t, docs in run.items()}
        for name, run in data.runs.items()
    }
    peer = pytrec_eval.RelevanceEvaluator(data.qrels, {"map", "ndcg", "recip_rank", "P_5"})
    comparison = Comparison(plain)
    for name, run in ordered.items():
        for topic, found in peer.evaluate(answered(run, data.qrels)).items():
            for theirs, ours in (("map", "AP"), ("ndcg", "nDCG"), ("recip_rank", "RR"), ("P_5", "P@5")):
                comparison.add(name, topic, ours, found[theirs])
    comparison.check(at_least=100)


# -- ir_measures

EXPONENTIAL = {1: 1, 2: 3, 3: 7}
IR_MEASURES: dict[str, list[Any]] = {
    "pytrec_eval": [
        *(P @ 5, P(rel=2) @ 10, RR, RR(rel=2), Rprec, Rprec(rel=2), AP, AP @ 7, AP(rel=2) @ 7, R @ 10, R(rel=2) @ 5),
        *(nDCG, nDCG @ 10, nDCG(gains=EXPONENTIAL) @ 10, nDCG(gains=EXPONENTIAL), Bpref, Bpref(rel=2)),
        *(NumRet, NumRet(rel=2), NumQ, NumRel, infAP, infAP(rel=2), Success @ 3, Success(rel=2) @ 1),
        *(IPrec @ 0.0, IPrec @ 0.1, IPrec @ 0.5, IPrec @ 1.0, SetAP, SetF, SetF(beta=0.5), SetF(beta=2.0)),
        *(SetP, SetP(relative=True), SetR, SetR(rel=2), SetP(judged_only=True), SetF(judged_only=True)),
        *(P(judged_only=True) @ 5, AP(judged_only=True), AP(judged_only=True, rel=2) @ 9, RR(judged_only=True)),
        *(nDCG(judged_only=True), nDCG(judged_only=True) @ 10, Rprec(judged_only=True), R(judged_only=True) @ 5),
        *(Success(judged_only=True) @ 3, IPrec(judged_only=True) @ 0.2, SetAP(judged_only=True)),
    ],
    "msmarco": [RR, RR @ 3, RR @ 10, RR(rel=2) @ 5],
    "judged": [Judged, Judged @ 5, Judged @ 100],
    "compat": [Compat, Compat(p=0.8), Compat(normalize=False)],
    "accuracy": [Accuracy, Accuracy @ 5, Accuracy(rel=2)],
    "cwl_eval": [
        *(P @ 5, P(rel=2) @ 10, RR, RR(rel=2), AP, RBP(rel=1), RBP(rel=2, p=0.5), RBP(rel=1, p=0.95)),
        *(BPM(max_rel=3) @ 1000, BPM(max_rel=3, T=2.0) @ 20, SDCG(max_rel=3) @ 10, NERR8(max_rel=3) @ 10),
        *(NERR9(max_rel=3) @ 10, NERR10(max_rel=3), NERR11(max_rel=3), INST(max_rel=3), INSQ(max_rel=3)),
    ],
}
ORDER = {  # how each provider breaks ties
    "pytrec_eval": "trec9",
    "msmarco": "ascending",
    "judged": "ascending",
    "compat": "ascending",
    "accuracy": "file",
    "cwl_eval": "file",
}
FEW = {  # (runs, topics) of each collection: cwl_eval takes 40 ms a topic; all runs go through pytrec_eval above
    "cwl_eval": (2, 6),
    "compat": (2, 10),
    "accuracy": (3, 20),
    "pytrec_eval": (4, 1000),
}


def test_providers_are_there() -> None:
    assert all(ir_measures.providers.registry[name].is_available() for name in IR_MEASURES)


def _peer_values(provider: str, wanted: list[Any], data: Data) -> Iterator[tuple[str, str, Any, float]]:
    logging.getLogger("ir_measures.cwl_eval").setLevel("ERROR")
    evaluator = ir_measures.providers.registry[provider].evaluator(wanted, data.qrels)
    few_runs, few_topics = FEW.get(provider, (1000, 1000))
    if provider == "cwl_eval" and data.name in REAL:
        few_runs, few_topics = 1, 3
    for run in list(data.runs)[:few_runs]:
        lists = dict(list(answered(data.runs[run], data.qrels).items())[:few_topics])
        if provider == "compat":
            # theirs puts unretrieved ideal documents at score 0, so above retrieved ones of negative score, and ties in
            # the order of the judgments; defined is the ideal list most like the run: give it falling positive scores
            lists = {
                t: {d: 1.0 / (i + 1) for i, d in enumerate(in_order(docs, "ascending"))} for t, docs in lists.items()
            }
        elif provider == "accuracy":
            # theirs divides by zero where nothing but relevant documents is retrieved
            lists = {
                t: docs
                for t, docs in lists.items()
                if any(data.qrels[t].get(d, 0) < 1 for d in in_order(docs, "file")[:5])
            }
        for metric in evaluator.iter_calc(lists):
            if metric.query_id in lists:
                yield run, metric.query_id, metric.measure, metric.value


@pytest.mark.slow
@everywhere
@pytest.mark.parametrize("provider", [*IR_MEASURES])
def test_ir_measures(provider: str, data: Data) -> None:
    top = max(g for judged in data.qrels.values() for g in judged.values())
    wanted = [m(max_rel=top) if "max_rel" in m.params else m for m in IR_MEASURES[provider]]
    # Objects of that package come as they are; each is asked for alone, so that nothing can be mixed up.
    ours = {m: uj.parse(str(uj.score(data.load(ORDER[provider]), m).measures[0]))[0] for m in wanted}
    comparison = Comparison(uj.score(data.load(ORDER[provider]), list(ours.values())))
    found = Comparison(uj.score(data.load(ORDER[provider]), ["NumRel", "NumRelRet"]))
    for run, topic, measure, theirs in _peer_values(provider, wanted, data):
        if math.isnan(theirs):
            # pytrec_eval divides 0 by 0 in interpolated precision where no judged document is retrieved; empty: 0
            assert measure.NAME == "IPrec" and comparison.ours(run, topic, ours[measure]) == 0.0
            continue
        if provider == "cwl_eval" and measure.NAME == "AP":
            # cwl_eval divides by the relevant documents retrieved, here as everywhere else by all relevant ones
            theirs *= found.ours(run, topic, "NumRelRet") / max(found.ours(run, topic, "NumRel"), 1)
        comparison.add(run, topic, ours[measure], theirs)
    comparison.check(at_least=20)


@on_made
def test_ir_measures_means_count_missing_topics(data: Data) -> None:
    wanted = [AP, nDCG @ 10, P @ 5, Bpref, NumRet, NumRel]
    scores = uj.score(data.load("trec9"), wanted)
    for r, run in enumerate(data.runs.values()):
        theirs = ir_measures.calc_aggregate(wanted, data.qrels, answered(run, data.qrels))
        if set(answered(run, data.qrels)) < set(data.qrels):
            theirs.pop(NumRel)  # theirs sums over answered topics; the default here counts every judged topic
        ours = {m: scores.mean_values()[r, wanted.index(m)] for m in theirs}
        assert ours == pytest.approx(theirs, abs=TOLERANCE)


# -- pyNTCIREVAL

Metric = Any


def ntcir_measures(counts: list[int], gains: list[float], length: int) -> dict[str, Metric]:
    """Our spelling -> pyNTCIREVAL's metric for a topic with these judged documents per grade."""
    n = (counts, gains)
    whole = max(length, sum(counts), 1)
    stops = [1.0, 3.0, 4.0][: len(gains)]
    metrics: dict[str, Metric] = {
        "RR": ntcir.RR(),
        "P@5": ntcir.Precision(5),
        "P@20": ntcir.Precision(20),
        "Success@3": ntcir.Hit(3),
        "AP": ntcir.AP(*n),
        "AP(norm='min')@5": ntcir.AP(*n, cutoff=5),
        "Q": ntcir.QMeasure(*n, beta=1.0),
        "Q(beta=0.3)": ntcir.QMeasure(*n, beta=0.3),
        "Q@5": ntcir.QMeasure(*n, beta=1.0, cutoff=5),
        "Q(beta=10.0)@10": ntcir.QMeasure(*n, beta=10.0, cutoff=10),
        "O_measure": ntcir.OMeasure(*n, beta=1.0),
        "P_measure": ntcir.PMeasure(*n, beta=1.0),
        "P_plus": ntcir.PPlusMeasure(*n, beta=1.0),
        "RBP": ntcir.RBP(*n, pr=0.95),
        "RBP(p=0.5)": ntcir.RBP(*n, pr=0.5),
        "ERR(stop='ntcir')": ntcir.ERR(*n),
        "nERR(stop='ntcir')@5": ntcir.nERR(*n, cutoff=5),
        "nDCG(dcg='jk')@5": ntcir.nDCG(*n, logb=2, cutoff=5),
        "nDCG(dcg='jk')@1000": ntcir.nDCG(*n, logb=2, cutoff=1000),
        "nDCG(dcg='jk', base=3.0)@10": ntcir.nDCG(*n, logb=3, cutoff=10),
        "nDCG(dcg='jk', base=10.0)@20": ntcir.nDCG(*n, logb=10, cutoff=20),
        "nDCG@5": ntcir.MSnDCG(*n, cutoff=5),
        "nDCG": ntcir.MSnDCG(*n, cutoff=whole),
        "NCU(pr='gu', nu='P', stops={1: 1.0, 2: 3.0, 3: 4.0})": ntcir.NCUguP(*n, stops),
        "NCU(pr='gu', nu='BR', beta=2.0, stops={1: 1.0, 2: 3.0, 3: 4.0})": ntcir.NCUguBR(*n, stops, 2.0),
        "NCU(pr='rb', nu='P', gamma=0.8)": ntcir.NCUrbP(*n, 0.8),
        "NCU(pr='rb', nu='BR', gamma=0.8, beta=2.0)": ntcir.NCUrbBR(*n, 0.8, 2.0),
    }
    relevant = [("", level) for level in range(len(counts) - 1, 0, -1) for _ in range(counts[level])]
    for metric in metrics.values():
        if hasattr(metric, "get_ideal_ranked_list"):  # without its nonrelevant tail, which adds 0 and takes the time
            metric.get_ideal_ranked_list = lambda: relevant
    return metrics


def ntcir_value(metric: Metric, labelled: list[tuple[str, int | None]]) -> float:
    if not labelled:
        return 0.0  # pyNTCIREVAL looks for the largest of no grades; METHODS 0.4: an empty list scores 0
    if isinstance(metric, ntcir.PPlusMeasure) and not any(level for _, level in labelled):
        return 0.0  # METHODS A.13: theirs raises on a list without relevant documents
    return float(metric.compute(labelled))


def compare_with_ntcireval(
    data: Data, *, condensed: bool, depth: int | None, gains: Mapping[int, float] | None = None, every: int = 1
) -> Comparison:
    names = list(ntcir_measures([1, 1], [1.0], 1))
    top = max(*(g for judged in data.qrels.values() for g in judged.values()), *(gains or {}))  # gains name the scale
    levels = [(gains or {}).get(g, float(g)) for g in range(1, top + 1)]
    ours = {n: uj.parse(n)[0](judged_only=True) if condensed else uj.parse(n)[0] for n in names}
    qrels, lists = data.source or (data.qrels, data.runs)
    collection = uj.load(qrels, lists, ties="trec9", truncate=depth, gains=gains, **data.options)
    comparison = Comparison(uj.score(collection, list(ours.values())))
    for t, (topic, judged) in enumerate(data.qrels.items()):
        labeler = Labeler({doc: g for doc, g in judged.items() if g >= 0}, is_condensed=condensed)
        counts = labeler.compute_per_level_doc_num(top + 1)
        if not sum(counts[1:]):
            continue  # NTCIREVAL refuses topics without relevant documents (METHODS 0.4)
        metrics = ntcir_measures(counts, levels, depth or 10_000)
        for r, run in enumerate(data.runs):
            docs = data.runs[run].get(topic)
            if docs and (r + t) % every == 0:
                labelled = labeler.label(in_order(docs, "trec9")[:depth])  # METHODS 0.3: truncate, then condense
                for name in names:
                    comparison.add(run, topic, ours[name], ntcir_value(metrics[name], labelled))
    return comparison


@pytest.mark.slow
@on_made
@pytest.mark.parametrize("condensed", [False, True])
def test_ntcireval(data: Data, condensed: bool) -> None:
    compare_with_ntcireval(data, condensed=condensed, depth=None).check(at_least=500)


@pytest.mark.parametrize("data", [*REAL], indirect=True)
@pytest.mark.parametrize("condensed", [False, True])
def test_ntcireval_on_real_runs(data: Data, condensed: bool) -> None:
    """Every run and every topic, but only every sixth pair of them: theirs takes milliseconds a list."""
    compare_with_ntcireval(data, condensed=condensed, depth=12, every=6).check(at_least=5000)


@pytest.mark.parametrize("data", [*MADE, "robust03"], indirect=True)
def test_ntcireval_with_gains(data: Data) -> None:
    every = 17 if data.name in REAL else 1
    compare_with_ntcireval(data, condensed=True, depth=20, gains={1: 1, 2: 3, 3: 7.5}, every=every).check(at_least=500)


@pytest.mark.parametrize("data", [*REAL], indirect=True)
def test_ntcireval_on_long_lists(data: Data) -> None:
    """Sums over a thousand documents, where rounding could add up; the quadratic metrics of theirs left out."""
    collection = data.load("trec9")
    top = max(g for judged in data.qrels.values() for g in judged.values())
    levels = [float(g) for g in range(1, top + 1)]
    fast = ["RBP", "nDCG(dcg='jk')@1000", "nDCG", "P@20", "RR"]
    comparison = Comparison(uj.score(collection, fast))
    for topic, judged in list(data.qrels.items())[:10]:
        labeler = Labeler({doc: g for doc, g in judged.items() if g >= 0})
        metrics = ntcir_measures(labeler.compute_per_level_doc_num(top + 1), levels, 10_000)
        for run in list(data.runs)[:5]:
            if topic in data.runs[run]:
                labelled = labeler.label(in_order(data.runs[run][topic], "trec9"))
                for name in fast:
                    comparison.add(run, topic, name, ntcir_value(metrics[name], labelled))
    comparison.check(at_least=150)


# -- reading


@pytest.mark.parametrize("data", ["trec2-adhoc"], indirect=True)
def test_of_a_document_listed_twice_the_better_ranked_one_is_kept(data: Data) -> None:
    """The four runs with duplicates hold as many documents as the de-duplicated lists the peers were given."""
    collection = data.load("trec9")
    lengths = collection.hits.length.reshape(len(collection.runs), -1)
    for name in ("UREKA2", "UREKA3", "citymf", "uicah"):
        ours = dict(zip(collection.topics, lengths[collection.runs.index(name)].tolist(), strict=True))
        assert ours == {topic: len(data.runs[name].get(topic, ())) for topic in collection.topics}
        assert any(note.count("better-ranked") for note in collection.notes if name in note)
