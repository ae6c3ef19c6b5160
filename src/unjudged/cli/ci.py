"""A gate for continuous integration: may this run replace the baseline?

unjudged ci qrels.txt new.run --baseline old.run
unjudged ci qrels.txt new.run --baseline old.run -m nDCG@10 --margin 0.02 --holes 0.1 --junit report.xml
unjudged ci qrels.txt new.run --baseline old.run --queries queries.jsonl --format markdown -o comment.md
unjudged ci qrels.txt new.run --baseline old.run --slice kinds.tsv

A run passes where the topics rule out a loss of the margin or more, and fails where they rule out a smaller one.
Unjudged documents are estimated; where they are what leaves it open, the first ones to judge are named.
The topics that lost most by the first measure follow, with their texts where --queries gives them.
With --slice the gate is asked within every slice, too: one that fails (adjusted for their number) makes it fail.
compare asks another question (any difference, either way?): a run may fail here where compare cannot tell.
Exit code 0: pass; 1: fail; 2: unusable input; 3: cannot tell (--doubt fail makes it 1, --doubt pass 0).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from unjudged.cli import options
from unjudged.errors import UsageError, one_line

if TYPE_CHECKING:
    from unjudged.collection import Collection
    from unjudged.results import Result

HELP = "regression gate: pass, fail or cannot tell"
USUAL = ("--baseline", "-m", "--margin", "--queries")
EXIT_CODES = {"pass": 0, "fail": 1, "cannot tell": 3}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    gate = ("gate", ("baseline", "margin", "holes", "doubt", "rel", "queries", "corpus", "slice", "junit"))
    options.add_all(parser, "ci", *options.COLLECTION, "measures", gate, ("testing", ("alpha", "correction")))
    options.add_output(parser, "ci", ("gate",))


def run(args: argparse.Namespace) -> int:
    """Compare, print, and answer with the exit code."""
    from unjudged.io.files import expand, run_name
    from unjudged.io.texts import read_texts
    from unjudged.studies import find
    from unjudged.studies.by_name import gate
    from unjudged.studies.gate import DOUBT, answer, junit, lost_most, with_slices

    given = options.keywords(args, "margin", "holes", "rel", "alpha", "correction")
    given["measures"] = options.measures_asked(args, "ci")
    find("gate").ready(given)  # what is misspelt is told before anything is read
    charts = options.charts_asked(args, find("gate").charts({}))
    files = [path for run in args.runs for path in expand(run)]
    if len(files) != 1:
        raise UsageError(f"the gate compares one run with its baseline, {len(files)} runs were given")
    (file,) = files
    args.runs = [file, args.baseline]
    name, baseline = map(run_name, args.runs)
    if name == baseline and file != args.baseline:  # pr/bm25.run against main/bm25.run: called by their paths
        args.runs, baseline = {path: path for path in args.runs}, args.baseline
    collection = options.open_collection(args)
    if args.corpus is not None:
        _tell_older(collection, args.corpus)
    if len(collection.runs) != 2:
        raise UsageError(f"the gate compares one run with its baseline, {len(collection.runs) - 1} runs were given")
    new = next(name for name in collection.runs if name != baseline)
    whole = found = gate(collection, new, baseline, call=args.call, **given)
    if args.slice:
        inside = gate(collection, new, baseline, call=args.call, slice=args.slice, **given)
        found = with_slices(whole, inside, len(collection.topics))
    options.print_notes(found.notes)
    said = answer(found)
    if args.junit is not None:
        options.write_output(junit(found, args.doubt != "pass"), args.junit)
        options.tell_written(args.junit)
    if args.format in ("text", "markdown"):
        texts = read_texts(args.queries, collection.topics) if args.queries else {}
        text = _read(found, lost_most(collection, whole, texts), said, args.format)
    else:
        text = found.render(args.format)
    options.write_text(text, args)
    for chart, path in charts:
        found.plot(chart).save(path)
        options.tell_written(path)
    return EXIT_CODES[args.doubt or said if said == DOUBT else said]


def _read(found: Result, lost: Result, said: str, form: str) -> str:
    """What people read: the outcome, the table, the topics that lost most, and what to judge next."""
    assert found.verdict is not None
    markdown = form == "markdown"
    outcome = f"**{said}**" if markdown else said
    parts = [f"{outcome}: {one_line(found.verdict.sentence)}\n", found.render(form)]
    if any(True for _ in lost.rows()):
        parts += [lost.render(form)]
    if (step := found.verdict.next) is not None:
        step = replace(step, sentence=one_line(step.sentence))
        parts += [f"Next: {step.sentence}\n\n    {step.typed}\n" if markdown else f"next: {step}\n"]
    return "\n".join(parts)


def _tell_older(collection: Collection, corpus: str) -> None:
    """A note where judged documents are no longer in the corpus: the judgments are older than it."""
    from unjudged.io.corpus_ids import absent, read_corpus_ids
    from unjudged.io.ids import to_text

    docs = [collection.judgments.docs.raw(row) for row in range(len(collection.judgments))]
    if gone := absent(docs, read_corpus_ids(corpus)):
        many = f"{len(gone)} of {len(set(docs))} judged documents are not in it (e.g. {to_text(gone[0])})"
        options.print_notes([f"the judgments are older than the corpus: {many}"])
