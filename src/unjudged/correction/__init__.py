"""Pool-bias correction: what a run that was not pooled would have scored in the pool.

`correct` corrects new runs; `experiment` leaves pooled runs out to see how well that works; `against_truth` does so
where the truth is known.
"""

from __future__ import annotations

from unjudged.correction.correcting import correct
from unjudged.correction.truth import against_truth

__all__ = ["against_truth", "correct"]
