"""Lists under fewer judgments, taken over from those of all judgments, are the ones that a second look would make."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

import unjudged as uj
from unjudged.holes.features import raw_features
from unjudged.holes.lists import DEPTH, Lists, keeping
from unjudged.holes.seen import look


def made(ties: bool = False) -> uj.Collection:
    """Five teams of two runs, three topics, lists of 12 to 150 documents."""
    rng = np.random.default_rng(3)
    qrels = {t: {f"d{i}": int(rng.integers(-1, 3)) for i in rng.choice(300, 60, False)} for t in ("1", "2", "10")}
    runs = {
        f"{team}{i}": {
            t: {f"d{d}": float(len(docs) - place // (3 if ties else 1)) for place, d in enumerate(docs)}
            for t in qrels
            for docs in [rng.choice(300, int(rng.integers(12, 150)), False).tolist()]
        }
        for team in "edcba"
        for i in (2, 1)
    }
    return uj.load(qrels, runs, teams={run: run[0] for run in runs})


@pytest.mark.parametrize("share", (0.9, 0.3))
def test_lists_are_those_of_a_second_look(share: float) -> None:
    collection = made()
    mask = np.random.default_rng(4).random(len(collection.judgments)) < share
    taken, again = keeping(collection, mask, "some"), collection.keeping(mask, "some")
    ours, theirs = Lists.of(taken), Lists._made(again, DEPTH)
    assert ours is not Lists.of(collection)
    for field in dataclasses.fields(Lists):
        np.testing.assert_array_equal(getattr(ours, field.name), getattr(theirs, field.name), field.name)
    known = np.maximum(ours.grade, 0) / 2
    np.testing.assert_array_equal(raw_features(ours, known), raw_features(theirs, known))
    for field in dataclasses.fields(look(ours)):
        np.testing.assert_array_equal(getattr(look(ours), field.name), getattr(look(theirs), field.name), field.name)


def test_first_ranks_are_those_of_the_whole_lists() -> None:
    collection = made()
    rng = np.random.default_rng(6)
    masks = [rng.random(len(collection.judgments)) < 0.8]
    masks.append(rng.random(int(masks[0].sum())) < 0.5)
    once = collection.keeping(masks[0], "once")
    twice = once.keeping(masks[1], "twice")
    for one in (collection, once, twice, twice.only([0, 2]), once.with_runs(collection.runs[3:])):
        for depth in (1, 10, 40, 1000):
            lengths, sizes, codes = one.first_ranks(depth)
            whole = one.rankings
            np.testing.assert_array_equal(lengths, np.diff(whole.offsets))
            expected = [
                whole.doc[a : min(a + depth, b)] for a, b in zip(whole.offsets[:-1], whole.offsets[1:], strict=True)
            ]
            np.testing.assert_array_equal(codes, np.concatenate(expected))
            np.testing.assert_array_equal(sizes, [len(part) for part in expected])
    fresh = made().keeping(masks[0], "once")
    fresh.first_ranks(10)
    assert not fresh._lists.made, "taking judgments away does not code whole lists again"
    np.testing.assert_array_equal(fresh.first_ranks(10)[2], once.first_ranks(10)[2])


@pytest.mark.parametrize("ties", (False, True))
def test_what_lists_show_is_told_for_all_at_once(ties: bool) -> None:
    from unjudged.io.check.inspection import SeenList
    from unjudged.studies.findings import _lists

    rankings = made(ties).rankings
    cut = rankings.in_cells(np.array([4, 0, 7, 7, 29]))
    equal = dataclasses.replace(cut, score=np.ones(len(cut.score)))
    unsorted = dataclasses.replace(cut, score=np.random.default_rng(1).integers(0, 40, len(cut.score)).astype(float))
    empty = dataclasses.replace(cut, offsets=np.sort(np.append(cut.offsets, [0, cut.offsets[2], cut.offsets[-1]])))
    for one in (rankings, cut, equal, unsorted, empty):
        ends = one.offsets.tolist()
        expected = [SeenList.of(one.score[a:b].tolist(), b"")[:5] for a, b in itertools.pairwise(ends)]
        assert _lists(one) == expected
