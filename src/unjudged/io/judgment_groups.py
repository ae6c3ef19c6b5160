"""Judgments of several assessors in one file: judgment groups and preferences, in trec_eval's three formats.

- `qrels_jg`: `topic group doc grade`, the ordinary judgments where the second column names the assessor;
- `prefs`: `topic group subgroup doc level`, where documents of one subgroup are compared by their levels;
- `qrels_prefs`: `topic group doc level`, ordinary judgments read as preferences, one subgroup for each group.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.columns import fields_of
from unjudged.io.ids import Ids
from unjudged.io.trec import LARGEST_GRADE, UNJUDGED, QrelsTable, Reading

FIELDS = {
    "qrels_jg": ("topic", "group", "doc", "grade"),
    "prefs": ("topic", "group", "subgroup", "doc", "level"),
    "qrels_prefs": ("topic", "group", "doc", "level"),
}
"""Format (trec_eval's -R) -> the fields of a line."""


class Level(NamedTuple):
    """What one assessor said about one document: the higher the level, the better; 0 is not relevant."""

    group: str
    subgroup: str
    doc: str
    level: float


def read_groups(path: str, format: str) -> dict[str, list[Level]]:
    """The levels of each topic, groups in order of their bytes."""
    found: dict[str, list[Level]] = {}
    source, seen = files.source_name(path), set()
    for number, fields in _lines(path, format):
        topic, group = fields[0], fields[1]
        subgroup = fields[2] if format == "prefs" else "0"
        doc, text = fields[-2:]
        try:
            level = float(int(text)) if format == "qrels_jg" else float(text)
            if not math.isfinite(level) or (format == "qrels_jg" and abs(level) > LARGEST_GRADE):
                raise ValueError
        except ValueError:
            wanted = "whole number" if format == "qrels_jg" else "number"
            raise InputError(f"the {FIELDS[format][-1]} {text!r} is not a {wanted}", source, number) from None
        if (topic, group, subgroup, doc) in seen:
            raise InputError(f"document {doc} of topic {topic} appears twice in group {group}", source, number)
        seen.add((topic, group, subgroup, doc))
        found.setdefault(topic, []).append(Level(group, subgroup, doc, level))
    if not found:
        raise InputError("no judgments in this file", source)
    return {topic: sorted(levels, key=lambda said: in_bytes(said.group)) for topic, levels in found.items()}


def read_qrels(path: str, reading: Reading | None = None) -> QrelsTable:
    """Judgments of several assessors (`qrels_jg`): each document once, with the highest grade anyone gave it.

    What each assessor said is kept beside it, assessors in order of their bytes.
    """
    levels = read_groups(path, "qrels_jg")
    groups = sorted({said.group for of_topic in levels.values() for said in of_topic}, key=in_bytes)
    column = {group: i for i, group in enumerate(groups)}
    topic: list[int] = []
    docs: list[str] = []
    opinions: list[npt.NDArray[np.int32]] = []
    for number, of_topic in enumerate(levels.values()):
        rows: dict[str, npt.NDArray[np.int32]] = {}
        for said in of_topic:
            row = rows.setdefault(said.doc, np.full(len(groups), UNJUDGED, np.int32))
            row[column[said.group]] = int(said.level)
        topic += [number] * len(rows)
        docs += rows
        opinions += rows.values()
    said_by_all = np.array(opinions, np.int32)
    none = np.zeros(len(topic), np.int32)
    return QrelsTable(
        files.source_name(path),
        Ids.of(levels),
        np.array(topic, np.int32),
        Ids.of(docs),
        said_by_all.max(axis=1),
        Ids.of(["0"]),
        none,
        opinions=said_by_all,
    )


def in_bytes(text: str) -> bytes:
    """What trec_eval compares names by."""
    return text.encode("utf-8", "surrogateescape")


def _lines(path: str, format: str) -> Iterator[tuple[int, list[str]]]:
    return fields_of(path, files.source_name(path), FIELDS[format], f"a line of {format}")
