"""The stability method: how often do topic sets contradict each other? (Buckley and Voorhees 2000)"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from unjudged.errors import UsageError, as_usage_errors
from unjudged.figures import Figure, distinct, marks, records
from unjudged.results import Result, Row, Verdict
from unjudged.statistics.stability import FUZZINESS
from unjudged.statistics.stability import stability as count_minorities
from unjudged.studies import layouts
from unjudged.studies.engine import Answer, Arrays, Case, Matrices, Runs, Scoring, Table, matrices, register
from unjudged.studies.engine.silent import last, silent_measures

COLUMNS = ("measure", "fuzziness", "minority_rate", "ties")


def minorities(shared: Matrices, unit: tuple[int, tuple[float, ...], int, int, bool, int]) -> Arrays:
    """One work unit: minority rate and ties of one measure at every fuzziness."""
    m, fuzziness, size, trials, replacement, seed = unit
    with as_usage_errors():
        found = count_minorities(
            shared.values[m],
            fuzziness,
            size=size,
            trials=trials,
            replacement=replacement,
            seed=seed,
            logarithms=shared.geometric[m],
        )
    return {"rate": np.array([f.minority_rate for f in found]), "ties": np.array([f.ties for f in found])}


@register(
    "stability",
    help="how often topic sets contradict each other about two runs",
    cite="buckley2000",
    figures={"": ("stability",)},
    scores=True,
    columns=COLUMNS,
    limit="stability",
)
def stability(
    case: Case,
    scoring: Scoring,
    runs: Runs,
    *,
    fuzziness: Any = FUZZINESS,
    c: int | None = None,
    trials: int = 1000,
    replacement: bool = False,
) -> Answer:
    """How often do topic sets contradict each other about two runs?

    Many sets of c topics are drawn (half of the topics, unless --c says otherwise; with --replacement a topic may come
    twice). Two runs whose means differ by less than a given share of the larger one, the fuzziness, count as tied. The
    minority rate is the share of comparisons that go against what most sets say about the pair: an estimate of how
    often one would conclude the wrong thing. A good measure has a low minority rate with few ties (Buckley and Voorhees
    2000; Sakai 2005, section 5.3). Geometric means (GMAP) are compared as such. Measures by which the runs never differ
    are unknown and come last.
    """
    given = tuple(fuzziness) if isinstance(fuzziness, (list, tuple)) else (fuzziness,)
    if not given or any(not 0 <= f < 1 for f in given):
        raise UsageError(f"fuzziness is a share as 0.05, not {','.join(map(str, given))}")
    scores, settings = matrices(case, scoring, runs, geometric=True)
    silent = silent_measures(case, scores)
    size = len(scores.topics) // 2 if c is None else c
    if size == len(scores.topics) and not replacement:
        raise UsageError(
            f"sets of {size} of {len(scores.topics)} topics are all the same set, which contradicts nothing; take a "
            "smaller --c, or --replacement"
        )
    units = [(m, given, size, trials, replacement, runs.seed) for m in range(len(scores.measures))]
    values = case.run(minorities, scores, units, f"{len(scores.runs)} runs, {trials} trials")
    found = {
        name: [(math.nan, math.nan)] * len(given)
        if name in silent
        else list(zip(value["rate"].tolist(), value["ties"].tolist(), strict=True))
        for name, value in zip(scores.names, values, strict=True)
    }
    drawn = f"{trials} sets of {size} topics, drawn with{'' if replacement else 'out'} replacement"
    return Answer(
        COLUMNS,
        [(name, f, *pair) for name, pairs in found.items() for f, pair in zip(given, pairs, strict=True)],
        _verdict(case, scores, silent, given, found),
        lambda: _table(silent, given, found),
        {"stability": stability_lines},
        "Minority rate / share of ties at each fuzziness; bold: the lowest minority rate.",
        about=f"{drawn[0].upper()}{drawn[1:]}.",
        settings={**settings, "c": size, "trials": trials, "replacement": replacement},
        seed=runs.seed,
    )


Found = dict[str, list[tuple[float, float]]]
"""Minority rate and ties of each measure, by fuzziness; NaN for a measure that says nothing."""


def _table(silent: Mapping[str, str], given: tuple[float, ...], found: Found) -> Table:
    """A line per measure, a column per fuzziness; measures by which the runs never differ come last."""
    order = last(found, silent)
    cells = [
        layouts.best(
            [found[name][i][0] for name in order],
            ["-" if name in silent else " / ".join(map(layouts.percent, found[name][i])) for name in order],
            smallest=True,
        )
        for i in range(len(given))
    ]
    table: list[Row] = [(name, *(column[k] for column in cells)) for k, name in enumerate(order)]
    return ["measure", *(f"{f:g}" for f in given)], table


def _verdict(
    case: Case, scores: Matrices, silent: Mapping[str, str], given: tuple[float, ...], found: Found
) -> Verdict:
    """How often do topic sets disagree about two runs? By the measure with the lowest rate.

    Where all pairs tie, nothing can contradict anything, so that a measure that ties them all has no rate.
    """
    limit = case.limits["stability"]
    place = min(range(len(given)), key=lambda i: abs(given[i] - limit["fuzziness"]))
    rates = {name: pairs[place] for name, pairs in found.items() if name not in silent}
    if not rates:
        return limit.unknown("all runs have the same scores, so topic sets cannot contradict each other")
    rates = {name: pair for name, pair in rates.items() if pair[1] < 1}
    if not rates:
        return limit.unknown(
            f"at fuzziness {given[place]:g} all runs are tied, so topic sets cannot contradict each other"
        )
    best, worst = (pick(rates, key=lambda name: rates[name][0]) for pick in (min, max))
    rate, ties = rates[best]
    sentence = (
        f"at fuzziness {given[place]:g}, topic sets contradict each other in {layouts.percent(rate)} of the "
        f"comparisons by {best} ({layouts.percent(ties)} tied)"
    )
    if len(rates) > 1:
        sentence += f", and in {layouts.percent(rates[worst][0])} by {worst}"
    few = limit.too_few(runs=len(scores.runs), topics=len(scores.topics))
    return limit.verdict(sentence, rate, too_few=few, decided_by=(best,))


def stability_lines(result: Result) -> Figure:
    """Minority rate against ties, a line per measure: the nearer to the lower left corner, the better the measure."""
    rows = [row for row in records(result) if row["minority_rate"] is not None]
    measures = distinct(rows, "measure")
    x = marks.field("ties", title="share of ties", axis={"format": "%"})
    y = marks.field("minority_rate", axis={"format": "%"})
    said = f"Minority rate against the share of ties, {len(measures)} measures, a point per fuzziness"
    if rows:
        lowest = min(rows, key=lambda row: row["minority_rate"])
        said += f"; the lowest minority rate is {100 * lowest['minority_rate']:.1f}% ({lowest['measure']})"
    said += ". Lower left is better."
    tooltip = marks.as_it_is(*COLUMNS)
    order = {"field": "fuzziness"}
    return marks.chart(rows, said, *marks.lines_with_points("measure", measures, tooltip, x=x, y=y, order=order))
