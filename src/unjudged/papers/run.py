"""`paper`: the studies of a paper, each done once, and its tables, figures and findings made from them."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unjudged.collection import Collection
from unjudged.collection.manifest import Collections
from unjudged.errors import UsageError
from unjudged.options import check, option
from unjudged.papers import find
from unjudged.papers.declaration import Asked, Finding, Item, Panel, Paper
from unjudged.papers.found import Found, NotHere
from unjudged.papers.made import Decided, Made, PaperResult
from unjudged.results import Provenance, Result, Verdict
from unjudged.studies import find as find_study
from unjudged.studies import study
from unjudged.studies.engine import Progress
from unjudged.thresholds import Thresholds, read_thresholds


def paper(
    name: str,
    collections: Any,
    *,
    table: int | Sequence[int] | None = None,
    figure: int | Sequence[int] | None = None,
    out: str | os.PathLike[str] | None = None,
    seed: int = 0,
    trials: int | None = None,
    resamples: int | None = None,
    executor: Executor | None = None,
    jobs: int | None = None,
    workdir: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    thresholds: str | os.PathLike[str] | Thresholds | None = None,
    call: str = "",
) -> PaperResult:
    """Every table and figure of a paper for one's own collections: `uj.paper("sakai2009", c, out="sakai2009/")`.

    `name` is sakai2005, sakai2007, sakai2009 or lipani2015. `collections` is a Collection, {name: Collection}, or what
    `uj.load_manifest` gives. `table` and `figure` choose numbers of the paper; without them all are made. The result
    lists the paper's findings and whether each holds here; `["Table 3"]` is one table, `.render("markdown")` the page.
    `out` is a folder for the page (HTML and Markdown), the tables (CSV and LaTeX) and the figures (SVG). `seed`,
    `trials` (of the swap method) and `resamples` (of the bootstrap test) change those of the studies; `workdir` keeps
    finished work, so that the same call continues; `executor`, `jobs`, `progress` and `thresholds` as for `study`.
    """
    chosen = find(name)
    items = chosen.chosen(_numbers(table), _numbers(figure))
    limits = thresholds if isinstance(thresholds, Thresholds) else read_thresholds(thresholds)
    given = {"seed": seed, "trials": trials, "resamples": resamples}
    for what, value in given.items():
        check(what, value)
    sources = named(collections)
    whole = len(items) == len(chosen.items)
    wanted = [key for key in chosen.studies if whole or any(key in item.needs for item in items)]
    with _folder(workdir) as folder:
        place = _Place(
            executor, jobs, folder, progress, limits, call, {k: v for k, v in given.items() if v is not None}
        )
        found = place.found(chosen, sources, wanted)
    made = [_made(item, found) for item in items]
    decided = [_decided(finding, found, limits) for finding in chosen.findings if set(finding.needs) & set(wanted)]
    provenance = Provenance.of(
        call,
        tuple(source for collection in sources.values() for source in collection.sources),
        {"paper": chosen.name, **place.given, "collections": {n: dict(c.settings) for n, c in sources.items()}},
        seed,
    )
    result = PaperResult(chosen, made, decided, provenance, found)
    if out is not None:
        result.save(out)
    return result


def _numbers(given: int | Sequence[int] | None) -> list[int] | None:
    return None if given is None else [given] if isinstance(given, int) else list(given)


def named(collections: Any) -> Collections:
    """The collections by name, with what a manifest says of each."""
    if isinstance(collections, Collections):
        found = collections
    elif isinstance(collections, Collection):
        found = Collections({"collection": collections}, {})
    elif isinstance(collections, Mapping) and all(isinstance(c, Collection) for c in collections.values()):
        found = Collections({str(name): c for name, c in collections.items()}, {})
    else:
        raise UsageError("a paper needs a Collection, or several as {name: Collection}")
    if not found:
        raise UsageError("a paper needs at least one collection")
    return Collections({name: _by_name(collection) for name, collection in found.items()}, found.settings)


def _by_name(collection: Collection) -> Collection:
    """Its runs in order of their names, so that the order in which they were given shows nowhere."""
    names = tuple(sorted(collection.runs))
    return collection if names == collection.runs else collection.with_runs(names)


@contextlib.contextmanager
def _folder(given: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Where finished work is kept: studies of one paper share it."""
    if given is not None:
        yield Path(given)
        return
    with tempfile.TemporaryDirectory(prefix="unjudged-paper-") as folder:
        yield Path(folder)


@dataclass(frozen=True, eq=False)
class _Place:
    """Where and how the studies are done."""

    executor: Executor | None
    jobs: int | None
    folder: Path
    progress: Progress | None
    limits: Thresholds
    call: str
    given: Mapping[str, Any]

    def found(self, paper: Paper, sources: Collections, wanted: Sequence[str]) -> Found:
        """Every study, one after the other; what cannot be done is told, and the others go on."""
        results: dict[str, Result] = {}
        absent: dict[str, dict[str, str]] = {}
        names: dict[str, tuple[str, ...]] = {}
        for place, key in enumerate(wanted):
            self._tell(f"paper {paper.name}: studies", place, len(wanted))
            asked = paper.studies[key]
            absent[key] = {}
            fitting = self._fitting(asked, sources, absent[key])
            result, done = self._studied(asked, fitting, absent[key])
            if result is not None:
                results[key], names[key] = result, tuple(done)
        self._tell(f"paper {paper.name}: studies", len(wanted), len(wanted))
        return Found(paper, sources, results, absent, names)

    def _fitting(self, asked: Asked, sources: Collections, absent: dict[str, str]) -> Collections:
        """The collections a study is meant for; why others are not is put into `absent`."""
        kind = sources.where(lambda c: (c.judgments.group is not None) == asked.questions)
        if not kind:
            absent[""] = (
                "this needs a collection of questions and answers (qa = true in the manifest)"
                if asked.questions
                else "this needs a collection of documents, not of answers"
            )
        if not asked.teams:
            return kind
        for name, collection in kind.items():
            if not collection.teams:
                absent[name] = f"{name}: this needs the teams of the runs (teams = FILE in the manifest, or --teams)"
        return kind.where(lambda c: bool(c.teams))

    def _studied(self, asked: Asked, fitting: Collections, absent: dict[str, str]) -> tuple[Result | None, Collections]:
        """The study of these collections; one that it cannot be asked of is told and left aside."""
        known = find_study(asked.study).options
        options = {**asked.options, **{k: v for k, v in self.given.items() if k in known}}
        while fitting:
            try:
                result = study(
                    asked.study,
                    fitting,
                    executor=self.executor,
                    jobs=self.jobs,
                    workdir=self.folder / _folder_name(fitting),
                    progress=self.progress,
                    thresholds=self.limits,
                    call=self.call,
                    **options,
                )
            except UsageError as problem:
                why = str(problem)
                named = [n for n in fitting if why.startswith(f"{n}: ")] or (list(fitting) if len(fitting) == 1 else [])
                if not named:
                    raise
                absent[named[0]] = why if why.startswith(f"{named[0]}: ") else f"{named[0]}: {why}"
                self._tell(f"{asked.study}: {absent[named[0]]}", 0, 0)
                left = [n for n in fitting if n != named[0]]
                fitting = Collections({n: fitting[n] for n in left}, fitting.settings)
                continue
            return result, fitting
        return None, fitting

    def _tell(self, stage: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(stage, done, total, 0)


def _folder_name(collections: Collections) -> str:
    """A work folder belongs to one set of collections."""
    return re.sub(r"[^\w.-]+", "_", "+".join(collections))[:120]


def _made(item: Item, found: Found) -> Made:
    """A table or figure, or why it is not there."""
    try:
        panels: Sequence[Panel] = item.make(found)
    except NotHere as why:
        return Made(item, (), str(why), ())
    left = dict.fromkeys(why for key in item.needs for name, why in found.absent.get(key, {}).items() if name)
    for key in item.needs:
        silent = [name for name in found.names.get(key, ()) if name not in found.told(key)]
        left |= dict.fromkeys(f"{name}: {found.why_nothing((key,), name)}" for name in silent)
    return Made(item, tuple(panels), "", tuple(left), _commands(item, found))


def _commands(item: Item, found: Found) -> tuple[tuple[str, ...], ...]:
    """The studies behind a table, as commands."""
    return tuple(_command(found.paper.studies[key]) for key in item.needs if key in found.results)


def _command(asked: Asked) -> tuple[str, ...]:
    words = ["study", asked.study, "--collections", "FILE"]
    for name, value in asked.options.items():
        flag = option(name, f"study {asked.study}").spellings[0]
        if value is True:
            words.append(flag)
        else:
            words += [flag, ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)]
    return tuple(words)


def _decided(finding: Finding, found: Found, limits: Thresholds) -> Decided:
    """Whether a finding holds, in every collection it can be asked of."""
    limit = limits["paper-generally"] if finding.generally else limits["paper-not-always"]
    verdicts: dict[str, tuple[Verdict, int, int, tuple[str, ...]]] = {}
    for name in found.collections:
        if not any(name in found.names.get(key, ()) for key in finding.needs):
            continue
        try:
            checks = list(finding.checks(found, name))
        except (NotHere, KeyError):
            checks = []
        agree = sum(agrees for _, agrees in checks)
        if not checks:
            verdicts[name] = (limit.unknown(found.why_nothing(finding.needs, name)), 0, 0, ())
            continue
        against = tuple(what for what, agrees in checks if not agrees)
        said = f"{agree} of {len(checks)} comparisons agree"
        verdicts[name] = (limit.verdict(said, agree / len(checks), decided_by=against[:3]), agree, len(checks), against)
    return Decided(finding, verdicts, limit.sentence)
