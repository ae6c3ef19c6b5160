"""How far two judges order the runs alike, above all at the top; every figure with its range on redrawn topics."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unjudged.judges.labels import ranges_of
from unjudged.statistics.bootstrap import sampled_means
from unjudged.statistics.correlation import tau_ap_rows, tau_b_rows
from unjudged.statistics.draws import topic_resamples
from unjudged.statistics.pairs import mean_scores
from unjudged.statistics.rbo import rbo_rows

Floats = npt.NDArray[np.float64]

FIGURES = ("tau", "tau_ap", "overlap", "top_tau", "rbo")
PATIENCE = 0.9
"""p of rank-biased overlap."""


def order_figures(human: npt.ArrayLike, other: npt.ArrayLike, top: int = 10) -> Floats:
    """Agreement of two lists of mean scores, one value per run, runs sorted by name; in the order of FIGURES.

    tau (tau-b) of all runs; tau_AP with the human order as reference (Yilmaz and others 2008); share that the two top
    `top` have in common; tau among the human's best `top` runs; rank-biased overlap. Means are equal where they agree
    to 12 decimals; equal ones stand in the order of their names. Of two matrices the figures of each row.
    """
    first, second = (np.round(np.atleast_2d(np.asarray(means, np.float64)), 12) for means in (human, other))
    orders = [np.argsort(-means, axis=1, kind="stable") for means in (first, second)]
    ranks = [np.argsort(order, axis=1) for order in orders]
    k = min(top, first.shape[1])
    best = orders[0][:, :k]
    found = (
        tau_b_rows(first, second),
        tau_ap_rows(-ranks[0], -ranks[1]),
        np.count_nonzero((ranks[0] < k) & (ranks[1] < k), axis=1) / k,
        tau_b_rows(np.take_along_axis(first, best, axis=1), np.take_along_axis(second, best, axis=1)),
        rbo_rows(orders[0], orders[1], PATIENCE),
    )
    return np.stack(found, axis=-1).reshape(*np.shape(human)[:-1], len(FIGURES))


def order_agreement(
    human: Floats, other: Floats, top: int = 10, resamples: int = 1000, seed: int = 0
) -> tuple[Floats, Floats]:
    """The figures of two matrices (topics x runs, topics sorted by id), and the middle 95 % of them on redrawn topics.

    A range is no confidence interval: a drawn set repeats topics, so agreement comes out lower there, and the value
    itself may lie above its range.
    """
    draws = topic_resamples(len(human), resamples, seed)
    found = order_figures(sampled_means(human, draws), sampled_means(other, draws), top)
    return order_figures(mean_scores(human), mean_scores(other), top), ranges_of(found)
