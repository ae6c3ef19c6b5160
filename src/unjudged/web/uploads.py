"""New runs from the browser: limited in size, kept in a temporary folder under names of our own."""

from __future__ import annotations

import html
import itertools
import re
import shlex
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

from unjudged.collection import Collection
from unjudged.errors import UnjudgedError, UsageError
from unjudged.io import files
from unjudged.io.formats import SUFFIXES

MOST_RUNS, PATIENCE = 20, 50_000_000


class TooLarge(Exception):
    """More than may be uploaded."""


class Uploads:
    """The runs that were added, and the collection with them."""

    def __init__(self, collection: Collection, most: int) -> None:
        self.base, self.most = collection, most
        self.now: tuple[Collection, Mapping[str, Path]] = collection, {}
        self._sent_as: dict[Path, str] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="unjudged-")
        self.folder = Path(self._folder.name)
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._coming = 0

    @property
    def collection(self) -> Collection:
        """The collection with the runs that were added."""
        return self.now[0]

    @property
    def runs(self) -> Mapping[str, Path]:
        """The runs that were added; whoever needs the collection, too, asks `now` once."""
        return self.now[1]

    def close(self) -> None:
        """Forget everything that was uploaded."""
        self._folder.cleanup()

    async def receive(self, name: str, parts: AsyncIterator[bytes]) -> tuple[str, Path]:
        """Keep one upload; raises TooLarge. The name is the run's; where it is kept is our business."""
        run, sent = run_name(name), last_part(name)
        self._refuse_more(self._coming)
        ending = Path(files.file_name(name)).suffix.lower()
        path = self.folder / f"upload-{next(self._numbers)}" / f"run{ending if ending in SUFFIXES else ''}"
        self._coming += 1  # in the one thread that talks to browsers
        try:
            path.parent.mkdir()
            size = 0
            with path.open("wb") as file:
                async for part in parts:
                    size += len(part)
                    if size > self.most:
                        raise TooLarge
                    file.write(part)
        except BaseException as problem:
            self._forget(path)
            if isinstance(problem, TooLarge):
                await pass_over(parts)
            if isinstance(problem, OSError):
                raise UsageError(f"the run cannot be kept here ({problem.strerror})") from None
            raise
        finally:
            self._coming -= 1
        self._sent_as[path] = sent
        return run, path

    def as_sent(self, page: str) -> str:
        """HTML whose commands name added runs by the files their owner has, not by those that are kept here.

        A browser tells a file's name, not its folder.
        """
        for path, sent in list(self._sent_as.items()):  # others may add one meanwhile
            page = page.replace(html.escape(str(path)), html.escape(shlex.quote(sent)))
        return page

    def _refuse_more(self, coming: int = 0) -> None:
        if len(self.runs) >= MOST_RUNS:
            raise UsageError(f"{MOST_RUNS} runs were added already; remove one")
        if coming >= MOST_RUNS:
            raise UsageError(f"{MOST_RUNS} runs are being sent already; wait for them")

    def add(self, run: str, path: Path) -> None:
        """Read the run into the collection; what cannot be read is thrown away with a sentence.

        The bytes are those that were sent, and the readers those of the command line.
        """
        try:
            if files.larger_than(str(path), self.most):
                raise TooLarge
            with self._lock:  # one after the other: each adds to what the last one left
                self._refuse_more()
                if run in self.collection.runs:
                    raise UsageError(f"there is a run {run!r} already")
                runs = {**self.runs, run: path}
                self.now = self._with(runs), runs
        except BaseException as problem:
            self._forget(path)
            if isinstance(problem, UnjudgedError):
                raise UsageError(str(problem).replace(str(path), run)) from None
            raise

    def _with(self, runs: Mapping[str, Path]) -> Collection:
        """The collection with these runs, all in order of their names, as every question looks at them: what is found
        for the added run is at hand for the report. Where runs have teams, each of these is a team of its own."""
        made = self.base.adding(dict(runs))
        if made.runs != (by_name := tuple(sorted(made.runs))):
            made = made.with_runs(by_name)
        if not made.teams:
            return made
        return replace(made, teams={**made.teams, **{run: f"{run} (added)" for run in runs if run not in made.teams}})

    def remove(self, run: str) -> None:
        """Take an added run away again."""
        with self._lock:
            if run not in self.runs:
                raise UsageError(f"no run {run!r} was added")
            runs = {name: path for name, path in self.runs.items() if name != run}
            gone = self.runs[run]
            self.now = self._with(runs) if runs else self.base, runs
        self._forget(gone)

    def _forget(self, path: Path) -> None:
        """Away with the file; its name stays, for reports of it that are still open."""
        shutil.rmtree(path.parent, ignore_errors=True)


async def pass_over(parts: AsyncIterator[bytes]) -> None:
    """Let a sender finish who is nearly done, so that it hears the answer; not one who sends without end."""
    passed = 0
    async for part in parts:
        passed += len(part)
        if passed > PATIENCE:
            return


def run_name(given: str) -> str:
    """A run's name from a file's, as the command line names it."""
    name = files.run_name(last_part(given)).strip()[:100]
    if not name or name in (".", ".."):
        raise UsageError("an uploaded run needs a name")
    return name


def last_part(given: str) -> str:
    """A file's name without its folders and without what cannot be printed."""
    return "".join(c for c in re.split(r"[/\\]", given)[-1] if c.isprintable())
