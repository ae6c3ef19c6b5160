"""User models of ir_measures: the C/W/L family, Accuracy and Compat.

A C/W/L measure says with which probability C(r) a user goes on behind rank r; its value is the expected gain
per document looked at. As in cwl_eval, 1000 ranks are looked at and unjudged documents have no gain.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unjudged.collection import Cells, Floats, Hits
from unjudged.measures._measure import measure

DEPTH = 1000
_AT_ONCE = 256


def _expected_gain(h: Hits, min_rel: int, max_rel: int | None, going_on: Callable[[Floats, Floats], Floats]) -> Cells:
    """Expected gain per document; going_on(gains by cell and rank, ranks) gives C(r)."""
    highest = h.judgments.gains.top_grade if max_rel is None else max_rel
    h = h.top(DEPTH)
    gain = (np.clip(h.grade, min_rel, highest) - min_rel) / max(highest - min_rel, 1)
    rank = np.arange(1.0, DEPTH + 1)
    out = np.zeros(h.cells)
    for start in range(0, h.cells, _AT_ONCE):
        stop = min(start + _AT_ONCE, h.cells)
        first, last = int(h.offsets[start]), int(h.offsets[stop])
        gains = np.zeros((stop - start, DEPTH))
        cell = np.repeat(np.arange(stop - start), np.diff(h.offsets[start : stop + 1]))
        gains[cell, h.rank[first:last] - 1] = gain[first:last]
        looked = np.cumprod(going_on(gains, rank)[:, :-1], axis=1)
        out[start:stop] = (gains[:, 0] + (looked * gains[:, 1:]).sum(axis=1)) / (1 + looked.sum(axis=1))
    return out


@measure(family="user models", cite="jarvelin2002")
def SDCG(h: Hits, k: int, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """Scaled DCG: gains of the first k documents weighted by 1 / log2(rank + 1), divided by the sum of weights.

    Formula: sum over r <= k of g(r) / log2(r + 1), divided by sum over r <= k of 1 / log2(r + 1), g scaled to 0..1
    """
    return _expected_gain(
        h,
        min_rel,
        max_rel,
        lambda gains, rank: np.tile(np.where(rank < k, np.log(rank + 1) / np.log(rank + 2), 0.0), (len(gains), 1)),
    )


@measure(family="user models", cite="zhang2017")
def BPM(h: Hits, k: int, T: float = 1.0, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """Bejeweled player model (static): a user goes on until the gain reaches T or k documents were seen.

    Formula: mean gain of the documents seen until cg >= T or rank k
    """
    return _expected_gain(
        h, min_rel, max_rel, lambda gains, rank: ((np.cumsum(gains, axis=1) < T) & (rank < k)).astype(np.float64)
    )


@measure(family="user models", cite="moffat2012")
def INSQ(h: Hits, T: float = 1.0, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """INSQ: a user who wants gain T goes on with a probability that grows with the rank.

    Formula: sum of W(r) g(r), C(r) = ((r + 2T - 1) / (r + 2T))^2
    """
    return _expected_gain(
        h, min_rel, max_rel, lambda gains, rank: np.tile(((rank + 2 * T - 1) / (rank + 2 * T)) ** 2, (len(gains), 1))
    )


@measure(family="user models", cite="moffat2015")
def INST(h: Hits, T: float = 1.0, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """INST: as INSQ, but the less is missing of the wanted gain T, the sooner the user stops.

    Formula: sum of W(r) g(r), C(r) = ((r + T + T_r - 1) / (r + T + T_r))^2, T_r = T - cg(r)
    """

    def going_on(gains: Floats, rank: Floats) -> Floats:
        missing = T - np.cumsum(gains, axis=1)
        return np.asarray(((rank + T + missing - 1) / (rank + T + missing)) ** 2)

    return _expected_gain(h, min_rel, max_rel, going_on)


@measure(family="user models", cite="azzopardi2021")
def NERR8(h: Hits, k: int, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """ERR as a C/W/L measure, equation 8: a user goes on with probability 1 - gain, down to rank k.

    Formula: sum of W(r) g(r), C(r) = 1 - g(r) for r < k
    """
    return _expected_gain(h, min_rel, max_rel, lambda gains, rank: (1 - gains) * (rank < k))


@measure(family="user models", cite="azzopardi2021")
def NERR9(h: Hits, k: int, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """ERR as a C/W/L measure, equation 9: (1 - gain) * r / (r + 1), down to rank k.

    Formula: sum of W(r) g(r), C(r) = (1 - g(r)) * r / (r + 1) for r < k
    """
    return _expected_gain(h, min_rel, max_rel, lambda gains, rank: (1 - gains) * (rank / (rank + 1)) * (rank < k))


@measure(family="user models", cite="azzopardi2021")
def NERR10(h: Hits, p: float = 0.9, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """ERR as a C/W/L measure, equation 10: (1 - gain) * p.

    Formula: sum of W(r) g(r), C(r) = p * (1 - g(r))
    """
    return _expected_gain(h, min_rel, max_rel, lambda gains, rank: p * (1 - gains))


@measure(family="user models", cite="azzopardi2021")
def NERR11(h: Hits, T: float = 1.0, min_rel: int = 0, max_rel: int | None = None) -> Cells:
    """ERR as a C/W/L measure, equation 11: (1 - gain) * ((r + 2T - 1) / (r + 2T))^2.

    Formula: sum of W(r) g(r), C(r) = (1 - g(r)) * ((r + 2T - 1) / (r + 2T))^2
    """
    return _expected_gain(
        h, min_rel, max_rel, lambda gains, rank: ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2 * (1 - gains)
    )


@measure(family="user models", cite="macavaney2022")
def Accuracy(h: Hits, k: int | None = None, rel: int = 1) -> Cells:
    """Probability that a relevant document among the first k stands above one that is not.

    Unjudged documents are not relevant. 0 where no relevant document was retrieved, 1 where nothing else was.

    Formula: 1 - (sum over relevant ranks r <= k of r - C(r)) / (C(k) * (min(k, L) - C(k)))
    """
    h = h.relevant(rel).top(k)
    found = h.count()
    others = (h.length if k is None else np.minimum(h.length, k)) - found
    share = 1 - h.sum(h.rank - h.position) / np.maximum(others * found, 1)
    return np.where(found > 0, share, np.nan)


@measure(family="user models", cite="clarke2020")
def Compat(h: Hits, p: float = 0.95, normalize: bool = True) -> Cells:
    """Compatibility: rank-biased overlap with the ideal list that is most like the run.

    The ideal list holds all relevant documents by grade, inside a grade in the run's order.

    Formula: rank-biased overlap of list and ideal list to depth max(L, R), divided by that of the ideal list with
    itself
    """
    judgments = h.judgments
    h = h.relevant(1)
    depth = np.maximum(h.length, h.R).astype(np.int64)
    weights = np.append(0.0, np.cumsum(p ** np.arange(depth.max(initial=0)) / np.arange(1, depth.max(initial=0) + 1)))
    place = np.zeros(len(h))  # rank in the ideal list
    for grade in np.unique(h.grade).tolist():
        same = h.grade == grade
        better = h.each(h.per_cell(judgments.count(int(grade) + 1)))
        place = np.where(same, better + h.running(same.astype(np.float64)), place)
    entered = np.maximum(h.rank, place).astype(np.int64) - 1
    score = h.sum(h.each(weights[depth]) - weights[entered])
    if not normalize:
        return np.asarray(score * (1 - p) / np.where(depth > 0, 1 - p**depth, np.nan))
    summed = np.append(0.0, np.cumsum(weights))  # sum over j < n of weights[j]
    size = h.R.astype(np.int64)
    return np.asarray(score / (size * weights[depth] - summed[size]))
