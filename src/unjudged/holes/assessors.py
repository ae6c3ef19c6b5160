"""What assessors get: topic, document and text, shuffled within a topic; no chances, no runs, no order of value.

Formats: a plain list, and the imports of Quepid (CSV), doccano (JSON lines) and Label Studio (JSON).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence

from unjudged.errors import as_utf8

Pairs = Sequence[tuple[str, str]]
"""(topic, document), in the order they are shown."""
Texts = Mapping[str, str]


def as_list(pairs: Pairs, queries: Texts, documents: Texts) -> str:
    """`topic<TAB>document`, as `pool build --format list` writes it."""
    return "".join(f"{topic}\t{doc}\n" for topic, doc in pairs)


def as_trec(pairs: Pairs, queries: Texts, documents: Texts) -> str:
    """`topic 0 document`: TREC judgments without grades."""
    return "".join(f"{topic} 0 {doc}\n" for topic, doc in pairs)


def as_quepid(pairs: Pairs, queries: Texts, documents: Texts) -> str:
    """Quepid's ratings: `query,docid,rating` with no ratings yet; the query is its text where that is known."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("query", "docid", "rating"))
    writer.writerows((queries.get(topic, topic), doc, "") for topic, doc in pairs)
    return out.getvalue()


def as_doccano(pairs: Pairs, queries: Texts, documents: Texts) -> str:
    """doccano's text classification: a line per document with the query above its text, and an empty label."""
    return "".join(
        json.dumps({"text": _text(topic, doc, queries, documents), "label": [], **_ids(topic, doc)}, ensure_ascii=False)
        + "\n"
        for topic, doc in pairs
    )


def as_label_studio(pairs: Pairs, queries: Texts, documents: Texts) -> str:
    """Label Studio's tasks: `data` with topic, document, query and text."""
    tasks = [
        {
            "data": {
                **_ids(topic, doc),
                "query": as_utf8(queries.get(topic, topic)),
                "text": as_utf8(documents.get(doc, doc)),
            }
        }
        for topic, doc in pairs
    ]
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def _ids(topic: str, doc: str) -> dict[str, str]:
    return {"topic": as_utf8(topic), "document": as_utf8(doc)}


def _text(topic: str, doc: str, queries: Texts, documents: Texts) -> str:
    return as_utf8(f"{queries.get(topic, topic)}\n\n{documents.get(doc, doc)}")


FORMATS: Mapping[str, Callable[[Pairs, Texts, Texts], str]] = {
    "list": as_list,
    "trec": as_trec,
    "quepid": as_quepid,
    "doccano": as_doccano,
    "label-studio": as_label_studio,
}
"""The formats by the names used on the command line."""
