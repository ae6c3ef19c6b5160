"""Would a correction have helped? Errors of left-out runs before and after, how sure they are, and the interval.

Runs of one team err alike, so that everything here counts teams: the spread of an error is a jackknife over teams, and
the interval gives every team the same weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unjudged.collection import Floats, Ints
from unjudged.statistics.distributions import student_limit
from unjudged.statistics.estimate_errors import mean_absolute_error
from unjudged.statistics.pairs import ZERO
from unjudged.text import printed


@dataclass(frozen=True, eq=False)
class Trust:
    """What leaving runs out of the pool showed for one measure and method.

    `before` and `after`: mean absolute error of the left-out runs' scores without and with the correction.
    `reach`: how far a corrected score may be from the true one; `confidence` the share of runs this holds for.
    `errors`: runs x (before, after); `team`: the number of each run's team.
    """

    runs: int
    before: float
    after: float
    reach: float
    confidence: float
    errors: Floats
    team: Ints

    @classmethod
    def of(
        cls,
        true: Floats,
        reduced: Floats,
        corrected: Floats,
        confidence: float,
        groups: Sequence[str] | None = None,
        outer: Floats | None = None,
    ) -> Trust:
        """From the scores of left-out runs, each of a group (a team; else each run is its own).

        `outer` replaces the errors behind the interval: those of a method that was chosen without the run's own team.
        """
        errors = np.stack([np.abs(true - reduced), np.abs(true - corrected)], axis=1)
        team = np.unique(groups if groups is not None else np.arange(len(true)), return_inverse=True)[1]
        reach, reached = _reach(errors[:, 1] if outer is None else outer, team, confidence)
        before, after = mean_absolute_error(true, reduced), mean_absolute_error(true, corrected)
        return cls(len(errors), before, after, reach, reached, errors, team)

    @property
    def helps(self) -> bool:
        """Were the left-out runs nearer to their true scores with the correction?"""
        return self.after < self.before - ZERO

    @property
    def teams(self) -> int:
        """How many teams (or single runs) were left out."""
        return int(self.team.max(initial=-1)) + 1

    def give_or_take(self, confidence: float = 0.95) -> float:
        """Half the width of the interval of `after` over teams; infinite where only one was left out."""
        return self._half(self.errors[:, 1], np.ones(self.runs), confidence)

    def share(self) -> float:
        """The error that is left as a share of the error before; 0 where there was none."""
        return self.after / self.before if self.before > ZERO else 0.0

    def share_at_most(self, confidence: float = 0.95) -> float:
        """The upper end of the interval of that share over teams: what is left for certain, size and chance counted."""
        if self.before <= ZERO:
            return 0.0
        return self.share() + self._half(self.errors[:, 1], self.errors[:, 0], confidence)

    def _half(self, above: Floats, below: Floats, confidence: float) -> float:
        """Jackknife over teams of the ratio of two sums: half the width of its two-sided t interval."""
        many = self.teams
        if many < 2:
            return math.inf
        teams = [self.team == team for team in range(many)]
        top, bottom = (np.array([math.fsum(values[own]) for own in teams]) for values in (above, below))
        left = math.fsum(bottom) - bottom
        if (left <= ZERO).any():
            return math.inf
        without = (math.fsum(top) - top) / left
        middle = math.fsum(without) / many
        error = math.sqrt((many - 1) / many * math.fsum((without - middle) ** 2))
        return float(student_limit((1 - confidence) / 2, many - 1)) * error

    def sentence(self, where: str = "on this collection") -> str:
        """In words: MAE before and after."""
        change = f"MAE {printed(self.before)} -> {printed(self.after)}"
        verb = "would have helped" if self.helps else "would not have helped"
        return f"correction {verb} {where}: {change}"


def _reach(errors: Floats, team: Ints, confidence: float) -> tuple[float, float]:
    """How far a score may be from the true one, and for which share of new runs that holds.

    If a new run is like a run of one more left-out team, it is that near to its true score with at least this
    confidence: conformal prediction with every team of the same weight (Vovk, Gammerman & Shafer 2005; Dunn, Wasserman
    & Ramdas 2023). With too few teams it is the largest error and holds for teams / (teams + 1).
    """
    many = int(team.max()) + 1
    order = np.argsort(errors, kind="stable")
    weight = 1 / (np.bincount(team)[team][order] * (many + 1))
    place = int(np.searchsorted(np.cumsum(weight), confidence - 1e-9))
    if place >= len(errors):
        return float(errors[order[-1]]), many / (many + 1)
    return float(errors[order[place]]), confidence


def best_of(errors: Mapping[str, Floats]) -> str:
    """The method with the smallest mean error; of equal ones the first named."""
    means = {method: round(float(np.mean(each)), 12) for method, each in errors.items()}
    return min(means, key=means.__getitem__)


def errors_of_the_choice(errors: Mapping[str, Floats], groups: Sequence[str]) -> Floats:
    """The error of each run by the method that is best without its own team: what choosing the best really costs."""
    team = np.asarray(groups)
    found = np.empty(len(team))
    for one in dict.fromkeys(groups):
        own = team == one
        others = {method: each[~own] for method, each in errors.items()}
        found[own] = errors[best_of(others) if (~own).any() else best_of(errors)][own]
    return found
