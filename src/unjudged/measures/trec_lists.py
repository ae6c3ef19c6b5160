"""Measures as trec_eval computes them with numbers of the user's own, topic by topic and rank by rank.

The registered measures take parameters that mean something: gains of 0 and more for grades above 0, points of recall
between 0 and 1. trec_eval takes any numbers, and some of its results follow from the way it goes through a list. What
is computed follows its descriptions (`trec_eval -h -m NAME`). The `trec_eval` verb alone asks for these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, takewhile
from typing import NamedTuple

NOT_JUDGED, NEGATIVE = -1, -2
"""What stands for the grade of a document that is not in the judgments, or there with a grade below 0."""

SPELT_OUT = 10_000
"""trec_eval looks at every grade up to a topic's highest; here, those above are looked at where documents have them."""

Pairs = Sequence[tuple[str, float]]
"""Parameters of the form name=number."""


class TopicList(NamedTuple):
    """What a run has retrieved for a topic, and how the topic was judged."""

    grades: Sequence[int]
    """Of the retrieved documents, best first."""
    judged: Mapping[int, int]
    """Grade of 0 or more -> number of judged documents."""
    rel: int = 1
    documents: int = 0
    """In the whole collection (-N)."""
    version: int = 10

    @property
    def relevant(self) -> int:
        """Relevant documents in the judgments."""
        return sum(many for grade, many in self.judged.items() if grade >= self.rel)

    @property
    def found(self) -> list[int]:
        """Ranks of the relevant documents retrieved."""
        return [rank for rank, grade in enumerate(self.grades, 1) if grade >= self.rel]


def _over(a: float, b: float) -> float:
    """a / b as C divides: by 0, too."""
    if b:
        return a / b
    return math.nan if not a or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _log2(x: float) -> float:
    return math.log2(x) if x > 0 else -math.inf if x == 0 else math.nan


# -- points of recall


def _at_points(topic: TopicList, points: Sequence[float]) -> list[float]:
    """Interpolated precision at points of recall in the order given; 0 at those the list does not reach.

    They are taken from the last to the first, while the list is walked from its end to its top: a point is passed over
    only before the first one that is reached, and what is left at the top has the best precision of all.
    """
    share = [point * topic.relevant for point in points]
    if topic.version == 9:
        needed = [int(x + 0.9) for x in share]
    else:
        needed = [int(x) + int(math.copysign(abs(x - int(x)) >= 0.5, x)) for x in share]
    found, values = topic.found, [0.0] * len(points)
    left = len(points)
    while left and needed[left - 1] > len(found):
        left -= 1
    best = 0.0 if topic.grades else math.nan  # 0/0, as trec_eval prints it
    for many in range(len(found), 0, -1):
        best = max(best, many / found[many - 1])
        while left and needed[left - 1] == many:
            left -= 1
            values[left] = best
    return [best] * left + values[left:]


def iprec_at_recall(topic: TopicList, point: float) -> float:
    """Interpolated precision at one point of recall: any number."""
    return _at_points(topic, [point])[0]


def eleven_points(topic: TopicList, points: Sequence[float]) -> float:
    """Their mean, added from the last point to the first."""
    return [*accumulate(reversed(_at_points(topic, points)))][-1] / len(points)


# -- sets


def set_f(topic: TopicList, beta: float) -> float:
    """F with any weight."""
    found = len(topic.found)
    if not found:
        return 0.0
    p, r = found / len(topic.grades), found / topic.relevant
    return _over((beta + 1) * p * r, beta * p + r)


def utility(topic: TopicList, weights: Sequence[float]) -> float:
    """Weights of relevant documents retrieved, of others retrieved, of relevant ones missed and of all others."""
    found, retrieved, relevant = len(topic.found), len(topic.grades), topic.relevant
    rest = topic.documents + found - retrieved - relevant
    a, b, c, d = weights
    return a * found + b * (retrieved - found) + c * (relevant - found) + d * rest


def nothing(_topic: TopicList) -> float:
    """Precision at a multiple of R that is 0 or less: no document stands there."""
    return 0.0


def rbp_resid(topic: TopicList, p: float) -> float:
    """The weight of all unjudged documents and of the ranks behind the list; 0 where all retrieved are judged."""
    weight, unjudged = 1.0, 0.0
    for grade in topic.grades:
        if grade < 0:
            unjudged += weight
        weight *= p
    return weight + (1 - p) * unjudged if any(grade < 0 for grade in topic.grades) else 0.0


# -- gains


class _Level(NamedTuple):
    grade: int
    gain: float
    many: int
    """Judged documents of this grade."""


def _in_order(levels: list[_Level]) -> list[_Level]:
    """The lowest gain first, as glibc sorts: two halves merged, where gains less than 1 apart count as equal."""
    if len(levels) < 2:
        return levels
    low, high = _in_order(levels[: len(levels) // 2]), _in_order(levels[len(levels) // 2 :])
    merged: list[_Level] = []
    while low and high:
        merged.append((low if low[0].gain - high[0].gain < 1 else high).pop(0))
    return merged + low + high


def _is_whole(text: str) -> bool:
    return text.removeprefix("-" if text.startswith("-") else "+").isdecimal() and text.isascii()


class _Gained:
    """Gains of a list and of the ideal one."""

    def __init__(self, topic: TopicList, pairs: Pairs) -> None:
        from unjudged.measures.trec_names import whole

        given = [(whole(name), gain) for name, gain in pairs if topic.version == 9 or _is_whole(name)]
        first = {grade: place for place, (grade, _) in reversed([*enumerate(given)])}
        levels = [
            _Level(grade, gain, topic.judged.get(grade, 0) if first[grade] == place else 0)
            for place, (grade, gain) in enumerate(given)
        ]
        highest = max(topic.judged, default=-1)
        others = {*range(min(highest, SPELT_OUT) + 1), *topic.judged} - first.keys()
        levels = _in_order(
            [*levels, *(_Level(grade, float(grade), topic.judged.get(grade, 0)) for grade in sorted(others))]
        )
        gain_of = {level.grade: level.gain for level in reversed(levels)}
        best_first = [level.gain for level in reversed(levels) for _ in range(level.many)]
        self.topic = topic
        self.gains = [gain_of.get(grade, 0.0) for grade in topic.grades]
        """Of the retrieved documents, best first."""
        self.ideal = [*takewhile(lambda gain: gain > 0, best_first)] if levels and levels[-1].gain > 0 else []
        """Of the judged ones that have a gain, the highest first."""

    def discounted(self) -> tuple[list[float], list[float]]:
        """Discounted cumulated gain down to each rank, of the list and of the ideal one; 0 above the first."""
        dcg, best = (
            [*accumulate((gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1)), initial=0.0)]
            for gains in (self.gains, self.ideal)
        )
        return dcg, best

    def dcg(self) -> float:
        return self.discounted()[0][-1]

    def ideal_dcg(self) -> float:
        return self.discounted()[1][-1]

    def ndcg(self) -> float:
        dcg, best = self.discounted()
        return dcg[-1] / best[-1] if best[-1] > 0 else 0.0

    def ndcg_rel(self) -> float:
        """Mean of nDCG at each document with a gain; those that are missed take that of the whole list."""
        dcg, best = self.discounted()
        gaining = [rank for rank, gain in enumerate(self.gains, 1) if gain > 0]
        total = 0.0
        for rank in gaining:
            total += _over(dcg[rank], best[min(rank, len(self.ideal))])
        total += _over((len(self.ideal) - len(gaining)) * dcg[-1], best[-1])
        return _over(total, len(self.ideal)) if total > 0 else 0.0

    def Rndcg(self) -> float:
        """Mean of nDCG where the ideal gain changes, and at the end of a list that goes on behind the ideal one."""
        if not self.topic.relevant:
            return 0.0
        dcg, best = self.discounted()
        ends = [rank for rank, gain in enumerate(self.ideal, 1) if rank == len(self.ideal) or self.ideal[rank] != gain]
        total, points = 0.0, len(ends)
        for rank in ends:
            total += dcg[min(rank, len(self.gains))] / best[rank]
        if self.ideal and len(self.gains) > len(self.ideal) + 1:
            total, points = total + dcg[-1] / best[-1], points + 1
        return _over(total, points)

    def G(self) -> float:
        """Gain over log2(2 + what an ideal list would be ahead), over the sum of all gains; a rank costs at least 1."""
        total, ahead, cumulated = 0.0, 0.0, 0.0
        for rank, gain in enumerate(self.gains, 1):
            cumulated += gain
            ahead += max(self.ideal[rank - 1], 1.0) if rank <= len(self.ideal) else 1.0
            if gain:
                total += _over(gain, _log2(2 + ahead - cumulated))
        possible = [*accumulate(self.ideal, initial=0.0)][-1]
        return total / possible if possible > 0 else 0.0


def with_gains(topic: TopicList, name: str, pairs: Pairs) -> float:
    """A measure of cumulated gain where some grades have gains of their own: any numbers, for any grade.

    So can documents that nobody judged (-1), or with a grade below 0 (-2).
    """
    value: float = getattr(_Gained(topic, pairs), name)()
    return value
