"""Other judgments for the same runs: documents may become judged, unjudged, or get another grade.

Two human assessors, or a human and a machine: do the runs keep their order (Voorhees 2000)?
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Gains, Hits, Ints, Judgments, Rankings
from unjudged.collection.aligned import UNJUDGED, Aligned, align
from unjudged.collection.history import change
from unjudged.collection.load import read_judgments
from unjudged.collection.rankings import FullLists
from unjudged.collection.segments import changes, tie_groups
from unjudged.errors import UsageError
from unjudged.io.formats import every_judge
from unjudged.io.ids import Ids
from unjudged.io.trec import QrelsTable

Grades = npt.NDArray[np.int32]


@change(other=lambda _, other: judgments_of(other))
def replace_judgments(collection: Collection, other: Any, *, keep: bool = False) -> Collection:
    """The judgments of another assessor, human or machine, in place of the collection's own.

    Documents the other set does not judge become unjudged; with `keep` they keep the grade they have.
    """

    def grades(aligned: Aligned) -> Grades:
        own, theirs = aligned.grade.T
        return np.asarray(np.where(theirs == UNJUDGED, own, theirs) if keep else theirs, np.int32)

    kept = ", own ones kept where it has none" if keep else ""
    return with_grades_from(collection, [other], grades, f"judgments replaced by {other.source}{kept}")


def judgments_of(given: Any) -> Judgments:
    """Judgments in any of the ways people hold them: a collection, judgments, a file, a dict, a data frame."""
    if isinstance(given, Collection):
        return given.judgments
    return given if isinstance(given, Judgments) else read_judgments(given)


def each_judge(sets: Sequence[Any], format: str | None = None, besides: str | None = None) -> list[Any]:
    """The sets; in place of a file that holds several judges, each of them (`FILE#JUDGE`) but those that are named
    themselves and the one called `besides`, which the others are held against."""
    found: list[Any] = []
    known = {besides, *(os.fspath(one) for one in sets if isinstance(one, (str, os.PathLike)))}
    for given in sets:
        path = os.fspath(given) if isinstance(given, (str, os.PathLike)) else ""
        judges = every_judge(path, format) if path else []
        found += [judge for judge in judges if judge not in known] if len(judges) > 1 else [given]
    return found


def with_grades_from(
    collection: Collection, others: Sequence[Judgments], grades: Callable[[Aligned], Grades], step: str
) -> Collection:
    """The collection under the grades made from its own judgments (first column) and the others."""
    own = collection.judgments
    aligned = align([own, *others], list(own.topics) if collection.runs else None)
    before, grade = aligned.grade[:, 0], grades(aligned)
    kept = np.flatnonzero(grade != UNJUDGED)
    if not len(kept):
        raise UsageError(f"{step}: no judgments left")
    table = QrelsTable(
        step,
        aligned.topics,
        aligned.topic[kept].astype(np.int32),
        aligned.docs.take(kept),
        grade[kept],
        Ids.of(["0"]),
        np.zeros(len(kept), np.int32),
    )
    top = max(one.gains.top_grade for one in (own, *others))
    judgments = replace(Judgments.of(table), gains=Gains(own.gains.levels, top))
    had, has = before != UNJUDGED, grade != UNJUDGED
    changed, new, gone = int((had & has & (before != grade)).sum()), int((has & ~had).sum()), int((had & ~has).sum())
    line = f"{step}: {changed} grades changed, {new} documents newly judged, {gone} no longer judged"
    known = set(aligned.topics)
    left = list(dict.fromkeys(topic for one in others for topic in one.topics if topic not in known))
    if not left:
        return judged_anew(collection, judgments, line)
    many = f"{len(left)} topic{'s' * (len(left) > 1)}"
    note = f"{step}: {many} of the other judgments left out (e.g. {left[0]}); the runs were read without them"
    return judged_anew(collection, judgments, line, note)


@change(basic=True)
def judged_anew(collection: Collection, judgments: Judgments, step: str, *notes: str) -> Collection:
    """The same runs, topics and settings under other judgments; `step` goes into the history, notes to the others.

    Nothing is read again but the full lists, which tell where newly judged documents stand.
    """
    if collection.runs and list(judgments.topics) != list(collection.judgments.topics):
        raise UsageError("other judgments need the topics of the collection, in its order")
    if judgments.group is not None or collection.judgments.group is not None:
        raise UsageError("answer classes cannot be judged anew")
    if collection.judgments.aspects is not None:
        raise UsageError("judgments of subtopics, intents or nuggets cannot be replaced by judgments of documents")
    return _placed(collection, judgments, _places(collection, judgments), step, *notes)


def judging_holes(collection: Collection, codes: Ints) -> tuple[Collection, Ints]:
    """The collection with some unjudged documents (by their code in its full lists) judged nonrelevant, grade 0, and
    their rows there. Rows of negative grade count as unjudged, too. It keeps no history: a stage for judgments that
    somebody makes up."""
    own, rankings, first = collection.judgments, collection.rankings, len(collection.judgments)
    if own.group is not None:
        raise UsageError("answer classes cannot be judged anew")
    topic_of = np.zeros(first + len(rankings.unjudged), np.int64)
    topic_of[rankings.doc] = rankings.cell % max(len(own.topics), 1)
    new = codes[codes >= first]
    topic = np.concatenate([own.topic, topic_of[new]])
    order = np.argsort(topic, kind="stable")
    row = np.empty(len(order), np.int64)
    row[order] = np.arange(len(order))
    docs = own.docs.followed_by(rankings.unjudged.take(new - first)).take(order)
    grade = np.append(own.grade, np.zeros(len(new), np.int32))
    grade[codes[codes < first]] = 0
    table = QrelsTable(
        own.source,
        own.topics,
        topic[order].astype(np.int32),
        docs,
        grade[order],
        Ids.of(["0"]),
        np.zeros(len(order), np.int32),
    )
    judgments = replace(Judgments.of(table), gains=own.gains)
    place = np.full(len(topic_of), -1)
    place[:first], place[new] = row[:first], row[first:]
    judged = _placed(collection, judgments, place, f"{len(codes)} unjudged documents judged nonrelevant")
    return judged, place[codes]


def _placed(collection: Collection, judgments: Judgments, place: Ints, step: str, *notes: str) -> Collection:
    """The collection under other judgments; `place` is the row of each document code of its full lists, or -1."""
    rankings = collection.rankings
    row = place[rankings.doc]
    found = np.flatnonzero(row >= 0)
    ties = None
    if collection.hits.ties is not None:
        first, size = _tie_groups(rankings)
        ties = first[found], size[found]
    hits = Hits(
        judgments,
        np.searchsorted(found, rankings.offsets).astype(np.int64),
        row[found].astype(np.int32),
        rankings.rank[found].astype(np.int32),
        collection.hits.length,
        collection.hits.answered,
        ties=ties,
        repeats=collection.hits.repeats,
    )
    return replace(
        collection,
        judgments=judgments,
        hits=hits,
        notes=(*collection.notes, *notes),
        settings={**collection._told(step), "highest gain": judgments.gains.highest()},
        pool=None,
        _lists=FullLists(_recoded, rankings, collection.judgments, judgments, place),
        _full=None,
        _rows=None,
    )


def _places(collection: Collection, judgments: Judgments) -> Ints:
    """For each document code of the rankings, the document's row in the other judgments, or -1."""
    rankings, old = collection.rankings, collection.judgments
    if not collection.runs:
        return np.full(len(old), -1)
    topic = np.full(len(old) + len(rankings.unjudged), -1)  # -1: an unjudged document in no list
    topic[: len(old)] = old.topic
    topic[rankings.doc] = rankings.cell % max(len(old.topics), 1)
    rows: list[dict[str, int]] = [{} for _ in range(len(old.topics))]
    for row, (t, doc) in enumerate(zip(judgments.topic.tolist(), judgments.docs, strict=True)):
        rows[t][doc] = row
    listed = zip(topic.tolist(), itertools.chain(old.docs, rankings.unjudged), strict=True)
    places = (rows[t].get(doc, -1) if t >= 0 else -1 for t, doc in listed)
    return np.fromiter(places, np.int64, len(topic))


def _tie_groups(rankings: Rankings) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """For each entry, the first rank and the number of documents of its list with its score."""
    return tie_groups(changes(rankings.score, rankings.cell), rankings.rank)


def _recoded(rankings: Rankings, old: Judgments, judgments: Judgments, place: Ints) -> Rankings:
    """The lists with codes of the other judgments."""
    unjudged = np.flatnonzero(place < 0)
    code = place.copy()
    code[unjudged] = len(judgments) + np.arange(len(unjudged))
    ids = old.docs.take(unjudged[unjudged < len(old)]).followed_by(
        rankings.unjudged.take(unjudged[unjudged >= len(old)] - len(old))
    )
    return replace(rankings, doc=code[rankings.doc].astype(np.int32), unjudged=ids)
