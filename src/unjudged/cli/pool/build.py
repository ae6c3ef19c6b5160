"""Build a pool: the documents to judge for a given budget, as a list for the assessors or as judgments.

unjudged pool build qrels.txt runs/ --strategy rrf --budget 5000 --format list -o to-judge.tsv
unjudged pool build --no-judgments runs/ --strategy depth --depth 20 --format list
unjudged pool build qrels.txt runs/ --strategy stratified --set strata=10:1,100:0.2 --format qrels -o sampled.txt

Formats: list has lines topic<TAB>doc, sorted by document id so that judges do not see the ranks; qrels has the known
grades, -1 for pooled documents without one, and the stratum of a sample in the second column (infAP and xinfAP read
it); the others give topic, doc, best_rank, runs, stratum, probability, grade and order, in the order of judging.
"""

from __future__ import annotations

import argparse
from typing import Any

from unjudged.cli import options
from unjudged.results import FORMATS

HELP = "documents to judge for a budget: a list, or judgments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    from unjudged.pools.strategies import overview

    parser.epilog = f"strategies (options in brackets):\n{overview()}"
    options.add_collection(parser, "pool build")
    options.group(
        parser,
        "building",
        *("strategy", "budget", "depth", "first", "set", "seed", "rel", "no_judgments"),
        command="pool build",
    )
    output = parser.add_argument_group("output")
    options.add(output, "format", command="pool build", choices=(*FORMATS, "list", "qrels"))
    options.add(output, "output", command="pool build")


def run(args: argparse.Namespace) -> int:
    """Build and write; the summary goes to stderr."""
    from unjudged.pools.build import build_pool
    from unjudged.pools.strategies import strategy

    given: dict[str, Any] = dict(args.set)
    strategy(args.strategy).checked(given)  # a misspelt name is refused before anything is read
    if args.no_judgments:
        args.runs, args.qrels = [args.qrels, *args.runs], None
    pool = build_pool(
        options.open_collection(args),
        args.strategy,
        **options.keywords(args, "budget", "depth", "first", "seed", "rel"),
        call=args.call,
        **given,
    )
    if args.format == "qrels" and args.output not in (None, "-"):
        pool.to_qrels(args.output)
    else:
        text = {"list": pool.to_list, "qrels": pool.to_qrels}.get(args.format, lambda: pool.render(args.format))()
        options.write_output(str(text), args.output)
    options.print_notes(pool.notes)
    return 0
