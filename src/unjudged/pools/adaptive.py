"""Strategies that pick the next document to judge and learn whether it was relevant.

Some weigh all runs anew after every judgment (`Weighing`: RBP-based B and C, Hedge). Others read the runs' lists from
the top and choose, judgment by judgment, whose turn it is (`Turns`): move-to-front (Cormack, Palmer and Clarke 1998),
and runs as the arms of a bandit whose reward is a relevant document (Losada, Parapar and Barreiro 2016). A document
judged already is passed over at no cost.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unjudged.collection import Floats, Ints
from unjudged.collection.segments import starts_of
from unjudged.pools.lists import TopicLists


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


class Turns:
    """One list after the other: `turn` says whose next unjudged document is judged."""

    def __init__(self, lists: TopicLists, rng: np.random.Generator) -> None:
        self.lists: TopicLists = lists
        self.rng: np.random.Generator = rng
        self.relevant: Floats = np.zeros(lists.runs)
        self.judged: Floats = np.zeros(lists.runs)
        self.left: Ints = lists.length.copy()
        self._next: list[int] = starts_of(lists.length).tolist()
        self._open = np.ones(lists.docs, bool)
        self._turn = -1

    def turn(self, runs: Ints) -> int:
        """One of these runs, which have unjudged documents left."""
        raise NotImplementedError

    def pick(self) -> int:
        """The next unjudged document of the run whose turn it is."""
        self._turn = self.turn(np.flatnonzero(self.left))
        at = self._next[self._turn]
        while not self._open[self.lists.doc[at]]:
            at += 1
        self._next[self._turn] = at + 1
        return int(self.lists.doc[at])

    def learn(self, doc: int, relevant: bool) -> None:
        """The run whose turn it was gets the credit."""
        self._close(doc)
        self.judged[self._turn] += 1
        self.relevant[self._turn] += relevant

    def learn_first(self, doc: int, relevant: bool, depth: int) -> None:
        """In the depth-k phase every run with the document in its top k gets the credit."""
        mine = self.lists.entries_of(doc)
        runs = self.lists.run[mine[self.lists.rank[mine] <= depth]]
        self.judged[runs] += 1
        self.relevant[runs] += relevant
        self._close(doc)

    def _close(self, doc: int) -> None:
        self._open[doc] = False
        self.left[self.lists.run[self.lists.entries_of(doc)]] -= 1

    def mean(self) -> Floats:
        """Each run's share of relevant documents to be expected: (1 + relevant) / (2 + judged)."""
        return (1.0 + self.relevant) / (2.0 + self.judged)


class MoveToFront(Turns):
    """Stays on a run while it gives relevant documents, else goes to the one with fewest nonrelevant so far."""

    def __init__(self, lists: TopicLists, rng: np.random.Generator) -> None:
        super().__init__(lists, rng)
        self._stay = False

    def turn(self, runs: Ints) -> int:
        """The same run after a relevant document; ties in the order of the names."""
        if self._stay and self.left[self._turn]:
            return self._turn
        return int(runs[np.argmin((self.judged - self.relevant)[runs])])

    def learn(self, doc: int, relevant: bool) -> None:
        """Stay after a relevant one."""
        super().learn(doc, relevant)
        self._stay = relevant


class RandomArm(Turns):
    """Any run, each as likely as the others."""

    def turn(self, runs: Ints) -> int:
        """A random run."""
        return int(self.rng.choice(runs))


class MaxMean(Turns):
    """The run with the largest (1 + relevant) / (2 + judged); ties in the order of the names."""

    def turn(self, runs: Ints) -> int:
        """The best run so far."""
        return int(runs[np.argmax(self.mean()[runs])])


class EpsilonGreedy(MaxMean):
    """With probability epsilon a random run, else the one with the largest (1 + relevant) / (2 + judged)."""

    def __init__(self, lists: TopicLists, rng: np.random.Generator, epsilon: float = 0.1) -> None:
        super().__init__(lists, rng)
        self.epsilon = epsilon

    def turn(self, runs: Ints) -> int:
        """Explore or exploit."""
        if self.rng.random() < self.epsilon:
            return int(self.rng.choice(runs))
        return super().turn(runs)


class Ucb1Tuned(Turns):
    """Every run once, then the largest mean + sqrt(ln n / n_r min(1/4, V)), V = variance + sqrt(2 ln n / n_r).

    n judgments so far, n_r of them through this run (Auer, Cesa-Bianchi and Fischer 2002).
    """

    def turn(self, runs: Ints) -> int:
        """The highest upper bound; runs never tried come first, in the order of their names."""
        if not self.judged[runs].all():
            return int(runs[np.argmin(self.judged[runs] > 0)])
        played = self.judged[runs]
        mean = self.relevant[runs] / played
        f = np.log(self.judged.sum()) / played
        bound = mean + np.sqrt(f * np.minimum(0.25, mean * (1.0 - mean) + np.sqrt(2.0 * f)))
        return int(runs[np.argmax(bound)])


class Thompson(Turns):
    """The run with the largest draw from Beta(1 + relevant, 1 + nonrelevant)."""

    def turn(self, runs: Ints) -> int:
        """One draw per run."""
        relevant = self.relevant[runs]
        return int(runs[np.argmax(self.rng.beta(1.0 + relevant, 1.0 + self.judged[runs] - relevant))])
