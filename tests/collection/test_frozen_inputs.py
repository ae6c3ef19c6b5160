"""What was loaded stays as it was: inputs in memory are copied, arrays cannot be written to, files are watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unjudged as uj
from unjudged.collection import Hits, Judgments
from unjudged.errors import InputError
from unjudged.io.ids import Ids

QRELS = {"1": {"a": 2, "b": 0, "c": -1}, "2": {"a": 1, "d": 3}}
LISTS = {"r": {"1": {"b": 2.0, "a": 2.0, "x": 1.0, "c": 0.5}, "2": {"d": 1.0, "y": 0.5}}, "s": {"2": {"a": 1.0}}}
ROWS = [
    (run, topic, doc, score)
    for run, topics in LISTS.items()
    for topic, docs in topics.items()
    for doc, score in docs.items()
]
COLUMNS = ["run", "topic", "doc", "score"]


def as_dicts() -> tuple[Any, Callable[[], None]]:
    given = {run: {topic: dict(docs) for topic, docs in topics.items()} for run, topics in LISTS.items()}

    def spoil() -> None:
        given["r"]["1"]["a"] = -9.0
        given["r"]["2"].clear()
        del given["s"]

    return given, spoil


def as_pandas() -> tuple[Any, Callable[[], None]]:
    frame = pd.DataFrame(ROWS, columns=COLUMNS)

    def spoil() -> None:
        frame.loc[:, "score"] = 7.0
        frame.loc[:, "doc"] = "x"

    return frame, spoil


def as_arrow_by_name() -> tuple[Any, Callable[[], None]]:
    frames = {name: pl.DataFrame([r[1:] for r in ROWS if r[0] == name], COLUMNS[1:], orient="row") for name in LISTS}
    return frames, frames.clear


@pytest.mark.parametrize("make", [as_dicts, as_pandas, as_arrow_by_name])
def test_runs_in_memory_are_copied(make: Callable[[], tuple[Any, Callable[[], None]]]) -> None:
    given, spoil = make()
    qrels = {topic: dict(docs) for topic, docs in QRELS.items()}
    teams, gains = {"r": "A", "s": "B"}, {1: 1.0, 2: 2.0, 3: 4.0}
    mine = uj.load(qrels, given, teams=teams, gains=gains)
    spoil()
    qrels["1"]["a"] = 0
    teams["r"], gains[3] = "C", 9.0
    right = uj.load(QRELS, LISTS, teams={"r": "A", "s": "B"}, gains={1: 1.0, 2: 2.0, 3: 4.0})
    for one, other in (
        (mine, right),
        (mine.with_ties("file"), right.with_ties("file")),
        (mine.adding({"t": {"1": {"c": 1.0}}}), right.adding({"t": {"1": {"c": 1.0}}})),
    ):
        cells = range(len(other.rankings.offsets) - 1)
        assert [one.rankings.ids(one.judgments, c) for c in cells] == [
            other.rankings.ids(other.judgments, c) for c in cells
        ]
        assert list(uj.score_bounds(one, "AP, nDCG@3").rows()) == list(uj.score_bounds(other, "AP, nDCG@3").rows())
        assert np.array_equal(uj.score(one, "AP, nDCG@3, RBP").values, uj.score(other, "AP, nDCG@3, RBP").values)
        assert one.teams == other.teams


def test_answers_in_memory_are_copied() -> None:
    classes = {"q": {"1": {"Obama": 2, "Barack Obama": 3}, "2": {"Biden": 1}}}
    answers = {"q": ["Biden", "Obama"]}
    c = uj.load(classes, answers, qa=True)
    answers["q"].reverse()
    assert c.rankings.ids(c.judgments, 0) == c.with_ties("file").rankings.ids(c.judgments, 0) == ["Biden", "Obama"]


def test_a_run_added_from_memory_is_copied() -> None:
    run = {"t": {"1": {"a": 2.0, "b": 1.0}}}
    more = uj.load(QRELS, LISTS).adding(run)
    run["t"]["1"]["a"] = 0.0
    again = more.with_ties("ascending")
    assert again.rankings.ids(again.judgments, 4) == ["a", "b"]


def test_a_file_that_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text("1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")
    c = uj.load(QRELS, path)
    path.write_text("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n1 Q0 c 2 1 t\n")
    for ask in (lambda: c.rankings, lambda: uj.reduce(c, 0.5).with_ties("file"), lambda: c.adding(LISTS)):
        with pytest.raises(InputError, match="changed"):
            ask()


def test_files_that_appear_later_do_not_join(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("1 Q0 a 1 2 t\n")
    c = uj.load(QRELS, tmp_path)
    (tmp_path / "s").write_text("1 Q0 a 1 2 t\n")
    assert c.with_ties("file").runs == ("r",)


def arrays(thing: Any, name: str = "") -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Every array inside, by where it stands."""
    if isinstance(thing, np.ndarray):
        yield name, thing
    elif isinstance(thing, Ids):
        yield f"{name}.ends", thing.ends
    elif isinstance(thing, Judgments):
        for f in fields(thing):
            if f.name not in ("lookup", "_kept"):
                yield from arrays(getattr(thing, f.name), f"{name}.{f.name}")
        for derived in ("topic", "stratum", "best"):
            yield f"{name}.{derived}", getattr(thing, derived)
        yield from arrays((thing.count(1), thing.gain(), vars(thing.ideal())), name)
    elif isinstance(thing, Hits):
        yield from arrays((thing.ties, thing.repeats), name)
        for part in (
            "offsets",
            "row",
            "rank",
            "length",
            "answered",
            "repeats",
            "grade",
            "topic",
            "position",
            "line",
            "ties",
        ):
            yield from arrays(getattr(thing, part), f"{name}.{part}")
        yield from arrays((thing.gain(), thing.cumulated(), thing.precision()), name)
    elif isinstance(thing, (tuple, list)):
        for i, part in enumerate(thing):
            yield from arrays(part, f"{name}[{i}]")
    elif isinstance(thing, dict):
        for key, part in thing.items():
            yield from arrays(part, f"{name}.{key}")


@pytest.mark.parametrize("ties", ["trec10", "expected"])
def test_nobody_can_write_to_arrays(ties: str) -> None:
    base = uj.load(QRELS, LISTS, ties=ties, teams={"r": "A", "s": "B"})
    changed = [
        base,
        uj.reduce(base, 0.5),
        uj.collapse(base, rel=2),
        uj.merge(base, {"1": {"x": 1}}, rule="max"),
        uj.only(base, ["2"]),
        base.with_runs(["s"]),
        base.with_gains({2: 5, 3: 7}),
        base.with_ties("file"),
    ]
    looked_at = 0
    for c in changed:
        h = c.hits
        views = [
            h,
            h.relevant(1),
            h.condensed(),
            h.condensed().relevant(2),
            h.top(1),
            h.judged(),
            h.pooled,
            h.of_runs(0, 1),
        ]
        rankings = (c.rankings.offsets, c.rankings.doc, c.rankings.score, c.rankings.unjudged)
        for name, array in arrays((c.judgments, views, rankings)):
            assert not array.flags.writeable, name
            looked_at += 1
    assert looked_at > 500
    with pytest.raises(ValueError, match="read-only"):
        base.judgments.grade[0] = 3


def test_arrays_that_were_given_stay_their_owners() -> None:
    c = uj.load(QRELS, LISTS)
    kept, grade = np.array([True] * 4 + [False]), np.array([3, 2, 1, 0, 0], np.int32)
    reduced, regraded = c.keeping(kept, "mine"), c.regraded(grade, "mine")
    kept[:], grade[:] = False, 9
    assert len(reduced.judgments) == 4 and regraded.judgments.grade.tolist() == [3, 2, 1, 0, 0]
    assert len(reduced.with_ties("file").judgments) == 4
