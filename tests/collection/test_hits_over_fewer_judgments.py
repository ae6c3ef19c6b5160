"""Hits over some of the judgments are made when somebody asks for them; whoever asks sees the same hits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import unjudged as uj
from unjudged.collection.hits import KeptHits
from unjudged.measures import parse


def made(ties: str = "trec10", lowest: int = -1) -> uj.Collection:
    rng = np.random.default_rng(8)
    qrels = {str(t): {f"d{i}": int(rng.integers(lowest, 4)) for i in rng.choice(90, 50, False)} for t in range(4)}
    runs = {
        f"r{i}": {t: {f"d{d}": float(rng.integers(0, 40)) for d in rng.choice(90, 60, False)} for t in qrels}
        for i in range(6)
    }
    return uj.load(qrels, runs, ties=ties)


def masks(collection: uj.Collection) -> list[np.ndarray]:
    rng = np.random.default_rng(9)
    return [rng.random(len(collection.judgments)) < share for share in (0.98, 0.5, 0.05)]


@pytest.mark.parametrize("share", (0, 1, 2))
def test_they_are_the_hits_of_the_rows_that_stay(share: int) -> None:
    collection = made()
    kept = masks(collection)[share]
    left, whole = collection.keeping(kept, "some").hits, collection.hits
    assert isinstance(left, KeptHits)
    chosen = np.flatnonzero(kept[whole.row])
    number = np.cumsum(kept) - 1
    assert left.cells == whole.cells == len(left.length)
    assert left.offsets.tolist() == [int((chosen < start).sum()) for start in whole.offsets]
    assert left.row.tolist() == number[whole.row[chosen]].tolist()
    assert left.rank.tolist() == whole.rank[chosen].tolist()
    assert not left.row.flags.writeable
    assert not left.rank.flags.writeable


def test_every_measure_scores_as_over_judgments_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """With hits made at once, or taken from the relevant ones of all judgments; of all runs, or of few at a time."""
    collection = made()
    names = "AP nDCG@10 P@5 RR bpref Rprec Q RBP ERR@20 infAP Judged@10 AP(rel=2) nDCG"
    measures = [one for name in names.split() for one in parse(name)]
    for kept in masks(collection):
        again = made().keeping(kept, "some")
        assert len(again.hits.row) == len(again.hits.rank), "made before it is scored"
        plain = pickle.loads(pickle.dumps(again))
        assert not isinstance(plain.hits, KeptHits)
        expected = uj.score(plain, measures).values
        for at_once in (10**6, 40):
            monkeypatch.setattr("unjudged.scoring.HITS_AT_ONCE", at_once)
            np.testing.assert_array_equal(uj.score(collection.keeping(kept, "some"), measures).values, expected)
            np.testing.assert_array_equal(uj.score(again, measures).values, expected)
        twice = collection.keeping(kept, "some").keeping(np.arange(int(kept.sum())) % 3 > 0, "fewer")
        np.testing.assert_array_equal(
            uj.score(twice, measures).values, uj.score(pickle.loads(pickle.dumps(twice)), measures).values
        )


def test_relevant_ones_alone_are_not_made_of_all() -> None:
    collection = made(lowest=0)
    left = collection.keeping(masks(collection)[0], "some")
    uj.score(left, ["AP", "P@10", "nDCG@10"])
    assert "row" not in left.hits.__dict__, "the measures read relevant documents alone"
    uj.score(left, ["bpref"])
    assert "row" in left.hits.__dict__


def test_tied_hits_are_made_at_once() -> None:
    collection = made("expected")
    left = collection.keeping(masks(collection)[0], "some")
    assert not isinstance(left.hits, KeptHits)
    assert left.hits.ties is not None
