"""The outcome of two runs: better, worse, same or cannot tell, and why not. The only place that decides it.

Two things make a difference of means worthless: too few topics (chance) and holes (documents that nobody judged, of
which a new kind of run has more). Both are one uncertainty: `unjudged.holes.pairs.rule` says what a difference that
exceeds it, or does not, amounts to; here `same` is added, and what is asked where holes cannot be estimated: then a
difference must hold whatever they are (`unjudged.measures.bounds`).

Everything that sets two runs against each other (compare, winners, gate, report, page) asks `outcomes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats
from unjudged.holes.pairs import BETTER, CANNOT_TELL, HOLES, TOPICS, WORSE, rule
from unjudged.measures import Measure
from unjudged.statistics.pairs import ZERO
from unjudged.studies.engine.significance import PairStatistics
from unjudged.thresholds import Thresholds

SAME = "same"
TURNED = {BETTER: WORSE, WORSE: BETTER}
"""The word as the other run of a pair has it."""
__all__ = ["BETTER", "CANNOT_TELL", "HOLES", "SAME", "TOPICS", "TURNED", "WORSE", "Ends", "Flags", "Outcome", "Rule"]
__all__ += ["needing_bounds", "outcomes", "rule_of", "seen_from"]

Flags = npt.NDArray[np.bool_]
Ends = tuple[Floats, Floats]
"""Lowest and highest difference of each pair that the missing judgments allow; NaN where that is not known."""


@dataclass(frozen=True)
class Rule:
    """What decides: the level of significance, the correction for the number of pairs, the smallest difference that
    matters (0: every difference matters), and how long a top list is where the measure has no cut-off."""

    alpha: float
    correction: str
    margin: float
    top: int

    def top_of(self, measure: Measure) -> int:
        """How long the top list is in which holes are counted."""
        return int(measure.params.get("k") or self.top)


def rule_of(limits: Thresholds, alpha: float, correction: str, margin: float = 0.0) -> Rule:
    """The rule with the limits of the table."""
    return Rule(alpha, correction, margin, int(limits["safe-comparisons"]["top"]))


@dataclass(frozen=True)
class Outcome:
    """What can be said of the first run of a pair; `why` is holes or topics where nothing can."""

    word: str
    why: str = ""

    @property
    def decided(self) -> bool:
        """Is it known?"""
        return self.word != CANNOT_TELL


def outcomes(asked: Rule, found: PairStatistics, open_: Flags, bounds: Ends | None) -> list[Outcome]:
    """The outcome of each pair.

    `open_` marks the pairs whose holes were not estimated; `bounds` are the differences that the missing judgments
    allow, needed for those of `needing_bounds`.
    """
    said = _estimated(asked, found)
    low, high = bounds if bounds is not None else (np.full(len(said), np.nan),) * 2
    with np.errstate(invalid="ignore"):
        holds = {BETTER: low > ZERO, WORSE: high < -ZERO, SAME: np.maximum(-low, high) <= max(asked.margin, ZERO)}
    return [
        Outcome(CANNOT_TELL, HOLES) if open_[i] and one.decided and not holds[one.word][i] else one
        for i, one in enumerate(said)
    ]


def needing_bounds(asked: Rule, found: PairStatistics, open_: Flags) -> Flags:
    """The pairs that are decided but for holes that were not estimated."""
    return np.array([one.decided for one in _estimated(asked, found)], np.bool_) & open_


def _estimated(asked: Rule, found: PairStatistics) -> list[Outcome]:
    """What topics and estimated holes say. Runs that tie on every topic, without a hole, or whose whole interval lies
    inside the margin, are the same."""
    p = found.p_value, found.p_topics
    ruled = rule(found.estimate, found.v_topic, found.v_hole, *p, asked.alpha, asked.correction)
    with np.errstate(invalid="ignore"):
        inside = (found.low > -asked.margin) & (found.high < asked.margin)
    tied = (found.wins == 0) & (found.losses == 0) & ~found.holed & ~np.isnan(found.p_value)
    return [
        Outcome(SAME) if word == CANNOT_TELL and same else Outcome(word, why)
        for word, why, same in zip(ruled.word, ruled.why, (tied | inside).tolist(), strict=True)
    ]


def seen_from(row: Mapping[str, Any], run: str) -> tuple[str, float, float]:
    """A row of the study compare from the side of one of its runs: the word, the likely difference, and how much to
    give or take (NaN where that is not known)."""
    turned = row["run_a"] != run
    word = str(row["outcome"])
    word = TURNED.get(word, word) if turned else word
    likely = row["difference"] if row.get("estimate") is None else row["estimate"]
    return word, -likely if turned else likely, (row["high"] - row["low"]) / 2
