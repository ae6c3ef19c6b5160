"""Merge: one set of judgments from several, or another assessor's judgments in place of the first.

unjudged qrels merge first.txt second.txt third.txt --rule majority -o merged.txt
unjudged qrels merge human.txt machine.txt --rule replace -o machine-in-place.txt

Rules: majority (a tie goes to the earlier file), max, min, mean and median (halves rounded up), first (the first
file that judges the document), agreed (only where all files give the same grade), random (each topic from one file,
by seed), replace (the last file's judgments; documents it lacks become unjudged), fill (the last file's where it
has one).
"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.errors import UsageError, nearest

HELP = "one set of judgments from several: majority, max, mean, agreed, replace, ..."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    options.add(parser, "qrels", "rule", "seed", "output", command="qrels merge")
    options.group(parser, "reading", "lenient", "strict", "qrels_format", "only", command="qrels merge")


def run(args: argparse.Namespace) -> int:
    """Merge and write."""
    from unjudged.changes.merge import RULES, merge
    from unjudged.changes.rejudge import replace_judgments

    rules = (*RULES, "replace", "fill")
    if args.rule not in rules:
        raise UsageError(f"unknown rule {args.rule!r}{nearest(args.rule, rules)}; there are {', '.join(rules)}")
    if len(args.qrels) < 2:
        raise UsageError("merging needs at least two files of judgments")
    first, *others = options.open_judgments(args)
    if args.rule in RULES:
        merged = merge(first, *others, rule=args.rule, seed=args.seed)
    else:
        merged = first
        for other in others:
            merged = replace_judgments(merged, other, keep=args.rule == "fill")
    options.write_judgments(first, merged, args.output)
    return 0
