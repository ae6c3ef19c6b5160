"""Tables, verdicts and findings on a terminal: headings bold, words of verdicts and outcomes in their colours.

The colours are those of the report in a terminal; a pipe gets none, and NO_COLOR is respected. Every coloured word
stands there in full, so that nothing is told by colour alone.
"""

from __future__ import annotations

import io
import os
import re
import sys
from typing import TextIO

WORDS = re.compile(
    r"(?<!\S)(?P<word>better|worse|cannot tell|solid|with care|fragile|unknown|error|warning|pass|fail)(?=:|\s\s|\s*$)",
    re.MULTILINE,
)
"""Words of their own: in a cell, or before a colon. A run may be called like one of them; then it is coloured, too."""

FINDINGS = {"error": "bold red", "warning": "bold yellow", "fail": "bold red", "pass": "bold green"}


def wanted(stream: TextIO | None = None) -> bool:
    """Is standard output (or this stream) a terminal that shows colours?"""
    return (stream or sys.stdout).isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(text: str, heading: bool = True) -> str:
    """The text with colours; its first line is a heading where a table begins there."""
    from rich.console import Console
    from rich.text import Text

    from unjudged.reporting.terminal import STYLES

    styles = {**STYLES, **FINDINGS}
    drawn = Text(text)
    if heading and not WORDS.match(text):
        drawn.stylize("bold", 0, text.find("\n"))
    for found in re.finditer(r"^  by \S+$", text, re.MULTILINE):
        drawn.stylize("bold", *found.span())
    for found in WORDS.finditer(text):
        drawn.stylize(styles[found["word"]], *found.span("word"))
    for found in re.finditer(r"^next:", text, re.MULTILINE):
        drawn.stylize("bold", *found.span())
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system="standard", width=10**6, highlight=False).print(
        drawn, soft_wrap=True, end=""
    )
    return out.getvalue()
