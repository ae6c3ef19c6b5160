"""What would the scores be with all documents judged? Estimates for runs with holes, with 90 % intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unjudged.collection import Collection, Rankings
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.holes.estimates import Limits, estimates
from unjudged.measures import Measure, measures_for
from unjudged.options import default
from unjudged.results import Result, Row, Shown
from unjudged.studies.engine import Answer, Arrays, Case, register, team_of
from unjudged.text import counted, percent

COLUMNS = (
    *("run", "team", "measure", "judged", "estimate", "low", "high", "lowest", "highest", "hole_share"),
    *("pool_seen", "word", "why"),
)
MEASURES = default("measures", "estimate")
JUDGED, ESTIMATED, POINT, CANNOT_TELL = "judged", "estimated", "point estimate", "cannot tell"
"""What a score is: without holes, with holes estimated, without an interval, or nothing to believe."""
NUMBERS = ("score", "estimate", "low", "high", "lowest", "highest", "share")


def estimated(shared: tuple[Collection, Rankings, tuple[Measure, ...], Limits], at_once: int) -> Arrays:
    """The one work unit: measures x runs of every number, why a score cannot be told, and what is seen of the pool.

    The full lists say which unjudged documents there are, so that they belong to the inputs.
    """
    collection, _, wanted, limits = shared
    found = estimates(collection, wanted, limits, at_once)
    seen = found[0].seen
    return {
        **{name: np.stack([getattr(one, name) for one in found]) for name in NUMBERS},
        "cannot": np.array([one.cannot for one in found], dtype=np.str_),
        "pool": np.array([float(seen.seen), seen.cover, seen.teams]),
    }


@register("estimate", help="scores with unjudged documents estimated, with intervals", figures={"": ("estimate",)})
def estimate(case: Case, *, measures: Any = MEASURES, rel: int | None = None) -> Answer:
    """What would the scores be with all documents judged?

    One row per run and measure: the score with unjudged documents nonrelevant, the estimate, its 90 % interval, the
    exact bounds, and how much of the weight of the run's documents lies in holes (unjudged documents that the measure
    reads). An unjudged document is as often relevant as judged ones of the same rank, found by as many teams, in topics
    and lists as rich, less a discount: measured on what single teams brought into the pool, or, where the pool cannot
    be seen, taken from experience with a wide margin. `word` is `estimated`, `judged` (nothing is missing), `point
    estimate` (AP@k: no interval is known) or `cannot tell`, and `why` then says: too much weight in holes, too wide an
    interval, too few judgments. P, RBP and nDCG (up to cut-off 100) have estimates; other measures get bounds.
    docs/holes.md tells what is assumed.
    """
    c = case.collection
    wanted = tuple(measures_for(c, measures, rel))
    limits = Limits.of(case.limits["score-range"])
    shared = (c, c.rankings, wanted, limits)
    what = f"{counted(len(c.runs), 'run')} by {counted(len(wanted), 'measure')}"
    (found,) = case.run(estimated, shared, [case.at_once], what)
    seen, cover, teams = found["pool"].tolist()
    _tell_pool(case, bool(seen), cover, int(teams))
    rows: list[Row] = []
    for m, measure in enumerate(wanted):
        for r, run in enumerate(c.runs):
            score, value, low, high, lowest, highest, share = (_number(found[name][m, r]) for name in NUMBERS)
            why = str(found["cannot"][m, r])
            told = (None, None, None) if why else (value, low, high)
            word = CANNOT_TELL if why else JUDGED if lowest == highest else ESTIMATED if low is not None else POINT
            names = (run, team_of(c, run), str(measure))
            rows.append((*names, score, *told, lowest, highest, share, bool(seen), word, why))
    _tell_unknown(case, rows)
    by = f" by {wanted[0]}" if len(wanted) == 1 else ""
    return Answer(
        COLUMNS,
        rows,
        layout=lambda: laid_out(rows),
        figures={"estimate": estimate_bars},
        caption=f"Scores{by} with unjudged documents nonrelevant, estimated with a 90 % interval, and exact bounds.",
        settings={"measures": [str(m) for m in wanted], "rel": 1 if rel is None else rel, "interval": 0.9},
    )


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def _tell_pool(case: Case, seen: bool, cover: float, teams: int) -> None:
    """A note: was the discount of holes measured or assumed?"""
    who = f"the pooled runs of {counted(teams, 'team')}" if case.collection.teams else counted(teams, "pooled run")
    part = f"{who} bring in {percent(cover)} of the judged documents"
    if seen:
        case.note(f"pool seen ({part}): the discount of unjudged documents is measured on what single teams brought in")
    else:
        case.note(f"pool unseen ({part}): the discount of unjudged documents is from experience, not from these runs")


def _tell_unknown(case: Case, rows: Sequence[Row]) -> None:
    """A note for every measure some scores of which cannot be told."""
    for measure in dict.fromkeys(row[2] for row in rows):
        reasons = [row[-1] for row in rows if row[2] == measure]
        dark = [why for why in reasons if why]
        if dark:
            every = "of every run" if len(dark) == len(reasons) else f"of {counted(len(dark), 'run')}"
            same = f": {dark[0]}" if len(set(dark)) == 1 else ""
            case.note(f"{measure} {every} cannot be told{same}")


def laid_out(rows: Sequence[Row]) -> tuple[Sequence[str], list[Row]]:
    """For reading: intervals and bounds in brackets, `cannot tell` in place of a score; the measure where there are
    several, and why not where that was needed."""
    table: list[Row] = []
    for run, _, measure, score, value, low, high, lowest, highest, share, _, word, why in rows:
        between = f"[{low:.4f}, {high:.4f}]" if low is not None else "-" if why else word
        allowed = f"[{lowest:.4f}, {highest:.4f}]"
        told = Shown(word) if why else value
        table.append(
            (run, measure, score, told, between, allowed, None if share is None else percent(share), why or None)
        )
    whole = ["run", "measure", "judged", "estimate", "90 % interval", "bounds", "in holes", "why not"]
    spare = {"measure"} if len({row[1] for row in table}) == 1 else set()
    spare |= set() if any(row[-1] for row in table) else {"why not"}
    kept = [i for i, name in enumerate(whole) if name not in spare]
    return [whole[i] for i in kept], [tuple(row[i] for i in kept) for row in table]


def estimate_bars(result: Result) -> Figure:
    """One row per run: a pale bar of what is possible, a bar of the interval, a dot at the estimate."""
    rows = records(result)
    first = rows[0]["measure"] if rows else ""
    rows = [row for row in rows if row["measure"] == first]
    best = sorted(rows, key=lambda row: (-(row["estimate"] or row["judged"]), row["run"]))
    numbers = ((column, ".4f") for column in ("judged", "estimate", "low", "high", "lowest", "highest"))
    runs = distinct(best, "run")
    common = {"y": marks.names("run", runs), "tooltip": marks.tips("run", "team", *numbers, "word", "why")}
    dot = {"size": 45, "color": theme.BLUE, "stroke": "white", "strokeWidth": 1, "opacity": 1}

    def at(column: str) -> marks.Spec:
        return marks.field(column, title=first, scale={"zero": False})

    return marks.chart(
        best,
        f"Estimated {first} of {len(runs)} runs with 90 % intervals, inside what unjudged documents allow.",
        marks.layer("bar", {"height": 3, "color": theme.GREY}, x=at("lowest"), x2={"field": "highest"}, **common),
        marks.layer("bar", {"height": 8, "color": theme.SKY}, x=at("low"), x2={"field": "high"}, **common),
        marks.layer("point", dot, x=at("estimate"), **common),
        width=480,
        height={"step": 15},
    )
