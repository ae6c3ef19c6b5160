"""Contributions to the pool: documents per topic each team (or run) found, it alone found, and relevant ones of these.

unjudged pool contributions qrels.txt runs/ --teams teams.tsv
unjudged pool contributions qrels.txt runs/ --per run --depth 100
"""

from __future__ import annotations

import argparse

from unjudged.cli import options

HELP = "who contributed what, and what nobody else found"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    options.add_collection(parser, "pool contributions")
    options.add(parser, "per", "rel", command="pool contributions")
    options.group(parser, "pool", *options.POOL, command="pool contributions")
    options.add_output(parser, "pool contributions")


def run(args: argparse.Namespace) -> int:
    """Count and print; warnings go to stderr."""
    from unjudged.studies import study

    pool = options.pool_keywords(args)
    collection = options.open_collection(args)
    result = study("contributions", collection, per=args.per, **pool, rel=args.rel, call=args.call, jobs=args.jobs)
    options.write_result(result, args, verdict=True)
    return 0
