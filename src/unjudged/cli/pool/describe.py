"""Describe a collection: topics, judgments, N and R, pool depth, pooled runs, coverage, judged@k.

unjudged pool describe qrels.txt runs/ --teams teams.tsv
unjudged pool describe qrels.txt runs/ --only 601-650 --pooled infer --format tsv
"""

from __future__ import annotations

import argparse

from unjudged.cli import options

HELP = "topics, judgments, depth, pooled runs, coverage, judged@k"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    options.add_collection(parser)
    options.add_pool(parser)
    options.add_rel(parser, 1)
    parser.add_argument("--curves", action="store_true", help="judged@k of every run instead")
    options.add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Describe and print; warnings go to stderr."""
    from unjudged.pools.describe import describe, judged_curves

    pool = options.pool_arguments(args)
    collection = options.open_collection(args)
    if args.curves:
        result = judged_curves(collection, call=args.call)
    else:
        result = describe(collection, **pool, rel=args.rel, call=args.call)
    options.write_result(result, args)
    return 0
