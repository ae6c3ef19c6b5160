"""Estimate the scores of runs with unjudged documents: what is expected, and how far it could be off.

unjudged estimate qrels.txt runs/ -m nDCG@10
unjudged estimate qrels.txt runs/ my.run --teams teams.tsv -m "nDCG@10, P@10, RBP(p=0.8)" --format tsv
unjudged estimate qrels.txt my.run baseline.run -m P@10 --slice kinds.tsv

For each run the score with unjudged documents nonrelevant, the estimate, a 90 % interval, the exact bounds, and the
share of the weight that lies in holes (unjudged documents the measure reads). The more runs of different teams are
given (--teams), the better: with the pool seen the discount of unjudged documents is measured, else it is taken from
experience. "cannot tell" stands where an estimate must not be believed. P@k, nDCG@k and RBP have intervals, AP@k a
point estimate; other measures get bounds.
"""

from __future__ import annotations

import argparse

from unjudged.cli import options

HELP = "scores with unjudged documents estimated"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    from unjudged.studies import find

    arguments = (*options.COLLECTION, "measures", "rel", "slice", "thresholds", ("work", options.WORK))
    options.add_all(parser, "estimate", *arguments)
    options.add_output(parser, "estimate", find("estimate").charts({}))


def run(args: argparse.Namespace) -> int:
    """Estimate and print; notes go to stderr."""
    from unjudged.studies import find, study

    charts = options.charts_asked(args, find("estimate").charts({}))
    if args.slice:
        options.refuse_charts_of_slices(charts)
    wanted = options.measures_asked(args, "estimate")
    collection = options.open_collection(args)
    with options.on_cluster(args.cluster) as executor:
        found = study(
            "estimate",
            collection,
            measures=wanted,
            **options.keywords(args, "rel", "slice", "thresholds", "jobs", "workdir"),
            executor=executor,
            call=args.call,
        )
    options.write_result(found, args, charts, verdict=True)
    return 0
