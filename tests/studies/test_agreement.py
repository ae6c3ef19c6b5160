"""Agreement of measures against scipy's Kendall's tau."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from made_scores import MATRIX, random_matrix, rows_of, scores_of

import unjudged as uj
from unjudged.errors import UsageError

FEW = ("AP", "AP'", "nDCG@10")


def test_agreement_against_scipy() -> None:
    matrices = [random_matrix(seed, runs=12) for seed in (1, 2, 3)]
    found = rows_of(uj.agreement(scores_of(*matrices, measures="AP, nDCG@10, RR")))
    assert [(r["measure_a"], r["measure_b"]) for r in found] == [("AP", "nDCG@10"), ("AP", "RR"), ("nDCG@10", "RR")]
    for row, (a, b) in zip(found, itertools.combinations(matrices, 2), strict=True):
        theirs = scipy.stats.kendalltau(a.mean(axis=0), b.mean(axis=0), method="exact")
        assert row["tau"] == pytest.approx(theirs.statistic, abs=1e-12)
        assert row["p_value"] == pytest.approx(theirs.pvalue, rel=1e-9)
    with pytest.raises(UsageError, match="at least 2 measures, 1 given"):
        uj.agreement(scores_of(MATRIX))


def test_agreement_where_one_measure_ties_all_runs() -> None:
    row = rows_of(uj.agreement(scores_of(MATRIX, np.full_like(MATRIX, 0.5))))[0]
    assert math.isnan(row["tau"])
    assert math.isnan(row["p_value"])
    assert uj.agreement(scores_of(MATRIX, np.full_like(MATRIX, 0.5))).render("tsv").splitlines()[1] == "AP\tnDCG@10\t\t"
    verdict = uj.agreement(scores_of(MATRIX, np.full_like(MATRIX, 0.5))).verdict
    assert verdict is not None and verdict.word == "unknown"


def test_agreement_of_a_collection(tiny: uj.Collection) -> None:
    result = uj.study("agreement", tiny, measures=FEW)
    means = uj.score(tiny, FEW).means()
    found = {(row["measure_a"], row["measure_b"]): row for row in rows_of(result)}
    assert list(found) == list(itertools.combinations(FEW, 2))
    for (a, b), row in found.items():
        expected = scipy.stats.kendalltau(means[a], means[b])
        assert row["tau"] == pytest.approx(expected.statistic, abs=1e-12)
        assert row["p_value"] == pytest.approx(expected.pvalue, abs=1e-9)
