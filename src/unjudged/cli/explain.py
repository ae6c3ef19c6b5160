"""Explain a measure, a finding of `check`, a study, an option, or any word or column of an output.

unjudged explain nDCG@10
unjudged explain tau p_adjusted condensed
unjudged explain UJ102
unjudged explain --list
"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.errors import UsageError

HELP = "what a measure, a finding or any word you see means; --list shows all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    options.add(parser, "names", "list", command="explain")


def run(args: argparse.Namespace) -> int:
    """Print the explanations asked for."""
    from unjudged.cli.width import refilled
    from unjudged.explanations import explain, overview

    if not args.names and not args.list:
        raise UsageError("name a measure, a finding or a word, or use --list")
    texts = [overview()] if args.list else []
    texts += [explain(name) for name in args.names]
    options.write_output(refilled("\n".join(texts)), None)
    return 0
