"""MS MARCO's three-column runs: `topic<TAB>doc<TAB>rank`. (Its judgments are TREC text already.)

The score is the negative rank. These files have millions of lines, so each piece of text is rewritten as TREC
text by a few array operations and goes through the same fast reader.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.columns import Rows
from unjudged.io.ids import Ids, to_text
from unjudged.io.trec import Reading, RunTable, run_table, scan

_LINE = re.compile(rb"(\S+)[ \t]+(\S+)[ \t]+(\d+)\s*")
_TAB, _NEWLINE, _SPACE, _HASH = b"\t\n #"


def read_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """A run's judged hits."""
    passes: list[Rows] = []

    def as_trec(pieces: Any) -> Iterator[bytes]:
        passes.append(Rows(files.source_name(path), reading))
        return _as_trec(pieces, passes[-1])

    found = scan(path, index, reading, keep_docs, as_trec)
    table = run_table(found, name or "run", files.source_name(path), topics, reading)
    return table._replace(tag="", notes=passes[-1].notes() + table.notes)


def _as_trec(pieces: Any, rows: Rows) -> Iterator[bytes]:
    """Whole lines of TREC text for each piece."""
    rest, number = b"", 0
    for piece in itertools.chain(pieces, [None]):
        if piece is None:
            text, rest = (rest + b"\n" if rest else b""), b""
        else:
            text, newline, rest = (rest + bytes(piece)).rpartition(b"\n")
            text += newline
        if not text:
            continue
        if not number:
            _check_ranks(text, rows.source)
        lines = text.count(b"\n")
        yield _fast(text) or _slow(text, number, rows)
        number += lines


def _check_ranks(text: bytes, source: str) -> None:
    """Refuse a third column that falls inside topics: those are scores, and would turn the run upside down."""
    found = [m for line in text[:65536].split(b"\n")[:-1] if (m := _LINE.fullmatch(line))]
    steps = [float(b[3]) - float(a[3]) for a, b in itertools.pairwise(found) if a[1] == b[1]]
    if any(s < 0 for s in steps) and not any(s > 0 for s in steps):
        raise InputError(
            "a run of three columns holds ranks (topic doc rank), but the third column falls like a score; "
            "write the six fields of TREC",
            source,
            1,
        )


def _fast(text: bytes) -> bytes | None:
    """`topic 0 doc 0 -rank x` for every line, or None where some line is not plain `topic<TAB>doc<TAB>rank`."""
    buffer = np.frombuffer(text.replace(b"\r\n", b"\n"), np.uint8)
    ends, tabs = np.flatnonzero(buffer == _NEWLINE), np.flatnonzero(buffer == _TAB)
    if len(tabs) != 2 * len(ends):
        return None
    starts = np.concatenate(([0], ends[:-1] + 1))
    first, second = tabs[::2], tabs[1::2]
    digits = np.concatenate(([0], np.cumsum((buffer >= 48) & (buffer <= 57))))
    plain = (first > starts) & (second > first + 1) & (ends > second + 1)
    plain &= digits[ends] - digits[second + 1] == ends - second - 1
    if not plain.all() or (buffer[starts] == _HASH).any() or (buffer < _TAB).any() or (buffer == _SPACE).any():
        return None
    if ((buffer > _NEWLINE) & (buffer < _SPACE)).any():
        return None
    copies = np.ones(len(buffer), np.int64)
    copies[first], copies[second], copies[ends] = 3, 4, 3
    out = np.repeat(buffer, copies)
    shift = 7 * np.arange(len(ends))
    for place, put in ((first + shift, b" 0 "), (second + shift + 2, b" 0 -"), (ends + shift + 5, b" x\n")):
        for i, byte in enumerate(put):
            out[place + i] = byte
    return out.tobytes()


def _slow(text: bytes, before: int, rows: Rows) -> bytes:
    """The same line by line; lines that do not fit are refused or left out."""
    out = []
    for number, line in enumerate(text.split(b"\n")[:-1], before + 1):
        if not line.strip() or line.startswith(b"#"):
            continue
        if found := _LINE.fullmatch(line):
            out.append(b"%s 0 %s 0 -%s x\n" % found.groups())
        else:
            rows.refuse(f"a run line needs topic, doc and rank between tabs, found {_shown(line)}", number)
    return b"".join(out)


def _shown(line: bytes) -> str:
    return "'" + to_text(line[:60].strip()).encode("unicode_escape").decode("ascii") + "'"
