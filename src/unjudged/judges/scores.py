"""The runs scored under the human and under another judge, on the same documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection
from unjudged.collection.aligned import UNJUDGED
from unjudged.judges.labels import SamePairs
from unjudged.measures import Measure
from unjudged.scoring import score

Floats = npt.NDArray[np.float64]


def under_both(collection: Collection, pairs: SamePairs) -> tuple[Collection, Collection]:
    """The collection with the documents both have judged alone: under the human, and under the other judge."""
    kept = pairs.theirs != UNJUDGED
    human = collection if kept.all() else collection.keeping(kept, "documents both have judged")
    top = max(pairs.other_top, 1)
    return human, human.regraded(pairs.theirs[kept], "grades of the other judge", top_grade=top)


def judged_from(measures: Sequence[Measure], rel: int | None, top: int) -> list[Measure]:
    """The same measures for a judge whose smallest relevant grade is `rel`, and whose highest grade is `top`.

    Without `rel`, what is relevant to the human is relevant to the judge, as far as the judge's scale goes. Measures of
    graded gains know no smallest relevant grade and stay as they are.
    """
    reach = max(top, 1)
    return [
        m if m.params.get("rel") is None else m(rel=min(m.params["rel"], reach) if rel is None else rel)
        for m in measures
    ]


def score_matrices(
    collection: Collection, measures: Sequence[Measure], topics: Sequence[str], runs: Sequence[str]
) -> Floats:
    """Measures x topics x runs, in these orders."""
    scores = score(collection, list(measures))
    topic = {name: place for place, name in enumerate(scores.topics)}
    run = {name: place for place, name in enumerate(scores.runs)}
    rows, columns = [topic[t] for t in topics], [run[r] for r in runs]
    return np.ascontiguousarray(scores.values[columns][:, rows].transpose(2, 1, 0))


def judged_share(collection: Collection, topics: Sequence[str], runs: Sequence[str], depth: int = 10) -> Floats:
    """Topics x runs: documents of the first `depth` ranks that were judged, as a share of `depth`.

    Unlike `Judged@10` it divides by 10 where a list is shorter, too: a rank that is not filled is not judged.
    """
    hits = collection.hits
    top = hits.rank <= depth
    counts = np.zeros((len(collection.runs), len(collection.topics)))
    np.add.at(counts, (hits.run[top], hits.topic[top]), 1.0 / depth)
    topic = {name: place for place, name in enumerate(collection.topics)}
    run = {name: place for place, name in enumerate(collection.runs)}
    return np.ascontiguousarray(counts[[run[r] for r in runs]][:, [topic[t] for t in topics]].T)
