"""What annotation tools export: labels of documents from doccano (JSON lines) and Label Studio (a JSON list of tasks).

    {"topic": "301", "document": "FT921-1", "text": "...", "label": ["2"]}
    [{"data": {"topic": "301", "document": "FT921-1"}, "annotations": [{"result": [{"value": {"choices": ["2"]}}]}]}]

A label is a grade, or begins with one (`2 relevant`). Documents without a label are passed over: they are not judged
yet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.ids import to_text
from unjudged.io.json_ import fault_of
from unjudged.io.machine_grades import MachineJudged
from unjudged.io.trec import QrelsTable, Reading

Labelled = tuple[str, str, Any, int | None]
"""Topic, document, label, and the line it stands in (the number of its task)."""
LABELS = ("grade", "label", "labels", "rating")
TOPICS, DOCUMENTS = ("topic", "query_id", "qid", "query"), ("document", "docid", "doc", "doc_id")
WHOLE = re.compile(r"\s*(\d{1,15})(?:\.0*)?(?!\w)")
"""A grade at the start of a label."""


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns."""
    source = files.source_name(path)
    tasks = next((line.strip() for _, line in files.lines(path) if line.strip()), b"").startswith(b"[")
    rows = MachineJudged(source, reading, unit="task" if tasks else "line")
    for topic, doc, label, line in label_studio(path) if tasks else doccano(path):
        said = WHOLE.match(label) if isinstance(label, str) else None
        rows.add(topic, doc, label if said is None else int(said[1]), None, line or 0)
    return rows.table()


def doccano(path: str) -> Iterator[Labelled]:
    """An object a line: ours with `grade`, doccano's with `label`, where topic and document may stand in `meta`."""
    for number, line in files.lines(path):
        if not line.strip():
            continue
        try:
            found = json.loads(to_text(line))
        except (ValueError, RecursionError):
            raise InputError("this line is not JSON", path, number) from None
        if not isinstance(found, dict):
            raise InputError('a line needs an object like {"topic": ..., "document": ..., "grade": ...}', path, number)
        inside = {**found, **found["meta"]} if isinstance(found.get("meta"), dict) else found
        yield from _one(inside, next((inside[name] for name in LABELS if name in inside), None), path, number)


def label_studio(path: str) -> Iterator[Labelled]:
    """A list of tasks with `data` and `annotations`."""
    try:
        tasks = json.loads(to_text(files.read_all(path)))
    except (ValueError, RecursionError) as problem:
        raise InputError(f"this is not JSON ({fault_of(problem)})", path) from None
    for number, task in enumerate(tasks, 1):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise InputError(f"task {number} needs data with topic and document", path)
        annotations = _inside(task, "annotations", path, number) or _inside(task, "completions", path, number)
        for result in [one for annotation in annotations for one in _inside(annotation, "result", path, number)]:
            value = result.get("value") if isinstance(result, dict) else None
            for name in ("choices", "rating", "number"):
                if isinstance(value, dict) and name in value:
                    yield from _one(task["data"], value[name], path, number)


def _inside(thing: Any, key: str, path: str, number: int) -> list[Any]:
    """The list below this key; an empty one where there is none."""
    found = thing.get(key) if isinstance(thing, dict) else None
    if not isinstance(found, (list, type(None))):
        raise InputError(f"task {number} needs a list {key!r}, found {found!r}", path)
    return found or []


def _one(entry: Mapping[str, Any], label: Any, path: str, line: int | None) -> Iterator[Labelled]:
    """The label of one entry; nothing where it was not judged."""
    if isinstance(label, (list, tuple)):
        if len(label) > 1:
            raise InputError(f"a document has one label, found {label!r}", path, line)
        label = label[0] if label else None
    if label is None or label == "":
        return
    topic, doc = (next((entry[name] for name in names if name in entry), None) for names in (TOPICS, DOCUMENTS))
    if not all(isinstance(name, (str, int)) and not isinstance(name, bool) for name in (topic, doc)):
        raise InputError("an answer needs a topic and a document, texts or whole numbers", path, line)
    yield str(topic), str(doc), label, line
