"""Merge and replace: several assessors' judgments become one set; one set takes the place of another.

Two human assessors, or a human and a machine: do the runs keep their order (Voorhees 2000)?
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.changes.rejudge import judged_anew
from unjudged.collection import Collection, Gains, Ints, Judgments
from unjudged.collection.aligned import UNJUDGED, Aligned, align
from unjudged.collection.load import read_judgments
from unjudged.errors import UsageError, check_seed, nearest
from unjudged.io.ids import Ids
from unjudged.io.trec import QrelsTable

Grades = npt.NDArray[np.int32]


def _column(a: Aligned, column: Ints) -> Grades:
    """Each document's grade in the set named for it."""
    return np.asarray(a.grade[np.arange(len(a.grade)), column], np.int32)


def _first(a: Aligned, seed: int) -> Grades:
    """the first set that judges the document"""
    return _column(a, a.judged.argmax(axis=1))


def _majority(a: Aligned, seed: int) -> Grades:
    """the grade most sets give; a tie goes to the earlier set"""
    votes = np.stack([((a.grade == a.grade[:, [j]]) & a.judged).sum(axis=1) for j in range(a.grade.shape[1])], axis=1)
    return _column(a, np.where(a.judged, votes, -1).argmax(axis=1))


def _max(a: Aligned, seed: int) -> Grades:
    """the highest grade"""
    return np.asarray(a.grade.max(axis=1), np.int32)


def _min(a: Aligned, seed: int) -> Grades:
    """the lowest grade"""
    return np.asarray(np.where(a.judged, a.grade, np.iinfo(np.int32).max).min(axis=1), np.int32)


def _mean(a: Aligned, seed: int) -> Grades:
    """the mean grade, halves rounded up"""
    many = a.judged.sum(axis=1)
    total = np.where(a.judged, a.grade, 0).sum(axis=1, dtype=np.int64)
    return np.asarray((2 * total + many) // (2 * many), np.int32)


def _median(a: Aligned, seed: int) -> Grades:
    """the median grade, halves rounded up"""
    many, rows = a.judged.sum(axis=1), np.arange(len(a.grade))
    ordered = np.sort(np.where(a.judged, a.grade, np.iinfo(np.int32).max), axis=1).astype(np.int64)
    return np.asarray((ordered[rows, (many - 1) // 2] + ordered[rows, many // 2] + 1) // 2, np.int32)


def _agreed(a: Aligned, seed: int) -> Grades:
    """only documents to which all sets give the same grade; the others become unjudged"""
    same = (a.grade == a.grade[:, :1]).all(axis=1)
    return np.where(same, a.grade[:, 0], UNJUDGED).astype(np.int32)


def _random(a: Aligned, seed: int) -> Grades:
    """topic by topic, one of the sets at random (Voorhees 2000)"""
    drawn = [
        int(np.random.default_rng([seed, *a.topics.raw(t)]).integers(a.grade.shape[1])) for t in range(len(a.topics))
    ]
    return _column(a, np.array(drawn, np.int64)[a.topic])


RULES: dict[str, Callable[[Aligned, int], Grades]] = {
    "majority": _majority,
    "max": _max,
    "min": _min,
    "mean": _mean,
    "median": _median,
    "first": _first,
    "agreed": _agreed,
    "random": _random,
}


def merge(collection: Collection, *others: Any, rule: str = "majority", seed: int = 0) -> Collection:
    """One set of judgments from several: the collection's own and the others (files, dicts, frames, collections).

    `rule` is the grade of a document that several sets judge: `majority` (a tie goes to the earlier set), `max`,
    `min`, `mean` and `median` (halves rounded up), `first` (the first set that judges it), `agreed` (only where all
    sets give the same grade; other documents become unjudged), `random` (each topic from one set, by seed). But for
    `agreed` and `random` a document that only one set judges keeps its grade. Documents of negative grade count as
    unjudged. With runs, topics are those of the collection.
    """
    if not others:
        raise UsageError("merging needs at least two sets of judgments")
    if rule not in RULES:
        raise UsageError(f"unknown rule {rule!r}{nearest(rule, RULES)}; there are {', '.join(RULES)}")
    check_seed(seed)
    sets = [judgments_of(other) for other in others]
    by_seed = f" (seed {seed})" if rule == "random" else ""
    step = f"{len(sets) + 1} sets of judgments merged by {rule}{by_seed}"
    return _rebuilt(collection, sets, lambda aligned: RULES[rule](aligned, seed), step)


def replace_judgments(collection: Collection, other: Any, *, keep: bool = False) -> Collection:
    """The judgments of another assessor, human or machine, in place of the collection's own.

    Documents the other set does not judge become unjudged; with `keep` they keep the grade they have.
    """
    one = judgments_of(other)

    def grades(aligned: Aligned) -> Grades:
        own, theirs = aligned.grade.T
        return np.asarray(np.where(theirs == UNJUDGED, own, theirs) if keep else theirs, np.int32)

    kept = ", own ones kept where it has none" if keep else ""
    return _rebuilt(collection, [one], grades, f"judgments replaced by {one.source}{kept}")


def judgments_of(given: Any) -> Judgments:
    """Judgments in any of the ways people hold them: a collection, judgments, a file, a dict, a data frame."""
    if isinstance(given, Collection):
        return given.judgments
    return given if isinstance(given, Judgments) else read_judgments(given)


def _rebuilt(
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
    after = judged_anew(collection, judgments, line)
    known = set(aligned.topics)
    left = list(dict.fromkeys(topic for one in others for topic in one.topics if topic not in known))
    if not left:
        return after
    many = f"{len(left)} topic{'s' * (len(left) > 1)}"
    note = f"{step}: {many} of the other judgments left out (e.g. {left[0]}); the runs were read without them"
    return replace(after, notes=(*after.notes, note))
