"""Two versions of the judgments: which labels changed, and which change moved which run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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

TOPIC_COLUMNS = ("topic", *KINDS, "effect", "run")
OUTCOME_COLUMNS = ("run_a", "run_b", "measure", "before", "after", "topic", "doc", "effect")


class ChangedLabel(NamedTuple):
    """A label that changed and did something: runs that retrieved the document, and the effect on the mean of each."""

    doc: str
    runs: int
    effect: Floats


class Changed(NamedTuple):
    """A topic with labels that changed, and what all of them together did to the mean of each run."""

    name: str
    runs: Sequence[str]
    effect: Floats
    labels: Iterator[ChangedLabel]

    def most(self, effect: Floats) -> tuple[float, str]:
        """The largest effect, and the run it is on; of no effect no run is named."""
        place = int(np.argmax(np.abs(effect)))
        return float(effect[place]), self.runs[place] if effect[place] else ""


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
        return {kind: sum(one[kind] for one in self.by_topic().values()) for kind in KINDS}

    def by_topic(self) -> dict[str, dict[str, int]]:
        """The same for each topic that has any."""
        found: dict[str, dict[str, int]] = {}
        for row in self.differ.tolist():
            topic = found.setdefault(self.aligned.topics[int(self.aligned.topic[row])], dict.fromkeys(KINDS, 0))
            old, new = self.aligned.grade[row]
            topic["added" if old == UNJUDGED else "removed" if new == UNJUDGED else "changed"] += 1
        return found


def qrels_diff(
    old: Any,
    new: Any,
    measures: Any = ("nDCG@10",),
    *,
    rel: int | None = None,
    per_topic: bool = False,
    call: str = "",
) -> Result:
    """What changed from one version of the judgments to the next, and what each change did to the runs.

    `old` and `new` are judgments in any of the ways `load` takes them; where `new` is a Collection with runs, `runs`
    is the number of runs that retrieved the document, `effect` what the change of its label does to the mean of the
    run it moves most (named in `run`), in the first measure: the mean with the new judgments minus the mean with this
    one label as it was. For measures that add up over documents (P, DCG, RBP) these effects add up to the whole
    change of a topic's score; for others they need not. Rows with the largest effect stand first.

    `per_topic` gives a row for each topic instead: how many labels were added, removed and changed, and what all of
    them together do to the mean of the run they move most.
    """
    collection = new if isinstance(new, Collection) else None
    sets = [judgments_of(old), judgments_of(new)]
    versions = Versions(align(sets))
    notes = [_told(versions), *_topics_told(*sets)]
    settings: dict[str, Any] = {}
    measure: Measure | None = None
    if collection is not None and collection.runs:
        measure = measures_for(collection, measures, rel)[0]
        settings["measures"] = str(measure)
        what = "all changes in a topic do" if per_topic else "the change of one label does"
        notes.append(
            f"effect: what {what} to the mean {measure} of the run {'they move' if per_topic else 'it moves'} most"
        )
    topics = _changes(collection, sets[0], measure) if collection is not None and measure is not None else ()
    if per_topic:
        rows = list(_topic_rows(versions, topics, bool(settings)))
    else:
        rows = list(_label_rows(versions, topics, bool(settings)))
    if settings:
        rows.sort(key=lambda row: -abs(row[-2]))
    provenance = Provenance.of(call, tuple(one.source for one in sets), settings)
    label = ("topic",) if per_topic else ("topic", "doc")
    charts = {"effects": bars("effect", *label, said="What changed labels do to the mean of a run")}
    return Result(TOPIC_COLUMNS if per_topic else COLUMNS, lambda: rows, provenance, figures=charts, notes=notes)


def _label_rows(versions: Versions, topics: Iterable[Changed], scored: bool) -> Iterator[Row]:
    """A row for each label that differs; without runs the last cells are empty."""
    aligned = versions.aligned
    moved = {
        (topic.name, label.doc): (label.runs, *topic.most(label.effect)) for topic in topics for label in topic.labels
    }
    nothing: tuple[int | None, float | None, str] = (0, 0.0, "") if scored else (None, None, "")
    for row in versions.differ.tolist():
        before, after = (None if g == UNJUDGED else int(g) for g in aligned.grade[row])
        label = aligned.topics[int(aligned.topic[row])], aligned.docs[row]
        yield *label, before, after, *moved.get(label, nothing)


def _topic_rows(versions: Versions, topics: Iterable[Changed], scored: bool) -> Iterator[Row]:
    """A row for each topic with labels that differ."""
    moved = {topic.name: topic.most(topic.effect) for topic in topics}
    nothing: tuple[float | None, str] = (0.0, "") if scored else (None, "")
    for topic, counts in versions.by_topic().items():
        yield topic, *counts.values(), *moved.get(topic, nothing)


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


def _changes(collection: Collection, old: Judgments, measure: Measure) -> Iterator[Changed]:
    """Topic by topic what the changed labels did to the mean of each run."""
    both = _both(collection, old)
    judgments, topics = both.judgments, len(both.topics)
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

        def labels(
            rows: Ints = rows, differ: Ints = differ, scores: Callable[[Ints], Floats] = scores
        ) -> Iterator[ChangedLabel]:
            whole = scores(after[rows])
            for row in differ.tolist():
                if not retrieved[row] and max(before[row], 0) == max(after[row], 0):
                    continue  # nobody retrieved it, and the relevant documents are as many as before
                other = after[rows].copy()
                other[row - rows[0]] = before[row]
                yield ChangedLabel(judgments.docs[row], int(retrieved[row]), (whole - scores(other)) / topics)

        together = (scores(after[rows]) - scores(before[rows])) / topics
        yield Changed(judgments.topics[topic], both.runs, together, labels())


def _grades_in(judgments: Judgments, version: Judgments) -> Ints:
    """The grade of each row in one version; -1 (unjudged) where it has none."""
    known = {
        (version.topics.raw(t), version.docs.raw(row)): int(version.grade[row])
        for row, t in enumerate(version.topic.tolist())
    }
    topics = [judgments.topics.raw(t) for t in range(len(judgments.topics))]
    found = (known.get((topics[t], judgments.docs.raw(row)), -1) for row, t in enumerate(judgments.topic.tolist()))
    return np.maximum(np.fromiter(found, np.int64, len(judgments)), -1)


def changed_outcomes(before: Result, after: Result, collection: Collection, old: Any) -> list[Row]:
    """Pairs of runs with another outcome in the second of two comparisons, and the label that moved them most.

    (run_a, run_b, measure, outcome before, outcome after, topic, doc, effect): `collection` has the later judgments,
    `old` are the earlier ones. `effect` is what the change of this label does to the difference of the two means; of
    those that move it the way all changes together do, it is the largest. Without one (what was unjudged was found
    nonrelevant) the last three are empty.
    """
    first, then = _outcomes_of(before), _outcomes_of(after)
    if first.keys() != then.keys():
        raise UsageError("outcomes are compared for the same pairs of runs and the same measures")
    pairs = [pair for pair in first if first[pair] != then[pair]]
    judgments, moved = judgments_of(old), dict[tuple[str, str, str], tuple[str, str, float | None]]()
    for measure in measures_for(collection, list(dict.fromkeys(pair[2] for pair in pairs))) if pairs else ():
        here = [pair for pair in pairs if pair[2] == str(measure)]
        moved |= zip(here, _movers(collection, judgments, measure, here), strict=True)
    return [(*pair, first[pair], then[pair], *moved[pair]) for pair in pairs]


def _movers(
    collection: Collection, old: Judgments, measure: Measure, pairs: Sequence[tuple[str, str, str]]
) -> list[tuple[str, str, float | None]]:
    """For each pair of runs the label that moved its difference most, the way all labels together moved it."""
    a, b = np.array([[collection.runs.index(run) for run in pair[:2]] for pair in pairs]).T
    together = np.zeros(len(pairs))
    farthest = np.zeros((2, len(pairs)))  # down, up
    whose = [[("", "")] * len(pairs) for _ in farthest]
    for topic in _changes(collection, old, measure):
        together += topic.effect[a] - topic.effect[b]
        for label in topic.labels:
            effect = label.effect[a] - label.effect[b]
            for way, sign in enumerate((-1, 1)):
                for pair in np.flatnonzero(sign * effect > sign * farthest[way]).tolist():
                    farthest[way, pair], whose[way][pair] = effect[pair], (topic.name, label.doc)
    ways = (together > 0).astype(int).tolist()
    return [(*whose[way][i], float(farthest[way, i]) or None) for i, way in enumerate(ways)]


def _outcomes_of(result: Result) -> dict[tuple[str, str, str], str]:
    """(run_a, run_b, measure) -> the outcome, with the reason where nothing can be told."""
    at = {name: result.columns.index(name) for name in ("run_a", "run_b", "measure", "outcome", "why")}
    return {
        (row[at["run_a"]], row[at["run_b"]], row[at["measure"]]): f"{row[at['outcome']]} {row[at['why']]}".strip()
        for row in result.rows()
    }
