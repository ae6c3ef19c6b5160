"""Agreement of measures: a map of Kendall's tau (Sakai 2007, table 2)."""

from __future__ import annotations

from typing import Any

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import Records, distinct, records, side_by_side
from unjudged.results import Result


def agreement(result: Result) -> Figure:
    """Tau of every pair of measures."""
    return Figure(agreement_map(records(result)))


def agreement_map(rows: Records) -> dict[str, Any]:
    """The upper triangle with tau written in each field."""
    first, second = distinct(rows, "measure_a"), distinct(rows, "measure_b")
    known = [row["tau"] for row in rows if row["tau"] is not None]
    middle = (min(known, default=0) + max(known, default=1)) / 2
    x = {"field": "measure_b", "type": "nominal", "sort": second, "title": None, "axis": {"labelAngle": -40}}
    y = {"field": "measure_a", "type": "nominal", "sort": first, "title": None}
    spec = {
        "description": f"Kendall's tau between the orders of the runs by two measures, {len(rows)} pairs, from "
        f"{min(known, default=0):g} to {max(known, default=0):g}.",
        "width": {"step": 46},
        "height": {"step": 24},
        "layer": [
            {
                "mark": {"type": "rect", "tooltip": True},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": {"field": "tau", "type": "quantitative", "scale": {"scheme": theme.AMOUNT}},
                    "tooltip": [{"field": f} for f in ("measure_a", "measure_b", "tau", "p_value")],
                },
            },
            {
                "mark": {"type": "text", "fontSize": 10},
                "encoding": {
                    "x": x,
                    "y": y,
                    "text": {"field": "tau", "format": ".2f"},
                    "color": {"condition": {"test": f"datum.tau > {middle}", "value": "#000000"}, "value": "#ffffff"},
                },
            },
        ],
    }
    return side_by_side(rows, spec)
