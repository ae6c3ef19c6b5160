"""What complete judgments would show: the order of the runs, and what outsiders lose, under completions of the holes.

Two verdicts rest on this (docs/report.md): how far the order can be trusted, and whether the pool is fair to outsiders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unjudged.collection import Collection, Floats, Pool
from unjudged.errors import UsageError
from unjudged.holes.completions import Completions, complete
from unjudged.holes.lists import Flags, Lists
from unjudged.measures import Measure
from unjudged.scoring import score
from unjudged.statistics.correlation import tau_b
from unjudged.studies.engine import Arrays, Setup, leading
from unjudged.text import counted


@dataclass(frozen=True, eq=False)
class Completed:
    """Completions of a setup's judgments, the measure that leads, and whether the pool could be seen."""

    setup: Setup
    completions: Completions
    lists: Lists
    measure: Measure
    seen: bool

    @classmethod
    def of(cls, setup: Setup, draws: int, teams: int) -> Completed | None:
        """`draws` completions; None where holes cannot be judged (answers to questions). A pool of fewer teams than
        `teams` shows too little of what others find: it counts as not seen."""
        try:
            found, chances = complete(setup.collection, setup.scoring.smallest, draws, setup.seed)
        except UsageError:
            return None
        return cls(
            setup,
            found,
            chances.lists,
            setup.measures[leading(setup.measures)],
            chances.seen.seen and chances.seen.teams >= teams,
        )

    def taus(self) -> Floats:
        """Per completion, Kendall's tau of the order of the first repeat's runs with the order as it is."""
        setup, runs = self.setup, self.setup.selections[0]
        one = (self.completions.of_runs(runs), self.measure, setup.counted)
        units = list(range(len(self.completions.relevant)))
        done = setup.case.run(means_of, one, [-1, *units], f"the order under {counted(len(units), 'completion')}")
        now = done[0]["means"]
        return np.array([tau_b(now, value["means"]) for value in done[1:]])

    def losses(self, pool: Pool, owners: Mapping[str, Sequence[str]]) -> dict[str, Floats]:
        """Team -> what its runs lose because they were not pooled, per completion: the share of the score they would
        have, had their own first documents been judged as those of the pooled runs were."""
        setup, holes = self.setup, np.flatnonzero(self.lists.hole)
        number = np.full(self.lists.docs, -1)
        number[holes] = np.arange(len(holes))
        near = self.lists.rank <= pool.depth
        shown: dict[str, Flags] = {}
        for team, own in owners.items():
            theirs = near & np.isin(self.lists.run, [self.lists.runs.index(run) for run in own])
            docs = number[self.lists.doc[theirs]]
            shown[team] = np.zeros(len(holes), bool)
            shown[team][docs[docs >= 0]] = True
        alone = self.completions.of_runs(tuple(run for own in owners.values() for run in own))
        shared = (alone, self.measure, setup.counted)
        units = [(tuple(own), np.packbits(shown[team]).tobytes()) for team, own in owners.items()]
        done = setup.case.run(lost_by, shared, units, f"what {counted(len(units), 'outsider')} would lose")
        return {team: value["loss"] for team, value in zip(owners, done, strict=True)}


def means_of(shared: tuple[Completions, Measure, Flags], completion: int) -> Arrays:
    """One work unit: the means of the runs under a completion; -1 is the judgments as they are."""
    completions, measure, topics = shared
    collection = completions.collection if completion < 0 else completions.under(completion)
    return {"means": score(collection, [measure]).mean_values(topics)[:, 0]}


def lost_by(shared: tuple[Completions, Measure, Flags], unit: tuple[tuple[str, ...], bytes]) -> Arrays:
    """One work unit: the share of their score that runs lose, per completion; NaN where they would have none."""
    completions, measure, topics = shared
    runs, bits = unit
    own = completions.of_runs(runs)
    shown = np.unpackbits(np.frombuffer(bits, np.uint8), count=len(own.rows)).astype(bool)

    def total(collection: Collection) -> float:
        return float(score(collection, [measure]).mean_values(topics)[:, 0].sum())

    now = total(own.collection)
    would = np.array([total(own.under(completion, shown)) for completion in range(len(own.relevant))])
    return {"loss": np.where(would > 0, 1 - now / np.where(would > 0, would, 1.0), np.nan)}
