"""Parquet files with the column names of data frames (ranx writes `q_id`, `doc_id`, `score`). Needs pyarrow."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from unjudged.errors import InputError, UsageError
from unjudged.io import files
from unjudged.io.columns import GRADES, RANKED, Judged, Retrieved, by_rank, find_columns
from unjudged.io.ids import Ids, to_text
from unjudged.io.trec import QrelsTable, Reading, RunTable

ONE_VALUE = 32
"""Bytes of a number and its place in a list."""


def load_pyarrow(path: str) -> Any:
    """`pyarrow`, or a sentence that says how to get it."""
    try:
        importlib.import_module("pyarrow.parquet")
        return importlib.import_module("pyarrow")
    except ImportError:
        raise UsageError(f"{path}: Parquet files need pyarrow; pip install 'unjudged[parquet]'") from None


def read_batches(path: str, choose: Callable[[list[str]], list[str]], rows: int = 65_536) -> Iterator[tuple[Any, int]]:
    """The chosen columns, piece by piece, with the bytes each takes; a text repeated is held once."""
    if path == files.STDIN:
        raise InputError("Parquet cannot be read from standard input; name a file", files.source_name(path))
    pyarrow = load_pyarrow(path)
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names = sorted(set(choose(file.schema_arrow.names)))
            for name in names:
                _refuse_lists(pyarrow, file.schema_arrow, name, path)
        with pyarrow.parquet.ParquetFile(path, read_dictionary=names) as file:
            files.refuse_too_much(path, _unpacked(file.metadata, names))
            for batch in file.iter_batches(rows, columns=names, use_pandas_metadata=False):
                size = sum(_size(pyarrow, batch.column(name)) for name in names)
                files.refuse_too_much(path, size)
                yield batch, size
    except FileNotFoundError:
        raise files.missing(path) from None
    except (OSError, pyarrow.ArrowException) as problem:
        why = str(problem).partition("\n")[0].rstrip(".")
        raise InputError(f"this Parquet file cannot be read ({why})", path) from None


def _refuse_lists(pyarrow: Any, schema: Any, name: str, path: str) -> None:
    """A sentence where the rows of a column hold lists or objects."""
    if pyarrow.types.is_nested(kind := schema.field(name).type):
        raise InputError(f"the column {name!r} holds {kind}, not one value a row", path)


def _columns(path: str, needed: Mapping[str, tuple[str, ...]]) -> tuple[dict[str, str], dict[str, list[Any]]]:
    """Role -> name in the file, and role -> values."""
    chosen: dict[str, str] = {}

    def choose(names: list[str]) -> list[str]:
        chosen.update(find_columns(names, needed, path))
        return list(chosen.values())

    values: dict[str, list[Any]] = {}
    held = 0
    for batch, size in read_batches(path, choose):
        held += size
        files.refuse_too_much(path, held)
        for role, name in chosen.items():
            values.setdefault(role, []).extend(_values(batch.column(name)))
    return chosen, {role: values.get(role, []) for role in chosen}


def _unpacked(metadata: Any, names: list[str]) -> int:
    """Bytes of these columns when they are unpacked, as the file's end says: known before anything is unpacked."""
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    parts = (group.column(i) for group in groups for i in range(group.num_columns))
    return sum(int(part.total_uncompressed_size) for part in parts if part.path_in_schema in names)


def _size(pyarrow: Any, column: Any) -> int:
    """Bytes that a piece of a column takes once its values stand one by one."""
    lengths = 0
    if pyarrow.types.is_dictionary(column.type) and _is_text(pyarrow, column.type.value_type):
        compute = importlib.import_module("pyarrow.compute")
        lengths = compute.sum(compute.binary_length(column.dictionary).take(column.indices)).as_py() or 0
    return ONE_VALUE * len(column) + lengths


def _is_text(pyarrow: Any, kind: Any) -> bool:
    types = pyarrow.types
    tests = types.is_string, types.is_binary, types.is_large_string, types.is_large_binary
    return any(test(kind) for test in tests)


def _values(column: Any) -> Iterator[Any]:
    """Values one by one; bytes are ids that are not UTF-8."""
    if hasattr(column, "dictionary"):
        texts = [to_text(value) if isinstance(value, bytes) else value for value in column.dictionary.to_pylist()]
        yield from (None if place is None else texts[place] for place in column.indices.to_pylist())
        return
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
