"""JSON lines: one object per line, with the column names of data frames.

    {"topic": "301", "iteration": "0", "doc": "FT921-1", "grade": 1}
    {"topic": "301", "doc": "FT921-1", "score": 12.5}

A run without scores may hold ranks (1 is best). Keys may have the other names data frames may have (`query_id`,
`qid`, `docno`, `relevance`, ...) and BEIR's `query-id` and `corpus-id`. The first line decides which keys are meant;
further keys are passed over. A line may hold a whole list, as sentence-transformers writes its predictions:

    {"query_id": "301", "results": [{"corpus_id": "FT921-1", "score": 12.5}, ...]}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from unjudged.io import files
from unjudged.io.columns import GRADES, RANKED, Judged, Retrieved, Rows, by_rank, find_columns, lines
from unjudged.io.ids import Ids
from unjudged.io.json_ import fault_of
from unjudged.io.trec import QrelsTable, Reading, RunTable

_decode = json.JSONDecoder().decode


def _objects(path: str, rows: Rows) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in lines(path):
        try:
            found = _decode(line)
        except (ValueError, RecursionError) as problem:
            rows.refuse(f"this line is not JSON ({fault_of(problem)})", number)
            continue
        if isinstance(found, dict):
            listed = found.get("results")
            if isinstance(listed, list) and all(isinstance(hit, dict) for hit in listed):
                about = {key: value for key, value in found.items() if key != "results"}
                yield from ((number, {**about, **hit}) for hit in listed)
            else:
                yield number, found
        else:
            rows.refuse(f'a line needs an object like {{"topic": ...}}, found {line.strip()[:40]!r}', number)


def rows_of(
    path: str, needed: Mapping[str, tuple[str, ...]], rows: Rows
) -> Iterator[tuple[int, dict[str, Any], dict[str, str]]]:
    """(line, object, role -> key); the first object decides which keys are meant."""
    columns: dict[str, str] = {}
    keys: set[str] = set()
    for number, found in _objects(path, rows):
        if not columns:
            columns = find_columns(found, needed, rows.source, number)
            keys = {columns[role] for role in needed}
        if keys <= found.keys():
            yield number, found, columns
        else:
            missing = next(role for role in needed if columns[role] not in found)
            rows.refuse(f"no {columns[missing]!r} here, which the first line has for the {missing}", number)


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns."""
    rows = Judged(files.source_name(path), reading)
    for number, found, at in rows_of(path, GRADES, rows):
        iteration = found.get(at["iteration"]) if "iteration" in at else None
        rows.add(found[at["topic"]], found[at["document"]], found[at["grade"]], iteration, number)
    return rows.table()


def read_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """A run's judged hits."""
    rows = Retrieved(files.source_name(path), reading)
    for number, found, at in rows_of(path, RANKED, rows):
        if not rows.lists:
            rows.ranks = by_rank(at)
        if "run" in at:
            rows.one_run(found.get(at["run"]), number)
        rows.add(found[at["topic"]], found[at["document"]], found[at["score"]], number)
    return rows.table(name, index, topics, keep_docs)
