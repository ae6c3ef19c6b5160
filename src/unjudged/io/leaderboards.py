"""Leaderboards of TREC AutoJudge: a score for each run, measure and topic (`all`: over all topics).

`tot`: `run measure topic value`, tabs or blanks between; `jsonl`: objects with run_id, measure, topic_id and value.
AutoJudge's other orders of four columns (`ir_measures`: run topic measure, `rag4reports`: topic run measure) are told
by the column in which `all` stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from unjudged.errors import InputError, UsageError
from unjudged.io import files
from unjudged.io.ids import to_text
from unjudged.io.score_tables import FAR, LARGEST

ALL = "all"
LEADERBOARDS = ("tot", "autojudge")
"""Formats on the command line; `autojudge` is AutoJudge's jsonl, whose keys are not those of our own."""
ORDERS = {"tot": (0, 1, 2), "ir_measures": (0, 2, 1), "rag4reports": (1, 2, 0)}
"""Where run, measure and topic stand in a line of four columns."""
Fields = tuple[str, str, str, Any]
_KEYS = ("run_id", "measure", "topic_id", "value")


@dataclass(frozen=True)
class Leaderboard:
    """Scores by run, measure and topic, as they were read; the values of `all` stand apart."""

    source: str
    values: dict[tuple[str, str, str], float]
    overall: dict[tuple[str, str], float]

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return tuple(dict.fromkeys(run for run, *_ in (*self.values, *self.overall)))

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures, which need not be ours."""
        return tuple(dict.fromkeys(key[1] for key in (*self.values, *self.overall)))

    @property
    def topics(self) -> tuple[str, ...]:
        """Topics that have scores of their own."""
        return tuple(dict.fromkeys(topic for *_, topic in self.values))


def read_leaderboard(path: str) -> Leaderboard:
    """A leaderboard of either format."""
    source = files.source_name(path)
    rows = [(number, to_text(raw).strip()) for number, raw in files.lines(path)]
    rows = [(number, line) for number, line in rows if line and not line.startswith("#")]
    objects = bool(rows) and rows[0][1].startswith("{")
    lines = [(number, (_object if objects else _fields)(line, source, number)) for number, line in rows]
    order = ORDERS["tot"] if objects else _order([fields for _, fields in lines], source)
    values: dict[tuple[str, str, str], float] = {}
    overall: dict[tuple[str, str], float] = {}
    for number, fields in lines:
        run, measure, topic = (fields[place] for place in order)
        value = _value(fields[3], source, number)
        twice = (run, measure) in overall if topic == ALL else (run, measure, topic) in values
        if twice:
            raise InputError(f"{measure} of run {run} in topic {topic} is given twice", source, number)
        if topic == ALL:
            overall[run, measure] = value
        else:
            values[run, measure, topic] = value
    if not values and not overall:
        raise InputError("no scores in this leaderboard", source)
    return Leaderboard(source, values, overall)


def _order(lines: Sequence[Fields], source: str) -> tuple[int, int, int]:
    """Which columns are run, measure and topic."""
    found = [order for order in ORDERS.values() if any(fields[order[2]] == ALL for fields in lines)]
    if len(found) > 1:
        raise InputError(f"{ALL!r} appears in several columns of this leaderboard: in which are the topics?", source)
    return found[0] if found else ORDERS["tot"]


def _fields(line: str, source: str, number: int) -> Fields:
    fields = line.split("\t") if line.count("\t") == 3 else line.split()
    if len(fields) != 4:
        raise InputError(
            f"a leaderboard line has run, measure, topic and value, found {len(fields)} fields", source, number
        )
    return (fields[0], fields[1], fields[2], fields[3])


def _object(line: str, source: str, number: int) -> Fields:
    import json

    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError("this line is not JSON", source, number) from None
    if missing := [key for key in _KEYS if key not in found]:
        raise InputError(f"a leaderboard line needs {', '.join(_KEYS)}, found no {missing[0]}", source, number)
    run, measure, topic, value = (found[key] for key in _KEYS)
    return str(run), str(measure), str(topic), value


def _value(value: Any, source: str, number: int) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if isinstance(value, bool) or not abs(found) <= LARGEST:
        raise InputError(
            f"a value is a number{'' if found != found else f', and {FAR}'}, found {value!r}", source, number
        )
    return found


def leaderboard_text(rows: Iterable[tuple[str, str, str, float | None]], format: str) -> str:
    """Rows of run, topic, measure and value as `score` has them, in one of the two formats; undefined ones left out."""
    if format not in LEADERBOARDS:
        raise UsageError(f"a leaderboard is written as {' or '.join(LEADERBOARDS)}, not {format!r}")
    known = [row for row in rows if row[3] is not None and not math.isnan(row[3])]
    if format == "tot":
        return "".join(f"{run}\t{measure}\t{topic}\t{value!r}\n" for run, topic, measure, value in known)
    import json

    return "".join(
        json.dumps({"run_id": run, "topic_id": topic, "measure": measure, "value": value}, ensure_ascii=False) + "\n"
        for run, topic, measure, value in known
    )
