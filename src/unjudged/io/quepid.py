"""Quepid's ratings: CSV with the columns query, docid and rating. The text of the query is the topic.

Documents without a rating are passed over: they are not judged yet.
"""

from __future__ import annotations

import csv
import io

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.ids import to_text
from unjudged.io.machine_grades import MachineJudged
from unjudged.io.trec import QrelsTable, Reading

QUERY, DOC, RATING = ("query", "query_text"), ("docid", "doc_id"), ("rating", "grade")


def places_of(header: list[str]) -> list[int]:
    """Where query, document and rating stand; -1 for what is missing."""
    names = [name.strip().strip("\ufeff").casefold() for name in header]
    return [next((names.index(name) for name in known if name in names), -1) for known in (QUERY, DOC, RATING)]


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns."""
    source = files.source_name(path)
    rows = MachineJudged(source, reading)
    reader = csv.reader(io.StringIO(to_text(files.read_all(path))))
    places = places_of(next(reader, []))
    if min(places) < 0:
        raise InputError("Quepid's ratings need the columns query, docid and rating", source, 1)
    query, doc, rating = places
    try:
        for row in reader:
            if not row:
                continue
            if len(row) <= max(places):
                rows.refuse(f"{max(places) + 1} columns are needed, found {len(row)}", reader.line_num)
            elif row[rating].strip():
                rows.add(row[query].strip(), row[doc].strip(), row[rating], None, reader.line_num)
    except csv.Error as problem:
        raise InputError(f"this CSV cannot be read ({problem})", source, reader.line_num) from None
    return rows.table()
