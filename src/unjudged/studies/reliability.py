"""Reliability: are there enough topics? Generalizability theory (Urbano, Marrero and Martín 2013)"""

from __future__ import annotations

import math

import numpy as np

from unjudged.comparing.paired_scores import check_settings, told
from unjudged.errors import UsageError
from unjudged.figures import reliability as charts
from unjudged.results import Result, Row
from unjudged.statistics.reliability import d_study, g_study, topics_for_erho2
from unjudged.studies import layouts
from unjudged.studies._study import Lab, register
from unjudged.studies.asked import Runs, Scoring
from unjudged.studies.matrices import Matrices, matrices
from unjudged.studies.preparing import cases, columns, provenance, row, stage
from unjudged.studies.verdicts import reliability_verdict
from unjudged.studies.workdir import Arrays


def generalised(shared: Matrices, unit: tuple[float, float]) -> Arrays:
    """The one work unit: coefficients of every measure, and the topics needed for the wanted reliability."""
    alpha, wanted = unit
    rows = []
    with told():
        for matrix in shared.values:
            study = g_study(matrix)
            found = d_study(study, alpha=alpha / 2)
            needed = topics_for_erho2(study, wanted)
            rows.append([found.erho2, found.phi, found.erho2_low, found.erho2_high, needed])
    return {"values": np.array(rows)}


@register(
    "reliability",
    help="whether there are enough topics, and how many would be",
    cite="urbano2013",
    figures={"": ("reliability", "topics")},
)
def reliability(lab: Lab, scoring: Scoring, runs: Runs, *, stability: float = 0.95, alpha: float = 0.05) -> Result:
    """Are there enough topics?

    E rho^2 is how well these topics order the runs, Phi how well they estimate their true scores, both between 0 and 1
    (generalizability theory; Urbano et al. 2013). low and high are the 1 - alpha interval of E rho^2.
    topics_needed is the number of topics that would give an E rho^2 of --stability.
    """
    if not 0 < stability < 1:
        raise UsageError(f"the wanted reliability lies between 0 and 1, not {stability:g}")
    check_settings(alpha)
    rows: list[Row] = []
    told_of: list[tuple[str, float, float]] = []
    topics: list[int] = []
    found = cases(lab, scoring, runs)
    for case in found:
        shared = matrices(case)
        topics.append(shared.topics)
        (value,) = lab.run(generalised, shared, [(alpha, stability)], stage(lab, case.name, f"{len(shared.runs)} runs"))
        for name, (erho2, phi, low, high, needed) in zip(shared.names, value["values"].tolist(), strict=True):
            shown = int(needed) if math.isfinite(needed) else None
            rows.append(row(lab, case.name, (name, erho2, phi, low, high, shown)))
            told_of.append((name, erho2, needed))
    head = columns(lab, "measure", "erho2", "phi", "low", "high", "topics_needed")
    return Result(
        head,
        lambda: rows,
        provenance(lab, found, stability=stability, alpha=alpha),
        layout=lambda: _table(head, rows, stability),
        figures={"reliability": charts.reliability, "topics": charts.topics(topics[0])},
        verdict=reliability_verdict(told_of[: len(found[0].measures)], topics[0], stability),
        caption=f"Reliability of {' and '.join(map(str, topics))} topics with its {100 * (1 - alpha):g}% interval.",
    )


def _table(head: tuple[str, ...], rows: list[Row], stability: float) -> layouts.Table:
    first = head.index("erho2")
    bold = layouts.best([r[first] for r in rows], [_coefficient(r[first]) for r in rows])
    table: list[Row] = [
        (
            *r[:first],
            bold[k],
            f"[{_coefficient(r[first + 2])}, {_coefficient(r[first + 3])}]",
            _coefficient(r[first + 1]),
            "-" if r[first + 4] is None else r[first + 4],
        )
        for k, r in enumerate(rows)
    ]
    return [*head[:first], "E rho^2", "interval", "Phi", f"topics for {stability:g}"], table


def _coefficient(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
