"""Shallow pool: write only the judgments that lie in the first D documents of the pooled runs.

unjudged qrels shallow qrels.txt runs/ --depth 10 -o depth10.txt
"""

from __future__ import annotations

import argparse

from unjudged.cli import options

HELP = "only what a shallower pool would have held"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    options.add_collection(parser)
    options.add_pool(parser, depth=False)
    parser.add_argument("--depth", type=int, required=True, metavar="D", help="depth of the new pool")
    options.add_qrels_output(parser)


def run(args: argparse.Namespace) -> int:
    """Reduce and write."""
    from unjudged.changes.shallow import shallow

    pool = options.pool_arguments(args)
    collection = options.open_collection(args)
    options.write_judgments(collection, shallow(collection, **pool), args.output)
    return 0
