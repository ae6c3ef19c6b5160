"""The local page: the trust report with controls, in your browser, on this computer only.

  unjudged serve qrels.txt runs/ --teams teams.tsv

Choose measures, policy, runs and teams; leave a team out, cut the pool, add a run by drag and drop; look at two runs
topic by topic. What you see is in the URL; 'Save as report' gives the file. Ctrl+C ends it.
"""

from __future__ import annotations

import argparse

from unjudged.cli import options, report
from unjudged.errors import UsageError

HELP = "the local page: the report with controls, on this computer only"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    options.add_collection(parser)
    report.add_settings(parser)
    parser.add_argument("--thresholds", metavar="FILE", help="TOML with other limits for the verdicts")
    parser.add_argument("--port", type=int, default=8765, metavar="N", help="default 8765, or a free one")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--max-upload", type=int, default=100, metavar="MB", help="largest run to add (default 100 MB)")


def run(args: argparse.Namespace) -> int:
    """Read, then serve until interrupted."""
    from unjudged.measures import measures
    from unjudged.reporting import MEASURES, Settings, read_thresholds
    from unjudged.web import serve

    if args.max_upload < 1:
        raise UsageError("--max-upload needs a positive number of megabytes")
    wanted = tuple(str(m) for m in measures(args.measures)) if args.measures else MEASURES
    settings = Settings(wanted, args.rel, args.unjudged, args.seed, depth=args.depth)
    thresholds = read_thresholds(args.thresholds)
    collection = options.open_collection(args)
    serve(
        collection,
        settings=settings,
        thresholds=thresholds,
        port=args.port,
        open_browser=args.open,
        max_upload=args.max_upload,
    )
    return 0
