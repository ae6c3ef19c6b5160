"""Corrections against the truth: on simulated collections every document's grade is known, so every error is.

A correction is usually judged by the score a run had in the full pool. But the full pool misses relevant documents,
too; only a known truth shows whether a corrected score is nearer to what a complete judgment would have given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unjudged.collection import Collection, Floats, Pool
from unjudged.collection.pool import pool_of
from unjudged.correction.any_measure import LeftOut, Scorer, joined, leave_group_out
from unjudged.correction.experiment import Experiment, NewRuns, groups_of
from unjudged.correction.protocols import STRICT
from unjudged.errors import UsageError
from unjudged.figures.bars import bars
from unjudged.measures import Measure, measures
from unjudged.results import Provenance, Result, Row
from unjudged.statistics.estimate_errors import mean_absolute_error
from unjudged.statistics.pairs import exact_mean
from unjudged.text import printed

DEFAULT = ("P@10", "nDCG@10", "RBP", "AP", "Q")
COLUMNS = ("measure", "method", "group", "runs", "mae_truth", "bias_truth", "mae_pool", "bias_pool")


def correct_against_truth(
    collection: Collection,
    truth: Collection,
    wanted: Any = DEFAULT,
    *,
    depth: int | None = None,
    pooled: str | Sequence[str] | None = "infer",
    tolerance: float | None = None,
    rel: int | None = None,
    call: str = "",
) -> Result:
    """Errors of raw, condensed and corrected scores against the true score, and against that of the full pool.

    `truth` holds the same runs with complete judgments (`uj.load(sim.truth, sim.run_folder)`). Two groups of runs:
    `left out` are the pooled runs, each scored without what only its team found; `outside` are runs that were not
    pooled, with all judgments there are. `bias` is the mean of estimate minus true score: negative is too low.
    The true score behind a condensed one is that of the ordinary measure.
    """
    if absent := [run for run in collection.runs if run not in truth.runs]:
        raise UsageError(f"the truth needs the same runs; {absent[0]} is missing there")
    if list(truth.topics) != list(collection.topics):
        raise UsageError("the truth needs the same topics as the judgments")
    chosen = measures(wanted, rel)
    if primed := [m for m in chosen if m.condensed]:
        raise UsageError(f"{primed[0]} is condensed already; name the ordinary measures")
    pool = pool_of(collection, depth, pooled, tolerance)
    left = "team" if collection.teams else "run"
    groups = groups_of(collection, pool, left)
    if len(set(groups.values())) < 2:
        raise UsageError(f"the pooled runs belong to fewer than two {left}s; nothing can be left out")
    scorer = Scorer.of(collection, pool, chosen, groups)
    true = _true(truth, collection.runs, chosen)
    out = joined([leave_group_out(scorer, group) for group in dict.fromkeys(scorer.groups)])
    outside = [run for run in collection.runs if run not in pool.runs]
    rows: list[Row] = []
    inside_true = true[[collection.runs.index(run) for run in pool.runs]]
    beyond = _outside(scorer, pool, outside) if outside else None
    for m, measure in enumerate(chosen):
        for method, estimate in _estimates(out, m, _lipani(collection, pool, measure, groups)).items():
            rows.append(_row(measure, method, "left out", estimate, inside_true[:, m], out.true[:, m]))
        if beyond is not None:
            of_outside = true[[collection.runs.index(run) for run in outside], m]
            for method, estimate in _estimates(beyond, m, _lipani(collection, pool, measure, groups, outside)).items():
                rows.append(_row(measure, method, "outside", estimate, of_outside, None))
    from unjudged import __version__

    settings = {**collection.settings, **pool.settings, "left out": f"one {left} at a time", "truth": truth.sources[0]}
    return Result(
        COLUMNS,
        lambda: rows,
        Provenance(__version__, call, (*collection.sources, truth.sources[0]), settings),
        layout=lambda: (COLUMNS, [_shown(row) for row in rows]),
        figures={"errors": bars("mae_truth", "measure", "method", "group", said="Mean error of each estimate")},
        notes=pool.notes,
        caption="MAE and bias (estimate minus true) of mean scores; left out: each "
        f"{left}'s runs scored without what only it found; outside: runs that were not pooled.",
    )


def _row(
    measure: Measure, method: str, group: str, estimate: Floats, true: Floats, in_pool: Floats | None
) -> tuple[Any, ...]:
    errors: list[float | None] = []
    for reference in (true, in_pool):
        if reference is None:
            errors += [None, None]
        else:
            errors += [mean_absolute_error(estimate, reference), exact_mean(estimate - reference)]
    return (str(measure), method, group, len(estimate), *errors)


def _shown(row: Row) -> Row:
    head, (mae, bias, mae_pool, bias_pool) = row[:4], row[4:]
    numbers = [None if v is None else printed(v) for v in (mae, mae_pool)]
    biases = [None if v is None else f"{v:+.4f}" for v in (bias, bias_pool)]
    return (*head, numbers[0], biases[0], numbers[1], biases[1])


def _true(truth: Collection, runs: Sequence[str], chosen: Sequence[Measure]) -> Floats:
    """Runs x measures: mean scores under the truth."""
    from unjudged.scoring import score

    scores = score(truth, list(chosen)).mean_values()
    return scores[[truth.runs.index(run) for run in runs]]


def _outside(scorer: Scorer, pool: Pool, runs: Sequence[str]) -> LeftOut:
    """The runs that were not pooled, with all judgments; their true score in the pool does not exist."""
    everything = np.ones(len(scorer.collection.judgments), bool)
    hits = scorer.hits([scorer.collection.runs.index(run) for run in runs])
    raw = scorer.means(hits, everything)
    added = np.tile(scorer.loss(range(len(pool.runs)), everything), (len(runs), 1))
    return LeftOut(np.arange(len(runs)), raw, raw, scorer.means(hits, everything, condensed=True), added)


def _estimates(out: LeftOut, m: int, lipani: Floats | None) -> dict[str, Floats]:
    """Method -> estimated scores."""
    found = {
        "raw": out.reduced[:, m],
        "condensed": out.condensed[:, m],
        "webber-park": out.reduced[:, m] + out.added[:, m],
    }
    return found if lipani is None else {**found, "lipani": lipani}


def _lipani(
    collection: Collection, pool: Pool, measure: Measure, groups: dict[str, str], outside: Sequence[str] = ()
) -> Floats | None:
    """P@n by Lipani's method: of the runs outside the pool, or of the pooled ones, each left out with its group."""
    if measure.name != "P" or not measure.params["k"]:
        return None
    n, rel = measure.params["k"], measure.params["rel"]
    if outside:
        effect, added = NewRuns.of(collection, pool, outside, STRICT, ["lipani"]).effect(n, rel)
        return effect.p + added["lipani"]
    tried = Experiment.of(collection, pool, groups, STRICT, methods=("lipani",), unfound=True)
    (trial,) = tried.trials([n], rel)
    return trial.estimate("lipani")
