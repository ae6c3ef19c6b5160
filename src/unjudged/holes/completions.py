"""Judgments completed by chance: what they could be, had every hole in the first ranks been judged.

A completion draws what the hole model (`chances`) leaves open: the discount that all holes share, what is peculiar to
teams and topics, and every single document. Scores under many completions say how far an order, or a loss, may be from
what complete judgments would show.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unjudged.changes.rejudge import judging_holes
from unjudged.collection import Collection, Floats, Ints
from unjudged.holes.lists import Flags
from unjudged.holes.model import Chances, chances
from unjudged.statistics.distributions import normal_quantile

EARLY = 30
"""Ranks down to which holes decide how unsure their common discount is: where most of an average precision is made."""
OUTSIDE_SD, TOPIC_SD = 1.0, 0.7
"""Least differences between teams outside the pool, and between topics, in log-odds. What the pool shows of teams is
too little for those outside: they may be of a kind that nobody in the pool is."""


@dataclass(frozen=True, eq=False)
class Completions:
    """A collection in which every hole of the first ranks is judged, and what it may be judged.

    In `collection` the holes (`rows` of its judgments) have grade 0; in a completion those that were drawn relevant
    get their `grade`. `relevant`: completions x holes.
    """

    collection: Collection
    rows: Ints
    grade: Ints
    relevant: Flags

    def under(self, completion: int, shown: Flags | None = None) -> Collection:
        """The collection as completed; only the holes `shown` are judged relevant, where some are named."""
        drawn = self.relevant[completion] if shown is None else self.relevant[completion] & shown
        grade = self.collection.judgments.grade.copy()
        grade[self.rows] = np.where(drawn, self.grade, 0)
        return self.collection.regraded(grade, f"completion {completion + 1}")

    def of_runs(self, runs: tuple[str, ...]) -> Completions:
        """The same completions for some of the runs, ready to travel."""
        return replace(self, collection=self.collection.with_runs(runs).alone())


def complete(collection: Collection, rel: int, draws: int, seed: int) -> tuple[Completions, Chances]:
    """`draws` completions of the judgments, and the model they were drawn from; grades of `rel` and more are relevant.

    What all holes share is not drawn but spread evenly over its distribution, so that few completions suffice. Draws
    follow the names of topics and teams, so that the order of files does not matter. A hole drawn relevant gets a grade
    that relevant documents have, as often as they have it.
    """
    top = collection.judgments.gains.top_grade
    found = chances(collection, (np.arange(top + 1) >= rel).astype(np.float64), EARLY)
    lists = found.lists
    holes = np.flatnonzero(lists.hole)
    common = found.s_common * normal_quantile((np.arange(draws) + 0.5) / draws)
    rng = np.random.default_rng([seed, 0])
    inside = np.isin(np.arange(len(lists.teams)), lists.team[found.seen.depth > 0])
    of_team = np.where(inside, found.s_team, max(found.s_team, OUTSIDE_SD)) * rng.standard_normal((draws, len(inside)))
    base = found.fit.eta[holes] if len(holes) else np.zeros(0)
    grades = collection.judgments.grade
    known = np.sort(grades[grades >= rel]) if (grades >= rel).any() else np.array([rel], np.int32)
    relevant = np.zeros((draws, len(holes)), bool)
    grade = np.zeros(len(holes), np.int32)
    starts = np.searchsorted(lists.topic[holes], np.arange(lists.topics + 1))
    for t in range(lists.topics):
        here = slice(int(starts[t]), int(starts[t + 1]))
        many = here.stop - here.start
        own = np.random.default_rng([seed, 1, *collection.judgments.topics.raw(t)])
        grade[here] = known[(own.random(many) * len(known)).astype(np.int64)]
        of_topic = max(found.s_topic, TOPIC_SD) * own.standard_normal(draws)
        odds = base[here] + (common + of_topic)[:, None] + of_team[:, lists.best_team[holes[here]]]
        relevant[:, here] = own.random((draws, many)) < _sigmoid(odds)
    judged, rows = collection.once("holes judged", lambda: judging_holes(collection, lists.code[holes]))
    return Completions(judged, rows, grade.astype(np.int64), relevant), found


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))
