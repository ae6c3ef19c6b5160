"""Swap method: swap rates by size of the difference, and the sensitivity of measures (Sakai 2005, figures 2 to 8)."""

from __future__ import annotations

from typing import Any

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import Records, distinct, records
from unjudged.results import Result


def curves(result: Result) -> Figure:
    """Swap rate of every bin, a panel per way of sampling."""
    return Figure(swap_curves(records(result)))


def sensitivity(result: Result) -> Figure:
    """Share of comparisons with the required difference."""
    return Figure(sensitivity_bars(records(result)))


def swap_curves(rows: Records) -> dict[str, Any]:
    """Lines per measure, panels per sampling; the dotted line is a swap rate of 5%."""
    measures, ways = distinct(rows, "measure"), distinct(rows, "sampling")
    highest = max((row["swap_rate"] for row in rows if row["swap_rate"] is not None), default=0)
    facet: dict[str, Any] = {"column": {"field": "sampling", "type": "nominal", "sort": ways, "title": None}}
    if rows and "collection" in rows[0]:
        facet["row"] = {"field": "collection", "type": "nominal", "title": None}
    inner = {
        "width": 220,
        "height": 220,
        "layer": [
            {
                "mark": {"type": "rule", "strokeDash": [2, 3], "color": theme.quiet()},
                "encoding": {"y": {"datum": 0.05}},
            },
            {
                "mark": {"type": "line", "tooltip": True},
                "encoding": {
                    "x": {"field": "bin", "type": "quantitative", "title": "difference (hundredths)"},
                    "y": {"field": "swap_rate", "type": "quantitative", "title": "swap rate", "axis": {"format": "%"}},
                    "color": theme.colour("measure", measures),
                    "strokeDash": theme.dash("measure", measures),
                    "tooltip": [{"field": f} for f in ("measure", "sampling", "bin", "comparisons", "swap_rate")],
                },
            },
        ],
    }
    return {
        "description": f"Swap rates against the difference between two runs, {len(measures)} measures, sampling "
        f"{', '.join(ways)}; the highest is {highest:g}. The dotted line is 5%.",
        "data": {"values": rows},
        "facet": facet,
        "spec": inner,
    }


def sensitivity_bars(rows: Records) -> dict[str, Any]:
    """Bars per measure, panels per sampling, at the highest confidence."""
    level = max(row["confidence"] for row in rows)
    shown = [row for row in rows if row["confidence"] == level]
    ways = distinct(rows, "sampling")
    facet: dict[str, Any] = {"column": {"field": "sampling", "type": "nominal", "sort": ways, "title": None}}
    if rows and "collection" in rows[0]:
        facet["row"] = {"field": "collection", "type": "nominal", "title": None}
    best = max(shown, key=lambda row: row["share"] or 0)
    return {
        "description": f"Share of comparisons with the difference required for {level:g}% confidence; the most "
        f"sensitive is {best['measure']} ({best['sampling']}) with {100 * (best['share'] or 0):.1f}%.",
        "data": {"values": shown},
        "facet": facet,
        "spec": {
            "width": 180,
            "height": {"step": 20},
            "mark": {"type": "bar", "color": theme.BLUE, "tooltip": True},
            "encoding": {
                "x": {"field": "share", "type": "quantitative", "axis": {"format": "%"}, "title": "comparisons"},
                "y": {"field": "measure", "type": "nominal", "sort": distinct(rows, "measure"), "title": None},
                "tooltip": [{"field": f} for f in ("measure", "required_difference", "max_performance", "share")],
            },
        },
    }
