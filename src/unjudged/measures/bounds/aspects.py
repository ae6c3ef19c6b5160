"""Bounds of measures of aspects (subtopics, intents, nuggets).

A completion gives every unjudged document any grade in every aspect that counts now; it makes no new aspects. So the
aspects and their shares are the same in all completions.

**Exact** where nothing is divided by what the judgments hold (StRecall, ERR_IA, alpha_DCG, NRBP, P_IA, NuggetRecall,
NuggetPrecision). In one aspect the value is a sum over t of w(t) d(r_t), r_t the rank of the t-th relevant document, w
and d positive and not rising: one more relevant document makes every r_t smaller or equal and adds a term. So the value
is lowest where no unjudged document is relevant, and highest where all are relevant to all aspects.

**Exact** for AP_IA: it is a weighted sum of the AP of the aspects, and a document's grade in one aspect says nothing
about another one. So its ends are the sums of the ends of the AP of each aspect, which `binary` finds.

**Outer** where an ideal list divides. D_nDCG: its ideal DCG D lies between that of the judged documents and that with
all unjudged ones at the highest gain. Lowest DCG over highest D to highest DCG over lowest D (at most 1) contain all
values. Dsharp_nDCG adds I-rec to it. alpha_nDCG, nERR_IA, nNRBP: let N be the discounted sum of a list, O that of the
best list, I that of the greedy one. N <= O, since the list itself is one; I >= f O with f = 1 - (1 - 1/k)^k, since the
sum is a combination of the values of a submodular function at the first 1, 2, ... k documents, with weights that are
not negative (Nemhauser, Wolsey and Fisher 1978); one aspect has f = 1. O does not fall when documents become
relevant, so N / I <= N / (f max(N, I now)), which rises with N. And O is at most the sum over
aspects of a list that begins with all documents that can be relevant to the aspect.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from unjudged.collection import Cells, Collection, Floats, Hits, Ints, Judgments
from unjudged.collection.judgments import Lookup
from unjudged.errors import UsageError
from unjudged.io.aspects import Aspects
from unjudged.io.ids import Ids
from unjudged.measures import REGISTRY, Measure
from unjudged.measures.aspects import (
    FAMILY,
    Discount,
    aspects_of,
    best_gains,
    by_logarithm,
    by_patience,
    by_reciprocal,
    counted,
    global_gain,
    ideal,
    novelty,
)
from unjudged.measures.bounds.cells import unjudged_documents

RISING = ("StRecall", "ERR_IA", "alpha_DCG", "NRBP", "P_IA", "NuggetRecall", "NuggetPrecision")
OUTER = ("alpha_nDCG", "nERR_IA", "nNRBP", "D_nDCG", "Dsharp_nDCG")
"""Measures whose bounds are outer ones: no completion leaves them, but their ends may not be attained."""
BOUNDED = ("AP_IA", *RISING, *OUTER)


def of_aspects(measure: Measure) -> bool:
    """Is it one of the measures bounded here?"""
    return measure.definition.ours and measure.definition.family == FAMILY


def aspect_ends(collection: Collection, measure: Measure, free: bool) -> tuple[Cells, Cells]:
    """Lowest and highest value of every cell; `free`: there may be any number of further documents."""
    if measure.name == "AP_IA":
        return _average_precision(collection, measure, free)
    lowest, highest = (_graded(collection, measure.params.get("rel", 1), relevant) for relevant in (False, True))
    if measure.name in RISING:
        return _value(measure, lowest), _value(measure, highest)
    more = unjudged_documents(collection)
    open_ = np.full(len(more), np.iinfo(np.int32).max) if free else more
    if measure.name in ("D_nDCG", "Dsharp_nDCG"):
        low, high = _global(collection, measure, lowest, highest, open_)
        if measure.name == "Dsharp_nDCG":
            recall, gamma = REGISTRY["StRecall"](k=measure.params["k"]), measure.params["gamma"]
            low = gamma * _value(recall, lowest) + (1 - gamma) * low
            high = gamma * _value(recall, highest) + (1 - gamma) * high
    else:
        low, high = _greedy(collection, measure, lowest, highest, open_)
    known = collection.hits.per_cell(open_ == 0)
    value = _value(measure, lowest)
    return np.where(known, value, low), np.where(known, value, high)


def _value(measure: Measure, hits: Hits) -> Cells:
    """The measure of full lists: nothing is unjudged in a completion, so nothing is left out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.asarray(measure.function(hits, **measure.params)), nan=0.0)


def _graded(collection: Collection, rel: int, relevant: bool) -> Hits:
    """The full lists with every unjudged document relevant to all aspects that count, or to none.

    Each topic has one more document, which stands for all of its unjudged ones. It is listed as often as needed.
    """
    judgments, rankings, hits = collection.judgments, collection.rankings, collection.hits
    topics, many = len(judgments.topics), len(judgments)
    aspects, those = aspects_of(judgments), counted(judgments, rel)
    top = judgments.gains.top_grade if relevant else 0
    last = np.arange(topics) + judgments.starts[1:]
    old = np.arange(many) + judgments.topic
    grades = np.zeros((many + topics, aspects.grade.shape[1]), np.int32)
    grades[old], grades[last] = aspects.grade, np.where(those.there, top, 0)
    grade = np.zeros(many + topics, np.int32)
    grade[old], grade[last] = judgments.grade, top
    starts = judgments.starts + np.arange(topics + 1)
    nobody = Ids(b"", np.zeros(many + topics, np.int64))
    completed = replace(
        judgments,
        starts=starts,
        docs=nobody,
        grade=grade,
        lookup=Lookup(judgments.topics, nobody, starts),
        order=None,
        iteration=None,
        opinions=None,
        confidence=None,
        aspects=Aspects(grades, aspects.names, aspects.weight, aspects.vital, aspects.declared),
        _kept={},
    )
    cell_topic = hits.per_cell(np.arange(topics))
    topic = np.repeat(cell_topic, np.diff(rankings.offsets))
    judged = np.append(judgments.grade >= 0, False)[np.minimum(rankings.doc, many)]
    row = np.where(judged, np.minimum(rankings.doc, many - 1) + topic, last[topic])
    return Hits(
        completed, rankings.offsets, row.astype(np.int32), rankings.rank.astype(np.int32), hits.length, hits.answered
    )


def _average_precision(collection: Collection, measure: Measure, free: bool) -> tuple[Cells, Cells]:
    from unjudged.measures.bounds import bounds_of

    judgments, rel = collection.judgments, measure.params["rel"]
    aspects, those = aspects_of(judgments), counted(judgments, rel)
    low, high = np.zeros(collection.hits.cells), np.zeros(collection.hits.cells)
    plain = REGISTRY["AP"](rel=rel)
    for j in range(aspects.grade.shape[1]):
        grade = np.where(judgments.grade < 0, judgments.grade, aspects.grade[:, j]).astype(np.int32)
        of_aspect = judgments.with_grades(grade)
        part = replace(collection, judgments=of_aspect, hits=collection.hits.over(of_aspect))
        ends = bounds_of(part, [plain], "free" if free else "retrieved")
        share = np.nan_to_num(collection.hits.per_cell(np.ascontiguousarray(those.share[:, j])), nan=0.0)
        low += share * ends[0].ravel()
        high += share * ends[2].ravel()
    return low, high


def _global(collection: Collection, measure: Measure, lowest: Hits, highest: Hits, open_: Ints) -> tuple[Cells, Cells]:
    judgments, k, gains = collection.judgments, measure.params["k"], measure.params["gains"]
    most = judgments.gains.highest(gains)
    if judgments.gains.of(np.arange(judgments.gains.top_grade + 1, dtype=np.int32), gains).max() > most:
        raise UsageError(f"{measure} has no bounds with gains that fall with the grade")

    def cumulated(hits: Hits) -> Cells:
        top = hits.top(k)
        return top.sum(global_gain(hits.judgments, gains)[top.row] * by_logarithm(top.rank.astype(np.float64)))

    gain = global_gain(judgments, gains)
    least = collection.hits.per_cell(best_gains(judgments, gain, k, np.zeros_like(open_), 0.0))
    largest = collection.hits.per_cell(best_gains(judgments, gain, k, open_, most))
    some = largest > 0
    low = np.where(some, cumulated(lowest) / np.where(some, largest, 1.0), 0.0)
    found = cumulated(highest)
    high = np.where(found > 0, np.minimum(found / np.maximum(least, 1e-300), 1.0), 0.0)
    return low, high


def _greedy(collection: Collection, measure: Measure, lowest: Hits, highest: Hits, open_: Ints) -> tuple[Cells, Cells]:
    judgments, params = collection.judgments, measure.params
    k, alpha, rel = params.get("k"), params["alpha"], params["rel"]
    discount = {"alpha_nDCG": by_logarithm, "nERR_IA": by_reciprocal}.get(measure.name) or by_patience(params["p"])
    per_cell = collection.hits.per_cell
    now = per_cell(np.nan_to_num(ideal(judgments, discount, k, alpha, rel)))
    best = per_cell(_best(judgments, discount, k, alpha, rel, open_))
    alone = per_cell(counted(judgments, rel).there.sum(axis=1)) == 1
    share = np.where(alone, 1.0, 1 - 1 / math.e if k is None else 1 - (1 - 1 / k) ** k)
    least = np.nan_to_num(novelty(lowest, discount, k, alpha, rel))
    most = np.nan_to_num(novelty(highest, discount, k, alpha, rel))
    low = np.where(best > 0, least / np.where(best > 0, best, 1.0), 0.0)
    high = np.where(most > 0, most / np.maximum(share * np.maximum(most, now), 1e-300), 0.0)
    return low, high


def _best(judgments: Judgments, discount: Discount, k: int | None, alpha: float, rel: int, open_: Ints) -> Floats:
    """Per topic what no ideal list exceeds: in each aspect all documents that can be relevant to it stand first."""
    those = counted(judgments, rel)
    can = np.minimum(those.relevant + open_[:, None], k or np.inf).astype(np.int64)
    ranks = np.arange(1.0, can.max(initial=0) + 1)
    running = np.append(0.0, np.cumsum((1 - alpha) ** (ranks - 1) * discount(ranks)))
    return np.asarray(np.nan_to_num(np.where(those.there, those.share * running[can], 0.0)).sum(axis=1))
