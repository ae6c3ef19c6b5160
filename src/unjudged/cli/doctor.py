"""Find the settings that explain two different scores of one run.

unjudged doctor qrels.txt my.run --reported "ndcg@10=0.413"
unjudged doctor qrels.txt my.run --reported "map=0.221" --reported "P@10=0.35"
unjudged doctor qrels.txt my.run --reported their_scores.tsv
unjudged doctor our_scores.tsv their_scores.tsv
unjudged doctor our_scores.tsv "map=0.221"

With judgments and run, up to three settings are changed at a time until the reported numbers come out: gains, discount,
ideal list, relevance threshold, denominators, ties, order, duplicates, ids, truncation, unjudged documents, topics that
count, kind of mean. With two files of scores per topic (`unjudged score -q --format tsv`, trec_eval -q, ir_measures -q)
or values typed in, it says whether topics, means or the scores themselves differ. More numbers make the answer surer.
"""

from __future__ import annotations

import argparse

from unjudged.cli import options

HELP = "which setting explains two different scores"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    options.add(parser, "qrels_or_scores", "run_or_scores", "reported", "most", command="doctor")
    options.add_output(parser, "doctor")


def run(args: argparse.Namespace) -> int:
    """Search and print; the answer in a sentence goes before the table."""
    from unjudged.diagnosis.doctor import doctor

    found = doctor(args.qrels_or_scores, args.run_or_scores, args.reported or None, most=args.most, call=args.call)
    options.print_notes(found.notes)
    options.write_text(found.render(args.format), args)
    return 0
