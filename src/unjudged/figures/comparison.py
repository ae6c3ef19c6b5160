"""Comparisons of runs: differences with their intervals, a map of who beats whom, and the order of the winners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.marks import SPARSE, field, names, tips
from unjudged.figures.records import Records, distinct, records, side_by_side
from unjudged.results import Result

MOST_PAIRS = 60
"""Pairs shown with their intervals; of more, those with the largest differences."""

MOST_RUNS = 60
"""Runs shown in the map of pairs; of more, the best."""

TOLD = {
    "better": ("+ better", "+", theme.BLUE),
    "same": ("= same", "=", theme.SKY),
    "topics": ("cannot tell: topics", "", theme.PALE),
    "holes": ("? cannot tell: holes", "?", theme.ORANGE),
}
"""What a field of the map says: the words of the legend, the sign in the field, its colour."""


def _decided(row: dict[str, Any]) -> bool:
    return row["outcome"] in ("better", "worse")


def differences(result: Result) -> Figure:
    """A dot per pair, a line for its interval, a panel per measure; decided ones in full colour; 0 has a line."""
    rows = records(result)
    measures = distinct(rows, "measure")
    size: dict[tuple[str, str], float] = {}
    for row in rows:
        pair = row["run_a"], row["run_b"]
        size[pair] = max(size.get(pair, 0.0), abs(row["difference"]))
    kept = set(sorted(size, key=lambda pair: -size[pair])[:MOST_PAIRS])
    points = [
        {**row, "pair": f"{row['run_a']} - {row['run_b']}", "decided": _decided(row)}
        for row in rows
        if (row["run_a"], row["run_b"]) in kept
    ]
    cut = f" The {MOST_PAIRS} pairs with the largest differences are shown." if len(size) > MOST_PAIRS else ""
    x = {"type": "quantitative", "title": "difference of means"}
    y = names("pair", distinct(points, "pair"))
    filled = {"condition": {"test": "datum.decided", "value": 1}, "value": 0.25}
    shown = ("pair", "difference", "low", "high", "p_adjusted", "wins", "ties", "losses", "outcome", "why")
    several = "collection" in rows[0] if rows else False
    panels = {"row": {"field": "collection", "type": "nominal", "title": None}} if several else {}
    return Figure(
        {
            "description": f"Differences of {len(size)} pairs of runs with their intervals, {len(measures)} measures; "
            f"{sum(map(_decided, rows))} of {len(rows)} differences have a direction (full colour).{cut}",
            "data": {"values": points},
            "facet": {"column": {"field": "measure", "type": "nominal", "sort": measures, "title": None}, **panels},
            "spec": {
                "width": 260,
                "height": {"step": 18},
                "layer": [
                    {"mark": {"type": "rule", "color": theme.quiet()}, "encoding": {"x": {"datum": 0}}},
                    {
                        "mark": {"type": "rule", "color": theme.BLUE},
                        "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "opacity": filled},
                    },
                    {
                        "mark": {"type": "point", "color": theme.BLUE, "tooltip": True},
                        "encoding": {
                            "x": {**x, "field": "difference"},
                            "y": y,
                            "opacity": filled,
                            "tooltip": [{"field": name} for name in shown],
                        },
                    },
                ],
            },
        }
    )


def map_of_pairs(measure: str) -> Callable[[Result], Figure]:
    """Runs against runs in one measure, the best 60: the one with the higher mean in the row, and the outcome."""

    def draw(result: Result) -> Figure:
        rows = records(result)
        here = [row for row in rows if row["measure"] == measure]
        order = _by_mean(here)
        runs = order[:MOST_RUNS]
        many = {key: sum(_said(row) == key for row in here) for key in TOLD}
        said = {"better": "have a direction", "same": "are the same", "topics": "need more topics"}
        said["holes"] = "hang on unjudged documents"
        told = ", ".join(f"{many[key]} {said[key]}" for key in TOLD if many[key])
        cut = f" The best {MOST_RUNS} runs are shown." if len(order) > MOST_RUNS else ""
        domain = [words for words, _, _ in TOLD.values()]
        x = {**names("other", runs, "other run"), "axis": {**SPARSE, "labelAngle": -90, "labelLimit": 80}}
        y = {**names("higher", runs, "run with the higher mean"), "axis": SPARSE}
        colour = field("told", "nominal", "the run in the row is")
        colour["scale"] = {"domain": domain, "range": [colour for _, _, colour in TOLD.values()]}
        shown = tips("higher", "other", ("difference", ".4f"), ("p_adjusted", ".4f"), "outcome", "why")
        layers = [
            {
                "mark": {"type": "rect", "stroke": theme.GREY, "strokeWidth": 0.3},
                "encoding": {"x": x, "y": y, "color": colour, "tooltip": shown},
            },
            {
                "mark": {"type": "text", "fontSize": 10, "color": "#000000", "aria": False},
                "encoding": {"x": x, "y": y, "text": {"field": "sign"}},
            },
        ]
        spec = {
            "description": f"Pairs of {len(runs)} runs by {measure}: {told}.{cut}",
            "transform": _fields(measure, runs),
            "width": 560,
            "height": max(200, 14 * len(runs)),
            "layer": layers,
        }
        return Figure(side_by_side(rows, spec))

    return draw


def _said(row: dict[str, Any]) -> str:
    """The key of TOLD for a pair."""
    return str(row["why"] or ("better" if _decided(row) else row["outcome"]))


def _by_mean(rows: Records) -> list[str]:
    """The runs of one measure, best first: as every run has a pair with one of them, differences tell the order."""
    pairs = [(row["run_a"], row["run_b"], row["difference"]) for row in rows]
    runs = list(dict.fromkeys(run for a, b, _ in pairs for run in (a, b)))
    with_all = max(runs, key=lambda run: sum(run in pair[:2] for pair in pairs), default="")
    above = {with_all: 0.0}
    for a, b, difference in pairs:
        if b == with_all:
            above[a] = difference
        elif a == with_all:
            above[b] = -difference
    return sorted(runs, key=lambda run: (-above.get(run, 0.0), run))


def _fields(measure: str, runs: list[str]) -> list[dict[str, Any]]:
    """What the map computes from the rows of the table: the fields of this measure and of these runs."""
    known = {
        key: "{" + ", ".join(f"'{k}': '{v[i]}'" for k, v in TOLD.items()) + "}"
        for i, key in enumerate(("told", "sign"))
    }
    key = "[datum.why || (datum.outcome == 'worse' ? 'better' : datum.outcome)]"
    return [
        {"filter": {"field": "measure", "equal": measure}},
        {"filter": {"and": [{"field": "run_a", "oneOf": runs}, {"field": "run_b", "oneOf": runs}]}},
        {"calculate": "datum.difference < 0 ? datum.run_b : datum.run_a", "as": "higher"},
        {"calculate": "datum.difference < 0 ? datum.run_a : datum.run_b", "as": "other"},
        *({"calculate": known[name] + key, "as": name} for name in known),
    ]


def winners(measure: str, alpha: float) -> Callable[[Result], Figure]:
    """Means with their intervals, best first; colour and shape say the outcome against the best."""

    def draw(result: Result) -> Figure:
        rows = records(result)
        domain = ["best", "same", "cannot tell", "worse"]
        colour = field("outcome", "nominal", "against the best")
        shape = {**colour, "scale": {"domain": domain, "range": ["diamond", "triangle-up", "circle", "square"]}}
        colour["scale"] = {"domain": domain, "range": [theme.VERMILION, theme.SKY, theme.ORANGE, theme.BLUE]}
        y = names("run", distinct(rows, "run"))
        shown = tips(
            *("run", "team", ("value", ".4f"), ("low", ".4f"), ("high", ".4f"), ("p_adjusted", ".4f"), "outcome", "why")
        )
        common = {"y": y, "color": colour, "tooltip": shown}
        spec = {
            "description": f"Mean {measure} of {len(rows)} runs with {100 * (1 - alpha):g} % intervals, best first",
            "width": 480,
            "height": max(120, 15 * len(rows)),
            "layer": [
                {
                    "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.6},
                    "encoding": {
                        "x": field("low", title=measure, scale={"zero": False}),
                        "x2": {"field": "high"},
                        **common,
                    },
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                    "encoding": {"x": field("value", title=measure), "shape": shape, **common},
                },
            ],
        }
        return Figure(side_by_side(rows, spec))

    return draw
