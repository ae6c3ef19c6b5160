"""Run a study of a collection: the tables and figures of the papers, and what they mean.

unjudged study leave-team-out qrels.txt runs/ --teams teams.tsv
unjudged study power qrels.txt runs/ -m sakai2009 --top 30 --by AP --figure power.pdf
unjudged study swap qrels.txt runs/ --c 20 --curve --format tsv
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unjudged.cli import options, progress
from unjudged.errors import UsageError
from unjudged.options import of_study, option

if TYPE_CHECKING:
    from unjudged.collection import Collection
    from unjudged.scoring import Scores
    from unjudged.studies import Study

EXCLUDING = {"one_per_team": "all_runs", "all_runs": "one_per_team"}
JUDGMENTS = ("before", "second")
"""Options whose file holds other judgments of the same runs."""
HELP = "agreement, power, swap, leave-team-out, depth, ...: the tables and figures of the papers"


class Part:
    """One study, or one question with the options the report asks it with, as a part of the verb."""

    def __init__(self, name: str, study: Study, fixed: Mapping[str, Any], help: str) -> None:
        self._name, self._study, self._fixed = name, study, fixed
        self.HELP = help
        self.__doc__ = inspect.cleandoc(study.function.__doc__ or study.help)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The study's options, which come from its keyword arguments."""
        study, command = self._study, f"study {self._study.name}"
        options.add_all(parser, command, *options.COLLECTIONS, options.SCORE_TABLE)
        own = parser.add_argument_group("this study")
        groups = {group.title: parser.add_argument_group(group.title) for group in study.groups.values()}
        titles = {name: group.title for group in study.groups.values() for name in inspect.signature(group).parameters}
        for name, default in {**study.defaults, **self._fixed}.items():
            into = groups[titles[name]] if name in titles else own
            options.put(into, of_study(name, default, study.name), studied=True)
        for name, other in EXCLUDING.items():
            if other in study.options and not self._fixed.get(other):
                options.put(groups["runs"], option(f"usual_{name}"))
        if "slice" not in study.options:
            options.put(own, option("slice", command))
        options.group(parser, "work", *options.WORK, "beside", command=command)
        charts = dict.fromkeys(name for names in study.figures.values() for name in names)
        options.add_output(parser, command, list(charts))

    def run(self, args: argparse.Namespace) -> int:
        """Run it and print."""
        from unjudged.studies import study as run_study

        study = self._study
        given = {n: v for n in study.options if (v := getattr(args, n)) is not None and v is not False}
        if any(other in given and getattr(args, f"usual_{name}", False) for name, other in EXCLUDING.items()):
            raise UsageError("--one-per-team and --all-runs exclude each other")
        asked = given.pop("measures", None) if args.scores else None
        study.ready({**self._fixed, **given})  # refuses what means nothing before anything is read
        several = bool(args.beside) or options.described_by(args) > 1
        charts = options.charts_asked(args, study.charts({**self._fixed, **given}, several=several))
        if args.slice is not None:
            options.refuse_charts_of_slices(charts)
            if several:
                raise UsageError("--slice is for one collection at a time")
            given["slice"] = args.slice
        if other := next((name for name in JUDGMENTS if name in given and several), None):
            raise UsageError(f"{option(other, f'study {study.name}').spellings[0]} is for one collection at a time")
        collections = _collections(args, asked)
        if asked is not None:
            given["measures"] = asked
        if "before" in given:
            given["before"] = options.open_again(args, given["before"])
        if "second" in given:
            given["second"] = options.open_other_judges(args, given["second"])
        with options.on_cluster(args.cluster) as executor:
            result = run_study(
                self._name,
                collections,
                executor=executor,
                progress=progress.units,
                **options.keywords(args, "jobs", "workdir"),
                call=args.call,
                **given,
            )
        options.write_result(result, args, charts, verdict=True)
        return 0


class _Studies(Mapping[str, Part]):
    """The studies there are and the questions of the report they answer, each loaded when somebody asks for it."""

    def __iter__(self) -> Iterator[str]:
        from unjudged.studies import QUESTIONS, known

        there = known()
        yield from there
        yield from (key for key, q in QUESTIONS.items() if key not in there and q.study in there)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, name: str) -> Part:
        from unjudged.studies import QUESTIONS, find, known

        if name in known():
            return Part(name, find(name), QUESTIONS[name].options if name in QUESTIONS else {}, find(name).help)
        asked = QUESTIONS[name]
        return Part(name, find(asked.study), asked.options, f"{asked.text} ({asked.study} as in the report)")


PARTS = _Studies()


def _collections(args: argparse.Namespace, measures: Any = None) -> Collection | Scores | Mapping[str, Collection]:
    if args.scores:
        if args.collections is not None or args.beside:
            raise UsageError("--scores stands instead of QRELS RUN..., --collections and --beside")
        return options.open_source(args, measures)
    if args.collections is not None:
        if args.beside:
            raise UsageError("--beside puts a collection beside QRELS RUN...; write it into the manifest instead")
        return options.open_manifest(args)
    options.needs_collection(args)
    first = options.open_collection(args)
    if not args.beside:
        return first
    found = {name_of(args.qrels): first}
    for folder in args.beside:
        where = Path(folder)
        qrels = next((q for q in (where / "qrels.txt", where / "qrels.txt.gz") if q.is_file()), None)
        if qrels is None or not (where / "runs").is_dir():
            raise UsageError(f"--beside {folder}: a folder with qrels.txt (or qrels.txt.gz) and runs/ is needed")
        name = where.resolve().name
        if name in found:
            raise UsageError(f"--beside {folder}: two collections are called {name}")
        teams = where / "teams.tsv"
        changed = {"qrels": str(qrels), "runs": [str(where / "runs")], "teams": str(teams) if teams.is_file() else None}
        found[name] = _beside(argparse.Namespace(**{**vars(args), **changed}), name)
    return found


def _beside(args: argparse.Namespace, name: str) -> Collection:
    """A further collection; --only says nothing about one that has none of these topics."""
    from unjudged.collection.topics import NoneOfTheTopics

    try:
        return options.open_collection(args)
    except NoneOfTheTopics:
        options.print_notes([f"{name}: none of the topics {args.only} is judged here; all of its topics are used"])
        return options.open_collection(argparse.Namespace(**{**vars(args), "only": None}))


def name_of(qrels: str) -> str:
    """A collection is called after the folder of its judgments."""
    return Path(qrels).resolve().parent.name or "collection"
