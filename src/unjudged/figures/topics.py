"""Two runs topic by topic: a bar per topic, to the right where the first run scores higher."""

from __future__ import annotations

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import records
from unjudged.results import Result


def topics(result: Result) -> Figure:
    """The differences, largest first."""
    rows = records(result)
    first = rows[0] if rows else {"run_a": "", "run_b": "", "measure": ""}
    return Figure(
        {
            "description": f"Difference in {first['measure']} between {first['run_a']} and {first['run_b']} on "
            f"{len(rows)} topics; bars to the right: {first['run_a']} scores higher.",
            "data": {"values": rows},
            "width": 480,
            "height": {"step": 12},
            "mark": {"type": "bar", "color": theme.BLUE, "tooltip": True},
            "encoding": {
                "x": {"field": "difference", "type": "quantitative", "title": f"difference in {first['measure']}"},
                "y": {"field": "topic", "type": "nominal", "sort": [row["topic"] for row in rows], "title": None},
                "tooltip": [{"field": f} for f in ("topic", "a", "b", "difference")],
            },
        }
    )
