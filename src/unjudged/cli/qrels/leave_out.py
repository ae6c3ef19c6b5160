"""Leave out teams or runs: write the judgments without those only they brought into the pool.

unjudged qrels leave-out qrels.txt runs/ --teams teams.tsv --team CMU -o without-cmu.txt
unjudged qrels leave-out qrels.txt runs/ --run bm25 --depth 100 --pooled pooled.tsv
"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.errors import UsageError

HELP = "without what only one team (or run) brought into the pool"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    options.add_collection(parser, "qrels leave-out")
    options.add(parser, "team", "run", "output", command="qrels leave-out")
    options.group(parser, "pool", *options.POOL, command="qrels leave-out")


def run(args: argparse.Namespace) -> int:
    """Reduce and write."""
    from unjudged.changes.leave_out import leave_out

    if (args.team is None) == (args.run is None):
        raise UsageError("name what to leave out: --team NAME or --run NAME")
    pool = options.pool_keywords(args)
    collection = options.open_collection(args)
    options.write_judgments(collection, leave_out(collection, teams=args.team, runs=args.run, **pool), args.output)
    return 0
