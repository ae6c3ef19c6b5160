"""A section of the report: a question, the study's result, and the command that gives the same answer alone."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.figures import Figure
from unjudged.reporting.settings import Settings
from unjudged.results import Provenance, Result, Verdict
from unjudged.studies import QUESTIONS, find, study
from unjudged.studies.engine.case import words_of
from unjudged.thresholds import Thresholds

Progress = Callable[[str, float], None]
"""Told (key, share of all that is done); may raise to stop the work."""


class Cancelled(Exception):
    """Raised by a `Progress` to stop a computation."""


def silent(key: str, share: float) -> None:
    """Nobody is told."""


def share_of(place: int, tell: Callable[[float], None]) -> Callable[[str, int, int, int], None]:
    """For the study of the question at this place: it tells the share of all questions done, which never falls."""
    reached = [0.0]

    def told(stage: str, done: int, total: int, before: int) -> None:
        reached[0] = max(reached[0], done / max(total, 1))
        tell((place + reached[0]) / len(QUESTIONS))

    return told


@dataclass(frozen=True, eq=False)
class Section:
    """One question and its answer: `.verdict`, `.plot()`, `.table()` and the rest are those of the study's result."""

    key: str
    question: str
    how: str
    result: Result
    command: tuple[str, ...] | None = None

    @property
    def verdict(self) -> Verdict | None:
        """The study's verdict."""
        return self.result.verdict

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, one sentence each."""
        return self.result.notes

    def plot(self, name: str | None = None) -> Figure:
        """The study's chart."""
        return self.result.plot(name)

    def table(self) -> str:
        """The result laid out for reading."""
        return self.result.table()

    def columns(self) -> dict[str, list[Any]]:
        """The tidy table column by column, as chart and CSV read it."""
        rows = list(self.result.rows())
        return {name: [row[i] for row in rows] for i, name in enumerate(self.result.columns)}

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        whole = self.result.to_dict()
        return {
            "key": self.key,
            "question": self.question,
            "verdict": whole["verdict"],
            "notes": whole["notes"],
            "columns": whole["columns"],
            "rows": [list(row.values()) for row in whole["rows"]],
            "command": None if self.command is None else list(self.command),
        }


@dataclass(frozen=True, eq=False)
class Asking:
    """A collection under question: the settings, the limits, a second judge, and where the work is done.

    The runs are looked at in order of their names, so that the order in which they were given shows nowhere.
    """

    collection: Collection
    settings: Settings
    limits: Thresholds
    second: Any = None
    call: str = ""
    executor: Executor | None = None
    jobs: int | None = None
    workdir: str | os.PathLike[str] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.collection.runs) < 2:
            raise UsageError("a report compares runs: at least two are needed")
        if len(self.collection.topics) < 2:
            raise UsageError("a report needs at least two judged topics")
        by_name = tuple(sorted(self.collection.runs))
        if by_name != self.collection.runs:
            object.__setattr__(self, "collection", self.collection.with_runs(by_name))

    def sections(self, progress: Progress = silent) -> Iterator[Section]:
        """The questions answered one by one, in the reader's order."""
        for place, key in enumerate(QUESTIONS):
            progress(key, place / len(QUESTIONS))

            yield self.section(key, share_of(place, functools.partial(progress, key)))

    def section(self, key: str, progress: Callable[[str, int, int, int], None] | None = None) -> Section:
        """The answer to one question."""
        asked, name, options = QUESTIONS[key], key, dict(self.more)
        words = ("study", key, *words_of(self.collection), *self.settings.flags())
        command: tuple[str, ...] | None = words
        if key == "another-judge":
            if self.second is None:
                name, command = "noise", None
            else:
                options["second"] = self.second
                command = (*words, "--second-judge", str(getattr(self.second, "sources", ["FILE"])[0]))
        chosen = self.settings.options()
        pool = {"depth": chosen["depth"], "pooled": chosen["pooled"]}
        known = find(asked.asked_of(self.collection, pool)[0] if name == key else name).options
        options |= {n: v for n, v in chosen.items() if n in known and (n != "measures" or n in asked.options)}
        try:
            found = study(
                name,
                self.collection,
                executor=self.executor,
                jobs=self.jobs,
                workdir=self.workdir,
                progress=progress,
                thresholds=self.limits,
                call=self.call,
                **options,
            )
        except UsageError as problem:  # what cannot be asked of this collection at all
            found = self.unanswered(key, str(problem))
        return Section(key, asked.text, asked.how, found, command)

    def unanswered(self, key: str, why: str) -> Result:
        """An empty table whose verdict says why there is no answer."""
        return self.result(("question",), [], self.limits[key].unknown(f"this cannot be answered here: {why}"))

    def result(self, columns: tuple[str, ...], rows: list[Any], verdict: Verdict | None = None) -> Result:
        """A table of the report's own, with its provenance."""
        return Result(columns, lambda: rows, self.provenance, verdict=verdict)

    @property
    def provenance(self) -> Provenance:
        """Where the report comes from."""
        from unjudged import __version__

        settings = {**self.collection.settings, **self.settings.to_dict()}
        return Provenance(__version__, self.call, self.collection.sources, settings, self.settings.seed)
