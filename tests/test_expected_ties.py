"""The mean over all orders of tied documents, against every order written out."""

from __future__ import annotations

import functools
import itertools
import math
import random
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import unjudged as uj
from unjudged.collection import Cells, Hits
from unjudged.errors import UsageError
from unjudged.measures import REGISTRY, Measure, measure, measures
from unjudged.ties import averaging, expected, orders, states, tie_effect
from unjudged.ties.effect import MONOTONE, monotone

DATA = Path(__file__).parents[2] / "shared" / "data"

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
    groups = ["".join(rng.choices("0123un", (3, 2, 2, 1, 3, 1), k=rng.choice([1, 1, 2, 3, 4]))) for _ in range(4)]
    return _case(groups, "".join(rng.choices("0123n", k=rng.randrange(5))))


CASES = {
    "eight tied": _case(["0120uu1n"], "123n"),
    "wholly relevant": _case(["1111", "22"], "0"),
    "two large groups": _case(["2", "01uu2", "0", "13n0"], "0012"),
    "binary": _case(["u10u1", "1", "0u1", "01"], "1110"),
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
        "mean": ["geometric"],
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


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", REGISTRY)
def test_mean_over_all_orders(name: str, case: str) -> None:
    tied, untied = _collections(case)
    wanted = _variants(name)
    scores = uj.score(untied, wanted).values
    for m, one in enumerate(wanted):
        found = np.nan_to_num(expected(one, tied.hits))
        assert found == pytest.approx(scores[:, 0, m].mean(), rel=1e-12, abs=1e-12), one
