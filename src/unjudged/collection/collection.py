"""Collection: judgments and runs, ready to be scored, changed and compared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection.hits import Hits
from unjudged.collection.joining import hits_of_cells, keep_hits
from unjudged.collection.judgments import Judgments
from unjudged.collection.pool import Pool
from unjudged.collection.rankings import Rankings
from unjudged.collection.segments import Ints
from unjudged.errors import UsageError, nearest


@dataclass(frozen=True, eq=False)
class Collection:
    """Judgments and runs, ready to be scored, reduced and compared.

    A reduction gives a new collection over the same arrays: `keeping` (some judgments), `only` (some topics),
    `with_runs` (some runs). `.history` tells what was done, `.full` is the collection before judgments or runs
    were taken away, and `.rows` says which of its rows are left. `.pool` is what a reduction knew of the pool;
    None until one needed it.
    """

    judgments: Judgments
    runs: tuple[str, ...]
    hits: Hits
    outside: tuple[int, ...]
    teams: Mapping[str, str]
    notes: tuple[str, ...]
    sources: tuple[str, ...]
    tags: tuple[str, ...]
    settings: Mapping[str, Any]
    _rankings: Callable[[], Rankings] = field(repr=False)
    _again: Callable[[str | None, Sequence[Any]], Collection] | None = field(default=None, repr=False)
    pool: Pool | None = None
    _left_of: tuple[Collection, Ints] | None = field(default=None, repr=False)
    _kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @functools.cached_property
    def topics(self) -> tuple[str, ...]:
        """The judged topics, in the order of the judgments."""
        return tuple(self.judgments.topics)

    @functools.cached_property
    def rankings(self) -> Rankings:
        """Full lists (reads the runs again on first use)."""
        return self._rankings()

    @property
    def history(self) -> tuple[str, ...]:
        """What was done to the judgments, one line a step; also among the settings of every result."""
        return tuple(self.settings.get("history", ()))

    @property
    def full(self) -> Collection:
        """The collection before judgments or runs were taken away (topics chosen with `only` stay chosen)."""
        return self if self._left_of is None else self._left_of[0]

    @property
    def rows(self) -> Ints:
        """For each judgment, its row in the judgments of `.full`."""
        return np.arange(len(self.judgments)) if self._left_of is None else self._left_of[1]

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """The value of `make()`, computed once for this collection and key."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def with_gains(self, gains: Mapping[int, float]) -> Collection:
        """The same collection with other gains."""
        judgments = self.judgments.with_gains(gains)
        settings = {**self.settings, "gains": dict(judgments.gains.levels), "highest gain": judgments.gains.highest()}
        return replace(
            self,
            judgments=judgments,
            hits=self.hits.over(judgments),
            settings=settings,
            _again=self._repeating(lambda read: read.with_gains(gains)),
        )

    def with_ties(self, rule: str) -> Collection:
        """The same collection with equal scores in another order; the runs are read again."""
        return self if rule == self.settings["ties"] else self._read_again(rule, ())

    def adding(self, *runs: Any) -> Collection:
        """The same collection with more runs behind those it has; all runs are read again."""
        return self._read_again(None, runs) if runs else self

    def _read_again(self, ties: str | None, more: Sequence[Any]) -> Collection:
        if self._again is None:
            raise UsageError("the runs of this collection cannot be read again; load them from files or objects")
        return self._again(ties, more)

    def _repeating(self, step: Callable[[Collection], Collection]) -> Callable[[str | None, Sequence[Any]], Collection]:
        """How to read a collection again that was made of this one by `step`."""
        return lambda ties, more: step(self._read_again(ties, more))

    def keeping(self, kept: npt.NDArray[np.bool_], step: str, pool: Pool | None = None) -> Collection:
        """Only the judgments chosen by a mask (one flag per row); the others become unjudged.

        Topics, gains and H stay those of the full collection: a topic that loses all judgments stays with score 0
        and is reported in `.notes`. `step` names what was done, `pool` what is known of the pool afterwards.
        """
        if kept.dtype != bool or kept.shape != (len(self.judgments),):
            raise UsageError(f"a mask of {len(self.judgments)} true or false values is needed, one per judgment")
        if not kept.any():
            raise UsageError(f"{step}: no judgments left")
        judgments = self.judgments.keeping(kept)
        lost = np.flatnonzero((np.diff(self.judgments.starts) > 0) & (np.diff(judgments.starts) == 0))
        barren = np.flatnonzero(
            (self.judgments.count(1) > 0) & (judgments.count(1) == 0) & (np.diff(judgments.starts) > 0)
        )
        told = [
            f"{len(which)} topic{'s' * (len(which) > 1)} left without {what} (e.g. {self.topics[which[0]]})"
            for which, what in ((lost, "judgments"), (barren, "relevant documents"))
            if len(which)
        ]
        taken = len(kept) - int(kept.sum())
        line = "; ".join([f"{step}: {taken} of {len(kept)} judgments taken away", *told])
        return replace(
            self,
            judgments=judgments,
            hits=keep_hits(self.hits, judgments, kept),
            notes=(*self.notes, *(f"{step}: {note}" for note in (*told, *(pool.notes if pool else ())))),
            settings={**self.settings, "history": [*self.history, line]},
            _rankings=lambda: self.rankings.keeping(self.judgments, kept),
            _again=self._repeating(lambda read: read.keeping(kept, step, pool)),
            pool=pool or self.pool,
            _left_of=(self.full, self.rows[kept]),
        )

    def regraded(self, grade: npt.NDArray[np.int32], step: str) -> Collection:
        """The same judgments with other grades (gains and H stay those of the full collection)."""
        if grade.shape != (len(self.judgments),):
            raise UsageError(f"{len(self.judgments)} grades are needed, one per judgment")
        judgments = self.judgments.with_grades(grade.astype(np.int32))
        changed = int((judgments.grade != self.judgments.grade).sum())
        line = f"{step}: {changed} of {len(grade)} grades changed"
        return replace(
            self,
            judgments=judgments,
            hits=self.hits.over(judgments),
            settings={**self.settings, "history": [*self.history, line]},
            _again=self._repeating(lambda read: read.regraded(grade, step)),
            _left_of=(self.full, self.rows),
        )

    def only(self, topics: Sequence[int], step: str | None = None) -> Collection:
        """These topics alone, by number; everything else as if the collection had been read so."""
        chosen = np.unique(np.asarray(topics, np.int64))
        if not len(chosen):
            raise UsageError("no topics left")
        judgments, many = self.judgments.only(chosen.tolist()), len(self.topics)
        cells = (np.arange(len(self.runs))[:, None] * many + chosen).ravel()
        shift = np.tile(judgments.starts[:-1] - self.judgments.starts[:-1][chosen], len(self.runs))
        kept = np.isin(self.judgments.topic, chosen)
        part = replace(
            self,
            judgments=judgments,
            hits=hits_of_cells(self.hits, judgments, cells, shift),
            settings={**self.settings, "history": [*self.history, step or f"{len(chosen)} of {many} topics"]},
            _rankings=lambda: self.rankings.keeping(self.judgments, kept).in_cells(cells),
            _again=self._repeating(lambda read: read.only(topics, step)),
            _left_of=None,
        )
        if self._left_of is None:
            return part
        full, rows = self._left_of
        number = np.cumsum(np.isin(full.judgments.topic, chosen)) - 1
        return replace(part, _left_of=(full.only(topics), number[rows[kept]]))

    def with_runs(self, runs: Sequence[str]) -> Collection:
        """These runs alone, in this order. The pool stays that of all runs: `.full` keeps them."""
        for run in runs:
            if run not in self.runs:
                raise UsageError(f"no run {run!r} in this collection{nearest(run, self.runs)}")
        if not runs or len(set(runs)) < len(runs):
            raise UsageError("runs to keep are named once each, at least one")
        numbers, many = [self.runs.index(run) for run in runs], len(self.topics)
        cells = (np.array(numbers)[:, None] * many + np.arange(many)).ravel()
        return replace(
            self,
            runs=tuple(runs),
            hits=hits_of_cells(self.hits, self.judgments, cells),
            outside=tuple(self.outside[r] for r in numbers),
            sources=(self.sources[0], *(self.sources[r + 1] for r in numbers)),
            tags=tuple(self.tags[r] for r in numbers),
            _rankings=lambda: self.rankings.in_cells(cells, numbers),
            _again=self._repeating(lambda read: read.with_runs([*runs, *read.runs[len(self.runs) :]])),
            _left_of=(self.full, self.rows),
        )

    def alone(self) -> Collection:
        """The same judgments and runs cut off from files and from the collection they were taken from: to travel."""
        return replace(self, _rankings=_left_behind, _again=None, _left_of=None)

    def __getstate__(self) -> dict[str, Any]:
        """Full lists travel once they have been read; the files they come from do not."""
        state = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("_rankings", "_again", "_kept")}
        return state | {"rankings": self.__dict__.get("rankings")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        lists = state.pop("rankings")
        self.__dict__.update(state, _kept={}, _again=None, _rankings=_left_behind)
        if lists is not None:
            self.__dict__["rankings"] = lists

    def __repr__(self) -> str:
        teams = len({self.teams[r] for r in self.runs if r in self.teams})
        of_teams = f", {teams} teams" if teams else ""
        return (
            f"<Collection: {len(self.runs)} runs{of_teams}, {len(self.topics)} topics, {len(self.judgments)} judgments>"
        )


def _left_behind() -> Rankings:
    raise UsageError("full lists did not travel with this collection; read them (.rankings) before sending it")


def in_order_of_names(runs: Sequence[str]) -> list[int]:
    """Places of the runs in alphabetical order: computing in it makes answers independent of the order given."""
    return sorted(range(len(runs)), key=runs.__getitem__)
