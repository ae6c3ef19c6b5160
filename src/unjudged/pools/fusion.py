"""Strategies that merge the lists: every document gets a value, the largest values are judged.

Each function gives one value per document of a topic. Ties go to the smaller document id.
"""

from __future__ import annotations

import numpy as np

from unjudged.collection import Floats
from unjudged.pools.lists import TopicLists


def depth(lists: TopicLists) -> Floats:
    """Depth-k: the top k of every run, the most used pool; the depth decides its size."""
    return take(lists)


def take(lists: TopicLists) -> Floats:
    """Take-n: the documents of best rank in any run (Lipani et al. 2016)."""
    return -lists.best.astype(np.float64)


def fair_take(lists: TopicLists, rng: np.random.Generator) -> Floats:
    """Take-n with ties broken at random, so that no run gains by its documents' ids."""
    return take(lists) + rng.permutation(lists.docs) / max(lists.docs, 1)


def rrf(lists: TopicLists, k: float = 60.0) -> Floats:
    """Reciprocal rank fusion: sum of 1 / (k + rank) (Cormack, Clarke and Büttcher 2009)."""
    return lists.sum(1.0 / (k + lists.rank))


def dcg(lists: TopicLists) -> Floats:
    """Sum of 1 / log2(rank + 1): what the document can add to the runs' DCG (Lipani et al. 2017)."""
    return lists.sum(1.0 / np.log2(lists.rank + 1.0))


def precision(lists: TopicLists, cutoff: int = 10) -> Floats:
    """Sum of 1 / cutoff over the runs with it in their top `cutoff`: what it can add to their P@cutoff."""
    return lists.sum((lists.rank <= cutoff) / cutoff)


def rbp_a(lists: TopicLists, p: float = 0.8) -> Floats:
    """Sum of (1 - p) p^(rank - 1): what it can add to the runs' RBP (Moffat, Webber and Zobel 2007, method A)."""
    return lists.sum((1.0 - p) * p ** (lists.rank - 1.0))


def popularity(lists: TopicLists) -> Floats:
    """Number of runs that retrieve it."""
    return lists.popularity.astype(np.float64)


def borda(lists: TopicLists) -> Floats:
    """Borda count: sum of -rank; a run that lacks the document gives it the mean of the ranks left over there.

    With M documents in all and a list of L, that is (L + 1 + M) / 2 (Aslam and Montague 2001).
    """
    absent = (lists.length + 1.0 + lists.docs) / 2.0
    points: Floats = lists.sum(absent[lists.run] - lists.rank) - absent.sum()
    return points


def condorcet(lists: TopicLists) -> Floats:
    """Number of documents it beats: more runs rank it above the other than below (Montague and Aslam 2002).

    A retrieved document stands above one that is not; a run that lacks both has no say.
    """
    runs, many = lists.popularity, lists.docs
    wins = np.empty(many)
    step = max(1, (1 << 24) // max(many, 1))
    for start in range(0, many, step):
        mine = slice(start, min(start + step, many))
        ahead = runs[mine, None] - runs[None, :]  # right but for the runs that hold both
        for first, last in lists.bounds():
            listed = lists.doc[first:last]
            place = np.flatnonzero((listed >= mine.start) & (listed < mine.stop))
            ahead[np.ix_(listed[place] - start, listed)] += np.sign(np.arange(len(listed)) - place[:, None])
        wins[mine] = (ahead > 0).sum(axis=1)
    return wins


def combmin(lists: TopicLists) -> Floats:
    """Lowest of the runs' scores (min-max normalised in each list; Fox and Shaw 1994)."""
    out = np.full(lists.docs, np.inf)
    np.minimum.at(out, lists.doc, lists.normalised)
    return out


def combmax(lists: TopicLists) -> Floats:
    """Highest of the runs' normalised scores."""
    out = np.full(lists.docs, -np.inf)
    np.maximum.at(out, lists.doc, lists.normalised)
    return out


def combsum(lists: TopicLists) -> Floats:
    """Sum of the runs' normalised scores."""
    return lists.sum(lists.normalised)


def combanz(lists: TopicLists) -> Floats:
    """Mean of the normalised scores of the runs that retrieve it."""
    return combsum(lists) / lists.popularity


def combmnz(lists: TopicLists) -> Floats:
    """Sum of the normalised scores times the number of runs that retrieve it."""
    return combsum(lists) * lists.popularity


def combmed(lists: TopicLists) -> Floats:
    """Median of the normalised scores of the runs that retrieve it."""
    order = np.lexsort((lists.normalised, lists.doc))
    score, many = lists.normalised[order], lists.popularity
    start = np.cumsum(many) - many
    middle: Floats = (score[start + (many - 1) // 2] + score[start + many // 2]) / 2.0
    return middle
