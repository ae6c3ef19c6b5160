"""Shallower pools: judgments as if only the first documents of each run had been pooled (Sakai 2009, tables 8-10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unjudged.collection.membership import membership
from unjudged.errors import UsageError
from unjudged.results import Result
from unjudged.studies._study import Lab, register
from unjudged.studies.asked import Pooling, Runs, Scoring, Testing
from unjudged.studies.board import Mask
from unjudged.studies.levels import FIGURES, Steps, fill_levels, levels_result
from unjudged.studies.pooled import coverage, pool_settings
from unjudged.studies.preparing import cases

DEPTHS = (50, 10, 1)


@register(
    "depth",
    help="order and significance under shallower pools",
    cite="sakai2009",
    figures=FIGURES,
)
def depth(
    lab: Lab, scoring: Scoring, runs: Runs, testing: Testing, pooling: Pooling, *, levels: Any = None, repeats: int = 1
) -> Result:
    """How shallow could the pool have been?

    At each level (a pool depth; default 50, 10 and 1, as far as the pool is deeper) only the judged documents in the
    top of some pooled run stay. The table tells, per measure, the mean score, Kendall's tau with the order under all
    judgments, discriminative power, and the significant pairs missed and invented (Sakai 2009, tables 8 to 10).
    --repeats draws other runs with --one-per-team; nothing else is random here but the bootstrap.
    """
    how = testing.of(runs.seed)
    found: list[Steps] = []
    pools: dict[str, Any] = {}
    for case in cases(lab, scoring, runs, repeats=repeats):
        pool = pooling.of(case.collection)
        wanted = _levels(levels, pool.depth)
        if beyond := [level for level in wanted if level > pool.depth]:
            where = f"{case.name}: " if lab.several else ""
            lab.notes.append(
                f"{where}level {beyond[0]} lies beyond the pool's depth of {pool.depth}: nobody judged there"
            )
        masks: dict[tuple[float, int], Mask] = {}
        for level in wanted:
            shallow = membership(case.collection, replace(pool, depth=level)).found()
            masks |= {(level, repeat): shallow for repeat in range(1, repeats + 1)}
        found.append(fill_levels(lab, case, masks, how, "all judgments"))
        pools[case.name] = pool_settings(pool)
        lab.notes += coverage(lab, case, pool, "a shallower pool also loses what only they found")
    return levels_result(lab, found, how, word="depth ", pool=pools, repeats=repeats)


def _levels(levels: Any, deepest: int) -> list[int]:
    """Depths as whole numbers; by default the customary ones above the pool's own."""
    if levels is None:
        return [d for d in DEPTHS if d < deepest] or [deepest]
    given = levels if isinstance(levels, (list, tuple)) else [levels]
    if not given or any(level != int(level) or level < 1 for level in given) or len(set(given)) < len(given):
        raise UsageError(f"levels are pool depths, whole numbers as 50,10,1, not {','.join(map(str, given))}")
    return [int(level) for level in given]
