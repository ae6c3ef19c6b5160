"""Score runs: one line per run, or per run and topic with -q.

unjudged score qrels.txt runs/ -m AP,nDCG@10
unjudged score qrels.txt bm25.run -q -m "P(rel=2)@5, AP', ndcg_cut_10" --format tsv
"""

from __future__ import annotations

import argparse

from unjudged.cli import options

HELP = "scores of runs; -q per topic"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    options.add_collection(parser, "score")
    options.add(parser, "measures", "per_topic", command="score")
    options.group(parser, "scoring", *options.SCORING, "growth", command="score")
    options.add_output(parser, "score")


def run(args: argparse.Namespace) -> int:
    """Score and print."""
    from unjudged.scoring import score

    wanted = options.measures_asked(args, "score")
    collection = options.open_collection(args, lists=args.unjudged == "bounds")
    if args.unjudged == "bounds":
        from unjudged.measures.bounds import DEFAULT as BOUNDED
        from unjudged.measures.bounds import score_bounds

        wanted = args.measures or list(BOUNDED)
        found = score_bounds(collection, wanted, rel=args.rel, growth=args.growth, topics=args.topics, call=args.call)
        found.per_topic = args.per_topic
        options.write_output(found.render(args.format), args.output)
        return 0
    scores = score(collection, wanted, **options.keywords(args, *options.SCORING), call=args.call)
    scores.per_topic = args.per_topic
    options.write_output(scores.pieces(args.format), args.output)
    return 0
