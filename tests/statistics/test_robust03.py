"""Discriminative power on the TREC 2003 Robust runs: the counts and differences an independent program found there."""

from __future__ import annotations

import pytest
from places import DATA

import unjudged as uj
from unjudged.statistics.bootstrap import bootstrap

ROBUST = DATA / "robust03"

FOUND = {  # significant pairs of 120, estimated difference required
    "AP'": (91, 0.080),
    "Q'": (91, 0.067),
    "nDCG'(dcg='jk')@1000": (78, 0.076),
    "RBP'": (71, 0.057),
    "bpref": (84, 0.067),
    "AP": (92, 0.072),
    "Q": (93, 0.068),
    "nDCG(dcg='jk')@1000": (78, 0.085),
    "RBP": (71, 0.057),
}


@pytest.mark.skipif(not ROBUST.exists(), reason="the robust03 runs are not here")
def test_discriminative_power_of_nine_measures() -> None:
    runs = [str(path) for path in sorted((ROBUST / "runs").iterdir()) if not path.name.startswith("InexpC2")]
    collection = uj.load(str(ROBUST / "qrels.txt.gz"), runs, gains={1: 1, 2: 3}, truncate=1000, only="601-650")
    scores = uj.score(collection, list(FOUND))
    for measure, (significant, difference) in FOUND.items():
        found = bootstrap(scores.matrix(measure), resamples=1000, seed=0)
        assert int(found.significant(0.05).sum()) == significant, measure
        assert round(found.required_difference, 3) == difference, measure
