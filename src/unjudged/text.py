"""Numbers and lists in sentences: the only copies of `percent`, `counted`, `listed`, `signed`, `printed`."""

from __future__ import annotations

import math
from collections.abc import Iterable


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


def signed(value: float, digits: int = 4) -> str:
    """`+0.1234`, `-0.0500`; no sign before nothing."""
    text = f"{value:+.{digits}f}"
    return text if float(text) else text[1:]


def printed(value: float, places: int = 4) -> str:
    """`0.0085` for 0.00845: rounded half up, as papers print errors."""
    step = 10**places
    return f"{math.floor(value * step + 0.5 + 1e-9) / step:.{places}f}"
