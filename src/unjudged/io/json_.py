"""One JSON object {topic: {doc: number}}, as ranx and pytrec_eval users write judgments and runs.

MTEB's predictions are such an object inside {subset: {split: ...}}, beside a description of the model.
"""

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
            raise InputError(f"the key {twice!r} appears twice in one object", source)
        return found

    return check


def fault_of(problem: ValueError | RecursionError) -> str:
    """What Python could not read, in a few words."""
    if isinstance(problem, json.JSONDecodeError):
        return problem.msg.lower()
    # Python reads whole numbers up to some thousand digits
    return "nested too deep" if isinstance(problem, RecursionError) else "a number has too many digits"


def read_object(path: str, source: str) -> dict[str, Any]:
    """The object a JSON file holds; a key given twice is refused."""
    return object_of(files.read_all(path), source)


def object_of(data: bytes, source: str) -> dict[str, Any]:
    """The object this JSON is."""
    try:
        found = json.loads(to_text(data), object_pairs_hook=_once(source))
    except (ValueError, RecursionError) as problem:
        line = problem.lineno if isinstance(problem, json.JSONDecodeError) else None
        raise InputError(f"this JSON cannot be read ({fault_of(problem)})", source, line) from None
    if not isinstance(found, dict):
        raise InputError("JSON judgments and runs are one object {topic: {doc: number}}", source, 1)
    return found


def _one_split(found: dict[str, Any], source: str) -> dict[str, Any]:
    """Of MTEB's predictions the one split of the one subset; any other object as it is."""
    if "mteb_model_meta" not in found:
        if {"task_name", "scores"} <= found.keys():
            raise InputError("these are MTEB's means, which hold no ranking; give its predictions", source)
        return found
    subsets = {name: splits for name, splits in found.items() if name != "mteb_model_meta" and isinstance(splits, dict)}
    there = [(subset, split) for subset, splits in subsets.items() for split in splits]
    if len(there) != 1:
        told = ", ".join(f"{subset}/{split}" for subset, split in there) or "none"
        raise InputError(f"MTEB's predictions must hold one split of one subset, found {told}", source)
    ((subset, split),) = there
    inside = subsets[subset][split]
    if not isinstance(inside, dict):
        raise InputError("MTEB's predictions of a retrieval task are {query: {document: score}}", source)
    return inside


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns."""
    source = files.source_name(path)
    return qrels_from_dict(_one_split(read_object(path, source), source), source)


def read_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """A run's judged hits."""
    source = files.source_name(path)
    table = run_from_dict(_one_split(read_object(path, source), source), source, index, topics, reading, keep_docs)
    return table._replace(name=name or "run")
