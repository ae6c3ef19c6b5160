"""Random reduction: judgments taken away at random, relevant and nonrelevant alike (Sakai 2007, figures 1 to 3)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from unjudged.errors import UsageError
from unjudged.judgments.reduce import reduce
from unjudged.results import Result
from unjudged.studies._study import Lab, register
from unjudged.studies.levels import Steps, fill_levels, levels_result
from unjudged.studies.preparing import cases, tests

PERCENT = (100, 90, 70, 50, 30, 10)


@register("reduction", help="order and significance when judgments are taken away at random", cite="sakai2007")
def reduction(
    lab: Lab,
    *,
    measures: Any = "sakai2009",
    rel: int | None = None,
    levels: Any = PERCENT,
    one_per_team: bool = False,
    top: float | None = None,
    by: Any = None,
    repeats: int = 1,
    alpha: float = 0.05,
    resamples: int | None = None,
    test: str = "bootstrap",
    seed: int = 0,
) -> Result:
    """How many judgments are needed?

    At each level (percent of the judgments that stay) a random share of the relevant and of the nonrelevant documents
    of every topic stays judged, at least 1 and 10 of them; smaller sets lie inside larger ones (Buckley and Voorhees
    2004). The table tells, per measure, the mean score, Kendall's tau with the order under all judgments,
    discriminative power, and the significant pairs missed and invented (Sakai 2007, figures 1 to 3). --repeats draws
    the judgments anew, and the runs with --one-per-team; the table then shows where 95% of the repeats lie.
    """
    how = tests(test, alpha, resamples, seed)
    wanted = _levels(levels)
    found: list[Steps] = []
    for case in cases(lab, measures, rel=rel, top=top, by=by, one_per_team=one_per_team, seed=seed, repeats=repeats):
        masks = {}
        for level in wanted:
            for repeat in range(1, repeats + 1):
                kept = np.zeros(len(case.collection.judgments), bool)
                share, drawn = Fraction(str(level)) / 100, seed_of(seed, repeat)
                kept[reduce(case.collection, share, seed=drawn, rel=1 if rel is None else rel).rows] = True
                masks[level, repeat] = kept
        found.append(fill_levels(lab, case, masks, how, "100%"))
    settings = {**how.settings(), "repeats": repeats}
    return levels_result(lab, found, word="", seed=seed, **settings)


def seed_of(seed: int, repeat: int) -> int:
    """The first repeat draws with the seed itself (as `unjudged qrels reduce`), later ones with seeds made from it."""
    return seed if repeat == 1 else int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])


def _levels(levels: Any) -> list[float]:
    given = levels if isinstance(levels, (list, tuple)) else [levels]
    if not given or any(not 0 < level <= 100 for level in given) or len(set(given)) < len(given):
        raise UsageError(f"levels are percent of the judgments, as 70,50,30,10, not {','.join(map(str, given))}")
    return list(given)
