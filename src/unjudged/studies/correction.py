"""Does pool-bias correction work here? The leave-one-out experiment of Lipani, Lupu & Hanbury (SIGIR 2015, table 2)."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Pool
from unjudged.collection.membership import membership
from unjudged.correction.any_measure import LeftOut, Scorer, joined
from unjudged.correction.counts import MOST
from unjudged.correction.experiment import Experiment, NewRuns, Trial, groups_of
from unjudged.correction.lipani import INDICATORS, from_arrays
from unjudged.correction.methods import METHODS, NONE, methods_for
from unjudged.correction.protocols import protocol_of
from unjudged.errors import UsageError, one_of
from unjudged.figures import Figure, Records, distinct, marks, theme
from unjudged.measures import Measure
from unjudged.measures import measures as parse_measures
from unjudged.options import check
from unjudged.results import Row, Shown
from unjudged.scoring import score
from unjudged.statistics.correlation import spearman, tau_b
from unjudged.statistics.estimate_errors import mean_absolute_error, rank_error, significant_rank_error
from unjudged.statistics.reliability import d_study, g_study
from unjudged.statistics.spearman_test import spearman_p_value
from unjudged.studies.after_correction import after_correction, lifted
from unjudged.studies.correct import QUANTITIES
from unjudged.studies.correct_by_estimate import ESTIMATE, estimated_scores, estimates_tried, fits
from unjudged.studies.correction_trials import (
    Trials,
    Tried,
    corrected_by_counting,
    pool_to_correct,
    recommended,
    trials_of,
    tried_by_counting,
    tried_by_scoring,
)
from unjudged.studies.engine import Answer, Answers, Case, Chart, Pooling, Table, Unanswerable, register
from unjudged.studies.engine.setup import best_runs
from unjudged.text import counted, printed

CUTOFFS = (5, 10, 20, 30, 100)
REDUCED, WEBBER_PARK = "reduced-pool", "webber-park"
UNCERTAIN = "the full pool's score hangs on unjudged documents, too (Lipani and others 2015, section 5.2)"
TESTS = ("tukey", "t")
"""Which true differences count as significant: Tukey HSD over all runs, or the paired t test of each pair."""
COLUMNS = ("measure", "method", "n", "mae", "sre", "sre_star", "tau", "runs")


@dataclass(frozen=True)
class Errors:
    """MAE: mean |true - estimate|. SRE: places runs move. SRE*: significantly different runs passed. tau_b of both."""

    mae: float
    sre: int
    sre_star: int | None
    tau: float


@dataclass(frozen=True, eq=False)
class Scored:
    """The experiment by a measure other than P@n: Webber & Park's adjustment alone fits it (they used RBP@10).

    A value per kept run; `per_topic`: topics x runs. Read strictly, whatever the protocol.
    """

    measure: Measure
    runs: tuple[str, ...]
    true: Floats
    reduced: Floats
    added: Floats
    per_topic: Floats

    @property
    def n(self) -> int | None:
        """Its cut-off."""
        return self.measure.params.get("k")

    def estimate(self, method: str) -> Floats:
        """Scores by webber-park, or those of the reduced pool."""
        return self.reduced if method == REDUCED else self.reduced + self.added


@dataclass(frozen=True, eq=False)
class Found:
    """The experiment of one collection at every cut-off, and by further measures."""

    name: str
    collection: Collection
    pool: Pool
    shared: Experiment
    shown: tuple[str, ...]
    trials: tuple[Trial, ...]
    test: str
    alpha: float
    rel: int
    further: tuple[Scored, ...] = ()

    def deeper(self, n: int | None) -> bool:
        """Does a cut-off look deeper than the pool? Then the full pool's scores hang on unjudged documents, too."""
        return n is not None and n > self.pool.depth

    @property
    def deep(self) -> list[int]:
        """The cut-offs that look deeper than the pool."""
        cutoffs = [*(trial.n for trial in self.trials), *(s.n for s in self.further if s.n is not None)]
        return [n for n in dict.fromkeys(cutoffs) if self.deeper(n)]

    @functools.cached_property
    def further_errors(self) -> list[dict[str, Errors]]:
        """Per further measure: webber-park and the reduced pool -> errors."""
        return [
            {
                m: errors(s.runs, s.true, s.estimate(m), significant(s.true, s.per_topic, self.test, self.alpha))
                for m in (WEBBER_PARK, REDUCED)
            }
            for s in self.further
        ]

    @functools.cached_property
    def errors(self) -> list[dict[str, Errors]]:
        """Per cut-off: method -> errors."""
        found = []
        for trial in self.trials:
            different = significant(trial.true, trial.per_topic, self.test, self.alpha)
            found.append({m: errors(trial.runs, trial.true, trial.estimate(m), different) for m in self.methods})
        return found

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, and the scores without any."""
        return (*self.shown, REDUCED)

    def with_all_runs(self) -> Found:
        """The same without choosing the best runs."""
        shared = replace(self.shared, top=None)  # the figures of all runs are of P@n
        return replace(self, shared=shared, trials=tuple(shared.trials([t.n for t in self.trials], self.rel)))


def _together(answers: Answers) -> Table:
    """The paper's table: the collections one below the other; then who was best and worst how often in all of them."""
    found = _found(answers)
    return _table(found, several=True) if found else (["collection"], [])


def _drawn_together(answers: Answers) -> Mapping[str, Chart]:
    """The figures of all collections, and figure 2, which needs several."""
    found = _found(answers)
    if not found:
        return {}
    return {**_figures(found, several=True), "stability": lambda result: stability_points(*stability(found))}


def _found(answers: Answers) -> list[Found]:
    """What was found where there was an answer, under the names of the collections."""
    return [replace(answer.data, name=case.name) for case, answer in answers if answer.data is not None]


@register(
    "correction",
    help="how well pool-bias correction works on left-out teams",
    cite="lipani2015",
    figures={"": ("mae", "sre", "indicators"), "several": ("stability",)},
    together=_together,
    drawn_together=_drawn_together,
    columns=COLUMNS,
    limit="after-correction",
)
def correction(
    case: Case,
    pooling: Pooling,
    *,
    protocol: str = "strict",
    leave: str = "team",
    top: float | None = None,
    cutoffs: Any = CUTOFFS,
    methods: Any = None,
    per_run: bool = False,
    test: str = "tukey",
    alpha: float = 0.05,
    merge_weight: float = 1.0,
    indicator: str = "lambda",
    rel: int = 1,
    measures: Any = (),
) -> Answer:
    """How near does correction bring a left-out run to the score it had in the pool?

    Each team (--leave run: each run) is taken out of the pool in turn; its runs are scored with what is left and
    corrected. Per method and cut-off: MAE, the mean absolute error; SRE, the places runs move when each alone gets
    its estimate; SRE*, the significantly different runs it passes (Tukey HSD, or --test t); Kendall's tau; and the
    number of runs. --top 0.75 keeps the best three quarters of the pooled runs, at each cut-off anew; the others
    leave the pool as well. --protocol sigir2015 does what the paper's numbers need (--lenient reads its data);
    strict, the default, is a careful reading: docs/correction.md names the differences. -m RBP@10 adds a line of a
    further measure, as Webber and Park 2009 did: only their adjustment fits it. --per-run shows every run (by P@n)
    with the quantities of the method. Of the published SRE* of Ad Hoc 2, 12 of 15 come out (docs/correction.md).
    """
    one_of(test, TESTS, "test")
    one_of(indicator, INDICATORS, "indicator")
    how, wanted = protocol_of(protocol), _cutoffs(cutoffs)
    chosen = _methods(METHODS[:2] if methods is None else methods)
    check("merge_weight", merge_weight)
    check("alpha", alpha)
    read = how.read(case.collection)
    pool = pool_to_correct(case, read, pooling, how)
    case.note(f"{pool}, {len(read.runs) - len(pool.runs)} not pooled{pool.guessed}")
    groups = groups_of(read, pool, leave)
    if len(set(groups.values())) < 2:
        raise Unanswerable(f"all pooled runs are of one {leave}, so none can be left out")
    merging = {"alpha": merge_weight, "indicator": indicator}
    every = METHODS if methods is None else chosen
    shared = Experiment.of(read, pool, groups, how, methods=every, **merging, top=top)
    many = f"{counted(len(set(groups.values())), leave)} left out"
    (value,) = case.run(tried_by_counting, shared, [(wanted, rel)], many)  # cut-offs share the merged lists
    trials = tuple(trials_of(value, pool))
    more = [_scored(case, read, pool, m, groups, shared.top, many) for m in _further(measures, rel)]
    found = Found(case.name, read, pool, shared, chosen, trials, test, alpha, rel, tuple(more))
    if deep := found.deep:
        case.note(f"cut-off {', '.join(map(str, deep))} is deeper than the pool ({pool.depth}): {UNCERTAIN}")
    trial = next((t for t in found.trials if t.n == 10), found.trials[0])
    (measure,) = parse_measures(f"P@{trial.n}", rel)
    tried: Trials = {(measure, one): Tried.of(trial, one, 0.95, groups) for one in shared.methods}
    first = chosen[0]
    if methods is None:  # as `correct` asks: the best of all
        if top is None and fits(measure):
            tried = dict(tried) | estimates_tried(case, read, pool, groups, [measure], tried, 0.95)
        ((_, (first,)),), tried = recommended([(measure, (*METHODS, ESTIMATE))], tried, groups, 0.95)
    outside = [run for run in read.runs if run not in set(pool.runs)] if top is None else []
    moved = ""
    if outside:
        new = NewRuns.of(read, pool, outside, how, [] if first in (NONE, ESTIMATE) else [first], **merging)
        (value,) = case.run(corrected_by_counting, new, [(trial.n, rel)], counted(len(outside), "new run"))
        effect, added = from_arrays(value)
        plus = np.minimum(added.get(first, np.zeros(len(outside))), effect.most)
        if first == ESTIMATE:
            likely = estimated_scores(case, read, outside, [measure])
            plus = np.nan_to_num(likely.estimate[:, 0] - likely.score[:, 0])
        moved = lifted(measure, outside, plus.tolist(), effect.most.tolist())
    head, rows = (_per_run if per_run else _summary)(found)
    return Answer(
        head,
        rows,
        after_correction(case, pooling, str(measure), first, tried[measure, first], moved, groups, leave),
        None if per_run else lambda: _table([found]),
        _figures([found]),
        "" if per_run else _caption(found, leave),
        "" if per_run else _about(found),
        settings={
            **read.settings,
            **how.settings(),
            "left out": f"one {leave} at a time",
            "top": top,
            "cut-offs": list(wanted),
            "significance": f"{test}, alpha {alpha}",
            "merge weight": merge_weight,
            "indicator": indicator,
            "rel": rel,
            "measures": [f"P@{n}" for n in wanted] + [str(s.measure) for s in found.further],
            "pool": {**pool.settings, "runs named": list(pool.runs)},
        },
        data=found,
    )


# -- what was asked for


def _cutoffs(given: Any) -> tuple[int, ...]:
    """`5,10` or (5, 10): whole numbers, each once."""
    parts = given.split(",") if isinstance(given, str) else given if isinstance(given, (list, tuple)) else [given]
    try:
        found = tuple(int(str(part).strip().removeprefix("P@")) for part in parts)
    except ValueError:
        found = ()
    if not found or min(found) < 1 or max(found) > MOST or len(set(found)) < len(found):
        raise UsageError(f"cut-offs are whole numbers from 1 to {MOST}, as 5,10,100, not {given}")
    return found


def _methods(given: Any) -> tuple[str, ...]:
    parts = [part.strip() for part in given.split(",")] if isinstance(given, str) else list(given)
    if not parts:
        raise UsageError(f"name a method: {', '.join(METHODS)}")
    return tuple(dict.fromkeys(one_of(part, METHODS, "method") for part in parts))


def _further(given: Any, rel: int) -> list[Measure]:
    """The measures besides P@n."""
    found = parse_measures(given, rel) if given else []
    for measure in found:
        if measure.name == "P":
            raise UsageError(f"P@n is what this study is about: give its cut-offs (--cutoffs 5,10), not {measure}")
        methods_for(measure, WEBBER_PARK)
    return found


def _scored(
    case: Case,
    collection: Collection,
    pool: Pool,
    measure: Measure,
    groups: Mapping[str, str],
    top: float | None,
    many: str,
) -> Scored:
    """Every group left out in turn and its runs adjusted by Webber & Park in a measure.

    As for P@n: judgments that no pooled run has in its top are left aside, and with `top` only the best runs by this
    measure make the pool.
    """
    q0 = collection.keeping(membership(collection, pool, by="ranks").found(), "pooled", pool)
    kept = pool
    if top is not None:
        means = dict(zip(q0.runs, score(q0, [measure]).mean_values()[:, 0].tolist(), strict=True))
        kept = replace(pool, runs=tuple(best_runs(list(pool.runs), top, means)))
        q0 = collection.keeping(membership(collection, kept, by="ranks").found(), "pooled", kept)
    scorer = Scorer.of(q0, kept, [measure], {run: groups[run] for run in kept.runs})
    if len(set(scorer.groups)) < 2:
        raise Unanswerable("all runs that are left belong to one team; nothing remains when it is left out")
    parts = case.run(tried_by_scoring, scorer, list(dict.fromkeys(scorer.groups)), f"{many}, by {measure}")
    out = joined([LeftOut(**part) for part in parts])
    per_topic = scorer.values(scorer.hits(scorer.places.tolist()), np.ones(len(q0.judgments), bool))[0].T
    return Scored(measure, kept.runs, out.true[:, 0], out.reduced[:, 0], out.added[:, 0], per_topic)


# -- errors


def errors(runs: Sequence[str], true: Floats, estimate: Floats, different: npt.NDArray[np.bool_] | None) -> Errors:
    """The errors of estimates. `different`: runs x runs, the significant true differences, where known."""
    return Errors(
        mean_absolute_error(true, estimate),
        rank_error(true, estimate),
        None if different is None else significant_rank_error(true, estimate, different, runs),
        tau_b(true, estimate),
    )


def significant(true: Floats, per_topic: Floats, test: str, alpha: float) -> npt.NDArray[np.bool_] | None:
    """Runs x runs: which differ significantly in their true scores; None where it cannot be told.

    `per_topic` (topics x runs) is NaN where a topic does not count for a run: it counts in the test as little as in the
    score. The paired t test then compares two runs on the topics both have.
    """
    if per_topic.shape[0] < 2 or per_topic.shape[1] < 2:
        return None
    if test == "tukey":
        from unjudged.statistics.tukey_kramer import different_means

        return different_means(per_topic, alpha, true)
    from unjudged.statistics.paired import t_test

    found = np.zeros((per_topic.shape[1],) * 2, bool)
    if not np.isnan(per_topic).any():
        tested = t_test(per_topic)
        found[tested.first, tested.second] = found[tested.second, tested.first] = tested.significant(alpha)
        return found
    for a, b in itertools.combinations(range(per_topic.shape[1]), 2):
        both = per_topic[:, [a, b]]
        both = both[~np.isnan(both).any(axis=1)]
        if len(both) > 1:
            found[a, b] = found[b, a] = bool(t_test(both).significant(alpha)[0])
    return found


# -- tables


def _summary(found: Found) -> Table:
    """A row per method and cut-off, then the further measures."""
    rows: list[Row] = []
    for method in found.methods:
        for trial, by_method in zip(found.trials, found.errors, strict=True):
            e = by_method[method]
            (measure,) = parse_measures(f"P@{trial.n}", found.rel)
            rows.append((str(measure), method, trial.n, e.mae, e.sre, e.sre_star, e.tau, len(trial.runs)))
    for scored, by_method in zip(found.further, found.further_errors, strict=True):
        for method, e in by_method.items():
            rows.append((str(scored.measure), method, scored.n, e.mae, e.sre, e.sre_star, e.tau, len(scored.runs)))
    return COLUMNS, rows


def _of_cutoffs(found: Found) -> Table:
    """The rows of P@n alone, for charts against the cut-off."""
    return _summary(replace(found, further=()))


def _per_run(found: Found) -> Table:
    """A row per run and cut-off; later variants stand at the end."""
    methods = found.shown
    head = (
        *("run", "team", "n", "true", "reduced"),
        *(m.replace("-", "_") for m in ("webber-park", "lipani") if m in methods),
        *QUANTITIES[1:],
        *(m.replace("-", "_") for m in methods if m not in METHODS[:2]),
    )
    rows: list[Row] = []
    for trial in found.trials:
        for i, run in enumerate(trial.runs):
            values: dict[str, Any] = {"run": run, "team": found.collection.teams.get(run), "n": trial.n}
            values |= {"true": float(trial.true[i]), "reduced": float(trial.reduced[i])}
            values |= {m.replace("-", "_"): float(trial.estimate(m)[i]) for m in methods}
            values |= trial.effect.quantities(i)
            rows.append(tuple(values[name] for name in head))
    return head, rows


def _table(all_found: Sequence[Found], several: bool = False) -> Table:
    """The paper's table: a line per cut-off with the errors of every method; then who was best and worst how often."""
    methods = all_found[0].methods
    rows: list[Row] = []
    cells: list[list[list[float | None]]] = []
    for found in all_found:
        lines: list[tuple[str, int | None, dict[str, Errors]]] = [
            (str(trial.n), trial.n, e) for trial, e in zip(found.trials, found.errors, strict=True)
        ]
        lines += [(str(s.measure), s.n, e) for s, e in zip(found.further, found.further_errors, strict=True)]
        for name, n, by_method in lines:
            known = [by_method.get(m) for m in methods]
            values: list[list[float | None]] = [
                [None] * 3 if e is None else [float(printed(e.mae)), e.sre, e.sre_star] for e in known
            ]
            if all(known):
                cells.append(values)
            shown: list[Any] = []
            for m, e in enumerate(known):
                best = [_best(values, m, k) for k in range(3)]
                texts = ("-",) * 3 if e is None else (printed(e.mae), *(_count(v) for v in (e.sre, e.sre_star)))
                shown += [Shown(text, bold) for text, bold in zip(texts, best, strict=True)]
            label = Shown(name, raised="†" if found.deeper(n) else "")
            rows.append((*((found.name,) if several else ()), label, *shown))
    for word, sign in (("top performer", 1), ("worst performer", -1)):
        counts = [str(performances(cells, m, k, sign)) for m in range(len(methods)) for k in range(3)]
        rows.append((*((word, "") if several else (word,)), *counts))
    if several and len(all_found) > 2:
        for told in sorted(stability(all_found)[1], key=lambda told: str(told["coefficient"])):
            blank = [""] * (3 * len(methods) - 1)
            rows.append((f"rho with {told['coefficient']}", str(told["n"]), _rho(told), *blank))
    names = [f"{method} {error}" for method in methods for error in ("MAE", "SRE", "SRE*")]
    return (*(("collection",) if several else ()), "P@n", *names), rows


def performances(cells: Sequence[Sequence[Sequence[float | None]]], method: int, error: int, sign: int = 1) -> int:
    """In how many lines a method alone is best (sign 1) or worst (-1) by an error; ties are not counted."""
    many = 0
    for line in cells:
        own, others = line[method][error], [v[error] for m, v in enumerate(line) if m != method]
        if own is not None and all(v is not None and sign * own < sign * v for v in others):
            many += 1
    return many


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)


def _best(values: Sequence[Sequence[float | None]], method: int, error: int) -> bool:
    known = [v[error] for v in values if v[error] is not None]
    low, high = min(known, default=None), max(known, default=None)  # type: ignore[type-var]
    return low != high and values[method][error] == low


def _caption(found: Found, leave: str) -> str:
    top = found.shared.top
    share = "all pooled runs" if top is None else f"top {top:g} of the pooled runs"
    return (
        f"Leave one {leave} out, {share}, protocol {found.shared.protocol.name}. "
        f"SRE*: {'Tukey HSD' if found.test == 'tukey' else 'paired t'}, p < {found.alpha:g}."
    )


def _about(found: Found) -> str:
    """The collection as the paper's table describes it: runs, teams, pooled runs, depth, topics."""
    c = found.collection
    teams = len({c.teams[r] for r in c.runs if r in c.teams})
    size = f"|R| {len(c.runs)}, |O| {teams}, |Rp| {len(found.pool.runs)}, d {found.pool.depth}, |T| {len(c.topics)}."
    return f"{size} † deeper than the pool: {UNCERTAIN}." if found.deep else size


# -- figures


def _figures(all_found: Sequence[Found], several: bool = False) -> dict[str, Chart]:
    """Figures 3, 4 and 1 of the paper."""
    top, cutoffs = all_found[0].shared.top, [trial.n for trial in all_found[0].trials]

    def records_of(table: Callable[[Found], Table], chosen: Sequence[Found] = all_found) -> Records:
        tables = [({"collection": found.name} if several else {}, *table(found)) for found in chosen]
        return [{**own, **dict(zip(head, row, strict=True))} for own, head, rows in tables for row in rows]

    @functools.cache
    def error_rows() -> Records:
        rows = records_of(_of_cutoffs)
        if top is None:
            return rows
        best = f"top {top:.0%}" if top < 1 else f"top {top:g}"
        everyone = records_of(_of_cutoffs, [found.with_all_runs() for found in all_found])
        return [{**r, "selection": "all runs"} for r in everyone] + [{**r, "selection": best} for r in rows]

    middle = 10 if 10 in cutoffs else cutoffs[0]
    return {
        "mae": lambda result: error_lines(error_rows(), "mae"),
        "sre": lambda result: error_lines(error_rows(), "sre"),
        "indicators": lambda result: indicator_points(records_of(_per_run), middle),
    }


def stability(all_found: Sequence[Found]) -> tuple[Records, Records]:
    """MAE change by the first method in percent against E rho^2 and Phi of the true scores, and their correlations."""
    rows: Records = []
    for found in all_found:
        for trial, by_method in zip(found.trials, found.errors, strict=True):
            before, after = by_method[REDUCED].mae, by_method[found.methods[0]].mae
            complete = trial.per_topic[:, ~np.isnan(trial.per_topic).any(axis=0)]
            if before == 0 or min(complete.shape) < 2:
                continue
            coefficients = d_study(g_study(complete))
            for name, value in (("E rho^2", coefficients.erho2), ("Phi", coefficients.phi)):
                change = round(100 * (after - before) / before, 4)
                point = {"collection": found.name, "n": trial.n, "coefficient": name, "reliability": round(value, 6)}
                rows.append({**point, "change": change})
    correlations: Records = []
    for n in [trial.n for trial in all_found[0].trials]:
        for name in ("E rho^2", "Phi"):
            points = [(r["reliability"], r["change"]) for r in rows if r["n"] == n and r["coefficient"] == name]
            pair = [value for value, _ in points], [change for _, change in points]
            rho, p = (spearman(*pair), spearman_p_value(*pair)) if len(points) > 2 else (float("nan"),) * 2
            known = {"rho": rho if np.isfinite(rho) else None, "p_value": p if np.isfinite(p) else None}
            correlations.append({"n": n, "coefficient": name, **known})
    return rows, correlations


_INDICATORS = {"delta_p": "Delta P", "delta_anti_p": "Delta anti-P", "lambda": "lambda"}
_ERRORS = {"mae": "mean absolute error", "sre": "system rank error"}


def indicator_points(rows: Records, n: int) -> Figure:
    """Figure 1: Delta P, Delta anti-P and lambda of every left-out run against what its score lost (the residual).

    `rows` are those of the per-run table.
    """
    chosen = [row for row in rows if row["n"] == n]
    points: Records = []
    for row in chosen:
        kept: dict[str, Any] = {key: row[key] for key in ("collection", "run") if key in row}
        residual = round(row["true"] - row["reduced"], 6)
        points += [
            {**kept, "indicator": title, "residual": residual, "value": row[name]}
            for name, title in _INDICATORS.items()
        ]
    positive = sum(row["lambda"] > 0 for row in chosen)
    lost = max((row["true"] - row["reduced"] for row in chosen), default=0)
    dots = marks.layer(
        "point",
        {"color": theme.BLUE, "tooltip": True},
        x=marks.field("residual", title=f"P@{n} lost outside the pool", axis={"tickCount": 4}),
        y={**marks.field("value"), "title": None},
        tooltip=marks.as_it_is("run", "residual", "value"),
    )
    return marks.panels(
        points,
        f"Indicators of {len(chosen)} left-out runs at P@{n} against the score each lost (at most {lost:.4f}); "
        f"lambda is positive for {positive}.",
        marks.names("indicator", list(_INDICATORS.values())),
        marks.rule_at("y", 0),
        dots,
        width=200,
        height=200,
        resolve={"scale": {"x": "independent", "y": "independent"}},
    )


def error_lines(rows: Records, error: str) -> Figure:
    """Figures 3 and 4: MAE or SRE of each method against the cut-off.

    `rows` are those of the summary; with a field `selection` (all runs, the best ones) it decides the dash.
    """
    methods, cutoffs = distinct(rows, "method"), sorted(set(distinct(rows, "n")))
    x = {"field": "n", "type": "ordinal", "sort": cutoffs, "title": "cut-off n of P@n", "axis": marks.UPRIGHT}
    tooltip, dash = marks.as_it_is("method", "n", error), None
    if rows and "selection" in rows[0]:
        selections = distinct(rows, "selection")
        scale = {"domain": selections, "range": [list(step) for step in theme.DASHES[: len(selections)]]}
        dash = {"field": "selection", "type": "nominal", "title": None, "scale": scale}
        tooltip += marks.as_it_is("selection")
    y = marks.field(error, title=_ERRORS[error])
    layers = marks.lines_with_points("method", methods, tooltip, dash, x=x, y=y)
    last = [row for row in rows if row["n"] == cutoffs[-1]] if cutoffs else []
    told = ", ".join(f"{row['method']} {row[error]:g}" for row in last[: len(methods)])
    said = (
        f"{_ERRORS[error].capitalize()} of {', '.join(methods)} against the cut-off; at n = "
        f"{cutoffs[-1] if cutoffs else '-'}: {told}."
    )
    several = {"resolve": {"scale": {"y": "independent"}}} if rows and "collection" in rows[0] else {}
    return marks.chart(rows, said, *layers, width=320, height=240, **several)


def stability_points(rows: Records, correlations: Records) -> Figure:
    """Figure 2: the change of MAE by a method against E rho^2 and Phi of each collection, with Spearman's correlation.

    `rows`: collection, n, coefficient, reliability, change (in percent). `correlations`: n, coefficient, rho, p_value.
    """
    told = "; ".join(f"P@{c['n']} against {c['coefficient']}: {_rho(c)}" for c in correlations)
    cutoffs, names = sorted(distinct(rows, "n")), distinct(rows, "collection")
    found = {(c["n"], c["coefficient"]): f"rho {_rho(c)}" for c in correlations}
    rows = [{**row, "correlation": found.get((row["n"], row["coefficient"]), "")} for row in rows]
    said = marks.layer(
        "text",
        {"align": "left", "baseline": "top", "aria": False},
        x={"value": 4},
        y={"value": 2},
        text={"aggregate": "max", "field": "correlation", "type": "nominal"},
    )
    dots = marks.layer(
        "point",
        {"tooltip": True},
        x=marks.field("reliability", title="stability", scale={"zero": False}),
        y=marks.field("change", title="MAE change (%)"),
        color=theme.colour("collection", names),
        shape=theme.shape("collection", names),
        tooltip=marks.as_it_is("collection", "n", "reliability", "change"),
    )
    return marks.panels(
        rows,
        f"Change of the mean absolute error in percent against the stability of {len(names)} collections. Spearman's "
        f"correlation, {told}.",
        marks.names("coefficient", ["E rho^2", "Phi"]),
        marks.rule_at("y", 0),
        dots,
        said,
        width=240,
        height=180,
        below={"field": "n", "type": "ordinal", "title": "n", "sort": cutoffs},
    )


def _rho(correlation: dict[str, Any]) -> str:
    rho, p = correlation["rho"], correlation["p_value"]
    return "undefined" if rho is None else f"{rho:.2f}" + ("" if p is None else f" (p {p:.2f})")
