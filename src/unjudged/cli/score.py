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
    options.add_collection(parser)
    options.add_measures(parser, "AP,nDCG@10,P@10,RR,bpref,Judged@10")
    parser.add_argument("-q", "--per-topic", action="store_true", help="scores of each topic, too")
    options.add_scoring(parser)
    options.add_growth(parser)
    options.add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Score and print."""
    from unjudged.measures import measures
    from unjudged.scoring import DEFAULT, score

    wanted = args.measures or list(DEFAULT)
    measures(wanted)  # a misspelt measure is told before anything is read
    collection = options.open_collection(args, lists=args.unjudged == "bounds")
    if args.unjudged == "bounds":
        from unjudged.measures.bounds import DEFAULT as BOUNDED
        from unjudged.measures.bounds import bounds

        wanted = args.measures or list(BOUNDED)
        found = bounds(collection, wanted, rel=args.rel, growth=args.growth, topics=args.topics, call=args.call)
        found.per_topic = args.per_topic
        options.write_output(found.render(args.format), args.output)
        return 0
    scores = score(collection, wanted, **options.scoring_arguments(args), call=args.call)
    scores.per_topic = args.per_topic
    options.write_output(scores.pieces(args.format), args.output)
    return 0
