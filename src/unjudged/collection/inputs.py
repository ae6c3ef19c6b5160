"""Runs as they were given, held so that they can be read again: nobody's later change to a dict or a frame matters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
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
    answers = judgments.group is not None

    def add(run: RunInput) -> None:
        if run.name in found:
            raise UsageError(f"two runs are called {run.name}; names come from the files (or from the dict given)")
        found[run.name] = run

    def add_named(name: str, run: Any) -> None:
        if isinstance(run, (str, os.PathLike)):
            paths = [path for _, path in formats.runs(str(run))]
            if len(paths) != 1:
                raise UsageError(f"run {name}: one file is needed, {run} stands for {len(paths)}")
            add(RunInput(name, paths[0]))
        elif frames.is_frame(run):
            add(RunInput(name, list(frames.lists_of_frame(run, name))))
        elif isinstance(run, Mapping) and answers:
            add(RunInput(name, {question: tuple(said) for question, said in run.items()}))
        elif isinstance(run, Mapping):
            add(RunInput(name, list(dicts.lists_of_dict(run, name))))
        else:
            raise UsageError(f"run {name} can be a file, a dict or a data frame, not {type(run).__name__}")

    def add_any(run: Any) -> None:
        if isinstance(run, RunInput):
            add(run)
        elif isinstance(run, (str, os.PathLike)):
            for name, path in formats.runs(str(run)):
                if files.read_once(path):
                    given = None if path == files.STDIN else name
                    table = _reader(judgments)(path, judgments.index, judgments.topics, reading, given, lists)
                    add(RunInput(table.name, table))
                else:
                    add_named(name, path)
        elif frames.is_frame(run):
            for name, part in frames.split_runs(run):
                add_named(name, part)
        elif isinstance(run, Mapping):
            if _holds_runs(run):
                for name, part in run.items():
                    add_named(str(name), part)
            else:
                add_named("run", run)
        elif isinstance(run, Iterable):
            for part in run:
                add_any(part)
        else:
            raise UsageError(f"runs can be files, dicts or data frames, not {type(run).__name__}")

    add_any(runs)
    return tuple(found.values())


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
