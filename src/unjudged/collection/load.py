"""`load`: any judgments and runs people hold -> a Collection."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unjudged import kernels
from unjudged.collection import Collection, Hits, Judgments, Rankings, join_hits
from unjudged.collection.joining import hits_of_both
from unjudged.collection.rankings import FullLists
from unjudged.collection.topics import chosen_topics
from unjudged.errors import DataWarning, UsageError
from unjudged.io import dicts, files, formats, frames, run_notes
from unjudged.io import qa as qa_io
from unjudged.io import units as units_io
from unjudged.io.ids import Ids
from unjudged.io.retrieved import is_results
from unjudged.io.teams import is_metadata, read_teams
from unjudged.io.trec import QrelsTable, Reading, RunTable


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
    same_answer: str = "exact",
    units: str | None = None,
    tokens: int | None = None,
    lengths: str | Path | Mapping[str, int] | None = None,
    jobs: int | None = None,
) -> Collection:
    """Read judgments and runs into a Collection.

    `qrels` is a file, a dict {topic: {doc: grade}} or a data frame; None where nothing is judged yet (the topics
    are then those of the runs, and a pool can be built). `runs` is a file, folder or glob, a dict
    {topic: {doc: score}} or {topic: hits} (one run; hits as retrievers and vector stores return them, see `as_run`), a
    data frame, a list of such things, or a dict {name: any of these}.
    `teams` maps runs to teams (a TSV file or a dict). `gains` gives grades their gains, `only` restricts to
    topics (`"601-650,700"`). `ties`, `truncate`, `lenient`, `strict` and `negative` say how to read; see
    `unjudged score --help`. `qa=True` reads question answering: answer classes and runs of answers, from
    the files described in `docs/formats.md` or as {question: {class: {answer: level}}} and
    {question: [answers]}; the first five answers count. `same_answer` says which answers are the same: `exact`,
    `folded` (whatever the case, width and blanks) or `words` (also whatever the punctuation and articles).
    `units="doc:#"` puts chunks together to documents (`paper7#3` is a part of `paper7`), each where its best chunk
    stood; `tokens=2000` ends each list before the first chunk that does not fit into so many tokens, by the `lengths`
    of the chunks ({id: tokens} or a TSV). What was passed over is in `.notes` and issued as DataWarning.
    """
    collection = read_collection(
        qrels,
        runs,
        Reading(ties, truncate, lenient, strict, same_answer, units, tokens, chunk_lengths(lengths)),
        teams=teams,
        gains=gains,
        only=only,
        negative=negative,
        qrels_format=qrels_format,
        qa=qa,
        jobs=jobs,
        lengths=os.fspath(lengths) if isinstance(lengths, (str, os.PathLike)) else None,
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
    lengths: str | None = None,
    texts: Mapping[str, str] | None = None,
) -> Collection:
    """`load` without the warnings: the command line prints `.notes` itself.

    `lists` says whether full lists may be asked for later; a stream is kept only for their sake. `lengths` is the file
    that the lengths of chunks come from, for the record. `texts` (topic -> text) are wanted where the judgments name
    topics by their text, as rating tools do.
    """
    seen = files.Unchanged()
    if qa and reading.in_chunks:
        raise UsageError("answers have no chunks: leave --units and --tokens out with --qa (qa=True)")
    if reading.same_answer != "exact" and not qa:
        raise UsageError("--same-answer belongs to question answering; give --qa (qa=True), too")
    if qa and reading.truncate is None:
        reading = replace(reading, truncate=qa_io.ANSWERS)
    if qrels is None:
        if _once(runs):
            raise UsageError("without judgments the runs are read twice, to know the topics first: give files")
        runs = run_inputs(runs, Judgments.of(QrelsTable.unjudged([])), reading)

    def table() -> QrelsTable:  # not held while the runs are read
        if qrels is None:
            return _no_judgments(runs, reading, seen, jobs)
        found = seen.reading(qrels, lambda: _answers(qrels, reading) if qa else _qrels(qrels, reading, qrels_format))
        return units_io.judged_documents(found if texts is None else _by_id(found, texts), reading)

    judgments = Judgments.of(table(), gains=gains, strict=reading.strict, negative=negative)
    if only is not None:
        judgments = judgments.only(chosen_topics(only, list(judgments.topics)))
    given = run_inputs(runs, judgments, reading, lists)
    if not given and need_runs:
        raise UsageError("no runs given")
    told: dict[str, Any] = {"teams": os.fspath(teams)} if isinstance(teams, (str, os.PathLike)) else {}
    told |= {
        name: True for name, set_ in (("lenient", reading.lenient), ("strict", reading.strict), ("qa", qa)) if set_
    }
    told |= {"same answer": reading.same_answer} if reading.same_answer != "exact" else {}
    told |= {name: value for name, value in (("units", reading.units), ("tokens", reading.tokens)) if value is not None}
    if isinstance(teams, (str, os.PathLike)) and is_metadata(os.fspath(teams)):
        from unjudged.io import ir_metadata

        told["ir_metadata"] = ir_metadata.plain(teams)
    told |= {"lengths": lengths} if lengths is not None else {}
    origin = Origin(judgments, given, reading, _teams(teams), negative, only, jobs, topic_notes, seen, told)
    return origin.collection(given)


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a collection comes from and how it was read: what it takes to read it in another way, as data."""

    judgments: Judgments
    runs: tuple[RunInput, ...]
    reading: Reading
    teams: Mapping[str, str]
    negative: str
    only: str | None
    jobs: int | None
    topic_notes: bool
    seen: files.Unchanged
    told: Mapping[str, Any]
    """Settings that stand in the provenance only where they were given."""

    def with_ties(self, ties: str) -> Collection:
        """The collection as it was read, with equal scores in another order."""
        if any(run.read_once for run in self.runs):
            raise UsageError("standard input can be read once, this needs the runs again: give files")
        return replace(self, reading=replace(self.reading, ties=ties)).collection(self.runs, full=True)

    def judged_by(self, judgments: Judgments, runs: Sequence[str]) -> Collection:
        """These of the runs over other judgments, read as they were read before."""
        chosen = {run.name: run for run in self.runs}
        if any(run.read_once for run in self.runs):
            raise UsageError("standard input can be read once, this needs the runs again: give files")
        teams = {run: team for run, team in self.teams.items() if files.called(run, runs) in runs}
        quiet = replace(self, judgments=judgments, teams=teams, topic_notes=False)
        return quiet.collection([chosen[run] for run in runs if run in chosen])

    def inputs(self, runs: Any) -> tuple[RunInput, ...]:
        """More runs, to be read as the others were."""
        return run_inputs(runs, self.judgments, self.reading)

    def collection(self, runs: Sequence[RunInput], full: bool = False) -> Collection:
        """These runs over the judgments; `full`: full lists are read along, so that nothing is read twice."""
        judgments, reading = self.judgments, self.reading
        tables = _read_all(runs, judgments, reading, self.seen, full, self.jobs)
        if full:
            lists = FullLists(Rankings.of, judgments, tables)
        else:
            lists = FullLists(_full_lists, runs, judgments, reading, self.seen, self.jobs)
        return self._of(Facts.of(tables, self), join_hits(judgments, tables), lists)

    def with_more(self, whole: Collection, runs: Sequence[RunInput]) -> Collection:
        """A collection as it was read here, with more runs behind its own; only those are read."""
        tables = _read_all(runs, self.judgments, self.reading, self.seen, True, self.jobs)
        before = Facts(whole.runs, whole.outside, whole.sources[1:], whole.tags, whole._noticed)
        hits = hits_of_both(whole.hits, join_hits(self.judgments, tables))
        lists = whole._lists.then(Rankings.followed_by, self.judgments, tables)
        return self._of(before.and_then(Facts.of(tables, self)), hits, lists)

    def _of(self, runs: Facts, hits: Hits, lists: FullLists) -> Collection:
        judgments, reading, names = self.judgments, self.reading, runs.names
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise UsageError(f"two runs are called {twice}")
        teams = {_called(run, names, runs.tags): team for run, team in self.teams.items()}
        notes = [*(f"{judgments.source}: {note}" for note in judgments.notes), *run_notes.told_once(runs.noticed)]
        if absent := [run for run in teams if run not in names]:
            many = f"{len(absent)} named runs are" if len(absent) > 1 else "1 named run is"
            notes.append(f"teams: {many} not among the runs given (e.g. {absent[0]})")
        return Collection(
            judgments,
            names,
            hits,
            runs.outside,
            teams,
            tuple(notes),
            (judgments.source, *runs.sources),
            runs.tags,
            {
                "ties": reading.ties,
                "truncate": reading.truncate,
                "gains": dict(judgments.gains.levels) or "grade",
                "highest gain": judgments.gains.highest(),
                "negative grades": self.negative,
                "only": self.only,
                **self.told,
            },
            lists,
            replace(self, teams=teams),
            _noticed=runs.noticed,
        )


@dataclass(frozen=True)
class Facts:
    """What is known of runs beside their hits and lists, an entry per run; `noticed` are (file, note)."""

    names: tuple[str, ...]
    outside: tuple[int, ...]
    sources: tuple[str, ...]
    tags: tuple[str, ...]
    noticed: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, tables: Sequence[RunTable], origin: Origin) -> Facts:
        """What was read."""
        noticed = _noticed(tables, origin.judgments, topic_notes=origin.topic_notes, outside=origin.only is None)
        return cls(
            tuple(table.name for table in tables),
            tuple(table.outside for table in tables),
            tuple(table.source for table in tables),
            tuple(table.tag for table in tables),
            tuple(noticed),
        )

    def and_then(self, more: Facts) -> Facts:
        """These runs and, behind them, others."""
        return Facts(
            self.names + more.names,
            self.outside + more.outside,
            self.sources + more.sources,
            self.tags + more.tags,
            self.noticed + more.noticed,
        )


@dataclass(frozen=True)
class RunInput:
    """One run and where it comes from: a file, lists in memory (a private copy), or a stream that has gone by."""

    name: str
    source: str | dicts.HeldRun | dict[str, tuple[str, ...]] | RunTable

    def read(self, judgments: Judgments, reading: Reading, seen: files.Unchanged, keep_docs: bool) -> RunTable:
        """Its hits, with the full lists if `keep_docs`."""
        if isinstance(self.source, RunTable) or not reading.in_chunks:
            return self._read(judgments, reading, seen, keep_docs)
        return units_io.rolled_up(
            lambda plain, full: self._read(judgments, plain, seen, full),
            judgments.index,
            judgments.topics,
            reading,
            keep_docs,
        )

    def _read(self, judgments: Judgments, reading: Reading, seen: files.Unchanged, keep_docs: bool) -> RunTable:
        """Its hits as the source lists them, chunk by chunk."""
        index, topics = judgments.index, judgments.topics
        if isinstance(self.source, str):
            path, read_run = self.source, _reader(judgments)
            return seen.reading(path, lambda: read_run(path, index, topics, reading, self.name, keep_docs))
        if isinstance(self.source, RunTable):
            if keep_docs and self.source.docs is None:
                raise UsageError("standard input can be read once, this needs the full lists: give files")
            return self.source
        if isinstance(self.source, dict):
            return qa_io.run_from_answers(self.source, index, topics, reading, self.name, keep_docs)
        return dicts.run_from_held(self.source, self.name, index, topics, reading, keep_docs)

    @property
    def read_once(self) -> bool:
        """Was it a stream, which cannot be read in another way?"""
        return isinstance(self.source, RunTable)


def run_inputs(runs: Any, judgments: Judgments, reading: Reading, lists: bool = True) -> tuple[RunInput, ...]:
    """The runs in any of the ways people hold them, in the order given.

    A stream is read here, with its full lists if `lists`: it can be read once.
    """
    found: dict[str, RunInput] = {}
    for name, run in _each(runs):
        if isinstance(run, RunInput):
            one = run
        elif isinstance(run, str) and files.read_once(run):
            one = _stream(run, None if run == files.STDIN else name, judgments, reading, lists)
        else:
            one = _held(name, run, judgments.group is not None)
        if one.name in found:
            raise UsageError(f"two runs are called {one.name}; names come from the files (or from the dict given)")
        found[one.name] = one
    return tuple(found.values())


def _stream(path: str, name: str | None, judgments: Judgments, reading: Reading, lists: bool) -> RunInput:
    """A run that can be read once, read."""
    index, topics = judgments.index, judgments.topics

    def read(by: Reading, full: bool) -> RunTable:
        return _reader(judgments)(path, index, topics, by, name, full)

    table = units_io.rolled_up(read, index, topics, reading, lists) if reading.in_chunks else read(reading, lists)
    return RunInput(table.name, table)


def _each(runs: Any) -> Iterator[tuple[str, Any]]:
    """(name, file or object) of every run, in the order given."""
    if isinstance(runs, RunInput):
        yield runs.name, runs
    elif isinstance(runs, (str, os.PathLike)):
        yield from formats.runs(str(runs))
    elif frames.is_frame(runs):
        yield from frames.split_runs(runs)
    elif isinstance(runs, Mapping):
        if not _holds_runs(runs):
            yield "run", runs
            return
        for name, run in runs.items():
            if isinstance(run, (str, os.PathLike)):
                paths = [path for _, path in formats.runs(str(run))]
                if len(paths) != 1:
                    raise UsageError(f"run {name}: one file is needed, {run} stands for {len(paths)}")
                yield str(name), RunInput(str(name), paths[0])
            else:
                yield str(name), run
    elif isinstance(runs, Iterable):
        for run in runs:
            yield from _each(run)
    else:
        raise UsageError(f"runs can be files, dicts or data frames, not {type(runs).__name__}")


def _held(name: str, run: Any, answers: bool) -> RunInput:
    """A run of a file, a frame or a dict; of objects in memory, a private copy."""
    if isinstance(run, str):
        return RunInput(name, run)
    if frames.is_frame(run):
        return RunInput(name, list(frames.lists_of_frame(run, name)))
    if isinstance(run, Mapping) and answers:
        return RunInput(name, {question: tuple(said) for question, said in run.items()})
    if isinstance(run, Mapping):
        return RunInput(name, dicts.held_run(run, name))
    raise UsageError(f"run {name} can be a file, a dict or a data frame, not {type(run).__name__}")


def _reader(judgments: Judgments) -> Callable[..., RunTable]:
    return formats.read_run if judgments.group is None else qa_io.read_answer_run


def _holds_runs(mapping: Mapping[Any, Any]) -> bool:
    """Does the dict name runs ({name: run}), or is it one run ({topic: {doc: score}}, {question: [answers]})?"""
    for value in mapping.values():
        if is_results(value):
            return False
        if not isinstance(value, Mapping):
            return True
        if value:
            first = next(iter(value.values()))
            return isinstance(first, Mapping) or is_results(first)
    return False


def _once(source: Any) -> bool:
    """Does this name standard input or a pipe, or hold such a name?"""
    if isinstance(source, (str, os.PathLike)):
        return files.read_once(str(source)) and not Path(source).is_dir()
    return isinstance(source, (list, tuple)) and any(map(_once, source))


def read_judgments(qrels: Any) -> Judgments:
    """Judgments alone, in any of the forms `load` takes."""
    return Judgments.of(_qrels(qrels, Reading()))


def _no_judgments(runs: Sequence[RunInput], reading: Reading, seen: files.Unchanged, jobs: int | None) -> QrelsTable:
    """The topics of the runs, nothing judged: what an organiser has before the pool is built."""
    nothing = Judgments.of(QrelsTable.unjudged([]))
    tables = _read_all(runs, nothing, reading, seen, True, jobs)  # with full lists, so that all topics are named
    topics = list(dict.fromkeys(topic for table in tables for topic in table.outside_names))
    whole = all(topic.isascii() and topic.isdigit() for topic in topics)
    return QrelsTable.unjudged(sorted(topics, key=int) if whole else sorted(topics))


def _noticed(
    tables: Sequence[RunTable], judgments: Judgments, *, topic_notes: bool, outside: bool
) -> Iterator[tuple[str, str]]:
    """What was noticed in the runs: (file, note)."""
    for table in tables:
        notes = list(table.notes)
        if topic_notes and outside and table.outside:
            at_least = table.docs is None and table.outside == kernels.OUTSIDE_COUNTED
            notes.append(run_notes.outside(table.outside, table.outside_names[0], at_least))
        if topic_notes and (missing := int((~table.answered).sum())):
            notes.append(run_notes.not_answered(missing, judgments.topics[int(table.answered.argmin())]))
        if topic_notes and len(judgments) and not len(table.row):
            notes.append(run_notes.NONE_JUDGED)
        for note in notes:
            yield table.source, note


def _qrels(qrels: Any, reading: Reading, qrels_format: str | None = None) -> QrelsTable:
    if isinstance(qrels, (str, os.PathLike)):
        return formats.read_qrels(str(qrels), reading, qrels_format)
    if isinstance(qrels, Mapping) and qrels_format == "diversity":
        from unjudged.io import diversity

        return diversity.qrels_from_dict(qrels)
    if isinstance(qrels, Mapping):
        return dicts.qrels_from_dict(qrels)
    if frames.is_frame(qrels):
        return frames.qrels_from_frame(qrels)
    raise UsageError(f"judgments can be a file, a dict or a data frame, not {type(qrels).__name__}")


def _by_id(table: QrelsTable, texts: Mapping[str, str]) -> QrelsTable:
    """The judgments with topics that are named by their text under their ids."""
    ids: dict[str, str] = {}
    for topic, text in texts.items():
        if ids.setdefault(text, topic) != topic:
            raise UsageError(f"topics {ids[text]} and {topic} have the same text, so it names neither")
    return table._replace(topics=Ids.of([ids.get(topic, topic) for topic in table.topics]))


def _answers(classes: Any, reading: Reading) -> QrelsTable:
    if isinstance(classes, (str, os.PathLike)):
        return qa_io.read_answers(str(classes), reading.same_answer)
    if isinstance(classes, Mapping):
        return qa_io.answers_from_dict(classes, reading.same_answer)
    raise UsageError(f"answer classes can be a file or a dict, not {type(classes).__name__}")


def _read_all(
    runs: Sequence[RunInput],
    judgments: Judgments,
    reading: Reading,
    seen: files.Unchanged,
    keep_docs: bool,
    jobs: int | None,
) -> list[RunTable]:
    judgments.index  # noqa: B018 - built here once, not by each thread that reads
    workers = min(jobs or os.cpu_count() or 1, len(runs))
    if workers <= 1:
        return [run.read(judgments, reading, seen, keep_docs) for run in runs]
    from concurrent.futures import ThreadPoolExecutor  # not for one run: it takes 30 ms to import

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda run: run.read(judgments, reading, seen, keep_docs), runs))


def _full_lists(
    runs: Sequence[RunInput], judgments: Judgments, reading: Reading, seen: files.Unchanged, jobs: int | None
) -> Rankings:
    return Rankings.of(judgments, _read_all(runs, judgments, reading, seen, True, jobs))


def chunk_lengths(lengths: str | Path | Mapping[str, int] | None) -> dict[bytes, int] | None:
    """The number of tokens of each chunk, where they are given."""
    return None if lengths is None else units_io.read_lengths(lengths)


def _called(run: str, names: Sequence[str], tags: Sequence[str]) -> str:
    """The name of the run that a list of teams means: by name or file, else by the tag in the run's last column."""
    found = files.called(run, names)
    return names[tags.index(run)] if found not in names and tags.count(run) == 1 else found


def _teams(teams: str | Path | Mapping[str, str] | None) -> dict[str, str]:
    if teams is None:
        return {}
    if isinstance(teams, Mapping):
        return {str(run): str(team) for run, team in teams.items()}
    return read_teams(str(teams))
