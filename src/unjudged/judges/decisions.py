"""What another judge does to the decisions between runs: which of two is better, or that nobody can tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.statistics.draws import topic_resamples
from unjudged.statistics.multiple import CORRECTIONS
from unjudged.statistics.paired import t_test

Floats = npt.NDArray[np.float64]
Signs = npt.NDArray[np.int64]


def decisions(scores: npt.ArrayLike, alpha: float = 0.05, correction: str = "holm") -> Signs:
    """For every pair of runs (columns i < j): 1 where the first is significantly better, -1 worse, 0 not told.

    Paired t tests over topics, two-sided, adjusted for the number of pairs.
    """
    tested = t_test(scores)
    significant = CORRECTIONS[correction](tested.p_value) < alpha
    return np.where(significant, np.sign(tested.difference), 0).astype(np.int64)


@dataclass(frozen=True)
class Changes:
    """How the decisions of another judge differ from the human ones.

    False alarm: decided by the other judge alone; miss: by the human alone; reversal: by both, the other way round.
    """

    pairs: int
    significant_human: int
    significant_judge: int
    false_alarms: int
    misses: int
    reversals: int

    @classmethod
    def between(cls, human: Signs, other: Signs) -> Changes:
        """Count them."""
        return cls(
            len(human),
            int((human != 0).sum()),
            int((other != 0).sum()),
            int(((human == 0) & (other != 0)).sum()),
            int(((human != 0) & (other == 0)).sum()),
            int((human * other < 0).sum()),
        )

    @property
    def changed(self) -> float:
        """Share of the pairs whose decision changes."""
        return (self.false_alarms + self.misses + self.reversals) / self.pairs

    @property
    def false_alarm_rate(self) -> float:
        """Of what the other judge decides, how much the human does not say; NaN where it decides nothing."""
        return _share(self.false_alarms + self.reversals, self.significant_judge)

    @property
    def miss_rate(self) -> float:
        """Of what the human decides, how much the other judge does not say; NaN where the human decides nothing."""
        return _share(self.misses + self.reversals, self.significant_human)


def _share(some: int, of: int) -> float:
    return some / of if of else float("nan")


def yardstick(scores: Floats, alpha: float = 0.05, resamples: int = 200, seed: int = 0) -> float:
    """Mean share of the human's own decisions that change when the topics are drawn again: what "few changes" means.

    It overstates the noise somewhat, because a drawn set holds fewer different topics.
    """
    own = decisions(scores, alpha)
    draws = topic_resamples(len(scores), resamples, seed)
    return float(np.mean([Changes.between(own, decisions(scores[draw], alpha)).changed for draw in draws]))
