"""Pieces that many charts are put together from: encodings, tooltips, axes, legends, a line with its meaning.

Colours and axes are those of all charts (`theme`); no chart tells anything by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unjudged.figures import theme

Spec = dict[str, Any]


def field(name: str, kind: str = "quantitative", title: str | None = None, **more: Any) -> Spec:
    """An encoding of one column."""
    return {"field": name, "type": kind, "title": name.replace("_", " ") if title is None else title, **more}


LINES: Spec = {"symbolType": "stroke", "symbolSize": 260, "symbolStrokeWidth": 2}
"""A legend of lines: colour and dashes as drawn."""

PERCENT: Spec = {"format": ".0%", "tickCount": 6}
"""An axis of shares."""

SPARSE: Spec = {"labelOverlap": "greedy"}
"""An axis of names that leaves labels out where there is no room for all of them."""


def by_measure(order: Sequence[str]) -> Spec:
    """A line per measure, told apart by colour and dashes."""
    which = field("measure", "nominal", scale={"domain": list(order)}, legend=LINES)
    return {"color": which, "strokeDash": which}


def tips(*columns: str | tuple[str, str]) -> list[Spec]:
    """What the tooltip shows: columns, with a number format where one is given."""
    shown = []
    for column in columns:
        name, form = column if isinstance(column, tuple) else (column, "")
        kind = {"type": "quantitative", "format": form} if form else {"type": "nominal"}
        shown.append({"field": name, "title": name.replace("_", " "), **kind})
    return shown


def names(column: str, order: Sequence[str], title: str = "") -> Spec:
    """Names along an axis, in this order."""
    return {"field": column, "type": "nominal", "title": title or None, "sort": list(order)}


def rows_high(count: int, least: int = 120) -> int:
    """Height for so many named rows."""
    return max(15 * count, least)


def shades(domain: Sequence[float] = (0, 1)) -> Spec:
    """Amounts from little (light) to much (dark)."""
    return {"scheme": theme.AMOUNT, "domain": list(domain), "reverse": True}


def line_at(value: float, text: str, axis: str = "y") -> list[Spec]:
    """A dashed line with its meaning written at it."""
    other = {"x": {"value": 4}} if axis == "y" else {"y": {"value": 8}}
    place = {"align": "left", "dy": -6} if axis == "y" else {"align": "left", "dx": 5}
    here = {axis: {"datum": value}}
    one: Spec = {"values": [{}]}
    quiet = {"aria": False}
    return [
        {
            "data": one,
            "mark": {**quiet, "type": "rule", "strokeDash": [5, 4], "color": theme.quiet("page")},
            "encoding": here,
        },
        {"data": one, "mark": {**quiet, "type": "text", "text": text, **place}, "encoding": {**here, **other}},
    ]
