"""Leave one run out: what would a run score had it not been in the pool? (Zobel 1998)"""

from __future__ import annotations

from unjudged.studies import bias
from unjudged.studies.engine import Answer, Case, Pooling, Runs, Scoring, Testing, prepare, register


@register(
    "leave-run-out",
    help="a run scored without the documents that only it brought into the pool",
    cite="zobel1998",
    figures=bias.FIGURES,
    together=bias.together,
    columns=bias.columns_of("left_out"),
    limit="fair-to-outsiders",
)
def leave_run_out(
    case: Case,
    scoring: Scoring,
    runs: Runs,
    testing: Testing,
    pooling: Pooling,
    *,
    summary: bool = False,
    repeats: int = 1,
) -> Answer:
    """What would a run score had it not been in the pool?

    As leave-team-out, with every run standing for itself (Zobel 1998). Other runs of its team stay in the pool and
    often found the same documents, so the changes are smaller than for a team; a new team is better judged by
    leave-team-out.
    """
    how = testing.unless_none(runs.seed)
    setup = prepare(case, scoring, runs, repeats=repeats)
    alone = {run: run for run in setup.collection.full.runs}
    return bias.each_left_out(case, setup, pooling, how, alone, "run", summary)
