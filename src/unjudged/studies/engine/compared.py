"""Pairs of runs compared: what compare, winners and gate stand on, so that they cannot disagree.

Holes are estimated first, in work units of their own (`unjudged.holes.effects`). Every measure is then a work unit: its
pairs are tested and the p values adjusted. Where holes cannot be estimated, the differences that the missing judgments
allow are another unit, for the pairs that need them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Ints
from unjudged.collection.collection import in_order_of_names
from unjudged.errors import UsageError, as_usage_errors
from unjudged.holes.effects import (
    Effects,
    by_completions,
    by_weights,
    can_be_estimated,
    depth_of,
    weighed,
    with_holes,
)
from unjudged.holes.estimates import Limits, too_little
from unjudged.holes.reading import leading_for
from unjudged.measures import Measure
from unjudged.measures.bounds import ABOUT_JUDGMENTS
from unjudged.measures.bounds.differences import Interval, open_differences
from unjudged.results import Step
from unjudged.scoring import Scores, score
from unjudged.statistics.pairs import Pairs
from unjudged.studies.engine.case import Case
from unjudged.studies.engine.groups import Holes, Runs, Scoring
from unjudged.studies.engine.outcome import (
    BETTER,
    HOLES,
    TURNED,
    WORSE,
    Ends,
    Flags,
    Outcome,
    Rule,
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
    """Scores, the pairs tested in each measure, and their outcomes (one list per measure).

    `expected`: the scores with holes estimated, as `scores.values`. `open`: per measure the pairs whose holes count,
    but could not be estimated.
    """

    scores: Matrices
    pairs: Pairs
    test: Test
    rule: Rule
    statistics: tuple[PairStatistics, ...]
    unjudged: Floats | None
    bounds: tuple[Interval | None, ...]
    outcomes: tuple[list[Outcome], ...]
    expected: Floats
    open: tuple[Flags, ...]

    @property
    def holed(self) -> bool:
        """Were holes estimated in some pair?"""
        return any(bool(one.holed.any()) for one in self.statistics)

    def expected_means(self) -> Floats:
        """Measures x runs: the mean over topics with holes estimated."""
        return np.asarray(self.expected.mean(axis=1))

    def shares(self, m: int) -> Ends | None:
        """Unjudged shares of the two top lists of each pair."""
        return None if self.unjudged is None else (self.unjudged[m, self.pairs[0]], self.unjudged[m, self.pairs[1]])

    def against(self, m: int, run: int) -> dict[int, tuple[int, Outcome]]:
        """Other run -> the number of its pair with this one, and the outcome for that other run."""
        found = {}
        for i, (a, b) in enumerate(zip(*(side.tolist() for side in self.pairs), strict=True)):
            if run in (a, b):
                said = self.outcomes[m][i]
                found[b if a == run else a] = (
                    i,
                    replace(said, word=TURNED.get(said.word, said.word)) if a == run else said,
                )
        return found

    def hanging_on_holes(self, m: int, pairs: Iterable[int] | None = None) -> tuple[str, ...]:
        """The runs whose holes leave pairs (all, or these) open, those in most such pairs first."""
        many: Counter[int] = Counter()
        for i in range(len(self.outcomes[m])) if pairs is None else pairs:
            if self.outcomes[m][i].why == HOLES:
                many.update(int(side[i]) for side in self.pairs)
        holed = [run for run in many if self.unjudged is not None and self.unjudged[m, run] > 0]
        names = self.scores.runs
        return tuple(names[run] for run in sorted(holed or many, key=lambda run: (-many[run], names[run])))

    def settled_by_topics(self, m: int, pairs: Sequence[int], times: float) -> int | None:
        """About how many of these open pairs so many times the topics would tell apart: those whose difference over its
        margin, which shrinks with the root of the number, would reach that of the least sure pair told apart now."""
        s = self.statistics[m]
        margin = (s.high - s.low) / 2
        sure = np.divide(np.abs(s.estimate), margin, out=np.zeros(len(margin)), where=margin > 0)
        told = [i for i, outcome in enumerate(self.outcomes[m]) if outcome.word in (BETTER, WORSE) and margin[i] > 0]
        if not told:
            return None
        return int((sure[list(pairs)] * math.sqrt(times) >= sure[told].min()).sum())

    @property
    def how(self) -> str:
        """`two-sided paired t test, Holm within each measure, alpha = 0.05`"""
        adjusted = "" if self.test.name in FAMILY_WISE else f", {CORRECTED[self.rule.correction]} within each measure"
        if self.rule.correction == "none" and adjusted:
            adjusted = ", not corrected"
        return f"two-sided {self.test.caption}{adjusted}, alpha = {self.test.alpha:g}"

    @property
    def out_of_reach(self) -> str:
        """A sentence where the test's p values cannot get as small as the corrected level; else empty."""
        return self.test.out_of_reach(len(self.pairs[0]), self.rule.correction, len(self.scores.topics))

    @property
    def settings(self) -> dict[str, Any]:
        """For provenance."""
        margin = {"margin": self.rule.margin} if self.rule.margin else {}
        return {**self.test.settings(), "correction": self.rule.correction, **margin}


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


def tested(shared: tuple[Matrices, tuple[int, ...], Pairs, Test, str, tuple[Effects | None, ...]], m: int) -> Arrays:
    """One work unit: every pair in one measure, computed in this order of the runs."""
    scores, order, pairs, test, correction, effects = shared
    with as_usage_errors():
        bounded = scores.measures[m].bounded
        found = pair_statistics(scores.values[m], order, pairs, test, correction, effects[m], bounded)
    return {f.name: getattr(found, f.name) for f in fields(found)}


@dataclass(frozen=True, eq=False)
class _Lists:
    """What every worker that looks into holes needs; `lists` are the documents of all lists, which decide what is
    unjudged and are no part of a collection's fingerprint."""

    collection: Collection
    lists: npt.NDArray[np.int32]
    measures: tuple[Measure, ...]


def estimated(shared: tuple[_Lists, Pairs, int], unit: tuple[int, ...]) -> Arrays:
    """One work unit: what holes do to the pairs in one measure that adds up over documents, or in several others."""
    looked_at, pairs, seed = shared
    collection = looked_at.collection
    asked = [looked_at.measures[m] for m in unit]
    if weighed(asked[0], collection):
        effects = [by_weights(collection, asked[0], pairs)]
    else:
        effects = by_completions(collection, asked, pairs, seed)
    return {f.name: np.stack([getattr(one, f.name) for one in effects]) for f in fields(Effects)}


@dataclass(frozen=True, eq=False)
class _ToBound(_Lists):
    """The same for workers that bound differences."""

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
    rule: Rule,
    holes: Holes = "estimate",
    *,
    growth: str = "retrieved",
    seed: int = 0,
    bound_all: bool = False,
) -> Compared:
    """Test the pairs in every measure and decide their outcomes.

    `holes` are estimated, with their uncertainty, and where that cannot be done outcomes must hold whatever they are;
    or `bounds`: the latter for all pairs, and a measure without bounds is refused; or they are `ignored`. `bound_all`:
    what the missing judgments allow is computed for every pair with holes at the top, also where nothing hangs on it.
    """
    s = scores.matrices
    if not s.topics:
        raise UsageError("this study needs at least 1 topic, 0 given")
    effects, open_ = _effects(case, scores, pairs, seed) if holes == "estimate" else ((None,) * len(s.measures), None)
    if open_ is None:
        open_ = tuple(np.full(len(pairs[0]), holes == "bounds") for _ in s.measures)
    shared = s, tuple(in_order_of_names(s.runs)), pairs, test, rule.correction, effects
    what = f"{counted(len(pairs[0]), 'pair')} of {len(s.runs)} runs"
    values = case.run(tested, shared, list(range(len(s.measures))), what)
    statistics = tuple(PairStatistics(**value) for value in values)
    wanted = [needing_bounds(rule, found, mask) for found, mask in zip(statistics, open_, strict=True)]
    unjudged = unjudged_shares(scores, rule)
    if holes == "bounds":
        wanted = list(open_)
    elif bound_all and unjudged is not None:
        shown = [np.maximum(share[pairs[0]], share[pairs[1]]) > 0 for share in unjudged]
        wanted = [mask | some for mask, some in zip(open_, shown, strict=True)]
    intervals = _bounds(case, scores, pairs, wanted, growth, holes == "bounds")
    decided = tuple(
        outcomes(rule, found, mask, None if ends is None else (ends.low, ends.high))
        for found, mask, ends in zip(statistics, open_, intervals, strict=True)
    )
    expected = [s.values[m] if one is None else one.expected for m, one in enumerate(effects)]
    return Compared(s, pairs, test, rule, statistics, unjudged, intervals, decided, np.stack(expected), open_)


def _effects(
    case: Case, scores: Scored, pairs: Pairs, seed: int
) -> tuple[tuple[Effects | None, ...], tuple[Flags, ...]]:
    """What holes do in every measure (None: nothing, or nobody knows), and the pairs in which nobody knows."""
    chosen, none = scores.matrices.measures, np.zeros(len(pairs[0]), np.bool_)
    found: list[Effects | None] = [None] * len(chosen)
    open_ = [none] * len(chosen)
    setup = scores.setup
    if setup is None or setup.collection.judgments.group is not None:  # answers outside the classes are wrong
        return tuple(found), tuple(open_)
    collection = setup.scored_topics
    at = np.array([collection.runs.index(run) for run in scores.matrices.runs])
    here = at[pairs[0]], at[pairs[1]]
    holed = []
    for m, measure in enumerate(chosen):
        own = with_holes(collection, depth_of(measure))
        open_[m] = own[here[0]] | own[here[1]] if measure.name not in ABOUT_JUDGMENTS else none
        holed += [m] if open_[m].any() and can_be_estimated(measure, collection) else []
    if not holed:
        return tuple(found), tuple(open_)
    why = too_little(collection, Limits.of(case.limits["score-range"]))
    if why:
        case.note(f"holes cannot be estimated ({why}): a difference counts where it holds whatever they are")
        return tuple(found), tuple(open_)
    drawn = [m for m in holed if not weighed(chosen[m], collection)]
    units = [(m,) for m in holed if m not in drawn] + ([tuple(drawn)] if drawn else [])
    shared = _Lists(collection, collection.rankings.doc, chosen), here, seed
    for unit, value in zip(
        units, case.run(estimated, shared, units, "what the unjudged documents are worth"), strict=True
    ):
        for i, m in enumerate(unit):
            one = Effects(**{name: array[i] for name, array in value.items()})
            found[m] = replace(one, expected=np.ascontiguousarray(one.expected[:, at]))
            open_[m] = none
    return tuple(found), tuple(open_)


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


def next_step(case: Case, found: Compared, m: int, pairs: Iterable[int] | None = None, top: int = 0) -> Step | None:
    """What to do about open pairs (all, or these): judge the holes, or find out how many topics it takes.

    One pair is asked about alone; several as those of the best `top` runs, where that was the question, or as all.
    """
    chosen = list(range(len(found.outcomes[m])) if pairs is None else pairs)
    runs, measure = found.hanging_on_holes(m, chosen), found.scores.measures[m]
    open_ = [i for i in chosen if not found.outcomes[m][i].decided]
    hanging = [i for i in open_ if found.outcomes[m][i].why == HOLES]
    if runs and (not top or 2 * len(hanging) >= len(open_)):  # one rival of many is not what decides the first place
        said = f"judge the unjudged documents of {listed(runs)} that matter most"
        what = "rivals of the best run" if top else "open pairs"
        effect = f"can settle up to {len(hanging):,} of {len(open_):,} {what}" if len(open_) > 1 else ""
        return case.step(said, "next", flags=_flags(found, m, hanging, top), effect=effect)
    if open_:
        said, effect = "find out how many topics it takes", _with_more_topics(found, m, open_, top)
        return case.step(said, "study", "reliability", flags=["-m", str(measure)], effect=effect)
    return None


def _with_more_topics(found: Compared, m: int, open_: Sequence[int], top: int) -> str:
    """What twice as many topics would do to open pairs, if they were like these; empty where no pair is told apart."""
    settled = found.settled_by_topics(m, open_, 2.0)
    if settled is None:
        return ""
    if not settled:
        return f"even twice as many topics would hardly settle {'it' if len(open_) == 1 else 'any of them'}"
    if top:
        left = counted(len(open_) - settled + 1, "run")
        return f"twice as many topics leave about {left} in first place instead of {len(open_) + 1}"
    return f"twice as many topics settle about {settled:,} of {len(open_):,} open pairs"


def _flags(found: Compared, m: int, hanging: Sequence[int], top: int) -> list[str]:
    """The question as `next` asks it."""
    flags = ["-m", leading_for(found.scores.measures[m])]
    if len(hanging) == 1:
        new, old = (found.scores.runs[int(side[hanging[0]])] for side in found.pairs)
        return [*flags, "--new", new, "--baseline", old]
    return [*flags, *(["--top", str(top)] if top else ["--all"])]
