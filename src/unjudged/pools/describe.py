"""What is in a collection, and what its pool looks like (the papers' Table 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from unjudged.collection import Collection, Pool
from unjudged.collection.inference import infer_pool
from unjudged.collection.manifest import Collections
from unjudged.collection.membership import coverage_of, teams_of
from unjudged.collection.pool import inferred_depth, inferred_runs, pool_of, read_pooled
from unjudged.errors import UsageError
from unjudged.figures import Figure
from unjudged.figures.bars import bars
from unjudged.measures import measures
from unjudged.results import Provenance, Result, Row
from unjudged.statistics.pairs import exact_mean

CUTOFFS = (1, 5, 10, 20, 30, 50, 100, 200, 500, 1000)
"""Where judged@k is shown."""
RUN_COLUMNS = ("run", "team", "pooled", "chance", "depth")
SURE = 0.9
"""The chance from which a run was pooled; below the rest of it, it was not."""


def describe(
    collection: Collection | Mapping[str, Collection],
    *,
    depth: int | None = None,
    pooled: str | Sequence[str] | None = None,
    tolerance: float | None = None,
    by: str = "lines",
    rel: int = 1,
    cutoffs: Sequence[int] = CUTOFFS,
    call: str = "",
) -> Result:
    """Topics, judgments, N and R, documents per grade, runs, teams; pool depth, pooled runs, coverage, judged@k.

    One row per statistic: its value (a count or an average), and the lowest and highest one over topics (over runs for
    judged@k). Coverage counts the judgments in the top of the pooled runs (`depth`, `pooled` as in `pool_of`: every
    run given unless stated); which runs look pooled is told beside it, by name in the notes. `by` as in `membership`.
    Several collections, {name: Collection} or those of a manifest, stand side by side.
    """
    if isinstance(collection, Mapping):
        given = {"depth": depth, "pooled": pooled, "tolerance": tolerance, "by": by, "rel": rel, "cutoffs": cutoffs}
        return _side_by_side(collection, given, call)
    judgments, full = collection.judgments, collection.full
    if collection.teams:
        teams_of(collection)  # a team file that misses a run is told
    pool = pool_of(collection, depth, pooled, tolerance)
    if tolerance is None:
        seen_depth, looks = infer_pool(full).depth, infer_pool(full, pool.depth).pooled()
    else:
        seen_depth, looks = inferred_depth(full), inferred_runs(full, pool.depth, tolerance)
    coverage = coverage_of(collection, pool, by)
    judged = judgments.grade >= 0

    def spread(name: str, values: Any) -> Row:
        low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
        return name, exact_mean(values), _plain(low), _plain(high)

    def rows() -> Iterable[Row]:
        yield "topics", len(collection.topics), None, None
        yield "judgments", int(judged.sum()), None, None
        if not judged.all():
            yield "listed, not judged", int((~judged).sum()), None, None
        yield spread("N", judgments.count(0, rel))
        yield spread("R", judgments.count(rel))
        for grade in sorted(set(judgments.grade[judged].tolist()), reverse=True):
            yield spread(f"grade {grade}", judgments.count(grade, grade + 1))
        yield "topics without relevant documents", int((judgments.count(rel) == 0).sum()), None, None
        yield "runs", len(collection.runs), None, None
        if collection.teams:
            yield "teams", len({collection.teams[r] for r in collection.runs if r in collection.teams}), None, None
        yield spread("documents per list", full.hits.length[full.hits.answered].astype(np.float64))
        yield "pool depth", pool.depth, None, None
        yield "inferred depth", seen_depth, None, None
        yield "runs taken as pooled", len(pool.runs), None, None
        yield "runs that look pooled", len(looks), None, None
        yield "covered judgments", coverage.covered, None, None
        yield "coverage", coverage.share, None, None
        for k, values in _judged_at(collection, cutoffs):
            yield spread(f"judged@{k}", values)

    def layout() -> tuple[Sequence[str], list[Row]]:
        return ("statistic", "value", "range"), [
            (name, _shown(name, value), "" if low is None else f"[{_shown(name, low)}, {_shown(name, high)}]")
            for name, value, low, high in rows()
        ]

    settings = {**collection.settings, **pool.settings, "top counted by": by, "rel": rel, "tolerance": tolerance}
    provenance = Provenance.of(call, collection.sources, settings)
    notes = [*pool.notes, *_pool_notes(full, pool, looks), *coverage.warnings()]
    return Result(("statistic", "value", "low", "high"), rows, provenance, layout, _judged_bars(), notes=notes)


def _side_by_side(collections: Mapping[str, Collection], given: Mapping[str, Any], call: str) -> Result:
    """A column per collection; what a manifest says of one holds there."""
    own = collections.settings if isinstance(collections, Collections) else {}
    each: dict[str, Result] = {}
    for name, collection in collections.items():
        told = dict(own.get(name, {}))
        if isinstance(told.get("pooled"), str):
            told["pooled"] = read_pooled(told["pooled"])
        try:
            each[name] = describe(collection, **{**given, **told}, call=call)
        except UsageError as problem:
            raise UsageError(f"{name}: {problem}") from None
    if not each:
        raise UsageError("no collection to describe")

    def layout() -> tuple[Sequence[str], list[Row]]:
        cells = {name: {row[0]: row[1:] for row in result.laid_out()[1]} for name, result in each.items()}
        statistics = dict.fromkeys(row[0] for result in each.values() for row in result.rows())
        shown: list[Row] = [
            (s, *(" ".join(filter(None, map(str, cells[name].get(s, ("",))))) for name in each))
            for s in sorted(statistics, key=_in_order(statistics))
        ]
        return ("statistic", *each), shown

    return Result(
        ("collection", "statistic", "value", "low", "high"),
        lambda: [(name, *row) for name, result in each.items() for row in result.rows()],
        Provenance.of(
            call,
            tuple(source for result in each.values() for source in result.provenance.inputs),
            {name: result.provenance.settings for name, result in each.items()},
        ),
        layout,
        _judged_bars(),
        notes=[f"{name}: {note}" for name, result in each.items() for note in result.notes],
    )


def _judged_bars() -> dict[str, Callable[[Result], Figure]]:
    """The share of judged documents at each cut-off as a chart; other statistics have units of their own."""
    said = "Share of the top k that was judged"
    return {"judged": bars("value", "statistic", said=said, only=lambda name: name.startswith("judged@"))}


def _in_order(statistics: Iterable[str]) -> Callable[[str], tuple[int, float]]:
    """Statistics as one collection lists them: grades from the highest, cut-offs from the smallest."""
    first: dict[str, int] = {}
    for place, name in enumerate(statistics):
        first.setdefault(_family(name), place)

    def key(name: str) -> tuple[int, float]:
        number = name.removeprefix("grade ").removeprefix("judged@")
        value = float(number) if number.isdigit() else 0.0
        return first[_family(name)], -value if name.startswith("grade ") else value

    return key


def _family(name: str) -> str:
    return "grade" if name.startswith("grade ") else "judged@" if name.startswith("judged@") else name


def judged_curves(collection: Collection, cutoffs: Sequence[int] = CUTOFFS, *, call: str = "") -> Result:
    """judged@k of every run: the share of its top k that is listed in the judgments, averaged over its topics."""

    def rows() -> list[Row]:
        table = list(_judged_at(collection, cutoffs))
        return [(run, k, float(values[r])) for r, run in enumerate(collection.runs) for k, values in table]

    charts = {"judged": bars("value", "run", "k", said="Share of the top k of each run that was judged")}
    provenance = Provenance.of(call, collection.sources, collection.settings)
    return Result(("run", "k", "value"), rows, provenance, figures=charts)


def pooled_runs(
    collection: Collection, *, depth: int | None = None, pooled: str | Sequence[str] | None = None, call: str = ""
) -> Result:
    """Of every run: was it pooled (yes, no or unknown), the probability that it was, and how deep.

    Stated runs and depths are taken as they are; otherwise both are inferred from the judgments (`infer_pool`). A run
    is pooled from a chance of 0.9 and not from one below 0.1; where no pool can be seen every run is unknown.
    """
    full = collection.full
    stated = None if pooled in (None, "infer") else pool_of(collection, depth, pooled)
    found = infer_pool(full, depth, None if stated is None else stated.runs)

    def rows() -> list[Row]:
        table: list[Row] = []
        for run, chance, deep in zip(found.runs, found.chance, found.depth_of_run, strict=True):
            if stated is not None:
                chance = float(run in stated.runs)
                deep = stated.depth if depth is not None else deep
            seen = stated is not None or found.depth is not None
            word = "unknown" if not seen else "yes" if chance >= SURE else "no" if chance <= 1 - SURE else "unknown"
            team = collection.teams.get(run, run)
            table.append((run, team, word, chance if seen else None, deep if word == "yes" else None))
        return table

    def layout() -> tuple[Sequence[str], list[Row]]:
        return RUN_COLUMNS, [
            (run, team, word, "-" if chance is None else f"{chance:.3f}", "-" if deep is None else str(deep))
            for run, team, word, chance, deep in rows()
        ]

    settings = {**collection.settings, "depth": depth, "pooled": "infer" if stated is None else "stated"}
    notes = [found.reason] if stated is None or depth is None else []
    charts = {"pooled": bars("chance", "run", said="Chance that each run was pooled")}
    return Result(RUN_COLUMNS, rows, Provenance.of(call, collection.sources, settings), layout, charts, notes=notes)


def _judged_at(collection: Collection, cutoffs: Sequence[int]) -> Iterable[tuple[int, Any]]:
    """(k, share judged in the top k of each run); cut-offs behind the longest list are passed over."""
    if any(k < 1 for k in cutoffs):
        raise UsageError("cut-offs are positive numbers of documents")
    longest = int(collection.hits.length.max(initial=0))
    shape = len(collection.runs), len(collection.topics)
    answered = collection.hits.answered.reshape(shape)
    for k in cutoffs:
        if k <= longest or k == min(cutoffs):
            values = measures(f"Judged@{k}")[0].cells(collection.hits).reshape(shape)
            yield k, np.where(answered, values, 0.0).sum(axis=1) / np.maximum(answered.sum(axis=1), 1)


def _pool_notes(full: Collection, pool: Pool, looks: tuple[str, ...]) -> list[str]:
    strangers = sorted(run for run in full.runs if run not in set(looks))
    if not strangers:
        return []
    shown = ", ".join(strangers[:8]) + (", ..." if len(strangers) > 8 else "")
    many = "1 run does" if len(strangers) == 1 else f"{len(strangers)} runs do"
    return [f"{many} not look pooled to depth {pool.depth}: {shown}"]


def _plain(value: Any) -> float | int:
    return int(value) if float(value).is_integer() else float(value)


def _shown(name: str, value: Any) -> str:
    """Averages as in the papers' Table 1, shares with three decimals, counts as they are."""
    if value is None:
        return "-"
    if name == "coverage" or name.startswith("judged@"):
        return f"{value:.3f}"
    return f"{value:.1f}" if isinstance(value, float) else f"{value}"
