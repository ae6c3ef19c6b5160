"""The charts of the report as Vega-Lite dicts. Their data is called `table`: the section's own table.

Text takes the colour of the page (`currentColor`), so that one drawing fits light, dark and print. Colours are
Okabe and Ito's, cividis for amounts; no chart tells anything by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Spec = dict[str, Any]

BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8c8c8c",
)  # fmt: skip

_QUIET = "#8c8c8c"

CONFIG: Spec = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "axis": {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "domainColor": _QUIET,
        "tickColor": _QUIET,
        "gridColor": _QUIET,
        "gridOpacity": 0.25,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 170,
    },
    "legend": {"labelColor": "currentColor", "titleColor": "currentColor", "orient": "top", "labelLimit": 240},
    "header": {"labelColor": "currentColor", "titleColor": "currentColor"},
    "text": {"color": "currentColor", "fontSize": 11},
    "view": {"stroke": None},
    "range": {"category": [BLUE, ORANGE, GREEN, PINK, SKY, VERMILION]},
}


def chart(description: str, height: int, **parts: Any) -> Spec:
    """A chart as wide as its place on the page."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "description": description,
        "data": {"name": "table"},
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": CONFIG,
        **parts,
    }


def field(name: str, kind: str = "quantitative", title: str | None = None, **more: Any) -> Spec:
    """An encoding of one column."""
    return {"field": name, "type": kind, "title": name.replace("_", " ") if title is None else title, **more}


def tips(*columns: str | tuple[str, str]) -> list[Spec]:
    """What the tooltip shows: columns, with a number format where one is given."""
    shown = []
    for column in columns:
        name, form = column if isinstance(column, tuple) else (column, "")
        kind = {"type": "quantitative", "format": form} if form else {"type": "nominal"}
        shown.append({"field": name, "title": name.replace("_", " "), **kind})
    return shown


def names(column: str, order: Sequence[str], title: str = "") -> Spec:
    """Names down the side, in this order."""
    return {"field": column, "type": "nominal", "title": title or None, "sort": list(order)}


def rows_high(count: int, least: int = 120) -> int:
    """Height for so many named rows."""
    return max(15 * count, least)


def shades(domain: Sequence[float] = (0, 1)) -> Spec:
    """Amounts from little (light) to much (dark)."""
    return {"scheme": "cividis", "domain": list(domain), "reverse": True}


def colours(**named: str) -> Spec:
    """A colour for each name (underscores read as spaces)."""
    return {"domain": [name.replace("_", " ") for name in named], "range": list(named.values())}


def line_at(value: float, text: str, axis: str = "y") -> list[Spec]:
    """A dashed line with its meaning written at it."""
    other = {"x": {"value": 4}} if axis == "y" else {"y": {"value": 8}}
    place = {"align": "left", "dy": -6} if axis == "y" else {"align": "left", "dx": 5}
    here = {axis: {"datum": value}}
    one: Spec = {"values": [{}]}
    quiet = {"aria": False}
    return [
        {"data": one, "mark": {**quiet, "type": "rule", "strokeDash": [5, 4], "color": _QUIET}, "encoding": here},
        {"data": one, "mark": {**quiet, "type": "text", "text": text, **place}, "encoding": {**here, **other}},
    ]
