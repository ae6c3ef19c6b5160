"""The leave-one-out experiment: how near does each correction come to a run's score inside the pool?

1. q0: the judgments of documents in the top d of a pooled run.
2. For each n the best share of the pooled runs by P@n on q0 is kept.
3. q: what is left of q0 when only the kept runs are pooled.
4. The true score of a run is P@n on q; the reduced one is P@n on q pooled without its team (or without it alone).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Ints, Pool
from unjudged.correction import lipani, webber_park
from unjudged.correction.lists import Lists
from unjudged.correction.protocols import Protocol
from unjudged.correction.tally import Plan, Tally, tally
from unjudged.errors import UsageError

METHODS = ("lipani", "webber-park", "lipani-v2", "webber-ratio", "per-topic")
"""Corrections of P@n. The first two are the paper's comparison, the others later variants."""


@dataclass(frozen=True, eq=False)
class Trial:
    """The experiment at one cut-off: a value per kept run, in the order of the collection.

    `per_topic`: topics x runs, the true P@n of each topic.
    """

    n: int
    runs: tuple[str, ...]
    true: Floats
    reduced: Floats
    effect: lipani.Effect
    adjustments: Mapping[str, Floats]
    per_topic: Floats

    def estimate(self, method: str) -> Floats:
        """Scores by a method, or those of the reduced pool."""
        return self.reduced if method == "reduced-pool" else self.reduced + self.adjustments[method]


def adjustments(
    lists: Lists, counted: Tally, protocol: Protocol, methods: Sequence[str], indicator: str
) -> tuple[lipani.Effect, dict[str, Floats]]:
    """The effect of each new run, and what each method adds to its score."""
    effect = lipani.effect(lists, counted, protocol)
    made = {
        "lipani": lambda: effect.adjustment(indicator),
        "lipani-v2": lambda: effect.adjustment(None),
        "webber-park": lambda: webber_park.adjustment(lists, counted, protocol),
        "webber-ratio": lambda: webber_park.ratio_adjustment(lists, counted, protocol, effect.k),
        "per-topic": lambda: lipani.per_topic_adjustment(lists, counted, protocol, indicator),
    }
    return effect, {method: made[method]() for method in methods}


def binary(grade: npt.NDArray[np.int32], rel: int) -> npt.NDArray[np.int32]:
    """1 relevant, 0 judged nonrelevant, -1 unjudged."""
    return np.where(grade >= rel, 1, np.where(grade >= 0, 0, -1)).astype(np.int32)


def kept_count(top: float | None, runs: int) -> int:
    """How many runs `--top` keeps: a share below 1, else a number; all where it is not given."""
    if top is None:
        return runs
    if not 0 < top < np.inf or (top >= 1 and top != int(top)):
        raise UsageError(f"--top is a share between 0 and 1 or a whole number of runs, not {top:g}")
    return min(runs, int(np.floor(top * runs + 1e-9)) if top < 1 else int(top))


def experiment(
    collection: Collection,
    pool: Pool,
    groups: Mapping[str, str],
    cutoffs: Sequence[int],
    protocol: Protocol,
    *,
    top: float | None = None,
    methods: Sequence[str] = METHODS[:2],
    alpha: float = 1.0,
    indicator: str = "lambda",
    rel: int = 1,
    unfound: bool = False,
) -> list[Trial]:
    """Leave every group of runs out of the pool in turn, at each cut-off.

    `groups` gives the group (team, or the run itself) of each pooled run; `rel` is the smallest relevant grade.
    With `unfound`, judgments that no pooled run has in its top count from the beginning and stay.
    """
    judgments = collection.judgments
    grade = binary(judgments.grade, rel)
    lists = Lists.of(collection, pool.runs)
    inside = lists.in_top(pool.depth, len(judgments))
    found = (inside.any(axis=0) | unfound) & (grade >= 0)
    names = np.array([groups[run] for run in pool.runs])
    everyone, plans = np.arange(len(pool.runs)), []
    for n in cutoffs:
        totals = protocol.means(lists.count(found & (grade > 0), n), n, lists.topics_of(everyone, everyone))
        kept = _best(totals, pool.runs, kept_count(top, len(pool.runs)))
        plans.append(_leave_out(n, kept, names, inside, found, protocol))
    counted = tally(lists, grade, plans, pool.depth, alpha=alpha, repooled=protocol.repooled)
    return [_trial(lists, one, protocol, methods, indicator) for one in counted]


def _best(totals: Ints, runs: Sequence[str], many: int) -> Ints:
    """Numbers of the best runs; at equal scores the name that comes later in the alphabet wins."""
    if many < 2:
        raise UsageError("fewer than two runs are left to be corrected; a correction experiment needs at least two")
    order = sorted(range(len(runs)), key=lambda r: runs[r], reverse=True)
    order.sort(key=lambda r: -int(totals[r]))
    return np.array(sorted(order[:many]), np.int64)


def _leave_out(
    n: int,
    kept: Ints,
    names: npt.NDArray[np.str_],
    inside: npt.NDArray[np.bool_],
    found: npt.NDArray[np.bool_],
    protocol: Protocol,
) -> Plan:
    """Each kept run is new once; its pool is that of the kept runs without its group. The last pool is the full one."""
    group, number = np.unique(names[kept], return_inverse=True)
    if len(group) < 2:
        raise UsageError("all runs that are left belong to one team; nothing remains when it is left out")
    finders = inside[kept].sum(axis=0)
    found = found & ((finders > 0) | ~inside.any(axis=0))
    by_group = [inside[kept[number == g]].sum(axis=0) for g in range(len(group))]
    pools = [found & ((mine == 0) | (finders > mine)) for mine in by_group]
    others = ~np.eye(len(kept), dtype=bool) if protocol.siblings else number[:, None] != number
    return Plan(n, kept, kept, others, np.array([*pools, found]), number.astype(np.int64))


def _trial(lists: Lists, counted: Tally, protocol: Protocol, methods: Sequence[str], indicator: str) -> Trial:
    plan = counted.plan
    effect, added = adjustments(lists, counted, protocol, methods, indicator)
    full = counted.own[:, -1]
    topics = lists.topics_of(plan.pooled, plan.pooled)
    true = protocol.means(full.over_topics().relevant, plan.n, topics) / effect.scale
    return Trial(
        plan.n,
        tuple(lists.runs[r] for r in plan.new),
        np.asarray(true, np.float64),
        effect.p,
        effect,
        added,
        full.relevant / plan.n,
    )
