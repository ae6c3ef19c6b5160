"""Parquet files with the column names of data frames (ranx writes `q_id`, `doc_id`, `score`). Needs pyarrow."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unjudged.errors import InputError, UsageError
from unjudged.io import files
from unjudged.io.columns import GRADES, RANKED, Judged, Retrieved, by_rank, find_columns
from unjudged.io.ids import Ids, to_text
from unjudged.io.trec import QrelsTable, Reading, RunTable

MOST_TIMES, ALWAYS = 200, 256_000_000
"""A file may hold so many times its size, or so many bytes: one value repeated is written once, and read as often."""


def load_pyarrow(path: str) -> Any:
    """`pyarrow`, or a sentence that says how to get it."""
    try:
        importlib.import_module("pyarrow.parquet")
        return importlib.import_module("pyarrow")
    except ImportError:
        raise UsageError(f"{path}: Parquet files need pyarrow; pip install 'unjudged[parquet]'") from None


def _columns(path: str, needed: Mapping[str, tuple[str, ...]]) -> tuple[dict[str, str], dict[str, list[Any]]]:
    """Role -> name in the file, and role -> values."""
    if path == files.STDIN:
        raise InputError("Parquet cannot be read from standard input; name a file", files.source_name(path))
    pyarrow = load_pyarrow(path)
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            chosen = find_columns(file.schema_arrow.names, needed, path)
            values: dict[str, list[Any]] = {role: [] for role in chosen}
            held, most = 0, max(MOST_TIMES * Path(path).stat().st_size, ALWAYS)
            for batch in file.iter_batches(columns=sorted(set(chosen.values())), use_pandas_metadata=False):
                held += batch.nbytes
                if held > most:
                    raise InputError(f"this Parquet file holds over {most // 1_000_000:,} MB of values", path)
                for role, name in chosen.items():
                    values[role].extend(_values(batch.column(name)))
    except FileNotFoundError:
        raise files.missing(path) from None
    except (OSError, pyarrow.ArrowException) as problem:
        why = str(problem).partition("\n")[0].rstrip(".")
        raise InputError(f"this Parquet file cannot be read ({why})", path) from None
    return chosen, values


def _values(column: Any) -> Iterator[Any]:
    """Values one by one; bytes are ids that are not UTF-8."""
    for value in column.to_pylist():
        yield to_text(value) if isinstance(value, bytes) else value


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns."""
    rows = Judged(path, reading, "row")
    _, values = _columns(path, GRADES)
    iterations = values.get("iteration") or ["0"] * len(values["topic"])
    columns = values["topic"], values["document"], values["grade"], iterations
    for number, (topic, doc, grade, iteration) in enumerate(zip(*columns, strict=True), 1):
        rows.add(topic, doc, grade, iteration, number)
    return rows.table()


def read_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """A run's judged hits."""
    rows = Retrieved(path, reading, "row")
    chosen, values = _columns(path, RANKED)
    rows.ranks = by_rank(chosen)
    for run in dict.fromkeys(values.get("run", ())):
        rows.one_run(run, 0)
    columns = values["topic"], values["document"], values["score"]
    for number, (topic, doc, score) in enumerate(zip(*columns, strict=True), 1):
        rows.add(topic, doc, score, number)
    return rows.table(name, index, topics, keep_docs)
