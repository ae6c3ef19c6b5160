"""Where do two runs differ? Their scores topic by topic, the most different topics first."""

from __future__ import annotations

from typing import Any

from unjudged.collection import Collection
from unjudged.errors import UsageError, nearest
from unjudged.figures import Figure, marks, records, theme
from unjudged.measures import Measure
from unjudged.results import Result, Row
from unjudged.scoring import score
from unjudged.studies.engine import Answer, Arrays, Case, UsualScoring, register

COLUMNS = ("topic", "run_a", "run_b", "measure", "a", "b", "difference")


def scored(both: Collection, measure: Measure) -> Arrays:
    """The one work unit: the scores of both runs on every topic."""
    return {"values": score(both, [measure]).values[:, :, 0]}


@register("topics", help="two runs topic by topic, the most different topics first", figures={"": ("topics",)})
def topics(case: Case, scoring: UsualScoring, *, a: Any = None, b: Any = None) -> Answer:
    """Where do two runs differ?

    One row per topic with the score of both runs by the first measure asked, the largest difference first.
    """
    pair = [str(a), str(b)]
    for run in pair:
        if run not in case.runs:
            raise UsageError(f"no run {run!r} in this collection{nearest(run, case.runs)}")
    measure = scoring.chosen(case.collection)[0]
    both = case.collection.with_runs(list(dict.fromkeys(pair))).alone()
    (found,) = case.run(scored, both, [measure], "2 runs")
    values = found["values"]
    rows: list[Row] = [
        (topic, *pair, str(measure), float(values[0, t]), float(values[-1, t]), float(values[0, t] - values[-1, t]))
        for t, topic in enumerate(case.topics)
    ]
    rows.sort(key=lambda row: -abs(row[-1]))  # equal ones stay in the order of the judgments
    return Answer(
        COLUMNS,
        rows,
        figures={"topics": topic_bars},
        caption=f"{measure} of {a} and {b} by topic.",
        settings={**scoring.settings(), "measures": [str(measure)]},
    )


def topic_bars(result: Result) -> Figure:
    """A bar per topic, the largest difference first; to the right where the first run scores higher."""
    rows = records(result)
    first = rows[0] if rows else {"run_a": "", "run_b": "", "measure": ""}
    bars = marks.layer(
        "bar",
        {"color": theme.BLUE, "tooltip": True},
        x=marks.field("difference", title=f"difference in {first['measure']}"),
        y=marks.names("topic", [row["topic"] for row in rows]),
        tooltip=marks.as_it_is("topic", "a", "b", "difference"),
    )
    said = (
        f"Difference in {first['measure']} between {first['run_a']} and {first['run_b']} on {len(rows)} topics; bars "
        f"to the right: {first['run_a']} scores higher."
    )
    return marks.chart(rows, said, bars, width=480, height={"step": 12})
