"""Take one team, or three: judgments from a few teams alone (Sakai 2009, tables 4 to 7)."""

from __future__ import annotations

from typing import Any

from unjudged.changes.take import ordinary_teams, teams_without_relevant
from unjudged.collection.membership import membership, teams_of
from unjudged.errors import UsageError, nearest, some
from unjudged.results import Result
from unjudged.studies._study import Lab, register
from unjudged.studies.asked import Pooling, RunsOfTeams, Scoring, Testing
from unjudged.studies.pooled import coverage, pool_settings
from unjudged.studies.preparing import cases
from unjudged.studies.team_bias import FIGURES, Bias, bias_result, chosen_by_team, fill_bias
from unjudged.studies.verdicts import taking_verdict


@register(
    "take-team",
    help="judgments from one team alone, and from three",
    cite="sakai2009",
    figures=FIGURES,
)
def take_team(
    lab: Lab,
    scoring: Scoring,
    runs: RunsOfTeams,
    testing: Testing,
    pooling: Pooling,
    *,
    summary: bool = False,
    teams_taken: Any = None,
    repeats: int = 1,
) -> Result:
    """How far does a pool made from one team's runs, or three teams', lead astray?

    For each team only the judged documents its runs would have brought stay. The table tells the change and rank move
    of the team's own run (Sakai 2009, table 4). --summary gives Kendall's tau, discriminative power, misses and false
    alarms of every team's judgments, their average, and of several teams together (tables 5 to 7): those named with
    --take, or the three with the fewest unique documents. A team that found no relevant document for some topic
    (marked with a dagger) stays out of the average.
    """
    how = testing.of(runs.seed)
    found: list[Bias] = []
    pools: dict[str, Any] = {}
    for case in cases(lab, scoring, runs, repeats=repeats):
        team_of = teams_of(case.collection)
        pool = pooling.of(case.collection)
        member = membership(case.collection, pool)
        owners = chosen_by_team(case.runs, team_of)
        barren = teams_without_relevant(case.scored_topics, pool, rel=scoring.smallest)
        together = _together(case.collection, pool, teams_taken, set(team_of.values()))
        conditions = {team: member.found([run for run in pool.runs if team_of[run] == team]) for team in owners}
        extra = {}
        if summary and len(together) > 1:
            extra["+".join(together)] = member.found([run for run in pool.runs if team_of[run] in together])
        found.append(
            fill_bias(
                lab,
                case,
                conditions,
                owners,
                test=how if summary else None,
                excluded=frozenset(barren) & frozenset(owners),
                extra=extra,
            )
        )
        pools[case.name] = pool_settings(pool)
        lab.notes += coverage(lab, case, pool, "the full judgments hold more than all these teams found")
    return bias_result(
        lab,
        found,
        how,
        what="taken",
        summary=summary,
        with_excluded=True,
        pools=pools,
        verdict=taking_verdict(found),
        caption="Change of score and rank of a run when its team alone makes the pool; bold: the rank changes; "
        "†: no relevant document for some topic, not in averages.",
        summary_caption="Judgments from one team (average) or several",
    )


def _together(collection: Any, pool: Any, wanted: Any, known: set[str]) -> list[str]:
    """The teams taken together: those named, or the three with the fewest unique documents."""
    if wanted is None:
        pooled = {collection.teams[run] for run in pool.runs}
        return ordinary_teams(collection, min(3, len(pooled)), pool)
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for team in names:
        if team not in known:
            raise UsageError(f"no team {team!r}{nearest(team, known)}; there are {some(sorted(known))}")
    return names
