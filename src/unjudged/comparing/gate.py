"""A regression gate: may the new run replace the baseline? pass, fail, or cannot tell, with the reason.

Two things can make a difference of means worthless: chance (few topics) and holes (documents nobody judged, which a
new retriever has more of). The gate looks at both and says `cannot tell` rather than guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from unjudged.collection import Collection
from unjudged.comparing.compare import compare
from unjudged.errors import UsageError, nearest, one_line
from unjudged.measures import Measure, measures
from unjudged.measures.bounds.differences import open_differences
from unjudged.options import check, default
from unjudged.results import Result, Row, Verdict
from unjudged.scoring import score

DEFAULT: tuple[str, ...] = default("measures", "ci")
COLUMNS = (
    *("measure", "verdict", "baseline", "run", "difference", "low", "high", "p_value"),
    *("unjudged_baseline", "unjudged_run", "open_low", "open_high", "why"),
)
PASS, FAIL, DOUBT = "pass", "fail", "cannot tell"
_DEPTH = 10


@dataclass(frozen=True)
class _Checked:
    """One measure's numbers and what they amount to."""

    measure: str
    baseline: float
    run: float
    difference: float
    low: float
    high: float
    p_value: float
    unjudged: tuple[float, float]
    depth: int
    open: tuple[float, float] | None

    def decided(self, margin: float, holes: float, alpha: float) -> tuple[str, str]:
        """Verdict and reason."""
        where = f"{100 * (1 - alpha):g} % interval {self.low:+.4f} to {self.high:+.4f}"
        if self.low > -margin:
            verdict, why = PASS, f"not worse by {margin:g} or more: {where}"
        elif self.high < 0 and self.difference <= -margin:
            verdict, why = FAIL, f"worse by {-self.difference:.4f}: {where}"
        else:
            return DOUBT, f"too few topics for a difference of {margin:g}: {where}"
        widest = max(self.unjudged)
        if widest <= holes:
            return verdict, why
        share = f"{100 * widest:.0f} % of a top {self.depth} was never judged (limit {100 * holes:.0f} %)"
        if self.open is None:
            return DOUBT, f"{share}, and no bounds of this measure are known"
        low, high = self.open
        if (low > -margin) if verdict == PASS else (high < 0):
            return verdict, f"{why}; {share}, but that cannot turn it"
        return DOUBT, f"{share}: the difference could be anything from {low:+.4f} to {high:+.4f}"


class Gate(Result):
    """What the gate found, measure by measure, and as a whole."""

    outcome: str
    run: str
    baseline: str

    def junit(self, doubt_fails: bool = True) -> str:
        """The findings as JUnit XML, one test case per measure."""
        at = {name: i for i, name in enumerate(self.columns)}
        cases, failures, skipped = [], 0, 0
        for row in self.rows():
            verdict, why = row[at["verdict"]], one_line(row[at["why"]])
            name = quoteattr(one_line(f"{row[at['measure']]} of {self.run} against {self.baseline}"))
            inside = ""
            if verdict == FAIL or (verdict == DOUBT and doubt_fails):
                failures += 1
                inside = f"<failure type={quoteattr(verdict)} message={quoteattr(why)}/>"
            elif verdict == DOUBT:
                skipped += 1
                inside = f"<skipped message={quoteattr(f'{verdict}: {why}')}/>"
            cases.append(f'  <testcase classname="unjudged.ci" name={name}>{inside}</testcase>')
        head = f'<testsuite name="unjudged ci" tests="{len(cases)}" failures="{failures}" skipped="{skipped}">'
        return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *cases, "</testsuite>", ""])


def gate(
    collection: Collection,
    run: str,
    baseline: str,
    wanted: Any = DEFAULT,
    *,
    margin: float = 0.01,
    holes: float = 0.2,
    test: str = "bootstrap",
    alpha: float = 0.05,
    resamples: int | None = None,
    seed: int = 0,
    rel: int | None = None,
    call: str = "",
) -> Gate:
    """May `run` replace `baseline`? For each measure pass, fail or cannot tell.

    `margin` is the smallest difference that matters. **pass**: the confidence interval of the difference (level
    1 - alpha) excludes a loss of `margin`. **fail**: it lies below 0 and the loss is at least `margin`.
    **cannot tell**: too few topics to say either, or more than the share `holes` of one of the two top lists was never
    judged and those documents could turn the verdict (`uj.compare(..., unjudged="bounds")` tells how that is known).
    The whole fails if one measure fails, and passes if all pass.
    """
    check("margin", margin)
    check("holes", holes)
    for name in (run, baseline):
        if name not in collection.runs:
            raise UsageError(f"no run {name!r}{nearest(name, collection.runs)}; there are {', '.join(collection.runs)}")
    if run == baseline:
        raise UsageError("a run cannot be its own baseline")
    chosen = measures(wanted, rel)
    compared = compare(
        collection,
        chosen,
        baseline=baseline,
        test=test,
        correction="none",
        alpha=alpha,
        resamples=resamples,
        seed=seed,
    )
    at = {name: i for i, name in enumerate(compared.columns)}
    pairs = {row[at["measure"]]: row for row in compared.rows() if row[at["run_a"]] == run}
    means = score(collection, chosen).mean_values()
    new, old = collection.runs.index(run), collection.runs.index(baseline)
    found: list[Row] = []
    for m, measure in enumerate(chosen):
        row = pairs[str(measure)]
        depth, unjudged = _holes(collection, measure, (old, new))
        checked = _Checked(
            str(measure),
            float(means[old, m]),
            float(means[new, m]),
            float(row[at["difference"]]),
            float(row[at["low"]]),
            float(row[at["high"]]),
            float(row[at["p_value"]]),
            unjudged,
            depth,
            _open(collection, measure, new, old) if max(unjudged) > holes else None,
        )
        verdict, why = checked.decided(margin, holes, alpha)
        ends = checked.open or (None, None)
        found.append(
            (
                *(
                    checked.measure,
                    verdict,
                    checked.baseline,
                    checked.run,
                    checked.difference,
                    checked.low,
                    checked.high,
                ),
                *(checked.p_value, *unjudged, *ends, why),
            )
        )
    verdicts = [str(row[1]) for row in found]
    outcome = FAIL if FAIL in verdicts else DOUBT if DOUBT in verdicts else PASS
    settings = {**compared.provenance.settings, "margin": margin, "holes": holes, "run": run, "baseline": baseline}
    provenance = replace(compared.provenance, call=call, settings=settings)
    result = Gate(COLUMNS, lambda: iter(found), provenance, _layout(found), verdict=_sentence(outcome, found, run))
    result.outcome, result.run, result.baseline = outcome, run, baseline
    return result


def _holes(collection: Collection, measure: Measure, runs: tuple[int, int]) -> tuple[int, tuple[float, float]]:
    """Depth looked at (the cut-off, else 10) and the share of it that was never judged, baseline and run."""
    cut = measure.params.get("k")
    depth = int(cut) if cut else _DEPTH
    shares = score(collection, [f"unj@{depth}"]).mean_values()[:, 0]
    return depth, (float(shares[runs[0]]), float(shares[runs[1]]))


def _open(collection: Collection, measure: Measure, new: int, old: int) -> tuple[float, float] | None:
    """The differences the unjudged documents allow; None where no algorithm gives them."""
    counted = np.ones(len(collection.topics), bool)
    try:
        (found,) = open_differences(collection, [measure], np.array([new]), np.array([old]), counted)
    except UsageError:
        return None
    return float(found.low[0]), float(found.high[0])


def _layout(found: Sequence[Row]) -> Any:
    columns = ("measure", "verdict", "baseline", "run", "difference", "unjudged", "why")
    return lambda: (columns, [(r[0], r[1], r[2], r[3], r[4], f"{100 * r[9]:.0f} %", r[12]) for r in found])


def _sentence(outcome: str, found: Sequence[Row], run: str) -> Verdict:
    named = ", ".join(str(row[0]) for row in found if row[1] == outcome)
    if outcome == PASS:
        return Verdict("solid", f"{run} passes on {named}")
    if outcome == FAIL:
        return Verdict("fragile", f"{run} fails on {named}")
    return Verdict("unknown", f"cannot tell whether {run} is worse on {named}")
