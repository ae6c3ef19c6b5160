"""Bounds of all cells at once, for measures that look at one list only or at the top k of an ideal list.

The searches are those of `monotone` (P, RBP, DCG, ...) and `discounted` (nDCG and nCG with a cut-off), made for many
cells together; what they find is evaluated by the registered measure itself, as elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unjudged.collection import Cells, Collection, Hits, Ints
from unjudged.collection.segments import ranges, starts_of
from unjudged.measures import Measure
from unjudged.measures.bounds.cells import Grades, Setting, nameless, unjudged_documents
from unjudged.measures.bounds.discounted import parts

LISTS_ONLY = ("P", "SetP", "RR", "Success", "RBP", "DCG", "ERR", "NumRelRet")
"""Measures of one list that no document can lower by a higher grade."""

_AT_ONCE = 1 << 21
"""Numbers held at a time."""

_DEEPEST = 10_000
"""Cut-offs from here on are looked at cell by cell."""


def ends_together(collection: Collection, measure: Measure, setting: Setting) -> tuple[Cells, Cells] | None:
    """Lowest and highest value of every cell, or None for a measure that needs a search of its own."""
    if measure.name in LISTS_ONLY and not measure.params.get("relative"):
        return _rising(collection, measure, setting)
    if measure.name in ("nDCG", "nCG") and (measure.params["k"] or _DEEPEST) < _DEEPEST:
        return _normalised(collection, measure, setting)
    return None


def _grades(collection: Collection, depth: int | None) -> tuple[Ints, Grades]:
    """Length of each list down to `depth`, and the grades there: -1 where a document is unjudged."""
    judgments = collection.judgments
    if depth is None:
        sizes, codes = np.diff(collection.rankings.offsets), collection.rankings.doc
    else:
        _, sizes, codes = collection.first_ranks(depth)
    known = np.append(judgments.grade, np.int32(-1))
    return sizes, np.maximum(known[np.minimum(codes, len(judgments))], -1).astype(np.int32)


def _rising(collection: Collection, measure: Measure, setting: Setting) -> tuple[Cells, Cells]:
    """All unjudged documents nonrelevant, all of the top grade."""
    k = measure.params.get("k")
    sizes, grade = _grades(collection, k)
    length = sizes if k is None else collection.first_ranks(k)[0]
    ends = [
        _scored(measure, setting, starts_of(sizes), np.where(grade < 0, np.int32(worst), grade), sizes, length)
        for worst in (0, setting.top)
    ]
    return ends[0], ends[1]


def _scored(measure: Measure, setting: Setting, starts: Ints, grade: Grades, listed: Ints, length: Ints) -> Cells:
    """The measure on lists whose documents stand first among those of their cell; undefined values are 0."""
    rank = ranges(np.zeros(len(listed), np.int64), listed)
    hits = Hits(
        nameless(setting.judgments, starts, grade),
        starts_of(listed),
        (rank + np.repeat(starts[:-1], listed)).astype(np.int32),
        (rank + 1).astype(np.int32),
        length.astype(np.int32),
        np.ones(len(listed), bool),
    )
    return np.nan_to_num(measure.cells(hits), nan=0.0)


def _normalised(collection: Collection, measure: Measure, setting: Setting) -> tuple[Cells, Cells]:
    """nDCG and nCG at a cut-off: the completions of `discounted`, found for blocks of cells."""
    judgments, unjudged = collection.judgments, unjudged_documents(collection)
    longest = int(np.diff(collection.rankings.offsets).max(initial=1))
    most = max(longest, int((np.diff(judgments.starts) + unjudged).max(initial=1)))
    k = measure.params["k"] if setting.free else min(measure.params["k"], most)
    topics, top = len(judgments.topics), setting.top
    sizes, grade = _grades(collection, k)
    starts = starts_of(sizes)
    counts = np.stack([judgments.count(g, g + 1) for g in range(1, top + 1)], axis=1).astype(np.int64)
    low, high = np.empty(len(sizes)), np.empty(len(sizes))
    block = max(_AT_ONCE // ((k + 1) * top), 1)
    for first in range(0, len(sizes), block):
        cells = slice(first, min(first + block, len(sizes)))
        listed = sizes[cells]
        table = np.full((len(listed), k), -2, np.int32)
        table[np.arange(k) < listed[:, None]] = grade[starts[cells.start] : starts[cells.stop]]
        topic = np.arange(cells.start, cells.stop) % topics
        for end, found, others in _search(table, counts[topic], unjudged[topic], measure, setting, k):
            (high if end else low)[cells] = _evaluated(measure, setting, table, found, listed, counts[topic], others)
    return low, high


def _search(
    table: Grades, counts: Ints, unjudged: Ints, measure: Measure, setting: Setting, k: int
) -> Iterator[tuple[int, Grades, Ints]]:
    """(0: lowest or 1: highest, grades of the unjudged documents in rank order, others at the top grade)."""
    gain, weight = parts(measure, setting, 1 << k.bit_length())
    step, weight = np.diff(gain), weight[:k]
    ideal = np.concatenate(([0.0], np.cumsum(weight)))
    judged = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]
    open_ = table == -1
    n = open_.sum(axis=1)
    fixed = (gain[np.maximum(table, 0)] * weight).sum(axis=1)
    order = np.argsort(~open_, axis=1, kind="stable")
    prefix = np.zeros((len(table), k + 1))
    np.cumsum(np.take_along_axis(np.where(open_, weight, 0.0), order, axis=1), axis=1, out=prefix[:, 1:])
    a = np.arange(k + 1)
    beyond = a > n[:, None]
    rows = np.arange(len(table))

    others = np.minimum(k if setting.free else unjudged - n, k) + np.zeros(len(table), np.int64)
    base = sum(step[g] * ideal[np.minimum(judged[:, g, None] + a + others[:, None], k)] for g in range(len(step)))
    suffix = prefix[rows, n][:, None] - np.take_along_axis(prefix, np.maximum(n[:, None] - a, 0), axis=1)
    value = np.divide(fixed[:, None] + gain[-1] * suffix, base, out=np.zeros(prefix.shape), where=base > 0)
    worst = np.argmin(np.where(beyond, np.inf, value), axis=1)
    yield 0, np.where(a[:-1] >= (n - worst)[:, None], setting.top, 0).astype(np.int32), others

    ratio, own = np.zeros(len(table)), np.zeros((len(table), k), np.int32)
    reachable = ideal[np.minimum(judged[:, :, None] + a, k)]
    active = rows
    while len(active):
        worth = prefix[active, None, :] - ratio[active, None, None] * reachable[active]
        worth = np.where(beyond[active, None, :], -np.inf, worth)
        take = k - np.argmax(worth[:, :, ::-1], axis=2)
        reached = fixed[active] + (step * prefix[active[:, None], take]).sum(axis=1)
        divisor = (step * np.take_along_axis(reachable[active], take[:, :, None], axis=2)[:, :, 0]).sum(axis=1)
        new = np.divide(reached, divisor, out=np.zeros(len(active)), where=divisor > 0)
        better = new > ratio[active]
        active, take = active[better], np.minimum.accumulate(take[better], axis=1)
        ratio[active] = new[better]
        own[active] = (a[:-1] < take[:, :, None]).sum(axis=1)
    yield 1, own, np.zeros(len(table), np.int64)


def _evaluated(
    measure: Measure, setting: Setting, table: Grades, own: Grades, listed: Ints, counts: Ints, others: Ints
) -> Cells:
    """The measure on lists with the grades found; of other documents as many as can stand in an ideal top k."""
    k, top = table.shape[1], setting.top
    open_ = table == -1
    place = np.maximum(np.cumsum(open_, axis=1) - 1, 0)
    completed = np.where(open_, np.take_along_axis(own, place, axis=1), table)
    left = np.stack([counts[:, g - 1] - (table == g).sum(axis=1) for g in range(1, top + 1)], axis=1)
    left[:, -1] += others
    more = np.minimum(left, k)
    sizes = listed + more.sum(axis=1)
    starts = starts_of(sizes)
    grade = np.empty(int(starts[-1]), np.int32)
    grade[ranges(starts[:-1], listed)] = completed[np.arange(k) < listed[:, None]]
    grade[ranges(starts[:-1] + listed, sizes - listed)] = np.repeat(
        np.tile(np.arange(1, top + 1, dtype=np.int32), len(more)), more.ravel()
    )
    return _scored(measure, setting, starts, grade, listed, listed)
