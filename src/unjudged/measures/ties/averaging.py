"""`expected`: the mean of a measure over all orders of tied documents, by the algorithm that fits the measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from unjudged.collection import Cells, Floats, Hits, Ints, Judgments
from unjudged.errors import UsageError
from unjudged.measures import Measure
from unjudged.measures.ties.lists import Kinds, Lists, Mask, batches, expand, lists_of, mean_over
from unjudged.measures.ties.scenarios import Cuts, all_orders, drawn, filled, first_hits, groups_of, up_to_best
from unjudged.measures.ties.spread import Spread, spreads
from unjudged.measures.ties.states import States, TooManyOrders, work
from unjudged.measures.user_models import DEPTH, scaled_gains

_AT_ONCE = 2_000_000
_MOST_ENTRIES = 4e7

ORDER_FREE = {
    *("iDCG", "NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonrelJudgedRet"),
    *("SetP", "SetR", "SetAP", "SetF", "Utility"),
}
"""Measures of the set of retrieved documents."""

SPREAD = {
    *("P", "anti_P", "k", "unj", "Judged", "R", "relative_P", "Rprec", "R_measure", "RBP", "RBP_residual"),
    *("DCG", "nDCG", "nCG", "AnCG", "AnDCG", "RnDCG", "nDCG_rel", "AP", "Q", "NCU", "GAP", "Accuracy", "ERR", "nERR"),
    *("SDCG", "INSQ", "bpref_N", "bpref_relative", "bpref_relative2", "rpref_N", "rpref_relative", "rpref_relative2"),
}
"""Sums over documents, or over pairs of documents, or over documents and a product above them."""

FIRST = {"RR", "Success", "NQcorrect", "O_measure"}
"""Measures that see the first relevant document only."""

USER_MODELS = {"BPM", "INST", "NERR8", "NERR9", "NERR10", "NERR11"}
"""Measures of gains by rank: decided by the first gain, or enumerated."""


def expected(measure: Measure, hits: Hits, runs: Sequence[str] = ()) -> Cells:
    """The mean of a measure over all orders of tied documents, in every (run, topic) cell.

    Each group of documents with equal scores stands in a uniformly random order, groups are independent. Exact,
    by formula or dynamic programming, never by sampling (McSherry and Najork, ECIR 2008: Computing information
    retrieval performance measures efficiently in the presence of tied scores). A value that is undefined in some
    orders counts 0 in these. A UsageError names run (by `runs`) and topic where there is no algorithm for the
    measure and the distinct orders are too many to go through.
    """
    measure.complete()
    if hits.ties is None:
        raise UsageError("the lists were read with one order of tied documents; read them with ties='expected'")
    values = measure.cells(hits).copy()
    ours = measure.definition.ours
    if ours and measure.name in ORDER_FREE:
        return values
    view = hits.condensed() if measure.condensed else hits
    cells = _tied(view)
    if not len(cells):
        return values
    if hits.judgments.group is not None:
        raise UsageError("tied answers of a class count once, the first of them; give answers an order of ties")
    try:
        with np.errstate(divide="ignore", invalid="ignore"):
            values[cells] = (_algorithm(measure) if ours else _enumerated)(measure, view, cells)
    except TooManyOrders as found:
        run, topic = divmod(int(cells[found.cell]), len(hits.judgments.topics))
        name = f"run {runs[run]}" if runs else f"run number {run + 1}"
        raise UsageError(
            f"{measure} has no exact mean over tied documents in {name}, topic {hits.judgments.topics[topic]}: "
            f"{found.reason}; choose another measure, or an order of ties such as --ties trec10"
        ) from None
    return values


def _tied(view: Hits) -> Ints:
    """The cells where the order of tied documents can change something."""

    def make() -> Ints:
        everything = lists_of(view, np.arange(view.cells))
        kinds = Kinds.of(everything, _same(view.judgments)[view.row])
        return np.unique(kinds.cell[kinds.many < kinds.size])

    found: Ints = view.once("tied cells", make)
    return found


def _same(judgments: Judgments) -> Floats:
    """A number for each judged document, equal where it makes no difference which of two documents stands first."""
    aspects = judgments.aspects
    if aspects is None:
        return np.asarray(judgments.stratum * 2.0**32 + judgments.grade)

    def make() -> Floats:
        profile = np.column_stack((judgments.stratum, judgments.grade, judgments.topic, aspects.grade))
        return np.asarray(np.unique(profile, axis=0, return_inverse=True)[1].ravel(), np.float64)

    found: Floats = judgments.once("documents alike", make)
    return found


Algorithm = Callable[[Measure, Hits, Ints], Cells]


def _algorithm(measure: Measure) -> Algorithm:
    name, params = measure.name, measure.params
    if name == "NCU" and params["pr"] == "rb":
        return _by_states
    if name == "Accuracy" and params["k"] is not None:
        return _accuracy
    if name in SPREAD:
        return _spread
    if name in STATES:
        return _by_states
    if name in FIRST:
        return _first
    if name in USER_MODELS:
        return _user_model
    return {"P_measure": _preferred, "P_plus": _preferred, "Compat": _compat}.get(name, _enumerated)


def _value(measure: Measure, lists: Hits) -> Cells:
    return np.asarray(measure.function(lists.judged(), **measure.params), np.float64)


# -- sums over documents and pairs


def _spread(measure: Measure, view: Hits, cells: Ints) -> Cells:
    out = np.empty(len(cells))
    for batch, spread in spreads(view, cells):
        out[batch] = _value(measure, spread)
    return out


# -- sums of functions of the counts above


def _relevant(h: Hits, params: dict[str, Any]) -> Mask:
    return np.asarray(h.grade >= params["rel"])


def _binary(h: Hits, params: dict[str, Any]) -> tuple[Ints, Ints, Mask]:
    relevant = _relevant(h, params)
    return np.where(relevant, 3, np.sign(h.grade)), np.where(relevant, 0, -1), relevant


def _gaining(h: Hits, params: dict[str, Any]) -> tuple[Ints, Ints, Mask]:
    gaining = h.gain(params["gains"]) > 0
    return h.grade.astype(np.int64), np.where(gaining, 0, -1), gaining


def _by_gain(h: Hits, params: dict[str, Any]) -> tuple[Ints, Ints, Mask]:
    gain = h.gain(params["gains"])
    _, level = np.unique(gain, return_inverse=True)
    lowest = 1 if (gain == 0).any() else 0
    return level, level - lowest, gain > 0


def _pooled(h: Hits, params: dict[str, Any]) -> tuple[Ints, Ints, Mask]:
    key, _, relevant = _binary(h, params)
    return key, np.where(h.grade >= 0, 0, -1), relevant


def _strata(h: Hits, params: dict[str, Any]) -> tuple[Ints, Ints, Mask]:
    key, _, relevant = _binary(h, params)
    _, stratum = np.unique(h.judgments.stratum[h.row], return_inverse=True)
    return key + 8 * stratum, np.where(h.grade >= 0, stratum, -1), relevant


STATES: dict[str, Callable[[Hits, dict[str, Any]], tuple[Ints, Ints, Mask]]] = {
    **dict.fromkeys(("bpref", "bpref_R", "old_bpref", "bpref_10", "binG", "IPrec", "IPrecAvg"), _binary),
    "NCU": _gaining,
    "G": _by_gain,
    "infAP": _pooled,
    "xinfAP": _strata,
}
"""Sums over hits of a function of the counts above: (kinds, blocks to count, hits summed over)."""


def _by_states(measure: Measure, view: Hits, cells: Ints) -> Cells:
    lists = lists_of(view, cells)
    return _over_states(measure, lists, STATES[measure.name](lists, measure.params))


def _over_states(measure: Measure, lists: Lists, states: tuple[Ints, Ints, Mask]) -> Cells:
    key, block, shown = states
    kinds = Kinds.of(lists, key)
    entries = work(kinds, block[kinds.hit], shown[kinds.hit], lists.cells)
    _limit(entries)
    out = np.empty(lists.cells)
    for batch in batches(entries, _AT_ONCE):
        inside = slice(int(lists.offsets[batch[0]]), int(lists.offsets[batch[-1] + 1]))
        part = States.counting(lists_of(lists, batch), key[inside], block[inside], shown[inside])
        try:
            out[batch] = _value(measure, part)
        except TooManyOrders as found:
            raise TooManyOrders(int(batch[found.cell]), found.reason) from None
    return out


def _compat(measure: Measure, view: Hits, cells: Ints) -> Cells:
    """The sum over grades: documents of other grades do not change a document's place in the ideal list."""
    lists = lists_of(view, cells).relevant(1)
    total = _value(measure, lists.where(np.zeros(len(lists), bool)))
    for grade in np.unique(lists.grade).tolist():
        part = lists.where(lists.grade == grade)
        same = np.zeros(len(part), np.int64)
        total += _over_states(measure, part, (same, same, np.ones(len(part), bool)))
    return total


# -- ties resolved down to the first or the best document, or to a cut-off


def _first(measure: Measure, view: Hits, cells: Ints) -> Cells:
    lists = lists_of(view, cells)
    params = measure.params
    lists = lists.relevant(params["rel"]) if "rel" in params else lists.gaining(params["gains"])
    found = first_hits(lists)
    return mean_over(_value(measure, found.lists), found.origin, found.chance, len(cells))


def _preferred(measure: Measure, view: Hits, cells: Ints) -> Cells:
    """Given the places and hits above the first best document, they are in random order among themselves."""
    h = lists_of(view, cells).gaining(measure.params["gains"])
    cuts, last, number = up_to_best(h)
    cut, places = expand(cuts.size - number + 1)
    each = cuts.take(cut)
    ways = np.prod(each.many + 1.0, axis=1)
    entries = ways * (1 + places * (each.many > 0).sum(axis=1) + _spread_size(h)[cut])
    _limit(np.bincount(cut, entries, len(cells)))
    out, number = np.zeros(len(cells)), number[cut]
    for batch in batches(entries, _AT_ONCE):
        part = each.take(batch)
        states = drawn(part, places[batch], number[batch])
        found = filled(h, part, states, last)
        left = np.maximum((part.size - places[batch])[states.cut], 1)
        chance = found.chance * np.where(part.size[states.cut] > 0, number[batch][states.cut] / left, 1.0)
        lists = found.lists if measure.name == "P_measure" else Spread.of(found.lists)
        out += np.nan_to_num(mean_over(_value(measure, lists), found.origin, chance, len(cells)))
    return out


def _accuracy(measure: Measure, view: Hits, cells: Ints) -> Cells:
    """Given the relevant documents above the cut-off, those tied across it are in random order among themselves."""
    k = measure.params["k"]
    h = lists_of(view, cells).relevant(measure.params["rel"])
    assert h.ties is not None
    across = (h.ties[0] <= k) & (h.ties[0] + h.ties[1] - 1 > k)
    group = np.full(len(cells), -1, np.int64)
    first, size = np.ones(len(cells), np.int64), np.zeros(len(cells), np.int64)
    cell = h.cell[across]
    group[cell], first[cell], size[cell] = groups_of(h)[across], h.ties[0][across], h.ties[1][across]
    cuts = Cuts.of(h, group, np.zeros(len(h), np.int64), first, size)
    states = drawn(cuts, np.where(size > 0, k - first + 1, 0), np.zeros(len(cells), np.int64))
    found = filled(h, cuts, states, None)
    return mean_over(_value(measure, Spread.of(found.lists)), found.origin, found.chance, len(cells))


def _spread_size(h: Lists) -> Floats:
    kinds = Kinds.of(h, h.grade)
    return np.bincount(kinds.cell, kinds.size, h.cells).astype(np.float64)


def _limit(entries: npt.NDArray[Any]) -> None:
    if entries.max(initial=0) > _MOST_ENTRIES:
        worst = int(np.argmax(entries))
        raise TooManyOrders(worst, f"what can stand above its tied documents has {entries[worst]:.1g} cases")


# -- gains by rank


def _user_model(measure: Measure, view: Hits, cells: Ints) -> Cells:
    """A user who stops at the first gain sees one document; else all orders."""
    levels = {p: measure.params[p] for p in ("min_rel", "max_rel")}
    gaining, gain = scaled_gains(lists_of(view, cells).judged(), **levels)
    lists = cast(Lists, gaining)
    enough = {"INST": np.inf, "BPM": measure.params.get("T", 1.0)}.get(measure.name, 1.0)
    partial = np.bincount(lists.cell, gain < enough, len(cells)) > 0
    out = np.empty(len(cells))
    simple, rest = np.flatnonzero(~partial), np.flatnonzero(partial)
    found = first_hits(lists_of(lists, simple))
    out[simple] = mean_over(_value(measure, found.lists), found.origin, found.chance, len(simple))
    out[rest] = _all_orders(measure, lists, rest, min(measure.params.get("k") or DEPTH, DEPTH))
    return out


# -- all orders


def _enumerated(measure: Measure, view: Hits, cells: Ints) -> Cells:
    lists = lists_of(view, cells)
    if measure.name == "yaap":
        lists = lists.relevant(measure.params["rel"])
    return _all_orders(measure, lists, np.arange(len(cells)), None)


def _all_orders(measure: Measure, lists: Lists, cells: Ints, upto: int | None) -> Cells:
    kinds = Kinds.of(lists, _same(lists.judgments)[lists.row])
    ends = np.searchsorted(kinds.cell, np.arange(lists.cells + 1))
    out = np.empty(len(cells))
    for i, cell in enumerate(cells.tolist()):
        found = all_orders(lists, cell, kinds.take(slice(ends[cell], ends[cell + 1])), upto)
        values = _value(measure, found.lists)
        undefined = np.isnan(values)
        mean = np.sum(found.chance * np.where(undefined, 0.0, values)) / np.sum(found.chance)
        out[i] = np.nan if undefined.all() else mean
    return out
