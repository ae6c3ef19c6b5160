"""The swap method: which differences do other topics confirm? (Voorhees and Buckley 2002; Sakai 2005, tables 1-5)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from unjudged.errors import UsageError, as_usage_errors, one_of
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.options import check
from unjudged.results import Result, Row, Shown, Verdict
from unjudged.statistics.draws import (
    SAMPLINGS,
    Sampling,
    SharedTopics,
    expected_shared_topics,
    simulated_shared_topics,
)
from unjudged.statistics.swap import Rule, Swaps
from unjudged.statistics.swap import swap as count_swaps
from unjudged.studies import layouts
from unjudged.studies.engine import Answer, Arrays, Case, Chart, Matrices, Runs, Scoring, Table, matrices, register
from unjudged.studies.engine.silent import silent_measures

COLUMNS = (
    *("measure", "sampling", "confidence", "required_difference", "max_performance", "relative_difference", "share"),
    *("share_low", "share_high"),
)
CURVE = ("measure", "sampling", "bin", "comparisons", "swaps", "swap_rate", "highest_rate")
SHARED = ("sampling", "topics", "c", "different", "shared", "different_drawn", "shared_drawn")
CONFIDENCES = (95, 90, 80)
RULES: dict[Rule, str] = {
    "sure": "from which on swap rates are low enough with 95% certainty",
    "guarantee": "from which on every bin has a low enough swap rate",
    "first": "of the first bin with a low enough swap rate",
}
"""How the required difference is read off an uneven curve, and what the caption says of it."""


@dataclass(frozen=True)
class Counted:
    """The swaps of one measure under one way of sampling: of each repeat, and of all together."""

    repeats: tuple[Swaps, ...]
    all: Swaps

    @classmethod
    def of(cls, repeats: Sequence[Swaps]) -> Counted:
        """From the swaps of the repeats."""
        return cls(tuple(repeats), Swaps.together(repeats))

    def shares(self, confidence: float, rule: Rule) -> tuple[float, float]:
        """Lowest and highest share of comparisons with the required difference, of each repeat and of all together.

        0 where a repeat confirms no difference; NaN where there is one repeat.
        """
        if len(self.repeats) < 2:
            return math.nan, math.nan
        found = [one.required(confidence, rule).share for one in (*self.repeats, self.all)]
        known = [0.0 if math.isnan(share) else share for share in found]
        return min(known), max(known)


Found = Mapping[tuple[str, str], Counted]
"""By measure and sampling."""
Unit = tuple[int, str, int, int, tuple[int, ...]]


def swaps_of(shared: Matrices, unit: Unit) -> Arrays:
    """One work unit: comparisons and swaps of one measure under one way of sampling, in every repeat."""
    m, sampling, size, trials, seeds = unit
    way, logarithms = cast(Sampling, sampling), shared.geometric[m]
    with as_usage_errors():
        found = [
            count_swaps(shared.values[m], sampling=way, size=size, trials=trials, seed=seed, logarithms=logarithms)
            for seed in seeds
        ]
    return {
        "comparisons": np.stack([one.batch_comparisons for one in found]),
        "swaps": np.stack([one.batch_swaps for one in found]),
        "best": np.array([one.max_performance for one in found]),
    }


@register(
    "swap",
    help="how large a difference other topics confirm",
    cite="voorhees2002",
    figures={"curve": ("swap rate", "samplings"), "shared_topics": ("shared topics",), "": ("sensitivity",)},
    scores=True,
    columns=COLUMNS,
    limit="swap",
)
def swap(
    case: Case,
    scoring: Scoring,
    runs: Runs,
    *,
    sampling: Any = SAMPLINGS,
    c: int | None = None,
    trials: int = 1000,
    repeats: int = 10,
    confidence: Any = CONFIDENCES,
    rule: str = "sure",
    curve: bool = False,
    shared_topics: bool = False,
) -> Answer:
    """How large must a difference be so that other topics confirm it?

    Two sets of c topics (half of the topics, unless --c says otherwise) are drawn many times. A pair of runs swaps if
    the two sets disagree which run is better. Swap rates are kept by the size of the difference, in 21 bins of 0.01.
    The table has a line for each measure, way of sampling and confidence. Ways of sampling: disjoint (the two sets
    share no topic), replacement (a topic may come twice into a set), independent (the two sets may share topics, so
    that swap rates come out too low). Columns: (i) the difference from which on at most 5, 10 or 20 percent of the
    comparisons swap, for 95, 90 or 80 percent confidence, (ii) the largest mean seen, (iii) their ratio, (iv) the share
    of comparisons with a difference that large, which is the sensitivity of the measure (Sakai 2005, tables 1 to 4).

    All of it is done --repeats times with other topic sets; (iv) has its range over them in brackets. In sparse bins
    chance decides whether a rate is just below the limit or just above, so that (i) is read off a curve that falls,
    where its rate is below the limit with 95% certainty. The paper takes the rate of every bin as it is: --rule
    guarantee --repeats 1. Geometric means (GMAP) are compared as such. --curve lists the bins, --shared-topics how many
    topics the two sets share (table 5).
    """
    ways, levels = _samplings(sampling), _confidences(confidence)
    reading = cast(Rule, one_of(rule, RULES, "rule"))
    check("repeats", repeats)
    if curve and shared_topics:
        raise UsageError("--curve and --shared-topics are two different tables; ask for one of them")
    scores, settings = matrices(case, scoring, runs, geometric=True)
    topics = len(scores.topics)
    size = topics // 2 if c is None else c
    _check_sets(topics, size, ways)
    overlap = {way: expected_shared_topics(topics, size, way) for way in ways}
    chosen = {"c": size, "trials": trials, "repeats": repeats, "sampling": list(ways), "rule": reading}
    told = {"shared topics": {way: {"different": one.unique, "shared": one.shared} for way, one in overlap.items()}}
    more: dict[str, Any] = {"settings": {**settings, **chosen, **told}, "seed": runs.seed}
    if shared_topics:
        overlaps = _shared_rows(case, overlap, topics, size, trials, runs.seed)
        head = f"Different topics in a set of {size} of {topics}, and how many two sets share"
        caption = f"{head}: expected, and on average of {trials} trials."
        drawn: dict[str, Chart] = {"shared topics": shared_bars}
        return Answer(SHARED, overlaps, None, lambda: _shared_table(overlaps), drawn, about=caption, **more)
    silent = silent_measures(case, scores)
    seeds = tuple(_seed(runs.seed, repeat) for repeat in range(repeats))
    units: list[Unit] = [(m, way, size, trials, seeds) for way in ways for m in range(len(scores.measures))]
    values = case.run(swaps_of, scores, units, f"{len(scores.runs)} runs, {repeats} x {trials} trials")
    counted = {
        (scores.names[m], str(way)): Counted.of(
            [Swaps.of(*one) for one in zip(v["comparisons"], v["swaps"], v["best"].tolist(), strict=True)]
        )
        for (m, way, *_), v in zip(units, values, strict=True)
    }
    few = case.limits["swap"].too_few(runs=len(scores.runs), topics=topics)
    verdict = _verdict(case, counted, silent, size, topics, levels[0], reading, few)
    if curve:
        charts: dict[str, Chart] = {"swap rate": swap_curves, "samplings": sampling_curves}
        return Answer(CURVE, _curve_rows(counted), verdict, None, charts, **more)
    rows = _required_rows(counted, levels, reading, silent)
    spread = f", {repeats} times; in brackets the range of (iv) over these repeats" if repeats > 1 else ""
    return Answer(
        COLUMNS,
        rows,
        verdict,
        lambda: _table(rows, silent),
        {"sensitivity": sensitivity_bars},
        f"(i) difference required, {RULES[reading]}, (ii) best mean observed, (iii) = (i)/(ii), (iv) comparisons with "
        f"the required difference; {trials} trials{spread}; sorted by (iv).",
        about=_shared_sentence(overlap, size),
        **more,
    )


def _seed(seed: int, repeat: int) -> int:
    """The first repeat has the seed itself, the others seeds that no neighbouring seed shares."""
    return seed if repeat == 0 else int(np.random.SeedSequence([seed, repeat]).generate_state(1, np.uint64)[0])


def _samplings(given: str | Sequence[str]) -> list[Sampling]:
    """Ways of sampling, each once."""
    asked = dict.fromkeys((given,) if isinstance(given, str) else given)
    return [cast(Sampling, one_of(name, SAMPLINGS, "sampling")) for name in asked]


def _confidences(given: Any) -> list[float]:
    """Confidence levels in percent."""
    levels = list(given) if isinstance(given, (list, tuple)) else [given]
    if not levels or not all(0 < level <= 100 for level in levels):
        raise UsageError(f"confidence is given in percent, as 95,90,80, not {','.join(map(str, levels))}")
    if share := next((level for level in levels if level <= 1), None):
        raise UsageError(f"confidence is given in percent: {100 * share:g}, not {share:g}")
    return levels


def _check_sets(topics: int, size: int, ways: Sequence[Sampling]) -> None:
    """Refuse sets that cannot be drawn, and two sets that are always the same."""
    if "disjoint" in ways and 2 * size > topics:
        raise UsageError(
            f"two disjoint sets of {size} topics need {2 * size}, {topics} given; take a smaller --c, or "
            "--sampling replacement,independent"
        )
    with as_usage_errors():
        for way in ways:
            expected_shared_topics(topics, size, way)
    if "independent" in ways and size == topics:
        raise UsageError(
            f"two independent sets of {size} of {topics} topics are the same set, which confirms everything; take a "
            "smaller --c, or --sampling replacement"
        )


def _required_rows(counted: Found, confidence: Sequence[float], rule: Rule, silent: Mapping[str, str]) -> list[Row]:
    """What each confidence level asks for, per sampling and measure; nothing of measures that say nothing."""
    rows: list[Row] = []
    for (measure, sampling), swaps in counted.items():
        for level in confidence:
            shown = int(level) if level == int(level) else level
            best = swaps.all.max_performance
            cells: tuple[float, ...] = (math.nan, best, *(math.nan,) * 4)
            if measure not in silent:
                found = swaps.all.required(level / 100, rule)
                spread = swaps.shares(level / 100, rule)
                cells = (found.difference, best, found.relative, found.share, *spread)
            rows.append((measure, sampling, shown, *cells))
    return rows


def _curve_rows(counted: Found) -> list[Row]:
    """Every bin of every sampling and measure."""
    return [
        (measure, sampling, place, *values)
        for (measure, sampling), swaps in counted.items()
        for place, values in enumerate(
            zip(
                swaps.all.comparisons.tolist(),
                swaps.all.swaps.tolist(),
                swaps.all.rate.tolist(),
                swaps.all.highest_rate().tolist(),
                strict=True,
            )
        )
    ]


def _table(rows: list[Row], silent: Mapping[str, str]) -> Table:
    """Tables 1 to 4 of Sakai 2005: per sampling and confidence, the measures by (iv).

    Those without a required difference come behind the others, those that say nothing last.
    """
    groups: dict[tuple[str, float], list[tuple[float, Row]]] = {}
    for row in rows:
        measure, sampling, level, difference, *_ = row
        share = row[COLUMNS.index("share")]
        place = -2.0 if measure in silent else -1.0 if math.isnan(difference) else share
        groups.setdefault((sampling, level), []).append((place, row))
    table: list[Row] = []
    for (sampling, level), group in groups.items():
        best = max(place for place, _ in group)
        for place, row in sorted(group, key=lambda one: -one[0]):
            measure, _, _, difference, most, relative, share, low, high = row
            spread = "" if math.isnan(low) or not high else f" [{layouts.percent(low)}, {layouts.percent(high)}]"
            cells = (
                Shown("-" if math.isnan(difference) else f"{difference:.2f}"),
                Shown(f"{most:.4f}"),
                Shown(layouts.percent(relative, 0)),
                Shown(layouts.percent(share) + spread, place == best and place >= 0),
            )
            table.append((sampling, f"{level:g}%", measure, *cells))
    head = ["sampling", "confidence", "measure", "(i) difference", "(ii) maximum", "(iii) relative", "(iv) share"]
    return head, table


def shared_of(shared: tuple[int, int, int, int], way: str) -> Arrays:
    """One work unit: different topics in a set and shared ones, on average of the sets one way of sampling draws."""
    topics, size, trials, seed = shared
    with as_usage_errors():
        found = simulated_shared_topics(topics, size, cast(Sampling, way), trials, seed)
    return {"different": np.array(found.unique), "shared": np.array(found.shared)}


def _shared_rows(
    case: Case, overlap: Mapping[Sampling, SharedTopics], topics: int, size: int, trials: int, seed: int
) -> list[Row]:
    """Table 5 of Sakai 2005: how many topics two sets have in common, as expected and as drawn."""
    drawn = case.run(shared_of, (topics, size, trials, seed), list(overlap), f"{trials} trials")
    return [
        (way, topics, size, expected.unique, expected.shared, float(found["different"]), float(found["shared"]))
        for (way, expected), found in zip(overlap.items(), drawn, strict=True)
    ]


def _shared_table(rows: list[Row]) -> Table:
    """As the paper prints it: shared / different."""
    head = ["sampling", "topics", "c", "shared/different, expected", "shared/different, drawn"]
    return head, [
        (way, topics, c, Shown(f"{shared:.1f}/{different:.1f}"), Shown(f"{drawn_shared:.1f}/{drawn:.1f}"))
        for way, topics, c, different, shared, drawn, drawn_shared in rows
    ]


def _shared_sentence(overlap: Mapping[Sampling, SharedTopics], size: int) -> str:
    parts = ", ".join(f"{way} {found.shared:.1f} of {found.unique:.1f}" for way, found in overlap.items())
    return f"Topics two sets of {size} share on average: {parts}."


def _verdict(
    case: Case, counted: Found, silent: Mapping[str, str], size: int, topics: int, level: float, rule: Rule, few: str
) -> Verdict:
    """How large must a difference be, and how common are such differences? Of the most sensitive measure.

    Disjoint sets speak where they were drawn: only they share no topics.
    """
    limit = case.limits["swap"]
    if all(measure in silent for measure, _ in counted):
        return limit.unknown("all runs have the same scores, so there is no difference that other topics could confirm")
    ways = [way for _, way in counted]
    way = next(w for w in SAMPLINGS if w in ways)
    if way == "independent":
        shared = expected_shared_topics(topics, size, way).shared
        case.note(
            f"independent sets of {size} of {topics} topics share {shared:.1f} on average, so that swap rates come out "
            "too low (Sakai 2005); take disjoint sets for a verdict"
        )
    asked = [
        (measure, swaps.all.required(level / 100, rule))
        for (measure, sampling), swaps in counted.items()
        if sampling == way and measure not in silent
    ]
    known = [(measure, need) for measure, need in asked if not math.isnan(need.share)]
    if not known:
        return limit.verdict(f"no difference is confirmed by other topics with {level:g}% confidence", 0.0, too_few=few)
    measure, need = max(known, key=lambda one: one[1].share)
    sentence = (
        f"with {size} topics, a difference of {need.difference:.2f} in {measure} is confirmed by {size} other topics "
        f"with {level:g}% confidence ({way} sets); {layouts.percent(need.share)} of the comparisons are that large"
    )
    return limit.verdict(sentence, need.share, too_few=few, decided_by=(measure,))


def swap_curves(result: Result) -> Figure:
    """Swap rate of every bin (Sakai 2005, figures 2 to 8): a line per measure, a panel per way of sampling."""
    rows = records(result)
    measures, ways = distinct(rows, "measure"), distinct(rows, "sampling")
    highest = max((row["swap_rate"] for row in rows if row["swap_rate"] is not None), default=0)
    said = (
        f"Swap rates against the difference between two runs, {len(measures)} measures, sampling {', '.join(ways)}; "
        f"the highest is {highest:g}. The dotted line is 5%."
    )
    lines = _lines("measure", measures)
    return marks.panels(rows, said, marks.names("sampling", ways), *lines, width=220, height=220)


def sampling_curves(result: Result) -> Figure:
    """The ways of sampling side by side (Sakai 2005, figures 2 to 4): a line per way, a panel per measure."""
    rows = records(result)
    measures, ways = distinct(rows, "measure"), distinct(rows, "sampling")
    said = (
        f"Swap rates against the difference between two runs, a line for each way of sampling ({', '.join(ways)}), a "
        f"panel for each of {len(measures)} measures. The dotted line is 5%."
    )
    lines = _lines("sampling", ways)
    return marks.panels(rows, said, marks.names("measure", measures), *lines, width=220, height=220, wrapped=3)


def _lines(column: str, values: list[str]) -> tuple[Any, Any]:
    """The limit of 5%, and swap rate against difference with a line for each value of a column."""
    lines = marks.layer(
        "line",
        {"tooltip": True},
        x=marks.field("bin", title="difference (hundredths)"),
        y=marks.field("swap_rate", axis={"format": "%"}),
        color=theme.colour(column, values),
        strokeDash=theme.dash(column, values),
        tooltip=marks.as_it_is("measure", "sampling", "bin", "comparisons", "swap_rate"),
    )
    return marks.rule_at("y", 0.05, dash=[2, 3]), lines


def shared_bars(result: Result) -> Figure:
    """Topics that two sets share on average, a bar per way of sampling (Sakai 2005, table 5)."""
    rows = records(result)
    bars = marks.layer(
        "bar",
        {"color": theme.BLUE, "tooltip": True},
        x=marks.field("shared", title="topics two sets share on average"),
        y=marks.names("sampling", distinct(rows, "sampling")),
        tooltip=marks.as_it_is(*SHARED),
    )
    told = ", ".join(f"{row['sampling']} {row['shared']:.1f} of {row['different']:.1f}" for row in rows)
    return marks.chart(rows, f"Topics that two topic sets share on average: {told}.", bars, height={"step": 24})


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
