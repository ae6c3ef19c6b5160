"""Pieces of drawings: an axis, rows of runs, curves, columns, a map of shares, a matrix of pairs.

Rows are HTML tables with a small SVG in percent, so that they reflow on a phone; curves are drawn twice, wide and
narrow; text keeps its size. Colours are classes of the page's style sheet.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

TOP = 20
"""Rows shown of many; those that matter come on top of them."""
MOST = 25
"""Up to so many rows all are shown."""
ON_A_PHONE = 14
"""Letters of cells for which a phone has room beside names and axis."""
BOTH_ENDS = 12
"""From more rows than this on, the axis stands on top and at the bottom."""


@dataclass(frozen=True)
class Drawing:
    """A chart on the page: its finding in one sentence, what is drawn, and the drawing."""

    finding: str
    about: str
    body: Markup
    rows: RowTable | None = None
    """The rows, where only some of them are shown at first."""

    @property
    def many(self) -> int:
        """All rows there are."""
        return self.rows.many if self.rows is not None else 0

    @property
    def shown(self) -> int:
        """Rows shown at first."""
        return self.rows.shown if self.rows is not None else 0

    @property
    def hidden(self) -> str:
        """All rows as HTML, for those who ask for them; empty where all are shown."""
        return self.rows.every if self.rows is not None and self.many > self.shown else ""


@dataclass(frozen=True)
class RowTable:
    """Rows as they are written: the table with the rows shown at first, and every row."""

    table: Markup
    every: str
    many: int
    shown: int


@dataclass(frozen=True)
class Axis:
    """Numbers along a drawing; it starts where the data start."""

    low: float
    high: float
    ticks: tuple[float, ...]
    digits: int

    @classmethod
    def over(cls, values: Sequence[float], about: int = 6, whole: bool = False) -> Axis:
        """From the tick below the smallest value to the tick above the largest."""
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        span = high - low or abs(high) or 1.0
        size = 10.0 ** math.floor(math.log10(span / about))
        sizes = (1, 2, 5, 10) if whole else (1, 2, 2.5, 5, 10)
        step = next(size * many for many in sizes if span / (size * many) <= about)
        step = max(1.0, step) if whole else step
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        ticks = tuple(round(i * step, 10) for i in range(first, max(last, first + 1) + 1))
        halves = "25" in f"{step:g}".replace(".", "")
        digits = 0 if whole else max(0, -math.floor(math.log10(step) + 1e-9) + halves)
        return cls(ticks[0], ticks[-1], ticks, digits)

    def at(self, value: float) -> str:
        """The place of a value, in percent of the width."""
        share = (value - self.low) / (self.high - self.low or 1.0)
        return f"{100 * min(1.0, max(0.0, share)):.1f}%"

    def told(self, value: float) -> str:
        """A tick as text."""
        return f"{value:.{self.digits}f}"


@dataclass(frozen=True)
class Row:
    """A row of a drawing: a name, marks along the axis, and cells of text; `kind` is its class."""

    name: str
    marks: str = ""
    cells: tuple[str, ...] = ()
    kind: str = ""
    shown: bool = True


def markup(text: str) -> Markup:
    """Text that is HTML already."""
    from markupsafe import Markup

    return Markup(text)


def escaped(text: object) -> str:
    """Text as HTML."""
    from markupsafe import escape

    return str(escape(text))


# -- rows


def chosen(names: Sequence[str], matter: Sequence[str]) -> set[str]:
    """The rows shown at first: all of few; of many the first, those that matter, and the last."""
    if len(names) <= MOST:
        return set(names)
    known = set(names)
    also = [name for name in matter if name in known and name not in names[:TOP]][: MOST - TOP - 1]
    return {*names[:TOP], *also, names[-1]}


def dot(axis: Axis, value: float, kind: str = "dot") -> str:
    """A mark at a value; one that lies off the axis is written."""
    if value < axis.low - 1e-9 or value > axis.high + 1e-9:
        side = ("0", "start", "◂") if value < axis.low else ("100%", "end", "▸")
        return f'<text class="off" x="{side[0]}" y="14" text-anchor="{side[1]}">{side[2]} {value:.3f}</text>'
    if kind == "cross":
        return f'<svg class="cross" x="{axis.at(value)}" overflow="visible"><path d="M-4 6l8 8m0-8l-8 8"/></svg>'
    return f'<circle class="{kind}" cx="{axis.at(value)}" cy="10" r="4.5"/>'


def bar(axis: Axis, low: float, high: float, kind: str = "ci", height: int = 4) -> str:
    """A bar between two values."""
    low, high = max(low, axis.low), min(high, axis.high)
    if high <= low:
        return ""
    width = 100 * (high - low) / (axis.high - axis.low)
    y = 10 - height / 2
    return f'<rect class="{kind}" x="{axis.at(low)}" width="{width:.1f}%" y="{y:g}" height="{height}" rx="2"/>'


def table_of_rows(
    key: str, head: Sequence[str], rows: Sequence[Row], axis: Axis | None, label: str, first: str = "run"
) -> RowTable:
    """Rows with their axis; those not shown at first wait for 'Show all' or a search."""
    wide = axis is not None
    sizes = _sizes(rows, len(head))
    columns = "".join(
        f'<th scope="col" class="{size}">{escaped(name)}</th>' for name, size in zip(head, sizes, strict=True)
    )
    ruler = _ruler(key, axis) if axis is not None else ""
    place = f"<td class=plot>{ruler}</td>" if wide else ""
    top = f'<tr><th scope="col">{first}</th>{place}{columns}</tr>'
    foot = ""
    if wide and sum(row.shown for row in rows) > BOTH_ENDS:
        again = _ruler("", axis) if axis is not None else ""
        blank = "".join(f'<td class="{size}"></td>' for size in sizes)
        foot = f"<tfoot><tr><td></td><td class=plot>{again}</td>{blank}</tr></tfoot>"
    body, below = [], _below(rows)
    for row in rows:
        kind = " ".join(filter(None, (row.kind, "gap" if row is below else "", "" if row.shown else "more")))
        title = f' title="{escaped(row.name)}"' if len(row.name) > 16 else ""
        grid = f'<use href="#grid-{key}"/>' if wide else ""
        plot = f"<td class=plot><svg aria-hidden=true>{grid}{row.marks}</svg></td>" if wide else ""
        cells = "".join(f'<td class="{size}">{cell}</td>' for cell, size in zip(row.cells, sizes, strict=True))
        name = f"<th scope=row{title}>{escaped(row.name)}</th>"
        body.append(f"<tr{_class(kind)}>{name}{plot}{cells}</tr>")
    return _row_table("rows", f"<thead>{top}</thead>{foot}", rows, body, label)


def _below(rows: Sequence[Row]) -> Row | None:
    """The first row shown behind some that are not: a line above it parts the best from those that matter."""
    hidden = itertools.dropwhile(lambda row: row.shown, rows)
    return next((row for row in hidden if row.shown), None)


def _row_table(kind: str, head: str, rows: Sequence[Row], body: Sequence[str], label: str) -> RowTable:
    shown = [html for row, html in zip(rows, body, strict=True) if row.shown]
    table = f'<table class="{kind}">{head}<tbody>{"".join(shown)}</tbody></table>'
    box = f'<div class="scrollbox" tabindex="0" role="region" aria-label="{escaped(label)}">{table}</div>'
    return RowTable(markup(box), "".join(body), len(rows), len(shown))


def _sizes(rows: Sequence[Row], many: int) -> list[str]:
    """Classes of the columns of text: as wide as their longest cell; on a phone some are left out."""
    longest = [max((len(row.cells[i]) for row in rows), default=0) for i in range(many)]
    sizes, used = [], 0
    for i, size in enumerate(longest):
        used += size
        wide = "v" if size <= 8 else "v m" if size <= 14 else "v l"
        sizes.append(wide if i == 0 or used <= ON_A_PHONE else f"{wide} extra")
    return sizes


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _ruler(key: str, axis: Axis) -> str:
    """The numbers of an axis; with a key, the grid that rows repeat."""
    last = len(axis.ticks) - 1
    anchors = {0: "start", last: "end"}
    texts = "".join(
        f'<text{"" if i in (0, last) else _class("odd")} x="{axis.at(tick)}" y="13" '
        f'text-anchor="{anchors.get(i, "middle")}">{axis.told(tick)}</text>'
        for i, tick in enumerate(axis.ticks)
        if last < 7 or i % 2 == 0
    )
    lines = "".join(f'<line class="grid" x1="{axis.at(t)}" x2="{axis.at(t)}" y2="20"/>' for t in axis.ticks)
    grid = f'<defs><g id="grid-{key}">{lines}</g></defs>' if key else ""
    return f'<svg class="axis" aria-hidden="true">{grid}{texts}</svg>'


def heat_rows(columns: Sequence[str], rows: Sequence[Row], label: str, first: str = "run") -> RowTable:
    """A map of shares in percent: a row per name, a column per range; nothing missing looks calm."""
    head = "".join(f'<th scope="col" class="v">{escaped(name)}</th>' for name in columns)
    body, below = [], _below(rows)
    for row in rows:
        kind = " ".join(filter(None, ("gap" if row is below else "", "" if row.shown else "more")))
        title = f' title="{escaped(row.name)}"' if len(row.name) > 16 else ""
        body.append(f"<tr{_class(kind)}><th scope=row{title}>{escaped(row.name)}</th>{''.join(row.cells)}</tr>")
    top = f'<thead><tr><th scope="col">{first}</th>{head}</tr></thead>'
    return _row_table("rows heat", top, rows, body, label)


def heat_cell(share: float | None) -> str:
    """A cell of a map: its share in percent, in one of five steps."""
    if share is None:
        return '<td class="v"></td>'
    step = 0 if share < 0.005 else 1 if share <= 0.1 else 2 if share <= 0.25 else 3 if share <= 0.5 else 4
    return f'<td class="v o{step}">{100 * share:.0f}</td>'


# -- curves


@dataclass(frozen=True)
class Line:
    """A curve: points, the words at its end, and words at single points; the first of several is the finding."""

    name: str
    points: Sequence[tuple[float, float]]
    told: dict[float, str] = field(default_factory=dict)


def curves(
    lines: Sequence[Line],
    x_title: str,
    y_title: str,
    *,
    limit: tuple[float, str] | None = None,
    here: tuple[float, str] | None = None,
    whole: bool = False,
) -> Markup:
    """Lines in two drawings, one for a wide window and one for a phone."""
    drawn = (_curves(lines, x_title, y_title, size, limit, here, whole) for size in ((720, 300), (350, 270)))
    wide, narrow = drawn
    return markup(f'<div class="wide">{wide}</div><div class="narrow" aria-hidden="true">{narrow}</div>')


def _curves(
    lines: Sequence[Line],
    x_title: str,
    y_title: str,
    size: tuple[int, int],
    limit: tuple[float, str] | None,
    here: tuple[float, str] | None,
    whole: bool,
) -> str:
    width, height = size
    words = [line.name if len(line.name) < 12 else line.name[:10] + "…" for line in lines]
    left, right, top, bottom = 40, 14 + max(60, *(7 * len(word) for word in words)), 26, 38
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points] + ([limit[0]] if limit else [])
    across, up = Axis.over(xs, 7 if width > 400 else 4, whole), Axis.over(ys, 5, max(ys) - min(ys) >= 5)

    def x(value: float) -> float:
        return left + (value - across.low) / (across.high - across.low) * (width - left - right)

    def y(value: float) -> float:
        return height - bottom - (value - up.low) / (up.high - up.low) * (height - top - bottom)

    drawn = [[(x(a), y(b)) for a, b in line.points] for line in lines]
    parts = []
    if limit is not None:
        size_of_word = 6.6 * len(limit[1])
        ends_at = {"end": width - right - 4, "start": left + 6 + size_of_word}
        places = [(side, at) for side in ends_at for at in (y(limit[0]) + 14, y(limit[0]) - 5, top + 13.0)]
        free = [(s, at) for s, at in places if not _crossed(drawn, ends_at[s], size_of_word, at)]
        side, at = next((one for one in free if one[1] < height - bottom), places[1])
        edge = ends_at[side] if side == "end" else left + 6
        parts.append(
            f'<rect class="band" x="{left}" y="{top}" width="{width - left - right}" height="{y(limit[0]) - top:.1f}"/>'
            f'<text class="bandword" x="{edge}" y="{at:.1f}" text-anchor="{side}">{escaped(limit[1])}</text>'
        )
    for tick in up.ticks:
        parts.append(f'<line class="grid" x1="{left}" x2="{width - right}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(f'<text x="{left - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{up.told(tick)}</text>')
    for tick in across.ticks:
        told = f"{tick:,.{across.digits}f}"
        parts.append(f'<text x="{x(tick):.1f}" y="{height - bottom + 17}" text-anchor="middle">{told}</text>')
    parts.append(f'<text class="title" x="{left}" y="14">{escaped(y_title)}</text>')
    parts.append(
        f'<text class="title" x="{width - right}" y="{height - 4}" text-anchor="end">{escaped(x_title)}</text>'
    )
    if here is not None:
        side = "end" if x(here[0]) > width * 0.6 else "start"
        move = -6 if side == "end" else 6
        parts.append(
            f'<line class="here" x1="{x(here[0]):.1f}" x2="{x(here[0]):.1f}" y1="{top}" y2="{height - bottom}"/>'
        )
        parts.append(
            f'<text class="strong" x="{x(here[0]) + move:.1f}" y="{height - bottom - 8}" text-anchor="{side}">'
            f"{escaped(here[1])}</text>"
        )
    ends = _apart([y(line.points[-1][1]) + 4 for line in lines], 13)
    for place, line in reversed(list(enumerate(lines))):
        path = "M" + "L".join(f"{x(a):.1f} {y(b):.1f}" for a, b in line.points)
        parts.append(f'<path class="line l{min(place, 3)}" d="{path}"/>')
        for a, b in line.points if place == 0 else ():
            parts.append(f'<circle class="point" cx="{x(a):.1f}" cy="{y(b):.1f}" r="4"/>')
            if a in line.told and width > 400:
                parts.append(
                    f'<text class="told" x="{x(a) + 7:.1f}" y="{y(b) + 15:.1f}">{escaped(line.told[a])}</text>'
                )
        kind, word = "strong" if place == 0 else "", escaped(words[place])
        parts.append(f'<text class="{kind}" x="{width - right + 6}" y="{ends[place]:.1f}">{word}</text>')
    return f'<svg viewBox="0 0 {width} {height}" aria-hidden="true">{"".join(parts)}</svg>'


def _crossed(lines: Sequence[Sequence[tuple[float, float]]], end: float, width: float, base: float) -> bool:
    """Does a line run through a word that ends here and stands on this height?"""
    for points in lines:
        for (x1, y1), (x2, y2) in itertools.pairwise(points):
            for step in range(21):
                share = step / 20
                x, y = x1 + share * (x2 - x1), y1 + share * (y2 - y1)
                if end - width - 4 <= x <= end + 4 and base - 14 <= y <= base + 5:
                    return True
    return False


def _apart(places: Sequence[float], gap: float) -> list[float]:
    """The same places, moved so that words do not run into each other."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = list(places)
    for above, below in itertools.pairwise(order):
        moved[below] = max(moved[below], moved[above] + gap)
    over = max(0.0, max(moved, default=0.0) - max(places, default=0.0) - gap)
    return [place - over for place in moved]


# -- columns


def columns_of(heights: Sequence[tuple[float, float]], y_title: str, x_title: str) -> Markup:
    """A column for each (whole, part), as two outlines."""

    def drawn(width: int, height: int) -> str:
        left, top, bottom = 44, 24, 24
        up = Axis.over([0.0, *(whole for whole, _ in heights)], 4, whole=True)
        step = (width - left - 4) / max(len(heights), 1)

        def y(value: float) -> float:
            return height - bottom - value / up.high * (height - top - bottom)

        def outline(values: Sequence[float]) -> str:
            path = f"M{left} {height - bottom}"
            for i, value in enumerate(values):
                path += f"V{y(value):.1f}H{left + (i + 1) * step:.1f}"
            return f"{path}V{height - bottom}Z"

        ticks = "".join(
            f'<line class="grid" x1="{left}" x2="{width - 4}" y1="{y(t):.1f}" y2="{y(t):.1f}"/>'
            f'<text x="{left - 6}" y="{y(t) + 4:.1f}" text-anchor="end">{t:,.0f}</text>'
            for t in up.ticks
        )
        return (
            f'<svg viewBox="0 0 {width} {height}" aria-hidden="true">{ticks}'
            f'<path class="pale" d="{outline([whole for whole, _ in heights])}"/>'
            f'<path class="full" d="{outline([part for _, part in heights])}"/>'
            f'<text class="title" x="{left}" y="14">{escaped(y_title)}</text>'
            f'<text class="title" x="{width - 4}" y="{height - 6}" text-anchor="end">{escaped(x_title)}</text></svg>'
        )

    return markup(
        f'<div class="wide">{drawn(720, 220)}</div><div class="narrow" aria-hidden="true">{drawn(350, 200)}</div>'
    )


def signed_columns(values: Sequence[float], words: tuple[str, str, str]) -> Markup:
    """A column up or down for each value, the largest first, with the words for wins, ties and losses below."""

    def drawn(width: int, height: int) -> str:
        left, top, bottom = 44, 8, 22
        axis = Axis.over([0.0, *values], 5)
        step = (width - left - 4) / max(len(values), 1)

        def y(value: float) -> float:
            return height - bottom - (value - axis.low) / (axis.high - axis.low) * (height - top - bottom)

        parts = [
            f'<line class="grid" x1="{left}" x2="{width - 4}" y1="{y(t):.1f}" y2="{y(t):.1f}"/>'
            f'<text x="{left - 6}" y="{y(t) + 4:.1f}" text-anchor="end">{axis.told(t)}</text>'
            for t in axis.ticks
        ]
        for i, value in enumerate(values):
            high, low = max(value, 0.0), min(value, 0.0)
            size = max(y(low) - y(high), 1.0)
            kind = "gain" if value > 0 else "loss" if value < 0 else "tie"
            x = left + i * step
            parts.append(
                f'<rect class="{kind}" x="{x:.1f}" y="{y(high):.1f}" width="{max(step - 1, 1):.1f}" '
                f'height="{size:.1f}"/>'
            )
        base = height - 5
        parts.append(f'<text class="strong" x="{left}" y="{base}">{escaped(words[0])}</text>')
        parts.append(f'<text x="{(left + width) / 2}" y="{base}" text-anchor="middle">{escaped(words[1])}</text>')
        parts.append(f'<text class="lost" x="{width - 4}" y="{base}" text-anchor="end">{escaped(words[2])}</text>')
        return f'<svg viewBox="0 0 {width} {height}" aria-hidden="true">{"".join(parts)}</svg>'

    return markup(
        f'<div class="wide">{drawn(720, 240)}</div><div class="narrow" aria-hidden="true">{drawn(350, 220)}</div>'
    )


def span(axis: Axis, score: float, likely: float, low: float, high: float) -> Markup:
    """A difference: with unjudged documents nonrelevant (diamond), its estimate (dot) and interval (bar)."""
    ticks = "".join(
        f'<line class="grid" x1="{axis.at(t)}" x2="{axis.at(t)}" y1="2" y2="{34 if t == 0 else 28}"/>'
        + (f'<text x="{axis.at(t)}" y="43" text-anchor="{anchor}">{t:+g}</text>' if t else "")
        + (f'<text x="{axis.at(t)}" y="43" text-anchor="{anchor}">0</text>' if not t else "")
        for t, anchor in zip(axis.ticks, ["start", *["middle"] * (len(axis.ticks) - 2), "end"], strict=True)
        if t in (axis.ticks[0], 0.0, axis.ticks[-1])
    )
    ends = f'<svg x="{axis.at(score)}" overflow="visible"><path class="diamond" d="M0 3l5 5-5 5-5-5z"/></svg>'
    width = 100 * (min(high, axis.high) - max(low, axis.low)) / (axis.high - axis.low)
    bar_ = f'<rect class="ci" x="{axis.at(low)}" width="{width:.1f}%" y="18" height="6" rx="3"/>'
    return markup(
        f'<svg class="span" aria-hidden="true">{ticks}{bar_}<circle class="dot" cx="{axis.at(likely)}" cy="21" r="5"/>'
        f"{ends if score != likely else ''}</svg>"
    )


# -- matrices


def matrix(
    names: Sequence[str], cells: Sequence[tuple[int, int, str, str]], cell: int, left: int, each: int = 1
) -> str:
    """A matrix of (row, column, class, text), named on the left, with ranks on top (`each` runs a column)."""
    top = 20
    many = len(names)
    width, height = left + many * cell + 2, top + many * cell + 2
    parts = []
    step = 2 if each > 1 or cell < 18 else 1
    for i, name in enumerate(names):
        short = name if len(name) <= left / 7.2 else name[: int(left / 7.2) - 1] + "…"
        parts.append(
            f'<text x="{left - 5}" y="{top + i * cell + cell / 2 + 4:g}" text-anchor="end">{escaped(short)}</text>'
        )
        if i % step == 0:
            parts.append(f'<text x="{left + i * cell + cell / 2:g}" y="14" text-anchor="middle">{i * each + 1}</text>')
    for row, column, kind, text in cells:
        x, y = left + column * cell, top + row * cell
        parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{cell - 1}" height="{cell - 1}" rx="1"/>')
        if text:
            parts.append(
                f'<text class="on-{kind}" x="{x + cell / 2 - 0.5:g}" y="{y + cell / 2 + 3.5:g}" text-anchor="middle">'
                f"{text}</text>"
            )
    return (
        f'<svg class="matrix" viewBox="0 0 {width} {height}" width="{width}" aria-hidden="true">{"".join(parts)}</svg>'
    )
