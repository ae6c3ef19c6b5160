"""Table 1 of the papers of 2007 and 2009: what is in the collections. The numbers are those of `pool describe`."""

from __future__ import annotations

from typing import Any

from unjudged.collection.manifest import Collections
from unjudged.errors import UsageError
from unjudged.papers.declaration import Panel
from unjudged.papers.found import Found, NotHere
from unjudged.pools.describe import describe
from unjudged.results import Row, Shown

LEVELS = {1: ("B",), 2: ("S", "B"), 3: ("S", "A", "B")}
"""How the papers call the relevant grades, the highest first, by their number: TREC's two are S and B."""


def statistics(found: Found) -> dict[str, dict[str, tuple[Any, Any, Any]]]:
    """Collection of documents -> statistic -> (value, lowest, highest)."""
    values = {
        name: _told(Collections({name: collection}, found.collections.settings))
        for name, collection in found.collections.items()
        if collection.judgments.group is None
    }
    if not values:
        raise NotHere("this needs a collection of documents, not of answers")
    return values


def _told(one: Collections) -> dict[str, tuple[Any, Any, Any]]:
    """What `pool describe` says of a collection; without the depth of a pool that cannot be seen."""
    try:
        return {statistic: (value, low, high) for _, statistic, value, low, high in describe(one).rows()}
    except UsageError:
        (collection,) = one.values()
        told = {statistic: (value, low, high) for statistic, value, low, high in describe(collection, depth=1).rows()}
        return {**told, "pool depth": ("-", None, None)}


def grades(told: dict[str, tuple[Any, Any, Any]]) -> dict[str, str]:
    """The paper's level -> the statistic of its grade (`S` -> `grade 2`)."""
    known = sorted((int(name.split()[1]) for name in told if name.startswith("grade ")), reverse=True)
    relevant = [grade for grade in known if grade > 0]
    return {level: f"grade {grade}" for level, grade in zip(LEVELS.get(len(relevant), ()), relevant, strict=False)}


def average(told: dict[str, tuple[Any, Any, Any]], statistic: str | None) -> Shown:
    """One decimal, as the papers print it."""
    return Shown("-" if statistic is None or statistic not in told else f"{told[statistic][0]:.1f}")


def spread(told: dict[str, tuple[Any, Any, Any]], statistic: str) -> Shown:
    """`[292, 2050]`"""
    _, low, high = told[statistic]
    return Shown(f"[{low:g}, {high:g}]")


def as_columns(found: Found) -> list[Panel]:
    """Table 1 of Sakai 2009: a column per collection."""
    told = statistics(found)
    each = list(told.values())
    rows: list[Row] = [
        ("#topics", *(t["topics"][0] for t in each)),
        ("pool depth", *(t["pool depth"][0] for t in each)),
        ("average N", *(average(t, "N") for t in each)),
        ("range N", *(spread(t, "N") for t in each)),
        ("average R", *(average(t, "R") for t in each)),
        ("range R", *(spread(t, "R") for t in each)),
        *((f"{level}-relevant", *(average(t, grades(t).get(level)) for t in each)) for level in "SAB"),
        ("#all runs", *(t["runs"][0] for t in each)),
        ("#teams", *(t.get("teams", ("-",))[0] for t in each)),
    ]
    return [found.shown("", (["", *told], rows))]


def as_rows(found: Found) -> list[Panel]:
    """Table 1 of Sakai 2007: a row per collection."""
    rows: list[Row] = [
        (
            name,
            t["topics"][0],
            spread(t, "N"),
            spread(t, "R"),
            average(t, "N"),
            average(t, "R"),
            *(average(t, grades(t).get(level)) for level in "SAB"),
            min(30, t["runs"][0]),
        )
        for name, t in statistics(found).items()
    ]
    head = ["", "topics", "range N", "range R", "N", "R", "R(S)", "R(A)", "R(B)", "runs used"]
    return [found.shown("", (head, rows))]
