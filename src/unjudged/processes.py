"""Processes of our own: they begin the same way on every system, and do not run the user's script again."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any


def context(preloaded: str) -> Any:
    """How processes begin; where one process makes the others, it has this module loaded."""
    ways = multiprocessing.get_all_start_methods()
    found = multiprocessing.get_context("forkserver" if "forkserver" in ways else "spawn")
    if "forkserver" in ways:
        found.set_forkserver_preload([preloaded])
    return found


def end_with_parent() -> None:
    """In a new process: end when the one that made it is gone. It would wait for work for ever."""
    threading.Thread(target=_end, daemon=True).start()


def _end() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """New processes do not run the user's script again: they need nothing of it, work and inputs are sent."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
