"""Shallow pools: only what lies in the first documents of the pooled runs (Sakai 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unjudged.collection import Collection
from unjudged.collection.history import change
from unjudged.collection.membership import membership
from unjudged.collection.pool import pool_of


@change
def shallow(
    collection: Collection,
    depth: int,
    *,
    pooled: str | Sequence[str] | None = None,
    tolerance: float | None = None,
    by: str = "lines",
) -> Collection:
    """The judgments of a pool of this depth: J and the top `depth` of the pooled runs have in common.

    `pooled` as in `pool_of`, `by` as in `membership`. At the official depth, with all pooled runs at hand, nothing is
    taken away; where pooled runs are missing, the judgments only they explain go, too.
    """
    pool = replace(pool_of(collection, depth, pooled, tolerance), inferred=())
    kept = membership(collection, pool, by).found()
    return collection.keeping(kept, f"pool of depth {depth} from {len(pool.runs)} runs", pool)
