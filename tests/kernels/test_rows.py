"""Tables of numbers as text: both kernels against Python's own repr, and the scores' lines against the plain way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_twins import both

import unjudged as uj
from unjudged.results import Result


def written(kernels: Any, values: Any) -> list[str]:
    numbers = np.array(values, np.float64)
    lines = kernels.write_rows([b""] * len(numbers), [b""], numbers, b"\n").decode().split("\n")
    assert lines.pop() == ""
    return list(lines)


def as_repr(values: Any) -> list[str]:
    return [repr(float(v)) for v in values]


@both
def test_powers_of_two_and_their_neighbours(kernels: Any) -> None:
    """Below a power of two the numbers lie twice as dense: the one place where the nearest text can be wrong."""
    powers = [2.0**e for e in range(-1074, 1024)]
    for numbers in (powers, np.nextafter(powers, math.inf), np.nextafter(powers, 0.0), np.negative(powers)):
        assert written(kernels, numbers) == as_repr(numbers)


@both
def test_edges_of_the_plain_notation(kernels: Any) -> None:
    edges = [0.0, 1e-4, 1e-5, 1.0, 9.5, 2.0**53, 1e15, 1e16, 123456789012345680.0, 5e-324, 1.7976931348623157e308]
    numbers = [n for e in edges for n in (e, -e, math.nextafter(e, math.inf), math.nextafter(e, -math.inf))]
    assert written(kernels, [*numbers, math.inf, -math.inf, math.nan]) == [*as_repr(numbers), "inf", "-inf", "nan"]


@both
def test_exact_halves_go_to_the_even_digit(kernels: Any) -> None:
    """Short binary fractions lie exactly between two texts more often than others do."""
    rng = np.random.default_rng(11)
    numbers = np.ldexp(rng.integers(1, 2**54, 20_000).astype(float), rng.integers(-70, 3, 20_000))
    assert written(kernels, numbers) == as_repr(numbers)


@both
def test_what_measures_give(kernels: Any) -> None:
    rng = np.random.default_rng(5)
    ratios = rng.integers(0, 300, 20_000) / rng.integers(1, 300, 20_000)
    discounted = np.cumsum(1 / np.log2(np.arange(2, 10_002)))
    numbers = np.concatenate([ratios, discounted, discounted / discounted[-1], np.round(rng.random(20_000), 4)])
    assert written(kernels, numbers) == as_repr(numbers)


@both
@given(st.lists(st.floats(), max_size=20))
@settings(deadline=None)
def test_any_number(kernels: Any, numbers: list[float]) -> None:
    assert written(kernels, numbers) == as_repr(numbers)


@both
def test_a_line_for_every_row_and_column(kernels: Any) -> None:
    table = np.array([[0.5, 1.0, 0.25], [1 / 3, 0.0, 1e-7]])
    lines = kernels.write_rows([b"a ", b"\xff "], [b"x=", b"", b"long name "], table, b";")
    assert lines == b"a x=0.5;a 1.0;a long name 0.25;\xff x=0.3333333333333333;\xff 0.0;\xff long name 1e-07;"
    assert kernels.write_rows([], [b"x"], np.empty(0), b"\n") == b""
    assert kernels.write_rows([b"x"], [], np.empty(0), b"\n") == b""


@both
def test_tables_that_do_not_fit_are_refused(kernels: Any) -> None:
    with pytest.raises(ValueError, match="every row and column"):
        kernels.write_rows([b"a"], [b"x", b"y"], np.zeros(3), b"\n")
    with pytest.raises(TypeError):
        kernels.write_rows(["a"], [b"x"], np.zeros(1), b"\n")
    with pytest.raises(TypeError):
        kernels.write_rows([b"a"], ["x"], np.zeros(1), b"\n")


@pytest.mark.parametrize("format", ["tsv", "csv", "jsonl"])
@pytest.mark.parametrize("per_topic", [True, False])
@pytest.mark.parametrize("topics", ["judged", "run"])
def test_scores_are_written_as_any_result_is(format: str, per_topic: bool, topics: str) -> None:
    """Names with separators, quotes, percent signs, other alphabets and bytes that are no text."""
    judged = {"1": {"a": 1, "b": 0}, 'quoted "2", 100%': {"a": 2}, "日本\udcff\t": {"c": 1}}
    runs = {
        "plain": {"1": {"a": 3.0, "b": 2.0}, 'quoted "2", 100%': {"x": 1.0, "a": 0.5}},
        'odd, "run" %s\t': {"日本\udcff\t": {"c": 2.0, "d": 1.0}},
    }
    scores = uj.score(uj.load(judged, runs), "AP, nDCG@10, num_rel, P@3", topics=topics, per_topic=per_topic)
    plain = Result(scores.columns, scores.rows, scores.provenance)
    assert scores.render(format) == plain.render(format)
    assert scores.render(format).count("\n") >= 8


@pytest.mark.parametrize("format", ["tsv", "csv", "jsonl"])
def test_undefined_scores_are_empty(format: str) -> None:
    scores = uj.score(uj.load({"1": {"a": 0}, "2": {"a": 1}}, {"r": {"1": {"a": 1.0}}}), "AP", undefined="nan")
    assert scores.render(format) == Result(scores.columns, scores.rows, scores.provenance).render(format)
    first = {"tsv": "r\t1\tAP\t\n", "csv": "r,1,AP,\n", "jsonl": '"topic": "1", "measure": "AP", "value": null}\n'}
    assert first[format] in scores.render(format)
