"""JSON lines: one object per line, with the column names of data frames.

    {"topic": "301", "iteration": "0", "doc": "FT921-1", "grade": 1}
    {"topic": "301", "doc": "FT921-1", "score": 12.5}

A run without scores may hold ranks (1 is best). Other names for the columns are those of data frames
(`query_id`, `qid`, `docno`, `relevance`, ...) and BEIR's `query-id` and `corpus-id`; other keys are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from unjudged.errors import InputError
from unjudged.io.columns import GRADES, RANKED, Judged, Retrieved, Rows, by_rank, find_columns, lines, source_name
from unjudged.io.ids import Ids
from unjudged.io.trec import QrelsTable, Reading, RunTable


def _objects(path: str, rows: Rows) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in lines(path):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as problem:
            why = problem.msg.lower() if isinstance(problem, json.JSONDecodeError) else "nested too deep"
            rows.refuse(f"this line is not JSON ({why})", number)
            continue
        if not isinstance(found, dict):
            rows.refuse(f'a line needs an object like {{"topic": ...}}, found {line.strip()[:40]!r}', number)
            continue
        yield number, found


def _chosen(
    found: dict[str, Any], columns: dict[str, str], needed: Mapping[str, tuple[str, ...]], rows: Rows, line: int
) -> bool:
    """Fill `columns` for this object where those of the line before do not fit."""
    if columns and all(columns[role] in found for role in needed):
        return True
    try:
        fresh = find_columns(found, needed, rows.source, line)
    except InputError as problem:
        if not rows.reading.lenient:
            raise
        rows.refuse(str(problem).partition(f":{line}: ")[2], line)
        return False
    columns.clear()
    columns.update(fresh)
    return True


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns."""
    rows = Judged(source_name(path), reading)
    columns: dict[str, str] = {}
    for number, found in _objects(path, rows):
        if _chosen(found, columns, GRADES, rows, number):
            iteration = found.get(columns.get("iteration", ""), "0")
            rows.add(found[columns["topic"]], found[columns["document"]], found[columns["grade"]], iteration, number)
    return rows.table()


def read_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """A run's judged hits."""
    rows = Retrieved(source_name(path), reading)
    columns: dict[str, str] = {}
    for number, found in _objects(path, rows):
        if _chosen(found, columns, RANKED, rows, number):
            if "run" in columns:
                rows.one_run(found.get(columns["run"]), number)
            rows.ranks = by_rank(columns)
            rows.add(found[columns["topic"]], found[columns["document"]], found[columns["score"]], number)
    return rows.table(name, index, topics, keep_docs)
