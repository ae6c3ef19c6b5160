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
    options.add_collection(parser)
    options.add_pool(parser)
    parser.add_argument("--team", action="append", metavar="NAME", help="team to leave out; repeatable (a group)")
    parser.add_argument("--run", action="append", metavar="NAME", help="run to leave out; repeatable (a group)")
    options.add_qrels_output(parser)


def run(args: argparse.Namespace) -> int:
    """Reduce and write."""
    from unjudged.changes.leave_out import leave_out

    if (args.team is None) == (args.run is None):
        raise UsageError("name what to leave out: --team NAME or --run NAME")
    pool = options.pool_arguments(args)
    collection = options.open_collection(args)
    options.write_judgments(collection, leave_out(collection, teams=args.team, runs=args.run, **pool), args.output)
    return 0
