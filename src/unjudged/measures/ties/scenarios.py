"""Ties resolved as far as a measure looks: lists with their chance, on which the measure itself is evaluated."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats, Ints
from unjudged.collection.segments import changes, starts_of
from unjudged.measures.ties.lists import Kinds, Lists, expand, log_choose
from unjudged.measures.ties.states import TooManyOrders

MOST_ORDERS = 50_000
"""Refuse a list with more distinct orders than this."""


@dataclass(frozen=True)
class Scenarios:
    """Lists, the cell each stands for, and its chance there."""

    lists: Lists
    origin: Ints
    chance: Floats


def first_hits(h: Lists) -> Scenarios:
    """Lists of one hit: the first hit of the cell, by kind and rank; an empty list where there is none.

    Of n tied documents with m hits the first hit is at place j with chance (n-1-j over m-1) / (n over m).
    """
    kinds = Kinds.of(h, h.grade)
    heads = np.flatnonzero(changes(kinds.cell))
    mine = np.flatnonzero(kinds.group == _at(kinds.group[heads], kinds.cell, h.cells))  # kinds of the first group
    first, size = kinds.first[mine], kinds.size[mine]
    found = np.bincount(kinds.group[mine], kinds.many[mine], kinds.groups).astype(np.int64)[kinds.group[mine]]
    kind, place = expand(size - found + 1)
    log = log_choose(size[kind] - 1 - place, found[kind] - 1) - log_choose(size[kind], found[kind])
    chance = np.exp(log)
    at = np.flatnonzero(changes(kind))
    if len(at):
        chance /= np.repeat(np.add.reduceat(chance, at), np.diff(np.append(at, len(kind))))
    chance *= (kinds.many[mine] / found)[kind]
    cell = kinds.cell[mine][kind]
    empty = np.flatnonzero(np.diff(h.offsets) == 0)
    origin = np.concatenate((cell, empty))
    offsets = np.minimum(np.arange(len(origin) + 1), len(cell))
    lists = Lists(
        h.judgments,
        h.topic_of[origin],
        h.length[origin],
        offsets,
        h.row[kinds.hit[mine]][kind],
        first[kind] + place,
        rel=h.rel,
    )
    return Scenarios(lists, origin, np.concatenate((chance, np.ones(len(empty)))))


def _at(values: Ints, cell: Ints, cells: int) -> Ints:
    """A value per filled cell (in order), handed to every item of the cell."""
    table = np.full(cells, -1, np.int64)
    table[np.unique(cell)] = values
    return table[cell]


@dataclass(frozen=True)
class Cuts:
    """One tie group per cell to be cut: the hits before it, where it starts, its size and its kinds of hits."""

    cell: Ints
    earlier: Ints
    first: Ints
    size: Ints
    many: npt.NDArray[np.int64]  # cuts x kinds
    hit: npt.NDArray[np.int64]  # cuts x kinds

    @classmethod
    def of(cls, h: Lists, group: Ints, keys: npt.NDArray[np.int64], first: Ints, size: Ints) -> Cuts:
        """Cut group number `group` of each cell (hits numbered by group); -1: all hits stay above the cut."""
        kinds = Kinds.of(h, keys)
        count = int(keys.max(initial=0)) + 1
        mine = np.flatnonzero((group[kinds.cell] == kinds.group) & (keys[kinds.hit] >= 0))
        many, hit = np.zeros((2, h.cells, count), np.int64)
        many[kinds.cell[mine], keys[kinds.hit[mine]]] = kinds.many[mine]
        hit[kinds.cell[mine], keys[kinds.hit[mine]]] = kinds.hit[mine]
        return cls(np.arange(h.cells), _before(h, group), first, size, many, hit)

    def take(self, cuts: Ints) -> Cuts:
        """These cuts, in this order."""
        return Cuts(*(getattr(self, name)[cuts] for name in ("cell", "earlier", "first", "size", "many", "hit")))


def groups_of(h: Lists) -> Ints:
    """Number of each hit's tie group, counted through all cells."""
    assert h.ties is not None
    return np.cumsum(changes(h.cell, h.ties[0])) - 1


def _before(h: Lists, group: Ints) -> Ints:
    """Hits of each cell above its group; all of them where the group is -1."""
    above = (groups_of(h) < h.each(group)) | (h.each(group) < 0)
    return np.bincount(h.cell, above, h.cells).astype(np.int64)


@dataclass(frozen=True)
class States:
    """What stands above a cut: the cut's number, the places above it, and the hits of each kind in them."""

    cut: Ints
    places: Ints
    above: npt.NDArray[np.int64]
    chance: Floats


def drawn(cuts: Cuts, places: Ints, above_all: Ints) -> States:
    """All ways to fill the first `places` places of each cut's group; `above_all` documents must not be there."""
    base = cuts.many + 1
    grid = np.prod(base, axis=1)
    cut, code = expand(grid)
    above = np.zeros((len(cut), base.shape[1]), np.int64)
    for b in range(base.shape[1]):
        above[:, b], code = code % base[cut, b], code // base[cut, b]
    rest = (cuts.size - cuts.many.sum(axis=1) - above_all)[cut]
    plain = places[cut] - above.sum(axis=1)
    kept = (plain >= 0) & (plain <= rest)
    cut, above, rest, plain = cut[kept], above[kept], rest[kept], plain[kept]
    log = log_choose(rest, plain) - log_choose(cuts.size[cut], places[cut])
    for b in range(base.shape[1]):
        log += log_choose(cuts.many[cut, b], above[:, b])
    return States(cut, places[cut], above, np.exp(log))


def filled(h: Lists, cuts: Cuts, states: States, last: Ints | None) -> Scenarios:
    """The lists of these states: the hits before the group, those drawn (still tied), and hit `last` behind them.

    `last` is a hit per cell, -1 or None for none.
    """
    kinds, cell = states.above.shape[1], cuts.cell[states.cut]
    behind_it = np.full(len(cell), -1) if last is None else last[cell]
    counts = np.column_stack((cuts.earlier[states.cut], states.above, behind_it >= 0))
    source = np.column_stack((h.offsets[:-1][cell], cuts.hit[states.cut], behind_it))
    segment, place = expand(counts.ravel())
    piece = segment % (kinds + 2)
    state = segment // (kinds + 2)
    hit = source.ravel()[segment] + np.where(piece == 0, place, 0)
    offsets = starts_of(counts.sum(axis=1))
    inside = np.arange(len(segment)) - offsets[state] - counts[state, 0]  # place among the hits of the cut group
    first, cut_places = cuts.first[states.cut][state], states.places[state]
    assert h.ties is not None
    old, final = piece == 0, piece == kinds + 1
    behind = first + cut_places
    ties = (
        np.where(old, h.ties[0][hit], np.where(final, behind, first)),
        np.where(old, h.ties[1][hit], np.where(final, 1, cut_places)),
    )
    rank = np.where(old, h.rank[hit], np.where(final, behind, first + inside))
    lists = Lists(h.judgments, h.topic_of[cell], h.length[cell], offsets, h.row[hit], rank, ties, h.rel)
    return Scenarios(lists, cell, states.chance)


def up_to_best(h: Lists) -> tuple[Cuts, Ints, Ints]:
    """Cuts at the group with the first document of the highest grade in the list (h: gaining hits).

    Returns the cuts with the other hits of the group as kinds, and per cell a hit of the highest grade (-1: the
    list has no hits) and the number of such documents in the group.
    """
    cells, best = h.cells, h.max(h.grade.astype(np.float64))
    group, is_best = groups_of(h), h.grade == h.each(best)
    chosen = np.flatnonzero(is_best)
    cell = h.cell
    heads = chosen[np.unique(cell[chosen], return_index=True)[1]]  # the first best hit of each cell, all filled
    own = np.full(cells, -1, np.int64)
    own[cell[heads]] = group[heads]
    assert h.ties is not None
    first, size, last = np.ones(cells, np.int64), np.zeros(cells, np.int64), np.full(cells, -1, np.int64)
    first[cell[heads]], size[cell[heads]], last[cell[heads]] = h.ties[0][heads], h.ties[1][heads], heads
    number = np.bincount(cell[chosen], group[chosen] == own[cell[chosen]], cells).astype(np.int64)
    _, keys = np.unique(h.grade, return_inverse=True)
    cuts = Cuts.of(h, own, np.where(is_best, -1, keys).astype(np.int64), first, size)
    return cuts, last, number


# -- all distinct orders, for measures without a faster way


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
