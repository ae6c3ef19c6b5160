"""Leaderboards of other judges held against one of the truth: order of the runs, and decisions where topics are there.

For judges who score whole answers (TREC AutoJudge) there are no judged documents, so labels cannot be compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.errors import UsageError
from unjudged.figures.bars import bars
from unjudged.io.files import judge_name
from unjudged.io.leaderboards import Leaderboard, read_leaderboard
from unjudged.judges.decisions import Changes, decisions, yardstick
from unjudged.judges.order import FIGURES, order_agreement, order_figures
from unjudged.options import check
from unjudged.results import Provenance, Result, Row, Shown
from unjudged.text import counted, percent

Floats = npt.NDArray[np.float64]

COLUMNS = (
    *("judge", "measure", "judge_measure", "runs", "topics"),
    *(f"{figure}{end}" for figure in FIGURES for end in ("", "_low", "_high")),
    *("pairs", "significant_human", "significant_judge", "false_alarms", "misses", "reversals", "changed", "yardstick"),
)
CAPTION = (
    "range: on redrawn topics, no confidence interval. Decisions between two runs by paired t tests (Holm); yardstick: "
    "the share of them that changes with the topics alone."
)


def compare_leaderboards(
    truth: Any,
    others: Any,
    *,
    top: int = 10,
    alpha: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
    call: str = "",
) -> Result:
    """How leaderboards of other judges order the runs of one that is taken as the truth.

    `truth` and `others` are files in the formats `tot` and `jsonl` of AutoJudge ({name: file} or a list of them). One
    row per judge and measure (every pair of measures where no name is shared): tau, tau_AP, overlap and tau of the best
    runs, rank-biased overlap with their ranges on redrawn topics, and, where scores of topics are there, the decisions
    between runs (paired t tests, Holm) that change, beside the yardstick.
    """
    check("alpha", alpha)
    check("seed", seed)
    first = _read(truth)
    named = dict(others) if isinstance(others, Mapping) else _by_name(others)
    if not named:
        raise UsageError("give the leaderboard of at least one other judge")
    rows: list[Row] = []
    notes: list[str] = []
    for name, given in named.items():
        other = _read(given)
        runs = sorted(set(first.runs) & set(other.runs))
        if len(runs) < 2:
            raise UsageError(f"{other.source}: the leaderboards need at least two runs in common, {len(runs)} here")
        if left := len(set(first.runs) ^ set(other.runs)):
            notes.append(f"{name}: {counted(left, 'run')} that only one leaderboard has left out")
        shared = [(m, m) for m in first.measures if m in other.measures]
        for own, theirs in shared or [(a, b) for a in first.measures for b in other.measures]:
            sides = [_matrix(board, m, runs) for board, m in ((first, own), (other, theirs))]
            rows.append((name, own, theirs, len(runs), *_compared(sides, top, alpha, resamples, seed)))
    settings = {"judges": list(named), "alpha": alpha, "resamples": resamples, "top": top}
    provenance = Provenance.of(call, (first.source,), settings, seed)
    charts = {"tau": bars("tau", "judge", "measure", "judge_measure", said="How far each leaderboard agrees (tau)")}
    layout = _laid_out(rows, top)
    return Result(COLUMNS, lambda: rows, provenance, lambda: layout, charts, notes=notes, caption=CAPTION)


def _laid_out(rows: list[Row], top: int) -> tuple[list[str], list[Row]]:
    """What fits on a screen; the other formats have every column."""
    head = ["judge", "measure", "judge's measure", "runs", "topics", "tau", "range", f"tau of top {top}", "range"]
    head += ["significant", "judge's", "false alarms", "misses", "reversals", "changed", "yardstick"]
    body: list[Row] = []
    for row in rows:
        r = dict(zip(COLUMNS, row, strict=True))
        order: list[Any] = []
        for figure in ("tau", "top_tau"):
            low, high = r[f"{figure}_low"], r[f"{figure}_high"]
            order += [r[figure], None if low is None or high is None else f"{low:.2f} to {high:.2f}"]
        counts = [r[c] for c in ("significant_human", "significant_judge", "false_alarms", "misses", "reversals")]
        shares = [None if r[c] is None else Shown(percent(r[c])) for c in ("changed", "yardstick")]
        body.append((*row[:5], *order, *counts, *shares))
    return head, body


def _by_name(given: Any) -> dict[str, Any]:
    boards = list(given) if isinstance(given, (list, tuple)) else [given]
    named = {judge_name(str(board)): board for board in boards}
    if len(named) < len(boards):
        raise UsageError("two leaderboards have the same name; names come from the files")
    return named


def _read(given: Any) -> Leaderboard:
    return given if isinstance(given, Leaderboard) else read_leaderboard(str(given))


def _matrix(board: Leaderboard, measure: str, runs: list[str]) -> dict[str, list[float | None]]:
    """Topic -> a score for each run; under the empty name the scores over all topics."""
    found: dict[str, list[float | None]] = {
        topic: [board.values.get((run, measure, topic)) for run in runs] for topic in sorted(board.topics)
    }
    overall = [board.overall.get((run, measure)) for run in runs]
    if None in overall:
        return found
    return {**found, "": overall}


def _compared(sides: list[dict[str, list[float | None]]], top: int, alpha: float, resamples: int, seed: int) -> Row:
    """Topics, order with ranges, decisions; only the order of the means where no topics are shared."""
    topics = [t for t in sides[0] if t and t in sides[1] and None not in (*sides[0][t], *sides[1][t])]
    if len(topics) < 2:
        means = [side.get("") for side in sides]
        if None in means:
            return (len(topics), *(None,) * (3 * len(FIGURES) + 8))
        point = order_figures(np.array(means[0], float), np.array(means[1], float), top)
        return (len(topics), *(v for value in point for v in (_known(value), None, None)), *(None,) * 8)
    human, other = (np.array([side[t] for t in topics], float) for side in sides)
    values, ranges = order_agreement(human, other, top, resamples, seed)
    changes = Changes.between(decisions(human, alpha), decisions(other, alpha))
    order = [_known(v) for value, ends in zip(values, ranges, strict=True) for v in (value, *ends)]
    counts = [changes.pairs, changes.significant_human, changes.significant_judge, changes.false_alarms]
    counts += [changes.misses, changes.reversals]
    return (len(topics), *order, *counts, changes.changed, yardstick(human, alpha, min(resamples, 200), seed))


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
