"""Pools as studies name them: which runs, how deep, how much of the judgments they explain."""

from __future__ import annotations

from typing import Any

from unjudged.collection import Pool
from unjudged.collection.membership import membership
from unjudged.studies._study import Lab
from unjudged.studies.preparing import Case


def pool_settings(pool: Pool) -> dict[str, Any]:
    """The pool as provenance tells it."""
    return {"depth": pool.depth, "runs": len(pool.runs), "inferred": list(pool.inferred)}


def coverage(lab: Lab, case: Case, pool: Pool, so: str) -> list[str]:
    """Notes: depth and runs of the pool, and how much of the judgments the runs at hand explain.

    `so` says what follows for the study where pooled runs are missing.
    """
    share = float(membership(case.collection, pool).found().mean())
    told = [f"{pool}{pool.guessed}"]
    if share < 0.995:
        told.append(f"these runs explain {100 * share:.1f}% of the judgments; with pooled runs missing, {so}")
    where = f"{case.name}: " if lab.several else ""
    return [where + note for note in (*told, *pool.notes)]
