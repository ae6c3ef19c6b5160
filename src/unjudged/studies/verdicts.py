"""What a study says in one sentence: a word, the evidence, the limits it was held against.

The limits are customs, not laws; they stand in thresholds.toml with their sources. Few runs or teams mean "unknown".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unjudged.measures import Measure
from unjudged.results import Verdict
from unjudged.statistics.exact_sums import exact_mean
from unjudged.studies.layouts import percent, signed_percent
from unjudged.thresholds import limit_of

if TYPE_CHECKING:
    from unjudged.studies.levels import Steps
    from unjudged.studies.team_bias import Bias

NEEDED = 5
"""Teams or runs it takes to tell how others would fare."""


def _ordinary(measures: Sequence[Measure]) -> int:
    """The first measure that does not condense, which is what most people use; else the first."""
    return next((m for m, measure in enumerate(measures) if not measure.condensed), 0)


def _changes(found: Sequence[Bias], chosen: Any) -> dict[tuple[str, str], float]:
    """(collection, owner) -> mean change in percent of its runs in a measure."""
    changes: dict[tuple[str, str], float] = {}
    for bias in found:
        m = chosen(bias.judged.measures)
        if m is None:
            continue
        for c, condition in enumerate(bias.judged.conditions):
            own = [run for selection in bias.case.selections for run in bias.own_runs(condition, selection)]
            full, reduced = (bias.judged.means[i, m, bias.judged.places(own)] for i in (0, c))
            known = full > 0
            if known.any():
                change = 100 * (reduced[known] - full[known]) / full[known]
                changes[bias.case.name, condition] = exact_mean(change)
    return changes


def leaving_verdict(found: Sequence[Bias], what: str) -> Verdict:
    """Is the collection fair to a newcomer?"""
    changes = _changes(found, _ordinary)
    if len(changes) < NEEDED:
        few = f"{len(changes)} {what}s are too few to tell how a new one would fare"
        return Verdict("unknown", few, float(len(changes)), f"at least {NEEDED} {what}s")
    measures = found[0].judged.measures
    main = measures[_ordinary(measures)]
    mean, size = exact_mean(changes.values()), exact_mean(map(abs, changes.values()))
    (_, worst), most = max(changes.items(), key=lambda item: (abs(item[1]), item[0]))
    sentence = (
        f"a {what} left out of the pool changes by {signed_percent(mean)} in {main} on average, "
        f"{worst} most ({signed_percent(most)})"
    )
    condensed = _changes(found, lambda all: next((m for m, one in enumerate(all) if one.condensed), None))
    if condensed:
        other = next(m for m in measures if m.condensed)
        gain = exact_mean(condensed.values())
        sentence += f"; in {other}, which drops unjudged documents, by {signed_percent(gain)}"
    limit = limit_of("leave-out")
    return Verdict(limit.word(size), sentence, size, f"mean size of the change {size:.2f}%; {limit.sentence}")


def taking_verdict(found: Sequence[Bias]) -> Verdict:
    """Would one team's judgments have given the same order?"""
    taus = []
    for bias in found:
        m = _ordinary(bias.judged.measures)
        for selection in bias.case.selections:
            taus += [
                bias.judged.tau(c, m, selection)
                for c, condition in enumerate(bias.judged.conditions)
                if condition in bias.owners and condition not in bias.excluded
            ]
    known = [tau for tau in taus if not math.isnan(tau)]
    if len(known) < 2:
        return Verdict("unknown", "too few teams with relevant documents for every topic", float(len(known)), "2 teams")
    runs = min(len(selection) for bias in found for selection in bias.case.selections)
    if runs < NEEDED:
        return Verdict("unknown", f"the order of {runs} runs tells too little", float(runs), f"at least {NEEDED} runs")
    mean = exact_mean(known)
    main = found[0].judged.measures[_ordinary(found[0].judged.measures)]
    sentence = (
        f"judgments from a single team give an order of the runs in {main} with tau {mean:.3f} to the full one "
        f"on average, {min(known):.3f} at worst"
    )
    return limit_of("same-order").verdict(sentence, mean)


def levels_verdict(found: Sequence[Steps], word: str) -> Verdict:
    """Down to which level do the measures keep the order of the runs?"""
    names = [str(m) for m in found[0].judged.measures]
    kept: dict[str, float | None] = {}
    every = sorted({level for steps in found for level, _ in steps.condition}, reverse=True)
    worst, same = math.inf, limit_of("same-order").solid
    for m, name in enumerate(names):
        kept[name] = None
        for level in every:
            taus = [
                steps.judged.tau(c, m, steps.case.selections[repeat - 1])
                for steps in found
                for (at, repeat), c in steps.condition.items()
                if at == level
            ]
            mean = exact_mean(taus)
            if m == _ordinary(found[0].judged.measures):
                worst = min(worst, mean)
            if math.isnan(mean) or mean < same:
                break
            kept[name] = level
    unit = "%" if not word else ""
    down = {level: [n for n, k in kept.items() if k == level] for level in (*every[::-1], None)}
    parts = [
        f"{', '.join(group)} keep{'s' * (len(group) == 1)} the order of the runs down to {word}{level:g}{unit}"
        if level is not None
        else f"{', '.join(group)} at no level"
        for level, group in down.items()
        if group
    ]
    if not any(level is not None for level in kept.values()):
        parts = [f"no measure keeps the order of the runs at {word}{every[0]:g}{unit}"]
    main = names[_ordinary(found[0].judged.measures)]
    reached = kept[main]
    verdict = "fragile" if reached is None else "solid" if reached == every[-1] else "with care"
    if len(found[0].case.runs) < NEEDED:
        verdict = "unknown"
    return Verdict(verdict, "; ".join(parts), worst, f"tau {same:g} or more counts as the same order; judged by {main}")


def contributions_verdict(shares: Sequence[tuple[str, float]], teams: int) -> Verdict:
    """Does the pool hang on one team?"""
    if teams < 2:
        return Verdict("unknown", "one team alone made the pool", float(teams), "at least 2 teams")
    team, share = max(shares, key=lambda s: s[1])
    total = sum(s for _, s in shares)
    sentence = (
        f"{percent(total)} of the relevant documents were found by one team only, {percent(share)} by {team} alone"
    )
    return limit_of("contributions").verdict(sentence, share)
