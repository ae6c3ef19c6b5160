"""Charts of scores: how a run's topics spread, each topic on its own, runs against a baseline, and how far means could
move."""

from __future__ import annotations

from typing import Any

from unjudged.errors import UsageError, nearest, some
from unjudged.figures import marks, theme
from unjudged.figures._figure import Figure
from unjudged.results import Result

MOST_RUNS = 20
"""Runs shown, those with the highest means."""
MOST_AGAINST = 7
"""Runs drawn against a baseline: as many as there are colours to tell them apart."""
CHARTS = ("box", "topics", "scatter")


def chart(scores: Result, name: str | None = None, baseline: str | None = None) -> Figure:
    """One of CHARTS of the rows run, topic, measure, value (`all` is the mean); with a baseline the last one."""
    if name is not None and name not in CHARTS:
        raise UsageError(f"no chart {name!r}{nearest(name, CHARTS)}; there are {', '.join(CHARTS)}")
    rows = [dict(zip(scores.columns, row, strict=True)) for row in scores.rows()]
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    means = {row["run"]: row["value"] for row in rows if row["topic"] == "all" and row["measure"] == measures[0]}
    runs = sorted(means, key=lambda run: -means[run])
    points = [row for row in rows if row["topic"] != "all"]
    if not points:
        raise UsageError("the scores of single topics are not here (per_topic=False), so there is nothing to draw")
    if name == "scatter" or (name is None and baseline is not None):
        return _against(points, measures, runs, runs[-1] if baseline is None else baseline)
    return _spread(points, measures, runs, boxes=name != "topics")


def ranges(bounds: Result, name: str | None = None) -> Figure:
    """The means of the rows run, topic, measure, value, low, high: a bar for what is possible, a dot at the score."""
    if name not in (None, "range"):
        raise UsageError(f"no chart {name!r}; there is range")
    rows = [
        row for row in (dict(zip(bounds.columns, row, strict=True)) for row in bounds.rows()) if row["topic"] == "all"
    ]
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    means = {row["run"]: row["value"] for row in rows if row["measure"] == measures[0]}
    runs = sorted(means, key=lambda run: -means[run])
    kept = runs[:MOST_RUNS]
    more = f" Of {len(runs)} runs the best {MOST_RUNS} are shown." if len(runs) > MOST_RUNS else ""
    common = {"y": marks.names("run", kept), "tooltip": marks.as_it_is("run", "measure", "value", "low", "high")}
    dot = {"size": 45, "color": theme.BLUE, "stroke": "white", "strokeWidth": 1, "opacity": 1}
    low, value = (
        marks.field(end, title="mean score", scale={"zero": False}, axis={"tickCount": 5}) for end in ("low", "value")
    )
    return marks.panels(
        [row for row in rows if row["run"] in kept],
        f"What {len(kept)} runs score, and the lowest and highest mean that the missing judgments allow, best first by "
        f"{measures[0]}.{more}",
        marks.names("measure", measures),
        marks.layer("bar", {"height": 7, "color": theme.SKY}, x=low, x2={"field": "high"}, **common),
        marks.layer("point", dot, x=value, **common),
        width=260,
        height={"step": 18},
    )


def _spread(points: list[dict[str, Any]], measures: list[str], runs: list[str], boxes: bool) -> Figure:
    """A box, or a mark per topic, for each run, best first."""
    kept = runs[:MOST_RUNS]
    x, y = marks.field("value", title="score of a topic"), marks.names("run", kept)
    look = {"extent": 1.5, "color": theme.BLUE} if boxes else {"color": theme.BLUE, "opacity": 0.6}
    shown = "The spread over topics" if boxes else "Every topic's score"
    more = f" Of {len(runs)} runs the best {MOST_RUNS} are shown." if len(runs) > MOST_RUNS else ""
    tooltip = {} if boxes else {"tooltip": marks.as_it_is("run", "topic", "measure", "value")}
    return marks.panels(
        [row for row in points if row["run"] in kept],
        f"{shown} of {len(kept)} runs, best first by {measures[0]}.{more}",
        marks.names("measure", measures),
        marks.layer("boxplot" if boxes else "tick", look, x=x, y=y, **tooltip),
        width=260,
        height={"step": 18},
    )


def _against(points: list[dict[str, Any]], measures: list[str], runs: list[str], baseline: str) -> Figure:
    """A point per topic: the baseline's score and the run's; above the line the run is better."""
    if baseline not in runs:
        raise UsageError(f"no run {baseline!r}{nearest(baseline, runs)}; there are {some(runs)}")
    base = {(row["topic"], row["measure"]): row["value"] for row in points if row["run"] == baseline}
    kept = [run for run in runs if run != baseline][:MOST_AGAINST]
    rows = [
        {**row, "baseline": base[row["topic"], row["measure"]]}
        for row in points
        if row["run"] in kept and (row["topic"], row["measure"]) in base
    ]
    won = sum(row["value"] > row["baseline"] for row in rows if row["measure"] == measures[0])
    here = sum(row["measure"] == measures[0] for row in rows)
    x, y = marks.field("baseline", title=baseline), marks.field("value", title="the run")
    same = {"x": {**x, "field": "baseline"}, "y": {**y, "field": "baseline"}}
    colour = {"color": {"field": "run", "type": "nominal", "sort": kept}} if len(kept) > 1 else {}
    look = {"opacity": 0.7} if colour else {"opacity": 0.7, "color": theme.BLUE}
    return marks.panels(
        rows,
        f"Topics of {len(kept)} runs against {baseline}; by {measures[0]} {won} of {here} points lie above the line.",
        marks.names("measure", measures),
        marks.layer("line", {"color": theme.quiet()}, **same),
        marks.layer("point", look, x=x, y=y, tooltip=marks.as_it_is("run", "topic", "baseline", "value"), **colour),
        width=260,
        height=260,
    )
