"""How far scores could move: a bar from the lowest to the highest score, and a dot at the score as it is."""

from __future__ import annotations

from collections.abc import Callable

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.marks import field, names, tips
from unjudged.figures.records import distinct, records, side_by_side
from unjudged.results import Result


def score_range(measure: str) -> Callable[[Result], Figure]:
    """One row per run, best first."""

    def draw(result: Result) -> Figure:
        rows = records(result)
        runs = distinct(rows, "run")
        same = {
            "y": names("run", runs),
            "tooltip": tips("run", "team", ("value", ".4f"), ("low", ".4f"), ("high", ".4f")),
        }
        dot = {"type": "point", "size": 45, "color": theme.BLUE, "stroke": "white", "strokeWidth": 1, "opacity": 1}
        low = field("low", title=measure, scale={"zero": False})
        spec = {
            "description": f"Lowest and highest {measure} of {len(runs)} runs that unjudged documents allow.",
            "width": 480,
            "height": {"step": 15},
            "layer": [
                {
                    "mark": {"type": "bar", "height": 7, "color": theme.SKY},
                    "encoding": {"x": low, "x2": {"field": "high"}, **same},
                },
                {"mark": dot, "encoding": {"x": field("value", title=measure), **same}},
            ],
        }
        return Figure(side_by_side(rows, spec))

    return draw
