"""Functions of whole numbers over long arrays in which few numbers stand many times: ranks, counts, gains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection.segments import Floats


def tabulated(value: Callable[[npt.NDArray[Any]], Floats], n: npt.NDArray[Any]) -> Floats:
    """A function of each number; computed once for each whole number from 0 on where many share few."""
    highest = int(n.max(initial=0))
    if n.dtype.kind != "i" or highest > len(n):
        return value(n)
    return np.asarray(value(np.arange(highest + 1, dtype=n.dtype))[n])
