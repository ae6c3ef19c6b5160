"""Arrays in segments, one after the other: a topic's judgments, a list's hits, documents of equal score."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unjudged import kernels

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_Array = TypeVar("_Array", bound=npt.NDArray[Any])


def locked(array: _Array) -> _Array:
    """The same array, which nobody can write to any more: it is shared by everything made of it."""
    array.setflags(write=False)
    return array


def logarithms(values: npt.NDArray[Any], *, binary: bool = False) -> Floats:
    """Natural (or binary) logarithms, the same on every processor: NumPy's differ in the last bit."""
    given = np.ascontiguousarray(values, np.float64)
    out = np.empty(given.shape)
    kernels.logarithms(given, binary, out)
    return out


def starts_of(sizes: npt.NDArray[Any]) -> Ints:
    """Where segments of these sizes start, and the end of the last one."""
    out = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=out[1:])
    return out


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """start, start + 1, ... for each start, as many as its size says, one after the other."""
    return np.asarray(np.arange(int(sizes.sum())) + np.repeat(starts - starts_of(sizes)[:-1], sizes))


def changes(*keys: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where one of the keys differs from the one before; true at the start."""
    new = np.zeros(len(keys[0]), bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    return new


def tie_groups(new: npt.NDArray[np.bool_], place: Ints) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The first place and the size of each item's group, where `new` marks the first item of every group."""
    first = np.flatnonzero(new)
    sizes = np.diff(np.append(first, len(new)))
    return np.repeat(place[first], sizes).astype(np.int32), np.repeat(sizes, sizes).astype(np.int32)
