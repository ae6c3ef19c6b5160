"""Leave out: the judgments that exist only thanks to one team, run or group (Zobel 1998, Sakai 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unjudged.collection import Collection
from unjudged.collection.history import change
from unjudged.collection.membership import membership, named_group
from unjudged.collection.pool import pool_of
from unjudged.errors import UsageError


@change
def leave_out(
    collection: Collection,
    *,
    team: str | None = None,
    run: str | None = None,
    teams: Sequence[str] | None = None,
    runs: Sequence[str] | None = None,
    depth: int | None = None,
    pooled: str | Sequence[str] | None = None,
    tolerance: float | None = None,
    by: str = "lines",
) -> Collection:
    """The judgments as if a team (or a run, or a group of teams or runs) had not been in the pool: J - U.

    U are the documents in the top `depth` of the group's pooled runs and of no other pooled run, relevant or not.
    Judgments that no run's top explains stay. `depth` and `pooled` as in `pool_of`; `by` as in `membership`.
    The runs stay in the collection and can be scored as if they were new.
    """
    names, what = named_group(collection, team=team, run=run, teams=teams, runs=runs)
    pool = pool_of(collection, depth, pooled, tolerance)
    left = tuple(r for r in pool.runs if r not in set(names))
    if not left:
        raise UsageError(f"leave out {what}: no pooled run would be left")
    unique = membership(collection, pool, by).unique(names)
    return collection.keeping(~unique, f"leave out {what} at depth {pool.depth}", replace(pool, runs=left))
