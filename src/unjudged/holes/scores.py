"""Scores of every topic with unjudged documents estimated: what `score --unjudged estimate` prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.holes.estimates import Limits, estimates
from unjudged.holes.reading import why_not
from unjudged.measures import measures_for
from unjudged.results import Provenance
from unjudged.scoring import Scores
from unjudged.text import counted


def estimated_scores(
    collection: Collection,
    wanted: Any,
    limits: Limits,
    *,
    rel: int | None = None,
    per_topic: bool = True,
    call: str = "",
) -> tuple[Scores, list[str]]:
    """The expected score of every run on every topic, and sentences about what cannot be told.

    The means are the estimates of `uj.estimate`. A run whose score cannot be told has no value.
    """
    chosen = measures_for(collection, wanted, rel)
    for measure in chosen:
        if why := why_not(measure):
            raise UsageError(f"{measure} cannot be estimated: {why}; P@k, nDCG@k, AP@k and RBP can")
    found = estimates(collection, chosen, limits)
    values = np.stack([one.by_topic for one in found if one.by_topic is not None], axis=2)
    notes = []
    for m, one in enumerate(found):
        dark = np.array([bool(why) for why in one.cannot])
        values[dark, :, m] = np.nan
        if dark.any():
            reasons = {why for why in one.cannot if why}
            same = f": {reasons.pop()}" if len(reasons) == 1 else "; unjudged estimate says why"
            notes.append(f"{one.measure} of {counted(int(dark.sum()), 'run')} cannot be told{same}")
    settings = {
        **collection.settings,
        "unjudged": "estimate",
        "topics": "judged",
        "rel": 1 if rel is None else rel,
        "measures": [str(m) for m in chosen],
    }
    counted_topics = np.ones(values.shape[:2], bool)
    provenance = Provenance.of(call, collection.sources, settings)
    scores = Scores(collection.runs, collection.judgments.topics, chosen, values, counted_topics, provenance, per_topic)
    return scores, notes
