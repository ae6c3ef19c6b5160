"""Stability: minority rate against the share of ties, a line per measure over the fuzziness (Buckley 2000)."""

from __future__ import annotations

from typing import Any

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import Records, distinct, records, side_by_side
from unjudged.results import Result


def stability(result: Result) -> Figure:
    """Minority rate against ties."""
    return Figure(stability_lines(records(result)))


def stability_lines(rows: Records) -> dict[str, Any]:
    """The nearer a line to the lower left corner, the better the measure."""
    measures = distinct(rows, "measure")
    x = {"field": "ties", "type": "quantitative", "title": "share of ties", "axis": {"format": "%"}}
    y = {"field": "minority_rate", "type": "quantitative", "title": "minority rate", "axis": {"format": "%"}}
    encoding = {"x": x, "y": y, "color": theme.colour("measure", measures), "order": {"field": "fuzziness"}}
    lowest = min(rows, key=lambda row: row["minority_rate"])
    spec = {
        "description": f"Minority rate against the share of ties, {len(measures)} measures, a point per fuzziness; the "
        f"lowest minority rate is {100 * lowest['minority_rate']:.1f}% ({lowest['measure']}). Lower left is better.",
        "width": 380,
        "height": 260,
        "layer": [
            {"mark": {"type": "line"}, "encoding": {**encoding, "strokeDash": theme.dash("measure", measures)}},
            {
                "mark": {"type": "point", "tooltip": True},
                "encoding": {
                    **encoding,
                    "shape": theme.shape("measure", measures),
                    "tooltip": [{"field": f} for f in ("measure", "fuzziness", "minority_rate", "ties")],
                },
            },
        ],
    }
    return side_by_side(rows, spec)
