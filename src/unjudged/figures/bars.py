"""The chart of a table that needs no other: a bar for each row, as long as its number."""

from __future__ import annotations

from collections.abc import Callable

from unjudged.errors import UsageError
from unjudged.figures import marks, theme
from unjudged.figures._figure import Figure
from unjudged.figures.records import records
from unjudged.results import Result
from unjudged.text import counted

MOST_BARS = 40
"""Rows that are drawn, the first of the table."""


def bars(
    value: str, *names: str, said: str, only: Callable[[str], bool] = lambda name: True
) -> Callable[[Result], Figure]:
    """A chart function: a bar for each row with a number in the column `value`.

    The columns `names` name it, joined; `only` says which names of the first of them are drawn, `said` what the bars
    show.
    """

    def drawn(result: Result) -> Figure:
        rows = [row for row in records(result) if row[value] is not None and only(str(row[names[0]]))]
        if not rows:
            raise UsageError(f"there is nothing to draw: no row has a number in the column {value}")
        kept = [
            {**row, "bar": " ".join(str(row[name]) for name in names if row[name] is not None)}
            for row in rows[:MOST_BARS]
        ]
        more = f" Of {len(rows)} rows the first {MOST_BARS} are shown." if len(rows) > MOST_BARS else ""
        bar = marks.layer(
            "bar",
            {"color": theme.BLUE, "height": 8},
            x=marks.field(value),
            y=marks.names("bar", list(dict.fromkeys(row["bar"] for row in kept))),
            tooltip=marks.as_it_is("bar", value),
        )
        about = f"{said}, {counted(len(kept), 'row')} of the table in its order.{more}"
        return marks.chart(kept, about, bar, width=380, height={"step": 14})

    return drawn
