"""Leave one run out: what would a run score had it not been in the pool? (Zobel 1998)"""

from __future__ import annotations

from typing import Any

from unjudged.collection.membership import membership
from unjudged.errors import UsageError
from unjudged.results import Result
from unjudged.studies._study import Lab, register
from unjudged.studies.asked import Pooling, Runs, Scoring, Testing
from unjudged.studies.pooled import coverage, pool_settings
from unjudged.studies.preparing import cases
from unjudged.studies.team_bias import FIGURES, Bias, bias_result, fill_bias
from unjudged.studies.verdicts import leaving_verdict


@register(
    "leave-run-out",
    help="a run scored without the documents only it brought into the pool",
    cite="zobel1998",
    figures=FIGURES,
)
def leave_run_out(
    lab: Lab,
    scoring: Scoring,
    runs: Runs,
    testing: Testing,
    pooling: Pooling,
    *,
    summary: bool = False,
    repeats: int = 1,
) -> Result:
    """What would a run score had it not been in the pool?

    As leave-team-out, with every run standing for itself (Zobel 1998). Other runs of its team stay in the pool and
    often found the same documents, so the changes are smaller than for a team; a new team is better judged by
    leave-team-out.
    """
    how = testing.of(runs.seed)
    found: list[Bias] = []
    pools: dict[str, Any] = {}
    for case in cases(lab, scoring, runs, repeats=repeats):
        pool = pooling.of(case.collection)
        if len(pool.runs) < 2:
            raise UsageError("leaving a run out needs at least two pooled runs")
        member = membership(case.collection, pool)
        conditions = {run: ~member.unique([run]) for run in case.runs}
        found.append(fill_bias(lab, case, conditions, {run: [run] for run in case.runs}, test=how if summary else None))
        pools[case.name] = pool_settings(pool)
        lab.notes += coverage(lab, case, pool, "what is unique to a run is overestimated")
    return bias_result(
        lab,
        found,
        how,
        what="left_out",
        summary=summary,
        pools=pools,
        verdict=leaving_verdict(found, "run"),
        caption="Change of score and rank of a run that is left out of the pool; bold: the rank changes.",
        summary_caption="Leaving each run out, averaged over runs",
    )
