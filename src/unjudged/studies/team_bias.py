"""Team bias: a team's own run under judgments without it, or with it alone (Sakai 2009, tables 3 to 7).

Leave-team-out, leave-run-out and take-team share this: conditions named after teams (or runs), one row per team,
chosen run and measure, and a summary of each condition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unjudged.comparing.significance import Test
from unjudged.figures import bias as charts
from unjudged.results import Result, Row, Verdict
from unjudged.statistics.exact_sums import exact_means
from unjudged.studies import layouts
from unjudged.studies._study import Lab
from unjudged.studies.board import FULL, Board, Judged, Mask, fill
from unjudged.studies.preparing import Case, columns, provenance, row, stage

AVERAGE = "average"
FIGURES = {"": ("changes", "ranks", "spread"), "summary": ("tau", "errors")}
"""Charts of the studies of team bias."""


@dataclass(frozen=True, eq=False)
class Bias:
    """A collection's filled board: whose runs a condition is about, and which conditions stay out of averages."""

    case: Case
    judged: Judged
    owners: Mapping[str, Sequence[str]]
    excluded: frozenset[str]
    extra: tuple[str, ...]

    def own_runs(self, condition: str, selection: Sequence[str]) -> list[str]:
        """The chosen runs a condition is about."""
        chosen = set(selection)
        return [run for run in self.owners.get(condition, ()) if run in chosen]


def chosen_by_team(runs: Sequence[str], team_of: Mapping[str, str]) -> dict[str, list[str]]:
    """The chosen runs of each team that has any, in the teams' order."""
    owners: dict[str, list[str]] = {team: [] for team in team_of.values()}
    for run in runs:
        owners[team_of[run]].append(run)
    return {team: own for team, own in owners.items() if own}


def fill_bias(
    lab: Lab,
    case: Case,
    conditions: Mapping[str, Mask],
    owners: Mapping[str, Sequence[str]],
    *,
    test: Test | None,
    excluded: frozenset[str] = frozenset(),
    extra: Mapping[str, Mask] | None = None,
) -> Bias:
    """Score the chosen runs under every condition (and the extra ones, which are about no run)."""
    board = Board.of(case, {**conditions, **(extra or {})}, test)
    judged = fill(lab, board, stage(lab, case.name, board.size))
    return Bias(case, judged, owners, excluded, tuple(extra or ()))


def change_rows(lab: Lab, found: Sequence[Bias], *, with_excluded: bool) -> list[Row]:
    """(team, its chosen run, measure): score and rank with all judgments and under the condition, and the change."""
    rows: list[Row] = []
    for bias in found:
        judged, case = bias.judged, bias.case
        for repeat, selection in enumerate(case.selections, 1):
            before = [judged.ranks(0, m, selection) for m in range(len(judged.measures))]
            for c, condition in enumerate(judged.conditions):
                own = bias.own_runs(condition, selection)
                after = [judged.ranks(c, m, selection) if own else {} for m in range(len(judged.measures))]
                for run in own:
                    place = int(judged.places([run])[0])
                    for m, measure in enumerate(judged.measures):
                        full, reduced = float(judged.means[0, m, place]), float(judged.means[c, m, place])
                        change = 100 * (reduced - full) / full if full > 0 else math.nan
                        cells = [condition, run, str(measure), full, reduced, change, before[m][run], after[m][run]]
                        if with_excluded:
                            cells.append("yes" if condition in bias.excluded else "no")
                        rows.append(row(lab, case.name, [*cells, repeat]))
    return rows


def summary_rows(lab: Lab, found: Sequence[Bias], *, with_excluded: bool) -> list[Row]:
    """(condition, measure): tau, power, misses and false alarms; `average` leaves the excluded out."""
    rows: list[Row] = []
    for bias in found:
        judged, case = bias.judged, bias.case
        for repeat, selection in enumerate(case.selections, 1):
            taus: dict[int, list[tuple[float, ...]]] = {m: [] for m in range(len(judged.measures))}
            for c, condition in enumerate(judged.conditions):
                if condition not in (FULL, *bias.extra) and not bias.own_runs(condition, selection):
                    continue
                out = condition in bias.excluded
                for m, measure in enumerate(judged.measures):
                    compared = judged.compared(c, m, selection)
                    tau = judged.tau(c, m, selection)
                    values = (tau, compared.power, compared.misses, compared.false_alarms)
                    if condition not in (FULL, *bias.extra) and not out:
                        taus[m].append(values)
                    cells: list[Any] = [condition, str(measure), *values]
                    if with_excluded:
                        cells.append("yes" if out else "no")
                    rows.append(row(lab, case.name, [*cells, repeat]))
            for m, measure in enumerate(judged.measures):
                means = exact_means(np.transpose(taus[m])).tolist() if taus[m] else [math.nan] * 4
                cells = [AVERAGE, str(measure), *means, *(["no"] if with_excluded else [])]
                rows.append(row(lab, case.name, [*cells, repeat]))
    return rows


def bias_result(
    lab: Lab,
    found: Sequence[Bias],
    test: Test,
    *,
    what: str,
    summary: bool,
    with_excluded: bool = False,
    pools: Mapping[str, Any],
    verdict: Verdict,
    caption: str,
    summary_caption: str,
) -> Result:
    """The table of the study: per team and measure, or per condition."""
    tail = ("excluded", "repeat") if with_excluded else ("repeat",)
    if summary:
        names = columns(lab, "condition", "measure", "tau", "power", "misses", "false_alarms", *tail)
        rows = summary_rows(lab, found, with_excluded=with_excluded)
    else:
        names = columns(
            lab, what, "run", "measure", "full", "reduced", "change_pct", "rank_full", "rank_reduced", *tail
        )
        rows = change_rows(lab, found, with_excluded=with_excluded)
    repeats = len(found[0].case.selections)
    differ = any(bias.case.varied for bias in found)
    laid_out = rows if differ else [r for r in rows if r[-1] == 1]  # alike repeats are shown once
    if summary:
        caption = f"{summary_caption}: order of the runs and significant pairs at alpha {test.alpha:g}."
        caption += layouts.brackets(repeats) if differ else ""
    elif differ:
        caption = "Change of score of the runs drawn for a team." + layouts.brackets(repeats)
        caption += " †: no relevant document for some topic, not in averages." * with_excluded
    return Result(
        names,
        lambda: rows,
        provenance(lab, [bias.case for bias in found], pool=pools, **test.settings(), repeats=repeats),
        layout=lambda: _summary_table(names, laid_out) if summary else _change_table(names, laid_out, what),
        figures=charts.summary_figures() if summary else charts.change_figures(what),
        verdict=verdict,
        caption=caption,
    )


def _change_table(names: Sequence[str], rows: list[Row], what: str) -> layouts.Table:
    """Table 3 of Sakai 2009: a line per team and run, `+1.93% 4→4` per measure; rank changes are bold."""
    place = {name: i for i, name in enumerate(names)}
    measures = list(dict.fromkeys(r[place["measure"]] for r in rows))
    lines: dict[tuple[Any, ...], dict[str, list[Row]]] = {}
    repeats = len({r[place["repeat"]] for r in rows})
    for r in rows:
        first = r[: place["run"]] if repeats > 1 else r[: place["measure"]]
        marked = tuple(first)
        if "excluded" in place and r[place["excluded"]] == "yes":
            team = place[what]
            marked = (*first[:team], f"{first[team]}†", *first[team + 1 :])
        lines.setdefault(marked, {}).setdefault(r[place["measure"]], []).append(r)

    def cell(found: list[Row]) -> layouts.Shown:
        if repeats > 1:
            return layouts.Shown(layouts.spread([r[place["change_pct"]] for r in found], layouts.signed_percent))
        (r,) = found
        before, after = r[place["rank_full"]], r[place["rank_reduced"]]
        move = layouts.rank_move(before, after) if before is not None and after is not None else ""
        return layouts.Shown(f"{layouts.signed_percent(r[place['change_pct']])} {move}".strip(), before != after)

    head = [*names[: place["run"] if repeats > 1 else place["measure"]], *measures]
    return head, [(*line, *(cell(cells[m]) for m in measures)) for line, cells in lines.items()]


def _summary_table(names: Sequence[str], rows: list[Row]) -> layouts.Table:
    """Tables 5 to 7 of Sakai 2009: tau, power, misses and false alarms; teams one by one are in the tidy table."""
    place = {name: i for i, name in enumerate(names)}
    measures = list(dict.fromkeys(r[place["measure"]] for r in rows))
    blocks: dict[tuple[Any, ...], dict[str, list[Row]]] = {}
    for r in rows:
        condition = r[place["condition"]]
        if condition in (FULL, AVERAGE) or "+" in condition:
            key = (*r[: place["condition"]], condition)
            blocks.setdefault(key, {}).setdefault(r[place["measure"]], []).append(r)
    kinds = (("tau", layouts.correlation), ("power", layouts.percent), ("misses", None), ("false_alarms", None))
    table: list[Row] = []
    for key, by_measure in blocks.items():
        for kind, show in kinds:
            if key[-1] == FULL and kind != "power":
                continue
            series = [[r[place[kind]] for r in by_measure[m]] for m in measures]
            texts = [layouts.spread(values, show or layouts.counts(series)) for values in series]
            means = [float(np.mean(values)) for values in series]
            smallest = kind in ("misses", "false_alarms")
            table.append((*key, kind.replace("_", " "), *layouts.best(means, texts, smallest=smallest)))
    return [*names[: place["condition"]], "judgments", "", *measures], table
