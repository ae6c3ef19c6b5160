"""Noise, merging and replacement: by hand, by brute force, and equal to writing the file and reading it back."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

import unjudged as uj
from unjudged.changes.merge import RULES
from unjudged.cli import main
from unjudged.io.write import write_qrels

Qrels = dict[str, dict[str, int]]

HUMAN: Qrels = {"1": {"a": 2, "b": 0, "c": 1, "d": 0}, "2": {"a": 1, "e": 0}}
MACHINE: Qrels = {"1": {"a": 1, "b": 0, "c": 0, "x": 3}, "2": {"e": 2}, "9": {"q": 1}}
THIRD: Qrels = {"1": {"a": 1, "b": 1, "c": 0}, "2": {"a": 0}}
RUNS = {
    "r": {"1": {"a": 5.0, "x": 4.0, "b": 3.0, "u": 2.0}, "2": {"e": 2.0, "a": 1.0}},
    "s": {"1": {"x": 1.0, "c": 0.5}, "2": {"v": 1.0}},
}


def held(c: uj.Collection) -> Qrels:
    """The judgments as a dict."""
    out: Qrels = {topic: {} for topic in c.topics}
    for row in range(len(c.judgments)):
        out[c.topics[int(c.judgments.topic[row])]][c.judgments.docs[row]] = int(c.judgments.grade[row])
    return out


def without_topic(qrels: Qrels, topic: str) -> Qrels:
    return {t: judged for t, judged in qrels.items() if t != topic}


# -- merging

BY_HAND: dict[str, Qrels] = {
    # 1/a: 2 1 1, 1/b: 0 0 1, 1/c: 1 0 0, 1/d: 0 - -, 1/x: - 3 -; 2/a: 1 - 0, 2/e: 0 2 -
    "majority": {"1": {"a": 1, "b": 0, "c": 0, "d": 0, "x": 3}, "2": {"a": 1, "e": 0}},
    "max": {"1": {"a": 2, "b": 1, "c": 1, "d": 0, "x": 3}, "2": {"a": 1, "e": 2}},
    "min": {"1": {"a": 1, "b": 0, "c": 0, "d": 0, "x": 3}, "2": {"a": 0, "e": 0}},
    # 4/3, 1/3, 1/3; 1/2 is rounded up, 2/2
    "mean": {"1": {"a": 1, "b": 0, "c": 0, "d": 0, "x": 3}, "2": {"a": 1, "e": 1}},
    "median": {"1": {"a": 1, "b": 0, "c": 0, "d": 0, "x": 3}, "2": {"a": 1, "e": 1}},
    "first": {"1": {"a": 2, "b": 0, "c": 1, "d": 0, "x": 3}, "2": {"a": 1, "e": 0}},
}


@pytest.mark.parametrize("rule", BY_HAND)
def test_three_sets_merged_by_hand(rule: str) -> None:
    merged = uj.merge(uj.load(HUMAN, RUNS), MACHINE, THIRD, rule=rule)
    assert held(merged) == BY_HAND[rule]
    assert str(merged.history[-1]).startswith(f"3 sets of judgments merged by {rule}: ")
    assert merged.notes[-1].endswith(
        "1 topic of the other judgments left out (e.g. 9); the runs were read without them"
    )
    assert merged.judgments.gains.top_grade == 3  # the machine's scale is the larger one


def test_only_what_all_agree_on() -> None:
    agreed = uj.merge(uj.load(HUMAN, RUNS), {"1": {"a": 2, "b": 0, "c": 0}, "2": {"a": 1}}, rule="agreed")
    assert held(agreed) == {"1": {"a": 2, "b": 0}, "2": {"a": 1}}
    assert str(agreed.history[-1]).endswith("0 grades changed, 0 documents newly judged, 3 no longer judged")


def test_each_topic_from_one_set_at_random() -> None:
    c = uj.load(HUMAN, RUNS)
    drawn = []
    for seed in range(30):
        merged = held(uj.merge(c, MACHINE, rule="random", seed=seed))
        for topic in ("1", "2"):
            assert merged[topic] in (HUMAN[topic], MACHINE[topic])
        drawn.append(tuple(merged[topic] == HUMAN[topic] for topic in ("1", "2")))
        assert merged == held(uj.merge(c, MACHINE, rule="random", seed=seed))
    assert len(set(drawn)) == 4


def test_without_runs_all_topics_stay(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1 0 a 1\n2 0 b 0\n")
    (tmp_path / "b").write_text("3 0 c 2\n1 0 a 0\n")
    assert (
        main(["qrels", "merge", str(tmp_path / "a"), str(tmp_path / "b"), "--rule", "max", "-o", str(tmp_path / "m")])
        == 0
    )
    assert (tmp_path / "m").read_text() == "1 0 a 1\n2 0 b 0\n3 0 c 2\n"


grades = st.one_of(st.none(), st.integers(-1, 4))


@settings(max_examples=80)
@given(
    st.integers(2, 4).flatmap(lambda n: st.lists(st.lists(grades, min_size=n, max_size=n), min_size=1, max_size=10)),
    st.sampled_from(["majority", "max", "min", "mean", "median", "first", "agreed"]),
)
def test_rules_against_plain_python(table: list[list[int | None]], rule: str) -> None:
    sets: list[Qrels] = [
        {"t": {"anchor": 0} | {f"d{i}": row[j] for i, row in enumerate(table) if row[j] is not None}}  # type: ignore[dict-item]
        for j in range(len(table[0]))
    ]
    expected = {"anchor": 0}
    for i, row in enumerate(table):
        given = [g for g in row if g is not None and g >= 0]
        if not given:
            continue
        if rule == "majority":
            grade = max(given, key=lambda g: (given.count(g), -given.index(g)))
        elif rule == "agreed":
            if len(given) < len(row) or len(set(given)) > 1:
                continue
            grade = given[0]
        else:
            exact: dict[str, Any] = {
                "max": max,
                "min": min,
                "mean": statistics.mean,
                "median": statistics.median,
                "first": lambda g: g[0],
            }
            grade = int(np.floor(float(exact[rule](given)) + 0.5 + 1e-9))
        expected[f"d{i}"] = grade
    merged = uj.merge(uj.load(sets[0], {"t": {"d1": 1.0, "z": 0.5}}), *sets[1:], rule=rule)
    assert held(merged) == {"t": expected}


# -- replacement


def test_replacement_by_hand() -> None:
    c = uj.load(HUMAN, RUNS)
    replaced = uj.replace_judgments(c, MACHINE)
    assert held(replaced) == {t: MACHINE[t] for t in ("1", "2")}
    kept = uj.replace_judgments(c, MACHINE, keep=True)
    assert held(kept) == {"1": HUMAN["1"] | MACHINE["1"], "2": HUMAN["2"] | MACHINE["2"]}
    assert held(uj.replace_judgments(replaced, c)) == HUMAN
    assert tuple(map(str, replaced.history)) == (
        "judgments replaced by judgments: 3 grades changed, 1 documents newly judged, 2 no longer judged",
    )


@pytest.mark.parametrize("ties", ["trec10", "trec9", "file", "ascending", "expected"])
@pytest.mark.parametrize("change", ["merge", "replace", "keep", "reduced"])
def test_scores_are_those_of_the_file_read_back(change: str, ties: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    docs = [f"d{i:02}" for i in range(40)]
    mine = {t: {d: int(rng.integers(0, 3)) for d in rng.choice(docs, 15, replace=False)} for t in "12345"}
    other = {t: {d: int(rng.integers(0, 3)) for d in rng.choice(docs, 18, replace=False)} for t in "12345"}
    runs = {
        f"r{k}": {t: {d: float(rng.integers(0, 6)) for d in rng.choice(docs, 25, replace=False)} for t in "1234"}
        for k in range(4)
    }
    c = uj.load(mine, runs, ties=ties)
    if change == "merge":
        after = uj.merge(c, other, rule="max")
    elif change == "reduced":
        after = uj.merge(uj.reduce(c, 0.5, seed=3), other, rule="first")
    else:
        after = uj.replace_judgments(c, other, keep=change == "keep")
    write_qrels(after.judgments, tmp_path / "q")
    gains = {1: 1.0, 2: 2.0}
    read = uj.load(str(tmp_path / "q"), runs, ties=ties, gains=gains)
    measures = ["AP", "nDCG@10", "Q", "bpref", "AP'", "RBP", "ERR", "Judged@10", "P@5", "RR"]
    if ties == "expected":
        measures = ["AP", "nDCG@10", "P@5", "RR"]
    assert np.array_equal(uj.score(after, measures).values, uj.score(read, measures).values, equal_nan=True)
    for cell in range(len(read.runs) * len(read.topics)):
        assert after.rankings.ids(after.judgments, cell) == read.rankings.ids(read.judgments, cell)
    # and on: a reduction of the rebuilt collection is the reduction of the one read
    a, b = uj.shallow(after, depth=5), uj.shallow(read, depth=5)
    assert held(a) == held(b)


def test_more_runs_and_other_ties_can_follow(tmp_path: Path) -> None:
    after = uj.replace_judgments(uj.load(HUMAN, RUNS), MACHINE)
    more = after.adding({"t": {"1": {"x": 1.0}}})
    assert held(more) == held(after) and more.runs == ("r", "s", "t")
    assert uj.score(more, ["RR"]).values[2, 0, 0] == 1
    assert after.with_ties("file").settings["ties"] == "file"


# -- noise

MANY: Qrels = {str(t): {f"d{i}": (i % 4) * (i % 3 == 0) for i in range(400)} for t in range(5)}
LONG = {"one": {str(t): {f"d{i}": 500.0 - i for i in range(60)} for t in range(5)}, "two": {"0": {"d399": 1.0}}}


@pytest.fixture(scope="module")
def many() -> uj.Collection:
    return uj.load(MANY, LONG, teams={"one": "x", "two": "y"})


def test_flips_by_hand(many: uj.Collection) -> None:
    assert held(uj.flip(many, 0)) == MANY
    turned = held(uj.flip(many, 1))
    assert turned == {t: {d: int(g == 0) for d, g in judged.items()} for t, judged in MANY.items()}
    rigid = held(uj.flip(many, 1, rel=2))
    assert rigid == {t: {d: 0 if g >= 2 else 2 for d, g in judged.items()} for t, judged in MANY.items()}
    only = held(uj.flip(many, relevant=1))
    assert only == {t: dict.fromkeys(judged, 0) for t, judged in MANY.items()}
    assert held(uj.flip(many, nonrelevant=1)) == {t: {d: g or 1 for d, g in j.items()} for t, j in MANY.items()}
    assert held(uj.flip(many, 1, relevant=0)) == held(uj.flip(many, nonrelevant=1))


def test_flips_have_their_rate_and_are_nested(many: uj.Collection) -> None:
    before, flipped = many.judgments.grade, {}
    for rate in (0.05, 0.2, 0.6):
        after = uj.flip(many, rate, seed=2)
        flipped[rate] = set(np.flatnonzero(after.judgments.grade != before).tolist())
        assert abs(len(flipped[rate]) - 2000 * rate) < 5 * np.sqrt(2000 * rate * (1 - rate))
        assert str(after.history[-1]) == (
            f"grades flipped with probability {rate} (seed 2): {len(flipped[rate])} of 2000 grades changed"
        )
    assert flipped[0.05] < flipped[0.2] < flipped[0.6]
    assert held(uj.flip(many, 0.2, seed=2)) == held(uj.flip(many, 0.2, seed=2)) != held(uj.flip(many, 0.2, seed=3))


def test_flips_do_not_depend_on_what_was_taken_away_or_on_the_order(many: uj.Collection) -> None:
    reduced = uj.reduce(many, 0.3, seed=2)  # the same seed: flips and reduction are independent of each other
    after = held(uj.flip(reduced, 0.4, seed=2))
    whole = held(uj.flip(many, 0.4, seed=2))
    assert all(whole[t][d] == g for t, judged in after.items() for d, g in judged.items())
    changed = sum(g != MANY[t][d] for t, judged in after.items() for d, g in judged.items())
    size = sum(map(len, after.values()))
    assert abs(changed - 0.4 * size) < 5 * np.sqrt(0.24 * size)
    turned = uj.load({t: dict(reversed(j.items())) for t, j in reversed(MANY.items())}, LONG)
    assert held(uj.flip(turned, 0.4, seed=2)) == whole


def test_a_favoured_team(many: uj.Collection) -> None:
    # run one ranks d0, d1, d2... : of its top 10, d0, d1, d2, d4, d5, d7, d8 are nonrelevant (d3 3, d6 2, d9 1)
    favoured = held(uj.favour(many, team="x"))
    expected = {t: dict(judged) for t, judged in MANY.items()}
    for judged in expected.values():
        judged.update({f"d{i}": 1 for i in (0, 1, 2, 4, 5, 7, 8)})
    assert favoured == expected
    assert held(uj.favour(many, run="one")) == expected
    assert held(uj.favour(many, 0.0, team="x")) == MANY
    for t, judged in held(uj.favour(many, 0.5, team="x", seed=1)).items():
        assert all(g in (MANY[t][d], expected[t][d]) for d, g in judged.items())
    other = held(uj.favour(many, team="y", rel=2))
    assert other == {**MANY, "0": {**MANY["0"], "d399": MANY["0"]["d399"] or 2}}
    base, biased = uj.score(many, ["P@10"]).mean_values(), uj.score(uj.favour(many, team="x"), ["P@10"]).mean_values()
    assert (base[0, 0], biased[0, 0]) == (0.3, 1.0)
    line = str(uj.favour(many, 0.5, team="x", seed=1).history[-1])
    assert line.startswith("team x favoured in its top 10 with probability 0.5 (seed 1): ")


def test_collapsing_a_scale_of_billions_takes_no_memory() -> None:
    large = uj.load({"1": {"a": 10**9, "b": 5, "c": 0, "d": -1}}, {"r": {"1": {"a": 1.0}}})
    assert held(uj.collapse(large, rel=9)) == {"1": {"a": 1, "b": 0, "c": 0, "d": -1}}
    assert uj.collapse(large, rel=9).judgments.gains.top_grade == 1
    assert uj.collapse(large, {5: 1}).judgments.gains.top_grade == 10**9


def test_collapsed_grades(many: uj.Collection) -> None:
    binary = uj.collapse(many, rel=2)
    assert held(binary) == {t: {d: int(g >= 2) for d, g in judged.items()} for t, judged in MANY.items()}
    assert (many.judgments.gains.top_grade, binary.judgments.gains.top_grade) == (3, 1)
    partly = uj.collapse(many, {3: 2})
    assert held(partly) == {t: {d: min(g, 2) for d, g in judged.items()} for t, judged in MANY.items()}
    assert partly.judgments.gains.top_grade == 2
    swapped = uj.collapse(many, {3: 0, 2: 7})
    assert held(swapped) == {t: {d: {3: 0, 2: 7}.get(g, g) for d, g in j.items()} for t, j in MANY.items()}
    assert (swapped.judgments.gains.top_grade, uj.collapse(many, {9: 12}).judgments.gains.top_grade) == (7, 3)
    # a binary measure with rel=2 sees no difference
    assert np.array_equal(uj.score(many, ["AP(rel=2)"]).values, uj.score(binary, ["AP"]).values)
    assert uj.score(binary, ["RBP"]).provenance.settings["highest gain"] == 1


@settings(max_examples=40)
@given(st.integers(0, 50), st.floats(0, 1), st.floats(0, 1))
def test_noise_keeps_what_is_unjudged(seed: int, rate: float, more: float) -> None:
    c = uj.load({"t": {f"d{i}": i % 4 - 1 for i in range(40)}}, {"t": {f"d{i}": float(i) for i in range(40)}})
    after = uj.favour(uj.flip(c, rate, seed=seed), more, run="run", seed=seed)
    assert np.array_equal(after.judgments.grade < 0, c.judgments.grade < 0)
    assert set(after.judgments.grade.tolist()) <= {-1, 0, 1, 2}
    assert len(after.history) == 2


def test_steps_chain_on_real_judgments() -> None:
    if not DATA.is_dir():
        pytest.skip("shared data is absent")
    folder = DATA / "dl19-passage"
    c = uj.load(str(folder / "qrels.txt.gz"), str(folder / "runs"), teams=str(folder / "teams.tsv"))
    noisy = uj.flip(uj.collapse(c, rel=2), relevant=0.2, nonrelevant=0.02, seed=1)
    assert len(noisy.history) == 2
    merged = uj.merge(c, uj.collapse(c, {3: 1}), uj.collapse(c, {3: 1}))
    assert np.array_equal(uj.score(merged, ["AP"]).values, uj.score(c, ["AP"]).values)
    same = uj.replace_judgments(c, c)
    for measures in (["AP", "Q", "nDCG@10", "RBP", "bpref"],):
        assert np.array_equal(uj.score(same, measures).values, uj.score(c, measures).values)
    kappa = uj.judge_agreement(c, noisy, binary=True, rel=1).value("kappa")
    assert 0 < kappa < 1


# -- refusals


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda c: uj.merge(c), "merging needs at least two sets"),
        (lambda c: uj.merge(c, HUMAN, rule="mean value"), "unknown rule 'mean value' (did you mean mean?)"),
        (lambda c: uj.merge(c, HUMAN, rule="random", seed=-1), "a seed is a whole number of 0 or more"),
        (lambda c: uj.merge(c, {"0": {"none": 1}}, rule="agreed"), "no judgments left"),
        (lambda c: uj.replace_judgments(c, {"7": {"a": 1}}), "no judgments left"),
        (lambda c: uj.replace_judgments(c, 5), "not int"),
        (lambda c: uj.flip(c), "flipping needs a rate"),
        (lambda c: uj.flip(c, 1.5), "lies from 0 to 1, not 1.5"),
        (lambda c: uj.favour(c), "name a team or a run"),
        (lambda c: uj.favour(c, team="z"), "no team 'z'"),
        (lambda c: uj.favour(c, run="on"), "no run 'on' in this collection (did you mean one?)"),
        (lambda c: uj.favour(c, team="x", depth=0), "depth needs a positive number"),
        (lambda c: uj.collapse(c), "collapsing needs a map of grades"),
        (lambda c: uj.collapse(c, rel=0), "1 or more, not 0"),
        (lambda c: uj.collapse(c, {1: -1}), "grades below 0 mean unjudged"),
    ],
)
def test_refusals(many: uj.Collection, call: Any, sentence: str) -> None:
    with pytest.raises(uj.UnjudgedError) as problem:
        call(many)
    assert sentence in str(problem.value) and "\n" not in str(problem.value)


# -- command line


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "human.txt").write_text("1 0 a 2\n1 0 b 0\n2 0 a 1\n2 0 c 0\n")
    (tmp_path / "machine.txt").write_text("1 0 a 1\n1 0 x 1\n2 0 a 1\n2 0 c 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n2 Q0 c 1 1 t\n")
    (tmp_path / "teams.tsv").write_text("run\tteam\nrun\tx\n")
    return tmp_path


def told(files: Path, capfd: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = main([a.replace("@", f"{files}/") for a in args])
    out, err = capfd.readouterr()
    return code, out, err


def test_noise_in_the_command_line(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert told(files, capfd, "qrels", "noise", "@human.txt", "--flip", "1")[:2] == (
        0,
        "1 0 a 0\n1 0 b 1\n2 0 a 0\n2 0 c 1\n",
    )
    assert (
        told(files, capfd, "qrels", "noise", "@human.txt", "--binary", "2")[1] == "1 0 a 1\n1 0 b 0\n2 0 a 0\n2 0 c 0\n"
    )
    assert told(files, capfd, "qrels", "noise", "@human.txt", "--collapse", "2:1", "--flip-nonrelevant", "1")[1] == (
        "1 0 a 1\n1 0 b 1\n2 0 a 1\n2 0 c 1\n"
    )
    code, out, err = told(
        files,
        capfd,
        "qrels",
        "noise",
        "@human.txt",
        "@run",
        "--teams",
        "@teams.tsv",
        "--favour-team",
        "x",
        "--depth",
        "1",
    )
    assert (code, out) == (0, "1 0 a 2\n1 0 b 0\n2 0 a 1\n2 0 c 1\n")
    assert "team x favoured in its top 1 with probability 1 (seed 0): 1 of 4 grades changed" in err
    code, out, _ = told(files, capfd, "qrels", "noise", "@human.txt", "--flip", "1", "-o", "@out.txt")
    assert (code, out, (files / "out.txt").read_text()) == (0, "", "1 0 a 0\n1 0 b 1\n2 0 a 0\n2 0 c 1\n")


def test_merge_in_the_command_line(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    expected = {
        "majority": "1 0 a 2\n1 0 b 0\n1 0 x 1\n2 0 a 1\n2 0 c 0\n",
        "agreed": "2 0 a 1\n",
        "replace": "1 0 a 1\n1 0 x 1\n2 0 a 1\n2 0 c 1\n",
        "fill": "1 0 a 1\n1 0 b 0\n1 0 x 1\n2 0 a 1\n2 0 c 1\n",
    }
    for rule, text in expected.items():
        assert told(files, capfd, "qrels", "merge", "@human.txt", "@machine.txt", "--rule", rule)[:2] == (0, text)
    assert set(RULES) | {"replace", "fill"} == {
        *("majority", "max", "min", "mean", "median", "first", "agreed", "random", "replace", "fill")
    }


def test_agree_in_the_command_line(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = told(files, capfd, "qrels", "agree", "@human.txt", "@machine.txt", "--format", "tsv")
    lines = [line.split("\t") for line in out.splitlines()]
    assert code == 0 and lines[0] == ["topic", "judge_a", "judge_b", "statistic", "value"]
    found = {line[3]: line[4] for line in lines[1:]}
    assert {line[0] for line in lines[1:]} == {"all"}
    # common: 1/a 2-1, 2/a 1-1, 2/c 0-1
    assert (found["documents"], float(found["agreement"]), float(found["overlap"])) == ("3", 1 / 3, 2 / 3)
    code, out, _ = told(files, capfd, "qrels", "agree", "@human.txt", "@machine.txt", "--confusion", "--format", "tsv")
    assert out.splitlines()[0].split("\t") == ["topic", "judge_a", "judge_b", "grade_a", "grade_b", "documents"]
    assert "all\thuman\tmachine\t2\t1\t1" in out.splitlines()
    code, out, err = told(files, capfd, "qrels", "agree", "@human.txt", "@machine.txt", "-q")
    assert [line.split()[0] for line in out.splitlines() if line] == [
        *("topic", "1", "2", "all", "topic"),
        *(t for t in ("1", "2", "all") for _ in range(3)),
    ]
    assert "note: labels alone have no verdict; see what this does to the order of runs and to decisions" in err
    assert "unjudged judges audit" in err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ("qrels noise @human.txt", "name the noise"),
        ("qrels noise @human.txt --flip 2", "lies from 0 to 1"),
        ("qrels noise @human.txt --collapse 2", "argument --collapse: grades are given as 2:1,3:1"),
        ("qrels noise @human.txt --favour-team x", "give the runs as well"),
        ("qrels merge @human.txt", "at least two judges"),
        ("qrels merge @human.txt @machine.txt --rule majorty", "did you mean majority?"),
        ("qrels merge @human.txt @absent.txt", "absent.txt"),
        ("qrels merge - -", "standard input can be used once"),
        ("qrels agree @human.txt", "at least two judges"),
        ("qrels agree @human.txt @run", "looks like a run"),
        ("qrels agree @human.txt @empty.txt", "this file is empty"),
        ("pool build @human.txt @run --strategy rff --budget 3", "did you mean rrf?"),
        ("pool build @human.txt @run --strategy rrf --budget 0", "budget needs a positive whole number"),
        (
            "pool build @human.txt @run --strategy rrf --budget 3 --set k",
            "--set: NAME=VALUE is needed, not 'k'",
        ),
        ("pool build @human.txt", "no runs given"),
        ("pool build @empty.txt @run --budget 3", "this file is empty"),
        ("pool build --no-judgments @run --strategy mtf --budget 3", "learns from judgments and there are none"),
        ("pool build --no-judgments - --strategy take --budget 3", "give files"),
    ],
)
def test_misuse_is_one_sentence_and_exit_code_2(
    files: Path, capfd: pytest.CaptureFixture[str], args: str, sentence: str
) -> None:
    (files / "empty.txt").write_text("")
    code, out, err = told(files, capfd, *args.split(), "-o", "@written.txt")
    assert (code, out) == (2, "")
    assert sentence in err and "Traceback" not in err and len(err.splitlines()) == 1
    assert not (files / "written.txt").exists()


def test_pool_build_in_the_command_line(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = told(files, capfd, "pool", "build", "@human.txt", "@run", "--depth", "1", "--format", "tsv")
    assert code == 0
    assert out == (
        "topic\tdoc\tbest_rank\truns\tstratum\tprobability\tgrade\torder\n1\ta\t1\t1\t\t\t2\t1\n2\tc\t1\t1\t\t\t0\t1\n"
    )
    assert "note: depth: 2 documents for 2 topics, 2 of them judged, 1 relevant" in err
    build = ["pool", "build", "--no-judgments", "@run", "--strategy", "take", "--budget", "2"]
    assert told(files, capfd, *build, "--format", "list")[:2] == (0, "1\ta\n2\tc\n")
    assert told(files, capfd, *build, "--format", "qrels")[:2] == (0, "1 0 a -1\n2 0 c -1\n")
    assert told(files, capfd, *build, "--format", "qrels", "-o", "@pool.txt.gz")[:2] == (0, "")
    again = uj.load(str(files / "pool.txt.gz"), str(files / "run"))
    assert held(again) == {"1": {"a": -1}, "2": {"c": -1}}
    code, out, _ = told(
        files,
        capfd,
        "pool",
        "build",
        "@human.txt",
        "@run",
        "--strategy",
        "stratified",
        "--set",
        "strata=1:1,2:0",
        "--format",
        "qrels",
    )
    assert (code, out) == (0, "1 1 a 2\n1 2 b -1\n2 1 c 0\n")


def test_a_collection_without_judgments(files: Path) -> None:
    (files / "other").write_text("10 Q0 z 1 2 t\n9 Q0 y 1 2 t\n1 Q0 a 1 2 t\n")
    c = uj.load(None, [str(files / "run"), str(files / "other")])
    assert c.topics == ("1", "2", "9", "10") and len(c.judgments) == 0
    assert [row[:2] for row in uj.build_pool(c, "take", budget=10).rows()] == [
        ("1", "a"),
        ("1", "b"),
        ("2", "c"),
        ("9", "y"),
        ("10", "z"),
    ]
    asked = uj.build_pool(c, "max-mean", budget=4, judge=lambda topic, doc: int(doc == "a"))
    assert asked.relevant == 1
    scored = uj.score(asked.collection(), ["RR"])
    assert scored.values[:, 0, 0].tolist() == [1, 1]
    with pytest.raises(uj.UsageError, match="no judgments to score with"):
        uj.score(c, ["AP"])
    many = {str(t): {"d": 1.0} for t in range(30, 0, -1)}
    assert uj.load(None, {"r": many}).topics == tuple(map(str, range(1, 31)))
    (files / "many").write_text("".join(f"{t} Q0 d 1 1 x\n" for t in many))
    assert len(uj.load(None, str(files / "many")).topics) == 30
    assert uj.load(None, {"b": {"x": {"d": 1.0}}, "a": {"w": {"d": 1.0}}}).topics == ("w", "x")
