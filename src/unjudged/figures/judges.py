"""Other judges: ranks of the runs under two judges, and the order of the runs under judging errors."""

from __future__ import annotations

from collections.abc import Callable

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.marks import PERCENT, by_measure, field, line_at, tips
from unjudged.figures.records import Records, distinct, records, side_by_side
from unjudged.results import Result

JUDGES = ("this judge", "the other judge")


def rank_lines(rows: Records, measure: str) -> Callable[[Result], Figure]:
    """A line per run, from its rank under these judgments to its rank under the other judge's.

    `rows`: run, first, second (ranks), and collection where there are several.
    """
    moved = sum(row["first"] != row["second"] for row in rows)
    points = [
        {**row, "judge": judge, "rank": row[side], "move": "same" if row["first"] == row["second"] else "moved"}
        for row in rows
        for judge, side in zip(JUDGES, ("first", "second"), strict=True)
    ]
    spec = {
        "description": f"Rank of {len(rows)} runs by {measure} under these judgments and under the other judge's; "
        f"{moved} change rank.",
        "width": 260,
        "height": 320,
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": field("judge", "ordinal", title="", sort=list(JUDGES), axis={"labelAngle": 0, "title": None}),
            "y": field("rank", scale={"reverse": True, "zero": False}, axis={"tickMinStep": 1, "format": "d"}),
            "detail": {"field": "run"},
            "color": {
                **field("move", "nominal", title="rank"),
                "scale": {"domain": ["same", "moved"], "range": [theme.GREY, theme.VERMILION]},
            },
            "tooltip": tips("run", "first", "second"),
        },
    }
    return lambda result: Figure(side_by_side(points, spec))


def noise(solid: float) -> Callable[[Result], Figure]:
    """Agreement of the order of the runs with the one here, by share of random errors, a line per measure."""

    def draw(result: Result) -> Figure:
        rows = records(result)
        measures = distinct(rows, "measure")
        tau = field("tau", title="tau", aggregate="mean", scale={"zero": False})
        shown = {"field": "tau", "aggregate": "mean", "format": ".3f", "title": "tau"}
        spec = {
            "description": f"Agreement (tau) of the order of the runs with the one here by {', '.join(measures)}, by "
            "share of relevant documents overlooked at random.",
            "transform": [{"filter": {"field": "kind", "equal": "random errors"}}],
            "width": 480,
            "height": 240,
            "layer": [
                {
                    "mark": {"type": "line", "point": True},
                    "encoding": {
                        "x": field("rate", title="share of relevant documents overlooked", axis=PERCENT),
                        "y": tau,
                        **by_measure(measures),
                        "tooltip": [*tips("measure", ("rate", ".0%")), shown],
                    },
                },
                *line_at(solid, f"solid from {solid:g}"),
            ],
        }
        return Figure(side_by_side(rows, spec))

    return draw
