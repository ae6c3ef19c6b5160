"""One run among the others: its score, its rank, its outcome against the best run and the baseline, its holes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.holes.reading import leading_for
from unjudged.measures import measures
from unjudged.reporting import Settings
from unjudged.studies import study
from unjudged.studies.engine.outcome import HOLES, seen_from
from unjudged.studies.few_runs import score_of
from unjudged.text import percent, signed
from unjudged.web.state import State

WHY = {"holes": "unjudged documents could turn it", "topics": "these topics are too few"}


def asked(
    collection: Collection, run: str, state: State, settings: Settings, baseline: str | None
) -> Callable[[], dict[str, Any]]:
    """What to compute for this run; a sentence where there is none."""
    options = _options(collection, run, state, settings)
    return lambda: _found(collection, run, state.measures[0], options, _baseline(collection, run, baseline))


def scored(collection: Collection, run: str, state: State, settings: Settings) -> dict[str, Any]:
    """The run's score alone, which needs none of the others and is there at once."""
    options = _options(collection, run, state, settings)
    measure = state.measures[0]
    return {"run": run, "measure": measure, "score": score_of(collection, run, measure, **options)}


def _options(collection: Collection, run: str, state: State, settings: Settings) -> dict[str, Any]:
    """How the run is scored; a sentence where there is none."""
    if run not in collection.runs:
        raise UsageError(f"no run {run!r} in this collection")
    return {name: value for name, value in state.settings(settings).options().items() if name in ("rel", "unjudged")}


def _baseline(collection: Collection, run: str, given: str | None) -> str | None:
    """The baseline as given, or the run whose name says so."""
    others = [name for name in collection.runs if name != run]
    if given in others:
        return given
    return next((n for word in ("baseline", "bm25", "base") for n in others if word in n.lower()), None)


def _found(
    collection: Collection, run: str, measure: str, options: dict[str, Any], baseline: str | None
) -> dict[str, Any]:
    ranked = study("winners", collection, measures=measure, jobs=1, **options)
    rows = [dict(zip(ranked.columns, row, strict=True)) for row in ranked.rows()]
    mine = next(row for row in rows if row["run"] == run)
    best = next(row["run"] for row in rows if row["run"] != run)
    others = {best: "the best run" if mine["rank"] > 1 else "the next best"}
    if baseline is not None:
        others.setdefault(baseline, "the baseline")
    compared = study("compare", collection.with_runs([run, *others]), measures=measure, baseline=run, jobs=1, **options)
    pairs = {_other(row, run): row for row in (dict(zip(compared.columns, r, strict=True)) for r in compared.rows())}
    holes = mine["unjudged"] or 0.0
    return {
        "run": run,
        "measure": measure,
        "score": mine["value"],
        "rank": mine["rank"],
        "runs": len(collection.runs),
        "holes": holes,
        "sentence": f"{percent(holes)} of its top 10 were never judged." if holes else "Its top 10 are judged.",
        "judge": leading_for(measures(measure)[0]),
        "pairs": [_pair(pairs[other], run, other, as_) for other, as_ in others.items() if other in pairs],
    }


def _other(row: dict[str, Any], run: str) -> str:
    return str(row["run_b"] if row["run_a"] == run else row["run_a"])


def _pair(row: dict[str, Any], run: str, other: str, as_: str) -> dict[str, Any]:
    """The outcome as seen from the run."""
    word, likely, half = seen_from(row, run)
    take = f", give or take {half:.2f}" if half == half else ""
    why = f"; {WHY.get(row['why'], row['why'])}" if row["why"] else ""
    said = f"{signed(likely, 2)} in {row['measure']}{take}{why}."
    return {"other": other, "as": as_, "word": word, "sentence": said, "open": row["why"] == HOLES}
