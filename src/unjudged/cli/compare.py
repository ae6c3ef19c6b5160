"""Compare runs: is a difference real, and could unjudged documents change the answer?

unjudged compare qrels.txt runs/ -m AP,nDCG@10
unjudged compare qrels.txt runs/ --baseline bm25.run --test t --correction holm --pairs
unjudged compare qrels.txt a.run b.run -m P@10,RBP --unjudged bounds
unjudged compare qrels.txt runs/ -m AP --figure pairs.svg --figure differences=differences.pdf
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from unjudged.cli import options

HELP = "which runs differ significantly, and by how much"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    from unjudged.comparing.compare import CHARTS

    options.add_collection(parser, "compare")
    options.add(parser, "measures", "baseline", "pairs", command="compare")
    options.group(parser, "testing", *options.TESTING, "correction", command="compare")
    options.group(parser, "scoring", *options.SCORING, "growth", command="compare")
    options.add_output(parser, "compare", CHARTS)


def run(args: argparse.Namespace) -> int:
    """Compare and print."""
    from unjudged.comparing.compare import CHARTS, compare
    from unjudged.studies.engine.significance import Test, correction_of

    wanted = options.measures_asked(args, "compare")
    correction_of(args.correction, Test(args.test, args.alpha, args.resamples, args.seed))
    charts = options.charts_asked(args, CHARTS)
    collection = options.open_collection(args)
    found = compare(
        collection,
        wanted,
        baseline=_named(args.baseline, collection.runs),
        correction=args.correction,
        jobs=args.jobs or os.cpu_count() or 1,
        **options.keywords(args, *options.TESTING, *options.SCORING, "growth"),
        call=args.call,
    )
    if args.pairs:
        found.shown = "pairs"
    options.write_result(found, args, charts, verdict=True)
    return 0


def _named(baseline: str | None, runs: Sequence[str]) -> str | None:
    """The baseline's name; its file may be given instead."""
    if baseline is None or baseline in runs:
        return baseline
    of_file = Path(baseline).name.removesuffix(".gz")
    return of_file if of_file in runs else baseline
