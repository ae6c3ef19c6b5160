"""Scores without judgments and runs: files of scores per topic, or values typed in. What can they explain alone?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unjudged.diagnosis.evaluation import averaged
from unjudged.diagnosis.search import ALL, MOST_SETTINGS, Explanation, Reported, explained, unit_of
from unjudged.diagnosis.settings import AVERAGES, PERCENT, Setting
from unjudged.errors import InputError, MeasureError, UsageError
from unjudged.io import files
from unjudged.io.columns import decimal_number
from unjudged.io.score_tables import NOTHING, Cells, Floats, read_file
from unjudged.measures import Measure, parse
from unjudged.measures.elsewhere import known_as
from unjudged.text import counted

TOPICS = (
    Setting("topics", "run", "topics that the run lacks do not count", "trec_eval without -c, pytrec_eval", 0),
    Setting("topics", "judged", "topics that the run lacks count 0", "trec_eval -c, ir_measures", 0),
)


@dataclass(frozen=True, eq=False)
class ScoreFile:
    """Scores of one run: (measure, topic) -> the number as written."""

    source: str
    values: dict[tuple[Measure, str], str]

    def numbers(self) -> list[Reported]:
        """Its numbers, those of all topics first."""
        found = [Reported(m, topic, float(text), unit_of(text)) for (m, topic), text in self.values.items()]
        return sorted(found, key=lambda one: one.topic != ALL)

    def of(self, measure: Measure) -> dict[str, float]:
        """Topic -> value, without the mean."""
        return {topic: float(text) for (m, topic), text in self.values.items() if m == measure and topic != ALL}

    def mean(self, measure: Measure) -> Reported:
        """What the file gives for all topics, or the mean of what it gives for each."""
        if (text := self.values.get((measure, ALL))) is not None:
            return Reported(measure, ALL, float(text), unit_of(text))
        values = self.of(measure).values()
        return Reported(measure, ALL, math.fsum(values) / len(values), self.unit(measure))

    def unit(self, measure: Measure) -> float:
        """How exactly the scores of single topics are known."""
        return max((unit_of(text) for (m, topic), text in self.values.items() if m == measure and topic != ALL))

    @property
    def measures(self) -> list[Measure]:
        """The measures in the file."""
        return list(dict.fromkeys(m for m, _ in self.values))


@dataclass
class _AsWritten(Cells):
    """Scores of one run, with their digits and the means over all topics."""

    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)

    def add(self, run: Any, topic: Any, measure: Any, value: Any, line: int) -> None:
        """One score; nothing where it is missing."""
        text = value.strip() if isinstance(value, str) else "" if value is None else repr(value)
        if text.casefold() in NOTHING:
            return
        topic, measure = self._id(topic, "topic", line), self._id(measure, "measure", line)
        self.names[self._id(run, "run", line)] = None
        self._number(value, measure, line)
        if len(self.names) > 1:
            raise self.problem(f"scores of more than one run ({' and '.join(self.names)}); one is needed", line)
        if (measure, topic) in self.texts:
            raise self.problem(f"{measure} of topic {topic} is given twice: more than one run?", line)
        self.texts[measure, topic] = text

    def add_block(self, run: Any, topic: Any, measure: Any, values: Floats, first: int) -> None:
        """Scores of a Parquet file."""
        columns = [
            [one[0][place] for place in one[1].tolist()] if isinstance(one, tuple) else [one] * len(values)
            for one in (run, topic, measure)
        ]
        for row, (r, t, m, value) in enumerate(zip(*columns, values.tolist(), strict=True)):
            self.add(r, t, m, value, first + row)


def read_scores(path: str) -> ScoreFile:
    """The scores of one run in any form of a score table (docs/score-tables.md)."""
    cells = _AsWritten(lambda name: known_as(name) is not None)
    read_file(path, cells)
    named = {name: _measure_of(name) for name, _ in cells.texts}
    values = {(found, topic): text for (name, topic), text in cells.texts.items() if (found := named[name]) is not None}
    source = files.source_name(path)
    if not values:
        raise InputError("no scores of known measures in this file (columns: measure, topic, value)", source)
    return ScoreFile(source, values)


def _measure_of(text: str) -> Measure | None:
    """The measure, or None for what is none (`runid`)."""
    try:
        (found,) = parse(text)
    except (MeasureError, UsageError, ValueError):
        return None
    return found


def scores_given(given: str) -> ScoreFile:
    """A file of scores, or a value typed in: `ndcg@10=0.413`."""
    name, equals, value = given.rpartition("=")
    if not equals or Path(given).is_file():
        return read_scores(given)
    found = _measure_of(name)
    if found is None or not isinstance(decimal_number(value.strip()), float):
        raise UsageError(f"scores are a file, or a measure and its value, as ndcg@10=0.413, not {given!r}")
    return ScoreFile(given, {(found, ALL): value.strip()})


def explanations_of_scores(ours: ScoreFile, theirs: ScoreFile) -> tuple[list[Explanation], list[Reported], list[str]]:
    """Settings that make their numbers from ours, best first; their numbers; and where single topics differ."""
    shared = [measure for measure in ours.measures if measure in theirs.measures]
    if not shared:
        raise UsageError(f"{ours.source} and {theirs.source} have no measure in common")
    reported = [_known_to_both(theirs.mean(m), ours.mean(m)) for m in shared]
    for measure in shared:
        mine = ours.of(measure)
        unit = ours.unit(measure) if mine else 0.0
        reported += [
            Reported(measure, one.topic, one.value, one.unit + unit)
            for one in theirs.numbers()
            if one.measure == measure and one.topic in mine
        ]
    in_percent = max(one.value for one in reported) > 1 >= max(ours.mean(m).value for m in shared)
    possible = [*TOPICS, *AVERAGES, *([PERCENT] if in_percent else [])]
    found: dict[frozenset[Setting], tuple[float, ...]] = {}
    tried: list[Explanation] = []
    for many in range(MOST_SETTINGS + 1):
        for chosen in itertools.combinations(possible, many):
            if len({setting.name for setting in chosen}) < many:
                continue
            key = frozenset(chosen)
            values = {s.name: s.value for s in chosen}
            found[key] = tuple(round(_made(ours, theirs, one, values), 12) for one in reported)
            if np.isfinite(found[key]).all() and all(found.get(key - {s}) != found[key] for s in chosen):
                tried.append(explained(chosen, found[key], reported))
    return sorted(tried, key=lambda one: (one.order, one.text)), reported, list(_differing(ours, theirs, shared))


def _known_to_both(theirs: Reported, ours: Reported) -> Reported:
    return Reported(theirs.measure, theirs.topic, theirs.value, theirs.unit + ours.unit)


def _made(ours: ScoreFile, theirs: ScoreFile, one: Reported, chosen: Mapping[str, str]) -> float:
    """The number that our scores give with these settings."""
    mine, others = ours.of(one.measure), theirs.of(one.measure)
    scale = 100.0 if "scale" in chosen else 1.0
    if one.topic != ALL:
        return scale * mine[one.topic]
    if not {"topics", "average"} & chosen.keys():
        return scale * ours.mean(one.measure).value
    if chosen.get("topics") == "run":  # their topics; where they name none, those on which something was found
        mine = {topic: value for topic, value in mine.items() if (topic in others if others else value != 0)}
    if chosen.get("topics") == "judged":
        mine = {**dict.fromkeys(others, 0.0), **mine}
    return scale * averaged(np.array(list(mine.values())), chosen) if mine else math.nan


def _differing(ours: ScoreFile, theirs: ScoreFile, measures: Sequence[Measure]) -> Sequence[str]:
    """A sentence for each measure whose scores of single topics differ."""
    told = []
    for measure in measures:
        a, b = ours.of(measure), theirs.of(measure)
        common = [topic for topic in a if topic in b]
        if not common:
            continue
        reach = (ours.unit(measure) + theirs.unit(measure)) / 2 + 1e-9
        differ = [topic for topic in common if abs(a[topic] - b[topic]) > reach]
        if differ:
            most = max(differ, key=lambda topic: abs(a[topic] - b[topic]))
            told.append(
                f"{measure}: {len(differ)} of {counted(len(common), 'topic')} differ, most topic {most} "
                f"({a[most]:.4f}, {b[most]:.4f})"
            )
        else:
            sides = (a, b, ours.source), (b, a, theirs.source)
            alone = [
                f"; {counted(len(x.keys() - y.keys()), 'topic')} only in {z}"
                for x, y, z in sides
                if x.keys() - y.keys()
            ]
            told.append(f"{measure}: every shared topic is equal{''.join(alone)}")
    return told
