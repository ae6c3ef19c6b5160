"""Grades as machines give them: whole numbers, decimals, numbers as text, or JSON objects with the grade inside."""

from __future__ import annotations

import json
import math
from array import array
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unjudged.io.columns import Judged, decimal_number, finite
from unjudged.io.trec import QrelsTable
from unjudged.text import counted

INSIDE = ("grade", "o", "score", "relevance", "rating", "label", "final_score", "rel")
"""Keys of an object that may hold the grade, the first that is there; O is the overall grade of UMBRELA's prompt."""


def number_of(grade: Any, depth: int = 0) -> float | None:
    """The number a machine means, or None where it means none: 2, 2.0, "2", {"O": 2} or the text of such an object."""
    if isinstance(grade, bool) or depth > 3:
        return None
    if isinstance(grade, (int, float)):
        return finite(grade)
    if isinstance(grade, dict):
        known = {str(key).strip().casefold(): value for key, value in grade.items()}
        return next((number_of(known[key], depth + 1) for key in INSIDE if key in known), None)
    if isinstance(grade, str):
        text = grade.strip()
        if text.startswith("{"):
            try:
                return number_of(json.loads(text), depth + 1)
            except (ValueError, RecursionError):
                return None
        found = decimal_number(text)
        return None if isinstance(found, str) else finite(found)
    return None


@dataclass
class MachineJudged(Judged):
    """A machine's judgments row by row; decimals are rounded (halves up) and counted, text is refused with its line."""

    rounded: int = 0
    first_rounded: str = ""
    sure: array[float] = field(default_factory=lambda: array("d"))

    def add(self, topic: Any, doc: Any, grade: Any, iteration: Any, line: int, confidence: Any = None) -> None:
        """One judgment, and how sure the machine was of it, where it tells a number."""
        number = number_of(grade)
        if number is None:
            self.refuse(f"the grade {str(grade)[:60]!r} of {doc} is not a number and holds none", line)
            return
        whole = math.floor(number + 0.5)
        if whole != number:
            if not self.rounded:
                self.first_rounded = f"{self.unit} {line}: {number:g} becomes {whole}"
            self.rounded += 1
        super().add(topic, doc, whole, iteration, line)
        if len(self.docs) > len(self.sure):
            told = number_of(confidence)
            self.sure.append(math.nan if told is None else told)

    def table(self) -> QrelsTable:
        """The judgments as columns, in the order they came."""
        sure = np.frombuffer(self.sure, np.float64)
        return super().table()._replace(confidence=None if np.isnan(sure).all() else sure)

    def notes(self) -> tuple[str, ...]:
        """What was left out or rounded."""
        told = super().notes()
        if self.rounded:
            many = counted(self.rounded, "grade was no whole number and is", "grades were no whole numbers and are")
            told += (f"{many} rounded, halves up ({self.first_rounded})",)
        return told
