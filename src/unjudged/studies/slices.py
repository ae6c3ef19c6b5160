"""Does it hold in every kind of topic? Scores and comparisons within slices of the topics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from unjudged.errors import UsageError
from unjudged.results import Row, Shown, Verdict
from unjudged.statistics.intervals import mean_interval
from unjudged.statistics.ranks import ranks as ranks_of
from unjudged.studies import compare
from unjudged.studies import ranks as ranking
from unjudged.studies.engine import Answer, Case, Runs, Table, matrices, register
from unjudged.studies.engine.groups import PairTesting
from unjudged.studies.engine.outcome import BETTER, CANNOT_TELL, WORSE
from unjudged.studies.engine.slicing import TOO_SMALL, Slices, part_of, source_of
from unjudged.text import counted, listed, signed

COLUMNS = ("slice", "topics", *compare.COLUMNS)
RANKS = ("slice", "topics", *ranking.COLUMNS, "why")
MEANS = ("slice", "topics", "run", "measure", "value", "low", "high", "why")


@register(
    "slices",
    help="scores and comparisons within slices of the topics",
    scores=True,
    columns=COLUMNS,
    limit="slices",
)
def slices(
    case: Case,
    scoring: compare.ComparedScoring,
    runs: Runs,
    testing: PairTesting,
    *,
    slice: Any = None,
    baseline: str | None = None,
    margin: float = 0.0,
    means: bool = False,
    ranks: bool = False,
) -> Answer:
    """Does it hold in every kind of topic?

    --slice FILE says which slice each topic is in (topic<TAB>label). In each slice the runs are compared as `compare`
    does it, on the topics of the slice alone. What is said holds for all slices together: p_adjusted is multiplied by
    the number of slices (Bonferroni), and the intervals are wider accordingly. A slice with fewer topics than the table
    of limits asks for is too small to say anything of: its differences are shown, nothing else. --means shows the mean
    of every run in every slice instead, with its interval; --ranks its rank, and the ranks it could have (as the study
    `ranks` gives them, all slices at once).
    """
    if means and ranks:
        raise UsageError("--means and --ranks are two tables: choose one")
    found = Slices.of(case.topics, slice, case.limits)
    parts, large = found.parts, found.large
    for note in found.notes:
        case.note(note)
    small = [label for label in parts if label not in large]
    level = testing.alpha / max(len(large), 1)
    within = replace(testing, alpha=level)
    rows: list[Row] = []
    settings: dict[str, Any] = {}
    for label, topics in parts.items():
        inside = replace(case, source=part_of(case.source, topics), name=label, several=True, notes=[], told=[])
        if means:
            rows += _mean_rows(inside, scoring, runs, label, level, label in large)
            continue
        if ranks:
            resampling = ranking.Resampling(level, testing.resamples)
            rows += _rank_rows(inside, scoring, runs, resampling, label, label in large)
            settings |= {"alpha": testing.alpha, "resamples": resampling.drawn}
            continue
        here = compare.compare(inside, scoring, runs, within, baseline=baseline, margin=margin)
        settings = {**here.settings, "alpha": testing.alpha}
        for row in here.rows:
            rows.append((label, len(topics), *_adjusted(row, len(large), label in large)))
    about = f"{counted(len(parts), 'slice')}; {100 * (1 - testing.alpha):g}% for all {len(large)} large enough at once."
    settings |= {"slices": {label: len(topics) for label, topics in parts.items()}, "baseline": baseline}
    columns, laid_out, caption = (
        (MEANS, _means_table, "Means within slices of the topics.")
        if means
        else (RANKS, _ranks_table, "Ranks within slices of the topics, and the ranks each run could have.")
        if ranks
        else (COLUMNS, _table, "Differences of means (run_a - run_b) within slices of the topics.")
    )
    return Answer(
        columns,
        rows,
        None if means or ranks else _verdict(case, rows, large, small),
        lambda: laid_out(rows),
        caption=caption,
        about=about,
        settings=settings,
        seed=runs.seed,
        sources=source_of(slice),
    )


def _adjusted(row: Row, slices: int, large: bool) -> tuple[Any, ...]:
    """A row of compare, with its p value adjusted for the slices; of a small one the difference and topics alone."""
    found = dict(zip(compare.COLUMNS, row[: len(compare.COLUMNS)], strict=True))
    if large:
        found["p_adjusted"] = min(1.0, found["p_adjusted"] * slices)
    else:
        unknown = dict.fromkeys(("low", "high", "p_value", "p_adjusted", "effect_size"), math.nan)
        found |= {**unknown, "outcome": CANNOT_TELL, "why": TOO_SMALL}
        found |= dict.fromkeys(("estimate_low", "estimate_high"), None)
    return tuple(found.values())


def _mean_rows(
    case: Case, scoring: compare.ComparedScoring, runs: Runs, label: str, alpha: float, large: bool
) -> list[Row]:
    scores, _ = matrices(case, scoring.single_values(), runs, least_topics=1)
    rows: list[Row] = []
    for name, matrix, means in zip(scores.names, scores.values, scores.means(), strict=True):
        low, high = mean_interval(matrix, alpha)
        for r, run in enumerate(scores.runs):
            ends = (float(low[r]), float(high[r]), "") if large else (math.nan, math.nan, TOO_SMALL)
            rows.append((label, len(scores.topics), run, name, float(means[r]), *ends))
    return rows


def _rank_rows(
    case: Case,
    scoring: compare.ComparedScoring,
    runs: Runs,
    resampling: ranking.Resampling,
    label: str,
    large: bool,
) -> list[Row]:
    """The ranks of the runs on the topics of a slice; of a small one without the ranks they could have."""
    single = scoring.single_values()
    if large:
        return [(label, len(case.topics), *row, "") for row in ranking.ranks(case, single, runs, resampling).rows]
    scores, _ = matrices(case, single, runs, least_topics=1)
    rows: list[Row] = []
    for name, means in zip(scores.names, scores.means(), strict=True):
        place = ranks_of(means)
        for r in sorted(range(len(scores.runs)), key=lambda r: (-means[r], scores.runs[r])):
            known = scores.runs[r], name, float(means[r]), int(place[r])
            rows.append((label, len(scores.topics), *known, None, None, None, None, "", TOO_SMALL))
    return rows


def _interval(low: float, high: float, plus: bool = True) -> str:
    if low != low:
        return "-"
    return f"[{signed(low)}, {signed(high)}]" if plus else f"[{low:.4f}, {high:.4f}]"


def _table(rows: Sequence[Row]) -> Table:
    """A line per slice, pair and measure: difference, interval, p value, outcome."""
    shown: list[Row] = []
    for row in rows:
        found = dict(zip(COLUMNS, row, strict=True))
        decided = found["outcome"] in (BETTER, WORSE)
        said = f"{found['outcome']}: {found['why']}" if found["why"] else found["outcome"]
        names = (found["slice"], found["topics"], found["run_a"], found["run_b"], found["measure"])
        numbers = (Shown(signed(found["difference"]), decided), _interval(found["low"], found["high"]))
        shown.append((*names, *numbers, found["p_adjusted"], said))
    return ["slice", "topics", "run_a", "run_b", "measure", "difference", "interval", "adjusted", "outcome"], shown


def _means_table(rows: Sequence[Row]) -> Table:
    shown: list[Row] = [(*row[:5], _interval(row[5], row[6], plus=False), row[7]) for row in rows]
    return ["slice", "topics", "run", "measure", "mean", "interval", "remark"], shown


def _ranks_table(rows: Sequence[Row]) -> Table:
    shown: list[Row] = []
    for label, topics, run, measure, value, rank, low, high, low_all, high_all, group, why in rows:
        could = ("-", "-") if low is None else (ranking.between(low, high), ranking.between(low_all, high_all))
        shown.append((label, topics, run, measure, value, rank, *could, group, why))
    return ["slice", "topics", "run", "measure", "mean", "rank", "could be", "all at once", "group", "remark"], shown


def _verdict(case: Case, rows: Sequence[Row], large: Sequence[str], small: Sequence[str]) -> Verdict:
    """How many comparisons inside slices are decided, and do any two slices contradict each other?"""
    limit = case.limits["slices"]
    if not large:
        return limit.unknown(f"every slice is {TOO_SMALL}")
    found = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    measure = found[0]["measure"]
    said = [row for row in found if row["slice"] in large and row["measure"] == measure]
    decided = [row for row in said if row["outcome"] in (BETTER, WORSE)]
    ways: dict[tuple[str, str], dict[str, str]] = {}
    for row in decided:
        ways.setdefault((row["run_a"], row["run_b"]), {})[row["outcome"]] = row["slice"]
    turned = [(pair, way) for pair, way in ways.items() if len(way) == 2]
    where = f"{counted(len(said), 'comparison')} in {counted(len(large), 'slice')}"
    sentence = f"by {measure} {len(decided)} of {where} are decided"
    if turned:
        (a, b), way = turned[0]
        sentence += f"; {a} is better than {b} in {way[BETTER]} and worse in {way[WORSE]}"
        sentence += f", and so on for {len(turned) - 1} more" if len(turned) > 1 else ""
    else:
        sentence += ", and no two slices contradict each other"
    finding = f"{len(decided)} of {counted(len(said), 'comparison')} inside slices are decided"
    if turned:
        finding += f"; {counted(len(turned), 'pair')} turn{'s' if len(turned) == 1 else ''}"
    if small:
        too_small = f"; {listed(small)} {'is' if len(small) == 1 else 'are'} {TOO_SMALL}"
        sentence, finding = sentence + too_small, finding + too_small
    return limit.verdict(sentence, len(decided) / len(said), finding=finding, decided_by=tuple(large))
