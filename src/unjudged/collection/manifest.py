"""Manifests: several collections described in one TOML file, each with its own files, topics, pool and grades.

    [robust03]
    judgments = "robust03/qrels.txt.gz"   # files lie relative to the manifest
    runs = "robust03/runs"                # a file, folder or glob, or a list of them
    teams = "robust03/teams.tsv"
    only = "601-650"
    pooled = "all"

    [[collection]]                        # the same, where the name is no word
    name = "TREC 2"
    ...

Everything that can be wrong with a manifest is told, with its line, before the first judgment is read.
"""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from unjudged.collection.collection import Collection
from unjudged.collection.load import read_collection
from unjudged.collection.pool import read_pooled
from unjudged.collection.topics import NoneOfTheTopics
from unjudged.errors import DataWarning, InputError, UnjudgedError, UsageError, nearest, one_of, some
from unjudged.io import files, formats
from unjudged.io.teams import read_teams
from unjudged.io.toml import parsed
from unjudged.io.trec import Reading
from unjudged.options import check, gains

_LINES = ("ties", "truncate", "lenient", "strict", "same_answer", "units")
READING = (*_LINES, "negative", "qrels_format", "qa", "only", "gains")
"""Keys that say how the files of a collection are read, as in `load`."""
OF_STUDIES = ("pooled", "depth", "tolerance", "rel")
"""Keys that studies are told about one collection alone."""
_FIRST = ("name", "judgments", "runs", "teams", "pooled", "depth", "only", "rel", "gains", "qa")
KEYS = (*_FIRST, *(key for key in (*READING, *OF_STUDIES) if key not in _FIRST))
SEVERAL = "collection"
"""The table that stands for a collection with the key `name`."""


class Collections(Mapping[str, Collection]):
    """Collections by name, as studies take them; `.settings[name]` are options that hold for one of them alone."""

    def __init__(self, found: Mapping[str, Collection], settings: Mapping[str, Mapping[str, Any]]) -> None:
        self._found = dict(found)
        self.settings: dict[str, dict[str, Any]] = {name: dict(settings.get(name, {})) for name in found}

    def __getitem__(self, name: str) -> Collection:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<Collections: {', '.join(self._found)}>"

    def where(self, condition: Callable[[Collection], bool]) -> Collections:
        """Those of them that fulfil a condition, with their settings."""
        return Collections({n: c for n, c in self._found.items() if condition(c)}, self.settings)


def load_manifest(
    path: str | os.PathLike[str], names: str | Sequence[str] | None = None, *, jobs: int | None = None, **reading: Any
) -> Collections:
    """The collections a TOML file describes, by name: `uj.study("power", uj.load_manifest("collections.toml"))`.

    One table per collection, with the keys judgments and runs, and where needed name, teams, pooled, depth, tolerance,
    only, rel, gains, qa, same_answer, units, lenient, strict, ties, truncate, negative and qrels_format: what the
    options of the same name mean, for this collection alone. Files lie relative to the manifest. `names` chooses
    some of the collections; the other arguments are those of `load` and hold for collections that do not say otherwise.
    """
    found, notes = read_manifest(path, names, jobs=jobs, **reading)
    for note in notes:
        warnings.warn(note, DataWarning, stacklevel=2)
    return found


def read_manifest(
    path: str | os.PathLike[str], names: str | Sequence[str] | None = None, *, jobs: int | None = None, **reading: Any
) -> tuple[Collections, list[str]]:
    """`load_manifest` without the warnings: the collections, and what a reader should know of them."""
    for key in reading:
        if key not in READING:
            raise UsageError(f"a manifest has no way of reading {key!r}{nearest(key, READING)}")
    entries = described(path, names)
    found: dict[str, Collection] = {}
    notes: list[str] = []
    for entry in entries:
        collection, told = entry.read({**reading, **entry.reading}, jobs)
        found[entry.name] = collection
        notes += [f"{entry.name}: {note}" for note in (*told, *collection.notes)]
    return Collections(found, {entry.name: entry.settings for entry in entries}), notes


@dataclass(frozen=True)
class Entry:
    """One collection as described: its files are there, its keys have values that mean something."""

    name: str
    judgments: str
    runs: tuple[str, ...]
    teams: str | None
    reading: Mapping[str, Any]
    settings: Mapping[str, Any]
    source: str
    line: int | None

    def read(self, how: Mapping[str, Any], jobs: int | None) -> tuple[Collection, list[str]]:
        """The collection; topics asked for in general (not in its table) need not be there."""
        how = {key: value for key, value in how.items() if value is not None}
        plain = {key: how.pop(key) for key in _LINES if key in how}
        more = {"teams": self.teams, "jobs": jobs, **how}
        try:
            return read_collection(self.judgments, list(self.runs), Reading(**plain), **more), []
        except NoneOfTheTopics as problem:
            if "only" in self.reading:
                raise InputError(f"only: {problem}", self.source, self.line) from None
            collection = read_collection(self.judgments, list(self.runs), Reading(**plain), **{**more, "only": None})
            return collection, [f"none of the topics {how['only']} is judged here; all of its topics are used"]


def described(path: str | os.PathLike[str], names: str | Sequence[str] | None = None) -> list[Entry]:
    """The collections of a manifest (all, or those named), checked as far as possible without reading them."""
    source = os.fspath(path)
    text = files.read_all(source).decode("utf-8", "replace")
    tables = parsed(text, source)
    places = _Places.of(text)
    found: dict[str, _Table] = {}
    for key, value in tables.items():
        several = key == SEVERAL and isinstance(value, list)
        for number, table in enumerate(value if several else [value]):
            one = _Table(source, places, (key, number), table)
            if not isinstance(table, dict):
                one.refuse("", f"a collection is a table, [{key}] with the keys judgments and runs")
            name = one.name(None if several else key)
            if name in found:
                one.refuse("name", f"two collections are called {name}")
            found[name] = one
    if not found:
        raise InputError("no collection in this manifest: it needs tables [NAME] with judgments and runs", source)
    wanted = list(found) if names is None else [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in found:
            raise InputError(f"no collection {name!r}{nearest(name, found)}; there are {', '.join(found)}", source)
    every = {name: table.entry(name) for name, table in found.items()}  # a mistake anywhere is a mistake
    return [every[name] for name in dict.fromkeys(wanted)]


# -- where things stand in the file

Place = tuple[str, int]
"""A table by its name, and its number among those of the same name (`[[collection]]`)."""


@dataclass(frozen=True)
class _Places:
    """The lines of tables and keys: TOML readers do not tell them."""

    tables: dict[Place, int] = field(default_factory=dict)
    keys: dict[tuple[Place, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> _Places:
        made = cls()
        place: Place | None = None
        inside = False
        for number, line in enumerate(text.split("\n"), 1):
            if head := re.match(r"\s*\[\[?\s*(.+?)\s*\]\]?\s*(#.*)?$", line):
                names = ["".join(part) for part in re.findall(r'"([^"]*)"|\'([^\']*)\'|([^.\s"\']+)', head[1])]
                if len(names) == 1 and line.lstrip().startswith("[["):
                    place = names[0], sum(known == names[0] for known, _ in made.tables)
                else:
                    place = next((known for known in reversed(made.tables) if known[0] == names[0]), (names[0], 0))
                inside = len(names) > 1
                made.tables.setdefault(place, number)
                if inside:
                    made.keys.setdefault((place, names[1]), number)
            elif (key := re.match(r"\s*[\"']?([^\s=\"'.]+)[\"']?\s*(?:\.\s*([^\s=]+)\s*)?=", line)) and not inside:
                if place is None:
                    made.tables.setdefault((key[1], 0), number)
                    made.keys.setdefault(((key[1], 0), key[2] or ""), number)
                else:
                    made.keys.setdefault((place, key[1]), number)
        return made

    def line(self, place: Place, key: str) -> int | None:
        """The line of a key, or that of its table."""
        return self.keys.get((place, key), self.tables.get(place))


# -- one table


@dataclass(frozen=True)
class _Table:
    """The table of one collection, and where it stands."""

    source: str
    places: _Places
    place: Place
    values: Mapping[str, Any]

    def refuse(self, key: str, why: str) -> NoReturn:
        """An InputError with the line of the key."""
        raise InputError(why, self.source, self.places.line(self.place, key))

    def name(self, table: str | None) -> str:
        """The collection's name: the key `name`, else that of its table."""
        given = self.values.get("name", table)
        if given is None:
            self.refuse("", f"a table [[{SEVERAL}]] needs the key name")
        if not isinstance(given, str) or not given.strip():
            self.refuse("name", f"the name of a collection is text, not {given!r}")
        return str(given).strip()

    def entry(self, name: str) -> Entry:
        """The collection, checked: keys, kinds of values, files, and names of runs."""
        for key in self.values:
            if key not in KEYS:
                self.refuse(key, f"a collection has no key {key!r}{nearest(key, KEYS)}; there are {', '.join(KEYS)}")
        for key in ("judgments", "runs"):
            if key not in self.values:
                self.refuse("", f"collection {name} needs the key {key}")
        judgments = self._file("judgments", self.values["judgments"])
        runs = self._runs()
        teams = self._file("teams", self.values["teams"]) if "teams" in self.values else None
        if teams is not None:
            self._name_runs("teams", teams, list(read_teams(teams)), runs)
        reading = {key: self._read(key) for key in READING if key in self.values}
        settings = {key: self._read(key) for key in OF_STUDIES if key in self.values}
        pooled = settings.get("pooled")
        if pooled is not None and pooled not in ("infer", "all"):
            named = read_pooled(pooled) if isinstance(pooled, str) else pooled
            self._name_runs("pooled", pooled if isinstance(pooled, str) else "the list", named, runs)
        line = self.places.line(self.place, "only")
        return Entry(name, judgments, tuple(runs), teams, reading, settings, self.source, line)

    def _path(self, text: str) -> str:
        if text.startswith(formats.DATASET):
            return text
        with contextlib.suppress(RuntimeError):  # the home of a user who is not there
            return str(Path(self.source).parent / Path(text).expanduser())
        return str(Path(self.source).parent / text)

    def _file(self, key: str, given: Any) -> str:
        """A file (or folder) of this collection."""
        if not isinstance(given, str) or not given:
            self.refuse(key, f"{key} is a file name, not {given!r}")
        path = self._path(given)
        if Path(path).exists() or path.startswith(formats.DATASET):
            return path
        if key == "judgments" and formats.qrels_format(given) == "ir_datasets":
            return str(given)
        return self.refuse(key, f"{key}: there is no file {path}")

    def _runs(self) -> dict[str, str]:
        """Path -> name of every run; at least one."""
        given = self.values["runs"]
        specs = [given] if isinstance(given, str) else given
        if not isinstance(specs, list) or not specs or not all(isinstance(s, str) and s for s in specs):
            self.refuse("runs", f"runs are a file, folder or glob, or a list of them, not {given!r}")
        found: dict[str, str] = {}
        for spec in specs:
            path = self._path(spec)
            if not any(sign in path for sign in "*?[") and not path.startswith(formats.DATASET):
                self._file("runs", spec)
            try:
                found |= {where: name for name, where in formats.runs(path)}
            except UnjudgedError as problem:
                self.refuse("runs", f"runs: {problem}")
        if not found:
            self.refuse("runs", f"runs: nothing is there ({', '.join(map(self._path, specs))})")
        return found

    def _name_runs(self, key: str, where: str, named: Sequence[str], runs: Mapping[str, str]) -> None:
        """Refuse names of which none is a run of this collection."""
        if not {files.called(name, runs.values()) for name in named} & set(runs.values()):
            told, there = some(list(named), 3), some(sorted(runs.values()), 3)
            self.refuse(key, f"{key}: {where} names no run of this collection (it names {told}; the runs are {there})")

    def _read(self, key: str) -> Any:
        """The value of a key that is an option elsewhere, refused where it means nothing."""
        value = self.values[key]
        whole = isinstance(value, int) and not isinstance(value, bool)
        kinds: dict[str, tuple[bool, str]] = {
            **dict.fromkeys(("qa", "lenient", "strict"), (isinstance(value, bool), "true or false")),
            **dict.fromkeys(("depth", "rel", "truncate"), (whole, "a whole number")),
            **dict.fromkeys(
                ("ties", "same_answer", "units", "negative", "qrels_format", "only"), (isinstance(value, str), "text")
            ),
            "tolerance": (whole or isinstance(value, float), "a number"),
            "gains": (isinstance(value, (str, dict)), "the gain of each grade, as {1 = 1, 2 = 3}"),
            "pooled": (
                isinstance(value, str) or (isinstance(value, list) and all(isinstance(v, str) for v in value)),
                "infer, all, a file, or a list of runs",
            ),
        }
        right, wanted = kinds[key]
        if not right:
            self.refuse(key, f"{key} is {wanted}, not {value!r}")
        try:
            if key == "gains":
                return gains(value if isinstance(value, str) else ",".join(f"{g}:{v}" for g, v in value.items()))
            if key == "pooled" and isinstance(value, str) and value not in ("infer", "all"):
                return self._file("pooled", value)
            check(key, value)
            if key in _LINES:
                Reading(**{key: value})
            if key == "qrels_format":
                one_of(value, formats.QRELS_FORMATS, "format of judgments")
        except UsageError as problem:
            self.refuse(key, str(problem))
        return value
