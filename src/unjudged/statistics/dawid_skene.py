"""Several judges who err, and no truth: how reliable each is, and what each item probably is (Dawid and Skene 1979).

Every item has a true class; a judge gives each class with probabilities of his own (his confusion table). Both are
estimated together by expectation and maximisation, from the votes as a start. Items judged alike are one pattern,
with a weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

STEPS, ENOUGH = 500, 1e-7
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """`chance`: patterns x classes, the probability of each true class; `share` of each class; `confusion`: judges x
    true class x given class; `likelihood`: log-likelihood after every step."""

    chance: Floats
    share: Floats
    confusion: Floats
    likelihood: tuple[float, ...]

    @property
    def reliability(self) -> Floats:
        """Per judge, the probability that he gives an item its true class."""
        return np.asarray(np.einsum("k,jkk->j", self.share, self.confusion))


def dawid_skene(
    given: Integers, weight: Floats, classes: int, *, start: Floats | None = None, enough: float = ENOUGH
) -> DawidSkene:
    """Fit the model: `given` is patterns x judges, the class each judge gives (-1: none), `weight` of each pattern.

    A pattern needs a judge, a weight is 0 or more. `start` are chances to begin with, where a similar fit is known
    (else the votes). Steps end when no probability moves by more than `enough`.
    """
    if given.ndim != 2 or not (given >= 0).any(axis=1).all():
        raise ValueError("every item needs a judge")
    told = np.stack([given == k for k in range(classes)], axis=-1).astype(np.float64)  # patterns x judges x classes
    votes = told.sum(axis=1)
    chance = votes / votes.sum(axis=1, keepdims=True) if start is None else start
    likelihood: list[float] = []
    share = confusion = np.zeros(0)
    for _ in range(STEPS):
        weighted = chance * weight[:, None]
        share = weighted.sum(axis=0) / weighted.sum()
        counts = np.einsum("uk,ujc->jkc", weighted, told)
        total = counts.sum(axis=2, keepdims=True)
        confusion = np.divide(counts, total, out=np.full(counts.shape, 1 / classes), where=total > 0)
        log = np.log(np.maximum(share, _TINY)) + np.einsum("jkc,ujc->uk", np.log(np.maximum(confusion, _TINY)), told)
        highest = log.max(axis=1, keepdims=True)
        odds = np.exp(log - highest)
        likelihood.append(float(weight @ (highest[:, 0] + np.log(odds.sum(axis=1)))))
        before, chance = chance, odds / odds.sum(axis=1, keepdims=True)
        if float(np.abs(chance - before).max()) < enough:
            break
    return DawidSkene(chance, share, confusion, tuple(likelihood))
