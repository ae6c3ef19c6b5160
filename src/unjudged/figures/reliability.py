"""Reliability: coefficients with intervals, and how they would grow with more topics (Urbano et al. 2013)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import Records, distinct, records, side_by_side
from unjudged.results import Result
from unjudged.thresholds import limit_of


def reliability(result: Result) -> Figure:
    """E rho^2 of each measure with its interval."""
    return Figure(reliability_dots(records(result)))


def topics(studied: int) -> Callable[[Result], Figure]:
    """E rho^2 against the number of topics."""
    return lambda result: Figure(topic_lines(records(result), studied))


def reliability_dots(rows: Records) -> dict[str, Any]:
    """A dot per measure, a line for the interval."""
    y = {"field": "measure", "type": "nominal", "sort": distinct(rows, "measure"), "title": None}
    scale = {"zero": False}
    spec = {
        "description": "Reliability of the topic set: "
        + ", ".join(f"{row['measure']} {row['erho2']}" for row in rows[:10])
        + ".",
        "width": 380,
        "height": {"step": 22},
        "layer": [
            {
                "mark": {"type": "rule", "color": theme.quiet()},
                "encoding": {
                    "x": {"field": "low", "type": "quantitative", "scale": scale},
                    "x2": {"field": "high"},
                    "y": y,
                },
            },
            {
                "mark": {"type": "point", "color": theme.BLUE, "tooltip": True},
                "encoding": {
                    "x": {"field": "erho2", "type": "quantitative", "scale": scale, "title": "E rho^2"},
                    "y": y,
                    "tooltip": [{"field": f} for f in ("measure", "erho2", "low", "high", "phi", "topics_needed")],
                },
            },
        ],
    }
    return side_by_side(rows, spec)


def topic_lines(rows: Records, studied: int) -> dict[str, Any]:
    """What E rho^2 would be with other numbers of topics: n' e / (n' e + n (1 - e))."""
    measures = distinct(rows, "measure")
    wanted = limit_of("reliability").solid
    steps = sorted({max(1, round(studied * share / 20)) for share in range(1, 61)})
    points: Records = []
    for row in rows:
        if row["erho2"] is None:
            continue
        for number in steps:
            signal, noise = number * row["erho2"], studied * (1 - row["erho2"])
            value = round(signal / (signal + noise), 4) if signal + noise > 0 else None
            kept = {"collection": row["collection"]} if "collection" in row else {}
            points.append({**kept, "measure": row["measure"], "topics": number, "erho2": value})
    spec = {
        "description": f"Reliability against the number of topics, {len(measures)} measures, studied with {studied} "
        f"topics. The dotted line is {wanted:g}.",
        "width": 380,
        "height": 260,
        "layer": [
            {
                "mark": {"type": "rule", "strokeDash": [2, 3], "color": theme.quiet()},
                "encoding": {"y": {"datum": wanted}},
            },
            {"mark": {"type": "rule", "color": theme.quiet()}, "encoding": {"x": {"datum": studied}}},
            {
                "mark": {"type": "line", "tooltip": True},
                "encoding": {
                    "x": {"field": "topics", "type": "quantitative", "title": "topics"},
                    "y": {"field": "erho2", "type": "quantitative", "title": "E rho^2", "scale": {"zero": False}},
                    "color": theme.colour("measure", measures),
                    "strokeDash": theme.dash("measure", measures),
                },
            },
        ],
    }
    return side_by_side(points, spec)
