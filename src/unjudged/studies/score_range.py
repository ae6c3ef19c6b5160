"""How far could scores move? The lowest and highest score the missing judgments allow, and what is likely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unjudged.collection import Collection, Rankings
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
    90 % interval, as `unjudged estimate` gives it; empty where it cannot be told (docs/holes.md). The verdict asks
    which runs could be first: by what is likely, and by the bounds of a run of which nothing can be told. The measure
    is the first of those asked that looks at the top of the lists, else nDCG@10; `unjudged score --unjudged bounds`
    gives the bounds of others.
    """
    c = case.collection
    measure = _bounded(scoring, c)
    what = f"{counted(len(c.runs), 'run')} by {measure}"
    (found,) = case.run(bounded, (c, c.rankings, measure), [0], what)
    value, low, high = found["ends"].T
    limits = Limits.of(case.limits["score-range"])
    (likely,) = case.run(estimated, (c, c.rankings, (measure,), limits), [case.at_once], f"{what}, estimated")
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
        _verdict(case, measure, rows),
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


@dataclass(frozen=True)
class _Open:
    """The runs that could be first, and how far the run that can move most would move."""

    first: tuple[str, ...]
    widest: str
    width: float

    @classmethod
    def by(cls, runs: Sequence[str], ends: Sequence[tuple[float, float]]) -> _Open:
        """A run could be first where its highest score reaches the lowest score of every other."""
        low, high = np.array(ends).T
        first = tuple(run for run, end in zip(runs, high, strict=True) if end >= low.max() - ZERO)
        widest = int(np.argmax(np.round(high - low, 12)))
        return cls(first, runs[widest], float(high[widest] - low[widest]))


def _verdict(case: Case, measure: Measure, rows: Sequence[Row]) -> Verdict:
    """To how many runs is the first place open? Unknown where none scores anything: there is no first place."""
    limit = case.limits["score-range"]
    by_name = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    runs, scores = [row["run"] for row in by_name], [row["value"] for row in by_name]
    if not max(scores) > 0:
        return limit.unknown(f"by {measure} every run scores 0, so there is no first place to be lost")
    if len(runs) > 1 and max(scores) - min(scores) < ZERO:
        return limit.unknown(f"by {measure} all runs have the same score, so there is no first place to be lost")
    bounds = [(row["low"], row["high"]) for row in by_name]
    told = [row["estimate_low"] is not None for row in by_name]
    likely = [
        (row["estimate_low"], row["estimate_high"]) if row["estimate_low"] is not None else None for row in by_name
    ]
    possible = _Open.by(runs, bounds)
    found = _Open.by(runs, [end if end is not None else bound for end, bound in zip(likely, bounds, strict=True)])
    number, of = len(found.first), counted(len(runs), "run")
    if number > 1:
        finding = f"with all documents judged, {number} of {of} could be first by {measure}"
    else:
        finding = f"missing judgments are not likely to cost {found.first[0]} the first place by {measure}"
    if possible.first == (found.first[0],):
        finding = f"missing judgments cannot put another run first by {measure}"
    extreme = ""
    if len(possible.first) > number:
        extreme = f", in the extreme case {len(possible.first)}"
        extreme = extreme if number > 1 else f"{extreme} of {of} could be first"
    width = f"{found.width:.3f}"
    moves = f"; {found.widest} can move most, by {width}" if float(width) > 0 else ""
    sentence = f"{finding}{extreme}{moves}"
    if 1 < number < len(runs):
        case.note(f"could be first: {listed(found.first, 8)}")
    if not all(told):
        case.note(f"no estimate of {counted(told.count(False), 'run')}: there the bounds count")
    value = (number - 1) / max(len(runs) - 1, 1)
    step = None
    if limit.word(value) != "solid":
        step = case.step(
            "judge the documents that decide who is first",
            "next",
            flags=["-m", leading_for(measure), "--top", "1"],
            effect=f"narrows down the {number} of {len(runs)} runs that could be first",
        )
    few = limit.too_few(runs=len(runs), topics=len(case.topics))
    return limit.verdict(
        sentence,
        value,
        finding=finding,
        whole=len(runs) - 1,
        things="other runs that could be first",
        too_few=few,
        decided_by=found.first,
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
