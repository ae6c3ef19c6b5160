"""Measures: one definition each, found by name; `measures("nDCG@10, AP'")` reads spellings."""

from __future__ import annotations

from unjudged.measures import (  # noqa: F401 - declaring is importing
    precision,
    average_precision,
    reciprocal_rank,
    gain,
    preference,
    experimental,
    counts,
)
from unjudged.measures._grammar import measures, parse, split_list
from unjudged.measures._measure import ALIASES, REGISTRY, Definition, Measure, Parameter, measure
from unjudged.measures.citations import CITATIONS
from unjudged.measures.sets import NAMED

__all__ = [
    "ALIASES",
    "CITATIONS",
    "NAMED",
    "REGISTRY",
    "Definition",
    "Measure",
    "Parameter",
    "measure",
    "measures",
    "parse",
    "split_list",
]
