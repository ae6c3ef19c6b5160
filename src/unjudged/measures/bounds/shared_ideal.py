"""Nearer ends for measures that divide a sum over documents by a number that all runs of a topic share.

nDCG is DCG over the DCG of the ideal list, recall the relevant documents found over all relevant ones. Whatever grades
the unjudged documents have, both runs of a pair divide by the same D, so their difference is (sum in a - sum in b) /
D. The ends l, h of the numerator are known exactly (`separable`), and D lies between its value with nothing more
relevant and with everything unjudged relevant. So the difference lies between l / D and h / D, with the D of the two
that is further out; in particular it has the sign of the numerator. This is an outer interval, too: the grades that
make the numerator large make D large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unjudged.collection import Collection, Floats, Ints
from unjudged.measures import REGISTRY, Measure
from unjudged.measures.bounds.cells import Cell, Completion, scored
from unjudged.measures.bounds.separable import separable_differences


@dataclass(frozen=True)
class Ratio:
    """A measure as `scale` times a separable one, over the same of the ideal list or over the relevant documents.

    `rel` is None in the first case; in the second at most `cap` relevant documents count.
    """

    numerator: Measure
    scale: float = 1.0
    rel: int | None = None
    cap: float = np.inf


def normalised_differences(
    collection: Collection, measure: Measure, first: Ints, second: Ints, free: bool
) -> tuple[Floats, Floats] | None:
    """Pairs x topics: the interval of each difference, or None for a measure that is not of this kind."""
    ratio = _ratio(measure)
    if ratio is None:
        return None
    low, high = (ratio.scale * end for end in separable_differences(collection, ratio.numerator, first, second))
    least, most = _denominators(collection, ratio, free)
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(low >= 0, low / most, low / least)
        high = np.where(high > 0, high / least, high / most)
    return np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), 0.0, high)


def _ratio(measure: Measure) -> Ratio | None:
    """How a measure divides, where it divides by something all runs share."""
    name, params = measure.name, measure.params
    if name == "nDCG":
        return Ratio(REGISTRY["DCG"](**params))
    if name == "nCG":  # no discount up to rank `base`
        return Ratio(REGISTRY["DCG"](k=params["k"], dcg="jk", base=max(params["k"], 2.0), gains=params["gains"]))
    if name not in ("R", "SetR", "relative_P") or params["rel"] < 1:
        return None
    k, rel = params.get("k"), params["rel"]
    if k is None:
        return Ratio(REGISTRY["NumRelRet"](rel=rel), 1.0, rel)
    return Ratio(REGISTRY["P"](k=k, rel=rel), k, rel, k if name == "relative_P" else np.inf)


def _denominators(collection: Collection, ratio: Ratio, free: bool) -> tuple[Floats, Floats]:
    """Per topic: what is divided by if no unjudged document is relevant, and if all of them are."""
    judgments, added = collection.judgments, _unjudged(collection)
    if ratio.rel is not None:
        known = judgments.count(ratio.rel)
        return np.minimum(known, ratio.cap), np.minimum(known + (np.inf if free else added), ratio.cap)
    cut, top = ratio.numerator.params["k"], judgments.gains.top_grade
    empty = np.zeros(0, np.int32)
    ideal: list[tuple[Cell, Completion]] = []
    for topic in range(len(judgments.topics)):
        grade = judgments.grade[judgments.starts[topic] : judgments.starts[topic + 1]]
        best = np.sort(grade[grade > 0])[::-1]
        more = min(int(added[topic]), cut or int(added[topic])) if not free else cut or 0
        ideal += [
            (Cell(docs, empty, 0), Completion.of(empty))
            for docs in (best, np.concatenate((np.full(more, top, np.int32), best)))
        ]
    least, most = scored(ratio.numerator, judgments, ideal).reshape(-1, 2).T
    return least, np.full_like(most, np.inf) if free and cut is None else most


def _unjudged(collection: Collection) -> Ints:
    """Per topic, the number of unjudged documents that some run retrieved."""
    judgments, rankings = collection.judgments, collection.rankings
    topics = len(judgments.topics)
    grade = np.append(judgments.grade, np.int32(-1))[np.minimum(rankings.doc, len(judgments))]
    topic = rankings.cell % max(topics, 1)
    _, place = np.unique(rankings.doc[grade < 0], return_index=True)
    return np.bincount(topic[grade < 0][place], minlength=topics)
