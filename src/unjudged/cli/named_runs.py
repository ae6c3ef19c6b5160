"""Runs that an option names (`--new`, `--baseline`): by their name among the runs given, or by a file of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from unjudged.io import files


def with_files(runs: list[str], asked: Iterable[str | None]) -> list[str]:
    """The runs given, and the new run and the baseline where they are files of their own."""
    own = [name for name in asked if name is not None and Path(name).is_file()]
    if not own:
        return runs
    names = {files.run_name(path) for run in runs for path in files.expand(run)}
    return [*runs, *dict.fromkeys(name for name in own if files.run_name(name) not in names)]


def named(given: str | None, runs: Sequence[str]) -> str | None:
    """A run's name; its file may be given instead."""
    if given is None or given in runs:
        return given
    return files.called(given, runs)
