"""Kernels over the entries of many lists: what they count and add up, in C and in NumPy, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_twins import _c, both, needs_c

from unjudged.kernels import _numpy

SEEDS = range(8)


def entries(seed: int, runs: int = 7, docs: int = 60) -> dict[str, Any]:
    """Documents, runs and ranks of some lists; a few documents stand nowhere."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 40, runs)
    doc = np.concatenate([rng.choice(docs, size, False) for size in sizes]).astype(np.int64)
    rank = np.concatenate([np.arange(1, size + 1) for size in sizes]).astype(np.int64)
    run = np.repeat(np.arange(runs), sizes)
    return {"doc": doc, "rank": rank, "run": run, "runs": runs, "docs": docs, "rng": rng}


@both
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("teams", (3, 64, 130))
def test_teams_beside_a_document_are_counted_once(kernels: Any, seed: int, teams: int) -> None:
    e = entries(seed, runs=teams + 4)
    depth = e["rng"].integers(0, 30, e["runs"])
    team = e["rng"].integers(0, teams, e["runs"])
    out = np.full(e["docs"], -1)
    kernels.count_teams(e["doc"], e["run"], e["rank"], depth, team, out)
    beside: list[set[int]] = [set() for _ in out]
    for doc, run, rank in zip(e["doc"], e["run"], e["rank"], strict=True):
        if rank <= depth[run]:
            beside[doc].add(int(team[run]))
    assert out.tolist() == [len(one) for one in beside]


@both
@pytest.mark.parametrize("seed", SEEDS)
def test_richness_leaves_the_own_label_out(kernels: Any, seed: int) -> None:
    e = entries(seed)
    rng, near, prior = e["rng"], 12, 5.0
    judged, share = rng.random(e["docs"]) < 0.7, rng.random(e["docs"])
    known = np.where(judged, rng.integers(0, 3, e["docs"]) / 2, 0.0)
    out = np.full(e["docs"], np.nan)
    kernels.richness(e["doc"], e["rank"], e["run"], judged, known, share, out, e["runs"], near, prior)
    expected = np.zeros(e["docs"])
    for doc, rank, run in zip(e["doc"], e["rank"], e["run"], strict=True):
        others = [
            known[d]
            for d, k, r in zip(e["doc"], e["rank"], e["run"], strict=True)
            if r == run and k <= near and judged[d] and d != doc
        ]
        expected[doc] += (sum(others) + prior * share[doc]) / (len(others) + prior) / rank
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=0)


@both
@pytest.mark.parametrize("n", (0, 1, 255, 256, 700))
def test_products_of_columns_are_added_up(kernels: Any, n: int) -> None:
    rng = np.random.default_rng(n)
    rows, slope, rest = rng.standard_normal((n, 8)), rng.random(n), rng.standard_normal(n)
    gradient, curve = np.full(8, np.nan), np.full((8, 8), np.nan)
    kernels.newton_sums(rows, slope, rest, gradient, curve)
    np.testing.assert_allclose(gradient, rows.T @ rest, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(curve, (rows * slope[:, None]).T @ rows, rtol=1e-9, atol=1e-12)


def by_document(seed: int) -> dict[str, Any]:
    """Hits sorted by document, each with its run and line."""
    e = entries(seed)
    order = np.argsort(e["doc"], kind="stable")
    doc = e["doc"][order]
    first = np.flatnonzero(np.diff(doc, prepend=-1))
    ends = np.append(first, len(doc))
    return e | {"doc": doc, "run": e["run"][order], "line": e["rank"][order], "ends": ends}


@both
@pytest.mark.parametrize("seed", SEEDS)
def test_hits_are_counted_by_the_level_of_their_document(kernels: Any, seed: int) -> None:
    e = by_document(seed)
    none, depth, groups = 4, 9, 6
    level, group = e["rng"].integers(0, none + 1, e["runs"]), e["line"] % groups
    out = np.full((none + 1, groups), -1)
    kernels.count_levels(e["ends"], e["run"], e["line"], group, level, depth, none, groups, out)
    expected = np.zeros_like(out)
    for start, stop in zip(e["ends"][:-1], e["ends"][1:], strict=True):
        mine = range(start, stop)
        least = min([none, *(int(level[e["run"][i]]) for i in mine if e["line"][i] <= depth)])
        for i in mine:
            expected[least, group[i]] += 1
    assert out.tolist() == expected.tolist()


@both
@pytest.mark.parametrize("seed", SEEDS)
def test_first_lines_are_those_of_the_chosen_runs(kernels: Any, seed: int) -> None:
    e = by_document(seed)
    chosen, out = e["rng"].random(e["runs"]) < 0.4, np.full(len(e["ends"]) - 1, -1)
    kernels.first_lines(e["ends"], e["run"], e["line"], chosen, 99, out)
    parts = [range(a, b) for a, b in zip(e["ends"][:-1], e["ends"][1:], strict=True)]
    assert out.tolist() == [min([99, *(int(e["line"][i]) for i in one if chosen[e["run"][i]])]) for one in parts]


@both
@pytest.mark.parametrize("seed", SEEDS)
def test_equal_numbers_keep_their_order(kernels: Any, seed: int) -> None:
    numbers = np.random.default_rng(seed).integers(0, 9, 200).astype(np.int32)
    out = np.empty(200, np.int64)
    kernels.order_of(numbers, 9, out)
    assert out.tolist() == sorted(range(200), key=lambda i: (int(numbers[i]), i))


@needs_c
@pytest.mark.parametrize("seed", SEEDS)
def test_sums_have_the_bits_of_the_twin(seed: int) -> None:
    e = entries(seed, docs=400, runs=50)
    rng = e["rng"]
    judged, share = rng.random(e["docs"]) < 0.9, rng.random(e["docs"])
    known, found = np.where(judged, rng.random(e["docs"]), 0.0), []
    rows, slope, rest = rng.standard_normal((1000, 8)), rng.random(1000), rng.standard_normal(1000)
    for kernels in (_c, _numpy):
        out, gradient, curve = np.empty(e["docs"]), np.empty(8), np.empty((8, 8))
        kernels.richness(e["doc"], e["rank"], e["run"], judged, known, share, out, e["runs"], 30, 5.0)
        kernels.newton_sums(rows, slope, rest, gradient, curve)
        found.append([one.tobytes() for one in (out, gradient, curve)])
    assert found[0] == found[1]


@both
def test_entries_that_do_not_fit_are_refused(kernels: Any) -> None:
    two, one, wild = np.array([0, 1]), np.array([1]), np.array([0, 7])
    out, flags, ends = np.empty(2, np.int64), np.ones(2, bool), np.array([0, 1, 2])
    floats = np.empty(2)
    calls = {
        "count_teams": (
            (two, two, two, two, two, out),
            (two, two, one, two, two, out),
            (wild, two, two, two, two, out),
        ),
        "richness": (
            (two, two + 1, two, flags, floats, floats, floats.copy(), 2, 9, 5.0),
            (two, two + 1, wild, flags, floats, floats, floats.copy(), 2, 9, 5.0),
            (two, two + 1, two, flags, floats[:1], floats, floats.copy(), 2, 9, 5.0),
        ),
        "newton_sums": (
            (np.ones((2, 8)), floats, floats, np.empty(8), np.empty((8, 8))),
            (np.ones((2, 8)), floats, floats[:1], np.empty(8), np.empty((8, 8))),
        ),
        "count_levels": (
            (ends, two, two, two, two, 1, 2, 2, np.empty((3, 2), np.int64)),
            (ends, wild, two, two, two, 1, 2, 2, np.empty((3, 2), np.int64)),
            (ends, two, two, two, two, 1, 2, 2, np.empty((2, 2), np.int64)),
        ),
        "first_lines": (
            (ends, two, two, flags, 9, out),
            (ends, two, one, flags, 9, out),
            (ends, wild, two, flags, 9, out),
        ),
        "order_of": (
            (two.astype(np.int32), 2, out),
            (wild.astype(np.int32), 2, out),
            (two.astype(np.int32), 2, out[:1]),
        ),
    }
    for name, (good, *bad) in calls.items():
        getattr(kernels, name)(*good)
        for arguments in bad:
            with pytest.raises(ValueError, match="different lengths"):
                getattr(kernels, name)(*arguments)
