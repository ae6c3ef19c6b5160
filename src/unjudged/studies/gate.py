"""A gate for continuous integration (verb `ci`): may a new run replace the baseline? pass, fail, or cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from unjudged.errors import UsageError, nearest, one_line, some
from unjudged.results import Result, Row, Verdict
from unjudged.studies.compare import check_margin
from unjudged.studies.engine import Answer, Case, Runs, Table, UsualScoring, register
from unjudged.studies.engine.compared import Compared, compare_pairs, scored
from unjudged.studies.engine.groups import PairTesting
from unjudged.studies.engine.outcome import HOLES, WORSE, Outcome, Rule, rule_of
from unjudged.text import percent

COLUMNS = (
    *("measure", "verdict", "baseline", "run", "difference", "low", "high", "p_value"),
    *("unjudged_baseline", "unjudged_run", "open_low", "open_high", "why"),
)
PASS, FAIL, DOUBT = "pass", "fail", "cannot tell"
WORDS = {PASS: "solid", FAIL: "fragile", DOUBT: "unknown"}


@dataclass(frozen=True)
class GateScoring(UsualScoring):
    """The same as for scoring, with measures of the top of the list."""

    measures: Any = ("nDCG@10", "P@10", "RR")


@register("gate", help="may a run replace the baseline? pass, fail or cannot tell", columns=COLUMNS)
def gate(
    case: Case,
    scoring: GateScoring,
    testing: PairTesting,
    *,
    run: str = "",
    baseline: str = "",
    margin: float = 0.01,
    holes: float | None = None,
    seed: int = 0,
) -> Answer:
    """May a run replace the baseline?

    --margin is the smallest difference that matters. pass: the confidence interval of the difference excludes a loss
    of the margin. fail: the outcome is worse, and the loss is at least the margin. cannot tell: too few topics to say
    either; or more than the share --holes of one of the two top lists was never judged, and those documents could turn
    the answer. The whole fails if one measure fails, and passes if all pass.
    """
    check_margin(margin)
    test = testing.of(seed)
    rule = rule_of(case.limits, test.alpha, margin, holes)
    if not 0 <= rule.holes <= 1:
        raise UsageError(f"the share of unjudged documents allowed lies between 0 and 1, not {rule.holes}")
    for name in (run, baseline):
        if name not in case.runs:
            raise UsageError(f"no run {name!r}{nearest(name, case.runs)}; there are {some(case.runs)}")
    if run == baseline:
        raise UsageError("a run cannot be its own baseline")
    scores = scored(case, scoring, Runs(seed=seed))
    pair = tuple(np.array([scores.matrices.runs.index(name)]) for name in (run, baseline))
    correction = testing.adjustment(seed)
    found = compare_pairs(case, scores, (pair[0], pair[1]), test, correction, rule, bounds="holed")
    checked = [_checked(found, m) for m in range(len(found.statistics))]
    rows = [one.row(rule) for one in checked]
    return Answer(
        COLUMNS,
        rows,
        _verdict(run, rows, rule),
        lambda: _table(rows),
        settings={**scores.settings, **found.settings, "margin": margin, "holes": rule.holes}
        | {"run": run, "baseline": baseline},
        seed=seed,
    )


@dataclass(frozen=True)
class Checked:
    """One measure: its numbers, the outcome of the run against the baseline, and what they amount to."""

    measure: str
    baseline: float
    run: float
    difference: float
    low: float
    high: float
    p_value: float
    unjudged: tuple[float, float]
    top: int
    open: tuple[float, float] | None
    outcome: Outcome

    def decided(self, rule: Rule) -> tuple[str, str]:
        """pass, fail or cannot tell, and the reason."""
        where = f"{100 * (1 - rule.alpha):g} % interval {self.low:+.4f} to {self.high:+.4f}"
        holed = max(self.unjudged) > rule.holes
        share = f"{percent(max(self.unjudged))} of a top {self.top} was never judged (limit {percent(rule.holes)})"
        kept = f"; {share}, but that cannot turn it" if holed else ""
        if self.outcome.word == WORSE and self.difference <= -rule.margin:
            return FAIL, f"worse by {-self.difference:.4f}: {where}{kept}"
        if self.low > -rule.margin and (not holed or (self.open is not None and self.open[0] > -rule.margin)):
            return PASS, f"not worse by {rule.margin:g} or more: {where}{kept}"
        if self.low > -rule.margin or self.outcome.why == HOLES:
            if self.open is None:
                return DOUBT, f"{share}, and no bounds of this measure are known"
            return DOUBT, f"{share}: the difference could be anything from {self.open[0]:+.4f} to {self.open[1]:+.4f}"
        return DOUBT, f"too few topics for a difference of {rule.margin:g}: {where}"

    def row(self, rule: Rule) -> Row:
        """The row of the table."""
        verdict, why = self.decided(rule)
        numbers = (self.baseline, self.run, self.difference, self.low, self.high, self.p_value)
        return (self.measure, verdict, *numbers, *self.unjudged, *(self.open or (None, None)), why)


def _checked(found: Compared, m: int) -> Checked:
    s, means, ends, shares = found.statistics[m], found.scores.means()[m], found.bounds[m], found.shares(m)
    assert shares is not None
    new, old = (int(side[0]) for side in found.pairs)
    known = ends is not None and not np.isnan(ends.low[0])
    return Checked(
        found.scores.names[m],
        float(means[old]),
        float(means[new]),
        float(s.difference[0]),
        float(s.low[0]),
        float(s.high[0]),
        float(s.p_value[0]),
        (float(shares[1][0]), float(shares[0][0])),
        found.rule.top_of(found.scores.measures[m]),
        (float(ends.low[0]), float(ends.high[0])) if known and ends is not None else None,
        found.outcomes[m][0],
    )


def _table(rows: list[Row]) -> Table:
    columns = ("measure", "verdict", "baseline", "run", "difference", "unjudged", "why")
    return columns, [(r[0], r[1], r[2], r[3], r[4], percent(r[9]), r[12]) for r in rows]


def _verdict(run: str, rows: list[Row], rule: Rule) -> Verdict:
    whole = _whole([row[1] for row in rows])
    named = ", ".join(str(row[0]) for row in rows if row[1] == whole)
    sentence = {
        PASS: f"{run} passes on {named}",
        FAIL: f"{run} fails on {named}",
        DOUBT: f"cannot tell whether {run} is worse on {named}",
    }[whole]
    return Verdict(WORDS[whole], sentence, limit=f"margin {rule.margin:g}, unjudged up to {percent(rule.holes)}")


def _whole(verdicts: list[str]) -> str:
    return next(word for word in (FAIL, DOUBT, PASS) if word in verdicts)


def answer(result: Result) -> str:
    """pass, fail or cannot tell: what the gate says as a whole."""
    assert result.verdict is not None
    return next(said for said, word in WORDS.items() if word == result.verdict.word)


def junit(result: Result, doubt_fails: bool = True) -> str:
    """What the gate found as JUnit XML, one test case per measure."""
    at = {name: i for i, name in enumerate(result.columns)}
    settings = result.provenance.settings
    cases, failures, skipped = [], 0, 0
    for row in result.rows():
        verdict, why = row[at["verdict"]], one_line(row[at["why"]])
        name = quoteattr(one_line(f"{row[at['measure']]} of {settings['run']} against {settings['baseline']}"))
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
