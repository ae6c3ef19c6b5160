"""Who contributed what to the pool, and what nobody else found (Sakai 2009, table 2)."""

from __future__ import annotations

from typing import Any

from unjudged.changes.take import ordinary_teams, teams_without_relevant
from unjudged.figures import contributions as charts
from unjudged.pools.contributions import contributions as per_team
from unjudged.results import Result, Row
from unjudged.studies import layouts
from unjudged.studies._study import Lab, register
from unjudged.studies.asked import Pooling
from unjudged.studies.pooled import pool_settings
from unjudged.studies.preparing import columns, row
from unjudged.studies.verdicts import contributions_verdict


@register(
    "contributions",
    help="what each team brought into the pool, and what it alone found",
    cite="sakai2009",
    figures={"": ("contributions",)},
)
def contributions(lab: Lab, pooling: Pooling, *, rel: int | None = None) -> Result:
    """What did each team bring into the pool, and what did it alone find?

    Per team: its number of runs, then averages over topics of the judged documents in the top of its pooled runs, of
    those no other team has, and of the relevant ones among them (Sakai 2009, table 2). A dagger marks teams
    without a relevant document for some topic (kept out of take-team averages), a star the three with
    the fewest unique documents.
    """
    rows: list[Row] = []
    marks: dict[tuple[str, str], str] = {}
    shares: list[tuple[str, float]] = []
    pools: dict[str, Any] = {}
    smallest = 1 if rel is None else rel
    for name, collection in lab.cases:
        pool = pooling.of(collection)
        found = per_team(collection, depth=pooling.depth, pooled=pooling.runs, rel=smallest)
        told = [f"{pool}{pool.guessed}", *found.notes]
        lab.notes += [f"{name}: {note}" if lab.several else note for note in told]
        here = list(found.rows())
        rows += [row(lab, name, r) for r in here]
        barren = teams_without_relevant(collection, pool, rel=smallest)
        ordinary = ordinary_teams(collection, min(3, len({collection.teams[r] for r in pool.runs})), pool)
        for r in here:
            marks[name, r[0]] = ("†" if r[0] in barren else "") + ("*" if r[0] in ordinary else "")
        relevant = float(collection.judgments.count(smallest).sum()) / max(len(collection.topics), 1)
        shares += [(r[0], r[4] / relevant if relevant else 0.0) for r in here]
        pools[name] = pool_settings(pool)
    head = columns(lab, "team", "runs", "pooled", "unique", "unique_relevant")
    return Result(
        head,
        lambda: rows,
        lab.provenance(None, pool=pools, rel=smallest),
        layout=lambda: _table(lab, head, rows, marks),
        figures={"contributions": charts.contributions},
        verdict=contributions_verdict(shares, len(rows)),
        caption="Documents per topic a team brought into the pool, alone, and alone and relevant. †: no relevant "
        "document for some topic; *: fewest unique documents (up to three teams).",
    )


def _table(lab: Lab, head: tuple[str, ...], rows: list[Row], marks: dict[tuple[str, str], str]) -> layouts.Table:
    first = head.index("team")
    only = lab.cases[0][0]
    table: list[Row] = []
    for r in rows:
        name, team = (r[0] if lab.several else only), r[first]
        numbers = [layouts.Shown(f"{r[first + 2]:.1f}"), layouts.Shown(f"{r[first + 3]:.1f}")]
        mark = layouts.Shown(team, raised=marks[name, team])
        table.append((*r[:first], mark, r[first + 1], *numbers, layouts.Shown(f"{r[first + 4]:.2f}")))
    return [*head[:first], "team", "#runs", "|D|", "|U|", "|U rel|"], table
