"""How far the labels of another judge agree with the human ones on the same documents.

Intervals come from redrawn topics (all documents of a drawn topic), never from redrawn documents: those of one topic
are alike. Coverage is told by grade: a judge who judged mostly what the human found relevant was shown a selection, and
no figure of agreement says anything about the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unjudged.collection import Judgments
from unjudged.collection.aligned import UNJUDGED, align
from unjudged.errors import UsageError
from unjudged.statistics.draws import topic_counts, topic_resamples
from unjudged.statistics.judge_agreement import alpha_of_two, cohen_kappa, observed_agreement
from unjudged.statistics.pairs import exact_mean

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

STATISTICS = (
    *("kappa", "kappa_quadratic", "kappa_binary", "alpha_nominal", "alpha_ordinal", "alpha_binary"),
    *("agreement_binary", "leniency", "grade_difference"),
)
"""What is told of the labels, each with an interval."""
GRADED = ("kappa", "kappa_quadratic", "alpha_nominal", "alpha_ordinal", "grade_difference")
"""Those that mean nothing where the two scales differ."""


@dataclass(frozen=True, eq=False)
class SamePairs:
    """The documents both have judged, topic by topic, and what only one of them has.

    `tables` are topics x grades of the human x grades of the other judge, for `topics` (sorted by id, as texts) with a
    document in common; `theirs` is the other judge's grade of each row of the human judgments (UNJUDGED where there is
    none); `coverage` is, for each grade of the human, how many documents have it and how many of them the other judged.
    """

    topics: tuple[str, ...]
    values: Ints
    tables: Ints
    theirs: npt.NDArray[np.int32]
    coverage: dict[int, tuple[int, int]]
    other_only: int
    human_top: int
    other_top: int
    sure: Floats | None
    """Where the other judge tells how sure it was: rows of own grade, the other's, and its confidence."""

    @property
    def pairs(self) -> int:
        """Documents judged by both."""
        return int(self.tables.sum())

    @property
    def human(self) -> int:
        """Documents the human judged."""
        return sum(there for _, there in self.coverage.values())

    @property
    def covered(self) -> float:
        """Share of the human judgments that the other judge judged, too."""
        return self.pairs / self.human

    @property
    def shares(self) -> dict[int, float]:
        """The same by grade of the human."""
        return {grade: judged / there for grade, (judged, there) in self.coverage.items()}

    @property
    def uneven(self) -> float:
        """Largest minus smallest of these shares: much, where documents were chosen by their label."""
        return max(self.shares.values()) - min(self.shares.values())

    @property
    def one_scale(self) -> bool:
        """Do both use one scale, as far as can be seen? Not where one gives 0 and 1 only, or higher grades."""
        same_kind = (self.other_top > 1) == (self.human_top > 1)
        return same_kind and self.other_top <= self.human_top


def on_scale(judgments: Judgments, top: int | None) -> Judgments:
    """The judgments with grades above `top`, the end of the judge's scale, unjudged."""
    if top is None or int(judgments.grade.max(initial=0)) <= top:
        return judgments
    kept = judgments.with_grades(np.where(judgments.grade > top, -1, judgments.grade).astype(np.int32))
    return replace(kept, confidence=judgments.confidence)


def same_pairs(human: Judgments, other: Judgments) -> SamePairs:
    """Two sets of judgments on the topics of the first; a UsageError where they have nothing in common."""
    topics = list(human.topics)
    aligned = align([human, other], topics)
    both = aligned.judged.all(axis=1)
    if not both.any():
        raise UsageError(
            f"{other.source}: no document was judged here and by the first judge; do topics and document ids match?"
        )
    own, theirs = aligned.grade.T
    at_human = own != UNJUDGED
    on_rows = np.full(len(human), UNJUDGED, np.int32)
    on_rows[human.grade >= 0] = theirs[at_human]  # a topic's rows come first there, in the order of the judgments
    grades = np.unique(own[at_human])
    coverage = {int(g): (int((both & (own == g)).sum()), int((own == g).sum())) for g in grades}
    values = np.unique(aligned.grade[both]).astype(np.int64)
    size, place = len(values), np.searchsorted(values, aligned.grade[both])
    cell = (aligned.topic[both] * size + place[:, 0]) * size + place[:, 1]
    tables = np.bincount(cell, minlength=len(topics) * size * size).reshape(len(topics), size, size)
    there = sorted((t for t in range(len(topics)) if tables[t].any()), key=topics.__getitem__)
    return SamePairs(
        tuple(topics[t] for t in there),
        values,
        tables[there],
        on_rows,
        coverage,
        int((~at_human & (theirs != UNJUDGED)).sum()),
        int(human.grade.max(initial=0)),
        int(other.grade.max(initial=0)),
        None if other.confidence is None else _sure(aligned.grade[both], other.confidence[aligned.row[both, 1]]),
    )


def _sure(grades: npt.NDArray[np.int32], confidence: Floats) -> Floats:
    return np.column_stack([grades, confidence])[~np.isnan(confidence)]


def mean_confidence(pairs: SamePairs, rel: int, judge_rel: int) -> tuple[float, float]:
    """The other judge's mean confidence where both say relevant or both do not, and where they differ; NaN where none
    is told. A judge who knows when it errs is surer of the former."""
    if pairs.sure is None:
        return math.nan, math.nan
    same = (pairs.sure[:, 0] >= rel) == (pairs.sure[:, 1] >= judge_rel)
    return exact_mean(pairs.sure[same, 2]), exact_mean(pairs.sure[~same, 2])


def label_statistics(confusion: npt.ArrayLike, values: npt.ArrayLike, rel: int, judge_rel: int) -> list[float]:
    """Every statistic of one confusion table (rows: the human), in the order of STATISTICS.

    Kappa is Cohen's, alpha Krippendorff's; binary ones compare relevant (from `rel` on, the other judge's from
    `judge_rel` on) with nonrelevant. Leniency is the share relevant to the other judge minus that of the human.
    """
    table, grade = np.asarray(confusion, np.float64), np.asarray(values)
    sides = np.stack([grade < rel, grade >= rel]).astype(float), np.stack([grade < judge_rel, grade >= judge_rel])
    binary = sides[0] @ table @ sides[1].T.astype(float)
    total = table.sum()
    return [
        cohen_kappa(table, grade),
        cohen_kappa(table, grade, "quadratic"),
        cohen_kappa(binary, [0, 1]),
        alpha_of_two(table, grade, "nominal"),
        alpha_of_two(table, grade, "ordinal"),
        alpha_of_two(binary, [0, 1]),
        observed_agreement(binary),
        float((binary[:, 1].sum() - binary[1].sum()) / total),
        float((table.sum(axis=0) - table.sum(axis=1)) @ grade / total),
    ]


def label_agreement(
    tables: Ints, values: Ints, rel: int, judge_rel: int, resamples: int = 1000, seed: int = 0
) -> tuple[Floats, Floats]:
    """The statistics of all topics together, and (statistics x 2) the middle 95 % of them on redrawn topics."""
    topics, size = len(tables), len(values)
    point = np.array(label_statistics(tables.sum(axis=0), values, rel, judge_rel))
    counts = topic_counts(topic_resamples(topics, resamples, seed), topics).astype(np.int64)
    drawn = (counts.T @ tables.reshape(topics, -1)).reshape(-1, size, size)
    found = np.array([label_statistics(table, values, rel, judge_rel) for table in drawn])
    return point, ranges_of(found)


def ranges_of(drawn: Floats) -> Floats:
    """The middle 95 % of every column over its rows that have a value; NaN where none has."""
    known = [column[~np.isnan(column)] for column in drawn.T]
    return np.array([np.quantile(k, [0.025, 0.975]) if len(k) else [np.nan, np.nan] for k in known])
