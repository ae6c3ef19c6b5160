"""`correct`: the score a run would have had if it had been pooled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unjudged.collection import Collection, Floats, Pool
from unjudged.collection.pool import TOLERANCE
from unjudged.correction.any_measure import Scorer, leave_groups_out
from unjudged.correction.asked import RECALL, as_read, groups_of, methods_for, pool_to_correct, with_new
from unjudged.correction.experiment import Trial, adjustments, binary, experiment
from unjudged.correction.lipani import INDICATORS, Effect
from unjudged.correction.lists import Lists
from unjudged.correction.protocols import Protocol, protocol_of
from unjudged.correction.tally import Plan, tally
from unjudged.correction.trust import Trust
from unjudged.correction.words import away_from_truth, explained, table, verdict
from unjudged.errors import UsageError, nearest
from unjudged.measures import Measure, measures
from unjudged.options import check
from unjudged.results import Provenance, Result

COLUMNS = (
    *("run", "measure", "method", "score", "corrected", "low", "high", "adjustment"),
    *("p", "anti", "k", "delta_p", "delta_anti_p", "delta_k", "lambda", "pooled_runs"),
    *("mae_reduced", "mae_corrected"),
)


@dataclass(frozen=True)
class Corrected:
    """One new run's score by one measure, corrected by one method."""

    run: str
    measure: str
    method: str
    score: float
    adjustment: float
    peers: int
    quantities: Mapping[str, float] = field(default_factory=dict)
    trust: Trust | None = None
    refused: bool = False
    bounded: bool = True

    @property
    def corrected(self) -> float | None:
        """The corrected score; None where the correction was refused."""
        return None if self.refused else self.score + self.adjustment

    def interval(self) -> tuple[float | None, float | None]:
        """Where the true score lies, judged by the runs left out of this pool."""
        if self.trust is None or self.corrected is None:
            return None, None
        low, high = self.corrected - self.trust.reach, self.corrected + self.trust.reach
        return (max(low, 0.0), min(high, 1.0)) if self.bounded else (low, high)

    def row(self) -> tuple[Any, ...]:
        """As a row of the tidy table."""
        q, trust = self.quantities, self.trust
        parts = [q.get(name) for name in ("p", "anti", "k", "delta_p", "delta_anti_p", "delta_k", "lambda")]
        return (
            *(self.run, self.measure, self.method, self.score, self.corrected, *self.interval()),
            None if self.refused else self.adjustment,
            *parts,
            self.peers,
            *((trust.before, trust.after) if trust else (None, None)),
        )


def correct(
    collection: Collection,
    new: Any,
    wanted: Any = "P@10",
    *,
    method: str | Sequence[str] | None = None,
    alpha: float = 1.0,
    indicator: str = "lambda",
    protocol: str = "strict",
    depth: int | None = None,
    pooled: str | Sequence[str] | None = "infer",
    tolerance: float = TOLERANCE,
    rel: int | None = None,
    validate: bool = True,
    confidence: float = 0.95,
    force: bool = False,
    call: str = "",
) -> Result:
    """Correct the scores of runs that were not pooled.

    `new` is a run (a file, a dict, a data frame, or the name of a run of the collection), or a list of them.
    `method` is one or several of `lipani`, `webber-park`, `lipani-v2`, `webber-ratio`, `per-topic` for P@n; any other
    measure is adjusted by `webber-park`, R@n also by `webber-recall`. `alpha` and `indicator` belong to `lipani`.
    `depth` and `pooled` describe the pool (both inferred where not stated).

    The correction is tried on the pool itself: each team (without a team file: each run) is left out and corrected
    as if it were new. That gives the interval, at `confidence`. Where it brings no gain, measures other than P@n are
    refused; `force` gives them all the same, and `validate=False` saves the trial.
    """
    how = protocol_of(protocol)
    check("alpha", alpha, "correct")
    if indicator not in INDICATORS:
        raise UsageError(f"unknown indicator {indicator!r}{nearest(indicator, INDICATORS)}: {', '.join(INDICATORS)}")
    check("confidence", confidence, "correct")
    chosen = [(m, methods_for(m, method)) for m in measures(wanted, rel)]
    base, names, joined = with_new(as_read(collection, how), new)
    pool = pool_to_correct(base, depth, pooled, tolerance)
    groups, left = groups_of(base, pool, "team" if collection.teams else "run")
    notes = list(pool.notes)
    found: list[Corrected] = []
    trial = Trials(base, pool, groups, how, alpha, indicator, confidence) if validate else None
    if trial is not None and len(set(groups.values())) < 2:
        notes.append("the pooled runs belong to fewer than two teams: nothing can be left out, so nothing is validated")
        trial = None
    others = [(measure, one) for measure, methods in chosen for one in methods if measure.name != "P"]
    scored = _by_scoring(joined, names, pool, others, trial, force)
    for measure, methods in chosen:
        if measure.name != "P":
            found += scored[measure]
            notes += away_from_truth(measure)
        else:
            found += _by_counting(joined, names, pool, measure, methods, how, alpha, indicator, trial)
    short = _short(joined, names, [m for m, _ in chosen])
    inside = [name for name in names if name in pool.runs]
    if inside:
        notes.append(f"{', '.join(inside)}: pooled already; corrected as if pooled runs were only the others")
    if trial is not None and left == "run":
        notes.append("no teams are known: validated by leaving out single runs, which is milder than a new team")
    notes += short
    held = min([c.trust.confidence for c in found if c.trust], default=confidence)
    if held < confidence - 1e-12:
        notes.append(f"too few left-out runs for {confidence:.0%}: the intervals hold for {held:.0%} of such runs")
    useless = [c for c in found if c.trust and not c.trust.helps]
    notes += dict.fromkeys(f"{c.measure}, {c.method}: {c.trust.sentence()}" for c in useless if c.trust)
    from unjudged import __version__

    settings = {
        **joined.settings,
        **how.settings(),
        **pool.settings,
        "pooled runs named": list(pool.runs),
        "alpha": alpha,
        "indicator": indicator,
        "validated by leaving out": None if trial is None else f"one {left} at a time",
        "confidence": confidence,
    }
    return Result(
        COLUMNS,
        lambda: [c.row() for c in found],
        Provenance(__version__, call, joined.sources, settings),
        layout=lambda: table(found, pool),
        verdict=verdict(found),
        notes=notes,
        caption=explained(pool, left if trial else None, held),
    )


@dataclass
class Trials:
    """Corrections tried on the pool itself, once per measure."""

    collection: Collection
    pool: Pool
    groups: Mapping[str, str]
    protocol: Protocol
    alpha: float
    indicator: str
    confidence: float

    def counted(self, measure: Measure, methods: Sequence[str]) -> Mapping[str, Trust]:
        """For P@n: every method."""
        found: Trial = experiment(
            self.collection,
            self.pool,
            self.groups,
            [measure.params["k"]],
            self.protocol,
            methods=methods,
            alpha=self.alpha,
            indicator=self.indicator,
            rel=measure.params["rel"],
            unfound=not self.protocol.repooled,
        )[0]
        return {m: Trust.of(found.true, found.reduced, found.estimate(m), self.confidence) for m in methods}

    def scored(self, scorer: Scorer) -> list[Trust]:
        """For any measures."""
        here = Scorer.of(self.collection, self.pool, scorer.measures, scorer.recall)
        out = leave_groups_out(here, self.pool, self.groups)
        columns = zip(out.true.T, out.reduced.T, out.added.T, strict=True)
        return [Trust.of(true, reduced, reduced + added, self.confidence) for true, reduced, added in columns]


def _by_counting(
    collection: Collection,
    names: Sequence[str],
    pool: Pool,
    measure: Measure,
    methods: Sequence[str],
    protocol: Protocol,
    alpha: float,
    indicator: str,
    trial: Trials | None,
) -> list[Corrected]:
    """P@n: precision, anti-precision, merging; and the pooled runs' losses."""
    everyone = tuple(dict.fromkeys([*pool.runs, *names]))
    lists = Lists.of(collection, everyone)
    judgments = collection.judgments
    new = np.array([everyone.index(name) for name in names], np.int64)
    pooled = np.arange(len(pool.runs))
    plan = Plan(
        measure.params["k"],
        new,
        pooled,
        new[:, None] != pooled,
        np.ones((1, len(judgments)), bool),
        np.zeros(len(new), np.int64),
    )
    grade = binary(judgments.grade, measure.params["rel"])
    counted = tally(lists, grade, [plan], pool.depth, alpha=alpha, repooled=protocol.repooled)[0]
    effect, added = adjustments(lists, counted, protocol, methods, indicator)
    trust = trial.counted(measure, methods) if trial else {}
    return [
        Corrected(
            name,
            str(measure),
            method,
            float(effect.p[u]),
            float(added[method][u]),
            int(effect.peers[u]),
            quantities_of(effect, u),
            trust.get(method),
        )
        for method in methods
        for u, name in enumerate(names)
    ]


def quantities_of(effect: Effect, u: int) -> dict[str, float]:
    """The intermediate quantities of one new run, by column name."""
    values: dict[str, Floats] = {
        "p": effect.p,
        "anti": effect.anti_p,
        "k": effect.k,
        "delta_p": effect.delta_p,
        "delta_anti_p": effect.delta_anti_p,
        "delta_k": effect.delta_k,
        "lambda": effect.lambda_,
    }
    return {name: float(value[u]) for name, value in values.items()}


def _by_scoring(
    collection: Collection,
    names: Sequence[str],
    pool: Pool,
    wanted: Sequence[tuple[Measure, str]],
    trial: Trials | None,
    force: bool,
) -> dict[Measure, list[Corrected]]:
    """Any measure: the mean loss of the pooled runs, refused where it would not have helped."""
    if not wanted:
        return {}
    scorer = Scorer.of(collection, pool, [m for m, _ in wanted], [method == RECALL for _, method in wanted])
    everything = np.ones(len(collection.judgments), bool)
    trusts: list[Trust | None] = [*trial.scored(scorer)] if trial else [None] * len(wanted)
    found: dict[Measure, list[Corrected]] = {measure: [] for measure, _ in wanted}
    scores = scorer.means(scorer.hits([collection.runs.index(name) for name in names]), everything)
    for u, name in enumerate(names):
        others = [r for r, run in enumerate(pool.runs) if run != name]
        added = scorer.loss(others, everything)
        for m, ((measure, method), trust) in enumerate(zip(wanted, trusts, strict=True)):
            found[measure].append(
                Corrected(
                    name,
                    str(measure),
                    method,
                    float(scores[u, m]),
                    float(added[m]),
                    len(others),
                    trust=trust,
                    refused=trust is not None and not trust.helps and not force,
                    bounded=measure.definition.bounded,
                )
            )
    return found


def _short(collection: Collection, names: Sequence[str], chosen: Sequence[Measure]) -> list[str]:
    """A note for lists that end above a cut-off."""
    length = collection.hits.length.reshape(len(collection.runs), -1)
    notes = []
    for name in names:
        lengths = length[collection.runs.index(name)]
        for n in sorted({m.params["k"] for m in chosen if m.name == "P" and m.params.get("k")}):
            if many := int(((lengths < n) & (lengths > 0)).sum()):
                notes.append(
                    f"{name}: {many} list{'s' * (many > 1)} shorter than {n}; empty places count as unjudged (k)"
                )
            if missing := int((lengths == 0).sum()):
                notes.append(f"{name}: {missing} judged topic{'s' * (missing > 1)} without a list")
                break
    return notes
