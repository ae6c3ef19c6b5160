"""What `unjudged check` finds in a collection that was read already: the judgments' lines, the runs' lists.

The lines of the runs are not read again, which would take longer than all the rest of a report; what only lines show
(rank columns, repeated documents, tags that change) is left to `unjudged check`.
"""

from __future__ import annotations

import hashlib
from itertools import pairwise
from pathlib import Path

import numpy as np

from unjudged.collection import Collection, Rankings
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
    if collection.judgments.aspects is not None:  # a document has a line for each subtopic there
        return Judged((to_bytes(topic), {}) for topic in collection.topics), []
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
    told, digests = _lists(rankings), _digests(rankings)
    looks = []
    for r, run in enumerate(collection.runs):
        lists: dict[bytes, lint.SeenList] = {}
        for t, topic in enumerate(topics):
            cell = r * len(topics) + t
            if collection.hits.answered[cell]:
                lists[topic] = lint.SeenList(*told[cell], digests[cell])
        lists |= {to_bytes(topic): lint.SeenList(0) for topic in rankings.outside[r]}
        look = lint.RunCheck(collection.sources[r + 1], judged)
        look.name = run
        sample = [rankings.unjudged.raw(i) for i in range(min(10, len(rankings.unjudged)))]
        looks.append(look.seen(lists, collection.tags[r], int(hits[r]) if known else 1, sample))
    lint.compare_runs(looks)
    return looks


def _digests(rankings: Rankings) -> list[bytes]:
    """Equal for lists with the same documents in the same order."""
    ends = rankings.offsets.tolist()
    return [hashlib.blake2b(rankings.doc[a:b].tobytes(), digest_size=16).digest() for a, b in pairwise(ends)]


def _lists(rankings: Rankings) -> list[tuple[int, int, int, bool, bool]]:
    """Of every list what `SeenList` tells, digests aside."""
    score, first, length = rankings.score, rankings.offsets[:-1], np.diff(rankings.offsets)
    listed = np.flatnonzero(length)
    if not len(listed):
        return [(0, 0, 0, False, False)] * len(length)
    start = np.zeros(len(score) + 1, bool)
    start[rankings.offsets] = True
    falls = start[1:-1] | (score[1:] < score[:-1])
    level = score[1:] == score[:-1]
    if not (falls | level).all():  # another order than by scores
        each = (lint.SeenList.of(score[a:b].tolist(), b"") for a, b in pairwise(rankings.offsets.tolist()))
        return [(one.length, one.tied, one.first_tied, one.at_ten, one.one_score) for one in each]
    alike = level & ~start[1:-1]
    tied = np.zeros(len(score), bool)
    tied[1:] |= alike
    tied[:-1] |= alike
    many = np.diff(np.concatenate(([0], np.cumsum(tied)))[rankings.offsets])
    places = np.append(np.flatnonzero(tied), 0)
    place = np.where(many > 0, places[np.searchsorted(places[:-1], first)] - first + 1, 0)
    at_ten, one = np.zeros(len(length), bool), np.zeros(len(length), bool)
    deep = np.flatnonzero(length > 10)
    at_ten[deep] = score[first[deep] + 9] == score[first[deep] + 10]
    one[listed] = score[first[listed]] == score[first[listed] + length[listed] - 1]
    return list(zip(length.tolist(), many.tolist(), place.tolist(), at_ten.tolist(), one.tolist(), strict=True))
