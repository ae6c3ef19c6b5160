"""A gate for continuous integration (verb `ci`): may a new run replace the baseline? pass, fail, or cannot tell.

A test of non-inferiority: a pass is a claim of its own (no loss of the margin or more), not the absence of a
significant loss, which a few topics never show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from xml.sax.saxutils import quoteattr

import numpy as np

from unjudged.errors import UsageError, nearest, one_line, one_of, some
from unjudged.results import Result, Row, Verdict
from unjudged.statistics.multiple import CORRECTIONS
from unjudged.statistics.non_inferiority import POWER, NonInferiority, non_inferiority
from unjudged.studies.compare import check_margin
from unjudged.studies.engine import Answer, Case, Runs, Table, UsualScoring, register
from unjudged.studies.engine.compared import Compared, compare_pairs, scored
from unjudged.studies.engine.groups import Group
from unjudged.studies.engine.outcome import Rule, rule_of
from unjudged.studies.engine.significance import Test
from unjudged.text import counted, percent

COLUMNS = (
    *("measure", "verdict", "baseline", "run", "difference", "low", "high", "p_not_worse", "p_worse", "detectable"),
    *("unjudged_baseline", "unjudged_run", "open_low", "open_high", "why"),
)
PASS, FAIL, DOUBT = "pass", "fail", "cannot tell"
WORDS = {PASS: "solid", FAIL: "fragile", DOUBT: "unknown"}


@dataclass(frozen=True)
class GateScoring(UsualScoring):
    """The same as for scoring, with measures of the top of the list."""

    measures: Any = ("nDCG@10", "P@10", "RR")


@dataclass(frozen=True)
class GateTesting(Group):
    """The level of the two one-sided t tests, and how a fail is corrected for the number of measures."""

    title: ClassVar[str] = "significance"

    alpha: float = 0.05
    correction: str | None = None

    def __post_init__(self) -> None:
        self.test()
        one_of(self.adjustment, CORRECTIONS, "correction")

    @property
    def adjustment(self) -> str:
        """The correction asked for, else Holm's."""
        return "holm" if self.correction is None else self.correction

    def test(self) -> Test:
        """What `compare` would use; of it the gate takes scores, holes and bounds."""
        return Test("t", self.alpha)


@register("gate", help="may a run replace the baseline? pass, fail or cannot tell", columns=COLUMNS)
def gate(
    case: Case,
    scoring: GateScoring,
    testing: GateTesting,
    *,
    run: str = "",
    baseline: str = "",
    margin: float = 0.01,
    holes: float | None = None,
) -> Answer:
    """May a run replace the baseline?

    --margin is the smallest loss that matters. pass: the topics rule out a loss of the margin or more (one-sided paired
    t test at --alpha, a test of non-inferiority). fail: they rule out a loss smaller than the margin; over several
    measures that p value is adjusted (Holm), since one failing measure is enough. A pass needs all measures, and no
    adjustment. cannot tell: the topics can say neither, or too few are there, or show a difference, for any test (runs
    that tie on every topic in every measure pass); or more than the share --holes of one of the two top lists was never
    judged, and those documents could turn the answer. `detectable` is the smallest margin that such topics would let an
    equal run pass with (80 % of the time): choose no smaller one.
    """
    check_margin(margin)
    test = testing.test()
    rule = rule_of(case.limits, test.alpha, margin, holes)
    if not 0 <= rule.holes <= 1:
        raise UsageError(f"the share of unjudged documents allowed lies between 0 and 1, not {rule.holes}")
    for name in (run, baseline):
        if name not in case.runs:
            raise UsageError(f"no run {name!r}{nearest(name, case.runs)}; there are {some(case.runs)}")
    if run == baseline:
        raise UsageError("a run cannot be its own baseline")
    scores = scored(case, scoring, Runs())
    pair = tuple(np.array([scores.matrices.runs.index(name)]) for name in (run, baseline))
    found = compare_pairs(case, scores, (pair[0], pair[1]), test, "none", rule, bounds="holed")
    tests = [_tested(found, m) for m in range(len(found.statistics))]
    worse = CORRECTIONS[testing.adjustment]([tested.p_worse for tested in tests]).tolist()
    limit = case.limits["safe-comparisons"]
    fewest = int(limit["gate_topics"]), int(limit["gate_differing"])
    checked = [_checked(found, m, tested, worse[m], fewest) for m, tested in enumerate(tests)]
    rows = [one.row(rule) for one in checked]
    return Answer(
        COLUMNS,
        rows,
        _verdict(run, checked, rule),
        lambda: _table(rows),
        settings={**scores.settings, "test": "one-sided paired t", "alpha": test.alpha}
        | {"correction": testing.adjustment, "margin": margin, "holes": rule.holes, "run": run, "baseline": baseline},
    )


@dataclass(frozen=True)
class Checked:
    """One measure: its numbers, what the topics and the holes say, and what they amount to."""

    measure: str
    baseline: float
    run: float
    tested: NonInferiority
    p_worse: float
    same: bool
    differing: int
    topics: int
    fewest: tuple[int, int]
    unjudged: tuple[float, float]
    top: int
    open: tuple[float, float] | None

    def decided(self, rule: Rule) -> tuple[str, str]:
        """pass, fail or cannot tell, and the reason."""
        low, high, sure = self.tested.low, self.tested.high, f"{100 * (1 - rule.alpha):g} % sure"
        if self.topics < self.fewest[0]:
            return DOUBT, f"only {counted(self.topics, 'topic')} (at least {self.fewest[0]} are needed)"
        if not self.same and self.differing < self.fewest[1]:
            return (
                DOUBT,
                f"the runs differ on {counted(self.differing, 'topic')} (at least {self.fewest[1]} are needed)",
            )
        said, why = DOUBT, ""
        if self.same or self.tested.p_not_worse < rule.alpha:
            said, why = PASS, f"not worse by {rule.margin:g} or more: difference at least {low:+.4f} ({sure})"
        elif self.p_worse < rule.alpha:
            said, why = FAIL, f"worse by more than {rule.margin:g}: difference at most {high:+.4f} ({sure})"
        else:
            able = f"{counted(self.topics, 'topic')} like these can show a margin of {self.tested.detectable:.4f}"
            return DOUBT, f"too few topics for a margin of {rule.margin:g}: {low:+.4f} to {high:+.4f}; {able}"
        if max(self.unjudged) <= rule.holes:
            return said, why
        share = f"{percent(max(self.unjudged))} of a top {self.top} was never judged (limit {percent(rule.holes)})"
        if self.open is None:
            return DOUBT, f"{share}, and no bounds of this measure are known"
        if self.open[0] > -rule.margin if said == PASS else self.open[1] < -rule.margin:
            return said, f"{why}; {share}, but that cannot turn it"
        return DOUBT, f"{share}: the difference could be anything from {self.open[0]:+.4f} to {self.open[1]:+.4f}"

    def row(self, rule: Rule) -> Row:
        """The row of the table."""
        verdict, why = self.decided(rule)
        t = self.tested
        numbers = (self.baseline, self.run, t.difference, t.low, t.high, t.p_not_worse, self.p_worse, t.detectable)
        return (self.measure, verdict, *numbers, *self.unjudged, *(self.open or (None, None)), why)


def _tested(found: Compared, m: int) -> NonInferiority:
    new, old = (int(side[0]) for side in found.pairs)
    values = found.scores.values[m]
    return non_inferiority(values[:, new] - values[:, old], found.rule.margin, found.rule.alpha)


def _checked(found: Compared, m: int, tested: NonInferiority, p_worse: float, fewest: tuple[int, int]) -> Checked:
    s, means, ends, shares = found.statistics[m], found.scores.means()[m], found.bounds[m], found.shares(m)
    assert shares is not None
    new, old = (int(side[0]) for side in found.pairs)
    known = ends is not None and not np.isnan(ends.low[0])
    return Checked(
        found.scores.names[m],
        float(means[old]),
        float(means[new]),
        tested,
        p_worse,
        all(int(one.wins[0] + one.losses[0]) == 0 for one in found.statistics),
        int(s.wins[0] + s.losses[0]),
        len(found.scores.topics),
        fewest,
        (float(shares[1][0]), float(shares[0][0])),
        found.rule.top_of(found.scores.measures[m]),
        (float(ends.low[0]), float(ends.high[0])) if known and ends is not None else None,
    )


def _table(rows: list[Row]) -> Table:
    columns = ("measure", "verdict", "baseline", "run", "difference", "detectable", "unjudged", "why")
    found = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    return columns, [(*(row[name] for name in columns[:6]), percent(row["unjudged_run"]), row["why"]) for row in found]


def _verdict(run: str, checked: list[Checked], rule: Rule) -> Verdict:
    said = [one.decided(rule)[0] for one in checked]
    whole = _whole(said)
    named = ", ".join(one.measure for one, word in zip(checked, said, strict=True) if word == whole)
    sentence = {
        PASS: f"{run} passes on {named}",
        FAIL: f"{run} fails on {named}",
        DOUBT: f"cannot tell whether {run} is worse on {named}",
    }[whole]
    topics, most = checked[0].topics, max(one.tested.detectable for one in checked)
    if topics >= checked[0].fewest[0]:
        able = f"can show a margin of {most:.2g} {'in every measure ' if len(checked) > 1 else ''}"
        sentence += f"; {counted(topics, 'topic')} like these {able}({percent(POWER)} power)"
    else:
        sentence += f": {checked[0].decided(rule)[1]}"
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
