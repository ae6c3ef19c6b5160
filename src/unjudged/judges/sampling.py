"""Which topics or documents humans should judge, drawn at random: what corrected scores rest on.

Draw before anybody looks at scores. Topics and documents are drawn by their names and the seed, whatever the order of
the files. Assessors get topic and document alone (`assignments`); the strata would tell them what the machine thinks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unjudged.changes.rejudge import judgments_of
from unjudged.collection import Collection, Judgments
from unjudged.errors import UsageError, check_seed
from unjudged.judges.sampled import DOCUMENT, INCLUSION, LEAST, STRATUM, TOPIC
from unjudged.results import Provenance, Result, Row
from unjudged.text import counted

STRATA = ("grade", "top", "none")


class Drawn(Result):
    """Topics or documents for humans to judge; columns topic (document, stratum) and inclusion, the probability.

    As TSV it is the file that corrected scores need back. `assignments` are the documents, shuffled, for assessors.
    """

    def __init__(
        self,
        columns: Sequence[str],
        rows: Sequence[Row],
        assignments: Sequence[tuple[str, str]],
        provenance: Provenance,
        notes: Sequence[str],
    ) -> None:
        kept = list(rows)
        self.assignments: tuple[tuple[str, str], ...] = tuple(assignments)
        super().__init__(columns, lambda: kept, provenance, notes=notes, layout=lambda: (columns, kept))


def draw_sample(
    machine: Any,
    *,
    topics: int | None = None,
    documents: int | None = None,
    strata: str = "grade",
    runs: Collection | None = None,
    depth: int = 10,
    seed: int = 0,
    call: str = "",
) -> Drawn:
    """Draw what humans judge: `topics` whole topics, or `documents` documents in all, from what the machine judged.

    Documents are shared evenly by the topics, and in a topic by its strata, at least two of each: `grade` (the
    machine's), `top` (in the first `depth` of one of the `runs`, or not) or `none`. nDCG cannot be estimated from
    strata by grade.
    """
    check_seed(seed)
    judgments = judgments_of(machine)
    if (topics is None) == (documents is None):
        raise UsageError("say what is drawn: topics or documents (--topics N or --documents N)")
    if strata not in STRATA:
        raise UsageError(f"strata can be {', '.join(STRATA)}, not {strata!r}")
    pools = _pools(judgments)
    if topics is not None:
        return _topics(pools, topics, judgments.source, seed, call)
    assert documents is not None
    kept = _top(runs, depth) if strata == "top" else None
    return _documents(pools, documents, strata, kept, judgments.source, seed, call)


def _pools(judgments: Judgments) -> dict[str, dict[str, int]]:
    """{topic: {document: grade}} of what the machine judged, topics by name."""
    found: dict[str, dict[str, int]] = {}
    for row in np.flatnonzero(judgments.grade >= 0).tolist():
        topic = judgments.topics[int(judgments.topic[row])]
        found.setdefault(topic, {})[judgments.docs[row]] = int(judgments.grade[row])
    return dict(sorted(found.items()))


def _top(runs: Collection | None, depth: int) -> dict[str, set[str]]:
    """Judged documents in the first ranks of some run, by topic."""
    if runs is None:
        raise UsageError("strata by the top of the runs need the runs (--runs RUN...)")
    hits, judgments = runs.hits, runs.judgments
    found: dict[str, set[str]] = {}
    for row in np.unique(hits.row[hits.rank <= depth]).tolist():
        found.setdefault(judgments.topics[int(judgments.topic[row])], set()).add(judgments.docs[row])
    return found


def _topics(pools: Mapping[str, Mapping[str, int]], many: int, source: str, seed: int, call: str) -> Drawn:
    if len(pools) < 2:
        raise UsageError(f"{source} holds {counted(len(pools), 'judged topic')}: at least two are needed to draw from")
    if not 2 <= many <= len(pools):
        raise UsageError(f"between 2 and {len(pools)} topics can be drawn from {source}, not {many}")
    drawn = np.random.default_rng(seed).permutation(len(pools))[:many]
    names = list(pools)
    chosen = [names[place] for place in sorted(drawn.tolist())]
    pairs = [pair for topic in chosen for pair in _shuffled(topic, pools[topic], seed)]
    notes = [f"{counted(len(pairs), 'document')} of {many} topics, drawn at random from {len(pools)} (seed {seed})"]
    rows: list[Row] = [(topic, many / len(pools)) for topic in chosen]
    return Drawn((TOPIC, INCLUSION), rows, pairs, _told(source, seed, call, topics=many), notes)


def _documents(
    pools: Mapping[str, Mapping[str, int]],
    many: int,
    strata: str,
    top: Mapping[str, set[str]] | None,
    source: str,
    seed: int,
    call: str,
) -> Drawn:
    groups = {topic: _strata(topic, pool, strata, top) for topic, pool in pools.items()}
    least = {topic: sum(min(LEAST, len(docs)) for docs in of.values()) for topic, of in groups.items()}
    whole = sum(map(len, pools.values()))
    if not sum(least.values()) <= many <= whole:
        raise UsageError(
            f"between {sum(least.values()):,} (two of each stratum of each topic) and {whole:,} documents can be drawn "
            f"from {source}, not {many:,}"
        )
    shares = _shared_out(many, [least[t] for t in pools], [len(pools[t]) for t in pools], [1.0] * len(pools))
    rows: list[Row] = []
    pairs: list[tuple[str, str]] = []
    for share, (topic, of) in zip(shares, groups.items(), strict=True):
        sizes = [len(docs) for docs in of.values()]
        parts = _shared_out(share, [min(LEAST, size) for size in sizes], sizes, [float(size) for size in sizes])
        for part, (stratum, docs) in zip(parts, of.items(), strict=True):
            drawn = [doc for _, doc in _shuffled(topic, docs, seed)][:part]
            rows += [(topic, doc, stratum, part / len(docs)) for doc in sorted(drawn)]
            pairs += [(topic, doc) for doc in drawn]
    places = {topic: place for place, topic in enumerate(pools)}
    pairs.sort(key=lambda pair: (places[pair[0]], _place(seed, "shown", *pair)))
    where = f"{whole:,} in {counted(len(pools), 'topic')}"
    notes = [f"{counted(len(pairs), 'document')} drawn at random from {where} (seed {seed})"]
    if strata == "grade":
        notes.append("nDCG cannot be estimated from strata by the machine's grade; take --strata top or none for it")
    return Drawn((TOPIC, DOCUMENT, STRATUM, INCLUSION), rows, pairs, _told(source, seed, call, documents=many), notes)


def _strata(
    topic: str, pool: Mapping[str, int], strata: str, top: Mapping[str, set[str]] | None
) -> dict[str, list[str]]:
    """Name of the stratum -> its documents."""
    found: dict[str, list[str]] = {}
    for doc in sorted(pool):
        name = "all"
        if strata == "grade":
            name = f"grade {pool[doc]}"
        elif top is not None:
            name = "top" if doc in top.get(topic, ()) else "rest"
        found.setdefault(name, []).append(doc)
    return dict(sorted(found.items()))


def _shared_out(many: int, least: Sequence[int], most: Sequence[int], weight: Sequence[float]) -> list[int]:
    """A number shared out by weight, each part within its limits; what is over goes to the largest remainders."""
    low, high = 0.0, float(many) / min(weight) + max(most)
    for _ in range(100):  # the common factor at which the parts, cut to their limits, add up
        middle = (low + high) / 2
        total = sum(min(max(middle * w, a), b) for w, a, b in zip(weight, least, most, strict=True))
        low, high = (middle, high) if total < many else (low, middle)
    exact = [min(max(high * w, a), b) for w, a, b in zip(weight, least, most, strict=True)]
    parts = [min(max(int(part), a), b) for part, a, b in zip(exact, least, most, strict=True)]
    order = sorted(range(len(parts)), key=lambda i: (parts[i] - exact[i], i))
    for place in order[: many - sum(parts)]:  # none of these is at its limit: those are whole already
        parts[place] += 1
    return parts


def _shuffled(topic: str, docs: Any, seed: int) -> list[tuple[str, str]]:
    return [(topic, doc) for doc in sorted(docs, key=lambda doc: _place(seed, "drawn", topic, doc))]


def _place(seed: int, *names: str) -> bytes:
    """A random place that depends on the seed and names alone."""
    return hashlib.sha256("\0".join([str(seed), *names]).encode("utf-8", "surrogateescape")).digest()


def _told(source: str, seed: int, call: str, **settings: Any) -> Provenance:
    return Provenance.of(call, (source,), settings, seed)
