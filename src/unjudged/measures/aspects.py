"""Novelty and diversity: measures of judgments that tell aspects of a topic apart (subtopics, intents, nuggets).

Aspects are those of `io/aspects.py`; ordinary judgments have one. An aspect counts if the judgments list it (intents,
nuggets) or if some document is relevant to it, as in ndeval. Weights are the probabilities of intents; without them all
aspects of a topic weigh the same. ERR_IA, alpha_DCG and NRBP are divided by what a list would have in which every
document is relevant to all aspects (ndeval's collection-independent normalisation), nERR_IA, alpha_nDCG and nNRBP by
what the greedy ideal list has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from unjudged.collection import Cells, Floats, Hits, Ints, Judgments, logarithms
from unjudged.collection.judgments import key_of
from unjudged.io.aspects import Aspects
from unjudged.measures._measure import ByGrade, measure

FAMILY = "aspects"

Discount = Callable[[Floats], Floats]
"""The weight of a rank."""
Flags = npt.NDArray[np.bool_]


def aspects_of(judgments: Judgments) -> Aspects:
    """The aspects of the judgments; ordinary judgments have one."""
    if judgments.aspects is not None:
        return judgments.aspects
    return cast(Aspects, judgments.once("one aspect", lambda: Aspects.one(judgments.grade, len(judgments.topics))))


@dataclass(frozen=True, eq=False)
class Counted:
    """The aspects of each topic that count, from a grade on."""

    relevant: Floats
    """Topics x columns: the number of relevant documents."""
    there: Flags
    """Topics x columns: does the aspect count?"""
    weight: Floats
    """Topics x columns: the weights as they were given, 0 where the aspect does not count."""

    @property
    def share(self) -> Floats:
        """The weights as shares of 1; NaN for a topic without aspects."""
        return np.asarray(self.weight / self.weight.sum(axis=1, keepdims=True))


def counted(judgments: Judgments, rel: int) -> Counted:
    """The aspects that count, with `rel` as smallest relevant grade."""

    def make() -> Counted:
        aspects = aspects_of(judgments)
        held = (aspects.grade >= max(rel, 1)) & (judgments.grade >= 0)[:, None]
        relevant = np.zeros(aspects.weight.shape)
        np.add.at(relevant, judgments.topic, held)
        there = (aspects.declared | (relevant > 0)) & (aspects.weight > 0)
        return Counted(relevant, there, np.where(there, aspects.weight, 0.0))

    return cast(Counted, judgments.once(("aspects", rel), make))


def _columns(h: Hits, rel: int) -> Iterator[tuple[int, Flags, Floats]]:
    """For each column its number, which hits are relevant there, and the share of each cell's aspect."""
    grade, share = aspects_of(h.judgments).grade, counted(h.judgments, rel).share
    for j in range(grade.shape[1]):
        yield j, grade[h.row, j] >= max(rel, 1), h.per_cell(np.ascontiguousarray(share[:, j]))


def _novel(h: Hits, alpha: float, rel: int) -> Floats:
    """What each hit adds: over its aspects, the share times (1 - alpha) ** (relevant documents above)."""
    gain = np.zeros(len(h))
    for _, held, share in _columns(h, rel):
        gain += np.where(held, h.each(share) * (1 - alpha) ** h.above(held), 0.0)
    return gain


def novelty(h: Hits, discount: Discount, k: int | None, alpha: float, rel: int) -> Cells:
    """The discounted sum of what the documents add; NaN for topics without aspects."""
    top = h.top(k)
    undefined = h.per_cell(counted(h.judgments, rel).there.sum(axis=1) == 0)
    return np.where(undefined, np.nan, top.sum(_novel(top, alpha, rel) * top.by_rank(_from_one(discount))))


def _from_one(discount: Discount) -> Callable[[npt.NDArray[np.generic]], Floats]:
    return lambda rank: discount(np.maximum(rank.astype(np.float64), 1.0))


def full_marks(discount: Discount, k: int, alpha: float) -> float:
    """What k documents have that are relevant to all aspects."""
    ranks = np.arange(1.0, k + 1)
    return float(np.sum((1 - alpha) ** (ranks - 1) * discount(ranks)))


def ideal(judgments: Judgments, discount: Discount, k: int | None, alpha: float, rel: int) -> Floats:
    """Per topic what the greedy ideal list has: at each rank the document that adds most, of equals the last by id."""
    aspects, those = aspects_of(judgments), counted(judgments, rel)
    out = np.zeros(len(judgments.topics))
    for t, lines in enumerate(_greedy(judgments, aspects, those, k, alpha, rel)):
        ranks = np.arange(1.0, len(lines) + 1)
        total = those.weight[t].sum()
        out[t] = np.sum(lines * discount(ranks)) / total if total > 0 else np.nan
    return out


def _greedy(
    judgments: Judgments, aspects: Aspects, those: Counted, k: int | None, alpha: float, rel: int
) -> list[Floats]:
    """For each topic what each document of the greedy ideal list adds, in units of the weights as given."""

    def make() -> list[Floats]:
        return [_greedy_topic(judgments, aspects, those, t, k, alpha, rel) for t in range(len(judgments.topics))]

    return cast("list[Floats]", judgments.once(("greedy", k, alpha, rel), make))


def _greedy_topic(
    judgments: Judgments, aspects: Aspects, those: Counted, t: int, k: int | None, alpha: float, rel: int
) -> Floats:
    rows = np.arange(judgments.starts[t], judgments.starts[t + 1])
    held = (aspects.grade[rows] >= max(rel, 1)) & (judgments.grade[rows] >= 0)[:, None]
    rows, held = rows[held.any(axis=1)], held[held.any(axis=1)]
    by_id = sorted(range(len(rows)), key=lambda i: judgments.docs.raw(int(rows[i])), reverse=True)
    held, worth = held[by_id], those.weight[t].copy()
    left = np.ones(len(rows), bool)
    lines = np.zeros(len(rows) if k is None else min(k, len(rows)))
    for place in range(len(lines)):
        adds = np.zeros(len(rows))
        for j in np.flatnonzero(those.there[t]).tolist():
            adds += np.where(held[:, j], worth[j], 0.0)
        best = int(np.argmax(np.where(left, adds, -1.0)))
        lines[place], left[best] = adds[best], False
        worth[held[best]] *= 1 - alpha
    return lines


def by_logarithm(rank: Floats) -> Floats:
    """1 / log2(rank + 1)."""
    return np.asarray(np.log(2.0) / logarithms(rank + 1))


def by_reciprocal(rank: Floats) -> Floats:
    """1 / rank."""
    return np.asarray(1 / rank)


def by_patience(p: float) -> Discount:
    """p ** (rank - 1)."""
    return lambda rank: np.asarray(p ** (rank - 1))


def _normalised(h: Hits, discount: Discount, k: int | None, alpha: float, rel: int) -> Cells:
    return novelty(h, discount, k, alpha, rel) / h.per_cell(ideal(h.judgments, discount, k, alpha, rel))


@measure(family=FAMILY, cite="clarke2008", aliases=("alpha-nDCG",), bounded=False)
def alpha_nDCG(h: Hits, k: int, alpha: float = 0.5, rel: int = 1) -> Cells:
    """DCG that rewards new subtopics: each repetition of a subtopic is worth 1 - alpha of the one before.

    Formula: sum_{r<=k} G(r) / log2(r + 1), over that of the greedy ideal list; G(r) = sum over the aspects of d_r of
    weight * (1 - alpha) ** (relevant documents above). The ideal list is found greedily, as in ndeval; where a better
    one exists, a value can exceed 1.
    """
    return _normalised(h, by_logarithm, k, alpha, rel)


@measure(family=FAMILY, cite="clarke2008", aliases=("alpha-DCG",))
def alpha_DCG(h: Hits, k: int, alpha: float = 0.5, rel: int = 1) -> Cells:
    """alpha-DCG as ndeval prints it: over that of k documents each relevant to all subtopics.

    Formula: sum_{r<=k} G(r) / log2(r + 1) over sum_{r<=k} (1 - alpha) ** (r - 1) / log2(r + 1), G as in alpha_nDCG
    """
    return novelty(h, by_logarithm, k, alpha, rel) / full_marks(by_logarithm, k, alpha)


@measure(family=FAMILY, cite="chapelle2011", aliases=("ERR-IA",))
def ERR_IA(h: Hits, k: int, alpha: float = 0.5, rel: int = 1) -> Cells:
    """Intent-aware expected reciprocal rank, as ndeval prints it: over that of k documents relevant to all subtopics.

    Formula: sum_{r<=k} G(r) / r over sum_{r<=k} (1 - alpha) ** (r - 1) / r, G as in alpha_nDCG; alpha is the chance
    that a relevant document satisfies. ndeval does not divide at k = 1.
    """
    return novelty(h, by_reciprocal, k, alpha, rel) / full_marks(by_reciprocal, k, alpha)


@measure(family=FAMILY, cite="chapelle2011", aliases=("nERR-IA",), bounded=False)
def nERR_IA(h: Hits, k: int, alpha: float = 0.5, rel: int = 1) -> Cells:
    """Intent-aware expected reciprocal rank over that of the greedy ideal list.

    Formula: sum_{r<=k} G(r) / r, over that of the greedy ideal list; G as in alpha_nDCG
    """
    return _normalised(h, by_reciprocal, k, alpha, rel)


@measure(family=FAMILY, cite="clarke2009")
def NRBP(h: Hits, alpha: float = 0.5, p: float = 0.5, rel: int = 1) -> Cells:
    """Novelty- and rank-biased precision; `p` is the user's patience (the paper's beta).

    Formula: (1 - (1 - alpha) * p) * sum_r G(r) * p ** (r - 1), G as in alpha_nDCG
    """
    return novelty(h, by_patience(p), None, alpha, rel) * (1 - (1 - alpha) * p)


@measure(family=FAMILY, cite="clarke2009", bounded=False)
def nNRBP(h: Hits, alpha: float = 0.5, p: float = 0.5, rel: int = 1) -> Cells:
    """Novelty- and rank-biased precision over that of the greedy ideal list.

    Formula: NRBP over that of the greedy ideal list of all relevant documents
    """
    return _normalised(h, by_patience(p), None, alpha, rel)


@measure(family=FAMILY, cite="agrawal2009", aliases=("AP-IA", "MAP-IA", "MAP_IA"))
def AP_IA(h: Hits, rel: int = 1) -> Cells:
    """Intent-aware average precision: the mean over subtopics, by their weights.

    Formula: sum over aspects of share * AP by the judgments of the aspect
    """
    relevant, total = counted(h.judgments, rel).relevant, np.zeros(h.cells)
    for j, held, share in _columns(h, rel):
        many = h.per_cell(np.ascontiguousarray(relevant[:, j]))
        total += share * h.sum(np.where(held, h.running(held) / h.rank, 0.0)) / np.maximum(many, 1.0)
    return total


@measure(family=FAMILY, cite="agrawal2009", aliases=("P-IA",))
def P_IA(h: Hits, k: int, rel: int = 1) -> Cells:
    """Intent-aware precision: the mean over subtopics, by their weights.

    Formula: sum over aspects of share * P@k by the judgments of the aspect
    """
    top, total = h.top(k), np.zeros(h.cells)
    for _, held, share in _columns(top, rel):
        total += share * top.sum(held) / k
    return total


def _seen(h: Hits, k: int | None, rel: int) -> tuple[Floats, Flags]:
    """Cells x columns: 1 where the first k documents hold the aspect; and whether it counts there."""
    top, those = h.top(k), counted(h.judgments, rel)
    found = np.column_stack([np.minimum(top.sum(held), 1.0) for _, held, _ in _columns(top, rel)])
    there = np.column_stack([h.per_cell(np.ascontiguousarray(column)) for column in those.there.T])
    return np.where(there, found, 0.0), there


@measure(family=FAMILY, cite="zhai2003", aliases=("strec", "I_rec", "I-rec", "S_recall"))
def StRecall(h: Hits, k: int | None = None, rel: int = 1) -> Cells:
    """Subtopic recall: the share of the subtopics (or intents: I-rec) that the first k documents cover.

    Formula: |aspects of d_1 ... d_k| / |aspects|
    """
    found, there = _seen(h, k, rel)
    return np.asarray(found.sum(axis=1) / there.sum(axis=1))


def global_gain(judgments: Judgments, gains: ByGrade = None) -> Floats:
    """The gain of every judged document over all intents: by their probabilities."""

    def make() -> Floats:
        aspects, share = aspects_of(judgments), np.nan_to_num(counted(judgments, 1).share)
        held = np.where((judgments.grade >= 0)[:, None], aspects.grade, 0)
        by_aspect = judgments.gains.of(held.ravel().astype(np.int32), gains).reshape(held.shape)
        out = np.zeros(len(judgments))
        for j in range(held.shape[1]):
            out += share[judgments.topic, j] * by_aspect[:, j]
        return out

    return cast(Floats, judgments.once(("global gain", key_of(gains)), make))


def best_gains(judgments: Judgments, gain: Floats, k: int, more: Ints, most: float) -> Floats:
    """Per topic the DCG at k of the best list, with `more` further documents that have the highest gain."""
    out = np.zeros(len(judgments.topics))
    for t in range(len(out)):
        own = gain[judgments.starts[t] : judgments.starts[t + 1]]
        best = np.sort(np.append(own, np.full(min(int(more[t]), k), most)))[::-1][:k]
        out[t] = np.sum(best * by_logarithm(np.arange(1.0, len(best) + 1)))
    return out


@measure(family=FAMILY, cite="sakai2011", aliases=("D-nDCG",))
def D_nDCG(h: Hits, k: int, gains: ByGrade = None) -> Cells:
    """nDCG of global gains: a document's gains for the intents, weighted by their probabilities.

    Formula: sum_{r<=k} GG(r) / log2(r + 1) over that of the documents by descending GG;
    GG(r) = sum over intents of probability * gain of the grade
    """
    gain, top = global_gain(h.judgments, gains), h.top(k)
    best = best_gains(h.judgments, gain, k, np.zeros(len(h.judgments.topics), np.int64), 0.0)
    return top.sum(gain[top.row] * top.by_rank(_from_one(by_logarithm))) / h.per_cell(best)


@measure(family=FAMILY, cite="sakai2011", aliases=("D#-nDCG", "D#_nDCG"))
def Dsharp_nDCG(h: Hits, k: int, gamma: float = 0.5, gains: ByGrade = None) -> Cells:
    """Intent recall and D-nDCG together, the measure of NTCIR's INTENT tasks.

    Formula: gamma * I-rec@k + (1 - gamma) * D-nDCG@k
    """
    return gamma * StRecall.function(h, k) + (1 - gamma) * D_nDCG.function(h, k, gains)


def _importance(judgments: Judgments, of: str) -> Floats:
    """Topics x columns: what a nugget is worth."""
    vital, there = aspects_of(judgments).vital, counted(judgments, 1).there
    return np.where(there, np.where(vital, 1.0, {"all": 1.0, "vital": 0.0, "weighted": 0.5}[of]), 0.0)


@measure(family=FAMILY, cite="pradeep2025")
def NuggetRecall(
    h: Hits,
    k: int | None = None,
    of: Literal["all", "vital", "weighted"] = "all",
    strict: bool = True,
    full: int = 2,
) -> Cells:
    """The share of the nuggets that the first k documents (or the answer) hold; okay ones weigh 1/2 in 'weighted'.

    Formula: sum of worth * support over sum of worth; support is 1 from grade `full` on, below it 0 (strict) or grade /
    full. Nugget files have 2 for support and 1 for partial support.
    """
    top, grade, worth = h.top(k), aspects_of(h.judgments).grade, _importance(h.judgments, of)
    total = np.zeros(h.cells)
    for j in range(grade.shape[1]):
        support = np.minimum(grade[top.row, j] / max(full, 1), 1.0)
        support = np.floor(support) if strict else support
        total += h.per_cell(np.ascontiguousarray(worth[:, j])) * top.max(support)
    return np.asarray(total / h.per_cell(worth.sum(axis=1)))


@measure(family=FAMILY, cite="voorhees2004")
def NuggetPrecision(h: Hits, k: int | None = None, of: Literal["all", "vital"] = "all", rel: int = 1) -> Cells:
    """The share of the first k documents (without k: of all retrieved) that hold at least one nugget, or a vital one.

    Formula: |{r <= k: d_r supports a nugget}| / k
    """
    top, grade, worth = h.top(k), aspects_of(h.judgments).grade, _importance(h.judgments, of)
    useful = np.zeros(len(top), bool)
    for j in range(grade.shape[1]):
        counts = h.per_cell(np.ascontiguousarray(worth[:, j] > 0))
        useful |= (grade[top.row, j] >= max(rel, 1)) & top.each(counts)
    many = np.maximum(h.length.astype(np.float64), 1.0) if k is None else float(k)
    undefined = h.per_cell(worth.sum(axis=1) == 0)
    return np.where(undefined, np.nan, top.sum(useful) / many)
