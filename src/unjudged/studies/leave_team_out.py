"""Leave one team out: what would a team's run score had the team not been in the pool? (Sakai 2009, table 3)"""

from __future__ import annotations

from unjudged.collection.membership import membership, teams_of
from unjudged.studies import bias
from unjudged.studies.engine import Answer, Case, Pooling, RunsOfTeams, Scoring, Testing, prepare, register
from unjudged.studies.engine.groups import tell_pool


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
    team_of = teams_of(setup.collection)
    pool = pooling.of(setup.collection)
    tell_pool(case, pool, "what is unique to a team is overestimated")
    bias.check_left_out(case, pool, len({team_of[run] for run in pool.runs}), "team", "leave-team-out")
    bias.note_outside(setup, pool)
    member = membership(setup.collection, pool)
    owners = bias.chosen_by_team(setup, team_of)
    left = {team: ~member.unique([run for run in pool.runs if team_of[run] == team]) for team in owners}
    found = bias.scored_bias(setup, pool, left, owners, test=how if summary else None)
    return bias.bias_answer(
        found,
        how,
        what="left_out",
        summary=summary,
        verdict=bias.left_out_verdict(case, found, "team", pooling),
        caption="Change of score and rank of a run when its team is left out of the pool; bold: the rank changes.",
        summary_caption="Leaving each team out, averaged over teams",
    )
