"""Noise: write judgments as a careless, partial or coarse assessor would have given them.

unjudged qrels noise qrels.txt --flip 0.1 --seed 1 -o careless.txt
unjudged qrels noise qrels.txt --flip-relevant 0.2 --flip-nonrelevant 0.02
unjudged qrels noise qrels.txt runs/ --teams teams.tsv --favour-team X --rate 0.5 --depth 10
unjudged qrels noise qrels.txt --collapse 2:1,3:1        unjudged qrels noise qrels.txt --binary 2

Several kinds can be asked for at once; grades are collapsed first, then flipped, then a team is favoured.
"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.errors import UsageError

HELP = "random errors, favour for a team, coarser grades"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    options.add_collection(parser, need_runs=False)
    noise = parser.add_argument_group("noise")
    noise.add_argument("--collapse", metavar="MAP", help="what becomes of grades, as 2:1,3:1; others stay")
    noise.add_argument("--binary", type=int, metavar="N", help="grades from N on become 1, lower ones 0")
    noise.add_argument("--flip", type=float, metavar="P", help="probability that a judgment turns into its opposite")
    noise.add_argument("--flip-relevant", type=float, metavar="P", help="the same for relevant documents alone")
    noise.add_argument("--flip-nonrelevant", type=float, metavar="P", help="the same for nonrelevant documents alone")
    noise.add_argument("--favour-team", metavar="NAME", help="a team whose nonrelevant documents become relevant")
    noise.add_argument("--favour-run", metavar="NAME", help="a run whose nonrelevant documents become relevant")
    noise.add_argument("--rate", type=float, default=1.0, metavar="P", help="probability of a favour (default 1)")
    noise.add_argument("--depth", type=int, default=10, metavar="D", help="favours go to the top D (default 10)")
    options.add_rel(noise, 1)
    options.add_seed(noise)
    options.add_qrels_output(parser)


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
    grades = _grades(args.collapse)
    collection = options.open_collection(args, need_runs=False)
    changed = collection
    if grades is not None or args.binary is not None:
        changed = collapse(changed, grades, rel=args.binary)
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


def _grades(text: str | None) -> dict[int, int] | None:
    if text is None:
        return None
    try:
        return {int(old): int(new) for old, new in (part.split(":") for part in text.split(","))}
    except ValueError:
        raise UsageError(f"--collapse needs grades as 2:1,3:1, not {text!r}") from None
