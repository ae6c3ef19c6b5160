"""Score runs: one line per run, or per run and topic with -q.

unjudged score qrels.txt runs/ -m AP,nDCG@10
unjudged score qrels.txt runs/ -m nDCG@10 --unjudged estimate
unjudged score qrels.txt runs/ -m AP --sort AP --top 10 --digits 3
unjudged score qrels.txt runs/ -m AP --ranks
unjudged score qrels.txt runs/ -q --format tot -o runs.eval.txt
unjudged score qrels.txt bm25.run -q -m "P(rel=2)@5, AP', ndcg_cut_10" --format tsv
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from unjudged.cli import options
from unjudged.io.leaderboards import LEADERBOARDS
from unjudged.options import default
from unjudged.results import FORMATS

if TYPE_CHECKING:
    from unjudged.results import Result

HELP = "scores of runs; -q per topic"
USUAL = ("-m", "-q", "--sort", "--top")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    scoring = ("scoring", (*options.SCORING, "growth"))
    options.add_all(parser, "score", *options.COLLECTION, "measures", "per_topic", "ranks", "slice", scoring)
    options.add_output(parser, "score", formats=(*FORMATS, *LEADERBOARDS), arranging=options.ARRANGING)


def run(args: argparse.Namespace) -> int:
    """Score and print."""
    from unjudged.scoring import BOUNDED_DEFAULT, score, score_bounds

    wanted = options.measures_asked(args, "score")
    if args.ranks and not args.slice:
        from unjudged.cli.compare import rank

        return rank(args, options.open_collection(args))
    if args.slice:
        from unjudged.cli.compare import sliced

        scoring = {**options.keywords(args, *options.SCORING), "measures": wanted}
        return sliced(args, options.open_collection(args), means=not args.ranks, ranks=args.ranks, **scoring)
    if args.unjudged == "estimate":
        return _estimated(args)
    collection = options.open_collection(args, lists=args.unjudged == "bounds")
    if args.unjudged == "bounds":
        given = options.keywords(args, "rel", "growth", "topics", "per_topic")
        found: Result = score_bounds(collection, args.measures or list(BOUNDED_DEFAULT), **given, call=args.call)
        if outer := found.provenance.settings.get("outer bounds"):
            from unjudged.measures.bounds import NOT_ATTAINED

            options.print_notes([f"{', '.join(outer)}: {NOT_ATTAINED}"])
    else:
        found = score(collection, wanted, **options.keywords(args, *options.SCORING, "per_topic"), call=args.call)
    _write(found, args)
    return 0


def _write(found: Result, args: argparse.Namespace) -> None:
    """As a table, or as a leaderboard of TREC AutoJudge."""
    from unjudged.io.leaderboards import leaderboard_text

    if args.format in LEADERBOARDS:
        options.write_output(leaderboard_text(found.rows(), args.format), args.output)  # type: ignore[arg-type]
    elif args.format in options.LAID_OUT:
        options.write_text(options.arranged(found, args).render(args.format), args)
        return
    else:
        options.write_output(options.arranged(found, args).pieces(args.format), args.output)
    options.tell_written(args.output)


def _estimated(args: argparse.Namespace) -> int:
    """Scores with unjudged documents estimated; `unjudged estimate` shows how sure they are."""
    from unjudged.errors import UsageError
    from unjudged.holes.estimates import Limits
    from unjudged.holes.scores import estimated_scores
    from unjudged.thresholds import default_thresholds

    if args.topics != "judged" or args.undefined != "zero":
        raise UsageError("estimates are means over all judged topics; --topics and --undefined do not apply")
    limits = Limits.of(default_thresholds()["score-range"])
    wanted = args.measures or list(default("measures", "estimate"))
    given = options.keywords(args, "rel", "per_topic")
    found, notes = estimated_scores(options.open_collection(args), wanted, limits, **given, call=args.call)
    options.print_notes(notes)
    _write(found, args)
    return 0
