"""Measures: one definition each, found by name; `measures("nDCG@10, AP'")` reads spellings."""

from __future__ import annotations

from unjudged.measures import (  # noqa: F401 - importing declares; the order is that of `explain --list`
    aspects,
    assessors,
    average_precision,
    blended,
    cascade,
    counts,
    cumulated_gain,
    one_document,
    precision,
    preference,
    preferred,
    user_models,
)
from unjudged.measures._grammar import measures, measures_for, names_a_paper, parse, registered, split_list
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
    "measures_for",
    "names_a_paper",
    "parse",
    "registered",
    "split_list",
]
