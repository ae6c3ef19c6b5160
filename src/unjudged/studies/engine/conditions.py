"""Chosen runs scored under several conditions, and what a condition does to their order.

A condition is a set of judgments that stay (leave a team out, a shallower pool...). The first one is always the full
judgments. A work unit scores one condition with some measures; where the study asks for discriminative power, it
also tests every pair of runs. All conditions and measures share the same bootstrap samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats
from unjudged.measures import Measure
from unjudged.scoring import score
from unjudged.statistics.correlation import tau_b
from unjudged.statistics.pairs import ZERO, all_pairs
from unjudged.statistics.ranks import ranks
from unjudged.studies.engine.case import Case
from unjudged.studies.engine.groups import Unanswerable
from unjudged.studies.engine.setup import Setup, check_topic_scores
from unjudged.studies.engine.significance import Test, tested_pairs
from unjudged.studies.engine.silent import NO_MEAN, ONE_MEAN
from unjudged.studies.engine.workdir import Arrays

FULL = "full"
TOGETHER = 3
"""Measures in one unit where pairs are tested under several conditions: they share the reduced lists."""
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Conditions:
    """What every worker needs: the runs, the measures, the judgments of each condition."""

    collection: Collection
    measures: tuple[Measure, ...]
    names: tuple[str, ...]
    kept: npt.NDArray[np.uint8]
    counted: Mask
    test: Test | None

    @classmethod
    def of(cls, setup: Setup, conditions: Mapping[str, Mask], test: Test | None = None) -> Conditions:
        """The full judgments and these conditions."""
        if test is not None:
            check_topic_scores(setup.measures)
            if setup.counted.sum() < 2:
                raise Unanswerable("one topic cannot show which runs differ, nor what fewer judgments change in that")
        everything = np.ones(len(setup.collection.judgments), bool)
        kept = np.packbits(np.stack([everything, *conditions.values()]), axis=1)
        return cls(setup.selected, setup.measures, (FULL, *conditions), kept, setup.counted, test)

    @property
    def size(self) -> str:
        """How many sets of judgments are scored, in words."""
        return f"{len(self.names)} set{'s' * (len(self.names) != 1)} of judgments"

    def under(self, condition: int) -> Collection | None:
        """The collection with the judgments of a condition; None where there are none."""
        mask = np.unpackbits(self.kept[condition], count=len(self.collection.judgments)).astype(bool)
        if mask.all():
            return self.collection
        if not mask.any():
            return None
        return self.collection.keeping(mask, self.names[condition])


def judge(conditions: Conditions, unit: tuple[int, tuple[int, ...]]) -> Arrays:
    """One work unit: the means of all runs under a condition, the p values of all pairs, the difference they require.

    A condition without any judgment says nothing: no means, no pair told apart.
    """
    condition, chosen = unit
    reduced, runs = conditions.under(condition), conditions.collection.runs
    if reduced is None:
        pairs = len(runs) * (len(runs) - 1) // 2
        nothing = {"p_value": np.ones((len(chosen), pairs)), "required": np.full(len(chosen), np.nan)}
        untested = {} if conditions.test is None else nothing
        return {"means": np.full((len(chosen), len(runs)), np.nan), **untested}
    scores = score(reduced, [conditions.measures[m] for m in chosen])
    found: Arrays = {"means": scores.mean_values(conditions.counted).T}
    if conditions.test is not None:
        matrices = [scores.values[:, conditions.counted, m].T for m in range(len(chosen))]
        tested = [tested_pairs(m, scores.runs, conditions.test) for m in matrices]
        found["p_value"] = np.stack([one["p_value"] for one in tested])
        found["required"] = np.array([float(one["required"]) for one in tested])
    return found


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores: conditions x measures x runs, and conditions x measures x pairs.

    `required` (conditions x measures): the difference that the test of all these runs requires for significance.
    """

    runs: tuple[str, ...]
    conditions: tuple[str, ...]
    measures: tuple[Measure, ...]
    means: Floats
    p_value: Floats | None
    alpha: float
    required: Floats | None = None

    @property
    def silent(self) -> dict[str, str]:
        """Measures that give all runs the same mean under the full judgments, with the reason: they order nothing."""
        alike = np.ptp(self.means[0], axis=1) < ZERO
        nothing = np.abs(self.means[0]).max(axis=1) < ZERO
        return {
            str(measure): NO_MEAN if nothing[m] else ONE_MEAN for m, measure in enumerate(self.measures) if alike[m]
        }

    def places(self, runs: Sequence[str] | None) -> npt.NDArray[np.int64]:
        """Columns of these runs (of all, for None)."""
        if runs is None:
            return np.arange(len(self.runs))
        known = {run: i for i, run in enumerate(self.runs)}
        return np.array([known[run] for run in runs], np.int64)

    def tau(self, condition: int, measure: int, runs: Sequence[str] | None = None) -> float:
        """Kendall's tau between the order of these runs with all judgments and under the condition."""
        chosen = self.places(runs)
        return tau_b(self.means[0, measure, chosen], self.means[condition, measure, chosen])

    def ranked(self, condition: int, measure: int, runs: Sequence[str] | None = None) -> dict[str, int | None]:
        """Rank of each of these runs among them: 1 + the number of those with a strictly larger mean."""
        names = self.runs if runs is None else runs
        means = self.means[condition, measure, self.places(runs)]
        if not np.isfinite(means).all():
            return dict.fromkeys(names)
        return dict(zip(names, ranks(means).tolist(), strict=True))

    def significance(
        self, condition: int, measure: int, runs: Sequence[str] | None = None
    ) -> tuple[float, float, float]:
        """Among these runs: discriminative power (the share of significant pairs), and significant pairs that were
        missed and invented against the full judgments; NaN where nothing was tested."""
        if self.p_value is None:
            return (float("nan"),) * 3
        places = self.places(runs)
        first, second = all_pairs(len(self.runs))
        pairs = np.isin(first, places) & np.isin(second, places)
        before, after = (self.p_value[c, measure, pairs] < self.alpha for c in (0, condition))
        power = int(after.sum()) / len(after) if len(after) else float("nan")
        return power, int((before & ~after).sum()), int((after & ~before).sum())


def fill(case: Case, conditions: Conditions, what: str = "") -> Scored:
    """Score the runs under every condition; `what` is told while it runs."""
    size = len(conditions.measures) if conditions.test is None else 1 if len(conditions.names) == 1 else TOGETHER
    groups = [tuple(range(len(conditions.measures))[i : i + size]) for i in range(0, len(conditions.measures), size)]
    units = [(c, group) for c in range(len(conditions.names)) for group in groups]
    values = case.run(judge, conditions, units, what or conditions.size)

    def joined(name: str) -> Any:
        each = [values[i : i + len(groups)] for i in range(0, len(values), len(groups))]
        return np.stack([np.concatenate([value[name] for value in one]) for one in each])

    test = conditions.test
    tested = (None, float("nan"), None) if test is None else (joined("p_value"), test.alpha, joined("required"))
    return Scored(conditions.collection.runs, conditions.names, conditions.measures, joined("means"), *tested)
