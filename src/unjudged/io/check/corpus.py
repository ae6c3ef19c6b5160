"""Judgments and runs that name documents which the corpus does not hold."""

from __future__ import annotations

from collections.abc import Sequence

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.check.findings import Finding, shown
from unjudged.io.corpus_ids import read_corpus_ids


def check_corpus(corpus: str, paths: Sequence[str]) -> list[Finding]:
    """A finding for each file that names unknown documents: how many, where the first one is."""
    known = read_corpus_ids(corpus)
    found = []
    for path in paths:
        unknown: dict[bytes, int] = {}
        try:
            for number, line in files.lines(path):
                fields = line.split(None, 3)
                if len(fields) > 2 and line[:1] != b"#" and fields[2] not in known:
                    unknown.setdefault(fields[2], number)
        except InputError:
            continue  # told by the other checks
        if unknown:
            doc, where = next(iter(unknown.items()))
            found.append(Finding.of("UJ137", files.source_name(path), where, len(unknown), shown(doc, 40)))
    return found
