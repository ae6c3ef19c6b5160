"""Tables for LaTeX: booktabs, numbers to the right, narrow enough for the text of an article.

What is too wide for a line is made narrower step by step: short names of measures with a legend in the caption,
headings and cells of several words stacked, smaller type, long texts in paragraphs, and at last panels (a), (b), (c)
under each other. Nothing is scaled. The document needs `\\usepackage{booktabs}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from unjudged.spelling import legend, short_names, shortened

TEXT_WIDTH = 325.0
"""Points of an article's line at 10 pt, less what larger type of the class takes (345 at 10 pt, 390 / 1.2 at 12 pt)."""
LONGEST = 45
"""Lines of a table that fit on a page; longer ones go on in a further table."""
_SIZES = (("", 1.0, 6.0), (r"\small", 0.925, 5.0), (r"\footnotesize", 0.85, 4.0), (r"\footnotesize", 0.85, 3.0))
"""Command, width of the type against that of the text, half the space between columns."""
_STACKED = 1
"""From this size on, cells of several parts are stacked."""
_WIDEST_TEXT = 0.4
"""Share of the line a column of words may take in one piece; wider ones become paragraphs."""

_WIDEST_STUB = 0.7
"""Share of the line that the columns that name a row may take in every panel; else the first alone is repeated."""


@dataclass(frozen=True)
class Cell:
    """The words of a cell; `raised` is a small mark behind it."""

    text: str
    bold: bool = False
    raised: str = ""


Rows = Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class _Panel:
    """A table in the making: title, headings, rows; which columns are numbers."""

    title: str
    heads: list[str]
    rows: list[list[Cell]]
    numbers: list[bool]

    def choose(self, places: Sequence[int], title: str = "") -> _Panel:
        """Some columns."""
        return _Panel(
            title or self.title,
            [self.heads[i] for i in places],
            [[row[i] for i in places] for row in self.rows],
            [self.numbers[i] for i in places],
        )


def latex_table(columns: Sequence[str], rows: Rows, caption: str = "", label: str = "table") -> str:
    """The table as LaTeX, in as many `table` environments as pages ask for; ends with a newline."""
    heads = list(map(str, columns))
    numbers = [_are_numbers([row[i].text for row in rows]) for i in range(len(heads))]
    panels = _by_block(_Panel("", heads, [list(row) for row in rows], numbers))
    named = [short_names([*panel.heads, *(cell.text for row in panel.rows for cell in row)]) for panel in panels]
    words = " ".join(filter(None, [_shortened_caption(caption, named), _legend(named)]))
    panels = [_with_short_names(panel, names) for panel, names in zip(panels, named, strict=True)]
    size, panels = _fitted(panels)
    return "".join(_environments(panels, size, words, label))


def _with_short_names(panel: _Panel, names: Mapping[str, str]) -> _Panel:
    rows = [[replace(cell, text=shortened(cell.text, names)) for cell in row] for row in panel.rows]
    return replace(panel, heads=[shortened(head, names) for head in panel.heads], rows=rows)


def _shortened_caption(caption: str, named: Sequence[Mapping[str, str]]) -> str:
    return shortened(caption, named[0]) if named and all(names == named[0] for names in named) else caption


def _legend(named: Sequence[Mapping[str, str]]) -> str:
    """What the short names stand for; by panel where they differ."""
    told = [legend(names) for names in named]
    if all(one == told[0] for one in told):
        return f"{told[0]}." if told and told[0] else ""
    return " ".join(f"({_letter(place)}) {one}." for place, one in enumerate(told) if one)


# -- panels


def _by_block(whole: _Panel) -> list[_Panel]:
    """A panel for each collection: where the first column names it, or where blocks of columns stand side by side."""
    heads = whole.heads
    if len(heads) > 2 and heads[0] == "collection":
        groups = [(name, list(rows)) for name, rows in groupby(whole.rows, key=lambda row: row[0].text)]
        own = [(name, rows) for name, rows in groups if _of_one(rows)]
        rest = [row for _, rows in groups if not _of_one(rows) for row in rows]
        found = [replace(whole, rows=rows).choose(range(1, len(heads)), name) for name, rows in own]
        for filled, rows in groupby(rest, key=lambda row: [i for i, cell in enumerate(row) if cell.text]):
            about_all = replace(whole, heads=["", *heads[1:]], rows=list(rows))
            found.append(about_all.choose(filled, "all collections"))
        return found
    for size in range(2, len(heads) // 2 + 1):
        if len(heads) % size == 0 and len({tuple(heads[i + 1 : i + size]) for i in range(0, len(heads), size)}) == 1:
            starts = range(0, len(heads), size)
            blocks = [whole.choose(range(i, i + size), heads[i]) for i in starts]
            return [replace(block, heads=["", *block.heads[1:]]) for block in blocks]
    return [whole]


def _of_one(rows: Sequence[Sequence[Cell]]) -> bool:
    """Are these the rows of a collection, not a line about all of them?"""
    cells = [cell.text for row in rows for cell in row]
    return 2 * cells.count("") < len(cells) and (len(rows) > 1 or "" not in cells)


def _fitted(panels: list[_Panel]) -> tuple[int, list[_Panel]]:
    """The largest type in which everything fits; else the smallest, with wide panels split by columns."""
    for size in range(len(_SIZES)):
        if all(_width(panel, size) <= TEXT_WIDTH for panel in panels):
            return size, panels
    size = len(_SIZES) - 1
    return size, [part for panel in panels for part in _split(panel, size)]


def _split(panel: _Panel, size: int) -> list[_Panel]:
    """Parts that fit, each with the columns that name the row."""
    if _width(panel, size) <= TEXT_WIDTH:
        return [panel]
    first = next((i for i, number in enumerate(panel.numbers) if number), 1)
    stub = list(range(max(first, 1)))
    if _width(panel.choose(stub), size) > _WIDEST_STUB * TEXT_WIDTH:
        stub = [0]
    units = [unit for each in _units(panel) if (unit := [i for i in each if i not in stub])]
    if not units:
        return [panel]
    many = len(_filled(panel, stub, units, size))
    even = -(-len(units) // max(many, 1))
    alike = [[i for unit in units[start : start + even] for i in unit] for start in range(0, len(units), even)]
    if all(_width(panel.choose([*stub, *part]), size) <= TEXT_WIDTH for part in alike):
        return [panel.choose([*stub, *part]) for part in alike]
    return [panel.choose([*stub, *part]) for part in _filled(panel, stub, units, size)]


def _filled(panel: _Panel, stub: list[int], units: list[list[int]], size: int) -> list[list[int]]:
    """As many columns in each part as fit."""
    parts: list[list[int]] = []
    for unit in units:
        if parts and _width(panel.choose([*stub, *parts[-1], *unit]), size) <= TEXT_WIDTH:
            parts[-1] += unit
        elif _width(panel.choose([*stub, *unit]), size) <= TEXT_WIDTH:
            parts.append(list(unit))
        else:
            parts += [[i] for i in unit]
    return parts


def _units(panel: _Panel) -> list[list[int]]:
    """Columns that stay together: those with a common heading over them."""
    groups = _groups(panel)
    if groups is None:
        return [[i] for i in range(len(panel.heads))]
    return [list(places) for _, places in groups]


def _groups(panel: _Panel) -> list[tuple[str, range]] | None:
    """Headings over several columns (`lipani` over MAE, SRE, SRE*), or None where there are none worth it."""
    first = next((i for i, number in enumerate(panel.numbers) if number), len(panel.heads))
    prefixes = [head.rpartition(" ")[0] for head in panel.heads]
    found: list[tuple[str, range]] = [("", range(i, i + 1)) for i in range(first)]
    start = first
    for prefix, members in groupby(range(first, len(panel.heads)), key=lambda i: prefixes[i]):
        many = len(list(members))
        found.append((prefix, range(start, start + many)))
        start += many
    over = [places for prefix, places in found[first:] if prefix]
    return found if len(over) > 1 and all(len(places) > 1 for places in over) else None


# -- widths


def _width(panel: _Panel, size: int) -> float:
    """Points the panel takes in a line."""
    return sum(_column_widths(panel, size)) + 2 * _SIZES[size][2] * len(panel.heads)


def _column_widths(panel: _Panel, size: int) -> list[float]:
    scale = _SIZES[size][1]
    groups = _groups(panel)
    under = {i for prefix, places in groups or [] if prefix for i in places}
    widths = []
    for i, head in enumerate(panel.heads):
        told = head.rpartition(" ")[2] if i in under else head
        cells = max((_cell_width(row[i], size, panel.numbers[i]) for row in panel.rows), default=0.0)
        if not panel.numbers[i] and cells * scale > _WIDEST_TEXT * TEXT_WIDTH:
            cells = _WIDEST_TEXT * TEXT_WIDTH / scale
        widths.append(scale * max([cells, *(_points(word) for word in _stacked_head(told, cells))]))
    for prefix, places in groups or []:
        missing = scale * _points(prefix) - sum(widths[i] for i in places)
        if prefix and missing > 0:
            widths[places[-1]] += missing
    return widths


def _cell_width(cell: Cell, size: int, number: bool) -> float:
    parts = _parts(cell.text) if number and size >= _STACKED else [cell.text]
    widths = [_points(part) for part in parts]
    return max(widths) * (1.16 if cell.bold else 1.0) + _points(cell.raised) * 0.75


def _parts(text: str) -> list[str]:
    """The lines of a cell of several parts: `111/136 = 81.6%`, `+1.93% 4→4`, `0.48 (p 0.07)`."""
    return [part for part in re.split(r" (?=[=(\[±])| (?=[\d.]+[→↑↓])", text) if part] or [text]


def _stacked_head(head: str, width: float) -> list[str]:
    """A heading in lines no wider than its column, as far as its words allow."""
    lines: list[str] = []
    for word in head.split():
        if lines and _points(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


_WIDTHS = dict(
    zip(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (
            *(5.0, 5.56, 4.44, 5.56, 4.44, 3.06, 5.0, 5.56, 2.78, 3.06, 5.28, 2.78, 8.33, 5.56, 5.0, 5.56, 5.28, 3.92),
            *(3.94, 3.89, 5.56, 5.28, 7.22, 5.28, 5.28, 4.44, 7.5, 7.08, 7.22, 7.64, 6.81, 6.53, 7.85, 7.5, 3.61, 5.14),
            *(7.78, 6.25, 9.17, 7.5, 7.78, 6.81, 7.78, 7.36, 5.56, 7.22, 7.5, 7.5, 10.28, 7.5, 7.5, 6.11),
        ),
        strict=True,
    )
) | dict.fromkeys("0123456789/*_#$&", 5.0)
_WIDTHS |= dict.fromkeys(".,:;'!|[]", 2.78) | dict.fromkeys("()", 3.89) | dict.fromkeys("-+−=<>±@~^", 7.78)
_WIDTHS |= {" ": 3.33, "%": 8.33, "→": 10.0, "↑": 5.0, "↓": 5.0, "†": 4.44, "{": 5.0, "}": 5.0, "\\": 5.0}
"""Points of a letter of Computer Modern Roman at 10 pt (Knuth's cmr10)."""


def _points(text: str) -> float:
    return sum(_WIDTHS.get(letter, 8.0) for letter in text)


_NUMBER = re.compile(r"[-+−<>≤≥±~]?\.?\d[\d.,%/= ()\[\]±→↑↓†*+−p-]*")


def _are_numbers(texts: Sequence[str]) -> bool:
    """Is this a column of numbers? `-`, `n/a` and empty cells may stand among them."""
    known = [text for text in texts if text not in ("", "-", "n/a")]
    return bool(known) and all(_NUMBER.fullmatch(text) for text in known)


# -- writing


def _environments(panels: list[_Panel], size: int, caption: str, label: str) -> Iterator[str]:
    """The panels, as many in a float as a page holds; a longer one is continued."""
    pages: list[list[tuple[str, _Panel]]] = [[]]
    room: float = LONGEST
    several = len(panels) > 1
    for place, panel in enumerate(panels):
        sign = f"({_letter(place)}) {panel.title}".strip() if several else ""
        left = panel.rows
        while True:
            if room < min(len(left), 8) + 4 and pages[-1]:
                pages.append([])
                room = LONGEST
            taken, used = _as_many(left, panel.numbers, size, room - 4)
            pages[-1].append((sign, replace(panel, rows=left[:taken])))
            room -= used + 4
            left = left[taken:]
            if not left:
                break
            room = 0
            sign = f"{sign} continued".strip() if several else ""
    for number, page in enumerate(pages):
        told = caption if not number else f"{caption.split('. ')[0].rstrip('.')} (continued)." if caption else ""
        yield _environment(page, size, told, label if not number else f"{label}-{number + 1}")


def _as_many(rows: list[list[Cell]], numbers: list[bool], size: int, room: float) -> tuple[int, float]:
    """How many rows fit into so many lines, and the lines they take; at least one."""
    used = 0.0
    for place, row in enumerate(rows):
        high = max((_lines(cell, number, size) for cell, number in zip(row, numbers, strict=True)), default=1)
        if place and used + high > room:
            return place, used
        used += high
    return len(rows), used


def _lines(cell: Cell, number: bool, size: int) -> float:
    if number:
        parts = len(_parts(cell.text)) if size >= _STACKED else 1
        return parts if parts == 1 else parts + 0.5
    return 1 + int(_points(cell.text) * _SIZES[size][1] * 1.1 / (_WIDEST_TEXT * TEXT_WIDTH))


def _letter(place: int) -> str:
    return chr(ord("a") + place) if place < 26 else str(place + 1)


def _environment(panels: list[tuple[str, _Panel]], size: int, caption: str, label: str) -> str:
    command, _, space = _SIZES[size]
    lines = [r"\begin{table}", r"\centering"]
    if caption:
        lines += [rf"\caption{{{escaped(caption)}}}", rf"\label{{tab:{label}}}", r"\vspace{4pt}"]
    if command:
        lines.append(command)
    lines.append(rf"\setlength{{\tabcolsep}}{{{space:g}pt}}")
    for place, (sign, panel) in enumerate(panels):
        if sign:
            lines.append(rf"{escaped(sign)}\\[2pt]")
        lines += _tabular(panel, size)
        if place < len(panels) - 1:
            lines[-1] += r"\\[6pt]"
    return "\n".join([*lines, r"\end{table}", ""])


def _tabular(panel: _Panel, size: int) -> list[str]:
    scale = _SIZES[size][1]
    widths = _column_widths(panel, size)
    wide = [
        not number and any(_points(row[i].text) * scale > _WIDEST_TEXT * TEXT_WIDTH for row in panel.rows)
        for i, number in enumerate(panel.numbers)
    ]
    spec = "".join(
        f"p{{{width:.0f}pt}}" if long else "r" if number else "l"
        for long, number, width in zip(wide, panel.numbers, widths, strict=True)
    )
    groups = _groups(panel)
    heads = list(panel.heads)
    lines = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule"]
    if groups is not None:
        over = [rf"\multicolumn{{{len(p)}}}{{c}}{{{escaped(prefix)}}}" if prefix else "" for prefix, p in groups]
        lines.append(" & ".join(over) + r" \tabularnewline")
        rules = [rf"\cmidrule(lr){{{p[0] + 1}-{p[-1] + 1}}}" for prefix, p in groups if prefix]
        lines.append("".join(rules))
        for prefix, places in groups:
            for i in places:
                heads[i] = heads[i].rpartition(" ")[2] if prefix else heads[i]
    top = [
        _stack([escaped(word) for word in _stacked_head(head, width / scale)], number)
        for head, width, number in zip(heads, widths, panel.numbers, strict=True)
    ]
    lines += [" & ".join(top) + r" \tabularnewline", r"\midrule"]
    before = None
    for row in panel.rows:
        if before == row[0] and len(row) > 1 and not panel.numbers[0] and not panel.numbers[1]:
            row = [Cell(""), *row[1:]]  # the same as above
        else:
            before = row[0]
        cells = [
            _written(cell, number, long, size) for cell, number, long in zip(row, panel.numbers, wide, strict=True)
        ]
        stacked = any(cell.startswith(r"\shortstack") for cell in cells)
        lines.append(" & ".join(cells) + r" \tabularnewline" + (r" \addlinespace" if stacked else ""))
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _stack(lines: Sequence[str], number: bool) -> str:
    if len(lines) == 1:
        return lines[0]
    inside = r"\\".join(lines)
    return rf"\shortstack[{'r' if number else 'l'}]{{{inside}}}"


def _written(cell: Cell, number: bool, long: bool, size: int) -> str:
    if long:
        return rf"\raggedright {_breakable(cell.text)}"
    parts = _parts(cell.text) if number and size >= _STACKED else [cell.text]
    lines = [_minus(escaped(part)) if number else escaped(part) for part in parts]
    if cell.bold:
        lines = [rf"\textbf{{{line}}}" for line in lines]
    if cell.raised:
        lines[-1] += rf"\textsuperscript{{{escaped(cell.raised)}}}"
    return _stack(lines, number)


def _breakable(text: str) -> str:
    """Long words may be broken behind marks, and where there are none, after some letters."""
    words = []
    for word in text.split(" "):
        pieces = re.findall(r"[^-_./,]{1,24}[-_./,]*|[-_./,]+", word)
        words.append(r"\allowbreak{}".join(map(escaped, pieces)))
    return " ".join(words)


def _minus(text: str) -> str:
    """A number with a minus sign; a lone `-` is a dash."""
    if text == "-":
        return "--"
    return re.sub(r"(?<![\w.)])-(?=\.?\d)", "$-$", text)


_SPECIAL = {c: "\\" + c for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "−": "$-$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "†": r"\dag{}",
    '"': "''",
}


def escaped(text: str) -> str:
    """Any text for LaTeX: what it would read as a command, and letters pdflatex does not know, are spelled out."""
    known = "".join(_SPECIAL.get(c, c if _printed_as_it_is(c) else rf"[U+{ord(c):04X}]") for c in text)
    known = re.sub(r"-(?=-)", "-{}", known)
    return f"{{}}{known}" if known[:1] in ("[", "*") else known  # no option of the command before it


def _printed_as_it_is(letter: str) -> bool:
    """ASCII, and letters of Latin-1 that Computer Modern can put together."""
    return letter.isprintable() and (letter.isascii() or (0xC0 <= ord(letter) <= 0xFF and letter not in "ÐðÞþ×÷"))
