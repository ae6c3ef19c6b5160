"""Drawings of the page: rows, curves and matrices as plain HTML and SVG, which need no scripts to be seen.

`shapes` are the pieces, `answers` the drawing of every question made from them. The numbers are the study's.
"""

from __future__ import annotations

from unjudged.reporting.drawings.answers import drawing_of, drawn_columns
from unjudged.reporting.drawings.shapes import Drawing

__all__ = ["Drawing", "drawing_of", "drawn_columns"]
