"""Agreement of judges: kappa, alpha and overlap of two or more sets of judgments.

unjudged qrels agree human.txt machine.txt
unjudged qrels agree first.txt second.txt third.txt -q --binary --format tsv
unjudged qrels agree human.txt machine.txt --confusion --format tsv

Columns: documents (judged by all judges that are compared), agreement (share of them with the same grade), kappa
(Cohen's, plain and weighted by the distance of the grades), fleiss_kappa (over all judges), alpha (Krippendorff's,
nominal, ordinal, interval; it also uses documents that only some judges judged), overlap (documents relevant to all
judges, as a share of those relevant to any). With --format text, a table of the pairs of grades follows. What other
judgments do to the order of runs: unjudged report --second-judge FILE.
"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.errors import UsageError

HELP = "how far judges agree: confusion table, kappa, alpha, overlap"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The part's arguments."""
    options.add(parser, "qrels", "per_topic", "rel", "binary", "confusion", command="qrels agree")
    options.group(parser, "reading", "lenient", "strict", "qrels_format", "only", command="qrels agree")
    options.add_output(parser, "qrels agree")


def run(args: argparse.Namespace) -> int:
    """Compare and print."""
    from unjudged.io.files import run_name
    from unjudged.judges.agreement import judge_agreement

    if len(args.qrels) < 2:
        raise UsageError("agreement needs at least two files of judgments")
    names = [run_name(path) for path in args.qrels]
    if len(set(names)) < len(names):
        names = list(args.qrels)
    sets = options.open_judgments(args)
    found = judge_agreement(
        *sets, names=names, rel=args.rel, binary=args.binary, per_topic=args.per_topic, call=args.call
    )
    options.print_notes(found.notes)
    text = found.confusion.render(args.format) if args.confusion else found.render(args.format)
    if args.format == "text" and not args.confusion:
        text += f"\n{found.confusion.render('text')}"
    options.write_output(text, args.output)
    return 0
