"""Measures that somebody else computed: a name to call scores by, and nothing to compute them with."""

from __future__ import annotations

from typing import Any

from unjudged.collection import Cells, Hits
from unjudged.errors import MeasureError
from unjudged.measures import trec_names
from unjudged.measures._grammar import in_any_case, registered
from unjudged.measures._measure import Definition, Measure
from unjudged.measures.sets import NAMED


def _unknown(hits: Hits) -> Cells:
    """A measure of a score table."""
    raise MeasureError("this measure is known by the scores of a table alone; it cannot be computed")


class ElsewhereMeasure(Measure):
    """A measure known by its name alone."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return elsewhere, (self.name,)


def elsewhere(name: str) -> Measure:
    """The measure of this name, which only a table knows."""
    return ElsewhereMeasure(Definition(name, _unknown, {}, "elsewhere", "", "k", "mean", False, False, ()), {})


def known_as(name: str) -> Measure | None:
    """The measure of this package that goes by this name in some tool; None where none, or several, do."""
    if name in NAMED:
        return None
    try:
        if (ours := registered(name)) is not None:
            return ours.complete()
        if "@" in name and (ours := in_any_case(name)) is not None:  # without a cut-off, `f` or `r` may be any name
            return ours.complete()
        found = [theirs.measure for theirs in trec_names.parse(name) or () if theirs.measure is not None]
    except MeasureError:
        return None
    return found[0] if len(found) == 1 else None
