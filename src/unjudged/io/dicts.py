"""Dicts of dicts, as pytrec_eval, ir_measures, ranx and BEIR users hold them: {topic: {doc: number}}."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unjudged import kernels
from unjudged.errors import InputError
from unjudged.io.ids import Ids, to_bytes
from unjudged.io.retrieved import hits_of, is_results
from unjudged.io.trec import LARGEST_GRADE, QrelsTable, Reading, RunTable, run_table, too_large
from unjudged.text import as_written

Run = Mapping[str, Mapping[str, float]]
Qrels = Mapping[str, Mapping[str, int]]
TopicList = tuple[Any, list[Any], "array[float]"]
"""A topic, its documents, and their scores (ids may be whole numbers)."""


def text_id(value: Any, what: str, source: str) -> str:
    """An id as text; whole numbers are accepted, anything else is a mistake."""
    if isinstance(value, str):
        try:
            to_bytes(value)
        except UnicodeEncodeError:
            raise InputError(f"the {what} id {value!r} cannot be written as text", source) from None
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"{what} ids are text, found {value!r} ({type(value).__name__})", source)


def qrels_from_dict(qrels: Qrels, source: str = "judgments") -> QrelsTable:
    """Judgments given as {topic: {doc: grade}}."""
    if (packed := kernels.pack_judgments(qrels)) and packed["values"]:
        starts = np.frombuffer(packed["starts"], np.int64)
        return QrelsTable(
            source,
            Ids(packed["topics"], np.frombuffer(packed["topic_ends"], np.int64)),
            np.repeat(np.arange(len(starts) - 1, dtype=np.int32), starts[1:] - starts[:-1]),
            Ids(packed["docs"], np.frombuffer(packed["doc_ends"], np.int64)),
            np.frombuffer(packed["values"], np.int32),
            Ids.of(["0"]),
            np.zeros(int(starts[-1]), np.int32),
        )
    topics: list[str] = []
    known: set[str] = set()
    sizes: list[int] = []
    docs: list[str] = []
    grades = array("i")
    for name, judged in qrels.items():
        if not isinstance(judged, Mapping):
            raise InputError(f"topic {name!r} needs a dict of documents, found {type(judged).__name__}", source)
        topics.append(text_id(name, "topic", source))
        if topics[-1] in known:
            raise InputError(f"topic {topics[-1]} is there twice, as text and as a number", source)
        known.add(topics[-1])
        try:
            whole = array("i", judged.values())
            to_bytes("".join(judged))
            if whole and (max(whole) > LARGEST_GRADE or min(whole) < -LARGEST_GRADE):
                raise OverflowError
        except (TypeError, OverflowError, UnicodeEncodeError):  # a number as id, 1.0 as grade, or a mistake
            for doc, grade in judged.items():
                docs.append(text_id(doc, "document", source))
                grades.append(whole_grade(grade, f"topic {name!r}, document {doc!r}", source))
        else:
            docs.extend(judged)
            grades.extend(whole)
        sizes.append(len(judged))
    return qrels_table(topics, np.repeat(np.arange(len(topics)), sizes), docs, grades, source)


def is_number(value: Any) -> bool:
    """Can this be a score?"""
    try:
        array("d", [value])
    except (TypeError, OverflowError):
        return False
    return True


def whole_grade(grade: Any, where: str, source: str) -> int:
    """A grade as an int; 1.0 is accepted, 0.5 is not."""
    try:
        whole = int(grade)
        if whole != grade:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: the grade {as_written(grade)} is not a whole number", source) from None
    if abs(whole) > LARGEST_GRADE:
        raise InputError(f"{where}: {too_large(as_written(grade))}", source)
    return whole


def qrels_table(
    topics: Iterable[str],
    topic: npt.ArrayLike,
    docs: Iterable[str],
    grades: npt.ArrayLike,
    source: str,
    iterations: Iterable[str] = ("0",),
    iteration: npt.ArrayLike | None = None,
) -> QrelsTable:
    """Pack plain lists or arrays."""
    codes = np.asarray(topic, np.int32)
    if not len(codes):
        raise InputError("no judgments", source)
    return QrelsTable(
        source,
        Ids.of(topics),
        codes,
        Ids.of(docs),
        np.asarray(grades, np.int32),
        Ids.of(iterations),
        np.zeros(len(codes), np.int32) if iteration is None else np.asarray(iteration, np.int32),
    )


def run_from_dict(run: Run, name: str, index: Any, topics: Ids, reading: Reading, keep_docs: bool = False) -> RunTable:
    """A run given as {topic: {doc: score}}."""
    return run_from_held(held_run(run, name), name, index, topics, reading, keep_docs)


class PackedRun(NamedTuple):
    """A run of plain dicts, apart from them: ids one after the other, where each ends, scores, as bytes."""

    topics: bytes
    topic_ends: bytes
    starts: bytes
    docs: bytes
    doc_ends: bytes
    scores: bytes


HeldRun = PackedRun | list[TopicList]
"""A private copy of a run that was given as an object."""


def held_run(run: Run, name: str) -> HeldRun:
    """A run given as {topic: {doc: score}}, apart from the dict."""
    packed = kernels.pack_run(run)
    return list(lists_of_dict(run, name)) if packed is None else PackedRun(*packed.values())


def run_from_held(
    run: HeldRun, name: str, index: Any, topics: Ids, reading: Reading, keep_docs: bool = False
) -> RunTable:
    """The judged hits of a run held in memory."""
    if not isinstance(run, PackedRun):
        return run_from_topics(run, name, index, topics, reading, keep_docs)
    scanner = reading.scanner(index, keep_docs=keep_docs)
    scanner.add_run(*run)  # a dict has every topic once
    return _read_table(scanner.finish(), name, topics, reading)


def _read_table(found: dict[str, Any], name: str, topics: Ids, reading: Reading) -> RunTable:
    return run_table(found | {"lines": found["lines"] or 1}, name, name, topics, reading)


def lists_of_dict(run: Run, name: str) -> Iterator[TopicList]:
    """The lists of a run given as {topic: {doc: score}}, apart from the dict."""
    for topic, retrieved in run.items():
        if is_results(retrieved):
            yield topic, *hits_of(retrieved, f"topic {topic!r}", name)
            continue
        if not isinstance(retrieved, Mapping):
            said = "a dict or a list of documents"
            raise InputError(f"topic {topic!r} needs {said}, found {type(retrieved).__name__}", name)
        try:
            scores = array("d", retrieved.values())
        except (TypeError, OverflowError):
            bad = next(d for d, s in retrieved.items() if not is_number(s))
            raise InputError(
                f"topic {topic!r}, document {bad!r}: the score {as_written(retrieved[bad])} is not a number", name
            ) from None
        yield topic, list(retrieved), scores


def run_from_topics(
    lists: Iterable[tuple[Any, list[Any], Any]],
    name: str,
    index: Any,
    topics: Ids,
    reading: Reading,
    keep_docs: bool = False,
) -> RunTable:
    """A run given topic by topic: (topic, documents, float64 scores)."""
    scanner = reading.scanner(index, gather=True, keep_docs=keep_docs)
    for topic, docs, scores in lists:
        code = to_bytes(text_id(topic, "topic", name))
        try:
            joined = to_bytes("\n".join(docs))
        except (TypeError, UnicodeEncodeError):
            docs = [text_id(doc, "document", name) for doc in docs]
            joined = to_bytes("\n".join(docs))
        status = scanner.add(code, joined, None, scores)
        if status == -2:  # an id holds a newline
            packed = Ids.of(docs)
            status = scanner.add(code, packed.blob, packed.ends, scores)
        if status > 0:
            raise InputError(f"topic {topic!r}, document {docs[status - 1]!r}: the score is NaN", name)
    return _read_table(scanner.finish(), name, topics, reading)
