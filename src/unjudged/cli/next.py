"""Which documents to judge next: the unjudged ones whose labels would settle which runs are better.

unjudged next qrels.txt runs/ --new my.run --baseline bm25.run -m nDCG@10
unjudged next qrels.txt runs/ --top 3 --budget 50 --format csv -o to-judge.csv
unjudged next qrels.txt runs/ --all --format label-studio --queries queries.jsonl --corpus corpus.jsonl -o tasks.json
unjudged next qrels.txt runs/ --new my.run --baseline bm25.run --answers judged.json --merged qrels.new.txt

Documents stand in the order of their value; each batch is best chosen anew, with the answers of the one before
(--answers). text, tsv, csv, jsonl, json, markdown and latex tell the value, the chance of relevance, the ranks in the
runs, what a label could change and how many labels are expected to be needed. The formats for assessors (list, quepid,
doccano, label-studio) hold topic, document and text only, shuffled within a topic: who sees ranks or chances judges
differently. Answers come back in the same formats, or as judgments; --merged writes them with the judgments.
"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.cli.named_runs import named, with_files
from unjudged.holes.assessors import FORMATS as FOR_ASSESSORS
from unjudged.results import FORMATS

HELP = "which unjudged documents to judge next"
USUAL = ("--new", "--baseline", "-m", "--budget", "-o")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    asked = ("question", ("new", "baseline", "top", "all", "alpha", "correction", "rel"))
    listed = ("list", ("budget", "batch", "seed", "queries", "corpus"))
    options.add_all(parser, "next", *options.COLLECTION, "measures", asked, listed, ("answers", ("answers", "merged")))
    options.add_output(parser, "next", formats=(*FORMATS, *FOR_ASSESSORS))


def run(args: argparse.Namespace) -> int:
    """Choose and print; where the question stands goes to stderr."""
    from unjudged.errors import UsageError
    from unjudged.holes.judging import next_to_judge
    from unjudged.io.texts import read_texts
    from unjudged.io.write import refuse_unwritable, write_qrels

    wanted = options.measures_asked(args, "next")
    if args.merged is not None and args.answers is None:
        raise UsageError("--merged writes judgments with answers; name them with --answers")
    for path in filter(None, (args.merged, args.output)):
        if path != "-":
            refuse_unwritable(path)
    args.runs = with_files(args.runs, (args.new, args.baseline))
    collection = options.open_collection(args)
    queries = read_texts(args.queries, collection.topics) if args.queries else {}
    found = next_to_judge(
        collection,
        wanted,
        new=named(args.new, collection.runs),
        baseline=named(args.baseline, collection.runs),
        all_pairs=args.all,
        correction=args.correction or "holm",
        queries=queries,
        **options.keywords(args, "top", "budget", "batch", "answers", "rel", "alpha", "seed"),
        call=args.call,
    )
    if args.format in FOR_ASSESSORS:
        pairs = found.for_assessors()
        documents = read_texts(args.corpus, {doc for _, doc in pairs}) if args.corpus else {}
        text = FOR_ASSESSORS[args.format](pairs, queries, documents)
    else:
        text = found.render(args.format)
    options.print_notes(found.notes)
    options.write_text(text, args)
    if args.merged is not None:
        write_qrels(found.judged.judgments, args.merged)
    return 0
