"""NumPy twins of resampling.c: sums over drawn topics, bootstrap and swap counting.

Sums run over the topics in order, one addition after the other, so that both kernels give the same bits. The loops go
over topics (bootstrap, sums) or trials (swap); everything inside them is done for many samples at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ZERO = 1e-12  # smaller differences are none
BINS = 21  # of the swap method, 0.01 wide; the last one is open

Floats = NDArray[np.float64]


def weighted_sums(weights: Floats, values: Floats, out: Floats) -> None:
    """out[s, v] = sum over topics t of weights[s, t] * values[t, v]."""
    out[...] = 0.0
    for topic in range(values.shape[0]):
        out += weights[:, topic, None] * values[topic]


def bootstrap_count(
    centred: Floats,
    reach: Floats,
    counts: NDArray[np.uint16],
    position: int,
    exceeding: NDArray[np.int64],
    required: Floats,
) -> None:
    """The studentised bootstrap of run pairs.

    centred[pair, topic]: differences minus their mean; counts[topic, resample]: how often a topic was drawn. The
    ratio (sum of w)^2 / (sum of w^2) orders resamples as |t| does: 0 where the mean is zero, the number of topics
    where all differences are equal. exceeding[pair] = resamples whose ratio is at least reach[pair];
    required[pair] = |mean| of the resample that stands at `position` (from 1) by descending ratio, ties in drawn order.
    """
    topics, resamples = counts.shape
    tied = ZERO * topics
    weights = counts.astype(np.float64)
    step = max(1, 500_000 // max(resamples, 1))
    for start in range(0, len(centred), step):
        part = slice(start, start + step)
        w = centred[part]
        total = np.zeros((len(w), resamples))
        squares = np.zeros((len(w), resamples))
        for topic in range(topics):
            total += w[:, topic, None] * weights[topic]
            squares += (w[:, topic] * w[:, topic])[:, None] * weights[topic]
        ratio = np.zeros_like(total)
        some = (np.abs(total) >= tied) & (squares > 0)
        np.divide(total * total, squares, out=ratio, where=some)
        exceeding[part] = (ratio >= reach[part, None]).sum(axis=1)
        at = np.partition(ratio, resamples - position, axis=1)[:, resamples - position, None]
        above = (ratio > at + tied).sum(axis=1)
        level = np.abs(ratio - at) <= tied
        chosen = (np.cumsum(level, axis=1) == (position - above)[:, None]).argmax(axis=1)
        required[part] = np.abs(total[np.arange(len(w)), chosen]) / topics


def swap_count(first: Floats, second: Floats, compared: NDArray[np.int64], swapped: NDArray[np.int64]) -> None:
    """Add to the bins the comparisons and the swaps of all run pairs in all trials.

    first[trial, run] and second[trial, run] are mean scores over the two topic sets; the first set decides the bin.
    """
    i, j = np.triu_indices(first.shape[1], 1)
    for here, there in zip(first, second, strict=True):
        d, e = here[i] - here[j], there[i] - there[j]
        size = np.abs(d)
        bins = np.minimum(size / 0.01 + 1e-9, BINS - 1).astype(np.int64)
        d_zero, e_zero = size < ZERO, np.abs(e) < ZERO
        swap = (d_zero != e_zero) | (~d_zero & ~e_zero & ((d < 0) != (e < 0)))
        compared += np.bincount(bins, minlength=BINS)
        swapped += np.bincount(bins[swap], minlength=BINS)
