"""The score of a run with holes: what is expected, a 90 % interval, and what the missing judgments allow.

P, RBP and nDCG are sums over documents, so the expected score is the score with expected gains. The interval adds up
the uncertainty of single documents, of the discount that all holes share, of teams and of topics; it never leaves the
exact bounds. AP is no sum: it gets an expected value (in the form of Aslam & Yilmaz, CIKM 2007) and no interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unjudged.collection import Collection, Floats
from unjudged.collection.collection import in_order_of_names
from unjudged.holes.lists import DEPTH, Lists
from unjudged.holes.model import chances
from unjudged.holes.reading import IDEAL, POINT, Reading, read, why_not
from unjudged.holes.seen import Seen, look
from unjudged.holes.weights import weigh
from unjudged.measures import Measure
from unjudged.measures.bounds import bounds_of, refuse_unbounded
from unjudged.statistics.pairs import ZERO
from unjudged.text import counted, percent
from unjudged.thresholds import Threshold

Z90 = 1.6449
"""The normal quantile of a 90 % interval."""


@dataclass(frozen=True)
class Limits:
    """When no score is given: holes above the share `weight` of what a run's documents weigh, an interval wider than
    `width`, fewer than `topics` judged topics, or fewer than `judged` judged documents (one of them relevant) in the
    lists. `runs`: AP is estimated from no fewer runs. `outside`: the least spread of teams outside the pool, in
    log-odds, that intervals of scores allow for (0: that of the teams inside)."""

    weight: float
    width: float
    topics: int
    judged: int
    runs: int
    outside: float = 0.0

    @classmethod
    def of(cls, limit: Threshold) -> Limits:
        """As the table of limits says."""
        whole = (int(limit["least_topics"]), int(limit["least_judged"]), int(limit["least_runs"]))
        return cls(limit["hole_weight"], limit["widest"], *whole, limit["outside_spread"])


@dataclass(frozen=True, eq=False)
class Estimate:
    """The scores of all runs by one measure, with holes estimated; runs as they were given.

    `score`: with unjudged documents nonrelevant. `lowest`, `highest`: the exact bounds. `estimate`, `low`, `high`: the
    expected score and its 90 % interval, NaN where there is none. `share`: how much of the weight of the run's
    documents lies in holes (NaN where the measure has no weights). `cannot`: per run why the score cannot be told,
    empty where it can; `estimate` is a number all the same where the model gives one. `point`: no interval is known.
    `by_topic`: runs x topics, the expected score of every list; None where there is none.
    """

    measure: Measure
    runs: tuple[str, ...]
    score: Floats
    estimate: Floats
    low: Floats
    high: Floats
    lowest: Floats
    highest: Floats
    share: Floats
    cannot: tuple[str, ...]
    seen: Seen
    point: bool
    by_topic: Floats | None


def estimates(collection: Collection, measures: Sequence[Measure], limits: Limits, at_once: int = 1) -> list[Estimate]:
    """The scores of all runs by these measures, with holes estimated; intervals hold in so many slices at once.

    Every measure needs exact bounds (`measures.bounds.BOUNDED`); those without a hole model get the bounds alone.
    """
    refuse_unbounded(collection, "retrieved")
    lowest, score, highest = bounds_of(collection, measures, "retrieved")
    return [
        _estimate(collection, measure, lowest[:, :, m], score[:, :, m], highest[:, :, m], limits, reach(at_once))
        for m, measure in enumerate(measures)
    ]


def seen_of(collection: Collection, depth: int = DEPTH) -> Seen:
    """What the runs of the collection show of the pool."""
    lists = Lists.of(collection, depth)
    return collection.once(("hole pool", depth), lambda: look(lists))  # type: ignore[no-any-return]


def too_little(collection: Collection, limits: Limits) -> str:
    """Why nothing can be estimated in this collection; empty where something can."""
    lists = Lists.of(collection)
    judged = ~lists.hole & (lists.best <= DEPTH)
    if lists.topics < limits.topics:
        return f"only {counted(lists.topics, 'judged topic')}, at least {limits.topics} are needed"
    if judged.sum() < limits.judged:
        many = counted(int(judged.sum()), "judged document")
        return f"only {many} in the first {DEPTH} ranks, at least {limits.judged} are needed"
    if not (lists.grade[judged] > 0).any():
        return f"no relevant document in the first {DEPTH} ranks"
    return ""


def reach(at_once: int) -> float:
    """How many standard errors an interval reaches, so that so many hold at once with 90 % (Bonferroni)."""
    if at_once == 1:
        return Z90
    from scipy.stats import norm

    return float(norm.isf(0.05 / at_once))


def _estimate(
    collection: Collection,
    measure: Measure,
    lowest: Floats,
    score: Floats,
    highest: Floats,
    limits: Limits,
    reach: float,
) -> Estimate:
    runs, unknown = len(collection.runs), np.full(len(collection.runs), np.nan)
    means = [values.mean(axis=1) for values in (score, lowest, highest)]
    why = why_not(measure)
    seen = seen_of(collection)
    by_topic = None
    value, low, high, share = unknown, unknown, unknown, unknown
    reasons = [why] * runs
    if not why:
        reading = read(measure, collection.judgments, int(collection.hits.length.max(initial=1)))
        place = np.argsort(in_order_of_names(collection.runs))  # of each run among the names
        if reading.kind == POINT:
            by_topic = expected_precision(collection, reading)[place]
            share = np.full(runs, np.nan)
            half = unknown
        else:
            weights = weigh(collection, reading)
            cells = weights.by_cell()
            variance = weights.variances(limits.outside)
            if reading.kind == IDEAL:
                variance = variance + weights.ideal_variances(cells)
            by_topic, half = cells[place], reach * np.sqrt(variance)[place]
            share = weights.share_in_holes()[place]
        by_topic = np.clip(by_topic, lowest, highest)
        value = np.clip(by_topic.mean(axis=1), means[1], means[2])
        low, high = np.maximum(value - half, means[1]), np.minimum(value + half, means[2])
        reasons = _reasons(collection, limits, seen, share, high - low, reading.kind == POINT)
    return Estimate(
        measure,
        collection.runs,
        means[0],
        value,
        low,
        high,
        means[1],
        means[2],
        share,
        tuple(reasons),
        seen,
        measure.name == "AP",
        by_topic,
    )


def _reasons(
    collection: Collection, limits: Limits, seen: Seen, share: Floats, width: Floats, point: bool
) -> list[str]:
    """Per run, why its score cannot be told; empty where it can."""
    everywhere = too_little(collection, limits)
    if point and not everywhere:
        if not seen.seen:
            everywhere = "the pool is not seen, and AP is estimated with a pool only"
        elif len(collection.runs) < limits.runs:
            everywhere = f"AP is estimated from at least {limits.runs} runs"
    if everywhere:
        return [everywhere] * len(collection.runs)
    found = []
    for part, wide in zip(share.tolist(), width.tolist(), strict=True):
        if part > limits.weight + ZERO:
            found.append(f"{percent(part)} of the weight lies in holes")
        elif wide > limits.width + ZERO:
            found.append(f"the interval is {wide:.4f} wide")
        else:
            found.append("")
    return found


def expected_precision(collection: Collection, reading: Reading) -> Floats:
    """Runs (by name) x topics: average precision with expected relevance (Aslam & Yilmaz, CIKM 2007).

    Relevant documents are those known and those expected among the holes of all lists, as deep as the measure reads.
    """
    found = chances(collection, reading.worth, reading.early)
    lists, judgments = found.lists, collection.judgments
    known = np.bincount(
        judgments.topic, reading.worth[np.maximum(judgments.grade, 0)] * (judgments.grade >= 0), lists.topics
    )
    holes = np.flatnonzero(lists.hole & (lists.best <= reading.depth))
    relevant = known + np.bincount(lists.topic[holes], found.p[holes], lists.topics)
    if reading.measure.params["norm"] == "min":
        relevant = np.minimum(relevant, reading.depth)
    at = np.flatnonzero(lists.rank <= reading.depth)
    cell, rank, p = lists.cell[at], lists.rank[at], found.p[lists.doc[at]]
    order = np.argsort(cell, kind="stable")
    cell, rank, p = cell[order], rank[order], p[order]
    running = np.cumsum(p)
    first = np.flatnonzero(rank == 1)
    before = np.repeat(running[first] - p[first], np.diff(np.append(first, len(rank))))
    sums = np.bincount(cell, p / rank * (1 + running - p - before), len(lists.runs) * lists.topics)
    cells = sums.reshape(len(lists.runs), lists.topics)
    return np.asarray(np.divide(cells, relevant, out=np.zeros(cells.shape), where=relevant > 0))
