"""The swap method: which differences do other topics confirm? (Voorhees and Buckley 2002; Sakai 2005, tables 1-5)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from unjudged.errors import UsageError, as_usage_errors, one_of
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.results import Result, Row, Shown, Verdict
from unjudged.statistics.draws import SAMPLINGS, Sampling, expected_shared_topics
from unjudged.statistics.swap import Rule, Swaps
from unjudged.statistics.swap import swap as count_swaps
from unjudged.studies import layouts
from unjudged.studies.engine import Answer, Arrays, Case, Matrices, Runs, Scoring, Table, matrices, register

COLUMNS = (
    *("measure", "sampling", "confidence", "required_difference", "max_performance", "relative_difference", "share"),
)
CURVE = ("measure", "sampling", "bin", "comparisons", "swaps", "swap_rate")
CONFIDENCES = (95, 90, 80)
RULES: tuple[Rule, ...] = ("guarantee", "first")
"""How the required difference is read off an uneven curve."""
Counted = Mapping[tuple[str, str], Swaps]
"""Swaps by measure and sampling."""


def swaps_of(shared: Matrices, unit: tuple[int, str, int, int, int]) -> Arrays:
    """One work unit: comparisons and swaps of one measure under one way of sampling."""
    m, sampling, size, trials, seed = unit
    with as_usage_errors():
        found = count_swaps(shared.values[m], sampling=cast(Sampling, sampling), size=size, trials=trials, seed=seed)
    return {"comparisons": found.comparisons, "swaps": found.swaps, "best": np.array(found.max_performance)}


@register(
    "swap",
    help="how large a difference other topics confirm",
    cite="voorhees2002",
    figures={"curve": ("swap rate",), "": ("sensitivity",)},
    scores=True,
)
def swap(
    case: Case,
    scoring: Scoring,
    runs: Runs,
    *,
    sampling: Any = SAMPLINGS,
    c: int | None = None,
    trials: int = 1000,
    confidence: Any = CONFIDENCES,
    rule: str = "guarantee",
    curve: bool = False,
) -> Answer:
    """How large must a difference be so that other topics confirm it?

    Two sets of c topics (half of the topics, unless --c says otherwise) are drawn many times. A pair of runs swaps if
    the two sets disagree which run is better. Swap rates are kept by the size of the difference, in 21 bins of 0.01.
    The table has a line for each measure, way of sampling and confidence. Ways of sampling: disjoint (the two sets
    share no topic), replacement (a topic may come twice into a set), independent (the two sets may share topics, so
    that swap rates come out too low). Columns: (i) the difference from which on at most 5, 10 or 20 percent of the
    comparisons swap, for 95, 90 or 80 percent confidence (with --rule first: the smallest such bin, whatever follows),
    (ii) the largest mean seen, (iii) their ratio, (iv) the share of comparisons with a difference that large, which is
    the sensitivity of the measure (Sakai 2005, tables 1 to 4). --curve lists the bins.
    """
    ways, levels = _samplings(sampling), _confidences(confidence)
    if rule not in RULES:
        raise UsageError(f"the rule is {' or '.join(RULES)}, not {rule!r}")
    reading: Rule = rule
    scores, settings = matrices(case, scoring, runs)
    topics = len(scores.topics)
    size = topics // 2 if c is None else c
    if "disjoint" in ways and 2 * size > topics:
        raise UsageError(
            f"two disjoint sets of {size} topics need {2 * size}, {topics} given; take a smaller --c, or "
            "--sampling replacement,independent"
        )
    units = [(m, way, size, trials, runs.seed) for way in ways for m in range(len(scores.measures))]
    values = case.run(swaps_of, scores, units, f"{len(scores.runs)} runs, {trials} trials")
    counted = {
        (scores.names[m], str(way)): Swaps(v["comparisons"], v["swaps"], float(v["best"]))
        for (m, way, *_), v in zip(units, values, strict=True)
    }
    rows = _required_rows(counted, levels, reading)
    chosen = {"c": size, "trials": trials, "sampling": list(ways), "rule": reading}
    more: dict[str, Any] = {"settings": {**settings, **chosen}, "seed": runs.seed}
    verdict = _verdict(case, scores, counted, size, levels[0], reading)
    if curve:
        return Answer(CURVE, _curve_rows(counted), verdict, None, {"swap rate": swap_curves}, **more)
    return Answer(
        COLUMNS,
        rows,
        verdict,
        lambda: _table(rows, _never_differing(scores)),
        {"sensitivity": sensitivity_bars},
        "(i) difference required, (ii) best mean observed, (iii) = (i)/(ii), (iv) comparisons with the required "
        f"difference; {trials} trials, sorted by (iv).",
        about=_shared_topics(topics, size, ways),
        **more,
    )


def _samplings(given: str | Sequence[str]) -> list[Sampling]:
    """Ways of sampling, each once."""
    asked = dict.fromkeys((given,) if isinstance(given, str) else given)
    return [cast(Sampling, one_of(name, SAMPLINGS, "sampling")) for name in asked]


def _confidences(given: Any) -> list[float]:
    """Confidence levels in percent."""
    levels = list(given) if isinstance(given, (list, tuple)) else [given]
    if not levels or not all(0 < level <= 100 for level in levels):
        raise UsageError(f"confidence is given in percent, as 95,90,80, not {','.join(map(str, levels))}")
    return levels


def _never_differing(scores: Matrices) -> set[str]:
    """Measures that give all runs the same score on every topic: they are listed last and never bold."""
    return {name for name, varies in zip(scores.names, scores.varying, strict=True) if not varies}


def _required_rows(counted: Counted, confidence: Sequence[float], rule: Rule) -> list[Row]:
    """What each confidence level asks for, per sampling and measure."""
    rows: list[Row] = []
    for (measure, sampling), swaps in counted.items():
        for level in confidence:
            found = swaps.required(level / 100, rule)
            shown = int(level) if level == int(level) else level
            rows.append(
                (measure, sampling, shown, found.difference, swaps.max_performance, found.relative, found.share)
            )
    return rows


def _curve_rows(counted: Counted) -> list[Row]:
    """Every bin of every sampling and measure."""
    return [
        (measure, sampling, place, *values)
        for (measure, sampling), swaps in counted.items()
        for place, values in enumerate(
            zip(swaps.comparisons.tolist(), swaps.swaps.tolist(), swaps.rate.tolist(), strict=True)
        )
    ]


def _table(rows: list[Row], never_differing: set[str]) -> Table:
    """Tables 1 to 4 of Sakai 2005: per sampling and confidence, the measures by (iv)."""
    groups: dict[tuple[str, float], list[tuple[float, Row]]] = {}
    for row in rows:
        measure, sampling, level, *_, share = row
        known = not math.isnan(share) and measure not in never_differing
        groups.setdefault((sampling, level), []).append((share if known else -1.0, row))
    table: list[Row] = []
    for (sampling, level), group in groups.items():
        best = max(sensitivity for sensitivity, _ in group)
        for sensitivity, row in sorted(group, key=lambda one: -one[0]):
            measure, _, _, difference, most, relative, share = row
            cells = (
                Shown("-" if math.isnan(difference) else f"{difference:.2f}"),
                Shown(f"{most:.4f}"),
                Shown(layouts.percent(relative, 0)),
                Shown(layouts.percent(share), sensitivity == best and sensitivity >= 0),
            )
            table.append((sampling, f"{level:g}%", measure, *cells))
    head = ["sampling", "confidence", "measure", "(i) difference", "(ii) maximum", "(iii) relative", "(iv) share"]
    return head, table


def _shared_topics(topics: int, size: int, ways: Sequence[Sampling]) -> str:
    """Table 5 of Sakai 2005: how many topics two sets have in common."""
    expected = [(way, expected_shared_topics(topics, size, way)) for way in ways]
    parts = ", ".join(f"{way} {found.shared:.1f} of {found.unique:.1f}" for way, found in expected)
    return f"Topics two sets of {size} share on average: {parts}."


def _verdict(case: Case, scores: Matrices, counted: Counted, size: int, level: float, rule: Rule) -> Verdict:
    """How large must a difference be, and how common are such differences? Of the most sensitive measure.

    Disjoint sets speak where they were drawn: only they share no topics.
    """
    limit = case.limits["swap"]
    silent = _never_differing(scores)
    if len(silent) == len(scores.names):
        return limit.unknown("all runs have the same scores, so there is no difference that other topics could confirm")
    ways = [way for _, way in counted]
    way = "disjoint" if "disjoint" in ways else ways[0]
    asked = [
        (measure, swaps.required(level / 100, rule))
        for (measure, sampling), swaps in counted.items()
        if sampling == way and measure not in silent
    ]
    known = [(measure, need) for measure, need in asked if not math.isnan(need.share)]
    if not known:
        return limit.verdict(f"no difference is confirmed by other topics with {level:g}% confidence", 0.0)
    measure, need = max(known, key=lambda one: one[1].share)
    sentence = (
        f"with {size} topics, a difference of {need.difference:.2f} in {measure} is confirmed by {size} other topics "
        f"with {level:g}% confidence ({way} sets); {layouts.percent(need.share)} of the comparisons are that large"
    )
    return limit.verdict(sentence, need.share, decided_by=(measure,))


def swap_curves(result: Result) -> Figure:
    """Swap rate of every bin (Sakai 2005, figures 2 to 8): a line per measure, a panel per way of sampling."""
    rows = records(result)
    measures, ways = distinct(rows, "measure"), distinct(rows, "sampling")
    highest = max((row["swap_rate"] for row in rows if row["swap_rate"] is not None), default=0)
    lines = marks.layer(
        "line",
        {"tooltip": True},
        x=marks.field("bin", title="difference (hundredths)"),
        y=marks.field("swap_rate", axis={"format": "%"}),
        color=theme.colour("measure", measures),
        strokeDash=theme.dash("measure", measures),
        tooltip=marks.as_it_is("measure", "sampling", "bin", "comparisons", "swap_rate"),
    )
    said = (
        f"Swap rates against the difference between two runs, {len(measures)} measures, sampling {', '.join(ways)}; "
        f"the highest is {highest:g}. The dotted line is 5%."
    )
    limit = marks.rule_at("y", 0.05, dash=[2, 3])
    return marks.panels(rows, said, marks.names("sampling", ways), limit, lines, width=220, height=220)


def sensitivity_bars(result: Result) -> Figure:
    """Share of comparisons with the required difference, at the highest confidence: a panel per way of sampling.

    The most sensitive measure stands first; a measure without a required difference has no bar but the word for it.
    """
    rows = records(result)
    level = max(row["confidence"] for row in rows)
    shown = [row for row in rows if row["confidence"] == level]
    for row in shown:
        known = row["share"] is not None
        row["told"] = layouts.percent(row["share"]) if known else "no difference is confirmed"
    ways = distinct(shown, "sampling")
    first = {row["measure"]: row["share"] for row in reversed(shown) if row["sampling"] == ways[0]}
    order = sorted(distinct(shown, "measure"), key=lambda m: -(-1.0 if first.get(m) is None else first[m]))
    best = max(shown, key=lambda row: row["share"] or 0)
    y = marks.names("measure", order)
    x = marks.field("share", title=f"share of comparisons, {level:g}% confidence")
    x |= {"axis": {"format": "%", "tickCount": 5}}
    bars = marks.layer(
        "bar",
        {"color": theme.BLUE, "tooltip": True},
        x=x,
        y=y,
        tooltip=marks.as_it_is("measure", "confidence", "required_difference", "max_performance", "share"),
    )
    numbers = marks.layer("text", {"align": "left", "dx": 4, "aria": False}, x=x, y=y, text={"field": "told"})
    numbers["transform"] = [{"filter": "isValid(datum.share)"}]
    without = marks.layer(
        "text", {"align": "left", "dx": 4, "aria": False}, x={"value": 0}, y=y, text={"field": "told"}
    )
    without["transform"] = [{"filter": "!isValid(datum.share)"}]
    silent = sum(row["share"] is None for row in shown)
    said = (
        f"Share of comparisons with the difference required for {level:g}% confidence; the most sensitive is "
        f"{best['measure']} ({best['sampling']}) with {layouts.percent(best['share'] or 0.0)}."
        f"{f' In {silent} of {len(shown)} cases no difference is confirmed.' if silent else ''}"
    )
    return marks.panels(
        shown, said, marks.names("sampling", ways), bars, numbers, without, width=260, height={"step": 20}
    )
