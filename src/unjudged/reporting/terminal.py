"""The report in a terminal: the judgment, every verdict in a line, and what to do now; the words are those of the page.

Colour and bold on terminals only (rich; NO_COLOR is respected); in pipes the same words without them.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from unjudged.reporting.in_short import STEPS, steps_of, told
from unjudged.text import begun, folded

if TYPE_CHECKING:
    from unjudged.reporting.report import Report

STYLES = {
    "solid": "bold green",
    "better": "bold green",
    "with care": "bold yellow",
    "cannot tell": "bold yellow",
    "fragile": "bold red",
    "worse": "bold red",
    "unknown": "dim",
    "same": "bold",
    "command": "cyan",
}
MARKS = {
    "solid": "●",
    "with care": "◐",
    "fragile": "▲",
    "unknown": "◌",
    "better": "↑",
    "worse": "↓",
    "same": "=",
    "cannot tell": "◌",
}
PLAIN = {
    "solid": "o",
    "with care": "~",
    "fragile": "!",
    "unknown": "?",
    "better": "+",
    "worse": "-",
    "same": "=",
    "cannot tell": "?",
}
"""The marks where a terminal cannot show the shapes of the page."""

Line = list[tuple[str, str]]
"""Pieces of (style, text)."""


def lines(report: Report, width: int, marks: dict[str, str], narrow: bool = False) -> Iterator[Line]:
    """What is shown, line by line; `narrow`: nothing but commands is wider than `width`."""

    def row(*cells: tuple[str, str]) -> Iterator[Line]:
        """A line of cells; the last one, a sentence, is folded below itself."""
        *first, (style, said) = cells
        margin = sum(len(text) for _, text in first)
        room = width - margin if narrow else len(said)
        if room < SHORTEST:  # it begins below, at the margin of the list
            yield [*first[:-1], (first[-1][0], first[-1][1].rstrip())]
            first, margin, room = [("", " " * 6)], 6, width - 6
        told = folded(said, max(room, SHORTEST)) or [""]
        yield [*first, (style, told[0])]
        yield from ([("", " " * margin), (style, more)] for more in told[1:])

    if narrow and len(report.title) + 3 + len(report.what) > width:
        yield [("bold", report.title)]
        yield from ([("dim", line)] for line in folded(report.what, width))
    else:
        yield [("bold", report.title), ("dim", f"   {report.what}")]
    yield from ([("", line)] for line in folded(report.lead, width))
    yield []
    if report.few is not None:
        size = max(len(pair.names) for pair in report.few.pairs)
        for pair in report.few.pairs:
            outcome = (STYLES[pair.word], f"{marks[pair.word]} {pair.word:<11}")
            yield from row(("", "  "), outcome, ("", f"  {pair.names:<{size}}  "), ("", pair.sentence))
        yield []
    size = max((len(s.question) for s in report.answered), default=0)
    for s in report.answered:
        if s.verdict is not None:
            word = s.verdict.word
            finding = begun(s.verdict.finding)
            mark = (STYLES[word], f"{marks[word]} {word:<9}")
            yield from row(("", "  "), mark, ("", f"  {s.question:<{size}}  "), ("", finding))
    if report.beyond:
        names = " ".join(s.short for s in report.beyond)
        said = f"{begun(report.too_few)}: {names}"
        yield from ([("dim", f"  {line}")] for line in folded(said, width - 2))
    steps = report.few.steps if report.few is not None else [step for _, _, step in steps_of(report.sections)]
    if not steps:
        return
    yield []
    yield [("bold", "What to do now")]
    for place, step in enumerate(steps[:STEPS], 1):
        do, effect = told(step)
        effect = f": {effect[:1].lower()}{effect[1:]}" if effect else "."
        step_said = f"{do.rstrip('.')}{effect}"
        if narrow and len(step_said) + 5 > width:
            yield from row(("", f"  {place}. "), ("", step_said))
        else:
            yield [("", f"  {place}. {do.rstrip('.')}"), ("dim", effect)]
        if step.command:
            yield [("", "     "), ("command", step.typed)]


SHORTEST = 24
"""Room for a sentence beside what it is about; where there is less, it stands below."""
WIDEST = 100
"""Sentences are folded here, on narrower terminals at their width."""


def show(report: Report) -> None:
    """Print the verdicts to standard output."""
    width = min(shutil.get_terminal_size().columns, WIDEST) if sys.stdout.isatty() else WIDEST
    try:
        "".join(MARKS.values()).encode(sys.stdout.encoding or "ascii")
        marks = MARKS
    except UnicodeEncodeError:
        marks = PLAIN
    shown = list(lines(report, width, marks, sys.stdout.isatty()))
    if not sys.stdout.isatty():
        print("\n".join("".join(text for _, text in line) for line in shown))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in shown:
        console.print(Text.assemble(*((text, style) for style, text in line)), soft_wrap=True)
