"""Strategies that read the runs' lists from the top and choose, judgment by judgment, whose turn it is.

Move-to-front (Cormack, Palmer and Clarke 1998), and runs as the arms of a bandit whose reward is a relevant
document (Losada, Parapar and Barreiro 2016). A document judged already is passed over at no cost.
"""

from __future__ import annotations

import numpy as np

from unjudged.collection import Floats, Ints
from unjudged.collection.segments import starts_of
from unjudged.pools.lists import TopicLists


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
