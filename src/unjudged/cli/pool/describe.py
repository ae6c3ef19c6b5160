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
    options.add_collection(parser, "pool describe")
    options.add(parser, "rel", "curves", command="pool describe")
    options.group(parser, "pool", *options.POOL, command="pool describe")
    options.add_output(parser, "pool describe")


def run(args: argparse.Namespace) -> int:
    """Describe and print; warnings go to stderr."""
    from unjudged.pools.describe import describe, judged_curves

    pool = options.pool_keywords(args)
    collection = options.open_collection(args)
    if args.curves:
        result = judged_curves(collection, call=args.call)
    else:
        result = describe(collection, **pool, rel=args.rel, call=args.call)
    options.write_result(result, args)
    return 0
