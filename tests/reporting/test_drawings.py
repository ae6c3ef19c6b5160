"""Drawings of the report: axes that say their numbers, words that stand free."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import scipy.stats

import unjudged as uj
from unjudged.reporting.drawings import shapes
from unjudged.reporting.drawings.shapes import Axis, Line
from unjudged.reporting.in_short import steps_of
from unjudged.reporting.sections import Section
from unjudged.results import Result, Step, Verdict


@pytest.mark.parametrize("span", [0.004, 0.03, 0.2, 0.7, 1.0, 3.0, 9.0, 12.6, 24.0, 60.0, 130.0, 900.0])
@pytest.mark.parametrize("whole", [False, True])
def test_ticks_are_written_as_they_are(span: float, whole: bool) -> None:
    for low in (0.0, 0.31, 82.3, 95.0):
        for about in (4, 5, 6, 7):
            axis = Axis.over([low, low + span], about, whole)
            assert [float(axis.told(tick)) for tick in axis.ticks] == pytest.approx(list(axis.ticks), abs=1e-9)
            assert axis.low <= low and axis.high >= low + span and len(axis.ticks) <= about + 3
            assert np.ptp(np.diff(axis.ticks)) == pytest.approx(0, abs=1e-9)


LINES = {
    "all above the limit": [(1000.0, 97.0), (20000.0, 98.5), (75000.0, 100.0)],
    "along the limit": [(5.0, 85.0), (50.0, 94.0), (100.0, 95.2), (200.0, 95.9)],
    "through it on the left": [(5.0, 96.0), (200.0, 80.0)],
}


def searched(pattern: str, text: str) -> re.Match[str]:
    found = re.search(pattern, text)
    assert found is not None, pattern
    return found


@pytest.mark.parametrize("points", LINES.values(), ids=LINES)
def test_the_word_of_the_limit_stands_inside_and_off_the_line(points: list[tuple[float, float]]) -> None:
    drawn = str(shapes.curves([Line("AP", points)], "x", "y", limit=(95.0, "solid: 95 of 100"), whole=True))
    for svg in drawn.split("<svg ")[1:]:
        height = int(searched(r'viewBox="0 0 \d+ (\d+)"', svg)[1])
        found = searched(r'class="bandword" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)"', svg)
        x, y = float(found[1]), float(found[2])
        left, right = (x - 100, x) if found[3] == "end" else (x, x + 100)
        assert y < height - 38
        path = [tuple(map(float, p.split())) for p in searched(r'class="line l0" d="M([^"]+)"', svg)[1].split("L")]
        xs = np.linspace(path[0][0], path[-1][0], 2000)
        ys = np.interp(xs, [p[0] for p in path], [p[1] for p in path])
        inside = (xs > left) & (xs < right) & (ys > y - 10) & (ys < y + 2)
        assert not inside.any()


def answer(key: str, word: str, step: Step) -> Section:
    made = Result(("a",), list, None, verdict=Verdict(word, "s", next=step))  # type: ignore[arg-type]
    return Section(key, key, "", made)


def test_steps_that_differ_in_the_measure_alone_are_one() -> None:
    first = Step("judge what decides", ("next", "q", "r", "-m", "nDCG@100", "--top", "1"), "a")
    again = Step("judge the best", ("next", "q", "r", "-m", "nDCG@10", "--top", "1"), "b")
    other = Step("judge all", ("next", "q", "r", "-m", "nDCG@10", "--all"), "c")
    found = steps_of([answer("x", "fragile", first), answer("y", "fragile", again), answer("z", "with care", other)])
    assert [step for _, _, step in found] == [first, other]


def test_what_more_topics_would_do() -> None:
    """Twice the topics tell apart what lies within the root of two of the least sure pair that is told apart now."""
    rng = np.random.default_rng(2)
    values = np.clip(np.linspace(0.5, 0.3, 12)[:, None] + rng.normal(0, 0.12, (12, 50)), 0, 1)
    scores = uj.load_scores({f"r{i}": {"AP": {str(t): v for t, v in enumerate(row)}} for i, row in enumerate(values)})

    def sure(a: int, b: int) -> float:
        apart = values[a] - values[b]
        return float(abs(apart.mean())) / float(scipy.stats.t.ppf(0.975, 49) * apart.std(ddof=1) / math.sqrt(50))

    compared = uj.compare(scores)
    rows = [dict(zip(compared.columns, row, strict=True)) for row in compared.rows()]
    pairs = {(int(row["run_a"][1:]), int(row["run_b"][1:])): row["outcome"] for row in rows}
    least = min(sure(a, b) for (a, b), outcome in pairs.items() if outcome in ("better", "worse"))
    best = int(np.argmax(values.mean(axis=1)))
    open_ = [pair for pair, outcome in pairs.items() if best in pair and outcome == "cannot tell"]
    left = sum(sure(*pair) * math.sqrt(2) < least for pair in open_)
    assert open_ and left < len(open_)
    told = uj.study("winners", scores).verdict
    assert told is not None and told.next is not None
    assert told.next.effect == (
        f"twice as many topics leave about {left + 1} runs in first place instead of {len(open_) + 1}"
    )
