"""trec_eval's preference measures from grades: the higher grade is preferred, and a list honours a pair or not.

A pair of judged documents is honoured where the better one is retrieved and stands above the other one; one that is
not retrieved stands below all that are. Counted with running sums over each list, for each assessor. The
same numbers as `trec_eval -R qrels_prefs` prints, whose description (`trec_eval -h -m all_prefs`) is their definition;
preferences with subgroups, which grades cannot say, are counted pair by pair in `preference_pairs`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from unjudged.collection import Cells, Hits
from unjudged.measures._measure import measure
from unjudged.measures.assessors import by_assessor

Pairs = Literal["all", "retrieved", "implied"]
"""All pairs, those with both documents retrieved, those with at least one."""


class Counted(NamedTuple):
    """Pairs in each cell: honoured and possible."""

    honoured: Cells
    possible: Cells


def _counted(h: Hits, pairs: Pairs, lowest: int = 0) -> Counted:
    """The pairs of documents of grade `lowest` and more."""
    judgments = h.judgments
    levels = np.unique(judgments.grade[judgments.grade >= lowest])
    honoured, possible = np.zeros(h.cells), np.zeros(h.cells)
    for place, level in enumerate(levels.tolist()):
        if not place:
            continue
        better = h.grade == level
        below = (h.grade >= lowest) & (h.grade < level)
        found, others = h.sum(better), h.sum(below)
        all_found = h.per_cell(judgments.count(level, level + 1))
        all_others = h.per_cell(judgments.count(lowest, level))
        together = h.sum(np.where(better, h.each(others) - h.above(below), 0.0))
        honoured += together if pairs == "retrieved" else together + found * (all_others - others)
        if pairs == "retrieved":
            possible += found * others
        else:
            neither = (all_found - found) * (all_others - others)
            possible += all_found * all_others - (neither if pairs == "implied" else 0.0)
    return Counted(honoured, possible)


def _as_many_nonrelevant(h: Hits, pairs: Pairs) -> Counted:
    """As if there were as many documents of grade 0 as relevant ones: some are invented, or the last left out.

    trec_eval's way of counting: where some are left out, the nonrelevant ones are compared with those kept, too.
    """
    only = pairs == "retrieved"
    found, zero = h.sum(h.grade > 0), h.grade == 0
    relevant = found if only else h.per_cell(h.judgments.count(1))
    others = h.sum(zero) if only else h.per_cell(h.judgments.count(0, 1))
    plain, among = _counted(h, pairs), _counted(h, pairs, lowest=1)
    spare = relevant - others
    more = Counted(plain.honoured + found * spare, plain.possible + h.per_cell(h.judgments.count(1)) * spare)
    kept, above = h.each(relevant), h.above(zero)
    left = np.where(h.grade > 0, kept - np.minimum(above, kept), np.where(zero, np.maximum(kept - above - 1, 0.0), 0.0))
    fewer = Counted(among.honoured + h.sum(left), among.possible + (relevant + others) * relevant)
    return Counted(*(np.where(spare >= 0, a, b) for a, b in zip(more, fewer, strict=True)))


def _added(counts: list[Cells]) -> Cells:
    return np.asarray(np.sum(counts, axis=0), np.float64)


@measure(family="preference", cite="trec_eval", aggregate="sum", bounded=False)
def NumPrefs(h: Hits) -> Cells:
    """Number of preferences: pairs of judged documents of different grade, retrieved or not.

    Formula: sum over assessors of the pairs of documents with different grades
    """
    return _added([_counted(theirs, "all").possible for theirs, _ in by_assessor(h)])


@measure(family="preference", cite="trec_eval", aggregate="sum", bounded=False)
def NumPrefsHonoured(h: Hits, pairs: Pairs = "all") -> Cells:
    """Number of preferences honoured: the better document retrieved, and above the other one.

    Formula: sum over assessors of the pairs honoured; pairs='retrieved': those with both documents retrieved
    """
    return _added([_counted(theirs, pairs).honoured for theirs, _ in by_assessor(h)])


@measure(family="preference", cite="trec_eval")
def prefs_simp(h: Hits, pairs: Pairs = "all") -> Cells:
    """Share of the preferences that the list honours.

    Formula: pairs honoured / pairs, both summed over assessors
    """
    counted = [_counted(theirs, pairs) for theirs, _ in by_assessor(h)]
    return _added([c.honoured for c in counted]) / _added([c.possible for c in counted])


@measure(family="preference", cite="trec_eval")
def prefs_avgjg(h: Hits, pairs: Pairs = "all") -> Cells:
    """Share of the preferences that the list honours, for each assessor, averaged over assessors.

    Formula: mean over assessors of pairs honoured / pairs
    """
    return _mean(h, [(_counted(theirs, pairs), said) for theirs, said in by_assessor(h)])


@measure(family="preference", cite="trec_eval")
def prefs_avgjg_Rnonrel(h: Hits, pairs: Literal["all", "retrieved"] = "all") -> Cells:
    """prefs_avgjg as if each assessor had judged as many documents nonrelevant as relevant (akin to bpref).

    Undefined where one of the assessors has no pair, as in trec_eval.

    Formula: mean over assessors of pairs honoured / pairs, with R nonrelevant documents: the first R, or R - N invented
    """
    counted = [(_as_many_nonrelevant(theirs, pairs), said) for theirs, said in by_assessor(h)]
    lacking = np.any([(said > 0) & (found.possible == 0) for found, said in counted], axis=0)
    return np.where(lacking, np.nan, _mean(h, counted))


def _mean(h: Hits, counted: list[tuple[Counted, Cells]]) -> Cells:
    """The mean over the assessors who judged the topic of honoured / possible; undefined where nothing is possible."""
    total, many, any_possible = np.zeros(h.cells), np.zeros(h.cells), np.zeros(h.cells, bool)
    for (honoured, possible), said in counted:
        total += np.where(possible > 0, honoured / np.maximum(possible, 1.0), 0.0)
        many += said
        any_possible |= possible > 0
    return np.where(any_possible, total / many, np.nan)


@measure(family="preference", cite="trec_eval")
def prefs_pair(h: Hits, pairs: Pairs = "all") -> Cells:
    """For each two documents the share of assessors with a preference that the list agrees with, averaged over pairs.

    Formula: mean over pairs of documents of (assessors agreeing) / (assessors who prefer one)
    """
    opinions, judgments = h.judgments.opinions, h.judgments
    if opinions is None:
        return prefs_simp.function(h, pairs)
    values, topics = np.full(h.cells, np.nan), len(judgments.topics)
    for topic in range(topics):
        rows = slice(int(judgments.starts[topic]), int(judgments.starts[topic + 1]))
        said = opinions[rows]
        known = said >= 0
        votes = sum((s[:, None] > s) & k[:, None] & k for s, k in zip(said.T, known.T, strict=True)) * 1.0
        share = votes / (votes + votes.T)
        compared = votes + votes.T > 0
        for cell in range(topic, h.cells, topics):
            hits = slice(int(h.offsets[cell]), int(h.offsets[cell + 1]))
            rank = np.full(len(said), np.inf)
            rank[h.row[hits] - rows.start] = np.arange(hits.stop - hits.start)
            there = np.isfinite(rank)
            counts = {"all": compared, "retrieved": compared & there[:, None] & there}.get(
                pairs, compared & (there[:, None] | there)
            )
            honoured = counts & (rank[:, None] < rank)
            if counts.any():
                values[cell] = np.sum(share, where=honoured) / (counts.sum() / 2)
    return values
