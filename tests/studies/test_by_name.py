"""A study under its own name, by `uj.study` and on scores at hand: one answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_scores import MATRIX, scores_of

import unjudged as uj
from unjudged.errors import UsageError

MEASURES = "AP, AP', nDCG@10"
OPTIONS: dict[str, dict[str, Any]] = {
    "agreement": {},
    "power": {"resamples": 100, "seed": 3},
    "swap": {"trials": 30, "c": 4, "seed": 3},
    "stability": {"trials": 30, "fuzziness": (0.02, 0.06), "seed": 3},
    "reliability": {"stability": 0.9},
}
VIEWS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in OPTIONS),
    *(("power", {"pairs": True}), ("power", {"curves": True}), ("swap", {"curve": True})),
]


@pytest.mark.parametrize(("name", "view"), VIEWS)
def test_one_answer_by_every_door(name: str, view: dict[str, Any], tiny: uj.Collection) -> None:
    asked = {**OPTIONS[name], **view}
    function = getattr(uj, name)
    first = function(tiny, MEASURES, **asked)
    studied = uj.study(name, tiny, measures=MEASURES, **asked)
    scored = function(uj.score(tiny, MEASURES), **asked)
    for other in (studied, scored, function(uj.score(tiny, f"RR, {MEASURES}"), MEASURES, **asked)):
        assert other.columns == first.columns and list(map(tuple, other.rows())) == list(map(tuple, first.rows()))
        assert other.table() == first.table()
        assert other.figures == first.figures and other.notes == first.notes
        for chart in first.figures:
            assert other.plot(chart).spec == first.plot(chart).spec
    assert studied.verdict == first.verdict is not None
    step = first.verdict.next  # scores know no files, so that a next step has no command there
    assert scored.verdict == (first.verdict if step is None else replace(first.verdict, next=replace(step, command=())))


def test_a_name_stays_a_function_after_its_study_was_run(tiny: uj.Collection) -> None:
    """The package of studies has modules of the same names."""
    for name, options in OPTIONS.items():
        uj.study(name, tiny, measures=MEASURES, **options)
        assert callable(getattr(uj, name)) and getattr(uj, name).__name__ == name


@pytest.mark.parametrize("name", OPTIONS)
def test_every_chart_is_drawn(name: str) -> None:
    result = getattr(uj, name)(scores_of(MATRIX, MATRIX**2), **{k: v for k, v in OPTIONS[name].items() if k != "c"})
    for chart in result.figures:
        assert "nDCG@10" in result.plot(chart).svg()


def test_one_run_is_refused_and_one_topic_is_unknown() -> None:
    for function in (uj.swap, uj.stability, uj.power, uj.reliability):
        with pytest.raises(UsageError, match="needs at least 2 runs, 1 given"):
            function(scores_of(MATRIX[:, :1]))
        verdict = function(scores_of(MATRIX[:1])).verdict
        assert verdict is not None and verdict.word == "unknown" and verdict.value is None


def test_topics_without_a_value_are_left_out_and_told() -> None:
    holes = MATRIX.copy()
    holes[3, 2] = np.nan
    found = uj.reliability(scores_of(holes))
    assert found.notes == ("1 topic with an undefined score left out",)
    kept = uj.reliability(scores_of(np.delete(MATRIX, 3, axis=0)))
    assert list(map(tuple, found.rows())) == list(map(tuple, kept.rows()))


def test_a_work_folder_keeps_units_of_scores_and_refuses_other_scores(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    for _ in range(2):
        found = uj.power(
            scores_of(MATRIX, MATRIX**2),
            workdir=tmp_path,
            progress=lambda _, done, all, kept: told.append((done, kept)),
        )
    assert told[0] == (0, 0) and told[-1] == (2, 2)  # the second time both units were kept from before
    assert found.table() == uj.power(scores_of(MATRIX, MATRIX**2)).table()
    with pytest.raises(UsageError, match="other scores"):
        uj.power(scores_of(MATRIX**2, MATRIX), workdir=tmp_path)
