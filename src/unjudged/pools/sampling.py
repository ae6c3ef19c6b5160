"""Strategies that judge a random part of the pool, with known inclusion probabilities.

The judgments of such a sample hold every pooled document: the sampled ones with their grade, the others with -1,
and the stratum in the iteration column. That is what infAP and xinfAP read (Yilmaz and Aslam 2006, 2008).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unjudged.collection import Floats, Ints
from unjudged.errors import UsageError
from unjudged.pools.lists import Choice, TopicLists

STRATA: Mapping[int, float] = {10: 1.0, 50: 0.25, 100: 0.1}
"""Strata of best ranks when none are asked for: 1-10 all, 11-50 a quarter, 51-100 a tenth."""


def uniform(lists: TopicLists, size: int, rng: np.random.Generator) -> Choice:
    """As many documents as the budget holds, each as likely as any other."""
    chosen = np.sort(rng.choice(lists.docs, min(size, lists.docs), replace=False))
    probability = np.full(len(chosen), len(chosen) / max(lists.docs, 1))
    return Choice(chosen, np.arange(lists.docs), np.zeros(lists.docs, np.int64), probability)


def sampled_depth(lists: TopicLists, rng: np.random.Generator, rate: float) -> Choice:
    """Each document of a depth pool with the same probability, on its own."""
    chosen = np.flatnonzero(rng.random(lists.docs) < rate)
    return Choice(chosen, np.arange(lists.docs), np.zeros(lists.docs, np.int64), np.full(len(chosen), rate))


def stratified(
    lists: TopicLists, size: int | None, rng: np.random.Generator, strata: Mapping[int, float] = STRATA
) -> Choice:
    """Strata by best rank, each with its own rate.

    Without `size` a stratum of n documents gives round(rate n), one at least. With `size` the strata share it in
    the proportions of rate times n: one at least each while it lasts, none more than it has.
    """
    bounds = np.array(sorted(strata))
    rates = np.array([strata[bound] for bound in bounds.tolist()])
    place = np.searchsorted(bounds, lists.best)
    pool = np.flatnonzero(place < len(bounds))
    stratum = place[pool]
    sizes = np.bincount(stratum, minlength=len(bounds))
    if size is None:
        counts = np.where(rates * sizes > 0, np.maximum(np.floor(rates * sizes + 0.5), 1), 0).astype(np.int64)
    else:
        counts = shares(size, rates * sizes, sizes)
    parts = [np.sort(rng.choice(pool[stratum == s], n, replace=False)) for s, n in enumerate(counts.tolist()) if n]
    chosen = np.concatenate(parts or [np.zeros(0, np.int64)])
    rate = counts / np.maximum(sizes, 1)
    return Choice(chosen, pool, stratum + 1, np.repeat(rate, counts))


def shares(size: int, wanted: Floats, available: Ints) -> Ints:
    """`size` split in the proportions `wanted`, one unit after the other to whoever is furthest below its share."""
    counts = np.zeros(len(wanted), np.int64)
    for _ in range(size):
        free = (counts < available) & (wanted > 0)
        if not free.any():
            break
        due = np.where(free, np.divide(wanted, counts, out=np.full(len(wanted), np.inf), where=counts > 0), -1.0)
        counts[int(np.argmax(due))] += 1
    return counts


def strata_of(given: Mapping[int, float] | str) -> dict[int, float]:
    """`10:1,50:0.25` (best ranks up to 10 all, up to 50 a quarter) or the same as a dict, checked."""
    try:
        pairs = [part.split(":") for part in given.split(",")] if isinstance(given, str) else list(given.items())
        strata = {int(bound): float(rate) for bound, rate in pairs}
    except (TypeError, ValueError):
        raise UsageError(f"strata are given as 10:1,50:0.25 (best rank up to: rate), not {given!r}") from None
    if not strata or any(bound < 1 or not 0 <= rate <= 1 for bound, rate in strata.items()):
        raise UsageError(f"strata need ranks from 1 and rates from 0 to 1, found {given!r}")
    return strata
