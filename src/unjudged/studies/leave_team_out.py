"""Leave one team out: what would a team's run score had the team not been in the pool? (Sakai 2009, table 3)"""

from __future__ import annotations

from typing import Any

from unjudged.collection.membership import membership, teams_of
from unjudged.errors import UsageError
from unjudged.results import Result
from unjudged.studies._study import Lab, register
from unjudged.studies.asked import Pooling, RunsOfTeams, Scoring, Testing
from unjudged.studies.pooled import coverage, pool_settings
from unjudged.studies.preparing import cases
from unjudged.studies.team_bias import FIGURES, Bias, bias_result, chosen_by_team, fill_bias
from unjudged.studies.verdicts import leaving_verdict


@register(
    "leave-team-out",
    help="a team's run scored without the team's unique documents",
    cite="sakai2009",
    figures=FIGURES,
)
def leave_team_out(
    lab: Lab,
    scoring: Scoring,
    runs: RunsOfTeams,
    testing: Testing,
    pooling: Pooling,
    *,
    summary: bool = False,
    repeats: int = 1,
) -> Result:
    """What would a team's run score had the team not been in the pool?

    For each team, the documents only its runs brought into the pool become unjudged (relevant or not), all chosen
    runs are scored again, and the table tells the change and the rank move of the team's own run (Sakai 2009,
    table 3). One run of each team is looked at, drawn by the seed; --all-runs takes every run. --summary gives
    Kendall's tau and the significant pairs of each team's judgments instead.
    """
    how = testing.of(runs.seed)
    found: list[Bias] = []
    pools: dict[str, Any] = {}
    for case in cases(lab, scoring, runs, repeats=repeats):
        team_of = teams_of(case.collection)
        pool = pooling.of(case.collection)
        member = membership(case.collection, pool)
        owners = chosen_by_team(case.runs, team_of)
        if len({team_of[run] for run in pool.runs}) < 2:
            raise UsageError("leaving a team out needs at least two pooled teams")
        conditions = {team: ~member.unique([run for run in pool.runs if team_of[run] == team]) for team in owners}
        found.append(fill_bias(lab, case, conditions, owners, test=how if summary else None))
        pools[case.name] = pool_settings(pool)
        lab.notes += coverage(lab, case, pool, "what is unique to a team is overestimated")
    return bias_result(
        lab,
        found,
        how,
        what="left_out",
        summary=summary,
        pools=pools,
        verdict=leaving_verdict(found, "team"),
        caption="Change of score and rank of a run when its team is left out of the pool; bold: the rank changes.",
        summary_caption="Leaving each team out, averaged over teams",
    )
