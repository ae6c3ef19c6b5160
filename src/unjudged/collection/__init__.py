"""The core: judgments, judged hits, full rankings, the pool, and the collection that holds them.

Files and objects become integer arrays once. Everything here is immutable: a reduction of the judgments is a
new `Judgments` over the same arrays.
"""

from __future__ import annotations

from unjudged.collection.collection import Collection
from unjudged.collection.hits import Cells, Hits, tabulated
from unjudged.collection.joining import join_hits
from unjudged.collection.judgments import LARGEST_GAIN, Gains, Ideal, Judgments, key_of
from unjudged.collection.pool import Pool
from unjudged.collection.rankings import Rankings
from unjudged.collection.segments import Floats, Ints, logarithms

__all__ = [
    "LARGEST_GAIN",
    "Cells",
    "Collection",
    "Floats",
    "Gains",
    "Hits",
    "Ideal",
    "Ints",
    "Judgments",
    "Pool",
    "Rankings",
    "join_hits",
    "key_of",
    "logarithms",
    "tabulated",
]
