"""Every score under several judges: how far scores and ranks move from judge to judge, and which pairs of runs flip."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Judgments
from unjudged.collection.aligned import align
from unjudged.errors import UsageError, nearest
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.io.files import called, is_input, judge_name
from unjudged.judges.scores import judged_from, score_matrices
from unjudged.measures import Measure, measures_for
from unjudged.results import Result, Row
from unjudged.statistics.intervals import mean_interval
from unjudged.statistics.pairs import ZERO, mean_scores
from unjudged.statistics.ranks import ranks
from unjudged.studies.engine import Answer, Arrays, Case, Table, register
from unjudged.studies.engine.setup import check_topic_scores
from unjudged.studies.judges import other_judges
from unjudged.text import counted, listed

SHOWN = ("scores", "pairs")
SCORES = (
    *("run", "measure", "judges", "mean", "low", "high", "lowest", "lowest_judge", "highest", "highest_judge"),
    *("rank", "rank_best", "rank_worst"),
)
PAIRS = ("run_a", "run_b", "measure", "judges_a", "judges_b", "ties", "flips", "smallest", "largest")
FIRST = "these judgments"


def under_judge(
    shared: tuple[tuple[Collection, ...], tuple[tuple[Measure, ...], ...], tuple[str, ...], tuple[str, ...]], j: int
) -> Arrays:
    """One work unit: measures x runs, the means under one judge over the topics all of them judged."""
    collections, wanted, topics, runs = shared
    scores = score_matrices(collections[j], wanted[j], topics, runs)
    return {"means": np.stack([mean_scores(one) for one in scores])}


@register(
    "over-judges",
    help="every score under several judges: spread of scores and ranks, pairs of runs that flip",
    cite="voorhees1998",
    figures={"": ("spread",)},
    columns=SCORES,
)
def over_judges(
    case: Case,
    *,
    second: Any = None,
    measures: Any = ("AP", "nDCG@10", "P@10"),
    rel: int | None = None,
    judge_rel: Any = None,
    show: str = "scores",
) -> Answer:
    """How far do scores depend on the judge?

    One row per run and measure: the mean over judges of its score, the 95 % t interval over judges (what another judge
    like these would give), the lowest and highest score with their judges, and the best and worst rank. `show` pairs:
    for every pair of runs how many judges place the first above the second, and whether they disagree. Each judge
    counts on all documents he judged; topics are those that all judges have.
    """
    if show not in SHOWN:
        raise UsageError(f"show can be {', '.join(SHOWN)}, not {show!r}{nearest(show, SHOWN)}")
    collection = case.collection
    others = other_judges(second, collection.judgments.source)
    wanted = tuple(measures_for(collection, measures, rel))
    check_topic_scores(wanted)
    rels = {called(name, others): rel for name, rel in dict(judge_rel or ()).items()}
    if unknown := [name for name in rels if name not in others]:
        raise UsageError(f"--judge-rel {unknown[0]}: no judge has that name{nearest(unknown[0], others)}")
    own = collection.judgments.source
    own = judge_name(own) if is_input(own) and judge_name(own) not in others else FIRST
    names = (own, *others)
    under = (collection.alone(), *(collection.judged_by(one).alone() for one in others.values()))
    asked = (wanted, *(_asked(wanted, rels.get(name), one) for name, one in others.items()))
    topics = _common_topics(case, names, under)
    _tell_holes(case, names, under, topics)
    runs = sorted(collection.runs)
    shared = under, asked, topics, tuple(runs)
    done = case.run(under_judge, shared, list(range(len(names))), f"{counted(len(names), 'judge')}, {len(runs)} runs")
    means = np.stack([one["means"] for one in done])  # judges x measures x runs
    place = {run: i for i, run in enumerate(runs)}
    at = np.array([place[run] for run in collection.runs])
    ordered = means[:, :, at]
    rows = list(_score_rows(ordered, names, wanted, collection.runs))
    if show == "pairs":
        rows = list(_pair_rows(ordered, wanted, collection.runs))
    flips = [sum(_flips(ordered[:, m]).values()) for m in range(len(wanted))]
    many = len(runs) * (len(runs) - 1) // 2
    told = ", ".join(f"{flip} by {m}" for flip, m in zip(flips, wanted, strict=True))
    what = f"{counted(len(names), 'judge')} ({listed(names, 6)}), {counted(len(topics), 'topic')}"
    case.note(f"{what}: of {counted(many, 'pair')} of runs {told} flip")
    return Answer(
        PAIRS if show == "pairs" else SCORES,
        rows,
        layout=(lambda: _laid_out(rows)) if show == "scores" else None,
        figures={"spread": spread} if show == "scores" else {},
        caption="Scores by judge: mean and 95 % t interval over judges, lowest and highest, ranks."
        if show == "scores"
        else "Judges who place run_a above run_b, and below; a pair flips where both happen.",
        settings={**collection.settings, "measures": [str(m) for m in wanted], "judges": list(names)},
        sources=[one.source for one in others.values()],
    )


def _asked(wanted: Sequence[Measure], rel: Any, judge: Judgments) -> tuple[Measure, ...]:
    return tuple(judged_from(wanted, None if rel is None else int(rel), int(judge.grade.max(initial=0))))


def _common_topics(case: Case, names: Sequence[str], under: Sequence[Collection]) -> tuple[str, ...]:
    common = set(under[0].topics).intersection(*(one.topics for one in under[1:]))
    if not common:
        raise UsageError("the judges have no topic in common")
    for name, one in zip(names, under, strict=True):
        if more := len(set(one.topics) - common):
            case.note(f"{counted(more, 'topic')} of {name} that not all judges have left out")
    return tuple(sorted(common))


def _tell_holes(case: Case, names: Sequence[str], under: Sequence[Collection], topics: Sequence[str]) -> None:
    """A note where a judge left out much of what others judged: his scores are low for that alone."""
    aligned = align([one.judgments for one in under], topics)
    for name, judged in zip(names, aligned.judged.T, strict=True):
        if judged.mean() < case.limits["another-judge"]["covered"]:
            many = f"{int(judged.sum()):,} of {counted(len(judged), 'document')} that any of the judges judged"
            case.note(f"{name} judged only {many}; the others count as nonrelevant in its scores")


def _score_rows(
    means: npt.NDArray[np.float64], names: Sequence[str], wanted: Sequence[Measure], runs: Sequence[str]
) -> Iterator[Row]:
    for m, measure in enumerate(wanted):
        own = means[:, m]
        low, high = mean_interval(own, bounded=False)
        if own.min(initial=0.0) >= 0 and own.max(initial=0.0) <= 1:
            low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
        places = np.stack([ranks(one) for one in own])
        middle = mean_scores(own)
        overall = ranks(middle).tolist()
        for r, run in enumerate(runs):
            least, most = int(own[:, r].argmin()), int(own[:, r].argmax())
            ends = (float(own[least, r]), names[least], float(own[most, r]), names[most])
            spread = tuple(None if math.isnan(v) else v for v in (float(low[r]), float(high[r])))
            rank = (overall[r], places[:, r].min().item(), places[:, r].max().item())
            yield run, str(measure), len(names), float(middle[r]), *spread, *ends, *rank


def _flips(means: npt.NDArray[np.float64]) -> Mapping[tuple[int, int], bool]:
    """Pair of runs -> do judges order it both ways? `means` are judges x runs."""
    difference = means[:, :, None] - means[:, None, :]
    both = np.asarray((difference > ZERO).any(axis=0) & (difference < -ZERO).any(axis=0))
    return {(a, b): bool(both[a, b]) for a in range(means.shape[1]) for b in range(a + 1, means.shape[1])}


def _pair_rows(means: npt.NDArray[np.float64], wanted: Sequence[Measure], runs: Sequence[str]) -> Iterator[Row]:
    for m, measure in enumerate(wanted):
        own = means[:, m]
        for (a, b), flips in _flips(own).items():
            d = own[:, a] - own[:, b]
            above, below = int((d > ZERO).sum()), int((d < -ZERO).sum())
            counts = (above, below, len(d) - above - below)
            yield runs[a], runs[b], str(measure), *counts, flips, float(d.min()), float(d.max())


def _laid_out(rows: Sequence[Row]) -> Table:
    body: list[Row] = []
    for run, measure, _, mean, low, high, lowest, least, highest, most, rank, best, worst in rows:
        interval = None if low is None else f"[{low:.4f}, {high:.4f}]"
        between = f"{lowest:.4f} ({least}) to {highest:.4f} ({most})"
        body.append((run, measure, mean, interval, between, rank, f"{best:g} to {worst:g}"))
    return ["run", "measure", "mean", "interval over judges", "from lowest to highest", "rank", "ranks"], body


def spread(result: Result) -> Figure:
    """Per run a pale bar from the lowest to the highest score, and a dot at the mean over judges."""
    rows = records(result)
    measure = rows[0]["measure"] if rows else ""
    here = sorted((r for r in rows if r["measure"] == measure), key=lambda r: (-r["mean"], r["run"]))
    shown = marks.tips("run", ("mean", ".4f"), ("lowest", ".4f"), "lowest_judge", ("highest", ".4f"), "highest_judge")
    common = {"y": marks.names("run", distinct(here, "run")), "tooltip": shown}

    def at(column: str) -> marks.Spec:
        return marks.field(column, title=measure, scale={"zero": False})

    return marks.chart(
        here,
        f"{measure} of {len(here)} runs under {here[0]['judges'] if here else 0} judges: from the lowest to the "
        "highest score, and the mean over judges.",
        marks.layer("bar", {"height": 6, "color": theme.SKY}, x=at("lowest"), x2={"field": "highest"}, **common),
        marks.layer("point", {"color": theme.BLUE, "opacity": 1}, x=at("mean"), **common),
        width=420,
        height={"step": 15},
    )
