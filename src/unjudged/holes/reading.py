"""How a measure reads a list: what each rank weighs, what each grade is worth, how deep it looks.

Weights and worths are read off the registered measure itself, from lists of one document: nothing is written down a
second time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unjudged.collection import Floats, Judgments
from unjudged.holes.lists import DEPTH
from unjudged.measures import REGISTRY, Measure
from unjudged.measures.bounds.cells import one_document_lists

LINEAR, IDEAL, POINT = "linear", "ideal", "point"
"""A sum over documents (P, RBP), such a sum over that of the ideal list (nDCG), or no sum at all (AP)."""

NEGLIGIBLE = 1e-6
"""RBP reads no deeper than to the rank behind which less weight is left."""


@dataclass(frozen=True, eq=False)
class Reading:
    """One measure as the hole model needs it.

    `weight` belongs to the ranks 1, 2, ..., `worth` to the grades 0, 1, ... (between 0 and 1). `early` is the rank down
    to which holes matter most, `cut` the last rank of an ideal list.
    """

    measure: Measure
    kind: str
    weight: Floats
    worth: Floats
    early: int

    @property
    def weight_scale(self) -> float:
        """What turns the weights into discounts: 1 at the first rank."""
        return 1.0 / float(self.weight[0]) if self.weight[0] > 0 else 1.0

    @property
    def depth(self) -> int:
        """The last rank that is read."""
        return len(self.weight)

    def sum_of_first(self, many: Floats) -> Floats:
        """The sum of the discounts of the first `many` ranks; part of a document has that part of its discount."""
        discount = self.weight * self.weight_scale
        sums = np.concatenate(([0.0], np.cumsum(discount)))
        whole = np.minimum(np.floor(many), self.depth).astype(np.int64)
        return np.asarray(sums[whole] + (np.minimum(many, self.depth) - whole) * np.append(discount, 0.0)[whole])

    @property
    def levels(self) -> list[tuple[float, Floats]]:
        """The worth in steps: (height of the step, which grades reach it as 0 or 1)."""
        heights = np.unique(self.worth[self.worth > 0])
        steps = np.diff(heights, prepend=0.0)
        pairs = zip(steps.tolist(), heights.tolist(), strict=True)
        return [(step, (self.worth >= height).astype(np.float64)) for step, height in pairs]


def why_not(measure: Measure) -> str:
    """Why holes of this measure cannot be estimated, or nothing where they can."""
    name, k = measure.name, measure.params.get("k")
    if not measure.definition.ours or name not in ("P", "RBP", "nDCG", "AP"):
        return "no estimate is known for this measure"
    if measure.condensed:
        return "a condensed list has no holes"
    if measure.mean != "arithmetic":
        return "only means over topics can be estimated"
    if name != "RBP" and k is None:
        return f"it needs a cut-off of at most {DEPTH}"
    if k is not None and k > DEPTH:
        return f"the cut-off is above {DEPTH}"
    return ""


def why_not_leading(measure: Measure) -> str:
    """Why this measure gives documents no weight, so that it cannot lead the judging; empty where it can."""
    return why_not(measure) or ("no weights are known for it" if measure.name == "AP" else "")


def leading_for(measure: Measure) -> str:
    """The measure that leads the judging where this one is in question: itself, or nDCG as deep as it reads.

    RR and ERR read on until they are satisfied, which is seldom deep.
    """
    if not why_not_leading(measure):
        return str(measure)
    deep = {"RR": 10, "ERR": 10, "nERR": 10}.get(measure.name, DEPTH)
    return f"nDCG@{min(measure.params.get('k') or deep, DEPTH)}"


def read(measure: Measure, judgments: Judgments, longest: int) -> Reading:
    """How this measure reads lists of up to `longest` documents; see `why_not` for those it cannot be asked for."""
    name, params = measure.name, measure.params
    k, top = params.get("k"), judgments.gains.top_grade
    if name == "RBP":
        needed = math.ceil(math.log(NEGLIGIBLE) / math.log(params["p"]))
        depth = k or max(DEPTH, min(longest, needed))
        early = min(round(2 / (1 - params["p"])), depth)
    else:
        depth = early = k
    sums = {"nDCG": REGISTRY["DCG"], "AP": REGISTRY["P"]}.get(name, measure)
    if name == "nDCG":
        sums = sums(**params)
    elif name == "AP":
        sums = sums(k=k, rel=params["rel"])
    grades = np.arange(top + 1)
    worth = sums.cells(one_document_lists(judgments, grades, np.ones(top + 1)))
    most = float(worth.max())
    weight = sums.cells(one_document_lists(judgments, np.full(depth, int(worth.argmax())), np.arange(1, depth + 1)))
    kind = {"nDCG": IDEAL, "AP": POINT}.get(name, LINEAR)
    return Reading(measure, kind, weight, worth / most if most > 0 else worth, early)
