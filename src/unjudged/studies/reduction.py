"""Random reduction: judgments taken away at random, relevant and nonrelevant alike (Sakai 2007, figures 1 to 3)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from unjudged.changes.reduce import reduce
from unjudged.errors import UsageError
from unjudged.results import Result
from unjudged.studies._study import Lab, register
from unjudged.studies.asked import Runs, Scoring, Testing
from unjudged.studies.levels import FIGURES, Steps, fill_levels, levels_result
from unjudged.studies.preparing import cases

PERCENT = (100, 90, 70, 50, 30, 10)


@register(
    "reduction",
    help="order and significance when judgments are taken away at random",
    cite="sakai2007",
    figures=FIGURES,
)
def reduction(
    lab: Lab, scoring: Scoring, runs: Runs, testing: Testing, *, levels: Any = PERCENT, repeats: int = 1
) -> Result:
    """How many judgments are needed?

    At each level (percent of the judgments that stay) a random share of the relevant and of the nonrelevant documents
    of every topic stays judged, at least 1 and 10 of them; smaller sets lie inside larger ones (Buckley and Voorhees
    2004). The table tells, per measure, the mean score, Kendall's tau with the order under all judgments,
    discriminative power, and the significant pairs missed and invented (Sakai 2007, figures 1 to 3). --repeats draws
    the judgments anew, and the runs with --one-per-team; the table then shows where 95% of the repeats lie.
    """
    how = testing.of(runs.seed)
    wanted = _levels(levels)
    found: list[Steps] = []
    for case in cases(lab, scoring, runs, repeats=repeats, redrawn=True):
        masks = {}
        for level in wanted:
            for repeat in range(1, repeats + 1):
                kept = np.zeros(len(case.collection.judgments), bool)
                share, drawn = Fraction(str(level)) / 100, seed_of(runs.seed, repeat)
                kept[reduce(case.collection, share, seed=drawn, rel=scoring.smallest).rows] = True
                masks[level, repeat] = kept
        found.append(fill_levels(lab, case, masks, how, "100%"))
    return levels_result(lab, found, how, word="", redrawn=True, repeats=repeats)


def seed_of(seed: int, repeat: int) -> int:
    """The first repeat draws with the seed itself (as `unjudged qrels reduce`), later ones with seeds made from it."""
    return seed if repeat == 1 else int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])


def _levels(levels: Any) -> list[float]:
    given = levels if isinstance(levels, (list, tuple)) else [levels]
    if not given or any(not 0 < level <= 100 for level in given) or len(set(given)) < len(given):
        raise UsageError(f"levels are percent of the judgments, as 70,50,30,10, not {','.join(map(str, given))}")
    return list(given)
