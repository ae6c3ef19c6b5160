"""Fewer judgments, step by step: what depth and reduction share (Sakai 2007, figures 1 to 3; 2009, tables 8 to 10)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unjudged.figures import Figure, Records, distinct, marks, records, theme
from unjudged.holes.reading import leading_for
from unjudged.results import Result, Row, Shown, Step, Verdict
from unjudged.statistics.pairs import exact_mean
from unjudged.studies import layouts
from unjudged.studies.completed import Completed
from unjudged.studies.engine import Answer, Case, Setup, Table, leading
from unjudged.studies.engine.conditions import Conditions, Mask, Scored, fill
from unjudged.studies.engine.significance import Test
from unjudged.studies.engine.silent import last, note_silent
from unjudged.text import counted, in_order, listed

COLUMNS = ("level", "measure", "repeat", "mean", "tau", "power", "misses", "false_alarms", "judgments")
TITLES = {"tau": "Kendall's tau with the full order", "power": "discriminative power", "mean": "mean score of the runs"}
"""Charts of the studies over levels, and what each shows."""
FIGURES = {"": tuple(TITLES)}

STATISTICS: tuple[tuple[str, Any], ...] = (
    ("mean", lambda v: f"{v:.4f}"),
    ("tau", layouts.correlation),
    ("power", layouts.percent),
    ("misses", None),
    ("false_alarms", None),
)


@dataclass(frozen=True, eq=False)
class Levels:
    """The scores at every level, and which condition each (level, repeat) is.

    `kind` is what a level is: a pool `depth`, or `percent` of the judgments; `judgments` how many are left there.
    """

    setup: Setup
    scored: Scored
    condition: Mapping[tuple[float, int], int]
    kind: str
    judgments: Mapping[tuple[float, int], int]

    @property
    def full(self) -> str:
        """The full judgments as the table calls them."""
        return "all judgments" if self.kind == "depth" else "100%"

    def shown(self, level: float) -> str:
        """A level as the table calls it."""
        return f"depth {level:g}" if self.kind == "depth" else f"{level:g}%"

    def tau(self, level: float, measure: int) -> float:
        """Kendall's tau with the order under all judgments, mean over repeats."""
        chosen = ((c, self.setup.selections[repeat - 1]) for (at, repeat), c in self.condition.items() if at == level)
        return exact_mean([self.scored.tau(c, measure, selection) for c, selection in chosen])


def scored_levels(setup: Setup, masks: Mapping[tuple[float, int], Mask], test: Test | None, kind: str) -> Levels:
    """Score the chosen runs at every level and repeat; equal sets of judgments are scored once."""
    conditions: dict[str, Mask] = {}
    known: dict[bytes, int] = {np.packbits(np.ones(len(setup.collection.judgments), bool)).tobytes(): 0}
    place: dict[tuple[float, int], int] = {}
    for (level, repeat), mask in masks.items():
        key = np.packbits(mask).tobytes()
        if key not in known:
            known[key] = len(conditions) + 1
            conditions[f"{level:g}, repeat {repeat}"] = mask
        place[level, repeat] = known[key]
    scored = fill(setup.case, Conditions.of(setup, conditions, test))
    _note_barren(setup, masks)
    counts = judged_and_counted(setup)
    return Levels(setup, scored, place, kind, {key: int((mask & counts).sum()) for key, mask in masks.items()})


def judged_and_counted(setup: Setup) -> Mask:
    """The judgments of the topics that count."""
    judgments = setup.collection.judgments
    return np.asarray((judgments.grade >= 0) & setup.counted[judgments.topic])


def _note_barren(setup: Setup, masks: Mapping[tuple[float, int], Mask]) -> None:
    """Topics that lost every relevant document score 0 for all runs; say where."""
    judgments, rel = setup.collection.judgments, setup.scoring.smallest
    some = (judgments.count(rel) > 0) & setup.counted
    for (level, repeat), mask in masks.items():
        left = np.bincount(judgments.topic[mask & (judgments.grade >= rel)], minlength=len(some)) > 0
        if repeat == 1 and (lost := int((some & ~left).sum())):
            score = "score" if lost > 1 else "scores"
            setup.case.note(
                f"level {level:g}: {counted(lost, 'topic')} without a relevant document left {score} 0 for all runs"
            )


def levels_answer(
    found: Levels, test: Test | None, verdict: Verdict, *, repeats: int, redrawn: bool = False, **settings: Any
) -> Answer:
    """The table: (level, measure, repeat) -> mean, tau, power, misses, false alarms."""
    setup, scored = found.setup, found.scored
    silent = scored.silent
    note_silent(setup.case, silent)
    rows: list[Row] = []
    for (level, repeat), c in found.condition.items():
        selection = setup.selections[repeat - 1]
        for m, measure in enumerate(scored.measures):
            mean = exact_mean(scored.means[c, m, scored.places(selection)])
            values = (scored.tau(c, m, selection), *scored.significance(c, m, selection))
            numbers = (math.nan,) * 4 if str(measure) in silent else values
            rows.append((level, str(measure), repeat, mean, *numbers, found.judgments[level, repeat]))
    differ = repeats > 1 and (redrawn or setup.varied)
    same = setup.case.limits["fewer-judgments"]["same"]
    drawn = [kind for kind in TITLES if test is not None or kind != "power"]
    if test is None:
        told = "mean score, and Kendall's tau with the order under all judgments"
    else:
        told = "mean score, Kendall's tau with the order under all judgments, and significant pairs at alpha "
        told += f"{test.alpha:g}"
    tested = {"test": "none"} if test is None else test.settings()
    return Answer(
        COLUMNS,
        rows,
        verdict,
        lambda: _table(found, rows if differ else [r for r in rows if r[2] == 1], test is not None),
        {kind: partial(level_lines, kind=kind, level=found.kind, same=same) for kind in drawn},
        f"Fewer judgments: {told}; bold: the best measure.{layouts.brackets(repeats) if differ else ''}",
        settings={
            **setup.settings,
            **settings,
            **tested,
            "repeats": repeats,
            "judgments": int(judged_and_counted(setup).sum()),
        },
        seed=setup.seed,
    )


def _table(found: Levels, rows: list[Row], tested: bool) -> Table:
    """Tables 8 to 10 of Sakai 2009 one under the other: a line per statistic and level, a column per measure."""
    measures = last(map(str, found.scored.measures), found.scored.silent)
    levels = list(dict.fromkeys(r[0] for r in rows))
    cells: dict[tuple[str, float, str], list[Any]] = {}
    for r in rows:
        for kind, _ in STATISTICS:
            cells.setdefault((kind, r[0], r[1]), []).append(r[COLUMNS.index(kind)])
    table: list[Row] = []
    for kind, show in STATISTICS if tested else STATISTICS[:2]:
        if kind in ("mean", "power"):
            full = _full(found, kind)
            table.append((kind, found.full, *_best(kind, [[full[m]] for m in measures], show)))
        for level in levels:
            if found.shown(level) != found.full or kind not in ("mean", "power"):
                series = [cells[kind, level, m] for m in measures]
                table.append((kind.replace("_", " "), found.shown(level), *_best(kind, series, show)))
    return ["", "judgments", *measures], table


def _best(kind: str, series: list[list[float]], show: Any) -> list[Shown]:
    texts = [layouts.spread(values, show or layouts.counts(series)) for values in series]
    if kind == "mean":
        return [Shown(text) for text in texts]
    means = [float(np.mean(values)) if values else math.nan for values in series]
    return layouts.best(means, texts, smallest=kind in ("misses", "false_alarms"))


def _full(found: Levels, kind: str) -> dict[str, float]:
    """Mean or power of every measure under all judgments; no power of one that says nothing."""
    selection, scored = found.setup.selections[0], found.scored
    names = enumerate(map(str, scored.measures))
    if kind == "mean":
        return {name: exact_mean(scored.means[0, m, scored.places(selection)]) for m, name in names}
    return {name: math.nan if name in scored.silent else scored.significance(0, m, selection)[0] for m, name in names}


# -- the verdict


def levels_verdict(case: Case, found: Levels) -> Verdict:
    """How far can the order of the runs be trusted, given what was never judged?

    Its agreement (tau) with the order under complete judgments, as the hole model expects it: the mean over
    completions of the judgments, or, where no pool can be seen, what most of them reach. The order is that of the
    first repeat's runs by the leading measure. With few relevant documents per topic it can be called fragile, but
    nothing better; with one there is nothing to test. A note tells down to which level each measure keeps the order.
    """
    limit, setup = case.limits["fewer-judgments"], found.setup
    main = setup.measures[leading(setup.measures)]
    judgments = setup.collection.judgments
    case.note(_kept(found, limit["same"]))
    completed = Completed.of(setup, int(limit["completions"]), int(limit["pooled_teams"]))
    if completed is None:
        return limit.unknown("judgments of answers to questions cannot be completed, so nothing is known of the order")
    taus = completed.taus()
    if np.isnan(taus).any():
        return limit.unknown(f"there is no order by {main}: it gives all runs the same score")
    low, high = np.quantile(taus, [limit["tail"], 1 - limit["tail"]])
    value = exact_mean(taus) if completed.seen else float(low)
    middle = float(np.median(judgments.count(setup.scoring.smallest)[setup.counted]))
    if middle < limit["least"] or (middle < limit["relevant"] and limit.word(value) != "fragile"):
        return limit.unknown(
            f"too few judgments per topic to test the order: half of the topics have {middle:g} relevant documents or "
            f"fewer (at least {limit['relevant']:g} are needed)"
        )
    kept = f"{in_order(exact_mean(taus))} would keep their order"
    sentence = f"with complete judgments {kept} by {main} (tau {exact_mean(taus):.2f}, {low:.2f} to {high:.2f})"
    if not completed.seen:
        sentence += "; these runs do not show the whole pool, so the lower end counts"
    few = limit.too_few(runs=len(setup.selections[0]), topics=int(setup.counted.sum()))
    surely = float(low) + limit["slack"]
    solid = {limit.word(value), limit.word(surely)} == {"solid"}
    spare = _spare(found, leading(setup.measures), limit["same"])
    said, flags = "see whether judging more would settle the order of the runs", ["-m", leading_for(main), "--all"]
    step = case.step(said, "next", flags=flags)
    return limit.verdict(
        sentence,
        value,
        finding=f"{kept} with complete judgments",
        surely=surely,
        too_few=few,
        decided_by=(str(main),),
        next=spare if solid else step,
    )


def _spare(found: Levels, measure: int, same: float) -> Step | None:
    """How deep a pool next time? The shallowest level down to which the order stays, and what it would have cost."""
    kept = None
    for level in sorted({level for level, _ in found.condition}, reverse=True):
        if not found.tau(level, measure) >= same:
            break
        kept = level
    judged = int(judged_and_counted(found.setup).sum())
    if kept is None or found.judgments[kept, 1] >= judged:
        return None
    cost = f"{found.judgments[kept, 1]:,} judgments instead of {judged:,} keep {in_order(found.tau(kept, measure))}"
    at = found.shown(kept) if found.kind == "depth" else f"{kept:g} % of the judgments"
    return Step(f"next time {at} is enough for this order: spend the rest on more topics", effect=f"{cost} in order")


def _kept(found: Levels, same: float) -> str:
    """Down to which level the order stays the same: `down to depth 5 by AP and Q, at no level by P@10`."""

    def at(level: float) -> str:
        return found.shown(level) if found.kind == "depth" else f"{level:g} % of the judgments"

    levels = sorted({level for level, _ in found.condition}, reverse=True)
    reached: dict[float | None, list[str]] = {}
    for m, name in enumerate(map(str, found.scored.measures)):
        down: float | None = None
        for level in levels:
            if not found.tau(level, m) >= same:
                break
            down = level
        reached.setdefault(down, []).append(name)
    if list(reached) == [None]:
        return f"no measure keeps the order ({in_order(same)} or more) at {at(levels[0])}"
    parts = [f"down to {at(level)} by {listed(reached[level], 9)}" for level in levels[::-1] if level in reached]
    parts += [f"at no level by {listed(reached[None], 9)}"] if None in reached else []
    return f"the order stays ({in_order(same)} or more) {', '.join(parts)}"


# -- charts


def level_lines(result: Result, kind: str, level: str, same: float) -> Figure:
    """One statistic of every measure against the level (Sakai 2007, figures 1 to 3), with a band over repeats.

    tau has the limit of the verdict, and starts at 1 with all judgments.
    """
    rows = records(result)
    measures = distinct(rows, "measure")
    best = _highest(rows, kind)
    levels: list[Any] = sorted({row["level"] for row in rows}, reverse=True)
    if kind == "tau" and level == "depth":
        rows, levels = [*_with_all(rows), *rows], ["all", *levels]
    axis = "pool depth" if level == "depth" else "judgments kept (%)"
    x = {"field": "level", "type": "ordinal", "sort": levels, "title": axis, "axis": marks.UPRIGHT}
    y = marks.field(kind, title=TITLES[kind], scale={"zero": False})
    tooltip = [*marks.as_it_is("measure", "level"), {"field": kind, "aggregate": "mean", "format": ".4f"}]
    layers = marks.lines_with_points("measure", measures, tooltip, x=x, y={**y, "aggregate": "mean"})
    if len({row["repeat"] for row in rows}) > 1:
        group = {"groupby": [*(["collection"] if "collection" in rows[0] else []), "measure", "level"]}
        quantiles = [{"op": "q1", "field": kind, "as": "low"}, {"op": "q3", "field": kind, "as": "high"}]
        band = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": theme.colour("measure", measures)}
        spread = marks.layer("area", {"opacity": 0.18}, **band)
        layers.insert(0, {"transform": [{"aggregate": quantiles, **group}], **spread})
    said = f"{TITLES[kind].capitalize()} of {len(measures)} measures against the {axis}: {best}."
    if kind == "tau":
        layers = [*marks.line_at(same, f"the same order from {same:g}"), *layers]
        said += f" The dashed line is tau {same:g}; bands hold the middle half of the repeats."
    return marks.chart(rows, said, *layers)


def _with_all(rows: Records) -> Records:
    """Where every line begins: the order under all judgments agrees with itself."""
    known = {(row.get("collection"), row["measure"], row["repeat"]) for row in rows if row["tau"] is not None}
    return [
        {**({"collection": name} if name is not None else {}), "level": "all", "measure": m, "repeat": r, "tau": 1.0}
        for name, m, r in sorted(known, key=str)
    ]


def _highest(rows: Records, kind: str) -> str:
    """The chart in words: who is highest at the lowest level."""
    last = min(row["level"] for row in rows)
    there = [row for row in rows if row["level"] == last and row[kind] is not None]
    if not there:
        return "no values at the lowest level"
    top = max(there, key=lambda row: row[kind])
    return f"at {last:g}, {top['measure']} is highest with {top[kind]:g}"
