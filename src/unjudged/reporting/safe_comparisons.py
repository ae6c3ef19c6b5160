"""Which comparisons are safe? Every pair of runs: told apart by the topics, and not turned by missing judgments."""

from __future__ import annotations

import numpy as np

from unjudged.reporting import charts
from unjudged.reporting.fewer_judgments import half_as_deep
from unjudged.reporting.section import Progress, Section, counted, percent, share, silent
from unjudged.reporting.subject import Subject
from unjudged.results import Verdict
from unjudged.statistics.multiple import holm
from unjudged.statistics.paired import t_test
from unjudged.statistics.pairs import all_pairs

KEY, QUESTION = "safe-comparisons", "Which comparisons are safe?"
MOST = 60
STATES = ("safe", "open", "reversed")
HOW = (
    "A field is a pair of runs, the better one in its row. Safe: a paired test tells the runs apart (Holm over "
    "all pairs), and their order stays the same with half of the pool's depth and if runs outside the pool got "
    "back what outsiders lose here. Reversed: told apart, but one of the two turns the order. Open: not told "
    "apart; more topics are needed."
)


def section(subject: Subject, progress: Progress = silent) -> Section:
    """Test every pair, and see whether judgments could turn it."""
    limit, name = subject.thresholds[KEY], subject.main
    x, means = subject.matrix(name), subject.means(name)
    first, second = all_pairs(len(subject.runs))
    tested = t_test(x, (first, second))
    p_value = holm(tested.p_value)
    half = half_as_deep(subject)
    loss = subject.outside(progress).value
    lifted = means.copy()
    if np.isfinite(loss) and loss < 1:
        lifted[subject.outsiders] /= 1 - max(loss, 0.0)
    rows = []
    counts = dict.fromkeys(STATES, 0)
    for i, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        if means[a] < means[b]:
            a, b = b, a
        told = p_value[i] < subject.settings.alpha
        turned = half[a] < half[b] or lifted[a] < lifted[b]
        state = "open" if not told else "reversed" if turned else "safe"
        counts[state] += 1
        rows.append(
            (
                subject.runs[a],
                subject.runs[b],
                means[a] - means[b],
                half[a] - half[b],
                lifted[a] - lifted[b],
                p_value[i],
                state,
            )
        )
    place = {subject.runs[r]: i for i, r in enumerate(subject.order)}
    rows.sort(key=lambda row: (place[row[0]], place[row[1]]))
    value = share(counts["safe"], len(rows))
    sentence = f"By {name} {counts['safe']:,} of {counted(len(rows), 'pair')} of runs are safe ({percent(value)})"
    sentence += f"; {counts['reversed']:,} are told apart but could turn." if counts["reversed"] else "."
    points = [f"{counts['open']:,} pairs are open: these topics do not tell them apart."]
    neighbours = [row for row in rows if place[row[1]] == place[row[0]] + 1]
    safe = sum(row[-1] == "safe" for row in neighbours)
    points.append(f"Of {counted(len(neighbours), 'pair')} of neighbours in the order, {safe} are safe.")
    runs = [subject.runs[r] for r in subject.order][:MOST]
    if len(subject.runs) > MOST:
        points.append(f"The chart shows the best {MOST} runs; the table and the CSV file have all pairs.")
    description = f"Pairs of {counted(len(runs), 'run')}: safe, open or reversed"
    word, sentence = subject.weighed(limit.word(value), sentence)
    shown = {"filter": {"and": [{"field": "better", "oneOf": runs}, {"field": "other", "oneOf": runs}]}}
    chart = charts.chart(
        description,
        charts.rows_high(len(runs), 200),
        transform=[shown],
        mark={"type": "rect", "stroke": charts.GREY, "strokeWidth": 0.3},
        encoding={
            "x": {
                **charts.names("other", runs, "other run"),
                "axis": {**charts.SPARSE, "labelAngle": -90, "labelLimit": 80},
            },
            "y": charts.names("better", runs, "better run"),
            "color": charts.field(
                "state",
                "nominal",
                title="the pair is",
                scale={"domain": list(STATES), "range": [charts.BLUE, charts.PALE, charts.VERMILION]},
            ),
            "tooltip": charts.tips("better", "other", ("difference", ".4f"), ("p_adjusted", ".4f"), "state"),
        },
    )
    columns = ("better", "other", "difference", "half_depth", "lifted", "p_adjusted", "state")
    return Section(
        KEY,
        QUESTION,
        Verdict(word, sentence, value, limit.sentence),
        subject.result(columns, rows, {"measure": name}),
        HOW,
        chart,
        description,
        points,
        {f"{state} pairs": counts[state] for state in STATES},
    )
