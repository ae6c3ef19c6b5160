"""Texts of queries and documents, for people who judge: `queries.jsonl`, `corpus.jsonl`, TSV, TREC topics, ir_datasets.

JSON lines have `_id` (or `id`, `doc_id`, `docno`, `query_id`, `qid`, `topic`) and `text`, perhaps `title`; a TSV has
id<TAB>text; TREC topics have <num>, <title>, perhaps <desc> and <narr>. Only the texts asked for are kept.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from unjudged.errors import InputError, UsageError, as_utf8
from unjudged.io import files
from unjudged.io.ids import to_text

_ID = ("_id", "id", "doc_id", "docno", "docid", "document", "query_id", "qid", "topic", "number")
_TEXT = ("text", "query", "contents", "body")
_NEED = ("narrative", "description", "narr", "desc")
_TOPIC = re.compile(
    r"<num>\s*(?:Number:)?\s*(\S+).*?<title>\s*(?:Topic:)?\s*(.*?)\s*(?=<|\Z)", re.DOTALL | re.IGNORECASE
)
_TOLD = re.compile(r"<(?:narr|desc)>\s*(?:Narrative:|Description:)?\s*(.*?)\s*(?=<|\Z)", re.DOTALL | re.IGNORECASE)
_QUICK = re.compile(rb'\s*\{\s*"_?id"\s*:\s*"([^"\\]*)"')


@dataclass(frozen=True)
class Text:
    """A query or document: its title (documents), its text, and what the query wants (topics that say so)."""

    body: str
    title: str = ""
    need: str = ""

    @property
    def whole(self) -> str:
        """Title and text."""
        return "\n".join(filter(None, (self.title, self.body)))


def read_texts(path: str, wanted: Names[str]) -> dict[str, str]:
    """Id -> text of the queries or documents wanted, as far as the file has them."""
    return {name: text.whole for name, text in read_titled(path, wanted).items()}


def read_titled(path: str, wanted: Names[str]) -> dict[str, Text]:
    """The same with title, text and need apart."""
    asked = set(wanted)
    if path.startswith("irds:"):
        return _from_datasets(path.removeprefix("irds:"), asked)
    return {name: text for name, text in _texts(path, asked) if name in asked}


class Texts:
    """Texts of one file, or none at all; `need` reads those that may be wanted in one go."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._found: dict[str, Text] = {}
        self._tried: set[str] = set()

    def need(self, names: Names[str]) -> int:
        """Read these, as far as the file has them; how many of them it has."""
        new = set(names) - self._tried
        if new and self.path is not None:
            self._found |= read_titled(self.path, new)
            self._tried |= new
        return sum(name in self._found for name in names)

    def get(self, name: str) -> Text | None:
        """The text, where there is one."""
        return self._found.get(name)


def _texts(path: str, wanted: set[str]) -> Iterator[tuple[str, Text]]:
    start = next((line.lstrip() for _, line in files.lines(path) if line.strip()), b"")
    if start.startswith(b"<"):
        for topic in re.split(r"<top>", to_text(files.read_all(path)), flags=re.IGNORECASE):
            if found := _TOPIC.search(topic):
                need = " ".join(_plain(told) for told in _TOLD.findall(topic))
                name = found[1] if found[1] in wanted else found[1].lstrip("0")  # 051 is topic 51 of the judgments
                yield name, Text(_plain(found[2]), need=need)
        return
    for number, line in files.lines(path):
        if not line.strip():
            continue
        if start.startswith(b"{"):
            named = _QUICK.match(line)  # a corpus is long: lines that nobody asked for are not read further
            if named is None or to_text(named[1]) in wanted:
                yield _from_json(to_text(line), path, number)
            continue
        text = to_text(line).rstrip("\r\n")
        name, tab, rest = text.partition("\t")
        if not tab:
            raise InputError(f"a line needs id<TAB>text, found {text[:40]!r}", path, number)
        yield name, Text(as_utf8(rest.replace("\t", " ")))


def _plain(text: str) -> str:
    return as_utf8(" ".join(text.split()))


def _from_json(line: str, path: str, number: int) -> tuple[str, Text]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError("this line is not JSON", path, number) from None
    if not isinstance(found, dict) or not (key := next((k for k in _ID if k in found), "")):
        raise InputError('a line needs an object like {"_id": ..., "text": ...}', path, number)
    more = found["metadata"] if isinstance(found.get("metadata"), dict) else {}
    title, body = ("\n".join(_said(found, names)) for names in (("title",), _TEXT))
    need = " ".join([*_said(found, _NEED), *_said(more, _NEED)])
    return str(found[key]), Text(as_utf8(body), as_utf8(title), as_utf8(need))


def id_of(line: str, path: str, number: int) -> str:
    """The id that one JSON line gives its query or document."""
    return _from_json(line, path, number)[0]


def _said(entry: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    return [str(entry[k]) for k in names if isinstance(entry.get(k), (str, int, float)) and entry[k] != ""]


def _from_datasets(name: str, wanted: set[str]) -> dict[str, Text]:
    try:
        ir_datasets: Any = importlib.import_module("ir_datasets")
    except ImportError:
        raise UsageError("an ir_datasets id needs ir_datasets; pip install 'unjudged[datasets]'") from None
    try:
        dataset: Any = ir_datasets.load(name)
    except KeyError:
        raise UsageError(f"ir_datasets knows no {name!r}") from None
    found: dict[str, Text] = {}
    if dataset.has_queries():
        found |= {
            q.query_id: Text(as_utf8(q.default_text()), need=_need(q))
            for q in dataset.queries_iter()
            if q.query_id in wanted
        }
    if dataset.has_docs() and (left := wanted - found.keys()):
        store = dataset.docs_store()
        found |= {name: Text(as_utf8(doc.default_text())) for name, doc in store.get_many(left).items()}
    return found


def _need(query: Any) -> str:
    """What ir_datasets has of a topic besides its text."""
    parts = (getattr(query, name, None) for name in _NEED)
    return _plain(" ".join(part for part in parts if isinstance(part, str)))
