"""Pairs of runs compared: what compare, winners and gate stand on, so that they cannot disagree.

Every measure is a work unit: its pairs are tested and the p values adjusted. Where holes could turn an outcome, the
differences that the missing judgments allow are a second unit, for the pairs that need them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Ints
from unjudged.collection.collection import in_order_of_names
from unjudged.errors import UsageError, as_usage_errors
from unjudged.measures import Measure
from unjudged.measures.bounds.differences import Interval, open_differences
from unjudged.results import Step
from unjudged.scoring import Scores, score
from unjudged.statistics.pairs import Pairs
from unjudged.studies.engine.case import Case
from unjudged.studies.engine.groups import Runs, Scoring
from unjudged.studies.engine.outcome import (
    BETTER,
    HOLES,
    WORSE,
    Ends,
    Flags,
    Outcome,
    Rule,
    holed,
    needing_bounds,
    outcomes,
)
from unjudged.studies.engine.setup import Matrices, Setup, matrices, matrices_of, prepare
from unjudged.studies.engine.significance import CORRECTED, FAMILY_WISE, PairStatistics, Test, pair_statistics
from unjudged.studies.engine.workdir import Arrays
from unjudged.text import counted, listed, percent

Q_SEARCHED = 20
"""Longest lists on which the exact bounds of Q are looked for: the search has no limit in time (see
`unjudged.measures.bounds.blended`). On longer lists every difference counts as possible, an outer interval."""


@dataclass(frozen=True, eq=False)
class Compared:
    """Scores, the pairs tested in each measure, and their outcomes (one list per measure)."""

    scores: Matrices
    pairs: Pairs
    test: Test
    correction: str
    rule: Rule
    statistics: tuple[PairStatistics, ...]
    unjudged: Floats | None
    bounds: tuple[Interval | None, ...]
    outcomes: tuple[list[Outcome], ...]

    def shares(self, m: int) -> Ends | None:
        """Unjudged shares of the two top lists of each pair."""
        return shares_of(self.unjudged, m, self.pairs)

    def against(self, m: int, run: int) -> dict[int, tuple[int, Outcome]]:
        """Other run -> the number of its pair with this one, and the outcome for that other run."""
        turned = {BETTER: WORSE, WORSE: BETTER}
        found = {}
        for i, (a, b) in enumerate(zip(*(side.tolist() for side in self.pairs), strict=True)):
            if run in (a, b):
                said = self.outcomes[m][i]
                found[b if a == run else a] = (
                    i,
                    replace(said, word=turned.get(said.word, said.word)) if a == run else said,
                )
        return found

    def hanging_on_holes(self, m: int, pairs: Iterable[int] | None = None) -> tuple[str, ...]:
        """The runs whose holes leave pairs (all, or these) open, those in most such pairs first."""
        many: Counter[int] = Counter()
        for i in range(len(self.outcomes[m])) if pairs is None else pairs:
            if self.outcomes[m][i].why == HOLES:
                many.update(int(side[i]) for side in self.pairs)
        limit = max(self.rule.holes, 0.0)
        holed = [run for run in many if self.unjudged is not None and self.unjudged[m, run] > limit]
        names = self.scores.runs
        return tuple(names[run] for run in sorted(holed, key=lambda run: (-many[run], names[run])))

    @property
    def how(self) -> str:
        """`two-sided paired t test, Holm within each measure, alpha = 0.05`"""
        adjusted = "" if self.test.name in FAMILY_WISE else f", {CORRECTED[self.correction]} within each measure"
        if self.correction == "none" and adjusted:
            adjusted = ", not corrected"
        return f"two-sided {self.test.caption}{adjusted}, alpha = {self.test.alpha:g}"

    @property
    def out_of_reach(self) -> str:
        """A sentence where the test's p values cannot get as small as the corrected level; else empty."""
        return self.test.out_of_reach(len(self.pairs[0]), self.correction, len(self.scores.topics))

    @property
    def settings(self) -> dict[str, Any]:
        """For provenance."""
        margin = {"margin": self.rule.margin} if self.rule.margin else {}
        return {**self.test.settings(), "correction": self.correction, **margin}


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores that are compared, and the prepared collection behind them (None: scores alone)."""

    matrices: Matrices
    settings: dict[str, Any]
    setup: Setup | None

    def only(self, m: int) -> Scored:
        """One measure of them."""
        s = self.matrices
        return Scored(Matrices(s.measures[m : m + 1], s.runs, s.topics, s.values[m : m + 1]), self.settings, self.setup)


def scored(case: Case, scoring: Scoring, runs: Runs) -> Scored:
    """Score the runs to be compared."""
    if isinstance(case.source, Scores):
        return Scored(*matrices(case, scoring, runs, least_topics=1), None)
    setup = prepare(case, scoring, runs)
    return Scored(matrices_of(setup), setup.settings, setup)


def shares_of(unjudged: Floats | None, m: int, pairs: Pairs) -> Ends | None:
    """Unjudged shares of the top lists of the first and of the second run of each pair."""
    return None if unjudged is None else (unjudged[m, pairs[0]], unjudged[m, pairs[1]])


def unjudged_shares(scores: Scored, rule: Rule) -> Floats | None:
    """Measures x runs: mean share of the top list that was never judged; None where there are no judgments to see."""
    if scores.setup is None:
        return None
    chosen, setup = scores.matrices.measures, scores.setup
    if setup.collection.judgments.group is not None:  # answers outside the classes are wrong, not unjudged
        return np.zeros((len(chosen), len(scores.matrices.runs)))
    depths = list(dict.fromkeys(map(rule.top_of, chosen)))
    found = score(setup.selected, [f"unj@{k}" for k in depths]).values[:, setup.counted].mean(axis=1)
    return np.stack([found[:, depths.index(rule.top_of(measure))] for measure in chosen])


def tested(shared: tuple[Matrices, tuple[int, ...], Pairs, Test, str], m: int) -> Arrays:
    """One work unit: every pair in one measure, computed in this order of the runs."""
    scores, order, pairs, test, correction = shared
    with as_usage_errors():
        found = pair_statistics(scores.values[m], order, pairs, test, correction)
    return {f.name: getattr(found, f.name) for f in fields(found)}


@dataclass(frozen=True, eq=False)
class _ToBound:
    """What every worker that bounds differences needs; `lists` are the documents of all lists, which decide the
    bounds and are no part of a collection's fingerprint."""

    collection: Collection
    lists: npt.NDArray[np.int32]
    measures: tuple[Measure, ...]
    counted: Flags
    growth: str
    needed: bool


def bounded(shared: _ToBound, unit: tuple[int, Ints, Ints]) -> Arrays:
    """One work unit: the differences that the missing judgments allow, for some pairs in one measure."""
    m, first, second = unit
    measure = shared.measures[m]
    longest = int(np.diff(shared.collection.rankings.offsets).max(initial=0))
    if measure.name == "Q" and not shared.needed and min(longest, measure.params.get("k") or longest) > Q_SEARCHED:
        return {"low": np.full(len(first), -1.0), "high": np.full(len(first), 1.0), "exact": np.array(False)}
    try:
        (found,) = open_differences(shared.collection, [measure], first, second, shared.counted, shared.growth)
    except UsageError:
        if shared.needed:
            raise
        unknown = np.full(len(first), np.nan)  # no bounds of this measure are known
        return {"low": unknown, "high": unknown, "exact": np.array(False)}
    return {"low": found.low, "high": found.high, "exact": np.array(found.exact)}


def compare_pairs(
    case: Case,
    scores: Scored,
    pairs: Pairs,
    test: Test,
    correction: str,
    rule: Rule,
    *,
    growth: str = "retrieved",
    bounds: Literal["needed", "holed", "all"] = "needed",
) -> Compared:
    """Test the pairs in every measure and decide their outcomes.

    `bounds` says for which pairs the differences are computed that the missing judgments allow: where the outcome
    needs them, for every pair with more holes than allowed, or for all; then a measure without bounds is refused.
    """
    s = scores.matrices
    if not s.topics:
        raise UsageError("this study needs at least 1 topic, 0 given")
    shared = s, tuple(in_order_of_names(s.runs)), pairs, test, correction
    what = f"{counted(len(pairs[0]), 'pair')} of {len(s.runs)} runs"
    values = case.run(tested, shared, list(range(len(s.measures))), what)
    statistics = tuple(PairStatistics(**value) for value in values)
    unjudged = unjudged_shares(scores, rule)
    shares = [shares_of(unjudged, m, pairs) for m in range(len(statistics))]
    ask = holed if bounds == "holed" else needing_bounds
    wanted = [ask(rule, found, share) for found, share in zip(statistics, shares, strict=True)]
    if bounds == "all":
        wanted = [np.ones_like(mask) for mask in wanted]
    intervals = _bounds(case, scores, pairs, wanted, growth, bounds == "all")
    decided = tuple(
        outcomes(rule, found, share, None if ends is None else (ends.low, ends.high))
        for found, share, ends in zip(statistics, shares, intervals, strict=True)
    )
    return Compared(s, pairs, test, correction, rule, statistics, unjudged, intervals, decided)


def _bounds(
    case: Case, scores: Scored, pairs: Pairs, wanted: Sequence[Flags], growth: str, needed: bool
) -> tuple[Interval | None, ...]:
    """For each measure the bounds of the pairs wanted (NaN elsewhere); None where no pair is."""
    places = {m: np.flatnonzero(mask) for m, mask in enumerate(wanted) if mask.any()}
    if not places or scores.setup is None:
        return (None,) * len(wanted)
    setup = scores.setup
    at = np.array([setup.collection.runs.index(run) for run in scores.matrices.runs])
    lists = setup.collection.rankings.doc
    shared = _ToBound(setup.collection, lists, scores.matrices.measures, setup.counted, growth, needed)
    units = [(m, at[pairs[0][chosen]], at[pairs[1][chosen]]) for m, chosen in places.items()]
    values = case.run(bounded, shared, units, "what the unjudged documents allow")
    found: list[Interval | None] = [None] * len(wanted)
    for (m, chosen), value in zip(places.items(), values, strict=True):
        low, high = np.full(len(pairs[0]), np.nan), np.full(len(pairs[0]), np.nan)
        low[chosen], high[chosen] = value["low"], value["high"]
        found[m] = Interval(low, high, bool(value["exact"]))
    return tuple(found)


def note_holes(case: Case, found: Compared) -> None:
    """A note that names the runs with more unjudged documents at the top than the table of limits allows."""
    limit = case.limits["safe-comparisons"]["holes"]
    if found.unjudged is None:
        case.note("scores alone do not show which documents were judged: holes are not looked at")
        return
    for top in dict.fromkeys(map(found.rule.top_of, found.scores.measures)):
        m = next(m for m, measure in enumerate(found.scores.measures) if found.rule.top_of(measure) == top)
        shares = dict(zip(found.scores.runs, found.unjudged[m].tolist(), strict=True))
        most = sorted((run for run in shares if shares[run] > limit), key=lambda run: (-shares[run], run))
        if most:
            named = listed([f"{run} ({percent(shares[run])})" for run in most], 5)
            case.note(f"more than {percent(limit)} of the top {top} was never judged: {named}")


def next_step(case: Case, found: Compared, m: int, pairs: Iterable[int] | None = None) -> Step | None:
    """What to do about open pairs (all, or these): judge the holes, or find out how many topics it takes."""
    chosen = list(range(len(found.outcomes[m])) if pairs is None else pairs)
    runs = found.hanging_on_holes(m, chosen)
    if runs:
        top = str(found.rule.top_of(found.scores.measures[m]))
        said = f"judge the unjudged documents at the top of {listed(runs)}"
        return case.step(said, "pool", "build", flags=["--strategy", "depth", "--depth", top, "--format", "list"])
    if any(not found.outcomes[m][i].decided for i in chosen):
        name = str(found.scores.measures[m])
        return case.step("find out how many topics it takes", "study", "reliability", flags=["-m", name])
    return None
