"""How far the missing judgments could move the difference of two runs.

Two runs often retrieve the same unjudged document, and whatever its grade is, it has that grade in both. So the
difference of two runs is known better than their two scores.

**Exact** for measures that add up over documents: see `separable`.

**Outer** for all other measures with bounds (AP, nDCG, Q, ...): lowest a - highest b to highest a - lowest b, topic by
topic, and 0 where both runs have the same list. Both ends of this interval may need different grades for one
document: the difference never leaves it, but may not reach its ends. For nDCG and recall it is cut down by what both
runs divide by: see `shared_ideal`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Ints
from unjudged.errors import UsageError
from unjudged.measures import Measure
from unjudged.measures.bounds import GROWTH, Bounds, refuse_unbounded, score_bounds
from unjudged.measures.bounds.separable import is_separable, separable_differences
from unjudged.measures.bounds.shared_ideal import normalised_differences


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
    refuse_unbounded(collection)
    if growth not in GROWTH:
        raise UsageError(f"growth can be {' or '.join(GROWTH)}, not {growth!r}")
    found: list[Interval] = []
    others = [m for m in measures if not is_separable(m)]
    ends = score_bounds(collection, others, growth=growth) if others else None
    same = _same_lists(collection, first, second) if others else np.zeros((0, 0), bool)
    for measure in measures:
        if is_separable(measure):
            low, high = separable_differences(collection, measure, first, second)
        else:
            assert ends is not None
            low, high = _outer(ends, others.index(measure), first, second, same)
            nearer = normalised_differences(collection, measure, first, second, growth == "free")
            if nearer is not None:
                low, high = np.maximum(low, nearer[0]), np.minimum(high, nearer[1])
        found.append(Interval(low[:, counted].mean(axis=1), high[:, counted].mean(axis=1), is_separable(measure)))
    return found


def _outer(ends: Bounds, m: int, first: Ints, second: Ints, same: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Pairs x topics: from the lowest and highest value of each run by itself."""
    low, high = ends.low[:, :, m], ends.high[:, :, m]
    return np.where(same, 0.0, low[first] - high[second]), np.where(same, 0.0, high[first] - low[second])


def _same_lists(collection: Collection, first: Ints, second: Ints) -> npt.NDArray[np.bool_]:
    """Pairs x topics: do both runs have the same documents in the same order?"""
    rankings = collection.rankings
    ends = rankings.offsets.tolist()
    lists = [rankings.doc[a:b].tobytes() for a, b in itertools.pairwise(ends)]
    numbers: dict[bytes, int] = {}
    number = np.array([numbers.setdefault(docs, len(numbers)) for docs in lists])
    number = number.reshape(len(collection.runs), len(collection.topics))
    return np.asarray(number[first] == number[second])
