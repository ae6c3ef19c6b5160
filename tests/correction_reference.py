"""Pool-bias correction as CORRECTION words it, pair by pair on dicts and lists: slow, plain, apart from the package.

The test of the package's arrays. Means are fractions, so nothing is lost in rounding that is not asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Runs = Mapping[str, Mapping[str, Sequence[str]]]
"""run -> topic -> documents, best first, each once; also topics without judgments."""
Qrels = Mapping[str, Mapping[str, int]]


@dataclass
class Reference:
    """One collection under one protocol."""

    runs: Runs
    qrels: Qrels
    teams: Mapping[str, str]
    depth: int
    sigir: bool
    alpha: float = 1.0
    topics: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.topics = list(self.qrels)

    # -- pools

    def pooled_by(self, qrels: Qrels, runs: Sequence[str]) -> Qrels:
        """Only judgments in the top of one of these runs."""
        return {
            t: {d: g for d, g in docs.items() if any(d in self.runs[r].get(t, [])[: self.depth] for r in runs)}
            for t, docs in qrels.items()
        }

    # -- means

    def round(self, value: Fraction) -> Fraction:
        return Fraction((value * 10000 + Fraction(1, 2)).__floor__(), 10000) if self.sigir else value

    def mean(self, lists: Mapping[str, Sequence[str]], qrels: Qrels, n: int, relevant: bool) -> Fraction:
        """Mean P@n (or anti-P@n) of one run's lists."""
        total = Fraction(0)
        for topic, docs in lists.items():
            for doc in list(docs)[:n]:
                grade = qrels.get(topic, {}).get(doc)
                if grade is not None and grade >= 0 and (grade > 0) == relevant:
                    total += Fraction(1, n)
        topics = len(lists) if self.sigir else len(self.topics)
        return self.round(total / topics) if topics else Fraction(0)

    # -- merging

    def merge(self, pooled: Sequence[str], new: Sequence[str]) -> list[str]:
        """r o u of two lists."""
        entries = []
        for i, doc in enumerate(pooled, 1):
            if doc in new:
                j = list(new).index(doc) + 1
                place = round(i * (1 - self.alpha) + j * self.alpha, 9)
                entries.append((place, -1 if j < i else 1 if j > i else 0, i, doc))
            else:
                entries.append((float(i), 0, i, doc))
        return [doc for *_, doc in sorted(entries)]

    def merged(self, pooled: str, new: str) -> dict[str, list[str]]:
        found = {}
        for topic, docs in self.runs[pooled].items():
            if topic in self.runs[new]:
                found[topic] = self.merge(docs, self.runs[new][topic])
            elif not self.sigir:
                found[topic] = list(docs)
        return found

    # -- estimators

    def lipani(self, new: str, peers: Sequence[str], qrels: Qrels, n: int) -> dict[str, Fraction]:
        s, a = (self.mean(self.runs[new], qrels, n, relevant) for relevant in (True, False))
        k = max(1 - s - a, Fraction(0))
        changes: list[list[Fraction]] = [[], []]
        for r in peers:
            after = self.merged(r, new)
            for i, relevant in enumerate((True, False)):
                before = self.mean(self.runs[r], qrels, n, relevant)
                now = self.mean(after, qrels, n, relevant) if after else before
                changes[i].append(now - before if self.alpha else Fraction(0))
        rise, anti = (sum(c, Fraction(0)) / max(len(c), 1) for c in changes)
        indicator = k * (rise * a - anti * s)
        more = k * max(-rise - anti, Fraction(0))
        return {
            "p": s,
            "anti": a,
            "k": k,
            "delta_p": rise,
            "delta_anti_p": anti,
            "delta_k": -rise - anti,
            "lambda": indicator,
            "lipani": s + (more if indicator > 0 else 0),
            "lipani-v2": s + more,
        }

    def webber_park(self, new: str, peers: Sequence[str], qrels: Qrels, n: int) -> Fraction:
        losses = [
            self.mean(self.runs[r], qrels, n, True) - self.mean(self.runs[r], self.without(qrels, peers, r), n, True)
            for r in peers
        ]
        score, wrong = (self.mean(self.runs[new], qrels, n, relevant) for relevant in (True, False))
        added = sum(losses, Fraction(0)) / max(len(losses), 1)
        return score + (added if self.sigir else min(added, max(1 - score - wrong, Fraction(0))))

    def without(self, qrels: Qrels, peers: Sequence[str], left: str) -> Qrels:
        """The pool of the peers without one of them."""
        others = self.pooled_by(qrels, [r for r in peers if r != left])
        if self.sigir:
            return others
        mine = self.pooled_by(qrels, [left])
        return {t: {d: g for d, g in qrels[t].items() if d not in mine[t] or d in others[t]} for t in qrels}

    # -- the experiment

    def experiment(
        self, pooled: Sequence[str], n: int, keep: int, leave: str = "team"
    ) -> dict[str, dict[str, Fraction]]:
        """Run -> its true and estimated scores."""
        q0 = self.pooled_by(self.qrels, pooled)
        best = sorted(sorted(pooled, reverse=True), key=lambda r: -self.mean(self.runs[r], q0, n, True))[:keep]
        q = self.pooled_by(q0, best)
        found = {}
        for u in best:
            group = [r for r in best if r == u or (leave == "team" and self.teams[r] == self.teams[u])]
            reduced = self.pooled_by(q, [r for r in best if r not in group])
            peers = [r for r in best if r != u and (self.sigir or r not in group)]
            found[u] = {
                "true": self.mean(self.runs[u], q, n, True),
                "reduced": self.mean(self.runs[u], reduced, n, True),
                "webber-park": self.webber_park(u, peers, reduced, n),
                **self.lipani(u, peers, reduced, n),
            }
        return found
