"""Several sets of judgments side by side: one row per document of a topic, one column per set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Ints, Judgments
from unjudged.errors import UsageError
from unjudged.io.ids import Ids
from unjudged.io.trec import UNJUDGED as UNJUDGED


@dataclass(frozen=True, eq=False)
class Aligned:
    """Rows stand topic by topic: topics and documents in the order in which the sets bring them."""

    topics: Ids
    topic: Ints
    docs: Ids
    grade: npt.NDArray[np.int32]
    """Documents x sets; UNJUDGED where there is no judgment."""
    row: Ints
    """Documents x sets: the row of the judgment in its set; -1 where there is none."""

    @property
    def judged(self) -> npt.NDArray[np.bool_]:
        """Documents x sets: is there a judgment?"""
        return np.asarray(self.grade != UNJUDGED)


def align(sets: Sequence[Judgments], topics: Sequence[str] | None = None) -> Aligned:
    """The documents judged by any of the sets, in all their topics or in the topics named."""
    if any(one.group is not None for one in sets):
        raise UsageError("answer classes cannot be compared or merged; judgments of documents can")
    known: dict[bytes, int] = {}
    if topics is not None:
        known = {raw: i for i, raw in enumerate(Ids.of(topics).raw(i) for i in range(len(topics)))}
    else:
        for one in sets:
            for t in range(len(one.topics)):
                known.setdefault(one.topics.raw(t), len(known))
    rows: list[dict[bytes, int]] = [{} for _ in known]
    entries: list[tuple[list[int], list[int], Ints]] = []
    for one in sets:
        number = [known.get(one.topics.raw(t), -1) for t in range(len(one.topics))]
        places, which = [], []
        for row in np.flatnonzero(one.grade >= 0).tolist():
            t = number[int(one.topic[row])]
            if t >= 0:
                places.append(rows[t].setdefault(one.docs.raw(row), len(rows[t])))
                which.append(t)
        kept = np.array([number[t] >= 0 for t in one.topic.tolist()], bool)
        entries.append((which, places, np.flatnonzero(kept & (one.grade >= 0))))
    sizes = np.array([len(of_topic) for of_topic in rows], np.int64)
    starts = np.cumsum(sizes) - sizes
    grade = np.full((int(sizes.sum()), len(sets)), UNJUDGED, np.int32)
    rows_of_sets = np.full(grade.shape, -1, np.int64)
    for column, (which, places, own) in enumerate(entries):
        at = starts[np.array(which, np.int64)] + np.array(places, np.int64)
        grade[at, column], rows_of_sets[at, column] = sets[column].grade[own], own
    return Aligned(
        Ids.of(known),
        np.repeat(np.arange(len(known)), sizes),
        Ids.of([doc for of_topic in rows for doc in of_topic]),
        grade,
        rows_of_sets,
    )
