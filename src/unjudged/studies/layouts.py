"""Cells and tables as the papers print them: signed percentages, rank moves, bold best."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from unjudged.results import Shown


def percent(value: float | None, digits: int = 1) -> str:
    """0.6417 -> 64.2%"""
    return "-" if value is None or math.isnan(value) else f"{100 * value:z.{digits}f}%"


def signed_percent(change: float | None) -> str:
    """A change in percent: +1.93%, -0.27%, +21.0%, 0.00%; n/a where there was nothing before."""
    if change is None or math.isnan(change):
        return "n/a"
    digits = 2 if abs(round(change, 2)) < 10 else 1
    shown = f"{change:+.{digits}f}"
    return f"{shown[1:] if float(shown) == 0 else shown}%"


def rank_move(before: int, after: int) -> str:
    """4→4, 6↑5 (improved), 6↓8"""
    return f"{before}{'→' if after == before else '↑' if after < before else '↓'}{after}"


def correlation(value: float | None) -> str:
    """.950, 1, -.333, as the papers print tau"""
    if value is None or math.isnan(value):
        return "-"
    text = f"{value:z.3f}"
    if abs(float(text)) == 1:
        return text[:-4]
    return text.replace("0.", ".", 1)


def plain(value: float | None, digits: int = 2) -> str:
    """A number with fixed digits, whole numbers without."""
    if value is None or math.isnan(value):
        return "-"
    return str(int(value)) if float(value).is_integer() and digits else f"{value:z.{digits}f}"


def counts(series: Sequence[Sequence[float]]) -> Callable[[float], str]:
    """How a row of counts is shown: whole numbers, or two digits for all of them where some are averages."""
    whole = all(math.isnan(v) or float(v).is_integer() for values in series for v in values)
    digits = 0 if whole and all(len(values) == 1 for values in series) else 2
    return lambda value: "-" if math.isnan(value) else f"{value:z.{digits}f}"


def best(values: Sequence[float | None], texts: Sequence[str], *, smallest: bool = False) -> list[Shown]:
    """The cells of a row or column, every best one bold."""
    known = [v for v in values if v is not None and not math.isnan(v)]
    top = (min(known) if smallest else max(known)) if known else None
    return [
        Shown(text, top is not None and v is not None and abs(v - top) < 1e-12)
        for v, text in zip(values, texts, strict=True)
    ]


def brackets(repeats: int) -> str:
    """What `spread` shows, for a caption."""
    return f" In {repeats} repeats: the mean, and in brackets where 95% of the values lie."


def spread(values: Sequence[float], show: Any) -> str:
    """A value over repeats: the mean, and where 95% of the repeats lie."""
    import numpy as np

    known = [v for v in values if v is not None and not math.isnan(v)]
    if not known:
        return "-"
    text = str(show(float(np.mean(known))))
    if len(values) == 1:
        return text
    low, high = np.quantile(known, [0.025, 0.975])
    return f"{text} [{show(float(low))}, {show(float(high))}]"
