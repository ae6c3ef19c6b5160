"""Would another judge change it? An audit of other judges, people or machines, against the human judgments.

What another judge does to labels, to the order of the runs, to the decisions between them and to single runs or
families of runs. Never judged by a correlation alone: all runs together are easy to order, the best ones are not.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.changes.rejudge import each_judge, judgments_of
from unjudged.collection import Collection, Judgments
from unjudged.errors import UsageError, nearest
from unjudged.figures import Records, marks, theme
from unjudged.io.files import called, is_input
from unjudged.io.line_numbers import line_numbers
from unjudged.io.teams import read_teams
from unjudged.judges.agreement import is_qrels, names_of
from unjudged.judges.decisions import Changes, decisions, yardstick
from unjudged.judges.families import blocks_of, favour
from unjudged.judges.labels import GRADED, STATISTICS, SamePairs, label_agreement, mean_confidence, on_scale, same_pairs
from unjudged.judges.order import FIGURES, order_agreement
from unjudged.judges.scores import judged_from, judged_share, score_matrices, under_both
from unjudged.measures import Measure
from unjudged.options import check
from unjudged.results import WORST_FIRST, Row, Shown, Step, Verdict
from unjudged.statistics.intervals import mean_interval
from unjudged.statistics.multiple import holm
from unjudged.statistics.pairs import exact_mean, mean_scores
from unjudged.statistics.ranks import ranks
from unjudged.studies.engine import Answer, Answers, Case, Chart, Runs, Table, UsualScoring, leading, prepare, register
from unjudged.studies.engine.case import words_of
from unjudged.studies.engine.groups import Unanswerable
from unjudged.studies.engine.setup import check_topic_scores, team_of
from unjudged.studies.engine.workdir import Arrays
from unjudged.text import counted, listed, percent
from unjudged.thresholds import Threshold, Thresholds

Floats = npt.NDArray[np.float64]

COLUMNS = (
    *("judge", "measure", "rel", "judge_rel", "topics", "runs", "documents", "covered", "kappa_binary", "leniency"),
    *(f"{figure}{end}" for figure in FIGURES for end in ("", "_low", "_high")),
    *("pairs", "significant_human", "significant_judge", "false_alarms", "misses", "reversals", "changed"),
    *("false_alarm_rate", "miss_rate", "yardstick", "times_yardstick", "changed_uncorrected"),
    *("reversals_uncorrected", "mean", "mean_judge", "shift", "spread", "word", "decided_by"),
)
LABELS = (
    *("judge", "pairs", "coverage", *STATISTICS[:6], "leniency", "low", "high", "agreement_binary"),
    *("grade_difference", "human_only", "judge_only", "rel", "judge_rel", "confidence_same", "confidence_differs"),
    *(f"{statistic}_{end}" for statistic in STATISTICS for end in ("low", "high")),
)
"""And the coverage of every grade. `low` and `high` are those of kappa_binary, which any two scales have."""
CONFUSION = ("judge", "grade", "judge_grade", "documents")
BIAS = ("judge", "measure", "run", "family", "bias", "low", "high", "mean", "mean_judge", "rank", "rank_judge")
FAMILIES = (
    *("judge", "measure", "family", "runs", "blocks", "favour", "low", "high", "p_value", "p_adjusted", "finding"),
    *("blocks_outside", "curved_favour", "curved_low", "curved_high", "curved_p", "curved_p_adjusted"),
)
PERMUTATIONS = 999
CHARTS = ("ranks", "confusion", "decisions", "bias")
NAMED = 5
"""Runs named in the chart of ranks."""
NAME_HEIGHT, TALLEST = 12, 560
"""Pixels that a name in it takes, and the chart."""
DECISIONS = {
    "decided by both": (theme.GREY, ""),
    "open for both": (theme.PALE, ""),
    "miss": (theme.SKY, "\u2212"),
    "false alarm": (theme.ORANGE, "+"),
    "reversal": (theme.VERMILION, "\u00d7"),
}
"""What becomes of a decision: colour and sign in the chart; grey where both judges say the same."""
SHOWN_LINES = 10
"""Grades outside a scale that are named."""
MOST_RUNS = 80
"""Runs in the chart of decisions; of more, the best."""
SAID = {
    "solid": ("is solid", "are solid", ", too"),
    "with care": ("needs care", "need care", ", too"),
    "fragile": ("is fragile", "are fragile", ", too"),
    "unknown": ("cannot be rated", "cannot be rated", " either"),
}
"""What a sentence says of one judge, and of several, who earn a word, and after it where the worst earns the same."""


# -- the work


@dataclass(frozen=True, eq=False)
class Shared:
    """What the work units share: scores (measures x topics x runs, runs sorted by name) and labels of every judge."""

    complete: Floats
    """Under the human with all judgments."""
    human: tuple[Floats, ...]
    other: tuple[Floats, ...]
    judged: tuple[Floats, ...]
    tables: tuple[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int, int], ...]
    """Confusion tables by topic, grades, smallest relevant grade of the human and of the judge."""
    families: tuple[npt.NDArray[np.bool_], ...]
    teams: tuple[str, ...] | None
    """The team of every run; None where no teams are known."""
    top: int
    alpha: float
    resamples: int
    redrawn: int
    seed: int


def audited(shared: Shared, unit: tuple[str, int, int]) -> Arrays:
    """One work unit: the labels of a judge, the yardstick of a measure, or a judge's runs under a measure."""
    kind, judge, m = unit
    if kind == "labels":
        point, ranges = label_agreement(*shared.tables[judge], shared.resamples, shared.seed)
        return {"point": point, "ranges": ranges}
    if kind == "yardstick":
        return {"yardstick": np.array(yardstick(shared.complete[m], shared.alpha, shared.redrawn, shared.seed))}
    human, other = shared.human[judge][m], shared.other[judge][m]
    point, ranges = order_agreement(human, other, shared.top, shared.resamples, shared.seed)
    signs = {
        how: (decisions(human, shared.alpha, how), decisions(other, shared.alpha, how)) for how in ("holm", "none")
    }
    counts = [Changes.between(*both) for both in signs.values()]
    low, high = mean_interval(other - human, bounded=False)
    return {
        "order": np.column_stack([point, ranges]),
        "changes": np.array([[*vars(changes).values()] for changes in counts]),
        "decisions": np.stack(signs["holm"]).astype(np.int8),
        "runs": np.stack([mean_scores(human), mean_scores(other), low, high]),
        "families": np.array([_favours(shared, judge, m, inside) for inside in shared.families]).reshape(-1, 8),
    }


def _favours(shared: Shared, judge: int, m: int, inside: npt.NDArray[np.bool_]) -> list[float]:
    """Effect, range and p value of a family, by a straight line and by a curve; NaN where all runs are in it."""
    if inside.all() or not inside.any():
        return [math.nan] * 8
    matrices = shared.human[judge][m], shared.other[judge][m], shared.judged[judge]
    found = [
        favour(
            *matrices,
            inside,
            shared.teams,
            curved=curved,
            resamples=shared.resamples,
            permutations=PERMUTATIONS,
            seed=shared.seed,
        )
        for curved in (False, True)
    ]
    return [value for one in found for value in vars(one).values()]


# -- the study


def _drawn_together(answers: Answers) -> dict[str, Chart]:
    """The charts of all collections, each in its own field."""
    known = [(case.name, *answer.data) for case, answer in answers if answer.data is not None]
    if not known:
        return {}
    drawn = {
        chart: [{"collection": name, **row} for name, _, own in known for row in own[chart]] for chart in known[0][2]
    }
    return charts(drawn, known[0][1])


@register(
    "judges",
    help="what other judges, people or machines, would change: labels, order of the runs, decisions, favour",
    cite="voorhees1998",
    figures={"": CHARTS},
    drawn_together=_drawn_together,
    columns=COLUMNS,
    limit="another-judge",
)
def judges(
    case: Case,
    scoring: UsualScoring,
    *,
    second: Any = None,
    judge_rel: Any = None,
    judge_scale: Any = None,
    families: Any = None,
    labels: bool = False,
    confusion: bool = False,
    bias: bool = False,
    families_table: bool = False,
    alpha: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
) -> Answer:
    """Would another judge change it?

    Every other judge (a person, a crowd, a machine, an older version) is held against these judgments on the documents
    both have judged. One row per judge and measure: how the labels agree, how far the runs keep their order (tau,
    tau_AP, overlap and tau of the best runs, rank-biased overlap; each with its range on redrawn topics), and which
    decisions between two runs (paired t tests, Holm) change: false alarms, misses, reversals, beside a yardstick, the
    share that changes when only the topics are drawn again. Other tables: `labels` (coverage by grade, kappa, alpha,
    leniency; one row per judge), `confusion` (pairs of grades), `bias` (how much each run gains or loses),
    `families_table` (is a family of runs favoured?). The smallest relevant grade of the other judge is that of these
    judgments, or its highest grade where that is lower; `judge_rel` sets it. `judge_scale` is the highest grade of a
    judge: what it gave above counts as unjudged, and is named with its lines.
    """
    check("alpha", alpha)
    check("resamples", resamples)
    check("seed", seed)
    show = _table_asked(labels=labels, confusion=confusion, bias=bias, families_table=families_table)
    others = other_judges(second, case.collection.judgments.source)
    scales = _of_judges("--judge-scale", judge_scale, others, "the highest grade")
    if not case.collection.runs:
        if families is not None:
            raise UsageError("families are of runs: name these, too (--runs RUN...)")
        return _labels_alone(case, scoring, others, scales, judge_rel, show, resamples, seed)
    setup = prepare(case, scoring, Runs(seed=seed))
    check_topic_scores(setup.measures)
    limit, collection = case.limits["another-judge"], setup.collection
    counts = {topic for topic, there in zip(collection.topics, setup.counted, strict=True) if there}
    found, given, rels = _on_both(case, collection, others, scales, judge_rel, scoring.smallest, counts)
    known = {"judge_rel": given, "judge_scale": scales}
    runs = sorted(collection.runs)
    family_of = _families(case, families, runs)
    family_names = sorted(set(family_of.values()))
    sides = [_scored(setup.measures, collection, pairs, given.get(name), runs) for name, pairs in found.items()]
    shared = Shared(
        score_matrices(collection, setup.measures, sorted(counts), runs),
        tuple(human for human, _ in sides),
        tuple(other for _, other in sides),
        tuple(judged_share(collection, pairs.topics, runs) for pairs in found.values()),
        tuple((pairs.tables, pairs.values, scoring.smallest, rels[name]) for name, pairs in found.items()),
        tuple(np.array([family_of.get(run) == family for run in runs]) for family in family_names),
        tuple(team_of(collection, run) for run in runs) if collection.teams else None,
        int(limit["top"]),
        alpha,
        resamples,
        int(limit["redrawn"]),
        seed,
    )
    names = [str(m) for m in setup.measures]
    units = [("labels", j, 0) for j in range(len(found))] + [("yardstick", 0, m) for m in range(len(names))]
    units += [("runs", j, m) for j in range(len(found)) for m in range(len(names))]
    what = f"{counted(len(found), 'judge')}, {counted(len(runs), 'run')}"
    done = dict(zip(units, case.run(audited, shared, units, what), strict=True))
    audits = [
        Audit(name, pairs, measure, (scoring.smallest, rels[name]), done["labels", j, 0], yard, done["runs", j, m])
        for j, (name, pairs) in enumerate(found.items())
        for m, measure in enumerate(names)
        for yard in [float(done["yardstick", 0, m]["yardstick"])]
    ]
    favours = {(a.judge, a.measure): _favour_rows(a, family_names, shared, limit) for a in audits if family_names}
    told = {(a.judge, a.measure): _word(limit, a, runs, favours.get((a.judge, a.measure), [])) for a in audits}
    lead = names[leading(setup.measures)]
    worst = min(
        (a for a in audits if a.measure == lead),
        key=lambda a: (WORST_FIRST.index(told[a.judge, lead].word), -a.times),
    )
    about = {name: {worst.judge: said[worst.judge]} for name, said in known.items() if worst.judge in said}
    step = _step(case, worst, others[worst.judge].source, {**about, "families": families})
    drawn: dict[str, Records] = {
        "ranks": _moves(worst, runs, int(limit["top"])),
        "confusion": _pairs_of_grades(worst),
        "decisions": _decided(worst, runs),
        "bias": _biases(worst, runs, family_of),
    }
    columns, rows, layout = _table(show, audits, told, favours, runs, family_of)
    return Answer(
        columns,
        rows,
        _verdict(case, limit, worst, audits, told, favours.get((worst.judge, lead), []), step),
        layout=layout,
        figures=charts(drawn, lead),
        caption=_caption(show, limit),
        settings={
            **setup.settings,
            "judges": {name: other.source for name, other in others.items()},
            "rel of the judges": rels,
            "alpha": alpha,
            "resamples": resamples,
        },
        seed=seed,
        sources=[other.source for other in others.values()],
        data=(lead, drawn),
    )


def _on_both(
    case: Case,
    collection: Collection,
    others: Mapping[str, Judgments],
    scales: Mapping[str, int],
    judge_rel: Any,
    rel: int,
    counts: set[str],
) -> tuple[dict[str, SamePairs], dict[str, int], dict[str, int]]:
    """What the human and each judge have both judged, and the smallest relevant grade of the judges: as given, and in
    use. Notes tell coverage by grade, scales that differ, and grades outside of them."""
    kept = {name: on_scale(other, scales.get(name)) for name, other in others.items()}
    found: dict[str, SamePairs] = {}
    left_out: list[UsageError] = []
    for name, other in kept.items():
        try:
            found[name] = _same_pairs(collection, name, other, counts, scales.get(name))
        except UsageError as problem:
            left_out.append(problem)
    if not found:
        raise left_out[0]
    for why in left_out:
        case.note(f"{why}; left out")
    given = _of_judges("--judge-rel", judge_rel, others, "the smallest relevant grade")
    rels = {name: given.get(name, min(rel, max(pairs.other_top, 1))) for name, pairs in found.items()}
    _tell(case, found, rels, rel)
    for name, pairs in found.items():
        _tell_outside(case, name, others[name], pairs, scales.get(name), case.limits["another-judge"])
    return found, given, rels


def _labels_alone(
    case: Case,
    scoring: UsualScoring,
    others: Mapping[str, Judgments],
    scales: Mapping[str, int],
    judge_rel: Any,
    show: str,
    resamples: int,
    seed: int,
) -> Answer:
    """Without runs: how far the labels agree, and that nothing can be said of runs."""
    if show not in ("", "labels", "confusion"):
        raise UsageError(f"--{show.replace('_', '-')} needs runs (--runs RUN...)")
    collection, rel = case.collection, scoring.smallest
    found, _, rels = _on_both(case, collection, others, scales, judge_rel, rel, set(collection.topics))
    audits = []
    for name, pairs in found.items():
        point, ranges = label_agreement(pairs.tables, pairs.values, rel, rels[name], resamples, seed)
        audits.append(Audit(name, pairs, "", (rel, rels[name]), {"point": point, "ranges": ranges}, math.nan, {}))
    columns, rows, layout = _table(show or "labels", audits, {}, {}, (), {})
    said = "there are no runs, so nothing tells what other judges change; labels alone have no verdict"
    qrels = collection.judgments.source if is_input(collection.judgments.source) else "HUMAN"
    files = [one.source if is_input(one.source) else "OTHER" for one in others.values()]
    given = words_about({"judge_rel": judge_rel, "judge_scale": scales})
    words = ("--runs", "RUN", *(("--rel", str(rel)) if rel > 1 else ()), *given)
    step = Step("name runs, to see what becomes of their order", ("judges", "audit", qrels, *files, *words))
    return Answer(
        columns,
        rows,
        case.limits["another-judge"].unknown(said, step, "there are no runs"),
        layout=layout,
        caption=_caption("labels", case.limits["another-judge"]),
        settings={
            **collection.settings,
            "judges": {name: other.source for name, other in others.items()},
            "rel of the judges": rels,
            "resamples": resamples,
        },
        seed=seed,
        sources=[other.source for other in others.values()],
    )


def other_judges(second: Any, first: str = "") -> dict[str, Judgments]:
    """The other judges by name: a file, a dict, a data frame, a collection, several of them, or {name: one}.

    A file may hold several judges; `first` is the source of the one they are held against.
    """
    if second is None or (isinstance(second, (list, tuple, dict)) and not second):
        raise UsageError("give a second judge: judgments of the same topics by somebody else (--second-judge FILE)")
    if isinstance(second, Mapping) and not is_qrels(second):
        return {str(name): judgments_of(other) for name, other in second.items()}
    given = each_judge(list(second) if isinstance(second, (list, tuple)) else [second], besides=first)
    names = names_of(given)
    return dict(zip(names, map(judgments_of, given), strict=True))


def words_about(judges: Mapping[str, Any]) -> list[str]:
    """What is known of other judges as a command says it: `--judge-rel gpt=4 --families families.tsv`."""
    words: list[str] = []
    for name, value in judges.items():
        flag = f"--{name.replace('_', '-')}"
        if name == "families":
            path = os.fspath(value) if isinstance(value, (str, os.PathLike)) else ""
            words += [flag, path if is_input(path) else "FILE"] if value else []
        else:
            words += [word for judge, grade in dict(value or ()).items() for word in (flag, f"{judge}={grade}")]
    return words


def _table_asked(**flags: bool) -> str:
    """The table that is asked for instead of the main one, by its flag; empty where none is."""
    asked = [name for name, wanted in flags.items() if wanted]
    if len(asked) > 1:
        raise UsageError(f"one table at a time: {' or '.join('--' + name.replace('_', '-') for name in asked)}")
    return "".join(asked)


def _same_pairs(collection: Collection, name: str, other: Judgments, counts: set[str], top: int | None) -> SamePairs:
    """What the human and one judge have both judged, in the topics that count; `top` of its scale where it is told."""
    found = same_pairs(collection.judgments, other)
    found = found if top is None else replace(found, other_top=top)
    kept = [place for place, topic in enumerate(found.topics) if topic in counts]
    if len(kept) < 2:
        raise Unanswerable(f"{name}: the second judge needs at least two topics in common with the first")
    return replace(found, topics=tuple(found.topics[place] for place in kept), tables=found.tables[kept])


def _of_judges(option: str, given: Any, judges: Mapping[str, Any], what: str) -> dict[str, int]:
    """What was said of single judges, by name: {name: grade}, or pairs of them as the command line has them."""
    told = {called(str(name), judges): grade for name, grade in dict(given or ()).items()}
    for name, grade in told.items():
        if name not in judges:
            raise UsageError(f"{option} {name}={grade}: no judge has that name{nearest(name, judges)}")
        if not str(grade).isdecimal() or int(grade) < 1:
            raise UsageError(f"{option} {name}={grade}: {what} is a whole number of 1 or more")
    return {name: int(grade) for name, grade in told.items()}


def _families(case: Case, given: Any, runs: Sequence[str]) -> dict[str, str]:
    """The family of each run that has one."""
    if given is None:
        return {}
    told = read_teams(os.fspath(given), "family") if isinstance(given, (str, os.PathLike)) else dict(given)
    told = {called(run, runs): family for run, family in told.items()}
    without = [run for run in runs if run not in told]
    if len(without) == len(runs):
        raise UsageError(f"the families name none of these runs (e.g. {runs[0]})")
    if without:
        case.note(f"{counted(len(without), 'run')} without a family ({listed(without)}): outside of all of them")
    if absent := [run for run in told if run not in runs]:
        are = "named run is" if len(absent) == 1 else "named runs are"
        case.note(f"families: {len(absent)} {are} not among the runs given (e.g. {absent[0]})")
    alone = [run for run in runs if run not in case.collection.teams]
    if len(alone) == len(runs):
        case.note(
            "favour for a family cannot be tested: teams are not known (--teams FILE), and runs of one team are alike"
        )
    elif alone:
        case.note(f"{counted(len(alone), 'run')} without a team ({listed(alone)}): each is a block of its own")
    return {run: str(told[run]) for run in runs if run in told}


def _tell(case: Case, found: Mapping[str, SamePairs], rels: Mapping[str, int], rel: int) -> None:
    """Notes: coverage by grade, which comes first; grades that do not fit; what counts as relevant."""
    grade = case.collection.judgments.grade
    own = np.unique(grade[grade >= 0])
    if len(own) == 1:
        case.note(f"these judgments give every document grade {int(own[0])}: they tell nothing apart")
    if rel > own.max(initial=0):
        case.note(f"nothing is relevant here: grades end at {own.max(initial=0)}, relevant is {rel} (--rel)")
    for name, pairs in found.items():
        many = f"{pairs.pairs:,} of {counted(pairs.human, 'document')} judged here"
        told = f"{name} has judged {many} (by grade here {_by_grade(pairs)})"
        if pairs.other_only:
            told += f"; {counted(pairs.other_only, 'document')} only it has judged left out"
        case.note(told)
        if rels[name] > pairs.other_top:
            case.note(f"nothing is relevant to {name}: its grades end at {pairs.other_top}, relevant is {rels[name]}")
        given = pairs.values[pairs.tables.sum(axis=(0, 1)) > 0]
        if len(given) == 1:
            case.note(f"{name} gives every document grade {int(given[0])}: its labels tell nothing apart")
        if not pairs.one_scale:
            case.note(
                f"{name} gives grades up to {pairs.other_top}, these judgments up to {pairs.human_top}: two scales, so "
                f"only relevant (here from {rel}, there from {rels[name]}; --judge-rel) and nonrelevant are compared"
            )


def _tell_outside(case: Case, name: str, other: Judgments, pairs: SamePairs, top: int | None, limit: Threshold) -> None:
    """Notes: grades outside the judge's scale, with their lines; nothing is left out in silence."""
    below = np.flatnonzero(other.grade < 0)
    if len(below):
        is_told = "counts" if len(below) == 1 else "count"
        case.note(f"{counted(len(below), 'grade')} of {name} below 0 {is_told} as unjudged: {_places(other, below)}")
    highest = pairs.human_top if top is None else top
    above = np.flatnonzero(other.grade > highest)
    if not len(above):
        return
    many = f"{counted(len(above), 'grade')} of {name} above {highest}"
    if top is not None:
        case.note(f"{many}, the end of its scale, left out: {_places(other, above)}")
    elif len(above) < limit["outside"] * len(other):
        case.note(f"{many}, outside of its scale? {_places(other, above)} (--judge-scale {name}={highest} leaves out)")


def _places(judgments: Judgments, rows: npt.NDArray[np.int64]) -> str:
    """`line 9 (grade 7), line 12 (grade 5)`; topic and document where no line of a file is known."""
    shown = rows[:SHOWN_LINES].tolist()
    pairs = [(judgments.topics[int(judgments.topic[row])], judgments.docs[row]) for row in shown]
    lines = line_numbers(judgments.source, pairs)
    told = [
        f"{f'line {line}' if line else f'document {doc} of topic {topic}'} (grade {int(judgments.grade[row])})"
        for row, (topic, doc), line in zip(shown, pairs, lines, strict=True)
    ]
    more = f" and {len(rows) - len(told):,} more" if len(rows) > len(told) else ""
    return ", ".join(told) + more


def _scored(
    measures: Sequence[Measure], collection: Collection, pairs: SamePairs, rel: Any, runs: Sequence[str]
) -> tuple[Floats, Floats]:
    """Measures x topics x runs under the human and under the other judge."""
    human, other = under_both(collection, pairs)
    asked = judged_from(measures, None if rel is None else int(rel), pairs.other_top)
    return score_matrices(human, measures, pairs.topics, runs), score_matrices(other, asked, pairs.topics, runs)


# -- what was found


@dataclass(frozen=True, eq=False)
class Audit:
    """One judge by one measure."""

    judge: str
    pairs: SamePairs
    measure: str
    rels: tuple[int, int]
    labels: Arrays
    yardstick: float
    arrays: Arrays

    @property
    def holm(self) -> Changes:
        """Decisions that change, adjusted for the number of pairs."""
        return Changes(*map(int, self.arrays["changes"][0]))

    @property
    def plain(self) -> Changes:
        """The same without adjustment."""
        return Changes(*map(int, self.arrays["changes"][1]))

    @property
    def times(self) -> float:
        """The share of changed decisions, in yardsticks."""
        changed = self.holm.changed
        return changed / self.yardstick if self.yardstick else 0.0 if not changed else math.inf

    @property
    def top_tau(self) -> float:
        """tau among the human's best runs."""
        return float(self.arrays["order"][FIGURES.index("top_tau"), 0])

    def label(self, statistic: str) -> tuple[float, float, float] | None:
        """Value and ends of the interval; None where the scales do not allow it."""
        if statistic in GRADED and not self.pairs.one_scale:
            return None
        place = STATISTICS.index(statistic)
        low, high = self.labels["ranges"][place].tolist()
        return float(self.labels["point"][place]), low, high


@dataclass(frozen=True)
class Word:
    """A word, and what decided it."""

    word: str
    reason: str


def _word(limit: Threshold, audit: Audit, runs: Sequence[str], favours: Sequence[Row]) -> Word:
    """By three numbers: changed decisions in yardsticks, reversals, tau among the best runs (docs/judges.md)."""
    if why := _unknown(limit, audit, runs):
        return Word("unknown", why)
    reversals = audit.plain.reversals
    few = reversals <= limit["reversals"] * audit.plain.pairs
    tau = audit.top_tau
    words = {
        "changed decisions": limit.word(audit.times),
        "reversals": "solid" if not reversals else "with care" if few else "fragile",
        "tau of the best runs": "solid"
        if tau >= limit["top_tau_solid"]
        else "with care"
        if tau >= limit["top_tau_care"]
        else "fragile",
        "favour for a family": "with care" if _favoured(favours)["found"] else "solid",
    }
    reason = min(words, key=lambda name: WORST_FIRST.index(words[name]))
    return Word(words[reason], reason)


def _favoured(favours: Sequence[Row]) -> dict[str, list[str]]:
    """The families a judge is found, or suspected, to favour or to treat badly, each with its favour."""
    at = [FAMILIES.index(name) for name in ("finding", "family", "favour")]
    told: dict[str, list[str]] = {"found": [], "suspected": []}
    for finding, family, effect in ([row[place] for place in at] for row in favours):
        if finding in told:
            told[finding].append(f"{family} ({effect:+.3f})")
    return told


def _unknown(limit: Threshold, audit: Audit, runs: Sequence[str]) -> str:
    """Why nothing can be said of this judge; empty where something can."""
    pairs = audit.pairs
    few = limit.too_few(runs=len(runs), topics=len(pairs.topics))
    if few:
        return few
    if pairs.uneven > limit["uneven"]:
        least, most = (pick(pairs.shares, key=pairs.shares.__getitem__) for pick in (min, max))
        shares = f"{percent(pairs.shares[most])} of grade {most} but {percent(pairs.shares[least])} of grade {least}"
        return f"the documents of {audit.judge} were chosen by their label: it has judged {shares}"
    if pairs.covered < limit["covered"]:
        needed = percent(limit["covered"])
        only = f"{audit.judge} has judged only {percent(pairs.covered)}"
        return f"{only} of the documents judged here ({needed} are needed)"
    significant = audit.holm.significant_human
    if significant < limit["significant"]:
        enough = f"at least {limit['significant']:g} are needed"
        return f"only {counted(significant, 'pair')} of runs differ significantly under these judgments ({enough})"
    if math.isnan(audit.top_tau):
        return "the best runs all have one score, so they have no order"
    return ""


def _verdict(
    case: Case,
    limit: Threshold,
    worst: Audit,
    audits: Sequence[Audit],
    told: Mapping[Any, Word],
    favours: Sequence[Row],
    step: Step,
) -> Verdict:
    """The verdict of the leading measure, for the judge who changes most; other words are named."""
    own, changes = told[worst.judge, worst.measure], worst.holm
    several = len({a.judge for a in audits})
    place = "one" if own.word == "unknown" else "the worst"
    who = f"{worst.judge}, {place} of {several} judges," if several > 1 else worst.judge
    what = f"of {changes.pairs:,} decisions between two runs by {worst.measure}, {who} changes"
    if own.word == "unknown":
        sentence = f"{own.reason}; {what} {percent(changes.changed)}"
        if worst.pairs.uneven > limit["uneven"]:  # few changes among chosen documents would be quoted as agreement
            sentence = f"{own.reason}, so what changes by {worst.measure} says nothing about the others"
        elif not changes.significant_human and not changes.significant_judge:
            sentence = f"{own.reason}; by {worst.measure} no two runs differ significantly here or under {who}"
    else:
        top = min(int(limit["top"]), worst.arrays["runs"].shape[1])
        kinds = f"{counted(changes.false_alarms, 'false alarm')}, {counted(changes.misses, 'miss', 'misses')}"
        as_many = f"{worst.times:.1f} times as many as other topics would"
        if math.isinf(worst.times):
            as_many = "and other topics would change none"
        reversed_ = counted(worst.plain.reversals, "pair") if worst.plain.reversals else "no pair"
        sentence = (
            f"{what} {percent(changes.changed)} ({kinds}), {as_many}; without adjustment it reverses {reversed_}, and "
            f"tau among the best {top} runs is {worst.top_tau:.2f}"
        )
        kinds_of = _favoured(favours)
        sentence += f"; it treats {listed(kinds_of['found'])} differently from other runs" if kinds_of["found"] else ""
        sentence += f"; it may favour {listed(kinds_of['suspected'])}" if kinds_of["suspected"] else ""
        sentence += f"; decided by {own.reason}" if own.word != "solid" else ""
    sentence += _other_words(worst, audits, told)
    finding = f"{who} changes {percent(changes.changed)} of {changes.pairs:,} decisions between runs"
    decided = (worst.judge, own.reason)
    return Verdict(own.word, sentence, worst.times, limit.unit, limit.sentence, decided, step, finding)


def _step(case: Case, worst: Audit, source: str, about: Mapping[str, Any]) -> Step:
    """What to ask next: the gains of every run under this judge, with all that was said of it."""
    return case.step(
        f"see which runs gain and lose under {worst.judge}",
        "study",
        "judges",
        flags=[
            *("--second-judge", source if is_input(source) else "FILE"),
            *(("--rel", str(worst.rels[0])) if worst.rels[0] > 1 else ()),
            *words_about(about),
            *("-m", worst.measure, "--bias"),
        ],
    )


def _other_words(worst: Audit, audits: Sequence[Audit], told: Mapping[Any, Word]) -> str:
    """What the worst judge is by other measures, and the other judges by this one: `; by AP it needs care`."""
    own = told[worst.judge, worst.measure].word
    measures: dict[str, list[str]] = {}
    judges: dict[str, list[str]] = {}
    for audit in audits:
        word = told[audit.judge, audit.measure].word
        if audit.judge == worst.judge and word != own:
            measures.setdefault(word, []).append(audit.measure)
        if audit.measure == worst.measure and audit.judge != worst.judge:
            judges.setdefault(word, []).append(audit.judge)
    said = [f"by {listed(names, 6)} it {SAID[word][0]}" for word, names in measures.items()]
    for word in reversed(WORST_FIRST):
        if names := judges.get(word, []):
            who = f"the other {len(names)} judges" if len(judges) == 1 and len(names) > 1 else listed(names, 6)
            said.append(f"{who} {SAID[word][len(names) > 1]}{SAID[word][2] if word == own else ''}")
    return "".join(f"; {one}" for one in said)


def nobody_else(collection: Collection, limits: Thresholds) -> Verdict:
    """The verdict where nobody judged a document twice: nothing can be said, and what would change that."""
    qrels, *runs = words_of(collection)
    step = Step(
        "have the documents judged a second time, by a person or a machine",
        ("judges", "audit", qrels, "SECOND", "--runs", *runs),
        "answers the question that is unknown now",
    )
    said = "nobody judged a document twice, so we cannot test this"
    return limits["another-judge"].unknown(said, step, "nobody judged a document twice")


def _favour_rows(audit: Audit, families: Sequence[str], shared: Shared, limit: Threshold) -> list[Row]:
    """One row per family: its favour, adjusted for all families named, those that cannot be tested, too."""
    found = audit.arrays["families"]
    rows: list[Row] = []
    within = [[] if shared.teams is None else blocks_of(shared.teams, inside)[1] for inside in shared.families]
    blocks = [(sum(w), len(w) - sum(w)) for w in within]
    enough = [w >= limit["blocks_inside"] and b >= limit["blocks_outside"] for w, b in blocks]
    adjusted = [holm(np.where(enough, found[:, column], 1.0)) for column in (3, 7)]
    for place, family in enumerate(families):
        effect, low, high, p, curved, curved_low, curved_high, curved_p = found[place].tolist()
        straight, bent = (
            side[place] < limit["family_p"] and (ends[0] > 0 or ends[1] < 0)
            for side, ends in zip(adjusted, ((low, high), (curved_low, curved_high)), strict=True)
        )
        finding = "unknown" if not enough[place] else "found" if straight else "suspected" if bent else "none"
        sizes = int(shared.families[place].sum()), *((None, None) if shared.teams is None else blocks[place])
        p_values = (p, float(adjusted[0][place])) if enough[place] else (None, None)
        curve = (curved_p, float(adjusted[1][place])) if enough[place] else (None, None)
        told = (effect, low, high, *p_values, finding, sizes[2], curved, curved_low, curved_high, *curve)
        rows.append((audit.judge, audit.measure, family, *sizes[:2], *told))
    return rows


# -- tables


def _table(
    show: str,
    audits: Sequence[Audit],
    told: Mapping[Any, Word],
    favours: Mapping[Any, list[Row]],
    runs: Sequence[str],
    family_of: Mapping[str, str],
) -> tuple[Sequence[str], list[Row], Any]:
    """The columns, rows and layout that were asked for."""
    each = list({audit.judge: audit for audit in audits}.values())
    if show == "labels":
        columns = (*LABELS, *(f"coverage_{grade}" for grade in each[0].pairs.coverage))
        return columns, [_label_row(audit) for audit in each], lambda: _labels_laid_out(each)
    if show == "confusion":
        return CONFUSION, [row for audit in each for row in _confusion_rows(audit)], None
    if show == "bias":
        return BIAS, [row for audit in audits for row in _bias_rows(audit, runs, family_of)], None
    if show == "families_table":
        if not favours:
            raise UsageError("families need to be named: --families FILE, a TSV run<TAB>family")
        found = [row for rows in favours.values() for row in rows]
        return FAMILIES, found, lambda: _families_laid_out(found)
    rows = [_row(audit, told[audit.judge, audit.measure], len(runs)) for audit in audits]
    return COLUMNS, rows, lambda: _laid_out(rows, audits)


def _row(audit: Audit, word: Word, runs: int) -> Row:
    changes, plain, means = audit.holm, audit.plain, audit.arrays["runs"]
    bias = means[1] - means[0]
    kappa, leniency = (audit.label(statistic) or (math.nan,) for statistic in ("kappa_binary", "leniency"))
    return (
        *(audit.judge, audit.measure, *audit.rels, len(audit.pairs.topics), runs, audit.pairs.pairs),
        *(audit.pairs.covered, kappa[0], leniency[0], *audit.arrays["order"].ravel().tolist()),
        *(changes.pairs, changes.significant_human, changes.significant_judge, changes.false_alarms, changes.misses),
        *(changes.reversals, changes.changed, changes.false_alarm_rate, changes.miss_rate, audit.yardstick),
        *(audit.times, plain.changed, plain.reversals, exact_mean(means[0]), exact_mean(means[1]), exact_mean(bias)),
        *(float(bias.std(ddof=1)), word.word, word.reason),
    )


def _laid_out(rows: Sequence[Row], audits: Sequence[Audit]) -> Table:
    """What fits on a screen, coverage by grade first; the other formats have every column."""
    head = ["judge", "judged, by grade", "relevant from", "measure", "kappa", "tau", "top tau", "range", "significant"]
    head += ["judge's", "false alarms", "misses", "changed", "x yardstick", "reversals", "spread", "word"]
    body: list[Row] = []
    for row, audit in zip(rows, audits, strict=True):
        r = dict(zip(COLUMNS, row, strict=True))
        ends = [_told(r["top_tau_low"], 2), _told(r["top_tau_high"], 2)]
        span = " to ".join(ends) if all(ends) else ""
        cells = [r["judge"], _by_grade(audit.pairs), _grades_told(audit), r["measure"], _told(r["kappa_binary"], 2)]
        cells += [_told(r["tau"], 3), _told(r["top_tau"], 2), span, r["significant_human"], r["significant_judge"]]
        cells += [r["false_alarms"], r["misses"], percent(r["changed"]), _told(r["times_yardstick"], 1)]
        cells += [r["reversals_uncorrected"], _told(r["spread"], 3)]
        body.append([*((Shown(c) if c else None) if isinstance(c, str) else c for c in cells), r["word"]])
    return head, body


def _told(value: float, digits: int) -> str:
    """A number for the screen; nothing where there is none (constant labels have no tau, no yardstick no multiple)."""
    return f"{value:.{digits}f}" if math.isfinite(value) else ""


def _by_grade(pairs: SamePairs) -> str:
    """The share of each grade's documents that the judge has judged: `0: 8 %, 1 to 3: 100 %`."""
    said: list[tuple[list[int], str]] = []
    for grade, share in pairs.shares.items():
        text = percent(share) if share in (0.0, 1.0) or 0.01 < share < 0.995 else f"{100 * share:.2f} %"
        if said and said[-1][1] == text:
            said[-1][0].append(grade)
        else:
            said.append(([grade], text))
    return ", ".join(f"{g[0]}: {text}" if len(g) == 1 else f"{g[0]} to {g[-1]}: {text}" for g, text in said)


def _grades_told(audit: Audit) -> str:
    """The smallest relevant grade here, and that of the judge where it is another one."""
    here, there = audit.rels
    return str(here) if here == there else f"{here}, judge {there}"


def _label_row(audit: Audit) -> Row:
    pairs = audit.pairs
    found = {name: audit.label(name) or (None, None, None) for name in STATISTICS}
    return (
        *(audit.judge, pairs.pairs, pairs.covered, *(found[name][0] for name in (*STATISTICS[:6], "leniency"))),
        *(*found["kappa_binary"][1:], found["agreement_binary"][0], found["grade_difference"][0]),
        *(pairs.human - pairs.pairs, pairs.other_only, *audit.rels),
        *(None if math.isnan(sure) else sure for sure in mean_confidence(pairs, *audit.rels)),
        *(end for v in found.values() for end in v[1:]),
        *pairs.shares.values(),
    )


def _labels_laid_out(audits: Sequence[Audit]) -> Table:
    """Judges side by side, every figure with its interval; what no two scales allow is left out."""
    known = [name for name in STATISTICS if any(audit.label(name) for audit in audits)]
    body: list[Row] = []
    sure = any(audit.pairs.sure is not None for audit in audits)
    for audit in audits:
        figures = [audit.label(name) for name in known]
        told = [None if v is None else Shown(f"{v[0]:.2f} [{v[1]:.2f}, {v[2]:.2f}]") for v in figures]
        if sure:
            means = [_told(mean, 2) or "-" for mean in mean_confidence(audit.pairs, *audit.rels)]
            told.append(Shown(", ".join(means)) if audit.pairs.sure is not None else None)
        body.append((audit.judge, _by_grade(audit.pairs), audit.pairs.pairs, Shown(_grades_told(audit)), *told))
    names = [name.replace("_", " ") for name in known] + ["confidence: same, differs"] * sure
    return ["judge", "judged, by grade", "documents", "relevant from", *names], body


def _families_laid_out(rows: Sequence[Row]) -> Table:
    head = ["judge", "measure", "family", "runs", "blocks", "outside", "favour", "range", "p", "adjusted", "curved p"]
    body: list[Row] = []
    for row in rows:
        r = dict(zip(FAMILIES, row, strict=True))
        span = f"{r['low']:+.3f} to {r['high']:+.3f}"
        tests = [None if r[c] is None else Shown(f"{r[c]:.3f}") for c in ("p_value", "p_adjusted", "curved_p_adjusted")]
        cells = [*row[:5], r["blocks_outside"], Shown(f"{r['favour']:+.3f}"), Shown(span), *tests, r["finding"]]
        body.append(cells)
    return [*head, "finding"], body


def _confusion_rows(audit: Audit) -> list[Row]:
    values, table = audit.pairs.values.tolist(), audit.pairs.tables.sum(axis=0).tolist()
    return [(audit.judge, g, h, table[i][j]) for i, g in enumerate(values) for j, h in enumerate(values)]


def _bias_rows(audit: Audit, runs: Sequence[str], family_of: Mapping[str, str]) -> list[Row]:
    human, other, low, high = audit.arrays["runs"]
    places = ranks(human).tolist(), ranks(other).tolist()
    values = zip(human.tolist(), other.tolist(), (other - human).tolist(), low.tolist(), high.tolist(), strict=True)
    return [
        (audit.judge, audit.measure, run, family_of.get(run), *own[2:], *own[:2], places[0][r], places[1][r])
        for r, (run, own) in enumerate(zip(runs, values, strict=True))
    ]


def _caption(show: str, limit: Threshold) -> str:
    if show == "bias":
        return "Mean over topics under the other judge minus that under these judgments, with its 95 % interval."
    if show == "families_table":
        return (
            "favour: score a family gets from the judge beyond what its score under these judgments explains; its "
            "range on redrawn topics; p by permuting the family between blocks (teams; one with runs inside "
            "and outside is two), adjusted (Holm) for all families; curved p: the same, adjusted, with a curve in "
            "place of the straight line."
        )
    if show in ("labels", "confusion"):
        return "Documents both have judged; intervals from redrawn topics."
    return (
        f"judged, by grade: share of the documents of each grade here that the judge has judged, too; only documents "
        f"both have judged count. top tau: among the best {limit['top']:g} runs; its range on redrawn topics, no "
        "confidence interval. Decisions between two runs by paired t tests (Holm): changed in all, and in yardsticks, "
        "the share that changes with the topics alone; reversals without adjustment. spread: of the runs' gains."
    )


# -- charts: of the leading measure, for the judge who changes most


def charts(drawn: Mapping[str, Records], measure: str) -> dict[str, Chart]:
    """The charts by name, from the rows of each."""
    return {
        "ranks": rank_lines(drawn["ranks"], measure),
        "confusion": grade_map(drawn["confusion"]),
        "decisions": decision_map(drawn["decisions"], measure),
        "bias": bias_of_runs(drawn["bias"], measure),
    }


def _moves(audit: Audit, runs: Sequence[str], top: int) -> Records:
    """The rank of every run under either judge; of the best runs, those that move farthest are named."""
    first, second = (ranks(means).tolist() for means in audit.arrays["runs"][:2])
    best = [r for r in range(len(runs)) if first[r] <= top and first[r] != second[r]]
    named = set(sorted(best, key=lambda r: (-abs(first[r] - second[r]), first[r]))[:NAMED])
    return [
        {"judge": audit.judge, "run": run, "first": first[r], "second": second[r], "name": run if r in named else ""}
        for r, run in enumerate(runs)
    ]


def _pairs_of_grades(audit: Audit) -> Records:
    """Every pair of grades with its number of documents, and the share of the first judge's documents of that grade."""
    table = audit.pairs.tables.sum(axis=0)
    whole = np.maximum(table.sum(axis=1), 1)
    values = audit.pairs.values.tolist()
    return [
        {"grade": g, "other": h, "documents": int(table[i, j]), "share": float(table[i, j] / whole[i])}
        | {"judge": audit.judge, "scales": 1 if audit.pairs.one_scale else 2}
        for i, g in enumerate(values)
        for j, h in enumerate(values)
        if table[i].any() and table[:, j].any()
    ]


def _decided(audit: Audit, runs: Sequence[str]) -> Records:
    """What becomes of the decision between every two of the best runs, the better one (here) first."""
    human, other = audit.arrays["decisions"].astype(int)
    means = audit.arrays["runs"][0]
    order = sorted(range(len(runs)), key=lambda r: (-means[r], runs[r]))[:MOST_RUNS]
    place = {r: rank for rank, r in enumerate(order)}
    found: Records = []
    for pair, (a, b) in enumerate(itertools.combinations(range(len(runs)), 2)):
        if a not in place or b not in place:
            continue
        h, o = int(human[pair]), int(other[pair])
        what = "reversal" if h * o < 0 else "miss" if h and not o else "false alarm" if o and not h else ""
        what = what or ("decided by both" if h else "open for both")
        better, worse = (a, b) if place[a] < place[b] else (b, a)
        pair_of = {"judge": audit.judge, "better": runs[better], "worse": runs[worse]}
        found.append({**pair_of, "decision": what, "at": place[better]})
    return sorted(found, key=lambda row: (row["at"], place[runs.index(row["worse"])]))


def _biases(audit: Audit, runs: Sequence[str], family_of: Mapping[str, str]) -> Records:
    """What every run gains under the other judge, with its interval; the mean of all runs beside it."""
    human, other, low, high = audit.arrays["runs"]
    gain = other - human
    shift = exact_mean(gain)
    rows = [
        {"run": run, "family": family_of.get(run, "other" if family_of else "all runs"), "gain": float(gain[r])}
        | {"low": float(low[r]), "high": float(high[r]), "shift": shift, "judge": audit.judge}
        for r, run in enumerate(runs)
    ]
    return sorted(rows, key=lambda row: (-row["gain"], row["run"]))


def rank_lines(rows: Records, measure: str) -> Chart:
    """A line per run, from its rank under these judgments to its rank under the other judge's.

    `rows`: run, first, second (ranks), name (where it is written beside the line), and collection where there are
    several.
    """
    moved = sum(row["first"] != row["second"] for row in rows)
    here, there = "these judgments", _judge_of(rows)
    last = max((row[side] for row in rows for side in ("first", "second")), default=1)
    height = max(320, min(9 * last, TALLEST))
    named_rows = sorted((row for row in rows if row["name"]), key=lambda row: row["second"])
    written_at = _apart([row["second"] for row in named_rows], NAME_HEIGHT * last / height)
    label = {(row.get("collection"), row["run"]): at for row, at in zip(named_rows, written_at, strict=True)}
    points = [
        {**row, "judge": judge, "rank": row[side], "label": label.get((row.get("collection"), row["run"]), row[side])}
        for row in rows
        for judge, side in ((here, "first"), (there, "second"))
    ]
    ends = {"values": [here, there], "labelAngle": 0, "title": None}
    x = marks.field("judge", "ordinal", title="", scale={"domain": [here, there, " "]}, axis=ends)
    y = marks.rank_axis(last)
    common = {"x": x, "y": y, "detail": {"field": "run"}, "tooltip": marks.tips("run", "first", "second")}
    named = {"test": "datum.name !== ''"}
    lines = marks.layer(
        "line",
        {"point": {"size": 22}},
        **common,
        color={"condition": {**named, "value": theme.VERMILION}, "value": theme.GREY},
        opacity={"condition": {**named, "value": 1}, "value": 0.45},
        strokeWidth={"condition": {**named, "value": 2.5}, "value": 1},
    )
    beside = {"align": "left", "dx": 8, "fontSize": 10}
    written = marks.layer("text", beside, x=x, y={**y, "field": "label"}, text={"field": "name"})
    names = {**written, "transform": [{"filter": {"field": "judge", "equal": there}}, {"filter": named["test"]}]}
    told = [row["name"] for row in rows if row["name"]]
    said = (
        f"Rank of {len(rows)} runs by {measure} under these judgments and under {there}; {moved} change rank"
        f"{f'; of the best runs {listed(told, NAMED)} move farthest' if told else ''}."
    )
    return lambda result: marks.chart(points, said, lines, names, width=360, height=height)


def _apart(places: Sequence[float], gap: float) -> list[float]:
    """Places (ascending), the lower ones moved down where they are nearer than the gap: names are not written over."""
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + gap) if found else place)
    return found


def _judge_of(rows: Records) -> str:
    """The judge a chart is about; several collections may have different ones."""
    known = {row["judge"] for row in rows}
    return known.pop() if len(known) == 1 else "the other judge"


def grade_map(rows: Records) -> Chart:
    """A field for each pair of grades: how many documents, and (colour) what share of the first judge's grade."""
    judge = _judge_of(rows)
    x = marks.field("other", "ordinal", title=f"grade of {judge}", axis=marks.UPRIGHT)
    y = marks.field("grade", "ordinal", title="grade here", sort="descending")
    colour = marks.field("share", title="share of the row", scale={"scheme": theme.AMOUNT, "domain": [0, 1]})
    tooltip = marks.tips("grade", "other", "documents", ("share", ".0%"))
    white = {"condition": {"test": "datum.share < 0.55", "value": theme.ON_STRONG}, "value": theme.ON_PALE}
    many = sum(row["documents"] for row in rows)
    same = sum(row["documents"] for row in rows if row["grade"] == row["other"])
    told = (
        "on two scales" if any(row["scales"] > 1 for row in rows) else f"{percent(same / max(many, 1))} have one grade"
    )
    said = f"Grades of {many:,} documents here and by {judge}; {told}."
    fields = marks.layer("rect", {"stroke": theme.GREY, "strokeWidth": 0.3}, x=x, y=y, color=colour, tooltip=tooltip)
    counts = {"field": "documents", "type": "quantitative", "format": ",d"}
    numbers = marks.layer("text", {"fontSize": 11, "aria": False}, x=x, y=y, text=counts, color=white)
    return lambda result: marks.chart(rows, said, fields, numbers, width=260, height=220)


def decision_map(rows: Records, measure: str) -> Chart:
    """A field for each pair of runs, best run first: do both judges decide alike?"""
    runs = list(dict.fromkeys(name for row in rows for name in (row["better"], row["worse"])))
    order = [*dict.fromkeys(row["better"] for row in rows), *runs[-1:]]
    domain, colours = list(DECISIONS), [colour for colour, _ in DECISIONS.values()]
    size = max(12, min(24, 420 // max(len(order), 1)))
    small = {"labelFontSize": min(11, size - 3)}
    x = {**marks.names("worse", order, "run with the lower mean here"), "axis": {**small, "labelAngle": -90}}
    y = {**marks.names("better", order, "run with the higher mean here"), "axis": small}
    signs = {kind: f"{sign} {kind}" for kind, (_, sign) in DECISIONS.items() if sign}
    legend = {"labelExpr": f"({json.dumps(signs)})[datum.label] || datum.label"}
    scale = {"domain": domain, "range": colours}
    colour = marks.field("decision", "nominal", f"here and by {_judge_of(rows)}", scale=scale, legend=legend)
    shown = [{**row, "sign": DECISIONS[row["decision"]][1]} for row in rows]
    told = ", ".join(f"{sum(r['decision'] == kind for r in rows):,} {kind}" for kind in domain)
    tips = marks.tips("better", "worse", "decision")
    fields = marks.layer("rect", {"stroke": "white", "strokeWidth": 0.3}, x=x, y=y, color=colour, tooltip=tips)
    look = {"fontSize": size - 2, "aria": False, "color": theme.ON_PALE}
    written = marks.layer("text", look, x=x, y=y, text={"field": "sign"})
    signed = {**written, "transform": [{"filter": "datum.sign !== ''"}]}
    which = f"the best {MOST_RUNS} runs" if len(order) == MOST_RUNS else "runs"
    said = f"Decisions between {which} by {measure} (paired t tests, Holm) here and by {_judge_of(rows)}: {told}."
    return lambda result: marks.chart(shown, said, fields, signed, width={"step": size}, height={"step": size})


def bias_of_runs(rows: Records, measure: str) -> Chart:
    """A dot per run with its interval: what it gains under the other judge, by family; a line at the mean of all."""
    families = sorted({row["family"] for row in rows})
    y = marks.names("run", [row["run"] for row in rows])
    tooltip = marks.tips("run", "family", ("gain", ".4f"), ("low", ".4f"), ("high", ".4f"))
    judge = _judge_of(rows)
    title = f"{measure} under {judge} minus here"
    colour = {} if len(families) < 2 else {"color": theme.colour("family", families, title="family")}
    shape = {} if len(families) < 2 else {"shape": theme.shape("family", families, title="family")}
    ends = {"x": marks.field("low", title=title), "x2": {"field": "high"}}
    spread = max((row["gain"] for row in rows), default=0) - min((row["gain"] for row in rows), default=0)
    said = (
        f"What each of {len(rows)} runs gains by {measure} under {judge}, with 95 % intervals; the line is the "
        f"common shift, which is harmless; gains differ by up to {spread:.3f}."
    )
    return lambda result: marks.chart(
        rows,
        said,
        marks.layer("rule", {"color": theme.quiet(), "strokeDash": [4, 3]}, x=marks.field("shift", title=title)),
        marks.layer("rule", {}, **ends, y=y, **colour),
        marks.layer(
            "point", {"opacity": 1}, x=marks.field("gain", title=title), y=y, tooltip=tooltip, **colour, **shape
        ),
        width=380,
        height={"step": 13},
    )
