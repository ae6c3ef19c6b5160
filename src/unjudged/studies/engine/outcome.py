"""The outcome of two runs: better, worse, same or cannot tell, and why not. The only place that decides it.

Two things make a difference of means worthless: too few topics (chance) and holes (documents that nobody judged, of
which a new kind of run has more). The topics decide first, by the adjusted p value. Where more than the share
`Rule.holes` of one of the two top lists was never judged, an outcome must also hold whatever those documents are: the
smallest and largest difference that any judgments of them allow (`unjudged.measures.bounds`) must not contain the
other order.

Everything that sets two runs against each other (compare, winners, gate, report, page) asks `outcomes`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats
from unjudged.measures import Measure
from unjudged.studies.engine.significance import PairStatistics
from unjudged.thresholds import Thresholds

BETTER, WORSE, SAME, CANNOT_TELL = "better", "worse", "same", "cannot tell"
HOLES, TOPICS = "holes", "topics"
_ZERO = 1e-12

Flags = npt.NDArray[np.bool_]
Ends = tuple[Floats, Floats]
"""Lowest and highest difference of each pair that the missing judgments allow; NaN where that is not known."""


@dataclass(frozen=True)
class Rule:
    """What decides: the level of significance, the share of a top list that may be unjudged, the smallest difference
    that matters (0: every difference matters), and how long a top list is where the measure has no cut-off."""

    alpha: float
    holes: float
    margin: float
    top: int

    def top_of(self, measure: Measure) -> int:
        """How long the top list is in which holes are counted."""
        return int(measure.params.get("k") or self.top)


def rule_of(limits: Thresholds, alpha: float, margin: float = 0.0, holes: float | None = None) -> Rule:
    """The rule with the limits of the table; `holes` takes the place of the share there."""
    limit = limits["safe-comparisons"]
    return Rule(alpha, limit["holes"] if holes is None else holes, margin, int(limit["top"]))


@dataclass(frozen=True)
class Outcome:
    """What can be said of the first run of a pair; `why` is holes or topics where nothing can."""

    word: str
    why: str = ""

    @property
    def decided(self) -> bool:
        """Is it known?"""
        return self.word != CANNOT_TELL


def outcomes(rule: Rule, found: PairStatistics, unjudged: Ends | None, bounds: Ends | None) -> list[Outcome]:
    """The outcome of each pair.

    `unjudged` are the unjudged shares of the two top lists (None: not known, so nothing is asked of holes); `bounds`
    the differences that the missing judgments allow, needed for the pairs of `needing_bounds`.
    """
    words = _by_topics(rule, found)
    open_ = needing_bounds(rule, found, unjudged)
    low, high = bounds if bounds is not None else (np.full(len(words), np.nan),) * 2
    with np.errstate(invalid="ignore"):
        holds = {BETTER: low > _ZERO, WORSE: high < -_ZERO, SAME: np.maximum(-low, high) <= max(rule.margin, _ZERO)}
    return [
        Outcome(CANNOT_TELL, TOPICS)
        if word == CANNOT_TELL
        else Outcome(CANNOT_TELL, HOLES)
        if open_[i] and not holds[word][i]
        else Outcome(word)
        for i, word in enumerate(words)
    ]


def needing_bounds(rule: Rule, found: PairStatistics, unjudged: Ends | None) -> Flags:
    """The pairs that the topics decide, but whose holes are too many to be passed over."""
    decided = np.array([word != CANNOT_TELL for word in _by_topics(rule, found)], np.bool_)
    return decided & holed(rule, found, unjudged)


def holed(rule: Rule, found: PairStatistics, unjudged: Ends | None) -> Flags:
    """The pairs with a top list of which more than the share allowed was never judged."""
    if unjudged is None:
        return np.zeros(len(found.difference), np.bool_)
    return np.asarray(np.maximum(*unjudged) > rule.holes + _ZERO)


def _by_topics(rule: Rule, found: PairStatistics) -> list[str]:
    """What the topics say: significant differences have a direction; runs that tie on every topic, or whose whole
    interval lies inside the margin, are the same. Without a p value (one topic) nothing can be said."""
    known = ~np.isnan(found.p_adjusted)
    with np.errstate(invalid="ignore"):
        significant = found.p_adjusted < rule.alpha
        inside = (found.low > -rule.margin) & (found.high < rule.margin)
    tied = (found.wins == 0) & (found.losses == 0)
    words = np.full(len(known), CANNOT_TELL, dtype=object)
    words[known & (tied | inside)] = SAME
    words[significant & (found.difference > 0)] = BETTER
    words[significant & (found.difference < 0)] = WORSE
    return [str(word) for word in words]
