"""What was done to a collection is data, and is done again to whatever is read anew: other ties, one more run."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import worked_pool
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import unjudged as uj
from unjudged.changes.rejudge import judged_anew
from unjudged.collection import Collection
from unjudged.collection.history import CHANGES, Change, change
from unjudged.collection.load import read_judgments
from unjudged.errors import UnjudgedError, UsageError

TOPICS, DOCS, RUNS = ("1", "2", "3"), tuple("abcdefgh"), ("r1", "r2", "r3")
TEAMS = {"r1": "A", "r2": "A", "r3": "B"}
TIES = ("trec10", "trec9", "file", "ascending", "expected")
OTHER = {"1": {"a": 2, "c": 0, "z": 1}, "2": {"b": 1, "h": 3}, "3": {"d": 0}}
MEASURES = "AP, AP', nDCG@3, RBP, bpref, infAP, Judged@3, Q'"


def without_low_grades(c: Collection) -> Collection:
    return c.keeping(c.judgments.grade != 1, "without grade 1")


def one_more(c: Collection) -> Collection:
    return c.regraded(np.minimum(c.judgments.grade + 1, 3), "all grades one higher")


@change
def found_by_first_run(collection: Collection, depth: int = 2) -> Collection:
    """A change as a user may write it, which looks at runs: what the first run has in its top."""
    hits = collection.hits
    seen = np.zeros(len(collection.judgments), bool)
    seen[hits.row[(hits.run == 0) & (hits.rank <= depth)]] = True
    return collection.keeping(seen, f"top {depth} of {collection.runs[0]}")


Apply = Callable[[Collection], Collection]
FREE: dict[str, list[Apply]] = {
    "reduce": [lambda c: uj.reduce(c, 0.5, seed=3, min_nonrelevant=1), lambda c: uj.reduce(c, 0.7, method="uniform")],
    "flip": [lambda c: uj.flip(c, 0.5, seed=2)],
    "collapse": [lambda c: uj.collapse(c, rel=2), lambda c: uj.collapse(c, {3: 2, 1: 0})],
    "merge": [lambda c: uj.merge(c, OTHER, rule="max"), lambda c: uj.merge(c, OTHER, rule="random", seed=5)],
    "residual": [lambda c: uj.residual(c, {"1": {"a": 1, "b": 0}, "2": {"c": 0}})],
    "replace_judgments": [lambda c: uj.replace_judgments(c, OTHER, keep=True)],
    "only": [lambda c: uj.only(c, "1-2"), lambda c: uj.only(c, [c.topics[-1]])],
    "Collection.only": [lambda c: c.only([0])],
    "Collection.with_gains": [lambda c: c.with_gains({1: 1, 2: 5, 3: 7})],
    "Collection.keeping": [without_low_grades],
    "Collection.regraded": [one_more],
    "judged_anew": [lambda c: judged_anew(c, read_judgments({t: {"a": 1, "e": 2} for t in c.topics}), "other pool")],
}
"""Changes that do not look at runs: the same whether a run is there or not."""

BY_RUNS: dict[str, list[Apply]] = {
    "leave_out": [
        lambda c: uj.leave_out(c, team="A", depth=2),
        lambda c: uj.leave_out(c, run="r3", depth=3, pooled=["r1", "r3"]),
        lambda c: uj.leave_out(c, team="B"),
    ],
    "take": [
        lambda c: uj.take(c, team="A", depth=2),
        lambda c: uj.take(c, teams=1, depth=3),
        lambda c: uj.take(c, runs=["r3"]),
    ],
    "shallow": [lambda c: uj.shallow(c, 2), lambda c: uj.shallow(c, 3, pooled="infer", tolerance=1.0)],
    "favour": [lambda c: uj.favour(c, team="A", depth=3), lambda c: uj.favour(c, 0.5, run="r3", seed=4)],
    "Collection.with_runs": [lambda c: c.with_runs([r for r in ("r3", "r1") if r in c.runs])],
    "Collection.adding": [lambda c: c.adding({"r4": {"1": {"g": 2.0, "a": 2.0}, "9": {"x": 1.0}}})],
    "found_by_first_run": [found_by_first_run],
}
ALL = FREE | BY_RUNS
EVERY = [(name, i) for name, ways in ALL.items() for i in range(len(ways))]
NAMED = [f"{name}-{i}" for name, i in EVERY]

lists = st.dictionaries(st.sampled_from(DOCS), st.sampled_from((0.5, 1.0, 1.0 + 1e-9, 2.0)), min_size=1, max_size=6)
run = st.dictionaries(st.sampled_from((*TOPICS, "9")), lists, min_size=1).filter(lambda r: set(r) & set(TOPICS))
grades = st.dictionaries(st.sampled_from(DOCS), st.sampled_from((-1, 0, 0, 1, 2, 3)), min_size=2)
judged = st.fixed_dictionaries(dict.fromkeys(TOPICS, grades))
runs = st.fixed_dictionaries(dict.fromkeys(RUNS, run))


def load(qrels: Any, given: Any, ties: str = "trec10") -> Collection:
    return uj.load(qrels, given, teams=TEAMS, ties=ties)


def outcome(make: Callable[[], Collection]) -> Collection | str:
    try:
        return make()
    except UsageError as problem:
        return str(problem)


def judgments_in(c: Collection) -> Any:
    j = c.judgments
    return list(j.topics), j.starts.tolist(), list(j.docs), j.grade.tolist(), j.gains


def hits_in(c: Collection) -> Any:
    h = c.hits
    ties = None if h.ties is None else [part.tolist() for part in h.ties]
    arrays = [x.tolist() for x in (h.offsets, h.row, h.rank, h.length, h.answered, h.line)]
    return arrays, ties


def lists_in(c: Collection) -> Any:
    cells = range(len(c.rankings.offsets) - 1)
    return [c.rankings.ids(c.judgments, cell) for cell in cells], c.rankings.score.tolist(), c.rankings.outside


def content(c: Collection) -> dict[str, Any]:
    """Everything a collection holds, as plain values."""
    return {
        "judgments": judgments_in(c),
        "runs": c.runs,
        "hits": hits_in(c),
        "lists": lists_in(c),
        "settings": dict(c.settings),
        "notes": c.notes,
        "others": (c.outside, c.teams, c.sources, c.tags, c.pool),
        "full": (judgments_in(c.full), c.full.runs, hits_in(c.full)),
        "rows": c.rows.tolist(),
        "scores": uj.score(c, MEASURES).values.tolist() if len(c.judgments) else None,
    }


def assert_same(one: Collection | str, other: Collection | str) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    mine, theirs = content(one), content(other)
    for part, value in mine.items():
        assert value == theirs[part], part


@pytest.mark.parametrize(("name", "way"), EVERY, ids=NAMED)
@settings(max_examples=25)
@given(qrels=judged, given=runs, ties=st.sampled_from(TIES), start=st.sampled_from(TIES))
def test_other_ties_are_as_if_read_so(name: str, way: int, qrels: Any, given: Any, ties: str, start: str) -> None:
    f = ALL[name][way]
    after = outcome(lambda: f(load(qrels, given, start)))
    assume(not isinstance(after, str))
    assert not isinstance(after, str)
    expected = outcome(lambda: f(load(qrels, given, ties)))
    found = outcome(lambda: after.with_ties(ties))
    assert_same(found, expected)
    if not isinstance(found, str) and not isinstance(expected, str):
        assert found.history == expected.history
        assert_same(found.with_ties(start), after)


@pytest.mark.parametrize(("name", "way"), [(n, i) for n, i in EVERY if n in FREE])
@settings(max_examples=25)
@given(qrels=judged, given=runs, more=run)
def test_a_run_added_later_is_as_if_read_along(name: str, way: int, qrels: Any, given: Any, more: Any) -> None:
    f = FREE[name][way]
    after = outcome(lambda: f(load(qrels, given)))
    assume(not isinstance(after, str))
    assert not isinstance(after, str)
    assert_same(after.adding({"new": more}), f(load(qrels, {**given, "new": more})))


@pytest.mark.parametrize(("name", "way"), [(n, i) for n, i in EVERY if n in BY_RUNS])
@settings(max_examples=25)
@given(qrels=judged, given=runs, more=run)
def test_a_run_added_later_was_never_pooled(name: str, way: int, qrels: Any, given: Any, more: Any) -> None:
    f = BY_RUNS[name][way]
    after = outcome(lambda: f(load(qrels, given)))
    assume(not isinstance(after, str))
    assert not isinstance(after, str)
    joined = after.adding({"new": more})
    assert judgments_in(joined) == judgments_in(after) and joined.pool == after.pool
    assert joined.runs == (*after.runs, "new")
    if not len(after.judgments):
        return
    old = uj.score(joined, MEASURES).values[: len(after.runs)]
    assert np.array_equal(old, uj.score(after, MEASURES).values, equal_nan=True)
    j = after.judgments
    left: dict[str, dict[str, int]] = {}
    for row, topic in enumerate(j.topic.tolist()):
        left.setdefault(j.topics[topic], {})[j.docs[row]] = int(j.grade[row])
    if set(left) == set(after.topics) and set(left) & set(more):
        alone = uj.score(uj.load(left, {"new": more}), "AP, bpref, Judged@3, RR").values[0]
        order = [list(left).index(topic) for topic in after.topics]
        assert np.array_equal(uj.score(joined, "AP, bpref, Judged@3, RR").values[-1], alone[order])


@settings(max_examples=150)
@given(
    qrels=judged,
    given=runs,
    more=run,
    ties=st.sampled_from(TIES),
    names=st.lists(st.sampled_from(sorted(ALL)), min_size=2, max_size=3),
)
def test_chains_of_changes(qrels: Any, given: Any, more: Any, ties: str, names: list[str]) -> None:
    assume(names.count("Collection.adding") < 2)
    by_position = {"Collection.keeping", "Collection.regraded"}  # what the user chose among the rows of then

    def chain(c: Collection) -> Collection:
        for name in names:
            c = ALL[name][0](c)
        return c

    after = outcome(lambda: chain(load(qrels, given)))
    assume(not isinstance(after, str))
    assert not isinstance(after, str)
    joined = after.adding({"new": more})
    assert judgments_in(joined) == judgments_in(after) and joined.runs == (*after.runs, "new")
    if set(names) <= set(FREE):
        assert_same(joined, chain(load(qrels, {**given, "new": more})))
    if set(names) & by_position and not set(names) <= set(FREE):
        return
    assert_same(outcome(lambda: after.with_ties(ties)), outcome(lambda: chain(load(qrels, given, ties))))
    again = outcome(lambda: joined.with_ties(ties))
    assert_same(again, outcome(lambda: chain(load(qrels, given, ties)).adding({"new": more})))


@pytest.mark.parametrize(("name", "way"), EVERY, ids=NAMED)
@settings(max_examples=10)
@given(qrels=judged, given=runs, ties=st.sampled_from(TIES), more=run)
def test_pickling_changes_nothing(name: str, way: int, qrels: Any, given: Any, ties: str, more: Any) -> None:
    f = ALL[name][way]
    after = outcome(lambda: f(load(qrels, given)))
    assume(not isinstance(after, str))
    assert not isinstance(after, str)
    there = pickle.loads(pickle.dumps(after))
    assert there.history == after.history and list(map(str, there.history)) == list(map(str, after.history))
    assert_same(there, after)
    assert_same(outcome(lambda: there.with_ties(ties)), outcome(lambda: after.with_ties(ties)))
    assert_same(there.adding({"new": more}), after.adding({"new": more}))


def changes_offered() -> set[str]:
    """Every public function from a collection to a collection, and every such method."""
    found = set()
    for name in uj.__all__:
        thing = getattr(uj, name)
        if inspect.isfunction(thing):
            signature = inspect.signature(thing)
            first = next(iter(signature.parameters.values()), None)
            if first is not None and first.annotation == "Collection" and signature.return_annotation == "Collection":
                found.add(name)
    for name, method in vars(Collection).items():
        public = inspect.isfunction(method) and not name.startswith("_")
        if public and inspect.signature(method).return_annotation == "Collection":
            found.add(f"Collection.{name}")
    return found


def test_every_change_there_is_stands_above() -> None:
    # no changes: the first reads again, the second travels, the third is another collection
    reading = {"Collection.with_ties", "Collection.alone", "Collection.judged_by"}
    assert changes_offered() - reading == changes_offered() & set(CHANGES), "decorate the new one with @change"
    assert set(CHANGES) == set(ALL), "say above how the new change is used"
    assert len(changes_offered()) > 12


def test_a_change_is_plain_data() -> None:
    c = worked_pool.load()
    reduced = uj.reduce(c, 0.3, seed=1, min_nonrelevant=0)
    (step,) = reduced.history
    assert (step.name, dict(step.parameters)) == ("reduce", {"rate": 0.3, "seed": 1, "min_nonrelevant": 0})
    assert str(step) == "stratified reduction to 0.3 (seed 1): 5 of 7 judgments taken away"
    assert step == uj.reduce(worked_pool.load(), 0.3, seed=1, min_nonrelevant=0).history[0]
    assert step != uj.reduce(c, 0.3, seed=2, min_nonrelevant=0).history[0]
    assert hash(step) == hash(uj.reduce(c, 0.3, seed=1, min_nonrelevant=0).history[0])
    kept = np.array([True] * 6 + [False])
    mine = c.keeping(kept, "mine")
    assert mine.history == c.keeping(kept.copy(), "mine").history != c.keeping(~kept, "mine").history
    kept[:] = False
    assert mine.with_ties("file").judgments.grade.tolist() == mine.judgments.grade.tolist()
    assert reduced.settings["history"] == ["stratified reduction to 0.3 (seed 1): 5 of 7 judgments taken away"]
    assert "history" not in c.with_runs(["r1"]).settings and len(c.with_runs(["r1"]).history) == 1


def test_what_a_change_was_given_may_change_afterwards(tmp_path: Path) -> None:
    c = worked_pool.load()
    grades, names, other = {2: 1}, ["r2", "r1"], {"t": {"a": 3, "x": 1}}
    path = tmp_path / "other.txt"
    path.write_text("t 0 a 3\nt 0 u1 2\n")
    changed = uj.merge(uj.replace_judgments(uj.collapse(c, grades).with_runs(names), other), path, rule="max")
    before = content(changed.with_ties("ascending"))
    grades[1], other["t"]["b"] = 0, 9
    names.reverse()
    path.unlink()
    assert content(changed.with_ties("ascending")) == before


def test_a_change_nobody_knows_here_is_named() -> None:
    @change
    def passing(collection: Collection) -> Collection:
        """Nothing but a line."""
        return collection.keeping(np.ones(len(collection.judgments), bool), "passing")

    name = passing.__qualname__
    try:
        after = passing(worked_pool.load())
        assert after.history == (Change(name, {}, ("passing: 0 of 7 judgments taken away",)),)
    finally:
        del CHANGES[name]
    assert after.adding({"new": {"t": {"a": 1.0}}}).runs[-1] == "new"
    with pytest.raises(UsageError, match=r"the change .*passing.* is not known here; import the module"):
        after.with_ties("file")


def test_two_changes_of_one_name_are_refused() -> None:
    def reduce(collection: Collection) -> Collection:
        return collection

    reduce.__qualname__ = "reduce"
    with pytest.raises(UsageError, match="there is a change called reduce"):
        change(reduce)


def test_a_row_that_other_ties_bring_back_is_not_touched_by_a_mask() -> None:
    """Where equal scores stand decides what a shallow pool holds; a mask names documents, not places."""
    c = uj.load({"t": {"a": 1, "b": 2, "c": 1}}, {"r": {"t": {"a": 1.0, "b": 1.0, "c": 0.5}}}, ties="ascending")
    pool = uj.shallow(c, 1)
    assert list(pool.judgments.docs) == ["a"]
    higher = pool.regraded(np.array([3]), "a is perfect")
    assert (list(higher.with_ties("trec10").judgments.docs), higher.with_ties("trec10").judgments.grade.tolist()) == (
        ["b"],
        [2],
    )


def test_the_collapse_is_not_forgotten() -> None:
    c = uj.load({"t": {"a": 3, "b": 1}}, {"r": {"t": {"a": 2.0, "b": 1.0}}})
    coarse = uj.collapse(c, rel=2)
    assert uj.score(coarse.with_ties("file"), "RBP").values == uj.score(coarse, "RBP").values
    assert coarse.with_ties("file").settings["highest gain"] == 1.0


@pytest.mark.parametrize("named", [str, lambda name: {name: {"t": {"a": 1.0}}}], ids=["name", "other"])
def test_a_run_taken_away_can_come_back(named: Any) -> None:
    c = uj.leave_out(worked_pool.load(), team="t1", depth=3)
    few = c.with_runs(["r3", "r4"])
    back = few.with_runs(["r1", "r3"])
    assert_same(back, c.with_runs(["r1", "r3"]))
    with pytest.raises(UsageError, match="no run 'r9' in this collection"):
        few.with_runs(["r9"])
    if named is not str:
        with pytest.raises(UsageError, match="two runs are called r1"):
            few.adding(named("r1"))


def test_files_that_are_gone_get_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n1 0 b 0\n")
    (tmp_path / "r").write_text("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n")
    c = uj.collapse(uj.load(tmp_path / "q", tmp_path / "r"), rel=1)
    there = pickle.loads(pickle.dumps(c))
    assert there.with_ties("file").rankings.ids(there.judgments, 0) == ["b", "a"]
    (tmp_path / "r").unlink()
    assert np.array_equal(uj.score(there, "AP").values, uj.score(c, "AP").values)
    for ask in (lambda: there.with_ties("file"), lambda: there.rankings, lambda: c.rankings):
        with pytest.raises(UnjudgedError, match=r"r: (no such file|this file changed)"):
            ask()


def test_a_collection_cut_off_says_what_it_lacks() -> None:
    alone = pickle.loads(pickle.dumps(uj.reduce(worked_pool.load(), 0.5).alone()))
    assert list(map(str, alone.history)) == alone.settings["history"]
    with pytest.raises(UsageError, match="full lists did not travel"):
        alone.rankings  # noqa: B018
    for ask in (lambda: alone.with_ties("file"), lambda: alone.adding({"n": {"t": {"a": 1.0}}})):
        with pytest.raises(UsageError, match="cannot be read again"):
            ask()  # type: ignore[no-untyped-call]


def test_a_run_taken_away_can_be_the_new_one(tmp_path: Path) -> None:
    made = uj.simulate("tiny", seed=3, out=tmp_path / "made")
    c = uj.load(made.qrels, made.run_folder)
    few, new = c.with_runs(c.runs[:-1]), c.runs[-1]
    expected = list(uj.correct(c, new, "P@10").rows())
    assert len(expected) == 1
    for named in (new, made.run_folder / new):
        assert list(uj.correct(few, named, "P@10").rows()) == expected


def test_correction_sees_the_collapse(tmp_path: Path) -> None:
    """The papers' protocol reads scores as float32, so that the runs are read again."""
    made = uj.simulate("tiny", seed=3, out=tmp_path / "made")
    qrels = tmp_path / "coarse.txt"
    c = uj.collapse(uj.load(made.qrels, made.run_folder), rel=2)
    with qrels.open("w") as file:
        for row, topic in enumerate(c.judgments.topic.tolist()):
            file.write(f"{c.judgments.topics[topic]} 0 {c.judgments.docs[row]} {c.judgments.grade[row]}\n")
    plain = uj.load(qrels, made.run_folder)
    new = c.runs[-1]
    asked: dict[str, Any] = {"wanted": "P@10", "protocol": "sigir2015", "validate": False}
    assert list(uj.correct(c, new, **asked).rows()) == list(uj.correct(plain, new, **asked).rows())


@pytest.mark.parametrize("ties", ["trec10", "expected"])
def test_runs_join_lists_at_hand_as_if_all_had_been_read(ties: str, tmp_path: Path) -> None:
    """With the full lists at hand only the new run is read: the same hits, lists, codes and notes."""
    there = {
        "one": {"1": {"a": 3.0, "x": 3.0, "y": 1.0}, "2": {"c": 1.0, "x": 0.5}, "9": {"q": 1.0}},
        "two": {"1": {"y": 2.0, "b": 1.0}, "9": {"q": 1.0}},
    }
    for name, lists in there.items():
        lines = [f"{t} Q0 {d} 1 {s} r" for t, docs in lists.items() for d, s in docs.items()]
        (tmp_path / name).write_text("\n".join([*lines, lines[0]]))
    more = {"1": {"x": 2.0, "z": 2.0, "a": 1.0}, "9": {"q": 1.0}}
    judged = {"1": {"a": 1, "b": 0}, "2": {"c": 2}}

    def loaded() -> uj.Collection:
        with pytest.warns(uj.DataWarning):
            return uj.load(judged, [tmp_path / "one", tmp_path / "two"], ties=ties, teams={"new": "late"})

    slow, fast = loaded(), loaded()
    whole = slow.adding({"new": more})
    assert len(fast.rankings.unjudged) == 3
    for name in there:
        (tmp_path / name).unlink()
    quick = fast.adding({"new": more})
    assert_same(quick, whole)
    assert quick.notes == whole.notes and quick.outside == whole.outside == (1, 1, 1)
    assert quick.teams == whole.teams and quick.tags == whole.tags
    assert quick.rankings.doc.tolist() == whole.rankings.doc.tolist()
    assert list(quick.rankings.unjudged) == list(whole.rankings.unjudged) == ["x", "y", "x", "z"]
    assert quick.rankings.outside == whole.rankings.outside
