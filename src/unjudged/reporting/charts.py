"""The pieces of charts under their old name (they are in `figures.marks` now)."""

from __future__ import annotations

from unjudged.figures.marks import (
    LINES,
    PERCENT,
    SPARSE,
    Spec,
    by_measure,
    chart,
    field,
    line_at,
    names,
    rows_high,
    shades,
    tips,
)
from unjudged.figures.theme import BLUE, GREEN, GREY, ORANGE, PALE, SKY, VERMILION

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "LINES",
    "ORANGE",
    "PALE",
    "PERCENT",
    "SKY",
    "SPARSE",
    "VERMILION",
    "Spec",
    "by_measure",
    "chart",
    "field",
    "line_at",
    "names",
    "rows_high",
    "shades",
    "tips",
]
