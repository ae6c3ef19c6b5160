"""Tables of per-topic scores that somebody else computed: CSV, TSV, JSON, Parquet, frames, output of other tools.

    run,topic,measure,value            long: one score per row (or `model`, `task`, `metric`, `score` ...)
    run,topic,AP,nDCG@10               wide: one column per measure
    topic,bm25,dense                   wide: one column per run
    model,MSMARCO,NQ,HotpotQA          wide: one column per topic (a leaderboard of models x tasks)
    | model | MSMARCO | NQ |           any of these as a table of Markdown
    map    301    0.2534               trec_eval -q and ir_measures -q, one file per run
    {"ndcg@10": {"301": 0.41}}         JSON of nested names: what ranx and pytrec_eval hold

    bm25    AP    301    0.2534        run, measure, topic, value: what `score --format tot` writes

Rows and columns for all topics together (`all`, `Average (56 datasets)` ...) and a leaderboard's facts about a model
(`Max Tokens`) are passed over: means are computed here. Everything becomes one array of runs x topics x measures, NaN
where the table has no score.
"""

from __future__ import annotations

import csv
import json
import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unjudged.errors import InputError
from unjudged.io import files, frames
from unjudged.io.columns import decimal_number, finite, lines, refuse_twice
from unjudged.io.ids import to_text
from unjudged.io.json_ import fault_of
from unjudged.io.parquet import load_pyarrow, read_batches
from unjudged.text import as_written, counted

RUN = (*frames.RUN, "model", "model_name", "method", "submission", "runid")
TOPIC = (*frames.TOPIC, "topic_id", "task", "task_name", "dataset", "question")
MEASURE = ("measure", "metric")
VALUE = ("value", "score", "result")
ROLES: Mapping[str, tuple[str, ...]] = {"run": RUN, "topic": TOPIC, "measure": MEASURE, "value": VALUE}
OVER_ALL = re.compile(r"(all|amean|average|avg\.?|mean|overall)(\s*[(\[].*)?", re.IGNORECASE)
"""Topics that are none: what holds over all of them."""
FACTS = re.compile(
    r"(borda_)?rank(_|$)|zero_shot|memory_usage|model_size|release_date|revision|(\w+_)?parameters(_|$)|"
    r"embedding_(dim|size)|max_(tokens|seq|input)"
)
"""Columns of a leaderboard that are no tasks, but say what a model is like."""
NOTHING = {"", "-", "na", "n/a", "nan", "none", "null"}
"""How a missing score is written."""
ONE_MEASURE = "score"
"""What scores are called where the table does not say."""
MEANS = "these are means of runs; scores of single topics are needed"
NO_SCORES = "judgments or a run, not scores: without --scores, give the judgments first, then the runs"
LARGEST = 1e100
"""No score is further from 0, so that sums of their squares are numbers."""
FAR = "scores go from -1e+100 to 1e+100"
MOST_CELLS = 200_000_000
_ROWS = 1 << 17
_RULE = re.compile(r":?-+:?")
"""The line under the heads of a Markdown table."""

IsMeasure = Callable[[str], bool]
Floats = npt.NDArray[np.float64]


class ScoreTable(NamedTuple):
    """Scores as they were found; NaN in `values` (runs x topics x measures) where there are none."""

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    measures: tuple[str, ...]
    values: Floats
    notes: tuple[str, ...]


class Layout(NamedTuple):
    """Which columns hold run, topic, measure and value, and what the other columns stand for.

    `across` is measure, run or topic where every further column is one of them; empty for a long table.
    """

    at: Mapping[str, str]
    across: str
    columns: tuple[str, ...]


@dataclass
class Cells:
    """Scores on their way into one array, with the place each was found at."""

    is_measure: IsMeasure
    runs: dict[str, int] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    measures: dict[str, int] = field(default_factory=dict)
    run: array[int] = field(default_factory=lambda: array("i"))
    topic: array[int] = field(default_factory=lambda: array("i"))
    measure: array[int] = field(default_factory=lambda: array("i"))
    value: array[float] = field(default_factory=lambda: array("d"))
    line: array[int] = field(default_factory=lambda: array("q"))
    sources: list[tuple[int, str, str]] = field(default_factory=list)
    passed_over: set[str] = field(default_factory=set)
    wanted: Callable[[str], bool] | None = None

    def source(self, name: str, unit: str = "line") -> None:
        """What follows comes from here; `unit` is what its places count."""
        self.sources.append((len(self.value), name, unit))

    def layout(self, columns: Sequence[str], line: int | None = None) -> Layout:
        """What the columns of the source that is read mean; columns that are no topics, or not asked for, left out."""
        source = self.sources[-1][1]
        found = layout_of(columns, self.is_measure, source, line)
        if found.across != "topic":
            return found
        facts = set() if self.wanted else {c for c in found.columns if FACTS.match(_plain(c))}
        kept = tuple(c for c in found.columns if c not in facts and self._counts(c))
        if kept and 2 * sum(map(self.is_measure, kept)) >= len(kept):
            raise InputError(MEANS, source, line)
        self.passed_over |= facts
        return found._replace(columns=kept)

    def problem(self, sentence: str, line: int, row: int | None = None) -> InputError:
        """A sentence about a row of the source that is read (or that holds this row)."""
        place = len(self.value) if row is None else row
        _, name, unit = next(s for s in reversed(self.sources) if s[0] <= place)
        if unit == "line":
            return InputError(sentence, name, line)
        return InputError(f"{unit} {line}: {sentence}" if line else sentence, name)

    def add(self, run: Any, topic: Any, measure: Any, value: Any, line: int) -> None:
        """One score; nothing where its topic is `all`, or where it is missing."""
        topic = self._id(topic, "topic", line)
        if not self._counts(topic):
            return
        what = f"{measure} of topic {topic}" if measure == ONE_MEASURE else str(measure)
        number = self._number(value, what, line)
        self.run.append(self.runs.setdefault(self._id(run, "run", line), len(self.runs)))
        self.topic.append(self.topics.setdefault(topic, len(self.topics)))
        self.measure.append(self.measures.setdefault(self._id(measure, "measure", line), len(self.measures)))
        self.value.append(number)
        self.line.append(line)

    def add_block(self, run: Any, topic: Any, measure: Any, values: Floats, first: int) -> None:
        """Many scores at once; run, topic and measure are one name, or (names, the place in them for each row)."""
        size = len(values)
        names, places = topic if isinstance(topic, tuple) else ([topic], np.zeros(size, np.intp))
        real = np.array([self._counts(str(name)) for name in names], np.bool_)
        chosen = np.flatnonzero(real[places])
        if (far := np.abs(values[chosen]) > LARGEST).any():
            at = int(chosen[np.flatnonzero(far)[0]])
            why = "is not a finite number" if np.isinf(values[at]) else f"is too large: {FAR}"
            raise self.problem(f"the score {float(values[at]):g} {why}", first + at)
        found = ((self.run, self.runs, run, "run"), (self.topic, self.topics, topic, "topic"))
        for column, known, given, what in (*found, (self.measure, self.measures, measure, "measure")):
            names, places = given if isinstance(given, tuple) else ([given], np.zeros(size, np.intp))
            used = np.zeros(len(names), np.bool_)
            used[places[chosen]] = True
            codes = np.zeros(len(names), np.int32)
            for place in np.flatnonzero(used).tolist():
                codes[place] = known.setdefault(self._id(names[place], what, first), len(known))
            column.frombytes(codes[places[chosen]].tobytes())
        self.value.frombytes(np.ascontiguousarray(values[chosen]).tobytes())
        self.line.frombytes((first + chosen).astype(np.int64).tobytes())

    def _counts(self, topic: str) -> bool:
        """Is this a topic, and one of those asked for?"""
        if self.wanted is not None:
            return self.wanted(topic)
        if OVER_ALL.fullmatch(topic):
            self.passed_over.add(topic)
            return False
        return True

    def _id(self, value: Any, what: str, line: int) -> str:
        if type(value) is str and value:
            return value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
            return str(value)
        if isinstance(value, bytes):
            return to_text(value)
        sentence = (
            f"the {what} is empty" if value in (None, "") or value != value else f"the {what} {value!r} is no name"
        )
        raise self.problem(sentence, line)

    def _number(self, value: Any, what: str, line: int) -> float:
        if isinstance(value, str):
            text = value.strip()
            if text.casefold() in NOTHING:
                return math.nan
            value = decimal_number(text)
        if value is None:
            return math.nan
        if isinstance(value, (str, bool, np.bool_)) or not isinstance(value, (int, float, np.number, Decimal)):
            raise self.problem(f"the {what} {value!r} is not a number", line)
        found = finite(value)
        if found is None and value == value:
            raise self.problem(f"the {what} {as_written(value)} is not a finite number", line)
        if found is not None and abs(found) > LARGEST:
            raise self.problem(f"the {what} {found:g} is too large: {FAR}", line)
        return math.nan if found is None else found

    def table(self) -> ScoreTable:
        """All scores in one array; a score given twice is refused with both places."""
        shape = len(self.runs), len(self.topics), len(self.measures)
        if not self.value:
            name = self.sources[-1][1] if self.sources else None
            why = "only scores over all topics; scores of single topics are needed (trec_eval -q, ir_measures -q)"
            if self.wanted is not None:
                raise InputError("no score of the topics asked for in this table", name)
            raise InputError(why if self.passed_over else "no scores in this table", name)
        cells = math.prod(shape)
        if cells > MOST_CELLS and cells > 50 * len(self.value):
            many = f"{counted(shape[0], 'run')} x {counted(shape[1], 'topic')} x {counted(shape[2], 'measure')}"
            raise InputError(
                f"{many}, but only {len(self.value)} scores: is the right column the topic?", self.sources[0][1]
            )
        run, topic, measure = (np.frombuffer(codes, np.int32) for codes in (self.run, self.topic, self.measure))
        place = (run.astype(np.int64) * shape[1] + topic) * shape[2] + measure
        self._refuse_twice(place, cells)
        values = np.full(cells, np.nan)
        values[place] = np.frombuffer(self.value, np.float64)
        over = sorted(self.passed_over)
        notes = (f"passed over, as no topic: {', '.join(over)}",) if {o.casefold() for o in over} - {"all"} else ()
        return ScoreTable(tuple(self.runs), tuple(self.topics), tuple(self.measures), values.reshape(shape), notes)

    def _refuse_twice(self, place: npt.NDArray[np.int64], cells: int) -> None:
        first = np.full(cells, -1, np.int64)
        rows = np.arange(len(place))
        first[place[::-1]] = rows[::-1]
        again = np.flatnonzero(first[place] != rows)
        if not len(again):
            return
        row = int(again[0])
        before = int(first[place[row]])
        name = {
            what: list(known)[int(codes[row])]
            for what, known, codes in (
                ("run", self.runs, self.run),
                ("topic", self.topics, self.topic),
                ("measure", self.measures, self.measure),
            )
        }
        _, source, unit = next(s for s in reversed(self.sources) if s[0] <= before)
        where = (
            f"{unit} {self.line[before]}" if source == self._source_of(row) else f"{source}, {unit} {self.line[before]}"
        )
        sentence = f"a second {name['measure']} of run {name['run']} on topic {name['topic']} (the first: {where})"
        raise self.problem(sentence, self.line[row], row)

    def _source_of(self, row: int) -> str:
        return next(s for s in reversed(self.sources) if s[0] <= row)[1]


# -- which column is what


def _plain(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


def roles_of(columns: Sequence[str]) -> dict[str, str]:
    """Role -> the column that has it."""
    given = {_plain(column): column for column in reversed(columns)}
    return {
        role: given[name] for role, known in ROLES.items() if (name := next((k for k in known if k in given), None))
    }


def layout_of(columns: Sequence[str], is_measure: IsMeasure, source: str, line: int | None = None) -> Layout:
    """What the columns of a table mean, or an InputError that says what is missing."""
    at = roles_of(columns)
    if {"topic", "measure", "value"} <= at.keys():
        refuse_twice(at.values(), columns, source, line)
        return Layout(at, "", ())
    refuse_twice(columns, columns, source, line)
    others = tuple(c for c in columns if c not in {at.get("run"), at.get("topic"), at.get("measure")})
    if "measure" in at or not others or not {"run", "topic"} & at.keys():
        raise InputError(
            f"columns run, topic, measure and value are needed, or run (topic) and one column for each topic (run); "
            f"found {', '.join(columns)[:200]}",
            source,
            line,
        )
    if {"run", "topic"} <= at.keys():
        return Layout({k: v for k, v in at.items() if k != "value"}, "measure", others)
    if "topic" in at:
        return Layout(at, "measure" if all(map(is_measure, others)) else "run", others)
    return Layout(at, "topic", others)


def _measure_column(column: str) -> str:
    return ONE_MEASURE if _plain(column) in VALUE else column


def _add_row(cells: Cells, layout: Layout, found: Callable[[str], Any], run: str, line: int) -> None:
    """The scores of one row; `run` is the run where no column says so."""
    name = found(layout.at["run"]) if "run" in layout.at else run
    topic = found(layout.at["topic"]) if "topic" in layout.at else ""
    if not layout.across:
        cells.add(name, topic, found(layout.at["measure"]), found(layout.at["value"]), line)
    for column in layout.columns:
        if layout.across == "measure":
            cells.add(name, topic, _measure_column(column), found(column), line)
        elif layout.across == "run":
            cells.add(column, topic, ONE_MEASURE, found(column), line)
        else:
            cells.add(name, column, ONE_MEASURE, found(column), line)


# -- files


def read_file(path: str, cells: Cells) -> None:
    """The scores of one file, whatever its format."""
    source = files.source_name(path)
    if Path(path).suffix in (".parquet", ".parq"):
        return _parquet(path, cells)
    cells.source(source)
    text = ((number, line.rstrip("\r\n")) for number, line in lines(path))
    number, line = next(text, (0, ""))
    if not number:
        raise InputError("no scores in this file", source)
    if line.startswith("PAR1"):
        cells.sources.pop()
        return _parquet(path, cells)
    rest = _again((number, line), text)
    start = line.lstrip()[:1]
    if start in ("{", "["):
        return _json(rest, line, run_of(path), cells, source)
    mark = "|" if start == "|" else next((one for one in "\t,;" if one in line), None)
    head = _fields(line, mark, cells, number)
    three = len(head) == 3 and (head[0] == "runid" or isinstance(decimal_number(head[2]), float))
    if mark == "|" or (roles_of(head) and not three):
        layout = cells.layout(head, number)
        return _rows(text, head, layout, mark, run_of(path), cells)
    return _tool_output(rest, mark, run_of(path), cells, source)


def run_of(path: str) -> str:
    """A table of one run is called after its file."""
    return files.run_name(path)


def _again(first: tuple[int, str], rest: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield first
    yield from rest


def _rows(
    text: Iterator[tuple[int, str]], head: list[str], layout: Layout, mark: str | None, run: str, cells: Cells
) -> None:
    places = {column: place for place, column in reversed(list(enumerate(head)))}
    for number, line in text:
        if mark == "|" and not line.lstrip().startswith(mark):
            raise cells.problem("a row of a Markdown table begins with |", number)
        fields = _fields(line, mark, cells, number)
        if mark == "|" and all(_RULE.fullmatch(one) for one in fields):
            continue
        if len(fields) != len(head):
            raise cells.problem(f"{counted(len(fields), 'field')}, but {counted(len(head), 'column')}", number)
        _add_row(cells, layout, lambda column, fields=fields: fields[places[column]], run, number)  # type: ignore[misc]


def _fields(line: str, mark: str | None, cells: Cells, number: int) -> list[str]:
    """The fields of a line between marks (None: white space)."""
    if mark == "|":
        line = line.strip().removeprefix(mark).removesuffix(mark)
    if mark is None or mark == "|" or '"' not in line:
        return [part.strip() for part in line.split(mark)]
    try:
        return [part.strip() for part in next(csv.reader([line], delimiter=mark))]
    except csv.Error as problem:
        raise cells.problem(f"this line cannot be read ({problem})", number) from None


def _tool_output(text: Iterator[tuple[int, str]], mark: str | None, run: str, cells: Cells, source: str) -> None:
    """Lines of measure, topic, value (trec_eval) or topic, measure, value (ir_measures); several runs of trec_eval in
    one file are told apart by their runid. Four fields are run, measure, topic, value (TREC AutoJudge's `tot`)."""
    rows: list[tuple[int, list[str]]] = []
    for number, line in text:
        fields = [part.strip() for part in line.split(mark)]
        if len(fields) == 6 and fields[1].upper() == "Q0":
            raise InputError(NO_SCORES, source, number)
        if len(fields) not in (3, 4) or (rows and len(fields) != len(rows[0][1])):
            raise InputError(
                f"a line of trec_eval -q or ir_measures -q has 3 fields, this one {len(fields)}; other tables begin "
                f"with column names (run, topic, measure, value)",
                source,
                number,
            )
        rows.append((number, fields))
    if len(rows[0][1]) == 4:
        _leaderboard(rows, cells, source)
        return
    first = {fields[0] for _, fields in rows}
    second = {fields[1] for _, fields in rows}
    measure_first = _measures_among(first, cells) >= _measures_among(second, cells)
    if measure_first and not any(map(cells.is_measure, first)) and "all" not in second:
        raise InputError(
            "neither column holds measures; name the columns in a first line (topic, measure, value)", source, 1
        )
    named = [(number, (f[0], f[1], f[2]) if measure_first else (f[1], f[0], f[2])) for number, f in rows]
    block: list[tuple[int, tuple[str, str, str]]] = []
    over = False
    names: list[str] = []
    before: set[tuple[str, str]] = set()
    for entry in [*named, (0, ("", "", ""))]:
        if (over and entry[1][1] != "all") or not entry[0]:  # the next run begins after the lines over all topics
            tag = next((value for _, (measure, _, value) in block if measure == "runid"), None)
            name = tag if tag and (names or entry[0]) else run
            again = tag is None and name in names
            names.append(name)
            for number, (measure, topic, value) in block:
                if again and (measure, topic) in before:
                    raise cells.problem(
                        "another run begins here, and no runid says which: give a file for each run", number
                    )
                before.add((measure, topic))
                if measure not in ("runid", "relstring", "relation"):
                    cells.add(name, topic, measure, value, number)
            block = []
        over = entry[1][1] == "all"
        block.append(entry)


def _leaderboard(rows: list[tuple[int, list[str]]], cells: Cells, source: str) -> None:
    """Lines of run, measure, topic, value. Judgments have four fields, too, but neither measures nor `all`."""
    if not any(cells.is_measure(fields[1]) or fields[2] == "all" for _, fields in rows):
        raise InputError(
            "no measures in the second of four columns; name the columns in a first line (run, topic, measure, value)"
            if any(not fields[3].lstrip("-").isdigit() for _, fields in rows)
            else NO_SCORES,
            source,
            rows[0][0],
        )
    for number, (run, measure, topic, value) in rows:
        cells.add(run, topic, measure, value, number)


def _measures_among(names: set[str], cells: Cells) -> float:
    return sum(map(cells.is_measure, names)) / len(names)


def _json(text: Iterator[tuple[int, str]], line: str, run: str, cells: Cells, source: str) -> None:
    """JSON lines of flat objects, a list of them, or names inside names."""
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        first = None
    _refuse_report(first, source)
    if isinstance(first, dict) and any(not isinstance(value, dict) for value in first.values()):
        layout: Layout | None = None
        for number, one in text:
            try:
                found = json.loads(one)
            except (ValueError, RecursionError) as problem:
                raise cells.problem(f"this line is not JSON ({fault_of(problem)})", number) from None
            if not isinstance(found, dict):
                raise cells.problem('a line needs an object like {"run": ..., "topic": ...}', number)
            layout = layout or cells.layout(list(found), number)
            _add_row(cells, layout, found.get, run, number)
        return
    try:
        whole = json.loads("\n".join(one for _, one in text))
    except (ValueError, RecursionError) as problem:
        raise InputError(f"this is not JSON ({fault_of(problem)})", source) from None
    if isinstance(whole, list) and whole and all(isinstance(one, dict) for one in whole):
        cells.sources[-1] = (*cells.sources[-1][:2], "entry")
        layout = cells.layout(list(whole[0]))
        for number, one in enumerate(whole, 1):
            _add_row(cells, layout, one.get, run, number)
        return
    _refuse_report(whole, source)
    cells.sources[-1] = (*cells.sources[-1][:2], "")
    add_nested(whole, run, cells, source)


def _refuse_report(found: Any, source: str) -> None:
    """A Report of ranx, as it saves one, holds no scores of single topics."""
    if isinstance(found, dict) and {"metrics", "model_names"} <= found.keys():
        raise InputError(MEANS, source)


def add_nested(given: Any, run: str, cells: Cells, source: str) -> None:
    """Names inside names: {topic: {measure: ...}} (pytrec_eval), {measure: {topic: ...}} (ranx), runs of either."""
    if not isinstance(given, Mapping) or not given or not all(isinstance(v, Mapping) and v for v in given.values()):
        raise InputError('names inside names are needed, as {"bm25": {"ndcg@10": {"301": 0.41}}}', source)
    deeper = [isinstance(inner, Mapping) for value in given.values() for inner in value.values()]
    if all(deeper):
        for name, value in given.items():
            add_nested(value, str(name), cells, source)
        return
    if any(deeper):
        raise InputError("some names hold scores and some hold further names", source)
    outer, inner = set(map(str, given)), {str(key) for value in given.values() for key in value}
    for a, value in given.items():
        for b, score in value.items():
            if all(map(cells.is_measure, inner)):
                cells.add(run, str(a), str(b), score, 0)
            elif any(map(cells.is_measure, outer)):
                cells.add(run, str(b), str(a), score, 0)
            else:
                cells.add(str(a), str(b), ONE_MEASURE, score, 0)


def _parquet(path: str, cells: Cells) -> None:
    """Batch by batch: of a long table only the names and numbers of a few thousand rows are held."""
    pyarrow = load_pyarrow(path)
    cells.source(path, "row")
    layouts: list[Layout] = []

    def choose(names: list[str]) -> list[str]:
        layouts.append(cells.layout(names))
        return [*layouts[0].at.values(), *layouts[0].columns]

    first = 1
    for batch, _ in read_batches(path, choose, _ROWS):
        _add_batch(batch, layouts[0], cells, first, run_of(path).removesuffix(".parquet"), pyarrow)
        first += batch.num_rows


def _add_batch(batch: Any, layout: Layout, cells: Cells, first: int, run: str, pyarrow: Any) -> None:
    def names(role: str, otherwise: Any) -> Any:
        if role not in layout.at:
            return otherwise
        column = batch.column(layout.at[role])
        if column.null_count:
            empty = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise cells.problem(f"the {role} is empty", first + empty)
        coded = column if pyarrow.types.is_dictionary(column.type) else column.dictionary_encode()
        return coded.dictionary.to_pylist(), coded.indices.to_numpy(zero_copy_only=False)

    def numbers(column: str) -> Floats:
        values = batch.column(column)
        kinds = pyarrow.types.is_floating, pyarrow.types.is_integer, pyarrow.types.is_decimal
        if not any(is_kind(values.type) for is_kind in kinds):
            given = values.to_pylist()
            return np.array([cells._number(v, column, first + i) for i, v in enumerate(given)], np.float64)
        return np.asarray(values.cast(pyarrow.float64()).to_numpy(zero_copy_only=False), np.float64)

    runs, topics = names("run", run), names("topic", "")
    if not layout.across:
        cells.add_block(runs, topics, names("measure", ONE_MEASURE), numbers(layout.at["value"]), first)
    for column in layout.columns:
        values = numbers(column)
        if layout.across == "measure":
            cells.add_block(runs, topics, _measure_column(column), values, first)
        elif layout.across == "run":
            cells.add_block(column, topics, ONE_MEASURE, values, first)
        else:
            cells.add_block(runs, column, ONE_MEASURE, values, first)


# -- objects in memory


def read_frame(frame: Any, run: str, cells: Cells, source: str) -> None:
    """The scores of a pandas, polars or arrow frame."""
    cells.source(source, "row")
    index = getattr(frame, "index", None)  # a table turned with pivot: topics or runs stand beside the columns
    if index is not None and any(name is not None for name in index.names):
        frame = frame.reset_index()
    opened = frames.open_frame(frame)
    columns = list(map(str, opened.columns))
    layout = cells.layout(columns)
    held = {column: opened[column].to_list() for column in (*layout.at.values(), *layout.columns)}
    for row in range(len(opened)):
        _add_row(cells, layout, lambda column, row=row: held[column][row], run, row + 1)  # type: ignore[misc]


def read_metrics(metrics: Iterable[Any], run: str, cells: Cells, source: str) -> None:
    """What `ir_measures.iter_calc` gives: things with a query_id, a measure and a value."""
    cells.source(source, "entry")
    for number, metric in enumerate(metrics, 1):
        try:
            found = metric.query_id, str(metric.measure), metric.value
        except AttributeError:
            raise InputError(
                f"scores with query_id, measure and value are needed, found {metric!r:.60}", source
            ) from None
        cells.add(run, *found, number)
