"""What can be said of 2 to 5 runs: which documents to judge next, the holes of each run, and where two runs differ.

Every answer is another study's or that of `next`; here they are asked together, in the measure that fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.holes.judging import ToJudge, next_to_judge
from unjudged.holes.reading import leading_for
from unjudged.measures import measures as parse_measures
from unjudged.results import Result
from unjudged.scoring import score
from unjudged.studies import study
from unjudged.studies.engine import leading
from unjudged.studies.engine.outcome import BETTER, WORSE
from unjudged.studies.score_range import DEEPEST
from unjudged.text import listed

FEW = 5
"""Up to so many runs are read pair by pair."""
LISTED = 10
"""Documents to judge next that are listed."""


@dataclass(frozen=True, eq=False)
class FewRuns:
    """Answers about few runs; None where the judgments do not allow one."""

    measure: str
    judged_by: str
    to_judge: ToJudge | None
    estimates: Result | None
    topics: Result

    @property
    def judged_at_the_top(self) -> bool:
        """Does no unjudged document count by `measure`?"""
        if self.estimates is None:
            return False
        share = self.estimates.columns.index("hole_share")
        return all(row[share] == 0 for row in self.estimates.rows())


def few_runs(
    collection: Collection,
    measures: Sequence[str],
    pair: tuple[str, str],
    rel: int | None,
    seed: int,
    open_by_holes: bool = False,
) -> FewRuns:
    """Judge next, holes and estimates in the first measure that looks at the top alone, and a pair topic by topic.

    Where the pair is open for its holes by the measure that leads, what to judge next is asked for that one.
    """
    known = parse_measures(list(measures), rel)
    early = [m for m in known if 0 < (m.params.get("k") or 0) <= DEEPEST]
    measure = str(early[0] if early else "nDCG@10")
    judged_by = leading_for(known[leading(known)]) if open_by_holes else measure
    a, b = pair
    try:
        judge: ToJudge | None = next_to_judge(
            collection, judged_by, new=a, baseline=b, budget=LISTED, rel=rel, seed=seed
        )
        estimates: Result | None = study("estimate", collection, measures=measure, rel=rel, jobs=1)
    except UsageError:  # answers to questions, or a measure without estimates
        judge = estimates = None
    topics = study("topics", collection, measures=list(measures)[:1], rel=rel, a=a, b=b, jobs=1)
    return FewRuns(measure, judged_by, judge, estimates, topics)


def score_of(collection: Collection, run: str, measure: str, **scoring: Any) -> float:
    """The mean of one run, which needs none of the others."""
    return float(score(collection.with_runs([run]), measure, **scoring).mean_values()[0, 0])


def standing(pairs: Sequence[Mapping[str, object]], means: Mapping[str, float], measure: str) -> str:
    """Who is better than whom, in one sentence; `pairs` are rows of compare, `means` the runs' scores.

    `a and b are both better than c; between the two we cannot tell`
    """
    above: dict[str, set[str]] = {run: set() for run in means}
    for row in pairs:
        a, b = str(row["run_a"]), str(row["run_b"])
        if row["outcome"] in (BETTER, WORSE):
            better, worse = (a, b) if row["outcome"] == BETTER else (b, a)
            above[worse].add(better)
    order = sorted(means, key=lambda run: (-means[run], run))
    first = [run for run in order if not above[run]]
    rest = [run for run in order if above[run]]
    if len(first) == 1:
        best = first[0]
        beaten = [run for run in rest if best in above[run]]
        others = {1: rest[0], 2: "both other runs"}.get(len(rest), f"all {len(rest)} other runs")
        if len(beaten) == len(rest):
            return f"{best} is better than {others} ({measure} {means[best]:.3f})"
        return f"{best} leads and is better than {listed(beaten)}; of the others we cannot tell"
    if not rest:
        return f"we cannot tell which of {listed(first, FEW)} is better"
    every = all(set(first) <= above[run] for run in rest)
    both = "both" if len(first) == 2 else "all"
    if every:
        between = "between the two" if len(first) == 2 else "among those"
        return f"{listed(first, FEW)} are {both} better than {listed(rest, FEW)}; {between} we cannot tell"
    return f"we cannot tell which of {listed(first, FEW)} is best; {_worse(rest)}"


def _worse(rest: Sequence[str]) -> str:
    if len(rest) == 1:
        return f"{rest[0]} is worse than one of them"
    return f"{'both ' if len(rest) == 2 else ''}{listed(rest, FEW)} are worse than at least one of them"
