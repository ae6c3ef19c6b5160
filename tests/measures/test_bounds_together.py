"""Bounds found for all cells at once are those found cell by cell."""

from __future__ import annotations

import pytest
from hole_cases import drawn, lists_of
from hypothesis import given
from hypothesis import strategies as st

import unjudged as uj
from unjudged.measures import measures
from unjudged.measures.bounds import _ends, _search_of
from unjudged.measures.bounds.cells import Setting, cells_of
from unjudged.measures.bounds.together import ends_together

WANTED = "P@3, P, RBP(p=0.8), RR, ERR@5, DCG@4, nDCG@3, nDCG@50, nDCG(dcg='exp-log2')@4, nCG@4, Success@2, NumRelRet"


@given(
    st.tuples(
        st.integers(0, 10**6),
        st.integers(1, 4),
        st.integers(1, 3),
        st.integers(1, 9),
        st.sampled_from((0.0, 0.3, 0.8)),
    ),
    st.booleans(),
)
def test_the_same_as_cell_by_cell(world: tuple[int, int, int, int, float], free: bool) -> None:
    qrels, runs = drawn(*world)
    collection = uj.load(qrels, lists_of(runs))
    setting, cells = Setting(collection.judgments, free), list(cells_of(collection))
    for measure in measures(WANTED):
        found = ends_together(collection, measure, setting)
        assert found is not None
        for end, other in zip(
            found, _ends(cells, measure, _search_of(measure, setting), setting, collection), strict=True
        ):
            assert end == pytest.approx(other, abs=1e-12), measure
