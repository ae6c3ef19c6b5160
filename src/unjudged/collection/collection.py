"""Collection: judgments and runs, ready to be scored, changed and compared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unjudged.collection.history import Change, added, carried, change, replay
from unjudged.collection.hits import Hits
from unjudged.collection.joining import hits_of_cells, keep_hits
from unjudged.collection.judgments import Judgments
from unjudged.collection.pool import Pool
from unjudged.collection.rankings import FullLists, Rankings
from unjudged.collection.segments import Ints
from unjudged.errors import UsageError, nearest

if TYPE_CHECKING:
    from unjudged.collection.load import Origin


@dataclass(frozen=True, eq=False)
class Collection:
    """Judgments and runs, ready to be scored, reduced and compared.

    A change gives a new collection over the same arrays: `keeping` (some judgments), `regraded` (other grades),
    `only` (some topics), `with_runs` (some runs), `with_gains`. `.history` tells what was done, `.full` is the
    collection before judgments or runs were taken away, and `.rows` says which of its rows are left. `.pool` is what a
    change knew of the pool; None until one needed it.
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
    _lists: FullLists = field(repr=False)
    _origin: Origin | None = field(default=None, repr=False)
    history: tuple[Change, ...] = ()
    """What was done since it was read; the lines of it stand among the settings of every result."""
    pool: Pool | None = None
    _full: Collection | None = field(default=None, repr=False)
    _rows: Ints | None = field(default=None, repr=False)
    _noticed: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """What was noticed in the files of the runs as they were read: (file, note)."""
    _kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @functools.cached_property
    def topics(self) -> tuple[str, ...]:
        """The judged topics, in the order of the judgments."""
        return tuple(self.judgments.topics)

    @property
    def rankings(self) -> Rankings:
        """Full lists (reads the runs again on first use)."""
        return self._lists.get()

    def first_ranks(self, depth: int) -> tuple[Ints, Ints, npt.NDArray[np.int32]]:
        """How long each list is, how much of it lies in the first `depth` ranks, and the codes of `rankings` there."""
        lengths = self._lists.lengths
        return lengths, np.minimum(lengths, depth), self._lists.first(depth)

    @property
    def full(self) -> Collection:
        """The collection before judgments or runs were taken away (topics chosen with `only` stay chosen)."""
        return self if self._full is None else self._full

    @property
    def rows(self) -> Ints:
        """For each judgment, its row in the judgments of `.full`."""
        return np.arange(len(self.judgments)) if self._rows is None else self._rows

    def once(self, key: Any, make: Callable[[], Any], most: int | None = None) -> Any:
        """The value of `make()`, computed once for this collection and key.

        `most`: of keys that begin with the same word only so many are kept, those made last; for keys that hold what
        somebody chooses (a depth, a seed), so that a page that stays open for days does not grow.
        """
        if key not in self._kept:
            self._kept[key] = made = make()
            if most is not None:
                alike = [other for other in list(self._kept) if isinstance(other, tuple) and other[0] == key[0]]
                for other in alike[:-most]:
                    self._kept.pop(other, None)
            return made
        return self._kept[key]

    def with_ties(self, rule: str) -> Collection:
        """The same collection with equal scores in another order; the runs are read again, the history is repeated."""
        return self if rule == self.settings["ties"] else replay(self._readable().with_ties(rule), self.history)

    @change(basic=True, runs=lambda collection, runs: collection._readable().inputs(runs) if runs else ())
    def adding(self, *runs: Any) -> Collection:
        """The same judgments with more runs behind those that are there; all runs are read again, unless nothing was
        changed and their full lists are at hand.

        Runs are given in any of the ways `load` takes them. They were not there to be pooled: what was done to the
        judgments before stays as it is.
        """
        if not runs:
            return self
        origin = self._readable()
        if not self.history and self._lists.made:
            return origin.with_more(self, runs)
        everything = origin.collection((*origin.runs, *added(self.history), *runs), full=True)
        return carried(everything, self.history, len(origin.runs))

    def judged_by(self, judgments: Judgments) -> Collection:
        """The same runs under judgments with topics of their own; the runs are read again.

        It is another collection, not a change of this one: what was done to the judgments here is not repeated.
        """
        known = {run.name for run in self._readable().runs}
        if later := [run for run in self.runs if run not in known]:
            raise UsageError(f"run {later[0]} was added later and cannot be read under other judgments; load it again")
        return self._readable().judged_by(judgments, self.runs)

    def _readable(self) -> Origin:
        if self._origin is None:
            raise UsageError("the runs of this collection cannot be read again; load them from files or objects")
        return self._origin

    def _told(self, line: str) -> dict[str, Any]:
        """The settings with one more line of history."""
        return {**self.settings, "history": [*self.settings.get("history", ()), line]}

    @change(basic=True)
    def with_gains(self, gains: Mapping[int, float]) -> Collection:
        """The same collection with other gains."""
        judgments = self.judgments.with_gains(gains)
        settings = {**self.settings, "gains": dict(judgments.gains.levels), "highest gain": judgments.gains.highest()}
        return replace(self, judgments=judgments, hits=self.hits.over(judgments), settings=settings)

    @change(basic=True, by_row={"kept": lambda judgments: np.ones(len(judgments), bool)})
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
            settings=self._told(line),
            _lists=self._lists.then(Rankings.keeping, self.judgments, kept),
            pool=pool or self.pool,
            _full=self.full,
            _rows=self.rows[kept],
        )

    @change(basic=True, by_row={"grade": lambda judgments: judgments.grade})
    def regraded(self, grade: npt.NDArray[np.int32], step: str, top_grade: int | None = None) -> Collection:
        """The same judgments with other grades.

        Gains and H stay those of the full collection, unless `top_grade` names the highest grade of another scale.
        """
        if grade.shape != (len(self.judgments),):
            raise UsageError(f"{len(self.judgments)} grades are needed, one per judgment")
        judgments = self.judgments.with_grades(grade.astype(np.int32), top_grade)
        if (aspects := self.judgments.aspects) is not None:
            kept = aspects.with_errors(self.judgments.topic, self.judgments.grade, judgments.grade)
            if kept is None or top_grade is not None:
                raise UsageError(
                    "judgments of subtopics, intents or nuggets cannot get other grades of whole documents; "
                    "`study over-judges` and `judges estimate` score runs by each set of such judgments as it is"
                )
            judgments = replace(judgments, aspects=kept)
        changed = int((judgments.grade != self.judgments.grade).sum())
        settings = self._told(f"{step}: {changed} of {len(grade)} grades changed")
        if top_grade is not None:
            settings["highest gain"] = judgments.gains.highest()
        return replace(
            self,
            judgments=judgments,
            hits=self.hits.over(judgments),
            settings=settings,
            _full=self.full,
            _rows=self.rows,
        )

    @change(basic=True)
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
            settings=self._told(step or f"{len(chosen)} of {many} topics"),
            _lists=self._lists.then(Rankings.keeping, self.judgments, kept).then(Rankings.in_cells, cells),
            _full=None,
            _rows=None,
        )
        if self._full is None:
            return part
        number = np.cumsum(np.isin(self.full.judgments.topic, chosen)) - 1
        return replace(part, _full=self.full.only(topics), _rows=number[self.rows[kept]])

    @change(basic=True)
    def with_runs(self, runs: Sequence[str]) -> Collection:
        """These runs alone, in this order; runs taken away before can come back.

        The pool stays that of all runs: `.full` keeps them.
        """
        source = self if set(runs) <= set(self.runs) else self.full
        for run in runs:
            if run not in source.runs:
                raise UsageError(f"no run {run!r} in this collection{nearest(run, source.runs)}")
        if not runs or len(set(runs)) < len(runs):
            raise UsageError("runs to keep are named once each, at least one")
        numbers, many = [source.runs.index(run) for run in runs], len(self.topics)
        cells = (np.array(numbers)[:, None] * many + np.arange(many)).ravel()
        hits = hits_of_cells(source.hits, source.judgments, cells)
        lists = source._lists.then(Rankings.in_cells, cells, numbers)
        if source is not self:
            kept = np.zeros(len(source.judgments), bool)
            kept[self.rows] = True
            hits, lists = keep_hits(hits, self.judgments, kept), lists.then(Rankings.keeping, source.judgments, kept)
        return replace(
            self,
            runs=tuple(runs),
            hits=hits,
            outside=tuple(source.outside[r] for r in numbers),
            sources=(self.sources[0], *(source.sources[r + 1] for r in numbers)),
            tags=tuple(source.tags[r] for r in numbers),
            _lists=lists,
            _full=self.full,
            _rows=self.rows,
        )

    def alone(self) -> Collection:
        """The same judgments and runs cut off from files and from the collection they were taken from: to travel."""
        told = tuple(step.told() for step in self.history)
        return replace(self, _lists=FullLists(_left_behind), _origin=None, _full=None, _rows=None, history=told)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what can be computed again."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "_kept"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _kept={})

    def _repr_html_(self) -> str:
        """What is in it, for a notebook."""
        from html import escape

        grades, counts = np.unique(self.judgments.grade, return_counts=True)
        told = ", ".join(f"{count:,} of grade {grade}" for grade, count in zip(grades, counts, strict=True))
        shown = ", ".join(self.runs[:5]) + (f" and {len(self.runs) - 5:,} more" if len(self.runs) > 5 else "")
        rows = {
            "runs": f"{len(self.runs):,}: {shown}" if self.runs else "none",
            "teams": f"{len(set(self.teams.values())):,}" if self.teams else "not told",
            "topics": f"{len(self.topics):,}",
            "judgments": f"{len(self.judgments):,}: {told}" if len(self.judgments) else "none",
            "notes": " ".join(f"{note}." for note in self.notes) or "none",
        }
        cells = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
        return f"<table>{cells}</table>"

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
