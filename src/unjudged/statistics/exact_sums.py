"""Sums and means rounded once, at the end: the same to the last digit in whatever order the values stand.

Means over runs are taken here, because the order of the runs is the user's and must not show in a number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[Any] | Iterable[float]


def exact_sum(values: Values) -> float:
    """The sum of all values."""
    return math.fsum(_listed(values))


def exact_mean(values: Values) -> float:
    """The mean of all values; NaN where there are none."""
    known = _listed(values)
    return math.fsum(known) / len(known) if known else math.nan


def exact_means(rows: ArrayLike) -> NDArray[np.float64]:
    """The mean of each row of a matrix."""
    return np.array([exact_mean(row) for row in np.asarray(rows, dtype=np.float64)], dtype=np.float64)


def _listed(values: Values) -> list[float]:
    return values.ravel().tolist() if isinstance(values, np.ndarray) else list(values)
