"""Who wins, and how sure is that? Means with intervals, and which runs cannot be told apart from the best."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Floats
from unjudged.reporting import charts
from unjudged.reporting.section import Progress, Section, counted, listed, share, silent
from unjudged.reporting.subject import Subject
from unjudged.results import Verdict
from unjudged.statistics.multiple import holm
from unjudged.statistics.paired import t_test

KEY, QUESTION = "winners", "Who wins, and how sure is that?"
HOW = (
    "A dot is a run's mean over the topics, the line its 95 % interval: where the mean may lie on other topics of "
    "the same kind. Intervals of two runs may overlap although the runs differ, for topics that are hard for one "
    "are hard for the other; colour and table therefore rest on paired tests against the best run, corrected for "
    "their number (Holm). 'Not told apart' means these topics cannot tell, not that the runs are equal."
)


def section(subject: Subject, progress: Progress = silent) -> Section:
    """Rank the runs by the main measure and test each against the best."""
    limit, name = subject.thresholds[KEY], subject.main
    x = subject.matrix(name)
    means, order = subject.means(name), subject.order
    best = order[0]
    half = _half_width(x)
    p_value = _against(x, best)
    open_ = [r for r in order if r == best or p_value[r] >= subject.settings.alpha]
    state = {r: "best" if r == best else "not told apart" if r in set(open_) else "worse" for r in order}
    rank = {r: 1 + int((means > means[r] + 1e-12).sum()) for r in order}
    rows = [
        (
            rank[r],
            subject.runs[r],
            subject.teams[r],
            means[r],
            means[r] - half[r],
            means[r] + half[r],
            p_value[r],
            state[r],
        )
        for r in order
    ]
    value = share(len(open_), len(order))
    if len(open_) == len(order):
        sentence = f"By {name} no run can be told apart from the best one, {subject.runs[best]}."
    elif len(open_) == 1:
        sentence = f"By {name} the best run, {subject.runs[best]} ({means[best]:.4f}), is told apart from all others."
    else:
        sentence = (
            f"By {name} the best {len(open_)} of {counted(len(order), 'run')} cannot be told apart; "
            f"{subject.runs[best]} leads with {means[best]:.4f}."
        )
    word = "unknown" if len(subject.topics) < subject.thresholds.topics else limit.word(value)
    if held := _held_down(subject, float(means[best])):
        word = "with care" if word == "solid" else word
        sentence = (
            f"{sentence[:-1]}; {counted(len(held), 'run')} outside the pool could be first if outsiders lost nothing."
        )
    points = []
    for other in subject.names[1:]:
        top = int(np.argmax(subject.means(other)))
        if top != best:
            points.append(f"By {other} another run leads: {subject.runs[top]} ({subject.means(other)[top]:.4f}).")
    if len(open_) > 1:
        points.append(f"Not told apart from the best: {listed([subject.runs[r] for r in open_[1:]], 8)}.")
    runs = [subject.runs[r] for r in order]
    description = f"Mean {name} of {counted(len(order), 'run')} with 95 % intervals, best first"
    colour = charts.field(
        "against_best",
        "nominal",
        title="against the best",
        scale={"domain": ["best", "not told apart", "worse"], "range": [charts.VERMILION, charts.ORANGE, charts.BLUE]},
    )
    y = charts.names("run", runs)
    tooltip = charts.tips(
        "run", "team", ("value", ".4f"), ("low", ".4f"), ("high", ".4f"), ("p_adjusted", ".4f"), "against_best"
    )
    shape = {**colour, "scale": {"domain": colour["scale"]["domain"], "range": ["diamond", "circle", "square"]}}
    chart = charts.chart(
        description,
        charts.rows_high(len(order)),
        layer=[
            {
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.6},
                "encoding": {
                    "x": charts.field("low", title=name, scale={"zero": False}),
                    "x2": {"field": "high"},
                    "y": y,
                    "color": colour,
                    "tooltip": tooltip,
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                "encoding": {
                    "x": charts.field("value", title=name),
                    "y": y,
                    "color": colour,
                    "shape": shape,
                    "tooltip": tooltip,
                },
            },
        ],
    )
    columns = ("rank", "run", "team", "value", "low", "high", "p_adjusted", "against_best")
    return Section(
        KEY,
        QUESTION,
        Verdict(word, sentence, value, limit.sentence),
        subject.result(columns, rows, {"measure": name}),
        HOW,
        chart,
        description,
        points,
        {"not told apart": len(open_)},
    )


def _held_down(subject: Subject, best: float) -> list[int]:
    """Runs outside the pool that would pass the best one if they got back what outsiders lose here."""
    loss = subject.outside().value
    if not 0 < loss < 1:
        return []
    means = subject.means(subject.main)
    return [r for r in subject.outsiders if means[r] < best < means[r] / (1 - loss)]


def _half_width(x: Floats) -> Floats:
    """Half of the 95 % t interval of each column's mean."""
    from scipy import stats

    n = len(x)
    width: Floats = stats.t.ppf(0.975, n - 1) * x.std(axis=0, ddof=1) / np.sqrt(n)
    return width


def _against(x: Floats, best: int) -> Floats:
    """Paired t tests of every run against one, adjusted by Holm; 1 for the run itself."""
    others = np.array([r for r in range(x.shape[1]) if r != best])
    out = np.ones(x.shape[1])
    out[others] = holm(t_test(x, (np.full(len(others), best), others)).p_value)
    return out
