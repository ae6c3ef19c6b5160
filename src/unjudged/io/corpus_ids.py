"""The documents there are: ids of a corpus, to find judgments and runs that name others."""

from __future__ import annotations

from collections.abc import Iterable

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.ids import to_bytes, to_text
from unjudged.io.texts import id_of


def read_corpus_ids(path: str) -> frozenset[bytes]:
    """The ids of a corpus: one a line, a TSV whose first column they are, or JSON lines such as corpus.jsonl."""
    start = next((line.lstrip() for _, line in files.lines(path) if line.strip()), b"")
    filled = ((number, line) for number, line in files.lines(path) if line.strip())
    if start.startswith(b"{"):
        found = frozenset(to_bytes(id_of(to_text(line), path, number)) for number, line in filled)
    else:
        found = frozenset(line.split(b"\t", 1)[0].strip() for _, line in filled)
    if not found:
        raise InputError("no document ids in this file", files.source_name(path))
    return found


def absent(docs: Iterable[bytes], corpus: frozenset[bytes]) -> list[bytes]:
    """The documents, each once and in the order given, that the corpus does not hold."""
    return [doc for doc in dict.fromkeys(docs) if doc not in corpus]
