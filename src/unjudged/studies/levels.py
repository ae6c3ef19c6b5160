"""Fewer judgments, step by step: what depth and reduction share (Sakai 2007, figures 1 to 3; 2009, tables 8 to 10)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unjudged.comparing.significance import Test
from unjudged.figures import levels as charts
from unjudged.results import Result, Row
from unjudged.statistics.exact_sums import exact_mean
from unjudged.studies import layouts
from unjudged.studies._study import Lab
from unjudged.studies.board import Board, Judged, Mask, fill
from unjudged.studies.preparing import Case, columns, provenance, row, stage
from unjudged.studies.verdicts import levels_verdict

FIGURES = {"": ("tau", "power", "mean")}
"""Charts of the studies over levels."""

STATISTICS: tuple[tuple[str, Any], ...] = (
    ("mean", lambda v: f"{v:.4f}"),
    ("tau", layouts.correlation),
    ("power", layouts.percent),
    ("misses", None),
    ("false_alarms", None),
)


@dataclass(frozen=True, eq=False)
class Steps:
    """A collection's filled board, and which condition each (level, repeat) is."""

    case: Case
    judged: Judged
    condition: Mapping[tuple[float, int], int]
    full: str


def fill_levels(lab: Lab, case: Case, masks: Mapping[tuple[float, int], Mask], test: Test, full: str) -> Steps:
    """Score the chosen runs at every level and repeat; equal sets of judgments are scored once."""
    conditions: dict[str, Mask] = {}
    known: dict[bytes, int] = {np.packbits(np.ones(len(case.collection.judgments), bool)).tobytes(): 0}
    place: dict[tuple[float, int], int] = {}
    for (level, repeat), mask in masks.items():
        key = np.packbits(mask).tobytes()
        if key not in known:
            known[key] = len(conditions) + 1
            conditions[f"{level:g}, repeat {repeat}"] = mask
        place[level, repeat] = known[key]
    board = Board.of(case, conditions, test)
    judged = fill(lab, board, stage(lab, case.name, board.size))
    lab.notes += _barren(lab, case, masks)
    return Steps(case, judged, place, full)


def _barren(lab: Lab, case: Case, masks: Mapping[tuple[float, int], Mask]) -> list[str]:
    """Topics that lost every relevant document score 0 for all runs; say where."""
    judgments = case.collection.judgments
    rel = case.scoring.smallest
    some = (judgments.count(rel) > 0) & case.counted
    notes = []
    for (level, repeat), mask in masks.items():
        left = np.bincount(judgments.topic[mask & (judgments.grade >= rel)], minlength=len(some)) > 0
        if repeat == 1 and (lost := int((some & ~left).sum())):
            where = f"{case.name}, " if lab.several else ""
            many = f"{lost} topics" if lost > 1 else "1 topic"
            count = "count" if lost > 1 else "counts"
            notes.append(f"{where}level {level:g}: {many} without a relevant document left {count} 0 for all runs")
    return notes


def levels_result(
    lab: Lab, found: Sequence[Steps], test: Test, *, word: str, repeats: int, redrawn: bool = False, **settings: Any
) -> Result:
    """The table: (level, measure, repeat) -> mean, tau, power, misses, false alarms."""
    rows: list[Row] = []
    for steps in found:
        for (level, repeat), c in steps.condition.items():
            selection = steps.case.selections[repeat - 1]
            for m, measure in enumerate(steps.judged.measures):
                compared = steps.judged.compared(c, m, selection)
                mean = exact_mean(steps.judged.means[c, m, steps.judged.places(selection)])
                tau = steps.judged.tau(c, m, selection)
                values = (level, str(measure), repeat, mean, tau, compared.power)
                rows.append(row(lab, steps.case.name, (*values, compared.misses, compared.false_alarms)))
    names = columns(lab, "level", "measure", "repeat", "mean", "tau", "power", "misses", "false_alarms")
    differ = repeats > 1 and (redrawn or any(steps.case.varied for steps in found))
    laid_out = rows if differ else [r for r in rows if r[names.index("repeat")] == 1]
    return Result(
        names,
        lambda: rows,
        provenance(lab, [steps.case for steps in found], **settings, **test.settings(), repeats=repeats),
        layout=lambda: _table(lab, found, names, laid_out, word),
        figures=charts.level_figures(word),
        verdict=levels_verdict(found, word),
        caption=f"Fewer judgments: mean score, Kendall's tau with the order under all judgments, and significant pairs "
        f"at alpha {test.alpha:g}; bold: the best measure.{layouts.brackets(repeats) if differ else ''}",
    )


def _table(lab: Lab, found: Sequence[Steps], names: Sequence[str], rows: list[Row], word: str) -> layouts.Table:
    """Tables 8 to 10 of Sakai 2009 one under the other: a line per statistic and level, a column per measure."""
    place = {name: i for i, name in enumerate(names)}
    measures = list(dict.fromkeys(r[place["measure"]] for r in rows))
    cells: dict[tuple[Any, ...], dict[str, list[Any]]] = {}
    for r in rows:
        for kind, _ in STATISTICS:
            key = (*r[: place["level"]], kind, r[place["level"]])
            cells.setdefault(key, {}).setdefault(r[place["measure"]], []).append(r[place[kind]])
    table: list[Row] = []
    for steps in found:
        first = (steps.case.name,) if lab.several else ()
        for kind, show in STATISTICS:
            if kind in ("mean", "power"):
                full = _full(steps, kind)
                table.append((*first, kind, steps.full, *_best(kind, [[v] for v in full], show)))
            for key, by_measure in cells.items():
                if key[:-1] == (*first, kind):
                    shown = f"{word}{key[-1]:g}{'' if word else '%'}"
                    if shown == steps.full and kind in ("mean", "power"):
                        continue
                    series = [by_measure[m] for m in measures]
                    table.append((*first, kind.replace("_", " "), shown, *_best(kind, series, show)))
    head = [*(["collection"] if lab.several else []), "", "judgments", *measures]
    return head, table


def _best(kind: str, series: list[list[float]], show: Any) -> list[layouts.Shown]:
    texts = [layouts.spread(values, show or layouts.counts(series)) for values in series]
    if kind == "mean":
        return [layouts.Shown(text) for text in texts]
    means = [float(np.mean(values)) if values else math.nan for values in series]
    return layouts.best(means, texts, smallest=kind in ("misses", "false_alarms"))


def _full(steps: Steps, kind: str) -> list[float]:
    selection = steps.case.selections[0]
    chosen = steps.judged.places(selection)
    if kind == "mean":
        return [exact_mean(steps.judged.means[0, m, chosen]) for m in range(len(steps.judged.measures))]
    return [steps.judged.compared(0, m, selection).power for m in range(len(steps.judged.measures))]
