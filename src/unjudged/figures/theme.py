"""The look of all charts: colours that hold for every eye and in print, calm axes, light and dark.

Okabe-Ito for categories, cividis for amounts, blue-orange for signed change; never red against green.
Lines also differ in dash and points in shape, so that a chart reads in grey. A chart on the page of the report takes
the colour of the text around it (`currentColor`), so that one drawing fits light, dark and print.
"""

from __future__ import annotations

from typing import Any, Literal

from unjudged.spelling import is_condensed, ordinary

Mode = Literal["light", "dark"]
Place = Literal["light", "dark", "page"]

BLUE, ORANGE, GREEN, PINK, SKY, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
OKABE_ITO = (BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, "#000000")
"""Okabe and Ito's colours without their yellow, which white paper swallows."""
HUES = OKABE_ITO[:6]
"""Those that light and dark paper both show."""
ON_DARK = (SKY, ORANGE, GREEN, PINK, BLUE, VERMILION, "#FFFFFF")
GREY = "#8c8c8c"
"""Things that stay as they are: visible on light and on dark paper."""
PALE = "#d9d9d9"
"""Fields that say nothing."""
ON_PALE, ON_STRONG = "#1b1b1b", "#ffffff"
"""Text on pale and on strong colours of a map, the same on light and dark paper."""
DASHES = ([1, 0], [6, 2], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [10, 2], [3, 1])
FULL, DASHED = ([1, 0], [12, 2], [16, 2, 2, 2]), ([4, 3], [2, 2], [6, 3, 1, 3])
"""Ordinary measures, and condensed ones; the further ones where more than six measures share the colours."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
AMOUNT = "cividis"
SIGNED = "blueorange"
FONT = {
    "light": "Helvetica, Arial, sans-serif",
    "dark": "Helvetica, Arial, sans-serif",
    "page": "system-ui, sans-serif",
}


def ink(mode: Place = "light") -> str:
    """Colour of text and of the one thing that stands out."""
    return {"light": "#1b1b1b", "dark": "#f2f2f2", "page": "currentColor"}[mode]


def quiet(mode: Place = "light") -> str:
    """Colour of guides; text in it keeps 4.5:1 against the paper (on the page no text has it)."""
    return {"light": "#5f5f5f", "dark": "#b5b5b5", "page": GREY}[mode]


def paper(mode: Place = "light") -> str:
    """Colour behind the chart."""
    return {"light": "#ffffff", "dark": "#16181b", "page": "transparent"}[mode]


def config(mode: Place = "light") -> dict[str, Any]:
    """Vega-Lite's `config` of every chart; on the page of the report legends stand on top, to save width."""
    grid = {"light": "#e3e3e3", "dark": "#33363a", "page": "rgba(140, 140, 140, 0.25)"}[mode]
    text = {"labelColor": ink(mode), "titleColor": ink(mode), "labelFontSize": 11, "titleFontSize": 12}
    label = {"labelLimit": 220} if mode != "page" else {"labelLimit": 170, "titleFontWeight": "normal"}
    legend = {"labelLimit": 220} if mode != "page" else {"labelLimit": 240, "orient": "top"}
    return {
        "background": paper(mode),
        "font": FONT[mode],
        "axis": {**text, "gridColor": grid, "domainColor": quiet(mode), "tickColor": quiet(mode), **label},
        "legend": {**text, "symbolStrokeWidth": 2, "symbolOpacity": 1, **legend},
        "title": {"color": ink(mode), "fontSize": 13, "anchor": "start", "subtitleColor": quiet(mode)},
        "header": {**text},
        "text": {"color": ink(mode), "fontSize": 11},
        "view": {"stroke": None},
        "line": {"strokeWidth": 2},
        "point": {"size": 45, "filled": True},
        "range": {
            "category": list({"light": OKABE_ITO, "dark": ON_DARK, "page": OKABE_ITO[:6]}[mode]),
            "ramp": {"scheme": AMOUNT},
            "heatmap": {"scheme": AMOUNT},
            "diverging": {"scheme": SIGNED},
        },
    }


def colour(field: str, names: list[str], *, title: str | None = None) -> dict[str, Any]:
    """Categories by colour; more than seven share colours and differ in dash and shape.

    A condensed measure has the colour of the ordinary one (AP' that of AP): hue says which measure, dashes say how
    unjudged documents count.
    """
    scale: dict[str, Any] = {"domain": names}
    if _paired(field, names):
        scale["range"] = [HUES[hue % len(HUES)] for hue, _ in _styles(names)]
    return {"field": field, "type": "nominal", "sort": names, "title": title, "scale": scale}


def dash(field: str, names: list[str], *, title: str | None = None) -> dict[str, Any]:
    """The same categories by dash, in the same legend: ordinary measures in full lines, condensed ones dashed."""
    steps = [DASHES[_step(i)] for i in range(len(names))]
    if _paired(field, names):
        steps = [(DASHED if condensed else FULL)[hue // len(HUES) % 3] for hue, condensed in _styles(names)]
    return {**colour(field, names, title=title), "scale": {"domain": names, "range": steps}}


def shape(field: str, names: list[str], *, title: str | None = None) -> dict[str, Any]:
    """The same categories by shape, in the same legend."""
    marks = [SHAPES[_step(i)] for i in range(len(names))]
    return {**colour(field, names, title=title), "scale": {"domain": names, "range": marks}}


def _paired(field: str, names: list[str]) -> bool:
    """Are these measures, condensed ones among them?"""
    return field == "measure" and any(map(is_condensed, names))


def _styles(names: list[str]) -> list[tuple[int, bool]]:
    """Of each measure: the number of its hue, and whether it is condensed."""
    hues = {name: hue for hue, name in enumerate(dict.fromkeys(map(ordinary, names)))}
    return [(hues[ordinary(name)], is_condensed(name)) for name in names]


def _step(i: int) -> int:
    """Names that share a colour differ here."""
    round_, place = divmod(i, len(OKABE_ITO))
    return (3 * round_ + place) % len(DASHES)
