"""Judgment lists of OpenSearch's Search Relevance Workbench: what is imported, and what its search gives back.

    {"name": "...", "judgmentRatings": [{"query": "red dress", "ratings": [{"docId": "B07", "rating": "3.000"}]}]}

The text of the query is the topic.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.json_ import read_object
from unjudged.io.machine_grades import MachineJudged
from unjudged.io.trec import QrelsTable, Reading

RATINGS = "judgmentRatings"


def _lists(found: dict[str, Any]) -> Iterator[Any]:
    """Every judgment list: the object itself, or those of a search response."""
    if RATINGS in found:
        yield found[RATINGS]
    hits = found.get("hits")
    for hit in hits.get("hits", ()) if isinstance(hits, dict) else ():
        inside = hit.get("_source") if isinstance(hit, dict) else None
        if isinstance(inside, dict) and RATINGS in inside:
            yield inside[RATINGS]


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns."""
    source = files.source_name(path)
    rows = MachineJudged(source, reading, unit="rating")
    lists = list(_lists(read_object(path, source)))
    if len(lists) != 1 or not isinstance(lists[0], list):
        raise InputError(f"one judgment list is needed ({RATINGS}: [...]), found {len(lists)}", source)
    number = 0
    for entry in lists[0]:
        if not isinstance(entry, dict) or "query" not in entry or not isinstance(entry.get("ratings"), list):
            raise InputError("an entry of a judgment list needs a query and a list of ratings", source)
        for rating in entry["ratings"]:
            number += 1
            if not isinstance(rating, dict) or "docId" not in rating or "rating" not in rating:
                raise InputError(f"a rating of query {entry['query']!r} needs docId and rating", source)
            rows.add(entry["query"], rating["docId"], rating["rating"], None, number)
    return rows.table()
