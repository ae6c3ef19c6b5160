"""Reliability: are there enough topics? Split halves, and generalizability theory (Urbano, Marrero and Martín 2013).

The verdict rests on split halves (`unjudged.statistics.split_half`): the formula of normal theory is right for AP, but
a few odd runs make it too kind, by up to .18 for RR. It stays beside the answer as a check.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from unjudged.errors import UsageError, as_usage_errors
from unjudged.figures import Figure, Records, distinct, marks, records, theme
from unjudged.results import Result, Row, Step, Verdict
from unjudged.statistics.reliability import (
    d_study,
    expected_tau,
    g_study,
    topics_for_erho2,
    topics_for_phi,
    topics_for_tau,
    without_worst,
)
from unjudged.statistics.split_half import split_halves
from unjudged.studies import layouts
from unjudged.studies.engine import (
    Answer,
    Arrays,
    Case,
    Matrices,
    Runs,
    Scoring,
    Table,
    Unanswerable,
    leading,
    matrices,
    register,
)
from unjudged.text import counted, in_order
from unjudged.thresholds import Threshold

COLUMNS = (
    *("measure", "erho2", "phi", "low", "high", "topics_needed"),
    *("phi_low", "phi_high", "phi_topics_needed", "var_runs", "var_topics", "var_error", "expected_tau"),
    *("tau_low", "tau_high", "formula_tau", "split_tau", "noise"),
)
STEPS = (5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200)
"""Numbers of topics the chart shows, beside the number there is."""


def generalised(shared: Matrices, unit: tuple[float, float, int | None, float, int, int]) -> Arrays:
    """The one work unit: what every measure says, in the order of COLUMNS, and which variances came out negative."""
    alpha, wanted, topics, drop, others, seed = unit
    rows, clipped = [], []
    with as_usage_errors():
        for matrix, varies in zip(shared.values, shared.varying, strict=True):
            study = g_study(matrix, drop)
            found = d_study(study, topics, alpha / 2)
            formula = expected_tau(study.var_runs, study.var_error, found.topics, others) if varies else math.nan
            halves = split_halves(without_worst(matrix, drop), seed=seed)
            ahead = halves.expected(found.topics, others, alpha)
            split = [ahead.tau, ahead.low, ahead.high, formula, halves.tau, halves.noise]
            rows.append(
                [
                    *(found.erho2, found.phi, found.erho2_low, found.erho2_high, topics_for_erho2(study, wanted)),
                    *(found.phi_low, found.phi_high, topics_for_phi(study, wanted)),
                    *(study.var_runs, study.var_topics, study.var_error),
                    *(split if varies else [math.nan] * len(split)),
                ]
            )
            clipped.append([part in study.clipped for part in ("runs", "topics")])
    return {"values": np.array(rows), "clipped": np.array(clipped)}


@register(
    "reliability",
    help="whether there are enough topics, and how many would be",
    cite="urbano2013",
    figures={"": ("topics", "reliability")},
    scores=True,
    columns=COLUMNS,
    limit="enough-topics",
)
def reliability(
    case: Case,
    scoring: Scoring,
    runs: Runs,
    *,
    stability: float = 0.95,
    alpha: float = 0.05,
    topics_assumed: int | None = None,
    drop: float = 0.0,
) -> Answer:
    """Are there enough topics?

    The verdict speaks of expected_tau: how well the order of the runs would agree (Kendall's tau) with their order on
    100 other topics of the same kind. The topics are split in two 200 times, the halves' orders are compared
    (split_tau), and the answer is extrapolated to all topics, with a 1 - alpha interval (tau_low, tau_high); solid
    takes an interval that is solid as a whole. noise is the number of topics at which the order would be half reliable.

    E rho^2 says how well these topics order the runs, Phi how well they estimate the runs' true scores; both are 0
    to 1 (generalizability theory; Urbano et al. 2013) and have a 1 - alpha interval. formula_tau is the tau that
    follows from these variances for normal scores: a check, too kind where a few runs are odd. topics_needed and
    phi_topics_needed are the numbers of topics that would give an E rho^2 or a Phi of --stability (empty where the runs
    do not differ at all). --topics-assumed asks about another number of topics than there are. --drop leaves out the
    runs below that quantile of the means, since hopeless runs make any topic set look reliable.
    """
    if not 0 < stability < 1:
        raise UsageError(f"the wanted reliability lies between 0 and 1, not {stability:g}")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha lies between 0 and 1, not {alpha}")
    limit = case.limits["enough-topics"]
    scores, settings = matrices(case, scoring, runs, least_topics=1)
    if len(scores.topics) == 1:
        raise Unanswerable("one topic cannot show how well other topics would agree with it")
    unit = (alpha, stability, topics_assumed, drop, int(limit["others"]), runs.seed)
    (value,) = case.run(generalised, scores, [unit], f"{len(scores.runs)} runs")
    rows: list[Row] = []
    for name, numbers, negative in zip(scores.names, value["values"].tolist(), value["clipped"].tolist(), strict=True):
        for part, clipped in zip(("runs", "topics"), negative, strict=True):
            if clipped:
                case.note(f"{name}: the variance of {part} was estimated below 0 and set to 0")
        whole = (n if column not in _COUNTS else _whole(n) for column, n in zip(COLUMNS[1:], numbers, strict=True))
        rows.append((name, *whole))
    here = topics_assumed or len(scores.topics)
    return Answer(
        COLUMNS,
        rows,
        _verdict(case, scores, rows[leading(scores.measures)], topics_assumed),
        lambda: _table(rows, stability, int(limit["others"])),
        {"topics": lambda result: expected_lines(result, limit), "reliability": reliability_dots},
        f"Tau with {int(limit['others'])} other topics from split halves (by formula: for normal scores), and "
        f"reliability (E rho^2), with {100 * (1 - alpha):g}% intervals.",
        about=f"{counted(here, 'topic')}{'' if topics_assumed is None else ', as assumed'}.",
        settings={**settings, "stability": stability, "alpha": alpha, "drop": drop, "topics assumed": topics_assumed},
        seed=runs.seed,
    )


_COUNTS = ("topics_needed", "phi_topics_needed")


def _whole(number: float) -> int | None:
    return int(number) if math.isfinite(number) else None


def _named(row: Row) -> dict[str, Any]:
    return dict(zip(COLUMNS, row, strict=True))


def _table(rows: list[Row], stability: float, others: int) -> Table:
    """A line per measure; those without any variation come last."""
    found = sorted(map(_named, rows), key=lambda row: math.isnan(row["expected_tau"]))
    varying = [None if math.isnan(row["expected_tau"]) else row["erho2"] for row in found]
    bold = layouts.best(varying, [_coefficient(row["erho2"]) for row in found])
    table: list[Row] = [
        (
            row["measure"],
            _coefficient(row["expected_tau"]),
            f"[{_coefficient(row['tau_low'])}, {_coefficient(row['tau_high'])}]",
            _coefficient(row["formula_tau"]),
            cell,
            f"[{_coefficient(row['low'])}, {_coefficient(row['high'])}]",
            _coefficient(row["phi"]),
            row["topics_needed"],
        )
        for row, cell in zip(found, bold, strict=True)
    ]
    head = ["measure", f"tau with {others} other topics", "interval", "by formula", "E rho^2", "interval", "Phi"]
    return [*head, f"topics for {stability:g}"], table


def _coefficient(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _verdict(case: Case, scores: Matrices, row: Row, assumed: int | None) -> Verdict:
    """Would other topics order the runs alike, and how many topics would it take?"""
    limit, found = case.limits["enough-topics"], _named(row)
    measure, tau, others = found["measure"], found["expected_tau"], int(limit["others"])
    if math.isnan(tau):
        return limit.unknown(f"by {measure} all runs have the same scores, so there is no order to confirm")
    here = len(scores.topics) if assumed is None else assumed
    topics = f"these {counted(here, 'topic')}" if assumed is None else counted(here, "such topic")
    few = limit.too_few(runs=len(scores.runs), topics=len(scores.topics))
    if tau <= 0:
        sentence = f"by {measure} the runs do not differ by more than chance on these {len(scores.topics)} topics"
        step = Step("do not report an order of these runs; to see one, judge more topics")
        return limit.verdict(sentence, tau, too_few=few, decided_by=(measure,), next=step)
    needed = topics_for_tau(1.0, found["noise"], limit.solid, others)
    low, high = found["tau_low"], found["tau_high"]
    if here >= needed and limit.word(low) != "solid":
        more = f"fewer than {in_order(limit.solid)} are still possible"
    elif needed > limit["many"]:
        more = "more topics would help little"
    else:
        more = f"{counted(int(needed), 'topic')} would keep {in_order(limit.solid)}"
    sentence = f"on {others} other topics {in_order(tau)} would keep the order they have on {topics} by {measure} "
    sentence += f"(tau {tau:.2f}"
    sentence += f", between {low:.2f} and {high:.2f})" if low == low else "; how surely, so few topics cannot show)"
    sentence += f"; {more}"
    return limit.verdict(
        sentence,
        tau,
        finding=f"{in_order(tau)} would keep their order on {others} other topics",
        surely=low,
        too_few=few,
        decided_by=(measure,),
        next=_step(case, limit, here, needed, low, tau, measure),
    )


def _step(case: Case, limit: Threshold, here: int, needed: float, low: float, tau: float, measure: str) -> Step | None:
    """Nothing to do where there are surely enough topics."""
    flags = ["-m", measure]
    if here >= needed:
        if limit.word(low) == "solid":
            return None
        said = "judge more topics to be sure, or report the top group instead of the order"
        return case.step(said, "study", "reliability", flags=flags)
    if needed > limit["many"]:
        said, effect = "report the top group instead of the order", "more topics would help little"
        return case.step(said, "compare", flags=flags, effect=effect)
    said = f"judge about {counted(int(needed) - here, 'more topic')}, or report the top group instead of the order"
    now, then = in_order(tau).partition(" ")[0], in_order(limit.solid)
    effect = f"about {then} in the same order instead of {now}" if now != then.partition(" ")[0] else ""
    return case.step(said, "study", "reliability", flags=flags, effect=effect)


# -- charts


def expected_lines(result: Result, limit: Threshold) -> Figure:
    """Expected tau with other topics against the number of topics; lines mark the limit and the topics there are."""
    solid, others = limit.solid, int(limit["others"])
    counts = result.provenance.settings["topics counted"]
    points: Records = []
    for row in result.rows():
        found = dict(zip(result.columns, row, strict=True))
        if math.isnan(found["expected_tau"]):
            continue
        noise, runs, error = found["noise"], found["var_runs"], found["var_error"]
        here = counts[found["collection"]] if isinstance(counts, dict) else counts
        kept: dict[str, Any] = {key: found[key] for key in ("collection", "measure") if key in found}
        for topics in sorted({*STEPS, here}):
            tau = 0.0 if math.isinf(noise) else expected_tau(1.0, noise, topics, others)
            erho2 = runs / (runs + error / topics)
            points.append({**kept, "topics": topics, "tau": round(tau, 4), "erho2": round(erho2, 4), "here": here})
    measures = distinct(points, "measure")
    lines = marks.layer(
        "line",
        {"interpolate": "monotone", "tooltip": True},
        x=marks.field("topics", title="number of topics"),
        y=marks.field("tau", title=f"expected tau with {others} other topics", scale={"domain": [0, 1]}),
        color=theme.colour("measure", measures),
        strokeDash=theme.dash("measure", measures),
        tooltip=marks.as_it_is("measure", "topics", "tau", "erho2"),
    )
    at_limit = marks.rule_at("y", solid, dash=[5, 4])
    at_here = {**at_limit, "encoding": {"x": {"field": "here", "type": "quantitative", "aggregate": "min"}}}
    said = (
        f"Expected agreement (tau) of the order of the runs with their order on {others} other topics, by number of "
        f"topics, {len(measures)} measures. The horizontal line is {solid:g}, the vertical one the number of topics "
        "there are."
    )
    return marks.chart(points, said, lines, at_limit, at_here)


def reliability_dots(result: Result) -> Figure:
    """E rho^2 of each measure, with a line for its interval."""
    rows = records(result)
    y = marks.names("measure", distinct(rows, "measure"))
    low = {"field": "low", "type": "quantitative", "scale": {"zero": False}}
    dot = marks.field("erho2", title="E rho^2", scale={"zero": False})
    told = ", ".join(f"{row['measure']} {row['erho2']}" for row in rows[:10])
    tooltip = marks.as_it_is("measure", "erho2", "low", "high", "phi", "topics_needed")
    return marks.chart(
        rows,
        f"Reliability of the topic set: {told}.",
        marks.layer("rule", {"color": theme.quiet()}, x=low, x2={"field": "high"}, y=y),
        marks.layer("point", {"color": theme.BLUE, "tooltip": True}, x=dot, y=y, tooltip=tooltip),
        height={"step": 22},
    )
