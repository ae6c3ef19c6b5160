"""The pool behind the judgments: how deep it is and from which runs, as stated, carried along, or inferred."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unjudged.collection.hits import Hits
from unjudged.collection.inference import infer_pool
from unjudged.collection.segments import Ints
from unjudged.errors import InputError, UsageError, nearest
from unjudged.io import files
from unjudged.io.ids import to_text
from unjudged.options import check

if TYPE_CHECKING:
    from unjudged.collection.collection import Collection

TOLERANCE = 0.2
"""Share of the depth that may be unjudged in a pooled run; it gives the published numbers of pooled runs."""


@dataclass(frozen=True)
class Pool:
    """The pool behind the judgments: the top `depth` of each of these runs was to be judged.

    `inferred` names what was read off the judgments instead of being stated: `depth`, `runs`, both or nothing; `sure`
    is the probability that this is right, where it is known. `notes` say what a reader should know about it.
    """

    depth: int
    runs: tuple[str, ...]
    inferred: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sure: float | None = None

    def __str__(self) -> str:
        return f"pool of depth {self.depth} from {len(self.runs)} run{'s' * (len(self.runs) != 1)}"

    @property
    def guessed(self) -> str:
        """` (depth and runs inferred, 98 % sure)`, or nothing where both were stated."""
        return f" ({' and '.join(self.inferred)} inferred{self._how_sure})" if self.inferred else ""

    @property
    def _how_sure(self) -> str:
        if self.sure is None:
            return ""
        return f", {math.floor(100 * self.sure)} % sure" if self.sure < 0.99 else ", over 99 % sure"

    @property
    def settings(self) -> dict[str, object]:
        """For the provenance of a result."""
        how = {True: f"inferred{self._how_sure}", False: "given"}
        return {
            "pool depth": f"{self.depth} ({how['depth' in self.inferred]})",
            "pooled runs": f"{len(self.runs)} ({how['runs' in self.inferred]})",
        }


def prefixes(hits: Hits, forgiven: int = 0) -> Ints:
    """Per cell, the judged documents above the first unjudged one, the first `forgiven` ones not counted.

    A document of negative grade is listed in the judgments, so it was in the pool and counts as judged here.
    """
    inside = hits.rank - hits.position <= forgiven
    return np.bincount(hits.cell[inside], minlength=hits.cells)


def inferred_depth(collection: Collection) -> int | None:
    """The pool depth by the rule of Lipani et al. (2015): the most frequent number of judged documents at the top.

    The larger one at a tie. Lists judged to their very end say nothing about depth and are passed over; where every
    list is, the longest one is taken. None where no list begins with a judged document.
    """
    hits = collection.full.hits.ungrouped
    prefix = prefixes(hits)
    telling = prefix[(prefix > 0) & (prefix < hits.length)]
    if not len(telling):
        return int(prefix.max(initial=0)) or None
    counts = np.bincount(telling)
    return int(np.flatnonzero(counts == counts.max())[-1])


def inferred_runs(collection: Collection, depth: int, tolerance: float = TOLERANCE) -> tuple[str, ...]:
    """The runs whose lists look pooled to `depth` by the rule of Lipani et al. (2015).

    A run is pooled if in each of its judged topics `depth` documents are judged, where the first
    floor(depth * tolerance) unjudged ones are forgiven without being counted, or the list ends less than
    floor(depth / 10) documents (at least one) behind the judged ones.
    """
    full = collection.full
    hits = full.hits.ungrouped
    prefix = prefixes(hits, math.floor(depth * tolerance + 1e-9))
    pooled = (prefix >= depth) | (hits.length < prefix + max(depth // 10, 1)) | ~hits.answered
    by_run = pooled.reshape(len(full.runs), -1)
    return tuple(run for r, run in enumerate(full.runs) if by_run[r].all())


def pool_of(
    collection: Collection,
    depth: int | None = None,
    pooled: str | Sequence[str] | None = None,
    tolerance: float | None = None,
) -> Pool:
    """The pool of a collection: how deep it is, and from which runs.

    `depth` is its depth; where it is not stated, the one an earlier reduction used, else the inferred one.
    `pooled` are the pooled runs: names, `"infer"`, or `"all"` (None means the same): every run, or those an earlier
    reduction left. What is inferred is read off the collection before any reduction (`.full`) by `infer_pool`, or by
    the rule of Lipani et al. (2015) where its `tolerance` is stated; a run that an earlier reduction took out of the
    pool stays out.
    """
    check("tolerance", tolerance)
    check("depth", depth)
    before, full = collection.pool, collection.full
    known = full.runs if before is None else before.runs
    runs, notes = _stated(full, known, pooled)
    guessed = [what for what in (before.inferred if before else ()) if {"depth": depth, "runs": pooled}[what] is None]
    sure = [before.sure] if before and before.sure is not None and guessed else []
    if depth is None and before is not None:
        depth = before.depth
    elif depth is None:
        depth, chance = _inferred_depth(full, pooled, runs, tolerance)
        guessed.append("depth")
        sure += chance
    if runs is None:
        runs, chance = _inferred_runs(full, depth, "depth" in guessed and before is None, tolerance)
        runs = tuple(run for run in runs if run in set(known))
        guessed.append("runs")
        sure += chance
        if not runs:
            raise UsageError(f"no run looks pooled to depth {depth}; state the pooled runs or the depth")
    inferred = tuple(what for what in ("depth", "runs") if what in guessed)
    return Pool(int(depth), runs, inferred, tuple(notes), math.prod(sure) if sure else None)


def _stated(
    full: Collection, known: tuple[str, ...], pooled: str | Sequence[str] | None
) -> tuple[tuple[str, ...] | None, list[str]]:
    """The pooled runs as stated, None where they are to be inferred; and what to say about them."""
    if pooled is None or pooled == "all":
        return known, []
    if isinstance(pooled, str):
        if pooled != "infer":
            raise UsageError(f"pooled runs can be 'infer', 'all' or a list of names, not {pooled!r}")
        return None, []
    wanted = {files.called(str(run), full.runs) for run in pooled}
    absent = sorted(wanted.difference(full.runs))
    if len(absent) == len(wanted):
        named = f"{absent[0]}{nearest(absent[0], full.runs)}" if absent else "none was named"
        raise UsageError(f"none of the pooled runs is among the runs given ({named})")
    runs = tuple(run for run in known if run in wanted)
    if not runs:
        raise UsageError("none of the pooled runs named is left after the reductions before")
    several = f"{len(absent)} pooled run{'s' * (len(absent) > 1)}"
    return runs, [f"{several} not among the runs given (e.g. {absent[0]})"] if absent else []


def _inferred_depth(
    full: Collection, pooled: str | Sequence[str] | None, runs: tuple[str, ...] | None, tolerance: float | None
) -> tuple[int, list[float]]:
    """The depth the judgments show, and how sure that is; a sentence where they show none.

    Where every run is to be taken as pooled, it is still read off those that were, if they can be told.
    """
    if tolerance is not None:
        depth, why, sure = inferred_depth(full), "no list begins with a judged document", []
    else:
        found = infer_pool(full) if runs is None or pooled in (None, "all") else infer_pool(full, runs=runs)
        if found.depth is None and runs is not None:
            found = infer_pool(full, runs=runs)
        depth, why, sure = found.depth, found.reason, [found.sure]
    if depth is None:
        raise UsageError(f"the pool depth cannot be inferred: {why}; state it")
    return depth, sure


def _inferred_runs(
    full: Collection, depth: int, depth_too: bool, tolerance: float | None
) -> tuple[tuple[str, ...], list[float]]:
    """The runs that look pooled, and how sure that is; `depth_too`: the depth was inferred with them."""
    if tolerance is not None:
        return inferred_runs(full, depth, tolerance), []
    found = infer_pool(full) if depth_too else infer_pool(full, depth)
    return found.pooled(), [found.sure_of_runs]


def read_pooled(given: str) -> str | list[str]:
    """What `--pooled` says: `infer`, `all`, or the names in a file.

    The file has one run a line, or is a TSV whose header names the columns run and pooled (yes or no) and perhaps
    others. Without a header a line is a run, or run<TAB>yes or no.
    """
    if given in ("infer", "all"):
        return given
    runs: list[str] = []
    columns: tuple[int, int] | None = None
    for number, line in enumerate(to_text(files.read_all(given)).split("\n"), 1):
        fields = [field.strip() for field in line.rstrip("\r").split("\t")]
        names = [field.casefold() for field in fields]
        if number == 1 and {"run", "pooled"} <= set(names):
            columns = names.index("run"), names.index("pooled")
            continue
        if not any(fields) or (number == 1 and names == ["run"]):
            continue
        if columns is not None:
            run, answer = (fields[column] if column < len(fields) else "" for column in columns)
        else:
            run, answer = fields[0], fields[1] if len(fields) > 1 else "yes"
        if not run or answer.casefold() not in ("yes", "no"):
            wanted = "a run, or run<TAB>yes or no" if columns is None else "a run, and yes or no in the column pooled"
            raise InputError(f"a line needs {wanted}; found {line[:60]!r}", given, number)
        if answer.casefold() == "yes":
            runs.append(run)
    if not runs:
        raise InputError("no pooled runs in this file", given)
    return runs
