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

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from unjudged.collection.segments import Floats, Ints
from unjudged.errors import UsageError

if TYPE_CHECKING:
    from unjudged.collection.collection import Collection

Mask = npt.NDArray[np.bool_]
_Value = TypeVar("_Value")

# Chosen on the odd seeds of benchmarks/pool_inference.py.
MOST_LOST = 0.2
"""The largest share of pooled documents that may be missing from the judgments."""
ENOUGH = 0.75
"""Ranks are looked at as far as some run has this share of its documents judged, and as far again."""
NEUTRAL = 0.4
"""Log odds of a run of which nothing can be told: all its documents are judged, and all are in other pooled runs."""
TOPIC_GAIN = 2.0
"""A topic has its own depth where that is better by this much in log likelihood."""
VARYING = 0.1
"""Depth varies where more than this share of the topics has its own."""
RUN_GAIN = 20.0
"""A run has its own depth where that is better by this much in log likelihood."""
PROOF = 10.0
"""A pool is seen where it fits better than smooth curves by this much in log likelihood,"""
TOPICS = 0.8
"""and in at least this share of the topics."""
CLEAR = 1.25
"""The depth is unknown where the highest likely one is this many times the lowest one, and two documents more."""
TO_THE_END = 0.01
"""A list is judged to its end if at most this share of it is not."""
ROUNDS = 6


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

    def pooled(self, at_least: float = 0.5) -> tuple[str, ...]:
        """The runs that were pooled with at least this probability; none where no pool can be seen."""
        return tuple(run for run, chance in zip(self.runs, self.chance, strict=True) if chance >= at_least)


def infer_pool(collection: Collection, depth: int | None = None) -> Inferred:
    """The depth of the pool, and the chance of each run to have been pooled, as the judgments show them.

    Where `depth` is stated, only the pooled runs are inferred. Both are read off the collection before any reduction
    (`.full`), by lines: a document listed twice takes two places. A document of negative grade was in the pool. The
    order of the runs and their names do not matter.
    """
    if depth is not None and not 1 <= depth < 2**31:
        raise UsageError(f"the pool depth is a positive number of documents, not {depth}")
    full = collection.full
    return cast(Inferred, full.once(("inferred pool", depth), lambda: _infer(full, depth)))


def _infer(full: Collection, depth: int | None) -> Inferred:
    lists = _read(full)
    if lists is None:
        return _unknown(full.runs, "no run has most of its first documents judged")
    if depth is None:
        tried = _searched(lambda d: _scanned(lists, d), lambda one: one[0], lists.grid)
        start = _best(tried, lambda one: one[0])
        member = tried[start][1]
    else:
        start = min(depth, lists.longest)
        member = _scanned(lists, start)[1]
    found = _Depths(np.full(lists.topics, start), start, start, 1.0, False)
    for _ in range(ROUNDS):
        now = _odds(lists, member, lists.alike(found.by_topic)) >= 0
        if not now.any():
            break
        after = found if depth is not None else _depths(lists, now, found.by_topic)
        settled = (now == member).all() and (after.by_topic == found.by_topic).all()
        member, found = now, after
        if settled:
            break
    if not now.any() or (depth is None and not _seen(lists, member, found.by_topic)):
        return _judged_to_the_end(full.runs, lists, depth)
    return _told(full.runs, lists, member, found, depth)


def _told(runs: tuple[str, ...], lists: _Lists, member: Mask, found: _Depths, depth: int | None) -> Inferred:
    """The answer, once depths and pooled runs have settled."""
    top = _tops(lists, member, found)
    for _ in range(2):  # runs with a depth of their own belong to the pool of the others
        odds = _odds(lists, member, top)
        member = odds >= 0
    lost = _fitted(lists, member, top)[0]
    chance = 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
    of_run = np.where(member, np.minimum(_middle(top), lists.length.max(1)), 0)
    middle = int(_middle(found.by_topic[None, lists.judged])[0])
    low, high, sure, said = found.low, found.high, found.sure, middle if depth is None else depth
    reason = f"judged to depth {said} in {int(member.sum())} of {len(runs)} runs"
    if depth is not None:
        low, high, sure = depth, depth, 1.0
    elif found.varies:
        reason = (
            f"judged to a depth that varies by topic from {low} to {high} in {int(member.sum())} of {len(runs)} runs"
        )
    answer = Inferred(runs, said, low, high, tuple(chance.tolist()), tuple(of_run.tolist()), lost, sure, reason)
    if depth is None and not found.varies and high > max(CLEAR * low, low + 2):
        return _unknown(runs, f"depths from {low} to {high} are about as likely")
    return answer


def _judged_to_the_end(runs: tuple[str, ...], lists: _Lists, depth: int | None) -> Inferred:
    """The answer where judged documents fall off nowhere: lists may be judged to their end, or no pool can be seen."""
    whole = lists.length.sum(1)
    gaps = whole - np.bincount(lists.run, minlength=lists.runs)
    member = (whole > 0) & (gaps <= TO_THE_END * whole) & (lists.length.max(1) < lists.cut)
    if depth is not None:
        return Inferred(
            runs,
            depth,
            depth,
            depth,
            (0.0,) * len(runs),
            (0,) * len(runs),
            0.0,
            1.0,
            f"no run is judged to depth {depth}",
        )
    if not member.any():
        return _unknown(runs, "judged documents fall off nowhere more clearly than by chance")
    longest = int(lists.length[member].max())
    odds = _odds(lists, member, lists.alike(np.full(lists.topics, longest)))
    chance = np.where(member, np.maximum(1 / (1 + np.exp(-np.clip(odds, -500, 500))), 0.5), 0.0)
    of_run = np.where(member, lists.length.max(1), 0)
    reason = f"{int(member.sum())} of {len(runs)} runs are judged to the end of their lists"
    return Inferred(runs, longest, longest, longest, tuple(chance.tolist()), tuple(of_run.tolist()), 0.0, 1.0, reason)


def _unknown(runs: tuple[str, ...], reason: str) -> Inferred:
    return Inferred(runs, None, 0, 0, (0.0,) * len(runs), (0,) * len(runs), 0.0, 0.0, reason)


# -- the data


@dataclass(frozen=True, eq=False)
class _Lists:
    """Judged documents of all lists down to some line, sorted by document.

    `document` numbers them, `first` is where each starts. `length` holds the lines of each list (runs x topics), cut at
    `longest`; `repeated` the lines (run, topic, line) whose document stood higher in the list: they are left out, they
    were neither judged nor not. `judged` says which topics have judgments.
    """

    run: Ints
    topic: Ints
    line: Ints
    document: Ints
    first: Ints
    length: Ints
    repeated: tuple[Ints, Ints, Ints]
    judged: Mask
    longest: int
    cut: int

    @property
    def runs(self) -> int:
        return len(self.length)

    @property
    def topics(self) -> int:
        return self.length.shape[1]

    @property
    def grid(self) -> list[int]:
        """Depths to begin with, four for every doubling."""
        steps = np.arange(0, np.log2(self.longest) + 0.25, 0.25)
        return [int(d) for d in np.unique(np.minimum(np.round(2**steps), self.longest))]

    @cached_property
    def bin(self) -> Ints:
        """Group of each line: six for every doubling of the rank."""
        return np.unique(np.floor(6 * np.log2(np.arange(1, self.longest + 1))), return_inverse=True)[1].astype(np.int64)

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

    def per_document(self, values: npt.NDArray[Any], how: np.ufunc) -> npt.NDArray[Any]:
        """Values of the hits put together by document."""
        return cast("npt.NDArray[Any]", how.reduceat(values, self.first))

    def counted(self, chosen: Mask, by: Ints, many: int) -> Floats:
        """Chosen hits counted by group and line."""
        key = by[chosen] * self.longest + self.line[chosen] - 1
        return np.bincount(key, minlength=many * self.longest).reshape(many, self.longest).astype(np.float64)

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
        everywhere = np.ones(len(self.line), bool)
        return self.listed(self.length, False) - self.counted(everywhere, self.run, self.runs)

    @cached_property
    def lines(self) -> Floats:
        """Lines by run and line."""
        return self.listed(self.length, False)


def _read(full: Collection) -> _Lists | None:
    """The lists as far as they can tell something; None where no run has its top judged."""
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

    def cut(longest: int) -> _Lists:
        chosen = np.flatnonzero(line <= longest)
        chosen = chosen[np.argsort(hits.row[chosen], kind="stable")]
        new = np.diff(hits.row[chosen], prepend=-1) != 0
        near = repeated[2] <= longest
        return _Lists(
            hits.run[chosen],
            topic[chosen],
            line[chosen],
            np.cumsum(new) - 1,
            np.flatnonzero(new),
            np.minimum(length, longest),
            (repeated[0][near], repeated[1][near], repeated[2][near]),
            judged,
            longest,
            widest + 1 if longest == widest else longest,
        )

    whole = cut(widest)
    share = 1 - np.cumsum(whole.gaps, 1) / np.maximum(np.cumsum(whole.lines, 1), 1)
    deep = np.flatnonzero(((share >= ENOUGH) & (whole.lines > 0)).any(0))
    return cut(min(2 * (int(deep[-1]) + 1) + 10, widest)) if len(deep) else None


# -- the chance of documents to be judged


def _falling(judged: Floats, unjudged: Floats, x: Floats) -> Floats:
    """Chance to be judged by group of lines: a logistic curve in the log rank that does not rise (last axis: groups)."""
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


def _one_share(missed: Floats, judged: Floats) -> Floats:
    """Log likelihood of counts with a share of their own each."""
    p = (missed + 0.5) / (missed + judged + 1)
    return np.asarray(missed * np.log(p) + judged * np.log1p(-p))


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
    earliest = lists.per_document(np.where(lists.line <= depth, level[lists.run], many), np.minimum)[lists.document]
    groups = len(lists.x)
    table = np.bincount(earliest * groups + lists.bin[lists.line - 1], minlength=(many + 1) * groups)
    table = table.reshape(many + 1, groups).astype(np.float64)
    covered = np.cumsum(table[:-1], axis=0)
    taken = (level <= np.arange(many)[:, None]).astype(np.float64)
    missed = lists.binned(taken @ missed_by_run)
    own = lists.binned(taken @ (lines - missed_by_run))
    fit = _pooled_or_not(table.sum(0), covered, own, missed, lists.binned(lists.gaps.sum(0)), lists.x)
    member = level <= int(np.argmax(fit[2]))
    gains, lack = _evidence(lists, member, np.full(lists.topics, depth))
    return float(gains.sum()) - lack, member


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
    covered = lists.per_document(inside, np.maximum)[lists.document]
    nowhere = np.zeros(len(inside), np.int64)
    counts = [lists.binned(lists.counted(chosen, nowhere, 1)) for chosen in (covered | True, covered, inside)]
    missed = lists.binned(lists.listed(top, False).sum(0)) - counts[2]
    lost, chance, _ = _pooled_or_not(*counts, missed, lists.binned(lists.gaps.sum(0)), lists.x)
    return float(lost[0]), chance[0][lists.bin]


def _odds(lists: _Lists, member: Mask, top: Ints) -> Floats:
    """Log odds of each run to have been pooled, given the other pooled runs.

    Of the lines in a run's top, c are judged and in the top of another pooled run, q are judged and in no other, u are
    unjudged. A share of the documents is in another top, whether the run was pooled or not; the share is the one that
    fits best in either case.
    """
    lost, chance = _fitted(lists, member, top)
    here = lists.line <= top[lists.run, lists.topic]
    mine = here & member[lists.run]
    elsewhere = lists.per_document(mine.astype(np.int64), np.add)[lists.document] - mine > 0
    c, q = (np.bincount(lists.run[here & e], minlength=lists.runs).astype(np.float64) for e in (elsewhere, ~elsewhere))
    listed = lists.listed(top, False)
    u = np.maximum(listed.sum(1) - c - q, 0)
    by_chance = (listed * chance).sum(1) / np.maximum(listed.sum(1), 1)
    by_chance = np.clip(by_chance, 1e-3, 1 - lost)[:, None]
    tiny = 1e-9
    share = np.clip(c / np.maximum(c + q, 1), tiny, 1 - tiny)
    pooled = c * np.log(share) + q * np.log1p(-share) + (c + q) * np.log1p(-lost) + u * np.log(lost)
    share = np.clip(np.linspace(0, 1, 401), tiny, 1 - tiny)
    c, q, u = c[:, None], q[:, None], u[:, None]
    not_pooled = c * np.log(share * (1 - lost)) + q * np.log((1 - share) * by_chance)
    not_pooled = not_pooled + u * np.log(share * lost + (1 - share) * (1 - by_chance))
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


def _documents(lists: _Lists, member: Mask, by_topic: Ints) -> tuple[Floats, Floats]:
    """By topic and line of these runs: judged documents at their best line, and unjudged lines.

    Unjudged lines are weighted as if each document stood in as many of these runs as a judged one in the pool does.
    """
    mine = member[lists.run]
    nowhere = lists.longest + 1
    best = lists.per_document(np.where(mine, lists.line, nowhere), np.minimum)
    topic = lists.topic[lists.first]
    seen = best < nowhere
    shape = lists.topics, lists.longest
    documents = np.bincount(topic[seen] * shape[1] + best[seen] - 1, minlength=shape[0] * shape[1]).reshape(shape)
    gaps = lists.listed(np.where(member[:, None], lists.length, 0), True) - lists.counted(mine, lists.topic, shape[0])
    lines = (mine & (lists.line <= by_topic[lists.topic])).sum()
    return documents.astype(np.float64), gaps * ((best <= by_topic[topic]).sum() / max(lines, 1))


def _evidence(lists: _Lists, member: Mask, by_topic: Ints) -> tuple[Floats, float]:
    """By topic, how much better a step at these depths fits than a smooth curve; and what speaks against a pool.

    In a pool the share lost is the same for every run: how much better shares of their own would fit is the second.
    """
    documents, gaps = _documents(lists, member, by_topic)
    inside = np.arange(lists.longest) < by_topic[:, None]
    missed, found = (gaps * inside).sum(1), (documents * inside).sum(1)
    lost = float(_share_lost(missed.sum(), found.sum()))
    step = found * np.log1p(-lost) + missed * np.log(lost) + _smooth(lists, documents * ~inside, gaps * ~inside)
    by_run = lists.listed(np.where(member[:, None], by_topic, 0), False).sum(1)[member]
    top = member[lists.run] & (lists.line <= by_topic[lists.topic])
    judged = np.bincount(lists.run[top], minlength=lists.runs)[member]
    weight = found.sum() / max(judged.sum(), 1)
    own = _one_share(by_run - judged, judged).sum() - _one_share(by_run.sum() - judged.sum(), judged.sum())
    return step - _smooth(lists, documents, gaps), max(float(own * weight), 0.0)


def _seen(lists: _Lists, member: Mask, by_topic: Ints) -> bool:
    """Does a pool show: is a step clearly better than a smooth curve, over all and in most of the topics?"""
    gains, lack = _evidence(lists, member, by_topic)
    return bool(gains.sum() - lack >= PROOF and (gains[lists.judged] > 0).mean() >= TOPICS)


def _depths(lists: _Lists, member: Mask, by_topic: Ints) -> _Depths:
    """The most likely depths for these pooled runs: one for all topics, or one for each where that is clearly better."""
    lost = _fitted(lists, member, lists.alike(by_topic))[0]
    documents, gaps = _documents(lists, member, by_topic)
    found, missed = np.cumsum(documents, axis=1), np.cumsum(gaps, axis=1)

    def likely(depth: int) -> Floats:
        outside = np.arange(lists.longest) >= depth
        inside = found[:, depth - 1] * np.log1p(-lost) + missed[:, depth - 1] * np.log(lost)
        return np.asarray(inside + _smooth(lists, documents * outside, gaps * outside))[lists.judged]

    middle = _middle(by_topic[None])[0]
    near = np.concatenate([lists.grid, np.arange(1, 21), by_topic, np.round(middle * np.linspace(0.5, 1.5, 41))])
    tried = _searched(likely, lambda one: float(one.sum()), near[(near >= 1) & (near <= lists.longest)].astype(int))
    depths = np.array(sorted(tried))
    table = np.stack([tried[int(d)] for d in depths], axis=1)
    total = table.sum(0)
    best, one = table.argmax(1), int(np.argmax(total))
    chance = np.exp(table - table.max(1, keepdims=True))
    chance /= chance.sum(1, keepdims=True)
    own = table.max(1) - table[:, one] > TOPIC_GAIN
    out = np.full(lists.topics, depths[one])
    if own.mean() <= VARYING:
        together = np.exp(total - total.max())
        together /= together.sum()
        low, high = np.searchsorted(np.cumsum(together), (0.025, 0.975))
        return _Depths(out, int(depths[low]), int(depths[high]), float(together[one]), False)
    out[lists.judged] = depths[np.where(own, best, one)]
    low, high = np.quantile(out[lists.judged], (0.05, 0.95), method="nearest")
    sure = chance[np.arange(len(table)), np.where(own, best, one)].mean()
    return _Depths(out, int(low), int(high), float(sure), True)


def _tops(lists: _Lists, member: Mask, found: _Depths) -> Ints:
    """Depths by run and topic: those of all runs, or a run's own where its odds are clearly better and its list shows it."""
    common = lists.alike(found.by_topic)
    longest = int(found.by_topic.max())
    before = np.maximum(_odds(lists, member, common), 0)
    lost = _fitted(lists, member, common)[0]
    judged = lists.lines - lists.gaps
    smooth = _smooth(lists, judged, lists.gaps)

    def gain(depth: int) -> Floats:
        top = np.minimum(common, depth) if depth < longest else np.full_like(common, depth)
        beyond = np.arange(lists.longest) >= depth
        step = _smooth(lists, judged * beyond, lists.gaps * beyond) - smooth
        step += (judged * ~beyond).sum(1) * np.log1p(-lost) + (lists.gaps * ~beyond).sum(1) * np.log(lost)
        return np.where(step >= PROOF, _odds(lists, member, top) - before, -np.inf)

    tried: dict[int, Floats] = {}
    wanted = {d for d in lists.grid if d < longest or (not found.varies and longest < d <= 3 * longest)}
    while wanted:
        tried.update((d, gain(d)) for d in sorted(wanted))
        depths = np.array(sorted(tried))
        table = np.stack([tried[int(d)] for d in depths], axis=1)
        best, better = table.argmax(1), table.max(1) > RUN_GAIN
        near = [(depths[max(i - 1, 0)], depths[min(i + 1, len(depths) - 1)]) for i in np.unique(best[better])]
        wanted = {int(d) for low, high in near for d in np.round(np.linspace(low, high, 9))} - set(tried)
    out = common.copy()
    for r in np.flatnonzero(better) if tried else ():
        out[r] = np.minimum(out[r], depths[best[r]]) if depths[best[r]] < longest else depths[best[r]]
    return out


def _middle(values: npt.NDArray[Any]) -> Ints:
    """The lower median of the last axis."""
    return np.quantile(values, 0.5, axis=-1, method="lower").astype(np.int64)


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
