"""What a test says about each run pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unjudged.statistics.pairs import Floats, Integers


@dataclass(frozen=True)
class Tested:
    """One entry per pair, in the order of `first` and `second` (columns of the two runs).

    `difference` is mean(first) - mean(second); `constant` marks pairs that differ by the same amount on every topic:
    their p value of 0 says nothing about other topics.
    """

    first: Integers
    second: Integers
    difference: Floats
    statistic: Floats
    p_value: Floats
    constant: NDArray[np.bool_]

    def significant(self, alpha: float = 0.05) -> NDArray[np.bool_]:
        """Pairs with a p value strictly below alpha."""
        return self.p_value < alpha

    def power(self, alpha: float = 0.05) -> float:
        """Discriminative power: the share of pairs that are significantly different; NaN without pairs."""
        return float(self.significant(alpha).mean()) if len(self.p_value) else float("nan")

    def curve(self) -> Floats:
        """All p values, largest first: the achieved significance level curve of Sakai (2006)."""
        return np.sort(self.p_value)[::-1]
