"""`load`: any judgments and runs people hold -> a Collection."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from unjudged import kernels
from unjudged.collection import Collection, Judgments, Rankings, join_hits
from unjudged.collection.topics import chosen_topics
from unjudged.errors import DataWarning, UsageError
from unjudged.io import dicts, files, formats, frames
from unjudged.io import qa as qa_io
from unjudged.io.teams import read_teams
from unjudged.io.trec import QrelsTable, Reading, RunTable

Source = Callable[[bool], RunTable]
"""Reads one run; the argument says whether to keep the full list of documents."""


def load(
    qrels: Any,
    runs: Any,
    *,
    teams: str | Path | Mapping[str, str] | None = None,
    gains: Mapping[int, float] | None = None,
    only: str | None = None,
    ties: str = "trec10",
    truncate: int | None = None,
    lenient: bool = False,
    strict: bool = False,
    negative: str = "unjudged",
    qrels_format: str | None = None,
    qa: bool = False,
    jobs: int | None = None,
) -> Collection:
    """Read judgments and runs into a Collection.

    `qrels` is a file, a dict {topic: {doc: grade}} or a data frame; None where nothing is judged yet (the topics
    are then those of the runs, and a pool can be built). `runs` is a file, folder or glob, a dict
    {topic: {doc: score}} (one run), a data frame, a list of such things, or a dict {name: any of these}.
    `teams` maps runs to teams (a TSV file or a dict). `gains` gives grades their gains, `only` restricts to
    topics (`"601-650,700"`). `ties`, `truncate`, `lenient`, `strict` and `negative` say how to read; see
    `unjudged score --help`. `qa=True` reads question answering: answer classes and runs of answers, from
    the files described in `docs/formats.md` or as {question: {class: {answer: level}}} and
    {question: [answers]}; the first five answers count. What was passed over is in `.notes` and issued as
    DataWarning.
    """
    collection = read_collection(
        qrels,
        runs,
        Reading(ties, truncate, lenient, strict),
        teams=teams,
        gains=gains,
        only=only,
        negative=negative,
        qrels_format=qrels_format,
        qa=qa,
        jobs=jobs,
    )
    for note in collection.notes:
        warnings.warn(note, DataWarning, stacklevel=2)
    return collection


def read_collection(
    qrels: Any,
    runs: Any,
    reading: Reading,
    *,
    teams: str | Path | Mapping[str, str] | None = None,
    gains: Mapping[int, float] | None = None,
    only: str | None = None,
    negative: str = "unjudged",
    qrels_format: str | None = None,
    qa: bool = False,
    jobs: int | None = None,
    topic_notes: bool = True,
    need_runs: bool = True,
    lists: bool = True,
    known: Judgments | None = None,
    unchanged: files.Unchanged | None = None,
) -> Collection:
    """`load` without the warnings: the command line prints `.notes` itself.

    `lists` says whether full lists may be asked for later; a stream is kept only for their sake.
    `known` are these judgments, read before; the runs are then read with their full lists, once for hits and rankings.
    `unchanged` remembers the files as they were read then.
    """
    seen = unchanged or files.Unchanged()
    if isinstance(runs, Iterator):
        runs = list(runs)  # they may be read again

    def again(ties: str | None, more: Sequence[Any]) -> Collection:
        if _once(qrels) or _once(runs):
            raise UsageError("standard input can be read once, this needs the runs again: give files")
        return read_collection(
            qrels,
            [runs, *more],
            replace(reading, ties=ties or reading.ties),
            teams=teams,
            gains=gains,
            only=only,
            negative=negative,
            qrels_format=qrels_format,
            qa=qa,
            jobs=jobs,
            topic_notes=topic_notes,
            known=judgments,
            unchanged=seen,
        )

    if qa and reading.truncate is None:
        reading = replace(reading, truncate=qa_io.ANSWERS)
    if known is not None:
        judgments = known
    else:

        def table() -> QrelsTable:  # not held while the runs are read
            if qrels is None:
                return _no_judgments(runs, reading, jobs, seen)
            return seen.reading(qrels, lambda: _answers(qrels) if qa else _qrels(qrels, reading, qrels_format))

        judgments = Judgments.of(table(), gains=gains, strict=reading.strict, negative=negative)
        if only is not None:
            judgments = judgments.only(chosen_topics(only, list(judgments.topics)))
    judgments.index  # noqa: B018 - built here once, not by each thread that reads
    sources = _sources(runs, judgments, reading, seen, lists)
    if not sources and need_runs:
        raise UsageError("no runs given")
    full = known is not None
    tables = _read_all(list(sources.values()), full, jobs)
    notes = [f"{judgments.source}: {note}" for note in judgments.notes]
    notes += _run_notes(tables, judgments, topic_notes=topic_notes, outside=only is None)
    names = tuple(table.name for table in tables)
    if len(set(names)) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise UsageError(f"two runs are called {twice}")
    team_of = _teams(teams)
    if absent := [run for run in team_of if run not in names]:
        many = f"{len(absent)} named runs are" if len(absent) > 1 else "1 named run is"
        notes.append(f"teams: {many} not among the runs given (e.g. {absent[0]})")
    return Collection(
        judgments,
        names,
        join_hits(judgments, tables),
        tuple(table.outside for table in tables),
        team_of,
        tuple(notes),
        (judgments.source, *(table.source for table in tables)),
        tuple(table.tag for table in tables),
        {
            "ties": reading.ties,
            "truncate": reading.truncate,
            "gains": dict(judgments.gains.levels) or "grade",
            "highest gain": judgments.gains.highest(),
            "negative grades": negative,
            "only": only,
        },
        lambda: Rankings.of(judgments, tables if full else _read_all(list(sources.values()), True, jobs)),
        again,
    )


def _once(source: Any) -> bool:
    """Does this name standard input or a pipe, or hold such a name?"""
    if isinstance(source, (str, os.PathLike)):
        return files.read_once(str(source)) and not Path(source).is_dir()
    return isinstance(source, (list, tuple)) and any(map(_once, source))


def read_judgments(
    qrels: Any, reading: Reading | None = None, *, negative: str = "unjudged", qrels_format: str | None = None
) -> Judgments:
    """Judgments alone, in any of the forms `load` takes."""
    reading = reading or Reading()
    return Judgments.of(_qrels(qrels, reading, qrels_format), strict=reading.strict, negative=negative)


def _no_judgments(runs: Any, reading: Reading, jobs: int | None, seen: files.Unchanged) -> QrelsTable:
    """The topics of the runs, nothing judged: what an organiser has before the pool is built."""
    if _once(runs):
        raise UsageError("without judgments the runs are read twice, to know the topics first: give files")
    nothing = Judgments.of(QrelsTable.unjudged([]))
    sources = _sources(runs, nothing, reading, seen)
    tables = _read_all(list(sources.values()), True, jobs)  # with full lists, so that all topics are named
    topics = list(dict.fromkeys(topic for table in tables for topic in table.outside_names))
    whole = all(topic.isascii() and topic.isdigit() for topic in topics)
    return QrelsTable.unjudged(sorted(topics, key=int) if whole else sorted(topics))


def _run_notes(tables: list[RunTable], judgments: Judgments, *, topic_notes: bool, outside: bool) -> list[str]:
    """What was noticed in the runs, by name; a note that several runs share is told once."""
    told: dict[str, list[str]] = {}
    for table in tables:
        for note in table.notes:
            told.setdefault(note, []).append(table.source)
        if topic_notes and outside and table.outside:
            least = "at least " * (table.docs is None and table.outside == kernels.OUTSIDE_COUNTED)
            many = f"{least}{table.outside} topic{'s' * (table.outside > 1)}"
            told.setdefault(f"{many} outside the judgments ignored (e.g. {table.outside_names[0]})", []).append(
                table.source
            )
        if topic_notes and (missing := int((~table.answered).sum())):
            example = judgments.topics[int(table.answered.argmin())]
            told.setdefault(f"{missing} judged topic{'s' * (missing > 1)} not answered (e.g. {example})", []).append(
                table.source
            )
    shared = sorted((min(sources), len(sources), note) for note, sources in told.items())
    return [f"{first}: {note}" if many == 1 else f"{many} runs ({first}, ...): {note}" for first, many, note in shared]


def _qrels(qrels: Any, reading: Reading, qrels_format: str | None = None) -> QrelsTable:
    if isinstance(qrels, (str, os.PathLike)):
        return formats.read_qrels(str(qrels), reading, qrels_format)
    if isinstance(qrels, Mapping):
        return dicts.qrels_from_dict(qrels)
    if frames.is_frame(qrels):
        return frames.qrels_from_frame(qrels)
    raise UsageError(f"judgments can be a file, a dict or a data frame, not {type(qrels).__name__}")


def _answers(classes: Any) -> QrelsTable:
    if isinstance(classes, (str, os.PathLike)):
        return qa_io.read_answers(str(classes))
    if isinstance(classes, Mapping):
        return qa_io.answers_from_dict(classes)
    raise UsageError(f"answer classes can be a file or a dict, not {type(classes).__name__}")


def _sources(
    runs: Any, judgments: Judgments, reading: Reading, seen: files.Unchanged, lists: bool = True
) -> dict[str, Source]:
    """Name -> reader, in the order given."""
    found: dict[str, Source] = {}
    answers = judgments.group is not None
    read_run = qa_io.read_answer_run if answers else formats.read_run
    run_from_dict: Callable[..., RunTable] = qa_io.run_from_answers if answers else dicts.run_from_dict

    def add(name: str, source: Source) -> None:
        if name in found:
            raise UsageError(f"two runs are called {name}; names come from the files (or from the dict given)")
        found[name] = source

    def add_named(name: str, run: Any) -> None:
        index, topics = judgments.index, judgments.topics
        if isinstance(run, (str, os.PathLike)):
            paths = [path for _, path in formats.runs(str(run))]
            if len(paths) != 1:
                raise UsageError(f"run {name}: one file is needed, {run} stands for {len(paths)}")
            path = paths[0]
            add(name, lambda keep: seen.reading(path, lambda: read_run(path, index, topics, reading, name, keep)))
        elif frames.is_frame(run):
            add(name, lambda keep: frames.run_from_frame(run, name, index, topics, reading, keep))
        elif isinstance(run, Mapping):
            add(
                name,
                lambda keep: run_from_dict(run, index=index, topics=topics, reading=reading, name=name, keep_docs=keep),
            )
        else:
            raise UsageError(f"run {name} can be a file, a dict or a data frame, not {type(run).__name__}")

    def add_any(run: Any) -> None:
        if isinstance(run, (str, os.PathLike)):
            for name, path in formats.runs(str(run)):
                if files.read_once(path):
                    given = None if path == files.STDIN else name
                    table = read_run(path, judgments.index, judgments.topics, reading, given, lists)
                    add(table.name, _gone_by(table))
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
    return found


def _gone_by(table: RunTable) -> Source:
    """A run that was read from a stream: what was kept of it is all there is."""

    def read(keep_docs: bool) -> RunTable:
        if keep_docs and table.docs is None:
            raise UsageError("standard input can be read once, this needs the full lists: give files")
        return table

    return read


def _holds_runs(mapping: Mapping[Any, Any]) -> bool:
    """Does the dict name runs ({name: run}), or is it one run ({topic: {doc: score}})?"""
    for value in mapping.values():
        if not isinstance(value, Mapping):
            return not isinstance(value, (list, tuple))
        if value:
            return isinstance(next(iter(value.values())), Mapping)
    return False


def _read_all(sources: list[Source], keep_docs: bool, jobs: int | None) -> list[RunTable]:
    workers = min(jobs or os.cpu_count() or 1, len(sources))
    if workers <= 1:
        return [source(keep_docs) for source in sources]
    from concurrent.futures import ThreadPoolExecutor  # not for one run: it takes 30 ms to import

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda source: source(keep_docs), sources))


def _teams(teams: str | Path | Mapping[str, str] | None) -> dict[str, str]:
    if teams is None:
        return {}
    if isinstance(teams, Mapping):
        return {str(run): str(team) for run, team in teams.items()}
    return read_teams(str(teams))
