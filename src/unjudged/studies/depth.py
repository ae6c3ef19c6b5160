"""Shallower pools: judgments as if only the first documents of each run had been pooled (Sakai 2009, tables 8-10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unjudged.collection import Pool
from unjudged.collection.membership import membership
from unjudged.errors import UsageError
from unjudged.studies import levels as steps
from unjudged.studies.engine import Answer, Case, Setup, prepare, register
from unjudged.studies.engine.conditions import Mask
from unjudged.studies.engine.groups import Pooling, Runs, Scoring, Testing, pool_settings, tell_pool

DEPTHS = (50, 10, 1)


@register(
    "depth",
    help="order and significance under shallower pools",
    cite="sakai2009",
    figures=steps.FIGURES,
    columns=steps.COLUMNS,
    limit="fewer-judgments",
)
def depth(
    case: Case,
    scoring: Scoring,
    runs: Runs,
    testing: Testing,
    pooling: Pooling,
    *,
    levels: Any = None,
    repeats: int = 1,
) -> Answer:
    """How shallow could the pool have been?

    At each level (a pool depth; default 50, 10 and 1, as far as the pool is deeper) those judgments stay that lie in
    the top of some pooled run; judgments that the pool does not explain at its full depth stay, too. The table tells,
    per measure, the mean score, Kendall's tau with the order under all judgments, discriminative power, and the
    significant pairs missed and invented (Sakai 2009, tables 8 to 10); --test none leaves the pairs out. The verdict
    is about the order as it is: how well it agrees with the order under complete judgments, by the hole model.
    --repeats draws other runs with --one-per-team; nothing else in the table is random but the bootstrap.
    """
    how = testing.unless_none(runs.seed)
    setup = prepare(case, scoring, runs, repeats=repeats)
    pool = pooling.of(setup.collection)
    tell_pool(case, pool, "the other judgments stay at every level")
    wanted = _levels(levels, pool.depth)
    if beyond := [level for level in wanted if level > pool.depth]:
        case.note(f"level {beyond[0]} lies beyond the pool's depth of {pool.depth}: nobody judged there")
    masks: dict[tuple[float, int], Mask] = {}
    for level in wanted:
        shallow = shallower(setup, pool, level)
        masks |= {(level, repeat): shallow for repeat in range(1, repeats + 1)}
    found = steps.scored_levels(setup, masks, how, "depth")
    verdict = steps.levels_verdict(case, found)
    return steps.levels_answer(found, how, verdict, repeats=repeats, pool=pool_settings(pool))


def shallower(setup: Setup, pool: Pool, level: int) -> Mask:
    """The judgments of a pool of this depth: those it explains, and those that the pool as it is does not explain."""
    explained = membership(setup.collection, pool).found()
    return membership(setup.collection, replace(pool, depth=level)).found() | ~explained


def _levels(levels: Any, deepest: int) -> list[int]:
    """Depths as whole numbers, each once; by default the customary ones that are shallower than the pool."""
    if levels is None:
        return [d for d in DEPTHS if d < deepest] or [deepest]
    given = levels if isinstance(levels, (list, tuple)) else [levels]
    wrong = any(not level > 0 or (level >= 1 and level != int(level)) for level in given)
    if not given or wrong or len(set(given)) < len(given):
        told = ",".join(map(str, given))
        raise UsageError(f"levels are pool depths as 50,10,1, or shares of the depth below 1 as 0.5,0.25, not {told}")
    return list(dict.fromkeys(max(1, int(level * deepest)) if level < 1 else int(level) for level in given))
