"""Judgments taken away: worked examples, brute force, and the same numbers as from a written and re-read file."""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import worked_pool
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from places import DATA
from reference import Qrels, Run, collections, in_order

import unjudged as uj
from unjudged.changes.take import ordinary_teams, teams_without_relevant
from unjudged.collection.membership import membership
from unjudged.io.write import write_qrels
from unjudged.measures import REGISTRY, Measure
from unjudged.measures import measures as parse_all

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared collections are not here")

pytestmark = pytest.mark.filterwarnings("ignore::unjudged.errors.DataWarning")


def held(collection: uj.Collection) -> Qrels:
    """The judgments as a dict; every topic is there."""
    judgments = collection.judgments
    out: Qrels = {topic: {} for topic in judgments.topics}
    for row, (doc, grade) in enumerate(zip(judgments.docs, judgments.grade.tolist(), strict=True)):
        out[judgments.topics[int(judgments.topic[row])]][doc] = grade
    return out


def filled(qrels: Qrels) -> Qrels:
    return {topic: docs for topic, docs in qrels.items() if docs}


def scale(collection: uj.Collection) -> dict[int, float]:
    """The gains and H of a collection, to be passed on to a reduced file (METHODS 0.1)."""
    gains = collection.judgments.gains
    return {**dict(gains.levels), gains.top_grade: gains.highest()}


def every_measure() -> list[Measure]:
    """Every registered measure, on the whole list, cut off, and on the condensed list."""
    out: list[Measure] = []
    for base in REGISTRY.values():
        about = base.definition.parameters
        given = {name: {"recall": 0.5, "k": 7}[name] for name, one in about.items() if one.required}
        out.append(base(**given))
        if "k" in about and "k" not in given:
            out.append(base(k=7))
        if "rel" in about:
            out.append(base(**given, rel=2))
        if not base.definition.condensed:
            out.append(base(**given, judged_only=True))
    return list(dict.fromkeys(out))


def same_scores(reduced: uj.Collection, again: uj.Collection, wanted: Iterable[Measure]) -> None:
    """Equal to the last bit in every topic the written file could hold."""
    places = [reduced.topics.index(topic) for topic in again.topics]
    mine, theirs = (uj.score(c, list(wanted), undefined="nan").values for c in (reduced, again))
    for m, measure in enumerate(wanted):
        assert np.array_equal(mine[:, places, m], theirs[:, :, m], equal_nan=True), measure


# -- worked examples (worked_examples.json: reduction, pools)

REDUCTION = [  # R, N, then R_j and N_j for 90, 70, 50, 30, 10 %
    (78, 1432, (70, 54, 39, 23, 7), (1288, 1002, 716, 429, 143)),
    (4, 911, (3, 2, 2, 1, 1), (819, 637, 455, 273, 91)),
    (7, 15, (6, 4, 3, 2, 1), (13, 10, 10, 10, 10)),
    (1, 8, (1, 1, 1, 1, 1), (8, 8, 8, 8, 8)),
    (0, 40, (0, 0, 0, 0, 0), (36, 28, 20, 12, 10)),
]
RATES = (0.9, 0.7, 0.5, 0.3, 0.1)


def test_stratified_reduction_keeps_the_numbers_of_the_papers() -> None:
    qrels = {
        str(i): {**{f"r{j}": 1 + j % 2 for j in range(R)}, **{f"n{j}": 0 for j in range(N)}}
        for i, (R, N, _, _) in enumerate(REDUCTION)
    }
    collection = uj.load(qrels, {"run": {topic: {"r0": 1.0} for topic in qrels}})
    before = filled(held(collection))
    for place, rate in enumerate(RATES):
        reduced = uj.reduce(collection, rate, seed=3)
        judgments = held(reduced)
        for i, (_, _, R_j, N_j) in enumerate(REDUCTION):
            grades = list(judgments[str(i)].values())
            assert (sum(g > 0 for g in grades), grades.count(0)) == (R_j[place], N_j[place])
            assert judgments[str(i)].items() <= before[str(i)].items()
        for topic, docs in judgments.items():
            assert docs.items() <= before[topic].items()
        before = judgments
    assert tuple(map(str, reduced.history)) == (
        f"stratified reduction to 0.1 (seed 3): {len(collection.judgments) - len(reduced.judgments)} of "
        f"{len(collection.judgments)} judgments taken away",
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", ["stratified", "uniform"])
@pytest.mark.parametrize("rate", [1 / 3, 2 / 3, 0.1 + 0.2, 0.123456789012345678, 1e-5 / 3, 1.0])
def test_a_share_may_have_any_number_of_digits(rate: float, method: str) -> None:
    """Large topics times a share of 16 digits go beyond 64-bit numbers; floor(size * rate) holds all the same."""
    sizes = {"1": (7, 5000), "2": (2000, 400_000), "3": (3, 0)}
    qrels = {
        topic: {**{f"r{j}": 1 for j in range(R)}, **{f"n{j}": 0 for j in range(N)}} for topic, (R, N) in sizes.items()
    }
    collection = uj.load(qrels, {"run": {"1": {"r0": 1.0}}})
    assert len(uj.reduce(collection, 1e-20, min_nonrelevant=2).judgments) == 3 + 4
    share = Decimal(repr(rate))
    for topic, docs in held(uj.reduce(collection, rate, method=method, min_nonrelevant=1)).items():
        R, N = sizes[topic]
        if method == "uniform":
            assert len(docs) == int((R + N) * share)
        else:
            assert sum(docs.values()) == max(1, int(R * share))
            assert len(docs) - sum(docs.values()) == min(N, max(1, int(N * share)))


@pytest.fixture(scope="module")
def po1() -> uj.Collection:
    return worked_pool.load()


def docs_of(collection: uj.Collection) -> set[str]:
    return set(held(collection)["t"])


def test_pools_example_judgments(po1: uj.Collection) -> None:
    everything = set(worked_pool.GRADES)
    out = {team: docs_of(uj.leave_out(po1, team=team, depth=3)) for team in ("t1", "t2", "t3", "t4")}
    assert out == {"t1": {"a", "b", "g", "h", "u3"}, "t2": everything, "t3": everything, "t4": everything}
    taken = {team: docs_of(uj.take(po1, team=team, depth=3)) for team in ("t1", "t2", "t3", "t4")}
    assert taken == {
        "t1": {"a", "b", "u1", "u2", "u3"},
        "t2": {"a", "b", "g"},
        "t3": {"b", "g", "h"},
        "t4": {"g", "h", "u3"},
    }
    assert docs_of(uj.shallow(po1, 1)) == {"a", "b", "h", "u1"}
    assert docs_of(uj.shallow(po1, 3)) == everything
    assert list(teams_without_relevant(po1, uj.pool_of(po1, 3))) == ["t4"]


def test_pools_example_contributions(po1: uj.Collection) -> None:
    rows = list(uj.contributions(po1, depth=3, pooled="all").rows())
    assert rows == [("t1", 2, 5, 2, 1), ("t2", 1, 3, 0, 0), ("t3", 1, 3, 0, 0), ("t4", 1, 3, 0, 0)]
    per_run = {row[0]: row[1:] for row in uj.contributions(po1, depth=3, pooled="all", per="run").rows()}
    assert per_run["r1"] == ("t1", 3, 2, 1)
    assert per_run["r2"] == ("t1", 3, 0, 0)  # u3 is in r5's top 3, too


@pytest.mark.parametrize("team", [None, "t1"])
def test_pools_example_scores(po1: uj.Collection, team: str | None) -> None:
    expected = worked_pool.FULL if team is None else worked_pool.WITHOUT_T1
    scored = po1 if team is None else uj.leave_out(po1, team=team, depth=3)
    values = uj.score(scored, worked_pool.MEASURES).values[:, 0]
    assert values == pytest.approx(np.array([expected[run] for run in po1.runs]), abs=1e-6)


def test_the_ordinary_teams_are_those_with_the_fewest_unique_documents(po1: uj.Collection) -> None:
    assert ordinary_teams(po1, 3, uj.pool_of(po1, 3)) == ["t2", "t3", "t4"]
    three = uj.take(po1, teams=3, depth=3)
    assert docs_of(three) == {"a", "b", "g", "h", "u3"}
    assert three.pool is not None and three.pool.runs == ("r3", "r4", "r5")
    assert any("team t4 found no relevant document for 1 topic (e.g. t)" in note for note in three.notes)


# -- brute force


@st.composite
def pooled_collections(draw: st.DrawFn) -> tuple[Qrels, dict[str, Run], dict[str, str], int]:
    qrels, runs = draw(collections(max_runs=5))
    teams = {run: draw(st.sampled_from(("A", "B", "C"))) for run in runs}
    return qrels, runs, teams, draw(st.integers(1, 8))


def top(run: Run, topic: str, depth: int) -> set[str]:
    return set(in_order(run.get(topic, {}), "trec10")[:depth])


def kept(qrels: Qrels, keep: dict[str, set[str]]) -> Qrels:
    return {topic: {d: g for d, g in docs.items() if d in keep[topic]} for topic, docs in qrels.items()}


def reduced_or_refused(make: functools.partial[uj.Collection], expected: Qrels) -> uj.Collection | None:
    """The collection, checked; None where nothing is left, which must be said in one sentence."""
    if not any(expected.values()):
        with pytest.raises(uj.UsageError, match="no judgments left"):
            make()
        return None
    collection = make()
    assert filled(held(collection)) == filled(expected)
    return collection


@settings(max_examples=60)
@given(pooled_collections())
def test_leave_out_take_and_shallow_by_brute_force(case: tuple[Qrels, dict[str, Run], dict[str, str], int]) -> None:
    qrels, runs, teams, depth = case
    collection = uj.load(qrels, runs, teams=teams)
    D = {run: {t: top(lists, t, depth) & docs.keys() for t, docs in qrels.items()} for run, lists in runs.items()}

    def union(names: Iterable[str], topic: str) -> set[str]:
        return set().union(*(D[run][topic] for run in names))

    shallow = kept(qrels, {t: union(runs, t) for t in qrels})
    reduced_or_refused(functools.partial(uj.shallow, collection, depth), shallow)
    groups = {team: [run for run in runs if teams[run] == team] for team in set(teams.values())}
    unique: dict[str, list[set[str]]] = {}
    for team, mine in groups.items():
        others = [run for run in runs if run not in mine]
        taken = kept(qrels, {t: union(mine, t) for t in qrels})
        reduced_or_refused(functools.partial(uj.take, collection, team=team, depth=depth), taken)
        U = {t: union(mine, t) - union(others, t) for t in qrels}
        unique[team] = list(U.values())
        if not others:
            with pytest.raises(uj.UsageError, match="no pooled run would be left"):
                uj.leave_out(collection, team=team, depth=depth)
            continue
        left = kept(qrels, {t: set(docs) - U[t] for t, docs in qrels.items()})
        out = reduced_or_refused(functools.partial(uj.leave_out, collection, team=team, depth=depth), left)
        if out is not None:  # again: the team has left the pool, nothing more goes
            assert held(uj.leave_out(out, runs=mine)) == held(out)
            if not any(U.values()):
                assert np.array_equal(uj.score(out, "AP, Q'").values, uj.score(collection, "AP, Q'").values)
    for one, two in itertools.combinations(unique.values(), 2):
        assert not any(a & b for a, b in zip(one, two, strict=True))
    rows = {row[0]: row[1:] for row in uj.contributions(collection, depth=depth, pooled="all").rows()}
    for team, mine in groups.items():
        relevant = sum(qrels[t][d] > 0 for t, docs in zip(qrels, unique[team], strict=True) for d in docs)
        pooled, alone = sum(len(union(mine, t)) for t in qrels), sum(map(len, unique[team]))
        assert rows[team] == pytest.approx((len(mine), *(x / len(qrels) for x in (pooled, alone, relevant))))


SOME = "AP, AP'@3, Q, nDCG'@5, RBP, bpref, old_bpref, infAP, xinfAP, Judged@3, Compat, ERR, k@4, unj@4, P(rel=2)@2"


@settings(max_examples=40)
@given(pooled_collections(), st.integers(0, 3), st.sampled_from((0.2, 0.5)))
def test_a_reduction_scores_as_its_file_would(
    case: tuple[Qrels, dict[str, Run], dict[str, str], int], seed: int, rate: float
) -> None:
    qrels, runs, _, depth = case
    collection = uj.load(qrels, runs)
    try:
        reduced = uj.shallow(uj.reduce(collection, rate, seed=seed, min_nonrelevant=1), depth)
    except uj.UsageError:
        assume(False)
    left = filled(held(reduced))
    assume(all(any(topic in left for topic in run) for run in runs.values()))
    same_scores(reduced, uj.load(left, runs, gains=scale(collection)), parse_all(SOME))
    empty = [collection.topics.index(t) for t in collection.topics if t not in left]
    assert not uj.score(reduced, "AP, nDCG, bpref, Q'").values[:, empty].any()


@settings(max_examples=60)
@given(collections(), st.integers(0, 5), st.sampled_from(("stratified", "uniform")), st.randoms(use_true_random=False))
def test_random_reduction_is_nested_and_knows_no_order(
    case: tuple[Qrels, dict[str, Run]], seed: int, method: str, random: Any
) -> None:
    qrels, runs = case

    def shuffled(mapping: dict[str, Any]) -> dict[str, Any]:
        keys = list(mapping)
        random.shuffle(keys)
        return {key: mapping[key] for key in keys}

    collection = uj.load(qrels, runs)
    other = uj.load({t: shuffled(docs) for t, docs in shuffled(dict(qrels)).items()}, shuffled(dict(runs)))
    before = held(collection)
    for rate in (1.0, 0.75, 0.5, 0.25):
        try:
            reduced = uj.reduce(collection, rate, seed=seed, method=method, min_nonrelevant=2)
        except uj.UsageError as refusal:
            assert "no judgments left" in str(refusal)
            break
        again = uj.reduce(other, rate, seed=seed, method=method, min_nonrelevant=2)
        assert filled(held(reduced)) == filled(held(again))
        now = held(reduced)
        assert all(now[topic].items() <= docs.items() for topic, docs in before.items())
        assert rate < 1 or now == before
        assert held(uj.reduce(reduced, 1.0, seed=seed + 1)) == now
        for topic, docs in qrels.items():
            judged = [g for g in docs.values() if g >= 0]
            if method == "uniform":
                assert sum(g >= 0 for g in now[topic].values()) == math.floor(len(judged) * rate)
            assert [d for d, g in docs.items() if g < 0] == [d for d, g in docs.items() if g < 0 and d in now[topic]]
        before = now


def test_seeds_differ_and_repeat() -> None:
    qrels = {"1": {f"d{i}": i % 2 for i in range(60)}, "2": {f"d{i}": i % 2 for i in range(60)}}
    collection = uj.load(qrels, {"run": {"1": {"d1": 1.0}, "2": {"d1": 1.0}}})
    first, second = held(uj.reduce(collection, 0.5, seed=1)), held(uj.reduce(collection, 0.5, seed=2))
    assert first == held(uj.reduce(collection, 0.5, seed=1)) != second
    assert first["1"] != first["2"]  # topics with the same documents get orders of their own
    mean = np.mean([len(held(uj.reduce(collection, 0.5, seed=s))["1"].keys() & {"d1"}) for s in range(400)])
    assert mean == pytest.approx(0.5, abs=0.1)  # four standard errors


# -- every measure, real and simulated collections


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> uj.simulation.Simulation:
    return uj.simulate("tiny", seed=5, out=tmp_path_factory.mktemp("sim") / "tiny")


def load_simulated(simulation: uj.simulation.Simulation, qrels: Any = None, **options: Any) -> uj.Collection:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return uj.load(qrels or simulation.qrels, simulation.run_folder, teams=simulation.teams, **options)


def pooled_of(simulation: uj.simulation.Simulation) -> list[str]:
    from unjudged.collection.pool import read_pooled

    return read_pooled(str(simulation.qrels.parent / "pooled.tsv"))  # type: ignore[return-value]


def test_every_measure_on_a_simulated_collection(simulation: uj.simulation.Simulation, tmp_path: Path) -> None:
    collection = load_simulated(simulation)
    team = next(iter(collection.teams.values()))
    for reduced in (
        uj.leave_out(collection, team=team, pooled=pooled_of(simulation)),
        uj.shallow(uj.reduce(collection, 0.5, seed=1), 2),
    ):
        write_qrels(reduced.judgments, tmp_path / "qrels")
        again = load_simulated(simulation, tmp_path / "qrels", gains=scale(collection))
        assert len(reduced.judgments) == len(again.judgments) < len(collection.judgments)
        same_scores(reduced, again, every_measure())


@needs_data
def test_every_measure_on_a_real_collection(tmp_path: Path) -> None:
    folder = DATA / "dl19-passage"
    collection = uj.load(folder / "qrels.txt.gz", folder / "runs", teams=folder / "teams.tsv")
    for i, reduced in enumerate(
        (
            uj.leave_out(collection, team="ICTNET"),
            uj.shallow(uj.reduce(uj.take(collection, teams=3), 0.3, seed=2), 4),
        )
    ):
        path = tmp_path / f"{i}.gz"
        write_qrels(reduced.judgments, path)
        again = uj.load(path, folder / "runs", gains=scale(collection))
        assert again.judgments.gains.highest() == collection.judgments.gains.highest() == 3
        assert len(reduced.judgments) == len(again.judgments) < len(collection.judgments)
        same_scores(reduced, again, every_measure())


def test_negative_grades_strata_and_expected_ties(tmp_path: Path) -> None:
    """Sampled pools in several strata, tied scores averaged over: rows taken away vanish for every measure."""
    rng = np.random.default_rng(7)
    lines, docs = [], [f"d{i}" for i in range(24)]
    for topic in ("t1", "t2", "t3"):
        for doc in rng.permutation(docs)[:18]:
            lines.append(f"{topic} {rng.choice(['b', 'a', '0'])} {doc} {rng.choice([-1, 0, 0, 1, 2])}\n")
    (tmp_path / "qrels").write_text("".join(lines))
    runs = {
        f"run{r}": {t: {d: float(rng.integers(0, 9)) for d in rng.permutation(docs)[:14]} for t in ("t1", "t2", "t3")}
        for r in range(3)
    }
    for ties in ("trec10", "expected"):
        collection = uj.load(tmp_path / "qrels", runs, ties=ties)
        reduced = uj.leave_out(uj.reduce(collection, 0.6, seed=4, min_nonrelevant=2), run="run1", depth=6)
        write_qrels(reduced.judgments, tmp_path / "reduced")
        again = uj.load(tmp_path / "reduced", runs, ties=ties, gains=scale(collection))
        lowest = reduced.judgments.grade.min()
        assert lowest < 0 and len(set(reduced.judgments.stratum.tolist())) == 3
        same_scores(reduced, again, every_measure())
        if ties == "trec10":
            mine, theirs = (uj.score_bounds(c, "AP, RBP, nDCG@5").rows() for c in (reduced, again))
            assert list(mine) == list(theirs)


def test_written_in_the_order_of_the_input(tmp_path: Path) -> None:
    lines = ["2 0 x 1", "1 0 b 0", "2 5 a -1", "1 0 a 2", "2 0 b 0", "1 0 c 1"]
    (tmp_path / "qrels").write_text("\n".join(lines) + "\n")
    collection = uj.load(tmp_path / "qrels", {"1": {"a": 2.0, "c": 1.0}, "2": {"a": 1.0, "b": 0.5}})
    write_qrels(uj.shallow(collection, 2).judgments, tmp_path / "out")
    assert (tmp_path / "out").read_text().splitlines() == ["2 5 a -1", "1 0 a 2", "2 0 b 0", "1 0 c 1"]


# -- what a collection carries along


def test_a_topic_without_judgments_stays_with_score_0_and_is_told() -> None:
    qrels = {"1": {"a": 3, "b": 0}, "2": {"z": 1, "y": 0}, "3": {"c": 1, "d": 0}}
    runs = {"one": {"1": {"a": 1.0}, "2": {"q": 1.0}, "3": {"d": 1.0}}, "two": {"1": {"b": 1.0}, "2": {"z": 1.0}}}
    collection = uj.load(qrels, runs)
    reduced = uj.leave_out(collection, run="two", depth=1)
    assert held(reduced) == {"1": {"a": 3}, "2": {"y": 0}, "3": {"c": 1, "d": 0}}
    shallow = uj.shallow(reduced, 1)
    assert shallow.topics == ("1", "2", "3")
    assert held(shallow) == {"1": {"a": 3}, "2": {}, "3": {"d": 0}}
    assert uj.score(shallow, "AP, nDCG@10, Judged@5, infAP").values[:, 1].tolist() == [[0, 0, 0, 0], [0, 0, 0, 0]]
    assert shallow.notes[-2:] == (
        "pool of depth 1 from 1 runs: 1 topic left without judgments (e.g. 2)",
        "pool of depth 1 from 1 runs: 1 topic left without relevant documents (e.g. 3)",
    )
    assert uj.score(shallow, "RBP").provenance.settings["history"] == [
        "leave out run two at depth 1: 2 of 6 judgments taken away; 1 topic left without relevant documents (e.g. 2)",
        "pool of depth 1 from 1 runs: 2 of 4 judgments taken away; 1 topic left without judgments (e.g. 2); "
        "1 topic left without relevant documents (e.g. 3)",
    ]
    assert shallow.judgments.gains.top_grade == 3  # H stays that of the full collection


def test_chains_keep_the_pool(po1: uj.Collection) -> None:
    out = uj.leave_out(po1, team="t1", depth=3)
    assert out.pool is not None and (out.pool.depth, out.pool.runs) == (3, ("r3", "r4", "r5"))
    assert docs_of(uj.shallow(out, 1)) == {"b", "h"}  # r1 and r2 have left the pool
    assert uj.pool_of(out).depth == 3
    assert uj.pool_of(uj.shallow(out, 1)).depth == 1
    assert uj.pool_of(out, pooled=["r1", "r3"]).runs == ("r3",)
    with pytest.raises(uj.UsageError, match="left after the reductions before"):
        uj.pool_of(out, pooled=["r1"])
    assert docs_of(uj.leave_out(out, team="t4")) == docs_of(out) - {"u3"}  # r2 no longer vouches for it
    both = uj.leave_out(po1, teams=["t1", "t4"], depth=3)
    assert docs_of(both) == docs_of(uj.leave_out(out, team="t4"))


def test_the_depth_is_read_off_the_full_judgments() -> None:
    docs = [f"d{i:02}" for i in range(40)]
    runs = {f"run{r}": {"t": {doc: -float(i) for i, doc in enumerate(docs[r:])}} for r in range(4)}
    qrels = {"t": {doc: int(doc == "d00") for doc in docs[:13]}}  # the top 10 of four runs
    collection = uj.load(qrels, runs)
    assert uj.pool_of(collection).depth == 10
    assert uj.pool_of(collection, tolerance=0.2).depth == 13  # by the old rule no two prefixes agree: the largest
    few = uj.reduce(collection, 0.5, seed=1, min_nonrelevant=0)
    assert uj.pool_of(few).depth == 10
    assert uj.leave_out(few, run="run0", depth=10).pool == uj.Pool(10, ("run1", "run2", "run3"))


def test_runs_and_topics_alone(simulation: uj.simulation.Simulation) -> None:
    collection = load_simulated(simulation)
    names = list(collection.runs[::-3])
    folder = simulation.run_folder
    files = [next(p for p in sorted(folder.iterdir()) if p.name.removesuffix(".gz") == name) for name in names]
    some = collection.with_runs(names)
    wanted = parse_all(SOME)
    assert some.runs == tuple(names)
    again = uj.load(simulation.qrels, [str(f) for f in files])
    assert np.array_equal(uj.score(some, wanted).values, uj.score(again, wanted).values)
    assert some.sources == again.sources and some.tags == again.tags and some.outside == again.outside
    assert uj.pool_of(some) == uj.pool_of(collection)
    team = collection.teams[names[0]]
    assert held(uj.leave_out(some, team=team)) == held(uj.leave_out(collection, team=team))
    topics = collection.topics[1::2]
    part, whole = uj.only(collection, topics), load_simulated(simulation, only=",".join(topics))
    assert part.topics == whole.topics == topics and held(part) == held(whole)
    assert np.array_equal(uj.score(part, wanted).values, uj.score(whole, wanted).values)
    assert held(uj.leave_out(part, team=team)) == held(uj.leave_out(whole, team=team))
    reduced = uj.only(uj.reduce(collection, 0.5, seed=9), topics)
    assert held(reduced) == held(uj.reduce(part, 0.5, seed=9))
    assert held(uj.leave_out(reduced, team=team)) == held(uj.leave_out(uj.reduce(part, 0.5, seed=9), team=team))
    assert held(uj.only(collection, f"{topics[0]},{topics[1]}")) == held(uj.only(collection, topics[:2]))


def lists(collection: uj.Collection) -> list[list[str]]:
    cells = range(len(collection.runs) * len(collection.topics))
    return [collection.rankings.ids(collection.judgments, cell) for cell in cells]


def test_full_lists_stay_right(po1: uj.Collection) -> None:
    qrels = {"t": worked_pool.GRADES, "u": {"a": 1, "z": 0}}
    runs = {
        name: {"t": {doc: -float(i) for i, doc in enumerate([*docs, "x", name])}, "u": {"z": 2.0, "y": 1.0}}
        for name, docs in worked_pool.RUNS.items()
    }
    collection = uj.load(qrels, runs, teams=worked_pool.TEAMS)
    reduced = uj.leave_out(collection, team="t1", depth=3)
    ranked = [in_order(scored, "trec10") for run in runs.values() for scored in run.values()]
    assert lists(reduced) == lists(collection) == ranked
    for c in (reduced, uj.only(reduced, ["u"]), reduced.with_runs(["r4", "r1"])):
        codes = c.rankings.doc
        judged = held(c)
        for cell in range(len(c.rankings.offsets) - 1):
            here = codes[c.rankings.offsets[cell] : c.rankings.offsets[cell + 1]].tolist()
            names = c.rankings.ids(c.judgments, cell)
            topic = c.topics[cell % len(c.topics)]
            assert [code < len(c.judgments) for code in here] == [name in judged[topic] for name in names]
        assert len(c.rankings.score) == len(codes)
    assert lists(uj.only(reduced, ["u"])) == [["z", "y"]] * 5
    assert lists(reduced.with_runs(["r4", "r1"]))[0] == [*worked_pool.RUNS["r4"], "x", "r4"]


def test_a_reduced_collection_can_be_read_again(po1: uj.Collection) -> None:
    tied = {"r1": {"t": dict.fromkeys(["a", "b", "c"], 1.0)}, "r2": {"t": {"x": 2.0, "b": 1.0}}}
    collection = uj.load({"t": {"a": 1, "b": 0, "c": 0, "x": 1}}, tied, teams={"r1": "A", "r2": "B"})
    reduced = uj.only(uj.leave_out(collection, run="r2", depth=1).with_runs(["r1"]), ["t"])
    assert held(reduced) == {"t": {"a": 1, "b": 0, "c": 0}}
    other = reduced.with_ties("ascending")
    assert held(other) == held(reduced) and other.history == reduced.history and other.runs == ("r1",)
    assert uj.score(reduced, "RR").values[0, 0, 0] == 1 / 3 == 1 / uj.score(other, "NumRet").values[0, 0, 0]
    assert uj.score(other, "RR").values[0, 0, 0] == 1.0
    more = reduced.adding({"r3": {"t": {"b": 1.0, "a": 0.5}}})
    assert more.runs == ("r1", "r3") and held(more) == held(reduced)
    assert uj.score(more, "RR").values[1, 0, 0] == 0.5


def test_equivalent_answers_come_forward_when_the_first_is_taken_away() -> None:
    classes = {"q": {"1": {"Obama": 2, "Barack Obama": 3}, "2": {"Biden": 1}}}
    answers = {"q": ["Obama", "Barack Obama", "Biden"]}
    collection = uj.load(classes, answers, qa=True)
    assert uj.score(collection, "RR, NumRelRet").values[0, 0].tolist() == [1, 2]
    kept = np.array([doc != "Obama" for doc in collection.judgments.docs])
    reduced = collection.keeping(kept, "without the short name")
    assert uj.score(reduced, "RR, NumRelRet").values[0, 0].tolist() == [0.5, 2]
    again = uj.load(
        {"q": {"1": {"Barack Obama": 3}, "2": {"Biden": 1}}},
        answers,
        qa=True,
    )
    assert np.array_equal(uj.score(reduced, "Q, nDCG@5").values, uj.score(again, "Q, nDCG@5").values)


def test_gains_above_the_highest_grade_set_the_scale() -> None:
    run = {"t": {"a": 2.0, "b": 1.0}}
    whole = uj.load({"t": {"a": 1, "b": 2}}, run, gains={1: 1, 2: 3})
    part = uj.load({"t": {"a": 1}}, run, gains={1: 1, 2: 3})
    assert whole.judgments.gains.highest() == part.judgments.gains.highest() == 3
    assert uj.score(part, "RBP(p=0.5)").values[0, 0, 0] == pytest.approx(0.5 / 3)
    assert uj.load({"t": {"a": 1}}, run).with_gains({1: 1, 2: 3}).judgments.gains.highest() == 3


# -- lines and ranks


def test_a_repeated_document_takes_a_place_in_the_pool(tmp_path: Path) -> None:
    text = "1 Q0 a 1 9 r\n1 Q0 a 2 8 r\n1 Q0 b 3 7 r\n1 Q0 b 4 6 r\n1 Q0 c 5 5 r\n2 Q0 b 1 1 r\n2 Q0 a 2 0 r\n"
    (tmp_path / "r").write_text(text)
    (tmp_path / "s").write_text("2 Q0 c 1 9 s\n2 Q0 c 2 8 s\n2 Q0 a 3 7 s\n")
    qrels = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 1, "b": 0, "c": 0}}
    collection = uj.load(qrels, [str(tmp_path / "r"), str(tmp_path / "s")])
    assert collection.hits.line.tolist() == [1, 3, 5, 1, 2, 1, 3]
    assert collection.hits.rank.tolist() == [1, 2, 3, 1, 2, 1, 2]
    assert held(uj.shallow(collection, 2)) == {"1": {"a": 1}, "2": {"a": 1, "b": 0, "c": 0}}
    assert held(uj.shallow(collection, 2, by="ranks"))["1"] == {"a": 1, "b": 0}
    part = uj.only(collection, ["2"]).with_runs(["s"])
    assert part.hits.line.tolist() == [1, 3]
    assert uj.leave_out(collection, run="r", depth=1).hits.line.tolist() == [3, 5, 2, 1, 3]


# -- refusals


def test_refusals_are_sentences(po1: uj.Collection) -> None:
    nobody = uj.load({"t": {"a": 1}}, {"run": {"t": {"a": 1.0}}, "other": {"t": {"a": 1.0}}})
    some = uj.load({"t": {"a": 1}}, {"run": {"t": {"a": 1.0}}, "other": {"t": {"a": 1.0}}}, teams={"run": "A"})
    for make, text in (
        (
            lambda: uj.leave_out(po1, team="t9", depth=3),
            r"no team 't9' \(did you mean t\d\?\); there are t1, t2,",
        ),
        (lambda: uj.leave_out(po1, run="r9", depth=3), "no run 'r9' in this collection"),
        (lambda: uj.leave_out(po1, depth=3), "name one of: a team, a run"),
        (lambda: uj.leave_out(po1, team="t1", run="r1"), "name one of: a team, a run"),
        (lambda: uj.leave_out(po1, teams="t1", depth=3), "teams are given as a list"),
        (lambda: uj.take(po1, depth=3), "name one of: a team, several teams"),
        (lambda: uj.take(po1, teams=9, depth=3), "there are 4 pooled teams; 9 cannot be taken"),
        (lambda: uj.take(po1, team="t1", depth=3, pooled=["r3"]), "none of these runs was pooled"),
        (lambda: uj.leave_out(nobody, team="A"), "no teams are known"),
        (lambda: uj.leave_out(some, team="A"), "run other has no team"),
        (lambda: uj.contributions(some), "run other has no team"),
        (lambda: uj.shallow(po1, 0), "positive number of documents, not 0"),
        (lambda: uj.shallow(po1, 10**20), "positive number of documents, not 1000"),
        (lambda: uj.shallow(po1, 2, by="words"), "lines or ranks, not 'words'"),
        (lambda: uj.reduce(po1, 0), "a share above 0 and up to 1"),
        (lambda: uj.reduce(po1, 30), "a share above 0 and up to 1"),
        (lambda: uj.reduce(po1, float("nan")), "a share above 0 and up to 1"),
        (lambda: uj.reduce(po1, 0.5, seed=-1), "a seed is a whole number of 0 or more, not -1"),
        (lambda: uj.reduce(po1, 0.5, seed=1.5), "a seed is a whole number of 0 or more, not 1.5"),  # type: ignore[arg-type]
        (lambda: uj.flip(po1, 0.5, seed=-1), "a seed is a whole number of 0 or more, not -1"),
        (lambda: uj.reduce(po1, 0.5, method="stratifed"), "did you mean stratified"),
        (lambda: uj.reduce(po1, 0.1, method="uniform"), "uniform reduction to 0.1 .*: no judgments left"),
        (lambda: uj.only(po1, ["nope"]), "no judged topic 'nope'"),
        (lambda: po1.with_runs(["r1", "r1"]), "named once each"),
        (lambda: po1.with_runs(["r6"]), "no run 'r6'"),
        (lambda: po1.keeping(np.ones(3, bool), "x"), "a mask of 7 true or false values"),
        (lambda: po1.keeping(np.zeros(7, bool), "everything out"), "everything out: no judgments left"),
        (lambda: uj.pool_of(po1, pooled="some"), "pooled runs can be 'infer', 'all' or a list"),
        (lambda: uj.pool_of(po1, pooled=["x"]), "none of the pooled runs is among the runs given"),
        (lambda: uj.pool_of(po1, tolerance=-1), "the tolerance is a share"),
    ):
        with pytest.raises(uj.UsageError, match=text):
            make()


def test_membership_is_that_of_the_lists(po1: uj.Collection) -> None:
    found = membership(po1, uj.pool_of(po1, 3))
    docs = list(po1.judgments.docs)
    assert {d for d, inside in zip(docs, found.found(["r1"]), strict=True) if inside} == {"u1", "u2", "a"}
    assert {d for d, inside in zip(docs, found.unique(["r1", "r2"]), strict=True) if inside} == {"u1", "u2"}


def test_scores_do_not_depend_on_how_many_hits_are_measured_at_once(
    simulation: uj.simulation.Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = load_simulated(simulation)
    whole = uj.score(collection, every_measure(), undefined="nan").values
    for at_once in (1, len(collection.hits) // 3):
        monkeypatch.setattr("unjudged.scoring.HITS_AT_ONCE", at_once)
        parts = uj.score(collection, every_measure(), undefined="nan").values
        assert np.array_equal(whole, parts, equal_nan=True)


def test_many_seeds_leave_few_random_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand repeats must not hold a thousand orders; the numbers are those of a fresh collection."""
    monkeypatch.setattr("unjudged.changes.reduce.MOST_KEPT", 3)
    qrels = {t: {f"d{i}": i % 2 for i in range(9)} for t in "ab"}
    c = uj.load(qrels, {"r": {t: {"d1": 1.0} for t in qrels}})
    for seed in (*range(8), 0):
        reduced = uj.reduce(c, 0.5, seed=seed, method="uniform")
        fresh = uj.reduce(uj.load(qrels, {"r": {t: {"d1": 1.0} for t in qrels}}), 0.5, seed=seed, method="uniform")
        assert held(reduced) == held(fresh)
    assert sum(key[0] == "random order" for key in c._kept if isinstance(key, tuple)) == 3
