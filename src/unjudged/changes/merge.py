"""Merge: several assessors' judgments become one set (Voorhees 2000)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unjudged.changes.rejudge import Grades, each_judge, judgments_of, with_grades_from
from unjudged.collection import Collection, Ints
from unjudged.collection.aligned import UNJUDGED, Aligned
from unjudged.collection.history import change
from unjudged.errors import UsageError, check_seed, nearest


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


@change(others=lambda _, others: tuple(map(judgments_of, each_judge(others))))
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
    by_seed = f" (seed {seed})" if rule == "random" else ""
    step = f"{len(others) + 1} sets of judgments merged by {rule}{by_seed}"
    return with_grades_from(collection, others, lambda aligned: RULES[rule](aligned, seed), step)
