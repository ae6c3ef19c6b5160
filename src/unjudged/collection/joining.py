"""Hits of many runs in one array, and what is left of them over fewer judgments, topics or runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unjudged.collection.hits import Hits, KeptHits
from unjudged.collection.judgments import Judgments
from unjudged.collection.segments import Ints, ranges, starts_of
from unjudged.io.trec import RunTable


def join_hits(judgments: Judgments, runs: Sequence[RunTable]) -> Hits:
    """The hits of all runs in one array, run after run."""
    shifts, nothing = np.cumsum([0] + [len(r.row) for r in runs]), np.zeros(0, np.int32)
    firsts = [r.tie_first for r in runs if r.tie_first is not None]
    sizes = [r.tie_size for r in runs if r.tie_size is not None]
    offsets = np.concatenate([r.offsets[:-1] + s for r, s in zip(runs, shifts, strict=False)] + [shifts[-1:]])
    hits = Hits(
        judgments,
        offsets.astype(np.int64),
        np.concatenate([nothing, *(r.row for r in runs)]),
        np.concatenate([nothing, *(r.rank for r in runs)]),
        np.concatenate([nothing, *(r.length for r in runs)]),
        np.concatenate([nothing.astype(bool), *(r.answered for r in runs)]),
        ties=(np.concatenate(firsts), np.concatenate(sizes)) if firsts else None,
        repeats=_repeats(runs, len(judgments.topics)),
    )
    return first_of_groups(hits)


def hits_of_both(hits: Hits, more: Hits) -> Hits:
    """The hits of some runs and, behind them, those of others over the same judgments."""
    hits, more = hits.ungrouped, more.ungrouped
    later = None if more.repeats is None else more.repeats + np.array([hits.cells, 0])
    known = [one for one in (hits.repeats, later) if one is not None]
    ties = None
    if hits.ties is not None and more.ties is not None:
        ties = np.concatenate([hits.ties[0], more.ties[0]]), np.concatenate([hits.ties[1], more.ties[1]])
    both = Hits(
        hits.judgments,
        np.concatenate([hits.offsets, more.offsets[1:] + hits.offsets[-1]]),
        np.concatenate([hits.row, more.row]),
        np.concatenate([hits.rank, more.rank]),
        np.concatenate([hits.length, more.length]),
        np.concatenate([hits.answered, more.answered]),
        ties=ties,
        repeats=np.concatenate(known) if known else None,
    )
    return first_of_groups(both)


def _repeats(runs: Sequence[RunTable], topics: int) -> Ints | None:
    found = [r.repeats + np.array([i * topics, 0]) for i, r in enumerate(runs) if r.repeats is not None]
    return np.concatenate(found).astype(np.int64) if found else None


def first_of_groups(hits: Hits) -> Hits:
    """Only the first hit of each group of equivalent answers, where there are groups; later ones count as wrong."""
    group = hits.judgments.group
    if group is None:
        return hits
    key = hits.cell * (int(group.max(initial=0)) + 1) + group[hits.row]
    first = np.zeros(len(hits), bool)
    first[np.unique(key, return_index=True)[1]] = True
    kept = hits.where(first)
    return Hits(
        hits.judgments,
        kept.offsets,
        kept.row,
        kept.rank,
        hits.length,
        hits.answered,
        repeats=hits.repeats,
        ungrouped=hits,
    )


def keep_hits(hits: Hits, judgments: Judgments, kept: npt.NDArray[np.bool_]) -> Hits:
    """The hits that are left over `judgments`, which hold only the rows chosen by a mask."""
    hits = hits.ungrouped
    number = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    if hits.ties is None and judgments.group is None:
        return KeptHits(judgments, hits, number)
    offsets, row, rank, place = hits.chosen_by(number, 0, len(number), renumber=True, places=hits.ties is not None)
    ties = None
    if hits.ties is not None:
        chosen = place + np.repeat(hits.offsets[:-1], np.diff(offsets)) - 1
        ties = hits.ties[0][chosen], hits.ties[1][chosen]
    left = Hits(judgments, offsets, row, rank, hits.length, hits.answered, ties=ties, repeats=hits.repeats)
    return first_of_groups(left)


def hits_of_cells(hits: Hits, judgments: Judgments, cells: Ints, shift: Ints | None = None) -> Hits:
    """The hits of these cells, in this order; `shift` is added to the rows of each cell."""
    hits = hits.ungrouped
    sizes = np.diff(hits.offsets)[cells]
    chosen = ranges(hits.offsets[:-1][cells], sizes)
    row = hits.row[chosen]
    repeats = None
    if hits.repeats is not None:
        number = np.full(hits.cells, -1)
        number[cells] = np.arange(len(cells))
        repeats = np.stack([number[hits.repeats[:, 0]], hits.repeats[:, 1]], axis=1)
        repeats = repeats[repeats[:, 0] >= 0]
    left = Hits(
        judgments,
        starts_of(sizes),
        row if shift is None else (row + np.repeat(shift, sizes)).astype(np.int32),
        hits.rank[chosen],
        hits.length[cells],
        hits.answered[cells],
        ties=None if hits.ties is None else (hits.ties[0][chosen], hits.ties[1][chosen]),
        repeats=repeats,
    )
    return first_of_groups(left)
