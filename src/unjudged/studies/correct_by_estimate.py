"""The hole model as one more way to correct a score: tried on left-out teams like the papers' methods, and by itself
where no pool can be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unjudged.collection import Collection, Floats, Pool, Rankings
from unjudged.collection.membership import Membership, membership
from unjudged.correction.trust import Trust
from unjudged.holes.estimates import Limits, estimates
from unjudged.holes.lists import keeping
from unjudged.holes.reading import why_not
from unjudged.measures import Measure
from unjudged.measures.bounds import BOUNDED
from unjudged.studies.correction_trials import Trials, Tried
from unjudged.studies.engine import Arrays, Case
from unjudged.studies.estimate import estimated
from unjudged.text import counted

ESTIMATE = "estimate"
"""The name of the method."""


def fits(measure: Measure) -> bool:
    """Has the hole model an estimate of this measure?"""
    return not why_not(measure) and measure.name in BOUNDED


@dataclass(frozen=True, eq=False)
class LeftOutEstimates:
    """What a worker needs to leave a group of pooled runs out and estimate their scores."""

    collection: Collection
    rankings: Rankings
    inside: Membership
    groups: tuple[str, ...]
    measures: tuple[Measure, ...]
    limits: Limits


def estimated_without(shared: LeftOutEstimates, group: str) -> Arrays:
    """One work unit: the runs of a group estimated without what only they brought in, runs x measures."""
    members = [run for run, own in zip(shared.inside.runs, shared.groups, strict=True) if own == group]
    kept = keeping(shared.collection, ~shared.inside.unique(members), f"without {group}")
    at = [kept.runs.index(run) for run in members]
    found = estimates(kept, shared.measures, shared.limits)
    return {"estimate": np.stack([one.estimate[at] for one in found], axis=1)}


def estimates_tried(
    case: Case,
    collection: Collection,
    pool: Pool,
    groups: Mapping[str, str],
    measures: Sequence[Measure],
    others: Trials,
    confidence: float,
) -> dict[tuple[Measure, str], Tried]:
    """The estimate tried on left-out groups, too, beside other methods, which know the scores of the left-out runs."""
    known = {measure: tried for (measure, _), tried in others.items() if measure in measures}
    if not known:
        return {}
    of_runs = tuple(groups[run] for run in pool.runs)
    inside, limits = membership(collection, pool, by="ranks"), Limits.of(case.limits["score-range"])
    shared = LeftOutEstimates(collection, collection.rankings, inside, of_runs, tuple(known), limits)
    units = list(dict.fromkeys(of_runs))
    values = case.run(estimated_without, shared, units, f"{counted(len(units), 'group')} left out and estimated")
    estimate = np.full((len(pool.runs), len(known)), np.nan)
    for group, value in zip(units, values, strict=True):
        estimate[[i for i, own in enumerate(of_runs) if own == group]] = value["estimate"]
    found = {}
    for m, (measure, tried) in enumerate(known.items()):
        at = [pool.runs.index(run) for run in tried.runs]
        added = np.nan_to_num(estimate[at, m] - tried.reduced)
        of_tried = [groups[run] for run in tried.runs]
        trust = Trust.of(tried.true, tried.reduced, tried.reduced + added, confidence, of_tried)
        found[measure, ESTIMATE] = replace(tried, added=added, trust=trust)
    return found


@dataclass(frozen=True, eq=False)
class Estimated:
    """Runs x measures: the score as it is, the estimate with its 90 % interval (NaN where it cannot be told), what is
    possible."""

    score: Floats
    estimate: Floats
    low: Floats
    high: Floats
    lowest: Floats
    highest: Floats


def estimated_scores(case: Case, collection: Collection, runs: Sequence[str], measures: Sequence[Measure]) -> Estimated:
    """The runs estimated with the judgments as they are."""
    limits = Limits.of(case.limits["score-range"])
    shared = (collection, collection.rankings, tuple(measures), limits)
    (found,) = case.run(estimated, shared, [case.at_once], f"{counted(len(runs), 'run')} estimated")
    at = [collection.runs.index(run) for run in runs]
    names = ("score", "estimate", "low", "high", "lowest", "highest")
    told = np.array(found["cannot"] == "")[:, at].T
    numbers = {name: found[name][:, at].T for name in names}
    hidden = {name: np.where(told, numbers[name], np.nan) for name in ("estimate", "low", "high")}
    return Estimated(**(numbers | hidden))
