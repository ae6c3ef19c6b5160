"""Numbers and lists in sentences and tables, each only here: `percent`, `counted`, `listed`, `shown`, `in_order` ..."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


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


def folded(text: str, width: int, first: str = "", later: str = "") -> list[str]:
    """The text in lines of this width at most, `first` before the first one and `later` before the others.

    Words stay whole, and a number stays with its percent sign.
    """
    import textwrap

    wrapper = textwrap.TextWrapper(width, first, later, break_long_words=False, break_on_hyphens=False)
    found = wrapper.wrap(text.replace(" %", "\u00a0%"))
    return [line.replace("\u00a0%", " %") for line in found]


def signed(value: float, digits: int = 4) -> str:
    """`+0.1234`, `-0.0500`; no sign before nothing."""
    text = f"{value:+.{digits}f}"
    return text if float(text) else text[1:]


def printed(value: float, places: int = 4) -> str:
    """`0.0085` for 0.00845: rounded half up, as papers print errors."""
    step = 10**places
    return f"{math.floor(value * step + 0.5 + 1e-9) / step:.{places}f}"


def in_order(tau: float) -> str:
    """`95 of 100 pairs` for tau 0.90: the pairs of runs that stand in the same order, where no two are tied."""
    return f"{math.floor(50 * (1 + tau) + 0.5 + 1e-9)} of 100 pairs"


def begun(sentence: str) -> str:
    """A sentence with a capital at its beginning, unless it begins with a name (`nDCG@10 tells ...`)."""
    first = sentence.partition(" ")[0]
    return sentence[:1].upper() + sentence[1:] if first.isalpha() and first.islower() else sentence


def shown(value: Any) -> str:
    """A value as laid-out tables show it: four decimals without a sign before nothing, `-` where undefined."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:z.4f}" if isinstance(value, float) else str(value)


def as_written(value: Any, width: int = 60) -> str:
    """A value as Python writes it, cut where it is long; NumPy's numbers as plain ones.

    Whole numbers beyond 4,300 digits have no such form.
    """
    try:
        text = repr(value.item() if hasattr(value, "item") else value)
    except ValueError:
        return "of more digits than can be written"
    return text if len(text) <= width else f"{text[: width - 3]}..."


def printable(text: str) -> str:
    """The text with whatever a terminal might take for a command written out."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def in_markdown(text: str) -> str:
    """The text as Markdown shows it letter by letter: no tags or entities, no bars, no links or images."""
    import re

    safe = re.sub(r"&(?=#?\w+;)", "&amp;", printable(text).replace("\\", "\\\\"))
    return safe.replace("<", "&lt;").replace("|", "&#124;").replace("](", "]\\(")


def tsv_cell(text: str) -> str:
    """The text as one cell of a tab-separated table."""
    return text if text.isprintable() else text.replace("\t", " ").replace("\n", " ").replace("\r", " ")


def reads_as_number(text: str) -> bool:
    """Does a cell hold a number, or the mark of a missing one?"""
    return text == "-" or text.lstrip("+-").replace(".", "", 1).isdigit()


def to_the_right(rows: Sequence[Sequence[str]], columns: int) -> list[bool]:
    """Which columns of a table hold nothing but numbers?"""
    return [
        any(row[i] for row in rows) and all(not row[i] or reads_as_number(row[i]) for row in rows)
        for i in range(columns)
    ]


def aligned(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """A table of plain text, two blanks between its columns."""
    widths = [max(len(c), *(len(row[i]) for row in rows)) if rows else len(c) for i, c in enumerate(columns)]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
        return "  ".join(padded).rstrip()

    return "\n".join([line(columns), *map(line, rows), ""])
