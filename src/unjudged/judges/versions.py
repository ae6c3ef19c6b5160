"""Two versions of the judgments: which labels changed, and which change moved which run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from unjudged.changes.rejudge import judgments_of, with_grades_from
from unjudged.collection import Collection, Floats, Ints, Judgments
from unjudged.collection.aligned import UNJUDGED, Aligned, align
from unjudged.errors import UsageError
from unjudged.figures.bars import bars
from unjudged.measures import Measure, measures_for
from unjudged.results import Provenance, Result, Row
from unjudged.text import counted

COLUMNS = ("topic", "doc", "old", "new", "runs", "effect", "run")
KINDS = ("added", "removed", "changed")

Label = tuple[str, str]
"""A topic and a document."""
Moved = tuple[int | None, float | None, str]
"""Runs that retrieved the document, the largest effect on a mean, and whose mean that is."""


@dataclass(frozen=True, eq=False)
class Versions:
    """Documents of both versions with their grades (UNJUDGED: no label), and which of them differ."""

    aligned: Aligned

    @property
    def differ(self) -> Ints:
        """The rows whose label is not the same in both."""
        old, new = self.aligned.grade.T
        return np.flatnonzero(old != new)

    def counts(self) -> dict[str, int]:
        """How many labels were added, removed, changed."""
        old, new = self.aligned.grade[self.differ].T
        added, removed = int((old == UNJUDGED).sum()), int((new == UNJUDGED).sum())
        return dict(zip(KINDS, (added, removed, len(self.differ) - added - removed), strict=True))


def qrels_diff(old: Any, new: Any, measures: Any = ("nDCG@10",), *, rel: int | None = None, call: str = "") -> Result:
    """What changed from one version of the judgments to the next, and what each change did to the runs.

    `old` and `new` are judgments in any of the ways `load` takes them; where `new` is a Collection with runs, `runs`
    is the number of runs that retrieved the document, `effect` what the change of its label does to the mean of the
    run it moves most (named in `run`), in the first measure: the mean with the new judgments minus the mean with this
    one label as it was. For measures that add up over documents (P, DCG, RBP) these effects add up to the whole
    change of a topic's score; for others they need not. Rows with the largest effect stand first.
    """
    collection = new if isinstance(new, Collection) else None
    sets = [judgments_of(old), judgments_of(new)]
    versions = Versions(align(sets))
    aligned, differ = versions.aligned, versions.differ
    notes = [_told(versions), *_topics_told(*sets)]
    moved: dict[Label, Moved] = {}
    settings: dict[str, Any] = {}
    if collection is not None and collection.runs:
        measure = measures_for(collection, measures, rel)[0]
        settings["measures"] = str(measure)
        moved = dict(_effects(collection, sets[0], measure))
        notes.append(f"effect: what the change of one label does to the mean {measure} of the run it moves most")
    nothing: Moved = (0, 0.0, "") if settings else (None, None, "")
    rows: list[Row] = []
    for row in differ.tolist():
        before, after = (None if g == UNJUDGED else int(g) for g in aligned.grade[row])
        label = aligned.topics[int(aligned.topic[row])], aligned.docs[row]
        rows.append((*label, before, after, *moved.get(label, nothing)))
    if settings:
        rows.sort(key=lambda row: -abs(row[5]))
    provenance = Provenance.of(call, tuple(one.source for one in sets), settings)
    charts = {"effects": bars("effect", "topic", "doc", said="What the change of each label does to a mean")}
    return Result(COLUMNS, lambda: rows, provenance, figures=charts, notes=notes)


def _told(versions: Versions) -> str:
    found = versions.counts()
    same = len(versions.aligned.topic) - len(versions.differ)
    said = f"{counted(found['added'], 'label')} added, {found['removed']} removed, {found['changed']} changed"
    return f"{said}, {same} as before"


def _topics_told(old: Judgments, new: Judgments) -> Iterator[str]:
    """Topics that only one version has: they change means by being there."""
    for here, there, word in ((new, old, "new"), (old, new, "gone")):
        if only := [topic for topic in here.topics if topic not in set(there.topics)]:
            are = "is" if len(only) == 1 else "are"
            yield f"{counted(len(only), 'topic')} {are} {word} (e.g. {only[0]}): means change by that alone"


def _both(collection: Collection, old: Judgments) -> Collection:
    """The collection with every document judged that either version judges, so that all have rows."""

    def either(aligned: Aligned) -> Any:
        own, theirs = aligned.grade.T
        return np.where(own == UNJUDGED, theirs, own).astype(np.int32)

    return with_grades_from(collection, [old], either, "labels of both versions")


def _effects(collection: Collection, old: Judgments, measure: Measure) -> Iterator[tuple[Label, Moved]]:
    """What each change of a label did, where it did something."""
    both = _both(collection, old)
    judgments, runs, topics = both.judgments, both.runs, len(both.topics)
    before, after = (_grades_in(judgments, version) for version in (old, collection.judgments))
    retrieved = np.bincount(both.hits.row, minlength=len(judgments))
    for topic in range(topics):
        rows = np.arange(judgments.starts[topic], judgments.starts[topic + 1])
        differ = rows[before[rows] != after[rows]]
        if not len(differ):
            continue
        part = both.only([topic])

        def scores(grade: Ints, part: Collection = part) -> Floats:
            view = part.hits.over(part.judgments.with_grades(grade.astype(np.int32)))
            return np.asarray(np.nan_to_num(measure.cells(view)))

        whole = scores(after[rows])
        for row in differ.tolist():
            if not retrieved[row] and max(before[row], 0) == max(after[row], 0):
                continue  # nobody retrieved it, and the relevant documents are as many as before
            other = after[rows].copy()
            other[row - rows[0]] = before[row]
            change = (whole - scores(other)) / topics
            most = int(np.argmax(np.abs(change)))
            label = judgments.topics[topic], judgments.docs[row]
            yield label, (int(retrieved[row]), float(change[most]), runs[most] if change[most] else "")


def _grades_in(judgments: Judgments, version: Judgments) -> Ints:
    """The grade of each row in one version; -1 (unjudged) where it has none."""
    known = {
        (version.topics.raw(t), version.docs.raw(row)): int(version.grade[row])
        for row, t in enumerate(version.topic.tolist())
    }
    topics = [judgments.topics.raw(t) for t in range(len(judgments.topics))]
    found = (known.get((topics[t], judgments.docs.raw(row)), -1) for row, t in enumerate(judgments.topic.tolist()))
    return np.maximum(np.fromiter(found, np.int64, len(judgments)), -1)


def changed_outcomes(before: Result, after: Result) -> list[Row]:
    """Pairs (run_a, run_b, measure, outcome before, outcome after) of two comparisons whose outcome is not the same."""
    old, new = _outcomes_of(before), _outcomes_of(after)
    if old.keys() != new.keys():
        raise UsageError("outcomes are compared for the same pairs of runs and the same measures")
    return [(*pair, old[pair], new[pair]) for pair in old if old[pair] != new[pair]]


def _outcomes_of(result: Result) -> dict[tuple[Any, ...], str]:
    """(run_a, run_b, measure) -> the outcome, with the reason where nothing can be told."""
    at = {name: result.columns.index(name) for name in ("run_a", "run_b", "measure", "outcome", "why")}
    return {
        tuple(row[at[name]] for name in ("run_a", "run_b", "measure")): f"{row[at['outcome']]} {row[at['why']]}".strip()
        for row in result.rows()
    }
