"""p values of tests that draw at random: the one place that turns a count of resamples into a p value."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.pairs import Floats


def resampled_p(extreme: ArrayLike, drawn: int, *, listed: bool = False, asl: bool = False) -> Floats:
    """p value of a test where `extreme` of `drawn` resamples go at least as far as the scores observed.

    (1 + extreme) / (1 + drawn): the observed scores count as one more, so that no p value is 0 and a corrected level
    holds (Davison and Hinkley 1997; Phipson and Smyth 2010). `listed`: the resamples are all there are, and p is their
    share, exactly. `asl`: the share of random resamples, which is the achieved significance level of Sakai (2006) and
    may be 0; for discriminative power as in the papers, never for a p value that somebody reads.
    """
    counts = np.asarray(extreme, dtype=np.float64)
    return counts / drawn if listed or asl else (counts + 1) / (drawn + 1)


def smallest_p(drawn: int) -> float:
    """No p value from so many random resamples is smaller."""
    return float(resampled_p(0, drawn))
