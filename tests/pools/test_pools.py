"""What a pool looks like: published figures, the identities of METHODS D.35, contributions by brute force."""

from __future__ import annotations

import functools
import itertools
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from places import DATA
from reference import Qrels, Run, collections, in_order, read_qrels, read_run

import unjudged as uj
from unjudged.collection import Pool
from unjudged.collection.membership import membership
from unjudged.collection.pool import inferred_depth, inferred_runs, read_pooled

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared collections are not here")
REAL = ("dl19-passage", "robust03", "trec2-adhoc")

pytestmark = pytest.mark.filterwarnings("ignore::unjudged.errors.DataWarning")


@functools.cache
def real(name: str, only: str | None = None) -> uj.Collection:
    folder = DATA / name
    return uj.load(
        folder / "qrels.txt.gz", folder / "runs", teams=folder / "teams.tsv", lenient=name == "trec2-adhoc", only=only
    )


def statistics(result: uj.Result) -> dict[str, tuple[float, float | None, float | None]]:
    return {name: (value, low, high) for name, value, low, high in result.rows()}


# -- published figures


@needs_data
def test_table_1_of_sakai_2009() -> None:
    """Column TREC03: N 925.5 [292, 2050], R 33.2 [4, 115], 8.1 highly relevant, 25.0 relevant."""
    found = uj.describe(real("robust03", "601-650"))
    row = statistics(found)
    assert row["topics"][0] == 50
    assert row["N"] == (pytest.approx(925.48), 292, 2050)  # type: ignore[comparison-overlap]
    assert row["R"] == (pytest.approx(33.16), 4, 115)  # type: ignore[comparison-overlap]
    assert row["grade 2"][0] == pytest.approx(8.14)
    assert row["grade 1"][0] == pytest.approx(25.02)
    assert (row["runs"][0], row["teams"][0], row["pool depth"][0]) == (17, 17, 125)
    text = found.table()
    for line in ("N 925.5 [292, 2050]", "R 33.2 [4, 115]", "grade 2 8.1", "grade 1 25.0"):
        assert line in " ".join(text.split())
    assert any("pooled runs are missing" in note and "overestimated" in note for note in found.notes)


@needs_data
def test_coverage_and_pooled_runs_of_trec_2() -> None:
    """51,433 of 62,620 judgments at depth 100 (the collection's SOURCE.md); 36 of 38 runs pooled (Lipani 2015)."""
    collection = real("trec2-adhoc")
    found = uj.describe(collection)
    row = statistics(found)
    assert (row["judgments"][0], row["covered judgments"][0], row["pool depth"][0]) == (62620, 51433, 100)
    assert row["runs taken as pooled"][0] == 38
    assert any("51,433 of 62,620 judgments (82.1%)" in note for note in found.notes)
    assert any("1 run does not look pooled to depth 100: rutfmed" in note for note in found.notes)
    paper = uj.describe(collection, tolerance=0.2)
    assert statistics(paper)["runs that look pooled"][0] == 36
    assert any("2 runs do not look pooled to depth 100: rutfmed, uicah" in note for note in paper.notes)
    assert len(uj.pool_of(collection, pooled="infer", tolerance=0.2).runs) == 36
    pool = uj.pool_of(collection, pooled="infer")
    assert (pool.depth, pool.guessed) == (100, " (depth and runs inferred, over 99 % sure)")
    by_ranks = membership(collection, uj.pool_of(collection, 100), by="ranks")
    assert by_ranks.found().sum() > 51433  # struck-out lines let deeper documents in


@needs_data
def test_depth_of_the_others() -> None:
    """robust03 was pooled to 125 (its track), dl19 to 10; 2,494 of the documents there were judged (SOURCE.md)."""
    assert inferred_depth(real("robust03")) == 125
    robust = uj.pool_of(real("robust03"), pooled="infer")  # half of its topics were judged years before
    assert (robust.depth, len(robust.runs)) == (125, 17)
    row = statistics(uj.describe(real("dl19-passage")))
    assert (row["inferred depth"][0], row["covered judgments"][0]) == (10, 2494)
    assert row["runs that look pooled"][0] == 37  # also UNH_exDL_bm25, which has an unjudged document in a top 10


# -- METHODS D.35


@needs_data
@pytest.mark.parametrize("name", REAL)
def test_identities_on_real_collections(name: str) -> None:
    collection = real(name)
    pool = uj.pool_of(collection)
    found = membership(collection, pool)
    teams = sorted({collection.teams[run] for run in collection.runs})
    runs = {team: [run for run in collection.runs if collection.teams[run] == team] for team in teams}
    unique = {team: found.unique(runs[team]) for team in teams}
    for one, two in itertools.combinations(teams, 2):
        assert not (unique[one] & unique[two]).any()
    covered = found.found()
    for team in teams:
        out = uj.leave_out(collection, team=team)
        assert len(out.judgments) == len(collection.judgments) - unique[team].sum()
        assert (collection.judgments.grade[out.rows] == out.judgments.grade).all()
        assert len(uj.take(collection, team=team).judgments) == found.found(runs[team]).sum()
        assert not (unique[team] & ~covered).any()
    assert len(uj.shallow(collection, pool.depth).judgments) == covered.sum()
    result = uj.contributions(collection, pooled="all")
    shown = [line.split("  ")[0].rstrip("†* ") for line in result.table().splitlines()[: len(teams) + 1]]
    assert shown == ["team", *teams]
    assert all(0 <= relevant <= alone <= all_ for _, _, all_, alone, relevant in result.rows())
    assert sum(row[3] for row in result.rows()) * len(collection.topics) == pytest.approx(
        sum(int(mask.sum()) for mask in unique.values())
    )


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> uj.simulation.Simulation:
    return uj.simulate("tiny", seed=11, out=tmp_path_factory.mktemp("sim") / "tiny")


def test_identities_where_all_pooled_runs_are_at_hand(simulation: uj.simulation.Simulation) -> None:
    collection = uj.load(simulation.qrels, simulation.run_folder, teams=simulation.teams)
    pooled, depth = read_pooled(str(simulation.qrels.parent / "pooled.tsv")), simulation.parameters.depth
    assert 0 < len(pooled) < len(collection.runs)
    pool = uj.pool_of(collection, depth, pooled)
    found = membership(collection, pool)
    assert found.found().all()  # the union of all D is J
    same = uj.shallow(collection, depth, pooled=pooled)
    assert len(same.judgments) == len(collection.judgments)
    assert (uj.score(same, "AP, Q', bpref").values == uj.score(collection, "AP, Q', bpref").values).all()
    described = uj.describe(collection, depth=depth, pooled=pooled)
    assert statistics(described)["coverage"][0] == 1
    assert not any("missing" in note for note in described.notes)
    assert set(pooled) <= set(inferred_runs(collection, depth))
    teams = set(collection.teams.values())
    whole = len(collection.judgments)
    sizes = {t: whole - len(uj.leave_out(collection, team=t, depth=depth, pooled=pooled).judgments) for t in teams}
    table = {row[0]: row for row in uj.contributions(collection, depth=depth, pooled=pooled).rows()}
    assert {t: table[t][3] for t in teams} == pytest.approx({t: n / len(collection.topics) for t, n in sizes.items()})
    by_run = uj.contributions(collection, per="run", depth=depth, pooled=pooled)
    assert [row[0] for row in by_run.rows()] == list(collection.runs)


# -- contributions by brute force


def brute(qrels: Qrels, runs: dict[str, Run], teams: dict[str, str], depth: int) -> dict[str, tuple[float, ...]]:
    D = {
        run: {(t, d) for t in qrels for d in in_order(lists.get(t, {}), "trec10")[:depth] if d in qrels[t]}
        for run, lists in runs.items()
    }
    out = {}
    for team in set(teams.values()):
        mine = set().union(*(D[run] for run in runs if teams[run] == team))
        others = set().union(*(D[run] for run in runs if teams[run] != team))
        alone = mine - others
        relevant = [pair for pair in alone if qrels[pair[0]][pair[1]] > 0]
        out[team] = tuple(len(x) / len(qrels) for x in (mine, alone, relevant))
    return out


@needs_data
def test_contributions_to_robust03_by_brute_force() -> None:
    folder = DATA / "robust03"
    qrels = read_qrels(folder / "qrels.txt.gz")
    files = sorted((folder / "runs").glob("*.gz"))[::4]
    runs = {path.name.removesuffix(".gz"): read_run(path, qrels) for path in files}
    teams = {run: "AB"[i % 2] for i, run in enumerate(runs)}
    collection = uj.load(folder / "qrels.txt.gz", [str(path) for path in files], teams=teams)
    assert len(runs) == 5
    expected = brute(qrels, runs, teams, 125)
    for team, _, *numbers in uj.contributions(collection, depth=125, pooled="all").rows():
        assert numbers == pytest.approx(expected[team])


# -- the rule of CORRECTION 3, written down a second time


def prefix(docs: list[str], judged: set[str], forgiven: int) -> int:
    count = 0
    for doc in docs:
        if doc in judged:
            count += 1
        elif forgiven:
            forgiven -= 1
        else:
            break
    return count


@settings(max_examples=60)
@given(collections(max_runs=4))
def test_inference_by_brute_force(case: tuple[Qrels, dict[str, Run]]) -> None:
    qrels, runs = case
    collection = uj.load(qrels, runs)
    ranked = {(r, t): in_order(lists[t], "trec10") for r, lists in runs.items() for t in qrels if t in lists}
    found = [
        prefix(docs, set(qrels[t]), 0) for (_, t), docs in ranked.items() if prefix(docs, set(qrels[t]), 0) < len(docs)
    ]
    counts = {d: found.count(d) for d in found if d > 0}
    if counts:
        assert inferred_depth(collection) == max(d for d, n in counts.items() if n == max(counts.values()))
    else:  # every list that begins with a judged document is judged to its end
        longest = max((prefix(docs, set(qrels[t]), 0) for (_, t), docs in ranked.items()), default=0)
        assert inferred_depth(collection) == (longest or None)
    for depth, tolerance in ((1, 0.2), (3, 0.4), (5, 0.2), (12, 0.2)):
        forgiven = math.floor(depth * tolerance + 1e-9)
        expected = []
        for run in runs:
            good = True
            for (r, t), docs in ranked.items():
                if r == run:
                    reached = prefix(docs, set(qrels[t]), forgiven)
                    good &= reached >= depth or len(docs) < reached + max(depth // 10, 1)
            if good:
                expected.append(run)
        assert list(inferred_runs(collection, depth, tolerance)) == expected


def test_nothing_to_infer_from() -> None:
    collection = uj.load({"t": {"a": 1}}, {"t": {"b": 2.0, "a": 1.0}})
    with pytest.raises(uj.UsageError, match="the pool depth cannot be inferred"):
        uj.describe(collection)
    assert statistics(uj.describe(collection, depth=2))["covered judgments"][0] == 1
    with pytest.raises(uj.UsageError, match="no run looks pooled to depth 2"):
        uj.pool_of(collection, 2, "infer")


def test_all_runs_are_pooled_or_those_a_reduction_left() -> None:
    qrels = {"t": {"a": 1, "b": 0, "c": 1}}
    runs = {"x": {"t": {"a": 2.0, "b": 1.0}}, "y": {"t": {"b": 2.0, "c": 1.0}}, "z": {"t": {"q": 1.0}}}
    collection = uj.load(qrels, runs)
    assert uj.pool_of(collection, 2, "all") == uj.pool_of(collection, 2) == Pool(2, ("x", "y", "z"))
    left = uj.leave_out(collection, runs=["x"], depth=2)
    assert uj.pool_of(left, pooled="all").runs == ("y", "z")
    with pytest.raises(uj.UsageError, match="can be 'infer', 'all' or a list of names, not 'every'"):
        uj.pool_of(collection, 2, "every")


def test_pooled_files(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("r1\n\nr3\r\n")
    assert read_pooled(str(tmp_path / "names")) == ["r1", "r3"]
    (tmp_path / "tsv").write_text("run\tpooled\nr1\tyes\nr2\tno\nr3\tYES\n")
    assert read_pooled(str(tmp_path / "tsv")) == ["r1", "r3"]
    (tmp_path / "more").write_text("Team\tPooled\trun\tnote\nA\tyes\tr1\t\nB\tno\tr2\tlate\n\nC\tyes\tr3\n")
    assert read_pooled(str(tmp_path / "more")) == ["r1", "r3"]
    assert (read_pooled("infer"), read_pooled("all")) == ("infer", "all")
    for text, told in (
        ("r1\tmaybe\n", "bad:1: a line needs a run, or run<TAB>yes or no; found 'r1"),
        ("run\tpooled\nr1\tno\n", "no pooled runs"),
        ("team\trun\tpooled\nA\tr1\tyes\nB\tr2\n", "bad:3: .* yes or no in the column pooled; found 'B"),
        ("run\tteam\tpooled\nr1\tyes\tA\n", "bad:2: .* yes or no in the column pooled"),
        ("run\tteam\nr1\tA\n", "bad:1: "),
    ):
        (tmp_path / "bad").write_text(text)
        with pytest.raises(uj.InputError, match=told):
            read_pooled(str(tmp_path / "bad"))


def test_judged_curves_by_hand() -> None:
    qrels = {"1": {"a": 1, "b": -1}, "2": {"c": 0}}
    runs = {"x": {"1": {"a": 3.0, "q": 2.0, "b": 1.0}}, "y": {"1": {"q": 1.0}, "2": {"c": 2.0, "q": 1.0}}}
    collection = uj.load(qrels, runs)
    rows = list(uj.judged_curves(collection, (1, 2, 3)).rows())
    assert rows == [
        *(("x", 1, 1.0), ("x", 2, 0.5), ("x", 3, pytest.approx(2 / 3))),  # x answers topic 1 alone
        *(("y", 1, 0.5), ("y", 2, 0.25), ("y", 3, 0.25)),
    ]
    found = statistics(uj.describe(collection, depth=1, cutoffs=(1, 2)))
    assert found["judged@2"] == (0.375, 0.25, 0.5)
    assert found["judgments"][0] == 2 and found["listed, not judged"][0] == 1


def test_runs_of_a_pool_with_their_chance_and_depth() -> None:
    """Four runs pooled to depth 5 and one that nobody looked at: yes and no; stated runs are taken as they are."""
    runs = {
        name: {
            f"t{t:02}": {f"{name}{t}-{i}" if i % 2 else f"both{t}-{i}": -float(i) for i in range(30)} for t in range(40)
        }
        for name in "abcde"
    }
    grades = {
        topic: {doc: int(doc[-1] in "02468") for run in "abcd" for doc in list(runs[run][topic])[:5]}
        for topic in runs["a"]
    }
    collection = uj.load(grades, runs, teams={"a": "x", "b": "x", "c": "y", "d": "z", "e": "z"})
    found = uj.pooled_runs(collection)
    assert found.columns == ("run", "team", "pooled", "chance", "depth")
    rows = {row[0]: row[1:] for row in found.rows()}
    assert [rows[run][1] for run in "abcde"] == ["yes"] * 4 + ["no"]
    assert all(rows[run][2] > 0.9 and rows[run][3] == 5 for run in "abcd")
    assert rows["e"][2] < 0.1 and rows["e"][3] is None and rows["e"][0] == "z"
    stated = {row[0]: row[1:] for row in uj.pooled_runs(collection, pooled=["a", "e"], depth=3).rows()}
    assert stated["e"] == ("z", "yes", 1.0, 3) and stated["b"] == ("x", "no", 0.0, None)


def test_runs_of_a_pool_that_cannot_be_seen_are_unknown() -> None:
    runs = {name: {"t": {f"{name}{i}": -float(i) for i in range(9)}} for name in "ab"}
    rows = list(uj.pooled_runs(uj.load({"t": {"elsewhere": 1}}, runs)).rows())
    assert [row[2:] for row in rows] == [("unknown", None, None)] * 2
