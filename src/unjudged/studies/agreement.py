"""Agreement of measures: do two measures order the runs alike? (Sakai 2007, table 2)"""

from __future__ import annotations

from unjudged.collection import Floats
from unjudged.comparing.agreement import COLUMNS
from unjudged.errors import UsageError
from unjudged.figures import agreement as charts
from unjudged.results import Result, Row
from unjudged.statistics.correlation import tau_b, tau_p_value
from unjudged.studies import layouts
from unjudged.studies._study import Lab, register
from unjudged.studies.asked import Runs, Scoring
from unjudged.studies.board import Board, fill
from unjudged.studies.preparing import Case, cases, columns, provenance, row, stage
from unjudged.studies.verdicts import agreement_verdict


@register(
    "agreement",
    help="Kendall's tau between the orders of the runs by two measures",
    cite="sakai2007",
    figures={"": ("agreement",)},
)
def agreement(lab: Lab, scoring: Scoring, runs: Runs) -> Result:
    """Do two measures order the runs alike?

    Kendall's tau (tau_b) between the orders of the runs by each pair of measures, with its two-sided p value for
    unrelated orders (Sakai 2007, table 2). Two measures with tau near 1 tell the same story; use one of them.
    """
    found: list[tuple[Case, Floats]] = []
    for case in cases(lab, scoring, runs):
        if len(case.measures) < 2:
            raise UsageError("this study needs at least 2 measures, 1 given")
        board = Board.of(case, {})
        found.append((case, fill(lab, board, stage(lab, case.name, f"{len(case.runs)} runs")).means[0]))
    rows: list[Row] = []
    for case, means in found:
        for a in range(len(case.measures)):
            for b in range(a + 1, len(case.measures)):
                pair = (str(case.measures[a]), str(case.measures[b]))
                tau, p = tau_b(means[a], means[b]), tau_p_value(means[a], means[b])
                rows.append(row(lab, case.name, (*pair, tau, p)))
    return Result(
        columns(lab, *COLUMNS),
        lambda: rows,
        provenance(lab, [case for case, _ in found]),
        layout=lambda: _table(lab, found),
        figures={"agreement": charts.agreement},
        verdict=agreement_verdict(found),
        caption="Kendall's tau between the orders of the runs by two measures.",
    )


def _table(lab: Lab, found: list[tuple[Case, Floats]]) -> layouts.Table:
    """Table 2 of Sakai 2007: the upper triangle, collection after collection."""
    names = [str(m) for m in found[0][0].measures]
    table: list[Row] = []
    for case, means in found:
        for a, name in enumerate(names[:-1]):
            cells = [layouts.correlation(tau_b(means[a], means[b])) if b > a else "" for b in range(1, len(names))]
            table.append((*((case.name,) if lab.several else ()), name, *map(layouts.Shown, cells)))
    return [*(["collection"] if lab.several else []), "", *names[1:]], table
