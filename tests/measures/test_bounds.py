"""Bounds against brute force: every completion of thousands of small random lists, both ends attained exactly."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import unjudged as uj
from unjudged.errors import UsageError
from unjudged.measures import REGISTRY
from unjudged.measures import measures as parsed
from unjudged.measures.bounds import BOUNDED, blended
from unjudged.measures.bounds.cells import Setting, cells_of
from unjudged.scoring import Bounds, score_bounds

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


def second_list(case: Case, number: int) -> list[str]:
    """What a second run retrieves in the topic: all the others, some of the first run's and of the missed ones."""
    pool = [*case.list(), *(f"missed{i}" for i in range(len(case.missed)))]
    rng = random.Random(number)
    docs = [*(f"other{i}" for i in range(case.others)), *(d for d in pool if rng.random() < 0.4)]
    rng.shuffle(docs)
    return docs


def second_case(case: Case, number: int) -> Case:
    """The same topic as the second run sees it."""
    docs, grade = second_list(case, number), case.judged()
    left = [d for d in (*case.list(), *grade) if d not in docs]
    missed = tuple(grade[d] for d in dict.fromkeys(left) if grade.get(d, -1) >= 0)
    return Case(tuple(grade.get(d) for d in docs), missed, sum(grade.get(d, -1) < 0 for d in case.list() if d in left))


def collection_of(cases: Sequence[Case], top: int) -> uj.Collection:
    """All cases as topics of a first run; a second run retrieves the others."""
    qrels: dict[str, dict[str, int]] = {"top": {"best": top}}
    runs: dict[str, dict[str, dict[str, float]]] = {"run": {"top": {"best": 1.0}}, "second": {"top": {"best": 1.0}}}
    for i, case in enumerate(cases):
        topic = f"t{i}"
        qrels[topic] = case.judged() or {"nobody": -1}
        if case.ranked:
            runs["run"][topic] = case.list()
        if second := second_list(case, i):
            runs["second"][topic] = {d: -float(r) for r, d in enumerate(second)}
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
    """Compare both runs of all topics; the number of completions looked at."""
    result = score_bounds(collection_of(cases, top), list(measures))
    cases = [*cases, *(second_case(c, i) for i, c in enumerate(cases))]
    low, high, total = brute_force(cases, top, measures)
    for ends, expected, name in ((result.low, low, "lowest"), (result.high, high, "highest")):
        found = np.concatenate(ends[:, 1:])
        wrong = np.argwhere(np.abs(found - expected) > EXACT)
        if len(wrong):
            case, m = wrong[0]
            raise AssertionError(
                f"{name} {measures[m]} of {cases[case]}, grades 0..{top}: "
                f"{found[case, m]} found, {expected[case, m]} by brute force ({len(wrong)} cases differ)"
            )
    return total


@pytest.mark.parametrize(
    ("top", "count", "limit"),
    [
        pytest.param(3, 30, 64),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((1, 500, 128), (2, 250, 243), (3, 200, 256))),
    ],
)
def test_both_ends_are_attained(top: int, count: int, limit: int) -> None:
    rng = random.Random(top)
    cases = [random_case(rng, top, limit) for _ in range(count)]
    assert {c.open for c in cases} >= set(range(4))
    assert check(cases, top, MEASURES) > 20 * count


@pytest.mark.parametrize("count", [5, pytest.param(25, marks=pytest.mark.slow)])
def test_search_over_boxes(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Q, where small cases are not simply enumerated: the bounds on boxes rule nothing good out."""
    monkeypatch.setattr(blended, "FEW", 0)
    rng = random.Random(5)
    graded = [m for m in MEASURES if m.startswith("Q")]
    for top, limit in ((1, 64), (2, 243), (3, 256)):
        check([random_case(rng, top, limit) for _ in range(count)], top, graded)


def test_a_cut_off_below_every_list_changes_no_bound() -> None:
    """The ideal list may be longer than every list: what other runs retrieved may all be relevant."""
    runs = {f"r{i}": {"t": {f"x{2 * i}": 2.0, f"x{2 * i + 1}": 1.0}} for i in range(4)}
    found = score_bounds(uj.load({"t": {"x0": 1}}, runs), ["nDCG", "nDCG@50"])
    for end in (found.low, found.high):
        np.testing.assert_allclose(end[:, :, 0], end[:, :, 1], atol=EXACT)


@pytest.mark.parametrize("seed", range(6))
def test_longer_lists_of_q(seed: int) -> None:
    """Lists with 8 to 12 unjudged documents: the search against every vector of counts and its best set."""
    rng = random.Random(seed)
    top = 2 + seed % 2
    case = Case(
        tuple(None if rng.random() < 0.5 else rng.choice((0, 0, 1, 2, top)) for _ in range(20)),
        tuple(rng.randint(0, top) for _ in range(rng.randint(0, 10))),
        rng.choice((0, 3)),
    )
    assert 6 <= case.open <= 14
    collection = collection_of([case], top)
    cell = list(cells_of(collection))[1]
    problems: list[blended.Problem] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            blended,
            "_searched",
            lambda problem, measure: problems.append(problem) or np.zeros(problem.n, int),  # type: ignore[func-returns-value]
        )
        for spelling in ("Q", "Q(beta=20)", "Q(beta=0.3, gains={1: 1, 2: 3, 3: 10})"):
            blended.q_measure(cell, uj.parse(spelling)[0], Setting(collection.judgments, False))
    for problem in problems:
        vectors = itertools.combinations_with_replacement(range(problem.n + 1), len(problem.size))
        everything = blended.Search(problem)
        everything._try_all_sets(np.array([v[::-1] for v in vectors]))
        found = blended.Search(problem)
        assert found.run() is not None
        assert found.best == pytest.approx(everything.best, abs=EXACT)
        whole = np.zeros((1, len(problem.size)), np.int64), np.full((1, len(problem.size)), problem.n, np.int64)
        assert problem.bound(*whole, -np.inf)[0] >= everything.best - EXACT, "a bound of all is not below any"


def random_problem(rng: random.Random, sign: int, levels: int) -> blended.Problem:
    """A list of up to seven documents as the search sees it; up to four are unjudged."""
    while True:
        grades = [rng.choice((None, *range(levels + 1))) for _ in range(rng.randint(1, 7))]
        if 1 <= grades.count(None) <= 4:
            break
    kept = [(float(rank), grade) for rank, grade in enumerate(grades, 1) if grade != 0]
    cost = np.array([rng.choice((0.5, 1.0, 4.0)) for _ in range(levels)])
    worth = cost + (np.arange(levels) == 0)
    own = np.array([grade is None for _, grade in kept])
    judged = np.cumsum([worth[: grade or 0].sum() for _, grade in kept])
    size = np.array([sum((g or 0) > level for g in grades) for level in range(levels)]) + rng.randint(0, 2)
    reach = np.cumsum(own).astype(float) if sign > 0 else own.sum() - np.cumsum(own).astype(float)
    rank, cut = np.array([rank for rank, _ in kept]), rng.choice((2.0, np.inf))
    return blended.Problem(sign, rank, own, judged, reach, size, worth, cost, cut)


def value_of(problem: blended.Problem, graded: Sequence[int]) -> float:
    """Of one completion, rank by rank: the blended ratios of relevant ranks over min(k, R)."""
    counts = [sum(level > at for level in graded) for at in range(len(problem.size))]
    own, own_gain, total = iter(graded), 0.0, 0.0
    for rank, unjudged, judged in zip(problem.rank, problem.is_own, problem.judged, strict=True):
        level = next(own) if unjudged else 1
        own_gain += problem.worth[:level].sum() if unjudged else 0.0
        below = rank + sum(
            cost * min(rank, size + many) for cost, size, many in zip(problem.cost, problem.size, counts, strict=True)
        )
        total += (judged + own_gain) / below if level else 0.0
    return float(problem.sign * total / max(min(problem.size[0] + counts[0], problem.cut), 1))


@pytest.mark.parametrize("sign", [1, -1])
def test_no_bound_of_a_box_rules_out_what_is_in_it(sign: int) -> None:
    """Each of the bounds (a), (b) and (c) against every completion of small lists; (b) is exact where all unjudged
    documents are relevant, with one level."""
    rng = random.Random(12)
    looked = 0
    for _ in range(300):
        problem = random_problem(rng, sign, levels := rng.randint(1, 2))
        values = {
            graded: value_of(problem, graded) for graded in itertools.product(range(levels + 1), repeat=problem.n)
        }
        counts = {graded: np.array([sum(g > at for g in graded) for at in range(levels)]) for graded in values}
        ends = [sorted(rng.randint(0, problem.n) for _ in range(2)) for _ in range(levels)]
        low = np.maximum.accumulate([[end[0] for end in ends][::-1]], axis=1)[:, ::-1]
        high = np.minimum.accumulate([[end[1] for end in ends]], axis=1)
        whole = np.zeros_like(low), np.full_like(high, problem.n)
        for box in ((low, high), whole):
            inside = [v for v in values if (box[0][0] <= counts[v]).all() and (counts[v] <= box[1][0]).all()]
            bounds = [problem._each(*box)]
            if box[0][0, 0] < problem.n:
                bounds += [problem._chosen(*box), *([problem._skipped(*box)] if sign > 0 else [])]
            for graded in inside:
                taken = counts[graded][0]
                for bound in bounds:
                    looked += 1
                    assert bound[0, taken] / problem.divisor(np.array(taken)) >= values[graded] - EXACT
        if levels == 1:
            every = np.full((1, 1), problem.n)
            found = problem._chosen(every, every)[0, problem.n] / problem.divisor(np.array(problem.n))
            assert found == pytest.approx(values[(1,) * problem.n], abs=EXACT)
    assert looked > 4_000


# -- growth "free"

CAPPED = (
    *("P@3", "RR", "RBP", "relative_P@2", "SetP(relative=True)", "AP(norm='min')@2", "AP(norm='min', rel=0)@2"),
    *("nDCG@2", "nDCG(dcg='jk')@3", "nDCG(dcg='exp-log2')@1", "nCG@2", "Q@1", "Q@2", "Q(beta=5)@3", "bpref(rel=9)"),
)
FALLING = ("R", "R@2", "SetR", "AP", "AP@2", "AP(rel=0)", "Rprec", "Rprec(mult=0.5)", "bpref", "nDCG", "Q")


def free_ends(cases: Sequence[Case], top: int, more: int, measures: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Brute force with 0 to `more` further documents of any grade."""
    grown = [Case(c.ranked, c.missed, c.others + extra) for c in cases for extra in range(more + 1)]
    low, high, _ = brute_force(grown, top, measures)
    shape = len(cases), more + 1, len(measures)
    return low.reshape(shape).min(axis=1), high.reshape(shape).max(axis=1)


@pytest.mark.slow
def test_free_growth_of_capped_measures() -> None:
    rng = random.Random(7)
    for top, count in ((1, 60), (2, 25)):
        cases = [random_case(rng, top, 27) for _ in range(count)]
        cases = [Case(c.ranked[:5], c.missed[:3], min(c.others, 1)) for c in cases]
        result = score_bounds(collection_of(cases, top), list(CAPPED), growth="free")
        low, high = free_ends(cases, top, 5, CAPPED)
        np.testing.assert_allclose(result.low[0, 1:], low, atol=EXACT, rtol=0)
        np.testing.assert_allclose(result.high[0, 1:], high, atol=EXACT, rtol=0)


@pytest.mark.slow
def test_free_growth_of_falling_measures() -> None:
    """The infimum is 0; the highest value is attained, for bpref with relevant and nonrelevant documents added."""
    rng = random.Random(8)
    cases = [random_case(rng, 1, 8) for _ in range(60)]
    cases = [Case(c.ranked[:4], c.missed[:2], min(c.others, 1)) for c in cases]
    result = score_bounds(collection_of(cases, 1), list(FALLING), growth="free")
    _, high = free_ends(cases, 1, 18, FALLING)
    assert (result.low[0, 1:] == 0).all()
    np.testing.assert_allclose(result.high[0, 1:], high, atol=EXACT, rtol=0)


@pytest.mark.slow
def test_free_growth_contains_the_other() -> None:
    rng = random.Random(9)
    collection = collection_of([random_case(rng, 2, 10**6) for _ in range(100)], 2)
    names = [m for m in MEASURES if not m.startswith("Q")]
    free, retrieved = score_bounds(collection, names, growth="free"), score_bounds(collection, names)
    assert (free.low <= retrieved.low + EXACT).all() and (free.high >= retrieved.high - EXACT).all()


# -- properties

PLAIN = [m for m in parsed(list(MEASURES)) if not m.condensed and m.params.get("rel") != 0]
PROPERTY_MEASURES = [*(m for m in PLAIN if not str(m).startswith("Q(")), "bpref", "AP'", "bpref(rel=2)", "P(rel=0)@3"]

grades = st.one_of(st.none(), st.integers(-1, 3))
topics = st.builds(
    Case,
    st.lists(grades, max_size=12).map(tuple),
    st.lists(st.integers(0, 3), max_size=5).map(tuple),
    st.integers(0, 4),
)
slow = settings(max_examples=25, deadline=None)


@slow
@given(topics)
def test_value_lies_between(case: Case) -> None:
    """Not for condensed measures, which remove documents, nor for rel=0, which makes all judged ones relevant."""
    result = score_bounds(collection_of([case], 3), PLAIN)
    assert (result.low <= result.value + EXACT).all() and (result.value <= result.high + EXACT).all()


@slow
@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=5))
def test_a_judged_list_has_one_value(ranked: list[int], missed: list[int]) -> None:
    result = score_bounds(collection_of([Case(tuple(ranked), tuple(missed))], 3), PROPERTY_MEASURES)
    np.testing.assert_allclose(result.low, result.value, atol=EXACT)
    np.testing.assert_allclose(result.high, result.value, atol=EXACT)


@slow
@given(topics, st.integers(0, 30), st.integers(0, 3))
def test_a_judgment_never_widens(case: Case, which: int, grade: int) -> None:
    places = [i for i, g in enumerate(case.ranked) if g is None or g < 0]
    assume(len(places) + case.others > 0)
    which %= len(places) + case.others
    if which < len(places):
        ranked = tuple(grade if i == places[which] else g for i, g in enumerate(case.ranked))
        judged = Case(ranked, case.missed, case.others)
    else:
        judged = Case(case.ranked, (*case.missed, grade), case.others - 1)
    before, after = (score_bounds(collection_of([c], 3), PROPERTY_MEASURES) for c in (case, judged))
    assert (after.low[0] >= before.low[0] - EXACT).all() and (after.high[0] <= before.high[0] + EXACT).all()


@slow
@given(topics, st.floats(0.05, 0.95))
def test_width_of_rbp_is_its_residual(case: Case, p: float) -> None:
    """Without the tail p^L: a completion grades documents, it does not make the list longer."""
    collection = collection_of([case], 3)
    result = score_bounds(collection, [uj.RBP(p=p), uj.RBP(p=p, rel=1), uj.RBP(p=p, rel=3)])
    residual = uj.score(collection, uj.RBP_residual(p=p)).values
    tail = p ** collection.hits.length.reshape(residual.shape)
    np.testing.assert_allclose(result.high - result.low, np.broadcast_to(residual - tail, result.low.shape), atol=1e-12)


def test_documents_of_other_runs_count_once() -> None:
    qrels = {"t": {"a": 1, "b": 0, "n": -1, "m": -1}}
    runs = {
        "one": {"t": {"a": 3.0, "x": 2.0}},
        "two": {"t": {"y": 3.0, "n": 2.0}},
        "three": {"t": {"y": 1.0, "x": 2.0, "b": 3.0}},
    }
    result = score_bounds(uj.load(qrels, runs), "R")  # x, y, n are open for all runs; m was retrieved by none
    assert result.low[:, 0, 0].tolist() == pytest.approx([1 / 3, 0, 0])  # others relevant: y, n / x / n
    assert result.high[:, 0, 0].tolist() == pytest.approx([1, 2 / 3, 2 / 3])


# -- what comes out


@pytest.fixture(scope="module")
def small() -> uj.Collection:
    return uj.load(
        {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1}},
        {"r": {"1": {"a": 3.0, "x": 2.0, "b": 1.0}, "2": {"x": 1.0}}, "s": {"1": {"c": 2.0, "x": 1.0}}},
    )


def test_result(small: uj.Collection) -> None:
    result = score_bounds(small, "P@2, AP, GMAP, NumRelRet")
    assert isinstance(result, Bounds) and isinstance(result, uj.Result)
    assert result.columns == ("run", "topic", "measure", "value", "low", "high")
    assert result.low.shape == result.high.shape == result.value.shape == (2, 2, 4)
    rows = {tuple(row[:3]): row[3:] for row in result.rows()}
    assert rows["r", "1", "P@2"] == (0.5, 0.5, 1.0)
    assert rows["r", "2", "P@2"] == (0.0, 0.0, 0.5)
    assert rows["r", "all", "P@2"] == (0.25, 0.25, 0.75)
    assert rows["r", "all", "NumRelRet"] == (1.0, 1.0, 3.0)
    for end, place in ((result.value, 0), (result.low, 1), (result.high, 2)):
        assert rows["r", "all", "AP"][place] == pytest.approx(end[0, :, 1].mean())
        floored = np.log(np.maximum(end[0, :, 1], 1e-5))
        assert rows["r", "all", "GMAP"][place] == pytest.approx(np.exp(floored.mean()))
    assert "0.5000 [0.5000, 1.0000]" in str(result)
    assert "1 [1, 3]" in str(result)
    means_alone = score_bounds(small, "P@2, AP, GMAP, NumRelRet", per_topic=False)
    assert "0.2500 [0.2500, 0.7500]" in str(means_alone) and "topic" not in str(means_alone)
    assert [row[:3] for row in means_alone.rows()] == [row[:3] for row in result.rows() if row[1] == "all"]
    assert result.provenance.settings["growth"] == "retrieved"
    assert (len(result.frame), len(means_alone.frame)) == (24, 8)
    means = result.means()
    assert means.index.name == "run" and list(means["AP"].columns) == ["value", "low", "high"]
    assert {(r, m): tuple(means.loc[r, m]) for r in "rs" for m in ("P@2", "AP")} == {  # type: ignore[arg-type]
        (r, m): rows[r, "all", m] for r in "rs" for m in ("P@2", "AP")
    }
    assert "Bounds: 2 runs" in repr(result)


def test_topics_that_count(small: uj.Collection) -> None:
    own = score_bounds(small, "P@2", topics="run")
    assert [row[:2] for row in own.rows()] == [("r", "1"), ("r", "2"), ("r", "all"), ("s", "1"), ("s", "all")]
    assert score_bounds(small, "P@2", topics="common").counted.tolist() == [[True, False]] * 2


@pytest.mark.parametrize(
    ("measure", "text"),
    [
        ("infAP", "infAP has no exact bounds"),
        ("nERR@5", "bounds exist for P, "),
        ("IPrec@0.1", "no exact bounds"),
        ("bpref_N", "no exact bounds"),
        ("Judged@10", "Judged@10 describes the judgments"),
        ("unj@5", "describes the judgments"),
        ("k@5", "describes the judgments"),
        ("nDCG(gains={1: 5})", "gains that fall"),
        ("Q(gains={1: 9})@5", "gains that fall"),
    ],
)
def test_refusals(small: uj.Collection, measure: str, text: str) -> None:
    with pytest.raises(UsageError, match=text.replace("(", r"\(")):
        score_bounds(small, ["AP", measure])


def test_more_refusals(small: uj.Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="retrieved or free"):
        score_bounds(small, "AP", growth="some")
    with pytest.raises(UsageError, match="judged, run, common"):
        score_bounds(small, "AP", topics="some")
    tied = uj.load({"1": {"a": 1}}, {"r": {"1": {"a": 1.0, "b": 1.0}}}, ties="expected")
    with pytest.raises(UsageError, match="one order"):
        score_bounds(tied, "AP")
    answers = uj.load({"1": {"class": {"a": 1}}}, {"r": {"1": {"a": 2.0, "b": 1.0}}}, qa=True)
    with pytest.raises(UsageError, match="answers"):
        score_bounds(answers, "RR")
    endless = uj.load({"1": {"a": 10**9}}, {"r": {"1": {"b": 1.0}}})
    with pytest.raises(UsageError, match="1000000000 is too high"):
        score_bounds(endless, "nDCG")
    monkeypatch.setattr(blended, "BOXES", 0)
    with pytest.raises(UsageError, match=r"run r, topic 1: Q: no exact bounds found within 0 steps.*Q@10"):
        score_bounds(small, "Q")


def test_a_measure_of_ones_own_is_refused(small: uj.Collection) -> None:
    @uj.measure
    def P(h: uj.Hits) -> uj.Cells:
        return 1 - h.count()

    with pytest.raises(UsageError, match="no exact bounds"):
        score_bounds(small, P)


def test_every_bounded_name_is_a_measure() -> None:
    assert set(BOUNDED) <= set(REGISTRY)
