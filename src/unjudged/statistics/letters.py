"""Letters for groups of runs that cannot be told apart: the compact letter display of multiple comparisons.

Two runs share a letter exactly where their difference is not significant (Piepho 2004). Each letter stands for a
set of runs no two of which differ, as large as it can be made, and no letter could be left out. Finding the fewest
letters is the clique cover problem and NP-hard (Gramm et al. 2008); the cover here is found greedily from the best
run down, which needs the fewest letters where runs differ exactly when their means are far enough apart (Tukey), and
never more than there are pairs.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

ALPHABET = string.ascii_lowercase + string.ascii_uppercase


def letter(number: int) -> str:
    """a ... z, A ... Z, then a2 ... Z2, a3 ...: any number of letters, and they can be read without gaps."""
    turn, place = divmod(number, len(ALPHABET))
    return ALPHABET[place] + (str(turn + 1) if turn else "")


def letters(different: npt.NDArray[np.bool_]) -> list[str]:
    """The letters of each run; `different` says which pairs differ significantly, runs ordered best first."""
    shown = [""] * len(different)
    for number, group in enumerate(groups_alike(different)):
        for run in group:
            shown[run] += letter(number)
    return shown


def groups_alike(different: npt.NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Sets of runs that cannot be told apart: every pair that does not differ is in one, no pair that does."""
    size = len(different)
    if different.shape != (size, size) or (different != different.T).any() or different.diagonal().any():
        raise ValueError("which runs differ must be a square, symmetric table in which no run differs from itself")
    alike = [_bits(np.flatnonzero(~row)) & ~(1 << run) for run, row in enumerate(different)]
    open_pairs = list(alike)
    groups = []
    for run in range(size):
        if not alike[run]:
            groups.append(1 << run)
        while open_pairs[run]:
            group = _grown(run, alike, open_pairs)
            for member in _members(group):
                open_pairs[member] &= ~group
            groups.append(group)
    return sorted(_needed([tuple(_members(group)) for group in groups], size))


def _grown(run: int, alike: Sequence[int], open_pairs: Sequence[int]) -> int:
    """A group around `run` that cannot be made larger; runs not yet in a group with it are added first."""
    group, candidates = 1 << run, alike[run]
    while candidates:
        wanted = candidates & open_pairs[run] or candidates
        taken = wanted & -wanted
        group |= taken
        candidates &= alike[taken.bit_length() - 1]
    return group


def _needed(groups: list[tuple[int, ...]], size: int) -> Iterator[tuple[int, ...]]:
    """The groups that are needed: a group goes, smallest first, where each of its pairs is together in another one."""
    together = np.zeros((size, size), np.int32)
    for group in groups:
        together[np.ix_(group, group)] += 1
    for group in sorted(groups, key=lambda g: (len(g), g)):
        inside = together[np.ix_(group, group)]
        if len(group) > 1 and (inside[np.triu_indices(len(group), 1)] > 1).all():
            together[np.ix_(group, group)] -= 1
        else:
            yield group


def _bits(places: npt.NDArray[np.intp]) -> int:
    return sum(1 << place for place in places.tolist())


def _members(group: int) -> Iterator[int]:
    while group:
        lowest = group & -group
        yield lowest.bit_length() - 1
        group ^= lowest
