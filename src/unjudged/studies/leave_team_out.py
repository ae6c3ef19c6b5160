"""Leave one team out: what would a team's run score had the team not been in the pool? (Sakai 2009, table 3)"""

from __future__ import annotations

from unjudged.collection.membership import teams_of
from unjudged.studies import bias
from unjudged.studies.engine import Answer, Case, Pooling, RunsOfTeams, Scoring, Testing, prepare, register


@register(
    "leave-team-out",
    help="a team's run scored without the documents that only its team found",
    cite="sakai2009",
    figures=bias.FIGURES,
    together=bias.together,
    columns=bias.columns_of("left_out"),
    limit="fair-to-outsiders",
)
def leave_team_out(
    case: Case,
    scoring: Scoring,
    runs: RunsOfTeams,
    testing: Testing,
    pooling: Pooling,
    *,
    summary: bool = False,
    repeats: int = 1,
) -> Answer:
    """What would a team's run score had the team not been in the pool?

    For each team, the documents that only its runs brought into the pool become unjudged (relevant or not), all chosen
    runs are scored again, and the table tells the change and the rank move of the team's own run (Sakai 2009, table
    3). One run of each team is looked at, drawn by the seed; --all-runs takes every run. --summary gives Kendall's tau
    and the significant pairs of each team's judgments instead. The verdict is the share of its score that a pooled
    team loses, on average over the teams (Zobel 1998).
    """
    how = testing.unless_none(runs.seed)
    setup = prepare(case, scoring, runs, repeats=repeats)
    return bias.each_left_out(case, setup, pooling, how, teams_of(setup.collection), "team", summary)
