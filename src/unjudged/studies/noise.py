"""What would judging errors change? The order of the runs under random errors, and under a judge who favours a team."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unjudged.changes.noise import favour, flip
from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.figures import Figure, distinct, marks, records
from unjudged.measures import Measure
from unjudged.results import Result, Row
from unjudged.scoring import score
from unjudged.statistics.correlation import tau_b
from unjudged.statistics.pairs import exact_mean
from unjudged.studies.engine import Answer, Arrays, Case, Runs, UsualScoring, leading, prepare, register
from unjudged.text import percent

COLUMNS = ("kind", "rate", "repeat", "measure", "mean", "tau")
RANDOM = "random errors"
RATES = (0.05, 0.1, 0.2, 0.3)
INVENTED = 0.1
"""Nonrelevant documents taken for relevant, as a share of the relevant ones overlooked: assessors overlook more."""
FAVOUR, FAVOURED = 0.3, 3
"""How much of a team's top a partial judge takes for relevant, and how many teams are favoured, each alone."""


def judged_with_errors(
    shared: tuple[Collection, tuple[Measure, ...], npt.NDArray[np.bool_], int, int], unit: tuple[str, float, int]
) -> Arrays:
    """One work unit: measures x runs, the means after errors; the unit is a kind (or team), a rate and a repeat."""
    who, rate, repeat = unit
    c, measures, counted, rel, seed = shared
    if rate == 0:
        after = c
    elif who == RANDOM:
        after = flip(c, relevant=rate, nonrelevant=rate * INVENTED, rel=rel, seed=1000 * seed + repeat - 1)
    else:
        after = favour(c, rate, team=who.removeprefix("favours "), rel=rel, seed=seed)
    return {"means": score(after, list(measures)).mean_values(counted).T}


@register("noise", help="the order of the runs under judging errors", figures={"": ("noise",)})
def noise(
    case: Case, scoring: UsualScoring, *, rates: Sequence[float] = RATES, repeats: int = 3, seed: int = 0
) -> Answer:
    """What would judging errors change?

    Judgments are changed on purpose: so many relevant documents become nonrelevant, and a tenth as many nonrelevant
    ones relevant, at random; then a judge takes three tenths of the nonrelevant documents in the top 10 of one team for
    relevant (the three teams with most runs, each alone). One row per kind of error, rate, repeat and measure: the mean
    score, and Kendall's tau between the order of the runs and the one here. Random errors shift all scores and hardly
    the order; errors that favour one kind of run do turn it, and only a second judge can show them (study judges).
    """
    if not rates or not all(0 < rate <= 1 for rate in rates):
        raise UsageError(f"rates of errors lie between 0 and 1, not {', '.join(f'{rate:g}' for rate in rates)}")
    if repeats < 1:
        raise UsageError(f"at least 1 repeat is needed, not {repeats}")
    setup = prepare(case, scoring, Runs(seed=seed))
    shared = setup.selected, setup.measures, setup.counted, scoring.smallest, seed
    units = [(RANDOM, 0.0, 1), *((RANDOM, rate, repeat) for rate in rates for repeat in range(1, repeats + 1))]
    units += [(f"favours {team}", FAVOUR, 1) for team in _largest(setup.collection)]
    values = case.run(judged_with_errors, shared, units, f"{len(units) - 1} kinds of errors")
    before, names = values[0]["means"], [str(m) for m in setup.measures]
    rows: list[Row] = []
    for unit, value in zip(units, values, strict=True):
        for m, name in enumerate(names):
            tau = 1.0 if unit == units[0] else tau_b(before[m], value["means"][m])
            rows.append((*unit, name, exact_mean(value["means"][m]), tau))
    _tell(case, rows, names[leading(setup.measures)])
    return Answer(
        COLUMNS,
        rows,
        figures={"noise": lambda result: error_lines(result, case.limits["another-judge"].solid)},
        caption="Mean score of the runs under judging errors, and tau between their order and the one here.",
        settings={**setup.settings, "rates": list(rates), "repeats": repeats},
        seed=seed,
    )


def _largest(collection: Collection) -> list[str]:
    """The teams with most runs, where the teams of all runs are known."""
    if any(run not in collection.teams for run in collection.runs):
        return []
    teams, sizes = np.unique([collection.teams[run] for run in collection.runs], return_counts=True)
    return [str(teams[i]) for i in np.lexsort((teams, -sizes))[:FAVOURED]] if len(teams) > 1 else []


def _tell(case: Case, rows: Sequence[Row], measure: str) -> None:
    """Notes: what errors do to the order by the leading measure."""
    taus: dict[tuple[str, float], list[float]] = {}
    for kind, rate, _, name, _, tau in rows:
        if name == measure and rate:
            taus.setdefault((kind, rate), []).append(tau)
    means = {key: exact_mean(values) for key, values in taus.items()}
    if any(math.isnan(tau) for tau in means.values()):
        case.note(f"there is no order by {measure} that errors could change: all runs have the same score")
        return
    told = ", ".join(f"{percent(rate)} leave tau {tau:.2f}" for (kind, rate), tau in means.items() if kind == RANDOM)
    case.note(f"random errors of {told} by {measure}")
    favoured = {kind.removeprefix("favours "): tau for (kind, _), tau in means.items() if kind != RANDOM}
    if favoured:
        worst = min(favoured, key=favoured.__getitem__)
        case.note(
            f"a judge who took {percent(FAVOUR)} of the nonrelevant documents in the top 10 of {worst} for relevant "
            f"would leave tau {favoured[worst]:.2f}"
        )


def error_lines(result: Result, solid: float) -> Figure:
    """Agreement of the order of the runs with the one here, by share of random errors, a line per measure."""
    rows = records(result)
    measures = distinct(rows, "measure")
    each = marks.field("measure", "nominal", scale={"domain": measures}, legend=marks.LINES)
    tau = {"field": "tau", "aggregate": "mean", "format": ".3f", "title": "tau"}
    lines = marks.layer(
        "line",
        {"point": True},
        x=marks.field("rate", title="share of relevant documents overlooked", axis=marks.PERCENT),
        y=marks.field("tau", title="tau", aggregate="mean", scale={"zero": False}),
        color=each,
        strokeDash=each,
        tooltip=[*marks.tips("measure", ("rate", ".0%")), tau],
    )
    return marks.chart(
        rows,
        f"Agreement (tau) of the order of the runs with the one here by {', '.join(measures)}, by share of relevant "
        "documents overlooked at random.",
        lines,
        *marks.line_at(solid, f"solid from {solid:g}"),
        transform=[{"filter": {"field": "kind", "equal": RANDOM}}],
        width=480,
        height=240,
    )
