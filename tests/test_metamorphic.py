"""What must not change a verdict does not, and taking judgments away does not make a verdict about trust better."""

from __future__ import annotations

import random
from typing import Any

import pytest
from brute_force import judged, kept, lists_of, tops

import unjudged as uj
from unjudged.results import WORDS
from unjudged.studies import QUESTIONS

Grades = dict[str, dict[str, int]]
Runs = dict[str, dict[str, dict[str, float]]]
ASKED = [key for key in QUESTIONS if key not in ("another-judge", "after-correction")]
TRUST = ("fewer-judgments", "fair-to-outsiders", "never-judged", "score-range")
POOLS = ((5, 20), (5, 10), (5, 5), (3, 5), (2, 5), (1, 5))
"""Pools inside each other: the first teams, and how deep."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> uj.Collection:
    """26 topics, 15 runs of 5 teams, everything judged down to rank 20."""
    folder = tmp_path_factory.mktemp("metamorphic") / "c"
    found = uj.simulate("tiny", seed=17, topics=26, runs=15, teams=5, depth=20, out=folder)
    return uj.load(found.qrels, found.run_folder, teams=found.teams)


@pytest.fixture(scope="module")
def plain(made: uj.Collection) -> tuple[Grades, Runs, dict[str, str]]:
    return judged(made), lists_of(made), dict(made.teams)


@pytest.fixture(scope="module")
def as_it_is(plain: tuple[Grades, Runs, dict[str, str]]) -> dict[str, Any]:
    grades, runs, teams = plain
    return verdicts(uj.load(grades, runs, teams=teams))


def verdicts(collection: uj.Collection, keys: Any = ASKED) -> dict[str, Any]:
    return {key: uj.study(key, collection, jobs=1).verdict for key in keys}


def same(found: dict[str, Any], before: dict[str, Any], near: float, skip: tuple[str, ...] = ()) -> None:
    for key, verdict in found.items():
        if key not in skip:
            assert verdict.word == before[key].word, (key, verdict.sentence, before[key].sentence)
            assert verdict.value == pytest.approx(before[key].value, abs=near), key


@pytest.mark.slow
def test_the_order_of_topics_and_runs_changes_nothing(plain: Any, as_it_is: Any) -> None:
    grades, runs, teams = plain
    shuffled = random.Random(3).sample(list(grades), len(grades))
    names = random.Random(4).sample(list(runs), len(runs))
    mixed = uj.load({t: grades[t] for t in shuffled}, {r: runs[r] for r in names}, teams=teams)
    same(verdicts(mixed), as_it_is, 0.02, skip=("which-measure",))  # a bootstrap draws topics by their place
    exact = [uj.study("power", c, measures="AP,P@10", test="t").verdict for c in (mixed, uj.load(grades, runs))]
    assert exact[0] is not None and exact[1] is not None and exact[0].value == exact[1].value


@pytest.mark.slow
def test_other_names_of_runs_change_nothing(plain: Any, as_it_is: Any) -> None:
    grades, runs, teams = plain
    new = {run: f"system{i:02}" for i, run in enumerate(sorted(runs))}  # ties are broken by name, so their order stays
    renamed = uj.load(grades, {new[r]: lists for r, lists in runs.items()}, teams={new[r]: t for r, t in teams.items()})
    same(verdicts(renamed), as_it_is, 1e-9)


@pytest.mark.slow
def test_a_copy_of_a_run_changes_no_word(plain: Any, as_it_is: Any) -> None:
    """The copy stands beside its original in the middle of the order: shares move by about one in fifteen."""
    grades, runs, teams = plain
    order = list(uj.score(uj.load(grades, runs), ["AP"]).means().sort_values("AP", ascending=False).index)
    middle = order[len(order) // 2]
    more = uj.load(grades, {**runs, "copy": runs[middle]}, teams={**teams, "copy": teams[middle]})
    same(verdicts(more), as_it_is, 0.1, skip=("which-measure", "safe-comparisons"))  # pairs with the copy are the same


@pytest.mark.slow
def test_a_hopeless_run_does_not_decide(plain: Any, as_it_is: Any) -> None:
    """It finds nothing: neither the order of the others, nor what outsiders lose, nor the winner hangs on it."""
    grades, runs, teams = plain
    nothing = {topic: {f"nothing-{topic}-{i}": -float(i) for i in range(30)} for topic in grades}
    padded = {t: {**docs, **{f"nothing-{t}-{i}": 0 for i in range(20)}} for t, docs in grades.items()}
    more = uj.load(padded, {**runs, "hopeless": nothing}, teams={**teams, "hopeless": "nobody"})
    keys = ("winners", "fewer-judgments", "fair-to-outsiders", "never-judged", "score-range")
    same(verdicts(more, keys), as_it_is, 0.08)


@pytest.mark.slow
def test_taking_judgments_away_makes_no_verdict_about_trust_better(plain: Any) -> None:
    grades, runs, teams = plain
    whole = uj.load(grades, runs, teams=teams)
    best = dict.fromkeys(TRUST, 0)
    for many, depth in POOLS:
        inside = [run for run in runs if teams[run] in sorted(set(teams.values()))[:many]]
        top = tops(whole, depth)
        left = kept(grades, lambda t, doc, inside=inside, top=top: any(doc in top[run][t] for run in inside))
        for key, verdict in verdicts(uj.load(left, runs, teams=teams), TRUST).items():
            if verdict.word != "unknown":
                word = WORDS.index(verdict.word)
                assert word >= best[key], (key, many, depth, verdict.sentence)
                best[key] = word
    assert best["fewer-judgments"] == best["fair-to-outsiders"] == WORDS.index("fragile")
