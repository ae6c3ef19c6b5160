"""Does pool-bias correction work here? The leave-one-out experiment of Lipani, Lupu & Hanbury (SIGIR 2015, table 2)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unjudged.collection import Collection, Pool
from unjudged.collection.pool import TOLERANCE
from unjudged.comparing.paired_scores import check_settings
from unjudged.correction.asked import as_read, groups_of, pool_to_correct
from unjudged.correction.correcting import quantities_of
from unjudged.correction.errors import TESTS, Errors, errors, printed, significant
from unjudged.correction.experiment import METHODS, Trial, experiment
from unjudged.correction.lipani import INDICATORS
from unjudged.correction.protocols import Protocol, protocol_of
from unjudged.correction.tally import MOST
from unjudged.errors import UsageError, nearest
from unjudged.figures import Figure
from unjudged.figures.correction import error_lines, indicator_points, stability_points
from unjudged.figures.records import Records
from unjudged.results import Result, Row, Shown, Verdict
from unjudged.statistics.correlation import correlation_p_value, spearman
from unjudged.statistics.reliability import d_study, g_study
from unjudged.studies._study import Lab, register
from unjudged.studies.asked import Pooling
from unjudged.studies.verdicts import NEEDED
from unjudged.thresholds import limit_of

CUTOFFS = (5, 10, 20, 30, 100)
REDUCED = "reduced-pool"
QUANTITIES = ("anti", "k", "delta_p", "delta_anti_p", "delta_k", "lambda")


@register(
    "correction",
    help="how well pool-bias correction works on left-out teams",
    cite="lipani2015",
    figures={"": ("mae", "sre", "indicators"), "several": ("stability",)},
)
def correction(
    lab: Lab,
    *,
    protocol: str = "strict",
    leave: str = "team",
    top: float | None = None,
    cutoffs: Any = CUTOFFS,
    methods: Any = METHODS[:2],
    per_run: bool = False,
    test: str = "tukey",
    alpha: float = 0.05,
    merge_alpha: float = 1.0,
    indicator: str = "lambda",
    rel: int = 1,
    depth: int | None = None,
    pooled: Any = "infer",
    tolerance: float = TOLERANCE,
) -> Result:
    """How near does correction bring a left-out run to the score it had in the pool?

    Each team (--leave run: each run) is taken out of the pool in turn; its runs are scored with what is left and
    corrected. Per method and cut-off: MAE, the mean absolute error; SRE, the places runs move when each alone gets
    its estimate; SRE*, the significantly different runs it passes (Tukey HSD, or --test t); Kendall's tau; and the
    number of runs. --top 0.75 keeps the best three quarters of the pooled runs, at each cut-off anew; the others
    leave the pool as well. --protocol sigir2015 does what the paper's numbers need (--lenient reads its data);
    strict, the default, is a careful reading: docs/correction.md names the differences. --per-run shows every run
    with the quantities of the method. The published SRE* could not be reproduced and is not claimed to be.
    """
    how = protocol_of(protocol)
    setup = Setup(
        how,
        leave,
        top,
        _cutoffs(cutoffs),
        _methods(methods),
        _one_of(test, TESTS, "test"),
        alpha,
        merge_alpha,
        _one_of(indicator, INDICATORS, "indicator"),
        rel,
    )
    if not 0 <= merge_alpha <= 1:
        raise UsageError(f"the new run's weight lies between 0 and 1, not {merge_alpha}")
    check_settings(alpha)
    named = Pooling(depth, pooled).runs
    cases = [Case.of(name, collection, setup, depth, named, tolerance) for name, collection in lab.cases]
    for case in cases:
        where = f"{case.name}: " if lab.several else ""
        unpooled = len(case.collection.runs) - len(case.pool.runs)
        told = f"{case.pool}, {unpooled} not pooled{case.pool.guessed}"
        lab.notes += [where + told, *(where + n for n in case.pool.notes)]
    head, rows = _per_run(lab, cases, setup) if per_run else _summary(lab, cases, setup)
    settings: dict[str, Any] = {**how.settings(), **setup.settings()}
    settings["pool"] = {c.name: {**c.pool.settings, "runs named": list(c.pool.runs)} for c in cases}
    return Result(
        head,
        lambda: rows,
        lab.provenance(None, **settings),
        layout=None if per_run else lambda: _table(lab, cases, setup),
        figures=_figures(lab, cases, setup),
        verdict=_verdict(cases, setup),
        caption="" if per_run else _caption(cases, setup),
    )


@dataclass(frozen=True)
class Setup:
    """The choices of a study, checked."""

    protocol: Protocol
    leave: str
    top: float | None
    cutoffs: tuple[int, ...]
    methods: tuple[str, ...]
    test: str
    alpha: float
    merge_alpha: float
    indicator: str
    rel: int

    def settings(self) -> dict[str, Any]:
        """For the provenance."""
        return {
            "left out": f"one {self.leave} at a time",
            "top": self.top,
            "cut-offs": list(self.cutoffs),
            "significance": f"{self.test}, alpha {self.alpha}",
            "merging alpha": self.merge_alpha,
            "indicator": self.indicator,
            "rel": self.rel,
        }


@dataclass(frozen=True, eq=False)
class Case:
    """One collection with its pool and the experiment at every cut-off."""

    name: str
    collection: Collection
    pool: Pool
    trials: tuple[Trial, ...]
    setup: Setup

    @classmethod
    def of(
        cls, name: str, collection: Collection, setup: Setup, depth: int | None, pooled: Any, tolerance: float
    ) -> Case:
        """Run the experiment."""
        read = as_read(collection, setup.protocol)
        pool = pool_to_correct(read, depth, pooled, tolerance)
        return cls(name, read, pool, _trials(read, pool, setup, setup.top), setup)

    @functools.cached_property
    def errors(self) -> list[dict[str, Errors]]:
        """Per cut-off: method -> errors."""
        found = []
        for trial in self.trials:
            different = significant(trial.per_topic, self.setup.test, self.setup.alpha)
            found.append(
                {
                    method: errors(trial.runs, trial.true, trial.estimate(method), different)
                    for method in (*self.setup.methods, REDUCED)
                }
            )
        return found


def _trials(collection: Collection, pool: Pool, setup: Setup, top: float | None) -> tuple[Trial, ...]:
    groups, _ = groups_of(collection, pool, setup.leave)
    found = experiment(
        collection,
        pool,
        groups,
        setup.cutoffs,
        setup.protocol,
        top=top,
        methods=setup.methods,
        alpha=setup.merge_alpha,
        indicator=setup.indicator,
        rel=setup.rel,
    )
    return tuple(found)


# -- what was asked for


def _one_of(given: str, known: Sequence[str], what: str) -> str:
    if given not in known:
        raise UsageError(f"unknown {what} {given!r}{nearest(given, known)}; there are {', '.join(known)}")
    return given


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
    return tuple(dict.fromkeys(_one_of(part, METHODS, "method") for part in parts))


# -- tables


def _summary(lab: Lab, cases: Sequence[Case], setup: Setup) -> tuple[tuple[str, ...], list[Row]]:
    rows: list[Row] = []
    for case in cases:
        found = case.errors
        for method in (*setup.methods, REDUCED):
            for trial, by_method in zip(case.trials, found, strict=True):
                e = by_method[method]
                row = (method, trial.n, e.mae, e.sre, e.sre_star, e.tau, len(trial.runs))
                rows.append((case.name, *row) if lab.several else row)
    head = ("method", "n", "mae", "sre", "sre_star", "tau", "runs")
    return (("collection", *head) if lab.several else head), rows


def _columns(setup: Setup) -> tuple[str, ...]:
    """Columns of the per-run table; later variants stand at the end."""
    later = [m for m in setup.methods if m not in METHODS[:2]]
    first = [m for m in ("webber-park", "lipani") if m in setup.methods]
    return (
        *("run", "team", "n", "true", "reduced"),
        *(m.replace("-", "_") for m in first),
        *QUANTITIES,
        *(m.replace("-", "_") for m in later),
    )


def _per_run(lab: Lab, cases: Sequence[Case], setup: Setup) -> tuple[tuple[str, ...], list[Row]]:
    head = _columns(setup)
    rows: list[Row] = []
    for case in cases:
        for trial in case.trials:
            for i, run in enumerate(trial.runs):
                values: dict[str, Any] = {
                    "run": run,
                    "team": case.collection.teams.get(run),
                    "n": trial.n,
                    "true": float(trial.true[i]),
                    "reduced": float(trial.reduced[i]),
                    **{m.replace("-", "_"): float(trial.estimate(m)[i]) for m in setup.methods},
                    **quantities_of(trial.effect, i),
                }
                row = tuple(values[name] for name in head)
                rows.append((case.name, *row) if lab.several else row)
    return (("collection", *head) if lab.several else head), rows


def _table(lab: Lab, cases: Sequence[Case], setup: Setup) -> tuple[Sequence[str], list[Row]]:
    """The paper's table: a line per cut-off with the errors of every method; then who was best and worst how often."""
    methods = (*setup.methods, REDUCED)
    rows: list[Row] = []
    cells: list[list[list[float | None]]] = []
    for case in cases:
        for trial, found in zip(case.trials, case.errors, strict=True):
            values = [[float(printed(found[m].mae)), found[m].sre, found[m].sre_star] for m in methods]
            cells.append(values)
            shown: list[Any] = []
            for m, method in enumerate(methods):
                e = found[method]
                best = [_best(values, m, k) for k in range(3)]
                texts = (printed(e.mae), str(e.sre), "-" if e.sre_star is None else str(e.sre_star))
                shown += [Shown(text, bold) for text, bold in zip(texts, best, strict=True)]
            rows.append((*((case.name,) if lab.several else ()), str(trial.n), *shown))
    for word, sign in (("top performer", 1), ("worst performer", -1)):
        counts = [str(performances(cells, m, k, sign)) for m in range(len(methods)) for k in range(3)]
        rows.append((*((word, "") if lab.several else (word,)), *counts))
    names = [f"{method} {error}" for method in methods for error in ("MAE", "SRE", "SRE*")]
    return (*(("collection",) if lab.several else ()), "P@n", *names), rows


def performances(cells: Sequence[Sequence[Sequence[float | None]]], method: int, error: int, sign: int = 1) -> int:
    """In how many lines a method alone is best (sign 1) or worst (-1) by an error; ties are not counted."""
    many = 0
    for line in cells:
        own, others = line[method][error], [v[error] for m, v in enumerate(line) if m != method]
        if own is not None and all(v is not None and sign * own < sign * v for v in others):
            many += 1
    return many


def _best(values: Sequence[Sequence[float | None]], method: int, error: int) -> bool:
    known = [v[error] for v in values if v[error] is not None]
    low, high = min(known, default=None), max(known, default=None)  # type: ignore[type-var]
    return low != high and values[method][error] == low


def _caption(cases: Sequence[Case], setup: Setup) -> str:
    about = []
    for case in cases:
        teams = len({case.collection.teams[r] for r in case.collection.runs if r in case.collection.teams})
        about.append(
            f"{case.name}: |R| {len(case.collection.runs)}, |O| {teams}, |Rp| {len(case.pool.runs)}, "
            f"d {case.pool.depth}, |T| {len(case.collection.topics)}"
        )
    share = "all pooled runs" if setup.top is None else f"top {setup.top:g} of the pooled runs"
    return (
        f"Leave one {setup.leave} out, {share}, protocol {setup.protocol.name}. {'; '.join(about)}. "
        f"SRE*: {'Tukey HSD' if setup.test == 'tukey' else 'paired t'}, p < {setup.alpha:g}; not the published SRE*, "
        "which nobody could reproduce."
    )


# -- figures


def _figures(lab: Lab, cases: Sequence[Case], setup: Setup) -> dict[str, Any]:
    """Figures 3 and 4, 1, and 2 where collections stand side by side."""

    @functools.cache
    def error_rows() -> Records:
        rows = _records(*_summary(lab, cases, setup))
        if setup.top is None:
            return rows
        whole = [Case(c.name, c.collection, c.pool, _trials(c.collection, c.pool, setup, None), setup) for c in cases]
        best = f"top {setup.top:.0%}" if setup.top < 1 else f"top {setup.top:g}"
        everyone = _records(*_summary(lab, whole, setup))
        return [{**r, "selection": "all runs"} for r in everyone] + [{**r, "selection": best} for r in rows]

    middle = 10 if 10 in setup.cutoffs else setup.cutoffs[0]
    made: dict[str, Any] = {
        "mae": lambda result: Figure(error_lines(error_rows(), "mae")),
        "sre": lambda result: Figure(error_lines(error_rows(), "sre")),
        "indicators": lambda result: Figure(indicator_points(_records(*_per_run(lab, cases, setup)), middle)),
    }
    if lab.several:
        made["stability"] = lambda result: Figure(stability_points(*stability(cases, setup)))
    return made


def _records(head: Sequence[str], rows: Sequence[Row]) -> Records:
    return [dict(zip(head, row, strict=True)) for row in rows]


def stability(cases: Sequence[Case], setup: Setup) -> tuple[Records, Records]:
    """MAE change by the first method in percent against E rho^2 and Phi of the true scores, and their correlations."""
    rows: Records = []
    for case in cases:
        for trial, found in zip(case.trials, case.errors, strict=True):
            before, after = found[REDUCED].mae, found[setup.methods[0]].mae
            if before == 0 or min(trial.per_topic.shape) < 2:
                continue
            coefficients = d_study(g_study(trial.per_topic))
            for name, value in (("E rho^2", coefficients.erho2), ("Phi", coefficients.phi)):
                rows.append(
                    {
                        "collection": case.name,
                        "n": trial.n,
                        "coefficient": name,
                        "reliability": round(value, 6),
                        "change": round(100 * (after - before) / before, 4),
                    }
                )
    correlations: Records = []
    for n in setup.cutoffs:
        for name in ("E rho^2", "Phi"):
            points = [(r["reliability"], r["change"]) for r in rows if r["n"] == n and r["coefficient"] == name]
            rho = spearman([p for p, _ in points], [c for _, c in points]) if len(points) > 2 else float("nan")
            p = correlation_p_value(rho, len(points)) if np.isfinite(rho) else float("nan")
            known = {"rho": rho if np.isfinite(rho) else None, "p_value": p if np.isfinite(p) else None}
            correlations.append({"n": n, "coefficient": name, **known})
    return rows, correlations


# -- the sentence


def _verdict(cases: Sequence[Case], setup: Setup) -> Verdict:
    method = setup.methods[0]
    changes = [(e[REDUCED].mae, e[method].mae, t.n) for c in cases for t, e in zip(c.trials, c.errors, strict=True)]
    better = sum(after < before - 1e-12 for before, after, _ in changes)
    before, after, n = next(((b, a, n) for b, a, n in changes if n == 10), changes[0])
    sentence = (
        f"{method} brings left-out runs nearer to their scores at {better} of {len(changes)} cut-offs "
        f"(P@{n}: MAE {printed(before)} -> {printed(after)})"
    )
    groups = min(len({groups_of(c.collection, c.pool, setup.leave)[0][r] for r in c.pool.runs}) for c in cases)
    if groups < NEEDED:
        few = f"{sentence}; only {groups} {setup.leave}s could be left out"
        return Verdict("unknown", few, after, f"at least {NEEDED}")
    limit = limit_of("correction")
    return Verdict(limit.word(better / len(changes)), sentence, after, f"share of cut-offs: {limit.sentence}")
