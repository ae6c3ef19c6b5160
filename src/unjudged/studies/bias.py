"""The bias of a pool: a team's own runs under judgments without the team, or from the team alone (Sakai 2009).

Leave-team-out, leave-run-out and take-team share this: conditions named after teams (or runs), one row per team, run
and measure (tables 3 and 4), a summary of each condition (tables 5 to 7), and what a team loses when it is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unjudged.collection import Floats, Pool
from unjudged.collection.membership import membership
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.results import Result, Row, Shown, Verdict
from unjudged.statistics.pairs import exact_mean, exact_means
from unjudged.studies import layouts
from unjudged.studies.completed import Completed
from unjudged.studies.engine import Answer, Answers, Case, Chart, Pooling, Setup, Table, Unanswerable, leading
from unjudged.studies.engine.answer import one_head
from unjudged.studies.engine.conditions import FULL, Conditions, Mask, Scored, fill
from unjudged.studies.engine.groups import pool_settings, tell_pool
from unjudged.studies.engine.significance import Test
from unjudged.studies.engine.silent import last, note_silent
from unjudged.text import counted, percent
from unjudged.thresholds import Threshold

AVERAGE = "average"
RESAMPLED = 1000
"""Draws of teams and completions for the interval of a mean loss."""
FIGURES = {"": ("ranks", "changes", "spread"), "summary": ("tau", "errors")}
"""Charts of the studies of a pool's bias."""


@dataclass(frozen=True, eq=False)
class Bias:
    """The scores under every condition: whose runs a condition is about, and which ones stay out of averages."""

    setup: Setup
    pool: Pool
    scored: Scored
    owners: Mapping[str, Sequence[str]]
    excluded: frozenset[str] = frozenset()
    extra: tuple[str, ...] = ()

    def own_runs(self, condition: int, selection: Sequence[str]) -> list[str]:
        """The chosen runs a condition is about; none for the full judgments."""
        if condition == 0:
            return []
        chosen = set(selection)
        return [run for run in self.owners.get(self.scored.conditions[condition], ()) if run in chosen]


def chosen_by_team(setup: Setup, team_of: Mapping[str, str]) -> dict[str, list[str]]:
    """The chosen runs of each team that has any; the teams as their runs stand in the collection."""
    owners: dict[str, list[str]] = {team_of[run]: [] for run in setup.collection.runs}
    for run in setup.runs:
        owners[team_of[run]].append(run)
    return {team: own for team, own in owners.items() if own}


def scored_bias(
    setup: Setup,
    pool: Pool,
    conditions: Mapping[str, Mask],
    owners: Mapping[str, Sequence[str]],
    *,
    test: Test | None,
    excluded: frozenset[str] = frozenset(),
    extra: Mapping[str, Mask] | None = None,
) -> Bias:
    """Score the chosen runs under every condition (and the extra ones, which are about no run)."""
    every = Conditions.of(setup, {**conditions, **(extra or {})}, test)
    return Bias(setup, pool, fill(setup.case, every), owners, excluded, tuple(extra or ()))


# -- the tables


def columns_of(what: str, summary: bool = False) -> tuple[str, ...]:
    """The columns; `what` happened to a team is `left_out` or `taken` (with the column `excluded`)."""
    tail = ("excluded", "repeat") if what == "taken" else ("repeat",)
    if summary:
        return ("condition", "measure", "tau", "power", "misses", "false_alarms", "required_difference", *tail)
    return (what, "run", "measure", "full", "reduced", "change_pct", "rank_full", "rank_reduced", *tail)


def _change_rows(bias: Bias, with_excluded: bool) -> list[Row]:
    """(team, its chosen run, measure): score and rank with all judgments and under the condition, and the change."""
    rows: list[Row] = []
    scored = bias.scored
    for repeat, selection in enumerate(bias.setup.selections, 1):
        before = [scored.ranked(0, m, selection) for m in range(len(scored.measures))]
        for c, condition in enumerate(scored.conditions):
            own = bias.own_runs(c, selection)
            after = [scored.ranked(c, m, selection) if own else {} for m in range(len(scored.measures))]
            out = ["yes" if condition in bias.excluded else "no"] if with_excluded else []
            for run in own:
                place = int(scored.places([run])[0])
                for m, measure in enumerate(scored.measures):
                    full, reduced = float(scored.means[0, m, place]), float(scored.means[c, m, place])
                    change = 100 * (reduced - full) / full if full > 0 else math.nan
                    moved = (before[m][run], after[m][run])
                    rows.append((condition, run, str(measure), full, reduced, change, *moved, *out, repeat))
    return rows


def _summary_rows(bias: Bias, with_excluded: bool) -> list[Row]:
    """(condition, measure): tau, power, misses, false alarms and the difference required; `average` leaves the excluded
    out. Where repeats draw other runs, the difference required is not known: it is that of all runs drawn.
    """
    rows: list[Row] = []
    scored = bias.scored
    for repeat, selection in enumerate(bias.setup.selections, 1):
        averaged: dict[int, list[tuple[float, ...]]] = {m: [] for m in range(len(scored.measures))}
        for c, condition in enumerate(scored.conditions):
            about_runs = bool(bias.own_runs(c, selection))
            if not about_runs and c > 0 and condition not in bias.extra:
                continue
            out = condition in bias.excluded
            tail = (["yes" if out else "no"] if with_excluded else []) + [repeat]
            for m, measure in enumerate(scored.measures):
                known = scored.required is not None and not bias.setup.varied
                required = float(scored.required[c, m]) if known and scored.required is not None else math.nan
                values: tuple[float, ...] = (
                    scored.tau(c, m, selection),
                    *scored.significance(c, m, selection),
                    required,
                )
                if str(measure) in scored.silent:  # it loses no pair and invents none, and would be the best of all
                    values = (math.nan,) * len(values)
                if about_runs and not out:
                    averaged[m].append(values)
                rows.append((condition, str(measure), *values, *tail))
        for m, measure in enumerate(scored.measures):
            means = exact_means(np.transpose(averaged[m])).tolist() if averaged[m] else [math.nan] * 5
            rows.append((AVERAGE, str(measure), *means, *(["no"] if with_excluded else []), repeat))
    return rows


def bias_answer(
    bias: Bias, test: Test | None, *, what: str, summary: bool, verdict: Verdict, caption: str, summary_caption: str
) -> Answer:
    """The table of the study: per team and measure, or per condition."""
    taken, repeats, setup = what == "taken", len(bias.setup.selections), bias.setup
    columns = columns_of(what, summary)
    rows = _summary_rows(bias, taken) if summary else _change_rows(bias, taken)
    note_silent(setup.case, bias.scored.silent)
    measures = last(map(str, bias.scored.measures), bias.scored.silent)

    def layout(spread: bool) -> Table:
        shown = rows if spread else [r for r in rows if r[-1] == 1]  # repeats that are alike are shown once
        return (_summary_table if summary else partial(_change_table, what=what))(columns, shown, measures)

    if summary:
        caption = f"{summary_caption}: order of the runs"
        caption += f" and significant pairs at alpha {test.alpha:g}." if test is not None else "."
    elif setup.varied:
        caption = "Change of score of the runs drawn for a team."
        caption += " †: no relevant document for some topic, not in averages." * taken
    same = setup.case.limits["take-team"].solid
    drawn: dict[str, Chart] = {"tau": lambda result: tau_strips(result, same)}
    if test is not None:
        drawn["errors"] = error_bars
    if not summary:
        charts = {"ranks": rank_slopes, "changes": change_map, "spread": change_strips}
        drawn = {name: partial(chart, what=what) for name, chart in charts.items()}
    tested = {"test": "none"} if test is None else test.settings()
    return Answer(
        columns,
        rows,
        verdict,
        lambda: layout(setup.varied),
        drawn,
        caption,
        layouts.brackets(repeats).strip() if setup.varied else "",
        settings={**setup.settings, "pool": pool_settings(bias.pool), **tested, "repeats": repeats},
        seed=setup.seed,
        data=(setup.varied, layout),
    )


def together(answers: Answers) -> Table:
    """Several collections under each other; where one drew other runs in its repeats, all show their spread."""
    told = [(case.name, *answer.data) for case, answer in answers if answer.rows]
    spread = any(varied for _, varied, _ in told)
    tables = [(name, *layout(spread)) for name, _, layout in told]
    head = one_head([columns for _, columns, _ in tables])
    return ["collection", *head], [(name, *row) for name, _, rows in tables for row in rows]


def _change_table(names: Sequence[str], rows: list[Row], measures: Sequence[str], what: str) -> Table:
    """Table 3 of Sakai 2009: a line per team and run, `+1.93% 4→4` per measure; rank changes are bold."""
    place = {name: i for i, name in enumerate(names)}
    lines: dict[tuple[Any, ...], dict[str, list[Row]]] = {}
    repeats = len({r[place["repeat"]] for r in rows})
    for r in rows:
        team, *run = r[: place["run"]] if repeats > 1 else r[: place["measure"]]
        mark = "†" if "excluded" in place and r[place["excluded"]] == "yes" else ""
        lines.setdefault((f"{team}{mark}", *run), {}).setdefault(r[place["measure"]], []).append(r)

    def cell(found: list[Row]) -> Shown:
        if repeats > 1:
            return Shown(layouts.spread([r[place["change_pct"]] for r in found], layouts.signed_percent))
        (r,) = found
        before, after = r[place["rank_full"]], r[place["rank_reduced"]]
        move = layouts.rank_move(before, after) if before is not None and after is not None else ""
        return Shown(f"{layouts.signed_percent(r[place['change_pct']])} {move}".strip(), before != after)

    head = [what, *([] if repeats > 1 else ["run"]), *measures]
    return head, [(*line, *(cell(cells[m]) for m in measures)) for line, cells in lines.items()]


def _summary_table(names: Sequence[str], rows: list[Row], measures: Sequence[str]) -> Table:
    """Tables 5 to 7 of Sakai 2009: tau, power, misses and false alarms; single teams are in the tidy table."""
    place = {name: i for i, name in enumerate(names)}
    blocks: dict[str, dict[str, list[Row]]] = {}
    for r in rows:
        condition = r[place["condition"]]
        if condition in (FULL, AVERAGE) or "+" in condition:
            blocks.setdefault(condition, {}).setdefault(r[place["measure"]], []).append(r)
    kinds: tuple[tuple[str, Callable[[float], str] | None], ...] = (
        *(("tau", layouts.correlation), ("power", layouts.percent)),
        *(("required_difference", _required), ("misses", None), ("false_alarms", None)),
    )
    table: list[Row] = []
    for condition, by_measure in blocks.items():
        for kind, show in kinds:
            series = [[r[place[kind]] for r in by_measure[m]] for m in measures]
            untested = all(math.isnan(v) for values in series for v in values) and kind != "tau"
            of_full = ("power", "required_difference")
            if untested or (kind not in of_full if condition == FULL else kind == "required_difference"):
                continue
            texts = [layouts.spread(values, show or layouts.counts(series)) for values in series]
            means = [float(np.mean(values)) for values in series]
            smallest = kind in ("misses", "false_alarms")
            cells = layouts.best(means, texts, smallest=smallest)
            if kind == "required_difference":
                cells = [Shown(text) for text in texts]
            table.append((condition, kind.replace("_", " "), *cells))
    return ["judgments", "", *measures], table


def _required(difference: float) -> str:
    return "-" if math.isnan(difference) else f"{difference:.2f}"


# -- leaving out: what an outsider loses


def each_left_out(
    case: Case, setup: Setup, pooling: Pooling, test: Test | None, team_of: Mapping[str, str], what: str, summary: bool
) -> Answer:
    """Every team left out of the pool in turn; `what` is `team`, or `run` where each run is its own team.

    Unanswerable where fewer than two were pooled: nothing would be left of the pool.
    """
    pool = pooling.of(setup.collection)
    tell_pool(case, pool, f"what is unique to a {what} is overestimated")
    pooled = {team_of[run] for run in pool.runs}
    if len(pooled) < 2 and not {team_of[run] for run in setup.runs} - pooled:
        states, again = "state the pooled runs with --pooled FILE or --pooled all", f"leave-{what}-out"
        step = case.step(states, "study", again, flags=["--pooled", "all"]) if "runs" in pool.inferred else None
        raise Unanswerable(f"only {counted(len(pooled), what)} was pooled, so none can be left out", step)
    member, owners = membership(setup.collection, pool), chosen_by_team(setup, team_of)
    left = {team: ~member.unique([run for run in pool.runs if team_of[run] == team]) for team in owners}
    found = scored_bias(setup, pool, left, owners, test=test if summary else None)
    who = "that" if what == "run" else "when its team"
    return bias_answer(
        found,
        test,
        what="left_out",
        summary=summary,
        verdict=left_out_verdict(case, found, what, pooling),
        caption=f"Change of score and rank of a run {who} is left out of the pool; bold: the rank changes.",
        summary_caption=f"Leaving each {what} out, averaged over {what}s",
    )


def losses(bias: Bias, measure: int, matter: float = 0.0) -> dict[str, float]:
    """Team (or run) -> the share of its score that it loses when it is left out; negative where it gains.

    The scores of its pooled runs are added before dividing, so that a run with next to no score decides nothing; only
    runs that matter count, with at least the share `matter` of the median score. Teams without such a run, or whose
    runs score 0, are not there.
    """
    found: dict[str, float] = {}
    counts = set(_that_matter(bias, measure, matter)) & set(bias.pool.runs)
    for c, condition in enumerate(bias.scored.conditions):
        own = [run for run in bias.own_runs(c, bias.setup.runs) if run in counts]
        if own:
            full, reduced = (exact_mean(bias.scored.means[i, measure, bias.scored.places(own)]) for i in (0, c))
            if full > 0 and not math.isnan(reduced):
                found[condition] = 1 - reduced / full
    return found


def _that_matter(bias: Bias, measure: int, share: float) -> list[str]:
    """The runs with at least this share of the median score of all."""
    means = bias.scored.means[0, measure]
    least = share * float(np.median(means))
    return [run for run, mean in zip(bias.scored.runs, means, strict=True) if mean >= least]


def left_out_verdict(case: Case, bias: Bias, what: str, pooling: Pooling) -> Verdict:
    """Is the pool fair to outsiders? What a team (or run) loses that is not in the pool, in the leading measure.

    Pooled teams are left out in turn; what the others lose is estimated by the hole model. The mean over teams leaves
    the extreme ones out, so that one odd team does not decide; its interval is over teams and completions. Where the
    teams outside lose more than all on average, and are not too few, theirs is the mean that counts.
    """
    limit = case.limits["fair-to-outsiders"]
    measures = bias.scored.measures
    main = leading(measures)
    if (silent := bias.scored.silent.get(str(measures[main]))) is not None:
        return limit.unknown(f"{measures[main]} says nothing about these runs: {silent}")
    lost = losses(bias, main, limit["matter"])
    outside, seen = _outsiders(bias, main, limit)
    if not lost and not outside:
        return limit.unknown(f"no {what} has a score in {measures[main]} that it could lose")
    every = {**{team: np.full(int(limit["completions"]), loss) for team, loss in lost.items()}, **outside}
    if len(lost) < 2 <= len(outside):  # a pool without its only team is empty: that says nothing
        every = outside
    groups = [every, outside] if len(outside) >= limit["outside"] else [every]
    ranges = [_average(np.stack([group[team] for team in sorted(group)]), limit, bias.setup.seed) for group in groups]
    average, low, high = max(ranges)
    every = groups[ranges.index((average, low, high))]
    value = high if outside and not seen else average
    each = {team: float(np.mean(values)) for team, values in every.items()}
    worst = max(sorted(each), key=each.__getitem__)
    sentence = f"a {what} that is not in the pool {_changes(average)} of its {measures[main]} on average"
    if len(each) > 1:
        sentence += f" ({percent(low)} to {percent(high)}"
        sentence += f"; {worst} most, {percent(each[worst])})" if each[worst] > 0 else f"; no {what} loses)"
    sentence += _looked_at(bias, what)
    if outside:
        known = f"{counted(len(every) - len(outside), what)} left out in turn and " if len(every) > len(outside) else ""
        sentence += f", from {known}{counted(len(outside), what)} outside the pool"
        sentence += "" if seen else "; these runs do not show the whole pool, so the upper end counts"
    condensed = next((m for m, one in enumerate(measures) if one.condensed and m != main), None)
    if condensed is not None and (also := losses(bias, condensed)):
        change = _changes(exact_mean(also.values()))
        sentence += f"; in {measures[condensed]}, which drops unjudged documents, it {change}"
    few = limit.too_few(teams=len(every), topics=int(bias.setup.counted.sum())).replace("team", what)
    flags = ["--new", "NEW", "-m", str(measures[main]), *pooling.flags]
    name = str(measures[main])
    lifts = f"raises its {name} by about {percent(average)}" if average > 0 else ""
    step = case.step("correct the score of a run that was not pooled", "correct", flags=flags, effect=lifts)
    finding = f"a {what} outside the pool {_changes(average)} of its {name}"
    return limit.verdict(
        sentence,
        value,
        finding=f"{finding}; {worst} loses most" if each[worst] > 0 and len(each) > 1 else finding,
        too_few=few,
        decided_by=(worst,),
        next=None if limit.word(value) == "solid" else step,
    )


def _looked_at(bias: Bias, what: str) -> str:
    """Which runs the answer rests on: one of each team is another question than all of them."""
    runs, there = len(bias.setup.runs), len(bias.setup.collection.runs)
    if runs == there:
        return f", over all {there} runs"
    one_each = what == "team" and all(len(own) == 1 for own in bias.owners.values())
    return ", over one run of each team" if one_each else f", over {runs} of {there} runs"


def _outsiders(bias: Bias, measure: int, limit: Threshold) -> tuple[dict[str, Floats], bool]:
    """Team -> its loss in every completion, for teams without a pooled run; and whether the pool could be seen."""
    pooled, matter = set(bias.pool.runs), set(_that_matter(bias, measure, limit["matter"]))
    teams = {
        team: [run for run in own if run in matter]
        for team, own in bias.owners.items()
        if not pooled & set(own) and matter & set(own)
    }
    if not teams:
        return {}, True
    completed = Completed.of(bias.setup, int(limit["completions"]), int(limit["pooled_teams"]))
    if completed is None:
        return {}, True
    found = completed.losses(bias.pool, teams)
    return {team: loss for team, loss in found.items() if not np.isnan(loss).any()}, completed.seen


def _average(losses: Floats, limit: Threshold, seed: int) -> tuple[float, float, float]:
    """Teams x completions -> the trimmed mean over teams, and where it lies when teams and completions are drawn."""
    teams, completions = losses.shape
    rng = np.random.default_rng([seed, 2])
    drawn = losses[rng.integers(teams, size=(RESAMPLED, teams)), rng.integers(completions, size=RESAMPLED)[:, None]]
    spread = trimmed_mean(drawn, limit["trimmed"])
    low, high = np.quantile(spread, [limit["tail"], 1 - limit["tail"]])
    return float(trimmed_mean(losses.mean(axis=1), limit["trimmed"])), float(low), float(high)


def _changes(loss: float) -> str:
    """`loses 5.6 %`, `gains 3 %`."""
    return f"{'gains' if loss < 0 else 'loses'} {percent(abs(loss))}"


# -- charts


def change_map(result: Result, what: str) -> Figure:
    """Team x measure: the change in percent, blue for losses, orange for gains, as the table has it.

    The colours end where nineteen of twenty changes do, so that one odd run does not pale all others.
    """
    rows = records(result)
    teams, measures = distinct(rows, what), distinct(rows, "measure")
    largest = max((abs(row["change_pct"]) for row in rows if row["change_pct"] is not None), default=0.0)
    sizes = sorted(abs(row["change_pct"]) for row in rows if row["change_pct"] is not None)
    limit = (sizes[math.ceil(0.95 * len(sizes)) - 1] if sizes else 0.0) or largest or 1.0
    signed = {"scheme": theme.SIGNED, "domain": [-limit, limit], "domainMid": 0, "clamp": True}
    mean = {"field": "change_pct", "aggregate": "mean", "format": "+.2f"}
    several: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        if row["change_pct"] is not None:
            several.setdefault((row.get("collection"), row[what], row["measure"]), []).append(row["change_pct"])
    for row in rows:
        found = several.get((row.get("collection"), row[what], row["measure"]))
        row["told"] = layouts.signed_percent(exact_mean(found)) if found else "n/a"
        row["strong"] = found is not None and abs(exact_mean(found)) > 0.75 * limit
    x = {**marks.names("measure", measures), "axis": {"orient": "top", "labelAngle": 0, **marks.short_labels(measures)}}
    y = marks.names(what, teams, what.replace("_", " "))
    fields = marks.layer(
        "rect",
        {"tooltip": True},
        x=x,
        y=y,
        color=marks.field("change_pct", title="change (%)", aggregate="mean", scale=signed),
        tooltip=[*marks.as_it_is(what, "measure"), mean],
    )
    said = (
        f"Change in percent of each team's run in {len(measures)} measures, {len(teams)} teams; the largest is "
        f"{layouts.signed_percent(largest).lstrip('+')}, colours end at {layouts.signed_percent(limit).lstrip('+')}. "
        "Blue: the run loses, orange: it gains."
    )
    ink = {"condition": {"test": "datum.strong", "value": theme.ON_STRONG}, "value": theme.ON_PALE}
    told = {"aggregate": "max", "field": "told", "type": "nominal"}
    numbers = marks.layer(
        "text", {"fontSize": 10, "aria": False}, x=x, y=y, text=told, color=ink, detail={"field": "strong"}
    )
    return marks.chart(rows, said, fields, numbers, width={"step": 54}, height={"step": 18})


def change_strips(result: Result, what: str) -> Figure:
    """Per measure, a tick for each team's change; the mean as a diamond."""
    rows = records(result)
    measures = distinct(rows, "measure")
    x, y = marks.field("change_pct", title="change of the team's own run (%)"), marks.names("measure", measures)
    tick, tooltip = {"opacity": 0.6, "color": theme.BLUE, "tooltip": True}, (what, "run", "measure", "change_pct")
    diamond = {"shape": "diamond", "size": 110, "color": theme.VERMILION}
    return marks.chart(
        rows,
        f"Changes of the teams' own runs in percent, one tick per run and measure ({len(measures)} measures); diamonds "
        "are means. Left of the line the run loses, right of it it gains.",
        marks.rule_at("x", 0),
        marks.layer("tick", tick, x=x, y=y, tooltip=marks.as_it_is(*tooltip)),
        marks.layer("point", diamond, x={**x, "aggregate": "mean"}, y=y),
        height={"step": 22},
    )


def rank_slopes(result: Result, what: str) -> Figure:
    """A line from the rank with all judgments to the rank under the condition, one panel per measure."""
    rows = records(result)
    moves = ["falls", "stays", "rises"]
    sides = ["in the pool", "left out"] if what == "left_out" else ["all judgments", "team alone"]
    moved = sum(row["rank_full"] != row["rank_reduced"] for row in rows)
    up = "datum.rank_reduced < datum.rank_full ? 'rises' : 'stays'"
    how = {"field": "move", "type": "nominal", "title": "rank", "legend": marks.LINES}
    colours = {"domain": moves, "range": [theme.VERMILION, theme.GREY, theme.BLUE]}
    last = max((row[key] or 1 for row in rows for key in ("rank_full", "rank_reduced")), default=1)
    x = {"field": "side", "type": "ordinal", "sort": sides, "title": None, "axis": marks.UPRIGHT}
    x |= {"scale": {"type": "point", "padding": 0.9}}
    y = {key: value for key, value in marks.rank_axis(last).items() if key != "title"}
    names = marks.layer(
        "text",
        {"align": "right", "dx": -7, "fontSize": 9, "limit": 72, "aria": False},
        x=x,
        y=y,
        text={"field": what},
    )
    names["transform"] = [{"filter": f"datum.side == '{sides[0]}'"}]
    lines = marks.layer(
        "line",
        {"point": True, "opacity": 0.75},
        x=x,
        y=y,
        detail=marks.as_it_is(what, "run"),
        color={**how, "scale": colours},
        strokeDash={**how, "scale": {"domain": moves, "range": [[1, 0], [2, 3], [6, 3]]}},
        tooltip=marks.tips(what, "run", "rank_full", "rank_reduced", ("change_pct", "+.2f")),
    )
    return marks.panels(
        rows,
        f"Rank of each run, {sides[0]} and {sides[1]}, a panel per measure; {moved} of {len(rows)} ranks change.",
        {"field": "measure", "type": "nominal", "sort": distinct(rows, "measure"), "title": None},
        lines,
        names,
        width=200,
        height=max(220, min(700, 11 * len({row["run"] for row in rows}))),
        wrapped=3,
        transform=[
            {"filter": "isValid(datum.rank_full) && isValid(datum.rank_reduced)"},
            {"calculate": f"datum.rank_reduced > datum.rank_full ? 'falls' : {up}", "as": "move"},
            {"fold": ["rank_full", "rank_reduced"], "as": ["when", "rank"]},
            {"calculate": f"datum.when == 'rank_full' ? '{sides[0]}' : '{sides[1]}'", "as": "side"},
        ],
    )


def tau_strips(result: Result, same: float) -> Figure:
    """Per measure, a point for the tau of each condition, other ones for averages and several teams together."""
    rows = [row for row in records(result) if row["condition"] != FULL]
    measures, kinds = distinct(rows, "measure"), ["one", AVERAGE, "several teams"]
    for row in rows:
        row["kind"] = AVERAGE if row["condition"] == AVERAGE else kinds[2] if "+" in row["condition"] else kinds[0]
    points = marks.layer(
        "point",
        {"tooltip": True},
        x=marks.field("tau", title="Kendall's tau", scale={"zero": False}),
        y=marks.names("measure", measures),
        color=theme.colour("kind", kinds, title="judgments"),
        shape=theme.shape("kind", kinds, title="judgments"),
        tooltip=marks.as_it_is("condition", "measure", "tau", "power"),
    )
    said = (
        "Kendall's tau between the order of the runs with all judgments and under each condition, "
        f"{len(measures)} measures. The dotted line is {same:g}."
    )
    return marks.chart(rows, said, marks.rule_at("x", same, dash=[2, 3]), points, height={"step": 24})


def error_bars(result: Result) -> Figure:
    """Average misses and false alarms per measure."""
    rows = [row for row in records(result) if row["condition"] == AVERAGE]
    kinds = ["misses", "false alarms"]
    bars = marks.layer(
        "bar",
        {"tooltip": True},
        x=marks.field("pairs", title="pairs of runs", aggregate="mean"),
        y=marks.names("measure", distinct(rows, "measure")),
        yOffset={"field": "kind", "sort": kinds},
        color=theme.colour("kind", kinds),
    )
    told = ", ".join(f"{row['measure']} {row['misses']:g} and {row['false_alarms']:g}" for row in rows[:10])
    folded = [
        {"fold": ["misses", "false_alarms"], "as": ["key", "pairs"]},
        {"calculate": "replace(datum.key, '_', ' ')", "as": "kind"},
    ]
    said = f"Significant pairs missed and invented on average, {told}."
    return marks.chart(rows, said, bars, height={"step": 14}, transform=folded)


def trimmed_mean(values: Floats, share: float) -> Floats:
    """The mean along the last axis without this share of the values at either end."""
    many = values.shape[-1]
    cut = int(share * many)
    chosen = np.partition(values, (cut, many - cut - 1), axis=-1)[..., cut : many - cut]
    return np.asarray(chosen.mean(axis=-1), np.float64)
