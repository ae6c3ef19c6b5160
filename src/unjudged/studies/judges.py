"""Would another judge change it? An audit of other judges, people or machines, against the human judgments.

What another judge does to labels, to the order of the runs, to the decisions between them and to single runs or
families of runs. Never judged by a correlation alone: all runs together are easy to order, the best ones are not.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.changes.rejudge import judgments_of
from unjudged.collection import Collection, Judgments
from unjudged.errors import UsageError, nearest
from unjudged.figures import Records, marks, theme
from unjudged.io.teams import read_teams
from unjudged.judges.agreement import is_qrels, names_of
from unjudged.judges.decisions import Changes, decisions, yardstick
from unjudged.judges.families import blocks_of, favour
from unjudged.judges.labels import GRADED, STATISTICS, SamePairs, label_agreement, same_pairs
from unjudged.judges.order import FIGURES, order_agreement
from unjudged.judges.scores import judged_from, judged_share, score_matrices, under_both
from unjudged.measures import Measure
from unjudged.options import check
from unjudged.results import WORST_FIRST, Row, Shown, Verdict
from unjudged.statistics.multiple import holm
from unjudged.statistics.paired import mean_interval
from unjudged.statistics.pairs import exact_mean, mean_scores
from unjudged.statistics.ranks import ranks
from unjudged.studies.engine import Answer, Answers, Case, Chart, Runs, Table, UsualScoring, leading, prepare, register
from unjudged.studies.engine.setup import check_topic_scores, team_of
from unjudged.studies.engine.workdir import Arrays
from unjudged.text import counted, listed, percent
from unjudged.thresholds import Threshold

Floats = npt.NDArray[np.float64]

SHOWN = ("judges", "labels", "confusion", "runs", "families")
COLUMNS = (
    *("judge", "measure", "rel", "judge_rel", "topics", "runs", "documents", "covered", "kappa_binary", "leniency"),
    *(f"{figure}{end}" for figure in FIGURES for end in ("", "_low", "_high")),
    *("pairs", "significant", "significant_judge", "false_alarms", "misses", "reversals", "changed"),
    *("false_alarm_rate", "miss_rate", "yardstick", "times_yardstick", "changed_uncorrected"),
    *("reversals_uncorrected", "mean", "mean_judge", "shift", "spread", "verdict", "decided_by"),
)
LABELS = ("judge", "statistic", "value", "low", "high")
CONFUSION = ("judge", "grade", "judge_grade", "documents")
RUNS = ("judge", "measure", "run", "family", "mean", "mean_judge", "difference", "low", "high", "rank", "rank_judge")
FAMILIES = (
    *("judge", "measure", "family", "runs", "blocks_inside", "blocks_outside", "effect", "low", "high", "p_value"),
    *("p_adjusted", "curved_effect", "curved_low", "curved_high", "curved_p", "curved_p_adjusted", "finding"),
)
PERMUTATIONS = 999
SIDES = {"this judge": "first", "the other judge": "second"}


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
    teams: tuple[str, ...]
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
    counts = [
        Changes.between(decisions(human, shared.alpha, how), decisions(other, shared.alpha, how))
        for how in ("holm", "none")
    ]
    low, high = mean_interval(other - human)
    return {
        "order": np.column_stack([point, ranges]),
        "changes": np.array([[*vars(changes).values()] for changes in counts]),
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
    """The ranks of all collections, each in its own field."""
    known = [(case.name, *answer.data) for case, answer in answers if answer.data is not None]
    rows = [{"collection": name, **row} for name, _, own in known for row in own]
    return {"ranks": rank_lines(rows, known[0][1])} if known else {}


@register(
    "judges",
    help="what other judges, people or machines, would change: labels, order of the runs, decisions, favour",
    cite="voorhees1998",
    figures={"": ("ranks",)},
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
    families: Any = None,
    show: str = "judges",
    alpha: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
) -> Answer:
    """Would another judge change it?

    Every other judge (a person, a crowd, a machine, an older version) is held against these judgments on the documents
    both have judged. One row per judge and measure: how the labels agree, how far the runs keep their order (tau,
    tau_AP, overlap and tau of the best runs, rank-biased overlap; each with its range on redrawn topics), and which
    decisions between two runs (paired t tests, Holm) change: false alarms, misses, reversals, beside a yardstick, the
    share that changes when only the topics are drawn again. `show` gives another table: labels (coverage by grade,
    kappa, alpha, leniency), confusion, runs (how much each run gains or loses), families (is a family of runs
    favoured?). The smallest relevant grade of the other judge is that of these judgments, or its highest grade where
    that is lower; `judge_rel` sets it.
    """
    check("alpha", alpha)
    check("resamples", resamples)
    check("seed", seed)
    if show not in SHOWN:
        raise UsageError(f"show can be {', '.join(SHOWN)}, not {show!r}{nearest(show, SHOWN)}")
    others = _others(second)
    setup = prepare(case, scoring, Runs(seed=seed))
    check_topic_scores(setup.measures)
    limit, collection = case.limits["another-judge"], setup.collection
    counts = {topic for topic, there in zip(collection.topics, setup.counted, strict=True) if there}
    found = {name: _same_pairs(collection, name, other, counts) for name, other in others.items()}
    rels = _relevant(scoring.smallest, judge_rel, found)
    runs = sorted(collection.runs)
    family_of = _families(case, families, runs)
    family_names = sorted(set(family_of.values()))
    _tell(case, found, rels, scoring.smallest)
    given = dict(judge_rel or {})
    sides = [_scored(setup.measures, collection, pairs, given.get(name), runs) for name, pairs in found.items()]
    shared = Shared(
        score_matrices(collection, setup.measures, sorted(counts), runs),
        tuple(human for human, _ in sides),
        tuple(other for _, other in sides),
        tuple(judged_share(collection, pairs.topics, runs) for pairs in found.values()),
        tuple((pairs.tables, pairs.values, scoring.smallest, rels[name]) for name, pairs in found.items()),
        tuple(np.array([family_of.get(run) == family for run in runs]) for family in family_names),
        tuple(team_of(collection, run) for run in runs),
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
    worst = min((a for a in audits if a.measure == lead), key=lambda a: WORST_FIRST.index(told[a.judge, lead].word))
    moves = _moves(worst, runs)
    columns, rows, layout = _table(show, audits, told, favours, runs, family_of)
    return Answer(
        columns,
        rows,
        _verdict(case, limit, worst, audits, told, others[worst.judge].source),
        layout=layout,
        figures={"ranks": rank_lines(moves, lead)},
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
        data=(lead, moves),
    )


def _others(second: Any) -> dict[str, Judgments]:
    """The other judges by name."""
    if second is None or (isinstance(second, (list, tuple, dict)) and not second):
        raise UsageError("give a second judge: judgments of the same topics by somebody else (--second-judge FILE)")
    if isinstance(second, Mapping) and not is_qrels(second):
        return {str(name): judgments_of(other) for name, other in second.items()}
    given = list(second) if isinstance(second, (list, tuple)) else [second]
    names = names_of(given)
    return dict(zip(names, map(judgments_of, given), strict=True))


def _same_pairs(collection: Collection, name: str, other: Judgments, counts: set[str]) -> SamePairs:
    """What the human and one judge have both judged, in the topics that count."""
    found = same_pairs(collection.judgments, other)
    kept = [place for place, topic in enumerate(found.topics) if topic in counts]
    if len(kept) < 2:
        raise UsageError(f"{name}: the second judge needs at least two topics in common with the first")
    return replace(found, topics=tuple(found.topics[place] for place in kept), tables=found.tables[kept])


def _relevant(rel: int, given: Any, found: Mapping[str, SamePairs]) -> dict[str, int]:
    """The smallest relevant grade of every judge: as given, else that of the human as far as the judge's scale goes."""
    told = dict(given or {})
    for name, grade in told.items():
        if name not in found:
            raise UsageError(f"--judge-rel {name}={grade}: no judge is called so{nearest(name, found)}")
        if not str(grade).isdecimal() or int(grade) < 1:
            raise UsageError(f"--judge-rel {name}={grade}: the smallest relevant grade is a whole number of 1 or more")
    return {name: int(told.get(name, min(rel, max(pairs.other_top, 1)))) for name, pairs in found.items()}


def _families(case: Case, given: Any, runs: Sequence[str]) -> dict[str, str]:
    """The family of each run that has one."""
    if given is None:
        return {}
    told = read_teams(os.fspath(given), "family") if isinstance(given, (str, os.PathLike)) else dict(given)
    without = [run for run in runs if run not in told]
    if len(without) == len(runs):
        raise UsageError(f"the families name none of these runs (e.g. {runs[0]})")
    if without:
        case.note(f"{counted(len(without), 'run')} without a family ({listed(without)}): outside of all of them")
    if not case.collection.teams:
        case.note("teams are not known (--teams FILE): every run is a block of its own when families are permuted")
    return {run: str(told[run]) for run in runs if run in told}


def _tell(case: Case, found: Mapping[str, SamePairs], rels: Mapping[str, int], rel: int) -> None:
    """Notes: coverage by grade, which comes first; grades that do not fit; what counts as relevant."""
    for name, pairs in found.items():
        shares = ", ".join(f"grade {grade}: {percent(share)}" for grade, share in pairs.shares.items())
        told = f"{name} has judged {pairs.pairs:,} of {counted(pairs.human, 'document')} judged here ({shares})"
        if pairs.other_only:
            told += f"; {counted(pairs.other_only, 'document')} only it has judged left out"
        case.note(told)
        if not pairs.one_scale:
            case.note(
                f"{name} gives grades up to {pairs.other_top}, these judgments up to {pairs.human_top}: two scales, so "
                f"only relevant (here from {rel}, there from {rels[name]}; --judge-rel) and nonrelevant are compared"
            )


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
        "favour for a family": "with care" if any(row[-1] == "found" for row in favours) else "solid",
    }
    reason = min(words, key=lambda name: WORST_FIRST.index(words[name]))
    return Word(words[reason], reason)


def _unknown(limit: Threshold, audit: Audit, runs: Sequence[str]) -> str:
    """Why nothing can be said of this judge; empty where something can."""
    pairs = audit.pairs
    few = limit.too_few(runs=len(runs), topics=len(pairs.topics))
    if few:
        return few
    if pairs.uneven > limit["uneven"]:
        least, most = (pick(pairs.shares, key=pairs.shares.__getitem__) for pick in (min, max))
        shares = f"{percent(pairs.shares[most])} of grade {most} but {percent(pairs.shares[least])} of grade {least}"
        return f"its documents were chosen by their label: it has judged {shares}"
    if pairs.covered < limit["covered"]:
        needed = percent(limit["covered"])
        return f"it has judged only {percent(pairs.covered)} of the documents judged here ({needed} are needed)"
    significant = audit.holm.significant_human
    if significant < limit["significant"]:
        enough = f"at least {limit['significant']:g} are needed"
        return f"only {counted(significant, 'pair')} of runs differ significantly under these judgments ({enough})"
    if math.isnan(audit.top_tau):
        return "the best runs all have one score, so they have no order"
    return ""


def _verdict(
    case: Case, limit: Threshold, worst: Audit, audits: Sequence[Audit], told: Mapping[Any, Word], source: str
) -> Verdict:
    """The verdict of the leading measure, for the judge who changes most; other words are named."""
    own, changes = told[worst.judge, worst.measure], worst.holm
    top = min(int(limit["top"]), worst.arrays["runs"].shape[1])
    sentence = (
        f"by {worst.measure}, {worst.judge} changes {percent(changes.changed)} of {changes.pairs:,} decisions between "
        f"runs ({counted(changes.false_alarms, 'false alarm')}, {counted(changes.misses, 'miss', 'misses')}), "
        f"{worst.times:.1f} times what other topics change"
    )
    sentence += f"; {counted(worst.plain.reversals, 'reversal')}, tau {worst.top_tau:.2f} among the best {top} runs"
    if own.word == "unknown":
        sentence += f"; but {own.reason}"
    same_judge = [a for a in audits if a.judge == worst.judge and told[a.judge, a.measure].word != own.word]
    if same_judge:
        sentence += "; " + ", ".join(f"by {a.measure} {told[a.judge, a.measure].word}" for a in same_judge)
    better = [a for a in audits if a.measure == worst.measure and told[a.judge, a.measure].word != own.word]
    if better:
        sentence += "; " + ", ".join(f"{a.judge} is {told[a.judge, a.measure].word}" for a in better)
    file = source if Path(source).is_file() else "FILE"
    step = case.step(
        "see which runs gain and lose under the other judge",
        "study",
        "judges",
        flags=["--second-judge", file, "--show", "runs"],
    )
    return Verdict(own.word, sentence, worst.times, limit.unit, limit.sentence, (worst.judge, own.reason), step)


def _favour_rows(audit: Audit, families: Sequence[str], shared: Shared, limit: Threshold) -> list[Row]:
    """One row per family: its favour, adjusted for all families named, those that cannot be tested, too."""
    found = audit.arrays["families"]
    rows: list[Row] = []
    blocks = [blocks_of(shared.teams, inside)[1] for inside in shared.families]
    enough = [
        sum(within) >= limit["blocks_inside"] and len(within) - sum(within) >= limit["blocks_outside"]
        for within in blocks
    ]
    adjusted = [holm(np.where(enough, found[:, column], 1.0)) for column in (3, 7)]
    for place, family in enumerate(families):
        effect, low, high, p, curved, curved_low, curved_high, curved_p = found[place].tolist()
        within = blocks[place]
        straight, bent = (
            side[place] < limit["family_p"] and (ends[0] > 0 or ends[1] < 0)
            for side, ends in zip(adjusted, ((low, high), (curved_low, curved_high)), strict=True)
        )
        finding = "unknown" if not enough[place] else "found" if straight else "suspected" if bent else "none"
        sizes = int(shared.families[place].sum()), sum(within), len(within) - sum(within)
        p_values = (p, float(adjusted[0][place])) if enough[place] else (None, None)
        curve = (curved_p, float(adjusted[1][place])) if enough[place] else (None, None)
        told = (effect, low, high, *p_values, curved, curved_low, curved_high, *curve, finding)
        rows.append((audit.judge, audit.measure, family, *sizes, *told))
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
        return LABELS, [row for audit in each for row in _label_rows(audit)], None
    if show == "confusion":
        return CONFUSION, [row for audit in each for row in _confusion_rows(audit)], None
    if show == "runs":
        return RUNS, [row for audit in audits for row in _run_rows(audit, runs, family_of)], None
    if show == "families":
        if not favours:
            raise UsageError("families need to be named: --families FILE, a TSV run<TAB>family")
        return FAMILIES, [row for rows in favours.values() for row in rows], None
    rows = [_row(audit, told[audit.judge, audit.measure], len(runs)) for audit in audits]
    return COLUMNS, rows, lambda: _laid_out(rows)


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


def _laid_out(rows: Sequence[Row]) -> Table:
    """What fits on a screen; the other formats have every column."""
    head = ["judge", "measure", "covered", "kappa", "tau", "top tau", "range", "significant", "judge's"]
    head += ["false alarms", "misses", "changed", "x yardstick", "reversals", "spread", "verdict"]
    body: list[Row] = []
    for row in rows:
        r = dict(zip(COLUMNS, row, strict=True))
        span = f"{r['top_tau_low']:.2f} to {r['top_tau_high']:.2f}"
        cells = [r["judge"], r["measure"], percent(r["covered"]), f"{r['kappa_binary']:.2f}", f"{r['tau']:.3f}"]
        cells += [f"{r['top_tau']:.2f}", span, r["significant"], r["significant_judge"], r["false_alarms"], r["misses"]]
        cells += [percent(r["changed"]), f"{r['times_yardstick']:.1f}", r["reversals_uncorrected"]]
        body.append(
            [*(Shown(c) if isinstance(c, str) else c for c in cells), Shown(f"{r['spread']:.3f}"), r["verdict"]]
        )
    return head, body


def _label_rows(audit: Audit) -> list[Row]:
    pairs = audit.pairs
    counts = {"documents": pairs.pairs, "human_only": pairs.human - pairs.pairs, "judge_only": pairs.other_only}
    rows: list[Row] = [(audit.judge, name, value, None, None) for name, value in counts.items()]
    rows.append((audit.judge, "covered", pairs.covered, None, None))
    rows += [(audit.judge, f"covered_grade_{grade}", share, None, None) for grade, share in pairs.shares.items()]
    rows += [(audit.judge, "rel", audit.rels[0], None, None), (audit.judge, "judge_rel", audit.rels[1], None, None)]
    rows += [(audit.judge, name, *(audit.label(name) or (None, None, None))) for name in STATISTICS]
    return rows


def _confusion_rows(audit: Audit) -> list[Row]:
    values, table = audit.pairs.values.tolist(), audit.pairs.tables.sum(axis=0).tolist()
    return [(audit.judge, g, h, table[i][j]) for i, g in enumerate(values) for j, h in enumerate(values)]


def _run_rows(audit: Audit, runs: Sequence[str], family_of: Mapping[str, str]) -> list[Row]:
    human, other, low, high = audit.arrays["runs"]
    places = ranks(human).tolist(), ranks(other).tolist()
    values = zip(human.tolist(), other.tolist(), (other - human).tolist(), low.tolist(), high.tolist(), strict=True)
    return [
        (audit.judge, audit.measure, run, family_of.get(run), *own, places[0][r], places[1][r])
        for r, (run, own) in enumerate(zip(runs, values, strict=True))
    ]


def _caption(show: str, limit: Threshold) -> str:
    if show == "runs":
        return "Mean over topics under the other judge minus that under these judgments, with its 95 % interval."
    if show == "families":
        return (
            "effect: score a family gets from the judge beyond what its score under these judgments explains; its "
            "range on redrawn topics; p by permuting the family between teams, adjusted (Holm) for all families; "
            "curved: the same with a curve in place of the straight line."
        )
    if show in ("labels", "confusion"):
        return "Documents both have judged; intervals from redrawn topics."
    return (
        f"Documents both have judged. top tau: among the best {limit['top']:g} runs; its range on redrawn topics, no "
        "confidence interval. Decisions between two runs by paired t tests (Holm): changed in all, and in yardsticks, "
        "the share that changes with the topics alone; reversals without adjustment. spread: of the runs' gains."
    )


# -- charts


def _moves(audit: Audit, runs: Sequence[str]) -> Records:
    """The rank of every run under either judge."""
    places = (ranks(means).tolist() for means in audit.arrays["runs"][:2])
    return [{"run": run, "first": a, "second": b} for run, a, b in zip(runs, *places, strict=True)]


def rank_lines(rows: Records, measure: str) -> Chart:
    """A line per run, from its rank under these judgments to its rank under the other judge's.

    `rows`: run, first, second (ranks), and collection where there are several.
    """
    moved = sum(row["first"] != row["second"] for row in rows)
    points = [
        {**row, "judge": judge, "rank": row[side], "move": "same" if row["first"] == row["second"] else "moved"}
        for row in rows
        for judge, side in SIDES.items()
    ]
    colours = {"domain": ["same", "moved"], "range": [theme.GREY, theme.VERMILION]}
    lines = marks.layer(
        "line",
        {"point": True},
        x=marks.field("judge", "ordinal", title="", sort=list(SIDES), axis={"labelAngle": 0, "title": None}),
        y=marks.rank_axis(max((point["rank"] for point in points), default=1)),
        detail={"field": "run"},
        color=marks.field("move", "nominal", title="rank", scale=colours),
        tooltip=marks.tips("run", "first", "second"),
    )
    said = (
        f"Rank of {len(rows)} runs by {measure} under these judgments and under the other judge's; {moved} change rank."
    )
    return lambda result: marks.chart(points, said, lines, width=260, height=320)
