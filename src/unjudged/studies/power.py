"""Discriminative power: how many pairs of runs a measure tells apart (Sakai 2007, table 3; 2009, tables 6 and 7)."""

from __future__ import annotations

from typing import Any

from unjudged.comparing.power import COLUMNS, PAIRS
from unjudged.figures import power as charts
from unjudged.results import Result, Row
from unjudged.statistics.pairs import all_pairs
from unjudged.studies import layouts
from unjudged.studies._study import Lab, register
from unjudged.studies.asked import Runs, Scoring, Testing
from unjudged.studies.board import Board, Judged, fill
from unjudged.studies.preparing import Case, cases, columns, provenance, row, stage
from unjudged.studies.verdicts import power_verdict


@register(
    "power",
    help="which measure tells most pairs of runs apart",
    cite="sakai2006",
    figures={"": ("power",), "pairs": ("significance",)},
)
def power(lab: Lab, scoring: Scoring, runs: Runs, testing: Testing, *, pairs: bool = False) -> Result:
    """Which measure tells most pairs of runs apart?

    Every pair of runs is tested (paired bootstrap of Sakai 2006 unless --test says t, wilcoxon or permutation). The
    table ranks the measures by the share of significant pairs and tells the difference in score that is needed for
    significance with this number of topics (bootstrap only). --pairs lists the pairs.
    """
    how = testing.of(runs.seed)
    found: list[tuple[Case, Judged]] = []
    for case in cases(lab, scoring, runs):
        board = Board.of(case, {}, how)
        found.append((case, fill(lab, board, stage(lab, case.name, f"{len(case.runs)} runs"))))
    rows: list[Row] = []
    for case, judged in found:
        rows += _pair_rows(lab, case, judged) if pairs else _measure_rows(lab, case, judged)
    return Result(
        columns(lab, *(PAIRS if pairs else COLUMNS)),
        lambda: rows,
        provenance(lab, [case for case, _ in found], **how.settings()),
        layout=None if pairs else lambda: _table(lab, found),
        figures={"significance": charts.significance} if pairs else {"power": charts.power},
        verdict=power_verdict(found),
        caption=""
        if pairs
        else f"Discriminative power at alpha {how.alpha:g}, and the difference required for significance.",
    )


def _measure_rows(lab: Lab, case: Case, judged: Judged) -> list[Row]:
    rows: list[Row] = []
    for m, measure in enumerate(judged.measures):
        c = judged.compared(0, m)
        values = (str(measure), len(judged.runs), c.pairs, c.significant, c.power, c.required_difference)
        rows.append(row(lab, case.name, values))
    return rows


def _pair_rows(lab: Lab, case: Case, judged: Judged) -> list[Row]:
    assert judged.p_value is not None and judged.difference is not None
    rows: list[Row] = []
    first, second = all_pairs(len(judged.runs))
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    for m, measure in enumerate(judged.measures):
        p, difference = judged.p_value[0, m].tolist(), judged.difference[0, m].tolist()
        for k, (a, b) in enumerate(pairs):
            values = (str(measure), judged.runs[a], judged.runs[b], difference[k], p[k])
            rows.append(row(lab, case.name, (*values, "yes" if p[k] < judged.alpha else "no")))
    return rows


def _table(lab: Lab, found: list[tuple[Case, Judged]]) -> layouts.Table:
    """Table 3 of Sakai 2007: measures by power, the collections side by side."""
    head: list[str] = []
    blocks: list[list[tuple[Any, ...]]] = []
    for case, judged in found:
        head += [case.name if lab.several else "measure", "disc. power", "diff. required"]
        compared = [judged.compared(0, m) for m in range(len(judged.measures))]
        order = sorted(range(len(compared)), key=lambda m: -compared[m].significant)
        shares = [f"{c.significant}/{c.pairs} = {layouts.percent(c.power)}" for c in compared]
        bold = layouts.best([c.power for c in compared], shares)
        needed = [layouts.plain(c.required_difference, 3) for c in compared]
        blocks.append([(str(judged.measures[m]), bold[m], layouts.Shown(needed[m])) for m in order])
    return head, [tuple(cell for part in line for cell in part) for line in zip(*blocks, strict=True)]
