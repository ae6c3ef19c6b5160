"""What would humans say? Scores and differences of runs from few human judgments and many of a machine.

Either humans judged some topics whole, drawn at random (`judges.corrected`), or a random sample of the documents of
every topic (`judges.sampled`). What was not verified is refused or marked experimental.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.changes.rejudge import judgments_of
from unjudged.collection import Collection, Judgments
from unjudged.errors import UsageError, nearest, one_of, some
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.judges.corrected import TARGETS, Corrected, pooled_slope
from unjudged.judges.corrected import corrected as correct_means
from unjudged.judges.sampled import Sample, holds_sample, read_sample, too_thin
from unjudged.judges.scores import judged_from, score_matrices
from unjudged.measures import Measure, measures_for
from unjudged.options import check
from unjudged.results import Result, Row, Shown
from unjudged.statistics.distributions import normal_limit
from unjudged.statistics.intervals import mean_interval
from unjudged.statistics.multiple import holm
from unjudged.statistics.pairs import ZERO, Pairs, all_pairs, pairs_with
from unjudged.studies.engine import Answer, Arrays, Case, Table, register
from unjudged.studies.engine.outcome import outcomes, rule_of
from unjudged.studies.engine.setup import check_topic_scores
from unjudged.studies.engine.significance import PairStatistics
from unjudged.studies.sampled_scores import (
    SampledScores,
    as_sum,
    drawn_by_grade,
    sampled_documents,
    sampled_scores,
    why_not_sampled,
)
from unjudged.text import counted, listed, percent
from unjudged.thresholds import Threshold

Floats = npt.NDArray[np.float64]

COLUMNS = (
    *("run_a", "run_b", "measure", "target", "human", "machine", "estimate", "low", "high", "human_low", "human_high"),
    *("width_ratio", "saved", "word", "why", "slope", "labelled", "of", "saved_by_many", "p_value", "p_adjusted"),
    *("more_to_halve", "more_to_settle"),
)
MEASURES = ("AP", "nDCG@10", "P@10")
SLOPES = ("own", "pooled")
DRAWN = ("at-random", "chosen")
CORRECTED, REFUSED, EXPERIMENTAL = "corrected", "refused", "experimental"


@dataclass(frozen=True)
class Asked:
    """How the corrected scores are asked for."""

    target: str
    slope: str
    alpha: float
    experimental: bool
    refusal: str
    """Why nothing may be corrected, whatever the numbers are; empty where it may."""
    limit: Threshold


@dataclass(frozen=True, eq=False)
class Both:
    """Scores under both judges: measures x topics x runs; the human ones are of the labelled topics alone."""

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    labelled: npt.NDArray[np.int64]
    human: Floats
    machine: Floats


def scored_under(shared: tuple[Collection, tuple[Measure, ...], tuple[str, ...], tuple[str, ...]], m: int) -> Arrays:
    """One work unit: topics x runs of one measure."""
    collection, wanted, topics, runs = shared
    return {"scores": score_matrices(collection, [wanted[m]], topics, runs)[0]}


def _scores(
    case: Case, collection: Collection, wanted: Sequence[Measure], topics: Sequence[str], runs: Sequence[str], who: str
) -> Floats:
    """Measures x topics x runs, a work unit for each measure."""
    shared = collection.alone(), tuple(wanted), tuple(topics), tuple(runs)
    what = f"{counted(len(runs), 'run')} under {who}"
    return np.stack([one["scores"] for one in case.run(scored_under, shared, list(range(len(wanted))), what)])


@register(
    "corrected",
    help="scores from few human judgments and many of a machine, with intervals that hold",
    cite="angelopoulos2023",
    figures={"": ("estimates",)},
    columns=COLUMNS,
)
def corrected(
    case: Case,
    *,
    machine: Any = None,
    measures: Any = MEASURES,
    rel: int | None = None,
    judge_rel: int | None = None,
    sampled: Any = None,
    target: str = "population",
    slope: str = "own",
    baseline: str | None = None,
    pairs: bool = False,
    drawn: str = "at-random",
    tuned: bool = False,
    experimental: bool = False,
    alpha: float = 0.05,
) -> Answer:
    """What would humans say? Scores from few human judgments and many of a machine.

    The judgments of the collection are the human ones; `machine` has judged more topics, or more documents. One row per
    run (and per pair of runs with `baseline` or `pairs`), measure and target: human alone, machine alone, the corrected
    estimate with its interval, how long that is beside human alone (`width_ratio`), and how many human topics the
    machine saves. Topics (or documents) must have been drawn at random before anybody looked at scores; `sampled` is
    the file that `judges sample` wrote, and needed where documents were drawn. Where a correction cannot be trusted,
    it is refused with the reason and the human result stands alone. `target`: `population` (topics of this kind) or
    `topics` (exactly these), or both. `slope` pooled over all runs is narrower for differences of 20 runs or more.
    The outcome of a pair is that of `compare`, from the corrected difference (Holm over the pairs asked).
    """
    if machine is None:
        raise UsageError("name the machine's judgments: machine=FILE")
    one_of(target, (*TARGETS, "both"), "target")
    one_of(slope, SLOPES, "slope")
    one_of(drawn, DRAWN, "drawn")
    check("alpha", alpha)
    limit = case.limits["another-judge"]
    collection, other = case.collection, judgments_of(machine)
    wanted = measures_for(collection, measures, rel)
    check_topic_scores(wanted)
    chosen = _pairs(collection.runs, baseline, pairs)
    sample = _sample(sampled, collection.judgments.source)
    asked = Asked(target, slope, alpha, experimental, _refusal(drawn, tuned), limit)
    top = int(other.grade.max(initial=0))
    theirs = judged_from(wanted, judge_rel, top)
    under = collection.judged_by(other)
    _tell_rel(case, wanted, theirs)
    settings = {
        **collection.settings,
        "measures": [str(m) for m in wanted],
        "machine": other.source,
        "sampled": None if sample is None else sample.source,
        "slope": slope,
        "alpha": alpha,
        "drawn": drawn,
    }
    of_documents = sample is not None and sample.of_documents
    if sample is not None and of_documents:
        if slope != "own":
            raise UsageError("a slope is estimated where topics were drawn, not documents")
        rows = _from_documents(case, under, wanted, theirs, sample, asked, chosen)
    else:
        rows = _from_topics(case, under, wanted, theirs, sample, asked, chosen)
    return Answer(
        COLUMNS,
        rows,
        layout=lambda: _laid_out(rows, of_documents),
        figures={"estimates": estimate_intervals},
        caption=_caption(of_documents),
        settings=settings,
        sources=[other.source, *([] if sample is None else [sample.source])],
    )


def _pairs(runs: Sequence[str], baseline: str | None, every: bool) -> Pairs | None:
    """The pairs asked for, by place of the runs."""
    if baseline is None:
        return all_pairs(len(runs)) if every and len(runs) > 1 else None
    if baseline not in runs:
        raise UsageError(f"no run is called {baseline!r}{nearest(baseline, runs)}; there are {some(runs)}")
    return pairs_with(list(runs).index(baseline), len(runs))


def _sample(given: Any, human: str) -> Sample | None:
    """What was drawn: as given, or from columns of the human judgments themselves."""
    if isinstance(given, Sample):
        return given
    if given is not None:
        return read_sample(os.fspath(given))
    return read_sample(human) if os.path.isfile(human) and holds_sample(human) else None  # noqa: PTH113


def _refusal(drawn: str, tuned: bool) -> str:
    if drawn == "chosen":
        return "what humans judged was chosen, not drawn at random: no interval holds"
    if tuned:
        return "the machine was tuned on, prompted with or chosen by what humans judged: it looks better there"
    return ""


def _tell_rel(case: Case, wanted: Sequence[Measure], theirs: Sequence[Measure]) -> None:
    """A note where the machine's scale makes another grade the smallest relevant one."""
    for own, other in zip(wanted, theirs, strict=True):
        if str(own) != str(other):
            case.note(f"{own} is {other} for the machine, whose scale differs (--judge-rel)")


# -- some topics human, all of them the machine's


def _from_topics(
    case: Case,
    under: Collection,
    wanted: Sequence[Measure],
    theirs: Sequence[Measure],
    sample: Sample | None,
    asked: Asked,
    pairs: Pairs | None,
) -> list[Row]:
    collection = case.collection
    topics = sorted(under.topics)
    outside = [topic for topic in collection.topics if topic not in under.topics]
    if outside:
        case.note(f"{counted(len(outside), 'human topic')} the machine has not judged left out (e.g. {outside[0]})")
    labelled = [topic for topic in topics if topic in collection.topics]
    if sample is not None:
        labelled = _as_drawn(case, sample, labelled)
    if len(labelled) < 2:
        raise UsageError(
            f"corrected scores need at least two topics that humans and the machine have judged, {len(labelled)} here"
        )
    runs = sorted(collection.runs)
    both = Both(
        tuple(runs),
        tuple(map(str, wanted)),
        np.array([topics.index(topic) for topic in labelled], np.int64),
        _scores(case, collection, wanted, labelled, runs, "the human judgments"),
        _scores(case, under, theirs, topics, runs, "the machine's"),
    )
    by_topic = _covered(collection.judgments, under.judgments, set(labelled))
    both_judged, machines = (sum(side) for side in zip(*by_topic.values(), strict=True))
    covered = both_judged / machines if machines else 0.0
    refusal = asked.refusal or _of_design(asked, len(labelled), len(topics), covered)
    case.note(
        f"humans judged {len(labelled)} of the machine's {len(topics)} topics and {percent(covered)} of its documents "
        "there; intervals hold only where these topics were drawn at random before anybody looked at scores"
    )
    if covered >= asked.limit["covered"]:
        _tell_parts(case, by_topic, asked.limit["covered"])
    if asked.slope == "pooled" and len(runs) < asked.limit["pooled_runs"]:
        raise UsageError(f"a pooled slope needs at least {asked.limit['pooled_runs']:g} runs, {len(runs)} here")
    targets = TARGETS if asked.target == "both" else (asked.target,)
    place = {run: column for column, run in enumerate(runs)}
    at = np.array([place[run] for run in collection.runs])
    rows: list[Row] = []
    for m in range(len(wanted)):
        for goal in targets:
            rows += _run_rows(both, m, goal, asked, refusal, collection.runs, at)
            if pairs is not None:
                rows += _pair_rows(case, both, m, goal, asked, refusal, collection.runs, (at[pairs[0]], at[pairs[1]]))
    _tell_useless(case, rows)
    return rows


def _as_drawn(case: Case, sample: Sample, labelled: list[str]) -> list[str]:
    """The labelled topics that were drawn; what differs from the draw is told."""
    drawn = set(sample.topics)
    more = [topic for topic in labelled if topic not in drawn]
    if more:
        case.note(f"{counted(len(more), 'human topic')} that the sample does not name left out (e.g. {more[0]})")
    if missing := sorted(drawn - set(labelled)):
        case.note(
            f"{counted(len(missing), 'topic')} drawn but not judged (e.g. {missing[0]}): intervals hold only where "
            "that, too, was chance"
        )
    return [topic for topic in labelled if topic in drawn]


def _covered(human: Judgments, machine: Judgments, topics: set[str]) -> dict[str, tuple[int, int]]:
    """Per topic: the machine's documents that humans judged, too, and all of them."""
    known = {
        (human.topics[int(human.topic[row])], human.docs.raw(row)) for row in np.flatnonzero(human.grade >= 0).tolist()
    }
    found = dict.fromkeys(sorted(topics), (0, 0))
    for row in np.flatnonzero(machine.grade >= 0).tolist():
        topic = machine.topics[int(machine.topic[row])]
        if topic in topics:
            both, there = found[topic]
            found[topic] = both + ((topic, machine.docs.raw(row)) in known), there + 1
    return found


def _tell_parts(case: Case, covered: Mapping[str, tuple[int, int]], least: float) -> None:
    """A note where humans judged only a part of a topic: what they left out counts as nonrelevant there."""
    shares = {topic: both / there for topic, (both, there) in covered.items() if there}
    part = [f"{topic}: {percent(share)}" for topic, share in shares.items() if share < least]
    if part:
        case.note(
            f"{counted(len(part), 'human topic')} judged in part ({listed(part)} of the machine's documents): what is "
            "left out counts as nonrelevant"
        )


def _of_design(asked: Asked, labelled: int, topics: int, covered: float) -> str:
    """Why nothing can be corrected: too few topics, all of them, or not whole ones."""
    if labelled < asked.limit["labelled"]:
        return f"humans judged {counted(labelled, 'topic')}; at least {asked.limit['labelled']:g} are needed"
    if covered < asked.limit["covered"]:
        return (
            f"humans judged only {percent(covered)} of the machine's documents in their topics; a sample of documents "
            "needs its file (--sampled)"
        )
    if labelled == topics:
        return "humans judged every topic: nothing is left to correct"
    return ""


def _run_rows(
    both: Both, m: int, goal: str, asked: Asked, refusal: str, runs: Sequence[str], at: npt.NDArray[np.int64]
) -> Iterator[Row]:
    y, f = both.human[m][:, at], both.machine[m][:, at]
    found = correct_means(y, f, both.labelled, goal, alpha=asked.alpha)
    for i, run in enumerate(runs):
        why = refusal or _of_numbers(asked.limit, y[:, i], found, i, "score")
        word = REFUSED if why else CORRECTED
        yield _row((run, None), both.measures[m], found, i, word, why or _useless(asked.limit, found, i))


def _pair_rows(
    case: Case, both: Both, m: int, goal: str, asked: Asked, refusal: str, runs: Sequence[str], at: Pairs
) -> Iterator[Row]:
    names = both.runs
    y, f = (side[:, at[0]] - side[:, at[1]] for side in (both.human[m], both.machine[m]))
    pooled = pooled_slope(both.human[m], both.machine[m][both.labelled]) if asked.slope == "pooled" else None
    found = correct_means(y, f, both.labelled, goal, pooled=pooled, alpha=asked.alpha)
    whys = [refusal or _of_numbers(asked.limit, y[:, i], found, i, "difference") for i in range(y.shape[1])]
    tested = np.array([not why for why in whys], bool)
    p = np.where(tested, found.p_value, np.nan)
    adjusted = np.full(len(p), np.nan)
    adjusted[tested] = holm(p[tested]) if tested.any() else []
    none = np.zeros(len(p))
    statistics = PairStatistics.without_holes(
        difference=found.estimate,
        low=found.low,
        high=found.high,
        p_value=p,
        p_adjusted=adjusted,
        effect_size=none,
        wins=(y > ZERO).sum(axis=0),
        ties=(np.abs(y) <= ZERO).sum(axis=0),
        losses=(y < -ZERO).sum(axis=0),
        constant=none.astype(bool),
    )
    said = outcomes(rule_of(case.limits, asked.alpha, "holm"), statistics, statistics.holed, None)
    for i, (a, b) in enumerate(zip(*(side.tolist() for side in at), strict=True)):
        if whys[i]:
            yield _row((names[a], names[b]), both.measures[m], found, i, REFUSED, whys[i])
            continue
        settle = None
        if not said[i].decided:
            times = adjusted[i] / p[i] if adjusted[i] < 1 else float(tested.sum())
            settle = found.more_topics(i, abs(float(found.estimate[i])), asked.alpha / max(times, 1.0))
        why = said[i].why or _useless(asked.limit, found, i)
        tests = float(p[i]), float(adjusted[i])
        yield _row((names[a], names[b]), both.measures[m], found, i, said[i].word, why, tests, settle)


def _of_numbers(limit: Threshold, y: Floats, found: Corrected, place: int, what: str) -> str:
    """Why one entry cannot be corrected."""
    differing = int((np.abs(y) > ZERO).sum())
    if differing < limit["differing"]:
        there = f"{counted(differing, 'human topic')} with a {what} other than 0"
        return f"{there}; at least {limit['differing']:g} are needed"
    if found.residual[place] <= ZERO**2:
        return "the machine fits the human topics exactly: nothing is left to tell an error by"
    return ""


def _useless(limit: Threshold, found: Corrected, place: int) -> str:
    """A sentence where the machine does not help."""
    if found.slope[place] < limit["least_slope"] or found.width_ratio[place] >= limit["no_narrower"]:
        return "the machine adds nothing here"
    return ""


def _row(
    pair: tuple[str, str | None],
    measure: str,
    found: Corrected,
    place: int,
    word: str,
    why: str,
    tests: tuple[float | None, float | None] = (None, None),
    settle: int | None = None,
) -> Row:
    def at(values: Floats) -> float | None:
        value = float(values[place])
        return None if math.isnan(value) else value

    human = at(found.human_low), at(found.human_high)
    ends = (None, None, None) if word == REFUSED else (at(found.estimate), at(found.low), at(found.high))
    gain: tuple[Any, ...] = (None, None) if word == REFUSED else (at(found.width_ratio), at(found.saved))
    more = (None,) * 5
    if word != REFUSED:
        halve = found.more_topics(place, float(found.half[place]) / 2)
        more = at(found.saved_by_many), *tests, halve, settle  # type: ignore[assignment]
    return (
        *(*pair, measure, found.target, at(found.human), at(found.machine), *ends, *human, *gain, word, why),
        *(None if word == REFUSED else at(found.slope), found.labelled, found.topics, *more),
    )


def _tell_useless(case: Case, rows: Sequence[Row]) -> None:
    """Notes: how often nothing could be corrected, and why."""
    reasons = [str(row[COLUMNS.index("why")]) for row in rows if row[COLUMNS.index("word")] == REFUSED]
    for why in dict.fromkeys(reasons):
        many = f" in all {len(rows)} rows" if len(rows) > 1 else ""
        if reasons.count(why) < len(rows):
            many = f" in {reasons.count(why)} of {len(rows)} rows"
        case.note(f"refused{many}: {why}")


# -- a sample of the documents of every topic


def _from_documents(
    case: Case,
    under: Collection,
    wanted: Sequence[Measure],
    theirs: Sequence[Measure],
    sample: Sample,
    asked: Asked,
    pairs: Pairs | None,
) -> list[Row]:
    collection = case.collection
    topics = sampled_documents(collection.judgments, under, sample)
    many, pool = sum(len(t.row) for t in topics), sum(int(t.strata.size.sum()) for t in topics)
    case.note(
        f"humans judged {many:,} of the {pool:,} documents that the machine judged in {counted(len(topics), 'topic')}; "
        "intervals hold only where these were drawn at random before anybody looked at scores"
    )
    thin = too_thin([t.strata for t in topics])
    refusal = asked.refusal
    if thin and not refusal:
        refusal = f"{counted(thin, 'stratum', 'strata')} with fewer than two documents judged: no variance is known"
    by_grade = drawn_by_grade(topics)
    sums, scores = (
        _scores(case, under, given, under.topics, collection.runs, "the machine's judgments")
        for given in ([as_sum(m) for m in theirs], theirs)
    )
    targets = TARGETS if asked.target == "both" else (asked.target,)
    rows: list[Row] = []
    for m, (own, other) in enumerate(zip(wanted, theirs, strict=True)):
        why = refusal or why_not_sampled(own, by_grade)
        found = None if why else sampled_scores(collection, under, own, other, topics, sums[m], scores[m])
        for goal in targets:
            made = [_sampled_row((run, None), own, goal, found, r, None, why, asked, many, pool)
                    for r, run in enumerate(collection.runs)]  # fmt: skip
            rows += made
            for a, b in zip(*(side.tolist() for side in pairs), strict=True) if pairs is not None else ():
                unsure = why or ("" if asked.experimental else "differences from a sample of documents were not "
                                 "verified (--experimental shows them)")  # fmt: skip
                names = collection.runs[a], collection.runs[b]
                rows.append(_sampled_row(names, own, goal, found, a, b, unsure, asked, many, pool))
    _tell_useless(case, rows)
    return rows


def _sampled_row(
    pair: tuple[str, str | None],
    measure: Measure,
    goal: str,
    found: SampledScores | None,
    a: int,
    b: int | None,
    why: str,
    asked: Asked,
    many: int,
    pool: int,
) -> Row:
    head = (*pair, str(measure), goal)
    tail = (None, many, pool, None, None, None, None, None)
    if why or found is None:
        return (*head, *(None,) * 9, REFUSED, why, *tail)
    estimate, variance, human, human_variance = found.estimate(a, b)
    machine = found.machine[:, a] if b is None else found.machine[:, a] - found.machine[:, b]
    if found.ideal is not None:
        ideal = np.maximum(found.ideal, ZERO)
        value = float(np.clip((estimate / ideal), -1, 1).mean())
        said = "no interval was verified for nDCG"
        return (
            *head,
            None,
            float(machine.mean()),
            value,
            *(None,) * 6,
            CORRECTED if b is None else EXPERIMENTAL,
            said,
            *tail,
        )
    topics = len(estimate)
    if goal == "topics":
        normal = float(normal_limit(asked.alpha / 2))
        half, human_half = (normal * math.sqrt(float(v.sum())) / topics for v in (variance, human_variance))
    else:
        half, human_half = (
            float((mean_interval(v[:, None], asked.alpha, bounded=False)[1] - v.mean())[0]) for v in (estimate, human)
        )
    middle, alone = float(estimate.mean()), float(human.mean())
    ratio = half / human_half if human_half > 0 else None
    saved = None if ratio is None or half <= 0 else min(round(many / ratio**2) - many, pool - many)
    word = CORRECTED if b is None else EXPERIMENTAL
    said = "the machine adds nothing here" if ratio is not None and ratio >= asked.limit["no_narrower"] else ""
    ends = middle - half, middle + half, alone - human_half, alone + human_half
    return (*head, alone, float(machine.mean()), middle, *ends, ratio, saved, word, said, *tail)


# -- how it reads


def _caption(of_documents: bool) -> str:
    said = "human, machine: alone. estimate: the machine's scores corrected by the human ones"
    if of_documents:
        return (
            f"{said}, document by document, with a 95 % interval; width: its length, human alone = 1; saved: documents "
            "that humans need not judge for an interval of this length."
        )
    return (
        f"{said}, with a 95 % interval; width: its length, human alone = 1; saved: human topics that the machine "
        "saves; to halve, to settle: more human topics that would do it."
    )


def _laid_out(rows: Sequence[Row], of_documents: bool) -> Table:
    """For reading: intervals in brackets; columns that say nothing are left out."""
    with_pairs = any(row[1] is not None for row in rows)
    targets = len({row[3] for row in rows}) > 1
    body: list[Row] = []
    for row in rows:
        r = dict(zip(COLUMNS, row, strict=True))
        cells: list[Any] = [r["run_a"], *([r["run_b"]] if with_pairs else []), r["measure"]]
        cells += [r["target"]] if targets else []
        cells += [r["human"], _between(r["human_low"], r["human_high"]), r["machine"], r["estimate"]]
        cells += [_between(r["low"], r["high"]), _number(r["width_ratio"], 2)]
        if of_documents:
            cells += [r["saved"]]
        else:
            cells += [_number(r["saved"], 1), _number(r["slope"], 2), r["more_to_halve"]]
            cells += [r["more_to_settle"]] if with_pairs else []
        body.append((*cells, f"{r['word']}: {r['why']}" if r["why"] else r["word"]))
    head = ["run", *(["against"] if with_pairs else []), "measure", *(["target"] if targets else []), "human"]
    head += ["interval", "machine", "estimate", "95 % interval", "width", "saved"]
    if not of_documents:
        head += ["slope", "to halve", *(["to settle"] if with_pairs else [])]
    return [*head, "outcome" if with_pairs else "word"], body


def _between(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"[{low:.4f}, {high:.4f}]"


def _number(value: float | None, digits: int) -> Shown | None:
    return None if value is None else Shown(f"{value:.{digits}f}")


def estimate_intervals(result: Result) -> Figure:
    """Per run two intervals: human topics alone (pale), and corrected; a dot at the machine's own value."""
    rows = [row for row in records(result) if row["run_b"] is None]
    measure = rows[0]["measure"] if rows else ""
    target = rows[0]["target"] if rows else ""
    here = [row for row in rows if row["measure"] == measure and row["target"] == target]
    runs = distinct(sorted(here, key=lambda row: (-(row["estimate"] or row["human"] or 0.0), row["run_a"])), "run_a")
    common = {"y": marks.names("run_a", runs)}
    shown = marks.tips("run_a", *((c, ".4f") for c in ("human", "machine", "estimate", "low", "high")), "word", "why")

    def at(column: str) -> marks.Spec:
        return marks.field(column, title=measure, scale={"zero": False})

    pale = {"height": 9, "color": theme.PALE}
    return marks.chart(
        here,
        f"{measure} of {len(runs)} runs: interval of the human judgments alone (pale), corrected (blue, with a dot), "
        "and the machine alone (cross).",
        marks.layer("bar", pale, x=at("human_low"), x2={"field": "human_high"}, **common, tooltip=shown),
        marks.layer("bar", {"height": 4, "color": theme.SKY}, x=at("low"), x2={"field": "high"}, **common),
        marks.layer("point", {"color": theme.BLUE, "opacity": 1}, x=at("estimate"), **common, tooltip=shown),
        marks.layer("point", {"shape": "cross", "color": theme.VERMILION}, x=at("machine"), **common, tooltip=shown),
        width=420,
        height={"step": 16},
    )
