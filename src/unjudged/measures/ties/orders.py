"""All distinct orders of tied documents, for measures without a faster way."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats, Ints
from unjudged.collection.segments import starts_of
from unjudged.measures.ties.lists import Kinds, Lists
from unjudged.measures.ties.scenarios import Scenarios
from unjudged.measures.ties.states import TooManyOrders

MOST_ORDERS = 50_000
"""Refuse a list with more distinct orders than this."""


def _draws(many: tuple[int, ...], size: int, places: int) -> list[tuple[int, ...]]:
    """The numbers of hits of each kind that the first places of a group can hold."""
    ways = itertools.product(*(range(min(m, places) + 1) for m in many))
    return [x for x in ways if places - (size - sum(many)) <= sum(x) <= places]


def _sequences(many: tuple[int, ...], places: int) -> int:
    """Number of distinct sequences of these hits and other documents."""
    return math.factorial(places) // math.prod(map(math.factorial, (*many, places - sum(many))))


def orders_of(many: tuple[int, ...], size: int, places: int) -> int:
    """Number of distinct sequences in the first places of a group."""
    if math.prod(min(m, places) + 1 for m in many) > MOST_ORDERS:
        return MOST_ORDERS + 1
    return sum(_sequences(x, places) for x in _draws(many, size, places))


@functools.lru_cache(maxsize=256)
def _arrangements(many: tuple[int, ...], places: int) -> npt.NDArray[np.int64]:
    """All distinct ways to place these hits, kind after kind: one row each, their places as columns."""
    free = np.arange(places)[None, :]
    out = np.zeros((1, 0), np.int64)
    for m in many:
        left = free.shape[1]
        taken = np.array(list(itertools.combinations(range(left), m)), np.int64).reshape(math.comb(left, m), m)
        mask = np.ones((len(taken), left), bool)
        np.put_along_axis(mask, taken, False, axis=1)
        kept = np.nonzero(mask)[1].reshape(len(taken), left - m)
        before, way = np.divmod(np.arange(len(free) * len(taken)), len(taken))
        out = np.hstack((out[before], np.take_along_axis(free[before], taken[way], axis=1)))
        free = np.take_along_axis(free[before], kept[way], axis=1)
    return out


@functools.lru_cache(maxsize=256)
def _group_orders(many: tuple[int, ...], size: int, places: int) -> tuple[Ints, Ints, Floats]:
    """Distinct orders of a group: places (-1: none) and kinds of its hits, one order a row, and their chances."""
    width = max((sum(x) for x in _draws(many, size, places)), default=0)
    place, kind, chance = [], [], []
    for x in _draws(many, size, places):
        ways = _arrangements(x, places)
        kinds = np.repeat(np.arange(len(x)), x)
        draws = math.prod(math.comb(m, n) for m, n in zip(many, x, strict=True))
        rest = math.comb(size - sum(many), places - sum(x))
        order = np.argsort(ways, axis=1)
        pad = ((0, 0), (0, width - sum(x)))
        place.append(np.pad(np.take_along_axis(ways, order, axis=1), pad, constant_values=-1))
        kind.append(np.pad(kinds[order], pad))
        chance.append(np.full(len(ways), draws * rest / math.comb(size, places) / len(ways)))
    return np.concatenate(place), np.concatenate(kind), np.concatenate(chance)


def all_orders(h: Lists, cell: int, kinds: Kinds, upto: int | None) -> Scenarios:
    """Every distinct order of one cell (kinds: of this cell only), cut behind rank `upto`, with its chance."""
    alone = kinds.size == 1
    rank, row, chance = kinds.first[alone][None, :], h.row[kinds.hit[alone]][None, :], np.ones(1)
    if upto is not None:
        rank = np.where(rank <= upto, rank, 0)
    for group in np.unique(kinds.group[~alone]).tolist():
        mine = np.flatnonzero(kinds.group == group)
        first, size = int(kinds.first[mine[0]]), int(kinds.size[mine[0]])
        places = size if upto is None else min(size, upto - first + 1)
        if places <= 0:
            continue
        many = tuple(kinds.many[mine].tolist())
        if len(chance) * orders_of(many, size, places) > MOST_ORDERS:
            raise TooManyOrders(cell, f"its tied documents have more than {MOST_ORDERS:,} distinct orders")
        place, kind, chances = _group_orders(many, size, places)
        before, way = np.divmod(np.arange(len(chance) * len(chances)), len(chances))
        rank = np.hstack((rank[before], np.where(place < 0, 0, first + place)[way]))
        row = np.hstack((row[before], h.row[kinds.hit[mine]][kind][way]))
        chance = chance[before] * chances[way]
    order = np.argsort(rank, axis=1)
    rank, row = np.take_along_axis(rank, order, axis=1), np.take_along_axis(row, order, axis=1)
    there = rank > 0
    n = len(chance)
    lists = Lists(
        h.judgments,
        np.full(n, h.topic_of[cell]),
        np.full(n, h.length[cell]),
        starts_of(there.sum(axis=1)),
        row[there].astype(np.int32),
        rank[there],
        rel=h.rel,
    )
    return Scenarios(lists, np.full(n, cell), chance)
