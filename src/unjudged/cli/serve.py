"""The local page: the trust report with controls, in your browser, on this computer only.

  unjudged serve qrels.txt runs/ --teams teams.tsv

Choose measures, policy, runs and teams; leave a team out, cut the pool, add a run by drag and drop; look at two runs
topic by topic. The URL holds all you chose, so it can be kept; 'Save as report' gives a file. /judge is the page for
judging unjudged documents ('unjudged judge' explains it). Ctrl+C ends it.
"""

from __future__ import annotations

import argparse

from unjudged.cli import judge, options, progress, report

HELP = "the local page: the report with controls, on this computer only"
USUAL = ("--teams", "-m", "--open")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    report.add_settings(parser, "serve")
    options.add(parser, "port", "open", "max_upload", command="serve")
    options.group(parser, "other judges", "second", *options.OF_JUDGES, command="serve")
    options.group(parser, "judging page", *judge.PAGE, command="serve")


def run(args: argparse.Namespace) -> int:
    """Read, then serve until interrupted."""
    from unjudged.collection.pool import read_pooled
    from unjudged.reporting import Settings
    from unjudged.thresholds import read_thresholds
    from unjudged.web import serve
    from unjudged.web.judging import Desk

    read_pooled(args.pooled)  # a file that cannot be used is refused before anything else is read
    settings = Settings(
        tuple(options.measures_asked(args, "serve")),
        **options.keywords(args, "rel", "unjudged", "seed", "depth", "pooled"),
    )
    thresholds = read_thresholds(args.thresholds)
    collection = options.open_collection(args)
    second = None if args.second is None else options.open_other_judges(args, args.second)
    progress.end()
    with options.on_cluster(args.cluster) as executor:
        serve(
            collection,
            settings=settings,
            thresholds=thresholds,
            open_browser=args.open,
            desk=Desk(collection, judge.setup(args)),
            executor=executor,
            second=second,
            of_judges=options.keywords(args, *options.OF_JUDGES),
            **options.keywords(args, "port", "max_upload", "jobs", "workdir"),
        )
    return 0
