"""Which judged documents lie in the top of which run: D, its unions, and what only one group found."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Ints, Judgments, Pool
from unjudged.errors import UsageError, nearest, some
from unjudged.io import files

MOST_KEPT = 24
"""Memberships that are kept with a collection, one for each pool asked for (a report asks for about ten)."""

Mask = npt.NDArray[np.bool_]
Ints32 = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Contributions:
    """Per group of pooled runs: documents per topic it found, it alone found, and relevant ones it alone found."""

    names: list[str]
    pooled: Floats
    unique: Floats
    unique_relevant: Floats


@dataclass(frozen=True, eq=False)
class Membership:
    """Pairs (run, row): the row lies in the top of the run's list. Rows are those of the collection's judgments."""

    runs: tuple[str, ...]
    run: Ints
    row: Ints
    rows: int

    @functools.cached_property
    def times(self) -> Ints:
        """Per row: in the top of how many runs it is."""
        return np.bincount(self.row, minlength=self.rows)

    def found(self, runs: Sequence[str] | None = None) -> Mask:
        """Per row: is it in the top of one of these runs (of any, where none are named)?"""
        mask = np.zeros(self.rows, bool)
        if runs is None:
            mask[self.row] = True
        else:
            wanted = set(runs)
            mask[self.row[np.array([run in wanted for run in self.runs], bool)[self.run]]] = True
        return mask

    def unique(self, runs: Sequence[str]) -> Mask:
        """Per row: is it in the top of one of these runs and of no other?"""
        wanted = set(runs)
        mine = np.bincount(self.row[np.array([r in wanted for r in self.runs], bool)[self.run]], minlength=self.rows)
        alone: Mask = (mine > 0) & (mine == self.times)
        return alone

    def among(self, runs: Sequence[str]) -> Membership:
        """The same where only these runs were pooled."""
        number = {run: i for i, run in enumerate(runs)}
        place = np.array([number.get(run, -1) for run in self.runs], np.int64)[self.run]
        return Membership(tuple(runs), place[place >= 0], self.row[place >= 0], self.rows)

    def grouped(self, group: Mapping[str, str]) -> tuple[list[str], Ints, Ints, Mask]:
        """Groups of runs by name, then distinct pairs (group, row), and whether no other group has the row."""
        names = sorted({group[run] for run in self.runs})
        number = np.array([names.index(group[run]) for run in self.runs], np.int64)
        key = np.unique(number[self.run] * self.rows + self.row)
        which, row = np.divmod(key, max(self.rows, 1))
        return names, which, row, np.bincount(row, minlength=self.rows)[row] == 1

    def contributions(self, group: Mapping[str, str], judgments: Judgments, rel: int = 1) -> Contributions:
        """The contributions of groups of runs; `group` names the group of every pooled run (Sakai 2009)."""
        names, which, row, alone = self.grouped(group)
        relevant = judgments.grade[row] >= rel
        topics = max(len(judgments.topics), 1)

        def per_topic(chosen: Mask) -> Floats:
            return np.bincount(which[chosen], minlength=len(names)) / topics

        return Contributions(names, per_topic(alone | True), per_topic(alone), per_topic(alone & relevant))


def found_by_no_other(inside: Ints32, peers: Mask, docs: Ints32) -> Mask:
    """Sets of peers x runs x places: has no peer but the run itself the document in this place in its top?

    `inside`: runs x documents, 1 where the run has the document in its top. `peers`: sets x runs, who else was pooled.
    `docs`: runs x places, numbers of documents.
    """
    times = inside.sum(axis=0, dtype=np.int32)
    finders = np.stack([times - inside[~among].sum(axis=0, dtype=np.int32) for among in peers])
    own = np.take_along_axis(inside, docs, axis=1) * peers[:, :, None]
    return np.asarray(finders[:, docs] == own)


def membership(collection: Collection, pool: Pool, by: str = "lines") -> Membership:
    """D of every pooled run: the judged documents in the top `depth` of its lists, as rows of the collection.

    By `lines`, a document listed twice in a topic takes two places of the top, as it did when the pool was made; by
    `ranks`, later mentions are struck out first. Lists are those of all runs read, also after `with_runs`.
    """
    if by not in ("lines", "ranks"):
        raise UsageError(f"the top of a list is counted by lines or ranks, not {by!r}")
    full = collection.full

    def make() -> Membership:
        hits = full.hits.ungrouped
        place = hits.line if by == "lines" else hits.rank
        chosen = np.flatnonzero(place <= pool.depth)
        run = hits.run[chosen]
        number = np.full(len(full.runs), -1)
        number[[full.runs.index(name) for name in pool.runs]] = np.arange(len(pool.runs))
        inside = number[run] >= 0
        return Membership(
            pool.runs, number[run[inside]], hits.row[chosen[inside]].astype(np.int64), len(full.judgments)
        )

    found = cast(Membership, full.once(("membership", pool.depth, pool.runs, by), make, MOST_KEPT))
    if collection is full:
        return found
    place = np.full(found.rows, -1)
    place[collection.rows] = np.arange(len(collection.rows))
    inside = place[found.row] >= 0
    return Membership(found.runs, found.run[inside], place[found.row[inside]], len(collection.rows))


def teams_of(collection: Collection, runs: Sequence[str] | None = None) -> dict[str, str]:
    """Team of each run of the full collection (or of these); a sentence where one has none."""
    if not collection.teams:
        raise UsageError("no teams are known; name a team file (--teams, a TSV run<TAB>team)")
    runs = collection.full.runs if runs is None else runs
    for run in runs:
        if run not in collection.teams:
            raise UsageError(f"run {run} has no team in the team file; add a line run<TAB>team for it")
    return {run: collection.teams[run] for run in runs}


def runs_of_teams(collection: Collection, teams: Sequence[str]) -> list[str]:
    """All runs of these teams; a sentence for an unknown team."""
    team_of = teams_of(collection)
    known = sorted(set(team_of.values()))
    for team in teams:
        if team not in known:
            raise UsageError(f"no team {team!r}{nearest(team, known)}; there are {some(known)}")
    return [run for run, team in team_of.items() if team in set(teams)]


def known_runs(collection: Collection, runs: Sequence[str]) -> list[str]:
    """These runs, which may be named by their files; a sentence for an unknown one."""
    runs = [files.called(run, collection.full.runs) for run in runs]
    for run in runs:
        if run not in collection.full.runs:
            raise UsageError(f"no run {run!r} in this collection{nearest(run, collection.full.runs)}")
    return list(runs)


def named_group(
    collection: Collection,
    *,
    team: str | None = None,
    run: str | None = None,
    teams: Sequence[str] | None = None,
    runs: Sequence[str] | None = None,
) -> tuple[list[str], str]:
    """The runs named in one of four ways, and how to call them (`teams A + B`)."""
    if sum(x is not None for x in (team, run, teams, runs)) != 1:
        raise UsageError("name one of: a team, a run, several teams, several runs")
    what, several = ("team", teams) if team is not None or teams is not None else ("run", runs)
    one = team if what == "team" else run
    chosen = [one] if one is not None else list(several or ())
    if not chosen or isinstance(several, str):
        raise UsageError(f"{what}s are given as a list of names")
    names = runs_of_teams(collection, chosen) if what == "team" else known_runs(collection, chosen)
    return names, f"{what}{'s' * (len(chosen) > 1)} {' + '.join(chosen)}"


@dataclass(frozen=True)
class Coverage:
    """Judgments that lie in the top of some pooled run, out of all."""

    covered: int
    judgments: int
    depth: int
    runs: int

    @property
    def share(self) -> float:
        """Covered judgments out of all."""
        return self.covered / max(self.judgments, 1)

    def warnings(self) -> list[str]:
        """A sentence where judgments are left that no run at hand explains."""
        if self.covered == self.judgments:
            return []
        runs = f"{self.runs} runs" if self.runs != 1 else "one run"
        return [
            f"pooled runs are missing, or judgments were added in another way: only {self.covered:,} of "
            f"{self.judgments:,} judgments ({self.share:.1%}) lie in the top {self.depth} of the {runs} "
            f"taken as pooled; unique contributions are overestimated"
        ]


def coverage_of(collection: Collection, pool: Pool, by: str = "lines") -> Coverage:
    """The judgments covered by the top of the pooled runs."""
    found = membership(collection, pool, by).found()
    return Coverage(int(found.sum()), len(found), pool.depth, len(pool.runs))
