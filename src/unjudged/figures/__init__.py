"""Charts: pure functions from rows to Vega-Lite dicts, one per figure of the studies; `Figure` shows and saves."""

from __future__ import annotations

from unjudged.figures._figure import ENDINGS, SCHEMA, Figure

__all__ = ["ENDINGS", "SCHEMA", "Figure"]
