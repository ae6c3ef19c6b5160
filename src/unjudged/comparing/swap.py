"""The swap method: the difference that another set of topics confirms (Voorhees and Buckley 2002; Sakai 2005)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unjudged.collection import Collection
from unjudged.comparing.paired_scores import PairedScores, check_settings, paired_scores, told
from unjudged.errors import UsageError, nearest
from unjudged.figures import swap as charts
from unjudged.results import Provenance, Result, Row
from unjudged.scoring import Scores
from unjudged.statistics import swap as swap_method
from unjudged.statistics.draws import SAMPLINGS, Sampling
from unjudged.statistics.swap import Rule, Swaps

COLUMNS = (
    *("measure", "sampling", "confidence", "required_difference", "max_performance", "relative_difference", "share"),
)
CURVE = ("measure", "sampling", "bin", "comparisons", "swaps", "swap_rate")
RULES: tuple[Rule, ...] = ("guarantee", "first")
CONFIDENCES = (95, 90, 80)
Counted = Mapping[tuple[str, str], Swaps]
"""Swaps by measure and sampling."""


class SwapRates(Result):
    """Required differences per measure, sampling and confidence; `.curve` has the swap rate of every bin."""

    counted: dict[tuple[str, str], Swaps]
    confidence: tuple[float, ...]
    rule: Rule

    def __init__(
        self,
        paired: PairedScores,
        counted: Counted,
        confidence: Sequence[float],
        rule: Rule,
        provenance: Provenance,
    ) -> None:
        super().__init__(
            COLUMNS, self._tidy, provenance, self._laid_out, {"sensitivity": charts.sensitivity}, notes=paired.notes
        )
        self.counted, self.confidence, self.rule = dict(counted), tuple(confidence), rule

    @property
    def curve(self) -> Result:
        """All 21 bins of every measure and sampling: comparisons, swaps, and their ratio (empty where none)."""
        return Result(CURVE, self._curve_rows, self.provenance, None, {"curves": charts.curves}, notes=self.notes)

    def _tidy(self) -> Iterator[Row]:
        return required_rows(self.counted, self.confidence, self.rule)

    def _curve_rows(self) -> Iterator[Row]:
        return curve_rows(self.counted)

    def _laid_out(self) -> tuple[Sequence[str], list[Row]]:
        """As in the paper: the most sensitive measure first, for each sampling and confidence."""
        rows = sorted(
            self._tidy(), key=lambda row: (row[1], -row[2], -1.0 if row[6] != row[6] else -row[6]), reverse=False
        )
        return (
            ["sampling", "confidence", "measure", "required", "maximum", "relative", "share"],
            [
                (sampling, f"{confidence:g}%", measure, *_shown(difference, most, relative, share))
                for measure, sampling, confidence, difference, most, relative, share in rows
            ],
        )


def required_rows(counted: Counted, confidence: Sequence[float], rule: Rule) -> Iterator[Row]:
    """COLUMNS: what each confidence level (in percent) asks for, per measure and sampling."""
    for (measure, sampling), swaps in counted.items():
        for level in confidence:
            found = swaps.required(level / 100, rule)
            yield (
                *(measure, sampling, int(level) if level == int(level) else level),
                *(found.difference, swaps.max_performance, found.relative, found.share),
            )


def curve_rows(counted: Counted) -> Iterator[Row]:
    """CURVE: every bin of every measure and sampling."""
    for (measure, sampling), swaps in counted.items():
        columns = zip(swaps.comparisons.tolist(), swaps.swaps.tolist(), swaps.rate.tolist(), strict=True)
        for place, (comparisons, swapped, rate) in enumerate(columns):
            yield measure, sampling, place, comparisons, swapped, rate


def check_samplings(given: str | Sequence[str]) -> list[Sampling]:
    """Ways of sampling, each once; or a UsageError."""
    found: list[Sampling] = []
    for name in (given,) if isinstance(given, str) else given:
        way = next((known for known in SAMPLINGS if known == name), None)
        if way is None:
            raise UsageError(f"unknown sampling {name!r}{nearest(name, SAMPLINGS)}; there are {', '.join(SAMPLINGS)}")
        found.append(way)
    return list(dict.fromkeys(found))


def check_confidence(given: Any) -> list[float]:
    """Confidence levels in percent; or a UsageError."""
    levels = list(given) if isinstance(given, (list, tuple)) else [given]
    if not levels or not all(0 < level <= 100 for level in levels):
        raise UsageError(f"confidence is given in percent, as 95,90,80, not {','.join(map(str, levels))}")
    return levels


def check_rule(rule: str) -> Rule:
    """How the required difference is read off an uneven curve; or a UsageError."""
    known = next((name for name in RULES if name == rule), None)
    if known is None:
        raise UsageError(f"the rule is {' or '.join(RULES)}, not {rule!r}")
    return known


def _shown(difference: float, most: float, relative: float, share: float) -> tuple[Any, ...]:
    if difference != difference:
        return "-", most, "-", "-"
    return f"{difference:.2f}", most, "-" if relative != relative else f"{100 * relative:.0f}%", f"{100 * share:.1f}%"


def swap(
    source: Scores | Collection,
    measures: Any = None,
    *,
    sampling: str | Sequence[str] = SAMPLINGS,
    c: int | None = None,
    trials: int = 1000,
    confidence: Sequence[float] = CONFIDENCES,
    rule: str = "guarantee",
    seed: int = 0,
    jobs: int = 1,
    call: str = "",
    **scoring: Any,
) -> SwapRates:
    """How large a difference must be so that another topic set agrees which run is better (Sakai 2005).

    Two sets of `c` topics (default: half of them) are drawn `trials` times: `disjoint`, with `replacement`, or
    `independent` of each other. For each confidence level (in percent) the required difference is the lower edge of
    the smallest bin from which on (`rule="guarantee"`; `first`: in which) at most the other percent of comparisons
    swap; `relative_difference` is its ratio to the largest mean seen, `share` the part of all comparisons that
    reach it, which is the sensitivity of the measure.
    """
    check_settings(seed=seed, jobs=jobs)
    samplings, levels, reading = check_samplings(sampling), check_confidence(confidence), check_rule(rule)
    paired = paired_scores(source, measures, purpose="the swap method", least_topics=2, **scoring)
    chosen: list[Sampling] = [name for name in SAMPLINGS if name in samplings]
    size = len(paired.topics) // 2 if c is None else c
    with told():
        counted: dict[tuple[str, str], Swaps] = {
            (str(measure), name): swap_method.swap(
                values, sampling=name, size=size, trials=trials, seed=seed, jobs=jobs
            )
            for measure, values in zip(paired.measures, paired.values, strict=True)
            for name in chosen
        }
    provenance = paired.provenance(call, seed, c=size, trials=trials, sampling=chosen, rule=rule)
    return SwapRates(paired, counted, levels, reading, provenance)
