"""Two runs with holes: better, worse or cannot tell, and whether judging or more topics would help.

The difference is expected from the same chances as scores are; documents that both runs have at the same rank cancel.
It counts where it exceeds the uncertainty of the topics and that of the holes together. Without holes this is the
paired t-test. Several pairs are corrected as p values are in `compare` (Holm unless told otherwise).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unjudged.collection import Collection, Floats, Ints
from unjudged.collection.collection import in_order_of_names
from unjudged.collection.segments import ranges
from unjudged.holes.lists import Flags
from unjudged.holes.reading import read, why_not_leading
from unjudged.holes.weights import Weights, weigh
from unjudged.measures import Measure
from unjudged.statistics.distributions import student_above, student_quantile
from unjudged.statistics.multiple import CORRECTIONS
from unjudged.statistics.pairs import ZERO, Pairs

BETTER, WORSE, CANNOT_TELL = "better", "worse", "cannot tell"
HOLES, TOPICS = "holes", "topics"
LIKELY = 1.6449
"""How many standard deviations of the holes a likely completion of the judgments can move a difference by."""


@dataclass(frozen=True, eq=False)
class Shared:
    """What two runs have in common in their holes, runs x runs.

    `product`: variance of single documents times both weights; `lesser`: the smaller weight; `both`: documents;
    `same`: documents with equal weight in both.
    """

    product: Floats
    lesser: Floats
    both: Ints
    same: Ints


@dataclass(frozen=True, eq=False)
class Differences:
    """Pairs of runs in one measure (numbers of runs by name); a difference is first minus second.

    `v_topic` and `v_hole` are the variances of the mean difference, by topics and by holes. `t` is how many standard
    deviations a difference must exceed, corrected for the number of pairs; `p_adjusted` the corrected p value.
    `holes` counts the documents that are unjudged and weigh differently in both. `word` is better, worse or cannot
    tell, `why` then says holes (judging helps) or topics (only more topics help). `low` and `high`: the difference if
    the first run's holes are all worthless and the second's all perfect, and the other way round, with the ideal lists
    as expected.
    """

    first: Ints
    second: Ints
    difference: Floats
    v_topic: Floats
    v_hole: Floats
    t: Floats
    p_adjusted: Floats
    holes: Ints
    word: tuple[str, ...]
    why: tuple[str, ...]
    low: Floats
    high: Floats

    @property
    def share(self) -> Floats:
        """Share of the uncertainty that comes from holes; 0 where nothing is uncertain."""
        whole = self.v_topic + self.v_hole
        return np.divide(self.v_hole, whole, out=np.zeros(len(whole)), where=whole > 0)

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """Lowest and highest difference that topics and holes together leave likely, at the corrected level."""
        half = self.t * np.sqrt(self.v_topic + self.v_hole)
        return self.difference - half, self.difference + half

    @property
    def settled(self) -> Flags:
        """Would more labels change nothing? Decided, without holes, or no likely completion decides it."""
        decided = np.array([word != CANNOT_TELL for word in self.word], bool)
        moved = np.abs(self.difference) + LIKELY * np.sqrt(self.v_hole)
        with np.errstate(invalid="ignore"):
            hopeless = moved < self.t * np.sqrt(self.v_topic)
        return np.asarray(decided | (self.holes == 0) | hopeless | np.isnan(self.v_topic))


def difference(
    collection: Collection, measure: Measure, pairs: Pairs, *, alpha: float = 0.05, correction: str = "holm"
) -> Differences | None:
    """What can be said of these pairs of runs (by their place in the collection); None for a measure without a rule.

    P@k, nDCG@k (up to 100) and RBP have one (`effects` has what is known of others).
    """
    if why_not_leading(measure):
        return None
    weights = weigh(collection, read(measure, collection.judgments, int(collection.hits.length.max(initial=1))))
    place = np.argsort(in_order_of_names(collection.runs))
    return differences(weights, (place[pairs[0]], place[pairs[1]]), alpha=alpha, correction=correction)


def shared_holes(weights: Weights, pairs: Pairs) -> Shared:
    """What every two of the runs in these pairs have in common in their holes."""
    runs = len(weights.lists.runs)
    product, lesser = np.zeros(runs * runs), np.zeros(runs * runs)
    both, same = np.zeros(runs * runs, np.int64), np.zeros(runs * runs, np.int64)
    asked = np.zeros(runs, bool)
    asked[np.concatenate(pairs)] = True
    for run, doc, weight in _by_topic(weights, asked):
        order = np.argsort(doc, kind="stable")
        run, doc, weight = run[order], doc[order], weight[order]
        start = np.flatnonzero(np.diff(doc, prepend=-1))
        size = np.diff(np.append(start, len(doc)))
        many = np.repeat(size, size)
        left = np.repeat(np.arange(len(doc)), many)
        right = ranges(np.repeat(start, size), many)
        key = run[left] * runs + run[right]
        product += np.bincount(key, weight[left] * weight[right] * weights.variance[doc[left]], runs * runs)
        lesser += np.bincount(key, np.minimum(weight[left], weight[right]), runs * runs)
        both += np.bincount(key, minlength=runs * runs)
        same += np.bincount(key[weight[left] == weight[right]], minlength=runs * runs)
    shape = runs, runs
    return Shared(product.reshape(shape), lesser.reshape(shape), both.reshape(shape), same.reshape(shape))


def _by_topic(weights: Weights, asked: Flags) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Run, document and weight of the holes of each topic that weigh something in the runs asked for."""
    at = weights.holes[(weights.weight[weights.holes] > 0) & asked[weights.run[weights.holes]]]
    topic = weights.lists.topic[weights.doc[at]]
    ends = np.searchsorted(topic, np.arange(weights.lists.topics + 1))
    for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        if last > first:
            here = at[first:last]
            yield weights.run[here], weights.doc[here], weights.weight[here]


def hole_variances(weights: Weights, pairs: Pairs, common: Shared) -> tuple[Floats, Ints]:
    """Per pair (numbers by name) the variance of the difference that comes from holes, and its number of holes."""
    first, second = pairs
    own, many = np.diagonal(common.product), np.diagonal(common.both)
    holes = many[first] + many[second] - common.both[first, second] - common.same[first, second]
    variance = own[first] + own[second] - 2 * common.product[first, second]
    variance = variance + weights.shared(*(moved[first] - moved[second] for moved in weights.shifted))
    return np.where(holes > 0, np.maximum(variance, 0.0), 0.0), holes


def hole_range(weights: Weights, pairs: Pairs, common: Shared) -> tuple[Floats, Floats]:
    """Per pair the lowest and highest difference that holes allow, with the ideal lists as expected."""
    first, second = pairs
    known = weights.weight * np.where(weights.lists.hole[weights.doc], 0.0, weights.chances.p[weights.doc])
    base = np.bincount(weights.run, known, len(weights.lists.runs))
    whole = np.diagonal(common.lesser)
    low = base[first] - base[second] - (whole[second] - common.lesser[first, second])
    high = base[first] - base[second] + (whole[first] - common.lesser[first, second])
    return low, high


def differences(weights: Weights, pairs: Pairs, *, alpha: float = 0.05, correction: str = "holm") -> Differences:
    """What can be said of these pairs of runs (numbers by name, as in `weights.lists.runs`)."""
    first, second = pairs
    common = shared_holes(weights, pairs)
    cells, topics = weights.by_cell(), weights.lists.topics
    v_hole, holes = hole_variances(weights, pairs, common)
    apart = cells[first] - cells[second]
    apart[np.abs(apart) < ZERO] = 0.0
    difference = apart.mean(axis=1)
    low, high = hole_range(weights, pairs, common)
    v_topic = apart.var(axis=1, ddof=1) / topics if topics > 1 else np.full(len(first), np.nan)
    ruled = decide(difference, v_topic, v_hole, topics, alpha=alpha, correction=correction)
    return Differences(
        *(
            first,
            second,
            difference,
            v_topic,
            v_hole,
            critical(ruled.level, topics),
            ruled.p_adjusted,
            holes,
            ruled.word,
            ruled.why,
            low,
            high,
        )
    )


@dataclass(frozen=True, eq=False)
class Ruled:
    """What the rule says of pairs; see `Differences`. `level`: what each pair was, or would next be, tested at."""

    level: Floats
    p_adjusted: Floats
    word: tuple[str, ...]
    why: tuple[str, ...]


def decide(
    difference: Floats, v_topic: Floats, v_hole: Floats, topics: int, *, alpha: float = 0.05, correction: str = "holm"
) -> Ruled:
    """The rule: a difference counts if it exceeds t times the root of both variances together."""
    p_value = two_sided(difference, v_topic + v_hole, topics)
    return rule(difference, v_topic, v_hole, p_value, two_sided(difference, v_topic, topics), alpha, correction)


def rule(
    difference: Floats,
    v_topic: Floats,
    v_hole: Floats,
    p_value: Floats,
    p_topics: Floats,
    alpha: float,
    correction: str,
) -> Ruled:
    """The rule for p values at hand: `p_value` with the uncertainty of topics and holes, `p_topics` of topics alone.

    A pair whose adjusted p value is below alpha has a direction. Else nothing can be told: for want of judgments if the
    topics alone would decide or the holes are the larger uncertainty, for want of topics otherwise (and on one topic).
    """
    adjusted = CORRECTIONS[correction](p_value)
    with np.errstate(invalid="ignore"):
        decided = (adjusted < alpha) & (difference != 0)
        level = levels(p_value, decided, alpha, correction)
        judging_helps = (v_hole > 0) & ((p_topics < level) | (v_hole > v_topic))
    word = np.where(decided, np.where(difference > 0, BETTER, WORSE), CANNOT_TELL)
    why = np.where(decided, "", np.where(judging_helps, HOLES, TOPICS))
    return Ruled(level, adjusted, tuple(map(str, word)), tuple(map(str, why)))


def critical(level: Floats, topics: int) -> Floats:
    """How many standard deviations a difference must exceed at a level (Student's t)."""
    return np.asarray(student_quantile(1 - level / 2, max(topics - 1, 1)))


def two_sided(difference: Floats, variance: Floats, topics: int) -> Floats:
    """p value of Student's t; 1 where there is no difference and no variance, NaN on one topic."""
    if topics < 2:
        return np.full(len(difference), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(difference == 0, 0.0, np.abs(difference) / np.sqrt(variance))
    return np.asarray(2 * student_above(t, topics - 1))


def levels(p_value: Floats, decided: Flags, alpha: float, correction: str) -> Floats:
    """The level each pair was, or would next be, tested at under the correction.

    Holm tests the smallest p value at alpha over all pairs, the next one at alpha over one pair fewer, and so on; a
    pair that is still open would be tested at alpha over the pairs still open. Benjamini-Hochberg goes the other way.
    """
    tests = int((~np.isnan(p_value)).sum())
    if correction == "none" or tests < 2:
        return np.full(len(p_value), alpha)
    if correction == "bonferroni":
        return np.full(len(p_value), alpha / tests)
    if correction == "bh":
        return np.full(len(p_value), alpha * min(int(decided.sum()) + 1, tests) / tests)
    level = np.full(len(p_value), alpha / max(tests - int(decided.sum()), 1))
    order = np.argsort(np.where(np.isnan(p_value), np.inf, p_value), kind="stable")[: int(decided.sum())]
    level[order] = alpha / np.arange(tests, tests - len(order), -1)
    return level
