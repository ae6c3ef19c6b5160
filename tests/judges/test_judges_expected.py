"""The audit of judges against an independent plain implementation, on real judgments (skipped where they are not)."""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import pytest
from places import DATA

import unjudged as uj
from unjudged.changes.rejudge import judgments_of
from unjudged.judges.decisions import Changes, decisions
from unjudged.judges.families import favour
from unjudged.judges.labels import STATISTICS, SamePairs, label_agreement, same_pairs
from unjudged.judges.order import FIGURES, order_agreement
from unjudged.judges.scores import judged_from, judged_share, score_matrices, under_both
from unjudged.measures import measures
from unjudged.statistics.pairs import mean_scores

pytestmark = pytest.mark.slow

FILE = DATA.parent / "judges_expected.json"
EXPECTED: dict[str, Any] = json.loads(FILE.read_text()) if FILE.is_file() else {}
POINT, RANGE, CHANCE = 1e-6, 0.02, 0.03
SETS = [(name, judge) for name in EXPECTED.get("labels", {}) for judge in EXPECTED["labels"][name]]
SCORED = [
    (name, judge, measure)
    for name in ("dl19-passage", "dl21-passage")
    for judge in EXPECTED.get(name, {}).get("judges", {})
    for measure in EXPECTED[name]["judges"][judge]
    if (DATA / "judges" / name / f"{judge}.txt.gz").is_file()
]
NAMED = {"kappa_quadratic": "kappa quadratic", "kappa_binary": "kappa binary", "agreement_binary": "agree binary"}
NAMED |= {"alpha_nominal": "alpha nominal", "alpha_ordinal": "alpha ordinal", "alpha_binary": "alpha binary"}
ORDER = dict(zip(FIGURES, ("tau", "tau_AP", "top overlap", "top tau", "RBO"), strict=True))


def file_of(name: str, judge: str) -> str:
    return str(DATA / "judges" / name / f"{judge}.txt.gz")


@functools.cache
def collection(name: str, extra: bool = False) -> uj.Collection:
    """The official runs of a set, and the recent ones where asked."""
    runs = DATA / "judges" / name / "runs" if name.startswith("dl21") else DATA / name / "runs"
    more = [str(DATA / "judges" / name / "extra-runs")] if extra else []
    return uj.load(file_of(name, "human"), [str(runs), *more])


@functools.cache
def pairs(name: str, judge: str) -> SamePairs:
    return same_pairs(judgments_of(file_of(name, "human")), judgments_of(file_of(name, judge)))


@functools.cache
def both(name: str, judge: str, extra: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    """Topics x runs under the human and under the judge, by measure."""
    shared, c = pairs(name, judge), collection(name, extra)
    wanted = measures("nDCG@10,AP,P@10", 2)
    names = ("nDCG@10", "AP", "P@10")
    human, other = under_both(c, shared)
    asked = judged_from(wanted, EXPECTED["labels"][name][judge]["rel"], shared.other_top)
    found = [
        score_matrices(side, given, shared.topics, sorted(c.runs)) for side, given in ((human, wanted), (other, asked))
    ]
    return dict(zip(names, found[0], strict=True)), dict(zip(names, found[1], strict=True))


@pytest.mark.parametrize(("name", "judge"), SETS)
def test_labels(name: str, judge: str) -> None:
    expected, found = EXPECTED["labels"][name][judge], pairs(name, judge)
    assert (found.pairs, len(found.topics)) == (expected["pairs"], expected["topics"])
    assert (found.human - found.pairs, found.other_only) == (expected["human only"], expected["judge only"])
    assert {str(g): list(c) for g, c in found.coverage.items()} == expected["coverage"]
    assert (found.values.tolist(), found.tables.sum(axis=0).tolist()) == (expected["values"], expected["confusion"])
    point, ranges = label_agreement(found.tables, found.values, 2, expected["rel"], 1000, 1)
    for place, statistic in enumerate(STATISTICS[:-2]):
        told = NAMED.get(statistic, statistic)
        assert point[place] == pytest.approx(expected["point"][told], abs=POINT)
        assert ranges[place] == pytest.approx(expected["interval"][told], abs=RANGE)
    assert point[-2:] == pytest.approx([expected["leniency"], expected["mean grade difference"]], abs=POINT)


@pytest.mark.parametrize(("name", "judge", "measure"), SCORED)
def test_order(name: str, judge: str, measure: str) -> None:
    expected = EXPECTED[name]["judges"][judge][measure]["order"]
    human, other = (side[measure] for side in both(name, judge))
    point, ranges = order_agreement(human, other, 10, 200, 1)
    assert human.shape == (EXPECTED[name]["topics"], EXPECTED[name]["runs"])
    for place, figure in enumerate(FIGURES):
        assert point[place] == pytest.approx(expected["point"][ORDER[figure]], abs=POINT), figure
        assert ranges[place] == pytest.approx(expected["interval"][ORDER[figure]], abs=RANGE), figure


@pytest.mark.parametrize(("name", "judge", "measure"), SCORED)
def test_decisions_shift_and_spread(name: str, judge: str, measure: str) -> None:
    expected = EXPECTED[name]["judges"][judge][measure]
    human, other = (side[measure] for side in both(name, judge))
    for correction, key in (("holm", "decisions holm"), ("none", "decisions uncorrected")):
        found, told = (
            Changes.between(decisions(human, 0.05, correction), decisions(other, 0.05, correction)),
            expected[key],
        )
        counts = [found.pairs, found.significant_human, found.significant_judge]
        counts += [found.false_alarms, found.misses, found.reversals]
        names = ("pairs", "human significant", "judge significant", "false alarms", "misses", "reversals")
        assert counts == [told[n] for n in names]
        rates = [found.changed, found.false_alarm_rate, found.miss_rate]
        assert rates == pytest.approx([told[n] for n in ("changed share", "false alarm rate", "miss rate")], abs=POINT)
    bias = mean_scores(other - human)
    found_bias = [bias.mean(), bias.std(ddof=1)]
    assert found_bias == pytest.approx([expected["shift"], expected["spread"]], abs=POINT)


FAMILY = EXPECTED.get("dl19-passage", {}).get("family llm-reranker, nDCG@10, all runs", {})


@pytest.mark.parametrize("judge", FAMILY)
def test_family(judge: str) -> None:
    folder = DATA / "judges" / "dl19-passage"
    family, blocks = (
        dict(line.split("\t") for line in (folder / file).read_text().splitlines()[1:])
        for file in ("family.tsv", "blocks.tsv")
    )
    c, shared = collection("dl19-passage", extra=True), pairs("dl19-passage", judge)
    runs = sorted(c.runs)
    human, other = (side["nDCG@10"] for side in both("dl19-passage", judge, True))
    judged = judged_share(c, shared.topics, runs)
    inside = np.array([family[run] == "llm-reranker" for run in runs])
    teams = [blocks[run] for run in runs]
    found = favour(human, other, judged, inside, teams, resamples=200, permutations=999, seed=1)
    assert inside.sum() == FAMILY[judge]["runs"]
    assert found.effect == pytest.approx(FAMILY[judge]["effect"], abs=POINT)
    assert [found.low, found.high] == pytest.approx(FAMILY[judge]["interval"], abs=RANGE)
    assert found.p_value == pytest.approx(FAMILY[judge]["p"], abs=CHANCE)


WORDS = {
    "dl19-passage": {
        "umbrela-gpt4": ("with care", "with care"),
        "binary-gpt4": ("fragile", "fragile"),
        "binary-gpt4o": ("fragile", "fragile"),
        "exam-graded-gpt4": ("fragile", "fragile"),
        "human2-a": ("unknown", "unknown"),
    },
    "dl21-passage": {
        "umbrela-gpt4": ("solid", "with care"),
        "binary-gpt4": ("with care", "with care"),
        "binary-llama3.2": ("fragile", "fragile"),
        "exam-graded-gpt4": ("fragile", "with care"),
    },
}
"""By nDCG@10 and AP: the table of the specification."""
YARDSTICKS = {"dl19-passage": (0.104, 0.124), "dl21-passage": (0.095, 0.088)}


@pytest.mark.skipif(not SCORED, reason="the judgments are not here")
@pytest.mark.parametrize("name", WORDS)
def test_words_and_yardsticks_of_the_specification(name: str) -> None:
    given = {judge: file_of(name, judge) for judge in WORDS[name]}
    rel = {"exam-graded-gpt4": 4}
    found = uj.audit(
        collection(name), given, "nDCG@10,AP", rel=2, judge_rel=rel, resamples=10, seed=1, jobs=1
    ).frame.set_index(["judge", "measure"])
    for judge, words in WORDS[name].items():
        for measure, word, yard in zip(("nDCG@10", "AP(rel=2)"), words, YARDSTICKS[name], strict=True):
            assert found.verdict[judge, measure] == word, (judge, measure)
            assert found.yardstick[judge, measure] == pytest.approx(yard, abs=0.0011)
