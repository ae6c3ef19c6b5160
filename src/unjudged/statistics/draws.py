"""Topic samples: drawn once per seed, then shared by all run pairs and all measures.

Every function gives the topics of each sample as rows of an integer matrix, so an exact enumeration, or samples
listed by hand, can be passed wherever drawn ones are used. The same seed and sizes give the same samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unjudged.statistics.pairs import Integers, blocks

Sampling = Literal["disjoint", "replacement", "independent"]
SAMPLINGS: tuple[Sampling, ...] = ("disjoint", "replacement", "independent")


def topic_resamples(topics: int, resamples: int, seed: int = 0) -> Integers:
    """Bootstrap samples: per row as many topics as there are, with replacement."""
    _check_resamples(resamples, topics)
    return np.random.default_rng(seed).integers(0, topics, size=(resamples, topics))


def resample_counts(topics: int, resamples: int, seed: int = 0) -> NDArray[np.uint16]:
    """The topic_counts of topic_resamples, drawn piece by piece: only two bytes per topic and resample are kept."""
    _check_resamples(resamples, topics)
    rng = np.random.default_rng(seed)
    counts = np.empty((topics, resamples), dtype=np.uint16)
    for piece in blocks(resamples, max(1, 250_000 // topics)):
        drawn = rng.integers(0, topics, size=(piece.stop - piece.start, topics))
        counts[:, piece] = topic_counts(drawn, topics)
    return counts


def every_resample(topics: int) -> Integers:
    """All topics^topics bootstrap samples: the exact test for a handful of topics."""
    return np.array(list(product(range(topics), repeat=topics)), dtype=np.int64)


def topic_subsets(topics: int, size: int, samples: int, seed: int = 0, replacement: bool = False) -> Integers:
    """Sets of `size` topics, without replacement unless asked."""
    _check_size(topics, size, samples)
    rng = np.random.default_rng(seed)
    if replacement:
        return rng.integers(0, topics, size=(samples, size))
    return _shuffled(rng, topics, samples)[:, :size]


def every_subset(topics: int, size: int) -> Integers:
    """All sets of `size` topics without replacement."""
    return np.array(list(combinations(range(topics), size)), dtype=np.int64).reshape(-1, size)


def topic_set_pairs(
    topics: int, size: int, trials: int = 1000, sampling: Sampling = "disjoint", seed: int = 0
) -> tuple[Integers, Integers]:
    """Two topic sets per trial, as the swap method of Sakai (2005) draws them.

    disjoint: no topic in common (needs twice the size in topics); replacement: two independent samples with
    replacement; independent: two independent sets without replacement. Disjoint and independent share the first set.
    """
    _check_size(topics, size, trials)
    first, second = (np.random.default_rng(stream) for stream in np.random.SeedSequence(seed).spawn(2))
    if sampling == "replacement":
        return first.integers(0, topics, size=(trials, size)), second.integers(0, topics, size=(trials, size))
    order = _shuffled(first, topics, trials)
    if sampling == "independent":
        return order[:, :size], _shuffled(second, topics, trials)[:, :size]
    if sampling != "disjoint":
        raise ValueError(f"sampling is one of {', '.join(SAMPLINGS)}, not {sampling!r}")
    if 2 * size > topics:
        raise ValueError(f"two disjoint sets of {size} topics need {2 * size} topics, {topics} given")
    return order[:, :size], order[:, size : 2 * size]


def every_set_pair(topics: int, size: int, sampling: Sampling) -> tuple[Integers, Integers]:
    """All pairs of topic sets a sampling can draw, each repeated in proportion to its probability."""
    if sampling == "replacement":
        sets = np.array(list(product(range(topics), repeat=size)), dtype=np.int64)
    else:
        sets = every_subset(topics, size)
    first, second = (side.ravel() for side in np.indices((len(sets), len(sets))))
    if sampling == "disjoint":
        member = topic_counts(sets, topics).T.astype(np.int64)
        apart = (member[first] * member[second]).sum(axis=1) == 0
        first, second = first[apart], second[apart]
    return sets[first], sets[second]


def sign_flips(topics: int, resamples: int, seed: int = 0) -> NDArray[np.int8]:
    """Random signs +1 or -1 per topic: which run of a pair is called the first one."""
    _check_resamples(resamples)
    bits = np.random.default_rng(seed).integers(0, 2, size=(resamples, topics), dtype=np.int8)
    return (2 * bits - 1).astype(np.int8)


def every_sign_flip(topics: int) -> NDArray[np.int8]:
    """All 2^topics assignments of signs."""
    codes = np.arange(2**topics, dtype=np.int64)[:, None] >> np.arange(topics, dtype=np.int64)
    return (1 - 2 * (codes & 1)).astype(np.int8)


def topic_counts(samples: ArrayLike, topics: int) -> NDArray[np.uint16]:
    """How often each topic (row) stands in each sample (column)."""
    index = np.asarray(samples)
    if index.ndim != 2 or not index.shape[1]:
        raise ValueError("samples are rows of topics: a matrix of samples x topics drawn")
    if not np.issubdtype(index.dtype, np.integer):
        raise ValueError("samples must be whole numbers: the topics' rows")
    if index.size and (index.min() < 0 or index.max() >= topics):
        raise ValueError(f"a sample names a topic outside 0..{topics - 1}")
    most = np.iinfo(np.uint16).max
    if index.shape[1] > most and max(int(np.bincount(row, minlength=1).max()) for row in index) > most:
        raise ValueError(f"a sample may hold a topic up to {most} times")
    counts = np.zeros((topics, len(index)), dtype=np.uint16)
    every = np.arange(len(index))
    for column in index.T:  # a sample holds a topic at most once per column, so no increment is lost
        counts[column, every] += 1
    return counts


def _check_resamples(resamples: int, topics: int = 1) -> None:
    if topics < 1:
        raise ValueError("at least 1 topic is needed")
    if resamples < 1:
        raise ValueError(f"at least 1 resample is needed, {resamples} asked for")


def _check_size(topics: int, size: int, samples: int) -> None:
    if samples < 1:
        raise ValueError(f"at least 1 sample is needed, {samples} asked for")
    if not 1 <= size <= topics:
        raise ValueError(f"a topic set holds 1 to {topics} topics (all there are), not {size}")


def _shuffled(rng: np.random.Generator, topics: int, samples: int) -> Integers:
    return rng.permuted(np.tile(np.arange(topics, dtype=np.int64), (samples, 1)), axis=1)


@dataclass(frozen=True)
class SharedTopics:
    """Different topics in one set, and topics that stand in both; averages over trials, or expectations."""

    unique: float
    shared: float


def expected_shared_topics(topics: int, size: int, sampling: Sampling) -> SharedTopics:
    """What to expect of two sets of `size` topics out of `topics`."""
    if not 1 <= size <= topics:
        raise ValueError(f"a topic set holds 1 to {topics} topics, not {size}")
    if sampling == "replacement":
        drawn = 1 - (1 - 1 / topics) ** size
        return SharedTopics(topics * drawn, topics * drawn**2)
    if sampling == "independent":
        return SharedTopics(size, size**2 / topics)
    if sampling != "disjoint":
        raise ValueError(f"sampling is one of {', '.join(SAMPLINGS)}, not {sampling!r}")
    return SharedTopics(size, 0.0)


def simulated_shared_topics(
    topics: int, size: int, sampling: Sampling, trials: int = 1000, seed: int = 0
) -> SharedTopics:
    """The same, averaged over the topic sets the swap method draws with this seed."""
    sets = topic_set_pairs(topics, size, trials, sampling, seed)
    here, there = (topic_counts(side, topics) > 0 for side in sets)
    unique = (here.sum() + there.sum()) / (2 * trials)
    return SharedTopics(float(unique), float(np.count_nonzero(here & there) / trials))
