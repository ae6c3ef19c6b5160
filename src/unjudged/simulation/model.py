"""The model of one topic: its documents, every run's scores and list, the pool, the judge.

Another mechanism (`latent`) shares what has nothing to do with how scores come about: ids, lists, pool and judge.

Every number comes from a stream of its own address (see `streams`), so one topic can be made without the
others, and what happens to the judgments never reaches the lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unjudged.simulation.presets import Parameters, Sizes
from unjudged.simulation.runs import Runs
from unjudged.simulation.streams import Floats, Ints, Purpose, Stream

MICRO = 1_000_000  # scores are whole millionths: rounded to 6 decimals before anything is compared
FAVOURED = 10  # a judge who favours a family does so in the top 10 of its runs


@dataclass(frozen=True)
class Topic:
    """One finished topic. Candidates are numbered 0 .. C - 1; ids hide how."""

    ease: float
    agreement: float
    relevant: int  # how many candidates are relevant, judged or not
    document: NDArray[np.int32]  # collection document of each candidate
    grade: NDArray[np.int8]  # true grade of each candidate
    lists: NDArray[np.int32]  # runs x K candidates, best first
    scores: NDArray[np.int64]  # runs x K, in millionths
    lengths: Ints  # documents in each run's list: K, unless a quirk says otherwise
    judged: Ints  # candidates in the qrels, by document
    judgment: NDArray[np.int8]  # their grades as the judge gave them

    @property
    def retrieved(self) -> NDArray[np.bool_]:
        """Which candidates any run lists."""
        out = np.zeros(len(self.document), dtype=bool)
        for row, length in zip(self.lists, self.lengths, strict=True):
            out[row[:length]] = True
        return out


def draw_topic(p: Parameters, seed: int, runs: Runs, t: int) -> Topic:
    """Topic t (from 0): its documents, every run's list, the pool and the judgments."""
    x, ease, agreement, _ = Stream(seed, Purpose.TOPIC, topic=t).normals(4)
    relevant = number_relevant(p, float(x))
    shares = _shares(p, float(agreement))
    b_t = p.b * float(ease) - p.beta * float(x)

    ids = Identities.draw(p, seed, t)
    grade = np.zeros(p.C, dtype=np.int8)
    grade[:relevant] = 1 + np.searchsorted(
        grade_limits(p), Stream(seed, Purpose.GRADES, topic=t).uniforms(relevant), side="right"
    )
    model = _TopicModel(p, seed, runs, t, shares, b_t, grade, relevant, ids)
    lists, scores = model.lists()
    hidden = model.hidden if p.extra else None
    return finished(p, seed, runs, t, ids, grade, lists, scores, hidden, ease=b_t, agreement=shares[0])


def number_relevant(p: Sizes, x: float) -> int:
    """The number of relevant documents of a topic for which the standard normal x was drawn."""
    wanted = round(p.R * math.exp(p.Rsd * x - p.Rsd**2 / 2))
    return min(max(wanted, p.Rmin), int(p.Rmax * p.C))


def grade_limits(p: Sizes) -> Floats:
    """Where the shares of the grades 1, 2, ... end, the last one left out."""
    return np.asarray(np.cumsum(p.grades)[:-1] / sum(p.grades), dtype=np.float64)


@dataclass(frozen=True)
class Identities:
    """Which documents of the collection the candidates of a topic are: drawn at random, so that ids say nothing."""

    document: Ints  # per candidate
    by_id: Ints  # candidates in the order of their ids
    rank: Ints  # per candidate, its place in that order

    @classmethod
    def draw(cls, p: Sizes, seed: int, t: int) -> Identities:
        """Those of topic t."""
        document = Stream(seed, Purpose.IDS, topic=t).permutation(p.collection)[: p.C]
        by_id = np.argsort(document)
        rank = np.empty(p.C, dtype=np.int64)
        rank[by_id] = np.arange(p.C)
        return cls(document, by_id, rank)

    def best(self, score: Floats, k: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The k best candidates: score in millionths, ties by id descending (as trec_eval reads them)."""
        bits = len(score).bit_length()
        score *= MICRO
        keys = np.rint(score, out=score).astype(np.int64)
        keys <<= bits
        keys |= self.rank
        if k < len(keys):
            keys = np.partition(keys, len(keys) - k)[len(keys) - k :]
        keys.sort()
        keys = keys[::-1]
        return self.by_id[keys & ((1 << bits) - 1)].astype(np.int32), keys >> bits


def finished(
    p: Sizes,
    seed: int,
    runs: Runs,
    t: int,
    ids: Identities,
    grade: NDArray[np.int8],
    lists: NDArray[np.int32],
    scores: NDArray[np.int64],
    hidden: Callable[[NDArray[np.bool_]], Ints] | None,
    *,
    ease: float,
    agreement: float,
) -> Topic:
    """The topic with its quirks, pool and judgments; `hidden` gives documents judged beside the pool."""
    lengths = _lengths(p, seed, runs, t)
    if "ties" in p.quirk:
        scores = np.rint(scores / (MICRO // 10)).astype(np.int64) * (MICRO // 10)

    pool = np.zeros(p.C, dtype=bool)
    for r in np.flatnonzero(runs.pooled):
        pool[lists[r, : min(p.depth, lengths[r])]] = True
    if hidden is not None:
        pool[hidden(pool)] = True
    kept, judgment = _judge(p, seed, runs, t, pool, grade, lists, lengths)
    judged = ids.by_id[kept[ids.by_id]]
    return Topic(
        ease=ease,
        agreement=agreement,
        relevant=int(np.count_nonzero(grade > 0)),
        document=ids.document.astype(np.int32),
        grade=grade,
        lists=lists,
        scores=scores,
        lengths=lengths,
        judged=judged,
        judgment=judgment[judged],
    )


@dataclass(frozen=True)
class _TopicModel:
    """Scores of one topic: shared terms are drawn once and handed down from family to team to run."""

    p: Parameters
    seed: int
    runs: Runs
    t: int
    shares: tuple[float, float, float, float]  # of score variance: common, family, team, run
    ease: float
    grade: NDArray[np.int8]
    relevant: int
    ids: Identities

    def _stream(self, purpose: Purpose, team: int = 0, run: int = 0) -> Stream:
        return Stream(self.seed, purpose, topic=self.t, team=team, run=run)

    def _family(self, h: int) -> tuple[Floats, Floats]:
        """Score and hardness as family h sees them, before any team's own part."""
        p, share = self.p, self.shares
        score = self._stream(Purpose.COMMON_SCORE).gammas(p.C, p.k) * math.sqrt(share[0])
        score += self._stream(Purpose.FAMILY_SCORE, h).gammas(p.C, p.k) * math.sqrt(share[1])
        hardness = p.hard_c * self._stream(Purpose.COMMON_HARDNESS).exponentials(self.relevant)
        hardness += p.hard_f * self._stream(Purpose.FAMILY_HARDNESS, h).exponentials(self.relevant)
        mean = sum(g * s for g, s in enumerate(p.grades, 1)) / sum(p.grades)
        hardness -= p.step * (self.grade[: self.relevant] - mean)
        return score, hardness

    def lists(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The K best candidates of every run and their scores in millionths."""
        p, runs = self.p, self.runs
        lists = np.empty((len(runs.names), p.K), dtype=np.int32)
        scores = np.empty((len(runs.names), p.K), dtype=np.int64)
        families = {h: self._family(h) for h in sorted(set(runs.family.tolist()))}
        for j in range(p.teams):
            family_score, family_hardness = families[int(runs.family[j])]
            kappa, omega = float(runs.team_oddness[j]), float(runs.style[j])
            score = self._stream(Purpose.TEAM_SCORE, j).gammas(p.C, p.k)
            score *= kappa * math.sqrt(self.shares[2])
            score += family_score
            hardness = p.hard_t * self._stream(Purpose.TEAM_HARDNESS, j).exponentials(self.relevant)
            hardness += family_hardness
            team_ability = p.mu + self.ease + p.i_team * self._stream(Purpose.TEAM_ABILITY, j).normals(1)[0]
            for r in np.flatnonzero(runs.team == j):
                n = int(runs.number[r])
                own = self._stream(Purpose.RUN_SCORE, j, n).normals(p.C)
                own *= kappa * runs.run_oddness[r] * math.sqrt(self.shares[3])
                own += score
                ability = team_ability + runs.quality[r]
                ability += p.i_run * self._stream(Purpose.RUN_ABILITY, j, n).normals(1)[0]
                own[: self.relevant] += self._lift(ability, omega, hardness)
                lists[r], scores[r] = self.ids.best(own, p.K)
        return lists, scores

    def hidden(self, pool: NDArray[np.bool_]) -> Ints:
        """The best `extra` candidates outside the pool of a hidden run: active learning or manual search."""
        p = self.p
        score, hardness = self._family(0)
        own = self._stream(Purpose.HIDDEN_SCORE).gammas(p.C, p.k)
        score += own * math.sqrt(self.shares[2] + self.shares[3])
        hardness += p.hard_t * self._stream(Purpose.HIDDEN_HARDNESS).exponentials(self.relevant)
        score[: self.relevant] += self._lift(p.mu + self.ease + p.q_extra, 1.0, hardness)
        order, _ = self.ids.best(score, p.C)
        return order[~pool[order]][: p.extra].astype(np.int64)

    def _lift(self, ability: float, omega: float, hardness: Floats) -> Floats:
        """What relevance adds to the score; nothing for documents that are too hard."""
        reach = ability + 0.6 * (omega - 1.0) * (self.p.hard_c + self.p.hard_f + self.p.hard_t)
        return np.maximum(0.0, reach - omega * hardness)


def _shares(p: Parameters, z: float) -> tuple[float, float, float, float]:
    """A topic's shares of score variance: common, family, team, run."""
    common = 0.0 if p.c == 0 else 1.0 / (1.0 + (1.0 - p.c) / p.c * math.exp(-p.agree * z))
    rest = (1.0 - common) / (1.0 - p.c)
    family, team = p.f * rest, p.m * rest
    return common, family, team, max(0.0, 1.0 - common - family - team)


def _lengths(p: Sizes, seed: int, runs: Runs, t: int) -> Ints:
    """Lengths of the lists: K, or shorter and missing where these quirks are on (never the first topic)."""
    out = np.full(len(runs.names), p.K, dtype=np.int64)
    for r, (j, n) in enumerate(zip(runs.team.tolist(), runs.number.tolist(), strict=True)):
        if "short" in p.quirk:
            chance, share = Stream(seed, Purpose.QUIRK_SHORT, topic=t, team=j, run=n).uniforms(2)
            if chance < 0.3:
                out[r] = max(1, int(share * p.K * 0.5))
        if "missing" in p.quirk and t > 0:
            chance = Stream(seed, Purpose.QUIRK_MISSING, topic=t, team=j, run=n).uniforms(1)[0]
            if chance < 0.1:
                out[r] = 0
    return out


def _judge(
    p: Sizes,
    seed: int,
    runs: Runs,
    t: int,
    pool: NDArray[np.bool_],
    grade: NDArray[np.int8],
    lists: NDArray[np.int32],
    lengths: Ints,
) -> tuple[NDArray[np.bool_], NDArray[np.int8]]:
    """Which candidates are in the qrels, and the grade the judge gives to each candidate."""
    given = grade.copy()
    if p.noise:
        chance = Stream(seed, Purpose.JUDGE_NOISE, topic=t).uniforms(p.C)
        given[(grade > 0) & (chance < p.noise)] = 0
        given[(grade == 0) & (chance < p.noise / 10)] = 1
    for h, probability in runs.favours:
        top = np.zeros(p.C, dtype=bool)
        for r in np.flatnonzero(runs.pooled & (runs.family[runs.team] == h)):
            top[lists[r, : min(FAVOURED, lengths[r])]] = True
        chance = Stream(seed, Purpose.JUDGE_FAVOUR, topic=t, team=h).uniforms(p.C)
        given[top & (grade == 0) & (chance < probability)] = 1
    kept = pool
    if p.rate < 1:
        kept = pool & (Stream(seed, Purpose.JUDGE_RATE, topic=t).uniforms(p.C) < p.rate)
    if "negative" in p.quirk:
        chance = Stream(seed, Purpose.QUIRK_NEGATIVE, topic=t).uniforms(p.C)
        given[(given == 0) & (chance < 0.15)] = -1
        given[(given == -1) & (chance < 0.05)] = -2
    return kept, given
