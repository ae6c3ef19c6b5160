"""One line of progress for every verb: what is done now, how much of it, and for how long.

Only a terminal gets it, on standard error. A thread draws it from the first second on, while modules are still being
loaded, and again as long as the verb works. Whatever the verb writes takes the place of the line, so that no output
ever stands behind it. On a pipe there is no such line; studies and papers write one plain line a stage.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys

from unjudged.errors import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Any, TextIO

FIRST_AFTER = 0.3
"""Seconds before the line is drawn: what is done by then needs none."""
EVERY = 0.25
BAR = 24
DOING = {
    "check": "checking",
    "ci": "comparing",
    "compare": "comparing",
    "correct": "correcting",
    "demo": "simulating a collection",
    "doctor": "searching for settings",
    "estimate": "estimating",
    "judge": "looking for what to judge",
    "judges": "comparing judges",
    "next": "looking for what to judge",
    "paper": "reading",
    "pool": "looking at the pool",
    "qrels": "changing judgments",
    "report": "answering",
    "score": "scoring",
    "simulate": "simulating",
}
"""What a verb does, where nothing finer is known."""


class Line:
    """The line of one verb at work."""

    def __init__(self, verb: str, terminal: TextIO) -> None:
        import threading
        import time

        self._clock, self._began = time.monotonic, time.monotonic()
        self._terminal, self._streams = terminal, (sys.stdout, sys.stderr)
        self._doing = DOING.get(verb, "working")
        self._stage, self._share = "starting", -1.0
        self._drawn, self._inside = "", False
        self._quiet_until = self._began + FIRST_AFTER
        self._dim = not os.environ.get("NO_COLOR")
        self._full, self._empty = "━─" if "utf" in (terminal.encoding or "").lower() else "=-"
        self._lock, self._over = threading.RLock(), threading.Event()
        self._thread = threading.Thread(target=self._draw_until_over, daemon=True)

    def __enter__(self) -> Line:
        sys.stderr = _Aside(sys.stderr, self)
        if sys.stdout.isatty():
            sys.stdout = _Aside(sys.stdout, self)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """Take the line away for good."""
        if not self._over.is_set():
            self._over.set()
            self._thread.join()
            self.away()
            sys.stdout, sys.stderr = self._streams
            global _line
            _line = None

    def tell(self, stage: str, share: float = -1.0) -> None:
        """What is done now and, where that is known, the share that is finished; no stage: what the verb does."""
        with self._lock:
            self._stage, self._share = stage or self._doing, share

    def away(self) -> None:
        """Clear the line; it comes back a moment after the last output."""
        with self._lock:
            if self._drawn:
                self._terminal.write("\r\033[K")
                self._terminal.flush()
                self._drawn = ""
            self._quiet_until = max(self._quiet_until, self._clock() + EVERY)

    def write(self, stream: TextIO, text: str) -> int:
        """Output in place of the line; it stays away until that output has ended its own line."""
        with self._lock:
            self.away()
            self._inside = not text.endswith("\n") if text else self._inside
            return stream.write(text)

    def _draw_until_over(self) -> None:
        while not self._over.wait(EVERY if self._drawn else EVERY / 5):
            with self._lock:
                now = self._clock()
                if self._over.is_set() or self._inside or now < self._quiet_until:
                    continue
                said = self.text(int(now - self._began))
                if said != self._drawn:
                    self._terminal.write(f"\r\033[K{said}")
                    self._terminal.flush()
                    self._drawn = said

    def text(self, seconds: int) -> str:
        """The line as it is drawn now, no wider than the terminal."""
        bar = ""
        if self._share >= 0:
            done = round(BAR * min(self._share, 1.0))
            bar = f"  {self._full * done}{self._empty * (BAR - done)}  {100 * min(self._share, 1.0):3.0f} %"
        rest = f"{bar}  {seconds} s"
        room = max(shutil.get_terminal_size().columns - len(rest) - 1, 8)
        stage = self._stage if len(self._stage) <= room else f"{self._stage[: room - 3]}..."
        said = f"{stage}{rest}"
        return f"\033[2m{said}\033[0m" if self._dim else said


class _Aside:
    """A stream whose output takes the place of the line."""

    def __init__(self, stream: TextIO, line: Line) -> None:
        self._stream, self._line = stream, line

    def write(self, text: str) -> int:
        """Write it where the line stood."""
        return self._line.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # bytes are written right after this
            self._line.away()
        return getattr(self._stream, name)


_line: Line | None = None


def begun(verb: str) -> AbstractContextManager[object]:
    """The line of this verb on standard error, a terminal; nothing where the terminal cannot take a line back."""
    global _line
    if os.environ.get("TERM") in (None, "", "dumb"):
        return contextlib.nullcontext()
    _line = Line(verb, sys.stderr)
    return _line


def tell(stage: str = "", share: float = -1.0) -> None:
    """What the verb at work does now (nothing: what it is for) and the share of it that is finished."""
    if _line is not None:
        _line.tell(stage, share)


def end() -> None:
    """No line from here on: somebody else writes to the terminal."""
    if _line is not None:
        _line.end()


def units(stage: str, done: int, total: int, before: int) -> None:
    """What studies and papers tell of their work: on the line, or as a plain line per stage where there is none."""
    stage = one_line(stage)  # names of collections are those of a file
    kept = f" ({before} kept from before)" if before else ""
    if _line is not None:
        _line.tell(f"{stage}{kept}", done / total if total else -1.0)
    elif not total:
        print(stage, file=sys.stderr, flush=True)
    elif done == before:
        print(f"{stage}: {total} unit{'s' * (total != 1)}{kept.replace(' (', ', ').rstrip(')')}", file=sys.stderr)
        sys.stderr.flush()
