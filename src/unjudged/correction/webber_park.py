"""Webber & Park's score adjustment (SIGIR 2009): a new run loses what pooled runs would lose outside the pool.

Each pooled run is left out of the pool in turn; the mean of what its score falls by is added to the new run's score:
one constant per new run and cut-off.
"""

from __future__ import annotations

import numpy as np

from unjudged.collection import Floats, Ints
from unjudged.correction.counts import Counts
from unjudged.correction.full_lists import Lists
from unjudged.correction.protocols import Protocol
from unjudged.statistics.pairs import exact_sum


def _means(lists: Lists, counted: Counts, protocol: Protocol) -> tuple[Ints, Ints, Ints]:
    """New x pooled, in units of 1/scale: P@n of the pooled run; P@n and anti-P@n when it is left out of the pool."""
    plan = counted.plan
    own, lost = counted.own.over_topics()[plan.pool_of], counted.lost.over_topics()
    left = own - lost
    topics = lists.topics_of(plan.pooled, plan.pooled)
    return (
        protocol.means(own.relevant, plan.n, topics),
        protocol.means(left.relevant, plan.n, topics),
        protocol.means(left.nonrelevant, plan.n, topics),
    )


def adjustment(lists: Lists, counted: Counts, protocol: Protocol) -> Floats:
    """The mean loss of the pooled runs, one constant per new run."""
    plan = counted.plan
    before, after, _ = _means(lists, counted, protocol)
    loss = np.where(plan.peers, before - after, 0).sum(axis=1)
    scale = protocol.scale(plan.n, lists.answered.shape[1])
    return np.asarray(loss / (scale * np.maximum(plan.peers.sum(axis=1), 1)), np.float64)


def ratio_adjustment(lists: Lists, counted: Counts, protocol: Protocol, k: Floats) -> Floats:
    """The later variant: loss over the left-out run's own k, put together by a geometric mean of 1 + ratio, times k(u).

    A pooled run that stays fully judged when left out has lost nothing and its ratio is 0.
    """
    plan = counted.plan
    scale = protocol.scale(plan.n, lists.answered.shape[1])
    before, after, anti = _means(lists, counted, protocol)
    unjudged = np.maximum(scale - after - anti, 0)
    ratio = np.where(unjudged > 0, (before - after) / np.maximum(unjudged, 1), 0.0)
    logs = np.array([exact_sum(row) for row in np.where(plan.peers, np.log1p(ratio), 0.0)])
    return np.asarray(k * np.expm1(logs / np.maximum(plan.peers.sum(axis=1), 1)), np.float64)
