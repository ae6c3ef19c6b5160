"""What `unjudged check` finds in a collection that was read already: the judgments' lines, the runs' lists.

The lines of the runs are not read again, which would take longer than all the rest of a report; what only lines show
(rank columns, repeated documents, tags that change) is left to `unjudged check`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from unjudged.collection import Collection
from unjudged.errors import UnjudgedError
from unjudged.io import formats
from unjudged.io.check import inspection as lint
from unjudged.io.check.findings import CODES, SEVERITIES, Finding, many
from unjudged.io.check.inspection import Judged, check_qrels
from unjudged.io.ids import to_bytes

LARGEST = 8_000_000
"""Bytes of a judgment file whose lines are looked at."""


def file_findings(collection: Collection) -> list[str]:
    """A sentence per kind of finding, errors first: how often, in how many files, and the first one with its file.

    They are the same whatever is asked of the collection, and kept with it.
    """
    return list(collection.once("file findings", lambda: tuple(_found(collection))))


def _found(collection: Collection) -> list[str]:
    judged, found = _judgments(collection)
    found += [finding for look in _runs(collection, judged) for finding in look.tally.findings()]
    by_code: dict[str, list[Finding]] = {}
    for finding in found:
        by_code.setdefault(finding.code, []).append(finding)
    said = []
    for code in sorted(by_code, key=lambda code: (SEVERITIES.index(CODES[code].severity), code)):
        kind, first = CODES[code], min(by_code[code], key=lambda finding: finding.file)
        count = many(sum(finding.count for finding in by_code[code]), kind.unit)
        amount = f"{count} in {many(len(by_code[code]), 'file')}; in {Path(first.file).name}"
        said.append(f"{code} ({kind.severity}): {kind.title}, {amount}: {first.sentence}")
    return said


def _judgments(collection: Collection) -> tuple[Judged, list[Finding]]:
    """Grades by topic and document, and the findings; only the topics' names where no TREC text can be looked at."""
    path = Path(collection.judgments.source)
    if path.is_file() and path.stat().st_size <= LARGEST and formats.qrels_format(str(path)) == "trec":
        tally, judged = check_qrels(str(path))
        if judged:
            return judged, tally.findings()
    return Judged((to_bytes(topic), {}) for topic in collection.topics), []


def _runs(collection: Collection, judged: Judged) -> list[lint.RunCheck]:
    """The runs, looked at by their lists."""
    try:
        rankings = collection.rankings
    except UnjudgedError:  # the full lists are not there
        return []
    topics = [to_bytes(topic) for topic in collection.topics]
    hits = np.diff(collection.hits.offsets).reshape(len(collection.runs), -1).sum(axis=1)
    known = any(judged.values())
    looks = []
    for r, run in enumerate(collection.runs):
        lists: dict[bytes, lint.SeenList] = {}
        for t, topic in enumerate(topics):
            cell = r * len(topics) + t
            here = slice(rankings.offsets[cell], rankings.offsets[cell + 1])
            if collection.hits.answered[cell]:
                digest = hashlib.blake2b(rankings.doc[here].tobytes(), digest_size=16).digest()
                lists[topic] = rankings.score[here].tolist(), digest
        lists |= {to_bytes(topic): ([], b"") for topic in rankings.outside[r]}
        look = lint.RunCheck(collection.sources[r + 1], judged)
        look.name = run
        sample = [rankings.unjudged.raw(i) for i in range(min(10, len(rankings.unjudged)))]
        looks.append(look.seen(lists, collection.tags[r], int(hits[r]) if known else 1, sample))
    lint.compare_runs(looks)
    return looks
