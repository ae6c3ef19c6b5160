"""Shallower pools: judgments as if only the first documents of each run had been pooled (Sakai 2009, tables 8-10)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unjudged.collection import Pool
from unjudged.collection.membership import membership
from unjudged.errors import UsageError
from unjudged.results import Verdict
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
    looks at a quarter of the pool's depth. --repeats draws other runs with --one-per-team; nothing else is random here
    but the bootstrap.
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
    verdict = _verdict(case, found, pool, pooling)
    return steps.levels_answer(found, how, verdict, repeats=repeats, pool=pool_settings(pool))


def shallower(setup: Setup, pool: Pool, level: int) -> Mask:
    """The judgments of a pool of this depth: those it explains, and those that the pool as it is does not explain."""
    explained = membership(setup.collection, pool).found()
    return membership(setup.collection, replace(pool, depth=level)).found() | ~explained


def _verdict(case: Case, found: steps.Levels, pool: Pool, pooling: Pooling) -> Verdict:
    limit = case.limits["fewer-judgments"]
    flags = ["-m", "sakai2009", *pooling.flags]
    if pool.depth == 1:
        step = case.step("take judgments away at random instead", "study", "reduction")
        return limit.unknown("the pool is 1 document deep, so it cannot be made shallower", step)
    level = max(1, int(limit["step"] * pool.depth))
    mask = shallower(found.setup, pool, level)
    said = f"with a pool of depth {level} ({steps.share_left(found.setup, mask)} of the judgments left)"
    step = case.step("look for a measure that needs fewer judgments", "study", "depth", flags=flags)
    return steps.levels_verdict(case, found, mask, said, step)


def _levels(levels: Any, deepest: int) -> list[int]:
    """Depths as whole numbers; by default the customary ones that are shallower than the pool."""
    if levels is None:
        return [d for d in DEPTHS if d < deepest] or [deepest]
    given = levels if isinstance(levels, (list, tuple)) else [levels]
    if not given or any(level != int(level) or level < 1 for level in given) or len(set(given)) < len(given):
        raise UsageError(f"levels are pool depths, whole numbers as 50,10,1, not {','.join(map(str, given))}")
    return [int(level) for level in given]
