"""Run a study of a collection: the tables and figures of the papers, and what they mean.

unjudged study leave-team-out qrels.txt runs/ --teams teams.tsv
unjudged study power qrels.txt runs/ -m sakai2009 --top 30 --by AP --figure power.pdf
unjudged study swap qrels.txt runs/ --c 20 --curve --format tsv
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unjudged.cli import options
from unjudged.errors import UsageError

if TYPE_CHECKING:
    from unjudged.collection import Collection
    from unjudged.studies import Study

EXCLUDING = {"one_per_team": "all_runs", "all_runs": "one_per_team"}
HELP = "agreement, power, swap, leave-team-out, depth, ...: the tables and figures of the papers"


def __getattr__(name: str) -> Any:
    """PARTS: the studies there are, looked up when somebody asks."""
    if name == "PARTS":
        from unjudged.studies import known

        return known()
    raise AttributeError(name)


class Part:
    """One study as a part of the verb; its options come from its keyword arguments."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self.HELP = study.help
        self.__doc__ = inspect.cleandoc(study.function.__doc__ or study.help)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The study's options."""
        _add_arguments(parser, self._study)

    def run(self, args: argparse.Namespace) -> int:
        """Run it and print."""
        return _run(self._study, args)


def part(name: str) -> Part:
    """The study of this name."""
    from unjudged.studies import find

    return Part(find(name))


def _add_arguments(parser: argparse.ArgumentParser, study: Study) -> None:
    from unjudged.options import of_study, option

    command = f"study {study.name}"
    options.add_collection(parser, command)
    own = parser.add_argument_group("this study")
    groups = {group.title: parser.add_argument_group(group.title) for group in study.groups.values()}
    titles = {name: group.title for group in study.groups.values() for name in inspect.signature(group).parameters}
    for name, default in study.defaults.items():
        options.put(groups[titles[name]] if name in titles else own, of_study(name, default, study.name), studied=True)
    for name, other in EXCLUDING.items():
        if other in study.options:
            options.put(groups["runs"], option(f"usual_{name}"))
    options.group(parser, "work", *options.WORK, "beside", command=command)
    options.add_output(parser, command, [name for names in study.figures.values() for name in names])


def _run(study: Study, args: argparse.Namespace) -> int:
    from unjudged.studies import study as run_study

    given = {n: v for n in study.options if (v := getattr(args, n)) is not None and v is not False}
    study.ready(given)  # refuses what means nothing before anything is read
    if any(other in given and getattr(args, f"usual_{name}", False) for name, other in EXCLUDING.items()):
        raise UsageError("--one-per-team and --all-runs exclude each other")
    charts = options.charts_asked(args, study.charts(given, several=bool(args.beside)))
    collections = _collections(args)
    with options.on_cluster(args.cluster) as executor, _progress() as progress:
        result = run_study(
            study.name,
            collections,
            executor=executor,
            progress=progress,
            **options.keywords(args, "jobs", "workdir"),
            call=args.call,
            **given,
        )
    options.write_result(result, args, charts, verdict=True)
    return 0


def _collections(args: argparse.Namespace) -> Collection | dict[str, Collection]:
    first = options.open_collection(args)
    if not args.beside:
        return first
    found = {_name_of(args.qrels): first}
    for folder in args.beside:
        where = Path(folder)
        qrels = next((q for q in (where / "qrels.txt", where / "qrels.txt.gz") if q.is_file()), None)
        if qrels is None or not (where / "runs").is_dir():
            raise UsageError(f"--beside {folder}: a folder with qrels.txt (or qrels.txt.gz) and runs/ is wanted")
        name = where.resolve().name
        if name in found:
            raise UsageError(f"--beside {folder}: two collections are called {name}")
        teams = where / "teams.tsv"
        changed = {"qrels": str(qrels), "runs": [str(where / "runs")], "teams": str(teams) if teams.is_file() else None}
        found[name] = options.open_collection(argparse.Namespace(**{**vars(args), **changed}))
    return found


def _name_of(qrels: str) -> str:
    """A collection is called after the folder of its judgments."""
    return Path(qrels).resolve().parent.name or "collection"


@contextlib.contextmanager
def _progress() -> Iterator[Any]:
    """Bars on a terminal, a plain line per stage elsewhere; both on stderr."""
    if not sys.stderr.isatty():
        yield _plain
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as bars:
        tasks: dict[str, Any] = {}

        def tell(stage: str, done: int, total: int, before: int) -> None:
            if stage not in tasks:
                kept = f" ({before} kept)" if before else ""
                tasks[stage] = bars.add_task(stage + kept, total=total)
            bars.update(tasks[stage], completed=done, refresh=True)

        yield tell


def _plain(stage: str, done: int, total: int, before: int) -> None:
    if done == before:
        kept = f", {before} kept from before" if before else ""
        print(f"{stage}: {total} unit{'s' * (total != 1)}{kept}", file=sys.stderr, flush=True)
