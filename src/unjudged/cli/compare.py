"""Compare runs: is a difference real, and could unjudged documents change the answer?

unjudged compare qrels.txt runs/ -m AP,nDCG@10
unjudged compare qrels.txt runs/ --baseline bm25.run --margin 0.01 --pairs
unjudged compare qrels.txt a.run b.run -m P@10,RBP --unjudged bounds
unjudged compare qrels.txt runs/ -m AP --figure pairs.svg --figure differences=differences.pdf
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from unjudged.cli import options

HELP = "which runs differ significantly, and by how much"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    from unjudged.studies.compare import CHARTS

    testing = ("testing", (*options.TESTING, "correction", "margin"))
    scoring = ("scoring", (*options.SCORING, "growth"))
    options.add_all(parser, "compare", *options.COLLECTION, "measures", "baseline", "pairs", testing, scoring)
    options.add_output(parser, "compare", CHARTS)


def run(args: argparse.Namespace) -> int:
    """Compare and print."""
    from unjudged.studies import find
    from unjudged.studies.by_name import compare
    from unjudged.studies.compare import CHARTS

    names = (*options.TESTING, "correction", "margin", "pairs", *options.SCORING, "growth")
    given = options.keywords(args, *names) | {"measures": options.measures_asked(args, "compare")}
    find("compare").ready(given)  # what is misspelt is told before anything is read
    charts = options.charts_asked(args, CHARTS)
    collection = options.open_collection(args)
    baseline = _named(args.baseline, collection.runs)
    found = compare(collection, baseline=baseline, jobs=args.jobs, call=args.call, **given)
    options.write_result(found, args, charts, verdict=True)
    return 0


def _named(baseline: str | None, runs: Sequence[str]) -> str | None:
    """The baseline's name; its file may be given instead."""
    if baseline is None or baseline in runs:
        return baseline
    of_file = Path(baseline).name.removesuffix(".gz")
    return of_file if of_file in runs else baseline
