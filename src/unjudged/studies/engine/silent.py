"""Measures that say nothing about these runs: 0 everywhere, or the same for all runs on every topic.

Such a measure never swaps, never contradicts itself and never errs, so that it would win tables it has no place in. It
is unknown instead: listed last, never bold, never the one a verdict speaks of, and a note says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection
from unjudged.measures import Measure
from unjudged.statistics.pairs import ZERO
from unjudged.text import counted as many_of
from unjudged.text import listed

if TYPE_CHECKING:
    from unjudged.studies.engine.case import Case
    from unjudged.studies.engine.setup import Matrices

NO_SCORE = "0 for every run on every topic"
ALIKE = "the same for all runs on every topic"
NO_MEAN = "its mean is 0 for every run"
ONE_MEAN = "its mean is the same for all runs"


def silent_measures(case: Case, scores: Matrices) -> dict[str, str]:
    """The measures that say nothing, each with the reason; a note tells them."""
    found: dict[str, str] = {}
    for measure, values, varies in zip(scores.measures, scores.values, scores.varying, strict=True):
        if not varies:
            nothing = bool((np.abs(values) < ZERO).all())
            found[str(measure)] = _no_such_grade(case, measure) or (NO_SCORE if nothing else ALIKE)
    note_silent(case, found)
    return found


def note_silent(case: Case, silent: Mapping[str, str]) -> None:
    """One note for each reason."""
    for reason in dict.fromkeys(silent.values()):
        names = [name for name, why in silent.items() if why == reason]
        say = "says nothing about these runs and comes last" if len(names) == 1 else "say nothing and come last"
        case.note(f"{listed(names, 9)} {say}: {reason}")


def _no_such_grade(case: Case, measure: Measure) -> str:
    rel = measure.params.get("rel")
    if rel is None or not isinstance(case.source, Collection) or case.source.judgments.count(rel).any():
        return ""
    return f"no document has grade {rel} or more"


def last(names: Iterable[str], silent: Iterable[str]) -> list[str]:
    """The measures in their order, those that say nothing behind the others."""
    return sorted(names, key=set(silent).__contains__)


def note_missing_grades(
    case: Case, collection: Collection, wanted: Sequence[Measure], counted: npt.NDArray[np.bool_]
) -> None:
    """Topics without a document of the grade a measure asks for count as 0; say how many, for each grade."""
    asked: dict[int, list[str]] = {}
    for measure in wanted:
        rel = measure.params.get("rel")
        if isinstance(rel, int):
            asked.setdefault(rel, []).append(str(measure))
    for rel, names in asked.items():
        barren = int((counted & (collection.judgments.count(rel) == 0)).sum())
        if 0 < barren < int(counted.sum()):
            have, count = ("has", "counts") if barren == 1 else ("have", "count")
            what = "relevant document" if rel == 1 else f"document of grade {rel} or more"
            case.note(
                f"{many_of(barren, 'topic')} of {int(counted.sum())} {have} no {what} and {count} as 0 in "
                f"{listed(names, 4)} (--undefined drop leaves out topics without a value)"
            )
