"""Judgments and first-stage runs of ir_datasets, by id: `irds:msmarco-passage/trec-dl-2019`.

Judgments may be named without `irds:` where no such file exists and ir_datasets knows the id. What a dataset
needs and has not yet fetched, ir_datasets downloads by itself.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from unjudged.errors import InputError, UsageError, nearest
from unjudged.io.columns import Judged, Retrieved
from unjudged.io.formats import DATASET
from unjudged.io.ids import Ids
from unjudged.io.trec import QrelsTable, Reading, RunTable

_ID = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)*")


def is_known(text: str) -> bool:
    """Is ir_datasets installed, and is this the id of one of its datasets?"""
    if not _ID.fullmatch(text) or find_spec("ir_datasets") is None:
        return False
    try:
        _registry()[text]
    except KeyError:
        return False
    return True


def _registry() -> Any:
    try:
        return importlib.import_module("ir_datasets").registry
    except ImportError:
        raise UsageError("an ir_datasets id needs ir_datasets; pip install 'unjudged[datasets]'") from None


def _dataset(path: str, needed: str, what: str) -> tuple[str, Any]:
    """The id and the dataset, if it has what is needed."""
    known, name = _registry(), path.removeprefix(DATASET)
    try:
        dataset = known[name]
    except KeyError:
        raise InputError(f"ir_datasets knows no dataset {name!r}{nearest(name, list(known))}", path) from None
    if not _has(dataset, needed):
        inside = [i for i in known if i.startswith(f"{name}/") and _has(known[i], needed)][:3]
        hint = f"; {', '.join(inside)} {'has' if len(inside) == 1 else 'have'} them" if inside else ""
        raise InputError(f"this dataset has no {what}{hint}", path)
    return name, dataset


def _has(dataset: Any, needed: str) -> bool:
    return bool(getattr(dataset, f"has_{needed}", lambda: hasattr(dataset, f"{needed}_iter"))())


def _records(dataset: Any, needed: str, path: str) -> Iterator[tuple[int, Any]]:
    """(number, record), with trouble while fetching turned into a sentence."""
    try:
        yield from enumerate(getattr(dataset, f"{needed}_iter")(), 1)
    except (GeneratorExit, InputError):
        raise
    except Exception as problem:  # whatever the download or the file behind it raises
        first = problem.args[0] if problem.args and isinstance(problem.args[0], str) else str(problem)
        why = first.partition("\n")[0] or type(problem).__name__
        raise InputError(f"ir_datasets cannot provide this ({why})", path) from None


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """The dataset's judgments; a subtopic counts as the iteration."""
    name, dataset = _dataset(path, "qrels", "judgments")
    rows = Judged(DATASET + name, reading, "judgment")
    for number, record in _records(dataset, "qrels", path):
        iteration = getattr(record, "iteration", getattr(record, "subtopic_id", "0"))
        rows.add(record.query_id, record.doc_id, record.relevance, iteration, number)
    return rows.table()


def read_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """The dataset's scored documents as a run."""
    known_as, dataset = _dataset(path, "scoreddocs", "scored documents")
    rows = Retrieved(DATASET + known_as, reading, "document")
    for number, record in _records(dataset, "scoreddocs", path):
        rows.add(record.query_id, record.doc_id, record.score, number)
    return rows.table(name or known_as, index, topics, keep_docs)
