"""Which slice a topic belongs to: a TSV `topic<TAB>label`, with or without a header."""

from __future__ import annotations

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.ids import to_text


def read_slices(path: str) -> dict[str, str]:
    """Topic -> label, in the order of the file."""
    found: dict[str, str] = {}
    source = files.source_name(path)
    for number, line in enumerate(to_text(files.read_all(path)).split("\n"), 1):
        line = line.rstrip("\r")
        fields = [part.strip() for part in line.split("\t")]
        if not line.strip() or (number == 1 and fields[0].casefold() in ("topic", "query_id", "qid")):
            continue
        if len(fields) != 2 or not all(fields):
            raise InputError(f"a line needs topic<TAB>label, found {line[:60]!r}", source, number)
        if found.setdefault(fields[0], fields[1]) != fields[1]:
            raise InputError(f"topic {fields[0]} is in two slices, {found[fields[0]]} and {fields[1]}", source, number)
    if not found:
        raise InputError("no slices in this file", source)
    return found
