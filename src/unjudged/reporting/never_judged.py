"""How much was never judged? The share of unjudged documents by run and rank."""

from __future__ import annotations

import numpy as np

from unjudged.collection import Collection, Floats
from unjudged.reporting import charts
from unjudged.reporting.section import Progress, Section, counted, listed, percent, share, silent
from unjudged.reporting.subject import Subject
from unjudged.results import Verdict

KEY, QUESTION = "never-judged", "How much was never judged?"
TOP, MUCH = 10, 0.1
EDGES = (0, 1, 5, 10, 20, 50, 100, 200, 500, 1000)
HOW = (
    "One row per run, best run first; a column is a stretch of ranks. The darker a field, the more of the "
    "documents there were never judged. Scores count such documents as nonrelevant (unless another policy was "
    "chosen), so dark fields on the left mean a score that may be too low. Dark fields on the right are normal: "
    "pools stop at a depth. Where a row ends early, the lists of the run do."
)


def unjudged_share(collection: Collection, low: int, high: float) -> tuple[Floats, Floats]:
    """Per run: documents at ranks low+1 to high, and how many of them are unjudged, over all topics."""
    hits = collection.hits.judged()
    inside = hits.where((hits.rank > low) & (hits.rank <= high))
    shape = len(collection.runs), len(collection.topics)
    found = np.clip(np.minimum(collection.hits.length, high) - low, 0, None).reshape(shape).sum(axis=1)
    return found.astype(np.float64), found - inside.count().reshape(shape).sum(axis=1)


def section(subject: Subject, progress: Progress = silent) -> Section:
    """Count unjudged documents by run and stretch of ranks."""
    c, limit = subject.collection, subject.thresholds[KEY]
    longest = int(c.hits.length.max(initial=1))
    edges = [e for e in EDGES if e < longest]
    stretches = list(zip(edges, [*edges[1:], longest], strict=True))
    runs = [subject.runs[r] for r in subject.order]
    rows = []
    for low, high in stretches:
        found, missing = unjudged_share(c, low, high)
        name = f"{high}" if high == low + 1 else f"{low + 1}-{high}"
        rows += [
            (
                subject.runs[r],
                subject.teams[r],
                name,
                int(found[r]),
                int(missing[r]),
                missing[r] / found[r] if found[r] else None,
            )
            for r in subject.order
        ]
    found, missing = unjudged_share(c, 0, TOP)
    at_top = np.array([share(m, f) for m, f in zip(missing, found, strict=True)])
    dark = [r for r in subject.order if at_top[r] > MUCH + 1e-12]
    value = share(len(dark), len(runs))
    worst = int(np.argmax(at_top))
    many = counted(len(dark), "run has", "runs have") if dark else "No run has"
    most = f"most in {subject.runs[worst]}, {percent(at_top[worst])}" if at_top[worst] > 0 else "all were judged"
    sentence = (
        f"{many} over {percent(MUCH)} unjudged documents in the top {TOP} (of {counted(len(runs), 'run')}); {most}."
    )
    everything = unjudged_share(c, 0, np.inf)
    points = [
        f"Of the first {TOP} documents {percent(1 - at_top.mean())} were judged on average, of whole lists "
        f"{percent(1 - share(everything[1].sum(), everything[0].sum()))}."
    ]
    if dark:
        points.append(f"Compare {listed([subject.runs[r] for r in dark], 8)} with the others only with care.")
    description = f"Share of unjudged documents of {counted(len(runs), 'run')} by rank"
    tooltip = charts.tips("run", "team", "ranks", "documents", "unjudged", ("share_unjudged", ".1%"))
    chart = charts.chart(
        description,
        charts.rows_high(len(runs)),
        transform=[{"filter": "isValid(datum.share_unjudged)"}],
        mark={"type": "rect"},
        encoding={
            "x": {
                **charts.names("ranks", list(dict.fromkeys(row[2] for row in rows)), "ranks"),
                "axis": {**charts.SPARSE, "labelAngle": 0},
            },
            "y": charts.names("run", runs),
            "color": charts.field(
                "share_unjudged", title="share unjudged", scale=charts.shades(), legend={"format": ".0%"}
            ),
            "tooltip": tooltip,
        },
    )
    return Section(
        KEY,
        QUESTION,
        Verdict(limit.word(value), sentence, value, limit.sentence),
        subject.result(("run", "team", "ranks", "documents", "unjudged", "share_unjudged"), rows),
        HOW,
        chart,
        description,
        points,
        {f"judged@{TOP}": float(1 - at_top.mean())},
    )
