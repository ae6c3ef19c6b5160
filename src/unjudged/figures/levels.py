"""Fewer judgments: lines per measure against the level, with a band over repeats (Sakai 2007, figures 1 to 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unjudged.figures import marks, theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import Records, distinct, records, side_by_side
from unjudged.results import Result

_TITLES = {
    "tau": "Kendall's tau with the full order",
    "power": "discriminative power",
    "mean": "mean score of the runs",
}


def level_figures(level: str, same: float) -> dict[str, Callable[[Result], Figure]]:
    """The charts of a study over levels (`depth` or `percent`): tau first, then power and mean scores."""
    return {kind: _drawer(kind, level, same) for kind in _TITLES}


def _drawer(kind: str, level: str, same: float) -> Callable[[Result], Figure]:
    return lambda result: Figure(level_chart(records(result), kind, level, same))


def level_chart(rows: Records, kind: str, level: str, same: float) -> dict[str, Any]:
    """One statistic of every measure against the level; tau starts at 1 with all judgments."""
    measures = distinct(rows, "measure")
    best = _kept(rows, kind)
    levels: list[Any] = sorted({row["level"] for row in rows}, reverse=True)
    if kind == "tau" and level == "depth":
        rows, levels = [*_with_all(rows), *rows], ["all", *levels]
    axis = "pool depth" if level == "depth" else "judgments kept (%)"
    x = {"field": "level", "type": "ordinal", "sort": levels, "title": axis, "axis": {"labelAngle": 0}}
    y = {"field": kind, "type": "quantitative", "title": _TITLES[kind], "scale": {"zero": False}}
    colour = theme.colour("measure", measures)
    tooltip = [{"field": f} for f in ("measure", "level")] + [{"field": kind, "aggregate": "mean", "format": ".4f"}]
    encoding = {"x": x, "y": {**y, "aggregate": "mean"}, "color": colour}
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "line"}, "encoding": {**encoding, "strokeDash": theme.dash("measure", measures)}},
        {
            "mark": {"type": "point", "tooltip": True},
            "encoding": {**encoding, "shape": theme.shape("measure", measures), "tooltip": tooltip},
        },
    ]
    if len({row["repeat"] for row in rows}) > 1:
        group = {"groupby": [*(["collection"] if "collection" in rows[0] else []), "measure", "level"]}
        quantiles = [{"op": "q1", "field": kind, "as": "low"}, {"op": "q3", "field": kind, "as": "high"}]
        band = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour}
        spread = {"mark": {"type": "area", "opacity": 0.18}, "encoding": band}
        layers.insert(0, {"transform": [{"aggregate": quantiles, **group}], **spread})
    if kind == "tau":
        layers = [*marks.line_at(same, f"solid from {same:g}"), *layers]
    description = f"{_TITLES[kind].capitalize()} of {len(measures)} measures against the {axis}: {best}." + (
        f" The dashed line is tau {same:g}; bands hold the middle half of the repeats." if kind == "tau" else ""
    )
    return side_by_side(rows, {"description": description, "width": 380, "height": 260, "layer": layers})


def _with_all(rows: Records) -> Records:
    """Where every line begins: the order under all judgments agrees with itself."""
    known = {(row.get("collection"), row["measure"], row["repeat"]) for row in rows if row["tau"] is not None}
    return [
        {**({"collection": name} if name is not None else {}), "level": "all", "measure": m, "repeat": r, "tau": 1.0}
        for name, m, r in sorted(known, key=str)
    ]


def _kept(rows: Records, kind: str) -> str:
    """The chart in words: who is highest at the lowest level."""
    last = min(row["level"] for row in rows)
    there = [row for row in rows if row["level"] == last and row[kind] is not None]
    if not there:
        return "no values at the lowest level"
    top = max(there, key=lambda row: row[kind])
    return f"at {last:g}, {top['measure']} is highest with {top[kind]:g}"
