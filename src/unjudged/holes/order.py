"""What to judge next: the unjudged documents that take most uncertainty away from the pairs that are still open.

After Carterette, Allan & Sitaraman (SIGIR 2006), who judge what matters most to a difference; here a document counts
for its own uncertainty and for what its label tells of the other holes of its team, topic and of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unjudged.collection import Collection, Floats, Ints
from unjudged.holes.lists import Flags
from unjudged.holes.pairs import Differences
from unjudged.holes.weights import Weights

ROUNDED = 12
"""Values equal to so many decimals are ties."""


@dataclass(frozen=True, eq=False)
class Values:
    """Holes worth a label: `doc` are numbers of documents, `value` the share of the open pairs' uncertainty each takes
    away, added over the pairs."""

    doc: Ints
    value: Floats


def pair_values(weights: Weights, first: int, second: int) -> Values:
    """The variance of the difference of two runs that a label of each hole takes away."""
    table = _Table(weights)
    values = table.of(first, np.array([second]))[0]
    return Values(table.doc[values > 0], values[values > 0])


def values(weights: Weights, found: Differences, votes: Flags | None = None) -> Values:
    """What a label of each hole is worth to the open pairs (or to those that vote); every pair has one vote."""
    table = _Table(weights)
    total = np.zeros(len(table.doc))
    still = ~found.settled if votes is None else votes
    for a in np.unique(found.first[still]).tolist():
        others = found.second[still & (found.first == a)]
        for part in range(0, len(others), table.at_once):
            worth = table.of(a, others[part : part + table.at_once])
            sums = worth.sum(axis=1, keepdims=True)
            total += np.divide(worth, sums, out=np.zeros(worth.shape), where=sums > 0).sum(axis=0)
    return Values(table.doc[total > 0], total[total > 0])


class _Table:
    """Runs x holes: the weight of every hole in every run."""

    def __init__(self, weights: Weights) -> None:
        at = weights.holes
        self.doc, column = np.unique(weights.doc[at], return_inverse=True)
        runs = len(weights.lists.runs)
        self.weight = np.zeros((runs, len(self.doc)))
        self.weight[weights.run[at], column] = weights.weight[at]
        c, lists = weights.chances, weights.lists
        self.slope, self.single = c.slope[self.doc], weights.variance[self.doc]
        self.team, self.topic = lists.best_team[self.doc], lists.topic[self.doc]
        self.moved = weights.shifted
        self.spread = c.s_common**2, c.s_team**2, c.s_topic**2
        self.at_once = max((1 << 21) // max(len(self.doc), 1), 1)

    def of(self, a: int, others: Ints) -> Floats:
        """Pairs x holes: what a label takes away from the variance of a - each of the others."""
        mine = np.flatnonzero(self.weight[a] + self.weight[others].sum(axis=0))
        apart = self.weight[a, mine] - self.weight[np.ix_(others, mine)]
        common, of_team, of_topic = (moved[a] - moved[others] for moved in self.moved)
        together = self.spread[0] * common + self.spread[1] * of_team[:, self.team[mine]]
        together = together + self.spread[2] * of_topic[:, self.topic[mine]]
        out = np.zeros((len(others), len(self.doc)))
        out[:, mine] = apart**2 * self.single[mine] + np.maximum(0.0, 2 * apart * self.slope[mine] * together)
        return out


@dataclass(frozen=True)
class Hole:
    """A document worth a label: its topic and id, what a label is worth, and its chance of being relevant."""

    number: int
    topic: str
    doc: str
    value: float
    p: float


def first(found: Values, weights: Weights, collection: Collection, many: int) -> list[Hole]:
    """The holes most worth a label, best first; values that are equal to 12 decimals by topic, then by id, as text."""
    rounded = np.round(found.value, ROUNDED)
    if len(rounded) > many > 0:  # ids are looked up for those that can be among the first only
        least = np.partition(rounded, len(rounded) - many)[len(rounded) - many]
        at = np.flatnonzero(rounded >= least)
    else:
        at = np.arange(len(rounded))
    holes = []
    for i, (topic, doc) in zip(at.tolist(), named(found.doc[at], weights, collection), strict=True):
        holes.append((-float(rounded[i]), topic, doc, int(found.doc[i]), float(found.value[i])))
    return [Hole(n, topic, doc, value, float(weights.chances.p[n])) for _, topic, doc, n, value in sorted(holes)[:many]]


def named(numbers: Ints, weights: Weights, collection: Collection) -> Iterator[tuple[str, str]]:
    """Topic and id of these documents."""
    lists, judgments, unjudged = weights.lists, collection.judgments, collection.rankings.unjudged
    for number in numbers.tolist():
        code = int(lists.code[number])
        doc = judgments.docs[code] if code < len(judgments) else unjudged[code - len(judgments)]
        yield judgments.topics[int(lists.topic[number])], doc
