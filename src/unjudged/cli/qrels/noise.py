"""Noise: write judgments as a careless, biased or coarse assessor would have given them.

unjudged qrels noise qrels.txt --flip 0.1 --seed 1 -o careless.txt
unjudged qrels noise qrels.txt --flip-relevant 0.2 --flip-nonrelevant 0.02
unjudged qrels noise qrels.txt runs/ --teams teams.tsv --favour-team X --rate 0.5 --depth 10
unjudged qrels noise qrels.txt --collapse 2:1,3:1        unjudged qrels noise qrels.txt --binary 2

Several kinds can be combined: grades are collapsed first, then flipped, then a team is favoured.
"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.errors import UsageError

HELP = "random errors, favour for a team, coarser grades"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    options.add_collection(parser, "qrels noise")
    noise = ("collapse", "binary", "flip", "flip_relevant", "flip_nonrelevant", "favour_team", "favour_run")
    options.group(parser, "noise", *noise, "rate", "depth", "rel", "seed", command="qrels noise")
    options.add(parser, "output", command="qrels noise")


def run(args: argparse.Namespace) -> int:
    """Change and write."""
    from unjudged.changes.collapse import collapse
    from unjudged.changes.noise import favour, flip

    rates = args.flip, args.flip_relevant, args.flip_nonrelevant
    flips, favours = any(rate is not None for rate in rates), args.favour_team or args.favour_run
    if not (args.collapse or args.binary is not None or flips or favours):
        raise UsageError("name the noise: --flip, --favour-team, --favour-run, --collapse or --binary")
    if favours and not args.runs:
        raise UsageError("to favour a team or a run, give the runs as well")
    collection = options.open_collection(args, need_runs=False)
    changed = collection
    if args.collapse or args.binary is not None:
        changed = collapse(changed, args.collapse, rel=args.binary)
    if flips:
        changed = flip(
            changed,
            args.flip,
            relevant=args.flip_relevant,
            nonrelevant=args.flip_nonrelevant,
            rel=args.rel,
            seed=args.seed,
        )
    if favours:
        changed = favour(
            changed,
            args.rate,
            team=args.favour_team,
            run=args.favour_run,
            depth=args.depth,
            rel=args.rel,
            seed=args.seed,
        )
    options.write_judgments(collection, changed, args.output)
    return 0
