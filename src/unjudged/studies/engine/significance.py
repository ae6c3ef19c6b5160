"""The tests by name: p values, intervals, effect sizes and required differences of run pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats, Ints
from unjudged.collection.collection import in_order_of_names
from unjudged.errors import UsageError, as_usage_errors, check_seed, one_of
from unjudged.holes.effects import Effects
from unjudged.holes.estimates import Z90
from unjudged.holes.pairs import two_sided
from unjudged.statistics.bootstrap import Bootstrapped, bootstrap
from unjudged.statistics.distributions import student_above, student_limit
from unjudged.statistics.intervals import difference_interval
from unjudged.statistics.multiple import CORRECTIONS
from unjudged.statistics.paired import (
    Tested,
    effect_size,
    permutation,
    residual_effect_size,
    spread,
    t_interval,
    t_test,
    wilcoxon,
)
from unjudged.statistics.pairs import Pairs, all_pairs, wins_ties_losses
from unjudged.statistics.resampled import smallest_p
from unjudged.statistics.tukey import Shuffled, classical_tukey, randomised_tukey, tukey_difference
from unjudged.text import counted

TESTS = {
    "bootstrap": "paired bootstrap test",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "permutation": "paired randomisation test",
    "tukey": "Tukey HSD test",
    "randomised-tukey": "randomised Tukey HSD test",
}
"""Name -> what it is called in a caption. All are two-sided."""

FAMILY_WISE = ("tukey", "randomised-tukey")
"""Tests of all runs at once, which need no correction for the number of pairs."""

RANDOM = {"bootstrap": 1000, "permutation": 1000, "randomised-tukey": 5000}
"""Tests that draw at random, with the number of resamples they take unless told otherwise."""

CORRECTED = {"none": "no correction", "bonferroni": "Bonferroni", "holm": "Holm", "bh": "Benjamini-Hochberg"}
"""Correction -> what it is called in a caption."""


@dataclass(frozen=True)
class Test:
    """A test with its settings.

    `asl`: p values of bootstrap and randomised Tukey are the share of resamples, as in the papers on discriminative
    power (Sakai 2006); else (1 + b) / (1 + resamples), which is never 0 and holds under a correction.
    """

    name: str = "bootstrap"
    alpha: float = 0.05
    resamples: int | None = None
    seed: int = 0
    jobs: int = 1
    asl: bool = False

    def __post_init__(self) -> None:
        one_of(self.name, TESTS, "test")
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha lies between 0 and 1, not {self.alpha}")
        check_seed(self.seed)
        if self.resamples is not None and self.resamples < 1:
            raise UsageError(f"at least 1 resample is needed, not {self.resamples}")

    @property
    def drawn(self) -> int | None:
        """Number of resamples; None for a test without."""
        return None if self.name not in RANDOM else self.resamples or RANDOM[self.name]

    @property
    def caption(self) -> str:
        """`paired bootstrap test, 1000 resamples`"""
        return TESTS[self.name] + (f", {self.drawn} resamples" if self.drawn else "")

    def settings(self) -> dict[str, Any]:
        """For provenance; the number of threads decides nothing and is left out."""
        return {"test": self.name, "alpha": self.alpha, "resamples": self.drawn}

    def run(self, matrix: Floats, pairs: Pairs | None = None) -> Tested:
        """p value of each pair of columns of a topics x runs matrix."""
        drawn = self.drawn or 1
        if self.name == "bootstrap":
            given = {"resamples": drawn, "alpha": self.alpha, "seed": self.seed, "jobs": self.jobs, "asl": self.asl}
            return bootstrap(matrix, pairs, **given, every=False)  # type: ignore[arg-type]
        if self.name == "permutation":
            return permutation(matrix, pairs, drawn, self.seed)
        if self.name == "randomised-tukey":
            return randomised_tukey(matrix, pairs, drawn, self.seed, asl=self.asl)
        return {"t": t_test, "wilcoxon": wilcoxon, "tukey": classical_tukey}[self.name](matrix, pairs)

    def interval(self, matrix: Floats, tested: Tested, bounded: bool = True) -> tuple[Floats, Floats]:
        """1 - alpha interval of each mean difference: Student's (topics counted where hardly any differ; `bounded`:
        scores lie between 0 and 1), or of all pairs at once (Tukey).

        Percentiles of bootstrap resamples are no interval to print: on 10 topics they cover 89 % instead of 95 %.
        """
        if self.name in FAMILY_WISE:
            half = self.required_difference(matrix, tested)
            return tested.difference - half, tested.difference + half
        return difference_interval(matrix, (tested.first, tested.second), self.alpha, bounded)

    def out_of_reach(self, pairs: int, correction: str, topics: int) -> str:
        """A sentence where no pair can become significant, because the test's p values cannot get that small."""
        level = self.alpha / pairs if correction in ("holm", "bonferroni") else self.alpha
        every = 2.0 ** (1 - topics)  # all signs alike: the most extreme of 2^topics ways, and its mirror image
        if self.name == "wilcoxon" or (self.name == "permutation" and 2**topics <= (self.drawn or 1)):
            smallest, more = every, "it takes more topics"
        elif self.drawn is not None:
            smallest = smallest_p(self.drawn)
            needed = math.floor(1 / level + 1e-9)
            if self.name == "permutation" and every >= level:
                more = "it takes more topics"
            else:
                more = f"take --resamples {needed} or more"
        else:
            return ""
        if smallest < level:
            return ""
        corrected = f"the level corrected for {counted(pairs, 'pair')}" if level < self.alpha else "alpha"
        return (
            f"nothing can be significant: the smallest p value of this {TESTS[self.name]} is {smallest:.2g}, "
            f"{corrected} is {level:.2g}; {more}"
        )

    def effect_size(self, matrix: Floats, pairs: Pairs) -> Floats:
        """Mean difference in standard deviations: of the pair's differences, or of the residual for Tukey."""
        return (residual_effect_size if self.name in FAMILY_WISE else effect_size)(matrix, pairs)

    def required_difference(self, matrix: Floats, tested: Tested) -> float:
        """The mean difference from which on a pair is significant, for the pair that needs most; NaN where unknown."""
        if isinstance(tested, Bootstrapped):
            return tested.required_difference
        if isinstance(tested, Shuffled):
            return tested.required_difference(self.alpha)
        if self.name == "tukey":
            return tukey_difference(matrix, self.alpha)
        if self.name == "t":
            low, high = t_interval(matrix, (tested.first, tested.second), self.alpha)
            half = ((high - low) / 2)[(high - low) > 0]
            return float(half.max()) if len(half) else math.nan
        return math.nan


def correction_of(name: str | None, test: Test) -> str:
    """The correction to use: Holm unless told otherwise, none for tests that look at all pairs at once."""
    if name is None:
        return "none" if test.name in FAMILY_WISE else "holm"
    one_of(name, CORRECTIONS, "correction")
    if name != "none" and test.name in FAMILY_WISE:
        raise UsageError(f"the {TESTS[test.name]} already holds for all pairs at once; its correction is none")
    return name


def _placed(order: Sequence[int], pairs: Pairs) -> tuple[Pairs, npt.NDArray[np.bool_]]:
    """The pairs in a matrix whose runs stand in this order, the smaller place first; and which were turned for that."""
    place = np.empty(len(order), np.int64)
    place[list(order)] = np.arange(len(order))
    first, second = place[pairs[0]], place[pairs[1]]
    turned = first > second
    return (np.where(turned, second, first), np.where(turned, first, second)), turned


def tested_pairs(matrix: Floats, runs: Sequence[str], test: Test) -> dict[str, Any]:
    """p value and difference of every pair of runs, the difference required for significance, and `constant`.

    `constant` counts the pairs with p = 0 only because they differ by the same amount on every topic. Pairs stand as
    the runs do, but are computed in the order of the runs' names: the order given changes no number.
    """
    order = in_order_of_names(runs)
    here, turned = _placed(order, all_pairs(len(order)))
    ordered = np.ascontiguousarray(matrix[:, order])
    with as_usage_errors():
        found = test.run(ordered, here)
        required = test.required_difference(ordered, found)
    return {
        "p_value": found.p_value,
        "difference": np.where(turned, 0.0 - found.difference, found.difference),
        "required": np.array(required),
        "constant": np.array((found.constant & (found.p_value == 0)).sum()),
    }


@dataclass(frozen=True, eq=False)
class PairStatistics:
    """What is known of each pair in one measure, one entry per pair; a difference is first minus second.

    `difference`, `wins`, `ties`, `losses`: of the scores as they are. `estimate` is the difference with holes
    estimated, `estimate_low` to `estimate_high` its 90 % interval on these topics; without holes all three are the
    difference. The rest is about the estimate: `v_topic` and `v_hole` are its variances by topics and by holes,
    `p_value` the test with both, `p_topics` with that of the topics alone, `low` to `high` the 1 - alpha interval with
    both. `holed`: was a hole estimated?
    """

    difference: Floats
    low: Floats
    high: Floats
    p_value: Floats
    p_adjusted: Floats
    effect_size: Floats
    wins: Ints
    ties: Ints
    losses: Ints
    constant: npt.NDArray[np.bool_]
    estimate: Floats
    estimate_low: Floats
    estimate_high: Floats
    v_topic: Floats
    v_hole: Floats
    p_topics: Floats
    holed: npt.NDArray[np.bool_]

    @classmethod
    def without_holes(cls, **known: Any) -> PairStatistics:
        """Pairs in which nothing is estimated; `known` are the columns up to `constant`."""
        apart, none = known["difference"], np.zeros(len(known["difference"]))
        likely = dict.fromkeys(("estimate", "estimate_low", "estimate_high"), apart)
        spread = {"v_topic": none, "v_hole": none, "p_topics": known["p_value"], "holed": none.astype(np.bool_)}
        return cls(**known, **likely, **spread)

    @property
    def from_holes(self) -> Floats:
        """Share of the uncertainty that comes from holes; 0 where nothing is uncertain."""
        whole = self.v_topic + self.v_hole
        return np.divide(self.v_hole, whole, out=np.zeros(len(whole)), where=whole > 0)


def pair_statistics(
    matrix: Floats,
    order: Sequence[int],
    pairs: Pairs,
    test: Test,
    correction: str,
    holes: Effects | None = None,
    bounded: bool = True,
) -> PairStatistics:
    """Test the pairs of a topics x runs matrix; `order` is the order of the runs to compute in; `bounded`: scores lie
    between 0 and 1.

    Pairs with holes are tested by what is expected of them, with the uncertainty of the holes beside that of the
    topics: p values and intervals are those of the test, its statistic shrunk from one standard deviation to the other
    (for Student's t that is the difference over the root of both variances). On one topic nothing can be tested: p
    values, intervals and effect sizes are NaN.
    """
    here, turned = _placed(order, pairs)
    sign = np.where(turned, -1.0, 1.0)
    ordered = np.ascontiguousarray(matrix[:, list(order)])
    wins, ties, losses = wins_ties_losses(ordered, here)
    plain = _tested(ordered, here, test, bounded)
    now = sign * plain.difference + 0.0
    many = len(now)
    v_hole, holed = np.zeros(many), np.zeros(many, np.bool_)
    lowest = highest = now
    if holes is not None and holes.holed.any():
        holed = holes.holed
        v_hole = np.where(holed, holes.variance, 0.0)
        likely = _tested(np.ascontiguousarray(holes.expected[:, list(order)]), here, test, bounded)
        plain = _Plain(*(np.where(holed, b, a) for a, b in zip(plain, likely, strict=True)))
        lowest, highest = np.where(holed, holes.lowest, now), np.where(holed, holes.highest, now)
    estimate = sign * plain.difference + 0.0
    below, above, p_value = _with_holes(plain, v_hole, holed, test, len(matrix))
    reach = Z90 * np.sqrt(v_hole)
    return PairStatistics(
        now,
        estimate - np.where(turned, above, below) + 0.0,
        estimate + np.where(turned, below, above) + 0.0,
        p_value,
        CORRECTIONS[correction](p_value),
        sign * plain.effect + 0.0,
        np.where(turned, losses, wins),
        ties,
        np.where(turned, wins, losses),
        plain.constant,
        estimate,
        np.minimum(np.maximum(estimate - reach, lowest), estimate),
        np.maximum(np.minimum(estimate + reach, highest), estimate),
        plain.v_topic,
        v_hole,
        plain.p_value,
        holed,
    )


class _Plain(NamedTuple):
    """A test of topics alone: one entry per pair."""

    difference: Floats
    below: Floats
    above: Floats
    p_value: Floats
    effect: Floats
    constant: npt.NDArray[np.bool_]
    v_topic: Floats


def _tested(matrix: Floats, pairs: Pairs, test: Test, bounded: bool) -> _Plain:
    if len(matrix) == 1:
        difference = matrix[0, pairs[0]] - matrix[0, pairs[1]]
        unknown = np.full(len(difference), np.nan)
        return _Plain(difference, unknown, unknown, unknown, unknown, np.zeros(len(difference), np.bool_), unknown)
    found = test.run(matrix, pairs)
    low, high = test.interval(matrix, found, bounded)
    deviation, _, _ = spread(matrix, pairs)
    effect = test.effect_size(matrix, pairs)
    apart = found.difference
    variance = deviation**2 / len(matrix)
    return _Plain(apart, apart - low, high - apart, found.p_value, effect, found.constant, variance)


def _with_holes(
    plain: _Plain, v_hole: Floats, holed: npt.NDArray[np.bool_], test: Test, topics: int
) -> tuple[Floats, Floats, Floats]:
    """How far the interval reaches below and above, and the p value, with the variance of the holes beside that of the
    topics."""
    if topics == 1 or not holed.any():
        return plain.below, plain.above, plain.p_value
    both = plain.v_topic + v_hole
    if test.name == "t":
        p_value = two_sided(plain.difference, both, topics)
        half = student_limit(test.alpha / 2, topics - 1) * np.sqrt(both)
    else:
        share = np.divide(plain.v_topic, both, out=np.ones(len(both)), where=both > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = student_limit(plain.p_value / 2, topics - 1) * np.sqrt(share)
            half = (plain.below + plain.above) / 2 / np.sqrt(share)
        p_value = 2 * student_above(statistic, topics - 1)
        flat = plain.v_topic == 0  # no difference between topics: the holes alone are uncertain
        p_value = np.where(flat, two_sided(plain.difference, both, topics), p_value)
        half = np.where(flat, student_limit(test.alpha / 2, topics - 1) * np.sqrt(both), half)
    below, above = (np.where(holed, half, side) for side in (plain.below, plain.above))
    return below, above, np.where(holed, p_value, plain.p_value)
