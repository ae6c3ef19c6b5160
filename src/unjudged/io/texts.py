"""Texts of queries and documents, for people who judge: `queries.jsonl`, `corpus.jsonl`, TSV, TREC topics, ir_datasets.

JSON lines have `_id` (or `id`, `doc_id`, `docno`, `query_id`, `qid`, `topic`) and `text`, perhaps `title`; a TSV has
id<TAB>text; TREC topics have <num> and <title>. Only the texts asked for are kept.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Collection as Names
from collections.abc import Iterator
from typing import Any

from unjudged.errors import InputError, UsageError, as_utf8
from unjudged.io import files
from unjudged.io.ids import to_text

_ID = ("_id", "id", "doc_id", "docno", "docid", "document", "query_id", "qid", "topic", "number")
_TEXT = ("title", "text", "query", "contents", "body")
_TOPIC = re.compile(
    r"<num>\s*(?:Number:)?\s*(\S+).*?<title>\s*(?:Topic:)?\s*(.*?)\s*(?=<|\Z)", re.DOTALL | re.IGNORECASE
)


def read_texts(path: str, wanted: Names[str]) -> dict[str, str]:
    """Id -> text of the queries or documents wanted, as far as the file has them."""
    asked = set(wanted)
    if path.startswith("irds:"):
        return _from_datasets(path.removeprefix("irds:"), asked)
    return {name: text for name, text in _texts(path) if name in asked}


def _texts(path: str) -> Iterator[tuple[str, str]]:
    start = next((line.lstrip() for _, line in files.lines(path) if line.strip()), b"")
    if start.startswith(b"<"):
        for topic in re.split(r"<top>", to_text(files.read_all(path)), flags=re.IGNORECASE):
            if found := _TOPIC.search(topic):
                yield found[1], as_utf8(" ".join(found[2].split()))
        return
    for number, line in files.lines(path):
        text = to_text(line).rstrip("\r\n")
        if not text.strip():
            continue
        if start.startswith(b"{"):
            yield _from_json(text, path, number)
            continue
        name, tab, rest = text.partition("\t")
        if not tab:
            raise InputError(f"a line needs id<TAB>text, found {text[:40]!r}", path, number)
        yield name, as_utf8(rest.replace("\t", " "))


def _from_json(line: str, path: str, number: int) -> tuple[str, str]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError("this line is not JSON", path, number) from None
    if not isinstance(found, dict) or not (key := next((k for k in _ID if k in found), "")):
        raise InputError('a line needs an object like {"_id": ..., "text": ...}', path, number)
    parts = [str(found[k]) for k in _TEXT if isinstance(found.get(k), (str, int, float)) and found[k] != ""]
    return str(found[key]), as_utf8("\n".join(parts))


def _from_datasets(name: str, wanted: set[str]) -> dict[str, str]:
    try:
        ir_datasets: Any = importlib.import_module("ir_datasets")
    except ImportError:
        raise UsageError("an ir_datasets id needs ir_datasets; pip install 'unjudged[datasets]'") from None
    try:
        dataset: Any = ir_datasets.load(name)
    except KeyError:
        raise UsageError(f"ir_datasets knows no {name!r}") from None
    found: dict[str, str] = {}
    if dataset.has_queries():
        found |= {q.query_id: as_utf8(q.default_text()) for q in dataset.queries_iter() if q.query_id in wanted}
    if dataset.has_docs() and (left := wanted - found.keys()):
        store = dataset.docs_store()
        found |= {name: as_utf8(doc.default_text()) for name, doc in store.get_many(left).items()}
    return found
