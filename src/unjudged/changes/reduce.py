"""Random reduction: judgments taken away at random, nested over rates (Buckley and Voorhees 2004)."""

from __future__ import annotations

import hashlib
import itertools
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Judgments
from unjudged.collection.history import change
from unjudged.errors import UsageError, check_seed, nearest

METHODS = ("stratified", "uniform")
MOST_KEPT = 32
"""Random orders that are kept with a collection, one for each seed."""


@change
def reduce(
    collection: Collection,
    rate: float | Fraction,
    *,
    seed: int = 0,
    method: str = "stratified",
    rel: int = 1,
    min_relevant: int = 1,
    min_nonrelevant: int = 10,
) -> Collection:
    """Keep a random share of each topic's judgments.

    `stratified`: floor(R * rate) relevant and floor(N * rate) nonrelevant documents, at least `min_relevant` and
    `min_nonrelevant` where there are so many (Buckley and Voorhees; Sakai 2007). `uniform`: floor((R + N) * rate)
    judged documents whatever their grade, without a minimum. One order of the documents is drawn per topic from
    `seed` and the ids of topic and documents alone: smaller rates give subsets of larger ones, and neither the
    order of topics, judgments and runs nor an earlier reduction changes it. Documents of negative grade stay.
    """
    share = _share(rate)
    if method not in METHODS:
        raise UsageError(f"unknown reduction {method!r}{nearest(method, METHODS)}; there are {', '.join(METHODS)}")
    if min_relevant < 0 or min_nonrelevant < 0:
        raise UsageError("minima cannot be negative")
    judgments = collection.judgments
    key = random_order(collection.full, seed)[collection.rows]
    judged = judgments.grade >= 0
    relevant = judgments.grade >= rel
    if method == "uniform":
        kept = _first(judgments, key, judged, share, 0)
    else:
        kept = _first(judgments, key, judged & relevant, share, min_relevant)
        kept |= _first(judgments, key, judged & ~relevant, share, min_nonrelevant)
    return collection.keeping(kept | ~judged, f"{method} reduction to {float(share):.6g} (seed {seed})")


def _share(rate: float | Fraction) -> Fraction:
    try:
        share = rate if isinstance(rate, Fraction) else Fraction(str(float(rate)))
    except ValueError:
        share = Fraction(0)
    if not 0 < share <= 1:
        raise UsageError(f"the rate is a share above 0 and up to 1 (0.3 keeps 30 %), not {rate}")
    return share


def _first(
    judgments: Judgments, key: Floats, stratum: npt.NDArray[np.bool_], share: Fraction, minimum: int
) -> npt.NDArray[np.bool_]:
    """Per topic, the stratum's documents with the smallest keys: its share rounded down, at least the minimum."""
    rows = np.flatnonzero(stratum)
    rows = rows[np.lexsort((key[rows], judgments.topic[rows]))]
    sizes = np.bincount(judgments.topic[rows], minlength=len(judgments.topics))
    some, which = np.unique(sizes, return_inverse=True)  # whole numbers without end: a share may need many digits
    wanted = [min(max(n * share.numerator // share.denominator, minimum), n) for n in some.tolist()]
    keep = np.array(wanted, np.int64)[which]
    place = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = np.zeros(len(judgments), bool)
    kept[rows[place < np.repeat(keep, sizes)]] = True
    return kept


def random_order(collection: Collection, seed: int, purpose: int = 0) -> Floats:
    """A number in [0, 1) for every judgment, from the seed and the ids of topic and document alone.

    Different purposes (0 is reduction) have numbers of their own.
    """
    check_seed(seed)
    judgments, more = collection.judgments, [purpose] if purpose else []

    def by_id() -> npt.NDArray[np.int64]:
        ids = [judgments.docs.raw(row) for row in range(len(judgments))]
        spans = itertools.pairwise(judgments.starts.tolist())
        return np.array([row for a, b in spans for row in sorted(range(a, b), key=ids.__getitem__)], np.int64)

    order = cast("npt.NDArray[np.int64]", collection.once("rows by document id", by_id))

    def draw() -> Floats:
        key = np.empty(len(judgments))
        for t in range(len(judgments.topics)):
            a, b = int(judgments.starts[t]), int(judgments.starts[t + 1])
            name = int.from_bytes(hashlib.sha256(judgments.topics.raw(t)).digest()[:16], "big")
            key[order[a:b]] = np.random.default_rng([seed, name, *more]).random(b - a)
        return key

    return cast(Floats, collection.once(("random order", seed, purpose), draw, MOST_KEPT))
