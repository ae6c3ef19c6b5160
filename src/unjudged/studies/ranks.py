"""Which ranks are certain? Every run's rank with the interval of ranks it could have (Mogstad et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unjudged.collection import Floats
from unjudged.errors import UsageError, as_usage_errors, check_seed
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.results import Result, Row, Verdict
from unjudged.scoring import Scores
from unjudged.statistics.letters import letters
from unjudged.statistics.rank_intervals import rank_intervals
from unjudged.studies.engine import Answer, Arrays, Case, Runs, Table, UsualScoring, leading, matrices, register
from unjudged.studies.engine.groups import Group, Unanswerable
from unjudged.text import counted

COLUMNS = (*("run", "measure", "value", "rank", "low", "high", "low_simultaneous", "high_simultaneous", "group"),)
LETTERED = 200
"""So many runs have groups with letters; of more, the groups are numbered."""
MOST_RUNS = 60
"""Runs shown in the chart; of more, the best."""


@dataclass(frozen=True)
class Resampling(Group):
    """How sure the intervals are, and how often topics are drawn again."""

    title = "significance"

    alpha: float = 0.05
    resamples: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha lies between 0 and 1, not {self.alpha}")
        if self.resamples is not None and self.resamples < 1:
            raise UsageError(f"at least 1 resample is needed, not {self.resamples}")

    @property
    def drawn(self) -> int:
        """Number of resamples."""
        return self.resamples or 1000


def intervals(shared: Floats, unit: tuple[int, float, int, int]) -> Arrays:
    """One work unit: the ranks of all runs in one measure, with their intervals, and the group of each."""
    m, alpha, resamples, seed = unit
    matrix = shared[m]
    with as_usage_errors():
        found = rank_intervals(matrix, alpha=alpha, resamples=resamples, seed=seed)
    ends = found.rank, found.low, found.high, found.low_simultaneous, found.high_simultaneous
    return {"ranks": np.stack(ends), "apart": np.packbits(found.told_apart, axis=1)}


@register(
    "ranks",
    help="the rank of every run, and the ranks it could have",
    cite="mogstad2024",
    figures={"": ("ranks",)},
    scores=True,
    columns=COLUMNS,
    limit="ranks",
)
def ranks(case: Case, scoring: UsualScoring, runs: Runs, testing: Resampling) -> Answer:
    """Which ranks are certain?

    The rank of every run by its mean, and the ranks it could have on other topics of the same kind: low to high holds
    for this run with 1 - alpha, low_simultaneous to high_simultaneous for all runs of a measure together. Runs that
    share a letter (beyond 200 runs: a number) in `group` cannot be told apart. From a bootstrap of the topics, paired
    over all runs: standardised differences of all pairs, largest first, step by step (Mogstad, Romano, Shaikh and
    Wilhelm 2024). Unjudged documents count as --unjudged says; that they might be relevant is not part of the interval.
    """
    check_seed(runs.seed)
    scores, settings = matrices(case, scoring, runs, geometric=True, least_topics=1)
    if len(scores.topics) == 1:
        raise Unanswerable("one topic cannot show which ranks are certain")
    if isinstance(case.source, Scores):
        case.note("scores alone do not show which documents were judged: holes are not looked at")
    units = [(m, testing.alpha, testing.drawn, runs.seed) for m in range(len(scores.measures))]
    values = case.run(intervals, scores.values, units, f"{len(scores.runs)} runs")
    means = scores.means()
    rows: list[Row] = []
    for m, (name, value) in enumerate(zip(scores.names, values, strict=True)):
        place = value["ranks"]
        order = sorted(range(len(scores.runs)), key=lambda r, m=m: (-means[m, r], scores.runs[r]))  # type: ignore[misc]
        apart = np.unpackbits(value["apart"], axis=1, count=len(scores.runs)).astype(np.bool_)
        groups = dict(zip(order, groups_of(apart[np.ix_(order, order)]), strict=True))
        for r in order:
            rows.append((scores.runs[r], name, float(means[m, r]), *map(int, place[:, r]), groups[r]))
    lead = leading(scores.measures)
    sure = f"{100 * (1 - testing.alpha):g}%"
    return Answer(
        COLUMNS,
        rows,
        _verdict(case, rows, scores.names[lead], scores.varying[lead], len(scores.topics)),
        lambda: _table(rows),
        {"ranks": rank_lines},
        f"Ranks by mean over {counted(len(scores.topics), 'topic')}, and the ranks each run could have ({sure}): for "
        f"the run alone, and for all runs at once (paired bootstrap, {testing.drawn} resamples). Runs that share a "
        "group cannot be told apart.",
        settings={**settings, "alpha": testing.alpha, "resamples": testing.drawn},
        seed=runs.seed,
    )


def groups_of(apart: Any) -> list[str]:
    """Of runs ordered best first: letters shared by runs that are not told apart; of many runs, numbers of groups, each
    of which begins with the best run that is told apart from the first of the group before."""
    if len(apart) <= LETTERED:
        return letters(apart)
    numbers, number, first = [], 1, 0
    for run in range(len(apart)):
        if apart[first, run]:
            number, first = number + 1, run
        numbers.append(str(number))
    return numbers


def could_be(rank: int, low: int, high: int) -> str:
    """`rank 3, could be 1 to 9`"""
    return f"rank {rank}, and no other" if low == high else f"rank {rank}, could be {low} to {high}"


def _table(rows: Sequence[Row]) -> Table:
    """A line per run and measure, with the intervals as one reads them."""
    found: list[Row] = [
        (run, measure, value, rank, between(low, high), between(low_all, high_all), group)
        for run, measure, value, rank, low, high, low_all, high_all, group in rows
    ]
    return ["run", "measure", "mean", "rank", "could be", "all at once", "group"], found


def between(low: int, high: int) -> str:
    """`1 to 9`, or `3` alone."""
    return str(low) if low == high else f"{low} to {high}"


def _verdict(case: Case, rows: Sequence[Row], measure: str, varies: bool, topics: int) -> Verdict:
    """How far could ranks move, all at once?"""
    limit = case.limits["ranks"]
    if not varies:
        return limit.unknown(f"by {measure} every run has the same score on every topic")
    here = [dict(zip(COLUMNS, row, strict=True)) for row in rows if row[1] == measure]
    spans = [row["high_simultaneous"] - row["low_simultaneous"] for row in here]
    certain = sum(span == 0 for span in spans)
    best = here[0]
    tops = sum(row["low_simultaneous"] == 1 for row in here)
    first = could_be(best["rank"], best["low_simultaneous"], best["high_simultaneous"])
    lead = f"{tops} of them could be first" if tops > 1 else "only the best could be first"
    verb = "has" if certain == 1 else "have"
    sentence = (
        f"by {measure} {certain} of {counted(len(here), 'run')} {verb} a certain rank, and {lead}; "
        f"{best['run']} is {first}"
    )
    return limit.verdict(
        sentence,
        float(np.mean(spans)) / (len(here) - 1),
        too_few=limit.too_few(topics=topics),
        decided_by=tuple(row["run"] for row in here if row["low_simultaneous"] == 1)[:10],
    )


def rank_lines(result: Result) -> Figure:
    """A dot per run at its rank, a thick line for its own interval, a thin one for that of all runs at once."""
    kept = set(distinct(records(result), "run")[:MOST_RUNS])
    rows = [row for row in records(result) if row["run"] in kept]
    measures = distinct(rows, "measure")
    y = marks.names("run", distinct(rows, "run"))
    axis = marks.field("low_simultaneous", title="rank", scale={"zero": False})
    own = marks.field("low", title="rank", scale={"zero": False})
    tooltip = marks.as_it_is("run", "measure", "rank", "low", "high", "low_simultaneous", "high_simultaneous", "group")
    return marks.panels(
        rows,
        f"Ranks of {len(kept)} runs by {', '.join(measures)}, and the ranks they could have: for the run "
        "alone (thick), for all runs at once (thin).",
        marks.names("measure", measures),
        marks.layer("rule", {"color": theme.quiet()}, x=axis, x2={"field": "high_simultaneous"}, y=y),
        marks.layer("rule", {"color": theme.SKY, "strokeWidth": 4}, x=own, x2={"field": "high"}, y=y),
        marks.layer("point", {"color": theme.BLUE, "filled": True}, x=marks.field("rank"), y=y, tooltip=tooltip),
        width=260,
        height={"step": 16},
    )
