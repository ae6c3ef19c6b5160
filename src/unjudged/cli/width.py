"""Tables that fit the terminal: sentences are folded, long names cut, and columns left out.

Only what a terminal shows is fitted; a pipe or a file gets every column in full.
"""

from __future__ import annotations

import itertools
import re
import shutil
import sys
from collections.abc import Iterator, Sequence

from unjudged.text import folded, reads_as_number

KEPT = ("outcome", "verdict", "finding", "why")
"""Columns that stay, whatever the width."""
SHORTEST_NAME = 16
SHORTEST_SENTENCE = 24


def terminal_width() -> int | None:
    """The width of the terminal standard output goes to; None where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def refilled(text: str) -> str:
    """Prose for the terminal standard output goes to: paragraphs and lists folded at its width, commands left whole.

    Where it goes elsewhere, or fits, it stays as it is.
    """
    width = terminal_width()
    if width is None or max(map(len, text.split("\n"))) <= width:
        return text
    found: list[str] = []
    paragraph: list[str] = []

    def end() -> None:
        if paragraph and max(map(len, paragraph)) > width:
            margin = " " * _margin(paragraph[0])
            later = "    " if paragraph[0].startswith("usage: ") else margin
            found.extend(folded(" ".join(line.strip() for line in paragraph), width, margin, later))
        else:
            found.extend(paragraph)
        paragraph.clear()

    for line in text.split("\n"):
        listed = re.match(r"( *\S+(?: \S+)*  +)\S", line)
        command = line.lstrip().startswith("unjudged ")
        if paragraph and (listed or command or not line.strip() or _apart(paragraph[0], line)):
            end()
        if listed and len(line) > width and not command:  # a word and what it means
            found += folded(line[len(listed[1]) :], width, listed[1], " " * min(len(listed[1]), width // 2))
        elif listed or command or not line.strip():
            found.append(line)
        else:
            paragraph.append(line)
    end()
    return "\n".join(found)


def _apart(first: str, line: str) -> bool:
    """Does the line begin a paragraph of its own? A usage goes on with a margin."""
    return _margin(line) != _margin(first) and not first.startswith("usage: ")


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def fitted(text: str, width: int) -> str:
    """The text, with its tables and sentences no wider than this."""
    return "".join(_fitted(block, width) for block in re.split(r"(\n{2,}|\n\Z)", text))


def _fitted(block: str, width: int) -> str:
    lines = block.split("\n")
    if not block.strip() or max(map(len, lines)) <= width:
        return block
    edges = _edges(lines)
    if len(lines) == 1 or len(edges) == 1:
        return "\n".join(_folded(line, width) for line in lines)
    table = [[line[first:last].rstrip() for first, last in edges] for line in lines]
    return "\n".join(_narrowed(table, [first for first, _ in edges], width))


def _folded(line: str, width: int) -> str:
    """A sentence over several lines; a command, which is indented, stays whole to be copied."""
    if len(line) <= width or line.startswith(" "):
        return line
    return "\n".join(folded(line, width))


def _edges(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Where the columns of a table begin and end: two places or more that are blank in every line lie between them."""
    wide = max(map(len, lines))
    filled = "".join(" " if all(line[i : i + 1] in ("", " ") for line in lines) else "x" for i in range(wide))
    return [found.span() for found in re.finditer(r"x+(?: x+)*", filled)]


def _narrowed(table: list[list[str]], starts: list[int], width: int) -> Iterator[str]:
    """The lines of a table, made narrower in the way that loses least."""
    indent, head = starts[0], table[0]
    right = [_to_the_right(table, place) for place in range(len(head))]
    kept = list(range(len(head)))

    def wide(place: int) -> int:
        return max(len(row[place].strip()) for row in table)

    def total() -> int:
        return indent + sum(widths[place] for place in kept) + 2 * (len(kept) - 1)

    widths = [wide(place) for place in range(len(head))]
    last = len(head) - 1
    sentence = widths[last] > SHORTEST_SENTENCE and any(row[last].count(" ") > 3 for row in table[1:])
    if sentence:
        widths[last] = max(SHORTEST_SENTENCE, widths[last] - (total() - width))
    told = last if sentence else None  # it is folded, not left out
    names = [p for p in kept if not right[p] and head[p].strip() not in KEPT and p != told]
    while total() > width and (long := [place for place in names if widths[place] > SHORTEST_NAME]):
        widths[max(long, key=lambda place: widths[place])] -= 1
    dropped: list[str] = []
    while total() > width and (loose := [p for p in kept[1:] if head[p].strip() not in KEPT and p != told]):
        kept.remove(loose[-1])
        dropped.insert(0, head[loose[-1]].strip())
        if sentence and last in kept:
            widths[last] = min(wide(last), widths[last] + max(0, width - total()))
    begins = {p: _beginning([row[p].strip() for row in table[1:]], widths[p]) for p in names}
    for row in table:
        cells = [
            folded(row[p].strip(), widths[p]) or [""]  # words stay whole
            if sentence and p == last
            else _lines(row[p].strip(), widths[p], begins.get(p, ""))
            for p in kept
        ]
        for lines in itertools.zip_longest(*cells, fillvalue=""):
            shown = [c.rjust(widths[p]) if right[p] else c.ljust(widths[p]) for c, p in zip(lines, kept, strict=True)]
            yield (" " * indent + "  ".join(shown)).rstrip()
    if dropped:
        yield from folded(f"(not shown: {', '.join(dropped)}; --format tsv has every column)", width)


def _to_the_right(table: list[list[str]], place: int) -> bool:
    return all(not row[place].strip() or reads_as_number(row[place].strip()) for row in table[1:])


def _beginning(cells: Sequence[str], width: int) -> str:
    """What all these names begin with, where they could not be told apart after a cut at their ends."""
    cut = {cell[: width - 3] if len(cell) > width else cell for cell in cells}
    if len(cut) == len(set(cells)):
        return ""
    low, high = min(cells), max(cells)  # what these two share, all share
    return low[: next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))]


def _lines(cell: str, width: int, begins: str) -> list[str]:
    """A name of several words over several lines, another one cut."""
    lines = folded(cell, width)
    return lines if len(lines) > 1 and max(map(len, lines)) <= width else [_cut(cell, width, begins)]


def _cut(cell: str, width: int, begins: str = "") -> str:
    """A name in so many places: cut at its end, or at its beginning where that is the same in all names."""
    if len(cell) <= width:
        return cell
    cell = "..." + cell[len(begins) :] if len(begins) > 3 and cell.startswith(begins) else cell
    return cell if len(cell) <= width else cell[: width - 3] + "..."
