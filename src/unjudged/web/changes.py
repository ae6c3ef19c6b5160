"""Before and after: what a left-out team, a cut pool or an added run does to scores and ranks."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Collection, Floats
from unjudged.correction import correct
from unjudged.errors import UsageError
from unjudged.reporting import Section, Subject, charts
from unjudged.reporting.section import counted
from unjudged.scoring import score
from unjudged.statistics.correlation import tau_b

KEY, QUESTION = "changes", "What changes?"
CORRECTED = "P@10"
HOW = (
    "Each line is a run: the open circle is its score before, the filled one after the change. A run that was added is "
    "compared with its corrected score: what it would have if it had been in the pool (Lipani, Lupu, Hanbury 2015)."
)


def changes(subject: Subject, before: Subject, whole: Collection, added: list[str]) -> Section:
    """Scores and ranks before and after; `whole` has all runs, `added` are those that came later.

    Where nothing was changed but that runs were added, `subject` is `before`, and their scores are corrected.
    """
    corrected = subject is before
    name = CORRECTED if corrected else subject.main
    if corrected:
        old = score(subject.collection, [CORRECTED], rel=subject.settings.rel).mean_values()[:, 0]
        new, points = _corrected(subject, old, whole, added)
    else:
        old, new, points = before.means(before.main), subject.means(subject.main), []
    ranks = [1 + (values[None, :] > values[:, None] + 1e-12).sum(axis=1) for values in (old, new)]
    rows = [
        (
            run,
            subject.teams[r],
            "added" if run in added else "",
            old[r],
            new[r],
            new[r] - old[r],
            ranks[0][r],
            ranks[1][r],
        )
        for r, run in enumerate(subject.runs)
    ]
    rows.sort(key=lambda row: (row[6], row[0]))
    moved = int((ranks[0] != ranks[1]).sum())
    points.insert(
        0,
        f"By {name} {counted(moved, 'run')} of {len(rows)} change rank (tau {tau_b(old, new):.3f}); the mean score "
        f"goes from {old.mean():.4f} to {new.mean():.4f}.",
    )
    for run in added if corrected else ():
        r = subject.runs.index(run)
        points.append(f"{run}: {old[r]:.4f}, rank {ranks[0][r]}; corrected {new[r]:.4f}, rank {ranks[1][r]}.")
    description = f"{name} of {counted(len(rows), 'run')} before and after"
    y = charts.names("run", [str(row[0]) for row in rows])
    tooltip = charts.tips("run", "team", ("before", ".4f"), ("after", ".4f"), "rank_before", "rank_after")

    def layer(mark: charts.Spec, x: str, x2: str | None = None) -> charts.Spec:
        encoding: charts.Spec = {"x": charts.field(x, title=name, scale={"zero": False}), "y": y, "tooltip": tooltip}
        return {"mark": mark, "encoding": encoding | ({"x2": {"field": x2}} if x2 else {})}

    chart = charts.chart(
        description,
        charts.rows_high(len(rows)),
        layer=[
            layer({"type": "rule", "strokeWidth": 2, "color": charts.GREY}, "before", "after"),
            layer({"type": "point", "filled": False, "color": charts.BLUE, "size": 50}, "before"),
            layer({"type": "point", "filled": True, "color": charts.VERMILION, "opacity": 1, "size": 40}, "after"),
        ],
    )
    columns = ("run", "team", "added", "before", "after", "change", "rank_before", "rank_after")
    return Section(KEY, QUESTION, None, subject.result(columns, rows), HOW, chart, description, points)


def _corrected(subject: Subject, old: Floats, whole: Collection, added: list[str]) -> tuple[Floats, list[str]]:
    """The scores with those of added runs corrected; a sentence where that was not possible."""
    new = old.copy()
    try:
        if subject.pool is None:
            raise UsageError("no pool can be recognised in these judgments")
        pooled = [run for run in subject.pool.runs if run not in added]
        found = correct(
            whole, added, CORRECTED, depth=subject.pool.depth, pooled=pooled, rel=subject.settings.rel, validate=False
        )
        place = found.columns.index("corrected")
        for row in found.rows():
            if row[0] in subject.runs:
                new[subject.runs.index(row[0])] = row[place]
    except UsageError as problem:
        return old.copy(), [f"The added run could not be corrected: {problem}."]
    return np.asarray(new), []
