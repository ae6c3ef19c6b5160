"""How much of the error of left-out runs is left after correction? The one verdict about correction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from unjudged.correction.methods import IN_WORDS, NONE
from unjudged.correction.trust import Trust
from unjudged.measures import Measure
from unjudged.results import Step, Verdict
from unjudged.scoring import score
from unjudged.statistics.pairs import ZERO
from unjudged.studies.correct_by_estimate import ESTIMATE
from unjudged.studies.correction_trials import Tried
from unjudged.studies.engine import Case, Pooling
from unjudged.text import counted, printed


def after_correction(
    case: Case,
    pooling: Pooling,
    measure: str,
    method: str,
    tried: Tried | None,
    lifted: str,
    groups: Mapping[str, str],
    left: str,
    named: bool = False,
) -> Verdict:
    """How much of the error of left-out runs is left after correction? The one verdict about correction.

    `lifted` says what happens to runs outside the pool, `groups` and `left` who was left out; `named`: runs to be
    corrected were named.
    """
    limit = case.limits["after-correction"]
    many = len(set(groups.values()))
    if tried is None:
        if many < 2:
            return limit.unknown(f"all pooled runs are of one {left}, so no correction can be tried here{lifted}")
        step = case.step("try the correction on left-out teams first", "correct", flags=pooling.flags)
        return limit.unknown(f"{measure} was corrected without trying that on left-out {left}s first{lifted}", step)
    few = limit.too_few(teams=many, topics=len(case.topics))
    few = few if left == "team" else few.replace("team", "run")
    trust = tried.trust
    if trust.before < ZERO:
        if len(set(np.round(score(case.collection, [measure]).mean_values()[:, 0], 12).tolist())) < 2:
            return limit.unknown(f"by {measure} all runs have the same score, so there is nothing a run could lose")
        sentence = f"nothing to correct: left-out runs lose nothing here in {measure}"
        return limit.verdict(sentence, 0.0, finding=sentence, too_few=few)
    if trust.before < limit["small"]:
        finding = f"nothing to correct: left-out runs are off by {printed(trust.before, 3)} in {measure}"
        return limit.verdict(f"{finding}{lifted}", 0.0, finding=finding, too_few=few)
    at_most = trust.share_at_most(limit["sure"])
    sentence = f"{_change(trust, measure, method, limit['sure'], at_most)}{lifted}"
    if not math.isfinite(at_most):
        return limit.unknown(f"{sentence}; but {few or f'one {left} alone decides it'}")
    step = _next(case, at_most, (printed(trust.before, 3), printed(trust.after, 3)), pooling, named)
    errors = f"{printed(trust.before, 3)} to {printed(trust.after, 3)}"
    finding = f"correction takes the error of left-out runs from {errors}"
    if method == NONE:
        finding = "no correction helps left-out runs here"
    return limit.verdict(sentence, at_most, finding=finding, too_few=few, decided_by=(tried.worst,), next=step)


def _change(trust: Trust, measure: str, method: str, confidence: float, at_most: float) -> str:
    """What the correction did to the error of left-out runs, and how sure that is."""
    before, after = printed(trust.before), printed(trust.after)
    if method == NONE:
        return f"no method brings left-out runs nearer to their {measure} in the pool, so it stays as it is"
    error = f"the error of left-out runs in {measure}"
    sure = trust.give_or_take(confidence)
    spread = f", give or take {printed(sure)}" if math.isfinite(sure) else ""
    chance = " (which may be chance)" if trust.helps and after != before and 1 <= at_most < math.inf else ""
    how = "estimating unjudged documents" if method == ESTIMATE else IN_WORDS[method]
    change = f"leaves {error} at {before}" if after == before else f"takes {error} from {before} to {after}"
    return f"{how} {change}{spread}{chance}"


def _next(case: Case, share: float, errors: tuple[str, str], pooling: Pooling, named: bool) -> Step:
    before, left = errors
    if case.limits["after-correction"].word(share) == "fragile":
        said, flags = "judge the documents of a new run instead of correcting its score", ["--new", "NEW"]
        effect = f"correction would leave an error of about {left}"
        return case.step(said, "next", flags=[*flags, "--baseline", "BEST"], effect=effect)
    if named:
        return case.step("see how well the methods do at other cut-offs", "study", "correction", flags=pooling.flags)
    flags = ["--new", "RUN", *pooling.flags]
    said = "correct the score of a new run before you compare it with pooled ones"
    return case.step(said, "correct", flags=flags, effect=f"leaves an error of about {left} where it would be {before}")


def lifted(
    measure: Measure,
    runs: Sequence[str],
    adjustments: Sequence[float],
    unjudged: Sequence[float],
    what: str = "run outside the pool",
) -> str:
    """What happens to runs that were not pooled: `; 3 of 4 runs outside the pool are lifted, by up to 0.0123`.

    `unjudged`: their shares of unjudged places (k). Where all are 0, there is nothing to correct.
    """
    up = [value for value in adjustments if value > ZERO]
    many = len(adjustments)
    if not many:
        return ""
    all_of_them = counted(many, what, what.replace("run", "runs"))
    if max(unjudged) < ZERO:
        whose = runs[0] if many == 1 else f"the {all_of_them}"
        n = measure.params.get("k")
        return f"; nothing to correct in {whose}: all of the first {n} documents were judged"
    if many == 1:
        return f"; the one {what} {f'is lifted by {printed(up[0])}' if up else 'keeps its score'}"
    if not up:
        return f"; none of {all_of_them} is lifted"
    return (
        f"; {len(up)} of {all_of_them} {'is lifted, by' if len(up) == 1 else 'are lifted, by up to'} {printed(max(up))}"
    )
