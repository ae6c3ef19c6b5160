"""How far the missing judgments could move the difference of two runs.

Two runs often retrieve the same unjudged document, and whatever its grade is, it has that grade in both. So the
difference of two runs is known better than their two scores.

**Exact** for separable measures (P, SetP, RBP, DCG and the counts): the score of a list is a sum over its documents of
w(rank) u(grade), w >= 0. The difference of two runs is then a sum over documents of u(grade) (w in a - w in b), each
document once, and it is largest (smallest) where every unjudged document has the grade of the largest u if its factor
is positive (negative), and that of the smallest u otherwise. Documents are graded independently, so both ends are
attained.

**Outer** for all other measures with bounds (AP, nDCG, Q, ...): lowest a - highest b to highest a - lowest b, topic by
topic, and 0 where both runs have the same list. Both ends of this interval may need different grades for one
document: the difference never leaves it, but may not reach its ends.

**Nearer** for measures that divide a separable sum by a number that all runs of a topic share: nDCG is DCG over the DCG
of the ideal list, recall the relevant documents found over all relevant ones. Whatever grades the unjudged documents
have, both runs of a pair divide by the same D, so their difference is (sum in a - sum in b) / D. The ends l, h of the
numerator are known exactly, and D lies between its value with nothing more relevant and with everything unjudged
relevant. So the difference lies between l / D and h / D, with the D of the two that is further out; in particular it
has the sign of the numerator. This is an outer interval, too: the grades that make the numerator large make D large.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Ints
from unjudged.collection.collection import in_order_of_names
from unjudged.measures import REGISTRY, Measure
from unjudged.measures.bounds import bounds_of, refuse_unbounded
from unjudged.measures.bounds.cells import Cell, Completion, one_document_lists, scored, unjudged_documents

SEPARABLE = ("P", "SetP", "RBP", "DCG", "anti_P", "NumRelRet", "NumNonrelJudgedRet")
"""Names of measures that add up over documents, so that the interval of a difference is exact."""

_AT_ONCE = 1 << 22
"""Numbers held at a time when runs are set against each other."""


@dataclass(frozen=True)
class Interval:
    """Lowest and highest mean difference of each pair that the missing judgments allow; exact, or an outer one."""

    low: Floats
    high: Floats
    exact: bool

    def outcomes(self) -> list[str]:
        """better, worse or cannot tell, for each pair: what holds whatever the unjudged documents are."""
        return [
            "better" if low > 1e-12 else "worse" if high < -1e-12 else "cannot tell"
            for low, high in zip(self.low.tolist(), self.high.tolist(), strict=True)
        ]


def open_differences(
    collection: Collection,
    measures: Sequence[Measure],
    first: Ints,
    second: Ints,
    counted: npt.NDArray[np.bool_],
    growth: str = "retrieved",
) -> list[Interval]:
    """For each measure the interval of the mean difference `first` - `second` of these runs over the counted topics."""
    refuse_unbounded(collection, growth)
    found: list[Interval] = []
    others = [m for m in measures if not is_separable(m)]
    ends = bounds_of(collection, others, growth) if others else ()
    same = _same_lists(collection, first, second) if others else np.zeros((0, 0), bool)
    for measure in measures:
        if is_separable(measure):
            low, high = separable_differences(collection, measure, first, second)
        else:
            lowest, _, highest = (end[:, :, others.index(measure)] for end in ends)
            low = np.where(same, 0.0, lowest[first] - highest[second])
            high = np.where(same, 0.0, highest[first] - lowest[second])
            nearer = normalised_differences(collection, measure, first, second, growth == "free")
            if nearer is not None:
                low, high = np.maximum(low, nearer[0]), np.minimum(high, nearer[1])
        found.append(Interval(low[:, counted].mean(axis=1), high[:, counted].mean(axis=1), is_separable(measure)))
    return found


def _same_lists(collection: Collection, first: Ints, second: Ints) -> npt.NDArray[np.bool_]:
    """Pairs x topics: do both runs have the same documents in the same order?"""
    rankings = collection.rankings
    ends = rankings.offsets.tolist()
    lists = [rankings.doc[a:b].tobytes() for a, b in itertools.pairwise(ends)]
    numbers: dict[bytes, int] = {}
    number = np.array([numbers.setdefault(docs, len(numbers)) for docs in lists])
    number = number.reshape(len(collection.runs), len(collection.topics))
    return np.asarray(number[first] == number[second])


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
    judgments, added = collection.judgments, unjudged_documents(collection)
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


def is_separable(measure: Measure) -> bool:
    """Does its score add up over the documents of the list?"""
    return measure.definition.ours and measure.name in SEPARABLE and not measure.params.get("relative")


def separable_differences(collection: Collection, measure: Measure, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """Pairs x topics: exact ends, every unjudged document counted once with its weight in both runs."""
    plain = measure(judged_only=False) if not measure.definition.condensed else measure
    runs, topics = len(collection.runs), len(collection.topics)
    known = np.nan_to_num(plain.cells(collection.hits), nan=0.0).reshape(runs, topics)
    low, high = np.empty((len(first), topics)), np.empty((len(first), topics))
    for topic in range(topics):
        run, doc, least, rise = _open_documents(collection, plain, topic)
        base = known[:, topic] + np.bincount(run, least, runs)
        gain, loss = _one_sided(run, doc, rise, runs, first, second)
        low[:, topic] = base[first] - base[second] + loss
        high[:, topic] = base[first] - base[second] + gain
    return low, high


def _open_documents(collection: Collection, measure: Measure, topic: int) -> tuple[Ints, Ints, Floats, Floats]:
    """Unjudged documents of all lists of a topic: run, number, what they add at least, and how much more at most.

    They are numbered as the runs list them, runs in order of names: sums over them do not show the order given.
    """
    judgments, rankings = collection.judgments, collection.rankings
    by_name = np.array(in_order_of_names(collection.runs))
    cells = by_name * len(collection.topics) + topic
    start, length = rankings.offsets[cells], np.diff(rankings.offsets)[cells]
    run, size = np.repeat(by_name, length), np.repeat(length, length)
    rank = np.arange(len(run)) - np.repeat(np.cumsum(length) - length, length)
    doc = rankings.doc[np.repeat(start, length) + rank].astype(np.int64)
    known = np.append(judgments.grade, np.int32(-1))
    unjudged = known[np.minimum(doc, len(judgments))] < 0
    run, size, rank, doc = run[unjudged], size[unjudged], rank[unjudged] + 1, doc[unjudged]
    _, first_seen, code = np.unique(doc, return_index=True, return_inverse=True)
    number = first_seen[code]
    if cut := measure.params.get("k"):  # behind the cut-off nothing counts
        run, size, rank, number = (part[rank <= cut] for part in (run, size, rank, number))
    places, place = np.unique(np.stack((rank, size)), axis=1, return_inverse=True)
    grades = np.arange(judgments.gains.top_grade + 1)
    worth = measure.cells(one_document_lists(judgments, grades, np.ones(len(grades))))
    least, most = (
        measure.cells(one_document_lists(judgments, np.full(places.shape[1], grade), places[0], places[1]))
        for grade in (worth.argmin(), worth.argmax())
    )
    return run, number, least[place.ravel()], (most - least)[place.ravel()]


def _one_sided(run: Ints, doc: Ints, rise: Floats, runs: int, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """For each pair the sum of positive and of negative differences of a document's weights in both runs."""
    run, doc, rise = run[rise > 0], doc[rise > 0], rise[rise > 0]
    codes, column = np.unique(doc, return_inverse=True)
    gain, loss = np.zeros(len(first)), np.zeros(len(first))
    width = max(_AT_ONCE // max(runs, 1), 1)
    for left in range(0, len(codes), width):
        here = (column >= left) & (column < left + width)
        weight = np.zeros((runs, min(width, len(codes) - left)))
        weight[run[here], column[here] - left] = rise[here]
        for a in np.unique(first).tolist():
            chosen = np.flatnonzero(first == a)
            step = max(_AT_ONCE // max(weight.shape[1], 1), 1)
            for part in (chosen[i : i + step] for i in range(0, len(chosen), step)):
                apart = weight[a] - weight[second[part]]
                gain[part] += np.maximum(apart, 0.0).sum(axis=1)
                loss[part] += np.minimum(apart, 0.0).sum(axis=1)
    return gain, loss
