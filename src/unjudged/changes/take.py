"""Take: only the judgments that one team, or a few, would have brought about (Sakai 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unjudged.collection import Collection, Pool
from unjudged.collection.history import change
from unjudged.collection.membership import membership, named_group, teams_of
from unjudged.collection.pool import pool_of
from unjudged.errors import UsageError


@change
def take(
    collection: Collection,
    *,
    team: str | None = None,
    teams: Sequence[str] | int | None = None,
    runs: Sequence[str] | None = None,
    depth: int | None = None,
    pooled: str | Sequence[str] | None = None,
    tolerance: float | None = None,
    by: str = "lines",
) -> Collection:
    """The judgments of a pool made from one team, several teams, or some runs alone: J and D have in common.

    `teams` are names, or a number k: the k teams with the fewest unique contributions (`ordinary_teams`), as Sakai
    took three. A team that found no relevant document for some topic is told in `.notes` (`teams_without_relevant`);
    studies leave it out of their averages. `depth` and `pooled` as in `pool_of`, `by` as in `membership`.
    """
    if sum(x is not None for x in (team, teams, runs)) != 1:
        raise UsageError("name one of: a team, several teams (or how many), several runs")
    pool = pool_of(collection, depth, pooled, tolerance)
    if isinstance(teams, int):  # how many
        teams = ordinary_teams(collection, teams, pool, by)
    names, what = named_group(collection, team=team, teams=teams, runs=runs)
    chosen = [team] if team is not None else list(teams or ())
    left = tuple(run for run in pool.runs if run in set(names))
    if not left:
        raise UsageError(f"take {what}: none of these runs was pooled")
    kept = membership(collection, pool, by).found(left)
    barren = teams_without_relevant(collection, pool, by) if chosen else {}
    told = tuple(
        f"team {name} found no relevant document for {len(topics)} topic{'s' * (len(topics) > 1)} (e.g. {topics[0]})"
        for name, topics in barren.items()
        if name in chosen
    )
    after = replace(pool, runs=left, notes=(*pool.notes, *told))
    return collection.keeping(kept, f"take {what} at depth {pool.depth}", after)


def ordinary_teams(collection: Collection, count: int, pool: Pool | None = None, by: str = "lines") -> list[str]:
    """The `count` pooled teams with the fewest unique contributions per topic; equal ones by name."""
    pool = pool or pool_of(collection)
    found = membership(collection, pool, by).contributions(teams_of(collection), collection.judgments)
    if not 1 <= count <= len(found.names):
        raise UsageError(f"there are {len(found.names)} pooled teams; {count} cannot be taken")
    order = sorted(range(len(found.names)), key=lambda i: (found.unique[i], found.names[i]))
    return [found.names[i] for i in order[:count]]


def teams_without_relevant(
    collection: Collection, pool: Pool | None = None, by: str = "lines", rel: int = 1
) -> dict[str, list[str]]:
    """Teams whose pooled documents hold no relevant one for some topic that has any, and those topics.

    Such teams are left out of take-one-team averages. A team none of whose runs was pooled is named with all topics.
    """
    pool = pool or pool_of(collection)
    team_of, judgments = teams_of(collection), collection.judgments
    names, which, row, _ = membership(collection, pool, by).grouped({run: team_of[run] for run in pool.runs})
    relevant = judgments.grade[row] >= rel
    found = np.zeros((len(names), len(judgments.topics)), bool)
    found[which[relevant], judgments.topic[row[relevant]]] = True
    some = judgments.count(rel) > 0
    missing = {name: np.flatnonzero(some & ~found[i]) for i, name in enumerate(names)}
    missing |= {name: np.flatnonzero(some) for name in set(team_of.values()) - set(names)}
    return {
        name: [collection.topics[t] for t in topics.tolist()] for name, topics in sorted(missing.items()) if len(topics)
    }
