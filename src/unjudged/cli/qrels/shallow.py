"""Shallow pool: write only the judgments that lie in the first D documents of the pooled runs.

unjudged qrels shallow qrels.txt runs/ --depth 10 -o depth10.txt
"""

from __future__ import annotations

import argparse

from unjudged.cli import options

HELP = "only what a shallower pool would have held"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    options.add_collection(parser, "qrels shallow")
    options.add(parser, "output", command="qrels shallow")
    options.group(parser, "pool", *options.POOL, command="qrels shallow")


def run(args: argparse.Namespace) -> int:
    """Reduce and write."""
    from unjudged.changes.shallow import shallow

    pool = options.pool_keywords(args)
    collection = options.open_collection(args)
    options.write_judgments(collection, shallow(collection, **pool), args.output)
    return 0
