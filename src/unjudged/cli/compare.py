"""Compare runs: is a difference real, and could unjudged documents turn it round?

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

    options.add_collection(parser)
    options.add_measures(parser, "AP,nDCG@10,P@10")
    parser.add_argument("--baseline", metavar="NAME", help="compare every run with this one (default: all pairs)")
    testing = parser.add_argument_group("testing")
    options.add_testing(
        testing,
        test="t (paired, default), bootstrap, wilcoxon, permutation, tukey, randomised-tukey",
        resamples="1000; randomised-tukey 5000",
    )
    testing.add_argument(
        "--correction",
        metavar="NAME",
        help="for the number of pairs: holm (default), bonferroni, bh (Benjamini-Hochberg), none; Tukey needs none",
    )
    testing.add_argument(
        "--margin", type=float, default=0.0, metavar="D", help="runs whose whole interval is smaller are the same"
    )
    testing.set_defaults(test="t")
    options.add_scoring(parser)
    options.add_growth(parser)
    options.add_output(parser, CHARTS)
    parser.add_argument(
        "--pairs",
        action="store_true",
        help="lay out text, Markdown and LaTeX by pairs of runs instead of means (tsv, csv and JSON always do)",
    )


def run(args: argparse.Namespace) -> int:
    """Compare and print."""
    from unjudged.studies import find
    from unjudged.studies.by_name import compare
    from unjudged.studies.compare import CHARTS

    given = {
        "correction": args.correction,
        "margin": args.margin,
        "pairs": args.pairs,
        "growth": args.growth,
        **options.testing_arguments(args),
        **options.scoring_arguments(args),
        **({"measures": args.measures} if args.measures else {}),
    }
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
