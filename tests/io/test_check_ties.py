"""`check` reads a run again for its ties only where they can move a mean score: the bound must hold."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from unjudged.cli.check import TIE_EFFECT, _ties_may_matter
from unjudged.collection.load import read_collection
from unjudged.io.check.inspection import RunCheck, check_qrels
from unjudged.io.trec import Reading
from unjudged.measures.ties import tie_effect


def generated(rng: random.Random, docs: int) -> bytes:
    """A run of three topics, ties few or many, sorted or not, with or without lines that are no ranks."""
    apart, shuffled, blank = rng.choice((0.5, 0.9, 0.995)), rng.random() < 0.2, rng.random() < 0.2
    lines = []
    for topic in (b"1", b"2", b"out"):
        score = 1000
        own: list[bytes] = []
        for doc in rng.sample(range(docs), docs):
            score -= rng.random() < apart
            own.append(b"%s Q0 d%d %d %d r\n" % (topic, doc, len(own) + 1, score))
        if shuffled:
            rng.shuffle(own)
        if blank:
            own.insert(rng.randrange(len(own)), b"\n" if rng.random() < 0.5 else b"# words\n" * 300)
        lines += own
    return b"".join(lines)


@pytest.mark.parametrize("share", (0.02, 0.3, 0.9))
def test_no_order_of_ties_moves_a_score_further_than_the_bound(tmp_path: Path, share: float) -> None:
    rng = random.Random(f"ties {share}")
    left_out = looked = 0
    for case in range(60):
        docs = rng.choice((3, 12, 60, 300))
        qrels, run = tmp_path / "qrels.txt", tmp_path / "r"
        grades = [(t, d, int(rng.random() < share)) for t in (1, 2) for d in range(docs) if rng.random() < 0.7]
        qrels.write_text("".join(f"{t} 0 d{d} {g}\n" for t, d, g in [*grades, (1, 999, 1), (2, 999, 1)]))
        run.write_bytes(generated(rng, docs))
        _, judged = check_qrels(str(qrels))
        look = RunCheck(str(run), judged).read()
        effects = tie_effect(read_collection(str(qrels), {"r": str(run)}, Reading("expected"), jobs=1))
        most = max(effect.high - effect.low for effect in effects)
        assert most <= look.tie_reach / len(judged) + 1e-12, case
        assert _ties_may_matter(look, sound=True) or most <= TIE_EFFECT, case
        assert _ties_may_matter(look, sound=False) == look.any_tied
        left_out += look.any_tied and not _ties_may_matter(look, sound=True)
        looked += _ties_may_matter(look, sound=True)
    assert looked > 10 and (left_out or share > 0.02)
