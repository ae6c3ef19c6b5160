"""Scores of runs from a sample of the documents of every topic that humans judged, and a machine's grades of all.

What humans say of the sampled documents is added to the machine's sums, stratum by stratum (`judges.sampled`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Judgments
from unjudged.errors import UsageError
from unjudged.holes.reading import IDEAL, Reading, read
from unjudged.judges.sampled import Sample, Strata, strata_of, stratified_sum
from unjudged.measures import Measure

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Documents:
    """The sampled documents of a topic: rows in the machine's judgments, both grades, and the strata."""

    topic: int
    row: npt.NDArray[np.int64]
    machine: npt.NDArray[np.int64]
    human: npt.NDArray[np.int64]
    strata: Strata


def why_not_sampled(measure: Measure, by_grade: bool) -> str:
    """Why a measure cannot be estimated from a sample of documents; empty where it can."""
    name, k = measure.name, measure.params.get("k")
    if name == "AP":
        return "AP is no sum over documents: it cannot be estimated from a sample of them"
    if name not in ("P", "DCG", "RBP", "nDCG") or not measure.definition.ours or measure.condensed:
        return f"{measure} is no sum over documents"
    if name != "RBP" and k is None:
        return f"{measure} needs a cut-off"
    if name == "nDCG" and by_grade:
        return "strata by the machine's grade bias nDCG; draw with --strata top or none"
    return ""


def drawn_by_grade(topics: Sequence[Documents]) -> bool:
    """Are the strata those of the machine's grade? So it is where each has one grade, and there are several."""
    mixed = any(len(np.unique(t.machine[t.strata.place == s])) > 1 for t in topics for s in range(len(t.strata.size)))
    return not mixed and any(len(t.strata.size) > 1 for t in topics)


def sampled_documents(human: Judgments, under: Collection, sample: Sample) -> list[Documents]:
    """The sampled documents, topic by topic (of the machine); a UsageError where one of them was not judged."""
    machine, found = under.judgments, []
    grades = {
        (human.topics[int(human.topic[row])], human.docs[row]): int(human.grade[row])
        for row in np.flatnonzero(human.grade >= 0).tolist()
    }
    for t, topic in enumerate(machine.topics):
        rows = {
            machine.docs[row]: row
            for row in range(int(machine.starts[t]), int(machine.starts[t + 1]))
            if machine.grade[row] >= 0
        }
        if topic not in sample.documents:
            raise UsageError(f"{sample.source}: topic {topic} of the machine has no document in the sample")
        docs, strata = strata_of(sample, topic, len(rows))
        for doc in docs:
            if doc not in rows:
                raise UsageError(f"{sample.source}: {doc} in topic {topic} was drawn, but not judged by the machine")
            if (topic, doc) not in grades:
                raise UsageError(f"{human.source}: {doc} in topic {topic} was drawn, but not judged by humans")
        row = np.array([rows[doc] for doc in docs], np.int64)
        own = np.array([grades[topic, doc] for doc in docs], np.int64)
        found.append(Documents(t, row, machine.grade[row].astype(np.int64), own, strata))
    return found


@dataclass(frozen=True, eq=False)
class SampledScores:
    """What the sampled documents give to every run, beside the machine's sums and scores (topics x runs)."""

    sums: Floats
    machine: Floats
    parts: list[tuple[Floats, Strata]]
    """Per topic: runs x sampled documents, what humans add to the machine."""
    human: list[Floats]
    """Per topic: runs x sampled documents, what humans give."""
    ideal: Floats | None
    """Per topic, for nDCG: the sum of the ideal list."""

    def estimate(self, a: int, b: int | None) -> tuple[Floats, Floats, Floats, Floats]:
        """Per topic: estimate, its variance, estimate from the human sample alone, and its variance."""

        def of(values: Floats) -> Floats:
            return np.asarray(values[a] if b is None else values[a] - values[b])

        base = self.sums[:, a] if b is None else self.sums[:, a] - self.sums[:, b]
        found = [(*stratified_sum(of(part), strata), *stratified_sum(of(alone), strata))
                 for (part, strata), alone in zip(self.parts, self.human, strict=True)]  # fmt: skip
        total, variance, alone, own = np.array(found).T
        return base + total, variance, alone, own


def sampled_scores(
    collection: Collection,
    under: Collection,
    own: Measure,
    other: Measure,
    topics: Sequence[Documents],
    sum_scores: Floats,
    scores: Floats,
) -> SampledScores:
    """What each sampled document gives to each run under either judge."""
    sums = [as_sum(own), as_sum(other)]
    longest = int(under.hits.length.max(initial=1))
    ours = read(own, collection.judgments, longest)
    readings = read(sums[0], collection.judgments, longest), read(sums[1], under.judgments, longest)
    values = [_values(reading) for reading in readings]
    runs, hits = len(collection.runs), under.hits
    rank = np.zeros((runs, len(under.judgments)), np.int64)
    kept = hits.rank <= min(len(v) for v in values)
    rank[hits.run[kept], hits.row[kept]] = hits.rank[kept]
    parts, human, ideal = [], [], []
    for t in topics:
        at = rank[:, t.row]
        given, told = (
            np.where(at > 0, v[np.maximum(at, 1) - 1, np.minimum(g, v.shape[1] - 1)], 0.0)
            for v, g in zip(values, (t.human, t.machine), strict=True)
        )
        parts.append((given - told, t.strata))
        human.append(given)
        if ours.kind == IDEAL:
            ideal.append(_ideal(ours, under.judgments, t))
    return SampledScores(sum_scores, scores, parts, human, np.array(ideal) if ideal else None)


def as_sum(measure: Measure) -> Measure:
    """DCG in place of nDCG; other measures as they are."""
    from unjudged.measures import REGISTRY

    return REGISTRY["DCG"](**measure.params) if measure.name == "nDCG" else measure


def _values(reading: Reading) -> Floats:
    """Ranks x grades: what a document of a grade gives at a rank."""
    return np.asarray(np.outer(reading.weight, reading.worth), np.float64)


def _ideal(reading: Reading, machine: Judgments, t: Documents) -> float:
    """The sum of the ideal list with as many documents of each level as the sample says."""
    rows = slice(int(machine.starts[t.topic]), int(machine.starts[t.topic + 1]))
    pool = machine.grade[rows][machine.grade[rows] >= 0]
    top, scale = len(reading.worth) - 1, float(reading.weight[0])
    total = 0.0
    for height, reached in reading.levels:
        here, there = reached[np.minimum(t.human, top)], reached[np.minimum(t.machine, top)]
        more, _ = stratified_sum(here - there, t.strata)
        many = float(np.clip(reached[np.minimum(pool, top)].sum() + more, 0, len(pool)))
        total += height * scale * float(reading.sum_of_first(np.array([many]))[0])
    return total
