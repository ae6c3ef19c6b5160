"""Team bias: what happens to a team's run, and to the order of all runs (Sakai 2009, tables 3 to 7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unjudged.figures import marks, theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import Records, distinct, records, side_by_side
from unjudged.results import Result


def change_figures(what: str) -> dict[str, Callable[[Result], Figure]]:
    """Charts of the change table: rank moves, and changes per team and measure; `what` is left_out or taken."""
    return {
        "ranks": lambda result: Figure(rank_slopes(records(result), what)),
        "changes": lambda result: Figure(change_map(records(result), what)),
        "spread": lambda result: Figure(change_strips(records(result), what)),
    }


def summary_figures(same: float, *, tested: bool = True) -> dict[str, Callable[[Result], Figure]]:
    """Charts of the summary: tau of every condition (from `same` on it is the same order), then wrong pairs."""
    found: dict[str, Callable[[Result], Figure]] = {"tau": lambda result: Figure(tau_strips(records(result), same))}
    if tested:
        found["errors"] = lambda result: Figure(error_bars(records(result)))
    return found


def change_map(rows: Records, what: str) -> dict[str, Any]:
    """Team x measure: the change in percent, blue for losses, orange for gains."""
    teams, measures = distinct(rows, what), distinct(rows, "measure")
    known = [abs(row["change_pct"]) for row in rows if row["change_pct"] is not None]
    limit = max(known, default=1.0) or 1.0
    spec = {
        "description": f"Change in percent of each team's run in {len(measures)} measures, {len(teams)} teams; "
        f"the largest is {limit:.1f}%. Blue: the run loses, orange: it gains.",
        "width": {"step": 44},
        "height": {"step": 16},
        "mark": {"type": "rect", "tooltip": True},
        "encoding": {
            "x": {"field": "measure", "type": "nominal", "sort": measures, "title": None, "axis": {"labelAngle": -40}},
            "y": {"field": what, "type": "nominal", "sort": teams, "title": what.replace("_", " ")},
            "color": {
                "field": "change_pct",
                "type": "quantitative",
                "aggregate": "mean",
                "title": "change (%)",
                "scale": {"scheme": theme.SIGNED, "domain": [-limit, limit], "domainMid": 0},
            },
            "tooltip": [
                *({"field": f} for f in (what, "measure")),
                {"field": "change_pct", "aggregate": "mean", "format": "+.2f"},
            ],
        },
    }
    return side_by_side(rows, spec)


def change_strips(rows: Records, what: str) -> dict[str, Any]:
    """Per measure, a tick for each team's change; the mean as a diamond."""
    measures = distinct(rows, "measure")
    y = {"field": "measure", "type": "nominal", "sort": measures, "title": None}
    x = {"field": "change_pct", "type": "quantitative", "title": "change of the team's own run (%)"}
    ticks = {
        "mark": {"type": "tick", "opacity": 0.6, "color": theme.BLUE, "tooltip": True},
        "encoding": {"x": x, "y": y},
    }
    ticks["encoding"] = {"x": x, "y": y, "tooltip": [{"field": f} for f in (what, "run", "measure", "change_pct")]}
    means = {
        "mark": {"type": "point", "shape": "diamond", "size": 110, "color": theme.VERMILION},
        "encoding": {"x": {**x, "aggregate": "mean"}, "y": y},
    }
    zero = {"mark": {"type": "rule", "color": theme.quiet()}, "encoding": {"x": {"datum": 0}}}
    spec = {
        "description": f"Changes of the teams' own runs in percent, one tick per run and measure ({len(measures)} "
        "measures); diamonds are means. Left of the line the run loses, right of it it gains.",
        "width": 380,
        "height": {"step": 22},
        "layer": [zero, ticks, means],
    }
    return side_by_side(rows, spec)


def rank_slopes(rows: Records, what: str) -> dict[str, Any]:
    """A line from the rank with all judgments to the rank under the condition, one panel per measure."""
    measures = distinct(rows, "measure")
    moves = ["falls", "stays", "rises"]
    sides = ["in the pool", "left out"] if what == "left_out" else ["all judgments", "team alone"]
    moved = sum(row["rank_full"] != row["rank_reduced"] for row in rows)
    up = "datum.rank_reduced < datum.rank_full ? 'rises' : 'stays'"
    how = {"field": "move", "type": "nominal", "title": "rank", "legend": marks.LINES}
    colours = {"domain": moves, "range": [theme.VERMILION, theme.GREY, theme.BLUE]}
    inner = {
        "width": 110,
        "height": max(220, min(700, 9 * len({row["run"] for row in rows}))),
        "mark": {"type": "line", "point": True, "opacity": 0.75},
        "encoding": {
            "x": {"field": "side", "type": "ordinal", "sort": sides, "title": None, "axis": {"labelAngle": 0}},
            "y": {
                "field": "rank",
                "type": "quantitative",
                "scale": {"reverse": True, "zero": False},
                "axis": {"tickMinStep": 1, "format": "d"},
            },
            "detail": [{"field": what}, {"field": "run"}],
            "color": {**how, "scale": colours},
            "strokeDash": {**how, "scale": {"domain": moves, "range": [[1, 0], [2, 3], [6, 3]]}},
            "tooltip": marks.tips(what, "run", "rank_full", "rank_reduced", ("change_pct", "+.2f")),
        },
    }
    several = bool(rows) and "collection" in rows[0]
    panel = {"field": "measure", "type": "nominal", "sort": measures, "title": None}
    beside = {"column": panel, "row": {"field": "collection", "type": "nominal", "title": None}}
    return {
        "description": f"Rank of each run, {sides[0]} and {sides[1]}, a panel per measure; "
        f"{moved} of {len(rows)} ranks change.",
        "data": {"values": rows},
        "transform": [
            {"filter": "isValid(datum.rank_full) && isValid(datum.rank_reduced)"},
            {"calculate": f"datum.rank_reduced > datum.rank_full ? 'falls' : {up}", "as": "move"},
            {"fold": ["rank_full", "rank_reduced"], "as": ["when", "rank"]},
            {"calculate": f"datum.when == 'rank_full' ? '{sides[0]}' : '{sides[1]}'", "as": "side"},
        ],
        **({"facet": beside} if several else {"facet": panel, "columns": 5}),
        "spec": inner,
    }


def tau_strips(rows: Records, same: float) -> dict[str, Any]:
    """Per measure, a tick for the tau of each condition; averages as diamonds, several teams together as squares."""
    measures = distinct(rows, "measure")
    kinds = {"full": "full", "average": "average"}
    shown = [
        {**row, "kind": kinds.get(row["condition"], "several teams" if "+" in row["condition"] else "one")}
        for row in rows
        if row["condition"] != "full"
    ]
    spec = {
        "description": f"Kendall's tau between the order of the runs with all judgments and under each condition, "
        f"{len(measures)} measures. The dotted line is {same:g}.",
        "width": 380,
        "height": {"step": 24},
        "layer": [
            {
                "mark": {"type": "rule", "strokeDash": [2, 3], "color": theme.quiet()},
                "encoding": {"x": {"datum": same}},
            },
            {
                "mark": {"type": "point", "tooltip": True},
                "encoding": {
                    "x": {"field": "tau", "type": "quantitative", "scale": {"zero": False}, "title": "Kendall's tau"},
                    "y": {"field": "measure", "type": "nominal", "sort": measures, "title": None},
                    "color": theme.colour("kind", ["one", "average", "several teams"], title="judgments"),
                    "shape": theme.shape("kind", ["one", "average", "several teams"], title="judgments"),
                    "tooltip": [{"field": f} for f in ("condition", "measure", "tau", "power")],
                },
            },
        ],
    }
    return side_by_side(shown, spec)


def error_bars(rows: Records) -> dict[str, Any]:
    """Average misses and false alarms per measure."""
    measures = distinct(rows, "measure")
    shown = [row for row in rows if row["condition"] == "average"]
    spec = {
        "description": "Significant pairs missed and invented on average, "
        + ", ".join(f"{r['measure']} {r['misses']:g} and {r['false_alarms']:g}" for r in shown[:10])
        + ".",
        "width": 380,
        "height": {"step": 14},
        "transform": [
            {"fold": ["misses", "false_alarms"], "as": ["key", "pairs"]},
            {"calculate": "replace(datum.key, '_', ' ')", "as": "kind"},
        ],
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "x": {"field": "pairs", "type": "quantitative", "aggregate": "mean", "title": "pairs of runs"},
            "y": {"field": "measure", "type": "nominal", "sort": measures, "title": None},
            "yOffset": {"field": "kind", "sort": ["misses", "false alarms"]},
            "color": theme.colour("kind", ["misses", "false alarms"]),
        },
    }
    return side_by_side(shown, spec)
