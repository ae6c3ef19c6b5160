"""Which runs were pooled, and how deep: read off the judgments by likelihood.

The model. In a pooled run every document down to the depth of the pool is judged, but for a share that got lost. A
document outside the pool is judged with a chance that falls with its rank: by later rounds of judging, or because of
pooled runs that are not at hand. A document in the top of a pooled run is in the pool wherever else it stands, so what
tells a pooled run from one that resembles it are the documents that no other pooled run has in its top.

The steps. For each depth, the runs with the fewest unjudged documents above it are taken as pooled, as many as explain
the judgments best. The depth is the one where the share of judged documents falls off most clearly against a smooth
curve. Then, in turns: the odds of each run given the others, and the depth, for all topics or for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from unjudged import kernels
from unjudged.collection.segments import Floats, Ints
from unjudged.errors import UsageError

if TYPE_CHECKING:
    from unjudged.collection.collection import Collection

Mask = npt.NDArray[np.bool_]
_Value = TypeVar("_Value")

# Chosen on the odd seeds of benchmarks/pool_inference.py.
MOST_LOST = 0.15
"""The largest share of pooled documents that may be missing from the judgments."""
ENOUGH = 0.85
"""Ranks are looked at as far as some run has this share of its documents judged, and half as far again."""
NEUTRAL = 0.4
"""Log odds of a run of which nothing can be told: all its documents are judged, and all are in other pooled runs."""
TOPIC_GAIN = 2.0
"""A topic has its own depth where that is better by this much in log likelihood."""
NO_POOL = 20.0
"""A topic was not pooled where that is better by this much than the depth of the others."""
VARYING = 0.1
"""Depth varies where more than this share of the topics has its own."""
RUN_ODDS, RUN_STEP = 4.0, 8.0
"""A run has its own depth where that is better by so much in log odds, and in log likelihood of its own list."""
PROOF = 10.0
"""A pool is seen where it fits better than smooth curves by this much in log likelihood,"""
OWN_DEPTH = 3.0
"""less this much for each topic with a depth of its own,"""
TOPICS = 0.9
"""and in at least this share of the pooled topics,"""
UNEQUAL = 0.25
"""while runs that lost unequal shares of their documents take away no more than this part of it,"""
POOLED_TOPICS = 0.4
"""which are at least this share of all (others may have been judged from other pools)."""
CLEAR = 1.25
"""The depth is unknown where the highest likely one is this many times the lowest one, and two documents more."""
TO_THE_END = 0.01
"""A list is judged to its end if at most this share of it is not."""
ROUNDS, STARTS = 6, 3
"""Turns of improving runs and depths, and first guesses to improve."""


@dataclass(frozen=True)
class Inferred:
    """What the judgments tell about the pool.

    `depth` is None where it cannot be told. `depth_low` and `depth_high` hold the depths that are likely; where depth
    varies by topic, nine topics in ten lie between them. `chance` is the probability of each run to have been pooled,
    `depth_of_run` how deep it was if so, in the order of `runs`. `missing` is the share of pooled documents without a
    judgment, `sure` the probability of this depth (by topic, on average, where it varies). `reason` says in a sentence
    what was seen, or why nothing was.
    """

    runs: tuple[str, ...]
    depth: int | None
    depth_low: int
    depth_high: int
    chance: tuple[float, ...]
    depth_of_run: tuple[int, ...]
    missing: float
    sure: float
    reason: str

    @property
    def sure_of_runs(self) -> float:
        """The probability of a run to be told apart rightly, on average over the runs."""
        return sum(sorted(max(chance, 1 - chance) for chance in self.chance)) / max(len(self.chance), 1)

    def pooled(self, at_least: float = 0.5) -> tuple[str, ...]:
        """The runs that were pooled with at least this probability; none where no pool can be seen."""
        return tuple(run for run, chance in zip(self.runs, self.chance, strict=True) if chance >= at_least)


def infer_pool(collection: Collection, depth: int | None = None, runs: Sequence[str] | None = None) -> Inferred:
    """The depth of the pool, and the chance of each run to have been pooled, as the judgments show them.

    Where `depth` is stated, only the pooled runs are inferred; where the pooled `runs` are, only the depth. Read off
    the collection before any reduction (`.full`), by lines: a document listed twice takes two places. A document of
    negative grade was in the pool. The order of the runs and their names do not matter.
    """
    if depth is not None and not 1 <= depth < 2**31:
        raise UsageError(f"the pool depth is a positive number of documents, not {depth}")
    full = collection.full
    stated = None if runs is None else tuple(run in set(runs) for run in full.runs)
    return cast(Inferred, full.once(("inferred pool", depth, stated), lambda: _infer(full, depth, stated)))


def _infer(full: Collection, depth: int | None, stated: tuple[bool, ...] | None) -> Inferred:
    lists = _read(full, depth)
    if lists is None:
        return _unknown(full.runs, "no run has its first documents judged")
    if depth is not None:
        return _at_depth(full.runs, lists, depth)
    if stated is not None:
        return _from_runs(full.runs, lists, np.array(stated))
    tried = _searched(lambda d: _scanned(lists.around(d), d), lambda one: one[0], lists.grid)
    for start in _peaks(tried)[:STARTS]:
        settled = _settled(lists, tried[start][1], start)
        if settled is not None and _seen(lists, settled[0], settled[1].by_topic):
            return _told(full.runs, lists, *settled)
    return _judged_to_the_end(full.runs, lists)


def _from_runs(runs: tuple[str, ...], lists: _Lists, member: Mask) -> Inferred:
    """The answer where the pooled runs are stated."""

    def clear(depth: int) -> float:
        gains, lack = _evidence(lists, member, np.full(lists.topics, depth))
        return float(_total(gains)) - lack

    start = _best(_searched(clear, float, lists.grid), float)
    found = _settled(lists, member, start, stated=True)
    assert found is not None  # runs that are stated stay
    known = np.where(member, np.inf, -np.inf)
    return _unclear(runs, found[1]) or _answer(runs, lists, known, lists.alike(found[1].by_topic), found[1])


def _at_depth(runs: tuple[str, ...], lists: _Lists, depth: int) -> Inferred:
    """The answer where the depth is stated."""
    found = _Depths(np.full(lists.topics, min(depth, lists.longest)), depth, depth, 1.0, False)
    member = _scanned(lists, min(depth, lists.longest))[1]
    for _ in range(ROUNDS):
        before, member = member, _odds(lists, member, lists.alike(found.by_topic)) >= 0
        if not member.any():
            nobody = _unknown(runs, f"no run is judged to depth {depth}")
            return replace(nobody, depth=depth, depth_low=depth, depth_high=depth, sure=1.0)
        if (member == before).all():
            break
    return replace(_told(runs, lists, member, found), depth=depth)


def _peaks(tried: dict[int, tuple[float, Mask]]) -> list[int]:
    """Depths that score higher than their neighbours, the best one first."""
    depths = sorted(tried)
    score = np.array([-np.inf, *(tried[d][0] for d in depths), -np.inf])
    peak = np.flatnonzero((score[1:-1] > score[:-2]) & (score[1:-1] >= score[2:]))
    return [depths[i] for i in sorted(peak, key=lambda i: (-score[i + 1], i))]


def _settled(lists: _Lists, member: Mask, start: int, stated: bool = False) -> tuple[Mask, _Depths] | None:
    """Pooled runs (unless they are stated) and depths, improved in turns; None where no run is left."""
    found = _Depths(np.full(lists.topics, start), start, start, 1.0, False)
    for _ in range(ROUNDS):
        now = member if stated else _odds(lists, member, lists.alike(found.by_topic)) >= 0
        if not now.any():
            return None
        after = _depths(lists, now, found.by_topic)
        done = (now == member).all() and (after.by_topic == found.by_topic).all()
        member, found = now, after
        if done:
            break
    return member, found


def _unclear(runs: tuple[str, ...], found: _Depths) -> Inferred | None:
    """Unknown, where several depths are likely that are not close together."""
    if found.varies or found.high <= max(CLEAR * found.low, found.low + 2):
        return None
    return _unknown(runs, f"pool depths from {found.low} to {found.high} are about as likely")


def _told(runs: tuple[str, ...], lists: _Lists, member: Mask, found: _Depths) -> Inferred:
    """The answer, once depths and pooled runs have settled."""
    if (unclear := _unclear(runs, found)) is not None:
        return unclear
    top = _tops(lists, member, found)
    for _ in range(2):  # runs with a depth of their own belong to the pool of the others
        odds = _odds(lists, member, top)
        member = odds >= 0
    return _answer(runs, lists, odds, top, found)


def _answer(runs: tuple[str, ...], lists: _Lists, odds: Floats, top: Ints, found: _Depths) -> Inferred:
    """The answer for these log odds of the runs and depths (runs x topics)."""
    member, pooled = odds >= 0, lists.judged & (found.by_topic > 0)
    reach = np.where(lists.length > 0, np.minimum(top, lists.length), -1)[:, pooled]
    of_run = tuple(
        _middle(one[one >= 0]) if yes and (one >= 0).any() else 0 for one, yes in zip(reach, member, strict=True)
    )
    depth = _middle(found.by_topic[pooled])
    how = f"by topic to depths from {found.low} to {found.high}" if found.varies else f"to depth {depth}"
    reason = f"{int(member.sum())} of {len(runs)} runs are judged {how}"
    if pooled.sum() < lists.judged.sum():
        reason += f" in {int(pooled.sum())} of {int(lists.judged.sum())} topics"
    lost = _fitted(lists, member, top)[0]
    return Inferred(runs, depth, found.low, found.high, _chances(odds), of_run, lost, found.sure, reason)


def _judged_to_the_end(runs: tuple[str, ...], lists: _Lists) -> Inferred:
    """The answer where judged documents fall off nowhere: lists may be judged to their end, or no pool can be seen."""
    lines, longest = lists.lines.sum(1), lists.length.max(1)
    member = (lines > 0) & (lists.gaps.sum(1) <= TO_THE_END * lines) & (lists.whole | (longest < lists.longest))
    if not member.any():
        return _unknown(runs, "nowhere do judged documents fall off more clearly than they would without a pool")
    depth = int(longest[member].max())
    odds = _odds(lists, member, lists.alike(np.full(lists.topics, depth)))
    reason = f"{int(member.sum())} of {len(runs)} runs are judged to the end of their lists"
    chance, of_run = _chances(np.where(member, np.maximum(odds, 0), -np.inf)), np.where(member, longest, 0)
    return Inferred(runs, depth, depth, depth, chance, tuple(of_run.tolist()), 0.0, 1.0, reason)


def _chances(odds: Floats) -> tuple[float, ...]:
    """Log odds as probabilities."""
    with np.errstate(over="ignore"):
        return tuple((1 / (1 + np.exp(-odds))).tolist())


def _unknown(runs: tuple[str, ...], reason: str) -> Inferred:
    return Inferred(runs, None, 0, 0, (0.0,) * len(runs), (0,) * len(runs), 0.0, 0.0, reason)


# -- the data


@dataclass(frozen=True, eq=False)
class _Lists:
    """Judged documents of all lists down to some line, sorted by document.

    `row` is the document of each hit. `length` holds the lines of each list (runs x topics), cut at `longest`;
    `repeated` the lines (run, topic, line) whose document stood higher in the list: they count neither as judged nor as
    unjudged. `judged` says which topics have judgments. The pool can be as deep as `deepest`.
    """

    run: Ints
    topic: Ints
    line: Ints
    row: npt.NDArray[np.int32]
    length: Ints
    repeated: tuple[Ints, Ints, Ints]
    judged: Mask
    longest: int
    deepest: int
    whole: bool

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return int(self.length.shape[0])

    @property
    def topics(self) -> int:
        """How many topics there are, judged or not."""
        return int(self.length.shape[1])

    @property
    def grid(self) -> list[int]:
        """Depths to begin with, three for every doubling."""
        steps = np.arange(0, np.log2(self.deepest) + 1 / 3, 1 / 3)
        return [int(d) for d in np.unique(np.minimum(np.round(2**steps), self.deepest))]

    @cached_property
    def first(self) -> Ints:
        """Where each document starts."""
        return np.flatnonzero(np.diff(self.row, prepend=-1))

    @cached_property
    def ends(self) -> Ints:
        """Where each document starts, and where the last one ends."""
        return np.append(self.first, len(self.line))

    def cut(self, longest: int, chosen: Any = None) -> _Lists:
        """Down to this line alone; `chosen` are the hits there, in order."""
        near = self.repeated[2] <= longest
        chosen = self.line <= longest if chosen is None else chosen
        return replace(
            self,
            run=self.run[chosen],
            topic=self.topic[chosen],
            line=self.line[chosen],
            row=self.row[chosen],
            length=np.minimum(self.length, longest),
            repeated=(self.repeated[0][near], self.repeated[1][near], self.repeated[2][near]),
            longest=longest,
            deepest=min(self.deepest, longest),
            whole=self.whole and longest >= int(self.length.max()),
        )

    @cached_property
    def near(self) -> _Lists:
        """A quarter of the lines: enough to look at small depths."""
        return self.cut(max(self.longest // 4, 1))

    def around(self, depth: int) -> _Lists:
        """As much of the lists as is needed to look at this depth."""
        return self.near.around(depth) if 3 * depth + 20 <= self.longest // 4 else self

    @cached_property
    def bin(self) -> Ints:
        """Group of each line: six for every doubling of the rank."""
        return np.unique(np.floor(6 * np.log2(np.arange(1, self.longest + 1))), return_inverse=True)[1].astype(np.int64)

    @cached_property
    def group(self) -> Ints:
        """Group of lines of each hit."""
        return self.bin[self.line - 1]

    @cached_property
    def x(self) -> Floats:
        """Mean of the log rank of each group of lines."""
        return np.bincount(self.bin, np.log(np.arange(1, self.longest + 1))) / np.bincount(self.bin)

    def binned(self, by_line: npt.NDArray[Any]) -> Floats:
        """Counts by line (last axis), added up by group."""
        starts = np.flatnonzero(np.diff(self.bin, prepend=-1))
        return np.asarray(np.add.reduceat(by_line, starts, axis=-1), np.float64)

    def alike(self, by_topic: Ints) -> Ints:
        """The same depths for every run."""
        return np.broadcast_to(by_topic, self.length.shape)

    def per_document(self, values: npt.NDArray[Any], how: np.ufunc) -> Any:
        """Values of the hits put together by document."""
        return how.reduceat(values, self.first)

    def per_hit(self, values: npt.NDArray[Any]) -> Any:
        """Values of the documents handed to each of their hits."""
        return np.repeat(values, np.diff(self.ends))

    def by_level(self, level: Ints, depth: int, none: int) -> Floats:
        """Levels x groups of lines: the hits there of documents of each level, which is the least one of the runs that
        have the document down to this depth; `none` where no run has."""
        out = np.empty((none + 1, len(self.x)), np.int64)
        kernels.count_levels(self.ends, self.run, self.line, self.group, level, depth, none, len(self.x), out)
        return out.astype(np.float64)

    @cached_property
    def is_judged(self) -> npt.NDArray[np.uint8]:
        """By run, topic and line: 1 where a judged document stands."""
        out = np.zeros((self.runs, self.topics, self.longest), np.uint8)
        out[self.run, self.topic, self.line - 1] = 1
        return out

    def counted(self, chosen: Any) -> Floats:
        """Chosen hits counted by run and line."""
        place = self.run[chosen] * self.longest + self.line[chosen] - 1
        return np.bincount(place, minlength=self.runs * self.longest).reshape(self.runs, -1).astype(np.float64)

    def listed(self, top: Ints, by_topic: bool) -> Floats:
        """Lines down to `top` (runs x topics; 0 for none) counted by topic, or by run, and line."""
        many = self.topics if by_topic else self.runs
        group = np.broadcast_to(np.arange(self.topics) if by_topic else np.arange(self.runs)[:, None], top.shape)
        ends = np.bincount(
            (group * (self.longest + 1) + np.minimum(self.length, top)).ravel(), minlength=many * (self.longest + 1)
        )
        out = np.cumsum(ends.reshape(many, -1)[:, ::-1], axis=1)[:, ::-1][:, 1:].astype(np.float64)
        run, topic, line = self.repeated
        inside = line <= top[run, topic]
        np.subtract.at(out, ((topic if by_topic else run)[inside], line[inside] - 1), 1.0)
        return out

    @cached_property
    def gaps(self) -> Floats:
        """Unjudged lines by run and line."""
        return self.lines - self.counted(slice(None))

    @cached_property
    def lines(self) -> Floats:
        """Lines by run and line."""
        return self.listed(self.length, False)


def _read(full: Collection, depth: int | None) -> _Lists | None:
    """The lists as far as they can tell something (or as this depth needs); None where no run has its top judged."""
    hits = full.hits.ungrouped
    runs, topics = len(full.runs), len(full.topics)
    line, topic = hits.line, hits.topic
    judged = np.bincount(topic, minlength=topics) > 0
    length = hits.length.astype(np.int64)
    cell = above = np.zeros(0, np.int64)
    if hits.repeats is not None and len(hits.repeats):
        cell, above = hits.repeats[np.lexsort((hits.repeats[:, 1], hits.repeats[:, 0]))].T
        length = length + np.bincount(cell, minlength=len(length))
    repeat = above + np.arange(len(cell)) - np.searchsorted(cell, cell) + 1
    length = length.reshape(runs, topics) * judged
    if not len(line):
        return None
    widest = int(length.max())
    told = judged[cell % topics] & (repeat <= widest)
    repeated = cell[told] // topics, cell[told] % topics, repeat[told]
    whole = _Lists(hits.run, topic, line, hits.row, length, repeated, judged, widest, widest, True)
    share = 1 - np.cumsum(whole.gaps, 1) / np.maximum(np.cumsum(whole.lines, 1), 1)
    deep = np.flatnonzero(((share >= ENOUGH) & (whole.lines > 0)).any(0)) + 1
    if not len(deep) and depth is None:
        return None
    deepest = min(max([*deep[-1:].tolist(), depth or 1]), widest)
    longest = min(3 * deepest // 2 + 10, widest)
    chosen = np.flatnonzero(line <= longest)
    lists = whole.cut(longest, chosen)
    order = np.empty(len(chosen), np.int64)
    kernels.order_of(lists.row, len(full.judgments), order)
    return replace(lists.cut(longest, order), deepest=deepest)


# -- the chance of documents to be judged


def _falling(judged: Floats, unjudged: Floats, x: Floats) -> Floats:
    """Chance to be judged by group of lines (last axis): a logistic curve in the log rank that does not rise."""
    n = judged + unjudged
    total = n.sum(-1)
    rate = (judged.sum(-1) + 0.5) / (total + 1)
    height, slope = np.log(rate / (1 - rate)), np.zeros_like(rate)
    z = x - ((n * x).sum(-1) / np.maximum(total, 1e-9))[..., None]

    def curve() -> Floats:
        return np.asarray(1 / (1 + np.exp(-np.clip(height[..., None] + slope[..., None] * z, -9, 9))))

    for _ in range(12):  # Newton's method, held back a little at the ends
        p = curve()
        weight = n * p * (1 - p)
        by_height = (judged - n * p).sum(-1) + 0.5 - p.mean(-1)
        by_slope = ((judged - n * p) * z).sum(-1) - slope
        a, b, c = weight.sum(-1) + 0.25, (weight * z).sum(-1), (weight * z * z).sum(-1) + 1
        scale = a * c - b * b
        height = np.clip(height + np.clip((c * by_height - b * by_slope) / scale, -2, 2), -9, 9)
        slope = np.clip(slope + np.clip((a * by_slope - b * by_height) / scale, -1, 1), -4, 0)
    return curve()


def _smooth(lists: _Lists, judged: Floats, unjudged: Floats) -> Floats:
    """Log likelihood of counts by line (last axis) under the best smooth curve."""
    judged, unjudged = lists.binned(judged), lists.binned(unjudged)
    p = _falling(judged, unjudged, lists.x)
    return np.asarray((judged * np.log(p) + unjudged * np.log1p(-p)).sum(-1))


def _share_lost(missed: Any, judged: Any) -> Any:
    """Share of pooled documents without a judgment; never quite none."""
    return np.minimum((missed + 0.5) / (missed + judged + 200), MOST_LOST)


def _own_share(missed: Any, judged: Any) -> Any:
    """Log likelihood of counts with a share of their own each."""
    p = (missed + 0.5) / (missed + judged + 1)
    return missed * np.log(p) + judged * np.log1p(-p)


def _total(values: Floats) -> Any:
    """Sum over the first axis, whatever the order."""
    return np.sort(values, axis=0).sum(axis=0)


# -- which runs


def _scanned(lists: _Lists, depth: int) -> tuple[float, Mask]:
    """The best pooled runs at this depth, and how clearly the depth shows in their lists.

    Tried are the runs with the smallest share of unjudged documents above the depth, 1, 2, 3... of them (all with the
    same share at once). Judged documents outside their top, and unjudged ones inside, count against them.
    """
    inside = np.arange(lists.longest) < depth
    missed_by_run, lines = lists.gaps * inside, lists.lines * inside
    share = np.where(lines.sum(1) > 0, missed_by_run.sum(1) / np.maximum(lines.sum(1), 1), 1.0)
    levels, level = np.unique(share, return_inverse=True)
    many = int((levels <= 0.5).sum())
    if not many:
        return -np.inf, np.zeros(lists.runs, bool)
    level = np.minimum(level.astype(np.int64), many)
    table = lists.by_level(level, depth, many)
    covered: Floats = np.cumsum(table[:-1], axis=0)
    missed, own = (lists.binned(_up_to(by_run, level, many)) for by_run in (missed_by_run, lines - missed_by_run))
    fit = _pooled_or_not(table.sum(0), covered, own, missed, lists.binned(lists.gaps.sum(0)), lists.x)
    member = level <= int(np.argmax(fit[2]))
    gains, lack = _evidence(lists, member, np.full(lists.topics, depth))
    return float(_total(gains)) - lack, member


def _up_to(by_run: Floats, level: Ints, many: int) -> Floats:
    """Counts by run added up over the runs of each of `many` levels and of those below."""
    out = np.zeros((many + 1, by_run.shape[1]))
    np.add.at(out, level, by_run)
    return np.cumsum(out[:-1], axis=0)


def _pooled_or_not(
    judged: Floats, covered: Floats, own: Floats, missed: Floats, gaps: Floats, x: Floats
) -> tuple[Floats, Floats, Floats]:
    """Share lost, chance to be judged outside the pool, and log likelihood, from counts of lines by group of lines.

    `judged` and `gaps` count all lines, `covered` the judged ones of documents in the pool, `own` those of them in the
    top of a pooled run, `missed` the unjudged ones there. Elsewhere, unjudged documents in the pool are not known; as
    many are taken as were lost in the tops.
    """
    lost = np.asarray(_share_lost(missed.sum(-1), own.sum(-1)))
    also = np.minimum(np.maximum(covered - own, 0) * (lost / (1 - lost))[..., None], gaps - missed)
    outside, unjudged = judged - covered, gaps - missed - also
    chance = _falling(outside, unjudged, x)
    likely = (outside * np.log(chance) + unjudged * np.log1p(-chance)).sum(-1)
    return lost, chance, likely + covered.sum(-1) * np.log1p(-lost) + (missed + also).sum(-1) * np.log(lost)


def _fitted(lists: _Lists, member: Mask, top: Ints) -> tuple[float, Floats]:
    """Share lost, and chance by line to be judged outside the pool, for these runs and depths (runs x topics)."""
    top = np.where(member[:, None], top, 0)
    inside = lists.line <= top[lists.run, lists.topic]
    covered = lists.per_hit(lists.per_document(inside, np.maximum))
    judged, in_pool, own = (
        np.bincount(lists.group[chosen], minlength=len(lists.x)).astype(np.float64)[None]
        for chosen in (slice(None), covered, inside)
    )
    missed = lists.binned(lists.listed(top, False).sum(0))[None] - own
    lost, chance, _ = _pooled_or_not(judged, in_pool, own, missed, lists.binned(lists.gaps.sum(0)), lists.x)
    return float(lost[0]), chance[0][lists.bin]


def _odds(lists: _Lists, member: Mask, top: Ints) -> Floats:
    """Log odds of each run to have been pooled to these depths (runs x topics), given the other pooled runs."""
    lost, chance = _fitted(lists, member, top)
    here = lists.line <= top[lists.run, lists.topic]
    elsewhere = _elsewhere(lists, here & member[lists.run])
    c, q = (np.bincount(lists.run[here & e], minlength=lists.runs).astype(np.float64) for e in (elsewhere, ~elsewhere))
    listed = lists.listed(top, False)
    n = listed.sum(1)
    return _log_odds(c, q, np.maximum(n - c - q, 0), lost, (listed * chance).sum(1) / np.maximum(n, 1))


def _elsewhere(lists: _Lists, pooled: Mask) -> Mask:
    """Is the document of each hit in the top of another pooled run? `pooled` says which hits are in such a top."""
    finders = lists.per_hit(lists.per_document(pooled.astype(np.int32), np.add))
    return np.asarray(finders > pooled)


def _log_odds(c: Floats, q: Floats, u: Floats, lost: float, chance: Floats) -> Floats:
    """Log odds of runs in whose top c documents are judged and in another top, q judged and in no other, u unjudged.

    `chance` is that of a document outside the pool to be judged. Some share of the documents is in another top, whether
    the run was pooled or not; in either case it is the share that fits best.
    """
    tiny = 1e-9
    share = np.clip(c / np.maximum(c + q, 1), tiny, 1 - tiny)
    pooled = c * np.log(share) + q * np.log1p(-share) + (c + q) * np.log1p(-lost) + u * np.log(lost)
    share = np.clip(np.linspace(0, 1, 401), tiny, 1 - tiny)
    c, q, u, chance = (value[:, None] for value in (c, q, u, np.clip(chance, 1e-3, 1 - lost)))
    not_pooled = c * np.log(share * (1 - lost)) + q * np.log((1 - share) * chance)
    not_pooled = not_pooled + u * np.log(share * lost + (1 - share) * (1 - chance))
    return np.where((c + q + u)[:, 0] > 0, pooled - not_pooled.max(1) + NEUTRAL, -np.inf)


# -- how deep


@dataclass(frozen=True, eq=False)
class _Depths:
    """The depth in each topic, the likely depths (or their range), and how sure that is."""

    by_topic: Ints
    low: int
    high: int
    sure: float
    varies: bool


def _documents(lists: _Lists, member: Mask, by_topic: Ints) -> tuple[Floats, Floats, Floats]:
    """By topic and line of these runs: judged documents at their best line, and unjudged lines; judged lines by run.

    Judged lines are those above the depths. Unjudged lines are weighted as if each of their documents stood in as many
    of these runs as a judged document does.
    """
    nowhere = lists.longest + 1
    best = np.empty(len(lists.first), np.int64)
    kernels.first_lines(lists.ends, lists.run, lists.line, member, nowhere, best)
    topic = lists.topic[lists.first]
    seen = best < nowhere
    shape = lists.topics, lists.longest
    documents = np.bincount(topic[seen] * shape[1] + best[seen] - 1, minlength=shape[0] * shape[1]).reshape(shape)
    judged = lists.is_judged[member]
    gaps = lists.listed(np.where(member[:, None], lists.length, 0), True) - judged.sum(0, dtype=np.int32)
    by_run = (judged[:, :, : by_topic.max()] & _above(by_topic, int(by_topic.max()))).sum((1, 2), dtype=np.int64)
    weight = (best <= by_topic[topic]).sum() / max(by_run.sum(), 1)
    return documents.astype(np.float64), gaps * weight, by_run.astype(np.float64)


def _above(by_topic: Ints, longest: int) -> Mask:
    """By topic and line: is the line above the depth?"""
    return np.asarray(np.arange(longest) < by_topic[:, None])


def _evidence(lists: _Lists, member: Mask, by_topic: Ints) -> tuple[Floats, float]:
    """By topic, how much better a step at these depths fits than a smooth curve; and what speaks against a pool.

    In a pool the share lost is the same for every run: how much better shares of their own would fit is the second.
    """
    documents, gaps, judged = _documents(lists, member, by_topic)
    inside = _above(by_topic, lists.longest)
    missed, found = (gaps * inside).sum(1), (documents * inside).sum(1)
    lost = float(_share_lost(missed.sum(), found.sum()))
    step = found * np.log1p(-lost) + missed * np.log(lost) + _smooth(lists, documents * ~inside, gaps * ~inside)
    unjudged = lists.listed(np.where(member[:, None], by_topic, 0), False).sum(1)[member] - judged
    own = _total(_own_share(unjudged, judged)) - _own_share(unjudged.sum(), judged.sum())
    weight = found.sum() / max(judged.sum(), 1)
    return step - _smooth(lists, documents, gaps), max(float(own * weight), 0.0)


def _seen(lists: _Lists, member: Mask, by_topic: Ints) -> bool:
    """Does a pool show: is a step clearly better than a smooth curve, over all and in most of the topics?"""
    pooled = by_topic > 0
    gains, lack = _evidence(lists, member, by_topic)
    own = int((by_topic != _middle(by_topic[pooled])).sum())
    enough = pooled[lists.judged].mean() >= POOLED_TOPICS and (gains[lists.judged & pooled] > 0).mean() >= TOPICS
    gain = _total(gains)
    return bool(enough and lack <= UNEQUAL * gain and gain - lack - own * OWN_DEPTH >= PROOF)


def _depths(lists: _Lists, member: Mask, by_topic: Ints) -> _Depths:
    """The most likely depths for these pooled runs: one for all topics, or one for each where that is better."""
    lost = _fitted(lists, member, lists.alike(by_topic))[0]
    documents, gaps, _ = _documents(lists, member, by_topic)
    found, missed = np.cumsum(documents, axis=1), np.cumsum(gaps, axis=1)

    def likely(depth: int) -> Floats:
        outside = np.arange(lists.longest) >= depth
        inside = found[:, depth - 1] * np.log1p(-lost) + missed[:, depth - 1] * np.log(lost)
        return np.asarray(inside + _smooth(lists, documents * outside, gaps * outside))[lists.judged]

    middle = _middle(by_topic[by_topic > 0])
    near = np.concatenate([lists.grid, np.arange(1, 21), by_topic, np.round(middle * np.linspace(0.5, 1.5, 41))])
    no_pool = _smooth(lists, documents, gaps)[lists.judged] - OWN_DEPTH

    def score(one: Floats) -> float:
        return float(_total(np.maximum(one, no_pool)))

    tried = _searched(likely, score, near[(near >= 1) & (near <= lists.longest)].astype(int))
    depths = np.array(sorted(tried))
    table = np.stack([tried[int(d)] for d in depths], axis=1)
    one = int(np.searchsorted(depths, _best(tried, score)))
    best, highest = table.argmax(1), table.max(1)
    other = highest - table[:, one] > TOPIC_GAIN
    none = (no_pool > table[:, one] + NO_POOL) & (no_pool > highest - 2 * OWN_DEPTH)
    none &= none.mean() > VARYING
    own = other & ~none
    out = np.full(lists.topics, depths[one])
    if own.sum() <= VARYING * (~none).sum():
        out[lists.judged] = np.where(none, 0, depths[one])
        total = _total(table[~none])
        together = np.exp(total - total.max())
        together /= together.sum()
        low, high = np.searchsorted(np.cumsum(together), (0.025, 0.975))
        return _Depths(out, int(depths[low]), int(depths[high]), float(together[one]), False)
    chosen = np.where(own, best, one)
    out[lists.judged] = np.where(none, 0, depths[chosen])
    low, high = np.quantile(out[lists.judged & (out > 0)], (0.05, 0.95), method="nearest")
    chance = np.exp(table - highest[:, None])
    sure = (chance[np.arange(len(table)), chosen] / chance.sum(1))[~none]
    return _Depths(out, int(low), int(high), float(_total(sure)) / len(sure), True)


def _tops(lists: _Lists, member: Mask, found: _Depths) -> Ints:
    """Depths by run and topic: those of all runs, or a run's own where its odds are better and its list shows it."""
    top = lists.alike(found.by_topic)
    if found.varies:
        return top
    common = int(found.by_topic.max())
    lost, chance = _fitted(lists, member, top)
    elsewhere = _elsewhere(lists, (lists.line <= found.by_topic[lists.topic]) & member[lists.run])
    c, q = (np.cumsum(lists.counted(e), axis=1) for e in (elsewhere, ~elsewhere))
    judged, gaps, lines = lists.lines - lists.gaps, lists.gaps, np.cumsum(lists.lines, axis=1)
    u, by_chance = np.cumsum(gaps, axis=1), np.cumsum(lists.lines * chance, axis=1) / np.maximum(lines, 1)

    def odds(depth: int) -> Floats:
        at = depth - 1
        return _log_odds(c[:, at], q[:, at], u[:, at], lost, by_chance[:, at])

    def step(depth: int, runs: Ints) -> Floats:
        outside = np.arange(lists.longest) >= depth
        inside = judged[runs, :depth].sum(1) * np.log1p(-lost) + u[runs, depth - 1] * np.log(lost)
        return np.asarray(inside + _smooth(lists, judged[runs] * outside, gaps[runs] * outside))

    everyone = np.arange(lists.runs)
    needed = np.maximum(odds(common), 0) + RUN_ODDS
    smooth = _smooth(lists, judged, gaps)
    before = np.where(member, np.maximum(step(common, everyone), smooth), smooth)
    best, own = np.full(lists.runs, -np.inf), np.full(lists.runs, common)
    for depth in range(1, min(3 * common, lists.deepest) + 1):
        now = odds(depth)
        better = np.flatnonzero((now >= needed) & (now > best))
        better = better[step(depth, better) - before[better] >= RUN_STEP] if len(better) else better
        best[better], own[better] = now[better], depth
    return np.where(top > 0, own[:, None], 0)


def _middle(values: Ints) -> int:
    """The lower median."""
    return int(np.quantile(values, 0.5, method="lower"))


def _best(tried: dict[int, _Value], score: Callable[[_Value], float]) -> int:
    """The depth with the highest score, the smaller at a tie."""
    return max(tried, key=lambda depth: (score(tried[depth]), -depth))


def _searched(
    ask: Callable[[int], _Value], score: Callable[[_Value], float], first: Iterable[int]
) -> dict[int, _Value]:
    """Answers for these depths, then for more and more of them around the best one, down to its neighbours."""
    tried: dict[int, _Value] = {}
    wanted = sorted({int(d) for d in first})
    while wanted:
        tried.update((d, ask(d)) for d in wanted)
        known = sorted(tried)
        at = known.index(_best(tried, score))
        low, high = known[max(at - 1, 0)], known[min(at + 1, len(known) - 1)]
        wanted = sorted({int(d) for d in np.round(np.linspace(low, high, 9))} - set(known))
    return tried
