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
from unjudged.cli import main
from unjudged.judges.corrected import corrected, pooled_slope
from unjudged.judges.decisions import Changes, decisions
from unjudged.judges.families import favour
from unjudged.judges.labels import STATISTICS, SamePairs, label_agreement, same_pairs
from unjudged.judges.order import FIGURES, order_agreement
from unjudged.judges.sampled import Strata, stratified_sum
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
FAMILY_KEY = "family llm-reranker, nDCG@10, all runs"
FAMILY: dict[str, Any] = EXPECTED.get("dl19-passage", {}).get(FAMILY_KEY, {})
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


@pytest.mark.skipif(not SCORED, reason="the judgments are not here")
def test_no_value_of_the_file_is_passed_over() -> None:
    """The tests below read every value there is: what the file gains, they must, too."""
    sets = ("dl19-passage", "dl21-passage")
    assert set(EXPECTED) == {"note", "labels", "sampled documents", *sets}
    of_labels = {NAMED.get(statistic, statistic) for statistic in STATISTICS[:-2]}
    whole = {"pairs", "topics", "human only", "judge only", "confusion", "values", "point", "interval", "leniency"}
    for told in (EXPECTED["labels"][name][judge] for name, judge in SETS):
        assert set(told) == whole | {"mean grade difference", "coverage", "rel"}
        assert set(told["point"]) == set(told["interval"]) == of_labels
    assert len(SCORED) == sum(len(measures) for s in sets for measures in EXPECTED[s]["judges"].values())
    assert {name for s in sets for name in EXPECTED[s]} == {"topics", "runs", "labelled topics", "judges", FAMILY_KEY}
    assert {key for told in FAMILY.values() for key in told} == {"effect", "p", "interval", "runs"}
    counts = {"pairs", "human significant", "judge significant", "false alarms", "misses", "reversals"}
    rates = {"changed share", "false alarm rate", "miss rate"}
    numbers = {"estimate", "low", "high", "lambda", "se", "df"}
    for name, judge, measure in SCORED:
        told = EXPECTED[name]["judges"][judge][measure]
        decided = {"decisions holm", "decisions uncorrected"}
        assert set(told) == {"order", *decided, "shift", "spread", "corrected"}
        assert set(told["order"]["point"]) == set(told["order"]["interval"]) == set(ORDER.values())
        assert all(set(told[key]) == counts | rates for key in decided)
        for one in told["corrected"]:
            more = {"b", "refuse", "pooled"} if "b" in one else {"saved"}
            assert set(one) == {"a", "target", "own", "human only", "all topics"} | more
            assert all(set(one[key]) == numbers for key in {"own", "pooled"} & set(one))
            assert set(one["human only"]) == {"estimate", "low", "high"}
    sampled = {"weights", "machine", "human", "sampled", "strata", "total", "variance"}
    assert set(EXPECTED["sampled documents"]) == sampled


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


@pytest.mark.parametrize("name", [name for name in EXPECTED.get("labels", {}) if name in ("rag25", "llmjudge")])
def test_labels_of_sets_without_runs_on_the_command_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = EXPECTED["labels"][name]
    words = ["judges", "audit", file_of(name, "human"), *(file_of(name, judge) for judge in expected), "--rel", "2"]
    assert main([*words, "--labels", "--seed", "1", "--format", "json"]) == 0
    rows = {row["judge"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert list(rows) == list(expected)
    for judge, told in expected.items():
        row = rows[judge]
        assert (row["pairs"], row["judge_rel"]) == (told["pairs"], told["rel"])
        assert row["kappa_binary"] == pytest.approx(told["point"]["kappa binary"], abs=POINT)
        assert [row["low"], row["high"]] == pytest.approx(told["interval"]["kappa binary"], abs=RANGE)
        assert row["leniency"] == pytest.approx(told["leniency"], abs=POINT)


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


CURVED = {"umbrela-gpt4": 0.02, "binary-gpt4": 0.04, "binary-gpt4o": 0.04}
CURVED |= {"exam-graded-gpt4": 0.04, "exam-binary-gpt4": 0.01, "binary-llama3.2": 0.93}
"""p by the curved model, to two digits: the table of the specification."""


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
    curved = favour(human, other, judged, inside, teams, curved=True, resamples=2, permutations=999, seed=1)
    assert curved.p_value == pytest.approx(CURVED[judge], abs=CHANCE + 0.005)


WORDS = {
    "dl19-passage": {
        "umbrela-gpt4": ("with care", "with care"),
        "binary-gpt4": ("fragile", "fragile"),
        "binary-gpt4o": ("fragile", "fragile"),
        "binary-llama3.2": ("fragile", "fragile"),
        "exam-graded-gpt4": ("fragile", "fragile"),
        "exam-binary-gpt4": ("fragile", "fragile"),
        "human2-a": ("unknown", "unknown"),
        "human2-b": ("unknown", "unknown"),
    },
    "dl21-passage": {
        "umbrela-gpt4": ("solid", "with care"),
        "binary-gpt4": ("with care", "with care"),
        "binary-gpt4o": ("with care", "with care"),
        "binary-llama3.2": ("fragile", "fragile"),
        "exam-graded-gpt4": ("fragile", "with care"),
        "exam-binary-gpt4": ("fragile", "fragile"),
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
            assert found.word[judge, measure] == word, (judge, measure)
            assert found.yardstick[judge, measure] == pytest.approx(yard, abs=0.0011)


@functools.cache
def whole(name: str, judge: str) -> dict[str, Any]:
    """All topics x runs under a judge (its own relevant grade) on all pairs it has, by measure."""
    human = collection(name)
    rel = 2 if judge == "human" else EXPECTED["labels"][name][judge]["rel"]
    c = human if judge == "human" else human.judged_by(judgments_of(file_of(name, judge)))
    wanted = judged_from(measures("nDCG@10,AP,P@10", 2), rel, int(c.judgments.grade.max()))
    found = score_matrices(c, wanted, sorted(human.topics), sorted(human.runs))
    return dict(zip(("nDCG@10", "AP", "P@10"), found, strict=True))


@pytest.mark.parametrize(("name", "judge", "measure"), SCORED)
def test_corrected(name: str, judge: str, measure: str) -> None:
    human, machine = whole(name, "human")[measure], whole(name, judge)[measure]
    runs, topics = sorted(collection(name).runs), sorted(collection(name).topics)
    labelled = np.array([topics.index(topic) for topic in EXPECTED[name]["labelled topics"]])
    pooled = pooled_slope(human[labelled], machine[labelled])
    for told in EXPECTED[name]["judges"][judge][measure]["corrected"]:
        a, b = runs.index(told["a"]), runs.index(told["b"]) if "b" in told else None
        y, f = (side[:, [a]] - (0 if b is None else side[:, [b]]) for side in (human, machine))
        assert y.mean() == pytest.approx(told["all topics"], abs=POINT)
        for key, slope in (("own", None), ("pooled", pooled)):
            if key not in told:
                continue
            found = corrected(y[labelled], f, labelled, told["target"], pooled=slope)
            numbers = found.estimate, found.low, found.high, found.slope, np.sqrt(found.variance)
            names = ("estimate", "low", "high", "lambda", "se")
            assert [float(n[0]) for n in numbers] == pytest.approx([told[key][n] for n in names], abs=POINT)
            assert found.freedom == told[key]["df"]
            ends = found.human, found.human_low, found.human_high
            alone = [told["human only"][n] for n in ("estimate", "low", "high")]
            assert [float(n[0]) for n in ends] == pytest.approx(alone, abs=POINT)
            if "saved" in told:
                assert float(found.saved_by_many[0]) == pytest.approx(told["saved"], abs=POINT)


@pytest.mark.skipif(not SCORED, reason="the judgments are not here")
@pytest.mark.parametrize("name", ["dl19-passage", "dl21-passage"])
def test_the_study_corrects_and_refuses_as_specified(name: str) -> None:
    drawn = EXPECTED[name]["labelled topics"]
    pairs_told = [told for m in EXPECTED[name]["judges"]["umbrela-gpt4"].values() for told in m["corrected"]]
    named = {told[side] for told in pairs_told for side in ("a", "b") if side in told}
    some = uj.only(collection(name).with_runs(sorted(named)), drawn)
    for judge in EXPECTED[name]["judges"]:
        rel = EXPECTED["labels"][name][judge]["rel"]
        given: dict[str, Any] = {"rel": 2, "judge_rel": rel, "target": "both", "pairs": True}
        found = uj.corrected(some, file_of(name, judge), "nDCG@10,AP,P@10", **given).frame
        rows = {
            (r.run_a, r.run_b if isinstance(r.run_b, str) else None, r.measure.replace("(rel=2)", ""), r.target): r  # type: ignore[arg-type, union-attr]
            for r in found.itertuples()
        }
        for measure in ("nDCG@10", "AP", "P@10"):
            for told in EXPECTED[name]["judges"][judge][measure]["corrected"]:
                key = told["a"], told.get("b"), measure, told["target"]
                turned = (told.get("b"), told["a"], measure, told["target"]) in rows
                row = rows[(told["b"], told["a"], *key[2:]) if turned else key]
                assert (row.word == "refused") == (told.get("refuse") is not None)
                if row.word != "refused":
                    sign = -1 if turned else 1
                    ends = sorted([sign * row.low, sign * row.high])  # type: ignore[operator, type-var]
                    assert [sign * row.estimate, *ends] == pytest.approx(  # type: ignore[operator]
                        [told["own"][n] for n in ("estimate", "low", "high")], abs=POINT
                    )


@pytest.mark.skipif(not EXPECTED, reason="the expected values are not here")
def test_sampled_documents() -> None:
    told = EXPECTED["sampled documents"]
    weights, machine, human = (np.array(told[n]) for n in ("weights", "machine", "human"))
    sampled, strata = np.array(told["sampled"], bool), np.array(told["strata"])
    drawn, size = (np.bincount(side, minlength=2) for side in (strata[sampled], strata))
    more, variance = stratified_sum((weights * (human - machine))[sampled], Strata(strata[sampled], drawn, size))
    assert weights @ machine + more == pytest.approx(told["total"], abs=POINT)
    assert variance == pytest.approx(told["variance"], abs=POINT)
