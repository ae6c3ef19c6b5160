"""The look of all charts: colours that hold for every eye and in print, calm axes, light and dark.

Okabe-Ito for categories, cividis for amounts, blue-orange for signed change; never red against green.
Lines also differ in dash and points in shape, so that a chart reads in grey.
"""

from __future__ import annotations

from typing import Any, Literal

Mode = Literal["light", "dark"]

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
"""Okabe and Ito's colours without their yellow, which white paper swallows."""
ON_DARK = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#0072B2", "#D55E00", "#FFFFFF")
DASHES = ([1, 0], [6, 2], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [10, 2], [3, 1])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
AMOUNT = "cividis"
SIGNED = "blueorange"
FONT = "Helvetica, Arial, sans-serif"


def ink(mode: Mode = "light") -> str:
    """Colour of text and of the one thing that stands out."""
    return "#1b1b1b" if mode == "light" else "#f2f2f2"


def quiet(mode: Mode = "light") -> str:
    """Colour of guides; text in it keeps 4.5:1 against the paper."""
    return "#5f5f5f" if mode == "light" else "#b5b5b5"


def paper(mode: Mode = "light") -> str:
    """Colour behind the chart."""
    return "#ffffff" if mode == "light" else "#16181b"


def config(mode: Mode = "light") -> dict[str, Any]:
    """Vega-Lite's `config` of every chart."""
    grid = "#e3e3e3" if mode == "light" else "#33363a"
    text = {"labelColor": ink(mode), "titleColor": ink(mode), "labelFontSize": 11, "titleFontSize": 12}
    return {
        "background": paper(mode),
        "font": FONT,
        "axis": {**text, "gridColor": grid, "domainColor": quiet(mode), "tickColor": quiet(mode), "labelLimit": 220},
        "legend": {**text, "labelLimit": 220, "symbolStrokeWidth": 2, "symbolOpacity": 1},
        "title": {"color": ink(mode), "fontSize": 13, "anchor": "start", "subtitleColor": quiet(mode)},
        "header": {**text},
        "view": {"stroke": None},
        "line": {"strokeWidth": 2},
        "point": {"size": 45, "filled": True},
        "range": {
            "category": list(OKABE_ITO if mode == "light" else ON_DARK),
            "ramp": {"scheme": AMOUNT},
            "heatmap": {"scheme": AMOUNT},
            "diverging": {"scheme": SIGNED},
        },
    }


def colour(field: str, names: list[str], *, title: str | None = None) -> dict[str, Any]:
    """Categories by colour; more than seven share colours and differ in dash and shape."""
    return {"field": field, "type": "nominal", "sort": names, "title": title, "scale": {"domain": names}}


def dash(field: str, names: list[str], *, title: str | None = None) -> dict[str, Any]:
    """The same categories by dash, in the same legend."""
    steps = [DASHES[_step(i)] for i in range(len(names))]
    scale = {"domain": names, "range": steps}
    return {"field": field, "type": "nominal", "sort": names, "title": title, "scale": scale}


def shape(field: str, names: list[str], *, title: str | None = None) -> dict[str, Any]:
    """The same categories by shape, in the same legend."""
    marks = [SHAPES[_step(i)] for i in range(len(names))]
    scale = {"domain": names, "range": marks}
    return {"field": field, "type": "nominal", "sort": names, "title": title, "scale": scale}


def _step(i: int) -> int:
    """Names that share a colour differ here."""
    round_, place = divmod(i, len(OKABE_ITO))
    return (3 * round_ + place) % len(DASHES)
