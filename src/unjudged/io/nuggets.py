"""Nuggets in JSON lines, in two shapes that may be mixed; all nuggets of a topic count, whatever was found.

One line per topic, with the documents (or answers) that hold each nugget:

    {"qid": "1", "nuggets": [{"text": "born in 1867", "importance": "vital", "docs": ["d1", "d7"]}, ...]}

One line per document, answer or run, as TREC's RAG track assigns nuggets:

    {"qid": "1", "docid": "d1", "nuggets": [{"text": "in 1867", "importance": "okay", "assignment": "support"}, ...]}

`topic` or `query_id` may stand for `qid`, `run_id` for `docid`. Support is grade 2, partial support 1, no support 0;
`docs` can also be an object of documents and such grades. A nugget is vital unless it is said to be okay.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.aspects import Aspect, Said, checked_grade, table_of
from unjudged.io.ids import to_text
from unjudged.io.trec import QrelsTable, Reading

TOPIC, DOCUMENT = ("qid", "topic", "query_id"), ("docid", "doc", "doc_id", "run_id")
SUPPORT = {"support": 2, "partial_support": 1, "not_support": 0}
"""What an assignment is worth."""


def read_qrels(path: str, reading: Reading | None = None) -> QrelsTable:
    """Nuggets and who holds them."""
    source = files.source_name(path)
    listed: dict[str, dict[str, Aspect]] = {}
    said: list[Said] = []
    for number, line in enumerate(to_text(files.read_all(path)).split("\n"), 1):
        if line.strip():
            said += _of_line(line, listed, source, number)
    return table_of(source, said, listed)


def _of_line(line: str, listed: dict[str, dict[str, Aspect]], source: str, number: int) -> Iterator[Said]:
    try:
        one = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError("this line is not JSON", source, number) from None
    topic = _first(one, TOPIC) if isinstance(one, dict) else None
    if topic is None or not isinstance(one.get("nuggets"), list):
        raise InputError('a line of nuggets needs "qid" and a list of "nuggets"', source, number)
    doc, of_topic = _first(one, DOCUMENT), listed.setdefault(topic, {})
    for nugget in one["nuggets"]:
        if not isinstance(nugget, dict) or _first(nugget, ("id", "text")) is None:
            raise InputError('a nugget is an object with a "text" or an "id"', source, number)
        name = str(_first(nugget, ("id", "text")))
        kind = str(nugget.get("importance", "vital")).casefold()
        if kind not in ("vital", "okay"):
            raise InputError(f"the importance of nugget {name!r} is {kind!r}, not vital or okay", source, number)
        if of_topic.setdefault(name, Aspect(vital=kind == "vital")).vital != (kind == "vital"):
            raise InputError(f"nugget {name!r} of topic {topic} is both vital and okay", source, number)
        if doc is not None:
            given = str(nugget.get("assignment", "")).casefold()
            if given not in SUPPORT:
                can = ", ".join(SUPPORT)
                raise InputError(f"the assignment of nugget {name!r} is {given!r}, not one of {can}", source, number)
            yield Said(topic, name, doc, SUPPORT[given], number)
            continue
        docs = nugget.get("docs", [])
        if not isinstance(docs, (list, dict)):
            raise InputError(f'the "docs" of nugget {name!r} are a list or an object', source, number)
        for held in docs:
            grade = docs[held] if isinstance(docs, Mapping) else SUPPORT["support"]
            yield Said(topic, name, str(held), checked_grade(grade, source, number), number)


def _first(one: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((str(one[name]) for name in names if name in one), None)
