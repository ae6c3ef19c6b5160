"""Correct the score of a run that was not pooled, and say whether such a correction can be trusted here.

unjudged correct qrels.txt runs/ --teams teams.tsv --new my.run
unjudged correct qrels.txt runs/ --teams teams.tsv --new my.run -m P@10 --method lipani,webber-park
unjudged correct qrels.txt runs/ --teams teams.tsv --new my.run -m RBP,AP,nDCG@10
unjudged correct qrels.txt runs/ --teams teams.tsv --truth truth.txt      (simulated: errors against the truth)

RUN... are the runs of the evaluation the pool was made in; --new names the runs to be corrected. P@n is corrected by
lipani (default), webber-park or a later variant; any other measure by webber-park. The correction is first tried on the
pool itself: each team is left out and corrected as if it were new. Where the correction does not reduce the error,
measures other than P@n are refused (--force corrects them all the same).
"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.errors import UsageError
from unjudged.options import default

HELP = "corrected score of a run that was not pooled"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    options.add_collection(parser, "correct")
    options.add(parser, "new", "measures", "rel", command="correct")
    options.group(parser, "method", "method", "alpha", "indicator", "protocol", command="correct")
    options.group(parser, "trial on the pool", "no_trial", "force", "confidence", "truth", command="correct")
    options.group(parser, "pool", *options.POOL, command="correct")
    options.add_output(parser, "correct")


def run(args: argparse.Namespace) -> int:
    """Correct and print; notes go to stderr."""
    from unjudged.correction import correct, correct_against_truth
    from unjudged.correction.truth import DEFAULT

    if (args.new is None) == (args.truth is None):
        raise UsageError(
            "name the run to be corrected (--new RUN), or the complete judgments of a simulation (--truth)"
        )
    pool = options.pool_keywords(args)
    if args.truth is not None:
        collection = options.open_collection(args)
        args.qrels = args.truth
        truth = options.open_collection(args)
        result = correct_against_truth(
            collection, truth, args.measures or list(DEFAULT), **pool, rel=args.rel, call=args.call
        )
    else:
        collection = options.open_collection(args)
        result = correct(
            collection,
            args.new,
            args.measures or list(default("measures", "correct")),
            **options.keywords(args, "method", "alpha", "indicator", "protocol", "rel", "confidence", "force"),
            **pool,
            validate=not args.no_trial,
            call=args.call,
        )
    options.write_result(result, args)
    return 0
