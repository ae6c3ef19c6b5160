"""Chunks and documents: runs that list parts of documents, for judgments of whole ones.

`doc:#` says that an id names a document up to its first `#`: `paper7#3` is a part of `paper7`. Each document then
stands once in a list, where its best chunk stood (in a ranked list that is its first one), and those behind close up.
Ties are decided between documents. Judgments of chunks become judgments of documents, with the highest grade.

A budget of tokens ends each list before the first chunk that does not fit any more, as a prompt would be filled;
that is decided on the chunks, before they become documents.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unjudged.errors import InputError, UsageError
from unjudged.io import files
from unjudged.io.columns import whole_number
from unjudged.io.dicts import run_from_topics
from unjudged.io.ids import Ids, to_bytes, to_text
from unjudged.io.trec import QrelsTable, Reading, RunTable

Lists = Iterator[tuple[str, list[bytes], Any]]
"""Topic, its documents best first, and their scores."""


def read_lengths(given: str | Path | Mapping[str, int]) -> dict[bytes, int]:
    """The number of tokens of each chunk: a TSV `id<TAB>tokens` (a header is optional), or a dict."""
    lengths: dict[bytes, int] = {}
    if isinstance(given, Mapping):
        return {to_bytes(str(name)): _length(length, str(name), "lengths", None) for name, length in given.items()}
    path = str(given)
    for number, raw in files.lines(path):
        line = raw.rstrip(b"\r")
        if not line.strip():
            continue
        name, _, said = line.partition(b"\t")
        length = whole_number(to_text(said).strip())
        if number > 1 or isinstance(length, int):  # the first line may be a header
            lengths[name.strip()] = _length(length, to_text(name), path, number)
    if not lengths:
        raise InputError("no lengths in this file; a line is id<TAB>tokens", path)
    return lengths


def _length(found: Any, name: str, source: str, line: int | None) -> int:
    if isinstance(found, bool) or not isinstance(found, (int, np.integer)) or found < 0:
        raise InputError(f"the length of {name} is a number of tokens, 0 or more, not {found!r}", source, line)
    return int(found)


def rolled_up(
    read: Callable[[Reading, bool], RunTable], index: Any, topics: Ids, reading: Reading, keep_docs: bool
) -> RunTable:
    """A run as `reading` wants it: the chunks that `read` reads, cut at the budget of tokens, joined to documents."""
    order = "trec10" if reading.ties == "expected" else reading.ties
    chunks = read(replace(reading, ties=order, truncate=None, units=None, tokens=None, lengths=None), True)
    notes = list(chunks.notes)
    separator = reading.separator
    if separator and chunks.docs is not None and len(chunks.docs) and separator not in chunks.docs.blob:
        notes.append(f"no id holds {to_text(separator)!r}: every chunk counts as a document")
    lists = _within(_lists(chunks, topics), reading, chunks.source)
    if separator:
        lists = ((topic, [doc.split(separator, 1)[0] for doc in docs], scores) for topic, docs, scores in lists)
    filled = [(topic, docs, scores) for topic, docs, scores in lists if docs]
    if not filled and chunks.answered.any():
        raise InputError(f"no list has a first chunk that fits into {reading.tokens} tokens", chunks.source)
    quiet = replace(reading, units=None, tokens=None, lengths=None, strict=False)
    as_text = ((topic, [to_text(doc) for doc in docs], scores) for topic, docs, scores in filled)
    documents = chunks  # where no judged topic is answered, there is nothing to put together
    if filled:
        documents = run_from_topics(as_text, chunks.name, index, topics, quiet, keep_docs)
    return documents._replace(
        name=chunks.name,
        source=chunks.source,
        answered=chunks.answered,
        outside=chunks.outside,
        outside_names=chunks.outside_names,
        notes=tuple(notes),
        tag=chunks.tag,
        repeats=None,
    )


def _lists(chunks: RunTable, topics: Ids) -> Lists:
    """The full lists of the topics that were answered, best first."""
    assert chunks.docs is not None and chunks.doc_offsets is not None and chunks.doc_scores is not None
    offsets = chunks.doc_offsets.tolist()
    for number, (first, last) in enumerate(itertools.pairwise(offsets)):
        if last > first:
            yield topics[number], [chunks.docs.raw(i) for i in range(first, last)], chunks.doc_scores[first:last]


def _within(lists: Lists, reading: Reading, source: str) -> Lists:
    """The lists up to the first chunk that does not fit into the budget any more."""
    for topic, docs, scores in lists:
        if reading.tokens is None or reading.lengths is None:
            yield topic, docs, scores
            continue
        spent = kept = 0
        for doc in docs:
            if (length := reading.lengths.get(doc)) is None:
                raise InputError(f"topic {topic}: no length is given for {to_text(doc)}", source)
            spent += length
            if spent > reading.tokens:
                break
            kept += 1
        yield topic, docs[:kept], scores[:kept]


def judged_documents(table: QrelsTable, reading: Reading) -> QrelsTable:
    """Judgments of documents, where some were of chunks: the highest grade of a document's chunks counts."""
    separator = reading.separator
    if not separator or separator not in table.docs.blob:
        return table
    if table.opinions is not None or table.aspects is not None or table.group is not None:
        raise UsageError(
            "judgments by assessor, subtopic or nugget name whole documents; --units cannot join chunks there"
        )
    best: dict[tuple[int, bytes], int] = {}
    for place, topic in enumerate(table.topic.tolist()):
        key = topic, table.docs.raw(place).split(separator, 1)[0]
        if key not in best or table.grade[place] > table.grade[best[key]]:
            best[key] = place
    kept = np.array(list(best.values()), np.int64)
    many = f"{len(table.topic):,} judgments of chunks became {len(kept):,} of documents, each with its highest grade"
    return table._replace(
        topic=table.topic[kept],
        docs=Ids.of(doc for _, doc in best),
        grade=table.grade[kept],
        iteration=table.iteration[kept],
        line=None if table.line is None else table.line[kept],
        confidence=None if table.confidence is None else table.confidence[kept],
        notes=(*table.notes, many),
    )
