"""What spellings say by themselves: short names, legends, condensed measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unjudged.measures import NAMED, measures
from unjudged.results import Provenance, Result
from unjudged.spelling import is_condensed, legend, ordinary, short_names, shortened


@pytest.mark.parametrize("name", NAMED)
def test_condensed_as_the_measure_says(name: str) -> None:
    for measure in measures(name):
        assert is_condensed(str(measure)) == measure.condensed, measure


def test_a_condensed_measure_without_its_prime() -> None:
    assert ordinary("nDCG'(dcg='jk')@1000") == "nDCG(dcg='jk')@1000"
    assert ordinary("AP'") == "AP" and ordinary("bpref") == "bpref" and ordinary("P@10") == "P@10"


def test_short_names_by_hand() -> None:
    paper = ["AP", "Q(gains={1: 1, 2: 3})", "nDCG'(dcg='jk', gains={1: 1, 2: 3})@1000"]
    assert short_names(paper) == {paper[1]: "Q", paper[2]: "nDCG'"}
    assert legend(short_names(paper[:2])) == "Q: Q(gains={1: 1, 2: 3})"
    assert short_names(["AP", "AP(rel=2)"]) == {}  # AP is another measure
    cuts = ["nDCG(dcg='jk')@10", "nDCG(dcg='jk')@100"]
    assert short_names(cuts) == {cuts[0]: "nDCG@10", cuts[1]: "nDCG@100"}
    assert short_names(["run (a)", "lipani MAE"]) == {}


@given(st.lists(st.sampled_from([str(m) for name in NAMED for m in measures(name)]), max_size=8, unique=True))
def test_different_measures_keep_different_names(names: list[str]) -> None:
    short = short_names(names)
    shown = [shortened(name, short) if name in short else name for name in names]
    assert len(set(shown)) == len(names)


def test_a_head_is_not_shortened_to_the_name_of_a_row() -> None:
    """Measures against each other: AP(rel=2) over a column must not look like AP in a row."""
    rows: list[Sequence[Any]] = [("AP", 0.5)]
    made = Result(["", "AP(rel=2)"], lambda: rows, Provenance.of("x", ()), layout=lambda: (["", "AP(rel=2)"], rows))
    assert "AP(rel=2)" in made.table().splitlines()[0]
    other: list[Sequence[Any]] = [("Q", 0.5)]
    made = Result(["", "AP(rel=2)"], lambda: other, Provenance.of("x", ()), layout=lambda: (["", "AP(rel=2)"], other))
    assert "AP(rel=2)" not in made.table().splitlines()[0] and "AP: AP(rel=2)." in made.table()
