"""The judging page: a query, a document, keys for the grades; what to judge next is chosen again after every batch.

  unjudged judge qrels.txt runs/ --new my.run --baseline bm25.run --queries queries.jsonl --corpus corpus.jsonl
  unjudged judge qrels.txt runs/ --top 3 --labels ann.sqlite --judge Ann
  unjudged judge qrels.txt --labels ann.sqlite --export labels.txt
  unjudged judge qrels.txt --labels ann.sqlite --merged qrels.new.txt

Opens a page on this computer. Documents come in the order of 'unjudged next'; which run brought one, at which rank, and
how likely it is to be relevant stay hidden, and so does the direction of the outcome unless you ask for it. Every label
is on disk before the next document comes, with its time and the judge's name; a change of mind is a new row. Several
judges can share a label file: all labels are kept, and where judges differ the majority counts (in a tie the judge who
began first), unless --rule says otherwise. Ctrl+C ends it; the same command goes on where you stopped.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from unjudged.cli import options, progress

if TYPE_CHECKING:
    from unjudged.collection import Collection
    from unjudged.web.judging import Judging

HELP = "judge unjudged documents on a local page"
USUAL = ("--new", "--baseline", "-m", "--queries", "--corpus")
PAGE = ("labels", "judge", "queries", "corpus", "scale", "batch")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    asked = ("question", ("new", "baseline", "top", "all", "alpha", "correction", "rel"))
    page = ("page", (*PAGE, "seed", "port", "open"))
    export = ("labels as judgments", ("export", "merged", "rule"))
    options.add_all(parser, "judge", *options.COLLECTION, "measures", asked, page, export)


def setup(args: argparse.Namespace) -> Judging:
    """How the judging page is set up by these arguments."""
    from unjudged.web.judging import Judging

    return Judging(**options.keywords(args, *PAGE, "seed"))


def run(args: argparse.Namespace) -> int:
    """Serve the page until interrupted, or write the labels."""
    from unjudged.errors import UsageError
    from unjudged.io.write import refuse_unwritable

    if args.export is not None or args.merged is not None:
        for path in filter(None, (args.export, args.merged)):
            if path != "-":
                refuse_unwritable(path)
        return _export(args, options.open_collection(args, need_runs=False))
    if not args.runs:
        raise UsageError("RUN missing: documents to judge are those of the runs (--export needs none)")
    return _serve(args)


def _serve(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from unjudged.cli.named_runs import named, with_files
    from unjudged.holes.judging import Question
    from unjudged.text import counted
    from unjudged.web import serve
    from unjudged.web.judging import Desk

    (measure, *more) = options.measures_asked(args, "judge")
    args.runs = with_files(args.runs, (args.new, args.baseline))
    collection = options.open_collection(args)
    question = Question(
        ",".join([measure, *more]),
        named(args.new, collection.runs),
        named(args.baseline, collection.runs),
        args.top,
        args.all,
        args.rel,
        args.alpha,
        args.correction or "holm",
    )
    desk = Desk(collection, replace(setup(args), question=question))  # trouble is told here, not on the page
    desk.labels.check()
    session = desk.session(question)
    wanted = {doc for _, doc in session.holes}
    if args.corpus is not None:
        many = desk.documents.need(wanted)
        options.print_notes([f"{args.corpus}: texts of {many} of {counted(len(wanted), 'unjudged document')}"])
    now = session.progress()
    options.print_notes([f"{session.aim.name} by {measure}: {now.headline}. {now.sentence}"])
    progress.end()
    serve(collection, desk=desk, first="judge", port=args.port, open_browser=args.open)
    return 0


def _export(args: argparse.Namespace, collection: Collection) -> int:
    """The labels as judgments, alone or with those there were; what there is to know goes to stderr."""
    from unjudged.changes.rejudge import judgments_of
    from unjudged.errors import UsageError
    from unjudged.holes.answers import merged
    from unjudged.holes.labels import LabelFile, grades, highest, told
    from unjudged.holes.scale import with_scale
    from unjudged.io.write import qrels_text, write_qrels

    rows = LabelFile(args.labels, collection.judgments).rows()
    given = grades(rows, args.rule, args.judge)
    if not given:
        of = "" if args.judge is None else f" of {args.judge}"
        raise UsageError(f"{args.labels}: there are no labels{of} to write")
    options.print_notes([f"{args.labels}: {note}" for note in told(rows, args.rule)])
    scaled = with_scale(collection, highest(rows))
    both = ((args.export, judgments_of(given)), (args.merged, merged(scaled, given).collection.judgments))
    for path, judgments in both:
        if path == "-":
            options.write_bytes(qrels_text(judgments), None)
        elif path is not None:
            write_qrels(judgments, path)
    return 0
