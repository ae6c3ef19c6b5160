"""Who contributed what to the pool, and what nobody else found (Sakai 2009, table 2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from unjudged.changes.take import ordinary_teams, teams_without_relevant
from unjudged.collection import Collection, Judgments, Pool
from unjudged.collection.membership import Membership, membership, teams_of
from unjudged.errors import UsageError
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.results import Result, Row, Shown, Verdict
from unjudged.statistics.pairs import exact_sum
from unjudged.studies.engine import Answer, Arrays, Case, Pooling, Table, register
from unjudged.studies.engine.groups import pool_settings, tell_pool
from unjudged.text import percent

COLUMNS = ("team", "runs", "pooled", "unique", "unique_relevant")
PER_RUN = ("run", "team", *COLUMNS[2:])


def counted(shared: tuple[Membership, Mapping[str, str], Judgments, int], unit: int) -> Arrays:
    """The one work unit: per group, its documents per topic, those that it alone found, and the relevant ones."""
    member, group, judgments, rel = shared
    found = member.contributions(group, judgments, rel)
    return {"pooled": found.pooled, "unique": found.unique, "unique_relevant": found.unique_relevant}


@register(
    "contributions",
    help="what each team brought into the pool, and what it alone found",
    cite="sakai2009",
    figures={"": ("contributions",)},
    columns=COLUMNS,
    limit="contributions",
)
def contributions(case: Case, pooling: Pooling, *, per: str = "team", rel: int | None = None) -> Answer:
    """What did each team bring into the pool, and what did it alone find?

    Per team: its number of runs, then averages over topics of the judged documents in the top of its pooled runs, of
    those that no other team has, and of the relevant ones among them (Sakai 2009, table 2). A team none of whose runs
    was pooled is listed with zeros. A dagger marks teams without a relevant document for some topic (kept out of the
    averages of take-team), a star the three with the fewest unique documents. --per run counts the same for every run,
    which then stands for itself.
    """
    if per not in ("team", "run"):
        raise UsageError(f"contributions are counted per team or per run, not per {per!r}")
    collection, smallest = case.collection, 1 if rel is None else rel
    runs = collection.full.runs
    group = teams_of(collection) if per == "team" else {run: run for run in runs}
    pool = pooling.of(collection)
    tell_pool(case, pool, "what is unique is overestimated")
    pooled = {run: group[run] for run in pool.runs}
    shared = membership(collection, pool), pooled, collection.judgments, smallest
    (found,) = case.run(counted, shared, [0], f"{len(pool.runs)} pooled runs")
    number = {name: i for i, name in enumerate(sorted(set(pooled.values())))}
    names = sorted(set(group.values())) if per == "team" else list(runs)
    rows: list[Row] = []
    for name in names:
        first = sum(group[run] == name for run in runs) if per == "team" else collection.teams.get(name, "")
        values = (float(found[column][number[name]]) if name in number else 0.0 for column in COLUMNS[2:])
        rows.append((name, first, *values))
    marks = _marks(collection, pool, smallest) if per == "team" else {}
    told = "†: no relevant document for some topic; *: fewest unique documents (up to three teams)."
    return Answer(
        COLUMNS if per == "team" else PER_RUN,
        rows,
        _verdict(case, rows, per, smallest),
        lambda: _table(rows, per, marks),
        {"contributions": contribution_bars},
        f"Documents per topic that a {per} brought into the pool, that it alone found, and the relevant ones of these."
        + (f" {told}" if per == "team" else ""),
        settings={"pool": pool_settings(pool), "rel": smallest, "per": per},
    )


def _marks(collection: Collection, pool: Pool, rel: int) -> dict[str, str]:
    """Team -> a dagger for no relevant document in some topic, a star for few unique ones."""
    barren = teams_without_relevant(collection, pool, rel=rel)
    ordinary = ordinary_teams(collection, min(3, len({collection.teams[run] for run in pool.runs})), pool)
    teams = {*barren, *ordinary}
    return {team: "†" * (team in barren) + "*" * (team in ordinary) for team in teams}


def _table(rows: list[Row], per: str, marks: Mapping[str, str]) -> Table:
    head = ["team", "#runs"] if per == "team" else ["run", "team"]
    return [*head, "|D|", "|U|", "|U rel|"], [
        (
            Shown(name, raised=marks.get(name, "")),
            first,
            Shown(f"{pooled:.1f}"),
            Shown(f"{unique:.1f}"),
            Shown(f"{relevant:.2f}"),
        )
        for name, first, pooled, unique, relevant in rows
    ]


def _verdict(case: Case, rows: list[Row], per: str, rel: int) -> Verdict:
    """Does the pool hang on one team?"""
    limit = case.limits["contributions"]
    relevant = float(np.sum(case.collection.judgments.count(rel))) / max(len(case.topics), 1)
    if not relevant:
        return limit.unknown("no document is relevant, so that nobody can have found one alone")
    shares = {row[0]: row[4] / relevant for row in rows}
    most = max(sorted(shares), key=shares.__getitem__)
    alone = percent(exact_sum(shares.values()))
    sentence = (
        f"{alone} of the relevant documents were found by one {per} only, {percent(shares[most])} by {most} alone"
    )
    few = limit.too_few(teams=len(rows), topics=len(case.topics)).replace("team", per)
    study = "leave-team-out" if per == "team" else "leave-run-out"
    step = case.step(f"see what a {per} loses without the documents that only it found", "study", study)
    return limit.verdict(sentence, shares[most], too_few=few, decided_by=(most,), next=step)


def contribution_bars(result: Result) -> Figure:
    """Documents per topic of each team (or run), most unique documents first: found by others too, alone, relevant."""
    rows, owner = records(result), "run" if "run" in result.columns else "team"
    ranked = sorted(rows, key=lambda row: -row["unique"])
    names, top = distinct(ranked, owner), ranked[0]
    kinds = ["shared", "unique", "unique_relevant"]
    header = {"header": {"labelExpr": "replace(datum.label, '_', ' and ')"}}
    bars = marks.layer(
        "bar",
        {"tooltip": True},
        x=marks.field("documents", title="documents per topic"),
        y=marks.names(owner, names),
        color={**theme.colour("kind", kinds), "legend": None},
        column={**marks.names("kind", kinds), **header},
        tooltip=marks.as_it_is(owner, "pooled", "unique", "unique_relevant"),
    )
    if "collection" in rows[0]:
        bars["encoding"]["row"] = marks.names("collection", distinct(rows, "collection"))
    return Figure(
        {
            "description": f"Judged documents per topic of {len(names)} {owner}s: found by others too, by the {owner} "
            f"alone, and relevant ones by the {owner} alone. {top[owner]} alone found most, {top['unique']:g} per "
            "topic.",
            "data": {"values": [{**row, "shared": round(row["pooled"] - row["unique"], 4)} for row in rows]},
            "width": 200,
            "height": {"step": 15},
            "transform": [{"fold": kinds, "as": ["kind", "documents"]}],
            **bars,
            "resolve": {"scale": {"x": "independent"}},
        }
    )
