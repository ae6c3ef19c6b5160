"""Lipani, Lupu & Hanbury's correction of P@n: precision, anti-precision and run merging (SIGIR 2015, Algorithm 1).

The new run is merged into each pooled run. Where that pushes unjudged documents up (Delta k > 0) and the indicator
says that the new run is better than the pool can tell, the score is raised by that share of what is unjudged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats, Ints
from unjudged.correction.counts import Counts, Found
from unjudged.correction.full_lists import Lists
from unjudged.correction.protocols import Protocol

INDICATORS = ("lambda", "delta-p", "delta-anti-p")
"""What tells whether to correct: lambda > 0, Delta P > 0 or Delta anti-P < 0 (section 5.1)."""


@dataclass(frozen=True, eq=False)
class Effect:
    """A new run's scores and its effect on the pooled runs, one value per new run.

    Whole numbers in units of 1/scale; `rise` of P, `rise_anti` of anti-P are sums over the `peers` pooled runs.
    `holes`: places with an unjudged document; in the paper the empty places of short lists are unjudged, too.
    """

    scale: int
    hits: Ints
    misses: Ints
    rise: Ints
    rise_anti: Ints
    peers: Ints
    holes: Ints

    @property
    def p(self) -> Floats:
        """P@n: share of relevant documents."""
        return self.hits / self.scale

    @property
    def anti_p(self) -> Floats:
        """Anti-P@n: share of judged nonrelevant documents."""
        return self.misses / self.scale

    @property
    def unjudged(self) -> Ints:
        """k in units of 1/scale: what is left."""
        return np.asarray(np.maximum(self.scale - self.hits - self.misses, 0), np.int64)

    @property
    def k(self) -> Floats:
        """k@n: share of places nobody knows about."""
        return self.unjudged / self.scale

    @property
    def most(self) -> Floats:
        """The most a correction can add: the share of places with an unjudged document."""
        return np.asarray(np.minimum(self.holes, self.unjudged) / self.scale, np.float64)

    @property
    def delta_p(self) -> Floats:
        """Delta P: mean change of the pooled runs' P@n by the merging."""
        return np.asarray(self.rise / (self.scale * np.maximum(self.peers, 1)), np.float64)

    @property
    def delta_anti_p(self) -> Floats:
        """Delta anti-P: mean change of the pooled runs' anti-P@n."""
        return np.asarray(self.rise_anti / (self.scale * np.maximum(self.peers, 1)), np.float64)

    @property
    def delta_k(self) -> Floats:
        """Delta k: mean change of the pooled runs' share of unjudged places, -(Delta P + Delta anti-P)."""
        return np.asarray((-self.rise - self.rise_anti) / (self.scale * np.maximum(self.peers, 1)), np.float64)

    @property
    def lambda_(self) -> Floats:
        """lambda = k (Delta P * anti-P - Delta anti-P * P)."""
        return (
            self.k
            * (self.rise * self.misses - self.rise_anti * self.hits)
            / (float(self.scale) ** 2 * np.maximum(self.peers, 1))
        )

    def quantities(self, u: int) -> dict[str, float]:
        """The values of one new run, by column name."""
        values = {
            "p": self.p,
            "anti": self.anti_p,
            "k": self.k,
            "delta_p": self.delta_p,
            "delta_anti_p": self.delta_anti_p,
            "delta_k": self.delta_k,
            "lambda": self.lambda_,
        }
        return {name: float(value[u]) for name, value in values.items()}

    def says_yes(self, indicator: str = "lambda") -> npt.NDArray[np.bool_]:
        """Does the indicator ask for a correction? Decided on whole numbers."""
        if indicator == "delta-p":
            return self.rise > 0
        if indicator == "delta-anti-p":
            return self.rise_anti < 0
        return (self.unjudged > 0) & (self.rise * self.misses > self.rise_anti * self.hits)

    def adjustment(self, indicator: str | None = "lambda") -> Floats:
        """k max(Delta k, 0) where the indicator says so, else 0; everywhere without one (the later variant)."""
        full = self.k * np.maximum(self.delta_k, 0)
        return full if indicator is None else np.where(self.says_yes(indicator), full, 0.0)


def to_arrays(effect: Effect, added: Mapping[str, Floats]) -> dict[str, Any]:
    """An effect and what each method adds as arrays by name, to be kept and sent."""
    return {**{f"effect.{n}": v for n, v in vars(effect).items()}, **{f"added.{m}": v for m, v in added.items()}}


def from_arrays(arrays: Mapping[str, Any]) -> tuple[Effect, dict[str, Floats]]:
    """The same again."""
    fields = {name: arrays[f"effect.{name}"] for name in Effect.__dataclass_fields__}
    added = {key.partition(".")[2]: value for key, value in arrays.items() if key.startswith("added.")}
    return Effect(**{**fields, "scale": int(fields["scale"])}), added


def effect(lists: Lists, counted: Counts, protocol: Protocol) -> Effect:
    """The effect of each new run of a plan on its pooled runs: means over topics first, then over pooled runs."""
    plan, topics = counted.plan, lists.answered.shape[1]
    new, pooled = plan.new, plan.pooled
    scale = protocol.scale(plan.n, topics)
    of_new = _at(counted.new, plan.pool_of).over_topics()
    alone = lists.topics_of(new, new)
    common = lists.topics_of(new[:, None], pooled)
    own = counted.own.over_topics()[plan.pool_of]
    both = lists.answered[new][:, None] & lists.answered[pooled]
    merged = _where(counted, both, protocol).over_topics()
    of_pooled = lists.topics_of(pooled, pooled)

    def rise(after: Ints, before: Ints) -> Ints:
        change = protocol.means(after, plan.n, common) - protocol.means(before, plan.n, of_pooled)
        return np.asarray(np.where(plan.peers & (common > 0) & counted.moved, change, 0).sum(axis=1), np.int64)

    return Effect(
        scale,
        protocol.means(of_new.relevant, plan.n, alone),
        protocol.means(of_new.nonrelevant, plan.n, alone),
        rise(merged.relevant, own.relevant),
        rise(merged.nonrelevant, own.nonrelevant),
        plan.peers.sum(axis=1),
        protocol.means(lists.filled(plan.n)[new].sum(axis=1) - of_new.relevant - of_new.nonrelevant, plan.n, alone),
    )


def per_topic_adjustment(lists: Lists, counted: Counts, protocol: Protocol, indicator: str | None) -> Floats:
    """The estimator run topic by topic, its adjustments averaged over the topics (nothing is rounded)."""
    plan = counted.plan
    new = _at(counted.new, plan.pool_of)
    own = counted.own[:, plan.pool_of]
    both = np.moveaxis(lists.answered[plan.new][:, None] & lists.answered[plan.pooled], 2, 0) & plan.peers
    change = Found(counted.merged.relevant - own.relevant, counted.merged.nonrelevant - own.nonrelevant)
    per_topic = Effect(
        plan.n,
        new.relevant,
        new.nonrelevant,
        np.where(both, change.relevant, 0).sum(axis=2),
        np.where(both, change.nonrelevant, 0).sum(axis=2),
        both.sum(axis=2),
        lists.filled(plan.n)[plan.new].T - new.relevant - new.nonrelevant,
    )
    answered = lists.answered[plan.new].T
    total = np.where(answered, per_topic.adjustment(indicator), 0.0).sum(axis=0)
    topics = lists.topics_of(plan.new, plan.new) if protocol.own_topics else np.full(len(plan.new), len(answered))
    return np.asarray(total / np.maximum(topics, 1), np.float64)


def _at(found: Found, pool_of: Ints) -> Found:
    """Each new run under its own pool: topics x new."""
    return found[:, pool_of, np.arange(len(pool_of))]


def _where(counted: Counts, both: npt.NDArray[np.bool_], protocol: Protocol) -> Found:
    """The merged lists in the topics both runs answer; elsewhere they are missing, or stay as they were (strict)."""
    own = counted.own[:, counted.plan.pool_of]
    answered = np.moveaxis(both, 2, 0)

    def chosen(merged: Ints, alone: Ints) -> Ints:
        return np.where(answered, merged, 0 if protocol.own_topics else alone)

    return Found(chosen(counted.merged.relevant, own.relevant), chosen(counted.merged.nonrelevant, own.nonrelevant))
