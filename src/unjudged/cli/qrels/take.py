"""Take teams or runs: write only the judgments that they would have brought into a pool of their own.

unjudged qrels take qrels.txt runs/ --teams teams.tsv --team CMU -o cmu-only.txt
unjudged qrels take qrels.txt runs/ --teams teams.tsv --fewest 3 -o three-teams.txt
"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.errors import UsageError

HELP = "only what one team, or a few, would have brought"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    options.add_collection(parser, "qrels take")
    options.add(parser, "team", "run", "fewest", "output", command="qrels take")
    options.group(parser, "pool", *options.POOL, command="qrels take")


def run(args: argparse.Namespace) -> int:
    """Reduce and write."""
    from unjudged.changes.take import take

    if sum(x is not None for x in (args.team, args.run, args.fewest)) != 1:
        raise UsageError("name what to take: --team NAME, --run NAME or --fewest K")
    pool = options.pool_keywords(args)
    collection = options.open_collection(args)
    teams = args.team if args.fewest is None else args.fewest
    options.write_judgments(collection, take(collection, teams=teams, runs=args.run, **pool), args.output)
    return 0
