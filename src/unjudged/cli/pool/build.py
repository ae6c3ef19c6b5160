"""Build a pool: the documents to judge for a given budget, as a list for the assessors or as judgments.

unjudged pool build qrels.txt runs/ --strategy rrf --budget 5000 --format list -o to-judge.tsv
unjudged pool build --no-judgments runs/ --strategy depth --depth 20 --format list
unjudged pool build qrels.txt runs/ --strategy stratified --set strata=10:1,100:0.2 --format qrels -o sampled.txt

Formats: list is topic<TAB>doc by document id (it does not tell how they were ranked); qrels holds the known grades and
-1 for pooled documents without one, the stratum of a sample in the second column (infAP and xinfAP read it); the others
give topic, doc, best_rank, runs, stratum, probability, grade and order, in the order of judging.
"""

from __future__ import annotations

import argparse
from typing import Any

from unjudged.cli import options
from unjudged.errors import UsageError
from unjudged.results import FORMATS

HELP = "documents to judge for a budget: a list, or judgments"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    from unjudged.pools.strategies import overview

    parser.epilog = f"strategies (options in brackets):\n{overview()}"
    options.add_collection(parser, need_runs=False)
    build = parser.add_argument_group("building")
    build.add_argument("--strategy", default="depth", metavar="NAME", help="how to choose (default depth)")
    build.add_argument("--budget", type=int, metavar="N", help="documents in all, shared evenly by the topics")
    build.add_argument("--depth", type=int, metavar="D", help="cut every list here first; the depth of a depth pool")
    build.add_argument("--first", type=int, metavar="K", help="judge the top K of every run before learning starts")
    build.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="an option of the strategy; repeatable"
    )
    options.add_seed(build)
    options.add_rel(build, 1)
    build.add_argument("--no-judgments", action="store_true", help="nothing is judged yet: all files are runs")
    output = parser.add_argument_group("output")
    output.add_argument("--format", default="text", choices=(*FORMATS, "list", "qrels"), help="default: text")
    output.add_argument(
        "-o", "--output", metavar="FILE", help="write to FILE (qrels: .gz compresses) instead of stdout"
    )


def run(args: argparse.Namespace) -> int:
    """Build and write; the summary goes to stderr."""
    from unjudged.pools.build import build_pool
    from unjudged.pools.strategies import strategy

    given: dict[str, Any] = dict(_pair(text) for text in args.set)
    strategy(args.strategy).checked(given)  # a misspelt name is told before anything is read
    if args.no_judgments:
        args.runs, args.qrels = [args.qrels, *args.runs], None
    pool = build_pool(
        options.open_collection(args),
        args.strategy,
        budget=args.budget,
        depth=args.depth,
        first=args.first,
        seed=args.seed,
        rel=args.rel,
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


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set needs NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()
