"""Data frames (pandas, polars, arrow) with the column names of ir_measures, PyTerrier, ranx or trectools."""

from __future__ import annotations

import importlib
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unjudged.errors import InputError, nearest
from unjudged.io.dicts import TopicList, is_number, qrels_table, text_id, whole_grade
from unjudged.io.trec import QrelsTable
from unjudged.text import as_written

TOPIC = ("topic", "query_id", "qid", "q_id", "query")
DOC = ("doc", "doc_id", "docno", "docid", "document")
SCORE = ("score", "sim", "value")
GRADE = ("grade", "relevance", "label", "rel", "score")
ITERATION = ("iteration", "iter", "q0")
RUN = ("run", "run_id", "system", "name", "tag")


def is_frame(thing: Any) -> bool:
    """Is this a data frame of a kind we know? Imports nothing."""
    kind = type(thing)
    return kind.__name__ in {"DataFrame", "LazyFrame", "Table", "RecordBatch"} and kind.__module__.split(".")[0] in {
        "pandas",
        "polars",
        "pyarrow",
    }


def _column(frame: Any, names: Sequence[str], what: str, source: str, required: bool = True) -> list[Any] | None:
    for name in names:
        if name in frame.columns:
            values: list[Any] = frame[name].to_list()
            return values
    if not required:
        return None
    near = next((nearest(c, names) for c in map(str, frame.columns) if nearest(c, names)), "")
    raise InputError(
        f"no column for the {what} (looked for {', '.join(names)}; found {list(frame.columns)}){near}", source
    )


def open_frame(frame: Any) -> Any:
    """The frame in one dress, whoever made it; what is lazy is collected, a record batch is a table of one."""
    import narwhals as nw

    kind = type(frame)
    if kind.__name__ == "RecordBatch":
        frame = importlib.import_module("pyarrow").Table.from_batches([frame])
    if kind.__name__ == "LazyFrame":
        frame = frame.collect()
    return nw.from_native(frame, eager_only=True)


def qrels_from_frame(frame: Any, source: str = "judgments") -> QrelsTable:
    """Judgments given as a data frame."""
    frame = open_frame(frame)
    topic = _column(frame, TOPIC, "topic", source) or []
    docs = _column(frame, DOC, "document", source) or []
    grades = _column(frame, GRADE, "grade", source) or []
    iteration = _column(frame, ITERATION, "iteration", source, required=False)
    topics: dict[str, int] = {}
    rounds: dict[str, int] = {}
    codes = [topics.setdefault(text_id(t, "topic", source), len(topics)) for t in topic]
    whole = [whole_grade(g, f"row {i}", source) for i, g in enumerate(grades)]
    ids = [text_id(d, "document", source) for d in docs]
    if iteration is None:
        return qrels_table(topics, codes, ids, whole, source)
    strata = [rounds.setdefault(str(i), len(rounds)) for i in iteration]
    return qrels_table(topics, codes, ids, whole, source, rounds, strata)


def split_runs(frame: Any, source: str = "run") -> list[tuple[str, Any]]:
    """(name, frame) per run: by the run column where there is one."""
    names = _column(open_frame(frame), RUN, "run", source, required=False)
    if names is None or not names:
        return [(source, frame)]
    opened = open_frame(frame)
    order = list(dict.fromkeys(names))
    if len(order) == 1:
        return [(str(order[0]), frame)]
    values = np.array(names, object)
    return [(str(name), opened.filter((values == name).tolist()).to_native()) for name in order]


def lists_of_frame(frame: Any, name: str) -> Iterator[TopicList]:
    """The lists of a run given as a data frame, apart from the frame."""
    frame = open_frame(frame)
    topic = _column(frame, TOPIC, "topic", name) or []
    docs = _column(frame, DOC, "document", name) or []
    scores = _column(frame, SCORE, "score", name) or []
    try:
        values = np.array(scores, np.float64)
    except (TypeError, ValueError, OverflowError):
        bad = next(s for s in scores if not is_number(s))
        raise InputError(f"the score {as_written(bad)} is not a number", name) from None
    codes: dict[Any, int] = {}
    order = np.array([codes.setdefault(t, len(codes)) for t in topic], np.int64)
    places = np.argsort(order, kind="stable")
    stops: list[int] = np.cumsum(np.bincount(order, minlength=len(codes))).tolist() if len(order) else []
    start = 0
    for t, stop in zip(codes, stops, strict=True):
        here = places[start:stop]
        yield text_id(t, "topic", name), [docs[i] for i in here.tolist()], array("d", values[here].tobytes())
        start = stop
