"""Ids stay text: packed bytes in, `str` out, any byte sequence survives the round trip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt


def to_text(raw: bytes) -> str:
    """Bytes of a file as text; bytes that are not UTF-8 are kept as surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """The inverse of `to_text`."""
    return text.encode("utf-8", "surrogateescape")


_AT_ONCE = 1 << 16


class Ids(Sequence[str]):
    """Many ids in one block of bytes."""

    __slots__ = ("_blob", "_ends", "_seen_from")

    def __init__(self, blob: bytes, ends: npt.NDArray[np.int64]) -> None:
        ends.setflags(write=False)
        self._blob, self._ends = blob, ends
        self._seen_from: tuple[Ids, npt.NDArray[Any]] | None = None

    @property
    def blob(self) -> bytes:
        """All ids, one after the other."""
        self._pack()
        return self._blob

    @property
    def ends(self) -> npt.NDArray[np.int64]:
        """Where each id ends."""
        self._pack()
        return self._ends

    def _pack(self) -> None:
        seen = self._seen_from
        if seen is not None:
            packed = seen[0].take(seen[1])
            self._blob, self._ends = packed._blob, packed._ends
            self._seen_from = None

    @classmethod
    def of(cls, ids: Iterable[str | bytes]) -> Ids:
        """Pack ids given one by one."""
        ids = list(ids)
        try:
            text = "".join(ids)  # type: ignore[arg-type]
        except TypeError:
            text = "\x80"  # some are bytes
        if text.isascii():
            return cls(text.encode("ascii"), np.cumsum(np.fromiter(map(len, ids), np.int64, len(ids)), dtype=np.int64))
        raw = [to_bytes(i) if isinstance(i, str) else i for i in ids]
        return cls(b"".join(raw), np.cumsum([len(r) for r in raw], dtype=np.int64))

    def __len__(self) -> int:
        seen = self._seen_from
        return len(self._ends if seen is None else seen[1])

    def raw(self, i: int) -> bytes:
        """The i-th id as the bytes of the file."""
        seen = self._seen_from
        if seen is not None:
            return seen[0].raw(int(seen[1][i]))
        return self._blob[int(self._ends[i - 1]) if i else 0 : int(self._ends[i])]

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: int | slice) -> str | list[str]:
        if isinstance(i, slice):
            first, stop, step = i.indices(len(self))
            return list(self._between(first, stop)) if step == 1 else [self[j] for j in range(first, stop, step)]
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        return to_text(self.raw(i % len(self)))

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _AT_ONCE):
            yield from self._between(first, min(first + _AT_ONCE, len(self)))

    def _between(self, first: int, stop: int) -> Iterator[str]:
        """The ids from one place to another, cut out of their common text where that is plain."""
        if first >= stop:
            return
        ends = self.ends[first:stop].tolist()
        start = int(self.ends[first - 1]) if first else 0
        raw = self.blob[start : ends[-1]]
        plain = to_text(raw) if raw.isascii() else None
        at = 0
        for end in ends:
            yield to_text(raw[at : end - start]) if plain is None else plain[at : end - start]
            at = end - start

    def view(self, order: npt.NDArray[Any]) -> Ids:
        """Like `take`, but nothing is copied until somebody asks for the block of bytes."""
        view, seen = Ids(b"", np.zeros(0, np.int64)), self._seen_from
        view._seen_from = (self, order) if seen is None else (seen[0], seen[1][order])
        return view

    def followed_by(self, other: Ids) -> Ids:
        """These ids and then the others."""
        return Ids(self.blob + other.blob, np.concatenate([self.ends, other.ends + len(self.blob)]))

    def take(self, order: npt.NDArray[Any]) -> Ids:
        """The ids at these places, in this order."""
        starts = np.concatenate(([0], self.ends[:-1])) if len(self) else self.ends
        size = (self.ends - starts)[order]
        ends = np.cumsum(size, dtype=np.int64)
        blob = np.frombuffer(self.blob, np.uint8)
        shift = starts[order] - (ends - size)
        return Ids(blob[np.arange(len(blob) and int(size.sum())) + np.repeat(shift, size)].tobytes(), ends)
