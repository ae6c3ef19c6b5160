"""Compare runs: is a difference real, and could unjudged documents change the answer?

unjudged compare qrels.txt runs/ -m AP,nDCG@10
unjudged compare qrels.txt runs/ --baseline bm25.run --margin 0.01 --pairs
unjudged compare qrels.txt a.run b.run -m P@10,RBP --unjudged bounds
unjudged compare --scores scores.csv --baseline bm25
unjudged compare qrels.txt runs/ -m AP --figure pairs.svg --figure differences=differences.pdf
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from unjudged.cli import options
from unjudged.cli.named_runs import named, with_files
from unjudged.options import default

if TYPE_CHECKING:
    from unjudged.collection import Collection
    from unjudged.results import Result
    from unjudged.scoring import Scores

FEW_PAIRS = 6
"""Pairs whose outcomes stand over the table, one a line: four runs, or six against a baseline."""
HELP = "which runs differ significantly, and by how much"
USUAL = ("-m", "--baseline")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    from unjudged.studies.compare import CHARTS

    testing = ("testing", (*options.TESTING, "correction", "margin"))
    scoring = ("scoring", (*options.SCORING, "growth"))
    own = ("measures", "baseline", "pairs", "ranks", "slice")
    options.add_all(parser, "compare", *options.COLLECTION, options.SCORE_TABLE, *own, testing, scoring)
    options.add_output(parser, "compare", CHARTS, arranging=("sort", "rows"))


def run(args: argparse.Namespace) -> int:
    """Compare and print."""
    from unjudged.studies import find
    from unjudged.studies.by_name import compare
    from unjudged.studies.compare import CHARTS

    if not args.scores:
        args.runs = with_files(args.runs, (args.baseline,))
    if args.ranks and not args.slice:
        return rank(args, options.open_source(args, args.measures or None))
    names = (*options.TESTING, "correction", "margin", "pairs", *options.SCORING, "growth")
    given = options.keywords(args, *names)
    if not args.scores:
        given["measures"] = options.measures_asked(args, "compare")
    find("compare").ready(given)  # what is misspelt is told before anything is read
    charts = options.charts_asked(args, CHARTS)
    source = options.open_source(args, args.measures or None)
    baseline = named(args.baseline, source.runs)
    if args.slice:
        options.refuse_charts_of_slices(charts)
        given = {name: value for name, value in given.items() if name != "pairs"}
        return sliced(args, source, baseline=baseline, ranks=args.ranks, **given)
    found = compare(source, baseline=baseline, jobs=args.jobs, call=args.call, **given)
    first = [] if args.pairs or args.unjudged == "bounds" else outcomes(found, baseline)
    options.write_result(found, args, charts, verdict=True, first=first)
    return 0


def outcomes(found: Result, baseline: str | None) -> list[str]:
    """A line per pair of few runs and measure: the outcome, the runs, how far apart they are; none for many pairs.

    Without a baseline the better run of a pair is named first.
    """
    from unjudged.cli.width import terminal_width
    from unjudged.studies.engine.outcome import WORSE, seen_from
    from unjudged.text import printable

    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows()]
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    if not rows or len(rows) > FEW_PAIRS * len(measures):
        return []
    cells: dict[str, list[tuple[str, str, str]]] = {measure: [] for measure in measures}
    for row in rows:
        pair = [row["run_a"], row["run_b"]]
        if row["outcome"] == WORSE and baseline is None:
            pair.reverse()
        word, apart, margin = seen_from(row, pair[0])
        said = f"{apart:+.2f}, give or take {margin:.2f}"
        why = f"{word}: {row['why']}" if row["why"] else word
        cells[row["measure"]].append((why, printable(" against ".join(pair)), said))
    words, names, _ = (max(len(cell[place]) for of in cells.values() for cell in of) for place in range(3))
    beside = [[f"  {a:<{words}}   {b:<{names}}   {c}" for a, b, c in of] for of in cells.values()]
    wide = terminal_width()
    if wide is not None and max(len(line) for lines in beside for line in lines) > wide:  # names stay whole
        beside = [[f"  {a:<{words}}   {b}: {c}" for a, b, c in of] for of in cells.values()]
    if len(measures) == 1:
        return beside[0]
    return [line for measure, lines in zip(measures, beside, strict=True) for line in (f"  by {measure}", *lines)]


def sliced(args: argparse.Namespace, source: Collection | Scores, **asked: Any) -> int:
    """The same within slices of the topics, as `unjudged study slices` gives it."""
    from unjudged.studies import study

    found = study("slices", source, slice=args.slice, jobs=args.jobs, call=args.call, **asked)
    options.write_result(found, args, verdict=True)
    return 0


def rank(args: argparse.Namespace, source: Collection | Scores) -> int:
    """The ranks of the runs instead, as `unjudged study ranks` gives them."""
    from unjudged.studies.by_name import ranks

    asked = options.keywords(args, *(n for n in (*options.SCORING, "alpha", "resamples", "seed") if hasattr(args, n)))
    if asked["unjudged"] == default("unjudged", "compare"):  # ranks are those of the scores as they are
        del asked["unjudged"]
    if isinstance(wanted := args.measures or None, list):
        asked["measures"] = wanted
    elif not getattr(args, "scores", None):
        asked["measures"] = default("measures", "compare")
    found = ranks(source, jobs=args.jobs, call=args.call, **asked)
    charts = options.charts_asked(args, ("ranks",)) if hasattr(args, "figure") else []
    options.write_result(found, args, charts, verdict=True)
    return 0
