"""Measures and means within 1e-12 of exact rational arithmetic; the formulas are those of METHODS A, written anew.

A list is a sequence of grades by rank: None is a document outside the judgments, -1 one in the pool without a grade.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

import unjudged as uj

TOP = 3  # highest grade, and its gain
TINY = Fraction(1, 100_000)
CLOSE = 1e-12
Grades = Sequence[int | None]


@dataclass(frozen=True)
class Topic:
    """A ranked list, and the judged grades of the whole topic."""

    ranked: Grades
    judged: tuple[int, ...]

    @property
    def relevant(self) -> int:
        return sum(g > 0 for g in self.judged)

    @property
    def nonrelevant(self) -> int:
        return self.judged.count(0)

    @property
    def ideal(self) -> list[int]:
        """Cumulated gain of the ideal list, at least one entry."""
        return list(accumulate(sorted((g for g in self.judged if g > 0), reverse=True))) or [0]

    def ideal_at(self, rank: int) -> int:
        return self.ideal[min(rank, len(self.ideal)) - 1]

    @property
    def condensed(self) -> list[int]:
        return [g for g in self.ranked if g is not None and g >= 0]


def gain(grade: int | None) -> int:
    return max(grade or 0, 0)


def per_relevant(topic: Topic, total: Fraction | int) -> Fraction:
    return Fraction(total) / topic.relevant if topic.relevant else Fraction(0)


def precision(topic: Topic, n: int) -> Fraction:
    return Fraction(sum(gain(g) > 0 for g in topic.ranked[:n]), n)


def blended(topic: Topic, beta: int) -> list[tuple[int, Fraction]]:
    """(gain, BR) at each relevant rank."""
    found, count, cumulated = [], 0, 0
    for rank, grade in enumerate(topic.ranked, 1):
        if gain(grade):
            count, cumulated = count + 1, cumulated + gain(grade)
            found.append((gain(grade), Fraction(count + beta * cumulated, rank + beta * topic.ideal_at(rank))))
    return found


def blended_mean(topic: Topic, beta: int) -> Fraction:
    return per_relevant(topic, sum((ratio for _, ratio in blended(topic, beta)), Fraction(0)))


def preferred(topic: Topic) -> list[Fraction]:
    """BR at the relevant ranks up to the first one of the highest grade in the list."""
    ratios = blended(topic, 1)
    best = max((g for g, _ in ratios), default=0)
    place = next((i for i, (g, _) in enumerate(ratios) if g == best), -1)
    return [ratio for _, ratio in ratios[: place + 1]]


def r_measure(topic: Topic) -> Fraction:
    gains = [gain(g) for g in topic.ranked[: topic.relevant]]
    if not topic.relevant:
        return Fraction(0)
    return Fraction(sum(g > 0 for g in gains) + sum(gains), topic.relevant + topic.ideal[-1])


def reciprocal_rank(topic: Topic) -> Fraction:
    return next((Fraction(1, rank) for rank, g in enumerate(topic.ranked, 1) if gain(g)), Fraction(0))


def cumulated_gain(topic: Topic, n: int) -> Fraction:
    return Fraction(sum(map(gain, topic.ranked[:n])), topic.ideal_at(n)) if topic.relevant else Fraction(0)


def rank_biased(topic: Topic, p: Fraction) -> Fraction:
    total = Fraction(0)
    for grade in reversed(topic.ranked):
        total = gain(grade) + p * total
    return (1 - p) * total / TOP


def expected_reciprocal_rank(topic: Topic, stop: Callable[[int], Fraction]) -> Fraction:
    total, still_looking = Fraction(0), Fraction(1)
    for rank, grade in enumerate(topic.ranked, 1):
        if gain(grade):
            chance = stop(gain(grade))
            total += still_looking * chance / rank
            still_looking *= 1 - chance
    return total


def preference(topic: Topic, cap: int | None, scale: Callable[[int], int]) -> Fraction:
    """The bpref family: 1 - min(cap, n) / scale for each relevant document, n nonrelevant ones above it."""
    total, above = Fraction(0), 0
    for rank, grade in enumerate(topic.condensed, 1):
        if not grade:
            above += 1
        elif not above:
            total += scale(rank) != 0 or cap is not None
        else:
            total += 1 - Fraction(above if cap is None else min(cap, above), scale(rank))
    return per_relevant(topic, total)


def bpref(topic: Topic, name: str) -> Fraction:
    r, n = topic.relevant, topic.nonrelevant
    retrieved = topic.condensed.count(0)
    if name == "bpref_relative":
        return preference(topic, None, lambda rank: rank - 1)
    if name == "bpref_relative2":
        return preference(topic, None, lambda rank: rank)
    cap, scale = {
        "bpref": (r, min(r, n)),
        "bpref_R": (r, r),
        "bpref_N": (n, n),
        "old_bpref": (r, min(r, retrieved)),
        "bpref_10": (r + 10, min(r + 10, n)),
    }[name]
    return preference(topic, cap, lambda rank: scale)


def rpref(topic: Topic, name: str) -> Fraction:
    if not topic.relevant:
        return Fraction(0)
    best = topic.ideal[-1]
    judged = topic.relevant + topic.nonrelevant - Fraction(best, TOP)
    total, above = Fraction(0), [0] * (TOP + 1)
    for rank, grade in enumerate(topic.condensed, 1):
        norm = {"rpref_N": judged, "rpref_relative": Fraction(rank - 1), "rpref_relative2": Fraction(rank)}[name]
        if grade and not (name == "rpref_relative" and rank == 1):
            penalty = sum((Fraction(above[g] * (grade - g), grade) for g in range(grade)), Fraction(0))
            total += grade * (1 - (penalty / norm if penalty else 0))
        above[grade] += 1
    return total / best


def inferred_ap(topic: Topic) -> Fraction:
    total, seen = Fraction(0), {1: 0, 0: 0, -1: 0}
    for rank, grade in enumerate(topic.ranked, 1):
        if grade is None:
            continue
        if grade > 0:
            pool, judged = sum(seen.values()), seen[1] + seen[0]
            share = (seen[1] + TINY) / (judged + 2 * TINY)
            total += Fraction(1, rank) + (Fraction(pool, rank) * share if rank > 1 else 0)
        seen[min(grade, 1)] += 1
    return per_relevant(topic, total)


def graded_ap(topic: Topic) -> Fraction:
    """A user asks for grade 1, 2 or 3 at least, with equal chances."""
    total, worth = Fraction(0), Fraction(sum(map(gain, topic.judged)))
    for level in range(1, TOP + 1):
        found = 0
        for rank, grade in enumerate(topic.ranked, 1):
            if gain(grade) >= level:
                found += 1
                total += Fraction(found, rank)
    return total / worth if worth else Fraction(0)


def set_ap(topic: Topic) -> Fraction:
    """Set precision times set recall."""
    found = sum(gain(g) > 0 for g in topic.ranked)
    return per_relevant(topic, Fraction(found, len(topic.ranked)) * found)


def utility(topic: Topic) -> Fraction:
    """2 for a relevant document retrieved, -1 for another, -0.5 for a relevant one missed; 0.25 for the rest."""
    found, length = sum(gain(g) > 0 for g in topic.ranked), len(topic.ranked)
    missed = topic.relevant - found
    return 2 * found - (length - found) - Fraction(missed, 2) + Fraction(5000 - length - missed, 4)


def utility_of_stops(topic: Topic, gamma: Fraction) -> Fraction:
    """Precision seen by users of whom a share gamma goes on at each relevant document."""
    chances = [gamma**n for n in range(topic.relevant)]
    seen = [precision(topic, rank) for rank, g in enumerate(topic.ranked, 1) if gain(g)]
    return sum(map(Fraction.__mul__, chances, seen), Fraction(0)) / (sum(chances, Fraction(0)) or 1)


MEASURES: dict[str, Callable[[Topic], Fraction]] = {
    "P@5": lambda t: precision(t, 5),
    "P@1000": lambda t: precision(t, 1000),
    "R@10": lambda t: per_relevant(t, sum(gain(g) > 0 for g in t.ranked[:10])),
    "Rprec": lambda t: per_relevant(t, sum(gain(g) > 0 for g in t.ranked[: t.relevant])),
    "RR": reciprocal_rank,
    "AP": lambda t: blended_mean(t, 0),
    "Q": lambda t: blended_mean(t, 1),
    "Q(beta=10.0)": lambda t: blended_mean(t, 10),
    "AP'": lambda t: blended_mean(Topic(t.condensed, t.judged), 0),
    "Q'": lambda t: blended_mean(Topic(t.condensed, t.judged), 1),
    "R_measure": r_measure,
    "O_measure": lambda t: next((ratio for _, ratio in blended(t, 1)), Fraction(0)),
    "P_measure": lambda t: (preferred(t) or [Fraction(0)])[-1],
    "P_plus": lambda t: sum(preferred(t), Fraction(0)) / max(len(preferred(t)), 1),
    "nCG@10": lambda t: cumulated_gain(t, 10),
    "nCG@1000": lambda t: cumulated_gain(t, 1000),
    "RBP": lambda t: rank_biased(t, Fraction(19, 20)),
    "RBP(p=0.5)": lambda t: rank_biased(t, Fraction(1, 2)),
    "ERR": lambda t: expected_reciprocal_rank(t, lambda g: Fraction(2**g - 1, 2**TOP)),
    "ERR(stop='ntcir')": lambda t: expected_reciprocal_rank(t, lambda g: Fraction(g, TOP + 1)),
    "SetAP": set_ap,
    "Utility(a=2.0, c=-0.5, d=0.25, documents=5000.0)": utility,
    "NCU(pr='rb', gamma=0.75)": lambda t: utility_of_stops(t, Fraction(3, 4)),
    "NCU(pr='rb', gamma=1.0)": lambda t: utility_of_stops(t, Fraction(1)),
    "infAP": inferred_ap,
    "GAP": graded_ap,
    **{
        name: lambda t, name=name: bpref(t, name)  # type: ignore[misc]
        for name in ("bpref", "bpref_R", "bpref_N", "old_bpref", "bpref_10", "bpref_relative", "bpref_relative2")
    },
    **{
        name: lambda t, name=name: rpref(t, name)  # type: ignore[misc]
        for name in ("rpref_N", "rpref_relative", "rpref_relative2")
    },
}


def drawn(rng: random.Random, length: int, missed: int) -> Topic:
    """A random list, and judgments of which up to `missed` were not retrieved."""
    kinds: list[int | None] = [None, -1, 0, 1, 2, TOP]
    share = rng.choice([(6, 1, 6, 2, 1, 1), (1, 0, 1, 3, 3, 3), (8, 1, 1, 1, 0, 0), (0, 0, 5, 0, 0, 1)])
    ranked = rng.choices(kinds, share, k=rng.randint(1, length) if length < 100 else length)
    rest = rng.choices(kinds[1:], (1, 4, 2, 1, 1), k=rng.randint(1, missed))
    return Topic(ranked, tuple(g for g in (*ranked, *rest) if g is not None))


def scored(topics: Sequence[Topic], measures: Sequence[str] = ()) -> uj.Scores:
    """The program's scores of these lists; the documents' names and scores say nothing but the rank."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number, topic in enumerate(topics):
        names = [f"d{rank}" for rank in range(len(topic.ranked))]
        run[str(number)] = {doc: float(-rank) for rank, doc in enumerate(names)}
        found = {doc: g for doc, g in zip(names, topic.ranked, strict=True) if g is not None}
        rest = list(topic.judged)[len(found) :]
        qrels[str(number)] = {**found, **{f"m{i}": g for i, g in enumerate(rest)}}
    return uj.score(uj.load(qrels, {"run": run}), list(measures or MEASURES))


def check(topics: Sequence[Topic]) -> None:
    assert max(grade for topic in topics for grade in topic.judged) == TOP
    scores = scored(topics)
    means = scores.mean_values()[0]
    assert [str(m) for m in scores.measures] == list(MEASURES)
    for m, (name, exact) in enumerate(MEASURES.items()):
        wanted = [exact(topic) for topic in topics]
        apart = np.abs(scores.values[0, :, m] - [float(value) for value in wanted])
        assert apart.max() <= CLOSE, (name, int(apart.argmax()), topics[int(apart.argmax())])
        mean = Fraction(sum(int(value * 10**40) for value in wanted), len(wanted) * 10**40)
        assert abs(Fraction(float(means[m])) - mean) <= CLOSE, name


@pytest.mark.parametrize("seed", range(4))
def test_short_lists(seed: int) -> None:
    rng = random.Random(seed)
    check([drawn(rng, 12, 6) for _ in range(100)])


@pytest.mark.slow
def test_a_thousand_topics() -> None:
    rng = random.Random(11)
    check([drawn(rng, 20, 10) for _ in range(1000)])


@pytest.mark.slow
def test_lists_of_a_thousand_documents() -> None:
    rng = random.Random(12)
    check([drawn(rng, 1000, 300) for _ in range(4)])


# -- user models: a thousand ranks, walked one by one with fifty digits

GoingOn = Callable[[int, Decimal, Decimal], Decimal]
"""C(r) of rank, gain there and gain so far."""


def insq(rank: int, wanted: Decimal) -> Decimal:
    return ((rank + 2 * wanted - 1) / (rank + 2 * wanted)) ** 2


ONE, LARGE = Decimal(1), Decimal("2.5")
USER_MODELS: dict[str, GoingOn] = {
    "SDCG@10": lambda r, g, cg: (Decimal(r + 1).ln() / Decimal(r + 2).ln()) * (r < 10),
    "BPM@10": lambda r, g, cg: Decimal(cg < 1 and r < 10),
    "BPM(T=2.5)@5000": lambda r, g, cg: Decimal(cg < LARGE),
    "INSQ": lambda r, g, cg: insq(r, ONE),
    "INST": lambda r, g, cg: insq(r, ONE - cg / 2),
    "INST(T=0.25)": lambda r, g, cg: insq(r, Decimal("0.25") - cg / 2),
    "INST(T=2.5)": lambda r, g, cg: insq(r, LARGE - cg / 2),
    "NERR8@10": lambda r, g, cg: (1 - g) * (r < 10),
    "NERR8@1000": lambda r, g, cg: 1 - g,
    "NERR9@20": lambda r, g, cg: (1 - g) * r / (r + 1) * (r < 20),
    "NERR10": lambda r, g, cg: (1 - g) * Decimal("0.9"),
    "NERR11": lambda r, g, cg: (1 - g) * insq(r, ONE),
}


def expected_gain(topic: Topic, going_on: GoingOn) -> Decimal:
    """Expected gain per document looked at, down to rank 1000."""
    looked, seen, gained, cumulated = Decimal(1), Decimal(0), Decimal(0), Decimal(0)
    for rank, grade in enumerate([*topic.ranked, *[None] * 1000][:1000], 1):
        mine = Decimal(gain(grade)) / TOP
        seen, gained, cumulated = seen + looked, gained + looked * mine, cumulated + mine
        looked *= going_on(rank, mine, cumulated)
    return gained / seen


@pytest.mark.parametrize("lengths", [(5, 40), pytest.param((5, 12, 40, 99, 1000, 1200) * 3, marks=pytest.mark.slow)])
def test_user_models(lengths: tuple[int, ...]) -> None:
    rng = random.Random(13)
    topics = [drawn(rng, length, 20) for length in lengths]
    scores = scored(topics, list(USER_MODELS))
    with localcontext(prec=50):
        for m, (name, going_on) in enumerate(USER_MODELS.items()):
            for topic, value in zip(topics, scores.values[0, :, m].tolist(), strict=True):
                assert value == pytest.approx(float(expected_gain(topic, going_on)), abs=CLOSE), (name, topic)


def test_user_models_with_a_lowest_grade() -> None:
    """Of the grades 0 to 3 the lowest two gain nothing, the third half of the highest; one rank is looked at."""
    judged = {f"t{grade}": {"d": grade} for grade in range(4)}
    c = uj.load(judged, {"r": {topic: {"d": 1.0} for topic in judged}})
    assert uj.score(c, ["SDCG(min_rel=1)@1"]).values[0, :, 0].tolist() == [0, 0, 0.5, 1]


def test_ndcg_at_each_relevant_document() -> None:
    """nDCG_rel: nDCG@r at the relevant ranks r, nDCG of the whole list for the relevant documents that were missed."""
    with localcontext(prec=30):
        topics = [drawn(random.Random(seed), 12, 6) for seed in range(40)]
        for topic, value in zip(topics, scored(topics, ["nDCG_rel"]).values[0, :, 0].tolist(), strict=True):
            ideal = sorted((g for g in topic.judged if g > 0), reverse=True)

            def ndcg(k: int, topic: Topic = topic, ideal: list[int] = ideal) -> Decimal:
                own, best = (
                    sum((gain(g) / Decimal(r + 1).ln() for r, g in enumerate(grades[:k], 1)), Decimal(0))
                    for grades in (topic.ranked, ideal)
                )
                return own / best

            ranks = [rank for rank, g in enumerate(topic.ranked, 1) if gain(g)]
            total = sum(map(ndcg, ranks), Decimal(0))
            total += (len(ideal) - len(ranks)) * ndcg(len(topic.ranked) + len(ideal)) if ideal else 0
            assert value == pytest.approx(float(total / max(len(ideal), 1)), abs=CLOSE), topic


def test_user_models_with_grades_no_table_could_hold() -> None:
    collection = uj.load({"t": {"a": 10**9, "b": 1, "c": 500_000_000}}, {"r": {"t": {"b": 3.0, "c": 2.0, "a": 1.0}}})
    small = uj.load({"t": {"a": 2, "b": 0, "c": 1}}, {"r": {"t": {"b": 3.0, "c": 2.0, "a": 1.0}}})
    large, same = (uj.score(c, ["INST", "NERR11", "GAP"]).values[0, 0] for c in (collection, small))
    np.testing.assert_allclose(large[:2], same[:2], rtol=1e-8)  # a grade of 1 in 10^9 is next to nothing
    # thresholds up to 1 are met by b, c and a; those up to 5 * 10^8 by c and a; the rest by a alone
    wanted = (1 * (1 + 1 + 1) + (5e8 - 1) * (1 / 2 + 2 / 3) + 5e8 * (1 / 3)) / (1e9 + 5e8 + 1)
    assert large[2] == pytest.approx(wanted, rel=1e-12)
