"""Sections of the report: what a reader may choose, and each question with its study's result and command."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Container, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.figures import Figure
from unjudged.io.files import is_input
from unjudged.measures import measures
from unjudged.measures.elsewhere import ElsewhereMeasure
from unjudged.options import check
from unjudged.results import Provenance, Result, Verdict
from unjudged.studies import QUESTIONS, find, study
from unjudged.studies.engine import leading
from unjudged.studies.engine.case import Source, words_of
from unjudged.studies.engine.slicing import slices_of
from unjudged.studies.judges import nobody_else, words_about
from unjudged.studies.questions import MEASURES, SLICES, Question
from unjudged.text import listed
from unjudged.thresholds import Thresholds

Progress = Callable[[str, float], None]
"""Told (key, share of all that is done); may raise to stop the work."""


class Cancelled(Exception):
    """Raised by a `Progress` to stop a computation."""


def silent(key: str, share: float) -> None:
    """Nobody is told."""


def share_of(
    place: int, tell: Callable[[float], None], many: int = len(QUESTIONS)
) -> Callable[[str, int, int, int], None]:
    """For the study of the question at this place of many: it tells the share of all done, which never falls."""
    reached = [0.0]

    def told(stage: str, done: int, total: int, before: int) -> None:
        reached[0] = max(reached[0], done / max(total, 1))
        tell((place + reached[0]) / many)

    return told


@dataclass(frozen=True, eq=False)
class Section:
    """One question and its answer: `.verdict`, `.plot()`, `.table()` and the rest are those of the study's result."""

    key: str
    question: str
    how: str
    result: Result
    command: tuple[str, ...] | None = None
    short: str = ""
    beside: Result | None = None

    @property
    def verdict(self) -> Verdict | None:
        """The study's verdict."""
        return self.result.verdict

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, one sentence each."""
        return self.result.notes

    def __repr__(self) -> str:
        said = f" {self.verdict.word}: {self.verdict.sentence}" if self.verdict else ""
        return f"<Section: {self.question}{said}>"

    def _repr_html_(self) -> str:
        """The question, its verdict and its table, for a notebook."""
        from html import escape

        return f"<h4>{escape(self.question)}</h4>{self.result._repr_html_()}"

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
        """As plain values, for JSON; a question that nobody was asked (no second judge) has no verdict."""
        whole = self.result.answer()
        return {
            "key": self.key,
            "question": self.question,
            "verdict": None if self.command is None else whole["verdict"],
            "notes": whole["notes"],
            "columns": whole["columns"],
            "rows": [list(row.values()) for row in whole["rows"]],
            "beside": None if self.beside is None else _plain(self.beside),
            "command": None if self.command is None else list(self.command),
        }


def _plain(result: Result) -> dict[str, Any]:
    whole = result.answer()
    return {"columns": whole["columns"], "rows": [list(row.values()) for row in whole["rows"]]}


@dataclass(frozen=True)
class Settings:
    """Measures (the first one leads), what counts how, and the pool: what the report hands to its studies.

    Measures that only a score table knows are no names but those of the table.
    """

    measures: tuple[Any, ...] = MEASURES
    rel: int | None = None
    unjudged: str = "nonrelevant"
    seed: int = 0
    depth: int | None = None
    pooled: str | tuple[str, ...] = "infer"

    def __post_init__(self) -> None:
        if not self.measures:
            raise UsageError("a report needs at least one measure")
        names = (m if isinstance(m, ElsewhereMeasure) else str(m) for m in measures(list(self.measures)))
        object.__setattr__(self, "measures", tuple(dict.fromkeys(names)))
        if not isinstance(self.pooled, str):
            object.__setattr__(self, "pooled", tuple(self.pooled))
        for name in ("unjudged", "seed", "depth"):
            check(name, getattr(self, name), "report")

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(replace(self, measures=MEASURES)), "measures": [str(m) for m in self.measures]}

    def options(self) -> dict[str, Any]:
        """As options of studies; what becomes of unjudged documents only where it was asked for: where runs are
        compared they are estimated, elsewhere nonrelevant."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        if given["unjudged"] == Settings.unjudged:
            del given["unjudged"]
        return given

    def leading(self) -> Settings:
        """The same with the measure that leads alone."""
        known = measures(list(self.measures))
        return replace(self, measures=(known[leading(known)],))

    def flags(self, names: Container[str]) -> list[str]:
        """These options as words of a command, where they are not what a question has anyway."""
        words: list[str] = []
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name not in names or value == f.default:
                continue
            if f.name == "measures":
                words += ["-m", ",".join(map(str, value))]
            elif isinstance(value, (str, int)):
                words += [f"--{f.name}", str(value)]
        return words


@dataclass(frozen=True, eq=False)
class Asking:
    """A collection (or a score table) under question: the settings, the limits, a second judge, and where the work is
    done. `slice` says which slice each topic is in (a file, or {topic: label}); `of_judges` what is known of the other
    judges: judge_rel, judge_scale and families, as the study `judges` takes them.

    The runs are looked at in order of their names, so that the order in which they were given shows nowhere.
    """

    collection: Source
    settings: Settings
    limits: Thresholds
    second: Any = None
    call: str = ""
    executor: Executor | None = None
    jobs: int | None = None
    workdir: str | os.PathLike[str] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    queries: Mapping[str, str] = field(default_factory=dict)
    slice: Any = None
    of_judges: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.collection, Collection):
            self._refuse_what_needs_judgments()
        if self.second is None and (told := [name for name, value in self.of_judges.items() if value]):
            raise UsageError(f"{listed(told)}: name the other judges, too (--second-judge FILE)")
        if self.slice is not None:
            slices_of(self.collection.topics, self.slice)  # what cannot be used is told before the work
        if len(self.collection.runs) < 2:
            raise UsageError("a report compares runs: at least two are needed")
        by_name = tuple(sorted(self.collection.runs))
        if by_name != self.collection.runs:
            object.__setattr__(self, "collection", self.collection.with_runs(by_name))

    def _refuse_what_needs_judgments(self) -> None:
        given = {name: getattr(self.settings, name) for name in ("rel", "unjudged", "depth", "pooled")}
        asked = [name for name, value in given.items() if value != getattr(Settings, name)]
        asked += ["second"] if self.second is not None else []
        if asked:
            raise UsageError(f"a score table has no judgments: leave out {listed(asked)}")

    @property
    def judged(self) -> Collection | None:
        """The collection; None of a score table."""
        return self.collection if isinstance(self.collection, Collection) else None

    @property
    def questions(self) -> dict[str, Question]:
        """What is asked: of scores, what they can answer; slices where somebody names them."""
        every = {**QUESTIONS, **({} if self.slice is None else {SLICES.key: SLICES})}
        if isinstance(self.collection, Collection):
            return every
        return {key: asked for key, asked in every.items() if find(asked.study).scores}

    def sections(self, progress: Progress = silent) -> Iterator[Section]:
        """The questions answered one by one, in the reader's order."""
        many = len(self.questions)
        for place, key in enumerate(self.questions):
            progress(key, place / many)

            yield self.section(key, share_of(place, functools.partial(progress, key), many))

    def section(self, key: str, progress: Callable[[str, int, int, int], None] | None = None) -> Section:
        """The answer to one question."""
        asked, name, options = self.questions[key], key, dict(self.more)
        settings = self.settings.leading() if asked.leading else self.settings
        chosen = settings.options()
        alone = key == "another-judge" and self.second is None
        if alone:
            name = "noise"
        pool = {"depth": chosen["depth"], "pooled": chosen["pooled"]}
        known = find(asked.asked_of(self.collection, pool)[0] if name == key else name).options
        given = {n: v for n, v in chosen.items() if n in known and (n != "measures" or n in asked.options)}
        options |= given
        words = ("study", key, *words_of(self.collection), *settings.flags(given))
        if key == "another-judge" and not alone:
            options |= {"second": self.second, **{name: value for name, value in self.of_judges.items() if value}}
            words = (*words, *(word for file in files_of(self.second) for word in ("--second-judge", file)))
            words = (*words, *words_about(self.of_judges))
        if asked is SLICES:
            options["slice"] = self.slice
            words = (*words, "--slice", *files_of([self.slice]))
        command = None if alone else words
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
            beside = None
            if asked.beside and (len(chosen["measures"]) > 1 or not asked.compared):
                also = {n: v for n, v in options.items() if n in find(asked.beside).options}
                also |= {} if asked.compared else {"measures": settings.leading().measures}
                also |= asked.beside_options
                beside = study(asked.beside, self.collection, jobs=self.jobs, workdir=self.workdir, **also)
        except UsageError as problem:  # what cannot be asked of this collection at all
            found, beside = self.unanswered(key, str(problem)), None
        if alone and isinstance(self.collection, Collection):
            found = found.with_verdict(nobody_else(self.collection, self.limits))
        return Section(key, asked.text, asked.how, found, command, asked.short or asked.text, beside)

    def unanswered(self, key: str, why: str) -> Result:
        """An empty table whose verdict says why there is no answer."""
        return self.result(
            ("question",), [], self.limits[key].unknown(f"this cannot be answered here: {why}", finding=why)
        )

    def result(self, columns: tuple[str, ...], rows: list[Any], verdict: Verdict | None = None) -> Result:
        """A table of the report's own, with its provenance."""
        return Result(columns, lambda: rows, self.provenance, verdict=verdict)

    @property
    def provenance(self) -> Provenance:
        """Where the report comes from."""
        from unjudged import __version__

        source = self.collection
        if not isinstance(source, Collection):
            read, files = {**source.provenance.settings}, source.provenance.inputs
        else:
            read, files = {**source.settings}, source.sources
        if isinstance(self.slice, (str, os.PathLike)):
            files = (*files, os.fspath(self.slice))
        settings = {**read, **self.settings.to_dict()}
        return Provenance(__version__, self.call, files, settings, self.settings.seed)


def files_of(second: Any) -> list[str]:
    """The files of other judges (or of slices) as a command names them; FILE for what is in memory."""
    given = list(second.values()) if isinstance(second, Mapping) else second
    found = []
    for one in given if isinstance(given, (list, tuple)) else [given]:
        source = one.judgments.source if isinstance(one, Collection) else one
        path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
        found.append(path if is_input(path) else "FILE")
    return found
