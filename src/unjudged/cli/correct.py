"""Correct the score of a run that was not pooled, and say whether such a correction can be trusted here.

unjudged correct qrels.txt runs/ --teams teams.tsv --new my.run
unjudged correct qrels.txt runs/ --teams teams.tsv                        (every run that was not pooled)
unjudged correct qrels.txt runs/ --teams teams.tsv --new my.run -m P@10 --method lipani,webber-park
unjudged correct qrels.txt runs/ --teams teams.tsv --new my.run -m RBP,AP,nDCG@10
unjudged correct qrels.txt runs/ --teams teams.tsv --truth truth.txt      (simulated: errors against the truth)

RUN... are the runs of the evaluation the pool was made in; --new names the runs to be corrected. Without --new every
run that was not pooled is corrected; where all were pooled, each is shown as if its team had been left out. Every
method is first tried on the pool itself: each team is left out and corrected as if it were new. The method with the
smallest error there is taken, or none where none helps; --method names another one (--force where it does not help).
"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.errors import UsageError
from unjudged.options import default

HELP = "corrected score of a run that was not pooled"
USUAL = ("--new", "--teams", "-m")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    method = ("method", ("method", "merge_weight", "indicator", "protocol"))
    trial = ("trial on the pool", ("no_trial", "force", "confidence", "truth"))
    own = ("new", "measures", "rel", "slice", method, trial, options.IN_POOL, ("work", options.WORK))
    options.add_all(parser, "correct", *options.COLLECTION, *own)
    options.add_output(parser, "correct")


def run(args: argparse.Namespace) -> int:
    """Correct and print; notes go to stderr."""
    from unjudged.correction.truth import DEFAULT, correct_against_truth
    from unjudged.studies import study

    if args.new is not None and args.truth is not None:
        raise UsageError("--new corrects a run, --truth compares all corrections with complete judgments; give one")
    if args.slice is not None and args.truth is not None:
        raise UsageError("--truth compares corrections over all topics; --slice does not apply")
    pool = options.pool_keywords(args)
    collection = options.open_collection(args)
    if args.truth is not None:
        args.qrels = args.truth
        truth = options.open_collection(args)
        measures = args.measures or list(DEFAULT)
        result = correct_against_truth(collection, truth, measures, **pool, rel=args.rel, call=args.call)
    else:
        given = (
            "new",
            "rel",
            "method",
            "merge_weight",
            "indicator",
            "protocol",
            "confidence",
            "force",
            "no_trial",
        )
        with options.on_cluster(args.cluster) as executor:
            result = study(
                "correct",
                collection,
                measures=args.measures or list(default("measures", "correct")),
                **options.keywords(args, *given, "slice", "jobs", "workdir"),
                **pool,
                executor=executor,
                call=args.call,
            )
    options.write_result(result, args, verdict=True)
    return 0
