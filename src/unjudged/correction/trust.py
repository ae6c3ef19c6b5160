"""Would a correction have helped? Errors of left-out runs before and after, and the interval they allow."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unjudged.collection import Floats
from unjudged.statistics.errors_of import mean_absolute_error


@dataclass(frozen=True)
class Trust:
    """What leaving runs out of the pool showed for one measure and method.

    `before` and `after`: mean absolute error of the left-out runs' scores without and with the correction.
    `reach`: how far a corrected score may be from the true one; `confidence` the share of runs this holds for.
    """

    runs: int
    before: float
    after: float
    reach: float
    confidence: float

    @classmethod
    def of(cls, true: Floats, reduced: Floats, corrected: Floats, confidence: float) -> Trust:
        """From the scores of left-out runs.

        The reach is the ceil((m + 1) * confidence)-th smallest of the m errors after correction: if a new run is
        like one more left-out run, it is that near to its true score with at least this confidence (conformal
        prediction; Vovk, Gammerman & Shafer 2005). With too few runs it is the largest error and holds for m / (m + 1).
        """
        after = np.sort(np.abs(true - corrected))
        runs = len(after)
        place = math.ceil((runs + 1) * confidence - 1e-9)
        reached = confidence if place <= runs else runs / (runs + 1)
        return cls(
            runs,
            mean_absolute_error(true, reduced),
            mean_absolute_error(true, corrected),
            float(after[min(place, runs) - 1]),
            reached,
        )

    @property
    def helps(self) -> bool:
        """Were the left-out runs nearer to their true scores with the correction?"""
        return self.after < self.before - 1e-12

    def sentence(self, where: str = "on this collection") -> str:
        """In words: MAE before and after."""
        change = f"MAE {self.before:.4f} -> {self.after:.4f}"
        verb = "would have helped" if self.helps else "would not have helped"
        return f"correction {verb} {where}: {change}"
