"""The chance that an unjudged document is relevant, and how sure that is.

A logistic regression of the gain of judged documents on what describes them (`features`), with one more term for
documents that a single team brought in. Those would be unjudged had that team stayed away; holes are taken to be like
them (Büttcher and others, SIGIR 2007, predict relevance so; Webber & Park, SIGIR 2009, leave runs out so). Where no
pool can be seen the discount of holes is experience, not measurement, with a wide margin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unjudged import kernels
from unjudged.collection import Collection, Floats, Ints
from unjudged.holes.features import features
from unjudged.holes.lists import DEPTH, Lists
from unjudged.holes.seen import Seen, look

DISCOUNT = -1.5
"""Log-odds of a hole against a judged document of the same description: experience."""
DISCOUNT_SD = 1.0
"""How far the discount of a collection may lie from experience."""
OTHER_SD = 0.45
"""What is not known of the discount although the pool is seen."""
UNSEEN_SD = 1.0
"""How unsure the discount is where the pool is not seen."""
DEEPER = 0.7
"""What is not known of the discount for each log of ranks that holes lie below the pool."""
GROUP_SD = 0.7
"""Expected differences between teams, and between topics, in log-odds; they count as much as `GROUPS` groups."""
GROUPS = 3.0
LEAST_SD = 0.05
ENOUGH_UNIQUE = 50
"""Unique documents from which the spread is measured; with fewer, from all training documents."""
_STEPS = 100


@dataclass(frozen=True, eq=False)
class Fit:
    """The regression for one kind of gain: coefficients and the log-odds of every document as a hole.

    `coefficients`: intercept, five features, discount. `phi` is the dispersion, `s_team` and `s_topic` how far teams
    and topics lie from the model. `var_discount` is the variance of the discount, 1 where it was not measured.
    """

    coefficients: Floats
    eta: Floats
    var_discount: float
    phi: float
    s_team: float
    s_topic: float


@dataclass(frozen=True, eq=False)
class Chances:
    """What a document is expected to gain, between 0 and 1: `p` (judged: what it gains), and for holes what moves it.

    `slope` is the change of p with the log-odds. `phi`, `s_common`, `s_team`, `s_topic`: the uncertainty of single
    documents, of the discount all holes share, of teams and of topics. `fit` and `seen` say where it comes from.
    """

    lists: Lists
    seen: Seen
    fit: Fit
    p: Floats
    slope: Floats
    s_common: float

    @property
    def phi(self) -> float:
        """Dispersion of single documents."""
        return self.fit.phi

    @property
    def s_team(self) -> float:
        """Spread of teams in log-odds."""
        return self.fit.s_team

    @property
    def s_topic(self) -> float:
        """Spread of topics in log-odds."""
        return self.fit.s_topic


def chances(collection: Collection, worth: Floats, early: int, depth: int = DEPTH) -> Chances:
    """The expected gain of every document in the first ranks of the runs.

    `worth` is the gain of each grade 0, 1, ... between 0 and 1 ([0, 1, 1] for "relevant", [0, 0.5, 1] for graded
    gains). `early` is the rank down to which holes matter to the measure; `depth` how deep lists are read.
    """
    lists = Lists.of(collection, depth)
    key = tuple(worth.tolist())
    seen: Seen = collection.once(("hole pool", depth), lambda: look(lists))
    y = np.where(lists.hole, 0.0, worth[np.maximum(lists.grade, 0)])
    fitted: Fit = collection.once(("hole fit", depth, key), lambda: fit(lists, seen, y))
    s_common = _common(lists, seen, fitted, early)
    spread = s_common**2 + fitted.s_team**2 + fitted.s_topic**2
    flat = _sigmoid(fitted.eta)
    p = np.where(lists.hole, _sigmoid(fitted.eta / math.sqrt(1 + math.pi * spread / 8)), y)
    return Chances(lists, seen, fitted, p, np.where(lists.hole, flat * (1 - flat), 0.0), s_common)


def fit(lists: Lists, seen: Seen, y: Floats) -> Fit:
    """Fit the regression to the judged documents; `y` is the gain of each (0 for holes, which are not looked at)."""
    training = ~lists.hole & (lists.best <= DEPTH)
    if seen.seen:
        training &= seen.teams_in >= 1
    described = features(lists, y, training).values
    if not training.any():
        start = np.append(np.zeros(len(described) + 1), DISCOUNT)
        return Fit(start, np.full(lists.docs, DISCOUNT), DISCOUNT_SD**2, 1.0, GROUP_SD, GROUP_SD)
    chosen = np.flatnonzero(training)
    unique = seen.unique[chosen].astype(np.float64)
    columns = np.stack((np.ones(len(chosen)), *(feature[chosen] for feature in described), unique))
    weight = 1.0 / (1.0 + (lists.best[chosen] - 1) / 10.0)
    target = y[chosen]
    coefficients, variance = _newton(columns, target, weight)
    p = _sigmoid(_times(columns, coefficients))
    at = np.flatnonzero(seen.unique[chosen])
    if len(at) < ENOUGH_UNIQUE:
        at = np.arange(len(chosen))
    w, rest, spread = weight[at], (target - p)[at], (p * (1 - p))[at]
    phi = float(np.clip((w * rest**2 / np.maximum(spread, 0.001)).sum() / w.sum(), 0.2, 2.0))
    docs = chosen[at]
    s_topic = _between(lists.topic[docs], w, rest, spread, phi)
    s_team = _between(lists.best_team[docs], w, rest, spread, phi) if seen.seen else GROUP_SD
    as_hole = coefficients[0] + _times(described, coefficients[1:-1]) + coefficients[-1]
    if seen.seen:  # a hole was missed by one team more than a unique document was
        as_hole = as_hole - _one_more(seen)
    return Fit(coefficients, as_hole, variance, phi, s_team, s_topic)


def _one_more(seen: Seen) -> float:
    return 1.0 / (seen.teams - 1)


def _newton(columns: Floats, y: Floats, weight: Floats) -> tuple[Floats, float]:
    """Coefficients of the penalised regression, and the variance of the last one."""
    many = len(columns)
    rows = np.zeros((len(y), 8))
    rows[:, :many] = columns.T
    pull = np.array([0.01, *[1.0] * (many - 2), 1 / DISCOUNT_SD**2])
    centre = np.append(np.zeros(many - 1), DISCOUNT)
    b = centre.copy()
    added, products = np.empty(8), np.empty((8, 8))
    for _ in range(_STEPS):
        p = _sigmoid(_times(columns, b))
        kernels.newton_sums(rows, weight * p * (1 - p), weight * (y - p), added, products)
        gradient = added[:many] - pull * (b - centre)
        curve = np.diag(pull) + products[:many, :many]
        step = np.linalg.solve(curve, gradient)
        b = b + step
        if np.abs(step).max() < 1e-8:
            break
    return b, float(np.linalg.inv(curve)[-1, -1])


def _times(columns: Floats, b: Floats) -> Floats:
    """Columns times coefficients, added up one after another (the same bits with any number of threads)."""
    out: Floats = columns[0] * b[0]
    for column, one in zip(columns[1:], b[1:], strict=True):
        out += column * one
    return out


def _between(group: Ints, w: Floats, rest: Floats, spread: Floats, phi: float) -> float:
    """How far groups lie from the model beyond chance, in log-odds."""
    r = np.bincount(group, w * rest)
    h = np.bincount(group, w * spread)
    v = phi * np.bincount(group, w**2 * spread)
    there = np.bincount(group) > 0
    squares = h[there] ** 2
    q = squares.mean()
    if q <= 0:
        return GROUP_SD
    found = ((r[there] ** 2 - v[there]).sum() + GROUPS * GROUP_SD**2 * q) / (squares.sum() + GROUPS * q)
    return math.sqrt(max(float(found), LEAST_SD**2))


def _common(lists: Lists, seen: Seen, fitted: Fit, early: int) -> float:
    """The sd of the discount that all holes share."""
    if not seen.seen:
        return UNSEEN_SD
    best = lists.best[lists.hole & (lists.best <= early)]
    deeper = DEEPER * float(np.maximum(0.0, np.log(best / seen.middle_depth)).mean()) if len(best) else 0.0
    return math.sqrt(fitted.var_discount + OTHER_SD**2 + _one_more(seen) ** 2 + deeper**2)


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-x)))
