"""Discriminative power: bars per measure, and the curve of p values (Sakai 2006)."""

from __future__ import annotations

from typing import Any

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import Records, distinct, records, side_by_side
from unjudged.results import Result


def power(result: Result) -> Figure:
    """Share of significant pairs per measure."""
    return Figure(power_bars(records(result)))


def significance(result: Result) -> Figure:
    """All p values of a measure, largest first."""
    return Figure(significance_curves(records(result)))


def power_bars(rows: Records) -> dict[str, Any]:
    """Share of significant pairs per measure, most first."""
    ranked = sorted(rows, key=lambda row: -(row["power"] or 0))
    spec = {
        "description": "Share of run pairs told apart: "
        + ", ".join(f"{r['measure']} {100 * r['power']:.1f}%" for r in ranked[:10])
        + ".",
        "width": 380,
        "height": {"step": 20},
        "layer": [
            {
                "mark": {"type": "bar", "color": theme.BLUE, "tooltip": True},
                "encoding": {
                    "x": {
                        "field": "power",
                        "type": "quantitative",
                        "axis": {"format": "%"},
                        "title": "pairs told apart",
                    },
                    "y": {"field": "measure", "type": "nominal", "sort": "-x", "title": None},
                    "tooltip": [{"field": f} for f in ("measure", "significant", "pairs", "required_difference")],
                },
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 4},
                "encoding": {
                    "x": {"field": "power", "type": "quantitative"},
                    "y": {"field": "measure", "type": "nominal", "sort": "-x"},
                    "text": {"field": "power", "format": ".1%"},
                },
            },
        ],
    }
    return side_by_side(rows, spec)


def significance_curves(rows: Records) -> dict[str, Any]:
    """Achieved significance levels sorted from large to small, a line per measure."""
    measures = distinct(rows, "measure")
    groups: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row.get("collection"), row["measure"]), []).append(row)
    points: Records = []
    for group in groups.values():
        for i, row in enumerate(sorted(group, key=lambda r: -(r["p_value"] or 0))):
            kept: dict[str, Any] = {k: row[k] for k in ("collection", "measure", "p_value") if k in row}
            points.append({**kept, "pair": i + 1})
    spec = {
        "description": f"p values of all pairs of runs, largest first, {len(measures)} measures; the further left a "
        "line falls, the more pairs the measure tells apart.",
        "width": 380,
        "height": 260,
        "mark": {"type": "line"},
        "encoding": {
            "x": {"field": "pair", "type": "quantitative", "title": "run pairs, by p value"},
            "y": {"field": "p_value", "type": "quantitative", "title": "p value"},
            "color": theme.colour("measure", measures),
            "strokeDash": theme.dash("measure", measures),
        },
    }
    return side_by_side(points, spec)
