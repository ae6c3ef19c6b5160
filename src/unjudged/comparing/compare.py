"""`compare`: which runs differ, by how much, how surely, and whether unjudged documents could change that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats
from unjudged.collection.collection import in_order_of_names
from unjudged.comparing import layouts
from unjudged.comparing.paired_scores import (
    DEFAULT,
    PairedScores,
    check_settings,
    paired_scores,
    told,
)
from unjudged.comparing.significance import CORRECTED, PairStatistics, Test, correction_of, pair_statistics
from unjudged.errors import UsageError, nearest, some
from unjudged.figures.comparison import differences, map_of_pairs
from unjudged.measures import Measure, with_gains_of_sets
from unjudged.measures import measures as parsed
from unjudged.measures.bounds.differences import Interval, open_differences
from unjudged.results import Result, Row
from unjudged.scoring import Scores
from unjudged.statistics.letters import letters
from unjudged.statistics.pairs import Pairs, all_pairs, pairs_with

COLUMNS = (
    *("run_a", "run_b", "measure", "difference", "low", "high", "p_value", "p_adjusted", "effect_size"),
    *("wins", "ties", "losses"),
)
BOUNDED = (*COLUMNS, "outcome", "ends")
POLICIES = ("nonrelevant", "condensed", "bounds")
SHOWN = ("means", "pairs")
CHARTS = ("pairs", "differences")
"""Names of a comparison's charts; the first is the main one without a baseline, the last with one."""


class Comparison(Result):
    """Run pairs and what is known of them: tidy rows per pair and measure, laid out as a table for a paper.

    The laid-out table shows the mean of each run with letters (runs that share one cannot be told apart) or, with a
    baseline, with ↑ and ↓; `shown = "pairs"` lists the pairs instead. `.letters("AP")` gives the letters by run.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    measures: tuple[Measure, ...]
    baseline: str | None
    test: Test
    correction: str
    pairs: Pairs
    statistics: tuple[PairStatistics, ...]
    open_to: Sequence[Interval] | None
    notes: tuple[str, ...]
    caption: str

    def __init__(
        self,
        paired: PairedScores,
        pairs: Pairs,
        statistics: Sequence[PairStatistics],
        open_to: Sequence[Interval] | None,
        baseline: str | None,
        test: Test,
        correction: str,
        call: str,
    ) -> None:
        policy = {} if open_to is None else {"unjudged": "bounds"}
        charts = dict(zip(CHARTS, (map_of_pairs(test.alpha), differences(test.alpha)), strict=True))
        super().__init__(
            COLUMNS if open_to is None else BOUNDED,
            self._tidy,
            paired.provenance(call, test.seed, **test.settings(), correction=correction, baseline=baseline, **policy),
            self._laid_out,
            charts if baseline is None else dict(reversed(charts.items())),
        )
        self.runs, self.topics, self.measures = paired.runs, paired.topics, paired.measures
        self.baseline, self.test, self.correction = baseline, test, correction
        self.pairs, self.statistics, self.open_to = pairs, tuple(statistics), open_to
        self.means: Floats = paired.means()
        self.shown = "means" if open_to is None else "pairs"
        self.notes = (*paired.notes, *self._own_notes())
        self._verdict = layouts.verdict(self)

    def __repr__(self) -> str:
        against = f" with {self.baseline}" if self.baseline else ""
        return f"<Comparison: {len(self.pairs[0])} pairs{against}, {', '.join(map(str, self.measures))}>"

    @property
    def shown(self) -> str:
        """What the laid-out table shows: the `means` of the runs, or the `pairs`."""
        return self._shown

    @shown.setter
    def shown(self, what: str) -> None:
        if what not in SHOWN:
            raise UsageError(f"a comparison shows {' or '.join(SHOWN)}, not {what!r}")
        self._shown = what
        self.caption = layouts.caption(self)

    def significant(self, measure: int) -> npt.NDArray[np.bool_]:
        """Which pairs differ significantly in this measure (by number)."""
        return self.statistics[measure].p_adjusted < self.test.alpha

    def letters(self, measure: Any) -> dict[str, str]:
        """The letters of each run in a measure, best run first; runs that share one cannot be told apart."""
        if self.baseline is not None:
            raise UsageError("letters need all pairs; this comparison has a baseline")
        wanted = parsed(measure)[0]
        if wanted not in self.measures:
            raise UsageError(f"{wanted} was not compared here; there are {', '.join(map(str, self.measures))}")
        m = self.measures.index(wanted)
        order = sorted(range(len(self.runs)), key=lambda r: (-self.means[m, r], self.runs[r]))
        different = np.zeros((len(order), len(order)), np.bool_)
        different[self.pairs] = self.significant(m)
        different |= different.T
        shown = letters(different[np.ix_(order, order)])
        return {self.runs[r]: text for r, text in zip(order, shown, strict=True)}

    def _tidy(self) -> Iterator[Row]:
        columns = [
            [column.tolist() for column in (s.difference, *self._ends(m), s.p_value, s.p_adjusted, s.effect_size)]
            + [s.wins.tolist(), s.ties.tolist(), s.losses.tolist()]
            for m, s in enumerate(self.statistics)
        ]
        if self.open_to is not None:
            for column, interval in zip(columns, self.open_to, strict=True):
                column += [interval.outcomes(), ["exact" if interval.exact else "outer"] * len(interval.low)]
        names = [str(m) for m in self.measures]
        for i, (a, b) in enumerate(zip(*(side.tolist() for side in self.pairs), strict=True)):
            for name, values in zip(names, columns, strict=True):
                yield self.runs[a], self.runs[b], name, *(column[i] for column in values)

    def _ends(self, m: int) -> tuple[Floats, Floats]:
        """Low and high: of the confidence interval, or of what the unjudged documents allow."""
        if self.open_to is None:
            return self.statistics[m].low, self.statistics[m].high
        return self.open_to[m].low, self.open_to[m].high

    def _laid_out(self) -> tuple[Sequence[str], list[Row]]:
        return layouts.of_means(self) if self.shown == "means" else layouts.of_pairs(self)

    def _own_notes(self) -> Iterator[str]:
        if len(self.topics) == 1:
            yield "one topic: differences are shown, but nothing can be tested"
        constant = sum(int(s.constant.sum()) for s in self.statistics)
        if constant:
            what = "1 pair differs" if constant == 1 else f"{constant} pairs differ"
            yield f"{what} by the same amount on every topic: a p value of 0 says nothing about other topics"
        number, drawn = len(self.pairs[0]), self.test.drawn
        if self.test.name == "permutation" and drawn and self.correction in ("holm", "bonferroni"):
            least = 1 / (drawn + 1)
            if least * number >= self.test.alpha:
                wanted = int(number / self.test.alpha) + 1
                yield (
                    f"{drawn} resamples cannot give a p value small enough for {number} pairs with "
                    f"{CORRECTED[self.correction]}; take at least {wanted}"
                )


def compare(
    source: Collection | Scores,
    measures: Any = None,
    *,
    baseline: str | None = None,
    test: str = "bootstrap",
    correction: str | None = None,
    alpha: float = 0.05,
    resamples: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    rel: int | None = None,
    unjudged: str = "nonrelevant",
    growth: str = "retrieved",
    topics: str = "judged",
    undefined: str = "zero",
    call: str = "",
) -> Comparison:
    """Compare runs pair by pair: every run with a baseline, or all pairs.

    `source` is a collection, with `measures` (and `rel`, `unjudged`, `topics`, `undefined` as in `score`), or
    scores at hand. `test` is `bootstrap` (Sakai 2006; the default), `t`, `wilcoxon`, `permutation`, `tukey` or
    `randomised-tukey` (Carterette 2012). p values are adjusted within each measure for the number of pairs:
    `correction` is `holm` (the default), `bonferroni`, `bh` or `none`; Tukey's tests need none. Columns: difference
    of means (run_a - run_b), low and high of its 1 - alpha interval, p value, adjusted p value, effect size (in
    standard deviations of the per-topic differences), topics won, tied, lost.

    With `unjudged="bounds"` low and high are the smallest and the largest difference that any judgments of the
    unjudged documents allow, and `outcome` is `better`, `worse` or `cannot tell`; `ends` says whether low and high
    are `exact` or `outer` (never left, but perhaps not reached). All else is computed with unjudged documents
    nonrelevant.
    """
    check_settings(alpha, seed, jobs)
    chosen = Test(test, alpha, resamples, seed, jobs)
    corrected = correction_of(correction, chosen)
    if unjudged not in POLICIES:
        raise UsageError(f"unjudged documents can be {', '.join(POLICIES)}, not {unjudged!r}")
    if isinstance(source, Collection):
        asked = DEFAULT if measures is None else measures
        source = with_gains_of_sets(source, asked)
        scoring: dict[str, Any] = {
            "rel": rel,
            "unjudged": "nonrelevant" if unjudged == "bounds" else unjudged,
            "topics": topics,
            "undefined": undefined,
        }
        paired = paired_scores(source, asked, purpose="a comparison", **scoring)
    else:
        if unjudged != "nonrelevant":
            raise UsageError(f"unjudged={unjudged!r} needs the collection, not scores at hand")
        paired = paired_scores(source, measures, purpose="a comparison")
    pairs = _pairs(paired.runs, baseline)
    order = in_order_of_names(paired.runs)
    with told():
        statistics = [pair_statistics(matrix, order, pairs, chosen, corrected) for matrix in paired.values]
    open_to = None
    if unjudged == "bounds":
        assert isinstance(source, Collection)
        counted = np.zeros(len(source.topics), np.bool_)
        counted[list(paired.counted)] = True
        open_to = open_differences(source, paired.measures, *pairs, counted, growth)
    return Comparison(paired, pairs, statistics, open_to, baseline, chosen, corrected, call)


def _pairs(runs: Sequence[str], baseline: str | None) -> Pairs:
    if baseline is None:
        return all_pairs(len(runs))
    if baseline not in runs:
        raise UsageError(f"no run is called {baseline!r}{nearest(baseline, runs)}; there are {some(runs)}")
    return pairs_with(list(runs).index(baseline), len(runs))
