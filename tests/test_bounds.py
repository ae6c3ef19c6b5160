"""Bounds against brute force: every completion of thousands of small random lists, both ends attained exactly."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

import unjudged as uj
from unjudged.bounds import bounds

EXACT = 1e-12

MEASURES = (
    *("P", "P@1", "P@3", "P(rel=2)@3", "P(rel=0)@3", "SetP", "SetP(relative=True)", "RR", "RR@2", "RR(rel=2)"),
    *("Success@1", "Success@3", "RBP", "RBP(p=0.5)@3", "RBP(rel=1)", "RBP(p=0.8, rel=2)", "DCG", "DCG(dcg='jk')@3"),
    *("ERR", "ERR(stop='ntcir')@3", "NumRelRet", "anti_P@3", "anti_P(rel=2)"),
    *("R", "R@2", "R(rel=2)@3", "R(rel=0)@2", "SetR", "relative_P@2", "relative_P(rel=2)@4"),
    *("AP", "AP@2", "AP@4", "AP(norm='min')@2", "AP(norm='min')@4", "AP(rel=2)", "AP(rel=0)", "AP(rel=9)", "AP'"),
    *("Rprec", "Rprec(mult=0.4)", "Rprec(mult=2.0)", "Rprec(rel=2)", "bpref", "bpref(rel=2)", "bpref(rel=0)"),
    *("nDCG", "nDCG@1", "nDCG@3", "nDCG(dcg='exp-log2')", "nDCG(dcg='exp-log2')@3", "nDCG(dcg='jk')", "nDCG'"),
    *("nDCG(dcg='jk', base=3)@4", "nDCG(gains={1: 1, 2: 5, 3: 20})", "nDCG(gains={1: 0, 2: 1, 3: 1})@3", "nCG@3"),
    *("Q", "Q@2", "Q@4", "Q(beta=0)", "Q(beta=10)", "Q(beta=0.2)@3", "Q'", "bpref(rel=9)"),
    *("Q(gains={1: 1, 2: 5, 3: 20})", "Q(beta=100, gains={1: 3, 2: 3, 3: 20})@4", "Q(gains={1: 0, 2: 1, 3: 4})"),
)


@dataclass(frozen=True)
class Case:
    """One topic: grades in rank order (None or negative: unjudged), judged ones missed, unjudged ones of others."""

    ranked: tuple[int | None, ...]
    missed: tuple[int, ...] = ()
    others: int = 0

    @property
    def open(self) -> int:
        return sum(g is None or g < 0 for g in self.ranked)

    def judged(self) -> dict[str, int]:
        found = {f"d{i}": g for i, g in enumerate(self.ranked) if g is not None}
        return found | {f"missed{i}": g for i, g in enumerate(self.missed)}

    def list(self) -> dict[str, float]:
        return {f"d{i}": -float(i) for i in range(len(self.ranked))}

    def completed(self, own: Sequence[int], others: Iterable[int]) -> dict[str, int]:
        grades = iter(own)
        found = {f"d{i}": next(grades) if g is None or g < 0 else g for i, g in enumerate(self.ranked)}
        found |= {f"missed{i}": g for i, g in enumerate(self.missed) if g >= 0}
        return found | {f"other{i}": g for i, g in enumerate(others)}

    def completions(self, top: int) -> Iterable[dict[str, int]]:
        """All of them; others are alike, so only how many have which grade counts."""
        for own in itertools.product(range(top + 1), repeat=self.open):
            for others in itertools.combinations_with_replacement(range(top + 1), self.others):
                yield self.completed(own, others)


def random_case(rng: random.Random, top: int, limit: int) -> Case:
    """A short list; negative grades, R = 0, N = 0 and empty lists happen."""
    while True:
        length = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 8))
        unjudged, relevant = rng.random(), rng.random()

        def grade(unjudged: float = unjudged, relevant: float = relevant) -> int | None:
            if rng.random() < unjudged:
                return rng.choice((None, None, None, -1, -2))
            return rng.randint(1, top) if rng.random() < relevant else 0

        ranked = tuple(grade() for _ in range(length))
        missed = tuple(rng.randint(0, top) if rng.random() < 0.6 else 0 for _ in range(rng.choice((0, 0, 1, 2, 4))))
        case = Case(ranked, missed, rng.choice((0, 0, 0, 1, 2)))
        if (top + 1) ** (case.open + case.others) <= limit:
            return case


def collection_of(cases: Sequence[Case], top: int) -> uj.Collection:
    """All cases as topics; a second run retrieves the others, among them some of the first run's own documents."""
    qrels: dict[str, dict[str, int]] = {"top": {"best": top}}
    runs: dict[str, dict[str, dict[str, float]]] = {"run": {}, "second": {}}
    for i, case in enumerate(cases):
        topic = f"t{i}"
        qrels[topic] = case.judged() or {"nobody": -1}
        if case.ranked:
            runs["run"][topic] = case.list()
        second = {f"other{o}": 1.0 + o for o in range(case.others)} | dict.fromkeys(list(case.list())[i % 2 :: 2], 9.0)
        if second:
            runs["second"][topic] = second
    return uj.load(qrels, runs)


def brute_force(cases: Sequence[Case], top: int, measures: Sequence[str]) -> tuple[np.ndarray, np.ndarray, int]:
    """Lowest and highest score over all completions: each completion is a topic of a collection without unjudged."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    starts = []
    for case in cases:
        starts.append(len(qrels))
        for completed in case.completions(top):
            topic = str(len(qrels))
            qrels[topic] = completed or {"nobody": 0}
            if case.ranked:
                run[topic] = case.list()
    total = len(qrels)
    qrels["top"] = {"best": top}
    values = uj.score(uj.load(qrels, {"run": run or {"top": {"x": 1.0}}}), list(measures)).values[0, :total]
    return np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts), total


def check(cases: Sequence[Case], top: int, measures: Sequence[str]) -> int:
    """Compare; the number of completions looked at."""
    collection = collection_of(cases, top)
    result = bounds(collection, list(measures))
    low, high, total = brute_force(cases, top, measures)
    for found, expected, end in ((result.low[0, 1:], low, "lowest"), (result.high[0, 1:], high, "highest")):
        wrong = np.argwhere(np.abs(found - expected) > EXACT)
        if len(wrong):
            case, m = wrong[0]
            raise AssertionError(
                f"{end} {measures[m]} of {cases[case]}, grades 0..{top}: "
                f"{found[case, m]} found, {expected[case, m]} by brute force ({len(wrong)} cases differ)"
            )
    return total


@pytest.mark.parametrize(("top", "count", "limit"), [(1, 900, 128), (2, 700, 243), (3, 500, 256)])
def test_both_ends_are_attained(top: int, count: int, limit: int) -> None:
    rng = random.Random(top)
    cases = [random_case(rng, top, limit) for _ in range(count)]
    assert {c.open for c in cases} >= set(range(4))
    assert check(cases, top, MEASURES) > 10 * count
