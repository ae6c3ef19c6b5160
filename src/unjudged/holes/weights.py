"""What every document weighs in the mean score of every run, with expected ideal lists for nDCG."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Ints
from unjudged.holes.lists import DEPTH, Flags, Lists
from unjudged.holes.model import Chances, chances
from unjudged.holes.reading import IDEAL, Reading


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of documents in runs, for one measure: the score of a run is the sum of weight times gain.

    Only entries that the measure reads are kept: `run`, `doc` (numbers of `chances.lists`), `cell`, `weight`. `ideal`
    is the expected sum of the ideal list of each topic (1 where the measure has none), `moved` how far its logarithm
    moves with the log-odds of all holes.
    """

    reading: Reading
    chances: Chances
    run: Ints
    doc: Ints
    cell: Ints
    weight: Floats
    ideal: Floats
    moved: Floats

    @property
    def lists(self) -> Lists:
        """The lists behind."""
        return self.chances.lists

    @functools.cached_property
    def holes(self) -> Ints:
        """The entries that are holes."""
        return np.flatnonzero(self.lists.hole[self.doc])

    @functools.cached_property
    def variance(self) -> Floats:
        """Per document, the variance of its gain for itself: 0 where it is judged."""
        p = self.chances.p
        return np.where(self.lists.hole, self.chances.phi * p * (1 - p), 0.0)

    def by_cell(self) -> Floats:
        """Runs (by name) x topics: the expected score of every list."""
        runs, topics = len(self.lists.runs), self.lists.topics
        sums = np.bincount(self.cell, self.weight * self.chances.p[self.doc], runs * topics)
        return np.asarray(sums.reshape(runs, topics) * topics, np.float64)

    def over_holes(self, values: Floats, group: npt.NDArray[np.integer] | None = None, groups: int = 1) -> Floats:
        """Runs x groups: weight times a value per document, over holes; `group` is that of each document."""
        at, runs = self.holes, len(self.lists.runs)
        key = self.run[at] * groups + (0 if group is None else group[self.doc[at]])
        sums = np.bincount(key, self.weight[at] * values[self.doc[at]], runs * groups)
        return np.asarray(sums.reshape(runs, groups), np.float64)

    def share_in_holes(self) -> Floats:
        """Per run, the share of the weight of its documents that lies in holes; 0 where nothing weighs."""
        runs = len(self.lists.runs)
        whole = np.bincount(self.run, self.weight, runs)
        holes = np.bincount(self.run[self.holes], self.weight[self.holes], runs)
        return np.asarray(np.divide(holes, whole, out=np.zeros(runs), where=whole > 0))

    @functools.cached_property
    def shifted(self) -> tuple[Floats, Floats, Floats]:
        """Runs x 1, runs x teams, runs x topics: how far scores move with the log-odds of these holes."""
        lists, slope = self.lists, self.chances.slope
        of_team = self.over_holes(slope, lists.best_team, len(lists.teams))
        of_topic = self.over_holes(slope, lists.topic, lists.topics)
        return self.over_holes(slope), of_team, of_topic

    def variances(self, outside: float = 0.0) -> Floats:
        """Per run, the variance of its score that comes from holes.

        `outside`: the least spread of teams outside the pool, in log-odds, where the pool is seen. What it shows of its
        own teams may be too little for those who were never in it.
        """
        own = np.bincount(
            self.run[self.holes],
            self.weight[self.holes] ** 2 * self.variance[self.doc[self.holes]],
            len(self.lists.runs),
        )
        common, of_team, of_topic = self.shifted
        if outside > self.chances.s_team > 0 and self.chances.seen.seen:
            pooled = np.isin(np.arange(len(self.lists.teams)), self.lists.team[self.chances.seen.depth > 0])
            of_team = of_team * np.where(pooled, 1.0, outside / self.chances.s_team)
        return own + self.shared(common, of_team, of_topic)

    def shared(self, common: Floats, of_team: Floats, of_topic: Floats) -> Floats:
        """The variance that holes share (rows: runs or pairs): the discount, teams and topics."""
        c = self.chances
        parts = ((c.s_common, common), (c.s_team, of_team), (c.s_topic, of_topic))
        return np.asarray(sum(s**2 * (moved**2).sum(axis=1) for s, moved in parts))

    def ideal_variances(self, scores: Floats) -> Floats:
        """Per run, the variance that comes from the ideal lists; `scores` are runs x topics."""
        return np.asarray((self.chances.s_common * (scores * self.moved).mean(axis=1)) ** 2)


def weigh(collection: Collection, reading: Reading) -> Weights:
    """The weights of a measure that is a sum over documents (P, RBP), or one over that of the ideal list (nDCG)."""
    depth = max(DEPTH, reading.depth)
    found = chances(collection, reading.worth, reading.early, depth)
    lists = found.lists
    at = np.flatnonzero(lists.rank <= reading.depth)
    doc, cell = lists.doc[at], lists.cell[at]
    weight = reading.weight[lists.rank[at] - 1] / lists.topics
    ideal, moved = np.ones(lists.topics), np.zeros(lists.topics)
    if reading.kind == IDEAL:
        ideal, moved = expected_ideal(collection, reading, doc)
        topic = lists.topic[doc]
        weight = np.divide(weight * reading.weight_scale, ideal[topic], out=np.zeros(len(at)), where=ideal[topic] > 0)
    return Weights(reading, found, lists.run[at], doc, cell, weight, ideal, moved)


def expected_ideal(collection: Collection, reading: Reading, read: Ints) -> tuple[Floats, Floats]:
    """Per topic the sum of its ideal list with as many documents as are known and expected, and how it moves.

    `read` are the documents in the part of the lists that the measure reads; the holes among them may be relevant.
    """
    judgments, k = collection.judgments, reading.depth
    discount = reading.weight * reading.weight_scale
    inside = np.zeros(0, bool)
    ideal = moved = np.zeros(len(judgments.topics))
    for height, reached in reading.levels:
        found = chances(collection, reached, reading.early)
        lists = found.lists
        inside = _marked(lists, read) if not len(inside) else inside
        holes = np.flatnonzero(inside)
        known = reached[np.maximum(judgments.grade, 0)] * (judgments.grade >= 0)
        many = np.bincount(judgments.topic, known, lists.topics)
        many = many + np.bincount(lists.topic[holes], found.p[holes], lists.topics)
        slope = np.bincount(lists.topic[holes], found.p[holes] * (1 - found.p[holes]), lists.topics)
        whole = np.minimum(np.floor(many), k).astype(np.int64)
        following = np.append(discount, 0.0)[whole]
        ideal = ideal + height * reading.sum_of_first(np.asarray(many, np.float64))
        moved = moved + height * following * slope
    return ideal, np.divide(moved, ideal, out=np.zeros(lists.topics), where=ideal > 0)


def _marked(lists: Lists, read: Ints) -> Flags:
    """Per document: is it a hole that some run has among these?"""
    inside = np.zeros(lists.docs, bool)
    inside[read] = True
    return inside & lists.hole
