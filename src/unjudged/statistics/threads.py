"""Work split over threads: the same pieces, the same answers, whatever their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Piece = TypeVar("Piece")
Answer = TypeVar("Answer")


def each(function: Callable[[Piece], Answer], pieces: Sequence[Piece], jobs: int = 1) -> list[Answer]:
    """function(piece) for every piece, in order; `jobs` threads work on them (the kernels release the lock)."""
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    if jobs == 1 or len(pieces) < 2:
        return [function(piece) for piece in pieces]
    with ThreadPoolExecutor(jobs) as threads:
        return list(threads.map(function, pieces))
