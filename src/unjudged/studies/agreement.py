"""Agreement of measures: do two measures order the runs alike? (Sakai 2007, table 2)"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from unjudged.errors import UsageError
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.results import Result, Row, Shown, Verdict
from unjudged.statistics.correlation import tau_b, tau_p_value
from unjudged.studies import layouts
from unjudged.studies.engine import Answer, Arrays, Case, Matrices, Runs, Scoring, Table, matrices, register
from unjudged.studies.engine.silent import last, silent_measures

COLUMNS = ("measure_a", "measure_b", "tau", "p_value")


def taus(scores: Matrices, unit: int) -> Arrays:
    """The one work unit: tau and p value of every pair of measures."""
    means = scores.means()
    found = [(tau_b(x, y), tau_p_value(x, y)) for x, y in combinations(means, 2)]
    return {"tau": np.array([tau for tau, _ in found]), "p_value": np.array([p for _, p in found])}


@register(
    "agreement",
    help="Kendall's tau between the orders of the runs by two measures",
    cite="sakai2007",
    figures={"": ("agreement",)},
    scores=True,
    columns=COLUMNS,
    limit="agreement",
)
def agreement(case: Case, scoring: Scoring, runs: Runs) -> Answer:
    """Do two measures order the runs alike?

    Kendall's tau (tau_b, on unrounded means over topics) between the orders of the runs by each pair of measures, with
    its two-sided p value for unrelated orders (Sakai 2007, table 2). Two measures with tau near 1 tell the same story;
    use one of them. Both numbers are empty where a measure gives all runs the same mean; such measures come last.
    """
    scores, settings = matrices(case, scoring, runs, least_topics=1, geometric=True)
    if len(scores.measures) < 2:
        raise UsageError(f"this study needs at least 2 measures, {len(scores.measures)} given")
    silent = silent_measures(case, scores)
    (value,) = case.run(taus, scores, [0], f"{len(scores.runs)} runs")
    found = list(zip(combinations(scores.names, 2), value["tau"].tolist(), value["p_value"].tolist(), strict=True))
    return Answer(
        COLUMNS,
        [(*pair, tau, p) for pair, tau, p in found],
        _verdict(case, scores, [(tau, *pair) for pair, tau, _ in found]),
        lambda: _table(last(scores.names, silent), {pair: tau for pair, tau, _ in found}),
        {"agreement": agreement_map},
        "Kendall's tau between the orders of the runs by two measures.",
        settings=settings,
        seed=runs.seed,
    )


def _table(names: Sequence[str], tau: dict[tuple[str, str], float]) -> Table:
    """Table 2 of Sakai 2007: the upper triangle."""
    both = tau | {(b, a): value for (a, b), value in tau.items()}
    table: list[Row] = []
    for a, name in enumerate(names[:-1]):
        cells = [layouts.correlation(both[name, names[b]]) if b > a else "" for b in range(1, len(names))]
        table.append((name, *map(Shown, cells)))
    return ["", *names[1:]], table


def _verdict(case: Case, scores: Matrices, pairs: list[tuple[float, str, str]]) -> Verdict:
    """Does it matter which measure is used?"""
    limit = case.limits["agreement"]
    known = [pair for pair in pairs if not math.isnan(pair[0])]
    if not known:
        return limit.unknown("a measure that gives all runs the same mean orders nothing, so nothing can agree")
    low, high = min(known), max(known)
    alike = sum(tau >= limit.solid for tau, _, _ in known)
    sentence = (
        f"{alike} of {len(known)} pairs of measures order the runs alike; {low[1]} and {low[2]} differ most "
        f"(tau {low[0]:.3f}), {high[1]} and {high[2]} least ({high[0]:.3f})"
        if len(known) > 1
        else f"{low[1]} and {low[2]} {'' if alike else 'do not '}order the runs alike (tau {low[0]:.3f})"
    )
    few = limit.too_few(runs=len(scores.runs), topics=len(scores.topics))
    return limit.verdict(sentence, low[0], too_few=few, decided_by=low[1:])


def agreement_map(result: Result) -> Figure:
    """A map of tau: the upper triangle, with the number written in each field."""
    rows = records(result)
    known = [row["tau"] for row in rows if row["tau"] is not None]
    middle = (min(known, default=0) + max(known, default=1)) / 2
    first, second = distinct(rows, "measure_a"), distinct(rows, "measure_b")
    x = {"field": "measure_b", "type": "nominal", "sort": second, "title": None, "axis": {"labelAngle": -40}}
    y = {"field": "measure_a", "type": "nominal", "sort": first, "title": None}
    colour = {"field": "tau", "type": "quantitative", "scale": {"scheme": theme.AMOUNT}}
    readable = {"condition": {"test": f"datum.tau > {middle}", "value": "#000000"}, "value": "#ffffff"}
    return marks.chart(
        rows,
        f"Kendall's tau between the orders of the runs by two measures, {len(rows)} pairs, from "
        f"{min(known, default=0):g} to {max(known, default=0):g}.",
        marks.layer("rect", {"tooltip": True}, x=x, y=y, color=colour, tooltip=marks.as_it_is(*COLUMNS)),
        marks.layer("text", {"fontSize": 10}, x=x, y=y, text={"field": "tau", "format": ".2f"}, color=readable),
        width={"step": 46},
        height={"step": 24},
    )
