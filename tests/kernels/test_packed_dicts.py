"""Dicts of dicts packed by the kernels: both give the same bytes; runs and judgments read the same either way."""

from __future__ import annotations

import sys
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unjudged as uj
from unjudged import kernels
from unjudged.io.ids import Ids
from unjudged.kernels import _numpy

ids = st.text(max_size=12) | st.sampled_from(["a", "b\n", "", "ü", "𝒳", "a\ud800"])
scores = st.floats() | st.integers(-(2**70), 2**70) | st.sampled_from([True, None, "1", np.float64(1), 2**53, -(2**53)])
grades = st.integers(-(2**40), 2**40) | st.integers(-3, 3) | st.sampled_from([True, 1.0, np.int32(1), None])


def dicts_of(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    odd = st.sampled_from([[], MappingProxyType({"a": 1}), 1])
    return st.dictionaries(ids | st.just(1), st.dictionaries(ids, numbers, max_size=6) | odd, max_size=4)


@pytest.fixture
def c() -> Any:
    return pytest.importorskip("unjudged.kernels._c")


@settings(max_examples=200, deadline=None)
@given(run=dicts_of(scores), plain=dicts_of(st.floats(allow_nan=False)), qrels=dicts_of(grades))
def test_equal_bytes(run: Any, plain: Any, qrels: Any) -> None:
    twin = sys.modules.get("unjudged.kernels._c", _numpy)
    for given_run in (run, plain):
        assert twin.pack_run(given_run) == _numpy.pack_run(given_run)
    assert twin.pack_judgments(qrels) == _numpy.pack_judgments(qrels)


@pytest.mark.parametrize(
    "odd", [None, [], MappingProxyType({}), {"1": {"a": float("nan")}}, {1: {"a": 1.0}}, {"1": {2: 1.0}}]
)
def test_what_is_odd_is_left_to_python(odd: Any) -> None:
    assert kernels.pack_run(odd) is None


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
runs = st.dictionaries(
    texts,
    st.dictionaries(texts, st.floats(allow_nan=False) | st.integers(-99, 99), max_size=30),
    min_size=1,
    max_size=6,
)


@settings(max_examples=100, deadline=None)
@given(run=runs, ties=st.integers(0, 3), keep=st.booleans(), gather=st.booleans(), truncate=st.integers(0, 3))
def test_packed_runs_are_ranked_alike(run: Any, ties: int, keep: bool, gather: bool, truncate: int) -> None:
    packed = _numpy.pack_run(run)
    assert packed is not None
    topics, docs = Ids.of(list(run)[:3]), Ids.of([doc for listed in list(run.values())[:3] for doc in listed][:9])
    starts = np.minimum(np.cumsum([0, *map(len, list(run.values())[:3])], dtype=np.int64), len(docs))
    found = []
    for kernel in {_numpy, sys.modules.get("unjudged.kernels._c", _numpy)}:
        index = kernel.Index(topics.blob, topics.ends, docs.blob, docs.ends, starts)
        scanner = kernel.RunScanner(index, ties, truncate, gather=gather, keep_docs=keep)
        assert scanner.add_run(*packed.values()) is True
        one_by_one = kernel.RunScanner(index, ties, truncate, gather=True, keep_docs=keep)
        for topic, listed in run.items():
            names = Ids.of(listed)
            one_by_one.add(topic.encode(), names.blob, names.ends, np.array(list(listed.values()), np.float64))
        found += [scanner.finish(), one_by_one.finish()]
    assert all(one == found[0] for one in found)


def test_a_topic_that_is_there_twice(c: Any) -> None:
    packed = {"topics": b"11", "topic_ends": np.array([1, 2]), "starts": np.array([0, 1, 2])}
    packed |= {"docs": b"ab", "doc_ends": np.array([1, 2]), "scores": np.array([1.0, 2.0])}
    for kernel in (c, _numpy):
        index = kernel.Index(b"1", np.array([1]), b"a", np.array([1]), np.array([0, 1]))
        assert kernel.RunScanner(index).add_run(*packed.values()) is False
        with pytest.raises(ValueError, match="inconsistent"):
            kernel.RunScanner(index).add_run(*(packed | {"scores": np.array([1.0])}).values())


@settings(max_examples=50, deadline=None)
@given(run=runs)
def test_plain_and_other_mappings_are_read_alike(run: Any) -> None:
    topic = next(iter(run))
    qrels = {topic: {"a": 1, **dict.fromkeys(run[topic], 1)}}
    other = MappingProxyType({t: MappingProxyType(listed) for t, listed in run.items()})
    judged = MappingProxyType({topic: MappingProxyType(qrels[topic])})
    one, two = (
        uj.score(collection, ["AP", "P@3"])
        for collection in (uj.load(qrels, {"r": run}), uj.load(judged, {"r": other}))
    )
    assert list(one.rows()) == list(two.rows())


def test_a_dict_changed_afterwards_changes_nothing() -> None:
    qrels, run = {"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0, "b": 2.0}}
    collection = uj.load(qrels, run)
    run["1"]["a"], qrels["1"]["b"] = 3.0, 1
    assert [collection.rankings.ids(collection.judgments, 0), collection.judgments.grade.tolist()] == [
        ["b", "a"],
        [1, 0],
    ]
