"""Charts: Vega-Lite dicts made from the rows of a result; `Figure` shows and saves them.

`theme` holds colours and fonts, `marks` the pieces charts are put together from. The charts themselves stand in the
files of the studies they belong to.
"""

from __future__ import annotations

from unjudged.figures import marks, theme
from unjudged.figures._figure import ENDINGS, SCHEMA, Figure
from unjudged.figures.records import Records, distinct, records

__all__ = ["ENDINGS", "SCHEMA", "Figure", "Records", "distinct", "marks", "records", "theme"]
