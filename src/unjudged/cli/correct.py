"""Correct the score of a run that was not pooled, and say whether such a correction can be trusted here.

unjudged correct qrels.txt runs/ --teams teams.tsv --new my.run
unjudged correct qrels.txt runs/ --teams teams.tsv                        (every run that was not pooled)
unjudged correct qrels.txt runs/ --teams teams.tsv --new my.run -m P@10 --method lipani,webber-park
unjudged correct qrels.txt runs/ --teams teams.tsv --new my.run -m RBP,AP,nDCG@10
unjudged correct qrels.txt runs/ --teams teams.tsv --truth truth.txt      (simulated: errors against the truth)

RUN... are the runs of the pool and its time; --new names runs to be corrected. Without --new every run that was not
pooled is corrected; where all were pooled, each is shown as if its team had been left out. P@n is corrected by lipani
(default), webber-park or a later variant; any other measure by webber-park. The correction is first tried on the pool
itself: each team is left out and corrected as if it were new. Where that brings no gain, measures other than P@n are
refused.
"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.errors import UsageError

HELP = "corrected score of a run that was not pooled"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    options.add_collection(parser)
    parser.add_argument("--new", action="append", metavar="RUN", help="a run to be corrected; repeatable")
    options.add_measures(parser, "P@10")
    options.add_rel(parser)
    method = parser.add_argument_group("method")
    method.add_argument(
        "--method",
        metavar="M[,M...]",
        help="for P@n: lipani (default), webber-park, lipani-v2, webber-ratio, per-topic; else webber-park; "
        "for R@n also webber-recall",
    )
    method.add_argument(
        "--alpha", type=float, default=1.0, metavar="A", help="the new run's weight in merging, 0 to 1 (default 1)"
    )
    method.add_argument(
        "--indicator",
        default="lambda",
        metavar="I",
        help="when lipani corrects: lambda (default), delta-p, delta-anti-p",
    )
    method.add_argument("--protocol", default="strict", metavar="P", help="strict (default) or sigir2015")
    trial = parser.add_argument_group("trial on the pool")
    trial.add_argument("--no-trial", action="store_true", help="do not try the correction on left-out teams")
    trial.add_argument("--force", action="store_true", help="correct also where the trial shows no gain")
    trial.add_argument(
        "--confidence", type=float, default=0.95, metavar="C", help="confidence of the interval (default 0.95)"
    )
    trial.add_argument("--truth", metavar="QRELS", help="complete judgments: report errors against the truth instead")
    options.add_pool(parser, pooled="inferred from the judgments")
    options.add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Correct and print; notes go to stderr."""
    from unjudged.correction.truth import DEFAULT, correct_against_truth
    from unjudged.studies import study

    if args.new is not None and args.truth is not None:
        raise UsageError("--new corrects a run, --truth compares all corrections with complete judgments; give one")
    pool = options.pool_arguments(args)
    pool["pooled"] = pool["pooled"] or "infer"
    collection = options.open_collection(args)
    if args.truth is not None:
        args.qrels = args.truth
        truth = options.open_collection(args)
        measures = args.measures or list(DEFAULT)
        result = correct_against_truth(collection, truth, measures, **pool, rel=args.rel, call=args.call)
    else:
        result = study(
            "correct",
            collection,
            new=args.new,
            measures=args.measures or "P@10",
            method=args.method,
            alpha=args.alpha,
            indicator=args.indicator,
            protocol=args.protocol,
            **pool,
            rel=args.rel,
            no_trial=args.no_trial,
            confidence=args.confidence,
            force=args.force,
            jobs=args.jobs,
            call=args.call,
        )
    options.write_result(result, args, verdict=True)
    return 0
