"""Noise: judgments as a careless or partial assessor would have given them.

Whether a judgment changes depends on the seed and the ids of topic and document alone: a higher rate changes the
same judgments and more, and an earlier reduction makes no difference to those that are left.
"""

from __future__ import annotations

import numpy as np

from unjudged.changes.reduce import random_order
from unjudged.collection import Collection
from unjudged.collection.history import change
from unjudged.collection.membership import known_runs, runs_of_teams
from unjudged.errors import UsageError

_FLIP, _FAVOUR = 1, 2


@change
def flip(
    collection: Collection,
    rate: float | None = None,
    *,
    relevant: float | None = None,
    nonrelevant: float | None = None,
    rel: int = 1,
    seed: int = 0,
) -> Collection:
    """Random errors: a relevant document becomes nonrelevant (grade 0), a nonrelevant one gets grade `rel`.

    `rate` is the probability of either; `relevant` and `nonrelevant` set them apart (assessors overlook far more
    often than they invent).
    """
    if rate is None and relevant is None and nonrelevant is None:
        raise UsageError("flipping needs a rate, or one for relevant and one for nonrelevant documents")
    miss = _rate("the rate for relevant documents", relevant if relevant is not None else rate or 0.0)
    invent = _rate("the rate for nonrelevant documents", nonrelevant if nonrelevant is not None else rate or 0.0)
    grade = collection.judgments.grade
    chance = random_order(collection.full, seed, _FLIP)[collection.rows]
    changed = grade.copy()
    changed[(grade >= rel) & (chance < miss)] = 0
    changed[(grade >= 0) & (grade < rel) & (chance < invent)] = rel
    rates = f"{miss:g}" if miss == invent else f"{miss:g} of relevant, {invent:g} of nonrelevant"
    return collection.regraded(changed, f"grades flipped with probability {rates} (seed {seed})")


@change
def favour(
    collection: Collection,
    rate: float = 1.0,
    *,
    team: str | None = None,
    run: str | None = None,
    depth: int = 10,
    rel: int = 1,
    seed: int = 0,
) -> Collection:
    """A partial judge: judged nonrelevant documents in the top `depth` of a team's runs (or of one run) get grade
    `rel` with probability `rate`."""
    if (team is None) == (run is None):
        raise UsageError("name a team or a run to favour")
    if depth < 1:
        raise UsageError(f"depth needs a positive number, not {depth}")
    share = _rate("the rate", rate)
    names = runs_of_teams(collection, [team]) if team is not None else known_runs(collection, [run or ""])
    who = f"team {team}" if team is not None else f"run {run}"
    numbers = [collection.runs.index(name) for name in names if name in collection.runs]
    hits = collection.hits
    theirs = np.isin(hits.run, numbers) & (hits.rank <= depth)
    grade = collection.judgments.grade
    shown = np.zeros(len(grade), bool)
    shown[hits.row[theirs]] = True
    chance = random_order(collection.full, seed, _FAVOUR)[collection.rows]
    changed = np.where(shown & (grade >= 0) & (grade < rel) & (chance < share), np.int32(rel), grade)
    return collection.regraded(changed, f"{who} favoured in its top {depth} with probability {share:g} (seed {seed})")


def _rate(what: str, rate: float) -> float:
    if not 0 <= rate <= 1:
        raise UsageError(f"{what} lies from 0 to 1, not {rate}")
    return float(rate)
