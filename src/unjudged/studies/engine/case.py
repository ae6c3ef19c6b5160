"""Case: the one collection (or scores) a study looks at, and the place where its work units run."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.io.files import is_input, not_data
from unjudged.score_tables import is_table
from unjudged.scoring import Scores
from unjudged.studies.engine.execution import Unit, Work, run_units
from unjudged.studies.engine.fingerprint import fingerprint
from unjudged.studies.engine.user_code import package_hash
from unjudged.studies.engine.workdir import Arrays, Workdir
from unjudged.thresholds import Thresholds

if TYPE_CHECKING:
    from unjudged.results import Step

Source = Collection | Scores
"""What a study looks at."""

Progress = Callable[[str, int, int, int], None]
"""Told (stage, finished units, all units, units kept from before); may raise to stop the work."""


@dataclass(frozen=True, eq=False)
class Workplace:
    """Where units run, and where finished ones are kept."""

    study: str
    executor: Executor | None = None
    jobs: int | None = None
    workdir: Workdir | None = None
    progress: Progress | None = None

    def run(self, work: Work, shared: Any, units: Sequence[Unit], stage: str) -> list[Arrays]:
        """The value of every unit, in their order; kept ones are not computed again."""
        task = self._fingerprint(work, shared)
        keys = [fingerprint(task, unit) for unit in units] if self.workdir else []
        values: dict[int, Arrays] = {}
        if self.workdir:
            values = {i: kept for i, key in enumerate(keys) if (kept := self.workdir.load(key)) is not None}
        before = len(values)
        self._tell(stage, before, len(units), before)
        left = [i for i in range(len(units)) if i not in values]
        running = run_units(work, shared, [units[i] for i in left], task, executor=self.executor, jobs=self.jobs)
        with contextlib.closing(running):  # whatever stops us stops the workers
            for place, value in running:
                values[left[place]] = value
                if self.workdir:
                    self.workdir.keep(keys[left[place]], value)
                self._tell(stage, len(values), len(units), before)
        return [values[i] for i in range(len(units))]

    def _fingerprint(self, work: Work, shared: Any) -> str:
        """What decides the values of units: this package's code, the work and its inputs. Where nobody keeps units, and
        no executor holds inputs of earlier work, it need only be another one each time."""
        if self.workdir is None and self.executor is None:
            return secrets.token_hex(32)
        try:
            return fingerprint(package_hash(), self.study, work, shared)
        except TypeError as problem:
            if self.workdir:
                raise UsageError(f"a work folder cannot keep the units of this study: {problem}") from None
            return secrets.token_hex(32)

    def _tell(self, stage: str, done: int, total: int, before: int) -> None:
        if self.progress is not None:
            self.progress(stage, done, total, before)


@dataclass(frozen=True, eq=False)
class Case:
    """One collection of a study: its name, the limits of verdicts, and a place to run units.

    `source` is a Collection, or Scores where the study works without judgments. Notes written here reach the reader.
    """

    name: str
    source: Source
    place: Workplace
    limits: Thresholds
    several: bool = False
    notes: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """Sentences for the caption."""
    at_once: int = 1
    """Number of slices of the topics this is one of: what is said should hold in all of them at once."""

    @property
    def collection(self) -> Collection:
        """The collection; scores alone are refused."""
        if isinstance(self.source, Collection):
            return self.source
        raise UsageError("this needs the collection (uj.load), scores are not enough")

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return self.source.runs

    @property
    def topics(self) -> tuple[str, ...]:
        """The judged (or scored) topics."""
        return self.source.topics

    @property
    def sources(self) -> tuple[str, ...]:
        """Files and objects the numbers come from."""
        return self.source.sources if isinstance(self.source, Collection) else self.source.provenance.inputs

    @property
    def settings(self) -> dict[str, Any]:
        """How they were read (and, for scores, scored)."""
        return dict(self.source.settings if isinstance(self.source, Collection) else self.source.provenance.settings)

    def note(self, text: str) -> None:
        """Something the reader should know, with the collection's name where there are several."""
        self.notes.append(f"{self.name}: {text}" if self.several else text)

    def run(self, work: Work, shared: Any, units: Sequence[Unit], what: str) -> list[Arrays]:
        """The value of every unit, in their order. `what` is told while they run."""
        return self.place.run(work, shared, units, self._stage(what))

    def tell(self, what: str) -> None:
        """Tell something at once, before the work goes on: a stage without units."""
        if self.place.progress is not None:
            self.place.progress(self._stage(what), 0, 0, 0)

    def _stage(self, what: str) -> str:
        return f"{self.place.study}, {self.name}: {what}" if self.several else f"{self.place.study}: {what}"

    def step(self, sentence: str, *verb: str, flags: Sequence[str] = (), effect: str = "") -> Step:
        """A next step: the command is `verb`, the files of this collection as they were read, then `flags`; `effect`
        is what it is expected to change."""
        from unjudged.results import Step

        if isinstance(self.source, Scores) and verb and all(Path(file).is_file() for file in self.sources):
            command = (*verb, "--scores", *self.sources, *flags) if is_table(self.source) else ()
            return Step(sentence, command, effect)
        if not isinstance(self.source, Collection) or not verb:
            return Step(sentence, effect=effect)
        return Step(sentence, (*verb, *words_of(self.source), *flags), effect)


def words_of(collection: Source) -> tuple[str, ...]:
    """A collection as the words of a command that reads it so: judgments, runs (or their folder) and reading options;
    a score table as --scores with its files.

    `QRELS`, `RUN` and `FILE` stand for objects in memory.
    """
    if isinstance(collection, Scores):
        files, rule = collection.provenance.inputs, collection.provenance.settings.get("missing", "refuse")
        known = is_table(collection) and files and all(Path(file).is_file() for file in files)
        return ("--scores", *(files if known else ["FILE"]), *(() if rule == "refuse" else ("--missing", rule)))
    qrels, *runs = collection.full.sources
    read = collection.settings
    words = [qrels if is_input(qrels) else "QRELS", *_runs(runs)]
    if read.get("teams"):
        words += ["--teams", str(read["teams"])]
    if read["ties"] != "trec10":
        words += ["--ties", read["ties"]]
    if read["truncate"] is not None:
        words += ["--truncate", str(read["truncate"])]
    if read["only"]:
        words += ["--only", read["only"]]
    if read["negative grades"] != "unjudged":
        words += ["--negative", read["negative grades"]]
    if isinstance(read["gains"], dict):
        words += ["--gains", ",".join(f"{grade}:{gain:g}" for grade, gain in read["gains"].items())]
    words += [f"--{flag}" for flag in ("lenient", "strict", "qa") if read.get(flag)]
    if read.get("same answer"):
        words += ["--same-answer", read["same answer"]]
    for name in ("units", "tokens", "lengths"):
        if read.get(name) is not None:
            words += [f"--{name}", str(read[name])]
    return tuple(words)


def _runs(files: list[str]) -> list[str]:
    """The files of runs; the folder of those that are all there is in it."""
    if not all(Path(file).is_file() for file in files):
        return ["RUN"]
    names: dict[Path, set[str]] = {}
    for file in files:
        names.setdefault(Path(file).parent, set()).add(Path(file).name)
    whole = {
        folder
        for folder, here in names.items()
        if len(here) > 1 and here == {path.name for path in folder.iterdir() if not not_data(path.name)}
    }
    return list(dict.fromkeys(str(Path(f).parent) if Path(f).parent in whole else f for f in files))
