"""How measures read lists, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hole_cases import lists_of

import unjudged as uj
from unjudged.holes.reading import Reading, read
from unjudged.measures import parse


def reading(measure: str, top: int = 3) -> Reading:
    """Of lists judged with grades up to `top`."""
    collection = uj.load({"t": {f"d{g}": g for g in range(top + 1)}}, lists_of({"r": {"t": ["d0"]}}))
    return read(parse(measure)[0], collection.judgments, 1)


def test_dcg_of_three_grades() -> None:
    found = reading("nDCG@3")
    assert found.weight * found.weight_scale == pytest.approx([1, 1 / math.log2(3), 1 / 2])
    assert found.sum_of_first(np.array([0.0, 2.5, 9.0])) == pytest.approx(
        [0, 1 + 1 / math.log2(3) + 0.25, 1.5 + 1 / math.log2(3)]
    )
    assert found.worth == pytest.approx([0, 1 / 3, 2 / 3, 1])
    steps, reached = zip(*found.levels, strict=True)
    assert steps == pytest.approx([1 / 3] * 3)
    assert [grades.tolist() for grades in reached] == [[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]


def test_average_precision_reads_all_its_ranks_alike() -> None:
    found = reading("AP(rel=2)@4")
    assert (found.kind, found.depth, found.early) == ("point", 4, 4)
    assert found.weight == pytest.approx([1 / 4] * 4) and found.worth.tolist() == [0, 0, 1, 1]
    assert found.weight * found.weight_scale == pytest.approx([1] * 4)


def test_where_nothing_can_be_gained_nothing_weighs() -> None:
    found = reading("P(rel=2)@5", top=1)
    assert found.weight_scale == 1.0 and found.sum_of_first(np.array([3.0])).tolist() == [0.0]
    assert found.levels == []
