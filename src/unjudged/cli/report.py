"""The trust report: how far can a collection be trusted? One HTML file that works offline.

  unjudged report qrels.txt runs/ --teams teams.tsv -o trust.html
  unjudged report qrels.txt runs/ --format markdown --fail-on "fair-to-outsiders<with care"

Every section answers one question with a verdict: solid, with care, fragile or unknown. --thresholds changes the
limits (docs/report.md). --fail-on names the verdicts that are too low for you; the exit code is 1 if one of them is
given (fragile < unknown < with care < solid).
"""

from __future__ import annotations

import argparse
import sys
import time

from unjudged.cli import options
from unjudged.errors import UsageError

HELP = "the trust report, one offline HTML file; also markdown and json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    add_settings(parser, "report")
    options.add(parser, "second", "fail_on", command="report")
    options.group(parser, "output", "format", "output", command="report")


def add_settings(parser: argparse.ArgumentParser, command: str) -> None:
    """What the report and the local page have in common."""
    own = ("measures", "rel", "unjudged", "seed", "thresholds")
    pool, work = ("pool", ("depth", "pooled")), ("work", options.WORK)
    options.add_all(parser, command, *options.COLLECTION, *own, pool, work)


def run(args: argparse.Namespace) -> int:
    """Compute all sections, write, and look at --fail-on."""
    from unjudged.collection.pool import read_pooled
    from unjudged.reporting import failing, report
    from unjudged.studies import QUESTIONS
    from unjudged.thresholds import read_thresholds

    if args.format == "html" and args.output is None and sys.stdout.isatty():
        raise UsageError("name a file for the report: -o trust.html")
    measures = options.measures_asked(args, "report")
    read_pooled(args.pooled)  # a file that cannot be used is refused before anything else is read
    thresholds = read_thresholds(args.thresholds)
    failing(args.fail_on, dict.fromkeys(QUESTIONS, "solid"))  # a misspelt condition is refused before anything is read
    start = time.monotonic()
    collection = options.open_collection(args)
    with options.on_cluster(args.cluster) as executor:
        made = report(
            collection,
            measures=measures,
            **options.keywords(args, "rel", "unjudged", "seed", "depth", "pooled", "jobs", "workdir"),
            executor=executor,
            thresholds=thresholds,
            second=None if args.second is None else options.open_other_judges(args, args.second),
            progress=_bar if sys.stderr.isatty() else None,
            call=args.call,
        )
    options.write_output(made.render(args.format), args.output)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    if args.output not in (None, "-"):
        print(f"wrote {args.output} in {time.monotonic() - start:.1f} s", file=sys.stderr)
    met = failing(args.fail_on, made.words)
    for condition in met:
        print(f"failed: {condition}", file=sys.stderr)
    return 1 if met else 0


def _bar(key: str, share: float) -> None:
    print(f"\r\033[K{100 * share:3.0f} %  {key}", end="", file=sys.stderr, flush=True)
