"""Would another judge change it? The order of the runs under the judgments of somebody else (Voorhees 1998, 2000)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.changes.rejudge import judgments_of, replace_judgments
from unjudged.collection import Collection, Judgments
from unjudged.collection.aligned import align
from unjudged.errors import UsageError
from unjudged.figures import Records, marks, theme
from unjudged.measures import Measure
from unjudged.results import Row, Step, Verdict
from unjudged.scoring import score
from unjudged.statistics.correlation import tau_b
from unjudged.statistics.pairs import exact_mean
from unjudged.statistics.ranks import ranks
from unjudged.studies.engine import Answer, Answers, Case, Chart, Runs, UsualScoring, leading, prepare, register
from unjudged.studies.engine.case import words_of
from unjudged.studies.engine.workdir import Arrays
from unjudged.text import counted

COLUMNS = ("measure", "topics", "runs", "tau", "mean_first", "mean_second")
SIDES = {"this judge": "first", "the other judge": "second"}


def scored(shared: tuple[tuple[Collection, ...], tuple[Measure, ...], npt.NDArray[np.bool_]], side: int) -> Arrays:
    """One work unit: measures x runs, the means under one judge on the topics both have judged."""
    sides, measures, topics = shared
    return {"means": score(sides[side], list(measures)).mean_values(topics).T}


def _drawn_together(answers: Answers) -> dict[str, Chart]:
    """The ranks of all collections, each in its own field."""
    known = [(case.name, *answer.data) for case, answer in answers if answer.data is not None]
    rows = [{"collection": name, **row} for name, _, own in known for row in own]
    return {"ranks": rank_lines(rows, known[0][1])} if known else {}


@register(
    "judges",
    help="the order of the runs under another judge's judgments",
    cite="voorhees1998",
    figures={"": ("ranks",)},
    drawn_together=_drawn_together,
)
def judges(case: Case, scoring: UsualScoring, *, second: Any = None) -> Answer:
    """Would another judge change it?

    The judgments of somebody else, a person or a machine, take the place of these; the runs are scored again on the
    topics both have judged. One row per measure: Kendall's tau between the two orders of the runs, and the mean score
    under either judge. Documents that the other judge has not judged count as unjudged there.
    """
    if second is None:
        raise UsageError("give a second judge: judgments of the same topics by somebody else (--second-judge FILE)")
    setup = prepare(case, scoring, Runs())
    other = judgments_of(second)
    topics = setup.counted & np.isin(np.array(setup.collection.topics), np.array(list(other.topics)))
    shared_topics = [t for t, shared in zip(setup.collection.topics, topics, strict=True) if shared]
    if len(shared_topics) < 2:
        raise UsageError("the second judge needs at least two topics in common with the first")
    after = replace_judgments(setup.collection, other)
    _tell(case, setup.collection, other, shared_topics)
    shared = (setup.collection.alone(), after.alone()), setup.measures, topics
    first, last = (v["means"] for v in case.run(scored, shared, [0, 1], counted(len(setup.runs), "run")))
    taus = [tau_b(x, y) for x, y in zip(first, last, strict=True)]
    names, runs = [str(m) for m in setup.measures], setup.collection.runs
    rows: list[Row] = [
        (name, len(shared_topics), len(runs), tau, exact_mean(first[m]), exact_mean(last[m]))
        for m, (name, tau) in enumerate(zip(names, taus, strict=True))
    ]
    lead = leading(setup.measures)
    places = ranks(first[lead]).tolist(), ranks(last[lead]).tolist()
    moves: Records = [{"run": run, "first": a, "second": b} for run, a, b in zip(runs, *places, strict=True)]
    return Answer(
        COLUMNS,
        rows,
        _verdict(case, names[lead], taus[lead], moves, len(shared_topics), other.source),
        figures={"ranks": rank_lines(moves, names[lead])},
        caption="The runs on the topics both have judged: tau between their orders, and their mean score under either.",
        settings={**setup.settings, "second judge": other.source},
        sources=[other.source],
        data=(names[lead], moves),
    )


def _tell(case: Case, collection: Collection, other: Judgments, topics: list[str]) -> None:
    """Notes: how much both have judged."""
    judged = align([collection.judgments, other], topics).judged
    both, first, second = (int(judged[:, column].all(axis=1).sum()) for column in ([0, 1], [0], [1]))
    told = f"both have judged {counted(len(topics), 'topic')} of {len(collection.topics)}, and there "
    told += counted(both, "document")
    if first > both or second > both:
        told += (
            f"; {first - both:,} more were judged by the first alone and {second - both:,} by the second alone: these "
            "are unjudged under the other judge"
        )
    case.note(told)


def _verdict(case: Case, measure: str, tau: float, moves: Records, topics: int, source: str) -> Verdict:
    """Do the runs keep their order?"""
    limit = case.limits["another-judge"]
    if math.isnan(tau):
        return limit.unknown(f"one of the judges gives all runs the same mean {measure}, so there is no order")
    far = sorted(moves, key=lambda row: (-abs(row["first"] - row["second"]), row["run"]))
    most = abs(far[0]["first"] - far[0]["second"])
    moved = [row["run"] for row in far if row["first"] != row["second"]]
    sentence = (
        f"by {measure} the order of {counted(len(moves), 'run')} under the other judge agrees with this one by tau "
        f"{tau:.3f} on {counted(topics, 'shared topic')}"
    )
    if most:
        sentence += f"; {far[0]['run']} moves most, by {counted(most, 'rank')}"
    step = None
    if limit.word(tau) != "solid":
        files = words_of(case.collection)[0], source
        step = Step("see on which topics the two judges differ", ("qrels", "agree", *files, "--per-topic"))
    few = limit.too_few(runs=len(moves), topics=topics)
    return limit.verdict(sentence, tau, too_few=few, decided_by=tuple(moved[:3]), next=step)


def rank_lines(rows: Records, measure: str) -> Chart:
    """A line per run, from its rank under these judgments to its rank under the other judge's.

    `rows`: run, first, second (ranks), and collection where there are several.
    """
    moved = sum(row["first"] != row["second"] for row in rows)
    points = [
        {**row, "judge": judge, "rank": row[side], "move": "same" if row["first"] == row["second"] else "moved"}
        for row in rows
        for judge, side in SIDES.items()
    ]
    colours = {"domain": ["same", "moved"], "range": [theme.GREY, theme.VERMILION]}
    lines = marks.layer(
        "line",
        {"point": True},
        x=marks.field("judge", "ordinal", title="", sort=list(SIDES), axis={"labelAngle": 0, "title": None}),
        y=marks.rank_axis(max((point["rank"] for point in points), default=1)),
        detail={"field": "run"},
        color=marks.field("move", "nominal", title="rank", scale=colours),
        tooltip=marks.tips("run", "first", "second"),
    )
    said = (
        f"Rank of {len(rows)} runs by {measure} under these judgments and under the other judge's; {moved} change rank."
    )
    return lambda result: marks.chart(points, said, lines, width=260, height=320)
