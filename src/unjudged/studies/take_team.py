"""Take one team, or three: judgments from a few teams alone (Sakai 2009, tables 4 to 7)."""

from __future__ import annotations

import math
from typing import Any

from unjudged.changes.take import ordinary_teams, teams_without_relevant
from unjudged.collection import Collection, Pool
from unjudged.collection.membership import membership, teams_of
from unjudged.errors import UsageError, nearest, some
from unjudged.results import Verdict
from unjudged.statistics.pairs import exact_mean
from unjudged.studies import bias
from unjudged.studies.engine import Answer, Case, leading, prepare, register
from unjudged.studies.engine.groups import Pooling, RunsOfTeams, Scoring, Testing, tell_pool


@register(
    "take-team",
    help="judgments from one team alone, and from three",
    cite="sakai2009",
    figures=bias.FIGURES,
    together=bias.together,
    columns=bias.columns_of("taken"),
    limit="take-team",
)
def take_team(
    case: Case,
    scoring: Scoring,
    runs: RunsOfTeams,
    testing: Testing,
    pooling: Pooling,
    *,
    summary: bool = False,
    teams_taken: Any = None,
    repeats: int = 1,
) -> Answer:
    """How far does a pool made from one team's runs, or three teams', lead astray?

    For each team only the judged documents stay that its runs would have brought. The table tells the change and rank
    move of the team's own run (Sakai 2009, table 4). --summary gives Kendall's tau, discriminative power, misses and
    false alarms of every team's judgments, their average, and of several teams together (tables 5 to 7): those named
    with --take, or the three with the fewest unique documents. A team that found no relevant document for some topic
    (marked with a dagger) stays out of the average.
    """
    how = testing.unless_none(runs.seed)
    setup = prepare(case, scoring, runs, repeats=repeats)
    team_of = teams_of(setup.collection)
    pool = pooling.of(setup.collection)
    tell_pool(case, pool, "the full judgments hold more than all these teams found")
    member = membership(setup.collection, pool)
    owners = bias.chosen_by_team(setup, team_of)
    barren = teams_without_relevant(setup.scored_topics, pool, rel=scoring.smallest)
    together = _together(setup.collection, pool, teams_taken, set(team_of.values()))
    alone = {team: member.found([run for run in pool.runs if team_of[run] == team]) for team in owners}
    extra = {}
    if summary and len(together) > 1:
        extra["+".join(together)] = member.found([run for run in pool.runs if team_of[run] in together])
    excluded = frozenset(barren) & frozenset(owners)
    tested = how if summary else None
    found = bias.scored_bias(setup, pool, alone, owners, test=tested, excluded=excluded, extra=extra)
    return bias.bias_answer(
        found,
        how,
        what="taken",
        summary=summary,
        verdict=_verdict(case, found),
        caption="Change of score and rank of a run when its team alone makes the pool; bold: the rank changes; "
        "†: no relevant document for some topic, not in averages.",
        summary_caption="Judgments from one team (average) or several",
    )


def _together(collection: Collection, pool: Pool, wanted: Any, known: set[str]) -> list[str]:
    """The teams taken together: those named, or the three with the fewest unique documents."""
    if wanted is None:
        pooled = {collection.teams[run] for run in pool.runs}
        return ordinary_teams(collection, min(3, len(pooled)), pool)
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for team in names:
        if team not in known:
            raise UsageError(f"no team {team!r}{nearest(team, known)}; there are {some(sorted(known))}")
    return names


def _verdict(case: Case, found: bias.Bias) -> Verdict:
    """Would one team's judgments have given the same order?"""
    limit, scored = case.limits["take-team"], found.scored
    main = leading(scored.measures)
    if (silent := scored.silent.get(str(scored.measures[main]))) is not None:
        return limit.unknown(f"{scored.measures[main]} says nothing about these runs: {silent}")
    taus = {
        (condition, repeat): scored.tau(c, main, selection)
        for repeat, selection in enumerate(found.setup.selections)
        for c, condition in enumerate(scored.conditions)
        if found.own_runs(c, selection) and condition not in found.excluded
    }
    known = {key: tau for key, tau in taus.items() if not math.isnan(tau)}
    if not known:
        return limit.unknown("no team found relevant documents for every topic, so that no team can be taken alone")
    (worst, _), lowest = min(known.items(), key=lambda item: (item[1], item[0]))
    mean = exact_mean(known.values())
    sentence = (
        f"judgments from a single team give an order of the runs by {scored.measures[main]} with tau {mean:.3f} to the "
        f"full one on average, {lowest:.3f} at worst ({worst})"
    )
    few = limit.too_few(
        teams=len({team for team, _ in known}),
        runs=min(len(selection) for selection in found.setup.selections),
        topics=int(found.setup.counted.sum()),
    )
    step = case.step("see what leaving out a single team changes", "study", "leave-team-out")
    return limit.verdict(sentence, mean, too_few=few, decided_by=(worst,), next=step)
