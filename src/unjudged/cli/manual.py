"""Print the manual page.

unjudged manual > unjudged.1 && man ./unjudged.1
"""

from __future__ import annotations

import argparse

from unjudged.cli import options

HELP = "the manual page (roff)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb has no arguments."""


def run(args: argparse.Namespace) -> int:
    """Print the page."""
    options.write_output(page(), None)
    return 0


def _roff(text: str) -> str:
    """Text as roff takes it: backslashes and leading dots are not commands, minus signs stay minus signs."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


def page() -> str:
    """The manual page, made from the same parsers that read the command line."""
    from unjudged import __version__
    from unjudged.cli import commands

    lines = [
        f'.TH UNJUDGED 1 "" "unjudged {__version__}" "User Commands"',
        ".SH NAME",
        "unjudged \\- evaluation of retrieval runs when judgments are missing or biased",
        ".SH SYNOPSIS",
        ".B unjudged",
        "VERB [OPTION]... QRELS RUN...",
        ".SH DESCRIPTION",
        _roff("RUN may be a file, a folder or a glob, plain or gz, or - for standard input."),
        ".SH COMMANDS",
    ]
    for name, line, parser in commands():
        lines += [f".SS {_roff(name)}", _roff(line)]
        if parser is None:
            lines += [_roff(f"It has a flag language of its own: 'unjudged {name} --help'.")]
            continue
        lines += [".PP", ".nf", _roff((parser.description or "").strip()), ".fi"]
        for action in parser._actions:
            shown = ", ".join(action.option_strings) or str(action.metavar or action.dest)
            if action.option_strings and action.nargs != 0:
                values = "|".join(map(str, action.choices)) if action.choices else str(action.metavar or "")
                shown += f" {values}"
            lines += [".TP", f".B {_roff(shown)}", _roff((action.help or "").replace("%%", "%"))]
    lines += [
        ".SH EXIT STATUS",
        _roff(
            "0 done; 1 done, with findings; 2 misuse or unusable input (one message); "
            "3 cannot tell (ci); 130 interrupted."
        ),
        ".SH ENVIRONMENT",
        _roff("UNJUDGED_KERNELS=numpy uses the NumPy kernels instead of the C ones."),
    ]
    return "\n".join([*lines, ""])
