"""Discriminative power: how many pairs of runs a measure tells apart (Sakai 2006; 2007, table 3; 2009, tables 6, 7).

A measure that finds more significant differences at the same alpha, on the same runs and topics, is more sensitive.
That says nothing about whether the measure is right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unjudged.collection import Floats
from unjudged.errors import UsageError
from unjudged.figures import Figure, Records, distinct, marks, records, theme
from unjudged.figures.bars import bars
from unjudged.results import Result, Row, Shown, Verdict
from unjudged.statistics.pairs import all_pairs
from unjudged.studies import layouts
from unjudged.studies.engine import (
    Answer,
    Answers,
    Case,
    Matrices,
    Runs,
    Scoring,
    Table,
    Testing,
    Unanswerable,
    matrices,
    register,
)
from unjudged.studies.engine.significance import FAMILY_WISE, Test, tested_pairs
from unjudged.studies.engine.silent import silent_measures
from unjudged.studies.engine.workdir import Arrays

COLUMNS = ("measure", "runs", "pairs", "significant", "power", "required_difference")
PAIRS = ("measure", "run_a", "run_b", "difference", "p_value", "significant")
CURVES = ("measure", "place", "p_value")
CHANGES = ("measure", "pairs", "before", "after", "misses", "false_alarms", "sign_reversals")


def tested(shared: tuple[Matrices, Test], m: int) -> Arrays:
    """One work unit: every pair of runs tested in one measure."""
    scores, test = shared
    return tested_pairs(scores.values[m], scores.runs, test)


@dataclass(frozen=True, eq=False)
class Powers:
    """p values and differences, measures x pairs, and what follows from them."""

    scores: Matrices
    p_value: Floats
    difference: Floats
    required: list[float]
    alpha: float
    silent: Mapping[str, str]
    """Measures that say nothing about these runs, with the reason."""

    @property
    def significant(self) -> list[int]:
        """Per measure, the number of significant pairs."""
        return [int(n) for n in (self.p_value < self.alpha).sum(axis=1)]

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return int(self.p_value.shape[1])


def _together(answers: Answers) -> Table:
    """Table 3 of Sakai 2007: the collections with an answer side by side."""
    told = [(case, answer) for case, answer in answers if answer.rows]
    head: list[str] = []
    for case, _ in told:
        head += [case.name, "disc. power", "diff. required"]
    blocks = [answer.laid_out()[1] for _, answer in told]
    return head, [tuple(cell for part in line for cell in part) for line in zip(*blocks, strict=True)]


@register(
    "power",
    help="which measure tells most pairs of runs apart",
    cite="sakai2006",
    figures={"pairs": ("significance",), "curves": ("significance",), "": ("power",)},
    scores=True,
    together=_together,
    columns=COLUMNS,
    limit="which-measure",
)
def power(
    case: Case, scoring: Scoring, runs: Runs, testing: Testing, *, pairs: bool = False, curves: bool = False
) -> Answer:
    """Which measure tells most pairs of runs apart?

    Every pair of runs is tested (paired bootstrap of Sakai 2006 unless --test says otherwise), without a correction for
    the number of pairs, as in the papers; Tukey's tests hold for all pairs at once. The table ranks the measures by the
    share of significant pairs. Beside it stands the difference in mean score that is needed for significance with this
    number of topics, for the pair that needs most (none for Wilcoxon and permutation). All pairs and measures share the
    same resampled topics. Geometric means (GMAP) are tested through the logarithms of the scores, and so are their
    differences. Measures by which the runs never differ are unknown and come last. --pairs lists the pairs, --curves
    the p values of each measure, largest first.
    """
    if pairs and curves:
        raise UsageError("--pairs and --curves are two different tables; ask for one of them")
    how = testing.of(runs.seed)
    scores, settings = matrices(case, scoring, runs, geometric=True, least_topics=1)
    if len(scores.topics) == 1:
        raise Unanswerable("one topic cannot show which runs a measure tells apart")
    silent = silent_measures(case, scores)
    for name, geometric in zip(scores.names, scores.geometric, strict=True):
        if geometric:
            case.note(f"{name}: differences are those of logarithms; 0.1 is a factor of {math.exp(0.1):.2f}")
    units = list(range(len(scores.measures)))
    values = case.run(tested, (scores, how), units, f"{len(scores.runs)} runs")
    found = Powers(
        scores,
        np.stack([v["p_value"] for v in values]),
        np.stack([v["difference"] for v in values]),
        [float(v["required"]) for v in values],
        how.alpha,
        silent,
    )
    if constant := sum(int(v["constant"]) for v in values):
        many = "1 pair differs" if constant == 1 else f"{constant} pairs differ"
        case.note(f"{many} by the same amount on every topic; counted as significant (p = 0)")
    verdict = _verdict(case, found)
    more: dict[str, Any] = {"settings": {**settings, **how.settings()}, "seed": runs.seed}
    if pairs:
        return Answer(PAIRS, _pair_rows(found), verdict, None, {"significance": significance_curves}, **more)
    if curves:
        return Answer(CURVES, _curve_rows(found), verdict, None, {"significance": significance_curves}, **more)
    caption = f"Discriminative power at alpha {how.alpha:g} ({how.caption}"
    caption += ", p = share of resamples as in Sakai 2006" if how.name == "bootstrap" else ""
    caption += ", not corrected" if how.name not in FAMILY_WISE else ""
    caption += "), and the difference required for significance."
    return Answer(COLUMNS, _rows(found), verdict, lambda: _table(found), {"power": power_bars}, caption, **more)


def _rows(found: Powers) -> list[Row]:
    return [
        (
            name,
            len(found.scores.runs),
            found.pairs,
            many,
            math.nan if name in found.silent else many / found.pairs,
            need,
        )
        for name, many, need in zip(found.scores.names, found.significant, found.required, strict=True)
    ]


def _pair_rows(found: Powers) -> list[Row]:
    rows: list[Row] = []
    runs = found.scores.runs
    first, second = all_pairs(len(runs))
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    for m, name in enumerate(found.scores.names):
        p, difference = found.p_value[m].tolist(), found.difference[m].tolist()
        for k, (a, b) in enumerate(pairs):
            rows.append((name, runs[a], runs[b], difference[k], p[k], "yes" if p[k] < found.alpha else "no"))
    return rows


def _curve_rows(found: Powers) -> list[Row]:
    """The achieved significance levels of Sakai (2006): a low curve tells many pairs apart."""
    return [
        (name, place, p)
        for name, values in zip(found.scores.names, found.p_value, strict=True)
        for place, p in enumerate(np.sort(values)[::-1].tolist(), 1)
    ]


def _table(found: Powers) -> Table:
    """Measures by power."""
    many, unknown = found.significant, [name in found.silent for name in found.scores.names]
    order = sorted(range(len(many)), key=lambda m: (unknown[m], -many[m]))
    shares = [
        "-" if nothing else f"{n}/{found.pairs} = {layouts.percent(n / found.pairs)}"
        for n, nothing in zip(many, unknown, strict=True)
    ]
    bold = layouts.best([None if nothing else n for n, nothing in zip(many, unknown, strict=True)], shares)
    needed = ["-" if nothing else layouts.plain(d, 3) for d, nothing in zip(found.required, unknown, strict=True)]
    rows: list[Row] = [(found.scores.names[m], bold[m], Shown(needed[m])) for m in order]
    return ["measure", "disc. power", "diff. required"], rows


def _verdict(case: Case, found: Powers) -> Verdict:
    """Which measure tells most pairs apart, and is that many?"""
    limit = case.limits["which-measure"]
    names, many = found.scores.names, found.significant
    speaking = [m for m, name in enumerate(names) if name not in found.silent]
    if not speaking:
        return limit.unknown("all runs have the same scores, so no measure can tell them apart")
    most, least = (pick(speaking, key=many.__getitem__) for pick in (max, min))
    sentence = f"{names[most]} tells most pairs of runs apart: {many[most]:,} of {found.pairs:,}"
    if len(speaking) == 1:
        sentence = f"{names[most]} tells {many[most]:,} of {found.pairs:,} pairs of runs apart"
    finding = sentence.replace(" of runs", "")
    if many[least] < many[most]:
        sentence += f"; {names[least]} tells fewest: {many[least]:,}"
    few = limit.too_few(runs=len(found.scores.runs), topics=len(found.scores.topics))
    step = case.step("see which measures order the runs alike", "study", "agreement", flags=["-m", ",".join(names)])
    share = many[most] / found.pairs
    return limit.verdict(
        sentence,
        share,
        finding=finding,
        whole=found.pairs,
        things="pairs",
        too_few=few,
        decided_by=(names[most],),
        next=step,
    )


# -- what other judgments do to the significant pairs


def power_changes(before: Result, after: Result) -> Result:
    """What other judgments do to the significant pairs of each measure (Sakai 2009).

    Both are results of `uj.power(..., pairs=True)`. misses: significant before and no longer; false_alarms:
    significant only after; so after = before - misses + false_alarms. sign_reversals: significant both times, but the
    other run is better; they count as neither.
    """
    was, now = _by_measure(before), _by_measure(after)
    if list(was) != list(now):
        raise UsageError("changes of discriminative power need the same measures before and after")
    rows: list[Row] = []
    for measure, pairs in was.items():
        if pairs.keys() != now[measure].keys():
            raise UsageError("changes of discriminative power need the same runs before and after")
        both = [(pairs[pair], now[measure][pair]) for pair in pairs]
        there = [sum(sign is not None for sign in side) for side in zip(*both, strict=True)]
        misses = sum(old is not None and new is None for old, new in both)
        alarms = sum(new is not None and old is None for old, new in both)
        turned = sum(old is not None and new is not None and old != new for old, new in both)
        rows.append((measure, len(both), *there, misses, alarms, turned))
    charts = {"misses": bars("misses", "measure", said="Pairs told apart before and no longer")}
    notes = tuple(dict.fromkeys((*before.notes, *after.notes)))
    return Result(CHANGES, lambda: rows, after.provenance, figures=charts, notes=notes)


def _by_measure(result: Result) -> dict[str, dict[tuple[str, str], float | None]]:
    """Measure -> pair of runs by name -> the sign of first minus second; None where it is not significant."""
    if result.columns != PAIRS:
        raise UsageError("changes of discriminative power need two results of uj.power(..., pairs=True)")
    found: dict[str, dict[tuple[str, str], float | None]] = {}
    for measure, a, b, difference, _, significant in result.rows():
        sign = float(np.sign(difference)) if a < b else -float(np.sign(difference))
        found.setdefault(measure, {})[min(a, b), max(a, b)] = sign if significant == "yes" else None
    return found


# -- charts


def power_bars(result: Result) -> Figure:
    """Share of significant pairs per measure, most first."""
    rows = records(result)
    ranked = sorted(rows, key=lambda row: -(row["power"] or 0))
    told = ", ".join(f"{row['measure']} {100 * row['power']:.1f}%" for row in ranked[:10] if row["power"] is not None)
    x, y = {"field": "power", "type": "quantitative"}, marks.names("measure", distinct(ranked, "measure"))
    shares = {**x, "axis": {"format": "%"}, "title": "pairs told apart"}
    tooltip = marks.as_it_is("measure", "significant", "pairs", "required_difference")
    return marks.chart(
        rows,
        f"Share of run pairs told apart: {told}.",
        marks.layer("bar", {"color": theme.BLUE, "tooltip": True}, x=shares, y=y, tooltip=tooltip),
        marks.layer("text", {"align": "left", "dx": 4}, x=x, y=y, text={"field": "power", "format": ".1%"}),
        height={"step": 20},
    )


def significance_curves(result: Result) -> Figure:
    """Achieved significance levels sorted from large to small, a line per measure."""
    rows = records(result)
    measures = distinct(rows, "measure")
    groups: dict[tuple[Any, Any], Records] = {}
    for row in rows:
        groups.setdefault((row.get("collection"), row["measure"]), []).append(row)
    points: Records = []
    for group in groups.values():
        for i, row in enumerate(sorted(group, key=lambda r: -(r["p_value"] or 0)), 1):
            points.append({**{k: row[k] for k in ("collection", "measure", "p_value") if k in row}, "pair": i})
    lines = marks.layer(
        "line",
        x=marks.field("pair", title="run pairs, by p value"),
        y=marks.field("p_value"),
        color=theme.colour("measure", measures),
        strokeDash=theme.dash("measure", measures),
    )
    said = (
        f"p values of all pairs of runs, largest first, {len(measures)} measures; the further left a line falls, the "
        "more pairs the measure tells apart."
    )
    return marks.chart(points, said, lines)
