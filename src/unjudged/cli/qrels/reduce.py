"""Random reduction: write a random share of each topic's judgments; smaller rates give subsets of larger ones.

unjudged qrels reduce qrels.txt --rate 0.3 --seed 1 -o thirty-percent.txt
unjudged qrels reduce qrels.txt --rate 0.3 --method uniform
"""

from __future__ import annotations

import argparse

from unjudged.cli import options

HELP = "a random share of each topic's judgments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    options.add_collection(parser, need_runs=False)
    parser.add_argument("--rate", type=float, required=True, metavar="X", help="share to keep, above 0 and up to 1")
    options.add_seed(parser)
    parser.add_argument(
        "--method",
        default="stratified",
        choices=("stratified", "uniform"),
        help="stratified: relevant and nonrelevant documents apart, with the minima below (default); "
        "uniform: all judged documents alike",
    )
    options.add_rel(parser, 1)
    parser.add_argument("--min-relevant", type=int, default=1, metavar="N", help="stratified minimum (default 1)")
    parser.add_argument("--min-nonrelevant", type=int, default=10, metavar="N", help="stratified minimum (default 10)")
    options.add_qrels_output(parser)


def run(args: argparse.Namespace) -> int:
    """Reduce and write."""
    from unjudged.changes.reduce import reduce

    collection = options.open_collection(args, need_runs=False)
    reduced = reduce(
        collection,
        args.rate,
        seed=args.seed,
        method=args.method,
        rel=args.rel,
        min_relevant=args.min_relevant,
        min_nonrelevant=args.min_nonrelevant,
    )
    options.write_judgments(collection, reduced, args.output)
    return 0
