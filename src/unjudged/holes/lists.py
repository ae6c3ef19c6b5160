"""The lists the hole model reads: who retrieved which document at which rank, and what is known of it."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unjudged import kernels
from unjudged.collection import Collection, Floats, Ints, Judgments
from unjudged.collection.collection import in_order_of_names
from unjudged.collection.rankings import codes_keeping
from unjudged.collection.segments import ranges

DEPTH = 100
"""Ranks the model looks at; a document further down everywhere is described by the ranks it has."""

FUSION = 60.0
"""The constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009)."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Lists:
    """The first ranks of all lists, entry by entry: topic after topic, runs by name, best rank first.

    Runs and teams are numbered by name, documents as they appear, so no number here depends on the order in which runs
    were given. `code` is each document's code in the collection's rankings, `grade` its grade (-1: a hole). Without
    teams every run is a team of its own.
    """

    runs: tuple[str, ...]
    teams: tuple[str, ...]
    team: Ints
    topics: int
    run: Ints
    doc: Ints
    rank: Ints
    code: Ints
    topic: Ints
    grade: npt.NDArray[np.int32]
    judgments: int
    lengths: Ints
    """Runs x topics: how long each list is."""

    @classmethod
    def of(cls, collection: Collection, depth: int = DEPTH) -> Lists:
        """The lists of a collection down to rank `depth`; kept with the collection."""
        return collection.once(("hole lists", depth), lambda: cls._made(collection, depth))  # type: ignore[no-any-return]

    def keeping(self, judgments: Judgments, kept: Flags) -> Lists:
        """The same lists where only the judgments chosen by a mask stay; what does not depend on them is not computed
        again."""
        code = codes_keeping(self.code, kept).astype(np.int64)
        made = replace(self, code=code, grade=_grades(judgments, code), judgments=int((judgments.grade >= 0).sum()))
        made.__dict__.update((name, getattr(self, name)) for name in _OF_LISTS)
        return made

    @classmethod
    def _made(cls, collection: Collection, depth: int) -> Lists:
        judgments, rankings = collection.judgments, collection.rankings
        topics = len(judgments.topics)
        by_name = np.array(in_order_of_names(collection.runs), np.int64)
        names = tuple(collection.runs[r] for r in by_name.tolist())
        team_of = [collection.teams.get(run, run) for run in names]
        teams = tuple(sorted(set(team_of)))
        team = np.array([teams.index(name) for name in team_of], np.int64)
        cells = (np.arange(topics)[:, None] + by_name * topics).ravel()
        whole = np.diff(rankings.offsets)[cells]
        sizes = np.minimum(whole, depth)
        code = rankings.doc[ranges(rankings.offsets[:-1][cells], sizes)].astype(np.int64)
        run = np.repeat(np.tile(np.arange(len(names)), topics), sizes)
        seen = np.zeros(int(code.max(initial=-1)) + 1, np.int64)
        seen[code[::-1]] = np.arange(len(code))[::-1]  # where each document stands first
        new = seen[code] == np.arange(len(code))
        number = np.cumsum(new) - 1
        codes = code[new]
        return cls(
            names,
            teams,
            team,
            topics,
            run,
            number[seen[code]],
            ranges(np.ones(len(sizes), np.int64), sizes),
            codes,
            np.repeat(np.repeat(np.arange(topics), len(names)), sizes)[new],
            _grades(judgments, codes),
            int((judgments.grade >= 0).sum()),
            whole.reshape(topics, len(names)).T.copy(),
        )

    @property
    def docs(self) -> int:
        """Number of documents."""
        return len(self.code)

    @functools.cached_property
    def hole(self) -> Flags:
        """Is the document unjudged?"""
        return np.asarray(self.grade < 0)

    @functools.cached_property
    def cell(self) -> Ints:
        """Run * topics + topic of each entry."""
        return self.run * self.topics + self.topic[self.doc]

    @functools.cached_property
    def _lead(self) -> Ints:
        lead = np.full(self.docs, np.iinfo(np.int64).max)
        np.minimum.at(lead, self.doc, self.rank * len(self.runs) + self.run)
        return lead

    @functools.cached_property
    def best(self) -> Ints:
        """Best rank of each document."""
        return self._lead // len(self.runs)

    @functools.cached_property
    def best_team(self) -> Ints:
        """Team of the run that ranks each document highest, at equal rank of the run first by name."""
        return self.team[self._lead % len(self.runs)]

    @functools.cached_property
    def described(self) -> Ints:
        """Entries that describe documents: the first ranks, and all ranks of documents that have only later ones."""
        return np.flatnonzero((self.rank <= DEPTH) | (self.best[self.doc] > DEPTH))

    @functools.cached_property
    def entries(self) -> tuple[Ints, Ints, Ints]:
        """Document, rank and cell of the entries that describe documents."""
        at = self.described
        return self.doc[at], self.rank[at], self.cell[at]

    @functools.cached_property
    def found_by(self) -> Ints:
        """Number of teams that retrieve each document."""
        at = self.described
        everywhere = np.full(len(self.runs), np.iinfo(np.int64).max)
        return self.teams_beside(self.doc[at], self.run[at], self.rank[at], everywhere)

    @functools.cached_property
    def standing(self) -> tuple[Floats, Floats, Floats]:
        """Per document, the logarithms of its best rank, of its number of teams and of its fused reciprocal rank."""
        rank = self.entries[1]
        return np.log(self.best), np.log(self.found_by), np.log(self.per_doc(1.0 / (FUSION + rank)))

    @functools.cached_property
    def by_inverse_rank(self) -> Floats:
        """Per document, 1 / rank added up over its lists."""
        return self.per_doc(1.0 / self.entries[1])

    @functools.cached_property
    def pooling(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Run, rank and document of the entries in the first ranks, their place (run after run, rank by rank), and how
        many entries each run has down to each rank."""
        inside, runs = self.rank <= DEPTH, len(self.runs)
        run, rank, doc = self.run[inside], self.rank[inside], self.doc[inside]
        place = run * DEPTH + rank - 1
        return run, rank, doc, place, np.bincount(place, minlength=runs * DEPTH).reshape(runs, DEPTH).cumsum(axis=1)

    def teams_beside(self, doc: Ints, run: Ints, rank: Ints, depth: Ints) -> Ints:
        """Per document, how many teams have it in entries down to the depth of their run."""
        out = np.empty(self.docs, np.int64)
        kernels.count_teams(doc, run, rank, depth, self.team, out)
        return out

    def per_doc(self, values: npt.NDArray[np.floating]) -> Floats:
        """A value per entry that describes, added up per document, runs by name."""
        return np.bincount(self.entries[0], values, self.docs).astype(np.float64)


_OF_LISTS = (
    "cell", "_lead", "best", "best_team", "described", "entries", "found_by", "standing", "by_inverse_rank", "pooling"
)  # fmt: skip
"""What is the same whichever documents are judged."""


def _grades(judgments: Judgments, codes: Ints) -> npt.NDArray[np.int32]:
    """The grade of each document; -1 where it is unjudged."""
    known = np.append(judgments.grade, np.int32(-1))
    return np.maximum(known[np.minimum(codes, len(judgments))], -1).astype(np.int32)


def keeping(collection: Collection, kept: Flags, step: str) -> Collection:
    """`collection.keeping(kept, step)`, whose first ranks are not looked through again: every list stays as it is."""
    reduced = collection.keeping(kept, step)
    reduced.once(("hole lists", DEPTH), lambda: Lists.of(collection).keeping(reduced.judgments, kept))
    return reduced


def unjudged_documents(collection: Collection, low: int, high: int) -> tuple[Floats, Floats]:
    """Per run: documents at ranks low+1 to high, and how many of them are unjudged, over all topics."""
    hits = collection.hits.judged()
    inside = hits.where((hits.rank > low) & (hits.rank <= high))
    shape = len(collection.runs), len(collection.topics)
    found = np.clip(np.minimum(collection.hits.length, high) - low, 0, None).reshape(shape).sum(axis=1)
    return found.astype(np.float64), found - inside.count().reshape(shape).sum(axis=1)
