"""Where do two runs differ? Their scores topic by topic, the most different topics first."""

from __future__ import annotations

from typing import Any

from unjudged.errors import UsageError, nearest
from unjudged.figures import topics as charts
from unjudged.results import Row
from unjudged.scoring import score
from unjudged.studies.engine import Answer, Case, UsualScoring, register

COLUMNS = ("topic", "run_a", "run_b", "measure", "a", "b", "difference")


@register("topics", help="two runs topic by topic, the most different topics first", figures={"": ("topics",)})
def topics(case: Case, scoring: UsualScoring, *, a: Any = None, b: Any = None) -> Answer:
    """Where do two runs differ?

    One row per topic with the score of both runs by the first measure asked, the largest difference first.
    """
    pair = [str(a), str(b)]
    for run in pair:
        if run not in case.runs:
            raise UsageError(f"no run {run!r} in this collection{nearest(run, case.runs)}")
    measure = scoring.chosen()[0]
    scores = score(case.collection.with_runs(list(dict.fromkeys(pair))), [measure])
    values = scores.values[:, :, 0]
    rows: list[Row] = [
        (topic, *pair, str(measure), float(values[0, t]), float(values[-1, t]), float(values[0, t] - values[-1, t]))
        for t, topic in enumerate(case.topics)
    ]
    rows.sort(key=lambda row: -abs(row[-1]))  # equal ones stay in the order of the judgments
    return Answer(
        COLUMNS,
        rows,
        figures={"topics": charts.topics},
        caption=f"{measure} of {a} and {b} by topic.",
        settings={**scoring.settings(), "measures": [str(measure)]},
    )
