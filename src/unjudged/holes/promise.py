"""How many labels are expected to settle a pair: those after which the uncertainty left is small enough."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Floats, Ints
from unjudged.holes.lists import Flags
from unjudged.holes.pairs import Differences
from unjudged.holes.weights import Weights


def labels_needed(weights: Weights, found: Differences, chosen: Flags, order: Ints) -> Floats:
    """Per chosen pair, the labels needed in this order of documents; infinite where only more topics would help.

    Labels are taken to leave the difference where it is: the variance of the holes that are left must fall below what
    the difference leaves room for beside the topics.
    """
    at = np.flatnonzero(chosen)
    room = (np.abs(found.difference[at]) / found.t[at]) ** 2 - found.v_topic[at]
    needed = np.full(len(at), np.inf)
    if not len(order):
        return needed
    table = _Steps(weights, order)
    for i in np.flatnonzero(room > 0).tolist():
        left = table.left(int(found.first[at[i]]), int(found.second[at[i]]))
        enough = np.flatnonzero(left < room[i])
        if len(enough):
            needed[i] = enough[0] + 1
    return needed


class _Steps:
    """The variance of a difference after the first, the second, ... document of an order is judged."""

    def __init__(self, weights: Weights, order: Ints) -> None:
        lists, self.chances = weights.lists, weights.chances
        place = np.full(lists.docs, -1)
        place[order] = np.arange(len(order))
        at = weights.holes[place[weights.doc[weights.holes]] >= 0]
        self.weight = np.zeros((len(lists.runs), len(order)))
        self.weight[weights.run[at], place[weights.doc[at]]] = weights.weight[at]
        self.slope, self.single = weights.chances.slope[order], weights.variance[order]
        every = np.zeros(len(order), np.int64)
        self.groups = [_Group(group) for group in (every, lists.best_team[order], lists.topic[order])]

    def left(self, a: int, b: int) -> Floats:
        """The variance left after each document."""
        apart = self.weight[a] - self.weight[b]
        own = apart**2 * self.single
        left: Floats = np.cumsum(own[::-1])[::-1] - own
        moved = apart * self.slope
        for s, group in zip(
            (self.chances.s_common, self.chances.s_team, self.chances.s_topic), self.groups, strict=True
        ):
            left = left + s**2 * group.squares_left(moved)
        return left


class _Group:
    """Sums over the documents of each group that are still left, squared and added up."""

    def __init__(self, group: Ints) -> None:
        self.order = np.argsort(group, kind="stable")
        sizes = np.bincount(group)
        self.sizes = sizes[sizes > 0]
        self.last = np.cumsum(self.sizes) - 1

    def squares_left(self, moved: Floats) -> Floats:
        """After each document, the sum over groups of the squared sum of what is left in the group."""
        inside = moved[self.order]
        running = np.cumsum(inside)
        behind = np.repeat(running[self.last], self.sizes) - running  # left in the group after this document
        step = np.empty(len(moved))
        step[self.order] = behind**2 - (behind + inside) ** 2
        whole = np.add.reduceat(inside, self.last - self.sizes + 1)
        return np.asarray(np.maximum((whole**2).sum() + np.cumsum(step), 0.0))
