"""How far tied documents can move a run's score."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unjudged.collection import Collection, Hits
from unjudged.collection.segments import changes
from unjudged.errors import UsageError
from unjudged.measures import Measure, measures
from unjudged.measures.ties.averaging import ORDER_FREE

MONOTONE = {
    *("P", "R", "relative_P", "Rprec", "Success", "NQcorrect", "RR", "O_measure", "R_measure", "RBP", "SDCG", "INSQ"),
    *("AP", "yaap", "IPrec", "IPrecAvg", "GAP", "Q", "NCU", "binG", "DCG", "nDCG", "nCG", "AnCG", "AnDCG", "RnDCG"),
    *("ERR", "nERR", "bpref", "bpref_R", "bpref_N", "bpref_10", "old_bpref", "bpref_relative", "bpref_relative2"),
    *("rpref_N", "rpref_relative", "rpref_relative2"),
    *ORDER_FREE,
}
"""Measures that never fall when a better document changes places with a worse one above it."""


class TieEffect(NamedTuple):
    """Lowest and highest mean score of a run over all orders of its tied documents."""

    run: str
    measure: str
    low: float
    high: float


def tie_effect(collection: Collection, wanted: Any = ("AP", "P@10")) -> list[TieEffect]:
    """Per run and measure, the lowest and highest mean score that an order of its tied documents can give.

    Exact: a measure that never falls when a better document moves up is highest with the best documents of
    each group first, and lowest with them last. Measures for which that does not hold are refused. Undefined
    values count 0, every judged topic counts.
    """
    hits = collection.hits
    if hits.ties is None:
        raise UsageError("the lists were read with one order of tied documents; read them with ties='expected'")
    shape = len(collection.runs), len(collection.topics)
    lowest, highest = reordered(hits, best_first=False), reordered(hits, best_first=True)
    out = []
    for measure in measures(wanted):
        if not (monotone(measure) and _rising(measure, collection)):
            raise UsageError(f"{measure} can fall when a better document moves up, so its extremes are not known")
        ends = [np.nan_to_num(measure.cells(h)).reshape(shape) for h in (lowest, highest)]
        for run, low, high in zip(collection.runs, *ends, strict=True):
            out.append(TieEffect(run, str(measure), measure.over_topics(low), measure.over_topics(high)))
    return out


def monotone(measure: Measure) -> bool:
    """Is the measure known to be highest with the best tied documents first and lowest with them last?"""
    if measure.name == "NCU" and measure.params["pr"] != "u":
        return False
    if measure.params.get("rel") == 0:  # then judged documents are better than unjudged ones
        return False
    return measure.name in MONOTONE and measure.definition.ours


def _rising(measure: Measure, collection: Collection) -> bool:
    """Do the gains rise with the grades?"""
    judgments = collection.judgments
    gain = judgments.gains.of(np.unique(judgments.grade), measure.params.get("gains"))
    return bool((np.diff(gain) >= 0).all())


def reordered(hits: Hits, *, best_first: bool) -> Hits:
    """The hits with the tied documents of each group by grade: the best first, or the best last.

    Unjudged documents stand between the relevant and the nonrelevant ones of their group.
    """
    assert hits.ties is not None
    tied = np.flatnonzero(hits.ties[1] > 1)  # the others stay where they are, at the first rank of their group
    first, size = (values[tied].astype(np.int64) for values in hits.ties)
    group = np.cumsum(changes(hits.cell[tied], first)) - 1
    grade = np.maximum(hits.grade[tied], 0).astype(np.int64)
    order = np.lexsort((-grade if best_first else grade, group))
    many = np.bincount(group)
    place = np.arange(len(tied)) - np.repeat(np.cumsum(many) - many, many)
    leading = grade[order] > 0 if best_first else grade[order] == 0
    row, rank = hits.row.copy(), hits.ties[0].astype(np.int32)
    row[tied] = hits.row[tied[order]]
    rank[tied] = np.where(leading, first + place, first + size - np.repeat(many, many) + place)
    return Hits(hits.judgments, hits.offsets, row, rank, hits.length, hits.answered, hits.rel)
