"""Judgments and runs in other formats than TREC text, looked at by what they hold: `check` without lines.

A file that its reader refuses is a finding; what only lines of TREC text can show (rank columns, tags) is not asked.
"""

from __future__ import annotations

import hashlib
import re

import numpy as np

from unjudged import kernels
from unjudged.errors import InputError
from unjudged.io import files, formats
from unjudged.io.check.findings import Tally, example, many, shown, where, why
from unjudged.io.check.inspection import Judged, RunCheck, SeenList
from unjudged.io.ids import Ids, to_bytes
from unjudged.io.trec import Reading, RunTable

SAMPLE = 10
"""Documents of a list that are compared with the judged ones."""


def check_judgments(path: str, format: str | None = None) -> tuple[Tally, Judged]:
    """Look through judgments of any format, which `format` names where it cannot be recognised."""
    tally, topics = Tally(files.source_name(path)), Judged()
    try:
        table = formats.read_qrels(path, Reading(), format)
    except InputError as problem:
        tally.note("UJ100", problem.line, detail=why(problem))
        return tally, topics
    lines = [None] * len(table.topic) if table.line is None else table.line.tolist()
    names = [to_bytes(topic) for topic in table.topics]
    once = table.aspects is None and table.opinions is None  # a document may have a grade per subtopic or assessor
    for place, (code, grade, line) in enumerate(zip(table.topic.tolist(), table.grade.tolist(), lines, strict=True)):
        topic, doc = names[code], table.docs.raw(place)
        grades = topics.setdefault(topic, {})
        if doc in grades and once:
            same = grades[doc] == grade
            said = where(doc, topic) if same else f"{where(doc, topic)}, {grades[doc]} and {grade}"
            tally.note("UJ122" if same else "UJ123", line, detail=said)
        grades.setdefault(doc, grade)
        if grade < 0:
            tally.note("UJ125", line, detail=f"{grade} for {where(doc, topic)}")
    for topic, grades in topics.items():
        if max(grades.values()) < 1:
            tally.note("UJ124", None, detail=example([topic]))
        if 0 not in grades.values():
            tally.note("UJ126", None, detail=example([topic]))
    return tally, topics


def check_run(path: str, judged: Judged) -> RunCheck:
    """Look through a run of any format."""
    look = RunCheck(path, judged)
    topics = Ids.of(judged)
    ends = np.zeros(0, np.int64)
    index = kernels.Index(topics.blob, topics.ends, b"", ends, np.zeros(len(topics) + 1, np.int64))
    try:
        table = formats.read_run(path, index, topics, Reading(), look.name, keep_docs=True)
    except InputError as problem:
        found = re.search(r"no topic in common with the judgments \((.*)\)", str(problem))
        look.tally.note("UJ135" if found else "UJ100", problem.line, detail=found[1] if found else why(problem))
        return look
    _look_at(look, table, judged)
    return look


def _look_at(look: RunCheck, table: RunTable, judged: Judged) -> None:
    assert table.docs is not None and table.doc_offsets is not None and table.doc_scores is not None
    lists: dict[bytes, SeenList] = {}
    hits, sample, endless = 0, list[bytes](), list[bytes]()
    for number, topic in enumerate(judged):
        first, last = int(table.doc_offsets[number]), int(table.doc_offsets[number + 1])
        docs = [table.docs.raw(i) for i in range(first, last)]
        hits += sum(doc in judged[topic] for doc in docs)
        sample += docs[:SAMPLE]
        if docs:
            digest = hashlib.blake2b(b"\n".join(docs), digest_size=16).digest()
            scores = table.doc_scores[first:last]
            lists[topic] = SeenList.of(scores.tolist(), digest)
            if not np.isfinite(scores).all():
                endless.append(topic)
    lists |= {to_bytes(topic): SeenList.of([], b"") for topic in table.outside_names}
    look.seen(lists, "", hits, sample)
    if table.repeats is not None:
        at = int(table.repeats[0, 0])
        look.tally.note("UJ102", None, len(table.repeats), f"topic {shown(list(judged)[at])}")
    look.tally.found = {code: (None, count, said) for code, (_, count, said) in look.tally.found.items()}
    if endless:
        look.tally.note("UJ116", None, len(endless), f"{many(len(endless), 'topic')}, {example(endless)}")
