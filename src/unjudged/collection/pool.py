"""The pool behind the judgments: how deep it is and from which runs, as stated, carried along, or inferred."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unjudged.collection.hits import Hits
from unjudged.collection.segments import Ints
from unjudged.errors import InputError, UsageError, nearest
from unjudged.io import files
from unjudged.io.ids import to_text
from unjudged.options import check, default

if TYPE_CHECKING:
    from unjudged.collection.collection import Collection

TOLERANCE: float = default("tolerance")
"""Share of the depth that may be unjudged in a pooled run; it gives the published numbers of pooled runs."""


@dataclass(frozen=True)
class Pool:
    """The pool behind the judgments: the top `depth` of each of these runs was to be judged.

    `inferred` names what was read off the judgments instead of being stated: `depth`, `runs`, both or nothing.
    `notes` say what a reader should know about it.
    """

    depth: int
    runs: tuple[str, ...]
    inferred: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"pool of depth {self.depth} from {len(self.runs)} run{'s' * (len(self.runs) != 1)}"

    @property
    def guessed(self) -> str:
        """` (depth and runs inferred)`, or nothing where both were stated."""
        return f" ({' and '.join(self.inferred)} inferred)" if self.inferred else ""

    @property
    def settings(self) -> dict[str, object]:
        """For the provenance of a result."""
        how = {True: "inferred", False: "given"}
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
    """The pool depth the judgments show: the most frequent number of judged documents above the first unjudged one.

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
    """The runs whose lists look pooled to `depth`.

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
    tolerance: float = TOLERANCE,
) -> Pool:
    """The pool of a collection: how deep it is, and from which runs.

    `depth` is its depth; where it is not stated, the one an earlier reduction used, else the inferred one.
    `pooled` are the pooled runs: names, `"infer"` (by the rule of `inferred_runs`), or `"all"` (None means the same):
    every run, or those an earlier reduction left. Both are read off the collection before any reduction (`.full`); a
    run that an earlier reduction took out of the pool stays out.
    """
    before, full = collection.pool, collection.full
    check("tolerance", tolerance)
    guessed, notes = [], []
    if depth is None and before is not None:
        depth = before.depth
        if "depth" in before.inferred:
            guessed.append("depth")
    elif depth is None:
        depth = full.once("inferred depth", lambda: inferred_depth(full))
        guessed.append("depth")
        if depth is None:
            raise UsageError("the pool depth cannot be inferred: no list begins with a judged document; state it")
    check("depth", depth)
    known = full.runs if before is None else before.runs
    if pooled is None or pooled == "all":
        runs = known
        if before is not None and "runs" in before.inferred:
            guessed.append("runs")
    elif isinstance(pooled, str):
        if pooled != "infer":
            raise UsageError(f"pooled runs can be 'infer', 'all' or a list of names, not {pooled!r}")
        runs = tuple(run for run in inferred_runs(full, depth, tolerance) if run in set(known))
        guessed.append("runs")
        if not runs:
            raise UsageError(f"no run looks pooled to depth {depth}; state the pooled runs or the depth")
    else:
        wanted = {str(run) for run in pooled}
        absent = sorted(wanted.difference(full.runs))
        if len(absent) == len(wanted):
            named = f"{absent[0]}{nearest(absent[0], full.runs)}" if absent else "none was named"
            raise UsageError(f"none of the pooled runs is among the runs given ({named})")
        if absent:
            notes.append(
                f"{len(absent)} pooled run{'s' * (len(absent) > 1)} not among the runs given (e.g. {absent[0]})"
            )
        runs = tuple(run for run in known if run in wanted)
        if not runs:
            raise UsageError("none of the pooled runs named is left after the reductions before")
    return Pool(int(depth), runs, tuple(guessed), tuple(notes))


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
