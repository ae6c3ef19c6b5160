"""Scores from a few human topics and many machine ones: the machine's scores, corrected by what humans say of some.

Humans judged n topics, drawn at random from N before anybody looked at scores; the machine judged all N. With y and f
the human and the machine score of a run (or the difference of two runs) on a topic, the estimate is

    mean of y + slope (mean of f over all N - mean of f over the n)

This is prediction-powered inference (Angelopoulos and others 2023; a slope that is estimated: PPI++) for means over
topics. A slope of 0 forgets the machine, 1 trusts it as a difference. Our interval differs from the one that is
usually printed, which is too narrow on few topics (docs/judges.md has the coverages): the slope lies between 0 and 1,
residuals are those of topics left out, and the quantile is Student's.

Two targets: `topics`, the mean over exactly these N; `population`, the mean over topics of the same kind, the usual
reading of a t test.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.statistics.distributions import student_above, student_limit
from unjudged.statistics.pairs import ZERO

Floats = npt.NDArray[np.float64]

TARGETS = ("population", "topics")
MOST_TOPICS = 100_000
"""Farther than this no number of topics is looked for."""


@dataclass(frozen=True, eq=False)
class Corrected:
    """Corrected means, one entry per run or pair of runs; human-only and machine-only values beside them.

    `slope` is the weight of the machine, `variance` that of the estimate, `freedom` the degrees of freedom of its
    interval; `human_variance` that of the mean over the human topics alone.
    """

    target: str
    labelled: int
    topics: int
    alpha: float
    human: Floats
    machine: Floats
    estimate: Floats
    slope: Floats
    variance: Floats
    freedom: int
    human_variance: Floats
    residual: Floats
    """Variance of a topic's y - slope f."""
    between: Floats
    """What the machine's topics add to the variance for the target `population`, N times."""
    plain: Floats
    """Variance of y, and of y - slope f without leaving topics out: rows."""

    @functools.cached_property
    def half(self) -> Floats:
        """Half the length of the interval."""
        return np.asarray(quantile(self.alpha, self.freedom) * np.sqrt(self.variance))

    @functools.cached_property
    def low(self) -> Floats:
        """Lower end."""
        return np.asarray(self.estimate - self.half)

    @functools.cached_property
    def high(self) -> Floats:
        """Upper end."""
        return np.asarray(self.estimate + self.half)

    @functools.cached_property
    def human_half(self) -> Floats:
        """Half the length of the interval of the human topics alone."""
        return np.asarray(quantile(self.alpha, self.labelled - 1) * np.sqrt(self.human_variance))

    @functools.cached_property
    def human_low(self) -> Floats:
        """Its lower end."""
        return np.asarray(self.human - self.human_half)

    @functools.cached_property
    def human_high(self) -> Floats:
        """Its upper end."""
        return np.asarray(self.human + self.human_half)

    @functools.cached_property
    def width_ratio(self) -> Floats:
        """Length of the interval, human topics alone = 1; NaN where those leave nothing open."""
        return _ratio(self.half, self.human_half)

    @functools.cached_property
    def saved(self) -> Floats:
        """Human topics saved: how many more would give the human topics alone this variance; at most all others."""
        more = self.labelled * _ratio(self.human_variance, self.variance) - self.labelled
        return np.minimum(more, float(self.topics - self.labelled))

    @functools.cached_property
    def saved_by_many(self) -> Floats:
        """The same if the machine had judged topics without end."""
        return np.asarray(self.labelled * _ratio(self.plain[0], self.plain[1]) - self.labelled)

    @functools.cached_property
    def p_value(self) -> Floats:
        """Two-sided, for the hypothesis that the truth is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.abs(self.estimate) / np.sqrt(self.variance)
        return np.where(np.isnan(ratio), 1.0, 2 * student_above(ratio, self.freedom))

    def more_topics(self, place: int, half: float, alpha: float | None = None) -> int | None:
        """How many more human topics make half the interval of one entry (at another level, where given) this short.

        The variances stay what they are. While there are topics that only the machine has judged, those become human;
        after that, topics of the same kind come from outside. None where no number would do.
        """
        level = self.alpha if alpha is None else alpha

        def enough(labelled: int) -> bool:
            return self._half_at(place, labelled, level) <= half

        if half <= 0 or math.isnan(half):
            return None
        low, high = self.labelled, self.topics if self.target == "topics" else MOST_TOPICS
        if enough(low):
            return 0
        if not enough(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high - self.labelled

    def _half_at(self, place: int, labelled: int, alpha: float) -> float:
        """Half the interval with this many human topics."""
        own, residual = float(self.plain[0, place]), float(self.residual[place])
        if labelled >= self.topics:  # all are human: the machine says nothing more
            variance = 0.0 if self.target == "topics" else own / labelled
            return float(quantile(alpha, labelled - 1)) * math.sqrt(variance)
        spent = self.labelled - self.freedom
        if self.target == "topics":
            variance = (1 - labelled / self.topics) * residual / labelled
        else:
            variance = residual / labelled + float(self.between[place]) / self.topics
            variance = max(variance, residual / self.topics)
        return float(quantile(alpha, labelled - spent)) * math.sqrt(variance)


@functools.lru_cache(4096)
def quantile(alpha: float, freedom: int) -> float:
    """Student's two-sided quantile."""
    return float(student_limit(alpha / 2, max(freedom, 1)))


def corrected(
    human: Floats,
    machine: Floats,
    labelled: npt.NDArray[np.int64],
    target: str = "population",
    *,
    pooled: float | None = None,
    alpha: float = 0.05,
) -> Corrected:
    """Corrected means of every column: `human` is labelled topics x columns, `machine` all topics x columns.

    `labelled` are the rows of `machine` that the rows of `human` belong to; at least three. `pooled` is one slope for
    all columns (`pooled_slope`); without it each column has its own, between 0 and 1, and residuals are those of
    topics left out: divided by 1 - h, h being the leverage of a topic.
    """
    n, total = len(human), len(machine)
    f, mean_y, mean_f = machine[labelled], human.mean(axis=0), machine[labelled].mean(axis=0)
    centred = f - mean_f
    squares = np.where(np.ptp(f, axis=0) > ZERO, (centred**2).sum(axis=0), 0.0)
    if pooled is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            own = (centred * (human - mean_y)).sum(axis=0) / squares
        slope = np.where(squares > 0, np.clip(own, 0.0, 1.0), 0.0)
        slope = np.nan_to_num(slope)
        freedom = n - 2
    else:
        slope, freedom = np.full(human.shape[1], pooled), n - 1
    rest = (human - mean_y) - slope * centred
    plain = np.stack([human.var(axis=0, ddof=1), (rest**2).sum(axis=0) / (n - 1)])
    residual = plain[1]
    if pooled is None:
        with np.errstate(divide="ignore", invalid="ignore"):
            leverage = 1 / n + np.where(squares > 0, centred**2 / squares, 0.0)
        alone = rest / np.maximum(1 - leverage, 1 / n)
        residual = np.where(slope > 0, (alone**2).mean(axis=0) * (n - 1) / n, plain[0])
    shared = (rest * centred).sum(axis=0) / (n - 1)
    between = slope**2 * machine.var(axis=0, ddof=1) + 2 * slope * shared
    if target == "topics":
        variance, human_variance = (1 - n / total) * residual / n, (1 - n / total) * plain[0] / n
    else:
        variance = np.maximum(residual / n + between / total, residual / total)
        human_variance = plain[0] / n
    everywhere = machine.mean(axis=0)
    estimate = mean_y + slope * (everywhere - mean_f)
    return Corrected(
        target,
        n,
        total,
        alpha,
        mean_y,
        everywhere,
        estimate,
        slope,
        variance,
        freedom,
        human_variance,
        residual,
        between,
        plain,
    )


def pooled_slope(human: Floats, machine: Floats) -> float:
    """One slope for differences of all runs (columns) on the labelled topics (rows), between 0 and 1.

    Both are centred by run and by topic, because the level of a topic cancels in a difference.
    """
    y, f = (side - side.mean(axis=0) - side.mean(axis=1, keepdims=True) + side.mean() for side in (human, machine))
    squares = float((f**2).sum())
    return min(max(float((y * f).sum()) / squares, 0.0), 1.0) if squares > 0 else 0.0


def _ratio(first: Floats, second: Floats) -> Floats:
    """first / second; NaN where the second is 0."""
    return np.asarray(np.divide(first, second, out=np.full(first.shape, np.nan), where=second > 0))
