"""What a section of the report is: a question, a verdict, one chart, one table, and how to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from unjudged.reporting.file_findings import Kind
from unjudged.results import Result, Verdict

Spec = Mapping[str, Any]
"""A Vega-Lite chart; the data called `table` is the section's table."""

Progress = Callable[[float], None]
"""Told how much of a section is done, from 0 to 1; may raise to stop the work."""


class Cancelled(Exception):
    """Raised by a `Progress` to stop a computation."""


def silent(share: float) -> None:
    """Nobody is told."""


@dataclass(frozen=True)
class Section:
    """One question and its answer. `points` are further sentences, `how` explains the chart."""

    key: str
    question: str
    verdict: Verdict | None
    table: Result
    how: str
    chart: Spec | None = None
    description: str = ""
    points: Sequence[str] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    findings: Sequence[Kind] = ()

    def columns(self) -> dict[str, list[Any]]:
        """The table column by column, as chart and CSV read it."""
        rows = list(self.table.rows())
        return {name: [row[i] for row in rows] for i, name in enumerate(self.table.columns)}


def share(part: float, whole: float) -> float:
    """part / whole; 0 of nothing is 0."""
    return part / whole if whole else 0.0


def percent(value: float) -> str:
    """`12 %`, `0.3 %`."""
    shown = 100 * value
    return f"{shown:.0f} %" if abs(shown) >= 9.95 or abs(shown) < 0.05 else f"{shown:.1f} %"


def counted(number: int, word: str, plural: str | None = None) -> str:
    """`1 run`, `1,204 runs`."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def listed(names: Iterable[str], most: int = 3) -> str:
    """`a, b and c`, or `a, b, c and 5 more`."""
    names = list(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
