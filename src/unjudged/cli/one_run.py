"""One run and the classical measures: `trec_eval` and `score` without NumPy and argparse.

A call with other options, and whatever `classical.evaluate` does not take, gives None: the ordinary way follows.
"""

from __future__ import annotations

import sys

from unjudged.classical import COUNTS, USUAL, c_kernels, evaluate, lines_of, over_topics, trec_lines
from unjudged.io.files import run_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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


def _usual_score(argv: Sequence[str]) -> tuple[list[str], list[str], bool, str] | None:
    """Files, measures, whether each topic is shown, and the format of a call with no other options; None for others."""
    paths: list[str] = []
    wanted: list[str] = []
    per_topic, form = False, ""
    rest = iter(argv)
    for text in rest:
        if text in ("-m", "--measures"):
            wanted.append(next(rest, ""))
        elif text in ("-q", "--per-topic"):
            per_topic = True
        elif text == "--format" and not form:
            form = next(rest, "-")
        elif text.startswith("-") or not text:
            return None
        else:
            paths.append(text)
    usual = len(paths) == 2 and form in ("", "text", "tsv") and all(w and w[0] != "-" for w in wanted)
    return (paths, wanted or list(USUAL), per_topic, form or "text") if usual else None


def _score_text(run: str, lines: Sequence[Line], found: Evaluated, per_topic: bool, form: str) -> bytes:
    """The table of `score`, as text or tsv."""
    means = [over_topics(line, column) for line, column in zip(lines, found.values, strict=True)]
    topics = list(zip(found.topics, zip(*found.values, strict=True), strict=True)) if per_topic else []
    if form == "tsv":
        from array import array

        from unjudged.text import tsv_cell

        heads = [f"{tsv_cell(run)}\t{tsv_cell(topic)}" for topic, _ in topics] + [f"{tsv_cell(run)}\tall"]
        numbers = array("d", [value for _, values in topics for value in values] + means)
        names = [f"\t{line.name}\t".encode() for line in lines]
        encoded = [head.encode("utf-8", "surrogateescape") for head in heads]
        written: bytes = c_kernels().write_rows(encoded, names, numbers, b"\n")
        return b"run\ttopic\tmeasure\tvalue\n" + written
    from unjudged.text import aligned, printable, shown, to_the_right

    def cells(values: Sequence[float]) -> list[str]:
        return [shown(int(v) if line.measure in COUNTS else v) for v, line in zip(values, lines, strict=True)]

    head = ["run", "topic"] if per_topic else ["run"]
    all_topics = [*topics, ("all", means)]
    rows = [[*map(printable, (run, topic)[: len(head)]), *cells(values)] for topic, values in all_topics]
    columns = [*head, *(line.name for line in lines)]
    return aligned(columns, rows, to_the_right(rows, len(columns))).encode("utf-8", "surrogateescape")


def _write(data: bytes) -> None:
    """To standard output."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def score(argv: Sequence[str]) -> int | None:
    """`unjudged score` for one run and classical measures; None for any other call."""
    usual = _usual_score(argv)
    lines = usual and lines_of(usual[1])
    if not usual or not lines:
        return None
    (qrels, run), _, per_topic, form = usual
    found = evaluate(qrels, run, lines)
    if found is None or found.outside or not all(found.answered):
        return None  # there is something to note
    scored = [column for line, column in zip(lines, found.values, strict=True) if line.measure not in COUNTS]
    if not any(value for column in scored for value in column):
        return None  # perhaps none of the documents is judged
    _write(_score_text(run_name(run), lines, found, per_topic, form))
    return 0


def trec_eval(argv: Sequence[str]) -> int | None:
    """`unjudged trec_eval` with the usual flags and measures; None for any other call."""
    usual = _usual_trec_eval(argv)
    lines = usual and trec_lines(usual[1].get("-m", []))
    if not usual or not lines:
        return None
    (qrels, run), flags = usual
    rel, truncate = (int(flags.get(flag, ["0"])[-1]) for flag in ("-l", "-M"))
    found = evaluate(qrels, run, lines, rel=rel or 1, truncate=truncate)
    if found is None:
        return None
    from unjudged.cli.trec_table import Table

    run_values = found.tag or "run", found.topics, found.answered, found.values, found.relevant
    table = Table(*run_values, lines, complete="-c" in flags)
    _write(table.text(per_topic="-q" in flags, summary="-n" not in flags).encode("utf-8", "surrogateescape"))
    return 0
