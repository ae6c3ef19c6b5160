"""Runs and the classical measures: `trec_eval` and `score` without NumPy and argparse.

A call with other options, and whatever `classical.evaluate` does not take, gives None: the ordinary way follows.
"""

from __future__ import annotations

import os
import sys

from unjudged.classical import COUNTS, USUAL, c_kernels, evaluate, lines_of, over_topics, trec_lines
from unjudged.errors import one_line
from unjudged.io import files
from unjudged.kernels import OUTSIDE_COUNTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unjudged.classical import Evaluated, Line


def _usual_trec_eval(argv: Sequence[str]) -> tuple[list[str], dict[str, list[str]]] | None:
    """Files and flags of a call with nothing but -q, -n, -c, -l, -M and -m; None for any other."""
    paths: list[str] = []
    flags: dict[str, list[str]] = {}
    rest = iter(argv)
    for text in rest:
        if not text.startswith("-") or text == "-":
            paths.append(text)
        elif text[1] in "lMm":
            value = text[2:] or next(rest, None)
            if value is None:
                return None
            flags.setdefault(text[:2], []).append(value)
        elif not text[1:].strip("qnc"):
            for letter in text[1:]:
                flags.setdefault(f"-{letter}", []).append("")
        else:
            return None
    numbers = [value for flag in ("-l", "-M") for value in flags.get(flag, [])]
    plain = all(value.isascii() and value.isdecimal() and 0 < len(value) < 9 and int(value) for value in numbers)
    return (paths, flags) if len(paths) == 2 and plain else None


class _Score:
    """A call of `score` with nothing but files, measures, -q, --jobs and --format text or tsv."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.wanted: list[str] = []
        self.per_topic, self.form = False, ""
        self.jobs: int | None = None

    @classmethod
    def of(cls, argv: Sequence[str]) -> _Score | None:
        """None for any other call."""
        call, rest, jobs = cls(), iter(argv), ""
        for text in rest:
            if text in ("-m", "--measures"):
                call.wanted.append(next(rest, ""))
            elif text in ("-q", "--per-topic"):
                call.per_topic = True
            elif text == "--format" and not call.form:
                call.form = next(rest, "-")
            elif text == "--jobs" and not jobs:
                jobs = next(rest, "-")
            elif text.startswith("-") or not text:
                return None
            else:
                call.paths.append(text)
        if (
            len(call.paths) < 2
            or call.form not in ("", "text", "tsv")
            or not all(w and w[0] != "-" for w in call.wanted)
        ):
            return None
        if jobs:
            if not (jobs.isascii() and jobs.isdecimal() and 0 < len(jobs) < 5 and int(jobs)):
                return None
            call.jobs = int(jobs)
        call.wanted = call.wanted or list(USUAL)
        call.form = call.form or "text"
        return call


def _runs(given: Sequence[str]) -> dict[str, str] | None:
    """Name -> file of the runs; None where one of them may be something else than files of TREC text."""
    paths: list[str] = []
    for spec in given:
        kind = files.kind(spec)
        if kind == "folder":
            try:
                inside = os.listdir(spec)  # noqa: PTH208 - pathlib takes long to import
            except OSError:  # told by the ordinary way
                return None
            if any(files.kind(os.path.join(spec, name)) != "file" for name in inside):  # noqa: PTH118
                return None
            paths += files.expand(spec) if inside else []
        elif kind == "file":
            paths.append(spec)
        else:
            return None
    names = [files.run_name(path) for path in paths]
    return dict(zip(names, paths, strict=True)) if paths and len(set(names)) == len(names) else None


def _notes(paths: Sequence[str], runs: Sequence[Evaluated]) -> list[str]:
    """What there is to say of topics and documents that do not fit the judgments."""
    from unjudged.io import run_notes

    def noticed(run: Evaluated) -> Iterator[str]:
        if run.outside:
            yield run_notes.outside(run.outside, run.outside_name, run.outside == OUTSIDE_COUNTED)
        if missing := run.answered.count(False):
            yield run_notes.not_answered(missing, run.topics[run.answered.index(False)])
        if not run.hits:
            yield run_notes.NONE_JUDGED

    return run_notes.told_once((path, note) for path, run in zip(paths, runs, strict=True) for note in noticed(run))


def _means(run: Evaluated) -> list[float]:
    return [over_topics(line, column) for line, column in zip(run.lines, run.columns(), strict=True)]


def _text(names: Sequence[str], lines: Sequence[Line], runs: Sequence[Evaluated], per_topic: bool) -> bytes:
    """The table of `score` for people."""
    from unjudged.text import aligned, printable, shown, to_the_right

    def cells(values: Sequence[float]) -> list[str]:
        return [shown(int(v) if line.measure in COUNTS else v) for v, line in zip(values, lines, strict=True)]

    head = ["run", "topic"] if per_topic else ["run"]
    rows = []
    for name, run in zip(names, runs, strict=True):
        each = list(zip(run.topics, zip(*run.columns(), strict=True), strict=True)) if per_topic else []
        for topic, values in (*each, ("all", _means(run))):
            rows.append([*map(printable, (name, topic)[: len(head)]), *cells(values)])
    columns = [*head, *(line.name for line in lines)]
    return aligned(columns, rows, to_the_right(rows, len(columns))).encode("utf-8", "surrogateescape")


class _Rows:
    """The rows of the table as TSV, run by run."""

    def __init__(self, lines: Sequence[Line], per_topic: bool) -> None:
        self.columns = [f"\t{line.name}\t".encode() for line in lines]
        self.per_topic = per_topic
        self.topics: list[bytes] = []

    def of(self, name: str, run: Evaluated) -> bytes:
        """One run's, the means last."""
        from array import array

        if not self.topics:
            self.topics = [_cell(topic) for topic in (*(run.topics if self.per_topic else ()), "all")]
        numbers = array("d", run.cells if self.per_topic else b"")
        numbers.extend(_means(run))
        head = _cell(name) + b"\t"
        written: bytes = c_kernels().write_rows([head + topic for topic in self.topics], self.columns, numbers, b"\n")
        return written


def _cell(text: str) -> bytes:
    from unjudged.text import tsv_cell

    return tsv_cell(text).encode("utf-8", "surrogateescape")


def _write(data: bytes) -> None:
    """To standard output."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def score(argv: Sequence[str]) -> int | None:
    """`unjudged score` for runs and classical measures; None for any other call."""
    call = _Score.of(argv)
    lines = call and lines_of(call.wanted)
    runs = _runs(call.paths[1:]) if call and lines else None
    if not call or not lines or not runs:
        return None
    names = {path: name for name, path in runs.items()}
    rows, as_tsv, written = _Rows(lines, call.per_topic), call.form == "tsv", dict.fromkeys(names, b"")

    def write(path: str, run: Evaluated) -> None:
        written[path] = rows.of(names[path], run)

    found = evaluate(call.paths[0], list(names), lines, jobs=call.jobs, then=write if as_tsv else None)
    if found is None:
        return None
    notes = _notes(list(names), found)
    if as_tsv:
        table = b"run\ttopic\tmeasure\tvalue\n" + b"".join(written.values())
    else:
        table = _text(list(runs), lines, found, call.per_topic)
    if sys.stdout.isatty() or sys.stderr.isatty():
        _show(notes, table, call.form)
        return 0
    for note in notes:
        print("note:", one_line(note), file=sys.stderr)
    _write(table)
    return 0


def _show(notes: Sequence[str], table: bytes, form: str) -> None:
    """As every verb shows its notes and its table on a terminal."""
    import argparse

    from unjudged.cli import options

    options.print_notes(notes)
    options.write_text(table.decode("utf-8", "surrogateescape"), argparse.Namespace(output=None, format=form))


def trec_eval(argv: Sequence[str]) -> int | None:
    """`unjudged trec_eval` with the usual flags and measures; None for any other call."""
    usual = _usual_trec_eval(argv)
    lines = usual and trec_lines(usual[1].get("-m", []))
    if not usual or not lines:
        return None
    (qrels, run), flags = usual
    rel, truncate = (int(flags.get(flag, ["0"])[-1]) for flag in ("-l", "-M"))
    evaluated = evaluate(qrels, [run], lines, rel=rel or 1, truncate=truncate)
    if evaluated is None:
        return None
    from unjudged.cli.trec_table import Table

    (found,) = evaluated
    run_values = found.tag or "run", found.topics, found.answered, found.columns(), found.relevant
    table = Table(*run_values, lines, complete="-c" in flags)
    _write(table.text(per_topic="-q" in flags, summary="-n" not in flags).encode("utf-8", "surrogateescape"))
    return 0
