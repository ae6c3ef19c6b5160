"""What changes after correction? P@n (or another measure) of runs that were not pooled, corrected for that.

The correction is tried on the pool itself: each team is left out and corrected as if it were new (`correction_trials`).
What that does to the error of left-out runs is the verdict (`after_correction`), here, in the study `correction` and in
the report.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from unjudged.collection import Collection, Floats, Ints, Pool, Rankings
from unjudged.collection.membership import Membership, membership
from unjudged.correction import lipani
from unjudged.correction.any_measure import LeftOut, Scorer, joined
from unjudged.correction.experiment import Experiment, NewRuns, groups_of
from unjudged.correction.methods import NONE, RECALL, methods_for
from unjudged.correction.protocols import Protocol, protocol_of
from unjudged.correction.trust import Trust
from unjudged.errors import UsageError, nearest, one_of
from unjudged.figures import Figure, marks, records, theme
from unjudged.holes.reading import why_not
from unjudged.io import files
from unjudged.measures import Measure
from unjudged.measures import measures as parse_measures
from unjudged.measures.bounds import BOUNDED
from unjudged.options import check
from unjudged.results import Result, Row
from unjudged.scoring import score_bounds
from unjudged.statistics.pairs import ZERO
from unjudged.studies.after_correction import after_correction, lifted
from unjudged.studies.correct_by_estimate import ESTIMATE, estimated_scores, estimates_tried, fits
from unjudged.studies.correction_trials import (
    Chosen,
    Trials,
    Tried,
    corrected_by_counting,
    ends_of,
    pool_to_correct,
    recommended,
    trials_of,
    tried_by_counting,
    tried_by_scoring,
)
from unjudged.studies.engine import Answer, Arrays, Case, Pooling, Table, Unanswerable, register
from unjudged.studies.score_range import DEEPEST, bounded
from unjudged.text import counted, printed

QUANTITIES = ("p", "anti", "k", "delta_p", "delta_anti_p", "delta_k", "lambda")
COLUMNS = (
    *("run", "measure", "method", "score", "corrected", "low", "high", "adjustment", *QUANTITIES, "pooled_runs"),
    *("mae_reduced", "mae_corrected", "in_the_pool"),
    *("lipani", "webber_park", "estimate", "estimate_low", "estimate_high"),
)
PAPERS = ("lipani", "webber-park")
"""The papers' methods, shown beside the estimate whatever is recommended."""
_RECALL_BASED = ("AP", "Q", "R", "Rprec", "R_measure", "GAP")


@register(
    "correct",
    help="corrected scores of runs that were not pooled",
    cite="lipani2015",
    figures={"": ("corrected",)},
    columns=COLUMNS,
    limit="after-correction",
)
def correct(
    case: Case,
    pooling: Pooling,
    *,
    new: Any = None,
    measures: Any = "P@10",
    rel: int | None = None,
    method: str | Sequence[str] | None = None,
    merge_weight: float = 1.0,
    indicator: str = "lambda",
    protocol: str = "strict",
    no_trial: bool = False,
    force: bool = False,
    confidence: float = 0.95,
) -> Answer:
    """What changes after correction?

    A run that was not pooled has unjudged documents at its top, which count as nonrelevant; correction estimates the
    score it would have had in the pool. --new names the runs to be corrected (files, or runs among those given);
    without it every run that was not pooled is corrected. Where every run was pooled, the table shows each of them
    left out with its team: its score then, the corrected one, and its score in the pool.

    P@n is corrected by lipani (Lipani, Lupu and Hanbury 2015; --merge-weight and --indicator belong to it), webber-park
    (Webber and Park 2009) or a later variant; any other measure by webber-park, R@n also by webber-recall; P@n, nDCG@n,
    RBP and AP@n also by estimate (the hole model, docs/holes.md). Every method is tried on the pool first: each team
    (without a team file: each run) is left out and corrected as if it were new. The method with the smallest error
    there is taken, or none where none helps; --method takes another one. The trial also gives the interval, at
    --confidence; scores and intervals stay within what the unjudged documents allow. Beside it stand the scores by the
    two papers' methods, and the estimate with its 90 % interval. A method named that brings no gain is refused for
    measures other than P@n; --force gives it all the same, and --no-trial saves the trial (P@n is then corrected by
    lipani). Where no pool can be seen there is the estimate alone, and nothing to try it on.
    """
    how = protocol_of(protocol)
    check("merge_weight", merge_weight)
    check("confidence", confidence, "correct")
    one_of(indicator, lipani.INDICATORS, "indicator")
    chosen: Chosen = [(m, _methods(m, method)) for m in parse_measures(measures, rel)]
    base = how.read(case.collection)
    if new is not None and set(base.full.runs) != set(base.runs):
        base = base.with_runs(base.full.runs)  # the pool is that of all runs, and the new one may have been dropped
    names, whole = (None, base) if new is None else _with_new(base, new)
    try:
        pool = pool_to_correct(case, base, pooling, how)
    except Unanswerable as why:
        named = tuple(whole.runs) if names is None else names
        modelled = [m for m, _ in chosen if fits(m)]
        alone = _estimate_alone(case, whole, named, modelled, why) if modelled else None
        if alone is not None:
            return alone
        if new is None:
            raise
        raise UsageError(str(why)) from None  # the run named cannot be corrected, and that was all that was asked
    outside = names is None
    if names is None:
        names = tuple(run for run in base.runs if run not in set(pool.runs))
    asked = _Asked(case, pool, how, merge_weight, indicator, confidence, force or method is None)
    left = "team" if case.collection.teams else "run"
    groups = groups_of(base, pool, left)
    tried: Trials = {}
    if len(set(groups.values())) < 2:
        if not names:
            raise Unanswerable(f"every run was pooled, and they are all of one {left}: nothing can be left out")
        case.note("the pooled runs belong to fewer than two teams: nothing can be left out, so nothing is validated")
    elif not no_trial:
        tried = asked.tried(base, groups, left, chosen)
    trials = tried
    if method is None:
        chosen, tried = recommended(chosen, tried, groups, confidence, keep_none=not force)
    found = asked.corrected(whole, names, chosen, tried) if names else _left_out(chosen, tried)
    beside = asked.beside(whole, names, [m for m, _ in chosen]) if names else _tried_beside(trials)
    for note in _notes(whole, names, pool, chosen, outside):
        case.note(note)
    if tried and left == "run":
        case.note("no teams are known: validated by leaving out single runs, which is milder than a new team")
    held = min([c.trust.confidence for c in found if c.trust], default=confidence)
    if names and held < confidence - ZERO:
        many = counted(len(set(groups.values())), left)
        case.note(f"{many} are too few for {confidence:.0%}: the intervals hold for {held:.0%} of such runs")
    useless = [c for c in found if c.trust and not c.trust.helps and c.method != NONE]
    for note in dict.fromkeys(f"{c.measure}, {c.method}: {c.trust.sentence()}" for c in useless if c.trust):
        case.note(note)
    lead, (by, *_) = chosen[0]
    first = [c for c in found if (c.measure, c.method) == (str(lead), by)] if names else []
    unjudged = [0.0 if c.complete else c.quantities.get("k", 1.0) for c in first]
    runs = [c.run for c in first]
    moved = lifted(lead, runs, [c.adjustment for c in first], unjudged, *([] if outside else ["new run"]))
    if any(c.refused for c in first):
        moved = "; the correction is refused"
    return Answer(
        COLUMNS,
        [(*c.row(), *beside.get((c.run, c.measure), (None,) * 5)) for c in found],
        after_correction(case, pooling, str(lead), by, tried.get((lead, by)), moved, groups, left, not outside),
        lambda: _short_table(found, beside) if outside else _explained(found, beside),
        {"corrected": corrected_scores},
        _caption(pool, left if tried else None, held, bool(names)),
        _of_methods(trials, chosen),
        settings={
            **whole.settings,
            **how.settings(),
            **pool.settings,
            "pooled runs named": list(pool.runs),
            "merge weight": merge_weight,
            "indicator": indicator,
            "validated by leaving out": f"one {left} at a time" if tried else None,
            "errors of the methods tried": {
                f"{measure}, {one}": {"before": t.trust.before, "after": t.trust.after}
                for (measure, one), t in trials.items()
                if one != NONE
            },
            "method": "given" if method is not None else "the best of those tried" if trials else "the usual one",
            "confidence": confidence,
        },
        sources=[source for source in whole.sources if source not in set(case.sources)],
    )


def _methods(measure: Measure, method: str | Sequence[str] | None) -> tuple[str, ...]:
    """The methods asked for, or all that fit; the estimate is one of them."""
    if method is None:
        return (*methods_for(measure, None), *((ESTIMATE,) if fits(measure) else ()))
    asked = tuple(dict.fromkeys(m.strip() for m in (method.split(",") if isinstance(method, str) else method)))
    others = [one for one in asked if one != ESTIMATE]
    if ESTIMATE in asked and not fits(measure):
        raise UsageError(f"{measure} cannot be estimated: {why_not(measure) or 'it has no exact bounds'}")
    known = methods_for(measure, others) if others or not asked else ()
    return tuple(one for one in asked if one == ESTIMATE or one in known)


def _estimate_alone(
    case: Case, whole: Collection, names: Sequence[str], modelled: Sequence[Measure], why: Unanswerable
) -> Answer | None:
    """Where no pool can be seen: the estimate, which nothing can be tried on; None where that cannot be told either."""
    found = estimated_scores(case, whole, names, modelled)
    if np.isnan(found.estimate).all():
        return None
    rows: list[Corrected] = []
    for m, measure in enumerate(modelled):
        for r, run in enumerate(names):
            score, value = float(found.score[r, m]), float(found.estimate[r, m])
            ends = float(found.lowest[r, m]), float(found.highest[r, m])
            near = float(found.low[r, m]), float(found.high[r, m])
            dark = math.isnan(value)
            more: dict[str, Any] = {"bounds": ends, "near": None if dark else near, "refused": dark}
            rows.append(Corrected(run, str(measure), ESTIMATE, score, 0.0 if dark else value - score, 0, **more))
    case.note(f"{why}; there is the estimate alone, and no left-out team to try it on")
    lead = str(modelled[0])
    first = [c for c in rows if c.measure == lead]
    up = [c for c in first if c.bounds[1] - c.bounds[0] > ZERO]
    if not up:
        sentence = f"nothing to correct in {lead}: every document it counts was judged"
    else:
        sentence = f"without a pool {lead} is estimated, and nothing here can check that"
        told = [c for c in up if not c.refused]
        if told:
            most = max(told, key=lambda c: (round(abs(c.adjustment), 12), c.run))
            sentence += f"; {most.run} moves by {most.adjustment:+.4f}"
        if len(told) < len(up):
            beyond = [c.run for c in up if c.refused]
            whose = beyond[0] if len(beyond) == 1 else counted(len(beyond), "run")
            sentence += f"; too much of {whose} is unjudged for that"
    blank = (None, None)
    return Answer(
        COLUMNS,
        [(*c.row(), *blank, c.corrected, *(c.near or blank)) for c in rows],
        case.limits["after-correction"].unknown(sentence, why.next),
        lambda: _short_table(rows, {}),
        {"corrected": corrected_scores},
        "No pool: estimated scores with 90 % intervals (docs/holes.md).",
        settings={**whole.settings, "method": ESTIMATE, "confidence": 0.9},
        sources=[source for source in whole.sources if source not in set(case.sources)],
    )


def _tried_beside(trials: Trials) -> Beside:
    """The runs of the trial by the papers' methods and by the estimate."""
    found: dict[tuple[str, str], list[float | None]] = {}
    for (measure, method), tried in trials.items():
        if method in (*PAPERS, ESTIMATE):
            place = (*PAPERS, ESTIMATE).index(method)
            for run, value in zip(tried.runs, (tried.reduced + tried.added).tolist(), strict=True):
                found.setdefault((run, str(measure)), [None] * 5)[place] = value
    return {key: tuple(values) for key, values in found.items()}


def _with_new(collection: Collection, new: Any) -> tuple[tuple[str, ...], Collection]:
    """The names of the new runs, and the collection with them."""
    given = list(new) if isinstance(new, (list, tuple)) else [new]
    if not given:
        raise UsageError("no new run given")
    known = {os.path.realpath(path): run for path, run in zip(collection.sources[1:], collection.runs, strict=True)}
    names: list[str] = []
    more: list[Any] = []
    for run in given:
        if isinstance(run, str) and run in collection.runs:
            names.append(run)
        elif isinstance(run, (str, os.PathLike)) and os.path.realpath(run) in known:
            names.append(known[os.path.realpath(run)])
        else:
            more.append(run)
            named = isinstance(run, (str, os.PathLike)) and str(run) != files.STDIN and "*" not in str(run)
            if named and not Path(run).exists():
                raise UsageError(f"no run or file {os.fspath(run)}{nearest(str(run), collection.runs)}")
    whole = collection.adding(*more)
    return (*names, *whole.runs[len(collection.runs) :]), whole


# -- work units


Reduced = tuple[Collection, Rankings, Membership, tuple[str, ...], tuple[Measure, ...]]
"""A collection with its full lists, who brought what into the pool, the group of each pooled run, and measures."""


def bounded_without(shared: Reduced, group: str) -> Arrays:
    """One work unit: runs of a group x measures x (lowest, highest) without what only they brought in."""
    collection, _, inside, groups, measures = shared
    members = [run for run, own in zip(inside.runs, groups, strict=True) if own == group]
    kept = collection.keeping(~inside.unique(members), f"without {group}")
    ends = score_bounds(kept, list(measures)).mean_values()
    return {"ends": ends[[kept.runs.index(run) for run in members], :, 1:]}


def corrected_by_scoring(shared: Scorer, run: str) -> Arrays:
    """One work unit: scores of a new run, and the mean loss of the pooled runs, in every measure."""
    everything = np.ones(len(shared.collection.judgments), bool)
    others = [r for r, pooled in enumerate(shared.inside.runs) if pooled != run]
    hits = shared.hits([shared.collection.runs.index(run)])
    return {
        "score": shared.means(hits, everything)[0],
        "added": shared.loss(others, everything),
        "peers": np.array(len(others)),
    }


# -- corrections


Beside = Mapping[tuple[str, str], tuple[float | None, ...]]
"""(run, measure) -> lipani, webber-park, and the estimate with the ends of its interval."""


@dataclass(frozen=True)
class Corrected:
    """One run's score by one measure, corrected by one method; `in_the_pool` is known for a pooled run left out."""

    run: str
    measure: str
    method: str
    score: float
    adjustment: float
    peers: int
    quantities: Mapping[str, float] = field(default_factory=dict)
    trust: Trust | None = None
    refused: bool = False
    bounds: tuple[float, float] = (-math.inf, math.inf)
    in_the_pool: float | None = None
    near: tuple[float, float] | None = None
    """The interval of an estimate, where no trial gives one."""

    @property
    def corrected(self) -> float | None:
        """The corrected score; None where the correction was refused."""
        return None if self.refused else self.score + self.adjustment

    @property
    def complete(self) -> bool:
        """Were all documents judged that the score looks at? Then there is nothing to correct."""
        return bool(self.quantities or self.method == ESTIMATE) and self.bounds[1] - self.bounds[0] < ZERO

    def interval(self) -> tuple[float | None, float | None]:
        """Where the score in the pool lies, judged by the runs left out of this pool; nowhere, where it is known.

        It stays within the bounds: what the unjudged documents allow.
        """
        if self.trust is None and self.near is not None:
            return self.near
        if self.trust is None or self.corrected is None or self.in_the_pool is not None:
            return None, None
        low, high = self.bounds
        return max(self.corrected - self.trust.reach, low), min(self.corrected + self.trust.reach, high)

    def row(self) -> Row:
        """As a row of the tidy table."""
        trust = self.trust
        return (
            *(self.run, self.measure, self.method, self.score, self.corrected, *self.interval()),
            None if self.refused else self.adjustment,
            *(self.quantities.get(name) for name in QUANTITIES),
            self.peers,
            *((trust.before, trust.after) if trust else (None, None)),
            self.in_the_pool,
        )


@dataclass(frozen=True, eq=False)
class _Asked:
    """How runs are corrected, and where the work is done."""

    case: Case
    pool: Pool
    protocol: Protocol
    merge_weight: float
    indicator: str
    confidence: float
    force: bool

    def tried(self, collection: Collection, groups: Mapping[str, str], left: str, chosen: Chosen) -> Trials:
        """Every measure and method tried on the pool itself."""
        found: dict[tuple[Measure, str], Tried] = {}
        many = f"{counted(len(set(groups.values())), left)} left out"
        counts, others = _by_counting(chosen), _by_scoring(chosen)
        if counts:
            how = {"methods": counts[0][1], "alpha": self.merge_weight, "indicator": self.indicator}
            shared = Experiment.of(collection, self.pool, groups, self.protocol, **how)
            units = [((m.params["k"],), m.params["rel"]) for m, _ in counts]
            values = self.case.run(tried_by_counting, shared, units, many)
            for (measure, methods), value in zip(counts, values, strict=True):
                (trial,) = trials_of(value, self.pool)
                found |= {(measure, one): Tried.of(trial, one, self.confidence, groups) for one in methods}
        if others:
            scorer = self._scorer(collection, others, groups)
            parts = self.case.run(tried_by_scoring, scorer, list(dict.fromkeys(scorer.groups)), many)
            out = joined([LeftOut(**part) for part in parts])
            sizes = np.array([sum(own != group for own in scorer.groups) for group in scorer.groups])
            limits = self._ends_without(collection, groups, list(dict.fromkeys(measure for measure, _ in others)))
            for m, pair in enumerate(others):
                true, reduced, ends = out.true[:, m], out.reduced[:, m], limits[pair[0]]
                estimate = np.clip(reduced + out.added[:, m], ends[:, 0], ends[:, 1])
                trust = Trust.of(true, reduced, estimate, self.confidence, scorer.groups)
                found[pair] = Tried(self.pool.runs, true, reduced, estimate - reduced, sizes, trust, ends)
        modelled = [m for m, methods in chosen if ESTIMATE in methods]
        return found | estimates_tried(self.case, collection, self.pool, groups, modelled, found, self.confidence)

    def beside(self, collection: Collection, names: Sequence[str], measures: Sequence[Measure]) -> Beside:
        """Every run by the papers' methods and by the estimate with its interval, whatever is recommended."""
        of_papers: Chosen = [(m, tuple(one for one in PAPERS if one in methods_for(m, None))) for m in measures]
        found: dict[tuple[str, str], list[float | None]] = {}
        for c in self.corrected(collection, names, of_papers, {}):
            found.setdefault((c.run, c.measure), [None] * 5)[PAPERS.index(c.method)] = c.corrected
        modelled = [m for m in measures if fits(m)]
        if modelled:
            likely = estimated_scores(self.case, collection, names, modelled)
            for m, measure in enumerate(modelled):
                for r, run in enumerate(names):
                    three = (likely.estimate[r, m], likely.low[r, m], likely.high[r, m])
                    told = [None if np.isnan(number) else float(number) for number in three]
                    found.setdefault((run, str(measure)), [None] * 5)[2:] = told
        return {key: tuple(values) for key, values in found.items()}

    def corrected(self, collection: Collection, names: Sequence[str], chosen: Chosen, tried: Trials) -> list[Corrected]:
        """The new runs by every measure and method."""
        found: dict[tuple[Measure, str], list[Corrected]] = {}
        trust = {pair: trial.trust for pair, trial in tried.items()}
        counts, others = _by_counting(chosen), _by_scoring(chosen)
        many = counted(len(names), "new run")
        if counts:
            how = {"alpha": self.merge_weight, "indicator": self.indicator}
            used = dict.fromkeys(one for _, methods in counts for one in methods if one != NONE)
            shared = NewRuns.of(collection, self.pool, names, self.protocol, tuple(used), **how)
            units = [(m.params["k"], m.params["rel"]) for m, _ in counts]
            values = self.case.run(corrected_by_counting, shared, units, many)
            for (measure, methods), value in zip(counts, values, strict=True):
                effect, added = lipani.from_arrays(value)
                for one in methods:
                    more: dict[str, Any] = {"effect": effect, "trust": trust.get((measure, one))}
                    more["ends"] = ends_of(effect)
                    plus = added[one] if one != NONE else np.zeros(len(names))
                    found[measure, one] = _each(measure, one, names, effect.p, plus, effect.peers, **more)
        if others:
            values = self.case.run(corrected_by_scoring, self._scorer(collection, others), list(names), many)
            scores, added_by_all, peers = (np.array([v[key] for v in values]) for key in ("score", "added", "peers"))
            for m, pair in enumerate(others):
                believed = trust.get(pair)
                refused = believed is not None and not believed.helps and not self.force
                more = {"trust": believed, "refused": refused, "ends": self._ends(collection, names, pair[0])}
                plus = added_by_all[:, m] if pair[1] != NONE else np.zeros(len(names))
                found[pair] = _each(*pair, names, scores[:, m], plus, peers, **more)
        modelled = [m for m, methods in chosen if ESTIMATE in methods]
        if modelled:
            likely = estimated_scores(self.case, collection, names, modelled)
            for m, measure in enumerate(modelled):
                ends = np.stack([likely.lowest[:, m], likely.highest[:, m]], axis=1)
                plus = np.nan_to_num(likely.estimate[:, m] - likely.score[:, m])
                peers = np.full(len(names), len(self.pool.runs))
                more = {"trust": trust.get((measure, ESTIMATE)), "ends": ends}
                rows = _each(measure, ESTIMATE, names, likely.score[:, m], plus, peers, **more)
                near = zip(likely.low[:, m].tolist(), likely.high[:, m].tolist(), strict=True)
                found[measure, ESTIMATE] = [
                    replace(row, near=None if math.isnan(low) else (low, high))
                    for row, (low, high) in zip(rows, near, strict=True)
                ]
        return _in_order(found, chosen)

    def _ends(self, collection: Collection, names: Sequence[str], measure: Measure) -> Floats:
        """Runs x (lowest, highest) score that the unjudged documents allow; [0, 1] where that is slow to find."""
        if not _quickly_bounded(measure):
            return _anything(measure, len(names))
        shared = (collection, collection.rankings, measure)
        (value,) = self.case.run(bounded, shared, [0], f"what the unjudged documents allow in {measure}")
        return np.asarray(value["ends"][[collection.runs.index(run) for run in names], 1:], np.float64)

    def _ends_without(
        self, collection: Collection, groups: Mapping[str, str], measures: Sequence[Measure]
    ) -> dict[Measure, Floats]:
        """The same of every pooled run as if its group had stayed away from the pool."""
        found = {measure: _anything(measure, len(self.pool.runs)) for measure in measures}
        quick = tuple(measure for measure in measures if _quickly_bounded(measure))
        if quick:
            of_runs = tuple(groups[run] for run in self.pool.runs)
            shared = (collection, collection.rankings, membership(collection, self.pool, by="ranks"), of_runs, quick)
            units = list(dict.fromkeys(of_runs))
            values = self.case.run(bounded_without, shared, units, "what the unjudged documents allow")
            for group, value in zip(units, values, strict=True):
                own = [i for i, one in enumerate(of_runs) if one == group]
                for m, measure in enumerate(quick):
                    found[measure][own] = value["ends"][:, m]
        return found

    def _scorer(
        self, collection: Collection, others: Sequence[tuple[Measure, str]], groups: Mapping[str, str] | None = None
    ) -> Scorer:
        recall = [method == RECALL for _, method in others]
        return Scorer.of(collection, self.pool, [m for m, _ in others], groups, recall)


def _quickly_bounded(measure: Measure) -> bool:
    """Are the exact bounds of the measure quick to find?"""
    return measure.name in BOUNDED and 0 < (measure.params.get("k") or 0) <= DEEPEST and measure.name != "Q"


def _anything(measure: Measure, runs: int) -> Floats:
    """Runs x (lowest, highest) value the measure can have at all."""
    ends = (0.0, 1.0) if measure.definition.bounded else (-math.inf, math.inf)
    return np.tile(ends, (runs, 1))


def _by_counting(chosen: Chosen) -> Chosen:
    """The measures P@n, each with all its methods."""
    own = [(m, tuple(one for one in methods if one != ESTIMATE)) for m, methods in chosen if m.name == "P"]
    return [(measure, methods) for measure, methods in own if methods]


def _by_scoring(chosen: Chosen) -> list[tuple[Measure, str]]:
    """The other measures, each with one method."""
    return [(m, one) for m, methods in chosen for one in methods if m.name != "P" and one != ESTIMATE]


def _each(
    measure: Measure,
    method: str,
    runs: Sequence[str],
    scores: Floats,
    added: Floats,
    peers: Ints,
    effect: lipani.Effect | None = None,
    in_the_pool: Floats | None = None,
    ends: Floats | None = None,
    **more: Any,
) -> list[Corrected]:
    """Every run by one measure and method; no corrected score leaves `ends`, the lowest and highest possible one."""
    if ends is not None:
        added = np.clip(scores + added, ends[:, 0], ends[:, 1]) - scores
    quantities = [effect.quantities(u) if effect else {} for u in range(len(runs))]
    true = [None] * len(runs) if in_the_pool is None else in_the_pool.tolist()
    limits = [(-math.inf, math.inf)] * len(runs) if ends is None else list(map(tuple, ends.tolist()))
    numbers = zip(runs, scores.tolist(), added.tolist(), peers.tolist(), quantities, true, limits, strict=True)
    return [
        Corrected(run, str(measure), method, score, plus, many, own, in_the_pool=known, bounds=(low, high), **more)
        for run, score, plus, many, own, known, (low, high) in numbers
    ]


def _left_out(chosen: Chosen, tried: Trials) -> list[Corrected]:
    """Where every run was pooled: the runs of the trial."""
    found = {
        pair: _each(*pair, t.runs, t.reduced, t.added, t.peers, t.effect, t.true, t.ends, trust=t.trust)
        for pair, t in tried.items()
    }
    return _in_order(found, chosen) if found else []


def _in_order(found: Mapping[tuple[Measure, str], list[Corrected]], chosen: Chosen) -> list[Corrected]:
    """Measures and runs as asked; of measures that are scored, a run's methods stand together."""
    rows: list[Corrected] = []
    for measure, methods in chosen:
        parts = [found[measure, one] for one in methods]
        rows += [c for part in (parts if measure.name == "P" else zip(*parts, strict=True)) for c in part]
    return rows


# -- what a reader should know


def _notes(collection: Collection, names: Sequence[str], pool: Pool, chosen: Chosen, outside: bool) -> list[str]:
    notes = [note for measure, _ in chosen for note in _away_from_truth(measure)]
    if outside and not names:
        notes.append("nothing to correct: every run helped make the pool; the rows show each run left out of it")
    inside = [name for name in names if name in pool.runs]
    if inside:
        notes.append(f"{', '.join(inside)}: pooled already; corrected as if pooled runs were only the others")
    return notes + _short(collection, names, [m for m, _ in chosen])


def _away_from_truth(measure: Measure) -> list[str]:
    """A caution for measures that divide by the number of relevant documents."""
    uncut = measure.name == "nDCG" and not measure.params.get("k")
    if measure.name not in _RECALL_BASED and not uncut:
        return []
    return [
        f"{measure} divides by the known relevant documents: correction brings it nearer to the full pool's score, "
        "not to the true one, which is lower because the pool misses relevant documents (docs/correction.md)"
    ]


def _short(collection: Collection, names: Sequence[str], chosen: Sequence[Measure]) -> list[str]:
    """A note for lists that end above a cut-off."""
    length = collection.hits.length.reshape(len(collection.runs), -1)
    notes = []
    for name in names:
        lengths = length[collection.runs.index(name)]
        for n in sorted({m.params["k"] for m in chosen if m.name == "P" and m.params.get("k")}):
            if many := int(((lengths < n) & (lengths > 0)).sum()):
                notes.append(f"{name}: {counted(many, 'list')} shorter than {n}; empty places count as unjudged (k)")
            if missing := int((lengths == 0).sum()):
                notes.append(f"{name}: {counted(missing, 'judged topic')} without a list")
                break
    return notes


# -- tables


def _caption(pool: Pool, left: str | None, confidence: float, intervals: bool) -> str:
    tried = f" Tried by leaving each {left} out of the pool" if left else ""
    held = f"; intervals hold for {confidence:.0%} of such runs" if left and intervals else ""
    return f"Pool: top {pool.depth} of {len(pool.runs)} runs{pool.guessed}.{tried}{held}{'.' if left else ''}"


def _of_methods(trials: Trials, chosen: Chosen) -> str:
    """The errors of all methods tried, best first: `P@10: as it is 0.0435, webber-ratio 0.0173 ± 0.0041 (taken)`."""
    parts = []
    for measure, taken in chosen:
        own = {one: t.trust for (m, one), t in trials.items() if m == measure and one != NONE}
        if not own:
            continue
        order = sorted(own, key=lambda one: round(own[one].after, 12))
        told = [
            f"{one} {printed(own[one].after)}{_plus_minus(own[one])}{' (taken)' if one in taken else ''}"
            for one in order
        ]
        as_it_is = f"as it is {printed(own[order[0]].before)}{' (taken)' if NONE in taken else ''}"
        parts.append(f"{measure}: {as_it_is}, {', '.join(told)}")
    return f"Mean error of left-out runs in {'; '.join(parts)}." if parts else ""


def _plus_minus(trust: Trust) -> str:
    half = trust.give_or_take()
    return f" ± {printed(half)}" if math.isfinite(half) else ""


def _short_table(found: Sequence[Corrected], beside: Beside) -> Table:
    """A line per run: the score as it is, corrected, with its interval; beside it the papers' methods and the estimate,
    and the score in the pool where that is known."""
    head = ["run", "measure", "method", "score", "corrected", "low", "high", *PAPERS, ESTIMATE, "in the pool"]
    rows = []
    for c in found:
        others = beside.get((c.run, c.measure), (None,) * 3)[:3]
        rows.append((c.run, c.measure, c.method, c.score, c.corrected, *c.interval(), *others, c.in_the_pool))
    kept = [i for i in range(len(head)) if i < 7 or any(row[i] is not None for row in rows)]
    return [head[i] for i in kept], [tuple(row[i] for i in kept) for row in rows]


def _explained(found: Sequence[Corrected], beside: Beside) -> Table:
    """A line per quantity: its value and what it says."""
    several = len({c.run for c in found}) > 1
    rows: list[Row] = []
    for c in found:
        lines = [*_lines(c), *([] if c.complete else _others(c, beside))]
        rows += [(c.run, *line) if several else line for line in lines]
    names = ("quantity", "value", "in words")
    return (("run", *names) if several else names), rows


def _lines(c: Corrected) -> list[tuple[str, str, str]]:
    """The quantities of one corrected score."""
    q, n = c.quantities, c.measure
    lines = [(n, printed(c.score), "score with the judgments as they are")]
    if c.complete:
        return [(n, printed(c.score), "nothing to correct: every document it counts was judged")]
    if q:
        lines = [
            (n, printed(q["p"]), "share of judged relevant documents among the first places"),
            (f"anti-{n}", printed(q["anti"]), "share of judged nonrelevant documents there"),
            ("k", printed(q["k"]), "share of places without a judged document: the score can rise by no more"),
        ]
        if c.method in ("lipani", "lipani-v2", "per-topic"):
            change = _by_sign(q["delta_p"], "raises", "lowers", "does not change")
            moves = f"the run's order {change} the P of the {c.peers} pooled runs on average"
            pushed = _by_sign(
                q["delta_anti_p"],
                "it pulls judged nonrelevant documents up in them",
                "it pushes judged nonrelevant documents down in them",
                "judged nonrelevant documents stay",
            )
            nothing = "it brings no unjudged documents to their top: nothing can be added"
            brought = "it brings unjudged documents to their top: the share of k that is added"
            brought = brought if q["delta_k"] > 0 else nothing
            lines += [
                ("Delta P", f"{q['delta_p']:+.4f}", moves),
                ("Delta anti-P", f"{q['delta_anti_p']:+.4f}", pushed),
                ("Delta k", f"{q['delta_k']:+.4f}", brought),
            ]
        if c.method == "lipani":
            yes = "positive: better than the pool can tell, so the score is corrected"
            said = yes if q["lambda"] > 0 else "not positive: this method adds nothing"
            lines.append(("lambda", f"{q['lambda']:+.6f}", said))
    if c.refused:
        assert c.trust is not None
        return [*lines, (f"corrected {n}", "refused", c.trust.sentence())]
    lines.append((f"{c.method} adds", f"{c.adjustment:+.4f}", _added(c)))
    low, high = c.interval()
    where = "" if low is None or high is None else f"; {printed(low)} to {printed(high)} judged by left-out runs"
    lines.append(
        (f"corrected {n}", printed(c.score + c.adjustment), f"what the run might have scored in the pool{where}")
    )
    if c.trust:
        lines.append(("trial", printed(c.trust.after), c.trust.sentence()))
    return lines


def _others(c: Corrected, beside: Beside) -> list[tuple[str, str, str]]:
    """The same score by the papers' methods and by the estimate, where another method was taken."""
    values = beside.get((c.run, c.measure), ())
    named = zip((*PAPERS, ESTIMATE), values, strict=False)
    return [
        (f"by {method}", printed(value), "the score by another method; it was not taken")
        for method, value in named
        if value is not None and method != c.method
    ]


def _by_sign(value: float, up: str, down: str, none: str) -> str:
    return up if value > 0 else down if value < 0 else none


def _added(c: Corrected) -> str:
    if c.method == NONE:
        return "no method did better on left-out runs than the score as it is"
    if c.method == ESTIMATE:
        return "what its unjudged documents are likely to be worth (docs/holes.md)"
    if c.method == "webber-park":
        return f"mean loss of the {c.peers} pooled runs when each is left out of the pool"
    if c.method == "webber-recall":
        return f"the same loss of the {c.peers} pooled runs, each topic scaled by the relevant documents left"
    if c.method == "webber-ratio":
        return "k times the pooled runs' typical loss per unjudged place when left out"
    if c.method == "per-topic":
        return "k times Delta k in each topic where the indicator says so, averaged"
    return "k times Delta k" if c.adjustment else "nothing"


def corrected_scores(result: Result) -> Figure:
    """One row per run, best first: the score as it is (open), corrected (filled), and in the pool (cross)."""
    rows = records(result)
    first = rows[0] if rows else {"measure": "", "method": ""}
    shown = [row for row in rows if all(row[key] == first[key] for key in ("measure", "method"))]
    known = [row for row in shown if row["in_the_pool"] is not None]
    best = "in_the_pool" if known else "corrected"
    order = sorted(shown, key=lambda row: (-(row["score"] if row[best] is None else row[best]), row["run"]))
    numbers = ((column, ".4f") for column in ("score", "corrected", "low", "high", "in_the_pool"))
    common = {"y": marks.names("run", [row["run"] for row in order]), "tooltip": marks.tips("run", "method", *numbers)}
    layers = marks.before_and_after("score", "corrected", first["measure"], **common)
    if known:
        cross = {"shape": "cross", "color": theme.GREEN, "size": 40}
        there = marks.field("in_the_pool", title=first["measure"], scale={"zero": False})
        layers.append(marks.layer("point", cross, x=there, **common))
    said = (
        f"{first['measure']} of {len(shown)} runs before (open) and after (filled) correction by {first['method']}"
        f"{'; the cross is the score in the pool' if known else ''}."
    )
    chosen = [{"filter": {"field": key, "equal": first[key]}} for key in ("measure", "method")]
    return marks.chart(rows, said, *layers, transform=chosen, width=480, height={"step": 15})
