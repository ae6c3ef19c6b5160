"""What is in a collection: topics, runs, judgments by grade, and what is odd in the data."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Collection, Floats, Judgments
from unjudged.figures import Figure, distinct, marks, records
from unjudged.results import Result, Row, Verdict
from unjudged.studies.engine import Answer, Arrays, Case, register
from unjudged.studies.findings import file_findings
from unjudged.text import counted, listed, percent

NAMED = 60
"""So many topics can be named under their columns in the chart."""


def by_grade(judgments: Judgments, unit: int) -> Arrays:
    """The one work unit: the grades there are, and the judged documents of every topic by grade."""
    grades = np.unique(judgments.grade[judgments.grade >= 0])
    each = [judgments.count(int(grade), int(grade) + 1) for grade in grades]
    return {"grade": grades, "documents": np.array(each).reshape(len(grades), len(judgments.topics))}


@register("contents", help="topics, runs, judgments by grade, and what is odd in the data", figures={"": ("contents",)})
def contents(case: Case, *, rel: int | None = None) -> Answer:
    """What is in this collection?

    Judged documents of every topic by grade, the topic with most relevant documents first. The notes tell the topics
    with few relevant documents, what was noticed when the files were read, and what `unjudged check` finds without
    reading the lines of the runs again. The verdict looks at topics without a relevant document, which add nothing to
    a score.
    """
    collection, smallest = case.collection, 1 if rel is None else rel
    (found,) = case.run(by_grade, collection.judgments, [0], f"{len(case.topics)} topics")
    grades, documents = found["grade"].tolist(), found["documents"]
    relevant = documents[[grade >= smallest for grade in grades]].sum(axis=0)
    order = sorted(range(len(case.topics)), key=lambda t: (-relevant[t], case.topics[t]))
    rows: list[Row] = [(case.topics[t], grade, int(documents[g, t])) for t in order for g, grade in enumerate(grades)]
    few = [case.topics[t] for t in order if 0 < relevant[t] < case.limits["contents"]["few_relevant"]]
    _tell(case, collection, few)
    return Answer(
        ("topic", "grade", "documents"),
        rows,
        _verdict(case, collection, documents.sum(axis=0), relevant, [case.topics[t] for t in order]),
        figures={"contents": grade_columns},
        caption="Judged documents by topic and grade.",
        about=f"Per topic {documents.sum(axis=0).mean():.1f} judged documents and {relevant.mean():.1f} relevant ones "
        f"(fewest {relevant.min():.0f}, median {np.median(relevant):.0f}, most {relevant.max():.0f}).",
        settings={**collection.settings, "rel": smallest},
    )


def _tell(case: Case, collection: Collection, few: list[str]) -> None:
    """Notes: topics with few relevant documents, what was noticed while reading, and what the check of files finds."""
    if few:
        least = case.limits["contents"]["few_relevant"]
        case.note(f"{counted(len(few), 'topic')} with fewer than {least:g} relevant documents: {listed(few)}")
    nothing = "the check of the files found nothing; 'unjudged check' reads every line of the runs and may find more"
    for note in (*collection.notes, *(file_findings(collection) or [nothing])):
        case.note(note)


def _verdict(case: Case, collection: Collection, judged: Floats, relevant: Floats, topics: list[str]) -> Verdict:
    limit = case.limits["contents"]
    barren = [topic for topic in topics if relevant[case.topics.index(topic)] == 0]
    teams = len({collection.teams.get(run, run) for run in case.runs})
    sentence = (
        f"{counted(len(case.topics), 'topic')}, {counted(len(case.runs), 'run')}"
        + (f" of {counted(teams, 'team')}" if collection.teams else "")
        + f", {counted(int(judged.sum()), 'judgment')}, {percent(relevant.sum() / max(judged.sum(), 1))} relevant; "
        + (
            f"{counted(len(barren), 'topic')} without a relevant document ({listed(barren)})"
            if barren
            else "every topic has relevant documents"
        )
    )
    few = limit.too_few(topics=len(case.topics), runs=len(case.runs))
    if not few and not len(collection.hits.row):
        few = "no run returns a judged document"
    drop = case.step(
        "leave topics without a relevant document out of the means",
        "score",
        flags=["--undefined", "drop"],
        effect=f"means over {len(case.topics) - len(barren)} topics instead of {len(case.topics)}",
    )
    value = len(barren) / max(len(case.topics), 1)
    many = f"{int(relevant.sum()):,} of {counted(int(judged.sum()), 'judged document')} are relevant"
    empty = f"{counted(len(barren), 'topic')} without any" if barren else "no topic is empty"
    return limit.verdict(
        sentence,
        value,
        finding=f"{many}; {empty}",
        whole=len(case.topics),
        things="topics without a relevant document",
        too_few=few,
        decided_by=tuple(barren),
        next=drop if barren else None,
    )


def grade_columns(result: Result) -> Figure:
    """A column per topic: its judged documents by grade; the topic with most relevant documents first."""
    rows = records(result)
    topics = distinct(rows, "topic")
    axis = {**marks.SPARSE, "labels": len(topics) <= NAMED, "labelAngle": -90, "ticks": False}
    column = marks.layer(
        "bar",
        x={**marks.names("topic", topics, "topic"), "axis": axis},
        y=marks.field("documents", title="judged documents", stack="zero"),
        color=marks.field("grade", "ordinal", scale={"scheme": "cividis", "reverse": True}),
        order={"field": "grade", "type": "quantitative", "sort": "descending"},
        tooltip=marks.tips("topic", "grade", "documents"),
    )
    said = f"Judged documents of {len(topics)} topics by grade, the topic with most relevant ones first."
    return marks.chart(rows, said, column, width=640, height=220)
