"""Bytes as cases: a judgment file and a run in pieces, or the arrays a kernel is called with."""

from __future__ import annotations

import struct
from array import array
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np

JUDGMENTS_END, CUT, GIVEN, REPEATED, FIELD_END = b"\x1e", b"\x1d", b"\x1c", b"\x1b", b"\x1f"
TIMES = (2, 3, 4, 13, 25, 33, 65, 70)
SCORES = (0.0, -0.0, 1.0, 2.0, 0.5, -1.0, 1e300, 1e-300, 1e39, 16777217.0, 0.1, 3.0)


def exactly(text: bytes) -> Any:
    """The text in memory of its own without a byte to spare, where a sanitizer sees what is read beyond it."""
    return array("B", text)


def _repeated(piece: bytes) -> bytes:
    """A line with a number for each %, many times."""
    if len(piece) < 2:
        return b""
    many = 1400 if piece[:2] == b"\xff\xff" else TIMES[piece[0] % len(TIMES)]
    return b"".join(piece[2:].replace(b"%", b"%d" % i) for i in range(many))


Given = tuple[bytes, bytes, "array[float]"]


@dataclass(frozen=True)
class Case:
    """One byte of options, judgments, then the run's pieces (the same layout in scanner.c).

    Judgments end at 1E; the run is cut at every 1D. A piece that begins with 1B and two bytes (how often) is a line
    repeated, one that begins with 1C a topic given as documents and scores: topic 1F documents 1F a byte per score.
    """

    option: int
    judgments: bytes
    pieces: tuple[bytes | Given, ...]

    @property
    def lenient(self) -> bool:
        return bool(self.option & 1)

    @property
    def ties(self) -> int:
        return self.option >> 1 & 3

    @property
    def truncate(self) -> int:
        return self.option >> 3 & 3

    @property
    def tie_groups(self) -> bool:
        return bool(self.option & 32) and not self.truncate

    @property
    def keep_docs(self) -> bool:
        return bool(self.option & 64)

    @property
    def gather(self) -> bool:
        return bool(self.option & 128)

    @property
    def text_only(self) -> bool:
        return all(isinstance(piece, bytes) for piece in self.pieces)

    def in_one_piece(self) -> Case:
        whole = b"".join(piece for piece in self.pieces if isinstance(piece, bytes))
        return Case(self.option, self.judgments, (whole,))


def case(data: bytes) -> Case:
    """What the bytes stand for."""
    judgments, _, run = data[1:].partition(JUDGMENTS_END)
    pieces: list[bytes | Given] = []
    for piece in run.split(CUT):
        if piece.startswith(GIVEN):
            topic, _, rest = piece[1:].partition(FIELD_END)
            docs, found, scores = rest.partition(FIELD_END)
            if found:
                pieces.append((topic, docs, array("d", [{255: nan, 254: inf}.get(b, SCORES[b % 12]) for b in scores])))
        else:
            pieces.append(_repeated(piece[1:]) if piece.startswith(REPEATED) else piece)
    return Case(data[0] if data else 0, judgments, tuple(pieces))


class Draw:
    """Numbers and arrays from bytes; zeros when they are used up."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def below(self, n: int) -> int:
        return self.byte() % n

    def number(self) -> float:
        """A small one, one of the odd ones, or any double that is not a NaN."""
        kind = self.byte()
        if kind < 128:
            return kind / 8
        if kind < 200:
            return (1.0, -0.0, 0.1, -1.5, 1e300, -1e300, 5e-324, inf, -inf, 1 / 3)[kind % 10]
        value: float = struct.unpack("<d", bytes(self.byte() for _ in range(8)))[0]
        return value if value == value else 0.25

    def score(self) -> float:
        """A number of the size a measure has, from -1 to 1."""
        return (self.byte() - 128) / (128, 100, 127, 3000)[self.byte() % 4]

    def numbers(self, n: int) -> Any:
        return np.array([self.number() for _ in range(n)], np.float64)

    def scores(self, *shape: int) -> Any:
        return np.array([self.score() for _ in range(int(np.prod(shape)))], np.float64).reshape(shape)

    def integers(self, n: int, low: int, high: int, kind: Any = np.int32) -> Any:
        return np.array([low + self.below(high - low + 1) for _ in range(n)], kind)

    def offsets(self, cells: int, size: int = 7) -> Any:
        return np.cumsum([0, *(self.below(size) for _ in range(cells))], dtype=np.int64)

    def ids(self, n: int) -> list[bytes]:
        return [bytes(97 + self.below(3) for _ in range(self.below(12))) for _ in range(n)]
