"""Agreement of judges against statsmodels, published examples, and the definitions written out."""

from __future__ import annotations

import itertools
import json
import math
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unjudged as uj
from unjudged.cli import main
from unjudged.statistics.judge_agreement import cohen_kappa, coincidences, fleiss_kappa, krippendorff_alpha

NA = None

# The "C" data that the R packages irr and DescTools show for kripp.alpha: 4 observers, 12 units, values 1 to 5.
# Published (Krippendorff, Computing Krippendorff's Alpha-Reliability): nominal .743, ordinal .815, interval .849.
C = [
    (1, 1, NA, 1),
    (2, 2, 3, 2),
    (3, 3, 3, 3),
    (3, 3, 3, 3),
    (2, 2, 2, 2),
    (1, 2, 3, 4),
    (4, 4, 4, 4),
    (1, 1, 2, 1),
    (2, 2, 2, 2),
    (NA, 5, 5, 5),
    (NA, NA, 1, 1),
    (NA, NA, 3, NA),
]


def counts_of(units: list[tuple[Any, ...]]) -> tuple[np.ndarray, list[int]]:
    values = sorted({v for unit in units for v in unit if v is not None})
    return np.array([[sum(v == value for v in unit) for value in values] for unit in units]), values


def alpha_by_definition(units: list[tuple[Any, ...]], level: str) -> float:
    """Every ordered pair of values given to one unit, weighted 1 / (m - 1); expected: every pair of all values."""
    given = [v for unit in units if sum(x is not None for x in unit) > 1 for v in unit if v is not None]
    total = {v: given.count(v) for v in set(given)}

    def difference(a: int, b: int) -> float:
        low, high = sorted((a, b))
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return float((a - b) ** 2)
        between = sum(n for v, n in total.items() if low <= v <= high)
        return 0.0 if a == b else (between - (total[a] + total[b]) / 2) ** 2

    observed = 0.0
    for unit in units:
        mine = [v for v in unit if v is not None]
        if len(mine) > 1:
            pairs = sum(difference(a, b) for a, b in itertools.permutations(mine, 2))
            observed += pairs / (len(mine) - 1)
    n = len(given)
    expected = sum(difference(a, b) for a, b in itertools.permutations(given, 2))
    if not expected:
        return math.nan
    return 1 - (observed / n) / (expected / (n * (n - 1)))


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_example(level: str, published: float) -> None:
    counts, values = counts_of(C)
    assert round(krippendorff_alpha(counts, values, level), 3) == published
    assert krippendorff_alpha(counts, values, level) == pytest.approx(alpha_by_definition(C, level), abs=1e-12)


def test_the_coincidence_matrix_of_the_example() -> None:
    # worked by hand from the twelve units: e.g. o(1,1): unit 1 gives 3 * 2 / 2, unit 8 gives 3 * 2 / 3, unit 11 2
    matrix = coincidences(counts_of(C)[0])
    assert matrix[0, 0] == pytest.approx(3 + 2 + 2)
    assert matrix[4, 4] == pytest.approx(3)  # unit 10: 3 * 2 / 2
    assert matrix.sum() == pytest.approx(40)  # 40 values in units with two or more
    assert np.allclose(matrix, matrix.T)


@settings(max_examples=150)
@given(
    st.lists(st.lists(st.sampled_from([None, 0, 1, 2, 5]), min_size=3, max_size=3).map(tuple), min_size=1, max_size=12),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_is_its_definition(units: list[tuple[Any, ...]], level: str) -> None:
    counts, values = counts_of(units)
    if not values:
        return
    mine, expected = krippendorff_alpha(counts, values, level), alpha_by_definition(units, level)
    assert (math.isnan(mine) and math.isnan(expected)) or mine == pytest.approx(expected, abs=1e-9)


tables = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 30), min_size=k, max_size=k), min_size=k, max_size=k)
)


@settings(max_examples=100)
@given(tables)
def test_cohens_kappa_is_that_of_statsmodels(table: list[list[int]]) -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    counts = np.array(table, float)
    used = counts.sum(axis=0) + counts.sum(axis=1)
    if not counts.sum() or (used > 0).sum() < 2:
        return
    values = list(range(len(table)))
    for weights, theirs in (("none", None), ("linear", "linear"), ("quadratic", "quadratic")):
        expected = cohens_kappa(counts, wt=theirs, return_results=False)
        mine = cohen_kappa(counts, values, weights)
        assert (math.isnan(expected) and math.isnan(mine)) or mine == pytest.approx(expected, abs=1e-10)


def test_weights_follow_the_grades_not_their_places() -> None:
    """Grades 0, 1, 3: the same as grades 0, 1, 2, 3 with nobody at 2."""
    from statsmodels.stats.inter_rater import cohens_kappa

    table = np.array([[20, 5, 1], [4, 9, 3], [2, 1, 8]])
    wide = np.insert(np.insert(table, 2, 0, axis=0), 2, 0, axis=1)
    for weights in ("linear", "quadratic"):
        expected = cohens_kappa(wide, wt=weights, return_results=False)
        assert cohen_kappa(table, [0, 1, 3], weights) == pytest.approx(expected, abs=1e-12)


def test_cohens_kappa_by_hand() -> None:
    # 50 things, both yes 20, both no 15: observed 0.7; by chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5; kappa 0.4
    assert cohen_kappa([[20, 5], [10, 15]], [0, 1]) == pytest.approx(0.4)


@settings(max_examples=100)
@given(st.integers(2, 5), st.integers(2, 4), st.lists(st.integers(0, 10**6), min_size=2, max_size=15))
def test_fleiss_kappa_is_that_of_statsmodels(judges: int, grades: int, seeds: list[int]) -> None:
    from statsmodels.stats.inter_rater import fleiss_kappa as theirs

    rng = np.random.default_rng(seeds)
    counts = np.stack([np.bincount(rng.integers(grades, size=judges), minlength=grades) for _ in seeds])
    if (counts.sum(axis=0) > 0).sum() < 2:
        assert math.isnan(fleiss_kappa(counts))
        return
    assert fleiss_kappa(counts) == pytest.approx(theirs(counts), abs=1e-10)


def test_two_judges_and_scotts_pi() -> None:
    """Nominal alpha of two judges without gaps is Scott's pi corrected for small samples: 1 - (1 - pi) (n - 1) / n."""
    a, b = [0, 0, 1, 1, 1, 0, 1, 0, 1, 1], [0, 1, 1, 1, 0, 0, 1, 0, 1, 0]
    observed = np.mean(np.array(a) == np.array(b))
    share = (sum(a) + sum(b)) / 20
    by_chance = share**2 + (1 - share) ** 2
    pi = (observed - by_chance) / (1 - by_chance)
    counts, values = counts_of(list(zip(a, b, strict=True)))
    assert krippendorff_alpha(counts, values) == pytest.approx(1 - (1 - pi) * 19 / 20)
    assert fleiss_kappa(counts) == pytest.approx(pi)


# -- sets of judgments

HUMAN = {"1": {"a": 2, "b": 0, "c": 1, "d": 0, "x": 1}, "2": {"a": 1, "b": 0}}
MACHINE = {"1": {"a": 2, "b": 1, "c": 1, "d": 0, "y": 1}, "2": {"a": 0, "b": 0, "z": -1}}
THIRD = {"1": {"a": 1, "b": 0, "c": 1, "d": 0}, "3": {"q": 1}}


def test_two_sets_by_hand() -> None:
    found = uj.judge_agreement({"human": HUMAN, "machine": MACHINE})
    assert found.judges == ("human", "machine")
    # common: 1/a 2-2, 1/b 0-1, 1/c 1-1, 1/d 0-0, 2/a 1-0, 2/b 0-0: 4 of 6 agree
    assert found.value("documents") == 6
    assert found.value("agreement") == pytest.approx(4 / 6)
    # human: 0 three times, 1 twice, 2 once; machine the same: by chance (9 + 4 + 1) / 36
    assert found.value("kappa") == pytest.approx((4 / 6 - 14 / 36) / (1 - 14 / 36))
    # relevant to both: 1/a, 1/c; to either: 1/a, 1/b, 1/c, 2/a
    assert found.value("overlap") == pytest.approx(2 / 4)
    assert found.value("documents", topic="2") == 2
    assert found.value("overlap", topic="2") == 0
    assert found.value("kappa", topic="2") == pytest.approx(0)  # one grade from the machine
    table = {(r[3], r[4]): r[5] for r in found.confusion.rows() if r[0] == "all"}
    assert {cell: n for cell, n in table.items() if n} == {(0, 0): 2, (0, 1): 1, (1, 0): 1, (1, 1): 1, (2, 2): 1}
    assert len(table) == 9


def test_binary_agreement() -> None:
    found = uj.judge_agreement(HUMAN, MACHINE, binary=True, rel=2)
    assert found.judges == ("A", "B")
    assert found.value("agreement") == 1  # 1/a is the only one of grade 2, to both
    assert found.value("kappa") == 1
    assert found.value("overlap") == 1


def test_three_sets() -> None:
    found = uj.judge_agreement({"h": HUMAN, "m": MACHINE, "t": THIRD})
    # judged by all: 1/a 2 2 1, 1/b 0 1 0, 1/c 1 1 1, 1/d 0 0 0
    assert found.value("documents") == 4
    assert found.value("agreement") == 0.5
    assert found.value("overlap") == pytest.approx(2 / 3)  # a, c of a, b, c
    from statsmodels.stats.inter_rater import fleiss_kappa as theirs

    counts = [[0, 1, 2], [2, 1, 0], [0, 3, 0], [3, 0, 0]]
    assert found.value("fleiss_kappa") == pytest.approx(theirs(np.array(counts)))
    units = [(2, 2, 1), (0, 1, 0), (1, 1, 1), (0, 0, 0), (1, NA, NA), (NA, 1, NA), (1, 0, NA), (0, 0, NA), (NA, NA, 1)]
    for level in ("nominal", "ordinal", "interval"):
        assert found.value(f"alpha_{level}") == pytest.approx(alpha_by_definition(units, level))
    assert found.value("kappa", judges=("h", "t")) == uj.judge_agreement(HUMAN, THIRD).value("kappa")
    columns, rows = found._wide()
    assert columns[:4] == ["topic", "judge_a", "judge_b", "documents"]
    assert [row[:3] for row in rows if row[0] == "all"] == [
        ("all", "h", "m"),
        ("all", "h", "t"),
        ("all", "m", "t"),
        ("all", "all", "all"),
    ]


@settings(max_examples=50)
@given(st.integers(0, 1000), st.sampled_from(["kappa", "kappa_linear", "alpha_ordinal", "overlap", "agreement"]))
def test_agreement_is_symmetric_and_one_with_oneself(seed: int, statistic: str) -> None:
    rng = np.random.default_rng(seed)
    a, b = ({"t": {f"d{i}": int(g) for i, g in enumerate(rng.integers(0, 3, 20))}} for _ in range(2))
    assert uj.judge_agreement(a, b).value(statistic) == pytest.approx(uj.judge_agreement(b, a).value(statistic))
    assert uj.judge_agreement(a, a).value(statistic) == pytest.approx(1)


def test_flipped_grades_agree_less() -> None:
    c = uj.load({"t": {f"d{i}": int(i % 3 == 0) for i in range(900)}}, {"t": {"d1": 1.0}})
    kappas = [uj.judge_agreement(c, uj.flip(c, rate, seed=1)).value("kappa") for rate in (0.0, 0.1, 0.3, 0.5)]
    assert kappas[0] == 1 and kappas == sorted(kappas, reverse=True)
    # flips at rate f among a third relevant: observed 1 - f, by chance q r + (1 - q)(1 - r), q = 1/3, r = 1/3 + f/3
    for rate, kappa in zip((0.1, 0.3, 0.5), kappas[1:], strict=True):
        r = 1 / 3 + rate / 3
        chance = r / 3 + (1 - r) * 2 / 3
        assert kappa == pytest.approx((1 - rate - chance) / (1 - chance), abs=0.08)


@pytest.mark.parametrize(
    ("sets", "options", "sentence"),
    [
        ((HUMAN,), {}, "at least two sets"),
        ((HUMAN, {"9": {"a": 1}}), {}, "no judged document in common"),
        ((HUMAN, {"1": {"a": -1}}), {}, "no judged document in common"),
        ((HUMAN, MACHINE), {"names": ["x", "x"]}, "a name of its own"),
        ((HUMAN, MACHINE), {"names": ["x"]}, "a name of its own"),
        ((HUMAN, 3), {}, "not int"),
    ],
)
def test_refusals(sets: tuple[Any, ...], options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(uj.UnjudgedError, match=sentence):
        uj.judge_agreement(*sets, **options)


def test_an_unknown_statistic_is_refused() -> None:
    with pytest.raises(uj.UsageError, match="no pi of"):
        uj.judge_agreement(HUMAN, MACHINE).value("pi")


def test_a_judge_on_a_scale_of_his_own() -> None:
    """0 and 1 against 0 to 3: the highest grade is relevant, as in the audit; on grades a note tells of the scales."""
    rng = np.random.default_rng(3)
    graded = {"t": {f"d{i}": int(g) for i, g in enumerate(rng.integers(0, 4, 60))}}
    yes_or_no = {"t": {doc: int(g >= 2) ^ (doc in ("d1", "d2", "d3")) for doc, g in graded["t"].items()}}
    found = uj.judge_agreement({"human": graded, "llm": yes_or_no}, rel=2, binary=True)
    relevant = np.array([int(g >= 2) for g in graded["t"].values()]), np.array(list(yes_or_no["t"].values()))
    assert found.value("agreement") == pytest.approx(57 / 60) == np.mean(np.equal(*relevant))
    both, either = np.logical_and(*relevant).sum(), np.logical_or(*relevant).sum()
    assert found.value("overlap") == uj.judge_agreement(graded, yes_or_no, rel=2).value("overlap") == both / either
    assert any("llm: relevant from 1" in note for note in found.notes)
    told = uj.judge_agreement({"human": graded, "llm": yes_or_no}).notes
    assert any("highest grades differ, 3 (human) and 1 (llm)" in note for note in told)


def test_labels_alone_have_no_verdict() -> None:
    """How well judges must agree depends on what happens to the runs; the study `judges` looks at them."""
    found = uj.judge_agreement(HUMAN, MACHINE)
    assert found.verdict is None
    assert "unjudged judges audit" in found.notes[0]


def test_the_next_step_stands_in_the_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "human.txt", tmp_path / "two words.txt"]
    for file, grade in zip(files, (2, 1), strict=True):
        file.write_text(f"1 0 a {grade}\n1 0 b 0\n")
    assert main(["qrels", "agree", *map(str, files), "--rel", "2", "--format", "json"]) == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert list(told)[:3] == ["provenance", "verdict", "next"] and told["verdict"] is None
    command = ["judges", "audit", *map(str, files), "--runs", "RUN", "--rel", "2"]
    assert told["next"]["command"] == command and f"unjudged {shlex.join(command)}" in said.err
    runs = [tmp_path / "run.a", tmp_path / "run.b"]
    for run in runs:
        run.write_text("1 Q0 a 1 2 r\n1 Q0 b 2 1 r\n")
    at = command.index("RUN")
    assert main([*command[:at], *map(str, runs), *command[at + 1 :]]) == 0  # one topic is too few, but all is known
    assert "at least two topics in common" in capsys.readouterr().out


def test_all_topics_together_alone() -> None:
    found = uj.judge_agreement(HUMAN, MACHINE, per_topic=False)
    assert set(found.frame["topic"]) == {"all"} < set(uj.judge_agreement(HUMAN, MACHINE).frame["topic"])
