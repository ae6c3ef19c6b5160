"""Which topics count in a run's mean: all judged ones, the run's own, or those all runs answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unjudged.errors import UsageError

if TYPE_CHECKING:
    from unjudged.collection import Collection

TOPICS = ("judged", "run", "common")


def counted_topics(collection: Collection, topics: str) -> npt.NDArray[np.bool_]:
    """Runs x topics: does the topic count? `judged` counts missing lists as empty ones."""
    if topics not in TOPICS:
        raise UsageError(f"topics can be {', '.join(TOPICS)}, not {topics!r}")
    shape = len(collection.runs), len(collection.judgments.topics)
    if topics == "judged":
        return np.ones(shape, bool)
    answered = collection.hits.answered.reshape(shape)
    if topics == "run":
        return answered.copy()
    common = answered.all(axis=0)
    if not common.any():
        raise UsageError("no judged topic is answered by all runs")
    return np.tile(common, (shape[0], 1))
