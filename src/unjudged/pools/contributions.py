"""Who contributed what to the pool, and what nobody else found (Sakai 2009, Table 2)."""

from __future__ import annotations

from collections.abc import Sequence

from unjudged.collection import Collection
from unjudged.collection.membership import contributions_of, coverage_of, teams_of
from unjudged.collection.pool import TOLERANCE, pool_of
from unjudged.errors import UsageError
from unjudged.results import Provenance, Result, Row, Shown

COLUMNS = ("runs", "pooled", "unique", "unique_relevant")


def contributions(
    collection: Collection,
    *,
    per: str = "team",
    depth: int | None = None,
    pooled: str | Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
    by: str = "lines",
    rel: int = 1,
    call: str = "",
) -> Result:
    """Contributions to the pool per team, or per run: documents per topic pooled, unique, unique and relevant.

    Columns: team (or run), runs (its number of runs; per run, its team), pooled (|D|), unique (|U|), unique_relevant
    (|U^rel|), the last three averaged over topics and counted among the judgments. A team none of whose runs was
    pooled is listed with zeros. `depth` and `pooled` as in `pool_of`, `by` as in `membership`.
    """
    if per not in ("team", "run"):
        raise UsageError(f"contributions are counted per team or per run, not per {per!r}")
    pool = pool_of(collection, depth, pooled, tolerance)
    full = collection.full
    group = teams_of(collection) if per == "team" else {run: run for run in full.runs}
    found = contributions_of(collection, pool, group, by, rel)
    number = {name: i for i, name in enumerate(found.names)}
    names = sorted(set(group.values())) if per == "team" else list(full.runs)
    members = {name: [run for run in full.runs if group[run] == name] for name in names}

    def rows() -> list[Row]:
        return [
            (
                name,
                len(members[name]) if per == "team" else collection.teams.get(name, ""),
                *(
                    float(values[number[name]]) if name in number else 0.0
                    for values in (found.pooled, found.unique, found.unique_relevant)
                ),
            )
            for name in names
        ]

    from unjudged import __version__

    settings = {**collection.settings, **pool.settings, "top counted by": by, "rel": rel}
    notes = [*pool.notes, *coverage_of(collection, pool, by).warnings()]
    columns = (per, "runs" if per == "team" else "team", *COLUMNS[1:])
    provenance = Provenance(__version__, call, collection.sources, settings)

    def layout() -> tuple[Sequence[str], list[Row]]:
        return columns, [(*r[:2], *(Shown(f"{value:.2f}") for value in r[2:])) for r in rows()]

    caption = f"Documents per topic: brought into the pool, alone, alone and relevant; {pool}{pool.guessed}."
    return Result(columns, rows, provenance, layout, notes=notes, caption=caption)
