"""Tab-separated text with a header line, as BEIR and MTEB write judgments (`query-id corpus-id score`).

Columns are found by their names, so a run with a header (`qid docno score`) is read as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.columns import (
    GRADES,
    RANKED,
    Judged,
    Retrieved,
    Rows,
    by_rank,
    decimal_number,
    find_columns,
    has_columns,
    lines,
    whole_number,
)
from unjudged.io.ids import Ids
from unjudged.io.trec import QrelsTable, Reading, RunTable


def judgments_in(folder: str) -> str | None:
    """The judgments of a folder of BEIR: `qrels/test.tsv`, or the only split there is; None for any other folder."""
    splits = sorted(Path(folder, "qrels").glob("*.tsv"))
    chosen = [split for split in splits if split.stem == "test"] or splits
    if len(chosen) > 1:
        raise InputError(
            f"a folder of BEIR with {len(chosen)} splits and no test.tsv; give one, as {chosen[0]}", folder
        )
    return str(chosen[0]) if chosen else None


def _rows(path: str, needed: Mapping[str, tuple[str, ...]], rows: Rows) -> Iterator[tuple[int, dict[str, str]]]:
    """Each line as role -> text; without a header, the three columns are those of BEIR."""
    columns: dict[str, int] = {}
    for number, line in lines(path):
        if line.startswith("#"):
            continue
        fields = line.rstrip("\r").split("\t")
        if not columns:
            if has_columns(fields, needed) or len(fields) != 3:
                chosen = find_columns(fields, needed, rows.source, number)
                columns = {role: fields.index(name) for role, name in chosen.items()}
                if isinstance(rows, Retrieved):
                    rows.ranks = by_rank(chosen)
                continue
            columns = dict(zip(needed, range(3), strict=True))
        if len(fields) <= max(columns.values()):
            rows.refuse(f"a line needs {max(columns.values()) + 1} columns between tabs, found {len(fields)}", number)
            continue
        yield number, {role: fields[place] for role, place in columns.items()}


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns; of a folder, those of its test split."""
    path = (judgments_in(path) if Path(path).is_dir() else None) or path
    rows = Judged(files.source_name(path), reading)
    for number, row in _rows(path, GRADES, rows):
        grade = whole_number(row["grade"].strip())
        rows.add(row["topic"], row["document"], grade, row.get("iteration", "0"), number)
    return rows.table()


def read_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """A run's judged hits."""
    rows = Retrieved(files.source_name(path), reading)
    for number, row in _rows(path, RANKED, rows):
        if "run" in row:
            rows.one_run(row["run"], number)
        rows.add(row["topic"], row["document"], decimal_number(row["score"].strip()), number)
    return rows.table(name, index, topics, keep_docs)
