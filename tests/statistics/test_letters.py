"""Letters for groups of runs against their definition: two runs share a letter where they do not differ."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unjudged.statistics.letters import groups_alike, letter, letters


@st.composite
def tables(draw: st.DrawFn, most: int = 9) -> np.ndarray:
    """Which pairs differ, any symmetric table."""
    size = draw(st.integers(1, most))
    flags = draw(st.lists(st.booleans(), min_size=size * size, max_size=size * size))
    upper = np.triu(np.array(flags, bool).reshape(size, size), 1)
    return upper | upper.T


def maximal_sets(different: np.ndarray) -> set[tuple[int, ...]]:
    """By brute force: sets without a pair that differs, to which no run can be added."""
    runs = range(len(different))

    def fits(chosen: tuple[int, ...]) -> bool:
        return not any(different[a, b] for a, b in itertools.combinations(chosen, 2))

    free = [s for n in range(1, len(different) + 1) for s in itertools.combinations(runs, n) if fits(s)]
    return {s for s in free if not any(fits(tuple(sorted({*s, r}))) for r in runs if r not in s)}


def fewest(different: np.ndarray, sets: set[tuple[int, ...]]) -> int:
    """By brute force: the smallest number of such sets that hold every run and every pair that does not differ."""
    pairs = itertools.combinations_with_replacement(range(len(different)), 2)
    wanted = {p for p in pairs if not different[p]}
    covers = [set(itertools.combinations_with_replacement(s, 2)) for s in sets]
    for number in range(1, len(covers) + 1):
        if any(set().union(*chosen) >= wanted for chosen in itertools.combinations(covers, number)):
            return number
    raise AssertionError


def read(shown: str) -> set[str]:
    """The letters of a run, as a reader takes them apart."""
    return set(re.findall(r"[a-zA-Z]\d*", shown))


@given(tables())
def test_two_runs_share_a_letter_exactly_where_they_do_not_differ(different: np.ndarray) -> None:
    shown = [read(s) for s in letters(different)]
    assert all(shown)
    for a, b in itertools.combinations(range(len(different)), 2):
        assert bool(shown[a] & shown[b]) == (not different[a, b])


@given(tables())
def test_groups_are_as_large_as_can_be_and_none_is_idle(different: np.ndarray) -> None:
    groups = groups_alike(different)
    assert set(groups) <= maximal_sets(different)
    assert len(set(groups)) == len(groups)
    pairs = [set(itertools.combinations_with_replacement(g, 2)) for g in groups]
    for i, mine in enumerate(pairs):
        assert mine - set().union(*(p for j, p in enumerate(pairs) if j != i))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=7), st.integers(0, 12))
def test_fewest_letters_where_runs_differ_by_distance(scores: list[int], least: int) -> None:
    """As with Tukey's test: two runs differ if their means are more than `least` apart."""
    ordered = np.array(sorted(scores, reverse=True))
    different = np.abs(ordered[:, None] - ordered) > least
    assert len(groups_alike(different)) == fewest(different, maximal_sets(different))


def test_a_textbook_display() -> None:
    """Five runs: 1-2-3 alike, 2-3-4 alike, 5 alone."""
    different = np.ones((5, 5), bool)
    for group in ((0, 1, 2), (1, 2, 3), (4,)):
        different[np.ix_(group, group)] = False
    assert letters(different) == ["a", "ab", "ab", "b", "c"]


def test_all_alike_and_all_different() -> None:
    assert letters(np.zeros((30, 30), bool)) == ["a"] * 30
    apart = letters(~np.eye(60, dtype=bool))
    assert apart[:3] == ["a", "b", "c"]
    assert apart[25:28] == ["z", "A", "B"]
    assert apart[51:54] == ["Z", "a2", "b2"]
    assert len(set(apart)) == 60


def test_no_two_labels_are_the_same_and_they_can_be_read_without_gaps() -> None:
    marks = [letter(n) for n in range(1000)]
    assert len(set(marks)) == 1000
    assert re.findall(r"[a-zA-Z]\d*", "".join(marks)) == marks


def test_a_thousand_runs_that_are_alike_in_a_chain() -> None:
    place = np.arange(1000)
    groups = groups_alike(np.abs(place[:, None] - place) > 5)
    assert groups == [tuple(range(i, i + 6)) for i in range(995)]


@pytest.mark.parametrize(
    "table", [np.zeros((2, 3), bool), np.eye(3, dtype=bool), np.array([[False, True], [False, False]])]
)
def test_only_a_table_of_differences_is_taken(table: np.ndarray) -> None:
    with pytest.raises(ValueError, match="square, symmetric"):
        groups_alike(table)
