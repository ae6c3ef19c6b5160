"""What holes do to a comparison of runs, by any measure: expected scores, and the variance of differences.

P@k, nDCG@k and RBP are sums over documents (`weights`), so both are sums, too. Every other measure (AP, Q, RR, bpref,
...) is computed under judgments completed by chance (`completions`): the mean over completions is the expected score,
their variance that of the holes. How often that is right: docs/holes.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unjudged.collection import Collection, Floats
from unjudged.collection.collection import in_order_of_names
from unjudged.holes.completions import complete
from unjudged.holes.lists import DEPTH, Flags, unjudged_documents
from unjudged.holes.pairs import hole_range, hole_variances, shared_holes
from unjudged.holes.reading import read, why_not_leading
from unjudged.holes.weights import weigh
from unjudged.measures import Measure
from unjudged.measures.aspects import FAMILY as ASPECTS
from unjudged.scoring import score
from unjudged.statistics.pairs import ZERO, Pairs

DRAWS = 60
"""Completions that a measure without weights is computed under. More change the variance of holes by a tenth or so."""


@dataclass(frozen=True, eq=False)
class Effects:
    """What holes do in one measure.

    `expected`: topics x runs (as they were given), the expected scores. Per pair: `variance` of the mean difference
    that comes from holes, `lowest` and `highest` mean difference that they allow (by chance, for measures without
    weights), and `holed`: does the measure read a hole that counts in it? Where it reads none, nothing else counts.
    """

    expected: Floats
    variance: Floats
    lowest: Floats
    highest: Floats
    holed: Flags


def weighed(measure: Measure, collection: Collection) -> bool:
    """Is the score a sum over documents, so that nothing need be drawn? Tied documents have no single weight."""
    return not why_not_leading(measure) and collection.hits.ties is None


def can_be_estimated(measure: Measure, collection: Collection) -> bool:
    """Does the chance that a document is relevant say enough? Not which subtopics, intents or nuggets it holds."""
    return collection.judgments.aspects is None or measure.definition.family != ASPECTS


def by_weights(collection: Collection, measure: Measure, pairs: Pairs) -> Effects:
    """For a measure that is a sum over documents (`weighed`)."""
    reading = read(measure, collection.judgments, int(collection.hits.length.max(initial=1)))
    weights = weigh(collection, reading)
    place = np.argsort(in_order_of_names(collection.runs))
    here = place[pairs[0]], place[pairs[1]]
    common = shared_holes(weights, here)
    variance, holes = hole_variances(weights, here, common)
    lowest, highest = hole_range(weights, here, common)
    return Effects(weights.by_cell()[place].T, variance, lowest, highest, holes > 0)


def by_completions(
    collection: Collection, measures: Sequence[Measure], pairs: Pairs, seed: int = 0, draws: int = DRAWS
) -> list[Effects]:
    """For any measures, computed under completions of the holes in the first 100 ranks; deeper ones are nonrelevant."""
    found: dict[Measure, Effects] = {}
    now = score(collection, list(measures)).values
    for rel in sorted({_smallest(measure) for measure in measures}):
        chosen = [m for m, measure in enumerate(measures) if _smallest(measure) == rel]
        drawn = _drawn(collection, [measures[m] for m in chosen], rel, draws, seed)
        for i, m in enumerate(chosen):
            found[measures[m]] = _effects(collection, measures[m], now[:, :, m], drawn[:, :, :, i], pairs)
    return [found[measure] for measure in measures]


def _drawn(collection: Collection, measures: Sequence[Measure], rel: int, draws: int, seed: int) -> Floats:
    """Completions x runs x topics x measures: the scores under completions. The last ones are kept with the collection:
    often the same measures are compared by pairs of their own in one question and the next."""
    key = (tuple(map(str, measures)), rel, draws, seed)
    kept: dict[object, Floats] = collection.once("scores under completions", dict)
    if key not in kept:
        completions, _ = complete(collection, rel, draws, seed)
        drawn = np.stack([score(completions.under(i), list(measures)).values for i in range(draws)])
        kept.clear()
        kept[key] = drawn
    return kept[key]


def depth_of(measure: Measure) -> int:
    """The last rank at which a hole is looked at."""
    return min(int(measure.params.get("k") or DEPTH), DEPTH) if measure.name != "RBP" else DEPTH


def _smallest(measure: Measure) -> int:
    """The smallest relevant grade, for the measure."""
    return int(measure.params.get("rel") or 1)


def _effects(collection: Collection, measure: Measure, now: Floats, drawn: Floats, pairs: Pairs) -> Effects:
    first, second = pairs
    expected = drawn.mean(axis=0)
    means = drawn.mean(axis=2)  # completions x runs
    apart = means[:, first] - means[:, second]
    moved = (np.abs(drawn - now) > ZERO).any(axis=(0, 2))
    own = with_holes(collection, depth_of(measure)) & moved
    return Effects(
        expected.T,
        np.asarray(apart.var(axis=0, ddof=1)),
        apart.min(axis=0),
        apart.max(axis=0),
        own[first] | own[second],
    )


def with_holes(collection: Collection, depth: int) -> Flags:
    """Per run (as given): is a document in its first ranks unjudged?"""
    return np.asarray(unjudged_documents(collection, 0, depth)[1] > 0)
