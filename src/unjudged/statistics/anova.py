"""Two-way analysis of variance without replication: how much of the spread comes from runs, from topics."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from unjudged.statistics.distributions import f_above
from unjudged.statistics.pairs import ZERO, exact_mean, exact_means, exact_sum, score_matrix


@dataclass(frozen=True)
class Anova:
    """Sums of squares, degrees of freedom and mean squares of runs, topics and the rest (error); F and p values.

    Where nothing is left unexplained (error 0), F is infinite and p 0; NaN where the effect is 0, too.
    """

    topics: int
    runs: int
    ss_runs: float
    ss_topics: float
    ss_error: float
    ss_total: float

    @property
    def df_runs(self) -> int:
        """Degrees of freedom of the runs."""
        return self.runs - 1

    @property
    def df_topics(self) -> int:
        """Degrees of freedom of the topics."""
        return self.topics - 1

    @property
    def df_error(self) -> int:
        """Degrees of freedom of the rest."""
        return self.df_runs * self.df_topics

    @property
    def ms_runs(self) -> float:
        """Mean square of the runs."""
        return self.ss_runs / self.df_runs

    @property
    def ms_topics(self) -> float:
        """Mean square of the topics."""
        return self.ss_topics / self.df_topics

    @property
    def ms_error(self) -> float:
        """Mean square of the rest."""
        return self.ss_error / self.df_error

    @property
    def f_runs(self) -> float:
        """F statistic of the runs."""
        return _ratio(self.ms_runs, self.ms_error)

    @property
    def f_topics(self) -> float:
        """F statistic of the topics."""
        return _ratio(self.ms_topics, self.ms_error)

    @property
    def p_runs(self) -> float:
        """Probability of differences this large if all runs were equally good."""
        return _upper_tail(self.f_runs, self.df_runs, self.df_error)

    @property
    def p_topics(self) -> float:
        """Probability of differences this large if all topics were equally hard."""
        return _upper_tail(self.f_topics, self.df_topics, self.df_error)


def two_way(scores: ArrayLike) -> Anova:
    """The analysis of a topics x runs matrix; at least two topics and two runs."""
    matrix = score_matrix(scores, topics=2, runs=2)
    n, m = matrix.shape
    grand = exact_mean(matrix)
    of_runs, of_topics = exact_means(matrix.T) - grand, exact_means(matrix) - grand
    rest = matrix - grand - of_runs - of_topics[:, None]
    total = exact_sum((matrix - grand) ** 2)
    parts = [n * exact_sum(of_runs**2), m * exact_sum(of_topics**2), exact_sum(rest**2), total]
    nothing = n * m * ZERO**2  # what rounding leaves behind
    ss = [0.0 if part < nothing else part for part in parts]
    return Anova(n, m, *ss)


def within_run_variance(scores: ArrayLike) -> float:
    """Variance of the scores of one run over topics, pooled over runs (the residual of a one-way analysis)."""
    return exact_mean(score_matrix(scores, topics=2).var(axis=0, ddof=1))


def _ratio(effect: float, error: float) -> float:
    if error > 0:
        return effect / error
    return math.inf if effect > 0 else math.nan


def _upper_tail(f: float, df_effect: int, df_error: int) -> float:
    return float(f_above(f, df_effect, df_error)) if not math.isnan(f) else math.nan
