"""Sums, running sums, firsts and lasts over the hits of each cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unjudged import kernels
from unjudged.collection.segments import Floats, Ints

Cells = npt.NDArray[np.float64]
"""One value per cell, run after run: cell number = run * topics + topic."""

_Scalar = TypeVar("_Scalar", bound=np.generic)


class CellWise:
    """Hits stand cell after cell, in rank order; cell c holds those from `offsets[c]` to `offsets[c + 1]`."""

    offsets: Ints
    row: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.row)

    @property
    def cells(self) -> int:
        """Number of (run, topic) pairs."""
        return len(self.offsets) - 1

    def each(self, values: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
        """A value per cell, handed to each of its hits."""
        return np.repeat(values, np.diff(self.offsets))

    def sum(self, values: npt.NDArray[Any]) -> Cells:
        """Values of the hits added up per cell, first rank first."""
        out = np.empty(self.cells)
        kernels.segment_sum(np.ascontiguousarray(values, np.float64), self.offsets, out)
        return out

    def count(self) -> Cells:
        """Number of hits per cell."""
        return np.diff(self.offsets).astype(np.float64)

    def above(self, chosen: npt.NDArray[Any]) -> Floats:
        """Running sum of `chosen` over the hits of the cell that stand before each hit."""
        return self.running(chosen) - chosen.astype(np.float64)

    def running(self, values: npt.NDArray[Any]) -> Floats:
        """Running sum of `values` over the hits of the cell, this hit included."""
        out = np.empty(len(self))
        kernels.segment_cumsum(np.ascontiguousarray(values, np.float64), self.offsets, out)
        return out

    def running_product(self, values: Floats) -> Floats:
        """Running product of `values` over the hits of the cell, this hit included."""
        out = np.empty(len(self))
        kernels.segment_cumprod(np.ascontiguousarray(values, np.float64), self.offsets, out)
        return out

    def previous(self, values: Floats, first: float) -> Floats:
        """The value of the hit before each hit of the cell, `first` where there is none."""
        out = np.empty(len(self))
        out[1:] = values[:-1]
        out[self.offsets[:-1][np.diff(self.offsets) > 0]] = first
        return out

    def first(self, values: npt.NDArray[Any], none: float) -> Cells:
        """The value of the first hit of each cell, `none` where there is no hit."""
        out, filled = np.full(self.cells, none), np.diff(self.offsets) > 0
        out[filled] = values[self.offsets[:-1][filled]]
        return out

    def last(self, values: npt.NDArray[Any], none: float) -> Cells:
        """The value of the last hit of each cell, `none` where there is no hit."""
        out, filled = np.full(self.cells, none), np.diff(self.offsets) > 0
        out[filled] = values[self.offsets[1:][filled] - 1]
        return out

    def max(self, values: npt.NDArray[Any]) -> Cells:
        """Largest value of the hits per cell, 0 where there is none."""
        out = np.zeros(self.cells)
        filled = np.flatnonzero(np.diff(self.offsets))
        if len(filled):
            out[filled] = np.maximum.reduceat(values, self.offsets[filled])
        return out


def tabulated(value: Callable[[npt.NDArray[Any]], Floats], n: npt.NDArray[Any]) -> Floats:
    """A function of each number; computed once for each whole number from 0 on where many share few."""
    highest = int(n.max(initial=0))
    if n.dtype.kind != "i" or highest > len(n):
        return value(n)
    return np.asarray(value(np.arange(highest + 1, dtype=n.dtype))[n])
