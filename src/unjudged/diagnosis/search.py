"""Which settings reproduce a reported number? Combinations of up to three, the simplest that fit first."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unjudged.diagnosis.evaluation import Evaluation, Values
from unjudged.diagnosis.settings import (
    COUNTING,
    DENOMINATORS,
    GAINS,
    GRADED,
    PERCENT,
    READING,
    TOPICS,
    UNJUDGED,
    Setting,
    cutoffs,
    thresholds,
    truncations,
)
from unjudged.measures import Measure

MOST_SETTINGS = 3
DEPTHS = (5, 10, 20, 50, 100, 200, 500, 1000)
ALL = "all"
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Reported:
    """A number that somebody got: of one topic, or of `all`, known to half a unit of its last digit."""

    measure: Measure
    topic: str
    value: float
    unit: float

    @property
    def reach(self) -> float:
        """How far a value may lie from it and still be written like this."""
        return self.unit / 2 + _ROUNDING


@dataclass(frozen=True, eq=False)
class Explanation:
    """Settings that differ from ours, the value they give (of the first number reported), and how well they fit.

    `fit` is the share of the reported numbers that they reproduce, `error` the mean distance from all of them.
    """

    settings: tuple[Setting, ...]
    value: float
    difference: float
    fit: float
    error: float

    @property
    def text(self) -> str:
        """`gains=exp; rel=2`, or `none` where our own settings give it."""
        return "; ".join(map(str, self.settings)) or "none"

    @property
    def habit(self) -> str:
        """Whose habit these settings are."""
        return "; ".join(dict.fromkeys(s.habit for s in self.settings if s.habit))

    @property
    def order(self) -> tuple[float, ...]:
        """Better fit first, then fewer settings, the less odd, the nearer; where nothing fits, the nearest."""
        simple = len(self.settings), sum(s.oddness for s in self.settings)
        error = round(self.error, 9)
        return (-self.fit, *simple, error) if self.fit else (0.0, error, *simple)


def unit_of(text: str) -> float:
    """The unit of a number's last digit: 0.001 for 0.413; full precision counts as 1e-9."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return max(10.0 ** -max(digits, 0), 1e-9) if not re.fullmatch(r"[+-]?[01]", text.strip()) else 1e-9


def explanations(evaluation: Evaluation, reported: Sequence[Reported]) -> list[Explanation]:
    """Every combination that was tried, best first.

    More settings are tried only where fewer do not reproduce every number; a combination in which one setting changes
    nothing is left to the smaller one.
    """
    possible = list(_possible(evaluation, reported))
    tried: dict[frozenset[Setting], Explanation] = {}
    values: dict[frozenset[Setting], tuple[float, ...]] = {}
    cells: dict[tuple[Measure, frozenset[Setting]], Values] = {}
    for many in range(MOST_SETTINGS + 1):
        for chosen in itertools.combinations(possible, many):
            if len({setting.name for setting in chosen}) < many:
                continue
            key = frozenset(chosen)
            found = tuple(_value(evaluation, one, key, cells) for one in reported)
            values[key] = found
            if any(values.get(key - {setting}) == found for setting in chosen):
                continue
            if not np.isfinite(found[0]):
                continue
            tried[key] = explained(chosen, found, reported)
        if any(one.fit == 1 for one in tried.values()):
            break
        possible = [
            s for s in possible if many == 0 or frozenset([s]) in tried or s.name in ("ids", "order", "unjudged", "rel")
        ]
    return sorted(tried.values(), key=lambda one: (one.order, one.text))


_AFTERWARDS = frozenset({"topics", "undefined", "average", "scale"})


def _value(
    evaluation: Evaluation,
    reported: Reported,
    chosen: frozenset[Setting],
    cells: dict[tuple[Measure, frozenset[Setting]], Values],
) -> float:
    """The number that these settings give where another one was reported."""
    before = frozenset(s for s in chosen if s.name not in _AFTERWARDS and _concerns(s, reported.measure, chosen))
    if (reported.measure, before) not in cells:
        cells[reported.measure, before] = evaluation.values(reported.measure, {s.name: s.value for s in before})
    found = cells[reported.measure, before]
    scale = 100.0 if PERCENT in chosen else 1.0
    if reported.topic == ALL:
        return scale * found.mean({s.name: s.value for s in chosen})
    return scale * float(found.ratio[evaluation.place_of(reported.topic)])


def _concerns(setting: Setting, measure: Measure, chosen: frozenset[Setting]) -> bool:
    """Can the setting change this measure? A threshold matters to a graded one where gains are binary."""
    if setting.name == "rel" and measure.name in GRADED:
        return any((s.name, s.value) == ("gains", "binary") for s in chosen)
    return not setting.measures or measure.name in setting.measures


def explained(chosen: Sequence[Setting], found: Sequence[float], reported: Sequence[Reported]) -> Explanation:
    """How well these settings, which give the numbers found, explain those reported."""
    distance = [abs(value - one.value) for value, one in zip(found, reported, strict=True)]
    fits = sum(d <= one.reach for d, one in zip(distance, reported, strict=True))
    return Explanation(
        tuple(sorted(chosen, key=str)),
        found[0],
        found[0] - reported[0].value,
        fits / len(reported),
        float(np.mean(distance)),
    )


def _possible(evaluation: Evaluation, reported: Sequence[Reported]) -> Iterator[Setting]:
    """The settings that could change one of these numbers, given the data and the measures."""
    named = {one.measure.name for one in reported}
    cuts = {one.measure.params.get("k") for one in reported}
    lines = evaluation.lines
    there: Mapping[str, bool] = {
        "ties": evaluation.has_ties,
        "duplicates": evaluation.has_duplicates,
        "unjudged": evaluation.has_holes,
        "truncate": True,
    }
    longest = evaluation.longest
    grades = np.unique(evaluation.judgments.grade[evaluation.judgments.grade > 0]).tolist()
    usual = {int(one.measure.params.get("rel") or 1) for one in reported}
    levels = [int(grade) for grade in grades if int(grade) not in usual and int(grade) > 1] + [1] * (1 not in usual)
    candidates = [
        *READING,
        *UNJUDGED,
        *GAINS,
        *DENOMINATORS,
        *TOPICS,
        *truncations([depth for depth in DEPTHS if depth < longest]),
        *(thresholds(levels) if named & (COUNTING | GRADED) else ()),
        *(cutoffs(_other_cuts(cuts)) if cuts != {None} else ()),
    ]
    if max(abs(one.value) for one in reported) > 1 and named - {"DCG"}:  # a share above 1 is one in percent
        candidates.append(PERCENT)
    for setting in candidates:
        if setting.measures and not setting.measures & named:
            continue
        if not there.get(setting.name, True):
            continue
        if setting.name == "order" and setting.value == "rank" and np.isnan(lines.rank).any():
            continue
        yield setting


def _other_cuts(cuts: set[int | None]) -> list[int | None]:
    """Cut-offs that may have been meant: one off, other usual ones, none."""
    given = {k for k in cuts if k is not None}
    near = {k + step for k in given for step in (-1, 1) if k + step > 0}
    return [*sorted((near | {1, 3, 5, 10, 20, 100, 1000}) - given), None]
