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

ANSWER_WITHIN = "10s"
"""How long a Dask scheduler may take to answer."""
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
    from unjudged.studies.options import option_of

    options.add_collection(parser)
    own = parser.add_argument_group("this study")
    groups = {group.title: parser.add_argument_group(group.title) for group in study.groups.values()}
    titles = {name: group.title for group in study.groups.values() for name in inspect.signature(group).parameters}
    for name, parameter in study.options.items():
        option = option_of(name, parameter, study.name)
        default = parameter.default
        into = groups[titles[name]] if name in titles else own
        if isinstance(default, bool):
            into.add_argument(*option.flags, dest=name, action="store_true", help=option.help)
            continue
        shown = "" if default is None or "default" in option.help else f" (default {_shown(default)})"
        into.add_argument(
            *option.flags,
            dest=name,
            action="append" if name == "measures" else "store",
            metavar=None if option.choices else option.metavar,
            choices=option.choices or None,
            type=_typed(option.parse, option.flags[-1]),
            help=option.help + shown,
        )
    for flag, other in (("--one-per-team", "all_runs"), ("--all-runs", "one_per_team")):
        if other in study.options:
            groups["runs"].add_argument(flag, dest="usual_runs", action="store_true", help="the default of this study")
    work = parser.add_argument_group("work")
    work.add_argument("--cluster", metavar="ADDRESS", help="work on this Dask cluster instead of local processes")
    work.add_argument("--workdir", metavar="DIR", help="keep finished work there; the same command continues")
    work.add_argument(
        "--beside",
        metavar="DIR",
        action="append",
        default=[],
        help="another collection in the same table: a folder with qrels.txt(.gz), runs/ and teams.tsv; repeatable",
    )
    options.add_output(parser, list(dict.fromkeys(name for names in study.figures.values() for name in names)))


def _shown(default: Any) -> str:
    return ",".join(map(str, default)) if isinstance(default, (tuple, list)) else str(default)


def _typed(parse: Any, flag: str) -> Any:
    """A parser whose complaint names the option."""

    def read(text: str) -> Any:
        try:
            return parse(text)
        except UsageError as problem:
            raise argparse.ArgumentTypeError(str(problem)) from None

    read.__name__ = "number" if parse in (int, float) else flag
    return read


def _run(study: Study, args: argparse.Namespace) -> int:
    from unjudged.studies import study as run_study

    given = {n: v for n in study.options if (v := getattr(args, n)) is not None and v is not False}
    study.ready(given)  # what means nothing is told before anything is read
    if getattr(args, "usual_runs", False) and ("all_runs" in given or "one_per_team" in given):
        raise UsageError("--one-per-team and --all-runs exclude each other")
    charts = options.charts_asked(args, study.charts(given, several=bool(args.beside)))
    collections = _collections(args)
    with _cluster(args.cluster) as executor, _progress() as progress:
        result = run_study(
            study.name,
            collections,
            executor=executor,
            jobs=args.jobs,
            workdir=args.workdir,
            progress=progress,
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
def _cluster(address: str | None) -> Iterator[Any]:
    """An executor on a Dask cluster, or None."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--cluster needs Dask: pip install 'unjudged[cluster]'") from None
    try:
        client: Any = Client(address, timeout=ANSWER_WITHIN)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as problem:
        raise UsageError(f"no Dask scheduler answers at {address} ({type(problem).__name__})") from None
    with client:
        yield client.get_executor()


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
