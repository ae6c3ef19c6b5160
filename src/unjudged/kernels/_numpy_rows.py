"""The twin of rows.c: a table of numbers as lines of text."""

from __future__ import annotations

from typing import Any

import numpy as np


def write_rows(heads: list[bytes], names: list[bytes], values: Any, end: bytes) -> bytes:
    """For every row and column its line: head of the row, name of the column, the number as `repr` writes it, end."""
    numbers = np.frombuffer(values).tolist()
    if len(numbers) != len(heads) * len(names):
        raise ValueError("a value for every row and column is needed")
    known: dict[float, bytes] = {}  # equal numbers, of which there are many, are written once
    written = [
        known.get(v) or known.setdefault(v, repr(v).encode() + end) if v else repr(v).encode() + end for v in numbers
    ]
    return b"".join(
        part
        for row, head in enumerate(heads)
        for pair in zip(names, written[row * len(names) : (row + 1) * len(names)], strict=True)
        for part in (head, *pair)
    )
