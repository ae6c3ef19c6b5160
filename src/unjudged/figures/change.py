"""Scores of runs before and after a change: a line from the open to the filled circle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import records
from unjudged.results import Result


def change(measure: str) -> Callable[[Result], Figure]:
    """One row per run, best first before the change."""

    def draw(result: Result) -> Figure:
        rows = records(result)
        names = [row["run"] for row in rows]
        y = {"field": "run", "type": "nominal", "sort": names, "title": None}
        tips = [{"field": f} for f in ("run", "team", "before", "after", "rank_before", "rank_after")]

        def layer(mark: dict[str, Any], x: str, **more: Any) -> dict[str, Any]:
            place = {"field": x, "type": "quantitative", "title": measure, "scale": {"zero": False}}
            return {"mark": mark, "encoding": {"x": place, "y": y, "tooltip": tips, **more}}

        return Figure(
            {
                "description": f"{measure} of {len(rows)} runs before (open) and after (filled) the change.",
                "data": {"values": rows},
                "width": 480,
                "height": {"step": 15},
                "layer": [
                    layer({"type": "rule", "strokeWidth": 2, "color": theme.GREY}, "before", x2={"field": "after"}),
                    layer({"type": "point", "filled": False, "color": theme.BLUE, "size": 50}, "before"),
                    layer({"type": "point", "filled": True, "color": theme.VERMILION, "size": 40}, "after"),
                ],
            }
        )

    return draw
