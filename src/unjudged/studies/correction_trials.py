"""Corrections tried on the pool: each team is left out and corrected by every method as if it were new.

`correct` takes the method that did best there, `correction` tells how each did; the verdict of both is
`after_correction`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unjudged.collection import Collection, Floats, Ints, Pool
from unjudged.correction import lipani
from unjudged.correction.any_measure import Scorer, leave_group_out
from unjudged.correction.experiment import Experiment, NewRuns, Trial
from unjudged.correction.methods import NONE
from unjudged.correction.protocols import Protocol
from unjudged.correction.trust import Trust, best_of, errors_of_the_choice
from unjudged.measures import Measure
from unjudged.studies.engine import Arrays, Case, Pooling, Unanswerable
from unjudged.text import counted


def pool_to_correct(case: Case, collection: Collection, pooling: Pooling, protocol: Protocol) -> Pool:
    """The pool, of runs at hand. One that was inferred needs two runs: a single one is more likely a wrong guess."""
    pool = (pooling if pooling.tolerance is not None else replace(pooling, tolerance=protocol.tolerance)).of(collection)
    here = tuple(run for run in pool.runs if run in set(collection.runs))
    if len(here) < len(pool.runs):
        case.note(f"{counted(len(pool.runs) - len(here), 'pooled run')} not among the runs at hand: left aside here")
        pool = replace(pool, runs=here)
    if len(pool.runs) < 2 and "runs" in pool.inferred:
        runs = collection.runs
        among = f"only {', '.join(here) or 'none'} of {len(runs)} runs" if len(runs) > 1 else "only one run"
        raise Unanswerable(
            f"{among} looks pooled to depth {pool.depth}, correction needs at least two; state the pooled runs "
            "(--pooled FILE) or the depth (--depth D)",
            case.step("state the pooled runs and the depth", "correct", flags=["--pooled", "FILE", "--depth", "D"]),
        )
    for note in pool.notes:
        case.note(note)
    return pool


# -- work units


def tried_by_counting(shared: Experiment, unit: tuple[tuple[int, ...], int]) -> Arrays:
    """One work unit: every group left out and its runs corrected in P@n, at some cut-offs."""
    cutoffs, rel = unit
    trials = shared.trials(cutoffs, rel)
    return {f"{i}.{name}": value for i, trial in enumerate(trials) for name, value in trial.arrays().items()}


def trials_of(value: Arrays, pool: Pool) -> list[Trial]:
    """The trials in what such a unit gave."""
    many = 1 + max(int(key.partition(".")[0]) for key in value)
    own = [{k.partition(".")[2]: v for k, v in value.items() if k.partition(".")[0] == str(i)} for i in range(many)]
    return [Trial.of_arrays(arrays, pool.runs) for arrays in own]


def tried_by_scoring(shared: Scorer, group: str) -> Arrays:
    """One work unit: one group left out and its runs adjusted in every measure."""
    return dict(vars(leave_group_out(shared, group, condensed=False)))


def corrected_by_counting(shared: NewRuns, unit: tuple[int, int]) -> Arrays:
    """One work unit: the new runs corrected in P@n, by every method."""
    return lipani.to_arrays(*shared.effect(*unit))


# -- what was tried


@dataclass(frozen=True, eq=False)
class Tried:
    """One method tried on the pool: the scores of every pooled run, left out with its group."""

    runs: tuple[str, ...]
    true: Floats
    reduced: Floats
    added: Floats
    peers: Ints
    trust: Trust
    ends: Floats
    """Runs x (lowest, highest) score possible without what only the run's group found."""
    effect: lipani.Effect | None = None

    @classmethod
    def of(cls, trial: Trial, method: str, confidence: float, groups: Mapping[str, str]) -> Tried:
        """A method of P@n; its errors are those of the papers' experiment, which knows no bounds."""
        of_runs = [groups[run] for run in trial.runs]
        trust = Trust.of(trial.true, trial.reduced, trial.estimate(method), confidence, of_runs)
        added, effect = trial.adjustments[method], trial.effect
        return cls(trial.runs, trial.true, trial.reduced, added, effect.peers, trust, ends_of(effect), effect)

    def uncorrected(self, groups: Mapping[str, str], confidence: float) -> Tried:
        """The same runs without a correction."""
        nothing = np.zeros_like(self.added)
        of_runs = [groups[run] for run in self.runs]
        return replace(self, added=nothing, trust=Trust.of(self.true, self.reduced, self.reduced, confidence, of_runs))

    def with_errors(self, outer: Floats, groups: Mapping[str, str], confidence: float) -> Tried:
        """The same with an interval from other errors."""
        of_runs = [groups[run] for run in self.runs]
        trust = Trust.of(self.true, self.reduced, self.reduced + self.added, confidence, of_runs, outer)
        return replace(self, trust=trust)

    @property
    def worst(self) -> str:
        """The run whose corrected score is furthest from its score in the pool."""
        error = np.abs(self.true - self.reduced - self.added)
        return max(zip(np.round(error, 12), self.runs, strict=True))[1]


Trials = Mapping[tuple[Measure, str], Tried]
"""(measure, method) -> how it did."""
Chosen = Sequence[tuple[Measure, tuple[str, ...]]]
"""Measures with the methods asked for."""


def recommended(
    chosen: Chosen, tried: Trials, groups: Mapping[str, str], confidence: float, keep_none: bool = True
) -> tuple[Chosen, Trials]:
    """The best method of each measure, and its trial; the usual method where nothing was tried.

    The interval comes from the errors of the choice itself: each team's runs by the method that is best without them.
    """
    best: list[tuple[Measure, tuple[str, ...]]] = []
    found: dict[tuple[Measure, str], Tried] = {}
    for measure, methods in chosen:
        own = {one: tried[measure, one] for one in methods if (measure, one) in tried}
        if not own:
            best.append((measure, methods[:1]))
            continue
        if keep_none:
            own[NONE] = next(iter(own.values())).uncorrected(groups, confidence)
        errors = {one: t.trust.errors[:, 1] for one, t in own.items()}
        name = best_of(errors)
        outer = errors_of_the_choice(errors, [groups[run] for run in own[name].runs])
        best.append((measure, (name,)))
        found[measure, name] = own[name].with_errors(outer, groups, confidence)
    return best, found


def ends_of(effect: lipani.Effect) -> Floats:
    """Runs x (lowest, highest) P@n that the unjudged documents allow."""
    return np.stack([effect.p, effect.p + effect.most], axis=1)
