"""Strategies that weigh the runs anew after every judgment: RBP-based B and C, and Hedge.

A strategy picks the next document and learns whether it was relevant.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats
from unjudged.pools.lists import TopicLists


class Adaptive(Protocol):
    """What a strategy driven by judgments can do."""

    def pick(self) -> int:
        """The next document to judge; there is one left."""
        ...

    def learn(self, doc: int, relevant: bool) -> None:
        """The judgment of the document just picked."""
        ...

    def learn_first(self, doc: int, relevant: bool, depth: int) -> None:
        """The judgment of a document of the depth-k phase."""
        ...


class Weighing:
    """Every unjudged document has a value, the largest is next (ties: smaller id)."""

    def __init__(self, lists: TopicLists) -> None:
        self.lists: TopicLists = lists
        self.open: npt.NDArray[np.bool_] = np.ones(lists.docs, bool)

    def values(self) -> Floats:
        """A value per document."""
        raise NotImplementedError

    def pick(self) -> int:
        """The open document of the largest value; values equal but for rounding are a tie."""
        values = np.where(self.open, self.values(), -np.inf)
        best = float(values.max())
        return int(np.argmax(values >= best - 1e-12 * abs(best)))

    def sum(self, values: Floats) -> Floats:
        """A value per entry, added up per document."""
        return np.bincount(self.lists.doc, weights=values, minlength=self.lists.docs).astype(np.float64)

    def learn(self, doc: int, relevant: bool) -> None:
        """The document is judged."""
        self.open[doc] = False

    def learn_first(self, doc: int, relevant: bool, depth: int) -> None:
        """A judgment of the depth-k phase counts like any other."""
        self.learn(doc, relevant)


class RbpB(Weighing):
    """RBP-based B: what the document can add to the runs' RBP, each run weighed by its residual."""

    def __init__(self, lists: TopicLists, p: float = 0.8) -> None:
        super().__init__(lists)
        self.part: Floats = (1.0 - p) * p ** (lists.rank.astype(np.float64) - 1.0)
        self.residual: Floats = np.ones(lists.runs)
        self.base: Floats = np.zeros(lists.runs)

    def weight(self) -> Floats:
        """Weight of each run."""
        return self.residual

    def values(self) -> Floats:
        """Sum of the runs' parts, each times the run's weight."""
        return self.sum(self.part * self.weight()[self.lists.run])

    def learn(self, doc: int, relevant: bool) -> None:
        """Residuals shrink by the document's parts; a relevant one adds them to the bases."""
        super().learn(doc, relevant)
        mine = self.lists.entries_of(doc)
        self.residual[self.lists.run[mine]] -= self.part[mine]
        if relevant:
            self.base[self.lists.run[mine]] += self.part[mine]


class RbpC(RbpB):
    """RBP-based C: B, and runs that promise a high RBP count more: residual (base + residual / 2)^3."""

    def weight(self) -> Floats:
        """Residual times the cube of the RBP to be expected."""
        return self.residual * (self.base + self.residual / 2.0) ** 3


class Hedge(Weighing):
    """Hedge: runs have weights, which fall for nonrelevant and rise for relevant documents ranked high.

    The loss of a run for a nonrelevant document at rank r is ln(M / r) / 2, M the number of documents retrieved by
    any run, and its negative for a relevant one; a run that lacks the document has the mean loss of the ranks left
    over there. A weight is multiplied by beta to the loss. The document picked is the one with the largest mean
    loss, were it nonrelevant (Aslam, Pavlu and Savell 2003).
    """

    def __init__(self, lists: TopicLists, beta: float = 0.1) -> None:
        super().__init__(lists)
        self.beta = beta
        logs = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, lists.docs + 1)))))
        left = lists.docs - lists.length
        mean_log = (logs[-1] - logs[lists.length]) / np.maximum(left, 1)
        whole = np.log(max(lists.docs, 1))
        self.absent: Floats = np.where(left > 0, (whole - mean_log) / 2.0, 0.0)
        self.loss: Floats = (whole - np.log(lists.rank)) / 2.0
        self.log_weight: Floats = np.zeros(lists.runs)

    def values(self) -> Floats:
        """Mean loss of each document by the runs' weights."""
        weight = np.exp(self.log_weight - self.log_weight.max(initial=-np.inf))
        weight /= weight.sum()
        more = (self.loss - self.absent[self.lists.run]) * weight[self.lists.run]
        return self.sum(more) + float(weight @ self.absent)

    def learn(self, doc: int, relevant: bool) -> None:
        """Every run's weight times beta to its loss."""
        super().learn(doc, relevant)
        loss = self.absent.copy()
        mine = self.lists.entries_of(doc)
        loss[self.lists.run[mine]] = self.loss[mine]
        self.log_weight += np.log(self.beta) * (-loss if relevant else loss)
