"""Contributions to the pool: what each team found, and what it alone found (Sakai 2009, table 2)."""

from __future__ import annotations

from typing import Any

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import Records, distinct, records, side_by_side
from unjudged.results import Result


def contributions(result: Result) -> Figure:
    """Documents per topic of each team (or run): found by others too, unique, unique and relevant."""
    return Figure(contribution_bars(records(result), "run" if "run" in result.columns else "team"))


def contribution_bars(rows: Records, owner: str) -> dict[str, Any]:
    """Bars per team (or run), most unique documents first."""
    ranked = sorted(rows, key=lambda row: -row["unique"])
    names = distinct(ranked, owner)
    kinds = ["shared", "unique", "unique_relevant"]
    shown = [{**row, "shared": round(row["pooled"] - row["unique"], 4)} for row in rows]
    top = ranked[0]
    spec = {
        "description": f"Judged documents per topic of {len(names)} {owner}s: found by others too, by the {owner} "
        f"alone, and relevant ones by the {owner} alone. {top[owner]} alone found most, {top['unique']:g} per topic.",
        "width": 200,
        "height": {"step": 15},
        "mark": {"type": "bar", "tooltip": True},
        "transform": [{"fold": kinds, "as": ["kind", "documents"]}],
        "encoding": {
            "x": {"field": "documents", "type": "quantitative", "title": "documents per topic"},
            "y": {"field": owner, "type": "nominal", "sort": names, "title": None},
            "color": {**theme.colour("kind", kinds), "legend": None},
            "column": {
                "field": "kind",
                "type": "nominal",
                "sort": kinds,
                "title": None,
                "header": {"labelExpr": "replace(datum.label, '_', ' and ')"},
            },
            "tooltip": [{"field": f} for f in (owner, "pooled", "unique", "unique_relevant")],
        },
        "resolve": {"scale": {"x": "independent"}},
    }
    if rows and "collection" in rows[0]:
        encoding: dict[str, Any] = spec["encoding"]  # type: ignore[assignment]
        encoding["row"] = {"field": "collection", "type": "nominal", "title": None}
        return {"data": {"values": shown}, **spec}
    return side_by_side(shown, spec)
