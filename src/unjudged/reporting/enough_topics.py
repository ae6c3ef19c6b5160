"""Are there enough topics? How well the order of the runs would hold on other topics of the same kind."""

from __future__ import annotations

import numpy as np

from unjudged.reporting import charts
from unjudged.reporting.section import Progress, Section, counted, silent
from unjudged.reporting.subject import Subject
from unjudged.results import Row, Verdict
from unjudged.statistics.reliability import GStudy, d_study, expected_tau, g_study, topics_for_tau

KEY, QUESTION = "enough-topics", "Are there enough topics?"
OTHERS, MANY = 100, 1000
"""The order is compared with the one on so many other topics."""

HOW = (
    "Each line shows how well the order of the runs on so many topics would agree (Kendall's tau) with their "
    f"order on {OTHERS} other topics of the same kind. It is computed from the share of the scores' variance that "
    "is due to the runs and not to the topics or to chance (reliability, E rho²); the vertical line marks the "
    "topics there are. Where a line is steep there, more topics would help; where it is flat, they would not."
)


def _tau(study: GStudy, topics: int) -> float:
    return expected_tau(study.var_runs, study.var_error, topics, OTHERS)


def section(subject: Subject, progress: Progress = silent) -> Section:
    """Reliability of each measure, and the expected agreement with other topics."""
    limit, here = subject.thresholds[KEY], len(subject.topics)
    numbers = sorted({5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, here})
    studies = {name: g_study(subject.matrix(name)) for name in subject.names}
    rows: list[Row] = []
    for name, study in studies.items():
        for n in numbers:
            found = d_study(study, n, 0.025)
            rows.append((name, n, _tau(study, n), found.erho2, found.erho2_low, found.erho2_high, found.phi))
    main = studies[subject.main]
    value, erho2 = _tau(main, here), d_study(main, here).erho2
    needed = topics_for_tau(main.var_runs, main.var_error, limit.solid, OTHERS)
    more = (
        f"even many more topics would hardly give {limit.solid:g}"
        if needed > MANY
        else f"{limit.solid:g} takes {counted(int(needed), 'topic')}"
    )
    sentence = (
        f"By {subject.main} the order on these {here} topics would agree with the order on {OTHERS} others by tau "
        f"{value:.2f} (reliability {erho2:.2f}); {more}."
    )
    if main.var_runs <= 0:
        sentence = f"By {subject.main} the runs do not differ by more than chance on these {here} topics."
    word, sentence = subject.weighed(limit.word(value), sentence)
    parts = np.array([main.var_runs, main.var_topics, main.var_error])
    shares = parts / parts.sum() if parts.sum() > 0 else parts
    points = [
        f"Of the variance of {subject.main}, {shares[0]:.0%} lies between runs, {shares[1]:.0%} between topics and "
        f"{shares[2]:.0%} in how runs do on single topics."
    ]
    points += [
        f"By {name}: expected tau {_tau(study, here):.2f}, reliability {d_study(study, here).erho2:.2f}."
        for name, study in studies.items()
        if name != subject.main
    ]
    description = f"Expected agreement of the order of runs with {OTHERS} other topics, by number of topics"
    x = charts.field("topics", title="number of topics")
    y = charts.field("expected_tau", title="expected tau", scale={"domain": [0, 1]})
    chart = charts.chart(
        description,
        260,
        layer=[
            {
                "mark": {"type": "line", "point": True, "clip": True},
                "encoding": {
                    "x": x,
                    "y": y,
                    **charts.by_measure(subject.names),
                    "tooltip": charts.tips(
                        "measure", "topics", ("expected_tau", ".3f"), ("erho2", ".3f"), ("phi", ".3f")
                    ),
                },
            },
            *charts.line_at(limit.solid, f"solid from {limit.solid:g}"),
            *charts.line_at(here, f"{here} topics", "x"),
        ],
    )
    columns = ("measure", "topics", "expected_tau", "erho2", "low", "high", "phi")
    return Section(
        KEY,
        QUESTION,
        Verdict(word, sentence, value, limit.sentence),
        subject.result(columns, rows),
        HOW,
        chart,
        description,
        points,
        {"expected tau": value, "erho2": erho2},
    )
