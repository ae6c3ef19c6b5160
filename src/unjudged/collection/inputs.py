"""Runs as they were given, held so that they can be read again: nobody's later change to a dict or a frame matters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from unjudged.collection.judgments import Judgments
from unjudged.errors import UsageError
from unjudged.io import dicts, files, formats, frames
from unjudged.io import qa as qa_io
from unjudged.io.trec import Reading, RunTable


@dataclass(frozen=True)
class RunInput:
    """One run and where it comes from: a file, lists in memory (a private copy), or a stream that has gone by."""

    name: str
    source: str | list[dicts.TopicList] | dict[str, tuple[str, ...]] | RunTable

    def read(self, judgments: Judgments, reading: Reading, seen: files.Unchanged, keep_docs: bool) -> RunTable:
        """Its hits, with the full lists if `keep_docs`."""
        index, topics = judgments.index, judgments.topics
        if isinstance(self.source, str):
            path, read_run = self.source, _reader(judgments)
            return seen.reading(path, lambda: read_run(path, index, topics, reading, self.name, keep_docs))
        if isinstance(self.source, RunTable):
            if keep_docs and self.source.docs is None:
                raise UsageError("standard input can be read once, this needs the full lists: give files")
            return self.source
        if isinstance(self.source, dict):
            return qa_io.run_from_answers(self.source, index, topics, reading, self.name, keep_docs)
        return dicts.run_from_topics(self.source, self.name, index, topics, reading, keep_docs)

    @property
    def read_once(self) -> bool:
        """Was it a stream, which cannot be read in another way?"""
        return isinstance(self.source, RunTable)


def run_inputs(runs: Any, judgments: Judgments, reading: Reading, lists: bool = True) -> tuple[RunInput, ...]:
    """The runs in any of the ways people hold them, in the order given.

    A stream is read here, with its full lists if `lists`: it can be read once.
    """
    found: dict[str, RunInput] = {}
    for name, run in _each(runs):
        if isinstance(run, RunInput):
            one = run
        elif isinstance(run, str) and files.read_once(run):
            given = None if run == files.STDIN else name
            table = _reader(judgments)(run, judgments.index, judgments.topics, reading, given, lists)
            one = RunInput(table.name, table)
        else:
            one = _held(name, run, judgments.group is not None)
        if one.name in found:
            raise UsageError(f"two runs are called {one.name}; names come from the files (or from the dict given)")
        found[one.name] = one
    return tuple(found.values())


def _each(runs: Any) -> Iterator[tuple[str, Any]]:
    """(name, file or object) of every run, in the order given."""
    if isinstance(runs, RunInput):
        yield runs.name, runs
    elif isinstance(runs, (str, os.PathLike)):
        yield from formats.runs(str(runs))
    elif frames.is_frame(runs):
        yield from frames.split_runs(runs)
    elif isinstance(runs, Mapping):
        if not _holds_runs(runs):
            yield "run", runs
            return
        for name, run in runs.items():
            if isinstance(run, (str, os.PathLike)):
                paths = [path for _, path in formats.runs(str(run))]
                if len(paths) != 1:
                    raise UsageError(f"run {name}: one file is needed, {run} stands for {len(paths)}")
                yield str(name), RunInput(str(name), paths[0])
            else:
                yield str(name), run
    elif isinstance(runs, Iterable):
        for run in runs:
            yield from _each(run)
    else:
        raise UsageError(f"runs can be files, dicts or data frames, not {type(runs).__name__}")


def _held(name: str, run: Any, answers: bool) -> RunInput:
    """A run of a file, a frame or a dict; of objects in memory, a private copy."""
    if isinstance(run, str):
        return RunInput(name, run)
    if frames.is_frame(run):
        return RunInput(name, list(frames.lists_of_frame(run, name)))
    if isinstance(run, Mapping) and answers:
        return RunInput(name, {question: tuple(said) for question, said in run.items()})
    if isinstance(run, Mapping):
        return RunInput(name, list(dicts.lists_of_dict(run, name)))
    raise UsageError(f"run {name} can be a file, a dict or a data frame, not {type(run).__name__}")


def _reader(judgments: Judgments) -> Callable[..., RunTable]:
    return formats.read_run if judgments.group is None else qa_io.read_answer_run


def _holds_runs(mapping: Mapping[Any, Any]) -> bool:
    """Does the dict name runs ({name: run}), or is it one run ({topic: {doc: score}})?"""
    for value in mapping.values():
        if not isinstance(value, Mapping):
            return not isinstance(value, (list, tuple))
        if value:
            return isinstance(next(iter(value.values())), Mapping)
    return False
