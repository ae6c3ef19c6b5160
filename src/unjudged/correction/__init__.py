"""Pool-bias correction: what a run that was not pooled would have scored in the pool.

Lipani's and Webber & Park's estimators, the experiment that leaves pooled runs out to see how well they work, and
`correct_against_truth`, which does so where the truth is known. The studies `correct` and `correction` ask them.
"""

from __future__ import annotations

from unjudged.correction.truth import correct_against_truth

__all__ = ["correct_against_truth"]
