"""What if there were fewer judgments? The order of the runs with shallower pools, and what that says of deeper ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unjudged.changes.reduce import reduce
from unjudged.collection import Collection, Floats
from unjudged.measures import measures
from unjudged.reporting import charts
from unjudged.reporting.section import Progress, Section, counted, percent, share, silent
from unjudged.reporting.subject import Subject
from unjudged.results import WORDS, Row, Verdict
from unjudged.statistics.correlation import tau_b
from unjudged.statistics.tau_ap import tau_ap_symmetric

KEY, QUESTION = "fewer-judgments", "What if there were fewer judgments?"
SHARES = (1.0, 0.5, 0.25, 0.1, 0.05)
STEP = 0.25
"""The order with a quarter of the depth agrees with this one about as well as this one with complete judgments
(docs/report.md shows it on simulated collections)."""

MANY, MOST = 0.25, 0.5
"""Shares of the runs whose team is outside the pool."""
STRANGE = 2.5
"""Outsiders that lose so many times what a left-out team loses are of another kind than the pooled teams."""

HOW = (
    "Judgments are taken away as a shallower pool would have missed them; every line shows how well the order of "
    "the runs then agrees (Kendall's tau) with the order with all judgments, from right to left. A line that "
    "stays high belongs to a measure that needs few judgments. A prime marks the measure on condensed lists, "
    "without unjudged documents. The verdict looks at a quarter of the depth: what this step back changes, "
    "complete judgments would change about as much."
)


def levels(subject: Subject) -> Iterator[tuple[str, float, Collection]]:
    """Smaller sets of judgments: name, share of the depth (or of the judgments), collection."""
    c, pool = subject.collection, subject.pool if subject.pool is not None and subject.pool.depth > 1 else None
    done = set()
    for part in SHARES[1:]:
        if pool is not None:
            depth = max(1, int(part * pool.depth))
            if depth in done or depth >= pool.depth:
                continue
            done.add(depth)
            yield f"depth {depth}", part, subject.less_deep(depth)
        else:
            left = reduce(c, rate=part, seed=subject.settings.seed, rel=subject.settings.rel or 1)
            yield f"{percent(part)} at random", part, left


def section(subject: Subject, progress: Progress = silent) -> Section:
    """Score with fewer and fewer judgments, compare the orders."""
    limit, c = subject.thresholds[KEY], subject.collection
    names = list(subject.settings.measures)
    (lead,) = measures(names[0])
    if not lead.condensed and not lead.definition.condensed:
        names.append(str(lead(judged_only=True)))
    full = subject.score(names)
    before = full.mean_values()
    total = int((c.judgments.grade >= 0).sum())
    shown = [str(m) for m in full.measures]
    start = f"depth {subject.pool.depth}" if subject.pool is not None else "all"
    rows: list[Row] = [(start, 1.0, total, m, before[:, i].mean(), 1.0, 1.0) for i, m in enumerate(shown)]
    kept: dict[str, dict[str, float]] = {m: {} for m in shown}
    quarter: tuple[str, float, float] | None = None
    for place, (level, part, reduced) in enumerate(levels(subject)):
        progress(place / len(SHARES))
        after = subject.score(names, reduced).mean_values()
        left = int((reduced.judgments.grade >= 0).sum())
        for i, m in enumerate(shown):
            tau = tau_b(before[:, i], after[:, i])
            kept[m][level] = tau
            ap = tau_ap_symmetric(before[:, i], after[:, i])
            rows.append((level, share(left, total), left, m, after[:, i].mean(), tau, ap))
        if part >= STEP:
            quarter = level, share(left, total), kept[subject.main][level]
    assert quarter is not None  # half of anything can be taken away
    level, rest, value = quarter
    sentence = (
        f"With {'a pool of ' if level.startswith('depth') else ''}{level} ({percent(rest)} of the judgments) the order "
        f"by {subject.main} would agree with this one by tau {value:.2f}; complete judgments would change "
        "about as much."
    )
    word = limit.word(value)
    at_most, why = _outsiders_say(subject)
    if WORDS.index(word) < WORDS.index(at_most):
        word, sentence = at_most, f"{sentence[:-1]}; but {why}."
    word, sentence = subject.weighed(word, sentence)
    points = _points(subject, kept, limit.solid)
    description = f"Agreement of the order of {counted(len(subject.runs), 'run')} with the full one, by judgments kept"
    chart = charts.chart(
        description,
        260,
        layer=[
            {
                "mark": {"type": "line", "point": True},
                "encoding": {
                    "x": charts.field("kept", title="share of the judgments kept", axis=charts.PERCENT),
                    "y": charts.field("tau", title="tau", scale={"zero": False}),
                    **charts.by_measure(shown),
                    "tooltip": charts.tips("measure", "level", "judgments", ("tau", ".3f"), ("tau_ap", ".3f")),
                },
            },
            *charts.line_at(limit.solid, f"solid from {limit.solid:g}"),
        ],
    )
    columns = ("level", "kept", "judgments", "measure", "mean", "tau", "tau_ap")
    return Section(
        KEY,
        QUESTION,
        Verdict(word, sentence, value, limit.sentence),
        subject.result(columns, rows),
        HOW,
        chart,
        description,
        points,
        {"expected tau": value},
    )


def _outsiders_say(subject: Subject) -> tuple[str, str]:
    """The best word that runs outside the pool allow, and why: a shallower pool cannot show what was never in it."""
    outside = share(len(subject.outsiders), len(subject.runs))
    if outside >= MOST and len(subject.pooled_teams) < subject.thresholds.teams:
        return "fragile", f"most runs are outside a pool that {counted(len(subject.pooled_teams), 'team')} made"
    if outside < MANY or subject.thresholds["fair-to-outsiders"].word(subject.outside().value) != "fragile":
        return "solid", ""
    found = subject.outside()
    if found.outside >= STRANGE * found.loss:
        return "fragile", "many runs are outside a pool that is unfair to them, and unlike the runs in it"
    return "with care", "many runs are outside a pool that is unfair to them"


def _points(subject: Subject, kept: dict[str, dict[str, float]], solid: float) -> list[str]:
    said = []
    for name, taus in kept.items():
        good = [level for level, tau in taus.items() if np.isfinite(tau) and tau >= solid]
        if taus:
            said.append(
                f"{name} keeps the order (tau {solid:g} or more) down to {good[-1]}."
                if good
                else f"{name} loses the order (tau below {solid:g}) at {next(iter(taus))} already."
            )
    if subject.pool is None or subject.pool.depth == 1:
        said.append("No pool deeper than 1 can be recognised in these judgments, so they were taken away at random.")
    else:
        inside = len([run for run in subject.pool.runs if run in subject.runs])
        said.append(
            f"The pool: depth {subject.pool.depth}, {inside} of {counted(len(subject.runs), 'run')} pooled"
            + (f" ({' and '.join(subject.pool.inferred)} inferred)." if subject.pool.inferred else ".")
        )
    return said


def half_as_deep(subject: Subject) -> Floats:
    """Means by the main measure with half of the pool's depth (half of the judgments where no pool is seen)."""
    for _, _, collection in levels(subject):
        return subject.score(subject.settings.measures[:1], collection).mean_values()[:, 0]
    return subject.means(subject.main)
