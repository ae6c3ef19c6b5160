"""What a study is: vary x score x compare, declared by one decorated function.

    @register("power", help="which measure tells most pairs of runs apart", cite="sakai2006", figures={"": ("power",)})
    def power(lab: Lab, scoring: Scoring, runs: Runs, testing: Testing, *, pairs: bool = False) -> Result: ...

The keyword arguments are the study's options, and so are the fields of the groups it names before them (`asked`), in
Python and on the command line alike (options.OPTIONS says what they mean). The function plans work units and hands
them to `lab.run`, which runs them wherever the user wants them run and keeps finished ones; it then puts the values
together in a Result.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from unjudged.collection import Collection
from unjudged.errors import UsageError, nearest
from unjudged.results import Provenance, Result
from unjudged.studies.asked import Group
from unjudged.studies.execution import Unit, Work, run_units
from unjudged.studies.fingerprint import fingerprint, of_collection
from unjudged.studies.user_code import package_hash
from unjudged.studies.workdir import Arrays, Workdir

NAMES = (
    "agreement",
    "power",
    "swap",
    "stability",
    "reduction",
    "leave-team-out",
    "leave-run-out",
    "take-team",
    "depth",
    "correction",
    "reliability",
    "contributions",
)
"""The studies that come with the package; each has a module of its name (`leave_team_out.py`)."""

Progress = Callable[[str, int, int, int], None]
"""Told (stage, finished units, all units, units kept from before); may raise to stop the work."""


@dataclass(frozen=True)
class Study:
    """A study as declared; `own` are its keyword arguments, `groups` the option groups it names, by parameter.

    `figures` are the names of its charts: under "" those of the usual table, under an option's name those of the table
    it asks for, under "several" those added where collections stand side by side.
    """

    name: str
    function: Callable[..., Result]
    help: str
    cite: str
    own: Mapping[str, inspect.Parameter]
    groups: Mapping[str, type[Group]]
    figures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """Every option there is, those of the groups first."""
        inside = [inspect.signature(group).parameters for group in self.groups.values()]
        return {name: p for part in (*inside, self.own) for name, p in part.items()}

    @property
    def defaults(self) -> dict[str, Any]:
        """Its options and their values where none are given."""
        return {name: p.default for name, p in self.options.items()}

    def charts(self, options: Mapping[str, Any], several: bool = False) -> tuple[str, ...]:
        """Names of the charts its result will have with these options; none where they were not declared."""
        table = next((names for key, names in self.figures.items() if options.get(key)), self.figures.get("", ()))
        return (*table, *(self.figures.get("several", ()) if several else ()))

    def ready(self, options: Mapping[str, Any]) -> Callable[[Lab], Result]:
        """The study with these options, which are checked as far as they can be without a collection."""
        for option in options:
            if option not in self.options:
                there = ", ".join(self.options)
                raise UsageError(f"study {self.name} has no option {option!r}{nearest(option, self.options)}: {there}")
        asked: dict[str, Any] = {}
        for parameter, group in self.groups.items():
            inside = inspect.signature(group).parameters
            asked[parameter] = group(**{n: v for n, v in options.items() if n in inside})
        asked |= {n: v for n, v in options.items() if n in self.own}
        return lambda lab: self.function(lab, **asked)


REGISTRY: dict[str, Study] = {}
"""Studies declared so far: ours once they were asked for, and the user's own."""


def register(
    name: str, *, help: str, cite: str = "", figures: Mapping[str, tuple[str, ...]] | None = None
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Declare a study; its keyword arguments and groups become its options. Declaring a name again replaces it."""

    def declare(function: Callable[..., Result]) -> Callable[..., Result]:
        _, *parameters = inspect.signature(function).parameters.values()
        own = {p.name: p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
        named = [p.name for p in parameters if p.name not in own]
        hints = get_type_hints(function) if named else {}
        REGISTRY[name] = Study(name, function, help, cite, own, {n: hints[n] for n in named}, figures or {})
        return function

    return declare


def known() -> tuple[str, ...]:
    """Names of all studies: ours, then the user's."""
    ours = tuple(n for n in NAMES if importlib.util.find_spec(_module(n)) is not None)
    return (*ours, *(n for n in REGISTRY if n not in NAMES))


def _module(name: str) -> str:
    return f"unjudged.studies.{name.replace('-', '_')}"


def find(name: str) -> Study:
    """The study of this name, or a UsageError that names the nearest one."""
    name = name.replace("_", "-")
    if name not in REGISTRY and name in known():
        importlib.import_module(_module(name))
    if name not in REGISTRY:
        raise UsageError(f"no study {name!r}{nearest(name, known())}; there are {', '.join(known())}")
    return REGISTRY[name]


@dataclass
class Lab:
    """What a study works with: the collections, and a place to run units."""

    study: str
    cases: tuple[tuple[str, Collection], ...]
    executor: Executor | None = None
    jobs: int | None = None
    workdir: Workdir | None = None
    progress: Progress | None = None
    call: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def several(self) -> bool:
        """Are there collections side by side?"""
        return len(self.cases) > 1

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
        """What decides the values of units: this package's code, the work and its inputs."""
        try:
            return fingerprint(package_hash(), self.study, work, shared)
        except TypeError as problem:
            if self.workdir:
                raise UsageError(f"a work folder cannot keep the units of this study: {problem}") from None
            return secrets.token_hex(32)

    def _tell(self, stage: str, done: int, total: int, before: int) -> None:
        if self.progress is not None:
            self.progress(stage, done, total, before)

    def provenance(self, seed: int | None = None, **settings: Any) -> Provenance:
        """Where a result of this study comes from."""
        from unjudged import __version__

        first = self.cases[0][1]
        read = {**first.settings} if not self.several else {}
        sources = tuple(source for _, c in self.cases for source in c.sources)
        return Provenance(__version__, self.call, sources, {"study": self.study, **read, **settings}, seed)


def study(
    name: str,
    collection: Collection | Mapping[str, Collection] | Iterable[Collection],
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    workdir: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    call: str = "",
    **options: Any,
) -> Result:
    """Run a study: `uj.study("leave-team-out", c, measures="sakai2009", seed=1)`.

    `collection` is one Collection, or several side by side: {name: Collection}. `executor` is any
    concurrent.futures.Executor (Dask: `client.get_executor()`); without one the work is done in `jobs` local
    processes (default: as many as pay), in this one for jobs=1. `workdir` is a folder that keeps finished
    work units, so that the same call continues after an interruption. `progress` is told of every finished
    unit. The other arguments are the study's options (`unjudged study NAME --help`). The result does not
    depend on where the work was done.
    """
    found = find(name)
    ready = found.ready(options)
    cases = _cases(collection)
    if jobs is not None and jobs < 1:
        raise UsageError(f"the number of jobs must be at least 1, not {jobs}")
    kept = Workdir(workdir, {n: of_collection(c) for n, c in cases}) if workdir is not None else None
    lab = Lab(found.name, cases, executor, jobs, kept, progress, call)
    result = ready(lab)
    if kept is not None and kept.damaged:
        lab.notes.append(f"{kept.folder}: {kept.damaged} damaged work units were computed again")
    result.notes = (*result.notes, *lab.notes)
    return result


def _cases(collection: Any) -> tuple[tuple[str, Collection], ...]:
    if isinstance(collection, Collection):
        return (("collection", collection),)
    if isinstance(collection, Mapping):
        cases = tuple((str(n), c) for n, c in collection.items())
    elif isinstance(collection, Iterable):
        cases = tuple((f"collection {i}", c) for i, c in enumerate(collection, 1))
    else:
        cases = ()
    if not cases or not all(isinstance(c, Collection) for _, c in cases):
        raise UsageError("a study needs a Collection, or several as {name: Collection}")
    return cases
