"""Is a topic set reliable? Generalizability theory (Urbano, Marrero and Martín, SIGIR 2013).

A G-study splits the scores' variance into that of runs, topics and the rest; a D-study says from it how well a topic
set of any size would order the runs (E rho^2) and estimate their true scores (Phi). Both lie between 0 and 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unjudged.statistics.anova import Anova, two_way
from unjudged.statistics.distributions import chi_squared_quantile, f_quantile
from unjudged.statistics.pairs import ZERO, Floats, mean_scores, score_matrix


@dataclass(frozen=True)
class GStudy:
    """Variance components; `clipped` names those that came out negative and were set to 0."""

    anova: Anova
    var_runs: float
    var_topics: float
    var_error: float
    clipped: tuple[str, ...]


@dataclass(frozen=True)
class DStudy:
    """Coefficients for a number of topics, with the ends of their intervals; NaN where nothing varies."""

    topics: int
    erho2: float
    erho2_low: float
    erho2_high: float
    phi: float
    phi_low: float
    phi_high: float


def g_study(scores: ArrayLike, drop: float = 0.0) -> GStudy:
    """Variance components of a topics x runs matrix; `drop` leaves out the runs below that quantile of the means."""
    found = two_way(without_worst(scores, drop))
    parts = {
        "runs": (found.ms_runs - found.ms_error) / found.topics,
        "topics": (found.ms_topics - found.ms_error) / found.runs,
    }
    clipped = tuple(name for name, value in parts.items() if value < 0)
    return GStudy(found, max(0.0, parts["runs"]), max(0.0, parts["topics"]), found.ms_error, clipped)


def without_worst(scores: ArrayLike, drop: float) -> Floats:
    """A topics x runs matrix without the runs below this quantile of the means."""
    if not 0 <= drop < 1:
        raise ValueError(f"drop is a share of the runs between 0 and 1, not {drop}")
    matrix = score_matrix(scores, topics=2, runs=2)
    if not drop:
        return matrix
    means = mean_scores(matrix)
    return score_matrix(matrix[:, means >= np.quantile(means, drop) - ZERO], topics=2, runs=2)


def d_study(study: GStudy, topics: int | None = None, alpha: float = 0.025) -> DStudy:
    """Reliability of a topic set of this many topics (default: as many as studied).

    Each end of an interval is missed with probability alpha, so the default gives 95% intervals.
    """
    if not 0 < alpha < 0.5:
        raise ValueError(f"alpha, per side, must lie between 0 and 0.5, not {alpha}")
    wanted = study.anova.topics if topics is None else topics
    if wanted < 1:
        raise ValueError(f"at least 1 topic is needed, {wanted} asked for")
    erho2 = _share(study.var_runs, study.var_error / wanted)
    phi = _share(study.var_runs, (study.var_topics + study.var_error) / wanted)
    low, high = (_erho2_bound(study.anova, wanted, side) for side in (1 - alpha, alpha))
    phi_low, phi_high = (_phi_bound(study.anova, wanted, side) for side in (1 - alpha, alpha))
    return DStudy(wanted, erho2, low, high, phi, phi_low, phi_high)


def topics_for_erho2(study: GStudy, reliability: float = 0.95) -> float:
    """Fewest topics that reach this E rho^2; infinite where the runs do not differ."""
    return _topics_for(reliability, study.var_runs, study.var_error)


def topics_for_phi(study: GStudy, reliability: float = 0.95) -> float:
    """Fewest topics that reach this Phi; infinite where the runs do not differ."""
    return _topics_for(reliability, study.var_runs, study.var_topics + study.var_error)


def expected_tau(var_runs: float, var_error: float, topics: int, others: int = 100) -> float:
    """Expected Kendall's tau between the order of the runs on `topics` topics and their order on `others` other topics.

    `var_runs` and `var_error` are those of a G-study. Means over n topics correlate with the runs' true means by the
    square root of E rho^2(n), so means over two sets of topics by sqrt(E rho^2(n) E rho^2(m)); for normal scores
    tau = 2/pi arcsin of the correlation (Kendall 1949). 0 where the runs do not differ by more than chance.
    """
    if var_runs <= 0:
        return 0.0
    both = _share(var_runs, var_error / topics) * _share(var_runs, var_error / others)
    return 2 / math.pi * math.asin(math.sqrt(min(1.0, both)))


def topics_for_tau(var_runs: float, var_error: float, tau: float, others: int = 100) -> float:
    """Fewest topics whose expected tau with `others` other topics reaches this one; infinite where no number does."""
    if not 0 < tau < 1:
        raise ValueError(f"tau must lie between 0 and 1, not {tau}")
    if var_runs <= 0:
        return math.inf
    needed = math.sin(math.pi / 2 * tau) ** 2 / _share(var_runs, var_error / others)
    return _topics_for(needed, var_runs, var_error) if needed < 1 else math.inf


def fitted_tau(erho2: float) -> float:
    """Kendall's tau that Urbano et al. observed at this E rho^2 (a curve fitted to TREC data)."""
    return float(erho2**2.84729794)


def fitted_tau_ap(erho2: float) -> float:
    """tau_AP that Urbano et al. observed at this E rho^2 (a curve fitted to TREC data)."""
    return float(erho2**3.98652984)


def fitted_relative_sensitivity(phi: float) -> float:
    """Relative difference that could be detected, as Urbano et al. observed it at this Phi (a fitted curve)."""
    return float((1 - phi) ** 1.29759126)


def _share(signal: float, noise: float) -> float:
    return signal / (signal + noise) if signal + noise > 0 else math.nan


def _topics_for(reliability: float, signal: float, noise: float) -> float:
    if not 0 < reliability < 1:
        raise ValueError(f"reliability must lie between 0 and 1, not {reliability}")
    if signal <= 0:
        return math.inf
    return max(1, math.ceil(reliability * noise / (signal * (1 - reliability)) - 1e-9))


def _quantile(side: float, df_effect: float, df_error: float) -> float:
    if math.isinf(df_error):
        return float(chi_squared_quantile(side, df_effect)) / df_effect
    return float(f_quantile(side, df_effect, df_error))


def _erho2_bound(found: Anova, topics: int, side: float) -> float:
    if found.ms_error <= 0:
        return math.nan if found.ms_runs <= 0 else 1.0
    ratio = found.ms_runs / (found.ms_error * _quantile(side, found.df_runs, found.df_error))
    per_topic = max(0.0, (ratio - 1) / found.topics)
    return topics * per_topic / (1 + topics * per_topic)


def _phi_bound(found: Anova, topics: int, side: float) -> float:
    f_inf = _quantile(side, found.df_runs, math.inf)
    f_error = _quantile(side, found.df_runs, found.df_error)
    f_topics = _quantile(side, found.df_runs, found.df_topics)
    ms_s, ms_q, ms_e = found.ms_runs, found.ms_topics, found.ms_error
    below = found.df_runs * f_inf * ms_s * ms_e + f_topics * ms_s * ms_q
    if below <= 0:
        return math.nan if ms_s <= 0 else 1.0
    ratio = (ms_s**2 - f_inf * ms_s * ms_e + (f_inf - f_error) * f_error * ms_e**2) / below
    ratio = max(0.0, ratio)
    one = found.runs * ratio / (found.runs * ratio + found.topics)
    return topics * one / (1 + (topics - 1) * one)
