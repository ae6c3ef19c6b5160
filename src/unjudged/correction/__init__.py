"""Pool-bias correction: what a run that was not pooled would have scored in the pool.

`correct` corrects new runs; `experiment` leaves pooled runs out to see how well that works; `correct_against_truth`
does so where the truth is known.
"""

from __future__ import annotations

from unjudged.correction.correcting import correct
from unjudged.correction.truth import correct_against_truth

__all__ = ["correct", "correct_against_truth"]
