"""The mean over all orders of tied documents, against every order written out."""

from __future__ import annotations

import functools
import itertools
import math
import random
import time
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from places import DATA

import unjudged as uj
from unjudged.collection import Cells, Hits
from unjudged.errors import UsageError
from unjudged.measures import REGISTRY, Measure, measure, measures
from unjudged.measures.ties import averaging, expected, spread, states, tie_effect
from unjudged.measures.ties.effect import MONOTONE, monotone
from unjudged.measures.ties.lists import batches

# -- cases: qrels of one topic, and its list as groups of tied documents (a name's number is its grade, u unjudged)

Groups = list[list[str]]


def _case(groups: list[str], missed: str = "") -> tuple[dict[str, int], Groups]:
    """`"12u n"`: documents tied by grade digit (u unjudged, n of grade -1); `missed`: judged but not retrieved."""
    number = itertools.count()
    named = [[f"{c}{next(number):03d}" for c in group] for group in groups]
    grades = {doc: -1 if doc[0] == "n" else int(doc[0]) for group in named for doc in group if doc[0] != "u"}
    grades |= {f"m{i}": -1 if c == "n" else int(c) for i, c in enumerate(missed)}
    return grades, named


def _random_case(seed: int) -> tuple[dict[str, int], Groups]:
    rng = random.Random(seed)
    sizes = next(
        s for s in iter(lambda: rng.choices([1, 1, 2, 3, 4, 5], k=4), None) if math.prod(map(math.factorial, s)) <= 1000
    )
    groups = ["".join(rng.choices("0123un", (3, 2, 2, 1, 3, 1), k=size)) for size in sizes]
    return _case(groups, "".join(rng.choices("0123n", k=rng.randrange(5))))


CASES = {
    "eight tied": _case(["0120uu1n"], "123n"),
    "wholly relevant": _case(["1111", "22"], "0"),
    "two large groups": _case(["2", "01uu2", "0", "13n"], "0012"),
    "binary": _case(["u10u1", "1", "0u1"], "1110"),
    "graded": _case(["u", "3100", "2", "3u12"], "0123"),
    "no relevant": _case(["0u0n", "u0"], "0"),
    "relevant but missed": _case(["0u0n", "u0"], "01"),
    "all judged relevant": _case(["1u2u", "1"], "12"),
    "first best tied late": _case(["11", "u21", "12u0"], "00"),
    **{f"random {seed}": _random_case(seed) for seed in range(6)},
}


def _tied(groups: Groups) -> dict[str, float]:
    return {doc: 100.0 - level for level, group in enumerate(groups) for doc in group}


def _orders(groups: Groups) -> list[list[str]]:
    return [list(itertools.chain(*way)) for way in itertools.product(*map(itertools.permutations, groups))]


@functools.cache
def _collections(case: str) -> tuple[uj.Collection, uj.Collection]:
    """The tied list, and every order of it as a run of its own."""
    grades, groups = CASES[case]
    runs = {str(i): {"t": {doc: -float(r) for r, doc in enumerate(way)}} for i, way in enumerate(_orders(groups))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tied = uj.load({"t": grades}, {"run": {"t": _tied(groups)}}, ties="expected")
        return tied, uj.load({"t": grades}, runs)


def _variants(name: str) -> list[Measure]:
    """A measure with its parameters varied one at a time, and all its forms on the condensed list."""
    base = REGISTRY[name]
    given = {"recall": 0.5, "k": 3}
    needed = {p: given[p] for p, about in base.definition.parameters.items() if about.required}
    base = base(**needed)
    choices: dict[str, list[object]] = {
        "k": [1, 2, 3, 5, 7, 12],
        "rel": [2, 0],
        "gains": [{1: 1, 2: 3}, {1: 0, 2: 0.5}],
        "beta": [0.0, 0.3],
        "recall": [0.0, 0.2, 0.7, 1.0],
        "p": [0.5],
        "T": [0.4, 2.0],
        "min_rel": [1],
        "max_rel": [2],
        "stops": [{1: 2, 2: 3}],
        "thresholds": [{1: 0.3, 2: 0.7}],
        "mult": [0.5, 1.5],
        "base": [3.0],
        "gamma": [0.4, 1.0],
    }
    out = [base]
    for parameter, about in base.definition.parameters.items():
        out += [base(**{parameter: value}) for value in about.choices or choices.get(parameter, [])]
    if name == "NCU":
        out += [base(pr="rb", nu="BR"), base(pr="rb", nu="BR", gains={1: 1, 2: 3}), base(pr="u", nu="BR")]
    if name == "Accuracy":
        out += [base(rel=2, k=4)]
    if not base.definition.condensed:
        out += [m(judged_only=True) for m in out]
    return list(dict.fromkeys(out))


def _chosen(name: str, case: str) -> list[Measure]:
    """All variants; of the user models, which take long, one where there are 40,320 orders."""
    found = _variants(name)
    return found[:1] if case == "eight tied" and name in averaging.USER_MODELS else found


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", list(REGISTRY))
def test_mean_over_all_orders(name: str, case: str) -> None:
    tied, untied = _collections(case)
    wanted = _chosen(name, case)
    scores = uj.score(untied, wanted).values
    for m, one in enumerate(wanted):
        found = np.nan_to_num(expected(one, tied.hits))
        assert found == pytest.approx(scores[:, 0, m].mean(), rel=1e-12, abs=1e-12), one


@pytest.mark.slow
def test_all_orders_were_written_out() -> None:
    assert len(_collections("eight tied")[1].runs) == math.factorial(8)
    assert all(len(set(map(tuple, _orders(groups)))) == len(_orders(groups)) for _, groups in CASES.values())


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_extremes_over_all_orders(case: str) -> None:
    """tie_effect: the lowest and the highest of all orders; refused where better documents may lower a score."""
    tied, untied = _collections(case)
    wanted = [m for name in REGISTRY for m in _chosen(name, case) if m.name in MONOTONE]
    if case == "eight tied":
        wanted = measures("AP, P@3, nDCG, bpref, RR, ERR, Q, IPrec@0.2, rpref_relative")
    kept = [m for m in wanted if monotone(m)]
    assert len(kept) > 0.8 * len(wanted)
    scores = uj.score(untied, kept).values[:, 0, :]
    for m, found in enumerate(tie_effect(tied, kept)):
        assert (found.run, found.measure) == ("run", str(kept[m]))
        assert found.low == pytest.approx(scores[:, m].min(), abs=1e-12), kept[m]
        assert found.high == pytest.approx(scores[:, m].max(), abs=1e-12), kept[m]


def test_extremes_refused() -> None:
    tied, untied = _collections("graded")
    for one in ("P_plus", "anti_P@5", "P(rel=0)@5", "NCU", "nDCG(gains={1: 5})"):
        with pytest.raises(UsageError, match="can fall when a better document moves up"):
            tie_effect(tied, one)
    with pytest.raises(UsageError, match="ties='expected'"):
        tie_effect(untied)


def _random_collection(ties: str, *, tied: bool, seed: int = 5) -> uj.Collection:
    rng = random.Random(seed)
    topics = [f"t{i}" for i in range(4)]
    docs = [f"d{i:02d}" for i in range(30)]
    qrels = {t: {d: rng.choice([-1, 0, 0, 1, 2, 3]) for d in rng.sample(docs, 18)} for t in topics}
    runs = {
        f"r{r}": {
            t: {d: float(i if not tied else i // rng.choice([1, 3])) for i, d in enumerate(rng.sample(docs, 20))}
            for t in topics[: 4 - r]
        }
        for r in range(3)
    }
    return uj.load(qrels, runs, ties=ties)


@pytest.mark.parametrize("name", list(REGISTRY))
def test_without_ties_nothing_changes(name: str) -> None:
    averaged, ordinary = (_random_collection(ties, tied=False) for ties in ("expected", "trec10"))
    for one in _variants(name):
        np.testing.assert_array_equal(expected(one, averaged.hits), one.cells(ordinary.hits))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(REGISTRY))
def test_each_cell_for_itself(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many runs and topics at once, in small batches, as each list alone."""
    whole, parts = (_random_collection("expected", tied=True) for _ in range(2))
    for one in _variants(name)[:3]:
        together = expected(one, whole.hits)
        with monkeypatch.context() as small:
            for module in (averaging, spread):
                small.setattr(module, "_AT_ONCE", 7)
            small.setattr(spread, "_KEEP", 0)
            np.testing.assert_allclose(expected(one, parts.hits), together, rtol=1e-13, atol=1e-15)


def test_batches_by_hand() -> None:
    """Up to six together; what weighs more stands alone."""
    assert [batch.tolist() for batch in batches(np.array([3, 3, 3, 7, 1]), 6)] == [[0, 1], [2], [3], [4]]
    assert list(batches(np.zeros(0), 6)) == []


@pytest.mark.parametrize("rel", [1, 2])
def test_sampled_pool_with_strata(rel: int, tmp_path: Path) -> None:
    """xinfAP: the iteration column is a stratum, so documents of one grade differ."""
    rng = random.Random(rel)
    docs = [f"d{i}" for i in range(9)]
    lines = [f"t {rng.choice([1, 2, 3])} {d} {rng.choice([-1, 0, 1, 2])}" for d in [*docs[:8], "x", "y", "z"]]
    (tmp_path / "qrels").write_text("\n".join(lines) + "\n")
    groups = [docs[:2], docs[2:7], docs[7:]]
    runs = {str(i): {"t": {d: -float(r) for r, d in enumerate(way)}} for i, way in enumerate(_orders(groups))}
    tied = uj.load(tmp_path / "qrels", {"run": {"t": _tied(groups)}}, ties="expected")
    untied = uj.load(tmp_path / "qrels", runs)
    for one in measures(f"xinfAP(rel={rel}), xinfAP'(rel={rel}), infAP(rel={rel}), AP(rel={rel}), Judged@3"):
        assert expected(one, tied.hits) == pytest.approx(one.cells(untied.hits).mean(), rel=1e-12)


# -- longer lists: the algorithms against the distinct orders, and against formulas

LONG = {"t": {**{f"1_{i}": 1 for i in range(2)}, "2_0": 2, "3_0": 3, **{f"0_{i}": 0 for i in range(1)}, "m": 2, "n": 0}}


@pytest.mark.parametrize("name", list(REGISTRY))
def test_algorithms_against_distinct_orders(name: str) -> None:
    """Ten tied documents: 10! orders, 15,120 distinct ones."""
    run = {"t": {**{d: 2.0 for d in LONG["t"] if "_" in d}, **{f"u{i}": 2.0 for i in range(5)}, "v": 3.0}}
    hits = uj.load(LONG, {"run": run}, ties="expected").hits
    one = _variants(name)[0]
    view = hits.condensed() if one.condensed else hits
    with np.errstate(all="ignore"):
        slow = averaging._enumerated(one, view, np.zeros(1, np.int64))
    assert expected(one, hits) == pytest.approx(slow, rel=1e-12)


def _all_tied(relevant: int, size: int) -> Hits:
    qrels = {"t": {f"d{i}": 1 for i in range(relevant)}}
    return uj.load(qrels, {"run": {"t": {f"d{i}": 1.0 for i in range(size)}}}, ties="expected").hits


@pytest.mark.parametrize(("m", "n"), [(1, 2), (3, 50), (200, 1000), (1000, 1000), (2, 3000)])
def test_formulas_for_wholly_tied_lists(m: int, n: int) -> None:
    """McSherry and Najork's formulas, here for one group of n documents with m relevant ones."""
    hits, ranks = _all_tied(m, n), np.arange(1, n + 1)
    k = min(10, n)
    at = {str(one): float(expected(one, hits)[0]) for one in measures("P@10, AP, RR, nDCG, Success@10, Rprec, RBP")}
    assert at["P@10"] == pytest.approx(m / n * k / 10, rel=1e-11)
    assert at["Rprec"] == pytest.approx(m / n, rel=1e-11)
    above = (ranks - 1) * ((m - 1) / (n - 1))
    assert at["AP"] == pytest.approx(float(np.sum((1 + above) / ranks)) / n, rel=1e-11)
    ideal = np.sum(1 / np.log2(np.arange(2, m + 2)))
    assert at["nDCG"] == pytest.approx(m / n * float(np.sum(1 / np.log2(ranks + 1)) / ideal), rel=1e-11)
    assert at["RBP"] == pytest.approx(m / n * (1 - 0.95**n), rel=1e-11)
    missed = [math.comb(n - r, m) / math.comb(n, m) for r in range(n + 1)]  # none among the first r
    assert at["Success@10"] == pytest.approx(1 - missed[k], rel=1e-11)
    first = sum((missed[r - 1] - missed[r]) / r for r in range(1, n + 1))
    assert at["RR"] == pytest.approx(first, rel=1e-11)


def test_preferences_in_wholly_tied_lists() -> None:
    """bpref of 300 judged tied documents: hypergeometric, also with exact fractions."""
    m, n = 40, 300
    qrels = {"t": {f"d{i}": int(i < m) for i in range(n)}}
    hits = uj.load(qrels, {"run": {"t": dict.fromkeys(qrels["t"], 1.0)}}, ties="expected").hits
    ways = [
        (x, Fraction(math.comb(m - 1, j - x) * math.comb(n - m, x), math.comb(n - 1, j)))
        for j in range(n)
        for x in range(max(0, j - m + 1), min(j, n - m) + 1)
    ]
    want = sum(chance * (1 - Fraction(min(x, m), m)) for x, chance in ways) / n
    assert expected(measures("bpref")[0], hits)[0] == pytest.approx(float(want), rel=1e-11)


# -- refusals, users' measures


@pytest.mark.parametrize("spelling", ["yaap", "INST", "NERR10", "NERR8@100", "BPM@100"])
def test_refusal_names_run_and_topic(spelling: str) -> None:
    qrels = {"t0": {"x": 1}, "t1": {f"d{i}": 1 + i % 3 for i in range(40)}}
    runs = {
        name: {"t0": {"x": 1.0}, "t1": {f"d{i}": float(i) * alone for i in range(100)}}
        for name, alone in (("single", 1), ("tied", 0))
    }
    collection = uj.load(qrels, runs, ties="expected")
    (one,) = measures(spelling)
    with pytest.raises(
        UsageError, match=rf"{spelling} has no exact mean .* run tied, topic t1: .* 50,000 .*--ties trec10"
    ):
        expected(one, collection.hits, collection.runs)
    with pytest.raises(UsageError, match="run number 2, topic t1"):
        expected(one, collection.hits)


def test_refusal_of_a_long_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MOST_STEPS", 1e5)
    with pytest.raises(
        UsageError, match=r"IPrec@0\.1 has no exact mean .* topic t: the distribution of a maximum takes"
    ):
        expected(measures("IPrec@0.1")[0], _all_tied(50, 200))


def test_refusal_of_one_order() -> None:
    with pytest.raises(UsageError, match="ties='expected'"):
        expected(measures("AP")[0], _collections("binary")[1].hits)


def test_a_measure_of_ones_own() -> None:
    """Any measure goes through all distinct orders; one that only has a name of ours does not get our algorithm."""
    kept = REGISTRY["P"]

    def first_grade(h: Hits) -> Cells:
        """Grade of the document at rank 1, squared sum of grades at ranks 1 and 2."""
        top = h.top(2)
        return top.sum(top.grade) ** 2 + h.top(1).sum(h.top(1).grade)

    first_grade.__name__ = "P"
    try:
        mine = measure(first_grade)
        tied, untied = _collections("two large groups")
        assert expected(mine, tied.hits) == pytest.approx(mine.cells(untied.hits).mean(), rel=1e-12)
    finally:
        REGISTRY["P"] = kept


# -- real runs


def test_real_runs() -> None:
    """38 runs x 50 topics x 1000 documents, some almost wholly tied."""
    folder = DATA / "trec2-adhoc"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    collection = uj.load(folder / "qrels.txt.gz", folder / "runs", ties="expected", lenient=True)
    start = time.perf_counter()
    wanted = measures("AP, P@10, R@100, nDCG, nDCG@10, RR, Q, RBP, bpref, ERR, Rprec, Success@10")
    means = {str(m): np.nan_to_num(expected(m, collection.hits)) for m in wanted}
    print(f"\n{len(wanted)} measures: {time.perf_counter() - start:.1f} s")
    for one in wanted:
        ordinary = np.nan_to_num(one.cells(collection.hits))
        assert np.abs(means[str(one)].mean() - ordinary.mean()) < 0.002
        assert (means[str(one)] != ordinary).any()
    shape = len(collection.runs), len(collection.topics)
    for run, name, low, high in tie_effect(collection, "AP, P@10, bpref"):
        mean = means[name].reshape(shape)[collection.runs.index(run)].mean()
        assert low - 1e-12 <= mean <= high + 1e-12


def test_a_measure_made_by_exec_has_no_module_and_still_works() -> None:
    """As in a notebook cell run by a tool: its functions carry no module name."""
    code = """
import unjudged as uj

@uj.measure()
def FoundByExec(h):
    "Relevant documents in the top 2."
    return h.top(2).relevant(1).count()
"""
    exec(code, {})
    c = uj.load({"t": {"a": 1}}, {"t": {"a": 1.0, "b": 1.0, "c": 1.0}}, ties="expected")
    assert uj.score(c, ["FoundByExec"]).values[0, 0, 0] == pytest.approx(2 / 3)  # a stands first, second or third
