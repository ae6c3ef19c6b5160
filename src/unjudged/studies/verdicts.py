"""What a study says in one sentence: a word, the evidence, the limits it was held against.

The limits are customs, not laws; they stand in thresholds.toml with their sources. Few runs or teams mean "unknown".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from unjudged.measures import Measure
from unjudged.measures import measures as parse_measures
from unjudged.results import Verdict
from unjudged.studies.layouts import percent
from unjudged.thresholds import limit_of

NEEDED = 5
"""Teams or runs it takes to tell how others would fare."""


def _ordinary(measures: Sequence[Measure]) -> int:
    """The first measure that does not condense, which is what most people use; else the first."""
    return next((m for m, measure in enumerate(measures) if not measure.condensed), 0)


def swap_verdict(best: tuple[str, str, float, float, float] | None, confidence: float, size: int) -> Verdict:
    """How large must a difference be, and how common are such differences?"""
    sure = f"{100 * confidence:g}%"
    if best is None:
        return Verdict("fragile", f"no difference is confirmed by other topics with {sure} confidence", 0.0, sure)
    measure, sampling, difference, share, _ = best
    sentence = (
        f"with {size} topics, a difference of {difference:.2f} in {measure} is confirmed by {size} other topics with "
        f"{sure} confidence ({sampling} sets); {percent(share)} of the comparisons are that large"
    )
    return limit_of("swap").verdict(sentence, share)


def stability_verdict(rates: Sequence[tuple[str, float, float]], fuzziness: float) -> Verdict:
    """How often do topic sets disagree about two runs?"""
    measure, rate, ties = min(rates, key=lambda r: r[1])
    worst = max(rates, key=lambda r: r[1])
    sentence = (
        f"at fuzziness {fuzziness:g}, topic sets contradict each other in {percent(rate)} of the comparisons by "
        f"{measure} ({percent(ties)} tied), and in {percent(worst[1])} by {worst[0]}"
    )
    return limit_of("stability").verdict(sentence, rate)


def reliability_verdict(rows: Sequence[tuple[str, float, float]], topics: int, target: float) -> Verdict:
    """Are there enough topics to order the runs?"""
    known = [r for r in rows if not math.isnan(r[1])]
    if not known:
        return Verdict("unknown", "the scores do not vary", None, "scores that differ")
    measure, erho2, needed = known[_ordinary(parse_measures([r[0] for r in known]))]
    enough = f"{needed:g} topics" if math.isfinite(needed) else "no number of topics"
    sentence = (
        f"{topics} topics order the runs with reliability {erho2:.3f} in {measure}; {enough} would give {target:g}"
    )
    return limit_of("reliability").verdict(sentence, erho2)
