"""Discriminative power: how many pairs of runs a measure tells apart, and what changes with other judgments.

Sakai (SIGIR 2006): a measure that finds more significant differences at the same alpha, on the same runs and topics,
is more sensitive. It says nothing about whether the measure is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats
from unjudged.collection.collection import in_order_of_names
from unjudged.comparing.paired_scores import PairedScores, check_settings, paired_scores, told
from unjudged.comparing.significance import Test
from unjudged.errors import UsageError
from unjudged.figures import power as charts
from unjudged.measures import Measure
from unjudged.results import Result, Row, Shown
from unjudged.scoring import Scores
from unjudged.statistics.pairs import all_pairs
from unjudged.statistics.tested import Tested

COLUMNS = ("measure", "runs", "pairs", "significant", "power", "required_difference")
PAIRS = ("measure", "run_a", "run_b", "difference", "p_value", "significant")
CURVES = ("measure", "place", "p_value")
CHANGES = ("measure", "pairs", "before", "after", "misses", "false_alarms", "sign_reversals")

_CURVES = {"significance": charts.significance}


class Power(Result):
    """Per measure: how many pairs of runs differ significantly. `.pairs` and `.curves` are tables of their own.

    p values and differences are held per measure for the pairs (i < j) of `runs`, which are in alphabetical order.
    """

    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    test: Test
    tested: tuple[Tested, ...]
    required: tuple[float, ...]

    def __init__(
        self,
        paired: PairedScores,
        runs: Sequence[str],
        tested: Sequence[Tested],
        required: Sequence[float],
        test: Test,
        call: str,
    ) -> None:
        self.runs, self.measures, self.test = tuple(runs), paired.measures, test
        self.tested, self.required = tuple(tested), tuple(required)
        self.p_values: Floats = np.stack([t.p_value for t in tested])
        self.differences: Floats = np.stack([t.difference for t in tested])
        constant = sum(int(t.constant.sum()) for t in tested)
        notes = list(paired.notes)
        if constant:
            notes.append(f"{constant} pairs differ by the same amount on every topic and count as significant (p = 0)")
        super().__init__(
            COLUMNS,
            self._tidy,
            paired.provenance(call, test.seed, **test.settings()),
            self._laid_out,
            {"power": charts.power},
            notes=notes,
        )

    @property
    def significant(self) -> npt.NDArray[np.bool_]:
        """Measures x pairs: is the difference significant?"""
        return np.asarray(self.p_values < self.test.alpha)

    @property
    def pairs(self) -> Result:
        """One row per measure and pair of runs."""
        return Result(PAIRS, self._pair_rows, self.provenance, None, _CURVES, notes=self.notes)

    @property
    def curves(self) -> Result:
        """The achieved significance levels of all pairs, largest first; a low curve tells many pairs apart."""
        return Result(CURVES, self._curve_rows, self.provenance, None, _CURVES, notes=self.notes)

    def _tidy(self) -> Iterator[Row]:
        size = self.p_values.shape[1]
        for m, measure in enumerate(self.measures):
            found = int(self.significant[m].sum())
            yield str(measure), len(self.runs), size, found, found / size, self.required[m]

    def _laid_out(self) -> tuple[Sequence[str], list[Row]]:
        rows: list[Row] = []
        most = self.significant.sum(axis=1).max()
        for measure, _, size, found, power, required in self._tidy():
            needed = "-" if required != required else f"{required:.2f}"
            rows.append((measure, Shown(f"{found}/{size} = {100 * power:.1f}%", found == most), needed))
        return ["measure", "discriminative power", "difference required"], rows

    def _pair_rows(self) -> Iterator[Row]:
        first, second = all_pairs(len(self.runs))
        for m, measure in enumerate(self.measures):
            found = (self.differences[m], self.p_values[m], self.significant[m])
            values = zip(*(v.tolist() for v in (first, second, *found)), strict=True)
            for a, b, difference, p, significant in values:
                yield str(measure), self.runs[a], self.runs[b], difference, p, "yes" if significant else "no"

    def _curve_rows(self) -> Iterator[Row]:
        for measure, tested in zip(self.measures, self.tested, strict=True):
            for place, p in enumerate(tested.curve().tolist(), 1):
                yield str(measure), place, p


def discriminative_power(
    source: Scores | Collection,
    measures: Any = None,
    *,
    test: str = "bootstrap",
    alpha: float = 0.05,
    resamples: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    call: str = "",
    **scoring: Any,
) -> Power:
    """How many of all pairs of runs each measure tells apart at this alpha (Sakai, SIGIR 2006).

    p values are not corrected for the number of pairs, as in the papers; Tukey's tests hold for all pairs at once.
    `required_difference` is the estimated mean difference needed for significance, the largest over all pairs (for
    the bootstrap that of Sakai 2006; empty for Wilcoxon and permutation). The same resampled topics serve all pairs
    and measures, so the order of the runs changes nothing.
    """
    check_settings(alpha, seed, jobs)
    chosen = Test(test, alpha, resamples, seed, jobs)
    paired = paired_scores(source, measures, purpose="discriminative power", least_topics=2, **scoring)
    order = in_order_of_names(paired.runs)
    tested, required = [], []
    with told():
        for values in paired.values:
            matrix = np.ascontiguousarray(values[:, order])
            tested.append(chosen.run(matrix))
            required.append(chosen.required_difference(matrix, tested[-1]))
    return Power(paired, [paired.runs[r] for r in order], tested, required, chosen, call)


def power_changes(before: Power, after: Power) -> Result:
    """What other judgments do to the significant pairs of each measure (Sakai 2009).

    misses: significant before and no longer; false alarms: significant only after; so after = before - misses + false
    alarms. sign_reversals: significant both times, but the other run is better; they count as neither.
    """
    if before.runs != after.runs:
        raise UsageError("changes of discriminative power need the same runs before and after")
    if before.measures != after.measures:
        raise UsageError("changes of discriminative power need the same measures before and after")
    was, now = before.significant, after.significant
    turned = was & now & (np.sign(before.differences) != np.sign(after.differences))
    columns = (was, now, was & ~now, now & ~was, turned)
    counts = np.stack([c.sum(axis=1) for c in columns], axis=1)

    def rows() -> Iterator[Row]:
        for measure, found in zip(before.measures, counts.tolist(), strict=True):
            yield str(measure), was.shape[1], *found

    return Result(CHANGES, rows, after.provenance, notes=tuple(dict.fromkeys((*before.notes, *after.notes))))
