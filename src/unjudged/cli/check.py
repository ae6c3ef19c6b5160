"""Check judgments and runs: what is wrong or odd in the files, where, and what to do.

  unjudged check qrels.txt runs/ --teams teams.tsv
  unjudged check qrels.txt bm25.run --fix        writes bm25.run.fixed beside it
  unjudged check classes.tsv runs/ --qa          answer classes and runs of answers
  unjudged check qrels.txt runs/ --severity warning     without what is only good to know

The worst findings come first, those of one kind together: in many files they share a line (--format tsv has all). Every
finding has a code; 'unjudged explain UJ102' says
more. An error means that score refuses the file or that its numbers mean nothing, a warning that the numbers may not be
what you want, info that it is good to know. Exit code 1 with errors or warnings. --fix drops unusable lines and
repeated documents, puts the lines of a topic together in the order of their scores and numbers them from 1; scores stay
as they are written. A file that needs no repair gets no copy. Files in other formats (JSON, BEIR, Parquet, ...) are
looked at by what they hold, without lines; --fix and --corpus are for TREC text.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from unjudged.cli import options, progress
from unjudged.collection.load import read_collection
from unjudged.errors import InputError, UnjudgedError, UsageError, one_line
from unjudged.io import files, formats
from unjudged.io.check import findings, repair
from unjudged.io.check import inspection as lint
from unjudged.io.check.answers import AnswerRun, check_answers
from unjudged.io.check.corpus import check_corpus
from unjudged.io.trec import Reading
from unjudged.io.write import write_whole
from unjudged.measures.ties import TieEffect, tie_effect
from unjudged.results import Provenance, Result

TIE_EFFECT = 0.001
"""The smallest difference of mean scores that is reported."""

A_FEW_FILES = 4
"""Files with the same kind of finding that are listed one by one in text; tsv, csv and JSON list all."""
AT_ONCE = 16
"""So many runs are held at once while their ties are looked at."""

HELP = "what is wrong or odd in judgments and runs; --fix writes repaired copies"
USUAL = ("--teams", "--severity", "--fix")

COLUMNS = ("code", "severity", "file", "line", "count", "finding")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    options.add(parser, "qrels", "runs", "teams", "qrels_format", "qa", "corpus", "fix", "severity", command="check")
    options.add_output(parser, "check")


def run(args: argparse.Namespace) -> int:
    """Check, print, repair where asked."""
    if [args.qrels, *args.runs].count(files.STDIN) > 1:
        raise UsageError("standard input can be used once")
    if args.fix and files.STDIN in (args.qrels, *args.runs):
        raise UsageError("--fix writes beside the originals and cannot repair standard input; save it to a file first")
    if args.corpus is not None and (args.qa or files.STDIN in (args.qrels, *args.runs)):
        raise UsageError("--corpus looks up the documents of TREC files, not of answers (--qa) or standard input")
    if args.qa and args.fix:
        raise UsageError("--fix repairs TREC text, not answers (--qa)")
    options.refuse_unwritable_output(args)
    progress.tell()
    tallies: list[findings.Tally]
    looks: Sequence[lint.RunCheck | AnswerRun]
    copies: dict[str, Path] = {}
    ties: list[findings.Finding] = []
    if args.qa:
        tallies, looks = check_answers(args.qrels, args.runs, args.teams)
    else:
        _refuse_what_only_trec_text_has(args)
        tallies, looks = lint.check(args.qrels, args.runs, args.teams, args.qrels_format)
        copies = _copies(tallies[0], looks) if args.fix else {}
        sound = not any(findings.CODES[code].severity == "error" for code in tallies[0].found)
        ties = _tie_findings(args, {files.run_name(o.path): o.path for o in looks if _ties_may_matter(o, sound)})
    found = [*(finding for tally in tallies for finding in tally.findings()), *ties]
    if args.corpus is not None:
        found += check_corpus(args.corpus, [args.qrels, *(look.path for look in looks)])
    places = {path: place for place, path in enumerate(dict.fromkeys(finding.file for finding in found))}
    worst = findings.SEVERITIES.index
    found.sort(key=lambda finding: (worst(finding.severity), finding.code, places[finding.file]))
    told = [finding for finding in found if worst(finding.severity) <= worst(args.severity)]
    result = _result(told, args, [look.path for look in looks])
    if told or args.format != "text" or args.output:
        options.write_text(result.render(args.format), args)
    severities = Counter(finding.severity for finding in found)
    if args.fix:
        _write(copies, args.qrels, found)
    errors, warnings, notes = (severities[s] for s in findings.SEVERITIES)
    counts = (findings.many(errors, "error"), findings.many(warnings, "warning"), findings.many(notes, "note"))
    print(f"{', '.join(counts)} in {findings.many(len(looks), 'run')}", file=sys.stderr)
    return 1 if errors or warnings else 0


def _refuse_what_only_trec_text_has(args: argparse.Namespace) -> None:
    """Repairs and the look-up of a corpus go by lines."""
    if Path(args.qrels).is_file() and formats.looks_like_classes(formats.peek(args.qrels).columns):
        raise UsageError(f"{args.qrels}: these look like answer classes of question answering; give --qa")
    if not args.fix and args.corpus is None:
        return
    others = [] if lint.is_trec_judgments(args.qrels, args.qrels_format) else [args.qrels]
    for spec in args.runs:
        with contextlib.suppress(InputError):  # reported as a finding
            others += [path for _, path in formats.runs(spec) if not lint.is_trec_run(path)]
    if others:
        said = "--fix repairs TREC text" if args.fix else "--corpus looks up the documents of TREC text"
        raise UsageError(f"{said}; {others[0]} is in another format")


def _ties_may_matter(look: lint.RunCheck, sound: bool) -> bool:
    """Can the order of tied documents move a mean by more than TIE_EFFECT? Where the judgments are `sound`, what each
    topic allows at most often says no, and the run need not be read again."""
    return look.any_tied and not (sound and look.tie_reach < 0.99 * TIE_EFFECT * len(look.judged))


def _tie_findings(args: argparse.Namespace, paths: dict[str, str]) -> list[findings.Finding]:
    """Runs whose mean score depends on the order of tied documents by more than TIE_EFFECT."""
    if not paths or any(files.read_once(path) for path in (args.qrels, *paths.values())):
        return []
    names = list(paths)
    some = [{name: paths[name] for name in names[i : i + AT_ONCE]} for i in range(0, len(names), AT_ONCE)]
    effects = [effect for few in some for effect in _effects(args, few)]
    found = []
    for name, path in paths.items():
        moved = [e for e in effects if e.run == name and e.high - e.low > TIE_EFFECT]
        if moved:
            detail = " and ".join(f"{e.measure} from {e.low:.4f} to {e.high:.4f}" for e in moved)
            found.append(findings.Finding.of("UJ119", path, None, len(moved), detail))
    return found


def _effects(args: argparse.Namespace, paths: dict[str, str]) -> list[TieEffect]:
    """Of the runs that can be read; the others are reported by other findings."""
    try:
        reading = Reading("expected", lenient=True)
        return tie_effect(read_collection(args.qrels, paths, reading, qrels_format=args.qrels_format, jobs=1))
    except UnjudgedError:
        alone = [{name: path} for name, path in paths.items()] if len(paths) > 1 else []
        return [effect for one in alone for effect in _effects(args, one)]


def _result(found: Sequence[findings.Finding], args: argparse.Namespace, runs: Sequence[str]) -> Result:
    try:
        folder = os.path.commonpath([Path(f.file).parent for f in found])
    except ValueError:  # nothing found, or absolute and relative names
        folder = ""

    def layout() -> tuple[Sequence[str], list[Sequence[Any]]]:
        """Findings of one kind in more than a few files share a row, with the words of the first by name."""
        rows: list[Sequence[Any]] = []
        for _, alike in itertools.groupby(found, key=lambda f: f.code):
            same = list(alike)
            for f in same if len(same) <= A_FEW_FILES else [min(same, key=lambda f: f.file)]:
                name = str(Path(f.file).relative_to(folder)) if folder else f.file
                where = name if len(same) <= A_FEW_FILES else f"{len(same)} files, e.g. {name}"
                rows.append((f.severity, f.code, where, f.line, f.sentence))
        return ("severity", "code", "file", "line", "finding"), rows

    inputs = (args.qrels, *runs, *([args.teams] if args.teams else []))
    return Result(
        COLUMNS,
        lambda: [(f.code, f.severity, f.file, f.line, f.count, f.sentence) for f in found],
        Provenance.of(args.call, inputs),
        layout,
    )


def _copies(judgments: findings.Tally, looks: Iterable[lint.RunCheck]) -> dict[str, Path]:
    """Original -> copy, for files with something to repair; no copy may be there already."""
    paths = [judgments.file] if findings.FIXABLE & judgments.found.keys() else []
    paths += [look.path for look in looks if findings.FIXABLE & look.tally.found.keys()]
    copies: dict[str, Path] = {}
    for path in paths:
        copy = Path(path).with_name(files.file_name(path) + ".fixed")
        if copy.exists() or copy.is_symlink():
            raise UsageError(f"{copy} is there already; remove or rename it, --fix never writes over a file")
        if copy in copies.values() and path not in copies:
            raise UsageError(f"two files would be repaired as {copy}; rename one of them")
        copies[path] = copy
    return copies


def _write(copies: dict[str, Path], qrels: str, found: Iterable[findings.Finding]) -> None:
    for path, copy in copies.items():
        write_whole(copy, repair.repair_qrels(path) if path == qrels else repair.repair_run(path))
        print(f"wrote {one_line(str(copy))}", file=sys.stderr)
    if not copies:
        print("nothing to repair", file=sys.stderr)
    for finding in found:
        if finding.code == "UJ123":
            documents = findings.many(finding.count, "document")
            print(
                f"not repaired: {documents} with two grades in {one_line(finding.file)}; decide by hand",
                file=sys.stderr,
            )
