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


def matrices(case: Case) -> Matrices:
    """The chosen runs scored by every measure on the topics that count."""
    check_topic_scores(case.measures, "this study")
    scores = score(case.selected, list(case.measures))
    values = np.ascontiguousarray(scores.values.transpose(2, 1, 0)[:, case.counted])
    if values.shape[1] < 2:
        raise UsageError(f"this study needs at least 2 topics, {values.shape[1]} given")
    return Matrices(tuple(map(str, scores.measures)), scores.runs, values)
