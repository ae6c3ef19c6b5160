"""Unjudged documents by run and rank: the darker a field, the more of the documents there were never judged."""

from __future__ import annotations

from unjudged.figures._figure import Figure
from unjudged.figures.marks import SPARSE, field, names, shades, tips
from unjudged.figures.records import distinct, records, side_by_side
from unjudged.results import Result


def holes(result: Result) -> Figure:
    """One row per run, best first; a column is a range of ranks."""
    rows = records(result)
    runs = distinct(rows, "run")
    ranks = names("ranks", distinct(rows, "ranks"), "ranks")
    spec = {
        "description": f"Share of unjudged documents of {len(runs)} runs by rank; the darker, the more.",
        "transform": [{"filter": "isValid(datum.share_unjudged)"}],
        "width": 480,
        "height": {"step": 15},
        "mark": {"type": "rect"},
        "encoding": {
            "x": {**ranks, "axis": {**SPARSE, "labelAngle": 0}},
            "y": names("run", runs),
            "color": field("share_unjudged", title="share unjudged", scale=shades(), legend={"format": ".0%"}),
            "tooltip": tips("run", "team", "ranks", "documents", "unjudged", ("share_unjudged", ".1%")),
        },
    }
    return Figure(side_by_side(rows, spec))
