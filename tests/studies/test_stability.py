"""The stability method against a plain loop."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from made_scores import MATRIX, rows_of, scores_of

import unjudged as uj
from unjudged.errors import UsageError
from unjudged.statistics.draws import topic_subsets


@pytest.mark.parametrize("replacement", [False, True])
def test_stability_against_a_plain_loop(replacement: bool) -> None:
    asked = {"fuzziness": (0.0, 0.05, 0.2), "c": 6, "trials": 50, "seed": 4, "replacement": replacement}
    found = rows_of(uj.stability(scores_of(MATRIX), **asked))
    assert list(found[0]) == ["measure", "fuzziness", "minority_rate", "ties"]
    sets = topic_subsets(16, 6, 50, 4, replacement)
    for row in found:
        minority = even = 0
        for a, b in itertools.combinations(range(6), 2):
            ahead = [0, 0]
            for chosen in sets:
                x, y = MATRIX[chosen, a].mean(), MATRIX[chosen, b].mean()
                if abs(x - y) < row["fuzziness"] * max(x, y) - 1e-12 or abs(x - y) < 1e-12:
                    even += 1
                else:
                    ahead[int(x > y)] += 1
            minority += min(ahead)
        assert row["minority_rate"] == minority / (15 * 50)
        assert row["ties"] == even / (15 * 50)
    assert [r["fuzziness"] for r in rows_of(uj.stability(scores_of(MATRIX), fuzziness=0.05, trials=5))] == [0.05]


def test_a_measure_that_ties_all_runs_is_listed_last_and_decides_nothing() -> None:
    scores = scores_of(np.full_like(MATRIX, 0.5), MATRIX, MATRIX**2, measures="AP, RR, nDCG@10")
    found = uj.stability(scores, fuzziness=(0.02, 0.06), trials=40)
    assert [math.isnan(r["minority_rate"]) for r in rows_of(found)] == [r["measure"] == "AP" for r in rows_of(found)]
    assert "AP says nothing about these runs and comes last: the same for all runs on every topic" in found.notes
    lines = [line.split(" | ") for line in found.render("markdown").splitlines()[2:5]]
    assert [line[0].strip("| ") for line in lines] == ["RR", "nDCG@10", "AP"]
    assert "**" not in lines[2][1] and any("**" in line[1] for line in lines[:2])
    rates = {r["measure"]: r["minority_rate"] for r in rows_of(found) if r["fuzziness"] == 0.06}  # nearest to 0.05
    best = min(("RR", "nDCG@10"), key=rates.__getitem__)
    assert found.verdict is not None
    assert (found.verdict.value, found.verdict.decided_by) == (rates[best], (best,))
    assert found.verdict.sentence.startswith("at fuzziness 0.06")
    alone = uj.stability(scores, "AP", trials=5).verdict
    assert alone is not None and alone.word == "unknown" and alone.value is None


def test_minorities_and_ties_have_their_bound(tiny: uj.Collection) -> None:
    stable = uj.study("stability", tiny, measures="AP", trials=100).frame
    assert list(stable.columns) == ["measure", "fuzziness", "minority_rate", "ties"]
    assert (stable["minority_rate"] <= 0.5 * (1 - stable["ties"]) + 1e-12).all()
    assert stable["ties"].is_monotonic_increasing


def test_sets_of_all_topics_contradict_nothing() -> None:
    """All topics without replacement are one set; with replacement they are bootstrap samples (Sakai 2005, 5.3)."""
    with pytest.raises(UsageError, match="sets of 16 of 16 topics are all the same set"):
        uj.stability(scores_of(MATRIX), c=16)
    found = uj.stability(scores_of(MATRIX), c=16, replacement=True, trials=40)
    assert "40 sets of 16 topics, drawn with replacement" in found.caption
    assert max(r["minority_rate"] for r in rows_of(found)) > 0


def test_geometric_means_in_stability(tiny: uj.Collection) -> None:
    """A plain loop over geometric means of AP, each value at least 0.00001 as in trec_eval's gm_map."""
    logs = np.log(np.maximum(uj.score(tiny, "AP").matrix("AP"), 1e-5))
    (row,) = rows_of(uj.stability(tiny, "GMAP", fuzziness=0.05, c=6, trials=30, seed=4))
    sets = topic_subsets(10, 6, 30, 4)
    minority = even = 0
    for a, b in itertools.combinations(range(logs.shape[1]), 2):
        ahead = [0, 0]
        for chosen in sets:
            x, y = np.exp(logs[chosen, a].mean()), np.exp(logs[chosen, b].mean())
            if abs(x - y) < 0.05 * max(x, y) - 1e-12 or abs(x - y) < 1e-12:
                even += 1
            else:
                ahead[int(x > y)] += 1
        minority += min(ahead)
    pairs = logs.shape[1] * (logs.shape[1] - 1) / 2
    assert (row["minority_rate"], row["ties"]) == (minority / (pairs * 30), even / (pairs * 30))


def test_fuzziness_is_a_share() -> None:
    for wrong in (2, (), (0.1, -0.1)):
        with pytest.raises(UsageError, match="fuzziness is a share"):
            uj.stability(scores_of(MATRIX), fuzziness=wrong)
