"""What is to be corrected: runs, methods that fit a measure, the pool, who leaves it together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unjudged.collection import Collection, Pool
from unjudged.collection.pool import pool_of
from unjudged.correction.experiment import METHODS
from unjudged.correction.protocols import Protocol
from unjudged.correction.tally import MOST
from unjudged.errors import UsageError, nearest
from unjudged.io import files
from unjudged.measures import Measure

RECALL = "webber-recall"
"""The later form of Webber & Park's adjustment for R@n."""


def methods_for(measure: Measure, method: str | Sequence[str] | None) -> tuple[str, ...]:
    """The methods asked for, checked against the measure; the usual one where none is named."""
    counts = measure.name == "P"
    if counts and not measure.params["k"]:
        raise UsageError("P is corrected at a cut-off, e.g. P@10")
    if counts and measure.params["k"] > MOST:
        raise UsageError(f"cut-offs up to {MOST} are corrected, not {measure.params['k']}")
    if measure.condensed:
        raise UsageError(f"{measure} leaves unjudged documents out, so there is nothing to correct; take it without '")
    if method is None:
        return ("lipani",) if counts else ("webber-park",)
    asked = tuple(dict.fromkeys(m.strip() for m in (method.split(",") if isinstance(method, str) else method)))
    for one in asked:
        if one not in (*METHODS, RECALL):
            there = (*METHODS, RECALL)
            raise UsageError(f"unknown method {one!r}{nearest(one, there)}; there are {', '.join(there)}")
        if one == RECALL and (measure.name != "R" or not measure.params["k"]):
            raise UsageError(f"{one} corrects R@n, not {measure}")
        if one not in ("webber-park", RECALL) and not counts:
            raise UsageError(f"{one} corrects P@n; for {measure} there is webber-park")
    return asked


def as_read(collection: Collection, protocol: Protocol) -> Collection:
    """The collection as the protocol reads it: float32 scores for sigir2015, unless another order was asked for."""
    if collection.judgments.group is not None:
        raise UsageError("answer classes have no pool; correction is for document runs")
    ties = collection.settings["ties"]
    if ties == "expected":
        raise UsageError("correction needs one order of equal scores; read the runs without expected ties")
    return collection.with_ties(protocol.ties) if ties == "trec10" and protocol.ties != ties else collection


def pool_to_correct(
    collection: Collection, depth: int | None, pooled: str | Sequence[str] | None, tolerance: float
) -> Pool:
    """The pool. One that was inferred needs two runs: a single one is more likely a wrong guess than a pool."""
    pool = pool_of(collection, depth, pooled, tolerance)
    if len(pool.runs) < 2 and "runs" in pool.inferred:
        among = f"only {pool.runs[0]} of {len(collection.runs)} runs" if len(collection.runs) > 1 else "only one run"
        raise UsageError(
            f"{among} looks pooled to depth {pool.depth}, correction needs at least two; "
            "state the pooled runs (--pooled FILE) or the depth (--depth D)"
        )
    return pool


def groups_of(collection: Collection, pool: Pool, leave: str) -> tuple[dict[str, str], str]:
    """The group that leaves the pool together with each pooled run: its team, or it alone."""
    if leave not in ("team", "run"):
        raise UsageError(f"left out is a team or a run, not {leave!r}")
    if leave == "run":
        return {run: run for run in pool.runs}, "run"
    if not collection.teams:
        raise UsageError("no teams are known; name a team file (--teams, a TSV run<TAB>team), or leave out single runs")
    for run in pool.runs:
        if run not in collection.teams:
            raise UsageError(f"run {run} has no team in the team file; add a line run<TAB>team for it")
    return {run: collection.teams[run] for run in pool.runs}, "team"


def with_new(collection: Collection, new: Any) -> tuple[Collection, tuple[str, ...], Collection]:
    """The collection, the names of the new runs, and the collection with them.

    Runs that were taken away (`with_runs`) are there again: the pool is that of all runs, and one may be the new run.
    """
    given = list(new) if isinstance(new, (list, tuple)) else [new]
    if not given:
        raise UsageError("no new run given")
    if set(collection.full.runs) != set(collection.runs):
        collection = collection.with_runs(collection.full.runs)
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
    joined = collection.adding(*more)
    return collection, (*names, *joined.runs[len(collection.runs) :]), joined
