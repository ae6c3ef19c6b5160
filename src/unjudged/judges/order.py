"""How far two judges order the runs alike, above all at the top; every figure with its range on redrawn topics."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unjudged.judges.labels import ranges_of
from unjudged.statistics.bootstrap import sampled_means
from unjudged.statistics.correlation import tau_ap, tau_b
from unjudged.statistics.draws import topic_resamples
from unjudged.statistics.pairs import mean_scores
from unjudged.statistics.rbo import rbo

Floats = npt.NDArray[np.float64]

FIGURES = ("tau", "tau_ap", "overlap", "top_tau", "rbo")
PATIENCE = 0.9
"""p of rank-biased overlap."""


def order_figures(human: npt.ArrayLike, other: npt.ArrayLike, top: int = 10) -> list[float]:
    """Agreement of two lists of mean scores, one value per run, runs sorted by name; in the order of FIGURES.

    tau (tau-b) of all runs; tau_AP with the human order as reference (Yilmaz and others 2008); share that the two top
    `top` have in common; tau among the human's best `top` runs; rank-biased overlap. Means are equal where they agree
    to 12 decimals; equal ones stand in the order of their names.
    """
    first, second = (np.round(np.asarray(means, np.float64), 12) for means in (human, other))
    orders = [np.argsort(-means, kind="stable") for means in (first, second)]
    ranks = [np.argsort(order) for order in orders]
    k = min(top, len(first))
    best = orders[0][:k]
    shared = len({*best.tolist()} & {*orders[1][:k].tolist()}) / k
    overlap = rbo(orders[0], orders[1], PATIENCE).ext
    return [tau_b(first, second), tau_ap(-ranks[0], -ranks[1]), shared, tau_b(first[best], second[best]), overlap]


def order_agreement(
    human: Floats, other: Floats, top: int = 10, resamples: int = 1000, seed: int = 0
) -> tuple[Floats, Floats]:
    """The figures of two matrices (topics x runs, topics sorted by id), and the middle 95 % of them on redrawn topics.

    A range is no confidence interval: a drawn set repeats topics, so agreement comes out lower there, and the value
    itself may lie above its range.
    """
    draws = topic_resamples(len(human), resamples, seed)
    means = zip(sampled_means(human, draws), sampled_means(other, draws), strict=True)
    found = np.array([order_figures(first, second, top) for first, second in means])
    return np.array(order_figures(mean_scores(human), mean_scores(other), top)), ranges_of(found)
