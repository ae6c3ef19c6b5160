"""P@n corrected: new runs by the pooled ones, and pooled runs left out to see how near each correction comes.

The leave-one-out experiment:
1. q0: the judgments of documents in the top d of a pooled run.
2. For each n the best share of the pooled runs by P@n on q0 is kept.
3. q: what is left of q0 when only the kept runs are pooled.
4. The true score of a run is P@n on q; the reduced one is P@n on q pooled without its team (or without it alone).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Ints, Pool
from unjudged.collection.membership import Membership, membership, teams_of
from unjudged.correction.counts import Counts, Plan, binary, count
from unjudged.correction.full_lists import Lists
from unjudged.correction.lipani import Effect, from_arrays, to_arrays
from unjudged.correction.methods import METHODS, adjustments
from unjudged.correction.protocols import Protocol
from unjudged.errors import UsageError


def groups_of(collection: Collection, pool: Pool, leave: str) -> dict[str, str]:
    """The group that leaves the pool together with each pooled run: its team, or it alone."""
    if leave not in ("team", "run"):
        raise UsageError(f"left out is a team or a run, not {leave!r}")
    if leave == "run":
        return {run: run for run in pool.runs}
    if not collection.teams:
        raise UsageError("no teams are known; name a team file (--teams, a TSV run<TAB>team), or leave out single runs")
    return teams_of(collection, pool.runs)


@dataclass(frozen=True, eq=False)
class Trial:
    """The experiment at one cut-off: a value per kept run.

    `new`: numbers of the kept runs among the pooled ones. `per_topic`: topics x runs, the true P@n of each topic; NaN
    for a topic the run lacks, where the protocol averages over a run's own topics.
    """

    n: int
    runs: tuple[str, ...]
    new: Ints
    true: Floats
    effect: Effect
    adjustments: Mapping[str, Floats]
    per_topic: Floats

    @property
    def reduced(self) -> Floats:
        """Scores without what only the run's group found."""
        return self.effect.p

    def estimate(self, method: str) -> Floats:
        """Scores by a method, or those of the reduced pool."""
        return self.reduced if method == "reduced-pool" else self.reduced + self.adjustments[method]

    def arrays(self) -> dict[str, Any]:
        """Everything but the names as arrays by name, to be kept and sent."""
        plain = {"n": self.n, "new": self.new, "true": self.true, "per_topic": self.per_topic}
        return {**plain, **to_arrays(self.effect, self.adjustments)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any], runs: Sequence[str]) -> Trial:
        """The trial again; `runs` are the pooled runs."""
        names = tuple(runs[r] for r in arrays["new"])
        plain = int(arrays["n"]), names, arrays["new"], arrays["true"]
        return cls(*plain, *from_arrays(arrays), arrays["per_topic"])


@dataclass(frozen=True, eq=False)
class Experiment:
    """What leaving groups of runs out needs, ready to travel.

    `inside`: which judgments are in the top of which pooled run. `groups`: the group (team, or the run itself) of each
    pooled run. `top`: the share or number of runs kept. With `unfound`, judgments that no pooled run has in its top
    count from the beginning and stay.
    """

    lists: Lists
    inside: Membership
    grade: npt.NDArray[np.int32]
    depth: int
    groups: tuple[str, ...]
    protocol: Protocol
    methods: tuple[str, ...] = METHODS[:2]
    alpha: float = 1.0
    indicator: str = "lambda"
    top: float | None = None
    unfound: bool = False

    @classmethod
    def of(
        cls, collection: Collection, pool: Pool, groups: Mapping[str, str], protocol: Protocol, **how: Any
    ) -> Experiment:
        """For the pooled runs of a collection; `how` are the fields from `methods` on."""
        return cls(
            Lists.of(collection, pool.runs),
            membership(collection, pool, by="ranks"),
            collection.judgments.grade,
            pool.depth,
            tuple(groups[run] for run in pool.runs),
            protocol,
            **how,
        )

    def trials(self, cutoffs: Sequence[int], rel: int = 1) -> list[Trial]:
        """Leave every group of runs out of the pool in turn, at each cut-off; grades from `rel` on are relevant."""
        grade = binary(self.grade, rel)
        found = (self.inside.found() | self.unfound) & (grade >= 0)
        everyone = np.arange(len(self.lists.runs))
        plans = []
        for n in cutoffs:
            relevant = self.lists.count(found & (grade > 0), n)
            totals = self.protocol.means(relevant, n, self.lists.topics_of(everyone, everyone))
            kept = _best(totals, self.lists.runs, kept_count(self.top, len(everyone)))
            plans.append(self._leave_out(n, kept, found))
        counted = count(self.lists, grade, plans, self.depth, alpha=self.alpha, repooled=self.protocol.repooled)
        return [self._trial(one) for one in counted]

    def _leave_out(self, n: int, kept: Ints, found: npt.NDArray[np.bool_]) -> Plan:
        """Each kept run is new once; its pool: that of the kept runs without its group. The last pool is the full one.

        What runs that were not kept found goes; judgments that nobody found stay where they counted before.
        """
        group, number = np.unique(np.array(self.groups)[kept], return_inverse=True)
        if len(group) < 2:
            raise UsageError("all runs that are left belong to one team; nothing remains when it is left out")
        names = [self.lists.runs[r] for r in kept]
        inside = self.inside.among(names)
        found = found & (inside.found() | ~self.inside.found())
        members = [[name for name, g in zip(names, number, strict=True) if g == one] for one in range(len(group))]
        pools = [found & ~inside.unique(left) for left in members]
        others = ~np.eye(len(kept), dtype=bool) if self.protocol.siblings else number[:, None] != number
        return Plan(n, kept, kept, others, np.array([*pools, found]), number.astype(np.int64))

    def _trial(self, counted: Counts) -> Trial:
        plan, lists, protocol = counted.plan, self.lists, self.protocol
        effect, added = adjustments(lists, counted, protocol, self.methods, self.indicator)
        full = counted.own[:, -1]
        topics = lists.topics_of(plan.pooled, plan.pooled)
        true = protocol.means(full.over_topics().relevant, plan.n, topics) / effect.scale
        runs = tuple(lists.runs[r] for r in plan.new)
        per_topic = full.relevant / plan.n
        if protocol.own_topics:
            per_topic = np.where(lists.answered[plan.new].T, per_topic, np.nan)
        return Trial(plan.n, runs, plan.new, np.asarray(true, np.float64), effect, added, per_topic)


@dataclass(frozen=True, eq=False)
class NewRuns:
    """New runs and the pooled ones with their full lists, ready to travel. A pooled run is corrected by the others."""

    lists: Lists
    grade: npt.NDArray[np.int32]
    depth: int
    pooled: int
    new: tuple[int, ...]
    protocol: Protocol
    methods: tuple[str, ...]
    alpha: float = 1.0
    indicator: str = "lambda"

    @classmethod
    def of(
        cls,
        collection: Collection,
        pool: Pool,
        new: Sequence[str],
        protocol: Protocol,
        methods: Sequence[str],
        **how: Any,
    ) -> NewRuns:
        """The runs called `new`, which are among those of the collection; `how` are `alpha` and `indicator`."""
        everyone = tuple(dict.fromkeys([*pool.runs, *new]))
        numbers = tuple(everyone.index(name) for name in new)
        lists, grade = Lists.of(collection, everyone), collection.judgments.grade
        return cls(lists, grade, pool.depth, len(pool.runs), numbers, protocol, tuple(methods), **how)

    def effect(self, n: int, rel: int = 1) -> tuple[Effect, dict[str, Floats]]:
        """What the new runs do to P@n of the pooled ones, and what each method adds to their own."""
        new, pooled = np.array(self.new, np.int64), np.arange(self.pooled)
        everything = np.ones((1, len(self.grade)), bool)
        plan = Plan(n, new, pooled, new[:, None] != pooled, everything, np.zeros(len(new), np.int64))
        grade, repooled = binary(self.grade, rel), self.protocol.repooled
        (counted,) = count(self.lists, grade, [plan], self.depth, alpha=self.alpha, repooled=repooled)
        return adjustments(self.lists, counted, self.protocol, self.methods, self.indicator)


def kept_count(top: float | None, runs: int) -> int:
    """How many runs `--top` keeps: a share below 1, else a number; all where it is not given."""
    if top is None:
        return runs
    if not 0 < top < np.inf or (top >= 1 and top != int(top)):
        raise UsageError(f"--top is a share between 0 and 1 or a whole number of runs, not {top:g}")
    return min(runs, int(np.floor(top * runs + 1e-9)) if top < 1 else int(top))


def _best(totals: Ints, runs: Sequence[str], many: int) -> Ints:
    """Numbers of the best runs; at equal scores the name that comes later in the alphabet wins."""
    if many < 2:
        raise UsageError("fewer than two runs are left to be corrected; a correction experiment needs at least two")
    order = sorted(range(len(runs)), key=lambda r: runs[r], reverse=True)
    order.sort(key=lambda r: -int(totals[r]))
    return np.array(sorted(order[:many]), np.int64)
