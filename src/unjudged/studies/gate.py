"""A gate for continuous integration (verb `ci`): may a new run replace the baseline? pass, fail, or cannot tell.

A test of non-inferiority: a pass is a claim of its own (no loss of the margin or more), not the absence of a
significant loss, which a few topics never show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from xml.sax.saxutils import quoteattr

import numpy as np

from unjudged.collection import Collection, Floats
from unjudged.errors import UsageError, nearest, one_line, one_of, some
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.holes.judging import next_to_judge
from unjudged.holes.reading import leading_for
from unjudged.measures import measures
from unjudged.results import Result, Row, Shown, Step, Verdict
from unjudged.scoring import score
from unjudged.statistics.multiple import CORRECTIONS
from unjudged.statistics.non_inferiority import POWER, NonInferiority, non_inferiority, rare_differences
from unjudged.statistics.pairs import ZERO
from unjudged.studies.compare import check_margin
from unjudged.studies.engine import Answer, Case, Runs, Table, register
from unjudged.studies.engine.compared import Compared, Scored, compare_pairs, scored
from unjudged.studies.engine.groups import Group, PairScoring
from unjudged.studies.engine.outcome import BETTER, CANNOT_TELL, SAME, WORSE, Rule, rule_of
from unjudged.studies.engine.significance import Test
from unjudged.text import counted, listed, percent, signed

COLUMNS = (
    *("measure", "verdict", "baseline", "run", "difference", "low", "high", "p_not_worse", "p_worse", "detectable"),
    *("unjudged_baseline", "unjudged_run", "estimate", "open_low", "open_high", "why"),
)
FIRST = 5
"""Documents to judge that are named where holes leave it open."""
MOST_LOST = 3
"""Topics shown that lost most."""
PASS, FAIL, DOUBT = "pass", "fail", "cannot tell"
WORDS = {PASS: "solid", FAIL: "fragile", DOUBT: "unknown"}


@dataclass(frozen=True)
class GateScoring(PairScoring):
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


@register(
    "gate", help="may a run replace the baseline? pass, fail or cannot tell", columns=COLUMNS, figures={"": ("gate",)}
)
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
    adjustment. cannot tell: the topics can say neither, or too few are there. `detectable` is the smallest margin that
    such topics would let an equal run pass with (80 % of the time): choose no smaller one.

    Unjudged documents (holes) are estimated, as in compare, and their uncertainty counts beside that of the topics:
    `estimate` is the difference with all of them judged, to which low, high and the p values belong. Where holes are
    what leaves it open, the first documents to judge are named. open_low and open_high are what any judgments of them
    allow. With --holes, an answer must hold for all of those where more than this share of a top list was never judged.

    Runs that differ on fewer than five topics allow no t test. They pass where both return the same top lists, or where
    so many topics show so few losses that the margin is ruled out by counting (no loss on 300 topics rules out 0.01).
    Equal scores of different lists on a few topics say little.

    compare asks another question (is there any difference, either way?), so that a run may fail here, by one-sided
    tests against a margin, where compare cannot tell, and pass here where compare finds a small loss.
    """
    check_margin(margin)
    test = testing.test()
    rule = rule_of(case.limits, test.alpha, "none", margin)
    if holes is not None and not 0 <= holes <= 1:
        raise UsageError(f"the share of unjudged documents allowed lies between 0 and 1, not {holes}")
    for name in (run, baseline):
        if name not in case.runs:
            raise UsageError(f"no run {name!r}{nearest(name, case.runs)}; there are {some(case.runs)}")
    if run == baseline:
        raise UsageError("a run cannot be its own baseline")
    scores = scored(case, scoring.single_values(), Runs())
    if margin >= 1 and isinstance(case.source, Collection) and all(m.bounded for m in scores.matrices.measures):
        raise UsageError(f"a margin of {margin:g} is all that scores of 0 to 1 can lose; 1 % of the scale is 0.01")
    pair = tuple(np.array([scores.matrices.runs.index(name)]) for name in (run, baseline))
    found = compare_pairs(case, scores, (pair[0], pair[1]), test, rule, scoring.holes, bound_all=True)
    limit = case.limits["safe-comparisons"]
    fewest = int(limit["gate_topics"]), int(limit["gate_differing"])
    alike = [_same_lists(scores, (run, baseline), rule.top_of(measure)) for measure in scores.matrices.measures]
    tests = [_tested(found, m, fewest[1]) for m in range(len(found.statistics))]
    worse = CORRECTIONS[testing.adjustment]([tested.p_worse for tested in tests]).tolist()
    checked = [_checked(found, m, tested, worse[m], alike[m], fewest, holes) for m, tested in enumerate(tests)]
    rows = [one.row(rule) for one in checked]
    _note_compare(case, run, checked, found, rule)
    hanging = next((one.measure for one in checked if one.on_holes(rule)), None)
    return Answer(
        COLUMNS,
        rows,
        _verdict(run, checked, rule, None if hanging is None else _to_judge(case, hanging, run, baseline)),
        lambda: _table(rows),
        figures={"gate": lambda result: gate_bars(result, run, baseline, margin)},
        settings={**scores.settings, "test": "one-sided paired t", "alpha": test.alpha}
        | {"correction": testing.adjustment, "margin": margin, "holes": holes, "run": run, "baseline": baseline}
        | {"unjudged": scoring.unjudged},
    )


@dataclass(frozen=True)
class Checked:
    """One measure: its numbers, what the topics and the holes say, and what they amount to.

    `same`: equal scores on every topic, from the same top lists. `difference` is that of the scores, `tested` is about
    the estimate; `by_topics` is the same test without the uncertainty of holes, and `from_holes` their share of it.
    `strict`: the answer must hold whatever the unjudged documents are (`open`), as holes could not be estimated, or are
    more than `limit` allows.
    """

    measure: str
    baseline: float
    run: float
    difference: float
    tested: NonInferiority
    by_topics: NonInferiority
    from_holes: float
    p_worse: float
    same: bool
    differing: int
    topics: int
    fewest: tuple[int, int]
    unjudged: tuple[float, float]
    top: int
    open: tuple[float, float] | None
    limit: float | None
    strict: bool

    def on_holes(self, rule: Rule) -> bool:
        """Do holes leave it open?"""
        if self.decided(rule)[0] != DOUBT or self.topics < self.fewest[0]:
            return False
        return self.judging_helps(rule)

    def judging_helps(self, rule: Rule) -> bool:
        """Would the topics alone decide, or are holes the larger uncertainty?"""
        alone = min(self.by_topics.p_not_worse, self.by_topics.p_worse) < rule.alpha
        larger = self.from_holes > 1 - self.from_holes
        return (self.strict and alone) or (self.from_holes > 0 and (alone or larger))

    def decided(self, rule: Rule) -> tuple[str, str]:
        """pass, fail or cannot tell, and the reason."""
        low, high, sure = self.tested.low, self.tested.high, f"{100 * (1 - rule.alpha):g} % sure"
        if self.topics < self.fewest[0]:
            return DOUBT, f"only {counted(self.topics, 'topic')} (at least {self.fewest[0]} are needed)"
        said, why = DOUBT, ""
        if self.same:
            said, why = PASS, f"the same top {self.top} on every topic"
        elif self.tested.p_not_worse < rule.alpha:
            said, why = PASS, f"not worse by {rule.margin:g} or more: difference at least {low:+.4f} ({sure})"
        elif self.p_worse < rule.alpha:
            said, why = FAIL, f"worse by more than {rule.margin:g}: difference at most {high:+.4f} ({sure})"
        elif self.differing < self.fewest[1]:
            same = f"score the same on every topic, but their top {self.top} is not the same"
            where = f"differ on {counted(self.differing, 'topic')}" if self.differing else same
            return DOUBT, f"the runs {where} (at least {self.fewest[1]} topics with a difference are needed)"
        elif self.from_holes > 0 and self.judging_helps(rule):
            unsure = f"{percent(self.from_holes)} of the uncertainty comes from unjudged documents"
            return DOUBT, f"{unsure}, {percent(max(self.unjudged))} of a top {self.top}: {low:+.4f} to {high:+.4f}"
        else:
            able = f"{counted(self.topics, 'topic')} like these can show a margin of {self.tested.detectable:.4f}"
            return DOUBT, f"too few topics for a margin of {rule.margin:g}: {low:+.4f} to {high:+.4f}; {able}"
        if self.from_holes > 0:
            why += f"; unjudged documents estimated, {percent(max(self.unjudged))} of a top {self.top}"
        if not self.strict:
            return said, why
        allowed = "and cannot be estimated" if self.limit is None else f"(limit {percent(self.limit)})"
        share = f"{percent(max(self.unjudged))} of a top {self.top} was never judged {allowed}"
        if self.open is None:
            return DOUBT, f"{share}, and no bounds of this measure are known"
        if self.open[0] > -rule.margin if said == PASS else self.open[1] < -rule.margin:
            return said, f"{why}; {share}, but that cannot turn it"
        return DOUBT, f"{share}: the difference could be anything from {self.open[0]:+.4f} to {self.open[1]:+.4f}"

    def row(self, rule: Rule) -> Row:
        """The row of the table."""
        verdict, why = self.decided(rule)
        t = self.tested
        numbers = (self.baseline, self.run, self.difference, t.low, t.high, t.p_not_worse, self.p_worse, t.detectable)
        return (self.measure, verdict, *numbers, *self.unjudged, t.difference, *(self.open or (None, None)), why)


AGREE = {PASS: (BETTER, SAME), FAIL: (WORSE,), DOUBT: (CANNOT_TELL,)}
"""What compare says of the pair where nobody would wonder."""


def _note_compare(case: Case, run: str, checked: list[Checked], found: Compared, rule: Rule) -> None:
    """Where compare has another word for this pair, a sentence on why both hold."""
    for one, (outcome,) in zip(checked, found.outcomes, strict=True):
        said = one.decided(rule)[0]
        if outcome.word not in AGREE[said]:
            told = "cannot tell" if outcome.word == CANNOT_TELL else f"calls {run} {outcome.word}"
            case.note(
                f"{one.measure}: compare {told}, which does not contradict '{said}': it asks whether the runs differ "
                f"at all (two-sided), ci whether a loss of {rule.margin:g} is ruled out or sure (one-sided)"
            )
            return


def _same_lists(scores: Scored, pair: tuple[str, str], top: int) -> bool:
    """Do both runs return the same documents in the same order, down to this rank, on every topic that counts?"""
    assert scores.setup is not None
    collection, topics = scores.setup.collection, np.flatnonzero(scores.setup.counted)
    lists, many = collection.rankings, len(collection.topics)
    new, old = (
        [lists.doc[a : min(a + top, b)] for a, b in zip(lists.offsets[cells], lists.offsets[cells + 1], strict=True)]
        for cells in (collection.runs.index(name) * many + topics for name in pair)
    )
    return all(np.array_equal(a, b) for a, b in zip(new, old, strict=True))


def not_worse(
    differences: Floats, rule: Rule, fewest: int, bounded: bool = True, besides: float = 0.0
) -> NonInferiority:
    """The t tests; where fewer topics than `fewest` differ, what can be said by counting them.

    `bounded`: scores lie between 0 and 1. Else a topic can be lost by any amount, and counting says nothing. `besides`:
    the variance that comes from holes; where there is any, counting says nothing either.
    """
    tested = non_inferiority(differences, rule.margin, rule.alpha, besides)
    gains, losses = int((differences > ZERO).sum()), int((differences < -ZERO).sum())
    if gains + losses >= fewest or len(differences) < 2:
        return tested
    if not bounded or besides > 0:
        return replace(tested, p_not_worse=1.0, p_worse=1.0)
    rare = rare_differences(gains, losses, len(differences), rule.margin, rule.alpha)
    return replace(rare, difference=tested.difference)


def _tested(found: Compared, m: int, fewest: int, holes: bool = True) -> NonInferiority:
    """The test of one measure; without `holes` their uncertainty is left out."""
    measure, s = found.scores.measures[m], found.statistics[m]
    return not_worse(_apart(found, m), found.rule, fewest, measure.bounded, float(s.v_hole[0]) if holes else 0.0)


def _apart(found: Compared, m: int) -> Floats:
    """Per topic the difference, with holes estimated where there are any."""
    new, old = (int(side[0]) for side in found.pairs)
    values = found.expected[m] if found.statistics[m].holed[0] else found.scores.values[m]
    return np.asarray(values[:, new] - values[:, old])


def _checked(
    found: Compared,
    m: int,
    tested: NonInferiority,
    p_worse: float,
    alike: bool,
    fewest: tuple[int, int],
    limit: float | None,
) -> Checked:
    s, means, ends, shares = found.statistics[m], found.scores.means()[m], found.bounds[m], found.shares(m)
    assert shares is not None
    new, old = (int(side[0]) for side in found.pairs)
    known = ends is not None and not np.isnan(ends.low[0])
    unjudged = float(shares[1][0]), float(shares[0][0])
    return Checked(
        found.scores.names[m],
        float(means[old]),
        float(means[new]),
        float(s.difference[0]),
        tested,
        _tested(found, m, fewest[1], holes=False),
        float(s.from_holes[0]),
        p_worse,
        alike and not int(s.wins[0] + s.losses[0]),
        int((np.abs(_apart(found, m)) > ZERO).sum()),
        len(found.scores.topics),
        fewest,
        unjudged,
        found.rule.top_of(found.scores.measures[m]),
        (float(ends.low[0]), float(ends.high[0])) if known and ends is not None else None,
        limit,
        bool(found.open[m][0]) or (limit is not None and max(unjudged) > limit),
    )


def _to_judge(case: Case, measure: str, run: str, baseline: str) -> Step:
    """The documents to judge first, by this measure or, where it gives documents no weight, by nDCG."""
    by = leading_for(measures(measure)[0])
    step = case.step("", "next", flags=["-m", by, "--new", run, "--baseline", baseline])
    try:
        found = next_to_judge(case.collection, by, new=run, baseline=baseline, budget=FIRST)
    except UsageError:  # lists in many orders at once, for one
        return replace(step, sentence="judge the unjudged documents at the top of both runs")
    named = listed([f"{row[2]} (topic {row[1]})" for row in found.rows()], FIRST)
    return replace(step, sentence=f"judge {named} first" if named else "judge what is unjudged at the top of both runs")


def _table(rows: list[Row]) -> Table:
    """For reading: the estimated difference where documents are estimated, and how much of either run is unjudged."""
    found = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    estimated = any(row["unjudged_run"] or row["unjudged_baseline"] for row in found)
    numbers = ("baseline", "run", "difference", *(("estimate",) if estimated else ()), "detectable")
    columns = ("measure", "verdict", *numbers, "unjudged", "why")
    table: list[Row] = []
    for row in found:
        moved = {
            **row,
            "estimate": Shown(signed(row["estimate"], 4)),
            "difference": Shown(signed(row["difference"], 4)),
        }
        unjudged = f"{percent(row['unjudged_run'])} / {percent(row['unjudged_baseline'])}"
        table.append((*(moved[name] for name in columns[:-2]), unjudged, row["why"]))
    return columns, table


def _verdict(run: str, checked: list[Checked], rule: Rule, step: Step | None) -> Verdict:
    said = [one.decided(rule)[0] for one in checked]
    whole = _whole(said)
    named = ", ".join(one.measure for one, word in zip(checked, said, strict=True) if word == whole)
    sentence = {
        PASS: f"{run} passes on {named}",
        FAIL: f"{run} fails on {named}",
        DOUBT: f"{run} may be better or worse on {named}",
    }[whole]
    topics, most = checked[0].topics, max(one.tested.detectable for one in checked)
    if topics >= checked[0].fewest[0]:
        able = f"can show a margin of {most:.2g} {'in every measure ' if len(checked) > 1 else ''}"
        sentence += f"; {counted(topics, 'topic')} like these {able}({percent(POWER)} power)"
    else:
        sentence += f": {checked[0].decided(rule)[1]}"
    strict = "" if checked[0].limit is None else f", unjudged up to {percent(checked[0].limit)}"
    return Verdict(
        WORDS[whole], sentence, limit=f"margin {rule.margin:g}{strict}", next=step if whole == DOUBT else None
    )


def _whole(verdicts: list[str]) -> str:
    return next(word for word in (FAIL, DOUBT, PASS) if word in verdicts)


LOST = ("topic", "text", "baseline", "run", "difference", "unjudged")


def lost_most(
    collection: Collection, gated: Result, texts: Mapping[str, str] | None = None, many: int = MOST_LOST
) -> Result:
    """The topics on which the run lost most by the gate's first measure, worst first, with their texts where given.

    `unjudged` is the share of the run's top list that nobody judged: a loss there may be a hole.
    """
    settings, texts = gated.provenance.settings, texts or {}
    measure = measures(next(iter(gated.rows()))[0])[0]
    judged = measures(f"Judged@{measure.params.get('k') or 10}")[0]
    scores = score(collection, [measure, judged], rel=settings.get("rel"))
    new, old = (scores.runs.index(settings[name]) for name in ("run", "baseline"))
    values = scores.matrix(measure)
    apart = values[:, new] - values[:, old]
    worst = [t for t in np.argsort(apart, kind="stable")[:many].tolist() if apart[t] < -ZERO]

    def rows() -> list[Row]:
        holes, found = 1 - scores.matrix(judged)[:, new], list[Row]()
        for t in worst:
            topic, numbers = scores.topics[t], (float(values[t, old]), float(values[t, new]), float(apart[t]))
            found.append((topic, " ".join(texts.get(topic, "").split()), *numbers, float(holes[t])))
        return found

    def layout() -> Table:
        shown = [(topic, text or "-", *numbers, percent(share)) for topic, text, *numbers, share in rows()]
        columns = LOST if texts else tuple(name for name in LOST if name != "text")
        return columns, [row if texts else (row[0], *row[2:]) for row in shown]

    return Result(LOST, rows, gated.provenance, layout, caption=f"Topics that lost most by {measure}.")


def with_slices(whole: Result, inside: Result, topics: int) -> Result:
    """The gate over all topics (rows without a slice), then within slices: one that fails makes the whole fail.

    A slice that cannot tell changes nothing: slices are smaller, and few of them can rule out a small loss.
    """
    assert whole.verdict is not None
    at = {name: i for i, name in enumerate(inside.columns)}
    within = list(inside.rows())
    rows = [(None, topics, *row) for row in whole.rows()] + within
    failed = dict.fromkeys(row[at["slice"]] for row in within if row[at["verdict"]] == FAIL)
    run, verdict = whole.provenance.settings["run"], whole.verdict
    if failed:
        sentence = f"{run} fails in {listed(list(failed))}; over all topics: {verdict.sentence}"
        verdict = Verdict(WORDS[FAIL], sentence, limit=verdict.limit, decided_by=tuple(failed))
    else:
        verdict = replace(verdict, sentence=f"{verdict.sentence}; no slice fails")

    def layout() -> Table:
        said = [row for row in rows if row[at["verdict"]] is not None]
        columns, table = _table([row[2:] for row in said])
        marked = iter(table)
        shown: list[Row] = []
        for row in rows:
            label = "all topics" if row[0] is None else row[0]
            cells = ("",) * (len(columns) - 1) + (row[at["why"]],) if row not in said else next(marked)
            shown.append((label, row[1], *cells))
        return ("slice", "topics", *columns), shown

    settings = {**whole.provenance.settings, "slices": inside.provenance.settings["slices"]}
    return Result(
        inside.columns,
        lambda: rows,
        replace(whole.provenance, settings=settings, inputs=inside.provenance.inputs),
        layout,
        {},
        verdict,
        tuple(dict.fromkeys((*whole.notes, *inside.notes))),
        whole.caption,
    )


def gate_bars(result: Result, run: str, baseline: str, margin: float) -> Figure:
    """One row per measure: the likely differences, the difference at hand, and the margin a loss must not reach."""
    rows = [
        {**row, "middle": row["difference"] if row["estimate"] is None else row["estimate"]} for row in records(result)
    ]
    numbers = ((column, "+.4f") for column in ("difference", "estimate", "low", "high"))
    tips = marks.tips("measure", "verdict", *numbers, "why")
    common = {"y": marks.names("measure", distinct(rows, "measure")), "tooltip": tips}
    dot = {"size": 55, "color": theme.BLUE, "stroke": "white", "strokeWidth": 1, "opacity": 1}
    title = f"{run} minus {baseline}"
    return marks.chart(
        rows,
        f"{run} against {baseline}: {answer(result)}. Bars hold the likely differences (unjudged documents estimated); "
        f"the dashed line is the margin, a loss of {margin:g}.",
        marks.rule_at("x", 0.0),
        marks.rule_at("x", -margin, (4, 3)),
        marks.layer(
            "bar", {"height": 9, "color": theme.SKY}, x=marks.field("low", title=title), x2={"field": "high"}, **common
        ),
        marks.layer("point", dot, x=marks.field("middle", title=title), **common),
        width=480,
        height={"step": 30},
    )


def answer(result: Result) -> str:
    """pass, fail or cannot tell: what the gate says as a whole."""
    assert result.verdict is not None
    return next(said for said, word in WORDS.items() if word == result.verdict.word)


def junit(result: Result, doubt_fails: bool = True) -> str:
    """What the gate found as JUnit XML, one test case per measure; that a slice cannot tell is no failure."""
    at = {name: i for i, name in enumerate(result.columns)}
    settings = result.provenance.settings
    cases, failures, skipped = [], 0, 0
    for row in result.rows():
        verdict, why = row[at["verdict"]], one_line(row[at["why"]])
        where = "" if "slice" not in at or row[at["slice"]] is None else f" in {row[at['slice']]}"
        if verdict is None:  # a slice that is too small to say
            continue
        name = quoteattr(one_line(f"{row[at['measure']]} of {settings['run']} against {settings['baseline']}{where}"))
        inside = ""
        if verdict == FAIL or (verdict == DOUBT and doubt_fails and not where):
            failures += 1
            inside = f"<failure type={quoteattr(verdict)} message={quoteattr(why)}/>"
        elif verdict == DOUBT:
            skipped += 1
            inside = f"<skipped message={quoteattr(f'{verdict}: {why}')}/>"
        cases.append(f'  <testcase classname="unjudged.ci" name={name}>{inside}</testcase>')
    head = f'<testsuite name="unjudged ci" tests="{len(cases)}" failures="{failures}" skipped="{skipped}">'
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *cases, "</testsuite>", ""])
