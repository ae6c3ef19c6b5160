"""Random reduction: write a random share of each topic's judgments; smaller rates give subsets of larger ones.

unjudged qrels reduce qrels.txt --rate 0.3 --seed 1 -o thirty-percent.txt
unjudged qrels reduce qrels.txt --rate 0.3 --method uniform
"""

from __future__ import annotations

import argparse

from unjudged.cli import options

HELP = "a random share of each topic's judgments"

SETTINGS = ("rate", "seed", "method", "rel", "min_relevant", "min_nonrelevant")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    options.add_collection(parser, "qrels reduce")
    options.add(parser, *SETTINGS, "output", command="qrels reduce")


def run(args: argparse.Namespace) -> int:
    """Reduce and write."""
    from unjudged.changes.reduce import reduce

    collection = options.open_collection(args, need_runs=False)
    options.write_judgments(collection, reduce(collection, **options.keywords(args, *SETTINGS)), args.output)
    return 0
