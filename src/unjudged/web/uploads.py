"""New runs from the browser: limited in size, kept in a temporary folder under names of our own."""

from __future__ import annotations

import itertools
import re
import tempfile
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

from unjudged.collection import Collection
from unjudged.errors import UnjudgedError, UsageError

MOST_RUNS, PATIENCE = 20, 50_000_000


class TooLarge(Exception):
    """More than may be uploaded."""


class Uploads:
    """The runs that were added, and the collection with them."""

    def __init__(self, collection: Collection, most: int) -> None:
        self.base, self.most = collection, most
        self.collection = collection
        self.runs: dict[str, Path] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="unjudged-")
        self._numbers = itertools.count(1)

    def close(self) -> None:
        """Forget everything that was uploaded."""
        self._folder.cleanup()

    async def receive(self, name: str, parts: AsyncIterator[bytes]) -> tuple[str, Path]:
        """Keep one upload; raises TooLarge. The name is the run's; where it is kept is our business."""
        run = run_name(name)
        if len(self.runs) >= MOST_RUNS:
            raise UsageError(f"{MOST_RUNS} runs were added already; remove one")
        path = Path(self._folder.name) / f"upload-{next(self._numbers)}"
        try:
            await self._keep(path, parts)
        except BaseException as problem:
            path.unlink(missing_ok=True)
            if isinstance(problem, TooLarge):
                await pass_over(parts)
            raise
        return run, path

    async def _keep(self, path: Path, parts: AsyncIterator[bytes]) -> None:
        unpack, size, first = None, 0, True
        with path.open("wb") as file:
            async for part in parts:
                if first and part:
                    first = False
                    unpack = zlib.decompressobj(31) if part[:2] == b"\x1f\x8b" else None
                try:
                    text = part if unpack is None else unpack.decompress(part, self.most - size + 1)
                except zlib.error:
                    raise UsageError("the file begins like gzip but cannot be unpacked") from None
                size += len(text)
                if size > self.most or (unpack is not None and unpack.unconsumed_tail):
                    raise TooLarge
                file.write(text)

    def add(self, run: str, path: Path) -> None:
        """Read the run into the collection; what cannot be read is thrown away with a sentence."""
        try:
            if run in self.collection.runs:
                raise UsageError(f"there is a run {run!r} already")
            self.collection = self.base.adding({**self.runs, run: path})
        except BaseException as problem:
            path.unlink(missing_ok=True)
            if isinstance(problem, UnjudgedError):
                raise UsageError(str(problem).replace(str(path), run)) from None
            raise
        self.runs[run] = path

    def remove(self, run: str) -> None:
        """Take an added run away again."""
        path = self.runs.pop(run, None)
        if path is None:
            raise UsageError(f"no run {run!r} was added")
        path.unlink(missing_ok=True)
        self.collection = self.base.adding(dict(self.runs)) if self.runs else self.base


async def pass_over(parts: AsyncIterator[bytes]) -> None:
    """Let a sender finish who is nearly done, so that it hears the answer; not one who sends without end."""
    passed = 0
    async for part in parts:
        passed += len(part)
        if passed > PATIENCE:
            return


def run_name(given: str) -> str:
    """A run's name from a file's: the last part of its path, without one .gz, without anything unprintable."""
    last = re.split(r"[/\\]", given)[-1].removesuffix(".gz")
    name = "".join(c for c in last if c.isprintable()).strip()[:100]
    if not name or name in (".", ".."):
        raise UsageError("an uploaded run needs a name")
    return name
