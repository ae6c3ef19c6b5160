"""What a change of the judgments does to scores and ranks: a collection before and after it."""

from __future__ import annotations

from typing import Any

import numpy as np

from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.figures import Figure, marks, records
from unjudged.measures import Measure
from unjudged.results import Result, Row
from unjudged.scoring import score
from unjudged.statistics.correlation import tau_b
from unjudged.statistics.ranks import ranks
from unjudged.studies.engine import Answer, Arrays, Case, UsualScoring, leading, register
from unjudged.text import counted

COLUMNS = ("run", "team", "before", "after", "change", "rank_before", "rank_after")


def scored(shared: tuple[list[Collection], Measure], side: int) -> Arrays:
    """One work unit: the means of all runs before (0) or after (1)."""
    sides, measure = shared
    return {"means": score(sides[side], [measure]).mean_values()[:, 0]}


@register("change", help="scores and ranks before and after a change of the judgments", figures={"": ("change",)})
def change(case: Case, scoring: UsualScoring, *, before: Any = None) -> Answer:
    """What does a change of the judgments do to scores and ranks?

    `before` is the collection before the change, with the same runs; the table has one row per run, in the order of
    the ranks before.
    """
    if not isinstance(before, Collection):
        raise UsageError("say what the collection was before the change: before=COLLECTION")
    now = case.collection
    if set(now.runs) - set(before.runs):
        raise UsageError("the collection before the change needs the same runs")
    wanted = scoring.chosen(now)
    measure = wanted[leading(wanted)]
    sides = [c.with_runs(now.runs).alone() for c in (before, now)]
    old, new = (value["means"] for value in case.run(scored, (sides, measure), [0, 1], f"{len(now.runs)} runs"))
    first, second = ranks(old), ranks(new)
    rows: list[Row] = [
        (run, now.teams.get(run, run), *map(float, (old[r], new[r], new[r] - old[r])), int(first[r]), int(second[r]))
        for r, run in enumerate(now.runs)
    ]
    rows.sort(key=lambda row: (row[5], row[0]))
    moved = int((first != second).sum())
    alike = f" (tau {tau_b(old, new):.3f})" if len(rows) > 1 else ""
    case.note(
        f"by {measure} {counted(moved, 'run')} of {len(rows)} change rank{alike}; the mean score "
        f"goes from {float(np.mean(old)):.4f} to {float(np.mean(new)):.4f}"
    )
    return Answer(
        COLUMNS,
        rows,
        figures={"change": lambda result: changed_scores(result, str(measure))},
        caption=f"Mean {measure} of each run before and after the change.",
        settings={**scoring.settings(), "measures": [str(measure)]},
    )


def changed_scores(result: Result, measure: str) -> Figure:
    """One row per run, best first before the change: a line from the open to the filled circle."""
    rows = records(result)
    y = marks.names("run", [row["run"] for row in rows])
    tooltip = marks.as_it_is("run", "team", "before", "after", "rank_before", "rank_after")
    said = f"{measure} of {len(rows)} runs before (open) and after (filled) the change."
    layers = marks.before_and_after("before", "after", measure, y=y, tooltip=tooltip)
    return marks.chart(rows, said, *layers, width=480, height={"step": 15})
