"""The trust report: how far can a collection be trusted? One HTML file that works offline.

  unjudged report qrels.txt runs/ --teams teams.tsv -o trust.html
  unjudged report qrels.txt runs/ --format markdown --fail-on "fair-to-outsiders<with care"

Every section answers one question with a verdict: solid, with care, fragile or unknown. --thresholds changes the
limits (docs/report.md). --fail-on names verdicts that are too low; exit code 1 where one is
(fragile < unknown < with care < solid).
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
    options.add_collection(parser)
    add_settings(parser)
    parser.add_argument("--second-judge", metavar="FILE", help="the same topics judged by somebody else")
    parser.add_argument("--thresholds", metavar="FILE", help="TOML with other limits for the verdicts")
    parser.add_argument("--fail-on", metavar="WHAT", default="", help="as 'fair-to-outsiders<with care'; exit code 1")
    output = parser.add_argument_group("output")
    output.add_argument("--format", default="html", choices=("html", "markdown", "json"), help="default: html")
    output.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of stdout")


def add_settings(parser: argparse.ArgumentParser) -> None:
    """What the report and the local page have in common."""
    options.add_measures(parser, "AP,nDCG@10,P@10", "the first one leads; ")
    parser.add_argument("--rel", type=int, metavar="N", help="smallest relevant grade of binary measures (default 1)")
    parser.add_argument(
        "--unjudged",
        default="nonrelevant",
        choices=("nonrelevant", "condensed"),
        help="what unjudged documents are (default: nonrelevant)",
    )
    parser.add_argument("--depth", type=int, metavar="D", help="depth of the pool (default: inferred)")
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        metavar="N",
        help="seed of everything random (default 1, as in docs/report.md)",
    )


def run(args: argparse.Namespace) -> int:
    """Compute all sections, write, and look at --fail-on."""
    from unjudged.measures import measures
    from unjudged.reporting import MEASURES, SECTIONS, failing, read_thresholds, report

    if args.format == "html" and args.output is None and sys.stdout.isatty():
        raise UsageError("name a file for the report: -o trust.html")
    wanted = [str(m) for m in measures(args.measures)] if args.measures else list(MEASURES)
    thresholds = read_thresholds(args.thresholds)
    failing(args.fail_on, dict.fromkeys(SECTIONS, "solid"))  # a misspelt condition is told before anything is read
    start = time.monotonic()
    collection = options.open_collection(args)
    second = None
    if args.second_judge is not None:
        again = argparse.Namespace(**{**vars(args), "qrels": args.second_judge, "teams": None})
        second = options.open_collection(again)
    made = report(
        collection,
        measures=wanted,
        rel=args.rel,
        unjudged=args.unjudged,
        seed=args.seed,
        depth=args.depth,
        thresholds=thresholds,
        second=second,
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
