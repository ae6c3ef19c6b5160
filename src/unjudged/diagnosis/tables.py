"""Two files of scores side by side: where do they differ, and can the topics alone explain it?"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass

from unjudged.diagnosis.search import ALL, Reported
from unjudged.errors import InputError, MeasureError, UsageError
from unjudged.io import files
from unjudged.measures import Measure, parse

_NAMES = {"topic": ("topic", "query", "query_id", "qid"), "measure": ("measure", "metric"), "value": ("value", "score")}


@dataclass(frozen=True, eq=False)
class ScoreFile:
    """Scores of one run: (measure, topic) -> the number as written."""

    source: str
    values: dict[tuple[Measure, str], str]

    def numbers(self) -> list[Reported]:
        """Its numbers, those of all topics first."""
        from unjudged.diagnosis.doctor import unit_of

        found = [Reported(m, topic, float(text), unit_of(text)) for (m, topic), text in self.values.items()]
        return sorted(found, key=lambda one: one.topic != ALL)

    def of(self, measure: Measure) -> dict[str, float]:
        """Topic -> value, without the mean."""
        return {topic: float(text) for (m, topic), text in self.values.items() if m == measure and topic != ALL}

    def mean(self, measure: Measure) -> float:
        """What the file gives for all topics, or the mean of what it gives for each."""
        if (measure, ALL) in self.values:
            return float(self.values[measure, ALL])
        values = self.of(measure).values()
        return math.fsum(values) / len(values) if values else math.nan

    @property
    def measures(self) -> list[Measure]:
        """The measures in the file."""
        return list(dict.fromkeys(m for m, _ in self.values))


def read_scores(path: str) -> ScoreFile:
    """Scores per topic: `unjudged score -q --format tsv` (or csv), or trec_eval's three columns."""
    source = files.source_name(path)
    text = bytes(files.read_all(path)).decode("utf-8", "surrogateescape")
    values: dict[tuple[Measure, str], str] = {}
    known: dict[str, Measure | None] = {}
    for line, measure, topic, value in _rows(text, source):
        if measure not in known:
            known[measure] = _measure_of(measure)
        found = known[measure]
        if found is None:
            continue
        try:
            float(value)
        except ValueError:
            raise InputError(f"the value {value!r} of {measure} is no number", source, line) from None
        if (found, topic) in values:
            raise InputError(
                f"{measure} of topic {topic} is given twice: the file holds more than one run", source, line
            )
        values[found, topic] = value
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


def _rows(text: str, source: str) -> Iterator[tuple[int, str, str, str]]:
    """Line, measure, topic, value."""
    lines = text.split("\n")
    head = next((line for line in lines if line.strip()), "")
    mark = "\t" if "\t" in head else "," if "," in head else None
    columns = [name.strip().lower() for name in head.split(mark)] if mark else []
    places = {what: next((columns.index(n) for n in names if n in columns), None) for what, names in _NAMES.items()}
    if mark and None not in places.values():
        place = {what: at for what, at in places.items() if at is not None}
        for number, row in enumerate(csv.reader(io.StringIO(text), delimiter=mark), 1):
            if number > 1 and row:
                if len(row) < len(columns):
                    raise InputError(f"{len(columns)} columns are named, here are {len(row)}", source, number)
                yield number, row[place["measure"]], row[place["topic"]], row[place["value"]]
        return
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if len(fields) == 3:
            yield number, *fields  # type: ignore[misc]
        elif fields:
            raise InputError("a line of scores has measure, topic and value", source, number)


def side_by_side(ours: ScoreFile, theirs: ScoreFile) -> Iterator[tuple[Measure, str]]:
    """For every measure that both files hold, what can be said from the scores alone."""
    shared = [measure for measure in ours.measures if measure in theirs.measures]
    if not shared:
        raise UsageError(f"{ours.source} and {theirs.source} have no measure in common")
    for measure in shared:
        yield measure, _compared(ours, theirs, measure)


def _compared(ours: ScoreFile, theirs: ScoreFile, measure: Measure) -> str:
    units = {one.topic: one.unit for one in theirs.numbers() if one.measure == measure}
    own_units = {one.topic: one.unit for one in ours.numbers() if one.measure == measure}
    a, b = ours.of(measure), theirs.of(measure)
    common = [topic for topic in a if topic in b]
    differ = [t for t in common if abs(a[t] - b[t]) > max(units[t], own_units[t]) / 2 + 1e-9]
    only_a, only_b = [t for t in a if t not in b], [t for t in b if t not in a]
    if not common:
        return "the files share no topic: give the judgments and the run, and --reported with one of the files"
    if differ:
        most = max(differ, key=lambda t: abs(a[t] - b[t]))
        return (
            f"{len(differ)} of {len(common)} topics differ, most topic {most} ({a[most]:.4f}, {b[most]:.4f}): "
            "the lists or the formula differ"
        )
    if only_a or only_b:
        zeros = all(a[t] == 0 for t in only_a) and all(b[t] == 0 for t in only_b)
        which = f"{len(only_a)} topics stand only in {ours.source}, {len(only_b)} only in {theirs.source}"
        return f"every shared topic is equal; {which}{' (all 0)' if zeros else ''}: topics=run or topics=judged"
    if abs(ours.mean(measure) - theirs.mean(measure)) > 1e-9:
        return "every topic is equal, the means are not: average=geometric, average=micro or topics=run"
    return "equal in every topic and in the mean"
