"""The trust report: how far can a collection be trusted? One HTML file that works offline.

  unjudged report qrels.txt runs/ --teams teams.tsv -o trust.html --open
  unjudged report qrels.txt old.run new.run --queries queries.jsonl -o compare.html
  unjudged report qrels.txt runs/ --slice kinds.tsv -o trust.html
  unjudged report --scores scores.csv -o trust.html
  unjudged report qrels.txt runs/ --format markdown --fail-on "fair-to-outsiders<with care"

Every section answers one question with a verdict: solid, with care, fragile or unknown; 2 to 5 runs are compared pair
by pair. The verdicts are printed, too. --thresholds changes the limits (docs/report.md). --fail-on names the verdicts
that are too low for you; the exit code is 1 if one of them is given (fragile < unknown < with care < solid).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from unjudged.cli import options, progress
from unjudged.errors import UsageError

HELP = "the trust report, one offline HTML file; also PDF, markdown and json"
USUAL = ("--teams", "-o", "--open", "-m")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    add_settings(parser, "report")
    options.add_all(parser, "report", options.SCORE_TABLE)
    options.add(parser, "slice", "title", "queries", "fail_on", command="report")
    options.group(parser, "other judges", "second", *options.OF_JUDGES, command="report")
    options.group(parser, "output", "format", "output", "pdf", "open", command="report")


def add_settings(parser: argparse.ArgumentParser, command: str) -> None:
    """What the report and the local page have in common."""
    own = ("measures", "rel", "unjudged", "seed", "thresholds")
    pool, work = ("pool", ("depth", "pooled")), ("work", options.WORK)
    options.add_all(parser, command, *options.COLLECTION, *own, pool, work)


def run(args: argparse.Namespace) -> int:
    """Compute all sections, write, show the verdicts, and look at --fail-on."""
    from unjudged.collection.pool import read_pooled
    from unjudged.io.slices import read_slices
    from unjudged.io.texts import read_texts
    from unjudged.io.write import refuse_unwritable
    from unjudged.reporting import failing, report
    from unjudged.reporting.pdf import browser, print_to
    from unjudged.reporting.terminal import show
    from unjudged.studies import QUESTIONS, find
    from unjudged.studies.questions import MEASURES, SLICES
    from unjudged.thresholds import read_thresholds

    to_file = args.output not in (None, "-")
    if args.format == "html" and args.output is None and sys.stdout.isatty() and args.pdf is None:
        raise UsageError("name a file for the report: -o trust.html")
    if args.open and (not to_file or args.format != "html"):
        raise UsageError("--open shows a report that was written: add -o trust.html")
    if args.pdf is not None:
        browser()  # without one there is no need to compute anything
        refuse_unwritable(args.pdf)
    measures = options.measures_asked(args, "report") if not args.scores else args.measures or MEASURES
    read_pooled(args.pooled)  # a file that cannot be used is refused before anything else is read
    thresholds = read_thresholds(args.thresholds)
    asked = {**QUESTIONS, **({SLICES.key: SLICES} if args.slice else {})}
    sections = [key for key, question in asked.items() if not args.scores or find(question.study).scores]
    failing(args.fail_on, dict.fromkeys(sections, "solid"))  # a misspelt condition is refused before anything is read
    if args.slice:
        read_slices(args.slice)  # so is a file that cannot be used
    start = time.monotonic()
    collection = options.open_source(args, args.measures or None)
    with options.on_cluster(args.cluster) as executor:
        made = report(
            collection,
            measures=measures,
            **options.keywords(args, "rel", "unjudged", "seed", "depth", "pooled", "title", "jobs", "workdir"),
            executor=executor,
            thresholds=thresholds,
            second=None if args.second is None else options.open_other_judges(args, args.second),
            **options.keywords(args, *options.OF_JUDGES),
            slice=args.slice,
            queries=read_texts(args.queries, collection.topics) if args.queries else None,
            progress=_answering,
            call=args.call,
        )
    if args.pdf is None or to_file:
        options.write_output(made.render(args.format), args.output)
    if args.pdf is not None:
        print_to(made.html(), Path(args.pdf))
    if to_file or args.pdf is not None:
        show(made)
    for path in filter(None, (args.output if to_file else None, args.pdf)):
        size = Path(path).stat().st_size
        print(f"wrote {path} ({size / 1000:,.0f} KB) in {time.monotonic() - start:.1f} s", file=sys.stderr)
    if args.open:
        import webbrowser

        webbrowser.open(Path(args.output).resolve().as_uri())
    met = failing(args.fail_on, made.words)
    for condition in met:
        print(f"failed: {condition}", file=sys.stderr)
    return 1 if met else 0


def _answering(key: str, share: float) -> None:
    from unjudged.studies import QUESTIONS
    from unjudged.studies.questions import SLICES

    progress.tell(QUESTIONS.get(key, SLICES).text, share)
