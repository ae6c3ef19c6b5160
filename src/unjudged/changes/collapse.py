"""Collapse: judgments on a coarser scale, as an assessor with fewer grades would have given them."""

from __future__ import annotations

from collections.abc import Mapping

from unjudged.collection import Collection
from unjudged.collection.history import change
from unjudged.errors import UsageError


@change
def collapse(collection: Collection, grades: Mapping[int, int] | None = None, *, rel: int | None = None) -> Collection:
    """A coarser scale: `grades` says what becomes of a grade ({3: 2}; others stay), or `rel` makes it binary: grades
    from `rel` on become 1, lower ones 0.

    The highest grade (and H with it) is that of the new scale. Negative grades stay.
    """
    if (grades is None) == (rel is None):
        raise UsageError("collapsing needs a map of grades (2:1,3:1), or the smallest grade that stays relevant")
    own = collection.judgments
    changed, top = own.grade.copy(), own.gains.top_grade
    if rel is not None:
        if rel < 1:
            raise UsageError(f"the smallest relevant grade is 1 or more, not {rel}")
        changed[own.grade >= 0] = own.grade[own.grade >= 0] >= rel
        top, what = 1, f"binary from grade {rel}"
    else:
        table = {int(old): int(new) for old, new in (grades or {}).items()}
        if any(old < 0 or new < 0 for old, new in table.items()):
            raise UsageError("grades below 0 mean unjudged and cannot be collapsed")
        for old, new in table.items():
            changed[own.grade == old] = new
        reached = [new for old, new in table.items() if old <= top]
        while top in table:
            top -= 1
        top, what = max(top, 1, *reached), ", ".join(f"{old} to {new}" for old, new in sorted(table.items()))
    return collection.regraded(changed, f"grades collapsed ({what})", top_grade=top)
