"""Rank-biased overlap of two rankings (Webber, Moffat and Zobel, TOIS 2010).

Rankings are lists of document codes (integers, best first), of any two lengths, without repeats. `p` is how patient the
reader is: 0.9 puts 86% of the weight on the first ten ranks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.pairs import Floats, Integers


@dataclass(frozen=True)
class Overlap:
    """`ext`: the estimate; `low` (RBO_min): sure overlap; `residual`: what unseen ranks could add to it."""

    ext: float
    low: float
    residual: float

    @property
    def high(self) -> float:
        """The largest value unseen ranks allow (RBO_max)."""
        return self.low + self.residual


def rbo(a: ArrayLike, b: ArrayLike, p: float = 0.9) -> Overlap:
    """Rank-biased overlap. Two empty rankings agree (1), an empty and a filled one do not (0)."""
    _check_p(p)
    short, long = sorted((_codes(a), _codes(b)), key=len)
    s, length = len(short), len(long)
    if not s:
        return Overlap(1.0, 1.0, 0.0) if not length else Overlap(0.0, 0.0, 1.0)
    shared = _overlap(short, long, length)
    ext, agreement = _extrapolated(shared, s, p)
    depth = np.arange(1, length + 1)
    weight = p**depth
    x_l = float(shared[-1])
    low = (1 - p) / p * (float(agreement) + x_l * (-math.log1p(-p) - float((weight / depth).sum())))
    final = length + s - int(x_l)
    to_final = np.arange(1, final + 1)
    share = p**to_final / to_final
    rest = s * float(share[s:].sum()) + length * float(share[length:].sum())
    rest += x_l * (-math.log1p(-p) - float(share.sum()))
    residual = p**s + p**length - p**final - (1 - p) / p * rest
    return Overlap(float(ext), low, max(0.0, residual))


def rbo_rows(a: ArrayLike, b: ArrayLike, p: float = 0.9) -> Floats:
    """Rank-biased overlap (`ext`) of the rankings in each row of two matrices, all of documents 0, 1, 2, ..."""
    _check_p(p)
    met = np.maximum(*(np.argsort(np.asarray(ranking, np.int64), axis=1) for ranking in (a, b)))
    rows, depth = met.shape
    cells = met + depth * np.arange(rows)[:, None]
    shared = np.bincount(cells.ravel(), minlength=met.size).reshape(rows, depth).cumsum(axis=1)
    return np.asarray(_extrapolated(shared.astype(np.float64), depth, p)[0])


def _extrapolated(shared: Floats, s: int, p: float) -> tuple[Any, Any]:
    """RBO_ext, and the agreement so far, from the documents shared by the first 1, 2, ... ranks (last axis).

    `s` is the length of the shorter ranking, the axis as long as the longer one.
    """
    length = shared.shape[-1]
    depth = np.arange(1, length + 1)
    weight = p**depth
    x_s, x_l = shared[..., s - 1], shared[..., -1]
    agreement = (shared / depth * weight).sum(axis=-1)
    beyond = depth[s:]
    more = (x_s[..., None] * (beyond - s) / (s * beyond) * weight[s:]).sum(axis=-1)
    return (1 - p) / p * (agreement + more) + ((x_l - x_s) / length + x_s / s) * p**length, agreement


def rbo_truncated(a: ArrayLike, b: ArrayLike, p: float = 0.9, depth: int | None = None) -> float:
    """Weighted agreement down to `depth` divided by the weights so far: what Compatibility and repro_eval use."""
    _check_p(p)
    short, long = sorted((_codes(a), _codes(b)), key=len)
    last = len(long) if depth is None else depth
    if not len(long):
        return 1.0
    if last < 1:
        raise ValueError(f"depth must be at least 1, not {last}")
    ranks = np.arange(1, last + 1)
    weight = p ** (ranks - 1)
    return float((weight * _overlap(short[:last], long[:last], last) / ranks).sum() / weight.sum())


def _check_p(p: float) -> None:
    if not 0 < p < 1:
        raise ValueError(f"p must lie between 0 and 1, not {p}")


def _codes(ranking: ArrayLike) -> Integers:
    codes = np.asarray(ranking)
    if codes.ndim != 1:
        raise ValueError(f"a ranking is one list of codes, not an array of {codes.ndim} dimensions")
    if codes.size and not np.issubdtype(codes.dtype, np.integer):
        raise ValueError("a ranking must hold integer codes of documents")
    codes = codes.astype(np.int64)
    if len(np.unique(codes)) != len(codes):
        raise ValueError("a ranking holds a document twice")
    return codes


def _overlap(a: Integers, b: Integers, depth: int) -> Floats:
    """Documents shared by the first 1, 2, ..., depth ranks."""
    _, in_a, in_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
    return np.cumsum(np.bincount(np.maximum(in_a, in_b), minlength=depth)[:depth]).astype(np.float64)
