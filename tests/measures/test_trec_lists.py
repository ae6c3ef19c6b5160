"""trec_eval's measures with the user's own numbers: where these are the usual ones, the values are pytrec_eval's.

Numbers out of the ordinary are compared with trec_eval itself in tests/cli (golden outputs, `TREC_EVAL=...`).
"""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
import pytrec_eval
from reference import in_order

from unjudged.measures import trec_lists
from unjudged.measures.trec_lists import NEGATIVE, NOT_JUDGED, TopicList

MEASURES = {"ndcg", "ndcg_rel", "Rndcg", "G", "11pt_avg", "iprec_at_recall", "set_F", "utility"}
POINTS = [i / 10 for i in range(11)]


def drawn(seed: int) -> tuple[dict[str, int], dict[str, float], int]:
    """Judgments, a list and the smallest relevant grade."""
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(rng.choice((3, 10, 40)))]
    grades = rng.choice(((0, 1), (-2, -1, 0, 1, 2, 3), (0, 0, 0, 5), (1, 2)))
    qrel = {doc: rng.choice(grades) for doc in rng.sample(docs, rng.randint(1, len(docs)))}
    run = {doc: float(rng.randint(0, 9)) for doc in rng.sample(docs, rng.randint(1, len(docs)))}
    qrel["d0"] = max(qrel.get("d0", 0), 0)
    return qrel, run, rng.choice((1, 1, 2))


@pytest.mark.parametrize("seed", range(60))
def test_usual_numbers_give_pytrec_evals_values(seed: int) -> None:
    qrel, run, rel = drawn(seed)
    peer = pytrec_eval.RelevanceEvaluator({"t": qrel}, MEASURES, relevance_level=rel).evaluate({"t": run})["t"]
    grades = [NEGATIVE if qrel.get(doc, 0) < 0 else qrel.get(doc, NOT_JUDGED) for doc in in_order(run, "trec9")]
    topic = TopicList(grades, Counter(g for g in qrel.values() if g >= 0), rel, version=9)
    own = {name: trec_lists.with_gains(topic, name, []) for name in ("ndcg", "ndcg_rel", "Rndcg", "G")}
    own |= {f"iprec_at_recall_{point:.2f}": trec_lists.iprec_at_recall(topic, point) for point in POINTS}
    own["11pt_avg"] = trec_lists.eleven_points(topic, POINTS)
    own["set_F"], own["utility"] = trec_lists.set_f(topic, 1.0), trec_lists.utility(topic, [1, -1, 0, 0])
    assert own.keys() == peer.keys()
    for name, value in own.items():
        assert value == peer[name] or (math.isnan(value) and math.isnan(peer[name])), name


def test_grades_beyond_all_scales_take_no_time() -> None:
    """By hand: gains 10^9 and 2, the lower one retrieved."""
    topic = TopicList([1], {1: 1, 10**9: 1})
    ideal = 10**9 + 2 / math.log2(3)
    assert trec_lists.with_gains(topic, "ndcg", [("1", 2.0)]) == pytest.approx(2 / ideal, rel=1e-12)


def test_division_by_nothing() -> None:
    """By hand: gains of unjudged documents can put a list ahead of the ideal one; 2 + 1 - gain is then 1, 0 or -2."""
    topic = TopicList([NOT_JUDGED], {1: 1})
    assert trec_lists.with_gains(topic, "G", [("-1", 2.0)]) == math.inf
    assert trec_lists.with_gains(topic, "G", [("-1", 3.0)]) == 0.0  # gain / -inf
    assert math.isnan(trec_lists.with_gains(topic, "G", [("-1", 5.0)]))
