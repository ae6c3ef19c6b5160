"""Leave one run out: what would a run score had it not been in the pool? (Zobel 1998)"""

from __future__ import annotations

from unjudged.collection.membership import membership
from unjudged.studies import bias
from unjudged.studies.engine import Answer, Case, Pooling, Runs, Scoring, Testing, prepare, register
from unjudged.studies.engine.groups import tell_pool


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
    pool = pooling.of(setup.collection)
    tell_pool(case, pool, "what is unique to a run is overestimated")
    bias.check_left_out(case, pool, len(pool.runs), "run", "leave-run-out")
    bias.note_outside(setup, pool)
    member = membership(setup.collection, pool)
    left = {run: ~member.unique([run]) for run in setup.runs}
    found = bias.scored_bias(setup, pool, left, {run: [run] for run in setup.runs}, test=how if summary else None)
    return bias.bias_answer(
        found,
        how,
        what="left_out",
        summary=summary,
        verdict=bias.left_out_verdict(case, found, "run", pooling),
        caption="Change of score and rank of a run that is left out of the pool; bold: the rank changes.",
        summary_caption="Leaving each run out, averaged over runs",
    )
