"""Quepid's ratings and books. The text of the query is the topic.

Ratings are CSV with the columns query, docid and rating, or a case as JSON ({"queries": [{"query", "ratings"}]}). Of a
book the CSV has a column for each judge in place of rating, the JSON a list of judgements for each document; a book
of several judges needs `FILE#NAME`. What has no rating is not judged yet and passed over.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.ids import to_text
from unjudged.io.json_ import object_of
from unjudged.io.machine_grades import MachineJudged
from unjudged.io.several_judges import one_of
from unjudged.io.trec import QrelsTable, Reading

QUERY, DOC, RATING = ("query", "query_text"), ("docid", "doc_id"), ("rating", "grade")
NOBODY = "Unknown"
"""What Quepid calls a judge without an account."""
_OBJECT = re.compile(rb'\s*\{\s*"')


class Rating(NamedTuple):
    """One rating; `line` counts the ratings of a JSON file. The judge of a plain list of ratings has no name."""

    line: int
    judge: str
    query: Any
    doc: Any
    rating: Any


def places_of(header: list[str]) -> list[int]:
    """Where query, document and rating stand; -1 for what is missing."""
    names = [name.strip().strip("\ufeff").casefold() for name in header]
    return [next((names.index(name) for name in known if name in names), -1) for known in (QUERY, DOC, RATING)]


def is_header(header: list[str]) -> bool:
    """Is this the first line of ratings, or of a book with its judges?"""
    query, doc, rating = places_of(header)
    return min(query, doc) >= 0 and (rating >= 0 or len(header) > 2)


def _by_judge(header: list[str]) -> dict[str, int]:
    """Judge -> column: the one named rating, or those of a book."""
    query, doc, rating = places_of(header)
    if rating >= 0:
        return {"": rating}
    return {" ".join(name.split()) or NOBODY: i for i, name in enumerate(header) if i not in (query, doc)}


def _table(data: bytes, rows: MachineJudged) -> Iterator[Rating]:
    reader = csv.reader(io.StringIO(to_text(data)))
    try:
        header = next(reader, [])
        if not is_header(header):
            said = "Quepid's ratings need the columns query, docid and rating, or one of each judge"
            raise InputError(said, rows.source, 1)
        query, doc, _ = places_of(header)
        judges = _by_judge(header)
        if len(judges) + 2 > len(header) or len({*header}) < len(header):
            raise InputError("two columns of this book have one name", rows.source, 1)
        for row in reader:
            if len(row) < 2:  # a query that has no ratings yet stands alone
                continue
            if len(row) <= max(query, doc, *judges.values()):
                rows.refuse(f"{len(header)} columns are needed, found {len(row)}", reader.line_num)
                continue
            for judge, place in judges.items():
                if row[place].strip():
                    yield Rating(reader.line_num, judge, row[query].strip(), row[doc].strip(), row[place])
    except csv.Error as problem:
        raise InputError(f"this CSV cannot be read ({problem})", rows.source, reader.line_num) from None


def _object(data: bytes, rows: MachineJudged) -> Iterator[Rating]:
    rows.unit = "rating"
    found = object_of(data, rows.source)
    book = "query_doc_pairs" in found
    entries = found.get("query_doc_pairs" if book else "queries")
    if not isinstance(entries, list):
        raise InputError("Quepid's JSON needs a list query_doc_pairs or queries", rows.source)
    number = 0
    for entry in entries:
        query = entry.get("query_text", entry.get("query")) if isinstance(entry, dict) else None
        judged = entry.get("judgements" if book else "ratings") if query is not None else None
        if query is None or (book and "doc_id" not in entry) or not isinstance(judged, (list, dict, type(None))):
            needs = "a query, a doc_id and a list of judgements" if book else "a query and its ratings"
            raise InputError(f"an entry needs {needs}", rows.source)
        if isinstance(judged, dict):  # {docid: rating}
            judged = [{"doc_id": doc, "rating": rating} for doc, rating in judged.items()]
        for one in judged or ():
            number += 1
            if not isinstance(one, dict) or "rating" not in one or not (book or "doc_id" in one):
                raise InputError(f"a rating of query {query!r} needs doc_id and rating", rows.source)
            who = str(one.get("user_email") or one.get("user_id") or NOBODY) if book else ""
            if one["rating"] is not None:
                yield Rating(number, who, query, entry["doc_id"] if book else one["doc_id"], one["rating"])


def _ratings(path: str, rows: MachineJudged) -> list[Rating]:
    data = files.read_all(path)
    return list((_object if _OBJECT.match(data) else _table)(data, rows))


def judges_in(path: str) -> list[str]:
    """The judges of a book, in the order in which they come; a plain list of ratings has one without a name."""
    return list(dict.fromkeys(one.judge for one in _ratings(path, _rows(path, Reading(lenient=True)))))


def lines_by(path: str, judge: str) -> Iterator[int]:
    """The numbers of the lines with a rating of one judge."""
    return (one.line for one in _ratings(path, _rows(path, Reading(lenient=True))) if one.judge == judge)


def _rows(path: str, reading: Reading) -> MachineJudged:
    return MachineJudged(files.source_name(path), reading)


def read_qrels(path: str, reading: Reading, judge: str = "") -> QrelsTable:
    """Judgments as columns, of the judge that is named, or of the only one."""
    rows = _rows(path, reading)
    ratings = _ratings(path, rows)
    one_of(dict.fromkeys(one.judge for one in ratings), judge, path)
    for one in ratings:
        if not judge or one.judge == judge:
            rows.add(one.query, one.doc, one.rating, None, one.line)
    return rows.table()
