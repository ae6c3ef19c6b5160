"""How far could scores move? The lowest and highest score the missing judgments allow."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Collection, Floats, Rankings
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.measures import Measure, measures
from unjudged.measures.bounds import BOUNDED
from unjudged.results import Result, Row, Verdict
from unjudged.scoring import score_bounds
from unjudged.statistics.pairs import ZERO, exact_mean
from unjudged.studies.engine import Answer, Arrays, Case, UsualScoring, register, team_of
from unjudged.text import counted, listed

COLUMNS = ("run", "team", "value", "low", "high", "width")
EARLY, DEEPEST = 20, 100
"""Cut-offs up to which a measure looks at the top of the lists alone, and up to which its bounds are quick to find."""


def bounded(shared: tuple[Collection, Rankings, Measure], unit: int) -> Arrays:
    """The one work unit: runs x (value, low, high), means over the topics.

    The full lists say which unjudged documents there are, so that they belong to the inputs.
    """
    collection, _, measure = shared
    return {"ends": score_bounds(collection, [measure]).mean_values()[:, 0, :]}


@register("score-range", help="lowest and highest score the missing judgments allow", figures={"": ("range",)})
def score_range(case: Case, scoring: UsualScoring) -> Answer:
    """How far could scores move?

    For every run the mean score as it is, and the lowest and highest mean that some judgments of its unjudged documents
    could give: exact bounds (docs/bounds.md). The measure is the first of those asked that looks at the top of the
    lists, else nDCG@10; `unjudged score --unjudged bounds` gives the bounds of others.
    """
    c = case.collection
    measure = _bounded(scoring, c)
    (found,) = case.run(bounded, (c, c.rankings, measure), [0], f"{counted(len(c.runs), 'run')} by {measure}")
    value, low, high = found["ends"].T
    order = sorted(range(len(c.runs)), key=lambda r: (-round(float(value[r]), 12), c.runs[r]))
    rows: list[Row] = [
        (c.runs[r], team_of(c, c.runs[r]), *map(float, (value[r], low[r], high[r], high[r] - low[r]))) for r in order
    ]
    case.note(f"on average a score can move by {exact_mean(high - low):.4f} in {measure}")
    return Answer(
        COLUMNS,
        rows,
        _verdict(case, str(measure), [c.runs[r] for r in order], low[order], high[order]),
        figures={"range": lambda result: range_bars(result, str(measure))},
        caption=f"Mean {measure} as it is, and the lowest and highest that the unjudged documents allow.",
        settings={**scoring.settings(), "measures": [str(measure)]},
    )


def _bounded(scoring: UsualScoring, collection: Collection) -> Measure:
    """The first measure that looks at the top of the lists only and can be bounded, else nDCG@10."""
    cut = [(m.params.get("k") or 0, m) for m in scoring.chosen(collection) if m.name in BOUNDED and not m.condensed]
    early = [m for k, m in cut if 0 < k <= EARLY]
    deeper = [m for k, m in cut if EARLY < k <= DEEPEST]
    return next(iter([*early, *deeper]), measures("nDCG@10", scoring.rel)[0])


def _verdict(case: Case, measure: str, runs: list[str], low: Floats, high: Floats) -> Verdict:
    """To how many runs is the first place open?"""
    limit = case.limits["score-range"]
    if not high.max() > 0:
        return limit.unknown(f"by {measure} every run scores 0, whatever the unjudged documents are")
    first = tuple(run for run, end in zip(runs, high, strict=True) if end >= low.max() - ZERO)
    widest = int(np.argmax(np.round(high - low, 12)))
    width = float(high[widest] - low[widest])
    sentence = (
        f"by {measure} the first place is open to {counted(len(first), 'run')} of {len(runs)} in the extreme case; "
        f"a score can move by up to {width:.4f} ({runs[widest]})"
    )
    if 1 < len(first) < len(runs):
        case.note(f"could be first: {listed(first, 8)}")
    value = (len(first) - 1) / max(len(runs) - 1, 1)
    step = None
    if limit.word(value) != "solid":
        step = case.step("see where the unjudged documents stand", "study", "never-judged")
    few = limit.too_few(runs=len(runs), topics=len(case.topics))
    return limit.verdict(sentence, value, too_few=few, decided_by=first, next=step)


def range_bars(result: Result, measure: str) -> Figure:
    """One row per run, best first: a bar from the lowest to the highest score, and a dot at the score as it is."""
    rows = records(result)
    runs = distinct(rows, "run")
    numbers = ((column, ".4f") for column in ("value", "low", "high"))
    common = {"y": marks.names("run", runs), "tooltip": marks.tips("run", "team", *numbers)}
    dot = {"size": 45, "color": theme.BLUE, "stroke": "white", "strokeWidth": 1, "opacity": 1}
    low = marks.field("low", title=measure, scale={"zero": False})
    return marks.chart(
        rows,
        f"Lowest and highest {measure} of {len(runs)} runs that unjudged documents allow.",
        marks.layer("bar", {"height": 7, "color": theme.SKY}, x=low, x2={"field": "high"}, **common),
        marks.layer("point", dot, x=marks.field("value", title=measure), **common),
        width=480,
        height={"step": 15},
    )
