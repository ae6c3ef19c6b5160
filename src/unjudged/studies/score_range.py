"""How far could scores move? The lowest and highest score the missing judgments allow, and what is likely."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Collection, Floats, Rankings
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.holes.estimates import Limits
from unjudged.holes.reading import leading_for
from unjudged.measures import Measure, measures
from unjudged.measures.bounds import BOUNDED, NOT_ATTAINED, OUTER
from unjudged.results import Result, Row, Verdict
from unjudged.scoring import score_bounds
from unjudged.statistics.pairs import ZERO, exact_mean
from unjudged.studies.engine import Answer, Arrays, Case, UsualScoring, register, team_of
from unjudged.studies.estimate import estimated
from unjudged.text import counted, listed

COLUMNS = ("run", "team", "value", "low", "high", "width", "estimate", "estimate_low", "estimate_high")
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
    could give: exact bounds (docs/bounds.md). Then what is likely: the score expected with all documents judged and its
    90 % interval, as `unjudged estimate` gives it; empty where it cannot be told (docs/holes.md). The measure is the
    first of those asked that looks at the top of the lists, else nDCG@10; `unjudged score --unjudged bounds` gives the
    bounds of others.
    """
    c = case.collection
    measure = _bounded(scoring, c)
    what = f"{counted(len(c.runs), 'run')} by {measure}"
    (found,) = case.run(bounded, (c, c.rankings, measure), [0], what)
    value, low, high = found["ends"].T
    limits = Limits.of(case.limits["score-range"])
    (likely,) = case.run(estimated, (c, c.rankings, (measure,), limits), [0], f"{what}, estimated")
    order = sorted(range(len(c.runs)), key=lambda r: (-round(float(value[r]), 12), c.runs[r]))
    rows: list[Row] = [
        (
            *(c.runs[r], team_of(c, c.runs[r])),
            *map(float, (value[r], low[r], high[r], high[r] - low[r])),
            *(_told(likely, name, r) for name in ("estimate", "low", "high")),
        )
        for r in order
    ]
    if measure.name in OUTER:
        case.note(f"{measure} has {NOT_ATTAINED}")
    case.note(f"on average a score can move by {exact_mean(high - low):.4f} in {measure}")
    return Answer(
        COLUMNS,
        rows,
        _verdict(case, measure, [c.runs[r] for r in order], found["ends"][order]),
        figures={"range": lambda result: range_bars(result, str(measure))},
        caption=f"Mean {measure} as it is, the lowest and highest that the unjudged documents allow, and what is "
        "expected with all of them judged (90 % interval).",
        settings={**scoring.settings(), "measures": [str(measure)]},
    )


def _told(likely: Arrays, name: str, run: int) -> float | None:
    """A number of the estimate, where it can be told."""
    number = float(likely[name][0, run])
    return None if likely["cannot"][0, run] or np.isnan(number) else number


def _bounded(scoring: UsualScoring, collection: Collection) -> Measure:
    """The first measure that looks at the top of the lists only and can be bounded, else nDCG@10."""
    cut = [(m.params.get("k") or 0, m) for m in scoring.chosen(collection) if m.name in BOUNDED and not m.condensed]
    early = [m for k, m in cut if 0 < k <= EARLY]
    deeper = [m for k, m in cut if EARLY < k <= DEEPEST]
    return next(iter([*early, *deeper]), measures("nDCG@10", scoring.rel)[0])


def _verdict(case: Case, measure: Measure, runs: list[str], ends: Floats) -> Verdict:
    """To how many runs is the first place open? Unknown where none scores anything: there is no first place."""
    limit = case.limits["score-range"]
    now, low, high = ends.T
    if not now.max() > 0:
        return limit.unknown(f"by {measure} every run scores 0, so there is no first place to be lost")
    if len(runs) > 1 and now.max() - now.min() < ZERO:
        return limit.unknown(f"by {measure} all runs have the same score, so there is no first place to be lost")
    first = tuple(run for run, end in zip(runs, high, strict=True) if end >= low.max() - ZERO)
    widest = int(np.argmax(np.round(high - low, 12)))
    width = float(high[widest] - low[widest])
    others = len(first) - 1
    opened = f"missing judgments could put {len(first)} of {counted(len(runs), 'run')} first"
    finding = opened if others else "missing judgments cannot put another run first"
    sentence = f"{finding} by {measure}; {runs[widest]} can move most, by {width:.3f}"
    if 1 < len(first) < len(runs):
        case.note(f"could be first: {listed(first, 8)}")
    value = others / max(len(runs) - 1, 1)
    step = None
    if limit.word(value) != "solid":
        step = case.step(
            "judge the documents that decide who is first",
            "next",
            flags=["-m", leading_for(measure), "--top", "1"],
            effect=f"narrows down the {len(first)} of {len(runs)} runs that could be first",
        )
    few = limit.too_few(runs=len(runs), topics=len(case.topics))
    return limit.verdict(
        sentence,
        value,
        finding=finding,
        whole=len(runs) - 1,
        things="other runs that could be first",
        too_few=few,
        decided_by=first,
        next=step,
    )


def range_bars(result: Result, measure: str) -> Figure:
    """One row per run, best first: a bar from the lowest to the highest score, and a dot at the score as it is."""
    rows = records(result)
    runs = distinct(rows, "run")
    numbers = ((column, ".4f") for column in ("value", "low", "high", "estimate", "estimate_low", "estimate_high"))
    common = {"y": marks.names("run", runs), "tooltip": marks.tips("run", "team", *numbers)}
    dot = {"size": 45, "color": theme.BLUE, "stroke": "white", "strokeWidth": 1, "opacity": 1}
    low, inner = (marks.field(end, title=measure, scale={"zero": False}) for end in ("low", "estimate_low"))
    return marks.chart(
        rows,
        f"Lowest and highest {measure} of {len(runs)} runs that unjudged documents allow, and (dark) what is likely.",
        marks.layer("bar", {"height": 7, "color": theme.SKY}, x=low, x2={"field": "high"}, **common),
        marks.layer("rule", {"strokeWidth": 3, "color": theme.GREY}, x=inner, x2={"field": "estimate_high"}, **common),
        marks.layer("point", dot, x=marks.field("value", title=measure), **common),
        width=480,
        height={"step": 15},
    )
