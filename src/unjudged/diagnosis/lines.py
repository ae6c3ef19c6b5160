"""A run as its lines stand: what other tools may have sorted, cut or matched in another way."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unjudged.collection import Floats
from unjudged.errors import InputError, UsageError
from unjudged.io import files, formats


@dataclass(frozen=True, eq=False)
class Lines:
    """Topic, document, rank and score of every line, in the order of the file."""

    source: str
    topic: tuple[str, ...]
    doc: tuple[str, ...]
    rank: Floats
    score: Floats


def read_lines(run: Any) -> Lines:
    """The lines of a run: a TREC file, or a dict {topic: {doc: score}} as it was filled."""
    if isinstance(run, (str, os.PathLike)):
        return _of(files.source_name(str(run)), _trec(str(run)))
    if isinstance(run, Mapping):
        return _of("run", _held(run))
    raise UsageError(f"the doctor reads a run from a TREC file or a dict, not from {type(run).__name__}")


def _of(source: str, rows: Iterator[tuple[str, str, float, float]]) -> Lines:
    columns = list(zip(*rows, strict=True))
    if not columns:
        raise InputError("no run lines in this file", source)
    topic, doc, rank, score = columns
    return Lines(source, topic, doc, np.array(rank, np.float64), np.array(score, np.float64))


def _trec(path: str) -> Iterator[tuple[str, str, float, float]]:
    if (kind := formats.run_format(path)) != "trec":
        raise UsageError(
            f"{path}: the doctor looks at lines of a TREC run (topic Q0 doc rank score tag), not at {kind}"
        )
    source = files.source_name(path)
    text = bytes(files.read_all(path)).decode("utf-8", "surrogateescape")
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.split()
        if not fields or line.startswith("#"):
            continue
        if len(fields) < 5:
            raise InputError(f"a run line has six fields, here are {len(fields)}", source, number)
        yield fields[0], fields[2], _number(fields[3], "rank", source, number), _score(fields[4], source, number)


def _score(text: str, source: str, line: int) -> float:
    score = _number(text, "score", source, line)
    if math.isnan(score):
        raise InputError("the score is not a number (NaN)", source, line)
    return score


def _number(text: str, what: str, source: str, line: int) -> float:
    try:
        return float(text)
    except ValueError:
        if what == "rank":
            return math.nan  # a column that nobody has to fill
        raise InputError(f"the {what} {text!r} is not a number", source, line) from None


def _held(run: Mapping[Any, Any]) -> Iterator[tuple[str, str, float, float]]:
    for topic, docs in run.items():
        if not isinstance(docs, Mapping):
            raise UsageError(f"a run is {{topic: {{doc: score}}}}; topic {topic} holds {type(docs).__name__}")
        for rank, (doc, score) in enumerate(docs.items(), 1):
            yield str(topic), str(doc), float(rank), float(score)
