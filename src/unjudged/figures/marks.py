"""Pieces that charts are put together from: columns on channels, tooltips, layers, panels, a line with its meaning.

Colours and axes are those of all charts (`theme`); no chart tells anything by colour alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import Records, distinct, side_by_side
from unjudged.spelling import short_names

Spec = dict[str, Any]

LINES: Spec = {"symbolType": "stroke", "symbolSize": 260, "symbolStrokeWidth": 2}
"""A legend of lines: colour and dashes as drawn."""

PERCENT: Spec = {"format": ".0%", "tickCount": 6}
"""An axis of shares."""

SPARSE: Spec = {"labelOverlap": "greedy"}
"""An axis of names that leaves labels out where there is no room for all of them."""

UPRIGHT: Spec = {"labelAngle": 0}
"""An axis whose labels are not turned."""


# -- columns on channels


def field(name: str, kind: str = "quantitative", title: str | None = None, **more: Any) -> Spec:
    """An encoding of one column."""
    return {"field": name, "type": kind, "title": name.replace("_", " ") if title is None else title, **more}


def names(column: str, order: Sequence[str], title: str = "") -> Spec:
    """Names along an axis, in this order."""
    return {"field": column, "type": "nominal", "title": title or None, "sort": list(order)}


def short_labels(known: Sequence[str]) -> Spec:
    """Labels of an axis of measures: short names, where the spellings are long."""
    shorter = short_names(known)
    return {"labelExpr": f"({json.dumps(shorter)})[datum.label] || datum.label"} if shorter else {}


def tips(*columns: str | tuple[str, str]) -> list[Spec]:
    """What the tooltip shows: columns, with a number format where one is given."""
    shown = []
    for column in columns:
        name, form = column if isinstance(column, tuple) else (column, "")
        kind = {"type": "quantitative", "format": form} if form else {"type": "nominal"}
        shown.append({"field": name, "title": name.replace("_", " "), **kind})
    return shown


def as_it_is(*columns: str) -> list[Spec]:
    """A tooltip of columns as the table has them."""
    return [{"field": column} for column in columns]


def rank_axis(last: int) -> Spec:
    """Ranks from the top down, from 1 to the last, whole numbers only; 1 is always told."""
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 10**9) if last / s <= 12)
    told = [1, *(rank for rank in range(step, last + 1, step) if rank > 1)]
    scale = {"reverse": True, "zero": False, "nice": False, "domain": [1, max(last, 2)]}
    return field("rank", scale=scale, axis={"values": told, "format": "d"})


# -- layers


def layer(kind: str, look: Spec | None = None, **channels: Any) -> Spec:
    """One layer of a chart: the kind of mark, how it looks, and what its channels show."""
    return {"mark": {"type": kind, **(look or {})}, "encoding": channels}


def rule_at(axis: str, value: float, dash: Sequence[int] = ()) -> Spec:
    """A quiet line across the chart, dashed where told."""
    dashed = {"strokeDash": list(dash)} if dash else {}
    return layer("rule", {**dashed, "color": theme.quiet()}, **{axis: {"datum": value}})


def line_at(value: float, text: str) -> list[Spec]:
    """A dashed line across the chart with its meaning written at it."""
    there: Spec = {"y": {"datum": value}}
    one: Spec = {"data": {"values": [{}]}}
    dashed = {"aria": False, "type": "rule", "strokeDash": [5, 4], "color": theme.quiet("page")}
    said = {"aria": False, "type": "text", "text": text, "align": "left", "dy": -6}
    return [{**one, "mark": dashed, "encoding": there}, {**one, "mark": said, "encoding": {**there, "x": {"value": 4}}}]


def lines_with_points(
    column: str, known: list[str], tooltip: list[Spec], dash: Spec | None = None, **channels: Any
) -> list[Spec]:
    """A line per name of a column with a point at each value: told apart by colour, dashes (or `dash`) and shapes."""
    both = {**channels, "color": theme.colour(column, known)}
    return [
        layer("line", **both, strokeDash=dash or theme.dash(column, known)),
        layer("point", {"tooltip": True}, **both, shape=theme.shape(column, known), tooltip=tooltip),
    ]


def before_and_after(before: str, after: str, title: str, **common: Any) -> list[Spec]:
    """An open circle before, a filled one after, and the way between them."""

    def at(column: str) -> Spec:
        return field(column, title=title, scale={"zero": False})

    way = {"strokeWidth": 2, "color": theme.GREY}
    return [
        layer("rule", way, x=at(before), **common, x2={"field": after}),
        layer("point", {"filled": False, "color": theme.BLUE, "size": 50}, x=at(before), **common),
        layer("point", {"color": theme.VERMILION, "opacity": 1, "size": 40}, x=at(after), **common),
    ]


# -- charts


def chart(rows: Records, description: str, *layers: Spec, width: Any = 380, height: Any = 260, **more: Any) -> Figure:
    """A chart of these rows, once for each collection where there are several; `more`: what else Vega-Lite is told."""
    size = {"width": width, "height": height}
    return Figure(side_by_side(rows, {"description": description, **more, **size, **_drawn(layers)}))


def panels(
    rows: Records,
    description: str,
    beside: Spec,
    *layers: Spec,
    width: int,
    height: Any,
    below: Spec | None = None,
    wrapped: int | None = None,
    **more: Any,
) -> Figure:
    """A chart for each value of the encoding `beside`, and of `below`: the collections where there are several.

    `wrapped`: so many stand in a line where nothing stands below; `more` is what else Vega-Lite is told.
    """
    if below is None and rows and "collection" in rows[0]:
        below = names("collection", distinct(rows, "collection"))
    facet: Spec = {"facet": {"column": beside, **({"row": below} if below else {})}}
    if wrapped is not None and below is None:
        facet = {"facet": beside, "columns": wrapped}
    spec = {"width": width, "height": height, **_drawn(layers)}
    return Figure({"description": description, "data": {"values": rows}, **more, **facet, "spec": spec})


def _drawn(layers: Sequence[Spec]) -> Spec:
    """Several layers, or the only one."""
    return layers[0] if len(layers) == 1 else {"layer": list(layers)}
