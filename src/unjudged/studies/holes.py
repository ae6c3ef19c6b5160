"""How much was never judged? The share of unjudged documents by run and rank."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Collection, Floats
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.holes.lists import unjudged_documents
from unjudged.measures import Measure
from unjudged.results import Result, Row, Verdict
from unjudged.scoring import score
from unjudged.statistics.pairs import ZERO, exact_mean
from unjudged.studies.engine import Answer, Arrays, Case, Unanswerable, UsualScoring, leading, register, team_of
from unjudged.text import counted, percent

COLUMNS = ("run", "team", "ranks", "documents", "unjudged", "share_unjudged")
EDGES = (0, 1, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Where ranges of ranks begin."""


def looked_at(shared: tuple[Collection, Measure], ranges: tuple[tuple[int, int], ...]) -> Arrays:
    """The one work unit: ranges x runs, documents there and unjudged ones; and the means that order the runs."""
    collection, measure = shared
    counts = [unjudged_documents(collection, low, high) for low, high in ranges]
    means = score(collection, [measure]).mean_values()[:, 0]
    return {"documents": np.stack([n for n, _ in counts]), "unjudged": np.stack([n for _, n in counts]), "mean": means}


@register(
    "holes",
    help="unjudged documents by run and rank",
    figures={"": ("holes",)},
    columns=COLUMNS,
    limit="never-judged",
)
def holes(case: Case, scoring: UsualScoring) -> Answer:
    """How much was never judged?

    One row per run and range of ranks: the documents there over all topics, how many of them were never judged, and
    their share. The best run by the first measure stands first. Scores count unjudged documents as nonrelevant, so a
    run with many of them at the top may score too low.
    """
    if case.collection.judgments.group is not None:
        raise Unanswerable("answers outside the classes are wrong, not unjudged, so there are no holes in their lists")
    c = case.collection
    wanted = scoring.chosen(c)
    measure = wanted[leading(wanted)]
    limit = case.limits["never-judged"]
    top, longest = int(limit["top"]), int(c.hits.length.max(initial=1))
    edges = [edge for edge in EDGES if edge < longest]
    ranges = list(zip(edges, [*edges[1:], longest], strict=True))
    units = [(*ranges, (0, top), (0, max(longest, 1)))]
    (value,) = case.run(looked_at, (c.alone(), measure), units, counted(len(c.runs), "run"))
    documents, unjudged, means = value["documents"], value["unjudged"], value["mean"]
    order = sorted(range(len(c.runs)), key=lambda r: (-round(float(means[r]), 12), c.runs[r]))
    rows: list[Row] = []
    for i, (low, high) in enumerate(ranges):
        name = f"{high}" if high == low + 1 else f"{low + 1}-{high}"
        for r in order:
            found, missing = int(documents[i, r]), int(unjudged[i, r])
            share = missing / found if found else None
            rows.append((c.runs[r], team_of(c, c.runs[r]), name, found, missing, share))
    shares = unjudged[-2:] / np.maximum(documents[-2:], 1)
    everything = float(unjudged[-1].sum() / max(documents[-1].sum(), 1))
    case.note(
        f"of the first {top} documents {percent(1 - exact_mean(shares[0]))} were judged on average, of whole lists "
        f"{percent(1 - everything)}"
    )
    return Answer(
        COLUMNS,
        rows,
        _verdict(case, measure, [c.runs[r] for r in order], shares[0][order], bool(means.max(initial=0.0) > 0)),
        figures={"holes": hole_map},
        caption=f"Documents of each run by rank, over all topics; the best run by {measure} stands first.",
        settings={**scoring.settings(), "measures": [str(measure)]},
    )


def _verdict(case: Case, measure: Measure, runs: list[str], at_top: Floats, scoring: bool) -> Verdict:
    """How many runs have holes at the top? Unknown where no run scores anything: there is nothing to trust."""
    limit = case.limits["never-judged"]
    top, much = int(limit["top"]), limit["much"]
    dark = tuple(run for run, share in zip(runs, at_top, strict=True) if share > much + ZERO)
    worst = int(np.argmax(at_top))
    runs_have, its = ("no run has", "its")
    if dark:
        runs_have = f"{len(dark)} of {counted(len(runs), 'run')} {'has' if len(dark) == 1 else 'have'}"
        its = "its" if len(dark) == 1 else "their"
    many = f"{much * top:g} unjudged document{'' if much * top == 1 else 's'}"
    sentence = f"{runs_have} more than {percent(much)} of {its} top {top} unjudged; " + (
        f"{runs[worst]} most, {percent(float(at_top[worst]))}" if at_top[worst] > 0 else "every document was judged"
    )
    value = len(dark) / len(runs)
    step = None
    if limit.word(value) != "solid":
        step = case.step(
            "judge the documents that decide open comparisons",
            "next",
            effect=f"{len(dark)} of {len(runs)} runs have more than {much * top:g} unjudged of their first {top} now",
        )
    few = limit.too_few(runs=len(runs), topics=len(case.topics))
    few = few or ("" if scoring else f"every run scores 0 by {measure}")
    return limit.verdict(
        sentence,
        value,
        finding=f"{runs_have} over {many} in {its} top {top}",
        whole=len(runs),
        things="such runs",
        too_few=few,
        decided_by=dark,
        next=step,
    )


def hole_map(result: Result) -> Figure:
    """One row per run, best first; a column is a range of ranks: the darker, the more was never judged there."""
    rows = records(result)
    runs = distinct(rows, "run")
    ranks = marks.names("ranks", distinct(rows, "ranks"), "ranks")
    shades = {"scheme": theme.AMOUNT, "domain": [0, 1], "reverse": True}
    fields = marks.layer(
        "rect",
        x={**ranks, "axis": {**marks.SPARSE, "labelAngle": 0}},
        y=marks.names("run", runs),
        color=marks.field("share_unjudged", title="share unjudged", scale=shades, legend={"format": ".0%"}),
        tooltip=marks.tips("run", "team", "ranks", "documents", "unjudged", ("share_unjudged", ".1%")),
    )
    known = [{"filter": "isValid(datum.share_unjudged)"}]
    said = f"Share of unjudged documents of {len(runs)} runs by rank; the darker, the more."
    return marks.chart(rows, said, fields, transform=known, width=480, height={"step": 15})
