"""Slices of the topics: any study asked of every slice alone, and what is said adjusted for their number.

A study that has no option `slice` of its own gets one here: the collection is cut, the study runs on every slice that
is large enough, at a level that holds for all of them at once (Bonferroni), and the rows stand under each other with
the slice and its number of topics in front. A slice with few topics has one row, and nothing is said of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unjudged.collection import Collection
from unjudged.errors import UsageError, nearest
from unjudged.io.slices import read_slices
from unjudged.results import Result, Row, Verdict
from unjudged.scoring import Scores
from unjudged.studies.engine.answer import Answer, Answers, Table, one_head, result_of
from unjudged.studies.engine.case import Case
from unjudged.text import counted, listed
from unjudged.thresholds import Thresholds

if TYPE_CHECKING:
    from unjudged.studies.engine.study import Study

TOO_SMALL = "too small to say"
"""Why nothing is said of a slice with few topics."""
_LEVELS = {"alpha": False, "confidence": True}
"""Options that say how sure a study is, and whether a high value is sure. Several values at a time (the swap method's
percentages) are shares of comparisons, not promises about intervals, and stay."""
OWN: Mapping[str, Mapping[str, Any]] = {"compare": {}, "ranks": {"ranks": True}}
"""Studies whose slices are tables of the study `slices`, with these options of it."""
NOT_SLICED = {"corrected": "its answer is about topics that no human judged, and a slice holds those judged alone"}
"""Studies that mean nothing within slices, and why."""


@dataclass(frozen=True)
class Slices:
    """Label -> topics, in the order of the file; those large enough; and what the reader should know."""

    parts: Mapping[str, Sequence[str]]
    large: Sequence[str]
    notes: Sequence[str]

    @classmethod
    def of(cls, topics: Sequence[str], given: Any, limits: Thresholds) -> Slices:
        """The slices that `given` (a file, or {topic: label}) makes of these topics."""
        parts, notes = slices_of(topics, given)
        least = limits["slices"].needed["topics"]
        small = [label for label, part in parts.items() if len(part) < least]
        if small:
            too = f"{counted(len(small), 'slice')} with fewer than {least} topics: {listed(small, 5)}"
            notes = [*notes, f"{too}: {TOO_SMALL}"]
        return cls(parts, [label for label in parts if label not in small], notes)


def slices_of(topics: Sequence[str], given: Any) -> tuple[dict[str, list[str]], list[str]]:
    """Label -> its topics here, in the order of the file; and what the reader should know of the others."""
    if given is None:
        raise UsageError("which topic is in which slice? give --slice FILE (slice= a file, or {topic: label})")
    known = read_slices(os.fspath(given)) if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(known, Mapping):
        raise UsageError(f"slices are a file or {{topic: label}}, not {type(given).__name__}")
    labels = {str(topic): str(label) for topic, label in known.items()}
    here = set(topics)
    found: dict[str, list[str]] = {}
    for topic in topics:
        if topic in labels:
            found.setdefault(labels[topic], []).append(topic)
    if not found:
        where = f"{os.fspath(given)}: " if isinstance(given, (str, os.PathLike)) else ""
        first = next(iter(labels), "")
        raise UsageError(f"{where}none of its topics is scored here, as {first!r}{nearest(first, here)}")
    left, elsewhere = sum(topic not in labels for topic in here), sum(topic not in here for topic in labels)
    notes = [f"{counted(left, 'topic')} of {len(here)} in no slice"] if left else []
    notes += [f"{counted(elsewhere, 'topic')} of the slices not scored here"] if elsewhere else []
    order = dict.fromkeys(labels.values())
    return {label: found[label] for label in order if label in found}, notes


def part_of(source: Collection | Scores, topics: Sequence[str]) -> Collection | Scores:
    """The collection, or the scores, with these topics alone."""
    places = [source.topics.index(topic) for topic in topics]
    if isinstance(source, Collection):
        return source.only(places, f"a slice of {len(places)} topics")
    kept = np.array(places)
    counting = np.asarray(source.counted[:, kept])
    values = np.ascontiguousarray(source.values[:, kept])
    return Scores(source.runs, list(topics), source.measures, values, counting, source.provenance)


def source_of(given: Any) -> tuple[str, ...]:
    """The file of the slices, for provenance."""
    return (os.fspath(given),) if isinstance(given, (str, os.PathLike)) else ()


def at_once(study: Study, options: Mapping[str, Any], many: int) -> dict[str, Any]:
    """The options, with their levels such that what is said holds in so many slices at once."""
    found = dict(options)
    for name, confidence in _LEVELS.items():
        parameter = study.options.get(name)
        if parameter is None or not isinstance(parameter.default, float):
            continue
        level = options.get(name, parameter.default)
        if isinstance(level, (int, float)) and 0 < level < 1:
            found[name] = 1 - (1 - level) / many if confidence else level / many
    return found


def run_slices(
    study: Study,
    whole: Case,
    given: Any,
    options: Mapping[str, Any],
    answer: Callable[[Case, Mapping[str, Any]], Answer],
    call: str,
) -> Result:
    """The study in every slice that is large enough: `slice` and `topics` in front of its columns, `why` at their end.

    `why` says what keeps a slice from saying anything; its other cells are empty then. The verdict is that of the worst
    slice, by name.
    """
    if study.name in NOT_SLICED:
        raise UsageError(f"study {study.name} cannot be asked within slices: {NOT_SLICED[study.name]}")
    slices = Slices.of(whole.topics, given, whole.limits)
    many = len(slices.large)
    inside = at_once(study, options, max(many, 1))
    answers: list[tuple[Case, Answer]] = []
    for label in slices.large:
        part = part_of(whole.source, slices.parts[label])
        case = replace(whole, name=label, source=part, several=True, at_once=many, notes=[], told=[])
        answers.append((case, answer(case, inside)))
    return _stacked(study, whole, slices, answers, at_level(study, inside, many), source_of(given), call)


def at_level(study: Study, inside: Mapping[str, Any], many: int) -> str:
    """How the number of slices was allowed for, as a sentence; empty where there is one slice, or none."""
    if many < 2:
        return ""
    levels = [f"{name} {inside[name]:.4g}" for name in _LEVELS if name in inside and name in study.options]
    if levels or study.name == "estimate":
        at = f"; {', '.join(levels)} in each" if levels else ""
        return f"What is said holds in all {many} slices at once (Bonferroni{at})."
    return f"Nothing is tested here, so that nothing is adjusted for {many} slices."


def _stacked(
    study: Study,
    whole: Case,
    slices: Slices,
    answers: Answers,
    level: str,
    sources: Sequence[str],
    call: str,
) -> Result:
    """The answers under each other."""
    nothing = None if answers or not study.limit else whole.limits[study.limit].unknown(f"every slice is {TOO_SMALL}")
    told = answers or [(whole, Answer(study.columns, [], nothing))]
    found = result_of(study.name, told, call, slices.notes)
    columns = next((one.columns for _, one in told if one.rows), told[0][1].columns)
    silent = dict.fromkeys(slices.parts, TOO_SMALL)
    for case, one in answers:
        if one.rows:
            del silent[case.name]
        else:
            silent[case.name] = one.verdict.sentence if one.verdict is not None else "no answer"
    own = "why" in columns
    head = ("slice", "topics", *columns, *(() if own else ("why",)))
    rows: list[Row] = []
    tables = {case.name: one for case, one in answers if one.rows}
    for label, topics in slices.parts.items():
        if label in tables:
            of_all = _adjusted(columns, tables[label].rows, len(slices.large))
            rows += [(label, len(topics), *row, *(() if own else ("",))) for row in of_all]
        else:
            rows.append((label, len(topics), *[None] * (len(head) - 3), silent[label]))

    def laid_out() -> Table:
        heads = [one.laid_out() for one in tables.values()]
        if len({len(columns) for columns, _ in heads}) != 1 or all(one.layout is None for one in tables.values()):
            return head, rows
        names = one_head([columns for columns, _ in heads])
        there = {label: table for label, (_, table) in zip(tables, heads, strict=True)}
        shown: list[Row] = []
        for label, topics in slices.parts.items():
            if label in there:
                shown += [(label, len(topics), *row, "") for row in there[label]]
            else:
                shown.append((label, len(topics), *[""] * len(names), silent[label]))
        if not silent:
            return ["slice", "topics", *names], [row[:-1] for row in shown]
        return ["slice", "topics", *names, "remark"], shown

    settings = {**found.provenance.settings, "slices": {label: len(topics) for label, topics in slices.parts.items()}}
    inputs = tuple(dict.fromkeys((*found.provenance.inputs, *sources)))
    return Result(
        head,
        lambda: rows,
        replace(found.provenance, settings=settings, inputs=inputs),
        laid_out,
        {},
        _verdict(answers, found.verdict),
        found.notes,
        " ".join(filter(None, (found.caption, level))),
    )


def _adjusted(columns: Sequence[str], rows: Sequence[Row], many: int) -> list[Row]:
    """The rows, with p values that were adjusted for pairs adjusted for the slices, too."""
    if "p_adjusted" not in columns:
        return list(rows)
    place = list(columns).index("p_adjusted")
    found: list[Row] = []
    for row in rows:
        p = row[place]
        found.append((*row[:place], p if p is None else min(1.0, many * p), *row[place + 1 :]))
    return found


def _verdict(answers: Answers, worst: Verdict | None) -> Verdict | None:
    """That of the worst slice, by name, without a next step: its command would be about all topics."""
    if worst is None or not answers:
        return worst
    name = f"{answers[0][0].name}: " if len(answers) == 1 else ""
    return replace(worst, sentence=f"{name}{worst.sentence}", next=None)
