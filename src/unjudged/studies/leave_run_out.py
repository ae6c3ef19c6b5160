"""Leave one run out: what would a run score had it not been in the pool? (Zobel 1998)"""

from __future__ import annotations

from typing import Any

from unjudged.errors import UsageError
from unjudged.figures import bias as charts
from unjudged.pooling.membership import membership
from unjudged.pooling.pool import pool_of
from unjudged.results import Result
from unjudged.studies._study import Lab, register
from unjudged.studies.pooled import coverage, pool_settings, pooled_runs
from unjudged.studies.preparing import cases, tests
from unjudged.studies.team_bias import Bias, bias_result, fill_bias
from unjudged.studies.verdicts import leaving_verdict


@register("leave-run-out", help="a run scored without the documents only it brought into the pool", cite="zobel1998")
def leave_run_out(
    lab: Lab,
    *,
    measures: Any = "sakai2009",
    rel: int | None = None,
    summary: bool = False,
    one_per_team: bool = False,
    top: float | None = None,
    by: Any = None,
    depth: int | None = None,
    pooled: Any = None,
    repeats: int = 1,
    alpha: float = 0.05,
    resamples: int | None = None,
    test: str = "bootstrap",
    seed: int = 0,
) -> Result:
    """What would a run score had it not been in the pool?

    As leave-team-out, with every run standing for itself (Zobel 1998). Other runs of its team stay in the pool and
    often found the same documents, so the changes are smaller than for a team; a new team is better judged by
    leave-team-out.
    """
    how = tests(test, alpha, resamples, seed)
    found: list[Bias] = []
    pools: dict[str, Any] = {}
    for case in cases(lab, measures, rel=rel, top=top, by=by, one_per_team=one_per_team, seed=seed, repeats=repeats):
        pool = pool_of(case.collection, depth, pooled_runs(pooled))
        if len(pool.runs) < 2:
            raise UsageError("leaving a run out needs at least two pooled runs")
        member = membership(case.collection, pool)
        conditions = {run: ~member.unique([run]) for run in case.runs}
        found.append(fill_bias(lab, case, conditions, {run: [run] for run in case.runs}, test=how if summary else None))
        pools[case.name] = pool_settings(case.collection, pool)
        lab.notes += coverage(lab, case, pool, "what is unique to a run is overestimated")
    return bias_result(
        lab,
        found,
        what="left_out",
        summary=summary,
        seed=seed,
        settings={"pool": pools, **how.settings(), "repeats": repeats},
        verdict=leaving_verdict(found, "run"),
        caption="Change of score and rank of a run that is left out of the pool; bold: the rank changes."
        if not summary
        else f"Leaving each run out: order of the runs and significant pairs at alpha {alpha:g}, averaged over runs.",
        figures=charts.summary_figures() if summary else charts.change_figures("left_out"),
    )
