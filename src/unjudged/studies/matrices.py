"""Score matrices as shared inputs: what swap, stability and reliability look at, measure by measure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unjudged.collection import Floats
from unjudged.comparing.paired_scores import check_topic_scores
from unjudged.errors import UsageError
from unjudged.scoring import score
from unjudged.studies.preparing import Case


@dataclass(frozen=True, eq=False)
class Matrices:
    """Topics x runs scores of each measure."""

    names: tuple[str, ...]
    runs: tuple[str, ...]
    values: Floats

    @property
    def topics(self) -> int:
        """Number of topics."""
        return int(self.values.shape[1])


def matrices(case: Case, least_topics: int = 2) -> Matrices:
    """The chosen runs scored by every measure, all topics of the judgments."""
    check_topic_scores(case.measures, "this study")
    scores = score(case.selected, list(case.measures))
    if len(scores.topics) < least_topics:
        raise UsageError(f"this study needs at least {least_topics} topics, {len(scores.topics)} given")
    values = np.ascontiguousarray(scores.values.transpose(2, 1, 0))
    return Matrices(tuple(map(str, scores.measures)), scores.runs, values)
