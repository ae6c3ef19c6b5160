"""One JSON object {topic: {doc: number}}, as ranx and pytrec_eval users write judgments and runs."""

from __future__ import annotations

import json
from typing import Any

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.dicts import qrels_from_dict, run_from_dict
from unjudged.io.ids import Ids, to_text
from unjudged.io.trec import QrelsTable, Reading, RunTable


def _once(source: str) -> Any:
    """An object hook that refuses a key given twice, of which JSON would silently keep the last."""

    def check(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for i, key in enumerate(keys) if key in keys[:i])
            raise InputError(f"the key {twice!r} stands twice in one object", source)
        return found

    return check


def _read(path: str, source: str) -> dict[str, Any]:
    try:
        found = json.loads(to_text(files.read_all(path)), object_pairs_hook=_once(source))
    except json.JSONDecodeError as problem:
        raise InputError(f"this JSON cannot be read ({problem.msg.lower()})", source, problem.lineno) from None
    except RecursionError:
        raise InputError("this JSON cannot be read (nested too deep)", source) from None
    if not isinstance(found, dict):
        raise InputError("JSON judgments and runs are one object {topic: {doc: number}}", source, 1)
    return found


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns."""
    source = files.source_name(path)
    return qrels_from_dict(_read(path, source), source)


def read_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """A run's judged hits."""
    source = files.source_name(path)
    table = run_from_dict(_read(path, source), source, index, topics, reading, keep_docs)
    return table._replace(name=name or "run")
