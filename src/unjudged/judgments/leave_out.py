"""Leave out: the judgments that exist only thanks to one team, run or group (Zobel 1998, Sakai 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.pooling.membership import known_runs, membership, runs_of_teams
from unjudged.pooling.pool import TOLERANCE, pool_of


def leave_out(
    collection: Collection,
    *,
    team: str | None = None,
    run: str | None = None,
    teams: Sequence[str] | None = None,
    runs: Sequence[str] | None = None,
    depth: int | None = None,
    pooled: str | Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
    by: str = "lines",
) -> Collection:
    """The judgments as if a team (or a run, or a group of teams or runs) had not been in the pool: J - U.

    U are the documents in the top `depth` of the group's pooled runs and of no other pooled run, relevant or not.
    Judgments that no run's top explains stay. `depth` and `pooled` as in `pool_of`; `by` as in `membership`.
    The runs stay in the collection and can be scored as if they were new.
    """
    names, what = _group(collection, team, run, teams, runs)
    pool = pool_of(collection, depth, pooled, tolerance)
    left = tuple(r for r in pool.runs if r not in set(names))
    if not left:
        raise UsageError(f"leave out {what}: no pooled run would be left")
    unique = membership(collection, pool, by).unique(names)
    return collection.keeping(~unique, f"leave out {what} at depth {pool.depth}", replace(pool, runs=left))


def _group(
    collection: Collection,
    team: str | None,
    run: str | None,
    teams: Sequence[str] | None,
    runs: Sequence[str] | None,
) -> tuple[list[str], str]:
    """The runs named in one of four ways, and how to call them."""
    if sum(x is not None for x in (team, run, teams, runs)) != 1:
        raise UsageError("name one of: a team, a run, several teams, several runs")
    if team is not None or teams is not None:
        chosen = [team] if team is not None else _named(teams, "teams")
        return runs_of_teams(collection, chosen), f"team{'s' * (len(chosen) > 1)} {' + '.join(chosen)}"
    chosen = [run] if run is not None else _named(runs, "runs")
    return known_runs(collection, chosen), f"run{'s' * (len(chosen) > 1)} {' + '.join(chosen)}"


def _named(names: Sequence[str] | None, what: str) -> list[str]:
    if not names or isinstance(names, str):
        raise UsageError(f"{what} are given as a list of names")
    return list(names)
