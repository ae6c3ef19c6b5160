"""What is in it? Counts, grades by topic, and what is odd in the data."""

from __future__ import annotations

import numpy as np

from unjudged.reporting import charts
from unjudged.reporting.file_findings import file_findings
from unjudged.reporting.section import Progress, Section, counted, listed, percent, share, silent
from unjudged.reporting.subject import Subject
from unjudged.results import Verdict

KEY, QUESTION = "contents", "What is in it?"
SHORT = 5
"""With fewer relevant documents, a topic's score hangs on a document or two."""

HOW = (
    "One column per topic, the topic with most relevant documents first; its height is the number of judged "
    "documents, its darker parts the relevant ones by grade. A topic with few relevant documents gives coarse "
    "scores: one document more or less moves them far. A relevant document that no run found in the pool is "
    "missing here: the number of relevant documents is a lower bound, and recall and AP are upper ones."
)


def section(subject: Subject, progress: Progress = silent) -> Section:
    """Count, and look for topics that cannot tell runs apart."""
    c, limit = subject.collection, subject.thresholds[KEY]
    j, rel = c.judgments, subject.settings.rel or 1
    judged = j.grade >= 0
    grades = sorted({int(g) for g in np.unique(j.grade[judged])})
    relevant, total = j.count(rel), j.count(0)
    order = sorted(range(len(c.topics)), key=lambda t: (-relevant[t], c.topics[t]))
    by_grade = {g: j.count(g, g + 1) for g in grades}
    rows = [(c.topics[t], g, int(by_grade[g][t])) for t in order for g in grades]
    barren = [c.topics[t] for t in order if relevant[t] == 0]
    few = [c.topics[t] for t in order if 0 < relevant[t] < SHORT]
    value = share(len(barren), len(c.topics))
    word = "unknown" if subject.too_few else limit.word(value)
    sentence = (
        f"{counted(len(c.topics), 'topic')}, {counted(len(subject.runs), 'run')}"
        + (f" of {counted(len(set(subject.teams)), 'team')}" if c.teams else "")
        + f", {counted(int(total.sum()), 'judgment')}, {percent(share(relevant.sum(), total.sum()))} relevant; "
        + (
            f"{counted(len(barren), 'topic')} without a relevant document."
            if barren
            else "every topic has relevant documents."
        )
    )
    if subject.too_few:
        sentence += f" For more than a first look {subject.too_few}."
    points = [
        f"Per topic {total.mean():.1f} judged documents and {relevant.mean():.1f} relevant ones "
        f"(fewest {relevant.min():.0f}, median {np.median(relevant):.0f}, most {relevant.max():.0f})."
    ]
    if few:
        points.append(f"Fewer than {SHORT} relevant documents: {counted(len(few), 'topic')} ({listed(few)}).")
    points += [f"In the data: {note}." for note in c.notes]
    found = file_findings(c)
    points.append(
        f"The check of the files found {counted(len(found), 'thing') if found else 'nothing'} worth knowing"
        f"{' (below)' if found else ''}; 'unjudged check' reads every line of the runs and may find more."
    )
    description = f"Judged documents of {len(c.topics)} topics by grade"
    chart = charts.chart(
        description,
        220,
        mark={"type": "bar"},
        encoding={
            "x": {
                **charts.names("topic", [c.topics[t] for t in order], "topic"),
                "axis": {**charts.SPARSE, "labels": len(order) <= 60, "labelAngle": -90, "ticks": False},
            },
            "y": charts.field("documents", title="judged documents", stack="zero"),
            "color": charts.field("grade", "ordinal", scale={"scheme": "cividis", "reverse": True}),
            "order": {"field": "grade", "type": "quantitative", "sort": "descending"},
            "tooltip": charts.tips("topic", "grade", "documents"),
        },
    )
    return Section(
        KEY,
        QUESTION,
        Verdict(word, sentence, value, limit.sentence),
        subject.result(("topic", "grade", "documents"), rows),
        HOW,
        chart,
        description,
        points,
        {"topics": len(c.topics), "runs": len(subject.runs), "judgments": float(total.sum())},
        found,
    )
