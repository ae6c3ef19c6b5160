"""Order, decisions and favour against plain code: no data of others is needed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unjudged.changes.rejudge import judgments_of
from unjudged.judges.decisions import Changes, decisions, yardstick
from unjudged.judges.families import blocks_of, favour
from unjudged.judges.labels import STATISTICS, label_statistics, same_pairs
from unjudged.judges.order import FIGURES, order_agreement, order_figures


@pytest.fixture(scope="module")
def worlds() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Topics x runs under two judges, and how much of the top was judged."""
    rng = np.random.default_rng(5)
    human = np.clip(rng.normal(np.linspace(0.2, 0.7, 14), 0.15, (30, 14)), 0, 1)
    return human, np.clip(0.1 + 0.8 * human + rng.normal(0, 0.1, human.shape), 0, 1), rng.uniform(0.5, 1, human.shape)


def test_labels_by_hand() -> None:
    """Cohen's example: 20 and 15 agreed, 5 and 10 not; kappa 0.4."""
    found = dict(zip(STATISTICS, label_statistics([[15, 10], [5, 20]], [0, 1], 1, 1), strict=True))
    assert found["kappa"] == found["kappa_binary"] == found["kappa_quadratic"] == pytest.approx(0.4)
    assert found["agreement_binary"] == pytest.approx(0.7)
    assert found["leniency"] == found["grade_difference"] == pytest.approx(30 / 50 - 25 / 50)
    assert found["alpha_nominal"] == pytest.approx(1 - 99 * 15 / (45 * 55))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=25))
def test_order_against_plain_lists(means: list[tuple[int, int]]) -> None:
    human, other = ([m[side] / 10 for m in means] for side in (0, 1))
    found = dict(zip(FIGURES, order_figures(human, other, 5), strict=True))
    first, second = (sorted(range(len(means)), key=lambda run: (-side[run], run)) for side in (human, other))
    assert found["overlap"] == pytest.approx(len(set(first[:5]) & set(second[:5])) / min(5, len(means)))
    right = sum(
        sum(first.index(above) < first.index(run) for above in second[:place]) / place
        for place, run in enumerate(second)
        if place
    )
    assert found["tau_ap"] == pytest.approx(2 * right / (len(means) - 1) - 1)
    tau = stats.kendalltau(human, other).statistic
    assert found["tau"] == pytest.approx(tau, nan_ok=True)
    best = first[:5]
    wanted = stats.kendalltau([human[r] for r in best], [other[r] for r in best]).statistic
    assert found["top_tau"] == pytest.approx(wanted, nan_ok=True)


def test_ranges_are_those_of_redrawn_topics(worlds: tuple[np.ndarray, ...]) -> None:
    human, other, _ = worlds
    _, ranges = order_agreement(human, other, 10, 60, 3)
    drawn = np.random.default_rng(3).integers(0, 30, (60, 30))
    taus = [stats.kendalltau(human[d].mean(axis=0).round(12), other[d].mean(axis=0).round(12))[0] for d in drawn]
    assert ranges[0] == pytest.approx(np.percentile(taus, [2.5, 97.5]))


def test_changes_are_counted() -> None:
    human, other = np.array([0, 0, 1, 1, -1, 1]), np.array([0, 1, 1, 0, 1, -1])
    found = Changes.between(human, other)
    assert vars(found) == {
        "pairs": 6,
        "significant_human": 4,
        "significant_judge": 4,
        "false_alarms": 1,
        "misses": 1,
        "reversals": 2,
    }
    assert (found.changed, found.false_alarm_rate, found.miss_rate) == (4 / 6, 3 / 4, 3 / 4)
    nobody = Changes.between(np.zeros(3, int), np.zeros(3, int))
    assert nobody.changed == 0 and np.isnan([nobody.false_alarm_rate, nobody.miss_rate]).all()


def test_constant_and_no_differences_are_decided() -> None:
    """A constant difference has p = 0, none has p = 1."""
    column = np.linspace(0, 0.5, 6)
    assert decisions(np.column_stack([column, column + 0.1, column])).tolist() == [-1, 0, 1]


def test_yardstick_is_a_mean_over_redrawn_topics(worlds: tuple[np.ndarray, ...]) -> None:
    human = worlds[0]
    drawn = np.random.default_rng(2).integers(0, 30, (9, 30))
    own = decisions(human)
    wanted = np.mean([(decisions(human[d]) != own).mean() for d in drawn])
    assert yardstick(human, 0.05, 9, 2) == pytest.approx(wanted) and wanted > 0


@pytest.mark.parametrize("curved", [False, True])
def test_favour_is_a_coefficient_of_least_squares(worlds: tuple[np.ndarray, ...], curved: bool) -> None:
    human, other, judged = worlds
    inside = np.arange(14) % 3 == 0
    liked = other + 0.2 * inside
    teams = [f"t{run // 2}" for run in range(14)]
    found = favour(human, liked, judged, inside, teams, curved=curved, resamples=40, permutations=99, seed=1)

    def coefficient(h: np.ndarray, o: np.ndarray, j: np.ndarray) -> float:
        columns = [np.ones(14), h, j, *([h**2] if curved else []), inside]
        return float(np.linalg.lstsq(np.column_stack(columns), o, rcond=None)[0][-1])

    assert found.effect == pytest.approx(coefficient(*(m.mean(axis=0) for m in (human, liked, judged))))
    drawn = np.random.default_rng(1).integers(0, 30, (40, 30))
    wanted = [coefficient(*(m[d].mean(axis=0) for m in (human, liked, judged))) for d in drawn]
    assert [found.low, found.high] == pytest.approx(np.percentile(wanted, [2.5, 97.5]))
    assert found.apart and found.p_value <= 0.05
    without = favour(human, other, judged, inside, teams, resamples=40, permutations=99, seed=1)
    assert without.p_value > 0.05 and found.effect - without.effect == pytest.approx(0.2, abs=0.05)


def test_a_team_inside_and_outside_is_two_blocks() -> None:
    block, within = blocks_of(["a", "a", "b", "a"], np.array([True, False, False, True]))
    assert block.tolist() == [0, 1, 2, 0] and within == [True, False, False]


def test_permutations_that_change_nothing_are_as_large() -> None:
    """Two teams of two runs each: half of all permutations leave the family where it is, the others swap it."""
    rng = np.random.default_rng(3)
    human, other = (rng.uniform(0, 1, (20, 4)) for _ in range(2))
    inside = np.array([True, True, False, False])
    found = favour(human, other, np.ones_like(human), inside, ["a", "a", "b", "b"], resamples=20, permutations=99)
    assert found.p_value == 1.0  # the family and its complement have one effect, with opposite signs


def test_coverage_by_hand() -> None:
    human = {"1": {"a": 0, "b": 1, "c": 2, "d": 2}, "2": {"e": 0, "f": 0}}
    other = {"1": {"a": 1, "c": 2, "new": 1}, "2": {"e": 0, "f": 1}}
    found = same_pairs(judgments_of(human), judgments_of(other))
    assert found.coverage == {0: (3, 3), 1: (0, 1), 2: (1, 2)}
    assert (found.pairs, found.human) == (4, 6) and found.covered == pytest.approx(4 / 6)
    assert found.shares == {0: 1.0, 1: 0.0, 2: 0.5} and found.uneven == 1.0


@pytest.mark.parametrize(
    ("tops", "one"), [((1, 1), True), ((2, 1), False), ((1, 2), False), ((3, 2), True), ((2, 3), False), ((2, 2), True)]
)
def test_one_scale(tops: tuple[int, int], one: bool) -> None:
    """(human, other): whoever gives 0 and 1 only has another scale than whoever gives more, and none is exceeded."""
    found = same_pairs(*(judgments_of({"1": {"a": top, "b": 0}}) for top in tops))
    assert found.one_scale is one
