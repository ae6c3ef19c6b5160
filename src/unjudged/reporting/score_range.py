"""How far could scores move? The lowest and highest score the missing judgments allow."""

from __future__ import annotations

import numpy as np

from unjudged.measures import measures
from unjudged.measures.bounds import BOUNDED, score_bounds
from unjudged.reporting import charts
from unjudged.reporting.section import Progress, Section, counted, listed, share, silent
from unjudged.reporting.subject import Subject
from unjudged.results import Verdict

KEY, QUESTION = "score-range", "How far could scores move?"
HOW = (
    "The dot is the score as it is (unjudged documents count as nonrelevant). The bar runs from the lowest to the "
    "highest score that some judgments of the unjudged documents could give. Both ends are extremes: all unknown "
    "documents would have to be as bad, or as good, as they can be for that one run. A short bar means that no "
    "new judgment can change much."
)


def section(subject: Subject, progress: Progress = silent) -> Section:
    """Exact bounds of the early measure, and who could still be first."""
    limit = subject.thresholds[KEY]
    name = _bounded(subject)
    found = score_bounds(subject.collection, [name], rel=subject.settings.rel)
    name = str(found.measures[0])
    value, low, high = found.mean_values()[:, 0, :].T
    order = sorted(range(len(subject.runs)), key=lambda r: (-round(float(value[r]), 12), subject.runs[r]))
    rows = [(subject.runs[r], subject.teams[r], value[r], low[r], high[r], high[r] - low[r]) for r in order]
    first = [r for r in order if high[r] >= low.max() - 1e-12]
    width = high - low
    widest = int(np.argmax(width))
    part = share(len(first), len(order))
    sentence = (
        f"By {name} the first place is open to {counted(len(first), 'run')} of {len(order)} in the extreme case; "
        f"a score can move by up to {width[widest]:.4f} ({subject.runs[widest]})."
    )
    points = [f"On average a score can move by {width.mean():.4f}."]
    if 1 < len(first) < len(order):
        points.append(f"Could be first: {listed([subject.runs[r] for r in first], 8)}.")
    points.append(
        f"'unjudged score --unjudged bounds' gives the ends for other measures ({', '.join(BOUNDED[:6])}, ...)."
    )
    runs = [subject.runs[r] for r in order]
    description = f"Lowest and highest {name} of {counted(len(runs), 'run')} that unjudged documents allow"
    tooltip = charts.tips("run", "team", ("value", ".4f"), ("low", ".4f"), ("high", ".4f"))
    y = charts.names("run", runs)
    chart = charts.chart(
        description,
        charts.rows_high(len(runs)),
        layer=[
            {
                "mark": {"type": "bar", "height": 7, "color": charts.SKY},
                "encoding": {
                    "x": charts.field("low", title=name, scale={"zero": False}),
                    "x2": {"field": "high"},
                    "y": y,
                    "tooltip": tooltip,
                },
            },
            {
                "mark": {
                    "type": "point",
                    "filled": True,
                    "size": 45,
                    "color": charts.BLUE,
                    "stroke": "white",
                    "strokeWidth": 1,
                    "opacity": 1,
                },
                "encoding": {"x": charts.field("value", title=name), "y": y, "tooltip": tooltip},
            },
        ],
    )
    return Section(
        KEY,
        QUESTION,
        Verdict(limit.word(part), sentence, part, limit.sentence),
        subject.result(("run", "team", "value", "low", "high", "width"), rows, {"measure": name}),
        HOW,
        chart,
        description,
        points,
        {"could be first": len(first), "mean width": float(width.mean())},
    )


def _bounded(subject: Subject) -> str:
    """The first of the report's measures that looks at the top only and can be bounded, else nDCG@10."""
    for name in (subject.early, *subject.names):
        (measure,) = measures(name)
        if measure.name in BOUNDED and not measure.condensed and 0 < (measure.params.get("k") or 0) <= 100:
            return name
    return "nDCG@10"
