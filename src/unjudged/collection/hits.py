"""Hits: the retrieved judged documents of every (run, topic) cell, as measures see them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from unjudged import kernels
from unjudged.collection.judgments import Ideal, Judgments, key_of
from unjudged.collection.segments import Floats, Ints, changes, locked, tie_groups
from unjudged.errors import MeasureError

Cells = npt.NDArray[np.float64]
"""One value per cell, run after run: cell number = run * topics + topic."""

_HIGHEST = 2**31 - 1
_Scalar = TypeVar("_Scalar", bound=np.generic)


class _Choice:
    """The hits of some grades: arrays that the list as it was and the condensed list share."""

    def __init__(self, offsets: Ints, *arrays: npt.NDArray[np.int32]) -> None:
        self.offsets = offsets
        self.row, self.rank, self.place = arrays
        self.gains: dict[Any, Floats] = {}

    @functools.cached_property
    def position(self) -> Ints:
        """1, 2, 3... inside the cell."""
        return positions(self.offsets)


class Hits:
    """The retrieved judged documents of every cell in rank order, as measures see them.

    `rank` is the document's rank in the run, `position` its place (1, 2, 3...) among the hits kept in this
    view. `relevant`, `judged`, `top` and `condensed` give narrower views; `sum` adds values up per cell and
    `each` hands a value per cell to its hits. R and N count the judgments, retrieved or not.
    `ties`, kept where ties are to be averaged over, holds for each hit the first rank and the number of
    documents with its score. `repeats` holds the lines whose document stood higher in the same list, as pairs
    (cell, rank above the line); they have no rank, but take a place in a pool.
    """

    judgments: Judgments
    offsets: Ints
    row: npt.NDArray[np.int32]
    length: npt.NDArray[np.int32]
    answered: npt.NDArray[np.bool_]
    rel: int
    ties: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] | None
    repeats: Ints | None

    def __init__(
        self,
        judgments: Judgments,
        offsets: Ints,
        row: npt.NDArray[np.int32],
        rank: npt.NDArray[np.int32] | None,
        length: npt.NDArray[np.int32],
        answered: npt.NDArray[np.bool_],
        rel: int = 1,
        base: Hits | None = None,
        ties: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] | None = None,
        repeats: Ints | None = None,
        ungrouped: Hits | None = None,
    ) -> None:
        self.judgments, self.offsets, self.row = judgments, offsets, row
        self.length, self.answered, self.rel = length, answered, rel
        self.ties, self.repeats = ties, repeats
        self._ungrouped = ungrouped
        self._base = base  # the hits this is a view of, without their views: no circle of references
        self._listed: npt.NDArray[np.int32] | None = None  # of a condensed list: the ranks in the list as it was
        self._choices: dict[tuple[int, int], _Choice] = {}
        self._choice: _Choice | None = None
        self._kept: dict[Any, Any] = {}
        self._gains: dict[Any, Floats] = {}
        if rank is not None:
            self.__dict__["rank"] = rank
        self._lock()

    def _lock(self) -> None:
        for array in (self.offsets, self.row, self.__dict__.get("rank"), self.length, self.answered, self.repeats):
            if array is not None:
                locked(array)
        for array in self.ties or ():
            locked(array)

    def __getstate__(self) -> dict[str, Any]:
        """What was given travels; views and derived arrays are made again."""
        derived = {name for name, value in vars(Hits).items() if isinstance(value, functools.cached_property)}
        given = {name: value for name, value in self.__dict__.items() if name not in derived}
        return given | {"rank": self.rank, "_kept": {}, "_gains": {}, "_choices": {}, "_choice": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock()

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, made once for this view and kept under `key`. It must not hold this view itself."""
        if key not in self._kept:
            made = make()
            self._kept[key] = locked(made) if isinstance(made, np.ndarray) else made
        return self._kept[key]

    def without_views(self) -> Hits:
        """The same hits, which know nothing of the views and values kept with these: what those may hold."""
        bare = type(self).__new__(type(self))
        bare.__dict__.update(self.__dict__, _kept={})
        bare.__dict__.pop("_bare", None)
        return bare

    @functools.cached_property
    def _bare(self) -> Hits:
        """What views of these hits hold of them."""
        return self.without_views() if self._base is None else self._base

    # -- what a hit is

    @functools.cached_property
    def rank(self) -> npt.NDArray[np.int32]:
        """Rank of each hit in its list; in a condensed list, its place there."""
        return locked(self.position.astype(np.int32))

    @functools.cached_property
    def grade(self) -> npt.NDArray[np.int32]:
        """Grade of each hit."""
        return locked(self.judgments.grade[self.row])

    def gain(self, gains: Mapping[int, float] | None = None) -> Floats:
        """Gain of each hit (0 for nonrelevant ones)."""
        key = key_of(gains)
        if key not in self._gains:
            self._gains[key] = locked(self.judgments.gain(gains)[self.row])
        return self._gains[key]

    @functools.cached_property
    def topic(self) -> Ints:
        """Topic number of each hit."""
        return locked(self.judgments.topic[self.row])

    @property
    def cell(self) -> Ints:
        """Cell number of each hit."""
        return self.each(np.arange(self.cells))

    @property
    def run(self) -> Ints:
        """Run number of each hit."""
        return self.cell // max(len(self.judgments.topics), 1)

    @functools.cached_property
    def position(self) -> Ints:
        """1, 2, 3... inside the cell, in rank order."""
        return positions(self.offsets) if self._choice is None else self._choice.position

    @functools.cached_property
    def line(self) -> Ints:
        """The place of each hit among the lines of its list: its rank, plus the repeated documents above it."""
        rank = locked(self.rank.astype(np.int64))
        if self.repeats is None or not len(self.repeats):
            return rank
        cell, width = self.cell, max(int(rank.max(initial=0)), int(self.repeats[:, 1].max())) + 1
        repeat = np.sort(self.repeats[:, 0] * width + self.repeats[:, 1])
        return locked(rank + np.searchsorted(repeat, cell * width + rank) - np.searchsorted(repeat, cell * width))

    # -- other views

    @property
    def ungrouped(self) -> Hits:
        """With every hit of a group of equivalent answers, not only the first."""
        return self if self._ungrouped is None else self._ungrouped

    def over(self, judgments: Judgments) -> Hits:
        """The same hits over judgments with the same rows (other grades or gains)."""
        return Hits(
            judgments,
            self.offsets,
            self.row,
            self.rank,
            self.length,
            self.answered,
            self.rel,
            None,
            self.ties,
            self.repeats,
            None if self._ungrouped is None else self._ungrouped.over(judgments),
        )

    def chosen_by(
        self, value: npt.NDArray[np.int32], low: int, high: int, renumber: bool = False, places: bool = True
    ) -> tuple[Ints, npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Offsets, row (or the value itself), rank and position here of the hits whose row has low <= value <= high.

        Of a condensed list, rank is the one in the list as it was. Without `places` there are no positions.
        """
        out = [np.empty(many, np.int32) for many in (len(self), len(self), len(self) if places else 0)]
        offsets = np.empty(len(self.offsets), np.int64)
        rank = self.rank if self._listed is None else self._listed
        many = kernels.choose_hits(value, low, high, renumber, self.row, rank, self.offsets, *out, offsets)
        return offsets, out[0][:many], out[1][:many], out[2][:many]

    def _graded(self, low: int, high: int, rel: int) -> Hits:
        """Only documents with low <= grade <= high."""
        if type(self) is not Hits or self.ties is not None:
            return self.where((self.grade >= low) & (self.grade <= high), rel)
        found = self._choices.get((low, high))
        if found is None:
            found = self._choices[low, high] = _Choice(*self.chosen_by(self.judgments.grade, low, high))
        rank = found.rank if self._listed is None else found.place
        view = Hits(self.judgments, found.offsets, found.row, rank, self.length, self.answered, rel, self._bare)
        view._gains, view._choice = found.gains, found
        return view

    def of_runs(self, first: int, last: int) -> Hits:
        """The hits of consecutive runs, as views of the same arrays."""
        topics = len(self.judgments.topics)
        cells = slice(first * topics, last * topics)
        offsets = self.offsets[first * topics : last * topics + 1]
        here = slice(int(offsets[0]), int(offsets[-1]))
        return Hits(
            self.judgments,
            offsets - offsets[0],
            self.row[here],
            self.rank[here],
            self.length[cells],
            self.answered[cells],
        )

    def where(self, mask: npt.NDArray[np.bool_], rel: int | None = None) -> Self:
        """Only the hits chosen by a mask; narrower views are made of this."""
        chosen = np.flatnonzero(mask)
        offsets = np.searchsorted(chosen, self.offsets)
        view = Hits(
            self.judgments,
            offsets,
            self.row[chosen],
            self.rank[chosen],
            self.length,
            self.answered,
            self.rel if rel is None else rel,
            self._bare,
            None if self.ties is None else (self.ties[0][chosen], self.ties[1][chosen]),
        )
        for known in ("grade", "topic"):
            if known in self.__dict__:
                view.__dict__[known] = locked(self.__dict__[known][chosen])
        return cast("Self", view)

    def relevant(self, rel: int = 1) -> Self:
        """Only documents of grade `rel` or more; R and N follow."""
        return cast("Self", self.once(("graded", rel, _HIGHEST), lambda: self._graded(rel, _HIGHEST, rel)))

    def gaining(self, gains: Mapping[int, float] | None = None) -> Self:
        """Only documents with a gain: the relevant ones, unless some grade has none."""
        levels = dict(self.judgments.gains.levels) if gains is None else gains
        if all(gain > 0 for grade, gain in levels.items() if grade > 0):
            return self.relevant(1)
        return cast("Self", self.once(("gaining", key_of(gains)), lambda: self.where(self.gain(gains) > 0)))

    def of_grade(self, grade: int) -> Self:
        """Only documents of this grade."""
        return cast("Self", self.once(("graded", grade, grade), lambda: self._graded(grade, grade, self.rel)))

    def nonrelevant(self, rel: int = 1) -> Self:
        """Only judged documents below grade `rel`."""
        return cast("Self", self.once(("graded", 0, rel - 1), lambda: self._graded(0, rel - 1, rel)))

    def judged(self) -> Self:
        """Without the documents of negative grade, which count as unjudged."""

        def make() -> Hits | None:
            if self.judgments.lowest_grade >= 0 or (self.grade >= 0).all():
                return None
            return self.where(self.grade >= 0)

        found = self.once("judged", make)
        return self if found is None else cast("Self", found)

    @property
    def pooled(self) -> Hits:
        """With the documents of negative grade (pooled, not judged) if they were in the collection."""
        return self if self._base is None else self._base

    def top(self, k: float | None) -> Self:
        """Only ranks up to k; everything where k is None."""
        if k is None or int(self.length.max(initial=0)) <= k:
            return self
        return cast("Self", self.once(("top", k), lambda: self.where(self.rank <= k)))

    def condensed(self) -> Hits:
        """The condensed list: unjudged documents removed, ranks renumbered (Sakai, SIGIR 2007)."""

        def make() -> Hits:
            h = self.judged()
            length = np.diff(h.offsets).astype(np.int32)
            ties = None if h.ties is None else h._condensed_ties()
            view = Hits(h.judgments, h.offsets, h.row, None, length, h.answered, h.rel, None, ties)
            view._listed, view._choices, view._gains = h.rank, h._choices, h._gains
            for known in ("grade", "topic", "position"):
                if known in h.__dict__:
                    view.__dict__[known] = h.__dict__[known]
            return view

        return cast(Hits, self.once("condensed", make))

    @property
    def is_condensed(self) -> bool:
        """Is this a condensed list (or a view of one)?"""
        return self._listed is not None or (self._base is not None and self._base._listed is not None)

    def _condensed_ties(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """First position and number of the hits that share each hit's score."""
        assert self.ties is not None
        return tie_groups(changes(self.ties[0], self.cell), self.position)

    # -- cells: hits stand cell after cell; cell c holds those from offsets[c] to offsets[c + 1]

    def __len__(self) -> int:
        return len(self.row)

    @property
    def cells(self) -> int:
        """Number of (run, topic) pairs."""
        return len(self.offsets) - 1

    @property
    def ends(self) -> Ints:
        """Where the hits of each run end, behind a 0."""
        return self.offsets[:: max(len(self.judgments.topics), 1)]

    def each(self, values: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
        """A value per cell, handed to each of its hits."""
        return np.repeat(values, np.diff(self.offsets))

    def sum(self, values: npt.NDArray[Any]) -> Cells:
        """Values of the hits added up per cell, first rank first."""
        out = np.empty(self.cells)
        kernels.segment_sum(np.ascontiguousarray(values, np.float64), self.offsets, out)
        return out

    def count(self) -> Cells:
        """Number of hits per cell."""
        return np.diff(self.offsets).astype(np.float64)

    def above(self, chosen: npt.NDArray[Any]) -> Floats:
        """Running sum of `chosen` over the hits of the cell that stand before each hit."""
        return self.running(chosen) - chosen.astype(np.float64)

    def running(self, values: npt.NDArray[Any]) -> Floats:
        """Running sum of `values` over the hits of the cell, this hit included."""
        out = np.empty(len(self))
        kernels.segment_cumsum(np.ascontiguousarray(values, np.float64), self.offsets, out)
        return out

    def running_product(self, values: Floats) -> Floats:
        """Running product of `values` over the hits of the cell, this hit included."""
        out = np.empty(len(self))
        kernels.segment_cumprod(np.ascontiguousarray(values, np.float64), self.offsets, out)
        return out

    def previous(self, values: Floats, first: float) -> Floats:
        """The value of the hit before each hit of the cell, `first` where there is none."""
        out = np.empty(len(self))
        out[1:] = values[:-1]
        out[self.offsets[:-1][np.diff(self.offsets) > 0]] = first
        return out

    def first(self, values: npt.NDArray[Any], none: float) -> Cells:
        """The value of the first hit of each cell, `none` where there is no hit."""
        out, filled = np.full(self.cells, none), np.diff(self.offsets) > 0
        out[filled] = values[self.offsets[:-1][filled]]
        return out

    def last(self, values: npt.NDArray[Any], none: float) -> Cells:
        """The value of the last hit of each cell, `none` where there is no hit."""
        out, filled = np.full(self.cells, none), np.diff(self.offsets) > 0
        out[filled] = values[self.offsets[1:][filled] - 1]
        return out

    def max(self, values: npt.NDArray[Any]) -> Cells:
        """Largest value of the hits per cell, 0 where there is none."""
        out = np.zeros(self.cells)
        filled = np.flatnonzero(np.diff(self.offsets))
        if len(filled):
            out[filled] = np.maximum.reduceat(values, self.offsets[filled])
        return out

    def by_rank(self, value: Callable[[npt.NDArray[Any]], Floats]) -> Floats:
        """A function of the rank for every hit."""
        return tabulated(value, self.rank)

    def best_at_rank(self, ideal: Ideal, running: Floats) -> Floats:
        """A running sum over the topic's ideal list, read at each hit's rank (constant behind the last document)."""
        if self.rank.dtype != np.int32:
            return ideal.at(running, self.topic, self.rank)
        out, topic = np.empty(len(self)), self.per_cell(np.arange(len(ideal.starts) - 1))
        kernels.segment_read(running, ideal.starts, topic, self.offsets, self.rank, out)
        return out

    def cumulated(self, gains: Mapping[int, float] | None = None) -> Floats:
        """Cumulated gain at each hit."""
        return cast(Floats, self.once(("cumulated", key_of(gains)), lambda: self.running(self.gain(gains))))

    def precision(self) -> Floats:
        """Precision at each hit of a view of relevant documents."""
        return cast(Floats, self.once("precision", lambda: self.position / self.rank))

    def best_precision(self) -> Floats:
        """At each hit of a view of relevant documents, the best precision there or further down."""

        def make() -> Floats:
            out = np.empty(len(self))
            kernels.segment_max_from(self.precision(), self.offsets, out)
            return out

        return cast(Floats, self.once("best precision", make))

    def per_cell(self, by_topic: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
        """A value per topic, repeated for each run."""
        return np.tile(by_topic, self.cells // max(len(self.judgments.topics), 1))

    @property
    def R(self) -> Cells:
        """Number of judged relevant documents of the cell's topic (grade >= rel)."""
        return self.per_cell(self.judgments.count(self.rel))

    @property
    def N(self) -> Cells:
        """Number of judged nonrelevant documents of the cell's topic (0 <= grade < rel)."""
        return self.per_cell(self.judgments.count(0, self.rel))

    def ideal(self, gains: Mapping[int, float] | None = None) -> Ideal:
        """The ideal lists of the topics."""
        return self.judgments.ideal(gains)

    def highest_gain(self, gains: Mapping[int, float] | None = None) -> float:
        """H: the gain of the collection's highest grade; refused where another grade gains more."""
        highest = self.judgments.gains.highest(gains)
        if gains is not None and self.judgments.gain(gains).max(initial=0.0) > highest:
            raise MeasureError(
                f"gains must not fall with the grade here, found {dict(gains)} (other grades: themselves)"
            )
        return highest


class KeptHits(Hits):
    """The hits that are left over some of the judgments: made when somebody asks for more than those of a grade.

    Measures mostly ask for relevant hits alone, which are taken from those over all judgments: a few for each hundred.
    """

    def __init__(self, judgments: Judgments, hits: Hits, number: npt.NDArray[np.int32]) -> None:
        """`number`: for each row of the judgments of `hits` its row in `judgments`, -1 where it was taken away."""
        none = np.zeros(0, np.int32)
        super().__init__(judgments, none.astype(np.int64), none, None, hits.length, hits.answered, repeats=hits.repeats)
        del self.offsets, self.row
        self._all = hits._bare if hits._base is None else hits.without_views()  # shared with all that is left of them
        self._number = locked(number)

    def _left_of(self, hits: Hits) -> tuple[Ints, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        return hits.chosen_by(self._number, 0, len(self._number), renumber=True, places=False)[:3]

    def __getattr__(self, name: str) -> Any:
        if name not in ("offsets", "row"):
            raise AttributeError(name)
        offsets, row, rank = self._left_of(self._all)
        self.offsets, self.row, self.__dict__["rank"] = locked(offsets), locked(row), locked(rank)
        return self.__dict__[name]

    @functools.cached_property
    def rank(self) -> npt.NDArray[np.int32]:
        """Rank of each hit in its list."""
        _ = self.row
        return cast("npt.NDArray[np.int32]", self.__dict__["rank"])

    def __reduce__(self) -> tuple[Any, ...]:
        """What travels are the hits themselves, not those over all judgments."""
        given = (self.judgments, self.offsets, self.row, self.rank, self.length, self.answered, self.rel)
        return Hits, (*given, None, None, self.repeats)

    def _graded(self, low: int, high: int, rel: int) -> Hits:
        left = self._left_of(self._all._graded(low, high, rel))
        return Hits(self.judgments, *left, self.length, self.answered, rel, self._bare)

    def of_runs(self, first: int, last: int) -> Hits:
        """The hits of consecutive runs, of which no more is made than of all."""
        runs = self._all.once(("runs", first, last), lambda: self._all.of_runs(first, last))
        return KeptHits(self.judgments, runs, self._number)

    @property
    def ends(self) -> Ints:
        """Where the hits of each run would end, had no judgment been taken away."""
        return self._all.ends

    @property
    def cells(self) -> int:
        """Number of (run, topic) pairs."""
        return len(self.length)


def positions(offsets: Ints) -> Ints:
    """1, 2, 3... inside each cell."""
    return locked(np.arange(1, int(offsets[-1]) + 1) - np.repeat(offsets[:-1], np.diff(offsets)))


def tabulated(value: Callable[[npt.NDArray[Any]], Floats], n: npt.NDArray[Any]) -> Floats:
    """A function of each number; computed once for each whole number from 0 on where many share few."""
    highest = int(n.max(initial=0))
    if n.dtype.kind != "i" or highest > len(n):
        return value(n)
    return np.asarray(value(np.arange(highest + 1, dtype=n.dtype))[n])
