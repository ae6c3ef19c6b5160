"""Comparisons of runs: differences with their intervals, and a map of who beats whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import Records, distinct, records
from unjudged.results import Result

MOST = 60
"""Pairs shown with their intervals; of more, those with the largest differences."""

BETTER, WORSE, ALIKE = "row is better", "column is better", "cannot be told apart"


def differences(alpha: float) -> Callable[[Result], Figure]:
    """Each pair's difference with its interval; significant ones are filled."""
    return lambda result: Figure(difference_dots(records(result), alpha))


def map_of_pairs(alpha: float) -> Callable[[Result], Figure]:
    """Runs against runs: which of the two is significantly better."""
    return lambda result: Figure(pair_map(records(result), alpha))


def difference_dots(rows: Records, alpha: float) -> dict[str, Any]:
    """A dot per pair, a line for its interval, a panel per measure; the rule is no difference."""
    measures = distinct(rows, "measure")
    size: dict[tuple[str, str], float] = {}
    for row in rows:
        pair = row["run_a"], row["run_b"]
        size[pair] = max(size.get(pair, 0.0), abs(row["difference"]))
    kept = sorted(size, key=lambda pair: -size[pair])[:MOST]
    points = [
        {**row, "pair": f"{row['run_a']} - {row['run_b']}", "significant": _significant(row, alpha)}
        for row in rows
        if (row["run_a"], row["run_b"]) in set(kept)
    ]
    found = sum(_significant(row, alpha) for row in rows)
    cut = f" The {MOST} pairs with the largest differences are shown." if len(size) > MOST else ""
    x = {"type": "quantitative", "title": "difference of means"}
    y = {"field": "pair", "type": "nominal", "sort": distinct(points, "pair"), "title": None}
    filled = {"condition": {"test": "datum.significant", "value": 1}, "value": 0.25}
    shown = ("pair", "difference", "low", "high", "p_adjusted", "wins", "ties", "losses")
    return {
        "description": f"Differences of {len(size)} pairs of runs with their intervals, {len(measures)} measures; "
        f"{found} of {len(rows)} differences are significant at {alpha:g} (full colour).{cut}",
        "data": {"values": points},
        "facet": {"column": {"field": "measure", "type": "nominal", "sort": measures, "title": None}},
        "spec": {
            "width": 260,
            "height": {"step": 18},
            "layer": [
                {"mark": {"type": "rule", "color": theme.quiet()}, "encoding": {"x": {"datum": 0}}},
                {
                    "mark": {"type": "rule", "color": theme.BLUE},
                    "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "opacity": filled},
                },
                {
                    "mark": {"type": "point", "color": theme.BLUE, "tooltip": True},
                    "encoding": {
                        "x": {**x, "field": "difference"},
                        "y": y,
                        "opacity": filled,
                        "tooltip": [{"field": field} for field in shown],
                    },
                },
            ],
        },
    }


def pair_map(rows: Records, alpha: float) -> dict[str, Any]:
    """A field per pair and direction, with a sign in it; a panel per measure."""
    measures = distinct(rows, "measure")
    runs = list(dict.fromkeys(run for row in rows for run in (row["run_a"], row["run_b"])))
    fields: Records = []
    for row in rows:
        for a, b, difference in ((0, 1, row["difference"]), (1, 0, -row["difference"])):
            pair = row["run_a"], row["run_b"]
            outcome = ALIKE if not _significant(row, alpha) else BETTER if difference > 0 else WORSE
            sign = {ALIKE: "", BETTER: "+", WORSE: "−"}[outcome]
            common = {"measure": row["measure"], "p_adjusted": row["p_adjusted"], "difference": difference}
            fields.append({"row": pair[a], "column": pair[b], "outcome": outcome, "sign": sign, **common})
    found = sum(_significant(row, alpha) for row in rows)
    domain = [BETTER, WORSE, ALIKE]
    colours = {"domain": domain, "range": [theme.BLUE, theme.ORANGE, theme.PALE]}
    x = {"field": "column", "type": "nominal", "sort": runs, "title": None, "axis": {"labelAngle": -40}}
    y = {"field": "row", "type": "nominal", "sort": runs, "title": None}
    return {
        "description": f"{len(runs)} runs against each other, {len(measures)} measures; {found} of {len(rows)} "
        f"differences are significant at {alpha:g}.",
        "data": {"values": fields},
        "facet": {"column": {"field": "measure", "type": "nominal", "sort": measures, "title": None}},
        "spec": {
            "width": {"step": 16},
            "height": {"step": 16},
            "layer": [
                {
                    "mark": {"type": "rect", "tooltip": True},
                    "encoding": {
                        "x": x,
                        "y": y,
                        "color": {"field": "outcome", "type": "nominal", "scale": colours, "title": None},
                        "tooltip": [{"field": f} for f in ("row", "column", "outcome", "difference", "p_adjusted")],
                    },
                },
                {"mark": {"type": "text", "fontSize": 11}, "encoding": {"x": x, "y": y, "text": {"field": "sign"}}},
            ],
        },
    }


def _significant(row: dict[str, Any], alpha: float) -> bool:
    return row["p_adjusted"] is not None and row["p_adjusted"] < alpha
