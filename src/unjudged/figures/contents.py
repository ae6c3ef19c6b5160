"""What is in a collection: the judged documents of every topic by grade."""

from __future__ import annotations

from typing import Any

from unjudged.figures import marks
from unjudged.figures._figure import Figure
from unjudged.figures.records import Records, distinct, records, side_by_side
from unjudged.results import Result

NAMED = 60
"""So many topics can be named under their columns."""


def contents(result: Result) -> Figure:
    """A column per topic: its judged documents by grade."""
    return Figure(grade_columns(records(result)))


def grade_columns(rows: Records) -> dict[str, Any]:
    """Topics as the table lists them: most relevant documents first."""
    topics = distinct(rows, "topic")
    spec = {
        "description": f"Judged documents of {len(topics)} topics by grade, the topic with most relevant ones first.",
        "width": 640,
        "height": 220,
        "mark": {"type": "bar"},
        "encoding": {
            "x": {
                **marks.names("topic", topics, "topic"),
                "axis": {**marks.SPARSE, "labels": len(topics) <= NAMED, "labelAngle": -90, "ticks": False},
            },
            "y": marks.field("documents", title="judged documents", stack="zero"),
            "color": marks.field("grade", "ordinal", scale={"scheme": "cividis", "reverse": True}),
            "order": {"field": "grade", "type": "quantitative", "sort": "descending"},
            "tooltip": marks.tips("topic", "grade", "documents"),
        },
    }
    return side_by_side(rows, spec)
