"""Memory that was freed goes back to the system.

A computation frees large arrays in one thread while others answer requests; glibc keeps such memory for threads that
may never ask again, so that a page which stays open for days would grow with every change of its controls.
"""

from __future__ import annotations

import ctypes
import functools
import gc
from collections.abc import Callable


@functools.cache
def _trim() -> Callable[[int], int] | None:
    """The C library's `malloc_trim`; None where it has none."""
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library; on Windows there is no CDLL(None)
        return None
    return found


def give_back() -> None:
    """Collect what nobody holds any more and hand its memory back."""
    gc.collect()
    trim = _trim()
    if trim is not None:
        trim(0)
