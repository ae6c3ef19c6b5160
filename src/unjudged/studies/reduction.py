"""Random reduction: judgments taken away at random, relevant and nonrelevant alike (Sakai 2007, figures 1 to 3)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from unjudged.changes.reduce import reduce
from unjudged.errors import UsageError
from unjudged.studies import levels as steps
from unjudged.studies.engine import Answer, Case, Runs, Scoring, Setup, Testing, prepare, register
from unjudged.studies.engine.conditions import Mask
from unjudged.text import percent

PERCENT = (100, 90, 70, 50, 30, 10)


@register(
    "reduction",
    help="order and significance when judgments are taken away at random",
    cite="sakai2007",
    figures=steps.FIGURES,
    columns=steps.COLUMNS,
    limit="fewer-judgments",
)
def reduction(
    case: Case, scoring: Scoring, runs: Runs, testing: Testing, *, levels: Any = PERCENT, repeats: int = 1
) -> Answer:
    """How many judgments are needed?

    At each level (percent of the judgments that stay) a random share of the relevant and of the nonrelevant documents
    of every topic stays judged, at least 1 and 10 of them; smaller sets lie inside larger ones (Buckley and Voorhees
    2004). The table tells, per measure, the mean score, Kendall's tau with the order under all judgments,
    discriminative power, and the significant pairs missed and invented (Sakai 2007, figures 1 to 3); --test none
    leaves the pairs out. The verdict is about the order as it is: how well it agrees with the
    order under complete judgments, by the hole model. --repeats draws the judgments anew, and the
    runs with --one-per-team; the table then shows where 95% of the repeats lie.
    """
    how = testing.unless_none(runs.seed)
    wanted = _levels(levels)
    setup = prepare(case, scoring, runs, repeats=repeats, redrawn=True)
    masks = {
        (level, repeat): _drawn(setup, Fraction(str(level)) / 100, seed_of(runs.seed, repeat))
        for level in wanted
        for repeat in range(1, repeats + 1)
    }
    _tell_left(setup, masks)
    found = steps.scored_levels(setup, masks, how, "percent")
    verdict = steps.levels_verdict(case, found)
    return steps.levels_answer(found, how, verdict, repeats=repeats, redrawn=True)


def _drawn(setup: Setup, share: Fraction, seed: int) -> Mask:
    """The judgments that stay when this share is drawn."""
    kept = np.zeros(len(setup.collection.judgments), bool)
    left = reduce(setup.collection, share, seed=seed, rel=setup.scoring.smallest)
    kept[np.searchsorted(setup.collection.rows, left.rows)] = True
    return kept


def _tell_left(setup: Setup, masks: Mapping[tuple[float, int], Mask]) -> None:
    """A note where much less was taken away than asked for: the least numbers of documents that stay forbid it."""
    judged = setup.collection.judgments.grade >= 0
    for (level, repeat), mask in masks.items():
        left = int((mask & judged).sum()) / max(int(judged.sum()), 1)
        if repeat == 1 and 1 - left < setup.case.limits["fewer-judgments"]["removed"] * (1 - level / 100):
            setup.case.note(
                f"level {level:g}: {percent(left)} of the judgments are left, because every topic keeps 1 relevant and "
                "10 nonrelevant documents; this is no test of fewer judgments"
            )


def seed_of(seed: int, repeat: int) -> int:
    """The first repeat draws with the seed itself (as `unjudged qrels reduce`), later ones with seeds made from it."""
    return seed if repeat == 1 else int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])


def _levels(levels: Any) -> list[float]:
    given = levels if isinstance(levels, (list, tuple)) else [levels]
    if not given or any(not 0 < level <= 100 for level in given) or len(set(given)) < len(given):
        raise UsageError(f"levels are percent of the judgments, as 70,50,30,10, not {','.join(map(str, given))}")
    return list(given)
